/* SPDX-License-Identifier: GPL-2.0-only */
#include "runs_needed.h"

#include <math.h>

#include "diff_runs.h"
#include "statistics.h"

const char runs_needed_id[] = "runs-needed";

/* More runs than anybody makes. */
static const double needed_max = 1e6;

size_t runs_needed(const struct diff *diff, const struct diff_pair *pair, enum column column, double change)
{
	struct diff_runs_numbers numbers = diff_runs_collect(diff, pair, column);
	const double deviation = statistics_deviation(numbers.items[DIFF_BEFORE], numbers.count[DIFF_BEFORE],
						      numbers.items[DIFF_AFTER], numbers.count[DIFF_AFTER]);
	const bool is_known = numbers.count[DIFF_BEFORE] >= 2 || numbers.count[DIFF_AFTER] >= 2;
	const double needed = fmin(needed_max, statistics_numbers_needed(deviation, change));

	diff_runs_release_numbers(&numbers);
	if (!is_known)
		return 0;
	return needed > DIFF_RUNS_TESTED ? (size_t)needed : DIFF_RUNS_TESTED;
}

void runs_needed_append(const struct diff *diff, size_t needed, struct buffer *buffer)
{
	const size_t *count = diff->run_count;

	if (needed <= count[DIFF_BEFORE] && needed <= count[DIFF_AFTER])
		buffer_append_text(buffer, "these runs are enough to be sure of it");
	else
		buffer_append_format(buffer,
				     "%zu runs a side are needed to be sure of it, and there are %zu and %zu",
				     needed, count[DIFF_BEFORE], count[DIFF_AFTER]);
}

/* The pair on both sides that used most CPU time before; NULL for none. */
static const struct diff_pair *find_busiest(const struct diff *diff, double *ret_number)
{
	const struct diff_pair *busiest = NULL;

	*ret_number = 0;
	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_value value = diff_metric(diff, &diff->pairs[i], METRIC_RUN_TIME_NS);

		if (!value.has_delta || value.side[DIFF_BEFORE].number <= *ret_number)
			continue;
		busiest = &diff->pairs[i];
		*ret_number = value.side[DIFF_BEFORE].number;
	}
	return busiest;
}

void runs_needed_tell(const struct diff *diff, struct comparability *comparability)
{
	struct buffer text = {0};
	double number;
	const struct diff_pair *busiest = find_busiest(diff, &number);
	size_t needed;

	if (busiest == NULL)
		return;
	needed = runs_needed(diff, busiest, column_of_stored(METRIC_RUN_TIME_NS),
			     number * DIFF_EVIDENCE_SIZE_MIN);
	if (needed == 0)
		return;
	buffer_append_format(&text, "a change of %.0f %% in the CPU time of ", DIFF_EVIDENCE_SIZE_MIN * 100);
	diff_append_name(diff, busiest, " in ", &text);
	buffer_append_text(&text, ", the group that ran most: ");
	runs_needed_append(diff, needed, &text);
	comparability_add(comparability, COMPARABILITY_NOTE, runs_needed_id, text.data);
	buffer_release(&text);
}
