/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows that the tasks of a pass become, and what the rows take over from the last snapshot. */
#include "pass.h"

#include <stdlib.h>

#include "base/memory.h"
#include "heap.h"

/* --- which tasks, in which order --- */

/* Tasks one after the other in a pass that ascend in the order of rows. */
struct run {
	uint64_t key; /* of the first one */
	uint32_t first, count;
};

static uint64_t row_key(const struct task_record *record)
{
	return (uint64_t)record->tgid << 32 | record->tid;
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* The runs of all tasks, not sorted; the caller frees them. */
static struct run *find_runs(const struct bpf_pass *pass, size_t *ret_count)
{
	struct run *runs = NULL;
	size_t count = 0, capacity = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < pass->count; i++) {
		const struct task_record *record = bpf_pass_record(pass, i);
		uint64_t key = row_key(record);

		if (last != 0 && key > last && key >> 32 == last >> 32)
			runs[count - 1].count++;
		else
			*MEMORY_APPEND(runs, count, capacity) = (struct run){key, (uint32_t)i, 1};
		last = key;
	}
	*ret_count = count;
	return runs;
}

static int compare_records(const void *a, const void *b, void *context)
{
	uint64_t left = row_key(bpf_pass_record(context, *(const uint32_t *)a));
	uint64_t right = row_key(bpf_pass_record(context, *(const uint32_t *)b));

	return (left > right) - (left < right);
}

/* Indices of tasks in the order of rows, each once; the caller frees them. */
static uint32_t *order_tasks(struct bpf_pass *pass, size_t *ret_count)
{
	uint32_t *order = memory_allocate((pass->count + 1) * sizeof(*order));
	size_t run_count, count = 0, kept = 0;
	struct run *runs = find_runs(pass, &run_count);
	bool ascending = true;

	if (run_count != 0)
		qsort(runs, run_count, sizeof(*runs), compare_runs);
	for (size_t i = 0; i < run_count; i++) {
		for (uint32_t k = 0; k < runs[i].count; k++) {
			order[count] = runs[i].first + k;
			ascending &= count == 0 ||
				     compare_records(&order[count - 1], &order[count], pass) < 0;
			count++;
		}
	}
	free(runs);
	if (ascending) {
		*ret_count = count;
		return order;
	}
	/* ids that went around, or a task that was seen twice because it took another's id over */
	qsort_r(order, count, sizeof(*order), compare_records, pass);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || compare_records(&order[kept - 1], &order[i], pass) != 0)
			order[kept++] = order[i];
	}
	*ret_count = kept;
	return order;
}

/* --- rows --- */

static void add_rows(struct intake *intake, size_t count)
{
	struct snapshot *snapshot = intake->round->snapshot;

	snapshot_reserve(snapshot, count + 1);
	for (size_t row = 0; row < count; row++) {
		const struct task_record *record = intake_record(intake, row);

		snapshot_add_thread(snapshot, record->tgid, record->tid);
	}
}

/* The processes of the rows, which ascend by process. */
static void update_processes(struct intake *intake)
{
	struct round *round = intake->round;
	struct process_list *list = &round->capture->processes;
	const struct snapshot *snapshot = round->snapshot;
	uint32_t *ids = memory_allocate((snapshot->thread_count + 1) * sizeof(*ids));
	size_t count = 0, next = 0;

	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (count == 0 || ids[count - 1] != snapshot->tgid[row])
			ids[count++] = snapshot->tgid[row];
	}
	process_list_update(list, ids, count);
	free(ids);
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];

		process->first_row = next;
		while (next < snapshot->thread_count && snapshot->tgid[next] == process->tgid)
			next++;
		process->row_count = next - process->first_row;
	}
}

/* Another task has its id, or another one has taken the id over in execve(2): de_thread() of fs/exec.c. */
static bool is_same_task(const struct intake *intake, size_t row)
{
	const struct round *round = intake->round;
	const struct task_record *record = intake_record(intake, row);
	uint32_t old = round->old_row[row];

	return round->capture->states[old].seen.task == record->task &&
	       round->capture->previous->start_time[old] == record->start_boottime / NS_PER_TICK;
}

/* The row of a thread that has given its id up for the leader's, in execve(2): its counters go on. Or NO_ROW.
 */
static uint32_t find_executed(const struct intake *intake, size_t row)
{
	const struct capture *capture = intake->round->capture;
	const struct snapshot *previous = capture->previous;
	const struct task_record *record = intake_record(intake, row);
	uint32_t old = intake->round->old_row[row];

	if (record->tid != record->tgid || previous->start_time[old] != record->start_boottime / NS_PER_TICK)
		return NO_ROW;
	while (old > 0 && previous->tgid[old - 1] == record->tgid)
		old--;
	while (old < previous->thread_count && previous->tgid[old] == record->tgid) {
		if (capture->states[old].seen.task == record->task)
			return old;
		old++;
	}
	return NO_ROW;
}

static void begin_states(struct intake *intake)
{
	struct round *round = intake->round;
	struct capture *capture = round->capture;
	uint32_t next = 0; /* of the last snapshot's rows */

	for (size_t row = 0; row < round->snapshot->thread_count; row++) {
		struct thread_state *state = &round->states[row];

		round->comm[row] = UNKNOWN_TEXT;
		round->cgroup[row] = UNKNOWN_TEXT;
		if (round->old_row[row] != NO_ROW && !is_same_task(intake, row))
			round->old_row[row] = find_executed(intake, row);
		if (round->old_row[row] < next)
			round->old_row[row] = NO_ROW; /* rows are carried in their order */
		if (round->old_row[row] == NO_ROW) {
			*state = (struct thread_state){.stale = (source_set)~0U,
						       .flags = ROW_NEW | ROW_MOVED | ROW_CHANGED};
			continue;
		}
		next = round->old_row[row] + 1;
		*state = capture->states[round->old_row[row]];
		state->flags &= ROW_IDENTIFIED | ROW_DELAYED;
		if (round->full) {
			state->stale = (source_set)~0U;
			state->refused = 0;
		}
	}
}

static void begin_rows(struct intake *intake)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	size_t count = snapshot->thread_count;

	round->old_row = memory_allocate((count + 1) * sizeof(*round->old_row));
	round->states = memory_allocate((count + 1) * sizeof(*round->states));
	round->comm = memory_allocate((count + 1) * sizeof(*round->comm));
	round->cgroup = memory_allocate((count + 1) * sizeof(*round->cgroup));
	if (intake->pass.clock_ns != 0) {
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	}
	round_match_rows(round);
	begin_states(intake);
	if (!intake->with_io)
		snapshot_read_times(snapshot, SOURCE_IO);
	/* where there are counters that a budget may leave unread */
	if (round->heap_is_on && round->previous != NULL &&
	    round->previous->values[METRIC_ALLOCATED_BYTES] != NULL)
		snapshot_read_times(snapshot, SOURCE_JEMALLOC);
	round_expect_sources(round, 0, count);
	if (round->previous != NULL)
		round_carry_over(round);
	heap_begin(round);
}

void intake_make_rows(struct intake *intake)
{
	size_t count;

	intake->order = order_tasks(&intake->pass, &count);
	add_rows(intake, count);
	update_processes(intake);
	begin_rows(intake);
}
