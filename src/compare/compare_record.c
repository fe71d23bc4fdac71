/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of a comparison that stand in records rather than in threads: memory of processes, cgroups. */
#include "compare_internal.h"

#include "base/memory.h"

/* The threads of a side, each with its pair as row. */
static void collect(const struct compare_join *join, enum diff_side side, const struct snapshot *snapshot,
		    struct shown *shown)
{
	*shown = (struct shown){
		.now = snapshot,
		.row_count = join->diff->pair_count,
		.by_cgroup = join->diff->options.grouping.axis == AXIS_CGROUP,
	};
	shown_reserve(shown, snapshot->thread_count, shown->row_count);
	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		if (join->inside[side] == NULL || join->inside[side][i])
			shown_add(shown, i, (uint32_t)diff_pair_of_thread(join->diff, side, i));
	}
}

/* A column of a side by pair, reduced when it is asked for first. */
static const struct column_values *reduce(const struct snapshot *snapshot, struct compare_join *join,
					  enum diff_side side, enum column column)
{
	/* a side alone has nothing to count from but the life of what is there */
	const struct span life = {.now = snapshot, .missing = REASON_NOT_IN_FILE, .mode = VIEW_MODE_TOTAL};
	struct column_values **values = &join->records[side];
	struct shown shown;

	if (*values == NULL)
		*values = memory_allocate_zero(COLUMN_COUNT, sizeof(**values));
	if ((*values)[column].accumulators == NULL) {
		collect(join, side, snapshot, &shown);
		reduce_column(&life, &shown, column, &(*values)[column]);
		shown_release(&shown);
	}
	return &(*values)[column];
}

struct diff_side_value compare_record_side(const struct compare_subjects *subjects, size_t subject,
					   enum column column, enum diff_side side)
{
	const struct column_values *values = reduce(subjects->comparison->sides[side], subjects->join, side,
						    column);
	const struct accumulator *accumulator = &values->accumulators[subject * values->stride];
	const bool read = accumulator->read != 0, missed = accumulator->missed != 0;

	/* without a limit, or without anything of the kind */
	if (accumulator->differs || (!read && !missed))
		return (struct diff_side_value){.state = VALUE_ABSENT};
	return (struct diff_side_value){
		.state = read ? VALUE_READ : VALUE_UNAVAILABLE,
		.reason = (reason_id)accumulator->reason,
		.partial = read && missed,
		.has_number = read,
		.number = read ? accumulator->sum.first : 0,
	};
}
