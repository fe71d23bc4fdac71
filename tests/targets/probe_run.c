/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe_run.h"

#include <stdio.h>
#include <string.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"

const char *target_path(const char *name)
{
	static char lines[8][4096];
	static unsigned int next;
	char command[4096], *line = lines[next++ % 8], *end;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "'%s' %s", TARGETS_BUILD, name);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	if (fgets(line, sizeof(lines[0]), pipe) == NULL)
		line[0] = '\0';
	status = pclose(pipe);
	if (status != 0)
		fail_msg("%s ended with status %d", command, status);
	end = strchr(line, '\n');
	if (end != NULL)
		*end = '\0';
	assert_true(strlen(line) > strlen(name) + 1);
	line += strlen(name) + 1;
	if (strncmp(line, "- ", 2) == 0)
		skip_test("%s", line + 2);
	return line;
}

void target_start_named(struct target *target, const char *name, const char *mode, const char *threads)
{
	target_start(target, NULL, (const char *[]){target_path(name), mode, threads, NULL});
}

static yajl_val probe_once(int pid, const char *option, const struct run_options *options, int status)
{
	char number[16], message[256];
	struct run run;
	yajl_val tree;

	snprintf(number, sizeof(number), "%d", pid);
	run_ctop(&run, options, (const char *[]){"probe", "--json", "--pid", number, option, NULL});
	run_expect(&run, status);
	tree = yajl_tree_parse(run.output, message, sizeof(message));
	if (tree == NULL)
		fail_msg("not JSON: %s: %s", message, run.output);
	run_release(&run);
	return tree;
}

/* Whether a thread did not stop in the time that it is given. */
static bool has_late_thread(yajl_val tree)
{
	yajl_val threads = probe_threads(tree, 0);

	for (size_t i = 0; i < threads->u.array.len; i++) {
		yajl_val thread = threads->u.array.values[i];

		if (json_member(thread, "error_kind") != NULL &&
		    strcmp(json_text(thread, "error_kind"), "waitpid") == 0)
			return true;
	}
	return false;
}

yajl_val probe_process(int pid, const char *option, const struct run_options *options, int status)
{
	yajl_val tree = NULL;

	/* a thread may be late because it gets no CPU; one that never stops is late in the last tree, too */
	wait_until((yajl_tree_free(tree), tree = probe_once(pid, option, options, status),
		    !has_late_thread(tree)));
	return tree;
}

yajl_val probe_threads(yajl_val tree, size_t index)
{
	yajl_val snapshots = json_member(tree, "snapshots"), threads;

	assert_true(YAJL_IS_ARRAY(snapshots) && index < snapshots->u.array.len);
	threads = json_member(snapshots->u.array.values[index], "threads");
	assert_true(YAJL_IS_ARRAY(threads));
	return threads;
}

yajl_val probe_thread(yajl_val threads, uint32_t tid)
{
	for (size_t i = 0; i < threads->u.array.len; i++) {
		if (json_u64(threads->u.array.values[i], "tid") == tid)
			return threads->u.array.values[i];
	}
	return NULL;
}

void expect_own_counts(yajl_val threads, const struct target *target)
{
	assert_int_equal(threads->u.array.len, target->count);
	for (size_t i = 0; i < target->count; i++) {
		const struct target_thread *own = &target->threads[i];
		/* both are sorted in the common case: search from the same place */
		yajl_val thread = threads->u.array.values[i];

		if (json_u64(thread, "tid") != own->tid)
			thread = probe_thread(threads, own->tid);
		assert_non_null(thread);
		if (json_member(thread, "error") != NULL)
			fail_msg("%u: %s: %s", own->tid, json_text(thread, "error_kind"),
				 json_text(thread, "error"));
		assert_int_equal(json_u64(thread, "allocated_bytes"), own->allocated);
		assert_int_equal(json_u64(thread, "deallocated_bytes"), own->deallocated);
	}
}

void expect_error_kind(yajl_val thread, const char *kind)
{
	assert_non_null(thread);
	assert_string_equal(json_text(thread, "error_kind"), kind);
	assert_null(json_member(thread, "allocated_bytes"));
	assert_null(json_member(thread, "deallocated_bytes"));
}
