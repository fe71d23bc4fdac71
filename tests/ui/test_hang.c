/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs and save directories on a file system that does not answer: a FUSE daemon (bindfs) that is
 * stopped. What ctop does there must concern nobody but itself, and it must end when it is asked to.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "pty_screen.h"

#include "base/clock.h"

enum {
	PATH_SIZE = 512,
	LIFE_SECONDS = 110, /* of the mount, whatever becomes of this program */
	TRIES = 3000,
	MOST_SECONDS = 30, /* until what waits for no file has ended, on a loaded machine */
	TRY_US = 10 * 1000,
	OUTPUT_SIZE = 256 * 1024,
};

static char directory[] = "/tmp/ctop-hang-XXXXXX";
static char mount_point[PATH_SIZE];
static pid_t daemon_pid, watchdog, plain, allocating;
static const char *unavailable; /* why there is no such file system here */

static const char *path_of(const char *format, ...)
{
	static char paths[4][PATH_SIZE];
	static unsigned int next;
	char *path = paths[next++ % 4];
	int length = snprintf(path, PATH_SIZE, "%s/", directory);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path + length, (size_t)(PATH_SIZE - length), format, arguments);
	va_end(arguments);
	return path;
}

static double seconds_since(uint64_t begun_ns)
{
	return (double)(clock_ns(CLOCK_MONOTONIC) - begun_ns) / (double)NS_PER_S;
}

static pid_t spawn(const char *const *arguments, int output)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (output >= 0) {
			dup2(output, STDOUT_FILENO);
			dup2(output, STDERR_FILENO);
		}
		execvp(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	return child;
}

static void end_mount(void)
{
	if (daemon_pid > 0) {
		kill(daemon_pid, SIGCONT);
		kill(daemon_pid, SIGKILL);
	}
	umount2(mount_point, MNT_DETACH);
}

/* Ends the mount when this program has ended, or does not: nothing that hangs is left behind. */
static void start_watchdog(void)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0); /* the other end closes with this program */
	watchdog = fork();
	assert_true(watchdog >= 0);
	if (watchdog == 0) {
		struct pollfd end = {.fd = ends[0], .events = POLLIN};

		close(ends[1]);
		setsid();
		poll(&end, 1, LIFE_SECONDS * 1000);
		end_mount();
		_exit(0);
	}
	close(ends[0]);
}

static bool copy(const char *from, const char *to)
{
	const char *const arguments[] = {"cp", from, to, NULL};
	int status;

	return waitpid(spawn(arguments, -1), &status, 0) > 0 && status == 0;
}

static bool is_mounted(void)
{
	struct stat inside, outside;

	return stat(mount_point, &inside) == 0 && stat(directory, &outside) == 0 &&
	       inside.st_dev != outside.st_dev;
}

static int set_up(void **state)
{
	int answers[2];
	char byte = 0;

	(void)state;
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(mount_point, sizeof(mount_point), "%s", path_of("mount"));
	mkdir(path_of("source"), 0755);
	mkdir(mount_point, 0755);
	if (access("/dev/fuse", R_OK | W_OK) < 0 || geteuid() != 0) {
		unavailable = "needs root and /dev/fuse";
		return 0;
	}
	if (!copy("/bin/sleep", path_of("source/hang-plain")) ||
	    (HEAP_TARGET[0] != '\0' && !copy(HEAP_TARGET, path_of("source/hang-heap"))))
		return -1;
	daemon_pid = spawn((const char *const[]){"bindfs", "-f", "-o", "attr_timeout=0,entry_timeout=0",
						 path_of("source"), mount_point, NULL},
			   -1);
	start_watchdog();
	for (int i = 0; i < TRIES && !is_mounted(); i++) {
		if (waitpid(daemon_pid, NULL, WNOHANG) != 0) {
			daemon_pid = 0;
			unavailable = "bindfs is not installed, or cannot mount here";
			return 0;
		}
		usleep(TRY_US);
	}
	if (!is_mounted())
		return -1;
	plain = spawn((const char *const[]){path_of("mount/hang-plain"), "600", NULL}, -1);
	if (HEAP_TARGET[0] != '\0') {
		const char *const heap[] = {path_of("mount/hang-heap"), "park", "3", "100000", NULL};
		int commands[2];

		if (pipe(answers) < 0 || pipe(commands) < 0)
			return -1;
		allocating = fork();
		if (allocating == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dup2(commands[0], STDIN_FILENO);
			dup2(answers[1], STDOUT_FILENO);
			close(commands[1]);
			execv(heap[0], (char *const *)heap);
			_exit(127);
		}
		close(answers[1]);
		while (byte != 'y' && read(answers[0], &byte, 1) == 1) /* of "ready" */
			;
	}
	sleep(1); /* nobody looks at processes in their first second */
	kill(daemon_pid, SIGSTOP);
	return 0;
}

static int tear_down(void **state)
{
	const char *const remove_all[] = {"rm", "-rf", directory, NULL};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const pid_t child = i == 0 ? plain : allocating;

		if (child > 0) {
			kill(child, SIGKILL);
			end_mount();
			waitpid(child, NULL, 0);
		}
	}
	end_mount();
	if (daemon_pid > 0)
		waitpid(daemon_pid, NULL, 0);
	if (watchdog > 0) {
		kill(watchdog, SIGKILL);
		waitpid(watchdog, NULL, 0);
	}
	waitpid(spawn(remove_all, -1), NULL, 0);
	return 0;
}

static void need_mount(void)
{
	if (unavailable == NULL)
		return;
	printf("SKIP: %s\n", unavailable);
	skip();
}

/* Runs ctop; its output is in `*ret_output` until the next call. Returns its status as waitpid() gives it. */
static int run(const char *const *arguments, double most_seconds, const char **ret_output)
{
	static char output[OUTPUT_SIZE];
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	size_t length = 0;
	ssize_t count = 1;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = spawn(arguments, ends[1]);
	close(ends[1]);
	while (count > 0 && length < sizeof(output) - 1) {
		struct pollfd news = {.fd = ends[0], .events = POLLIN};

		if (seconds_since(begun) > most_seconds) {
			kill(child, SIGKILL);
			end_mount();
			fail_msg("%s %s did not end within %.0f s", arguments[0], arguments[1], most_seconds);
		}
		if (poll(&news, 1, 100) == 0)
			continue;
		count = read(ends[0], output + length, sizeof(output) - 1 - length);
		length += count > 0 ? (size_t)count : 0;
	}
	close(ends[0]);
	output[length] = '\0';
	*ret_output = output;
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_batch(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "-b", "-n2", "-d0.5", "-theap", NULL};
	const char *output;

	(void)state;
	need_mount();
	assert_int_equal(run(arguments, MOST_SECONDS, &output), 0);
}

static void test_capture(void **state)
{
	const char *const arguments[] = {CTOP_PROGRAM, "capture", "-o", path_of("snapshot"), NULL};
	const char *output;

	(void)state;
	need_mount();
	assert_int_equal(run(arguments, MOST_SECONDS, &output), 0);
	assert_non_null(strstr(output, "mostly file-system-hangs"));
}

static void test_probe(void **state)
{
	char pid[16];
	const char *const arguments[] = {CTOP_PROGRAM, "probe", "--pid", pid, NULL};
	const char *output;

	(void)state;
	need_mount();
	snprintf(pid, sizeof(pid), "%d", (int)(allocating > 0 ? allocating : plain));
	assert_int_equal(WEXITSTATUS(run(arguments, MOST_SECONDS, &output)), 1);
	assert_non_null(strstr(output, "ctop-probe-fatal: file-system-hangs"));
}

static void start_screen(struct pty_screen *pty, const char *save_directory)
{
	const struct pty_options options = {.rows = 24, .columns = 100};
	char option[PATH_SIZE + sizeof("--save-dir=")];
	const char *const arguments[] = {CTOP_PROGRAM, "-d0.5", "-theap", option, NULL};

	snprintf(option, sizeof(option), "--save-dir=%s", save_directory);
	pty_start(pty, &options, arguments);
	pty_wait_text(pty, "PROCESS");
	pty_settle(pty);
}

static void expect_end(struct pty_screen *pty, uint64_t begun, double most_seconds)
{
	pty_wait_end(pty);
	if (seconds_since(begun) > most_seconds)
		fail_msg("it took %.2f s to end", seconds_since(begun));
	pty_expect_restored(pty);
}

/* The screen goes on, and ends at once, by key and by signal. */
static void test_screen(void **state)
{
	static const int ends[] = {0, SIGTERM, SIGHUP};

	(void)state;
	need_mount();
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct pty_screen pty;
		uint64_t begun;

		start_screen(&pty, directory);
		pty_type(&pty, "/hang-\r");
		pty_wait_text(&pty, "hang-plain");
		begun = clock_ns(CLOCK_MONOTONIC);
		if (ends[i] != 0)
			kill(pty.child, ends[i]);
		else
			pty_type(&pty, "q");
		expect_end(&pty, begun, 1.5);
		assert_int_equal(WIFSIGNALED(pty.status) ? WTERMSIG(pty.status) : 0, ends[i]);
		pty_release(&pty);
	}
}

/* What cannot be saved is said, and the screen ends all the same. */
static void test_save(void **state)
{
	struct pty_screen pty;
	uint64_t begun;

	(void)state;
	need_mount();
	kill(daemon_pid, SIGCONT);
	start_screen(&pty, mount_point);
	kill(daemon_pid, SIGSTOP);
	/* until it is being written nothing is said, and it stays one save */
	for (int i = 0; i < 60 && pty_find(&pty, "not saved: the previous", NULL) < 0; i++) {
		pty_type(&pty, "S");
		pty_drain(&pty, 500);
	}
	pty_wait_text(&pty, "not saved: the previous");
	begun = clock_ns(CLOCK_MONOTONIC);
	pty_type(&pty, "q");
	expect_end(&pty, begun, 1.5);
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
	char typed[PATH_SIZE + 32];
	uint64_t begun;

	(void)state;
	need_mount();
	pty_start(&pty, &options, arguments);
	pty_wait_text(&pty, "by process {N}");
	pty_type(&pty, "S");
	pty_wait_text(&pty, "Esc cancel");
	snprintf(typed, sizeof(typed), "\025%s/report.tsv\r", mount_point);
	pty_type(&pty, typed);
	pty_wait_text(&pty, "its file system does not answer");
	pty_type(&pty, "\x1b");
	begun = clock_ns(CLOCK_MONOTONIC);
	pty_type(&pty, "\x03");
	expect_end(&pty, begun, 1.5);
	pty_release(&pty);
}

/* Asked for twice before anybody has begun, it is one save, and the end does not wait for another. */
static void test_save_twice(void **state)
{
	const char *const list[] = {"ls", directory, NULL};
	struct pty_screen pty;
	const char *output;
	uint64_t begun;

	(void)state;
	start_screen(&pty, directory);
	begun = clock_ns(CLOCK_MONOTONIC);
	pty_type(&pty, "SSSSq");
	expect_end(&pty, begun, MOST_SECONDS);
	assert_true(WIFEXITED(pty.status));
	run(list, MOST_SECONDS, &output);
	assert_non_null(strstr(output, ".ctprof.zst"));
	pty_release(&pty);
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
	mkdir(path_of("proc"), 0755);
	mkdir(path_of("proc/sys"), 0755);
	mkdir(path_of("proc/sys/kernel"), 0755);
	mkdir(path_of("proc/4711"), 0755);
	write_file(path_of("proc/sys/kernel/hostname"), "web-07\n");
	write_file(path_of("proc/loadavg"), "1.25 0.50 0.25 1/3 4711\n");
	write_file(path_of("proc/4711/stat"),
		   "4711 (engine) S 1 4711 4711 0 -1 4194304 100 0 0 0 5 6 0 0 20 0 3 0 12345 1000000 100 "
		   "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	assert_int_equal(symlink(mount_point, path_of("proc/4711/task")), 0);
}

/* Before the first round the screen has the host, names and numbers of threads, and takes keys. */
static void test_first_round(void **state)
{
	static const struct pty_options sizes[] = {
		{.rows = 24, .columns = 80},
		{.rows = 12, .columns = 40, .locale = "C"},
		{.rows = 50, .columns = 200},
	};

	(void)state;
	need_mount();
	make_slow_tree();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *const arguments[] = {CTOP_PROGRAM, "--proc-root", path_of("proc"), NULL};
		struct pty_screen pty;
		uint64_t begun;
		int row, column;

		pty_start(&pty, &sizes[i], arguments);
		pty_wait_text(&pty, "web-07");
		pty_wait_text(&pty, "reading 3 threads for the fi");
		pty_wait_text(&pty, "engine");
		row = pty_find(&pty, "engine", NULL);
		assert_int_equal(pty_find(&pty, "THR", &column), row - 1);
		assert_int_equal(strtol(pty_row(&pty, row) + column, NULL, 10), 3);
		pty_type(&pty, "g");
		pty_wait_text(&pty, "The first round is being read.");
		pty_resize(&pty, sizes[i].rows - 1, sizes[i].columns);
		pty_type(&pty, "/engin\r");
		pty_wait_text(&pty, "filter: engin");
		begun = clock_ns(CLOCK_MONOTONIC);
		pty_type(&pty, "q");
		expect_end(&pty, begun, 1.5);
		assert_int_equal(pty.status, 0);
		pty_release(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batch),      cmocka_unit_test(test_capture),
		cmocka_unit_test(test_probe),      cmocka_unit_test(test_screen),
		cmocka_unit_test(test_save),       cmocka_unit_test(test_report),
		cmocka_unit_test(test_save_twice), cmocka_unit_test(test_first_round),
	};

	if (!pty_is_available()) {
		printf("SKIP: this host gives no pseudoterminals\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
