/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_harm.h"

#include <math.h>

#include "base/clock.h"
#include "base/memory.h"

const struct diff_harm diff_harms[] = {
#define HARM(column, ...) {COLUMN_##column, __VA_ARGS__},
#include "diff_harm.def"
#undef HARM
};
const size_t diff_harm_count = ARRAY_COUNT(diff_harms);

const char diff_harm_words[] =
	"rows are sorted by harm: 2% of a CPU or of waiting, 64 MiB of memory, 10 MiB/s of storage and 1,000 "
	"events/s count the same";

/* The part of the threads before that counts as one unit, where that is more than the table has. */
static const double threads_part = 0.2;
/* The part that counts of what a group has less of, or had before it went: mostly work that came to its end.
 */
static const double less_part = 0.5;
/* The unit of waits that idle threads have too, ns per second, of a group that has not the same threads. */
static const double idle_unit = 20e9, shortest_idle_unit = 20e6;
/* The harm of a number without a unit that changes wholly, and of another word. */
static const double harm_of_number = 0.5, harm_of_word = 0.001;

const struct diff_harm *diff_harm_find(enum column column)
{
	const enum column stored = column_stored_form(column);

	for (size_t i = 0; i < diff_harm_count; i++) {
		if (column_stored_form(diff_harms[i].column) == stored)
			return &diff_harms[i];
	}
	return NULL;
}

/* Units of columns that no sentence names: of how much there is or how long it took, and of amounts of a
 * second. */
static const double ladder_units[][2] = {
	[LADDER_NONE] = {0, 1000},
	[LADDER_UNITLESS] = {1000, 1000},
	[LADDER_NS] = {20e6, 20e6},
	[LADDER_US] = {20e3, 20e3},
	[LADDER_BYTES] = {64 * 0x1p20, 10 * 0x1p20},
	[LADDER_TICKS] = {2, 2},
};

/* Units that are not those of the ladder, by the first metric of a column: each idle thread sleeps all the
 * time, and what is released costs as little as what is allocated. */
static const struct {
	enum metric metric;
	bool has_amounts; /* per second */
	double unit;
} metric_units[] = {
	{METRIC_VOLUNTARY_SLEEP_NS, true, 20e9},
	{METRIC_SLEEP_MAX, false, 20e9},
	{METRIC_ALLOCATED_BYTES, true, 0x1p30},
	{METRIC_DEALLOCATED_BYTES, true, 0x1p30},
};

/* The unit of a column that no sentence names. */
static double unit_of(enum column column)
{
	const bool has_amounts = diff_has_amounts(column);

	for (size_t i = 0; column_has_metrics(column) && i < ARRAY_COUNT(metric_units); i++) {
		if (column_entry(column)->inputs[0] == (int)metric_units[i].metric &&
		    metric_units[i].has_amounts == has_amounts)
			return metric_units[i].unit;
	}
	return ladder_units[column_report_ladder(column)][has_amounts];
}

/* Whether idle threads wait so, too: then it says something of a group only if that kept its threads. */
static bool may_be_idle(const struct diff_harm *harm)
{
	return column_entry(harm->column)->operation == COLUMN_OPERATION_TIME &&
	       harm->unit > shortest_idle_unit;
}

double diff_harm_unit(const struct diff_pair *pair, enum column column)
{
	const struct diff_harm *told = diff_harm_find(column);

	if (told == NULL)
		return unit_of(column);
	if (may_be_idle(told) &&
	    (!diff_pair_is_joined(pair) || pair->threads[DIFF_BEFORE] != pair->threads[DIFF_AFTER]))
		return idle_unit;
	return told->column == COLUMN_THR ? fmax(told->unit, threads_part * pair->threads[DIFF_BEFORE])
					  : told->unit;
}

/*
 * Seconds between the captures; at most an hour, so that what changed between captures that are far apart
 * still counts.
 */
static double seconds_of(const struct diff *diff)
{
	const double seconds = diff->options.rates ? 1 : (double)diff->interval_ns / NS_PER_S;

	return fmin(fmax(seconds, 1), 3600);
}

/* The amount that counts of a change, or of all that a group has that is on one side only; NAN: not known. */
static double amount_of(const struct diff_pair *pair, const struct diff_value *value)
{
	const bool is_gone = pair->kind == DIFF_PAIR_ONLY_BEFORE;
	const struct diff_side_value *side = &value->side[is_gone ? DIFF_BEFORE : DIFF_AFTER];

	if (value->has_delta)
		return fabs(value->delta) * (value->delta < 0 ? less_part : 1);
	if (diff_pair_is_joined(pair))
		return value->differs ? 0 : (double)NAN;
	return side->has_number ? fabs(side->number) * (is_gone ? less_part : 1) : 0;
}

/* Whether it is an amount of all the time between the captures. The time in a class is always per second. */
static bool is_sum_of_span(enum column column)
{
	return diff_has_amounts(column) && column_entry(column)->operation != COLUMN_OPERATION_TIME;
}

double diff_harm(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);
	const double amount = diff_is_lost(diff, pair, column) ? 0 : amount_of(pair, &value);
	const double unit = diff_harm_unit(pair, column);
	double larger = 0;

	if (isnan(amount))
		return -INFINITY;
	/* a set of CPUs with as many others differs without an amount */
	if (value.is_category || diff_is_ordinal(column) || (value.differs && amount == 0))
		return value.differs || amount != 0 ? harm_of_word : 0;
	if (unit != 0)
		return amount / (unit * (is_sum_of_span(column) ? seconds_of(diff) : 1));
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		larger = fmax(larger, value.side[side].has_number ? fabs(value.side[side].number) : 0);
	return larger != 0 ? harm_of_number * fmin(1, amount / larger) : 0;
}
