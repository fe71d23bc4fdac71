/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that holds the lock of its address space, or that of execve(2), for as long as a file system does
 * not answer: who reads its memory map, its memory or `io` waits for that. ctop must not, and must read
 * everybody else as ever.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"
#include "tests/wait.h"
#include "hanging_mount.h"
#include "pty_screen.h"

#include "base/clock.h"
#include "base/statm.h"

static const bool has_heap = HAS_HEAP;

static pid_t target;
static int command; /* write end of its input */

/* Starts the target, which holds no lock yet. */
static void start_target(void)
{
	const char *const file = hanging_mount_path("mount/page");
	int inputs[2], outputs[2];
	char answer[6];

	assert_int_equal(pipe2(inputs, O_CLOEXEC), 0);
	assert_int_equal(pipe2(outputs, O_CLOEXEC), 0);
	target = fork();
	assert_true(target >= 0);
	if (target == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(inputs[0], STDIN_FILENO);
		dup2(outputs[1], STDOUT_FILENO);
		execl(HELD_TARGET, "held_target", file, NULL);
		_exit(127);
	}
	close(inputs[0]);
	close(outputs[1]);
	assert_int_equal(read(outputs[0], answer, sizeof(answer)), sizeof(answer));
	close(outputs[0]);
	command = inputs[1];
}

/* The state of a process (proc_pid_stat(5)), 0 for none. */
static char state_of(pid_t pid)
{
	char path[64], text[512] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end != NULL && end[1] == ' ' ? end[2] : 0;
}

/*
 * Whether reading the map of the target hangs, as the target does: somebody tries, who can be killed. What
 * waits for a lock is in state D.
 */
static bool is_locked(void)
{
	char path[64], byte;
	siginfo_t end;
	pid_t child;
	bool ended = false, locked = false;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)target);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const int map = open(path, O_RDONLY);

		while (map >= 0 && read(map, &byte, 1) == 1)
			;
		_exit(0);
	}
	while (!ended && !locked) {
		end.si_pid = 0;
		ended = waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
			end.si_pid == child;
		locked = state_of(child) == 'D' && state_of(target) == 'D';
		usleep(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return locked;
}

/* From now on the lock is held. */
static void lock_target(void)
{
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);

	hanging_mount_stop();
	assert_int_equal(write(command, "", 1), 1);
	while (!is_locked()) {
		if (hanging_mount_seconds(begun) < (double)HANGING_MOUNT_SECONDS)
			continue;
		hanging_mount_go_on();
		skip_test("this kernel maps over a written page without waiting for its file system");
	}
}

static int set_up(void **state)
{
	(void)state;
	if (hanging_mount_make() < 0)
		return -1;
	hanging_mount_start();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hanging_mount_remove();
	return 0;
}

static int end_target(void **state)
{
	(void)state;
	if (target > 0) {
		kill(target, SIGKILL);
		hanging_mount_go_on();
		waitpid(target, NULL, 0);
		close(command);
	}
	target = 0;
	return 0;
}

static void expect_text(const char *output, const char *text)
{
	if (strstr(output, text) == NULL)
		fail_msg("no \"%s\" in:\n%s", text, output);
}

/* What could not be read says why, and everybody else is read. */
static void test_batch(void **state)
{
	static const char *const columns[] = {"pss", "rss"};
	const char *output;

	(void)state;
	hanging_mount_need();
	start_target();
	lock_target();
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		char own[16], other[16];
		const char *const arguments[] = {CTOP_PROGRAM, "-b",       "-n2",  "-d0.3", "-gpid",
						 "-p",         own,        "-p",   other,   "--columns",
						 columns[i],   "--format", "json", NULL};

		snprintf(own, sizeof(own), "%d", (int)getpid());
		snprintf(other, sizeof(other), "%d", (int)target);
		assert_int_equal(hanging_mount_run(arguments, &output), 0);
		expect_text(output, "held_target");
		expect_text(output, "test_ui_held");
		/* resident memory takes no lock */
		if (i == 0)
			expect_text(output, "not-in-time");
		else
			assert_null(strstr(output, "not-in-time"));
	}
}

static bool is_in_exec(void)
{
	struct statm statm;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)target);
	return statm_read(AT_FDCWD, path, &statm) == 0 && statm_is_in_exec(&statm);
}

/* What -b says of the target and of this program by procfs, with one column. */
static const char *batch(const char *column)
{
	char own[16], other[16];
	const char *const arguments[] = {CTOP_PROGRAM, "-b",       "-n2",  "-d0.3", "--backend", "procfs",
					 "-gpid",      "-p",       own,    "-p",    other,       "--columns",
					 column,       "--format", "json", NULL};
	const char *output;

	snprintf(own, sizeof(own), "%d", (int)getpid());
	snprintf(other, sizeof(other), "%d", (int)target);
	assert_int_equal(hanging_mount_run(arguments, &output), 0);
	expect_text(output, "test_ui_held");
	return output;
}

/* Files that wait for execve(2) are unknown while it lasts, and known again afterwards. */
static void test_exec(void **state)
{
	/* the state is in stat, which waits on some kernels */
	static const char *const columns[] = {"read", "state", "allocated"};

	(void)state;
	hanging_mount_need();
	start_target();
	hanging_mount_stop();
	assert_int_equal(write(command, "e", 1), 1);
	await("a process that waits in execve(2)", is_in_exec());
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *const output = batch(columns[i]);

		hanging_mount_expect_hanging();
		if (strcmp(columns[i], "state") != 0)
			expect_text(output, "not-in-time");
	}
	hanging_mount_go_on();
	await("the end of execve(2)", !is_in_exec());
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		assert_null(strstr(batch(columns[i]), "not-in-time"));
}

static void test_capture(void **state)
{
	const char *const file = hanging_mount_path("held.ctprof.zst");
	char own[16], other[16];
	/* other tests have processes of which something else cannot be read */
	const char *const arguments[] = {CTOP_PROGRAM, "capture", "-p", own, "-p", other, "-o", file, NULL};
	const char *const show[] = {CTOP_PROGRAM, "show",       file,           "--format",
				    "json",       "--sections", "smaps-rollup", NULL};
	const char *output;

	(void)state;
	hanging_mount_need();
	start_target();
	lock_target();
	snprintf(own, sizeof(own), "%d", (int)getpid());
	snprintf(other, sizeof(other), "%d", (int)target);
	assert_int_equal(hanging_mount_run(arguments, &output), 0);
	expect_text(output, "memory-locked");
	assert_int_equal(hanging_mount_run(show, &output), 0);
	expect_text(output, "held_target");
}

static void test_probe(void **state)
{
	char pid[16];
	const char *const arguments[] = {CTOP_PROGRAM, "probe", "--pid", pid, NULL};
	const char *output;

	(void)state;
	hanging_mount_need();
	start_target();
	lock_target();
	snprintf(pid, sizeof(pid), "%d", (int)target);
	assert_int_equal(WEXITSTATUS(hanging_mount_run(arguments, &output)), 1);
	expect_text(output, "memory-locked");
}

static void start_screen(struct pty_screen *pty)
{
	const struct pty_options options = {.rows = 24, .columns = 100};
	const char *const arguments[] = {CTOP_PROGRAM, "-d0.3", NULL};

	pty_start(pty, &options, arguments);
	pty_wait_no_text(pty, "reading");
	pty_wait_text(pty, "every 0.3s");
	pty_show(pty, "/held\r", "held_target");
}

/* It ends; where the lock is held, while it still is. */
static void end_screen(struct pty_screen *pty, bool is_held)
{
	pty_type(pty, "q");
	pty_wait_end(pty);
	if (is_held)
		hanging_mount_expect_hanging();
	pty_expect_restored(pty);
	assert_int_equal(pty->status, 0);
	pty_release(pty);
}

/* Rounds come, however the lock is held: what is new on the host shows in the overview. */
static void expect_rounds(struct pty_screen *pty)
{
	const char *const program = hanging_mount_path("source/held_later");
	const char *const copy[] = {"cp", "/bin/sleep", program, NULL};
	const char *const sleeping[] = {program, "600", NULL};
	int status;
	pid_t child = hanging_mount_spawn(copy, -1);

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	child = hanging_mount_spawn(sleeping, -1);
	pty_show(pty, "1", "held_later");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_screen(void **state)
{
	struct pty_screen pty;

	(void)state;
	hanging_mount_need();
	start_target();
	lock_target();
	start_screen(&pty);
	pty_show(&pty, "8", "1 not known"); /* so somebody waited for the lock */
	expect_rounds(&pty);
	end_screen(&pty, true);
}

/* The column is a number of bytes. */
static bool has_allocated(struct pty_screen *pty, const void *context)
{
	const int row = pty_find(pty, "held_target", NULL);

	(void)context;
	return row >= 0 && strpbrk(pty_row(pty, row), "KMGB") != NULL;
}

static bool has_none(struct pty_screen *pty, const void *context)
{
	/* of a process that is not known to have jemalloc any more there is no row, but a note */
	return (pty_find(pty, "held_target", NULL) >= 0 || pty_find(pty, "1 not known", NULL) >= 0) &&
	       !has_allocated(pty, context);
}

/* The lock is held only later: its counters go, and come back with it. Reading memory cannot be interrupted.
 */
static void test_later(void **state)
{
	struct pty_screen pty;

	(void)state;
	hanging_mount_need();
	if (!has_heap)
		skip_test("there is no libjemalloc to link with");
	start_target();
	start_screen(&pty);
	pty_show(&pty, "8", "FREED");
	pty_wait(&pty, has_allocated, NULL, "bytes allocated");
	lock_target();
	pty_wait(&pty, has_none, NULL, "no bytes allocated");
	expect_rounds(&pty);
	hanging_mount_go_on();
	pty_show(&pty, "8", "FREED");
	pty_wait(&pty, has_allocated, NULL, "bytes allocated again");
	end_screen(&pty, false);
}

/* The screen ends while somebody hangs for it in the kernel, where no signal ends that. */
static void test_end(void **state)
{
	struct pty_screen pty;

	(void)state;
	hanging_mount_need();
	if (!has_heap)
		skip_test("there is no libjemalloc to link with");
	start_target();
	start_screen(&pty);
	pty_show(&pty, "8", "FREED");
	pty_wait(&pty, has_allocated, NULL, "bytes allocated");
	lock_target();
	pty_wait(&pty, has_none, NULL, "no bytes allocated");
	end_screen(&pty, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_batch, end_target),
		cmocka_unit_test_teardown(test_exec, end_target),
		cmocka_unit_test_teardown(test_capture, end_target),
		cmocka_unit_test_teardown(test_probe, end_target),
		cmocka_unit_test_teardown(test_screen, end_target),
		cmocka_unit_test_teardown(test_later, end_target),
		cmocka_unit_test_teardown(test_end, end_target),
	};

	pty_need();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
