/* SPDX-License-Identifier: GPL-2.0-only */
#include "hanging_mount.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "base/clock.h"

enum {
	LIFE_SECONDS = 4 * 3600, /* of the mount, whatever becomes of this program: longer than it may run */
	TRIES = 3000,
	TRY_US = 10 * 1000,
	OUTPUT_SIZE = 256 * 1024,
};

static char directory[] = "/tmp/ctop-hang-XXXXXX";
static char mount_point[HANGING_MOUNT_PATH_SIZE];
static pid_t daemon_pid, watchdog;
static const char *unavailable; /* why there is no such file system here */

const char *hanging_mount_path(const char *format, ...)
{
	static char paths[4][HANGING_MOUNT_PATH_SIZE];
	static unsigned int next;
	char *path = paths[next++ % 4];
	int length = snprintf(path, HANGING_MOUNT_PATH_SIZE, "%s/", directory);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path + length, (size_t)(HANGING_MOUNT_PATH_SIZE - length), format, arguments);
	va_end(arguments);
	return path;
}

const char *hanging_mount_directory(void)
{
	return directory;
}

double hanging_mount_seconds(uint64_t begun_ns)
{
	return (double)(clock_ns(CLOCK_MONOTONIC) - begun_ns) / (double)NS_PER_S;
}

pid_t hanging_mount_spawn(const char *const *arguments, int output)
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

void hanging_mount_end(void)
{
	if (daemon_pid > 0) {
		kill(daemon_pid, SIGCONT);
		kill(daemon_pid, SIGKILL);
	}
	umount2(mount_point, MNT_DETACH);
}

void hanging_mount_stop(void)
{
	siginfo_t info;

	kill(daemon_pid, SIGSTOP);
	/* until then it may still answer */
	waitid(P_PID, (id_t)daemon_pid, &info, WSTOPPED | WEXITED | WNOWAIT);
}

void hanging_mount_go_on(void)
{
	kill(daemon_pid, SIGCONT);
}

void hanging_mount_expect_hanging(void)
{
	siginfo_t info = {0};

	/* it is stopped still: neither has the watchdog ended it nor anybody let it go on */
	assert_int_equal(waitid(P_PID, (id_t)daemon_pid, &info, WSTOPPED | WNOHANG | WNOWAIT), 0);
	assert_int_equal(info.si_pid, daemon_pid);
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
		hanging_mount_end();
		_exit(0);
	}
	close(ends[0]);
}

static bool is_mounted(void)
{
	struct stat inside, outside;

	return stat(mount_point, &inside) == 0 && stat(directory, &outside) == 0 &&
	       inside.st_dev != outside.st_dev;
}

int hanging_mount_make(void)
{
	if (mkdtemp(directory) == NULL)
		return -1;
	snprintf(mount_point, sizeof(mount_point), "%s", hanging_mount_path("mount"));
	return mkdir(hanging_mount_path("source"), 0755) < 0 || mkdir(mount_point, 0755) < 0 ? -1 : 0;
}

bool hanging_mount_start(void)
{
	const char *const arguments[] = {
		"bindfs",    "-f", "-o", "attr_timeout=0,entry_timeout=0", hanging_mount_path("source"),
		mount_point, NULL};

	if (access("/dev/fuse", R_OK | W_OK) < 0) {
		unavailable = "needs /dev/fuse";
		return false;
	}
	daemon_pid = hanging_mount_spawn(arguments, -1);
	start_watchdog();
	for (int i = 0; i < TRIES && !is_mounted(); i++) {
		if (waitpid(daemon_pid, NULL, WNOHANG) != 0) {
			daemon_pid = 0;
			unavailable = "bindfs is not installed, or cannot mount here";
			return false;
		}
		usleep(TRY_US);
	}
	if (!is_mounted())
		unavailable = "bindfs does not mount in time";
	return unavailable == NULL;
}

void hanging_mount_remove(void)
{
	const char *const remove_all[] = {"rm", "-rf", directory, NULL};

	hanging_mount_end();
	if (daemon_pid > 0)
		waitpid(daemon_pid, NULL, 0);
	if (watchdog > 0) {
		kill(watchdog, SIGKILL);
		waitpid(watchdog, NULL, 0);
	}
	waitpid(hanging_mount_spawn(remove_all, -1), NULL, 0);
}

void hanging_mount_need(void)
{
	if (unavailable == NULL)
		return;
	skip_test("%s", unavailable);
}

int hanging_mount_run(const char *const *arguments, const char **ret_output)
{
	static char output[OUTPUT_SIZE];
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	size_t length = 0;
	ssize_t count = 1;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = hanging_mount_spawn(arguments, ends[1]);
	close(ends[1]);
	while (count > 0 && length < sizeof(output) - 1) {
		struct pollfd news = {.fd = ends[0], .events = POLLIN};

		if (hanging_mount_seconds(begun) > (double)HANGING_MOUNT_SECONDS) {
			kill(child, SIGKILL);
			hanging_mount_end();
			fail_msg("%s %s did not end within %d s", arguments[0], arguments[1],
				 HANGING_MOUNT_SECONDS);
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
