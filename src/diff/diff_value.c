/* SPDX-License-Identifier: GPL-2.0-only */
/* A metric of both sides of a pair, and its change. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "diff_latency.h"
#include "diff_scx.h"

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

static void conclude_numbers(struct diff_value *value, bool is_ratio)
{
	double before = value->side[DIFF_BEFORE].number;

	value->sort = -INFINITY;
	if (value->state != VALUE_READ || !value->side[DIFF_BEFORE].has_number ||
	    !value->side[DIFF_AFTER].has_number)
		return;
	value->has_delta = true;
	value->delta = value->side[DIFF_AFTER].number - before;
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

/* Whether the commonest values are not the same. */
static bool modes_differ(const struct diff *diff, const struct diff_pair *pair, enum metric metric)
{
	struct buffer texts[DIFF_SIDE_COUNT] = {0};
	bool differ;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		struct aggregation *aggregation = diff->aggregations[side];

		aggregate_mode(aggregation, aggregation_get(aggregation, pair->group[side], metric), metric,
			       &texts[side]);
	}
	differ = order_bytes(texts[DIFF_BEFORE].data, texts[DIFF_BEFORE].length, texts[DIFF_AFTER].data,
			     texts[DIFF_AFTER].length) != 0;
	buffer_release(&texts[DIFF_BEFORE]);
	buffer_release(&texts[DIFF_AFTER]);
	return differ;
}

static void fill_metric(const struct diff *diff, const struct diff_pair *pair, enum metric metric,
			struct diff_value *value)
{
	value->is_category = metric_type(metric)->reduction == METRIC_REDUCTION_MODE;
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		struct diff_side_value *side = &value->side[i];
		const struct aggregate *aggregate;

		if (pair->group[i] == UINT32_MAX) {
			side->state = VALUE_ABSENT;
			continue;
		}
		aggregate = aggregation_get(diff->aggregations[i], pair->group[i], metric);
		side->state = aggregate_state(aggregate, &side->reason);
		side->partial = aggregate_is_partial(aggregate);
		side->has_number = aggregate_number(aggregate, metric, &side->number);
	}
	diff_value_conclude(value, false);
	if (value->is_category && value->state == VALUE_READ)
		value->differs = modes_differ(diff, pair, metric);
}

static void fill_derived(const struct diff *diff, const struct diff_pair *pair, enum derived derived,
			 struct diff_value *value)
{
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		struct diff_side_value *side = &value->side[i];
		struct aggregate_derived result = {.state = VALUE_ABSENT};

		if (pair->group[i] != UINT32_MAX)
			result = aggregation_derive(diff->aggregations[i], pair->group[i], derived);
		side->state = result.state;
		side->reason = result.reason;
		side->partial = result.state == VALUE_READ && result.partial;
		side->has_number = result.state == VALUE_READ;
		side->number = side->has_number ? result.value : 0;
	}
	diff_value_conclude(value, derived_metrics[derived].is_ratio);
}

struct diff_value diff_metric(const struct diff *diff, const struct diff_pair *pair, enum metric metric)
{
	struct diff_value value = {0};

	fill_metric(diff, pair, metric, &value);
	return value;
}

static void fill_latency(const struct diff *diff, const struct diff_pair *pair, enum latency_number number,
			 struct diff_value *value)
{
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		value->side[i] = diff_latency_side(diff, pair, (enum diff_side)i, number);
	diff_value_conclude(value, false);
}

/* A field that neither side has is absent. */
static void fill_field(const struct diff *diff, const struct diff_pair *pair, const char *name,
		       struct diff_value *value)
{
	const struct diff_scx_field *field = diff_scx_find(diff->scx, name);

	if (field != NULL) {
		*value = diff_scx_value(diff, pair, field, NULL);
		return;
	}
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		value->side[i].state = VALUE_ABSENT;
	diff_value_conclude(value, false);
}

struct diff_value diff_measure(const struct diff *diff, const struct diff_pair *pair,
			       struct diff_measure measure)
{
	struct diff_value value = {0};

	if (measure.metric != METRIC_NONE)
		fill_metric(diff, pair, measure.metric, &value);
	else if (measure.derived != DERIVED_NONE)
		fill_derived(diff, pair, measure.derived, &value);
	else if (measure.field != NULL)
		fill_field(diff, pair, measure.field, &value);
	else
		fill_latency(diff, pair, measure.latency, &value);
	return value;
}

double diff_measure_sort(const struct diff *diff, const struct diff_pair *pair, struct diff_measure measure)
{
	struct diff_value value = {0};

	if (measure.metric == METRIC_NONE)
		fill_derived(diff, pair, measure.derived, &value);
	else if (metric_type(measure.metric)->reduction != METRIC_REDUCTION_MODE)
		fill_metric(diff, pair, measure.metric, &value);
	else
		return -INFINITY; /* a category has no change to sort by */
	return value.sort;
}

struct diff_value diff_derived(const struct diff *diff, const struct diff_pair *pair, enum derived derived)
{
	struct diff_value value = {0};

	fill_derived(diff, pair, derived, &value);
	return value;
}

const char *diff_measure_name(struct diff_measure measure)
{
	if (measure.metric != METRIC_NONE)
		return metrics[measure.metric].name;
	if (measure.derived != DERIVED_NONE)
		return derived_metrics[measure.derived].name;
	return measure.field != NULL ? measure.field : diff_latency_name(measure.latency);
}

enum ladder diff_measure_ladder(struct diff_measure measure)
{
	if (measure.metric != METRIC_NONE)
		return metric_type(measure.metric)->ladder;
	if (measure.derived != DERIVED_NONE)
		return derived_metrics[measure.derived].ladder;
	if (measure.field != NULL)
		/* before there is a scheduler: what is known of the field by its name */
		return scx_field_facts_of(NULL, measure.field + strlen(DIFF_SCX_PREFIX), SCX_KIND_UNSIGNED)
			.ladder;
	return diff_latency_is_time(measure.latency) ? LADDER_NS : LADDER_UNITLESS;
}

bool diff_measure_is_ratio(struct diff_measure measure)
{
	return measure.metric == METRIC_NONE && measure.derived != DERIVED_NONE &&
	       derived_metrics[measure.derived].is_ratio;
}
