/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that calls execve(2) without being the leader takes the leader's id and start time over and keeps
 * its own counters: what it had run before is nothing that the leader did since.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "harness.h"

#define RUN_MS "3000" /* what the thread has run, much longer than the intervals are */

static void start(struct helper *program)
{
	static const char *const arguments[] = {EXEC_PROGRAM, RUN_MS, NULL};

	helper_start(program, arguments, 0);
	helper_expect(program, "ready ");
}

static void let_it_execute(struct helper *program)
{
	helper_tell(program, "go");
	helper_expect(program, "executed");
}

/* The last line that holds `part`, or NULL. */
static const char *last_line(const char *text, const char *part)
{
	const char *found = NULL;

	for (const char *line = text; line != NULL;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = strstr(line, part);

		if (at != NULL && at < line + strcspn(line, "\n"))
			found = line;
	}
	return found;
}

static void test_live(void **state)
{
	char number[16];
	const char *arguments[] = {
		CTOP_PROGRAM, "-b",  "-n",      "2",      "-d",       "0.5",       "-p",
		number,       "-g",  "process", "--mode", "interval", "--columns", "threads,run_time_ns",
		"--format",   "csv", NULL};
	static const struct run_options options;
	struct helper program;
	struct running running;
	struct run run;
	const char *line;
	double ran_ns;

	(void)state;
	start(&program);
	snprintf(number, sizeof number, "%d", (int)program.child);
	run_start(&running, &options, arguments);
	run_wait_for_lines(&running, 1);
	run_pause(&running);
	let_it_execute(&program);
	run_continue(&running);
	run_finish(&running, &run, &options);
	run_expect(&run, 0);
	line = last_line(run.output, ",exec_thread,");
	assert_non_null(line);
	/* one thread, whose run time is not known, beside what the old leader did, which is seen with BPF: it
	 * slept */
	if (sscanf(strstr(line, ",exec_thread,"), ",exec_thread,1,%lf", &ran_ns) == 1 && ran_ns > 50e6)
		fail_msg("more than that in '%s'", line);
	run_release(&run);
	helper_end(&program);
}

static void capture(const char *path, pid_t pid)
{
	char number[16];
	struct run run;

	snprintf(number, sizeof number, "%d", (int)pid);
	run_ctop(&run, NULL, (const char *[]){"capture", "-o", path, "-p", number, NULL});
	run_expect(&run, 0);
	run_release(&run);
}

static void test_files(void **state)
{
	const char *before = scratch_path("before.ctprof.zst"), *after = scratch_path("after.ctprof.zst");
	struct helper program;
	struct run run;
	const char *line;

	(void)state;
	start(&program);
	capture(before, program.child);
	let_it_execute(&program);
	capture(after, program.child);
	run_ctop(&run, NULL,
		 (const char *[]){"diff", before, after, "--match", "thread", "-g", "process", "--metrics",
				  "run_time_ns,thread_count", "--format", "tsv", "--columns",
				  "metric,candidate,delta", NULL});
	run_expect(&run, 0);
	line = last_line(run.output, "run_time_ns\t");
	assert_non_null(line);
	assert_int_equal(strncmp(line, "run_time_ns\t·\t·\n", strlen("run_time_ns\t·\t·\n")), 0);
	/* the thread itself is there */
	assert_non_null(strstr(run.output, "thread_count\t1\t-1\n"));
	run_release(&run);
	helper_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
