/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs and save directories on a file system that does not answer: a FUSE daemon (bindfs) that is
 * stopped. What ctop does there must concern nobody but itself, and it must end when it is asked to.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/wait.h"
#include "hanging_mount.h"
#include "pty_screen.h"

static pid_t plain, allocating;

/* A child with its input and output at the other ends of two pipes. */
static pid_t spawn_answering(const char *const *arguments, int *ret_input, int *ret_output)
{
	int inputs[2], outputs[2];
	pid_t child;

	if (pipe2(inputs, O_CLOEXEC) < 0 || pipe2(outputs, O_CLOEXEC) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(inputs[0], STDIN_FILENO);
		dup2(outputs[1], STDOUT_FILENO);
		execv(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	close(inputs[0]);
	close(outputs[1]);
	*ret_input = inputs[1];
	*ret_output = outputs[0];
	return child;
}

static bool copy(const char *from, const char *to)
{
	const char *const arguments[] = {"cp", from, to, NULL};
	int status;

	return waitpid(hanging_mount_spawn(arguments, -1), &status, 0) > 0 && status == 0;
}

static int set_up(void **state)
{
	int input, output;
	char byte = 0;

	(void)state;
	if (hanging_mount_make() < 0)
		return -1;
	if (!copy("/bin/cat", hanging_mount_path("source/hang-plain")) ||
	    (HEAP_TARGET[0] != '\0' && !copy(HEAP_TARGET, hanging_mount_path("source/hang-heap"))))
		return -1;
	if (!hanging_mount_start())
		return 0;
	/* both have begun, with all that it takes, before nothing is answered */
	plain = spawn_answering((const char *const[]){hanging_mount_path("mount/hang-plain"), NULL}, &input,
				&output);
	if (plain < 0 || write(input, "x", 1) != 1 || read(output, &byte, 1) != 1 || byte != 'x')
		return -1;
	if (HEAP_TARGET[0] != '\0') {
		allocating = spawn_answering((const char *const[]){hanging_mount_path("mount/hang-heap"),
								   "park", "3", "100000", NULL},
					     &input, &output);
		while (byte != 'y' && read(output, &byte, 1) == 1) /* of "ready" */
			;
		if (allocating < 0 || byte != 'y')
			return -1;
	}
	hanging_mount_stop();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const pid_t child = i == 0 ? plain : allocating;

		if (child > 0) {
			kill(child, SIGKILL);
			hanging_mount_end();
			waitpid(child, NULL, 0);
		}
	}
	hanging_mount_remove();
	return 0;
}

/* Ends on its own, while the file system still does not answer. */
static void expect_run(const char *const *arguments, int status, const char *text)
{
	const char *output;
	const int ended = hanging_mount_run(arguments, &output);

	hanging_mount_expect_hanging();
	if (!WIFEXITED(ended) || WEXITSTATUS(ended) != status || strstr(output, text) == NULL)
		fail_msg("status %#x, \"%s\" expected in:\n%s", (unsigned int)ended, text, output);
}

static void test_batch(void **state)
{
	(void)state;
	hanging_mount_need();
	expect_run((const char *const[]){CTOP_PROGRAM, "-b", "-n2", "-d0.5", "-theap", NULL}, 0, "");
}

/*
 * The whole host is captured, and of these two it is said why they could not be read. What fails elsewhere on
 * the host, and whether there is time for all of it, is the host's affair.
 */
static void test_capture(void **state)
{
	char pids[2][16];

	(void)state;
	hanging_mount_need();
	expect_run((const char *const[]){CTOP_PROGRAM, "capture", "-o", hanging_mount_path("snapshot"), NULL},
		   0, "jemalloc: ");
	snprintf(pids[0], sizeof(pids[0]), "%d", (int)plain);
	snprintf(pids[1], sizeof(pids[1]), "%d", (int)(allocating > 0 ? allocating : plain));
	expect_run((const char *const[]){CTOP_PROGRAM, "capture", "-p", pids[0], "-p", pids[1], "-o",
					 hanging_mount_path("own"), NULL},
		   0,
		   allocating > 0 ? "2 failed, mostly file-system-hangs"
				  : "1 failed, mostly file-system-hangs");
}

static void test_probe(void **state)
{
	char pid[16];

	(void)state;
	hanging_mount_need();
	snprintf(pid, sizeof(pid), "%d", (int)(allocating > 0 ? allocating : plain));
	expect_run((const char *const[]){CTOP_PROGRAM, "probe", "--pid", pid, NULL}, 1,
		   "ctop-probe-fatal: file-system-hangs");
}

static void start_screen(struct pty_screen *pty, const char *save_directory)
{
	const struct pty_options options = {.rows = 24, .columns = 100};
	char option[HANGING_MOUNT_PATH_SIZE + sizeof("--save-dir=")];
	const char *const arguments[] = {CTOP_PROGRAM, "-d0.5", "-theap", option, NULL};

	snprintf(option, sizeof(option), "--save-dir=%s", save_directory);
	pty_start(pty, &options, arguments);
	pty_wait_text(pty, "PROCESS");
}

/* It ends, while the file system still does not answer. */
static void expect_end(struct pty_screen *pty)
{
	pty_wait_end(pty);
	hanging_mount_expect_hanging();
	pty_expect_restored(pty);
}

/* The screen goes on, and ends, by key and by signal. */
static void test_screen(void **state)
{
	static const int ends[] = {0, SIGTERM, SIGHUP};

	(void)state;
	hanging_mount_need();
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct pty_screen pty;

		start_screen(&pty, hanging_mount_directory());
		pty_show(&pty, "/hang-\r", "hang-plain");
		if (ends[i] != 0)
			kill(pty.child, ends[i]);
		else
			pty_type(&pty, "q");
		expect_end(&pty);
		if ((WIFSIGNALED(pty.status) ? WTERMSIG(pty.status) : 0) != ends[i]) {
			pty_print(&pty);
			fail_msg("status %#x, not of signal %d", (unsigned int)pty.status, ends[i]);
		}
		pty_release(&pty);
	}
}

/* What the user names there is refused before anything else is done. */
static void test_named(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "--save-dir", hanging_mount_path("mount"), NULL};
	const struct pty_options options = {.rows = 24, .columns = 120};
	struct pty_screen pty;

	(void)state;
	hanging_mount_need();
	expect_run((const char *const[]){CTOP_PROGRAM, "-b", "-n1", "--config",
					 hanging_mount_path("mount/new"), NULL},
		   1, "mount/new: its file system does not answer");
	pty_start(&pty, &options, arguments);
	expect_end(&pty);
	assert_true(WIFEXITED(pty.status));
	assert_int_equal(WEXITSTATUS(pty.status), 1);
	pty_wait_text(&pty, "mount': its file system does not answer");
	pty_release(&pty);
}

/* What cannot be saved is said, and the screen ends all the same. */
static void test_save(void **state)
{
	struct pty_screen pty;

	(void)state;
	hanging_mount_need();
	hanging_mount_go_on();
	start_screen(&pty, hanging_mount_path("mount"));
	hanging_mount_stop();
	/* until it is being written nothing is said, and it stays one save */
	pty_type_until(&pty, "S", pty_has_text, "not saved: the previous");
	pty_type(&pty, "q");
	expect_end(&pty);
	assert_true(WIFEXITED(pty.status));
	assert_int_equal(WEXITSTATUS(pty.status), 1);
	pty_wait_text(&pty, "not saved in");
	pty_release(&pty);
}

/* Nor does a report's place hold up the screen. */
static void test_report(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, TEST_DATA "/reference/snapshots/real.a.ctprof.zst",
					 NULL};
	const struct pty_options options = {.rows = 24, .columns = 120};
	struct pty_screen pty;
	char typed[HANGING_MOUNT_PATH_SIZE + 32];

	(void)state;
	hanging_mount_need();
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "by process {N}");
	pty_show(&pty, "S", "Esc cancel");
	snprintf(typed, sizeof(typed), "\025%s/report.tsv\r", hanging_mount_path("mount"));
	pty_show(&pty, typed, "writing /");
	pty_show(&pty, "?", "Esc");
	pty_type(&pty, "\x1b");
	pty_type(&pty, "\x03");
	expect_end(&pty);
	assert_true(WIFEXITED(pty.status));
	assert_int_equal(WEXITSTATUS(pty.status), 1);
	pty_wait_text(&pty, "report.tsv: not written: its file system does not answer");
	pty_release(&pty);
}

/* False where it was given up: a disk that is busy for so long, or a thread that gets no CPU, is taken for a
 * file system that does not answer. */
static bool save_twice(void)
{
	struct pty_screen pty;
	bool given_up;

	start_screen(&pty, hanging_mount_directory());
	pty_wait_text(&pty, " groups by ");
	pty_type(&pty, "SSSSq");
	pty_wait_end(&pty);
	pty_expect_restored(&pty);
	assert_true(WIFEXITED(pty.status));
	given_up = pty_find(&pty, "not saved in", NULL) >= 0;
	pty_release(&pty);
	return !given_up;
}

/* Asked for twice of the same round it is one save, and the end does not wait for another. */
static void test_save_twice(void **state)
{
	const char *const list[] = {"ls", hanging_mount_directory(), NULL};
	const char *output;

	(void)state;
	await("a save that is not given up", save_twice());
	hanging_mount_run(list, &output);
	assert_non_null(strstr(output, ".ctprof.zst"));
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A tree with a process whose threads cannot be listed for the file system that they are on. */
static void make_slow_tree(void)
{
	mkdir(hanging_mount_path("proc"), 0755);
	mkdir(hanging_mount_path("proc/sys"), 0755);
	mkdir(hanging_mount_path("proc/sys/kernel"), 0755);
	mkdir(hanging_mount_path("proc/4711"), 0755);
	write_file(hanging_mount_path("proc/sys/kernel/hostname"), "web-07\n");
	write_file(hanging_mount_path("proc/loadavg"), "1.25 0.50 0.25 1/3 4711\n");
	write_file(hanging_mount_path("proc/4711/stat"),
		   "4711 (engine) S 1 4711 4711 0 -1 4194304 100 0 0 0 5 6 0 0 20 0 3 0 12345 1000000 100 "
		   "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	assert_int_equal(symlink(hanging_mount_path("mount"), hanging_mount_path("proc/4711/task")), 0);
}

/* Before the first round the screen has the facts of the host, and takes keys. */
static void test_first_round(void **state)
{
	static const struct pty_options sizes[] = {
		{.rows = 24, .columns = 80},
		{.rows = 12, .columns = 40, .locale = "C"},
		{.rows = 50, .columns = 200},
	};

	(void)state;
	hanging_mount_need();
	make_slow_tree();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *const arguments[] = {CTOP_PROGRAM, "--proc-root", hanging_mount_path("proc"),
						 NULL};
		struct pty_screen pty;

		pty_start(&pty, &sizes[i], arguments);
		pty_wait_text(&pty, "web-07");
		pty_wait_text(&pty, "reading every thread for the");
		pty_wait_text(&pty, "The first round is being read.");
		pty_type(&pty, "gpi\r");
		pty_resize(&pty, sizes[i].rows - 1, sizes[i].columns);
		pty_show(&pty, "/engin\r", "filter: engin");
		pty_type(&pty, "q");
		expect_end(&pty);
		assert_int_equal(pty.status, 0);
		pty_release(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batch),       cmocka_unit_test(test_capture),
		cmocka_unit_test(test_probe),       cmocka_unit_test(test_screen),
		cmocka_unit_test(test_named),       cmocka_unit_test(test_save),
		cmocka_unit_test(test_report),      cmocka_unit_test(test_save_twice),
		cmocka_unit_test(test_first_round),
	};

	pty_need();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
