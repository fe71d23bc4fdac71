/* SPDX-License-Identifier: GPL-2.0-only */
/* The capture object: what stays between rounds. */
#include "capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "round.h"
#include "capture/procfs/text_scan.h"
#include "capture/procfs/thread_file.h"

#define DEFAULT_BUDGET_PERCENT 3.0

enum {
	DESCRIPTORS_WANTED = 8192,
	DESCRIPTORS_NEEDED = 32,
	NOHZ_FULL_LAG_NS = 1100 * NS_PER_MS, /* sched_tick_remote() of kernel/sched/core.c: each second */
};

/* PROC_PID_INIT_INO of include/linux/proc_ns.h: only there do host-wide counts speak of the threads we see.
 */
static bool is_initial_pid_namespace(const struct roots *roots)
{
	static const char initial[] = "pid:[4026531836]";
	char target[64];
	ssize_t length = readlinkat(roots->descriptor[ROOT_PROC], "self/ns/pid", target, sizeof(target));

	return roots->own_namespace && length == (ssize_t)strlen(initial) &&
	       memcmp(target, initial, strlen(initial)) == 0;
}

static enum reason refusal_reason(int result)
{
	switch (result) {
	case -EXDEV:
		return REASON_OTHER_NAMESPACE;
	case -ENOENT:
		return REASON_NOT_IN_KERNEL;
	case -EPERM:
		return REASON_NOT_PERMITTED;
	default:
		return REASON_UNREADABLE;
	}
}

/* Connects where thread ids are ours and replies come; returns what feature_check_all() is to know. */
static int open_taskstats(struct capture *capture)
{
	struct taskstats_reply reply;
	int result;

	if (!capture->roots.own_namespace)
		return -EXDEV;
	result = taskstats_open(&capture->taskstats, NULL);
	if (result == 0)
		result = taskstats_query_one(capture->taskstats, (uint32_t)gettid(), &reply);
	if (result == 0)
		capture->layout = *reply.layout;
	if (result < 0) {
		taskstats_close(capture->taskstats);
		capture->taskstats = NULL;
	}
	return result;
}

static void check_features(struct capture *capture, int answers)
{
	capture->taskstats_reason = (reason_id)(answers < 0 ? refusal_reason(answers) : REASON_READ);
	feature_check_all(&capture->checks, &capture->roots, answers);
	capture->counters_in_taskstats = capture->taskstats != NULL &&
					 capture->checks.task_delayacct != TASK_DELAYACCT_CONFIG_OFF;
	if (capture->checks.task_delayacct == TASK_DELAYACCT_RUNTIME_OFF)
		capture->delays_off_ns = clock_ns(CLOCK_BOOTTIME);
	capture_choose_sources(capture);
}

void capture_retry_taskstats(struct capture *capture)
{
	if (capture->taskstats == NULL && capture->taskstats_reason == REASON_NOT_PERMITTED &&
	    capture->roots.redirected)
		check_features(capture, open_taskstats(capture));
}

/* The tick brings the run time of a running thread up to date; CPUs without one get it once a second. */
static uint64_t find_run_time_lag(struct capture *capture)
{
	const char *path = "devices/system/cpu/nohz_full";

	if (roots_read(&capture->roots, ROOT_SYS, path, &capture->text) < 0 || capture->text.length == 0)
		return 0;
	return capture->text.data[0] >= '0' && capture->text.data[0] <= '9' ? NOHZ_FULL_LAG_NS : 0;
}

/* A root that is no procfs must at least look like a copy of one: it has the directory of a process. */
static bool has_processes(int proc)
{
	int copy = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;
	bool found = false;

	while (directory != NULL && !found && (entry = readdir(directory)) != NULL)
		found = strspn(entry->d_name, "0123456789") == strlen(entry->d_name);
	if (directory != NULL)
		closedir(directory);
	else if (copy >= 0)
		close(copy);
	return found;
}

/* Tgid of status, 0 when that cannot be read. */
static uint32_t find_process(struct capture *capture, uint32_t id)
{
	char path[THREAD_PATH_SIZE];
	struct text rest, line, key, value;
	uint32_t tgid = 0;

	if (roots_read(&capture->roots, ROOT_PROC, thread_file_path(path, id, "status"), &capture->text) < 0)
		return 0;
	rest = (struct text){capture->text.data, capture->text.length};
	while (text_next_line(&rest, &line)) {
		if (!text_split(line, ':', &key, &value) || !text_equals(key, "Tgid"))
			continue;
		value = text_trim(value);
		return number_parse_u32(value.data, value.length, &tgid) ? tgid : 0;
	}
	return 0;
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

static int open_sources(struct capture *capture, const struct capture_options *options, struct error *error)
{
	int result = roots_open(&capture->roots, options->roots, error);

	if (result < 0)
		return result;
	capture->synthetic = !capture->roots.is_procfs;
	if (capture->synthetic && !has_processes(capture->roots.descriptor[ROOT_PROC]))
		return error_set(error, -EINVAL,
				 "%s holds no processes; name a procfs or a saved copy of one",
				 capture->roots.path[ROOT_PROC]);
	result = check_scope(capture, error);
	if (result < 0)
		return result;
	capture->initial_pid_namespace = is_initial_pid_namespace(&capture->roots);
	capture->run_time_lag_ns = find_run_time_lag(capture);
	if (options->saved_taskstats != NULL) {
		result = taskstats_open_saved(options->saved_taskstats, &capture->taskstats, error);
		if (result < 0)
			return result;
	} else {
		result = open_taskstats(capture);
	}
	check_features(capture, result);
	heap_open(capture, options);
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

int capture_open(const struct capture_options *options, struct capture **ret_capture, struct error *error)
{
	struct capture *capture;
	int result = raise_descriptor_limit(error);

	if (result < 0)
		return result;
	capture = memory_allocate_zero(1, sizeof(*capture));
	process_list_initialize(&capture->processes);
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
	heap_close(&capture->heap);
	taskstats_close(capture->taskstats);
	feature_release(&capture->checks);
	roots_close(&capture->roots);
	snapshot_release(capture->previous);
	free(capture->states);
	free(capture->scope);
	free(capture->affinity);
	free(capture->last_mask);
	buffer_release(&capture->text);
	free(capture);
}
