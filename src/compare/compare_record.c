/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of a comparison that stand in records rather than in threads: memory of processes, cgroups. */
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "view/column_table.h"

bool pair_is_record(enum column column)
{
	return column < COLUMN_COUNT && (column_entry(column)->operation == COLUMN_OPERATION_SMAPS ||
					 column_entry(column)->operation == COLUMN_OPERATION_CGROUP);
}

bool pair_record_applies(const struct view *view, enum column column)
{
	if (!pair_is_record(column) || view->level != VIEW_LEVEL_GROUPS)
		return false;
	return column_entry(column)->operation == COLUMN_OPERATION_SMAPS ||
	       view->grouping.axis == AXIS_CGROUP;
}

/* The threads of a side, each with its pair as row, for what reduces the columns of one snapshot. */
static void collect(const struct pair_join *join, enum diff_side side, size_t thread_count,
		    struct members *members)
{
	size_t pair_count = diff_pair_count(join->diff);

	*members = (struct members){
		.threads = memory_allocate((thread_count + 1) * sizeof(uint32_t)),
		.rows = memory_allocate((thread_count + 1) * sizeof(uint32_t)),
		.row_threads = memory_allocate_zero(pair_count + 1, sizeof(uint32_t)),
		.row_count = pair_count,
		.by_cgroup = diff_options(join->diff)->grouping.axis == AXIS_CGROUP,
	};
	for (uint32_t i = 0; i < thread_count; i++) {
		uint32_t row;

		if (join->members[side] != NULL && !join->members[side][i])
			continue;
		row = (uint32_t)diff_pair_of_thread(join->diff, side, i);
		members->threads[members->count] = i;
		members->rows[members->count++] = row;
		members->row_threads[row]++;
	}
}

/* A column of a side by pair, reduced when it is asked for first. */
static const struct column_values *reduce(struct session *session, struct pair_join *join,
					  enum diff_side side, enum column column)
{
	struct column_values **values = &join->records[side];
	struct members members;
	struct session *one;

	if (*values == NULL)
		*values = memory_allocate_zero(COLUMN_COUNT, sizeof(**values));
	if ((*values)[column].accumulators != NULL)
		return &(*values)[column];
	/* a session of this side alone has nothing to count from but the life of what is there */
	one = session_create_file(snapshot_reference((struct snapshot *)pair_snapshot(session, side)));
	collect(join, side, one->now->thread_count, &members);
	column_reduce(one, &members, column, VIEW_MODE_TOTAL, &(*values)[column]);
	members_release(&members);
	session_release(one);
	return &(*values)[column];
}

struct diff_side_value pair_record_side(const struct pair_subjects *subjects, size_t subject,
					enum column column, enum diff_side side)
{
	const struct column_values *values = reduce(subjects->session, subjects->join, side, column);
	const struct accumulator *accumulator = &values->accumulators[subject * values->stride];
	struct diff_side_value result = {.state = VALUE_ABSENT};

	/* without a limit, or without anything of the kind */
	if (accumulator->differs || (accumulator->read == 0 && accumulator->missed == 0))
		return result;
	if (accumulator->read == 0) {
		result.state = VALUE_UNAVAILABLE;
		result.reason = (reason_id)accumulator->reason;
		return result;
	}
	result.state = VALUE_READ;
	result.partial = accumulator->missed != 0;
	result.reason = result.partial ? (reason_id)accumulator->reason : REASON_READ;
	result.has_number = true;
	result.number = accumulator->sum.first;
	return result;
}

void pair_records_release(struct pair_join *join)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; join->records[side] != NULL && i < COLUMN_COUNT; i++)
			free(join->records[side][i].accumulators);
		free(join->records[side]);
	}
}
