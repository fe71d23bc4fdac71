/* SPDX-License-Identifier: GPL-2.0-only */
/* One capture from begin to end: what is listed, what is read of whom, what is handed over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "round.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/text_scan.h"

enum {
	BUDGET_CHECK_ROWS = 16,                  /* threads between looks at the CPU clock */
	FIRST_ROUND_BUDGET_NS = 250 * NS_PER_MS, /* there is no interval to take a part of yet */
	DEAR_BUDGET_LEAST_NS = 5 * NS_PER_MS,
};

/* Files of which each thread's last reading counts as one of now while the thread stands still. */
static const enum source still_sources[] = {SOURCE_STAT, SOURCE_IO, SOURCE_SCHED, SOURCE_STATUS,
					    SOURCE_JEMALLOC};

/* Sources that are read thread by thread after the counters. */
static const enum source row_sources[] = {SOURCE_STAT,       SOURCE_IO,       SOURCE_SCHED,
					  SOURCE_SCHEDSTATS, SOURCE_AFFINITY, SOURCE_STATUS};

/* nr_running() of kernel/sched/core.c: all runnable threads of the host; cheaper here than in /proc/stat. */
static uint64_t count_runnable(struct capture *capture)
{
	struct buffer *buffer = &capture->text;
	struct text rest, word = {NULL, 0};
	uint64_t running;
	const char *slash;

	if (roots_read(&capture->roots, ROOT_PROC, "loadavg", buffer) < 0)
		return UINT64_MAX;
	rest = (struct text){buffer->data, buffer->length};
	for (size_t i = 0; i < 4; i++) {
		if (!text_next_word(&rest, &word))
			return UINT64_MAX;
	}
	slash = memchr(word.data, '/', word.length);
	if (slash == NULL || !number_parse_u64(word.data, (size_t)(slash - word.data), &running))
		return UINT64_MAX;
	return running;
}

/* Keeps the least of the looks of this round. */
static void look_at_runnable(struct round *round)
{
	uint64_t now;

	if (!round->watches_runnable)
		return;
	now = count_runnable(round->capture);
	if (now < round->runnable)
		round->runnable = now;
}

/* The sources to open for what is wanted: an equal one that is read anyway is as good. */
static source_set readable(const struct capture *capture, source_set wanted)
{
	static const struct {
		enum source wanted, read;
	} rules[] = {
		{SOURCE_STAT, SOURCE_STAT},
		{SOURCE_COMM, SOURCE_STAT},
		{SOURCE_STATUS, SOURCE_STAT},
		{SOURCE_STATUS, SOURCE_STATUS},
		{SOURCE_IO, SOURCE_IO},
		{SOURCE_SCHED, SOURCE_SCHED},
		{SOURCE_SCHEDSTATS, SOURCE_SCHED},
		{SOURCE_AFFINITY, SOURCE_AFFINITY},
		{SOURCE_AFFINITY, SOURCE_STATUS},
	};
	source_set result = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		bool fills = rules[i].read != SOURCE_STATUS && rules[i].read != SOURCE_AFFINITY;

		if ((wanted & source_bit(rules[i].wanted)) != 0 &&
		    (fills || capture->fills[rules[i].read].count != 0))
			result |= source_bit(rules[i].read);
	}
	return result;
}

static void set_default_reasons(struct round *round)
{
	const struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	reason_id *reason = snapshot->default_reason;

	reason[SOURCE_JEMALLOC] = (reason_id)heap_default_reason(capture);
	reason[SOURCE_SMAPS_ROLLUP] = round->smaps ? REASON_READ : REASON_NOT_READ;
	if (capture->taskstats == NULL) {
		reason[SOURCE_TASKSTATS] = capture->taskstats_reason;
		reason[SOURCE_DELAYS] = capture->taskstats_reason;
		reason[SOURCE_HIWATER] = capture->taskstats_reason;
	}
}

/* The policies' names get the same ids in every snapshot, so that their column can be copied. */
static void intern_policies(struct snapshot *snapshot)
{
	char text[PROCFS_POLICY_NAME_SIZE];

	for (int64_t policy = 0; policy < POLICY_NAMES; policy++) {
		const char *name = procfs_policy_name(policy, text);

		string_pool_intern(&snapshot->strings, name, strlen(name));
	}
}

/* A switch that was turned makes old readings of its source worthless. */
static void recheck_switches(struct round *round)
{
	struct capture *capture = round->capture;
	enum reason before = capture->checks.results[FEATURE_SCHEDSTATS].reason;

	feature_recheck_switches(&capture->checks, &capture->roots);
	if (capture->checks.task_delayacct == TASK_DELAYACCT_RUNTIME_OFF)
		capture->delays_off_ns = clock_ns(CLOCK_BOOTTIME);
	round->schedstats_turned = capture->checks.results[FEATURE_SCHEDSTATS].reason != before;
}

/*
 * The threads of a process, from the previous snapshot when it still has as many: whether they are the same
 * ones comes out when taskstats is asked for each, by its number and that of its process.
 */
static void list_process(struct round *round, struct process *process, int proc)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	size_t first = process->first_row, count = process->row_count;

	process->first_row = snapshot->thread_count;
	if (capture->rows_are_current && taskstats_has(&capture->layout, TASKSTATS_MEMBER_AC_TGID) &&
	    count != 0 && process_list_is_settled(process)) {
		for (size_t row = first; row < first + count; row++)
			snapshot_add_thread(snapshot, process->tgid, capture->previous->tid[row]);
		return;
	}
	process->row_count = process_list_threads(&capture->processes, process, proc);
	for (size_t i = 0; i < capture->processes.id_count; i++)
		snapshot_add_thread(snapshot, process->tgid, capture->processes.ids[i]);
}

static int list_threads(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;
	struct snapshot *snapshot = round->snapshot;
	int proc = capture->roots.descriptor[ROOT_PROC];
	int result = process_list_update(list, proc, capture->scope, capture->scope_count);

	if (result < 0)
		return result;
	if (capture->previous != NULL)
		snapshot_reserve(snapshot,
				 capture->previous->thread_count + capture->previous->thread_count / 8 + 64);
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];

		if (round_is_cancelled(round))
			return -ECANCELED;
		list_process(round, process, proc);
		process_list_rest(process);
	}
	capture->rows_are_current = false;
	round->listed = snapshot->thread_count;
	return 0;
}

/* The row of the same thread in the previous snapshot; both ascend by process and thread. */
static void match_rows(struct round *round)
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
						       .flags = THREAD_NEW | THREAD_MOVED};
			continue;
		}
		*state = round->capture->states[round->old_row[row]];
		state->flags &= THREAD_IDENTIFIED | THREAD_DELAYED | THREAD_GUARDED;
		if (round->full) {
			state->stale = (source_set)~0U;
			state->flags &= (uint8_t)~THREAD_GUARDED;
		}
		if (round->schedstats_turned)
			state->stale |= source_bit(SOURCE_SCHED);
	}
}

void round_expect_sources(struct round *round, size_t first, size_t count)
{
	for (size_t i = 0; i < sizeof(row_sources) / sizeof(row_sources[0]); i++) {
		enum source source = row_sources[i];
		enum source read = source == SOURCE_SCHEDSTATS ? SOURCE_SCHED : source;
		bool wanted = ((round->needed | round->extra) & source_bit(read)) != 0;
		reason_id *column;

		if (round->capture->fills[source].count == 0) /* an equal source is read instead */
			continue;
		column = snapshot_source_reasons(round->snapshot, source);
		for (size_t row = first; row < first + count; row++) {
			if (round->old_row[row] == NO_ROW || round->full)
				column[row] = wanted ? REASON_OVER_BUDGET : REASON_NOT_READ;
		}
	}
	heap_expect_rows(round, first, count);
}

static void make_read_times(struct snapshot *snapshot)
{
	for (size_t i = 0; i < sizeof(row_sources) / sizeof(row_sources[0]); i++) {
		if (row_sources[i] != SOURCE_SCHEDSTATS) /* it has those of sched */
			snapshot_read_times(snapshot, row_sources[i]);
	}
	snapshot_read_times(snapshot, SOURCE_CGROUP);
	snapshot_read_times(snapshot, SOURCE_JEMALLOC);
}

static void make_rows(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	size_t count = snapshot->thread_count;

	round->old_row = memory_allocate((count + 1) * sizeof(*round->old_row));
	round->states = memory_allocate((count + 1) * sizeof(*round->states));
	round->comm = memory_allocate((count + 1) * sizeof(*round->comm));
	round->cgroup = memory_allocate((count + 1) * sizeof(*round->cgroup));
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(*snapshot->stuck_ns));
	match_rows(round);
	begin_states(round);
	make_read_times(snapshot);
	round_expect_sources(round, 0, count);
	if (round->previous != NULL)
		round_carry_over(round);
	heap_begin(round);
}

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

	if (is_due(round, round->snapshot->tid[row])) {
		state->stale |= source_bit(SOURCE_AFFINITY) | (round->needed & stat);
		if ((state->flags & THREAD_GUARDED) != 0)
			state->stale |= source_bit(SOURCE_IO);
	}
	wanted = state->stale & round->needed;
	if (tells_other_count(round, process, row))
		wanted |= round->needed & stat;
	if ((runnable || round->all_states) && (round->needed & stat) != 0)
		wanted |= stat;
	if ((state->flags & THREAD_IDENTIFIED) == 0 || (state->flags & THREAD_SUSPECT) != 0)
		wanted |= stat;
	return wanted;
}

static int read_needed(struct round *round)
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
		tasks = process_list_tasks(list, process, capture->roots.descriptor[ROOT_PROC]);
		for (size_t row = process->first_row; row < end; row++) {
			source_set wanted = choose_files(round, process, row);

			if (wanted != 0)
				round_read_thread(round, row, tasks, wanted);
			/* another process under this number, whose directory had not stayed open */
			if (process->cgroup != NULL && round->snapshot->tid[row] == process->tgid &&
			    (round->states[row].flags & THREAD_NEW) != 0)
				process_forget(process);
			if (row % 1024 == 0 && round_is_cancelled(round))
				return -ECANCELED;
		}
		round_read_cgroups(round, process, tasks, due);
		heap_look_ahead(round, process, tasks);
		process_list_rest(process);
	}
	return 0;
}

/* The first row at or behind the place where the budget ended last time. */
static size_t resume_row(const struct round *round)
{
	const struct snapshot *snapshot = round->snapshot;
	const struct capture *capture = round->capture;
	uint64_t place = (uint64_t)capture->resume_tgid << 32 | capture->resume_tid;
	size_t row = 0;

	while (row < snapshot->thread_count &&
	       ((uint64_t)snapshot->tgid[row] << 32 | snapshot->tid[row]) < place)
		row++;
	return row < snapshot->thread_count ? row : 0;
}

bool round_is_over_budget(const struct round *round)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - round->cpu_start_ns > round->budget_ns;
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

/* Sources nobody asked for, of threads that moved, while the budget lasts; in turn over the rounds. */
static int read_extra(struct round *round)
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

		if (wanted == 0 || (round->states[row].flags & THREAD_ENDED) != 0)
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
			process_list_rest(process);
		process = next;
		round_read_thread(round, row,
				  process_list_tasks(list, process, capture->roots.descriptor[ROOT_PROC]),
				  wanted);
	}
	if (process != NULL)
		process_list_rest(process);
	return 0;
}

/* The numbers of a thread that stood still are those of now. */
static void confirm_still(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	enum source counters = round->capture->counters_in_taskstats ? SOURCE_TASKSTATS : SOURCE_SCHEDSTAT;
	const uint64_t *counted_at = snapshot->read_at[counters];

	for (size_t i = 0; i < sizeof(still_sources) / sizeof(still_sources[0]); i++) {
		enum source source = still_sources[i];
		uint64_t *read_at = snapshot->read_at[source];

		for (size_t row = 0; row < snapshot->thread_count; row++) {
			if ((round->states[row].stale & source_bit(source)) == 0 &&
			    read_at[row] < counted_at[row])
				read_at[row] = counted_at[row];
		}
	}
}

/*
 * More threads runnable at every look of two rounds than were found so in either: then somebody waits unseen,
 * and the states of all are looked at. When that finds nobody, the rotation has to do for a while.
 */
static void watch_runnable(struct round *round)
{
	struct capture *capture = round->capture;
	struct runnable_watch *watch = &capture->runnable;
	uint64_t found = 0;
	bool was_short = watch->looks > watch->found;

	for (size_t row = 0; row < round->snapshot->thread_count; row++)
		found += round->states[row].state == 'R';
	if (round->all_states && round->unseen_found == 0)
		watch->paused_until = capture->round + ROTATION_ROUNDS;
	look_at_runnable(round);
	watch->look_at_all = was_short && round->runnable != UINT64_MAX && round->runnable > found &&
			     round->runnable > watch->found && watch->looks > found &&
			     capture->round >= watch->paused_until && !round->all_states;
	watch->looks = round->runnable != UINT64_MAX ? round->runnable : 0;
	watch->found = found;
}

static void release(struct round *round)
{
	free(round->old_row);
	free(round->comm);
	free(round->cgroup);
	hash_map_release(&round->cgroup_types);
}

/* The snapshot becomes the one that the next round starts from. */
static void keep(struct round *round)
{
	struct capture *capture = round->capture;

	snapshot_release(capture->previous);
	free(capture->states);
	capture->previous = snapshot_reference(round->snapshot);
	capture->states = round->states;
	capture->rows_are_current = !capture->synthetic && capture->roots.own_namespace &&
				    capture->counters_in_taskstats;
	capture->last_started_ns = round->snapshot->provenance.boottime_ns;
}

static void begin(struct round *round)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = snapshot_create();

	round->snapshot = snapshot;
	round->cpu_start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (capture->round++ == 0)
		capture_retry_taskstats(capture);
	snapshot->captured_at_unix_ns = clock_ns(CLOCK_REALTIME);
	snapshot->provenance.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	snapshot->provenance.present = true;
	recheck_switches(round);
	set_default_reasons(round);
	intern_policies(snapshot);
	round->previous = round->full ? NULL : capture->previous;
	round->heap = heap_choose_use(capture, (round->needed & source_bit(SOURCE_JEMALLOC)) != 0,
				      (round->extra & source_bit(SOURCE_JEMALLOC)) != 0);
	round->needed = readable(capture, round->needed);
	round->extra = readable(capture, round->extra) & ~round->needed;
	round->all_states = capture->runnable.look_at_all;
	round->runnable = UINT64_MAX;
	round->watches_runnable = capture->initial_pid_namespace && capture->scope == NULL &&
				  (round->needed & source_bit(SOURCE_STAT)) != 0;
	look_at_runnable(round);
}

static int run(struct round *round)
{
	int result = list_threads(round);

	if (result < 0)
		return result;
	make_rows(round);
	result = round_read_counters(round);
	look_at_runnable(round);
	if (result == 0)
		result = read_needed(round);
	if (result == 0 && round->heap == HEAP_USE_NEEDED)
		result = heap_read(round);
	if (result == 0)
		result = read_extra(round);
	if (result == 0 && round->heap == HEAP_USE_EXTRA)
		result = heap_read(round);
	if (result < 0)
		return result;
	round_drop_ended(round);
	confirm_still(round);
	watch_runnable(round);
	round_name_threads(round);
	round_finish(round);
	if ((round->needed & source_bit(SOURCE_STAT)) == 0) {
		free(round->snapshot->stuck_ns);
		round->snapshot->stuck_ns = NULL;
	}
	return round_is_cancelled(round) ? -ECANCELED : 0;
}

static int take(struct round *round, struct snapshot **ret_snapshot, struct error *error)
{
	int result;

	begin(round);
	result = run(round);
	if (result == 0) {
		keep(round);
		*ret_snapshot = round->snapshot;
	} else {
		/* rows of the processes may speak of the snapshot that was given up */
		round->capture->rows_are_current = false;
		snapshot_release(round->snapshot);
		free(round->states);
		error_set(error, result,
			  result == -ECANCELED ? "the capture was cancelled" : "cannot list %s: %s",
			  round->capture->roots.path[ROOT_PROC], strerror(-result));
	}
	release(round);
	return result;
}

int capture_full(struct capture *capture, uint64_t dear_budget_ns, const atomic_bool *cancel,
		 struct snapshot **ret_snapshot, struct error *error)
{
	struct round round = {.capture = capture,
			      .cancel = cancel,
			      .full = true,
			      .needed = (source_set)~0U,
			      .smaps = true,
			      .cgroup_records = true,
			      .heap_wait_ns = capture->heap.patience_ns,
			      .dear_budget_ns = dear_budget_ns};

	return take(&round, ret_snapshot, error);
}

int capture_round(struct capture *capture, const struct capture_round_options *options,
		  const atomic_bool *cancel, struct snapshot **ret_snapshot, struct error *error)
{
	struct round round = {.capture = capture,
			      .cancel = cancel,
			      .needed = options->needed,
			      .smaps = options->smaps,
			      .cgroup_records = options->cgroup_records,
			      .heap_wait_ns = options->heap_patience_ns,
			      .budget_ns = FIRST_ROUND_BUDGET_NS};

	if (!options->only_needed) {
		round.needed |= source_bit(SOURCE_STAT);
		round.extra = (source_set)~0U;
	}
	if (capture->budget_percent < 0) {
		round.extra = 0;
		round.budget_ns = 0;
	} else if (capture->previous != NULL) {
		uint64_t interval = clock_ns(CLOCK_BOOTTIME) - capture->last_started_ns;

		round.budget_ns = (uint64_t)((double)interval * capture->budget_percent / 100.0);
	}
	round.dear_budget_ns = round.budget_ns > DEAR_BUDGET_LEAST_NS ? round.budget_ns
								      : DEAR_BUDGET_LEAST_NS;
	return take(&round, ret_snapshot, error);
}
