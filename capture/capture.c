/* SPDX-License-Identifier: GPL-2.0-only */
/* The capture object: what stays between rounds. */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "capture_private.h"
#include "text_scan.h"

#define DEFAULT_BUDGET_PERCENT 3.0

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
static int open_taskstats(struct capture *capture, struct error *error)
{
	struct taskstats_reply reply;
	int result;

	if (!capture->roots.own_namespace)
		return -EXDEV;
	result = taskstats_open(&capture->taskstats, error);
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

static int open_sources(struct capture *capture, const struct capture_options *options, struct error *error)
{
	int answers;
	int result = roots_open(&capture->roots, options->roots, error);

	if (result < 0)
		return result;
	capture->synthetic = !capture->roots.is_procfs;
	capture->initial_pid_namespace = is_initial_pid_namespace(&capture->roots);
	if (options->saved_taskstats != NULL) {
		result = taskstats_open_saved(options->saved_taskstats, &capture->taskstats, error);
		if (result < 0)
			return result;
		answers = 0;
	} else {
		answers = open_taskstats(capture, NULL);
	}
	capture->taskstats_reason = (reason_id)(answers < 0 ? refusal_reason(answers) : REASON_READ);
	feature_check_all(&capture->checks, &capture->roots, answers);
	capture->counters_in_taskstats = capture->taskstats != NULL &&
					 capture->checks.task_delayacct != TASK_DELAYACCT_CONFIG_OFF;
	if (capture->checks.task_delayacct == TASK_DELAYACCT_RUNTIME_OFF)
		capture->delays_off_ns = clock_boottime_ns();
	capture_choose_sources(capture);
	return 0;
}

int capture_open(const struct capture_options *options, struct capture **ret_capture, struct error *error)
{
	struct capture *capture = memory_allocate_zero(1, sizeof(*capture));
	int result;

	process_list_initialize(&capture->processes);
	capture->budget_percent = options->budget_percent > 0 ? options->budget_percent
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

const struct feature_result *capture_features(const struct capture *capture)
{
	return capture->checks.results;
}
