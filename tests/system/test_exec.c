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
	char number[16], interval[16];
	const char *arguments[] = {
		CTOP_PROGRAM, "-b",  "-n",      "2",      "-d",       interval,    "-p",
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
	run_start_paused(&running, arguments, interval, 1);
	let_it_execute(&program);
	run_continue(&running);
	run_finish(&running, &run, &options);
	run_expect(&run, 0);
	line = last_line(run.output, ",exec_thread,");
	assert_non_null(line);
	/* one thread, whose run time is not known unless BPF tells the task, beside what the old leader did:
	 * it slept */
	if (sscanf(strstr(line, ",exec_thread,"), ",exec_thread,1,%lf", &ran_ns) == 1 && ran_ns > 50e6)
		fail_msg("more than that in '%s'", line);
	run_release(&run);
	helper_end(&program);
}

/* When a thread started, in ticks: field 22 of proc_pid_stat(5). */
static uint64_t start_of(int pid, int tid)
{
	char *name = NULL, *text;
	const char *field;
	uint64_t start;

	if (asprintf(&name, "/proc/%d/task/%d/stat", pid, tid) < 0)
		fail_msg("out of memory");
	text = read_file(name, NULL);
	assert_non_null(text);
	field = strrchr(text, ')');
	for (int i = 2; i < 22 && field != NULL; i++)
		field = strchr(field + 1, ' ');
	assert_non_null(field);
	start = strtoull(field, NULL, 10);
	free(text);
	free(name);
	return start;
}

/* Adds up a column of numbers of the process over all intervals; what is unknown adds nothing. */
static double sum_of(const char *text, int column, double *ret_most)
{
	double sum = 0;

	*ret_most = 0;
	for (const char *line = text; line != NULL;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *at = strstr(line, ",exec_thread,");
		double value = 0;

		if (at == NULL || at > line + strcspn(line, "\n"))
			continue;
		at = strchr(at + 1, ',');
		for (int i = 0; i < column && at != NULL; i++)
			at = strchr(at + 1, ',');
		if (at != NULL && sscanf(at, ",%lf", &value) == 1) {
			sum += value;
			*ret_most = value > *ret_most ? value : *ret_most;
		}
	}
	return sum;
}

/* The leader's run time belongs to no interval; it ended, and nothing else did. True if the two started in
 * the same tick. */
static bool try_busy_leader(bool tells_tasks)
{
	enum {
		THREADS,
		RUN_TIME,
		BORN,
		ENDED
	};
	static const char *const program_arguments[] = {EXEC_PROGRAM, "0", "2000", NULL};
	static const struct run_options options;
	char number[16], interval[16], answer[64];
	const char *arguments[] = {CTOP_PROGRAM, "-b",
				   "-n",         "4",
				   "-d",         interval,
				   "-p",         number,
				   "-g",         "process",
				   "--mode",     "interval",
				   "--columns",  "threads,run_time_ns,born,ended",
				   "--format",   "csv",
				   NULL};
	struct helper program;
	struct running running;
	struct run run;
	int pid, tid;
	double most;
	bool same_tick;

	helper_start(&program, program_arguments, 0);
	assert_true(helper_answer(&program, answer, sizeof(answer)));
	assert_int_equal(sscanf(answer, "ready %d %d", &pid, &tid), 2);
	same_tick = start_of(pid, pid) == start_of(pid, tid);
	snprintf(number, sizeof number, "%d", pid);
	run_start_paused(&running, arguments, interval, 0.5);
	let_it_execute(&program);
	run_continue(&running);
	run_finish(&running, &run, &options);
	run_expect(&run, 0);
	sum_of(run.output, RUN_TIME, &most);
	if (most > 300e6)
		fail_msg("the leader's life within an interval:\n%s", run.output);
	sum_of(run.output, THREADS, &most);
	assert_int_equal(most, 1 + 1);
	if (tells_tasks) {
		assert_int_equal(sum_of(run.output, BORN, &most), 0);
		assert_int_equal(sum_of(run.output, ENDED, &most), 1);
	}
	run_release(&run);
	helper_end(&program);
	return same_tick;
}

static void test_busy_leader(void **state)
{
	struct run run;
	const char *line;
	bool tells_tasks;

	(void)state;
	run_ctop(&run, NULL, (const char *[]){"doctor", NULL});
	line = last_line(run.output, "every thread in one pass");
	tells_tasks = line != NULL && (strncmp(line, "on ", 3) == 0 || strncmp(line, "partial ", 8) == 0);
	run_release(&run);
	for (int i = 0; i < 10 && !try_busy_leader(tells_tasks); i++)
		;
}

static void capture(const char *path, pid_t pid)
{
	char number[16];
	struct run run;

	snprintf(number, sizeof number, "%d", (int)pid);
	run_ctop_well(&run, (const char *[]){"capture", "-o", path, "-p", number, NULL});
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
	run_ctop_well(&run, (const char *[]){"diff", before, after, "--match", "thread", "-g", "process",
					     "--metrics", "run_time_ns,thread_count", "--format", "tsv",
					     "--columns", "metric,candidate,delta", NULL});
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
		cmocka_unit_test(test_busy_leader),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
