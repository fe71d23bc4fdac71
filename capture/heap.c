/* SPDX-License-Identifier: GPL-2.0-only */
#include "round_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "probe/probe.h"

enum {
	BATCH = PROBE_BATCH,
	/* each stop may take a quarter of a second, and only between two batches can we be cancelled */
	BATCH_WITH_STOPS = 32,
	YOUNG_NS = NS_PER_S,
	RESOLUTION_TRIES = 10,
	SERVE_EVERY = 16, /* processes between two answers to what the resolving children ask */
};

/* The wait for resolutions checks for cancellation this often. */
#define WAIT_SLICE_NS (50 * NS_PER_MS)
/* A wait of so much makes no difference to rates. */
#define BEARABLE_WAIT_NS (5 * NS_PER_MS)

static const source_set heap_bit = (source_set)1 << SOURCE_JEMALLOC;

void heap_open(struct capture *capture, bool is_wanted)
{
	struct heap *heap = &capture->heap;
	const struct probe_options probe_options = {.reader = capture->reader,
						    .allow_stop = heap->allow_stop};

	if (!capture->roots.is_procfs)
		heap->none_reason = REASON_NOT_READ;
	else if (!capture->roots.own_namespace)
		heap->none_reason = REASON_OTHER_NAMESPACE;
	else if (!is_wanted)
		heap->none_reason = REASON_SWITCHED_OFF;
	else {
		heap->probe = probe_create(&probe_options);
	}
}

void heap_close(struct heap *heap)
{
	if (heap->probe != NULL)
		probe_release(heap->probe);
	free(heap->threads);
	free(heap->rows);
	*heap = (struct heap){0};
}

/* Yama may forbid it to everybody (Documentation/admin-guide/LSM/Yama.rst). */
static bool is_on(const struct capture *capture)
{
	return capture->heap.probe != NULL && !capture->heap.off &&
	       capture->checks.results[FEATURE_PROCESS_MEMORY].reason != REASON_SWITCHED_OFF;
}

void heap_choose_use(struct round *round)
{
	round->heap_is_on = is_on(round->capture);
	if (!round->heap_is_on)
		round->heap = HEAP_USE_NONE;
	else if ((round->needed & heap_bit) != 0)
		round->heap = HEAP_USE_NEEDED;
	else
		round->heap = (round->extra & heap_bit) != 0 ? HEAP_USE_EXTRA : HEAP_USE_NONE;
}

enum reason heap_default_reason(const struct capture *capture)
{
	if (capture->heap.probe == NULL)
		return (enum reason)capture->heap.none_reason;
	return is_on(capture) ? REASON_NOT_READ : REASON_SWITCHED_OFF;
}

/* While the probe is off, what it found is forgotten, so that it begins anew when switched on. */
void heap_begin(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	struct process_list *list = &round->capture->processes;

	if (round->capture->heap.probe == NULL || round->heap_is_on)
		return;
	for (size_t row = 0; row < snapshot->thread_count; row++)
		round_forget_heap(round, row);
	for (size_t i = 0; i < list->count; i++)
		list->items[i].heap = NULL;
	snapshot_drop_column(snapshot, METRIC_ALLOCATED_BYTES);
	snapshot_drop_column(snapshot, METRIC_DEALLOCATED_BYTES);
	round_set_source(snapshot, SOURCE_JEMALLOC, heap_default_reason(round->capture));
}

/* --- looking at processes --- */

static bool is_stale(const struct round *round, size_t row)
{
	return (round->states[row].stale & heap_bit) != 0 && (round->states[row].flags & ROW_ENDED) == 0;
}

/*
 * Whether the probe skips a process: kernel threads and zombies have no memory; ctop's own
 * processes are neither examined nor counted.
 */
static bool has_none(const struct round *round, const struct process *process)
{
	size_t leader = round_leader_row(round, process);

	if (round_is_own(round, process->tgid))
		return true;
	return (round->snapshot->thread_flags[leader] & THREAD_KERNEL) != 0 ||
	       (process->row_count == 1 && round->states[leader].state == 'Z');
}

/* A number that grows with each execve(2) of the process; 0 if no pass has read it. */
static uint32_t exec_id_of(const struct round *round, const struct process *process)
{
	return round->capture->passes.tasks != NULL
		       ? round->states[round_leader_row(round, process)].seen.exec_id
		       : 0;
}

static uint64_t run_time_of(const struct round *round, const struct process *process)
{
	const uint64_t *run_ns = round->snapshot->values[METRIC_RUN_TIME_NS];
	const size_t end = process->first_row + process->row_count;
	uint64_t sum = 0;

	for (size_t row = process->first_row; run_ns != NULL && row < end; row++)
		sum += run_ns[row];
	return sum;
}

/*
 * What a process did since its last look. Neither stale counters nor rows that were decoded again prove that
 * a thread ran; its run time does. Without run times every process counts as running.
 */
static enum probe_change find_change(const struct round *round, const struct process *process)
{
	if (exec_id_of(round, process) != process->heap_exec_id)
		return PROBE_EXECUTED;
	return round->snapshot->values[METRIC_RUN_TIME_NS] != NULL &&
			       run_time_of(round, process) == process->heap_run_ns
		       ? PROBE_STILL
		       : PROBE_RAN;
}

/*
 * A pass sees each execve(2). procfs does not: there a process can only have changed its program if its
 * leader has run, since execve(2) makes the caller the leader. A process not reached within the budget on its
 * turn is examined in the next round that reaches it.
 */
static bool needs_look(const struct round *round, const struct process *process, size_t leader)
{
	const struct heap *heap = &round->capture->heap;

	if (process->heap == NULL || round->full)
		return true;
	if (round->capture->passes.tasks == NULL &&
	    (is_stale(round, leader) || heap->rounds - process->heap_looked >= ROTATION_ROUNDS))
		return true;
	return probe_is_due(heap->probe, process->heap, find_change(round, process));
}

/*
 * In its first second a process may still be mapping its libraries, and most that are so young are gone
 * before anything is found out about them: a live round that sees one for the first time leaves it to the
 * next.
 */
static bool is_young(const struct round *round, const struct process *process, size_t leader)
{
	uint64_t start_ns = round->snapshot->start_time[leader] * NS_PER_TICK,
		 now_ns = clock_ns(CLOCK_BOOTTIME);

	return process->heap == NULL && round->previous != NULL && round->heap_until_ns == 0 &&
	       start_ns < now_ns && now_ns - start_ns < YOUNG_NS;
}

static void look(struct round *round, struct process *process, int tasks)
{
	const struct heap *heap = &round->capture->heap;
	const bool had_failed = process->heap != NULL && process->heap->state == PROBE_STATE_FAILED;
	const enum probe_change change = find_change(round, process);
	int directory = openat(tasks, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	process->heap = NULL;
	if (directory < 0)
		return;
	process->heap = probe_look(heap->probe, process->tgid, directory, change);
	close(directory);
	process->heap_exec_id = exec_id_of(round, process);
	process->heap_run_ns = run_time_of(round, process);
	/* round of the process's last turn: its id spreads the turns over the rounds */
	process->heap_looked = heap->rounds - (heap->rounds + process->tgid) % ROTATION_ROUNDS;
	/* idle threads as well */
	for (size_t row = process->first_row; had_failed && process->heap->state != PROBE_STATE_FAILED &&
					      row < process->first_row + process->row_count;
	     row++)
		round->states[row].stale |= heap_bit;
}

void heap_look_ahead(struct round *round, struct process *process, int tasks)
{
	if (round->heap != HEAP_USE_NEEDED || round->heap_until_ns == 0 || has_none(round, process))
		return;
	/* it ended: the probe may forget it before this round is over */
	if (tasks < 0) {
		process->heap = NULL;
		return;
	}
	look(round, process, tasks);
	if (round->looked++ % SERVE_EVERY == 0)
		probe_serve(round->capture->heap.probe, 0);
}

static bool is_hurried(const struct round *round)
{
	const atomic_bool *hurry = round->capture->heap.hurry;

	return hurry != NULL && atomic_load_explicit(hurry, memory_order_relaxed);
}

static int wait_until(struct round *round, uint64_t end)
{
	struct probe *probe = round->capture->heap.probe;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	size_t under_way = probe_serve(probe, 0);

	for (; under_way != 0 && now < end; now = clock_ns(CLOCK_MONOTONIC)) {
		if (round_is_cancelled(round))
			return -ECANCELED;
		if (is_hurried(round))
			break;
		under_way = probe_serve(probe, now + WAIT_SLICE_NS < end ? now + WAIT_SLICE_NS : end);
	}
	return 0;
}

/* Looks again at processes that were being resolved; returns how many still are. */
static size_t look_again(struct round *round)
{
	struct process_list *list = &round->capture->processes;
	size_t resolving = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		int tasks;

		if (process->row_count == 0 || process->heap == NULL ||
		    process->heap->state != PROBE_STATE_RESOLVING)
			continue;
		tasks = process_list_tasks(list, process);
		look(round, process, tasks);
		process_list_done(process);
		resolving += process->heap != NULL && process->heap->state == PROBE_STATE_RESOLVING;
	}
	return resolving;
}

/*
 * A resolution that was begun with a process that ended meanwhile is begun again with another of the same
 * executable; that does not happen many times. After a wait the round begins again (-ERESTART): what was read
 * before it and what is read behind it would be of two times.
 */
static int wait_for_resolutions(struct round *round)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), end = round->heap_until_ns;
	const bool waits = begun_ns < end && !is_hurried(round);
	int result = 0;

	for (int i = 0; i < RESOLUTION_TRIES && result == 0; i++) {
		result = wait_until(round, end);
		if (look_again(round) == 0 || clock_ns(CLOCK_MONOTONIC) >= end)
			break;
	}
	if (result == 0 && waits && clock_ns(CLOCK_MONOTONIC) - begun_ns > BEARABLE_WAIT_NS)
		return -ERESTART;
	return result;
}

/* --- reading threads --- */

/* Counters that are still being resolved, or were not there in time, stay stale. */
static void fail_row(struct round *round, size_t row, enum reason reason, uint8_t failure)
{
	round->snapshot->thread_flags[row] &= (uint8_t)~THREAD_JEMALLOC_MEASURED;
	round->states[row].heap_failure = failure;
	round_apply_failure(round, row, SOURCE_JEMALLOC, reason);
	if (reason == REASON_BEING_RESOLVED || reason == REASON_NOT_IN_TIME)
		round->states[row].stale |= heap_bit;
}

/* The same for all threads of a process that are to be read. */
static void fail_process(struct round *round, const struct process *process, enum reason reason)
{
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		if (is_stale(round, row))
			fail_row(round, row, reason, 0);
	}
}

/* Why the counters of a thread are not there, by the tag of its process or its own. */
static enum reason tag_reason(enum heap_tag tag)
{
	switch (tag) {
	case HEAP_TAG_PID_MISSING:
		return REASON_ENDED;
	case HEAP_TAG_JEMALLOC_NOT_FOUND: /* nothing to read */
		return REASON_READ;
	case HEAP_TAG_NOT_PERMITTED:
	case HEAP_TAG_PTRACE_SEIZE:
	case HEAP_TAG_PTRACE_INTERRUPT:
	case HEAP_TAG_CALL_REFUSED:
		return REASON_NOT_PERMITTED;
	case HEAP_TAG_MEMORY_LOCKED:
		return REASON_NOT_IN_TIME;
	case HEAP_TAG_NEEDS_STOP:
		return REASON_NEEDS_STOP;
	default:
		return REASON_UNREADABLE;
	}
}

static enum reason thread_reason(const struct probe_thread *thread)
{
	switch (thread->error_number) {
	case EPERM:
	case EACCES:
		return REASON_NOT_PERMITTED;
	case ESRCH:
		return REASON_ENDED;
	default:
		return tag_reason(thread->tag);
	}
}

static void take_thread(struct round *round, size_t row, const struct probe_thread *thread)
{
	struct thread_reading *reading = &round->reading;

	if (thread->tag != HEAP_TAG_NONE) {
		fail_row(round, row, thread_reason(thread), (uint8_t)(thread->tag + 1));
		return;
	}
	thread_reading_begin(reading, round->snapshot->tgid[row], thread->tid);
	thread_reading_set(reading, METRIC_ALLOCATED_BYTES, thread->allocated);
	thread_reading_set(reading, METRIC_DEALLOCATED_BYTES, thread->deallocated);
	round->snapshot->thread_flags[row] |= THREAD_JEMALLOC_MEASURED;
	round->states[row].heap_failure = 0;
	round_apply(round, row, SOURCE_JEMALLOC);
}

static void read_batch(struct round *round, const struct process *process, size_t count)
{
	struct heap *heap = &round->capture->heap;
	int result = count != 0 ? probe_read(heap->probe, process->heap, heap->threads, count, NULL) : 0;

	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	for (size_t i = 0; i < count; i++) {
		if (result < 0 && heap->threads[i].tag == HEAP_TAG_NONE)
			fail_row(round, heap->rows[i], result == -ESRCH ? REASON_ENDED : REASON_UNREADABLE,
				 0);
		else
			take_thread(round, heap->rows[i], &heap->threads[i]);
	}
}

static int read_process(struct round *round, const struct process *process)
{
	struct heap *heap = &round->capture->heap;
	const size_t room = heap->allow_stop ? BATCH_WITH_STOPS : BATCH;
	size_t count = 0;

	if (heap->threads == NULL) {
		heap->threads = memory_allocate_zero(BATCH, sizeof(*heap->threads));
		heap->rows = memory_allocate_zero(BATCH, sizeof(*heap->rows));
	}
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		if (!is_stale(round, row))
			continue;
		/* an ended thread, such as a leader that exited first, has lost its counters */
		if (round->states[row].state == 'Z') {
			fail_row(round, row, REASON_READ, 0);
			continue;
		}
		heap->rows[count] = row;
		heap->threads[count++] = (struct probe_thread){
			.tid = round->snapshot->tid[row],
			.start_time = round->snapshot->start_time[row],
			.thread_pointer = round->capture->passes.tasks != NULL
						  ? round->states[row].seen.thread_pointer
						  : 0,
			.tag = HEAP_TAG_NONE,
		};
		if (count < room)
			continue;
		read_batch(round, process, count);
		count = 0;
		if (round_is_cancelled(round))
			return -ECANCELED;
	}
	read_batch(round, process, count);
	return 0;
}

static int apply_process(struct round *round, struct process *process)
{
	struct process_list *list = &round->capture->processes;
	size_t leader = round_leader_row(round, process);
	bool known = round->heap_until_ns != 0 && process->heap != NULL &&
		     process->heap->state != PROBE_STATE_RESOLVING;

	if (has_none(round, process)) {
		process->heap = NULL;
		fail_process(round, process, REASON_READ);
		return 0;
	}
	if (is_young(round, process, leader)) {
		fail_process(round, process, REASON_BEING_RESOLVED);
		return 0;
	}
	if (!known && needs_look(round, process, leader)) {
		int tasks = process_list_tasks(list, process);

		look(round, process, tasks);
		process_list_done(process);
	}
	if (process->heap == NULL) {
		fail_process(round, process, REASON_ENDED);
		return 0;
	}
	switch (process->heap->state) {
	case PROBE_STATE_RESOLVING:
		fail_process(round, process, REASON_BEING_RESOLVED);
		return 0;
	case PROBE_STATE_FAILED:
		fail_process(round, process, tag_reason(process->heap->tag));
		return 0;
	case PROBE_STATE_READY:
		return read_process(round, process);
	}
	return 0;
}

/* Index of the process at or behind the one where the budget ended last time. */
static size_t resume_index(const struct round *round)
{
	const struct process_list *list = &round->capture->processes;
	size_t index = 0;

	while (index < list->count && list->items[index].tgid < round->capture->heap.resume_tgid)
		index++;
	return index < list->count ? index : 0;
}

/* Returns 0 or -ECANCELED. */
static int read_processes(struct round *round)
{
	struct process_list *list = &round->capture->processes;
	struct heap *heap = &round->capture->heap;
	size_t start = resume_index(round);

	heap->resume_tgid = 0;
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[(start + i) % list->count];

		/* it may come again, after the probe has forgotten it */
		if (process->row_count == 0) {
			process->heap = NULL;
			continue;
		}
		if (round_is_cancelled(round))
			return -ECANCELED;
		if (round->heap == HEAP_USE_EXTRA && round_is_over_budget(round)) {
			heap->resume_tgid = process->tgid;
			return 0;
		}
		if (apply_process(round, process) < 0)
			return -ECANCELED;
	}
	return 0;
}

/* Makes the probe forget processes that have ended, even if the budget did not reach all others. */
static void forget_ended(struct round *round)
{
	const struct process_list *list = &round->capture->processes;

	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].heap != NULL)
			probe_keep(round->capture->heap.probe, list->items[i].heap);
	}
	probe_drop_unseen(round->capture->heap.probe);
}

int heap_read(struct round *round)
{
	struct heap *heap = &round->capture->heap;
	int result = 0;

	if (round->heap == HEAP_USE_NONE)
		return 0;
	if (round->heap == HEAP_USE_NEEDED && round->heap_until_ns != 0)
		result = wait_for_resolutions(round);
	else
		probe_serve(heap->probe, 0);
	if (result == 0)
		result = read_processes(round);
	if (result < 0)
		return result;
	if (++heap->rounds % ROTATION_ROUNDS == 0)
		forget_ended(round);
	return 0;
}

/* --- what the snapshot says of it --- */

static void count_thread_failures(const struct round *round, const struct process *process,
				  uint64_t counts[HEAP_TAG_COUNT], struct probe_summary *summary)
{
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		if ((round->snapshot->thread_flags[row] & THREAD_JEMALLOC_MEASURED) != 0)
			summary->probed_ok++;
		else if (round->states[row].heap_failure != 0)
			counts[round->states[row].heap_failure - 1]++;
	}
}

static void count_process(const struct round *round, const struct process *process,
			  uint64_t counts[HEAP_TAG_COUNT], struct probe_summary *summary)
{
	if (process->row_count == 0 || round_is_own(round, process->tgid))
		return;
	if (process->heap == NULL && !has_none(round, process))
		return; /* it was not looked at */
	summary->tgids_walked++;
	if (process->heap == NULL)
		return;
	if (process->heap->state == PROBE_STATE_READY) {
		summary->jemalloc_detected++;
		count_thread_failures(round, process, counts, summary);
	} else if (process->heap->state == PROBE_STATE_FAILED &&
		   (heap_tags[process->heap->tag].flags & HEAP_TAG_QUIET) == 0) {
		counts[process->heap->tag]++;
	}
}

/* The commonest tag, the alphabetically earlier one of equals; NULL for none. */
static const char *find_dominant(const uint64_t counts[HEAP_TAG_COUNT])
{
	size_t most = HEAP_TAG_COUNT;

	for (size_t tag = 0; tag < HEAP_TAG_COUNT; tag++) {
		if (counts[tag] == 0)
			continue;
		if (most == HEAP_TAG_COUNT || counts[tag] > counts[most] ||
		    (counts[tag] == counts[most] && strcmp(heap_tags[tag].name, heap_tags[most].name) < 0))
			most = tag;
	}
	return most < HEAP_TAG_COUNT ? heap_tags[most].name : NULL;
}

static const char *duplicate(struct arena *arena, const char *text)
{
	return text != NULL && text[0] != '\0' ? arena_duplicate(arena, text, strlen(text)) : NULL;
}

/* Whether the process has something to say: that it has jemalloc, or that nobody can tell. */
static bool is_worth_an_entry(const struct process *process)
{
	if (process->row_count == 0 || process->heap == NULL || process->heap->state == PROBE_STATE_RESOLVING)
		return false;
	return process->heap->state == PROBE_STATE_READY ||
	       (heap_tags[process->heap->tag].flags & HEAP_TAG_QUIET) == 0;
}

static void list_processes(struct round *round)
{
	const struct process_list *list = &round->capture->processes;
	struct provenance *provenance = &round->snapshot->provenance;
	struct arena *arena = &round->snapshot->arena;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += is_worth_an_entry(&list->items[i]);
	if (count == 0)
		return;
	provenance->heap = arena_allocate_zero(arena, count, sizeof(*provenance->heap));
	for (size_t i = 0; i < list->count; i++) {
		const struct probe_process *process = list->items[i].heap;
		struct heap_process *entry = &provenance->heap[provenance->heap_count];

		if (!is_worth_an_entry(&list->items[i]))
			continue;
		entry->tgid = process->tgid;
		if (process->state == PROBE_STATE_READY) {
			entry->layout = layout_origin_names[process->origin];
			entry->version = duplicate(arena, process->version);
		} else {
			entry->tag = heap_tags[process->tag].name;
			entry->text = duplicate(arena, process->text);
		}
		provenance->heap_count++;
	}
}

void heap_summarize(struct round *round)
{
	const struct process_list *list = &round->capture->processes;
	struct probe_summary *summary = &round->snapshot->probe_summary;
	uint64_t counts[HEAP_TAG_COUNT] = {0}, privilege = 0;

	if (round->heap == HEAP_USE_NONE)
		return;
	summary->present = true;
	for (size_t i = 0; i < list->count; i++)
		count_process(round, &list->items[i], counts, summary);
	for (size_t tag = 0; tag < HEAP_TAG_COUNT; tag++) {
		summary->failed += counts[tag];
		if ((heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0)
			privilege += counts[tag];
	}
	summary->dominant_failure = find_dominant(counts);
	summary->privilege_dominant = summary->failed > 0 && privilege * 2 >= summary->failed;
	summary->stopped_known = true;
	summary->stopped = probe_counts(round->capture->heap.probe).stops;
	list_processes(round);
}
