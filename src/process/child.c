/* SPDX-License-Identifier: GPL-2.0-only */
#include "child.h"

#include <errno.h>
#include <signal.h>
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

void child_forget(struct child *child)
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
	child_forget(child);
	return true;
}

void child_end(struct child *child)
{
	if (child->pid == 0)
		return;
	child_kill(child);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	child_forget(child);
}
