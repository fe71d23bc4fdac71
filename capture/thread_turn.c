/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <errno.h>

#include "heap.h"

enum {
	BUDGET_CHECK_ROWS = 16, /* threads between looks at the CPU clock */
};

static bool is_due(const struct round *round, uint32_t id)
{
	return (id + round->capture->round) % ROTATION_ROUNDS == 0;
}

/* The number of threads is in the leader's stat, and changes while the leader stands still. */
static bool tells_other_count(const struct round *round, const struct process *process, size_t row)
{
	return round->snapshot->tid[row] == process->tgid &&
	       snapshot_value(round->snapshot, row, METRIC_NR_THREADS) != process->row_count;
}

/* Which files of a thread are read in any case. */
static source_set choose_files(struct round *round, const struct process *process, size_t row)
{
	const source_set stat = source_bit(SOURCE_STAT);
	struct thread_state *state = &round->states[row];
	bool runnable = state->state == 'R' || state->state == 'D';
	source_set wanted;

	if (is_due(round, round->snapshot->tid[row]))
		state->stale |= round->rotated | (round->needed & stat) | state->refused;
	wanted = state->stale & round->needed;
	if (tells_other_count(round, process, row))
		wanted |= round->needed & stat;
	if ((runnable || round->all_states) && (round->needed & stat) != 0)
		wanted |= stat;
	if ((state->flags & ROW_IDENTIFIED) == 0 || (state->flags & ROW_SUSPECT) != 0)
		wanted |= stat;
	return wanted;
}

int round_read_needed(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;

	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		size_t end = process->first_row + process->row_count;
		bool due = round->full || is_due(round, process->tgid);
		int tasks;

		if (process->row_count == 0)
			continue;
		if (round_is_cancelled(round))
			return -ECANCELED;
		tasks = process_list_tasks(list, process);
		for (size_t row = process->first_row; row < end; row++) {
			source_set wanted = choose_files(round, process, row);

			if (wanted != 0)
				round_read_thread(round, row, tasks, wanted);
			/* the number was used again, which only a directory that stays open shows earlier */
			if (process->cgroup != NULL && round->snapshot->tid[row] == process->tgid &&
			    (round->states[row].flags & ROW_NEW) != 0)
				process_forget(process);
			if (row % 1024 != 0)
				continue;
			if (capture->progress != NULL)
				atomic_store_explicit(capture->progress, (unsigned int)row,
						      memory_order_relaxed);
			if (round_is_cancelled(round))
				return -ECANCELED;
		}
		round_read_cgroups(round, process, tasks, due);
		heap_look_ahead(round, process, tasks);
		process_list_done(process);
	}
	return 0;
}

/* The first row at or behind the thread where the budget ended last time. */
static size_t resume_row(const struct round *round)
{
	const struct snapshot *snapshot = round->snapshot;
	const struct capture *capture = round->capture;
	uint64_t ended_at = (uint64_t)capture->resume_tgid << 32 | capture->resume_tid;
	size_t row = 0;

	while (row < snapshot->thread_count &&
	       ((uint64_t)snapshot->tgid[row] << 32 | snapshot->tid[row]) < ended_at)
		row++;
	return row < snapshot->thread_count ? row : 0;
}

/* The process of a row, found near the one of the row before. */
static struct process *process_of(struct process_list *list, size_t row, size_t *hint)
{
	for (;;) {
		struct process *process = &list->items[*hint];

		if (row >= process->first_row && row < process->first_row + process->row_count)
			return process;
		*hint = (*hint + 1) % list->count;
	}
}

int round_read_extra(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;
	struct snapshot *snapshot = round->snapshot;
	size_t start = resume_row(round), hint = 0, read = 0;
	struct process *process = NULL;

	capture->resume_tgid = capture->resume_tid = 0;
	for (size_t i = 0; i < snapshot->thread_count && round->extra != 0; i++) {
		size_t row = (start + i) % snapshot->thread_count;
		source_set wanted = round->states[row].stale & round->extra;
		struct process *next;

		if (wanted == 0 || (round->states[row].flags & ROW_ENDED) != 0)
			continue;
		if (read++ % BUDGET_CHECK_ROWS == 0 && round_is_over_budget(round)) {
			capture->resume_tgid = snapshot->tgid[row];
			capture->resume_tid = snapshot->tid[row];
			break;
		}
		if (round_is_cancelled(round))
			return -ECANCELED;
		next = process_of(list, row, &hint);
		if (process != NULL && process != next)
			process_list_done(process);
		process = next;
		round_read_thread(round, row, process_list_tasks(list, process), wanted);
	}
	if (process != NULL)
		process_list_done(process);
	return 0;
}
