/* SPDX-License-Identifier: GPL-2.0-only */
#include "child_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child child_adopt(pid_t pid)
{
	return (struct child){.pid = pid, .handle = (int)syscall(SYS_pidfd_open, pid, 0)};
}

void child_kill(const struct child *child)
{
	if (child->handle >= 0)
		syscall(SYS_pidfd_send_signal, child->handle, SIGKILL, NULL, 0);
	else if (child->pid != 0 && waitpid(child->pid, NULL, WNOHANG | WNOWAIT) == 0)
		kill(child->pid, SIGKILL);
}

static void forget_child(struct child *child)
{
	if (child->handle >= 0)
		close(child->handle);
	*child = (struct child){.handle = -1};
}

bool child_reap(struct child *child, int *ret_status)
{
	int status = 0;
	pid_t result;

	if (child->pid == 0)
		return true;
	do {
		result = waitpid(child->pid, &status, WNOHANG);
	} while (result < 0 && errno == EINTR);
	if (result == 0)
		return false;
	if (ret_status != NULL)
		*ret_status = status;
	forget_child(child);
	return true;
}

void child_end(struct child *child)
{
	if (child->pid == 0)
		return;
	child_kill(child);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	forget_child(child);
}

/*
 * Closes all descriptors from FIRST on, as closefrom(3), which glibc has from 2.34 on. Returns 0 or a
 * negative errno.
 */
static int close_from(int first)
{
	_Alignas(struct dirent64) char entries[4096];
	ssize_t length;
	int directory;

	/* glibc names the calls that it knew, the kernel its own */
	if (syscall(__NR_close_range, first, ~0U, 0) == 0)
		return 0;
	/* before Linux 5.9 */
	directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -errno;
	while ((length = getdents64(directory, entries, sizeof(entries))) > 0) {
		for (const char *at = entries; at < entries + length;) {
			const struct dirent64 *entry = (const void *)at;
			const int number = (int)strtol(entry->d_name, NULL, 10);

			if (number >= first && number != directory)
				close(number);
			at += entry->d_reclen;
		}
	}
	close(directory);
	return (int)length;
}

/* Leaves this process those descriptors. Returns 0 or a negative errno. */
static int keep_descriptors(int *kept, size_t count)
{
	const int first = STDERR_FILENO + 1, end = first + (int)count;
	int null, result;

	/* first to numbers above those that they get, so that none is overwritten */
	for (size_t i = 0; i < count; i++) {
		kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, end);
		if (kept[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < count; i++) {
		kept[i] = dup3(kept[i], first + (int)i, O_CLOEXEC);
		if (kept[i] < 0)
			return -errno;
	}
	result = close_from(end);
	if (result < 0)
		return result;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* a chroot without /dev: 0, 1 and 2 must be in use all the same, by anything that goes nowhere */
	if (null < 0)
		null = memfd_create("null", MFD_CLOEXEC);
	for (int i = STDIN_FILENO; i < first; i++) {
		if (dup2(null, i) < 0)
			return -errno;
	}
	if (null >= end)
		close(null);
	return 0;
}

void child_isolate(pid_t parent, int *kept, size_t count)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
	    keep_descriptors(kept, count) < 0)
		_exit(EXIT_FAILURE);
}
