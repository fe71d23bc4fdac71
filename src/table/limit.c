/* SPDX-License-Identifier: GPL-2.0-only */
#include "limit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "metric/quantity.h"
#include "window/column.h"

/* The first one of each is how it is written. */
static const struct {
	const char *text;
	enum comparison_kind comparison;
} signs[] = {
	{">", COMPARISON_MORE},     {">=", COMPARISON_AT_LEAST}, {"<", COMPARISON_LESS},
	{"<=", COMPARISON_AT_MOST}, {"=", COMPARISON_EQUAL},     {"!=", COMPARISON_DIFFERENT},
	{"==", COMPARISON_EQUAL},
};

enum {
	SIGN_COUNT = sizeof(signs) / sizeof(signs[0])
};

const char comparison_list[] = "> >= < <= = !=";

bool comparison_find(const char *text, size_t length, enum comparison_kind *ret_comparison)
{
	for (size_t i = 0; i < SIGN_COUNT; i++) {
		if (strlen(signs[i].text) != length || memcmp(text, signs[i].text, length) != 0)
			continue;
		*ret_comparison = signs[i].comparison;
		return true;
	}
	return false;
}

const char *comparison_sign(enum comparison_kind comparison)
{
	size_t i = 0;

	while (signs[i].comparison != comparison)
		i++;
	return signs[i].text;
}

bool comparison_holds(enum comparison_kind comparison, double low, double high, double value)
{
	switch (comparison) {
	case COMPARISON_AT_LEAST:
		return high >= value;
	case COMPARISON_AT_MOST:
		return low <= value;
	case COMPARISON_MORE:
		return high > value;
	case COMPARISON_LESS:
		return low < value;
	case COMPARISON_DIFFERENT:
		return value < low || high < value;
	default:
		return low <= value && value <= high;
	}
}

bool limit_is_share(enum column column)
{
	return column_entry(column)->unit == UNIT_NS &&
	       column_unit(column, WINDOW_MODE_RATE, false) == UNIT_PERCENT;
}

/* Whether percent says something of the values of a column: it is a share of time, or one anyway. */
static bool takes_percent(enum column column)
{
	const enum unit unit = column_entry(column)->unit;

	return limit_is_share(column) || unit == UNIT_PERCENT || unit == UNIT_RATIO;
}

static int refuse_unit(const char *text, size_t length, const char *name, enum column column,
		       struct error *error)
{
	const bool percent = takes_percent(column);
	struct buffer valid = {0};
	int result;

	quantity_append_units(column_ladder(column), &valid);
	if (percent)
		buffer_append_text(&valid, "%");
	else if (valid.length != 0)
		valid.data[valid.length -= 2] = '\0';
	result = error_set(error, -EINVAL, "'%.*s' is not a number with a unit of %s; units are %s",
			   (int)length, text, name, valid.length != 0 ? valid.data : "none");
	buffer_release(&valid);
	return result;
}

/* ns of what a field of files counts its times in; 0 where the name is of no such field. */
static double time_of_field(const char *name, enum column column)
{
	const enum metric metric = metric_find(name, strlen(name));

	if (metric == METRIC_NONE || column_ladder(column) != LADDER_NS)
		return 0;
	return metric_type(metric)->ladder == LADDER_TICKS ? (double)NS_PER_TICK : 1;
}

int limit_parse(const char *text, size_t length, const char *name, enum column column,
		struct limit *ret_limit, struct error *error)
{
	const enum ladder ladder = column_ladder(column);
	size_t at = quantity_parse_number(text, length, &ret_limit->number);
	double factor;

	if (at == 0)
		return -ENOENT;
	while (at < length && (text[at] == ' ' || text[at] == '\t'))
		at++;
	if (length - at == 1 && text[at] == '%' && takes_percent(column)) {
		ret_limit->kind = LIMIT_PERCENT;
		return 0;
	}
	if (!quantity_find_unit(ladder, text + at, length - at, &factor) ||
	    !isfinite(ret_limit->number * factor))
		return refuse_unit(text, length, name, column, error);
	ret_limit->kind = at < length && ladder == LADDER_NS ? LIMIT_AMOUNT : LIMIT_NUMBER;
	ret_limit->number *= factor;
	if (at == length && time_of_field(name, column) != 0) {
		ret_limit->kind = LIMIT_AMOUNT;
		ret_limit->number *= time_of_field(name, column);
	}
	return 0;
}

double limit_in(const struct limit *limit, enum unit unit)
{
	if (limit->kind == LIMIT_AMOUNT && unit == UNIT_PERCENT)
		return limit->number / NS_PER_S * 100.0;
	if (limit->kind == LIMIT_PERCENT && unit == UNIT_RATIO)
		return limit->number / 100.0;
	return limit->number;
}

bool comparison_decides(enum comparison_kind comparison, double low, double high, double value,
			bool *ret_holds)
{
	const bool at_low = comparison_holds(comparison, low, low, value);
	const bool at_high = comparison_holds(comparison, high, high, value);
	const bool is_equality = comparison == COMPARISON_EQUAL || comparison == COMPARISON_DIFFERENT;

	*ret_holds = at_low;
	/* somewhere between them the number may still be equal */
	return at_low == at_high && !(is_equality && low < value && value < high);
}

bool limit_holds(const struct limit *limit, const struct cell *cell, bool *ret_known)
{
	const double value = limit_in(limit, cell->unit);
	double low, high;
	bool holds;

	*ret_known = cell->state == CELL_VALUE;
	switch (cell->form) {
	case CELL_FORM_INTEGER:
		low = high = (double)cell->value.integer;
		break;
	case CELL_FORM_REAL:
		low = high = cell->value.real;
		break;
	case CELL_FORM_RANGE:
		low = (double)cell->value.range.low;
		high = (double)cell->value.range.high;
		break;
	default:
		*ret_known = false;
		return false;
	}
	holds = comparison_holds(limit->comparison, low, high, value);
	if (cell->partial && cell->form != CELL_FORM_RANGE)
		*ret_known &= comparison_decides(limit->comparison, low, INFINITY, value, &holds);
	return *ret_known && holds;
}
