/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "statistics.h"

/* More runs than anybody makes. */
static const double needed_max = 1e6;

/* The numbers of the runs of both sides in a column of a pair. */
struct run_numbers {
	double *items[DIFF_SIDE_COUNT];
	size_t count[DIFF_SIDE_COUNT];
};

static struct run_numbers collect_numbers(const struct diff *diff, const struct diff_pair *pair,
					  enum column column)
{
	struct run_numbers numbers;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		numbers.items[side] = memory_allocate((diff->run_count[side] + 1) * sizeof(double));
		numbers.count[side] = diff_run_numbers(diff, pair, (enum diff_side)side, column,
						       numbers.items[side]);
	}
	return numbers;
}

static void release_numbers(struct run_numbers *numbers)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		free(numbers->items[side]);
}

/*
 * Tests the numbers of both sides. Rules multiply `chance` by the groups that match, for which few runs have
 * no likelihood small enough: sets that are apart count as certain there.
 */
static void test_numbers(const struct run_numbers *numbers, struct diff_evidence_cell *cell)
{
	const double *before = numbers->items[DIFF_BEFORE], *after = numbers->items[DIFF_AFTER];
	const size_t before_count = numbers->count[DIFF_BEFORE], after_count = numbers->count[DIFF_AFTER];
	/* what one run alone has may be its disturbance */
	const bool are_apart = before_count >= 2 && after_count >= 2 &&
			       statistics_are_apart(before, before_count, after, after_count);

	cell->is_tested = cell->stands_out = true;
	if (before_count < DIFF_RUNS_TESTED || after_count < DIFF_RUNS_TESTED) {
		cell->chance = are_apart ? 0 : 1;
		cell->adjusted = NAN;
		cell->is_real &= are_apart;
		return;
	}
	cell->adjusted = statistics_mann_whitney(before, before_count, after, after_count, 0);
	cell->chance = are_apart ? 0 : cell->adjusted;
	cell->is_real &= cell->adjusted <= DIFF_EVIDENCE_CHANCE_MAX;
}

void diff_runs_judge(const struct diff *diff, const struct diff_pair *pair, enum column column,
		     struct diff_evidence_cell *cell)
{
	struct run_numbers numbers = collect_numbers(diff, pair, column);

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (numbers.count[side] >= 2)
			cell->spread[side] = statistics_spread(numbers.items[side], numbers.count[side]);
	}
	/* what has no numbers is judged by its size */
	if (numbers.count[DIFF_BEFORE] != 0 && numbers.count[DIFF_AFTER] != 0)
		test_numbers(&numbers, cell);
	release_numbers(&numbers);
}

size_t diff_runs_needed(const struct diff *diff, const struct diff_pair *pair, enum column column,
			double change)
{
	struct run_numbers numbers = collect_numbers(diff, pair, column);
	const double deviation = statistics_deviation(numbers.items[DIFF_BEFORE], numbers.count[DIFF_BEFORE],
						      numbers.items[DIFF_AFTER], numbers.count[DIFF_AFTER]);
	const bool is_known = numbers.count[DIFF_BEFORE] >= 2 || numbers.count[DIFF_AFTER] >= 2;
	const double needed = fmin(needed_max, statistics_numbers_needed(deviation, change));

	release_numbers(&numbers);
	if (!is_known)
		return 0;
	return needed > DIFF_RUNS_TESTED ? (size_t)needed : DIFF_RUNS_TESTED;
}
