/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads all threads at once, by one pass of a BPF program: opening what it takes, the rows that its tasks
 * become, their names and numbers (docs/dev/bpf.md).
 */
#include "pass_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/rights.h"
#include "capture.h"
#include "capture/bpf/task_decode.h"
#include "capture/host/host.h"
#include "capture/procfs/thread_file.h"

enum {
	FLAG_WORKER = 0x20, /* PF_WQ_WORKER of include/linux/sched.h: procfs names what it does at present */
};

/* How often a full pass checks whether the passes in between missed something. */
#define CHECK_INTERVAL_NS (60 * NS_PER_S)

/* A sleep up to this age may have begun after the time that the last pass read from the scheduler's clock. */
#define YOUNG_SLEEP_NS NS_PER_MS

/* Sources that a pass fills for every thread. */
static const enum source whole_sources[] = {
	SOURCE_STAT,       SOURCE_SCHEDSTAT, SOURCE_STATUS, SOURCE_SCHED,   SOURCE_AFFINITY, SOURCE_TASKSTATS,
	SOURCE_SCHEDSTATS, SOURCE_IO,        SOURCE_DELAYS, SOURCE_HIWATER, SOURCE_CGROUP};

/* --- opening --- */

/* The threads of the host; 0 when that is not known. */
static uint64_t count_all_threads(const struct roots *roots, struct buffer *text)
{
	uint64_t runnable, all;

	return host_count_threads(roots, text, &runnable, &all) ? all : 0;
}

/* Threads that will be read: those of the chosen processes, by the links of their task directories. */
static size_t count_threads(struct capture *capture)
{
	size_t count = 0;

	if (capture->scope == NULL)
		return count_all_threads(&capture->roots, &capture->text);
	for (size_t i = 0; i < capture->scope_count; i++) {
		char path[THREAD_PATH_SIZE];
		struct stat status;

		if (fstatat(capture->roots.descriptor[ROOT_PROC],
			    thread_file_path(path, capture->scope[i], "task"), &status, 0) == 0)
			count += status.st_nlink;
	}
	return count;
}

static bool is_switched_on(struct capture *capture, const char *path)
{
	return text_equals(roots_read_text(&capture->roots, ROOT_PROC, path, &capture->text), "1");
}

/*
 * Counters that are on at the start are wanted in most rounds; others only once somebody switches them on.
 * Calls always are.
 */
static uint32_t usual_parts(struct capture *capture)
{
	uint32_t parts = TASK_PART_CALL;

	if (is_switched_on(capture, "sys/kernel/task_delayacct"))
		parts |= TASK_PART_DELAYS;
	if (is_switched_on(capture, "sys/kernel/sched_schedstats"))
		parts |= TASK_PART_STATISTICS;
	return parts;
}

/* Records carry ids of the initial pid namespace, and the ids of this procfs must be those. */
static bool is_readable(const struct roots *roots, struct arena *arena, struct feature_result *ret_result)
{
	*ret_result = feature_of_other_pids(roots, arena);
	return roots->initial_pid_namespace;
}

/*
 * Compares the threads that a pass met with the kernel's own count. `before` is the host's count of starts
 * before the pass. Returns how many threads, at least, lived throughout the pass and were not met; then
 * writes `sentence` and makes `result` partial. Otherwise empties the sentence and returns 0.
 * The kernel counts exactly the threads that are in the lists a pass walks (copy_process() of kernel/fork.c,
 * __unhash_process() of kernel/exit.c), so the missing threads are hidden from BPF.
 */
static uint64_t compare_counts(struct optional_u64 before, const struct roots *roots, struct buffer *text,
			       uint64_t met, char sentence[static UNSEEN_SIZE], struct feature_result *result)
{
	const uint64_t all = before.present ? count_all_threads(roots, text) : 0;
	uint64_t starts, hidden;

	sentence[0] = '\0';
	/* of all, those that were started meanwhile need not have been met */
	if (all == 0 || !host_count_starts(roots, text, &starts) || all <= met + (starts - before.value))
		return 0;
	hidden = all - met - (starts - before.value);
	snprintf(sentence, UNSEEN_SIZE,
		 "the kernel counts %" PRIu64 " threads, but BPF shows %" PRIu64 ": at least %" PRIu64
		 " are hidden from BPF and have no rows",
		 all, met, hidden);
	*result = (struct feature_result){FEATURE_STATE_PARTIAL, REASON_UNREADABLE, sentence,
					  "ctop --backend procfs"};
	return hidden;
}

static uint64_t fingerprint_of(const struct bpf_pass *pass, size_t row)
{
	const struct task_parts parts = task_parts_of(pass, pass->order[row]);

	return task_fingerprint(&parts);
}

/* Writes `sentence` and makes `result` partial if passes have missed changes; not where threads are hidden.
 */
static void tell_missed(uint64_t missed, char sentence[static UNSEEN_SIZE], struct feature_result *result)
{
	if (missed == 0 || result->state != FEATURE_STATE_ON)
		return;
	snprintf(sentence, UNSEEN_SIZE,
		 "passes that read only the threads that moved have missed %" PRIu64
		 " changes, for up to %d s each",
		 missed, (int)(CHECK_INTERVAL_NS / NS_PER_S));
	*result = (struct feature_result){FEATURE_STATE_PARTIAL, REASON_UNREADABLE, sentence,
					  "ctop --backend procfs"};
}

/*
 * Counts the changes that a pass would miss after this one, by a full one. 0 if other threads are there by
 * then.
 */
static uint64_t count_missed(struct bpf_tasks *tasks, struct bpf_pass *pass)
{
	const size_t count = pass->row_count;
	uint64_t *prints = memory_allocate((count + 1) * sizeof(*prints));
	uint64_t missed = 0;

	for (size_t row = 0; row < count; row++)
		prints[row] = fingerprint_of(pass, row);
	if (bpf_tasks_read(tasks, 0, true, NULL, pass) == 0 && pass->same_rows && !pass->is_whole) {
		for (size_t row = 0; row < count; row++)
			missed += bpf_pass_mark(pass, pass->order[row]) < TASK_MOVED &&
				  fingerprint_of(pass, row) != prints[row];
	}
	free(prints);
	return missed;
}

void passes_check(const struct roots *roots, struct arena *arena, struct feature_result *ret_result)
{
	struct buffer text = {0};
	char sentence[UNSEEN_SIZE] = "";
	struct bpf_tasks *tasks;
	struct optional_u64 starts = {0};
	struct bpf_pass pass;

	if (!is_readable(roots, arena, ret_result))
		return;
	tasks = bpf_tasks_open(NULL, 0, count_all_threads(roots, &text), 0, NULL, arena, ret_result);
	starts.present = host_count_starts(roots, &text, &starts.value);
	if (tasks != NULL && bpf_tasks_read(tasks, 0, true, NULL, &pass) == 0) {
		compare_counts(starts, roots, &text, pass.row_count, sentence, ret_result);
		tell_missed(count_missed(tasks, &pass), sentence, ret_result);
		if (sentence[0] != '\0')
			ret_result->detail = arena_duplicate(arena, sentence, strlen(sentence));
	}
	bpf_tasks_close(tasks);
	buffer_release(&text);
}

void passes_open(struct capture *capture)
{
	struct task_passes *passes = &capture->passes;

	struct task_call_set by_file;

	waits_list_calls(&by_file);
	if (is_readable(&capture->roots, &passes->arena, &passes->result))
		passes->tasks = bpf_tasks_open(capture->scope, capture->scope_count, count_threads(capture),
					       usual_parts(capture), &by_file, &passes->arena,
					       &passes->result);
	/* programs see what ptrace(2) would refuse us */
	passes->sees_others = rights_include(CAP_SYS_PTRACE);
}

/* The first process of the scope that procfs shows but a pass does not, or 0. */
static uint32_t find_unmet(struct capture *capture)
{
	struct bpf_pass pass;

	if (bpf_tasks_read(capture->passes.tasks, 0, true, NULL, &pass) < 0)
		return 0;
	for (size_t i = 0; i < capture->scope_count; i++) {
		char path[THREAD_PATH_SIZE];
		bool met = false;

		for (size_t k = 0; k < pass.count && !met; k++)
			met = bpf_pass_record(&pass, (uint32_t)k)->tgid == capture->scope[i];
		if (!met && roots_find(&capture->roots, ROOT_PROC,
				       thread_file_path(path, capture->scope[i], "stat")) == 0)
			return capture->scope[i];
	}
	return 0;
}

uint32_t passes_find_hidden(struct capture *capture)
{
	const bool is_scoped = capture->passes.tasks != NULL && capture->scope_count != 0;
	const uint32_t unmet = is_scoped ? find_unmet(capture) : 0;

	/* the second pass meets a process that started between the first one and the procfs check */
	return unmet != 0 && find_unmet(capture) == unmet ? unmet : 0;
}

void passes_close(struct task_passes *passes)
{
	bpf_tasks_close(passes->tasks);
	pass_ids_release(passes);
	arena_release(&passes->arena);
	*passes = (struct task_passes){0};
}

/* --- rows --- */

static void add_rows(struct intake *intake)
{
	struct snapshot *snapshot = intake->round->snapshot;
	const struct snapshot *previous = intake->round->capture->previous;
	const size_t count = intake->pass.row_count;

	snapshot_reserve(snapshot, count + 1);
	snapshot->thread_count = count;
	memset(snapshot->uid, 0xff, count * sizeof(*snapshot->uid));
	if (intake->round->same_rows) {
		memcpy(snapshot->tgid, previous->tgid, count * sizeof(*snapshot->tgid));
		memcpy(snapshot->tid, previous->tid, count * sizeof(*snapshot->tid));
		return;
	}
	for (size_t row = 0; row < count; row++) {
		const struct task_record *record = intake_record(intake, row);

		snapshot->tgid[row] = record->tgid;
		snapshot->tid[row] = record->tid;
	}
}

/* The processes of the rows, which ascend by process. */
static void update_processes(struct intake *intake)
{
	struct round *round = intake->round;
	struct process_list *list = &round->capture->processes;
	const struct snapshot *snapshot = round->snapshot;
	uint32_t *ids;
	size_t count = 0, next = 0;

	if (round->same_rows)
		return;
	ids = memory_allocate((snapshot->thread_count + 1) * sizeof(*ids));
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

uint32_t round_find_task(const struct snapshot *snapshot, const struct thread_state *states, uint32_t tgid,
			 uint64_t task)
{
	size_t row = snapshot_search_row(snapshot, tgid, 0);

	for (; row < snapshot->thread_count && snapshot->tgid[row] == tgid; row++) {
		if (states[row].seen.task == task)
			return (uint32_t)row;
	}
	return SNAPSHOT_NO_ROW;
}

/*
 * Whether the last snapshot's row with the task's id belongs to the task: another task may have had the id,
 * or this one has taken it over in execve(2) (de_thread() of fs/exec.c).
 */
static bool is_same_task(const struct intake *intake, size_t row)
{
	const struct round *round = intake->round;
	const struct task_record *record = intake_record(intake, row);
	uint32_t old = round->old_row[row];

	/* the pass compared the two */
	if (intake->follows && intake_mark(intake, row) != TASK_NEW)
		return true;
	return round->capture->states[old].seen.task == record->task &&
	       round->capture->previous->start_time[old] == record->start_boottime / NS_PER_TICK;
}

/* The row of a thread that has given its id up for the leader's, in execve(2): its counters go on. Or
 * SNAPSHOT_NO_ROW.
 */
static uint32_t find_executed(const struct intake *intake, size_t row)
{
	const struct capture *capture = intake->round->capture;
	const struct snapshot *previous = capture->previous;
	const struct task_record *record = intake_record(intake, row);
	uint32_t old = intake->round->old_row[row];

	if (record->tid != record->tgid || previous->start_time[old] != record->start_boottime / NS_PER_TICK)
		return SNAPSHOT_NO_ROW;
	return round_find_task(previous, capture->states, record->tgid, record->task);
}

/* The rows of the last snapshot that the rows go on from, for the same tasks. */
static void find_tasks(struct intake *intake)
{
	struct round *round = intake->round;
	uint32_t next = 0; /* of the last snapshot's rows */

	if (round->same_rows)
		return;
	for (size_t row = 0; row < round->snapshot->thread_count; row++) {
		uint32_t *old = &round->old_row[row];

		if (*old != SNAPSHOT_NO_ROW && !is_same_task(intake, row))
			*old = find_executed(intake, row);
		if (*old < next)
			*old = SNAPSHOT_NO_ROW; /* rows are carried in their order */
		if (*old != SNAPSHOT_NO_ROW)
			next = *old + 1;
	}
}

static void make_rows(struct intake *intake)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;

	add_rows(intake);
	update_processes(intake);
	round_begin_rows(round);
	find_tasks(intake);
	if (intake->pass.clock_ns != 0) {
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	}
	snapshot_make_wait_columns(snapshot);
	if (!intake->with_io)
		snapshot_read_times(snapshot, SOURCE_IO);
	if (round->heap_is_on)
		snapshot_read_times(snapshot, SOURCE_JEMALLOC);
	round_settle_rows(round);
	heap_begin(round);
}

/* --- names and numbers --- */

/* Kernel threads have longer names than their structure holds, and workers say what they do: procfs knows. */
static void store_name(struct intake *intake, struct process *process, size_t row, bool changed)
{
	struct round *round = intake->round;
	struct thread_state *state = &round->states[row];
	const struct task_record *record = intake_record(intake, row);
	bool renamed = (state->flags & ROW_NEW) != 0 ||
		       memcmp(state->name, record->comm, TASK_COMM_SIZE) != 0;
	const struct text name = text_of_name(record->comm, TASK_COMM_SIZE);

	memcpy(state->name, record->comm, TASK_COMM_SIZE);
	if ((record->task_flags & TASK_KERNEL_THREAD) != 0 &&
	    (renamed || (changed && (record->task_flags & FLAG_WORKER) != 0)))
		round->comm[row] = round_read_name(
			round, process_list_tasks(&round->capture->processes, process), record->tid);
	if (!renamed || round->comm[row] != UNKNOWN_TEXT)
		return;
	round->comm[row] = snapshot_intern_name(&round->snapshot->strings, name.data, name.length);
}

static void set_sources(struct intake *intake)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	enum reason statistics = round->capture->checks.results[FEATURE_SCHEDSTATS].reason;

	for (size_t i = 0; i < sizeof(whole_sources) / sizeof(whole_sources[0]); i++) {
		enum source source = whole_sources[i];

		if (source != SOURCE_IO || intake->with_io)
			round_set_source(snapshot, source, REASON_READ);
	}
	if (statistics == REASON_READ && intake->pass.statistics == NULL)
		statistics = REASON_NOT_READ;
	round_set_source(snapshot, SOURCE_SCHEDSTATS, statistics);
	if (intake->pass.delays == NULL && round->capture->checks.task_delayacct == TASK_DELAYACCT_ON)
		round_set_source(snapshot, SOURCE_DELAYS, REASON_NOT_READ);
}

static bool has_delays(const struct task_parts *parts, bool switched_on)
{
	if (parts->record->has_delays == 0)
		return false;
	for (size_t i = 0; i < TASK_DELAY_COUNT && !switched_on; i++) {
		if (parts->delays->of[i].count != 0)
			return true;
	}
	return switched_on;
}

/* The times that the last snapshot showed for the task. */
static struct task_times shown_times(const struct round *round, size_t row)
{
	const struct snapshot *last = round->capture->previous;
	uint32_t old = round->old_row[row];

	if (old == SNAPSHOT_NO_ROW)
		return (struct task_times){0};
	return (struct task_times){snapshot_value(last, old, METRIC_UTIME_CLOCK_TICKS),
				   snapshot_value(last, old, METRIC_STIME_CLOCK_TICKS)};
}

static void decode_row(struct intake *intake, size_t row, const struct task_parts *parts)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	const struct feature_checks *checks = &round->capture->checks;
	struct thread_state *state = &round->states[row];
	const struct task_record *record = parts->record;

	task_decode(snapshot, row, parts, intake->with_io, shown_times(round, row));
	snapshot_store(snapshot, row, METRIC_POLICY, round_policy_text(round, record->policy));
	pass_ids_store_cpus(intake, row);
	snapshot->start_time[row] = record->start_boottime / NS_PER_TICK;
	snapshot->uid[row] = record->uid;
	snapshot->thread_flags[row] =
		(uint8_t)((snapshot->thread_flags[row] & (THREAD_JEMALLOC_MEASURED | THREAD_WAIT_AT_LEAST)) |
			  round_measured_flags(checks) |
			  round_kind_flags(record->task_flags, snapshot->tid[row] == snapshot->tgid[row]));
	state->state = task_state_letter(record);
	state->flags |= ROW_IDENTIFIED | ROW_MOVED | ROW_CHANGED;
	round->capture->passes.saw_delays |= record->has_delays != 0;
	if (parts->delays != NULL) {
		state->flags &= (uint16_t)~ROW_DELAYED;
		if (has_delays(parts, checks->task_delayacct == TASK_DELAYACCT_ON))
			state->flags |= ROW_DELAYED;
	}
	state->stale |= source_with_flags(SOURCE_OF_ACTIVITY);
}

/* The task's sleep, or wait in D, in the last snapshot; false where that is not known. */
static bool find_sleep(const struct round *round, size_t row, struct task_sleep *ret_sleep)
{
	const struct capture *capture = round->capture;
	const struct snapshot *last = capture->previous;
	const uint32_t old = round->old_row[row];

	if (old == SNAPSHOT_NO_ROW || last->waiting_ns == NULL ||
	    capture->states[old].seen.slept_from == AWAKE)
		return false;
	*ret_sleep = (struct task_sleep){
		.exec_start = capture->states[old].seen.slept_from,
		.timeslices = snapshot_value(last, old, METRIC_TIMESLICES),
		.ns = last->waiting_ns[old],
		.clock_ns = capture->last_clock_ns,
	};
	return true;
}

static void mark_wait(struct snapshot *snapshot, size_t row, bool at_least)
{
	uint8_t *flags = &snapshot->thread_flags[row];

	if (((*flags & THREAD_WAIT_AT_LEAST) != 0) != at_least)
		*flags ^= THREAD_WAIT_AT_LEAST;
}

/* For how long a thread has been waiting needs no reading but the clock. */
static void store_wait(struct intake *intake, size_t row, const struct task_record *record)
{
	struct round *round = intake->round;
	struct thread_state *state = &round->states[row];
	struct snapshot *snapshot = round->snapshot;
	struct task_sleep before;
	const bool knows = find_sleep(round, row, &before);
	const struct task_wait wait = task_wait_of(record, round->clock_ns, knows ? &before : NULL);
	/* one that is about to be queued or to run does not wait as the kernel counts it */
	const bool waits = wait.queued || state->state != 'R';

	if (snapshot->waiting_ns != NULL && waits)
		snapshot->waiting_ns[row] = wait.ns;
	mark_wait(snapshot, row, waits && wait.at_least);
	if (snapshot->stuck_ns != NULL && (wait.queued || state->state == 'D') &&
	    wait.ns >= intake->stuck_after_ns)
		snapshot->stuck_ns[row] = wait.ns;
	if (wait.queued || state->state == 'D' || (record->flags & TASK_RUNNING) != 0)
		state->flags |= ROW_MOVED | ROW_CHANGED;
}

static void fill_row(struct intake *intake, struct process *process, size_t row)
{
	struct thread_state *state = &intake->round->states[row];
	struct task_parts parts = task_parts_of(&intake->pass, intake->pass.order[row]);
	struct task_slept slept = state->seen.slept;
	struct task_record without_sleep;
	const uint64_t fingerprint = task_fingerprint(&parts);
	const bool is_new = (state->flags & ROW_NEW) != 0, differs = state->seen.fingerprint != fingerprint;
	const bool changed = intake->all || is_new || differs;

	if (intake->follows && !is_new && differs && intake_mark(intake, row) < TASK_MOVED)
		intake->round->capture->passes.missed++;
	task_slept_follow(&slept, parts.record, intake->round->clock_ns);
	if (slept.pending != 0 || slept.counted != 0) {
		without_sleep = *parts.record;
		task_slept_leave_out(&slept, &without_sleep);
		parts.record = &without_sleep;
	}
	state->seen = (struct thread_seen){
		.task = parts.record->task,
		.fingerprint = fingerprint,
		.slept_from = task_sleeps(parts.record) ? parts.record->exec_start : AWAKE,
		.cgroup = parts.record->cgroup,
		.thread_pointer = intake->with_io ? parts.record->thread_pointer : 0,
		.exec_id = parts.record->exec_id,
		.slept = slept,
	};
	if (changed)
		decode_row(intake, row, &parts);
	store_wait(intake, row, parts.record);
	waits_store(intake, row, &parts);
	store_name(intake, process, row, changed);
}

/* Whether a row holds what it held in the last snapshot, except for the age of a sleep. */
static bool stands_still(const struct intake *intake, size_t row)
{
	return intake->by_marks && !intake->all && intake->round->old_row[row] != SNAPSHOT_NO_ROW &&
	       intake_mark(intake, row) == TASK_STILL;
}

/* Fills the rows of a process that do not stand still; returns whether there are any. */
static bool fill_process(struct intake *intake, struct process *process)
{
	bool moved = false;

	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		if (stands_still(intake, row))
			continue;
		fill_row(intake, process, row);
		moved = true;
	}
	return moved;
}

/*
 * Adds the time since the last round to the sleeps of threads that stand still. store_wait() comes to the
 * same: a sleep that goes on was within its bounds before, and stays within them. A young sleep may have been
 * cut at 0.
 */
static void age_sleeps(struct intake *intake)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	const struct snapshot *last = round->capture->previous;
	const uint64_t last_ns = round->capture->last_clock_ns;
	const uint64_t passed_ns = round->clock_ns > last_ns ? round->clock_ns - last_ns : 0;
	const bool known = snapshot->waiting_ns != NULL && last != NULL && last->waiting_ns != NULL;

	for (size_t row = 0; intake->by_marks && row < snapshot->thread_count; row++) {
		const uint64_t state = snapshot_value(snapshot, row, METRIC_STATE);
		uint64_t slept_ns;

		if (!stands_still(intake, row))
			continue;
		slept_ns = known ? last->waiting_ns[round->old_row[row]] : 0;
		if (slept_ns <= YOUNG_SLEEP_NS || (snapshot->thread_flags[row] & THREAD_WAIT_AT_LEAST) != 0)
			store_wait(intake, row, intake_record(intake, row));
		else if (state != 'R' && state != 'Z' && state != 'X')
			snapshot->waiting_ns[row] = slept_ns + passed_ns;
	}
}

/* All threads of a process carry its name: they change with it. */
static void mark_renamed(struct round *round, const struct process *process)
{
	size_t leader = round_leader_row(round, process);

	if (round->comm[leader] == UNKNOWN_TEXT || round->snapshot->tid[leader] != process->tgid)
		return;
	round_mark_changed(round, process);
}

/*
 * The memory of a process, which its threads share: what the pass read of the leader, or of all threads where
 * that has ended; some of them may have given the memory up already.
 */
static void note_resident(struct intake *intake, struct process *process)
{
	const size_t leader = round_leader_row(intake->round, process);
	size_t row = leader, end = leader + 1;
	uint64_t pages = 0;
	bool has_memory = false;

	if ((intake_record(intake, leader)->flags & TASK_HAS_MEMORY) == 0) {
		row = process->first_row;
		end = row + process->row_count;
	}
	for (; row < end; row++) {
		const struct task_record *record = intake_record(intake, row);

		if ((record->flags & TASK_HAS_MEMORY) == 0)
			continue;
		has_memory = true;
		pages = number_larger(pages, record->resident);
	}
	process_note_resident(process, has_memory, pages, intake->pass.begin_ns);
}

static int fill_rows(struct intake *intake)
{
	struct round *round = intake->round;
	struct process_list *list = &round->capture->processes;

	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		bool moved;

		if (round_is_cancelled(round))
			return -ECANCELED;
		if (process->row_count == 0)
			continue;
		if ((process->cgroup != NULL || process->tasks >= 0 || process->heap != NULL) &&
		    (round->states[round_leader_row(round, process)].flags & ROW_NEW) != 0)
			process_list_forget(list, process); /* the number was used again */
		moved = fill_process(intake, process);
		note_resident(intake, process);
		mark_renamed(round, process);
		pass_ids_store_cgroups(intake, process, moved);
		if (round->heap == HEAP_USE_NEEDED && round->heap_until_ns != 0)
			heap_look_ahead(round, process, process_list_tasks(list, process));
		process_list_done(process);
	}
	age_sleeps(intake);
	return 0;
}

/* Values that a pass lacks, or must not show, come from procfs, where the kernel checks permissions. */
static int read_files(struct round *round, source_set files)
{
	source_set extra = round->extra;
	uint64_t budget_ns = round->budget_ns;
	int result;

	round->extra = (round->needed | extra) & files;
	if ((round->needed & files) != 0)
		round->budget_ns = UINT64_MAX;
	result = round_read_extra(round);
	round->extra = extra;
	round->budget_ns = budget_ns;
	return result;
}

/* Files with a metric that records do not have. */
static source_set files_besides(const struct intake *intake)
{
	const struct capture *capture = intake->round->capture;
	source_set files = intake->with_io ? 0 : source_bit(SOURCE_IO);

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source source = capture->metric_source[i];

		if (source != SOURCE_NONE && (sources[source].flags & SOURCE_PER_THREAD) != 0 &&
		    !task_decodes((enum metric)i))
			files |= source_bit(source_whole(source));
	}
	return files;
}

/* --- the round --- */

/*
 * Delays and the scheduler's statistics are read where they are wanted; the rest is in every pass. While
 * delay accounting is off, delays stand still: they are read once, if any thread has a record of them. The
 * extremes of the waits for a CPU, which come with them, do not stand still.
 */
static uint32_t wanted_parts(const struct round *round)
{
	const struct feature_checks *checks = &round->capture->checks;
	const struct task_passes *passes = &round->capture->passes;
	bool delays_move = checks->task_delayacct == TASK_DELAYACCT_ON || round->full ||
			   (passes->saw_delays && !passes->kept_delays);
	uint32_t parts = TASK_PART_CALL;

	if (feature_knows_delays(checks) &&
	    ((round->shown & source_bit(SOURCE_TASKSTATS)) != 0 ||
	     ((round->asked & source_bit(SOURCE_DELAYS)) != 0 && delays_move)))
		parts |= TASK_PART_DELAYS;
	if ((round->asked & source_bit(SOURCE_SCHEDSTATS)) != 0 &&
	    checks->results[FEATURE_SCHEDSTATS].reason == REASON_READ)
		parts |= TASK_PART_STATISTICS;
	return parts;
}

/* From when on a wait is stuck. By the clock of the waits: one that began before the last round is. */
static uint64_t stuck_after_ns(const struct round *round)
{
	const uint64_t last_ns = round->capture->last_clock_ns;

	return last_ns != 0 && round->clock_ns - last_ns < SNAPSHOT_STUCK_AFTER_NS ? round->clock_ns - last_ns
										   : SNAPSHOT_STUCK_AFTER_NS;
}

/* Processes that are kept from BPF stay so: now and then is enough. */
static bool is_census_due(const struct round *round)
{
	const struct capture *capture = round->capture;

	return capture->scope == NULL && (capture->passes.census_round == 0 || round->full ||
					  capture->round - capture->passes.census_round >= ROTATION_ROUNDS);
}

static void note_unseen(struct intake *intake)
{
	struct capture *capture = intake->round->capture;
	struct task_passes *passes = &capture->passes;
	struct feature_result *result = &capture->checks.results[FEATURE_PASSES];

	if (intake->starts.present) {
		passes->census_round = capture->round;
		*result = passes->result;
		passes->hidden = compare_counts(intake->starts, &capture->roots, &capture->text,
						intake->round->snapshot->thread_count, passes->unseen,
						result);
	} else if (passes->hidden == 0) {
		*result = passes->result;
	}
	tell_missed(passes->missed, passes->unseen, result);
}

/* Reads the tasks that moved since the last round, or all if that is not enough or to be checked. */
static int read_tasks(struct intake *intake, uint32_t parts)
{
	struct round *round = intake->round;
	struct task_passes *passes = &round->capture->passes;
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
	const bool full = round->full || !intake->follows || now_ns - passes->checked_ns >= CHECK_INTERVAL_NS;
	int result;

	passes->is_current = false;
	result = bpf_tasks_read(passes->tasks, parts, full, round->cancel, &intake->pass);
	passes->failure = result == -ECANCELED ? 0 : result;
	intake->by_marks = result == 0 && !full && !intake->pass.is_whole;
	if (result == 0 && !intake->by_marks)
		passes->checked_ns = now_ns;
	return result;
}

static int take_pass(struct intake *intake)
{
	struct round *round = intake->round;
	struct task_passes *passes = &round->capture->passes;
	uint32_t parts = wanted_parts(round);
	int result;

	pass_ids_bound(passes);
	if (is_census_due(round))
		intake->starts.present = host_count_starts(&round->capture->roots, &round->capture->text,
							   &intake->starts.value);
	result = read_tasks(intake, parts);
	if (result < 0)
		return result;
	/* the pass may have had to wait: move the wall clock with the boot clock */
	round->snapshot->captured_at_unix_ns += intake->pass.begin_ns -
						round->snapshot->provenance.boottime_ns;
	round->now_ns = round->snapshot->provenance.boottime_ns = intake->pass.begin_ns;
	intake->with_io = passes->sees_others;
	round->clock_ns = intake->pass.clock_ns;
	intake->stuck_after_ns = stuck_after_ns(round);
	intake->all = round->full || round->previous == NULL || parts != passes->parts ||
		      passes->decode_again;
	round->same_rows = intake->follows && intake->pass.same_rows;
	passes->decode_again = false;
	passes->parts = parts;
	if ((parts & TASK_PART_DELAYS) != 0)
		passes->kept_delays = round->capture->checks.task_delayacct != TASK_DELAYACCT_ON;
	passes->tells_resident = (intake->pass.kernel & TASK_KERNEL_RESIDENT) != 0;
	passes->resident_is_exact = (intake->pass.kernel & TASK_KERNEL_RESIDENT_EXACT) != 0;
	make_rows(intake);
	note_unseen(intake);
	round->snapshot->provenance.hidden_threads = passes->hidden;
	round->listed = round->snapshot->taskstats_summary.ok_count = round->snapshot->thread_count;
	set_sources(intake);
	intake->all |= pass_ids_recheck_cpus(intake);
	result = fill_rows(intake);
	return result < 0 ? result : read_files(round, files_besides(intake));
}

static void explain_metrics(struct round *round)
{
	const bool with_delays = (round->capture->passes.parts & TASK_PART_DELAYS) != 0;
	reason_id *reason = round->snapshot->metric_reason;

	/* they are in the same part of a record */
	if (!with_delays)
		reason[METRIC_CPU_DELAY_MAX_NS] = reason[METRIC_CPU_DELAY_MIN_NS] = REASON_NOT_READ;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (round->capture->member[i] != TASKSTATS_MEMBER_NONE &&
		    !metric_set_has(&round->capture->seen, (enum metric)i))
			reason[i] = REASON_NOT_IN_KERNEL;
	}
}

/* Threads that did not run were not read again: their values count as read when the round began. */
static void confirm_still(struct round *round)
{
	static const enum source apart[] = {SOURCE_JEMALLOC, SOURCE_IO};
	struct snapshot *snapshot = round->snapshot;

	for (size_t i = 0; i < ARRAY_COUNT(apart); i++) {
		uint64_t *read_at = snapshot->read_at[apart[i]];

		for (size_t row = 0; read_at != NULL && row < snapshot->thread_count; row++) {
			if ((round->states[row].stale & source_bit(apart[i])) == 0 &&
			    read_at[row] < snapshot->provenance.boottime_ns)
				read_at[row] = snapshot->provenance.boottime_ns;
		}
	}
}

int round_read_pass(struct round *round)
{
	struct intake intake = {.round = round, .follows = round->capture->passes.is_current};
	int result = take_pass(&intake);

	round_read_host_counters(round);
	if (result < 0)
		return result;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (task_kernel_has(intake.pass.kernel, (enum metric)i))
			metric_set_add(&round->capture->seen, (enum metric)i);
	}
	result = heap_read(round);
	if (result < 0)
		return result;
	explain_metrics(round);
	confirm_still(round);
	return 0;
}

/* Marks the rows for which a source has another reason than before; false when it is another one for all. */
static bool compare_reasons(struct round *round, enum source source)
{
	const struct snapshot *snapshot = round->snapshot, *previous = round->previous;

	if (snapshot->source_reason[source] == NULL && previous->source_reason[source] == NULL)
		return snapshot->default_reason[source] == previous->default_reason[source];
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (round->old_row[row] != SNAPSHOT_NO_ROW &&
		    snapshot_source_reason(snapshot, row, source) !=
			    snapshot_source_reason(previous, round->old_row[row], source))
			round->states[row].flags |= ROW_CHANGED;
	}
	return true;
}

void round_list_moved(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	const struct snapshot *previous = round->previous;
	bool known = previous != NULL;

	for (size_t i = 0; known && i < SOURCE_COUNT; i++)
		known = compare_reasons(round, (enum source)i);
	if (!known ||
	    memcmp(snapshot->metric_reason, previous->metric_reason, sizeof(snapshot->metric_reason)) != 0)
		return;
	snapshot->moved_known = true;
	snapshot->moved = memory_allocate((snapshot->thread_count + 1) * sizeof(*snapshot->moved));
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if ((round->states[row].flags & (ROW_CHANGED | ROW_ODD)) != 0)
			snapshot->moved[snapshot->moved_count++] = (uint32_t)row;
	}
}
