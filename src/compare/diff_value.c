/* SPDX-License-Identifier: GPL-2.0-only */
/* A metric of both sides of a pair, and its change: each side is a window that is reduced. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"
#include "diff.h"
#include "table/limit.h"
#include "table/value_cell.h"

/* --- a side as a window whose rows are the pairs --- */

const struct ended *diff_run_ended(const struct diff *diff, const struct diff_run *run)
{
	const struct ended *ended;

	if (run == NULL || !diff->options.rates || diff->options.single)
		return NULL;
	ended = &run->snapshot->window->ended;
	return ended_has_any(ended) ? ended : NULL;
}

const struct ended *diff_ended(const struct diff *diff, enum diff_side side)
{
	return diff_run_ended(diff, diff_last_run(diff, side));
}

struct window diff_window(const struct snapshot *snapshot, bool rates)
{
	const struct snapshot_window *window = snapshot->window;

	if (!rates)
		return (struct window){
			.now = snapshot,
			.missing = REASON_NOT_IN_FILE,
			.latency = snapshot->latency.present ? &snapshot->latency : NULL,
			.mode = WINDOW_MODE_TOTAL,
			.basis = snapshot->provenance.present ? WINDOW_STORED : WINDOW_FLAGGED,
		};
	return (struct window){
		.now = snapshot,
		.from = window->from,
		.from_of = window->from_of,
		.missing = REASON_NOT_READ,
		.ended = ended_has_any(&window->ended) ? &window->ended : NULL,
		.latency = window->latency != NULL ? &window->latency->latency : NULL,
		.elapsed_ns = snapshot->provenance.boottime_ns - window->from->provenance.boottime_ns,
		.mode = WINDOW_MODE_RATE,
		.per_second = true,
	};
}

void diff_show_ended(const struct diff *diff, enum diff_side side, size_t names, const struct ended *ended,
		     const bool members[], struct shown *shown)
{
	shown->ended = ended;
	shown->ended_row_of = memory_allocate((ended->count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < ended->count; i++) {
		const uint32_t group = grouping_of_triple(diff->grouping, names, i);

		shown->ended_row_of[i] = ended_is_void(ended, i) || !diff_has_group(diff, side, group) ||
							 (members != NULL && !members[i])
						 ? UINT32_MAX
						 : diff->pair_of_group[side][group];
	}
}

/* Finds the row of each record of how long waits took: that of its names, and one behind those of the pairs
 * for those that may be of any. */
static void find_latency_rows(const struct diff *diff, enum diff_side side, const struct snapshot *waits,
			      struct shown *shown)
{
	const struct snapshot *names;
	struct grouping *grouping;
	struct snapshot *sums = snapshot_create();
	uint32_t *sum_of = latency_sums_add(sums, waits);
	const uint32_t other = latency_sums_other(sums);

	names = sums;
	grouping = grouping_create(&diff->options.grouping, &names, 1, diff->patterns);
	shown->latency_row_of = memory_allocate((waits->latency.count + 1) * sizeof(uint32_t));
	shown->latency_other = shown->latency_other_row = UINT32_MAX;
	for (uint32_t i = 0; i < waits->latency.count; i++) {
		size_t length;
		const char *key = grouping_key(grouping, grouping_of_triple(grouping, 0, sum_of[i]), &length);
		const uint32_t group = grouping_find(diff->grouping, key, length);

		if (sum_of[i] == other) {
			shown->latency_other = i;
			shown->latency_other_row = (uint32_t)diff->pair_count;
			shown->latency_row_of[i] = (uint32_t)diff->pair_count;
		} else {
			shown->latency_row_of[i] = group == UINT32_MAX || !diff_has_group(diff, side, group)
							   ? UINT32_MAX
							   : diff->pair_of_group[side][group];
		}
	}
	grouping_release(grouping);
	snapshot_release(sums);
	free(sum_of);
}

/* The snapshot whose waits are compared; NULL where waits are not known by these groups. */
static const struct snapshot *waits_of(const struct diff *diff, const struct diff_run *run)
{
	const struct snapshot *snapshot = diff->options.rates ? run->snapshot->window->latency
							      : run->snapshot;

	return snapshot != NULL && snapshot->latency.present && !diff->options.single &&
			       !axis_is_by_thread(diff->options.grouping.axis)
		       ? snapshot
		       : NULL;
}

/* The threads whose counters count by threads, and those of groups that went, which are compared with
 * nothing.
 */
static const bool *count_threads(struct diff *diff, enum diff_side side, const struct diff_run *run)
{
	const size_t count = run->snapshot->thread_count;
	bool *counted = memory_allocate(count + 1);

	for (size_t i = 0; i < count; i++) {
		const uint32_t group = run->group_of_thread[i];

		counted[i] = diff->options.match->counted[side][i] ||
			     (group != UINT32_MAX &&
			      diff->pairs[diff->pair_of_group[side][group]].kind == DIFF_PAIR_ONLY_BEFORE);
	}
	return diff->counted[side] = counted;
}

struct reduction *diff_reduce(struct diff *diff, enum diff_side side, const struct diff_run *run)
{
	const struct snapshot *snapshot = run->snapshot;
	struct window window = diff_window(snapshot, diff->options.rates);
	struct shown shown = {
		.now = snapshot,
		.row_count = diff->pair_count + 1,
		.by_cgroup = diff->options.grouping.axis == AXIS_CGROUP && !diff->options.single,
		.by_thread = diff->options.single,
	};

	if (diff->options.dialect->is_flagged)
		window.basis = WINDOW_FLAGGED;
	if (diff->options.by_threads && !diff->options.single) {
		window.counted = count_threads(diff, side, run);
		window.replaced = side == DIFF_AFTER ? diff->options.match->replaced : NULL;
	}
	shown_reserve(&shown, snapshot->thread_count, diff->pair_count + 1);
	/* flags are judged by the groups of this side, not by those that were joined with another */
	if (window.basis == WINDOW_FLAGGED && diff->rename_count != 0) {
		shown.part_of = memory_allocate((snapshot->thread_count + 1) * sizeof(uint32_t));
		shown.part_count = grouping_count(diff->grouping);
	}
	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		const uint32_t group = run->group_of_thread[i];

		if (group == UINT32_MAX)
			continue;
		if (shown.part_of != NULL)
			shown.part_of[shown.count] = group;
		shown_add(&shown, i, diff->pair_of_group[side][group]);
	}
	window.ended = diff_run_ended(diff, run);
	if (window.ended != NULL)
		diff_show_ended(diff, side, run->ended_names, window.ended, diff->options.ended_members[side],
				&shown);
	if (waits_of(diff, run) != NULL)
		find_latency_rows(diff, side, waits_of(diff, run), &shown);
	return reduction_create(&window, &shown);
}

enum {
	PAIRS_KEPT = 8192 /* of all runs */
};

bool diff_forgets(const struct diff *diff)
{
	return diff->pair_count * (diff->run_count[DIFF_BEFORE] + diff->run_count[DIFF_AFTER]) > PAIRS_KEPT;
}

void diff_forget(const struct diff *diff)
{
	for (size_t side = 0; diff_forgets(diff) && side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < diff->run_count[side]; i++)
			reduction_forget_all(diff->runs[side][i].reduction);
	}
}

/* --- a change --- */

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

/* --- the value of a set of runs --- */

/* The value of a run; false where it has nothing of the pair. */
static bool value_of_run(const struct diff_run *run, size_t row, enum column column, struct value *ret_value)
{
	*ret_value = (struct value){.state = VALUE_ABSENT, .sort = NAN};
	if (!run->has[row])
		return false;
	reduction_value(run->reduction, column, row, ret_value);
	return true;
}

/* Whether values of this form have a mean; words, and ranges on a scale, have none. */
static bool has_mean(const struct value *value)
{
	return value->form == VALUE_FORM_WHOLE || value->form == VALUE_FORM_REAL;
}

/* Whether nothing is 0 of a column: amounts and numbers of threads. */
static bool is_amount(enum column column)
{
	return column == column_of_stored(METRIC_THREAD_COUNT) || column_is_counter(column) ||
	       column_has(column_entry(column), COLUMN_RATES);
}

/* Gives a value the number of a mean: a whole one where it reads as one. */
static void set_mean(struct value *value, double mean, bool is_whole)
{
	value->state = VALUE_READ;
	if (!value->partial)
		value->reason = REASON_READ;
	/* the largest whole numbers may be rounded up to one that is none */
	value->form = is_whole && mean == trunc(mean) && mean < 0x1p64 ? VALUE_FORM_WHOLE : VALUE_FORM_REAL;
	if (value->form == VALUE_FORM_WHOLE)
		value->whole = (uint64_t)mean;
	else
		value->real = mean;
	value->sort = mean;
}

/* The mean over the runs whose number is known; without one the reason why the first is not. */
static void mean_of_runs(const struct diff *diff, size_t row, enum diff_side side, enum column column,
			 struct value *ret_value)
{
	double sum = 0, number;
	size_t count = 0, read = 0;
	bool is_whole = true;

	*ret_value = (struct value){.state = VALUE_ABSENT, .sort = NAN};
	for (size_t i = 0; i < diff->run_count[side]; i++) {
		struct value value;

		if (!value_of_run(&diff->runs[side][i], row, column, &value)) {
			count += is_amount(column);
			continue;
		}
		/* words are ids of their snapshot: those of the last run belong to diff->reductions */
		if (value.state == VALUE_READ && !has_mean(&value)) {
			value_of_run(diff_last_run(diff, side), row, column, ret_value);
			return;
		}
		if (ret_value->state == VALUE_ABSENT && value.state == VALUE_UNAVAILABLE) {
			ret_value->state = VALUE_UNAVAILABLE;
			ret_value->reason = value.reason;
		}
		if (!value_number(&value, &number))
			continue;
		sum += number;
		count++;
		read++;
		is_whole &= value.form == VALUE_FORM_WHOLE;
		if (value.partial) {
			ret_value->partial = true;
			ret_value->reason = value.reason;
		}
	}
	if (read != 0)
		set_mean(ret_value, sum / (double)count, is_whole);
}

void diff_side(const struct diff *diff, const struct diff_pair *pair, enum diff_side side, enum column column,
	       struct value *ret_value)
{
	const size_t row = (size_t)(pair - diff->pairs);

	if (pair->group[side] == UINT32_MAX || diff->reductions[side] == NULL)
		*ret_value = (struct value){.state = VALUE_ABSENT, .sort = NAN};
	else if (diff_has_sets(diff))
		mean_of_runs(diff, row, side, column, ret_value);
	else
		reduction_value(diff->reductions[side], column, row, ret_value);
}

size_t diff_run_numbers(const struct diff *diff, const struct diff_pair *pair, enum diff_side side,
			enum column column, double ret_numbers[])
{
	const size_t row = (size_t)(pair - diff->pairs);
	size_t count = 0;

	for (size_t i = 0; i < diff->run_count[side]; i++) {
		struct value value;
		const bool has_pair = value_of_run(&diff->runs[side][i], row, column, &value);

		if (has_pair && value.state != VALUE_READ)
			continue;
		if (has_pair && !has_mean(&value))
			return 0;
		ret_numbers[count] = 0;
		value_number(&value, &ret_numbers[count++]);
	}
	return count;
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

/*
 * Whether a number that may be larger is compared as it is: RSS where the kernel leaves out what each CPU
 * counts for itself, some pages of each thread.
 */
static bool is_near_enough(enum column column, const struct value *value)
{
	return column == COLUMN_RSS && value->reason == REASON_LOWER_BOUND;
}

struct diff_value diff_column(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct column_values *columns[DIFF_SIDE_COUNT] = {0};
	struct value sides[DIFF_SIDE_COUNT];
	struct diff_value value = {0};

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		diff_side(diff, pair, (enum diff_side)i, column, &sides[i]);
		value.side[i] = (struct diff_side_value){
			.state = sides[i].state,
			.reason = sides[i].reason,
			.partial = sides[i].state == VALUE_READ && sides[i].partial &&
				   !is_near_enough(column, &sides[i]),
		};
		value.side[i].has_number = value_number(&sides[i], &value.side[i].number);
		if (diff->reductions[i] == NULL)
			continue;
		columns[i] = reduction_column(diff->reductions[i], column);
		value.is_category |= column_values_are_words(columns[i]);
	}
	diff_value_conclude(&value, column_is_ratio(column));
	/* sets of as many CPUs may be of others */
	if (value.state == VALUE_READ &&
	    (value.is_category || (sides[DIFF_BEFORE].form == VALUE_FORM_CPUS && !value.differs)))
		value.differs = words_differ(columns, sides);
	return value;
}

bool diff_is_unknown(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);
	const enum value_state before = value.side[DIFF_BEFORE].state, after = value.side[DIFF_AFTER].state;

	return (before == VALUE_READ && after == VALUE_UNAVAILABLE) ||
	       (before == VALUE_UNAVAILABLE && after == VALUE_READ);
}

double diff_column_sort(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	return column_is_metric(column) &&
			       metric_type(column_metric(column))->reduction == METRIC_REDUCTION_MODE
		       ? -INFINITY
		       : diff_column(diff, pair, column).sort;
}

/* --- what a column is --- */

bool diff_is_ordinal(enum column column)
{
	return column_is_metric(column) && metric_type(column_metric(column))->kind == METRIC_KIND_ORDINAL;
}

bool diff_has_amounts(enum column column)
{
	/* what the screen shows a second, too */
	return column_grows(column) || (column < COLUMN_COUNT && column_has_rate(column));
}

size_t diff_metric_inputs(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	return column_has_metrics(column) &&
			       !column_has(entry, COLUMN_OF_WAITS | COLUMN_OF_LIVES | COLUMN_OF_RECORDS)
		       ? entry->input_count
		       : 0;
}

enum window_mode diff_mode(const struct diff *diff)
{
	return diff->options.rates ? WINDOW_MODE_RATE : WINDOW_MODE_TOTAL;
}

double diff_percent(enum column column)
{
	return column_report_ladder(column) == LADDER_TICKS ? 1e7 / NS_PER_TICK : 1e7;
}

enum unit diff_unit(const struct diff *diff, enum column column, double *ret_divisor)
{
	const enum unit unit = column_unit(column, diff_mode(diff), diff->options.single);

	*ret_divisor = diff->options.rates && limit_is_share(column) ? diff_percent(column) : 1;
	/* the title of thread_count is that of a rate */
	if (column >= COLUMN_COUNT && !column_grows(column))
		return column_report_unit(column);
	/* lives are as stored, also in clock ticks */
	return unit == UNIT_NS && diff_metric_inputs(column) != 0 &&
			       metric_type((enum metric)column_entry(column)->inputs[0])->ladder ==
				       LADDER_TICKS
		       ? UNIT_TICKS
		       : unit;
}

bool diff_is_lost(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	return diff->options.by_threads && pair->kind == DIFF_PAIR_ONLY_BEFORE &&
	       column != column_of_stored(METRIC_THREAD_COUNT) &&
	       (column_is_counter(column) || column_has(column_entry(column), COLUMN_RATES));
}
