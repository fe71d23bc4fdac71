/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_weight.h"

#include <math.h>

#include "base/clock.h"
#include "window/column.h"

const char diff_weight_words[] =
	"rows are sorted by the weight of their change: its part of all changes of that metric, where times "
	"count most, then bytes, then counts";

/* By the ladder of a metric. */
static const struct {
	/* what a quiet host does in a second: 1 % of a CPU, ten of something, 100 KiB */
	double allowance;
	/* what the part of all changes counts: time is what a user feels, events are how it comes about */
	double weight;
} ladder_weights[] = {
	[LADDER_NONE] = {0.01, 0.5}, /* CPUs of a limit, which do not change by chance */
	[LADDER_UNITLESS] = {10, 0.5},      [LADDER_NS] = {1e7, 1},  [LADDER_US] = {1e4, 1},
	[LADDER_BYTES] = {100 * 1024, 0.8}, [LADDER_TICKS] = {1, 1},
};

/* How much what has no total counts beside a counter's part of all changes. */
#define WEIGHT_OF_NUMBER 0.02
#define WEIGHT_OF_WORD   0.001

struct diff_weight_kind diff_weight_kind(enum column column)
{
	const bool is_threads = column == column_of_stored(METRIC_THREAD_COUNT);

	return (struct diff_weight_kind){
		.ladder = column_report_ladder(column),
		.is_ratio = column_is_ratio(column),
		.has_total = is_threads || column_is_record(column) || column_is_counter(column),
		.is_threads = is_threads,
		.is_ordinal = column_is_metric(column) &&
			      metric_type(column_metric(column))->kind == METRIC_KIND_ORDINAL,
	};
}

double diff_weight_seconds(uint64_t distance_ns)
{
	const double seconds = (double)distance_ns / NS_PER_S;

	return seconds < 1 ? 1 : seconds > 3600 ? 3600 : seconds;
}

double diff_weight_amount(const struct diff_value *value, bool only_before, bool only_after)
{
	if (value->has_delta)
		return fabs(value->delta);
	if (only_after && value->side[DIFF_AFTER].has_number)
		return fabs(value->side[DIFF_AFTER].number);
	if (only_before && value->side[DIFF_BEFORE].has_number)
		return fabs(value->side[DIFF_BEFORE].number);
	return 0;
}

double diff_weight_allowance(const struct diff_weight_kind *kind, double seconds)
{
	/* threads come and go by themselves less than anything else */
	return kind->is_threads ? 1 : ladder_weights[kind->ladder].allowance * seconds;
}

double diff_weight_in_total(const struct diff_weight_kind *kind, double amount, double total, double seconds)
{
	return (kind->is_threads ? 1 : ladder_weights[kind->ladder].weight) * amount /
	       (total + diff_weight_allowance(kind, seconds));
}

double diff_weight_alone(const struct diff_weight_kind *kind, const struct diff_value *value, double amount)
{
	double larger = 0;

	if (value->is_category || kind->is_ordinal)
		return value->differs || amount != 0 ? WEIGHT_OF_WORD : 0;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		larger = fmax(larger, fabs(value->side[side].has_number ? value->side[side].number : 0));
	if (!kind->is_ratio)
		larger += ladder_weights[kind->ladder].allowance;
	return larger != 0 ? WEIGHT_OF_NUMBER * fmin(1, amount / larger) : 0;
}
