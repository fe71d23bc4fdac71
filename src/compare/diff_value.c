/* SPDX-License-Identifier: GPL-2.0-only */
/* A metric of both sides of a pair, and its change. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "diff.h"
#include "table/value_cell.h"

/* The state of the change, by those of the sides. */
static void conclude_state(struct diff_value *value)
{
	value->state = VALUE_READ;
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		if (value->side[side].state != VALUE_UNAVAILABLE && !value->side[side].partial)
			continue;
		value->state = VALUE_UNAVAILABLE;
		value->reason = value->side[side].reason;
		value->reason_side = (enum diff_side)side;
	}
	if (value->side[DIFF_BEFORE].state == VALUE_ABSENT || value->side[DIFF_AFTER].state == VALUE_ABSENT) {
		value->state = VALUE_ABSENT;
		value->reason = REASON_READ;
	}
}

/* A double may hold the difference of two whole numbers that it does not hold. */
static double difference(const struct diff_side_value *before, const struct diff_side_value *after)
{
	if (!before->is_whole || !after->is_whole)
		return after->number - before->number;
	return after->whole >= before->whole ? (double)(after->whole - before->whole)
					     : -(double)(before->whole - after->whole);
}

static void conclude_numbers(struct diff_value *value, bool is_ratio)
{
	double before = value->side[DIFF_BEFORE].number;

	value->sort = -INFINITY;
	if (value->state != VALUE_READ || !value->side[DIFF_BEFORE].has_number ||
	    !value->side[DIFF_AFTER].has_number)
		return;
	value->has_delta = true;
	value->delta = difference(&value->side[DIFF_BEFORE], &value->side[DIFF_AFTER]);
	value->differs = value->delta != 0;
	value->has_fraction = !is_ratio && fabs(before) > DBL_EPSILON;
	if (value->has_fraction)
		value->fraction = value->delta / before + 0.0; /* no negative zero */
	value->sort = value->has_fraction ? fabs(value->fraction) : fabs(value->delta) * 1e9;
}

void diff_value_conclude(struct diff_value *value, bool is_ratio)
{
	conclude_state(value);
	conclude_numbers(value, is_ratio);
}

void diff_side(const struct diff *diff, const struct diff_pair *pair, enum diff_side side, enum column column,
	       struct value *ret_value)
{
	if (pair->group[side] == UINT32_MAX || diff->reductions[side] == NULL)
		*ret_value = (struct value){.state = VALUE_ABSENT, .sort = NAN};
	else
		reduction_value(diff->reductions[side], column, (size_t)(pair - diff->pairs), ret_value);
}

/* Whether the commonest values do not read alike. */
static bool words_differ(const struct column_values *const columns[DIFF_SIDE_COUNT],
			 const struct value sides[DIFF_SIDE_COUNT])
{
	struct buffer texts[DIFF_SIDE_COUNT] = {0};
	bool differ;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		value_append_word(columns[side], &sides[side], &texts[side]);
	differ = order_bytes(texts[DIFF_BEFORE].data, texts[DIFF_BEFORE].length, texts[DIFF_AFTER].data,
			     texts[DIFF_AFTER].length) != 0;
	buffer_release(&texts[DIFF_BEFORE]);
	buffer_release(&texts[DIFF_AFTER]);
	return differ;
}

struct diff_value diff_value_of(const struct column_values *const columns[DIFF_SIDE_COUNT],
				const struct value sides[DIFF_SIDE_COUNT])
{
	struct diff_value value = {0};

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		value.side[i] = (struct diff_side_value){
			.state = sides[i].state,
			.reason = sides[i].reason,
			.partial = sides[i].state == VALUE_READ && sides[i].partial,
		};
		value.side[i].has_number = value_number(&sides[i], &value.side[i].number);
		value.is_category |= columns[i] != NULL && column_values_are_words(columns[i]);
	}
	diff_value_conclude(&value, column_is_ratio(columns[DIFF_AFTER]->column));
	if (value.is_category && value.state == VALUE_READ)
		value.differs = words_differ(columns, sides);
	return value;
}

struct diff_value diff_column(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct column_values *columns[DIFF_SIDE_COUNT] = {0};
	struct value sides[DIFF_SIDE_COUNT];

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		diff_side(diff, pair, (enum diff_side)i, column, &sides[i]);
		if (diff->reductions[i] != NULL)
			columns[i] = reduction_column(diff->reductions[i], column);
	}
	return diff_value_of(columns, sides);
}

double diff_column_sort(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	return column_is_metric(column) &&
			       metric_type(column_metric(column))->reduction == METRIC_REDUCTION_MODE
		       ? -INFINITY
		       : diff_column(diff, pair, column).sort;
}
