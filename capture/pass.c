/* SPDX-License-Identifier: GPL-2.0-only */
#include "pass.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/number.h"
#include "capture.h"
#include "capture/procfs/thread_file.h"
#include "heap.h"

enum {
	FLAG_KERNEL = 0x00200000, /* PF_KTHREAD of include/linux/sched.h */
	KNOWN_CPUS_MAX = 1024,
	KNOWN_CGROUPS_MAX = 16384,
};

/* Sources that a pass fills for every thread. */
static const enum source whole_sources[] = {
	SOURCE_STAT,       SOURCE_SCHEDSTAT, SOURCE_STATUS, SOURCE_SCHED,   SOURCE_AFFINITY, SOURCE_TASKSTATS,
	SOURCE_SCHEDSTATS, SOURCE_IO,        SOURCE_DELAYS, SOURCE_HIWATER, SOURCE_CGROUP};

/* --- opening --- */

/* Threads of the whole host: the last number of the fourth word, "running/all" (proc_loadavg(5)). */
static size_t count_host_threads(struct capture *capture)
{
	struct text rest = roots_read_text(&capture->roots, ROOT_PROC, "loadavg", &capture->text);
	struct text word = {NULL, 0}, running, all;
	uint64_t count = 0;

	for (size_t i = 0; i < 4; i++) {
		if (!text_next_word(&rest, &word))
			return 0;
	}
	if (!text_split(word, '/', &running, &all) || !number_parse_u64(all.data, all.length, &count))
		return 0;
	return count;
}

/* Threads that will be read: those of the chosen processes, by the links of their task directories. */
static size_t count_threads(struct capture *capture)
{
	size_t count = 0;

	if (capture->scope == NULL)
		return count_host_threads(capture);
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

/* What the kernel counts at the start is wanted in most rounds; what it does not, if it is switched on later.
 */
static uint32_t usual_parts(struct capture *capture)
{
	uint32_t parts = 0;

	if (is_switched_on(capture, "sys/kernel/task_delayacct"))
		parts |= TASK_PART_DELAYS;
	if (is_switched_on(capture, "sys/kernel/sched_schedstats"))
		parts |= TASK_PART_STATISTICS;
	return parts;
}

/* Records carry ids of the initial pid namespace, and the ids of this procfs must be those. */
static bool is_readable(const struct roots *roots, struct feature_result *ret_result)
{
	*ret_result = (struct feature_result){
		.state = FEATURE_STATE_OFF,
		.reason = REASON_OTHER_NAMESPACE,
		.detail = "only with the procfs of the initial pid namespace",
	};
	return roots->own_namespace && roots->initial_pid_namespace;
}

void capture_check_passes(const struct roots *roots, struct arena *arena, struct feature_result *ret_result)
{
	if (is_readable(roots, ret_result))
		bpf_tasks_close(bpf_tasks_open(NULL, 0, 0, 0, arena, ret_result));
}

void passes_open(struct capture *capture)
{
	struct task_passes *passes = &capture->passes;

	if (is_readable(&capture->roots, &passes->result))
		passes->tasks = bpf_tasks_open(capture->scope, capture->scope_count, count_threads(capture),
					       usual_parts(capture), &passes->arena, &passes->result);
	/* programs see what ptrace(2) would refuse us */
	passes->sees_others = (feature_capabilities() >> CAP_SYS_PTRACE & 1) != 0;
}

static void forget_cpus(struct task_passes *passes)
{
	for (size_t i = 0; i < passes->cpus_count; i++)
		free(passes->cpus[i].cpus);
	passes->cpus_count = 0;
}

static void forget_cgroups(struct task_passes *passes)
{
	for (size_t i = 0; i < passes->cgroup_count; i++)
		free(passes->cgroups[i].path);
	passes->cgroup_count = 0;
	hash_map_clear(&passes->cgroup_index);
}

/* What was looked up once is forgotten when it has become much: on some hosts cgroups come and go all day. */
static void bound_memory(struct task_passes *passes)
{
	if (passes->cpus_count > KNOWN_CPUS_MAX)
		forget_cpus(passes);
	if (passes->cgroup_count > KNOWN_CGROUPS_MAX)
		forget_cgroups(passes);
}

void passes_close(struct task_passes *passes)
{
	bpf_tasks_close(passes->tasks);
	forget_cpus(passes);
	forget_cgroups(passes);
	free(passes->cpus);
	free(passes->cgroups);
	hash_map_release(&passes->cgroup_index);
	arena_release(&passes->arena);
	*passes = (struct task_passes){0};
}

/* --- numbers --- */

/* What was read of a source is said for all threads at once. */
static void set_source(struct snapshot *snapshot, enum source source, enum reason reason)
{
	free(snapshot->source_reason[source]);
	snapshot->source_reason[source] = NULL;
	snapshot->default_reason[source] = (reason_id)reason;
}

static void set_sources(struct intake *intake)
{
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	enum reason statistics = round->capture->checks.results[FEATURE_SCHEDSTATS].reason;

	for (size_t i = 0; i < sizeof(whole_sources) / sizeof(whole_sources[0]); i++) {
		enum source source = whole_sources[i];

		if (source != SOURCE_IO || intake->with_io)
			set_source(snapshot, source, REASON_READ);
	}
	if (statistics == REASON_READ && intake->pass.statistics == NULL)
		statistics = REASON_NOT_READ;
	set_source(snapshot, SOURCE_SCHEDSTATS, statistics);
	if (intake->pass.delays == NULL && round->capture->checks.task_delayacct == TASK_DELAYACCT_ON)
		set_source(snapshot, SOURCE_DELAYS, REASON_NOT_READ);
}

static bool has_delays(const struct task_parts *parts, bool switched_on)
{
	if ((parts->record->flags & TASK_HAS_DELAYS) == 0)
		return false;
	for (size_t i = 0; i < TASK_DELAY_COUNT && !switched_on; i++) {
		if (parts->delays->of[i].count != 0)
			return true;
	}
	return switched_on;
}

/* What the last snapshot showed of the task. */
static struct task_times shown_times(const struct round *round, size_t row)
{
	const struct snapshot *last = round->capture->previous;
	uint32_t old = round->old_row[row];

	if (old == NO_ROW)
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
	bool kernel = (record->task_flags & FLAG_KERNEL) != 0;

	task_decode(&intake->columns, row, parts, intake->with_io, shown_times(round, row));
	intake_store_policy(intake, row);
	intake_store_cpus(intake, row);
	snapshot->start_time[row] = record->start_boottime / NS_PER_TICK;
	snapshot->uid[row] = record->uid;
	snapshot->thread_flags[row] = (uint8_t)((snapshot->thread_flags[row] &
						 (THREAD_JEMALLOC_MEASURED | THREAD_WAIT_AT_LEAST)) |
						round_measured_flags(checks) | (kernel ? THREAD_KERNEL : 0));
	state->state = task_state_letter(record);
	state->flags |= ROW_IDENTIFIED | ROW_MOVED | ROW_CHANGED;
	round->capture->passes.saw_delays |= (record->flags & TASK_HAS_DELAYS) != 0;
	if (parts->delays != NULL) {
		state->flags &= (uint16_t)~ROW_DELAYED;
		if (has_delays(parts, checks->task_delayacct == TASK_DELAYACCT_ON))
			state->flags |= ROW_DELAYED;
	}
	state->stale |= source_with_flags(SOURCE_OF_ACTIVITY);
}

/* How the last snapshot has the task, if in D or asleep; false where that is not known. */
static bool find_sleep(const struct round *round, size_t row, struct task_sleep *ret_sleep)
{
	const struct capture *capture = round->capture;
	const struct snapshot *last = capture->previous;
	const uint32_t old = round->old_row[row];

	if (old == NO_ROW || last->waiting_ns == NULL || capture->states[old].seen.slept_from == AWAKE)
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
	const struct task_parts parts = task_parts_of(&intake->pass, intake->order[row]);
	uint64_t fingerprint = task_fingerprint(&parts);
	bool changed = intake->all || (state->flags & ROW_NEW) != 0 || state->seen.fingerprint != fingerprint;

	state->seen = (struct thread_seen){
		.task = parts.record->task,
		.fingerprint = fingerprint,
		.slept_from = task_sleeps(parts.record) ? parts.record->exec_start : AWAKE,
		.cgroup = parts.record->cgroup,
		.thread_pointer = intake->with_io ? parts.record->thread_pointer : 0,
	};
	if (changed)
		decode_row(intake, row, &parts);
	store_wait(intake, row, parts.record);
	intake_store_name(intake, process, row, changed);
}

/* All threads of a process carry its name: they change with it. */
static void mark_renamed(struct round *round, const struct process *process)
{
	size_t leader = round_leader_row(round, process);

	if (round->comm[leader] == UNKNOWN_TEXT || round->snapshot->tid[leader] != process->tgid)
		return;
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++)
		round->states[row].flags |= ROW_CHANGED;
}

/* The memory of a process, which its threads share; some may have given it up already. */
static void note_resident(struct intake *intake, struct process *process)
{
	uint64_t pages = 0;
	bool has_memory = false;

	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		const struct task_record *record = intake_record(intake, row);

		if ((record->flags & TASK_HAS_MEMORY) == 0)
			continue;
		has_memory = true;
		if (record->resident > pages)
			pages = record->resident;
	}
	process_note_resident(process, has_memory, pages, intake->pass.begin_ns);
}

static int fill_rows(struct intake *intake)
{
	struct round *round = intake->round;
	struct process_list *list = &round->capture->processes;

	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		size_t end = process->first_row + process->row_count;

		if (round_is_cancelled(round))
			return -ECANCELED;
		if (process->row_count == 0)
			continue;
		if (process->cgroup != NULL &&
		    (round->states[round_leader_row(round, process)].flags & ROW_NEW) != 0)
			process_forget(process); /* the number was used again */
		for (size_t row = process->first_row; row < end; row++)
			fill_row(intake, process, row);
		note_resident(intake, process);
		mark_renamed(round, process);
		intake_store_cgroups(intake, process);
		if (round->heap == HEAP_USE_NEEDED && round->heap_wait_ns != 0)
			heap_look_ahead(round, process, process_list_tasks(list, process));
		process_list_done(process);
	}
	return 0;
}

/* What a pass does not carry, or may not show, is read from procfs, where the kernel decides. */
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
 * Delays and the scheduler's statistics are read where they are wanted; the rest is in every record. While
 * delay accounting is off, delays stand still: they are read once, if any thread has a record of them. The
 * extremes of the waits for a CPU, which come with them, do not stand still.
 */
static uint32_t wanted_parts(const struct round *round)
{
	const struct feature_checks *checks = &round->capture->checks;
	const struct task_passes *passes = &round->capture->passes;
	bool delays_move = checks->task_delayacct == TASK_DELAYACCT_ON || round->full ||
			   (passes->saw_delays && !passes->kept_delays);
	uint32_t parts = 0;

	if (checks->task_delayacct != TASK_DELAYACCT_CONFIG_OFF &&
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

static int take_pass(struct intake *intake)
{
	struct round *round = intake->round;
	struct task_passes *passes = &round->capture->passes;
	uint32_t parts = wanted_parts(round);
	int result;

	bound_memory(passes);
	result = bpf_tasks_read(passes->tasks, parts, round->cancel, &intake->pass);
	passes->failure = result == -ECANCELED ? 0 : result;
	if (result < 0)
		return result;
	round->now_ns = round->snapshot->provenance.boottime_ns = intake->pass.begin_ns;
	intake->with_io = passes->sees_others;
	round->clock_ns = intake->pass.clock_ns;
	intake->stuck_after_ns = stuck_after_ns(round);
	intake->all = round->full || round->previous == NULL || parts != passes->parts;
	passes->parts = parts;
	if ((parts & TASK_PART_DELAYS) != 0)
		passes->kept_delays = round->capture->checks.task_delayacct != TASK_DELAYACCT_ON;
	passes->tells_resident = (intake->pass.kernel & TASK_KERNEL_RESIDENT) != 0;
	intake_make_rows(intake);
	round->listed = round->snapshot->taskstats_summary.ok_count = round->snapshot->thread_count;
	set_sources(intake);
	intake->all |= intake_recheck_cpus(intake);
	intake->columns = task_columns_of(round->snapshot);
	result = fill_rows(intake);
	return result < 0 ? result : read_files(round, files_besides(intake));
}

int round_read_pass(struct round *round)
{
	struct intake intake = {.round = round};
	int result = take_pass(&intake);

	if (result == 0) {
		for (size_t i = 0; i < METRIC_COUNT; i++) {
			if (task_kernel_has(intake.pass.kernel, (enum metric)i))
				metric_set_add(&round->capture->seen, (enum metric)i);
		}
	}
	free(intake.order);
	return result;
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

/* Allocation counters are read when a thread has run; those of the others are as good as new. */
static void confirm_still(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	uint64_t *read_at = snapshot->read_at[SOURCE_JEMALLOC];

	for (size_t row = 0; read_at != NULL && row < snapshot->thread_count; row++) {
		if ((round->states[row].stale & source_bit(SOURCE_JEMALLOC)) == 0)
			read_at[row] = snapshot->provenance.boottime_ns;
	}
}

void round_settle_pass(struct round *round)
{
	explain_metrics(round);
	confirm_still(round);
}

/* Marks the rows for which a source has another reason than before; false when it is another one for all. */
static bool compare_reasons(struct round *round, enum source source)
{
	const struct snapshot *snapshot = round->snapshot, *previous = round->previous;

	if (snapshot->source_reason[source] == NULL && previous->source_reason[source] == NULL)
		return snapshot->default_reason[source] == previous->default_reason[source];
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (round->old_row[row] != NO_ROW &&
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
