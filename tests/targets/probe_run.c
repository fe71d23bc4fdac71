/* SPDX-License-Identifier: GPL-2.0-only */
#include "target_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"

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
		skip_test(line + 2);
	return line;
}

static void read_report(struct target *target)
{
	char line[128];

	target->count = 0;
	while (fgets(line, sizeof(line), target->answers) != NULL) {
		struct target_thread *thread;

		if (strcmp(line, "ready\n") == 0)
			return;
		if (target->count % 64 == 0) {
			target->threads = realloc(target->threads, (target->count + 64) * sizeof(*thread));
			assert_non_null(target->threads);
		}
		thread = &target->threads[target->count++];
		assert_int_equal(sscanf(line, "%d %" SCNu64 " %" SCNu64, &thread->tid, &thread->allocated,
					&thread->deallocated),
				 3);
	}
	fail_msg("the target ended after %zu lines", target->count);
}

void target_start(struct target *target, const char *environment, const char *const *arguments)
{
	int commands[2], answers[2];

	memset(target, 0, sizeof(*target));
	assert_int_equal(pipe2(commands, O_CLOEXEC), 0);
	assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
	target->child = fork();
	assert_true(target->child >= 0);
	if (target->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(commands[0], STDIN_FILENO);
		dup2(answers[1], STDOUT_FILENO);
		if (environment == NULL || putenv(strdup(environment)) == 0)
			execvp(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	close(commands[0]);
	close(answers[1]);
	target->commands = fdopen(commands[1], "w");
	target->answers = fdopen(answers[0], "r");
	assert_non_null(target->commands);
	assert_non_null(target->answers);
	read_report(target);
}

void target_start_named(struct target *target, const char *name, const char *mode, const char *threads)
{
	target_start(target, NULL, (const char *[]){target_path(name), mode, threads, NULL});
}

void target_command(struct target *target, const char *line)
{
	assert_true(fputs(line, target->commands) >= 0);
	assert_int_equal(fflush(target->commands), 0);
	read_report(target);
}

int64_t target_gap(struct target *target)
{
	char line[64];
	int64_t gap;

	assert_true(fputs("gap\n", target->commands) >= 0);
	assert_int_equal(fflush(target->commands), 0);
	assert_non_null(fgets(line, sizeof(line), target->answers));
	assert_int_equal(sscanf(line, "gap %" SCNd64, &gap), 1);
	return gap;
}

void target_end(struct target *target)
{
	fclose(target->commands);
	fclose(target->answers);
	waitpid(target->child, NULL, 0);
	free(target->threads);
	memset(target, 0, sizeof(*target));
}

yajl_val probe_process(int pid, const char *option, const struct run_options *options, int status)
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

yajl_val probe_threads(yajl_val tree, size_t index)
{
	yajl_val snapshots = json_member(tree, "snapshots"), threads;

	assert_true(YAJL_IS_ARRAY(snapshots) && index < snapshots->u.array.len);
	threads = json_member(snapshots->u.array.values[index], "threads");
	assert_true(YAJL_IS_ARRAY(threads));
	return threads;
}

yajl_val probe_thread(yajl_val threads, int tid)
{
	for (size_t i = 0; i < threads->u.array.len; i++) {
		if (json_u64(threads->u.array.values[i], "tid") == (uint64_t)tid)
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

		if (json_u64(thread, "tid") != (uint64_t)own->tid)
			thread = probe_thread(threads, own->tid);
		assert_non_null(thread);
		if (json_member(thread, "error") != NULL)
			fail_msg("%d: %s: %s", own->tid, json_text(thread, "error_kind"),
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
