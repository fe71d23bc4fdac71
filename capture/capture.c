/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/bpf/bpf_futex.h"
#include "capture/host/host.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/text_scan.h"
#include "capture/procfs/thread_file.h"
#include "latency_watch.h"
#include "probe/probe.h"
#include "round_internal.h"

#define DEFAULT_BUDGET_PERCENT 3.0

enum {
	DESCRIPTORS_WANTED = 8192,
	DESCRIPTORS_NEEDED = 32,
	FIRST_ROUND_BUDGET_NS = 250 * NS_PER_MS, /* before the first interval */
	EXPENSIVE_BUDGET_LEAST_NS = 5 * NS_PER_MS,
	LONGEST_PAUSE_S = 60,                /* that counts in budgets */
	NOHZ_FULL_LAG_NS = 1100 * NS_PER_MS, /* sched_tick_remote() of kernel/sched/core.c: each second */
};

/* Connects where thread ids are ours and replies come; returns what feature_check_all() is to know. */
static int open_taskstats(struct capture *capture)
{
	return capture->roots.own_namespace ? taskstats_open(&capture->taskstats, NULL) : -EXDEV;
}

static void check_features(struct capture *capture, int answers)
{
	/* -ENOENT: the kernel has no taskstats family */
	capture->taskstats_reason = (reason_id)(answers == -ENOENT ? REASON_NOT_IN_KERNEL
								   : reason_of_errno(answers));
	feature_check_all(&capture->checks, &capture->roots, answers, &capture->passes.result);
	capture->checks.results[FEATURE_LATENCY] = capture->latency_result;
	capture->checks.results[FEATURE_EXITS] = capture->ended_result;
	capture->counters_in_taskstats = capture->taskstats != NULL && feature_knows_delays(&capture->checks);
	if (capture->checks.task_delayacct == TASK_DELAYACCT_RUNTIME_OFF)
		capture->delays_off_ns = clock_ns(CLOCK_BOOTTIME);
	capture_choose_sources(capture);
}

/* The tick brings the run time of a running thread up to date; CPUs without one get it once a second. */
static uint64_t find_run_time_lag(struct capture *capture)
{
	struct text cpus = roots_read_text(&capture->roots, ROOT_SYS, "devices/system/cpu/nohz_full",
					   &capture->text);

	return cpus.length != 0 && cpus.data[0] >= '0' && cpus.data[0] <= '9' ? NOHZ_FULL_LAG_NS : 0;
}

/* A root that is no procfs must at least look like a copy of one: it has the directory of a process. */
static bool has_processes(int proc)
{
	DIR *directory = file_open_directory(proc, ".");
	struct dirent *entry;
	bool found = false;

	while (directory != NULL && !found && (entry = readdir(directory)) != NULL)
		found = strspn(entry->d_name, "0123456789") == strlen(entry->d_name);
	if (directory != NULL)
		closedir(directory);
	return found;
}

/* Tgid of status, 0 when that cannot be read. */
static uint32_t find_process(struct capture *capture, uint32_t id)
{
	const int proc = capture->roots.descriptor[ROOT_PROC];
	struct text value;
	uint32_t tgid;

	if (thread_file_read_source(proc, id, SOURCE_STATUS, &capture->text) != REASON_READ ||
	    !text_find_value(text_of(&capture->text), "Tgid", &value) ||
	    !number_parse_u32(value.data, value.length, &tgid))
		return 0;
	return tgid;
}

/* procfs shows a process under the number of each of its threads, but lists it under its own only. */
static int check_scope(struct capture *capture, struct error *error)
{
	for (size_t i = 0; i < capture->scope_count; i++) {
		uint32_t id = capture->scope[i], tgid = find_process(capture, id);

		if (tgid != 0 && tgid != id)
			return error_set(error, -EINVAL,
					 "%" PRIu32 " is a thread of process %" PRIu32 "; name that", id,
					 tgid);
	}
	return 0;
}

static void *open_ended(void *argument)
{
	struct capture *capture = argument;

	/* only rounds tell what threads did that ended, and each that ends costs while it is watched */
	if (capture->once)
		capture->ended_result = (struct feature_result){.state = FEATURE_STATE_UNKNOWN};
	else
		capture->ended = ended_watch_open(&capture->roots, capture->scope, capture->scope_count,
						  &capture->arena, &capture->ended_result);
	return NULL;
}

/* Loads what passes take and what watches threads end, beside each other: each takes long. */
static void open_programs(struct capture *capture, bool with_passes)
{
	pthread_t thread;
	bool beside = with_passes && pthread_create(&thread, NULL, open_ended, capture) == 0;

	if (with_passes)
		passes_open(capture);
	else
		capture->passes.result = capture->ended_result = feature_off(
			REASON_SWITCHED_OFF, "switched off with --backend procfs", NULL);
	if (beside)
		pthread_join(thread, NULL);
	else
		open_ended(capture);
}

/* Reads threads from procfs from now on, and ended threads without BPF. */
static void stop_passes(struct capture *capture, struct feature_result why)
{
	passes_close(&capture->passes);
	capture->passes.result = why;
	ended_watch_close(capture->ended);
	capture->ended = NULL;
	capture->ended_result = why;
	open_ended(capture);
}

/* Falls back to procfs if the kernel hides a process of the scope from BPF. */
static void leave_hidden(struct capture *capture)
{
	const uint32_t hidden = passes_find_hidden(capture);

	if (hidden != 0)
		stop_passes(capture,
			    feature_off(REASON_UNREADABLE,
					arena_format(&capture->arena,
						     "BPF does not show process %" PRIu32 ", but procfs does",
						     hidden),
					NULL));
}

/* Opens what threads are read from; passes carry all that taskstats would. */
static int open_backend(struct capture *capture, const struct capture_options *options, struct error *error)
{
	struct task_passes *passes = &capture->passes;
	int result;

	open_programs(capture, options->backend != CAPTURE_BACKEND_PROCFS);
	leave_hidden(capture);
	passes->required = options->backend == CAPTURE_BACKEND_BPF;
	if (passes->tasks != NULL) {
		check_features(capture, 0);
		return 0;
	}
	if (passes->required)
		return error_set(error, -ENOTSUP, "threads cannot be read by BPF: %s%s%s",
				 passes->result.detail, passes->result.remedy != NULL ? "; " : "",
				 passes->result.remedy != NULL ? passes->result.remedy : "");
	if (options->saved_taskstats != NULL) {
		result = taskstats_open_saved(options->saved_taskstats, &capture->taskstats, error);
		if (result < 0)
			return result;
	} else {
		result = open_taskstats(capture);
	}
	check_features(capture, result);
	return 0;
}

static int open_sources(struct capture *capture, const struct capture_options *options, struct error *error)
{
	int result = roots_open(&capture->roots, options->roots, error);

	if (result < 0)
		return result;
	process_list_initialize(&capture->processes, capture->roots.descriptor[ROOT_PROC]);
	if (!capture->roots.is_procfs && !has_processes(capture->roots.descriptor[ROOT_PROC]))
		return error_set(error, -EINVAL,
				 "%s holds no processes; name a procfs or a saved copy of one",
				 capture->roots.path[ROOT_PROC]);
	result = check_scope(capture, error);
	if (result < 0)
		return result;
	capture->run_time_lag_ns = find_run_time_lag(capture);
	capture->scx = scx_watch_open(&capture->roots, &options->fields, options->scheduler_rights);
	capture->latency_is_to_load = options->latency;
	capture->once = options->once;
	capture->full_is_round = options->full_is_round;
	if (!options->latency_later)
		capture_load_latency(capture);
	if (options->futexes)
		futexes_open(capture);
	result = open_backend(capture, options, error);
	if (result < 0)
		return result;
	capture->heap.allow_stop = options->allow_stop;
	capture->heap.patience_ns = options->heap_patience_ns;
	capture->heap.hurry = options->hurry;
	capture->progress = options->progress;
	capture->reader = capture->roots.is_procfs ? options->reader : NULL;
	heap_open(capture, options->heap);
	return 0;
}

/*
 * Task directories stay open between rounds; the default limit is made for programs that use select(2). Below
 * the minimum processes would be missing without a word.
 */
static int raise_descriptor_limit(struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_WANTED)
		return 0;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED ? limit.rlim_max : DESCRIPTORS_WANTED;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < DESCRIPTORS_NEEDED)
		return error_set(
			error, -EMFILE,
			"only %ju open files are allowed and ctop needs %d; raise the limit (ulimit -n)",
			(uintmax_t)limit.rlim_cur, DESCRIPTORS_NEEDED);
	return 0;
}

void capture_check(const struct roots *roots, struct arena *arena, struct feature_checks *ret_checks)
{
	struct taskstats_connection *taskstats = NULL;
	struct feature_result passes;

	passes_check(roots, arena, &passes);
	feature_check_all(ret_checks, roots, roots->own_namespace ? taskstats_open(&taskstats, NULL) : -EXDEV,
			  &passes);
	taskstats_close(taskstats);
	latency_watch_close(latency_watch_open(roots, NULL, 0, arena, &ret_checks->results[FEATURE_LATENCY]));
	scx_watch_check(roots, arena, &ret_checks->results[FEATURE_TASK_FIELDS]);
	ended_watch_close(ended_watch_open(roots, NULL, 0, arena, &ret_checks->results[FEATURE_EXITS]));
}

struct snapshot *capture_read_host(const char *const paths[static ROOT_COUNT])
{
	struct snapshot *snapshot;
	struct roots roots;

	if (roots_open(&roots, paths, NULL) < 0)
		return NULL;
	snapshot = snapshot_create();
	snapshot->captured_at_unix_ns = clock_ns(CLOCK_REALTIME);
	snapshot->provenance.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	host_read_provenance(&roots, snapshot);
	host_read_ticks(&roots, snapshot);
	host_read_load(&roots, snapshot);
	pressure_read(&roots, REASON_READ, snapshot);
	snapshot_finish(snapshot);
	roots_close(&roots);
	return snapshot;
}

int capture_open(const struct capture_options *options, struct capture **ret_capture, struct error *error)
{
	struct capture *capture;
	int result = raise_descriptor_limit(error);

	if (result < 0)
		return result;
	capture = memory_allocate_zero(1, sizeof(*capture));
	capture->own_tgid = (uint32_t)getpid();
	capture->budget_percent = options->budget_percent != 0 ? options->budget_percent
							       : DEFAULT_BUDGET_PERCENT;
	if (options->scope_count != 0) {
		capture->scope = memory_allocate_zero(options->scope_count, sizeof(*capture->scope));
		memcpy(capture->scope, options->scope, options->scope_count * sizeof(*capture->scope));
		capture->scope_count = options->scope_count;
	}
	result = open_sources(capture, options, error);
	if (result < 0) {
		capture_close(capture);
		return result;
	}
	*ret_capture = capture;
	return 0;
}

void capture_close(struct capture *capture)
{
	if (capture == NULL)
		return;
	process_list_release(&capture->processes);
	ended_watch_close(capture->ended);
	heap_close(&capture->heap);
	latency_watch_close(capture->latency);
	bpf_futex_close(capture->futex);
	scx_watch_close(capture->scx);
	arena_release(&capture->arena);
	taskstats_close(capture->taskstats);
	passes_close(&capture->passes);
	feature_release(&capture->checks);
	roots_close(&capture->roots);
	snapshot_release(capture->previous);
	snapshot_release(capture->host);
	free(capture->states);
	free(capture->scope);
	free(capture->affinity);
	free(capture->last_mask);
	buffer_release(&capture->text);
	free(capture);
}

/*
 * Asks taskstats again where it was refused when the capture was opened: a root that the user names is opened
 * without the capabilities that reading has.
 */
static void retry_taskstats(struct capture *capture)
{
	if (capture->taskstats == NULL && capture->taskstats_reason == REASON_NOT_PERMITTED &&
	    capture->roots.redirected)
		check_features(capture, open_taskstats(capture));
}

/* The sources to open for what is wanted: an equal one that is read anyway is as good. */
static source_set readable(const struct capture *capture, source_set wanted)
{
	/* stat has the name that comm has */
	source_set result = (wanted & source_bit(SOURCE_COMM)) != 0 ? source_bit(SOURCE_STAT) : 0;

	/* states alone tell of threads that run; a pass has it all */
	if ((wanted & source_bit(SOURCE_WAIT)) != 0 && capture->passes.tasks == NULL)
		result |= source_bit(SOURCE_WAIT) | source_bit(SOURCE_STAT);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source read = capture->metric_source[i];

		if ((wanted & source_bit(metrics[i].source)) == 0)
			continue;
		read = source_whole(read);
		if ((sources[read].flags & SOURCE_PER_THREAD) != 0)
			result |= source_bit(read);
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
	for (size_t i = 0; i < SOURCE_COUNT && capture->taskstats == NULL && capture->passes.tasks == NULL;
	     i++) {
		if (source_is_of((enum source)i, SOURCE_TASKSTATS))
			reason[i] = capture->taskstats_reason;
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

/* The snapshot becomes the one that the next round starts from. */
static void keep(struct round *round)
{
	struct capture *capture = round->capture;

	if (round->previous != NULL) {
		round->snapshot->carried_serial = round->previous->serial;
		round->snapshot->carried_row = round->old_row;
		round->old_row = NULL;
	}
	snapshot_release(capture->previous);
	free(capture->states);
	capture->previous = snapshot_reference(round->snapshot);
	capture->states = round->states;
	capture->rows_are_current = capture->roots.own_namespace && capture->counters_in_taskstats &&
				    capture->passes.tasks == NULL;
	capture->last_started_ns = round->snapshot->provenance.boottime_ns;
	capture->last_clock_ns = round->clock_ns;
	capture->passes.is_current = capture->passes.tasks != NULL;
}

static void begin(struct round *round)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = snapshot_create();

	round->snapshot = snapshot;
	round->cpu_start_ns = capture_cpu_ns(capture);
	if (capture->round++ == 0)
		retry_taskstats(capture);
	snapshot->captured_at_unix_ns = clock_ns(CLOCK_REALTIME);
	snapshot->provenance.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	ended_watch_begin(capture->ended);
	recheck_switches(round);
	set_default_reasons(round);
	round->previous = round->full ? NULL : capture->previous;
	snapshot_begin_names(snapshot, round->previous);
	intern_policies(snapshot);
	heap_choose_use(round);
	round->rotated = source_with_flags(SOURCE_PER_THREAD) & ~source_with_flags(SOURCE_OF_ACTIVITY);
	round->shown = round->needed;
	round->asked = round->needed | round->extra;
	round->needed = readable(capture, round->needed);
	round->extra = readable(capture, round->extra) & ~round->needed;
}

static int run(struct round *round)
{
	bool by_pass = round->capture->passes.tasks != NULL;
	int result = by_pass ? round_read_pass(round) : round_read_threads(round);

	if (result < 0)
		return result;
	round_name_threads(round);
	if (round->capture->latency != NULL)
		latency_watch_read(round->capture->latency, round->full && !round->capture->full_is_round,
				   round->snapshot);
	futexes_read(round);
	scx_watch_read(round->capture->scx, round->task_fields, round->cancel, round->snapshot,
		       &round->capture->checks.results[FEATURE_TASK_FIELDS]);
	round_finish(round);
	if (by_pass)
		round_list_moved(round);
	scx_watch_list_moved(round->snapshot, round->previous, round->old_row);
	ended_watch_read(round);
	return round_is_cancelled(round) ? -ECANCELED : 0;
}

/* Without passes and taskstats every thread's name comes from stat: an exec changes it. */
static void need_names(struct round *round)
{
	if (round->capture->taskstats == NULL && round->capture->passes.tasks == NULL)
		round->needed |= source_bit(SOURCE_STAT);
}

/* One try; what it has made is freed unless it was taken over. */
static int try_to_take(struct round *round)
{
	int result;

	begin(round);
	result = run(round);
	if (result == 0) {
		keep(round);
	} else {
		/* rows of the processes, and delays kept, may be those of the snapshot that was given up */
		round->capture->rows_are_current = false;
		round->capture->passes.kept_delays = false;
		snapshot_release(round->snapshot);
		free(round->states);
	}
	free(round->old_row);
	free(round->comm);
	free(round->cgroup);
	hash_map_release(&round->cgroup_types);
	hash_map_release(&round->frozen);
	return result;
}

/* Tries again after what had to be waited for. */
static int try_until_settled(struct round *round)
{
	const struct round wanted = *round;
	int result;

	while ((result = try_to_take(round)) == -ERESTART)
		*round = wanted;
	return result;
}

/* Measuring waits would go on, but without giving room back and not knowing what it costs. */
static void give_up_latency(struct capture *capture)
{
	if (capture->latency == NULL && !capture->latency_is_to_load)
		return;
	latency_watch_close(capture->latency);
	capture->latency = NULL;
	capture->latency_is_to_load = false;
	capture->latency_result = feature_off(REASON_NOT_PERMITTED, "bpf(2) is refused since this began",
					      NULL);
}

/* From here on threads are read from procfs; what the last snapshot's rows are known by is another thing
 * there. */
static void give_up_passes(struct capture *capture)
{
	const int failure = capture->passes.failure;

	stop_passes(capture, feature_off(reason_of_errno(failure),
					 arena_format(&capture->arena,
						      "a pass failed: %s; threads are read from procfs "
						      "since then",
						      strerror(-failure)),
					 NULL));
	capture->notice = arena_format(&capture->arena,
				       "threads are read from procfs now; reading them by BPF failed: %s",
				       strerror(-failure));
	if (failure == -EPERM)
		give_up_latency(capture);
	process_list_release(&capture->processes);
	process_list_initialize(&capture->processes, capture->roots.descriptor[ROOT_PROC]);
	snapshot_release(capture->previous);
	capture->previous = NULL;
	free(capture->states);
	capture->states = NULL;
	check_features(capture, open_taskstats(capture));
}

static void explain_failure(const struct capture *capture, int result, struct error *error)
{
	if (result == -ECANCELED)
		error_set(error, result, "the capture was cancelled");
	else if (capture->passes.failure != 0)
		error_set(error, result, "cannot read threads by BPF: %s", strerror(-result));
	else
		error_set(error, result, "cannot list %s: %s", capture->roots.path[ROOT_PROC],
			  strerror(-result));
}

/*
 * A pass that worked may fail later, for want of memory, or because bpf(2) refuses what it allowed: before
 * Linux 5.19 all of it after CAP_BPF was dropped, where kernel.unprivileged_bpf_disabled is set.
 */
static int take(struct round *round, struct snapshot **ret_snapshot, struct error *error)
{
	const struct round wanted = *round;
	struct capture *capture = round->capture;
	int result = try_until_settled(round);

	if (result < 0 && capture->passes.failure != 0 && !capture->passes.required) {
		give_up_passes(capture);
		*round = wanted;
		need_names(round);
		result = try_until_settled(round);
	}
	if (result == 0)
		*ret_snapshot = round->snapshot;
	else
		explain_failure(capture, result, error);
	return result;
}

const char *capture_take_notice(struct capture *capture)
{
	const char *notice = capture->notice;

	capture->notice = NULL;
	return notice;
}

/* When a time from now on ends, CLOCK_MONOTONIC; 0 for none. */
static uint64_t end_of(uint64_t patience_ns)
{
	return patience_ns != 0 ? clock_ns(CLOCK_MONOTONIC) + patience_ns : 0;
}

int capture_full(struct capture *capture, uint64_t expensive_budget_ns, const atomic_bool *cancel,
		 struct snapshot **ret_snapshot, struct error *error)
{
	struct round round = {.capture = capture,
			      .cancel = cancel,
			      .full = true,
			      .needed = (source_set)~0U,
			      .smaps = true,
			      .task_fields = true,
			      .cgroup_records = true,
			      .heap_until_ns = end_of(capture->heap.patience_ns),
			      .expensive_budget_ns = expensive_budget_ns};

	return take(&round, ret_snapshot, error);
}

int capture_round(struct capture *capture, const struct capture_round_options *options,
		  const atomic_bool *cancel, struct snapshot **ret_snapshot, struct error *error)
{
	struct round round = {.capture = capture,
			      .cancel = cancel,
			      .needed = options->needed,
			      .smaps = options->smaps,
			      .task_fields = options->task_fields ||
					     (!options->only_needed && capture->previous == NULL),
			      .cgroup_records = options->cgroup_records,
			      .limits_of = options->limits_of,
			      .heap_until_ns = end_of(options->heap_patience_ns),
			      .budget_ns = FIRST_ROUND_BUDGET_NS};

	if (!options->only_needed)
		round.extra = (source_set)~0U;
	if (!options->only_needed)
		round.needed |= source_bit(SOURCE_STAT);
	need_names(&round);
	if (capture->budget_percent < 0) {
		round.extra = 0;
		round.budget_ns = 0;
	} else if (capture->previous != NULL) {
		uint64_t interval = clock_ns(CLOCK_BOOTTIME) - capture->last_started_ns;

		const uint64_t usual = capture->last_interval_ns > LONGEST_PAUSE_S * NS_PER_S
					       ? capture->last_interval_ns
					       : LONGEST_PAUSE_S * NS_PER_S;

		/* after a pause, or when the host was suspended, it is not hours that count */
		capture->last_interval_ns = interval;
		if (interval > usual)
			interval = usual;
		round.budget_ns = (uint64_t)((double)interval * capture->budget_percent / 100.0);
	}
	round.expensive_budget_ns = round.budget_ns > EXPENSIVE_BUDGET_LEAST_NS ? round.budget_ns
										: EXPENSIVE_BUDGET_LEAST_NS;
	return take(&round, ret_snapshot, error);
}

void capture_load_latency(struct capture *capture)
{
	if (!capture->latency_is_to_load)
		return;
	capture->latency_is_to_load = false;
	capture->latency = latency_watch_open(&capture->roots, capture->scope, capture->scope_count,
					      &capture->arena, &capture->latency_result);
	capture->checks.results[FEATURE_LATENCY] = capture->latency_result;
}

int capture_switch_latency(struct capture *capture, bool on)
{
	if (capture->latency == NULL)
		return on ? -ENOTSUP : 0;
	return latency_watch_switch(capture->latency, on);
}

const char *capture_latency_refusal(struct capture *capture)
{
	const struct feature_result *result = &capture->latency_result;

	if (result->detail == NULL)
		return "the kernel does not allow it";
	return result->remedy != NULL
		       ? arena_format(&capture->arena, "%s; %s", result->detail, result->remedy)
		       : result->detail;
}

void capture_return_latency(struct capture *capture, const struct snapshot *snapshot)
{
	if (capture->latency != NULL)
		latency_watch_return(capture->latency, snapshot);
}

void capture_switch_heap(struct capture *capture, bool on)
{
	capture->heap.off = !on;
}

uint64_t capture_serve_ended(struct capture *capture)
{
	const uint64_t scheduler = scx_watch_serve(capture->scx);
	const uint64_t threads = ended_watch_serve(capture);

	return scheduler < threads ? scheduler : threads;
}

size_t capture_serve_heap(struct capture *capture, uint64_t deadline_ns)
{
	return capture->heap.probe != NULL && !capture->heap.off
		       ? probe_serve(capture->heap.probe, deadline_ns)
		       : 0;
}
