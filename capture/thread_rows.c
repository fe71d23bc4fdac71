/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <errno.h>

#include "base/memory.h"
#include "heap.h"

/*
 * The threads of a process, from the previous snapshot when it still has as many: whether they are the same
 * ones comes out when taskstats is asked for each, by its number and that of its process.
 */
static void list_process(struct round *round, struct process *process)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	size_t first = process->first_row, count = process->row_count;

	process->first_row = snapshot->thread_count;
	if (capture->rows_are_current &&
	    taskstats_has(taskstats_layout(capture->taskstats), TASKSTATS_MEMBER_AC_TGID) && count != 0 &&
	    process_list_is_settled(process)) {
		for (size_t row = first; row < first + count; row++)
			snapshot_add_thread(snapshot, process->tgid, capture->previous->tid[row]);
		return;
	}
	process->row_count = process_list_threads(&capture->processes, process);
	for (size_t i = 0; i < capture->processes.id_count; i++)
		snapshot_add_thread(snapshot, process->tgid, capture->processes.ids[i]);
}

int round_list_threads(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;
	struct snapshot *snapshot = round->snapshot;
	int result = process_list_update(list, capture->scope, capture->scope_count);

	if (result < 0)
		return result;
	if (capture->previous != NULL)
		snapshot_reserve(snapshot,
				 capture->previous->thread_count + capture->previous->thread_count / 8 + 64);
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];

		if (round_is_cancelled(round))
			return -ECANCELED;
		list_process(round, process);
		process_list_done(process);
	}
	capture->rows_are_current = false;
	round->listed = snapshot->thread_count;
	return 0;
}

/* Both snapshots ascend by process and thread. */
void round_match_rows(struct round *round)
{
	const struct snapshot *previous = round->capture->previous;
	const struct snapshot *snapshot = round->snapshot;
	size_t old = 0, old_count = previous != NULL ? previous->thread_count : 0;

	for (size_t row = 0; row < snapshot->thread_count; row++) {
		uint64_t key = (uint64_t)snapshot->tgid[row] << 32 | snapshot->tid[row];

		while (old < old_count && ((uint64_t)previous->tgid[old] << 32 | previous->tid[old]) < key)
			old++;
		if (old < old_count && previous->tgid[old] == snapshot->tgid[row] &&
		    previous->tid[old] == snapshot->tid[row])
			round->old_row[row] = (uint32_t)old;
		else
			round->old_row[row] = NO_ROW;
	}
}

static void begin_states(struct round *round)
{
	size_t count = round->snapshot->thread_count;

	for (size_t row = 0; row < count; row++) {
		struct thread_state *state = &round->states[row];

		round->comm[row] = UNKNOWN_TEXT;
		round->cgroup[row] = UNKNOWN_TEXT;
		if (round->old_row[row] == NO_ROW) {
			*state = (struct thread_state){.stale = (source_set)~0U,
						       .flags = ROW_NEW | ROW_MOVED};
			continue;
		}
		*state = round->capture->states[round->old_row[row]];
		state->flags &= ROW_IDENTIFIED | ROW_DELAYED;
		if (round->full) {
			state->stale = (source_set)~0U;
			state->refused = 0;
		}
		if (round->schedstats_turned)
			state->stale |= source_bit(SOURCE_SCHED);
	}
}

static void make_read_times(struct snapshot *snapshot)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((sources[i].flags & SOURCE_PER_THREAD) != 0 && sources[i].part_of == SOURCE_NONE)
			snapshot_read_times(snapshot, (enum source)i);
	}
	snapshot_read_times(snapshot, SOURCE_CGROUP);
	snapshot_read_times(snapshot, SOURCE_JEMALLOC);
}

void round_make_rows(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	size_t count = snapshot->thread_count;

	round->old_row = memory_allocate((count + 1) * sizeof(*round->old_row));
	round->states = memory_allocate((count + 1) * sizeof(*round->states));
	round->comm = memory_allocate((count + 1) * sizeof(*round->comm));
	round->cgroup = memory_allocate((count + 1) * sizeof(*round->cgroup));
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(*snapshot->stuck_ns));
	round_match_rows(round);
	begin_states(round);
	make_read_times(snapshot);
	round_expect_sources(round, 0, count);
	if (round->previous != NULL)
		round_carry_over(round);
	heap_begin(round);
}

void round_confirm_still(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	enum source counters = round->capture->counters_in_taskstats ? SOURCE_TASKSTATS : SOURCE_SCHEDSTAT;
	const uint64_t *counted_at = snapshot->read_at[counters];

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source source = (enum source)i;
		uint64_t *read_at = snapshot->read_at[source];

		if ((sources[source].flags & SOURCE_OF_ACTIVITY) == 0)
			continue;
		for (size_t row = 0; row < snapshot->thread_count; row++) {
			if ((round->states[row].stale & source_bit(source)) == 0 &&
			    read_at[row] < counted_at[row])
				read_at[row] = counted_at[row];
		}
	}
}
