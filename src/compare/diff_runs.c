/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "statistics.h"

struct diff_runs_numbers diff_runs_collect(const struct diff *diff, const struct diff_pair *pair,
					   enum column column)
{
	struct diff_runs_numbers numbers;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		numbers.items[side] = memory_allocate((diff->run_count[side] + 1) * sizeof(double));
		numbers.count[side] = diff_run_numbers(diff, pair, (enum diff_side)side, column,
						       numbers.items[side]);
	}
	return numbers;
}

void diff_runs_release_numbers(struct diff_runs_numbers *numbers)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		free(numbers->items[side]);
}

/*
 * Tests the numbers of both sides. Rules multiply `chance` by the groups that match, for which few runs have
 * no likelihood small enough: sets that are apart count as certain there.
 */
static void test_numbers(const struct diff_runs_numbers *numbers, struct diff_evidence_cell *cell)
{
	const double *before = numbers->items[DIFF_BEFORE], *after = numbers->items[DIFF_AFTER];
	const size_t before_count = numbers->count[DIFF_BEFORE], after_count = numbers->count[DIFF_AFTER];
	const bool are_apart = statistics_are_apart(before, before_count, after, after_count);

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
		     const struct diff_value *value, struct diff_evidence_cell *cell)
{
	struct diff_runs_numbers numbers;

	if (value->is_category || diff_is_ordinal(column))
		return;
	numbers = diff_runs_collect(diff, pair, column);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (numbers.count[side] >= 2)
			cell->spread[side] = statistics_spread(numbers.items[side], numbers.count[side]);
	}
	/* what one run alone has may be its disturbance */
	if (numbers.count[DIFF_BEFORE] < 2 || numbers.count[DIFF_AFTER] < 2)
		cell->is_real = false;
	else
		test_numbers(&numbers, cell);
	diff_runs_release_numbers(&numbers);
}
