/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "diff_floors.h"
#include "diff_harm.h"
#include "statistics.h"
#include "table/column_list.h"
#include "table/tab.h"

enum {
	PARTS_MIN = 8,   /* of a side; with fewer nothing is tested */
	BURST_PARTS = 4, /* a burst is in at most one of so many parts */
};

/* The largest ratio of the lengths of two windows that are tested. */
static const double lengths_most = 3;
/* The least size of a burst: as a multiple of the other side's largest part, and in units of harm. */
static const double burst_times = 10, burst_harm = 10;
/* A change has to be so many times the larger spread: about twice the standard deviation of a part. */
static const double spreads_min = 3;
/* Up to this likelihood of chance it is the mean of both: a wait that grows also varies more. */
static const double chance_least = 0.001;

/* A counter of all pairs: one number for each part of a side, a second. */
struct series {
	double *parts[DIFF_SIDE_COUNT]; /* [pair][part]; NULL: no part has an amount */
	double *chance, *adjusted;      /* [pair], NAN: not tested */
};

struct diff_evidence {
	const struct diff *diff;
	size_t part_count[DIFF_SIDE_COUNT];
	const char *refusal; /* why nothing is tested; NULL: both sides have enough parts */
	struct series of[METRIC_COUNT];
};

/* One of the screen that adds counters up. */
static bool is_sum(enum column column)
{
	return column < COLUMN_COUNT && column_entry(column)->operation == COLUMN_OPERATION_SUM;
}

static const struct window_parts *parts_of(const struct diff *diff, enum diff_side side)
{
	return &diff->snapshots[side]->window->parts;
}

/* --- the parts, reduced as any window --- */

/* The records of what was done in a part, by name. */
static struct ended records_of(const struct window_parts *parts, const struct window_part *part)
{
	struct ended did = {
		.names = parts->names,
		.records = memory_allocate_zero(parts->names->triple_count + 1, sizeof(*did.records)),
		.count = parts->names->triple_count,
	};

	for (size_t k = 0; k < part->metric_count; k++) {
		for (size_t i = 0; i < part->count; i++) {
			struct ended_record *record = &did.records[part->names[i]];
			uint64_t *amount = &record->amounts[part->metrics[k]];

			*amount = number_add_saturating(*amount, part->amounts[k * part->count + i]);
			record->states[part->metrics[k]] = ENDED_COUNTED;
		}
	}
	return did;
}

static double *numbers_of(struct diff_evidence *evidence, enum metric metric, enum diff_side side)
{
	struct series *series = &evidence->of[metric];

	if (series->parts[side] == NULL)
		series->parts[side] = memory_allocate_zero(
			evidence->diff->pair_count * evidence->part_count[side] + 1, sizeof(double));
	return series->parts[side];
}

static void reduce_part(struct diff_evidence *evidence, enum diff_side side, size_t index)
{
	const struct diff *diff = evidence->diff;
	const struct window_parts *parts = parts_of(diff, side);
	const struct window_part *part = &parts->items[index];
	struct ended did = records_of(parts, part);
	struct window window = diff_window(diff->snapshots[side], true);
	struct shown shown = {.now = window.now, .row_count = diff->pair_count};

	window.ended = &did;
	window.elapsed_ns = part->length_ns;
	shown_reserve(&shown, 0, diff->pair_count);
	diff_show_ended(diff, side, diff->part_names[side], &did, NULL, &shown);
	for (size_t k = 0; k < part->metric_count; k++) {
		double *numbers = numbers_of(evidence, part->metrics[k], side);
		struct column_values values;

		reduce_column(&window, &shown, column_of_stored(part->metrics[k]), &values);
		for (size_t pair = 0; pair < diff->pair_count; pair++) {
			struct value value;

			reduce_value(&shown, &values, pair, &value);
			value_number(&value, &numbers[pair * evidence->part_count[side] + index]);
		}
		column_values_release(&values);
	}
	free(did.records);
	shown_release(&shown);
}

/*
 * Whether a pair has other threads than its parts, which go by names: one has been renamed since before.
 * Nothing is known then of what the pair does from part to part.
 */
static bool has_other_threads(const struct diff *diff, const struct diff_pair *pair)
{
	const uint32_t group = pair->group[DIFF_BEFORE];

	return diff->threads[DIFF_BEFORE] != NULL && group != UINT32_MAX &&
	       diff->threads[DIFF_BEFORE][group].renamed;
}

/* --- tests --- */

/*
 * The counters that are tested: those of the tabs that people look at first. The more is tested, the larger a
 * change has to be, and counters of the other tabs mostly say the same again.
 */
static void choose(bool ret_chosen[METRIC_COUNT])
{
	static const enum tab tabs_tested[] = {TAB_OVERVIEW, TAB_RUN,  TAB_WAKEUPS, TAB_IO,
					       TAB_MEMORY,   TAB_HEAP, TAB_CGROUP};

	memset(ret_chosen, false, METRIC_COUNT * sizeof(*ret_chosen));
	for (size_t tab = 0; tab < ARRAY_COUNT(tabs_tested); tab++) {
		enum column columns[COLUMN_TOTAL];
		const size_t count = column_list(tabs_tested[tab], false, 0, COLUMN_COUNT, columns);

		for (size_t k = 0; k < count; k++) {
			for (size_t i = 0; i < diff_metric_inputs(columns[k]); i++)
				ret_chosen[column_entry(columns[k])->inputs[i]] = true;
		}
	}
}

/* The likelihood of such a difference between the parts of both sides by chance. */
static double chance_of(const struct diff_evidence *evidence, const double *before, const double *after)
{
	const size_t *count = evidence->part_count;

	return statistics_chance(before, count[DIFF_BEFORE], after, count[DIFF_AFTER]);
}

static void test(struct diff_evidence *evidence, enum metric metric, size_t pair)
{
	const struct diff_pair *of = &evidence->diff->pairs[pair];
	const struct diff_value value = diff_metric(evidence->diff, of, metric);
	struct series *series = &evidence->of[metric];

	if (has_other_threads(evidence->diff, of) || !value.has_delta ||
	    fmax(value.side[DIFF_BEFORE].number, value.side[DIFF_AFTER].number) <
		    diff_floors_of(evidence->diff, of, column_of_stored(metric)))
		return;
	series->chance[pair] = chance_of(
		evidence,
		numbers_of(evidence, metric, DIFF_BEFORE) + pair * evidence->part_count[DIFF_BEFORE],
		numbers_of(evidence, metric, DIFF_AFTER) + pair * evidence->part_count[DIFF_AFTER]);
}

/* Adjusts what was tested for how much that is. */
static void adjust(struct diff_evidence *evidence)
{
	const size_t pair_count = evidence->diff->pair_count;
	double *chances = NULL;
	size_t count = 0, capacity = 0, next = 0;

	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		for (size_t i = 0; evidence->of[metric].chance != NULL && i < pair_count; i++) {
			if (!isnan(evidence->of[metric].chance[i]))
				*MEMORY_APPEND(chances, count, capacity) = evidence->of[metric].chance[i];
		}
	}
	statistics_adjust(chances, count);
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		for (size_t i = 0; evidence->of[metric].chance != NULL && i < pair_count; i++) {
			if (!isnan(evidence->of[metric].chance[i]))
				evidence->of[metric].adjusted[i] = chances[next++];
		}
	}
	free(chances);
}

/* In room for all pairs. */
static double *no_chances(const struct diff *diff)
{
	double *chances = memory_allocate((diff->pair_count + 1) * sizeof(*chances));

	for (size_t i = 0; i < diff->pair_count; i++)
		chances[i] = NAN;
	return chances;
}

/* Windows of very different lengths differ by that alone: what happens each minute is in one of them. */
static const char *find_refusal(const struct diff_evidence *evidence)
{
	double length[DIFF_SIDE_COUNT];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		length[side] = (double)diff_window(evidence->diff->snapshots[side], true).elapsed_ns;
	if (fmin(length[DIFF_BEFORE], length[DIFF_AFTER]) < NS_PER_S)
		return "a window is shorter than 1 s";
	if (fmax(length[DIFF_BEFORE], length[DIFF_AFTER]) >
	    lengths_most * fmin(length[DIFF_BEFORE], length[DIFF_AFTER]))
		return "one window is more than three times as long as the other";
	if (evidence->diff->options.members[DIFF_BEFORE] != NULL ||
	    evidence->diff->options.members[DIFF_AFTER] != NULL ||
	    axis_is_by_thread(evidence->diff->options.grouping.axis))
		return "parts of a window are known by names of threads alone";
	if (evidence->part_count[DIFF_BEFORE] < PARTS_MIN || evidence->part_count[DIFF_AFTER] < PARTS_MIN)
		return "a window has fewer than eight parts";
	return NULL;
}

const char *diff_evidence_refusal(const struct diff *diff)
{
	return diff->evidence != NULL ? diff->evidence->refusal : NULL;
}

struct diff_evidence *diff_evidence_create(const struct diff *diff)
{
	struct diff_evidence *evidence = memory_allocate_zero(1, sizeof(*evidence));
	bool chosen[METRIC_COUNT];

	evidence->diff = diff;
	/* how a run goes from part to part says nothing of the next run */
	if (diff_has_sets(diff))
		return evidence;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct window_parts *parts = parts_of(diff, (enum diff_side)side);

		/* a part is of all threads: nobody knows what some of them did in it */
		if (parts->names != NULL && diff->options.members[side] == NULL &&
		    !axis_is_by_thread(diff->options.grouping.axis))
			evidence->part_count[side] = parts->count;
		for (size_t i = 0; i < evidence->part_count[side]; i++)
			reduce_part(evidence, (enum diff_side)side, i);
	}
	evidence->refusal = find_refusal(evidence);
	if (evidence->refusal != NULL)
		return evidence;
	choose(chosen);
	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		struct series *series = &evidence->of[metric];

		if (!chosen[metric])
			continue;
		if (series->parts[DIFF_BEFORE] == NULL && series->parts[DIFF_AFTER] == NULL)
			continue;
		series->chance = no_chances(diff);
		series->adjusted = no_chances(diff);
		for (size_t pair = 0; pair < diff->pair_count; pair++)
			test(evidence, (enum metric)metric, pair);
	}
	adjust(evidence);
	return evidence;
}

void diff_evidence_release(struct diff_evidence *evidence)
{
	if (evidence == NULL)
		return;
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
			free(evidence->of[metric].parts[side]);
		free(evidence->of[metric].chance);
		free(evidence->of[metric].adjusted);
	}
	free(evidence);
}

/* Whether a change is large enough by itself: also that of a group that is on one side only. */
static bool is_large(const struct diff *diff, const struct diff_pair *pair, enum column column,
		     const struct diff_value *value)
{
	const double floor = diff_floors_of(diff, pair, column);
	const enum diff_side side = pair->kind == DIFF_PAIR_ONLY_BEFORE ? DIFF_BEFORE : DIFF_AFTER;

	/* which CPU a thread was on last, and whether it slept, says nothing */
	if (column == column_of_stored(METRIC_PROCESSOR) || column == column_of_stored(METRIC_STATE))
		return false;
	if (diff_is_ordinal(column) || (value->is_category && column_is_metric(column)) ||
	    (value->differs && value->delta == 0)) /* a set of CPUs with as many others */
		return diff_pair_is_joined(pair) &&
		       (value->differs || (value->has_delta && value->delta != 0));
	if (!diff_pair_is_joined(pair))
		return value->side[side].has_number && fabs(value->side[side].number) >= floor &&
		       value->side[side].number != 0;
	if (column_is_ratio(column))
		return value->has_delta && fabs(value->delta) >= fmax(floor, DIFF_FLOORS_PART);
	return value->has_delta && value->delta != 0 && fabs(value->delta) >= floor &&
	       (!value->has_fraction || fabs(value->fraction) >= DIFF_FLOORS_PART);
}

/* Returns whether the change of any input metric of a column is real; true for a column without inputs. */
static bool has_real_input(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const size_t count = diff_metric_inputs(column);

	for (size_t i = 0; i < count; i++) {
		if (diff_is_real(diff, pair, column_of_stored((enum metric)column_entry(column)->inputs[i])))
			return true;
	}
	return count == 0;
}

bool diff_evidence_is_unexplained(const struct diff *diff, const struct diff_pair *pair, enum column column,
				  const struct diff_value *value)
{
	const struct column_entry *entry = column_entry(column);
	double explained = 0;

	if (entry->operation != COLUMN_OPERATION_LOST || !value->has_delta ||
	    !is_large(diff, pair, column, value))
		return false;
	for (size_t i = 0; i < entry->input_count; i++) {
		const enum column input = column_of_stored((enum metric)entry->inputs[i]);
		const struct diff_value counted = diff_column(diff, pair, input);

		explained += counted.has_delta ? fabs(counted.delta) : 0;
	}
	return fabs(value->delta) - explained >= diff_floors_of(diff, pair, column);
}

/* Judges a change by its chance, and by what the number does from part to part. */
static void judge(const struct diff_value *value, double chance, double adjusted,
		  struct diff_evidence_cell *cell)
{
	const double *spread = cell->spread;
	const double needed = adjusted <= chance_least ? (spread[DIFF_BEFORE] + spread[DIFF_AFTER]) / 2
						       : fmax(spread[DIFF_BEFORE], spread[DIFF_AFTER]);

	cell->is_tested = true;
	cell->chance = chance;
	cell->adjusted = adjusted;
	cell->stands_out = fabs(value->delta) >= spreads_min * needed;
	cell->is_real &= cell->stands_out && adjusted <= DIFF_EVIDENCE_CHANCE_MAX;
}

/* Tests counters, or one, by themselves where somebody asks; adjusted for so many of them. */
static void test_sum(const struct diff_evidence *evidence, size_t pair, enum column column,
		     const struct diff_value *value, size_t times, struct diff_evidence_cell *cell)
{
	const struct column_entry *entry = column_entry(column);
	double *sums[DIFF_SIDE_COUNT], chance;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const size_t count = evidence->part_count[side];

		sums[side] = memory_allocate_zero(count, sizeof(*sums[side]));
		for (size_t i = 0; i < entry->input_count; i++) {
			const double *parts = evidence->of[entry->inputs[i]].parts[side];

			for (size_t k = 0; parts != NULL && k < count; k++)
				sums[side][k] += parts[pair * count + k];
		}
		cell->spread[side] = statistics_spread(sums[side], count);
	}
	chance = chance_of(evidence, sums[DIFF_BEFORE], sums[DIFF_AFTER]);
	judge(value, chance, fmin(1, chance * (double)times), cell);
	free(sums[DIFF_BEFORE]);
	free(sums[DIFF_AFTER]);
}

/* The largest of the numbers of a pair in the parts of a side; 0 without any. */
static double largest_part(const struct diff_evidence *evidence, enum metric metric, size_t pair,
			   enum diff_side side)
{
	const size_t count = evidence->part_count[side];
	const double *parts = evidence->of[metric].parts[side];
	double largest = 0;

	for (size_t i = 0; parts != NULL && i < count; i++)
		largest = fmax(largest, parts[pair * count + i]);
	return largest;
}

/*
 * Finds the fewest parts of a side, the fullest first, that hold more than half of what a pair did in all:
 * the first and the last of them in time. Returns how many they are.
 */
static size_t find_fullest(const struct diff_evidence *evidence, enum metric metric, size_t pair,
			   enum diff_side side, size_t *ret_first, size_t *ret_last)
{
	const struct window_parts *parts = parts_of(evidence->diff, side);
	const size_t count = evidence->part_count[side];
	const double *numbers = &evidence->of[metric].parts[side][pair * count];
	struct order_item *order = memory_allocate((count + 1) * sizeof(*order));
	double whole = 0, held = 0;
	size_t taken = 0;

	for (size_t i = 0; i < count; i++) {
		const double amount = numbers[i] * (double)parts->items[i].length_ns;

		whole += amount;
		order[i] = (struct order_item){.first = order_key(amount, false), .index = (uint32_t)i};
	}
	order_items(order, count);
	*ret_first = count;
	*ret_last = 0;
	while (taken < count && held * 2 <= whole) {
		const size_t part = order[taken++].index;

		held += numbers[part] * (double)parts->items[part].length_ns;
		*ret_first = part < *ret_first ? part : *ret_first;
		*ret_last = part > *ret_last ? part : *ret_last;
	}
	free(order);
	return taken;
}

/* Says when parts of a side were, from the end of its window on backwards. */
static void locate(const struct diff *diff, size_t first, size_t last, struct diff_burst *burst)
{
	const struct window_parts *parts = parts_of(diff, burst->side);
	const uint64_t end = diff->snapshots[burst->side]->captured_at_unix_ns;
	uint64_t behind = 0;

	burst->length_ns = 0;
	for (size_t i = first; i < parts->count; i++) {
		behind += parts->items[i].length_ns;
		burst->length_ns += i <= last ? parts->items[i].length_ns : 0;
	}
	burst->begin_unix_ns = end > behind ? end - behind : 0;
}

static bool find_burst(const struct diff *diff, const struct diff_pair *pair, enum column column,
		       const struct diff_value *value, struct diff_burst *ret_burst)
{
	const struct diff_evidence *evidence = diff->evidence;
	const enum diff_side side = value->delta > 0 ? DIFF_AFTER : DIFF_BEFORE;
	const enum diff_side other = side == DIFF_AFTER ? DIFF_BEFORE : DIFF_AFTER;
	const size_t index = (size_t)(pair - diff->pairs);
	size_t first, last;
	enum metric metric;

	if (!column_is_metric(column) || !column_is_counter(column) || !value->has_delta ||
	    evidence->refusal != NULL || has_other_threads(diff, pair))
		return false;
	metric = column_metric(column);
	if (evidence->of[metric].parts[side] == NULL ||
	    fabs(value->delta) < burst_times * largest_part(evidence, metric, index, other) ||
	    fabs(value->delta) < burst_harm * diff_harm_unit(pair, column) ||
	    find_fullest(evidence, metric, index, side, &first, &last) >
		    evidence->part_count[side] / BURST_PARTS)
		return false;
	ret_burst->side = side;
	locate(diff, first, last, ret_burst);
	return true;
}

/* --- sets of runs --- */

/* More runs than anybody makes. */
static const double runs_max = 1e6;

/* Collects the numbers of the runs in a column of a pair, those of before first; the caller frees them. */
static double *collect_numbers(const struct diff *diff, const struct diff_pair *pair, enum column column,
			       size_t ret_count[DIFF_SIDE_COUNT])
{
	const size_t most = diff->run_count[DIFF_BEFORE] + diff->run_count[DIFF_AFTER];
	double *numbers = memory_allocate((most + 1) * sizeof(*numbers));

	ret_count[DIFF_BEFORE] = diff_run_numbers(diff, pair, DIFF_BEFORE, column, numbers);
	ret_count[DIFF_AFTER] = diff_run_numbers(diff, pair, DIFF_AFTER, column,
						 numbers + ret_count[DIFF_BEFORE]);
	return numbers;
}

/*
 * Tests the numbers of both sides. Rules multiply `chance` by the groups that match, for which few runs have
 * no likelihood small enough: sets that are apart count as certain there.
 */
static void test_runs(const double *before, size_t before_count, const double *after, size_t after_count,
		      struct diff_evidence_cell *cell)
{
	/* what one run alone has may be its disturbance */
	const bool are_apart = before_count >= 2 && after_count >= 2 &&
			       statistics_are_apart(before, before_count, after, after_count);

	cell->is_tested = cell->stands_out = true;
	if (before_count < DIFF_EVIDENCE_RUNS || after_count < DIFF_EVIDENCE_RUNS) {
		cell->chance = are_apart ? 0 : 1;
		cell->adjusted = NAN;
		cell->is_real &= are_apart;
		return;
	}
	cell->adjusted = statistics_mann_whitney(before, before_count, after, after_count, 0);
	cell->chance = are_apart ? 0 : cell->adjusted;
	cell->is_real &= cell->adjusted <= DIFF_EVIDENCE_CHANCE_MAX;
}

/*
 * Judges the change of a column of a pair by the numbers of its runs: sets the spread, the chance and whether
 * the change is real, which `is_real` says so far by its size.
 */
static void judge_runs(const struct diff *diff, const struct diff_pair *pair, enum column column,
		       struct diff_evidence_cell *cell)
{
	size_t count[DIFF_SIDE_COUNT];
	double *before = collect_numbers(diff, pair, column, count), *after = before + count[DIFF_BEFORE];

	if (count[DIFF_BEFORE] >= 2)
		cell->spread[DIFF_BEFORE] = statistics_spread(before, count[DIFF_BEFORE]);
	if (count[DIFF_AFTER] >= 2)
		cell->spread[DIFF_AFTER] = statistics_spread(after, count[DIFF_AFTER]);
	/* what has no numbers is judged by its size */
	if (count[DIFF_BEFORE] != 0 && count[DIFF_AFTER] != 0)
		test_runs(before, count[DIFF_BEFORE], after, count[DIFF_AFTER], cell);
	free(before);
}

size_t diff_evidence_runs_needed(const struct diff *diff, const struct diff_pair *pair, enum column column,
				 double change)
{
	size_t count[DIFF_SIDE_COUNT];
	double *numbers = collect_numbers(diff, pair, column, count);
	const double deviation = statistics_deviation(numbers, count[DIFF_BEFORE],
						      numbers + count[DIFF_BEFORE], count[DIFF_AFTER]);
	const double needed = fmin(runs_max, statistics_numbers_needed(deviation, change));

	free(numbers);
	if (count[DIFF_BEFORE] < 2 && count[DIFF_AFTER] < 2)
		return 0;
	return needed > (double)DIFF_EVIDENCE_RUNS ? (size_t)needed : DIFF_EVIDENCE_RUNS;
}

/* --- verdicts --- */

/* Whether a column says what is, not how much was done: a setting, or a number of threads that changed by
 * more than a pool does as it works. */
static bool is_as_it_is(const struct diff *diff, const struct diff_pair *pair, enum column column,
			const struct diff_value *value)
{
	if (column_entry(column)->operation == COLUMN_OPERATION_THREADS)
		return diff_harm(diff, pair, column) >= 1;
	return diff_is_ordinal(column) || column == COLUMN_LIMIT ||
	       (value->is_category && column_is_metric(column));
}

static struct diff_evidence_cell judge_alone(const struct diff *diff, const struct diff_pair *pair,
					     enum column column, const struct diff_value *value)
{
	struct diff_evidence_cell cell = {.spread = {NAN, NAN}, .chance = 1, .adjusted = 1};
	const struct diff_evidence *evidence = diff->evidence;
	const size_t index = (size_t)(pair - diff->pairs);
	const struct series *series;

	cell.is_real = is_large(diff, pair, column, value);
	cell.is_certain = diff_pair_is_joined(pair) && is_as_it_is(diff, pair, column, value);
	if (diff_has_sets(diff)) {
		judge_runs(diff, pair, column, &cell);
		return cell;
	}
	if (column_is_derived(column) && cell.is_real)
		cell.is_real = has_real_input(diff, pair, column);
	if (has_other_threads(diff, pair))
		return cell;
	if (is_sum(column) && evidence->refusal == NULL)
		test_sum(evidence, index, column, value, 1, &cell);
	if (!column_is_metric(column))
		return cell;
	series = &evidence->of[column_metric(column)];
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const size_t count = evidence->part_count[side];

		if (series->parts[side] != NULL && count >= 2)
			cell.spread[side] = statistics_spread(series->parts[side] + index * count, count);
	}
	if (series->chance != NULL && !isnan(series->chance[index]))
		judge(value, series->chance[index], series->adjusted[index], &cell);
	else if (evidence->refusal != NULL || !column_is_counter(column) || !value->has_delta)
		return cell;
	else if (series->chance == NULL &&
		 (series->parts[DIFF_BEFORE] != NULL || series->parts[DIFF_AFTER] != NULL))
		test_sum(evidence, index, column, value, diff->pair_count, &cell);
	else
		cell.is_real = false;
	return cell;
}

struct diff_evidence_cell diff_evidence_of(const struct diff *diff, const struct diff_pair *pair,
					   enum column column, const struct diff_value *value)
{
	struct diff_evidence_cell cell = judge_alone(diff, pair, column, value);

	/* a few parts are too few for any test of ranks */
	cell.is_burst = cell.is_tested && !cell.is_real && find_burst(diff, pair, column, value, &cell.burst);
	return cell;
}

enum cell_verdict diff_evidence_verdict(const struct diff_evidence_cell *cell)
{
	if (cell->is_real)
		return cell->is_tested || cell->is_certain ? CELL_VERDICT_REAL : CELL_VERDICT_NOT_TESTED;
	return cell->is_burst ? CELL_VERDICT_BURST : CELL_VERDICT_NO;
}

static enum cell_verdict verdict_of(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);
	const struct diff_evidence_cell cell = diff_evidence_of(diff, pair, column, &value);

	return diff_evidence_verdict(&cell);
}

bool diff_is_real(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	return diff->evidence == NULL || verdict_of(diff, pair, column) != CELL_VERDICT_NO;
}

enum cell_verdict diff_verdict(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const enum column_operation operation = column_entry(column)->operation;
	const enum column stored = column_stored_form(column);
	const size_t input_count = diff_metric_inputs(column);
	enum cell_verdict best = CELL_VERDICT_NO;
	struct diff_value value;

	if (operation == COLUMN_OPERATION_AGE || operation == COLUMN_OPERATION_WAITING)
		return CELL_VERDICT_NO;
	if (diff->evidence == NULL)
		return CELL_VERDICT_NONE;
	/* how many threads are stuck is no sum of counters, and each run has a number of any column */
	if (stored != column || input_count == 0 || diff_has_sets(diff) ||
	    column_has(column_entry(column), COLUMN_COUNTS_THREADS))
		return verdict_of(diff, pair, stored);
	for (size_t i = 0; i < input_count; i++) {
		const enum column input = column_of_stored((enum metric)column_entry(column)->inputs[i]);
		const enum cell_verdict verdict = verdict_of(diff, pair, input);

		best = verdict > best ? verdict : best;
	}
	/* what is no sum may stay as it is while its counters change */
	if (best != CELL_VERDICT_NO)
		return column_has(column_entry(column), COLUMN_NEEDS_ALL) ? verdict_of(diff, pair, column)
									  : best;
	value = diff_column(diff, pair, column);
	return diff_evidence_is_unexplained(diff, pair, column, &value) ? CELL_VERDICT_NOT_TESTED
									: CELL_VERDICT_NO;
}
