/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_jobs.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

int resolver_jobs_open(struct resolver_jobs *jobs, int control)
{
	sigset_t child_signal;

	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child_signal, NULL);
	jobs->control = control;
	jobs->signals = signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
	return jobs->signals < 0 ? -errno : 0;
}

pid_t resolver_jobs_fork(struct resolver_jobs *jobs, int socket)
{
	pid_t pid;

	if (jobs->count == RESOLVER_JOBS_MAX)
		return -EAGAIN;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0)
		jobs->items[jobs->count++] = (struct resolver_job){child_adopt(pid), socket, false};
	return pid;
}

unsigned int resolver_jobs_wait(struct resolver_jobs *jobs)
{
	struct pollfd polls[RESOLVER_FIXED_POLLS + RESOLVER_JOBS_MAX] = {
		{.fd = jobs->control, .events = POLLIN},
		{.fd = jobs->signals, .events = POLLIN},
	};
	struct signalfd_siginfo information;

	for (size_t i = 0; i < jobs->count; i++)
		polls[RESOLVER_FIXED_POLLS + i].fd = jobs->items[i].killed ? -1 : jobs->items[i].socket;
	if (poll(polls, RESOLVER_FIXED_POLLS + jobs->count, -1) < 0)
		return 0;
	for (size_t i = 0; i < jobs->count; i++) {
		if (polls[RESOLVER_FIXED_POLLS + i].revents == 0)
			continue;
		child_kill(&jobs->items[i].child);
		jobs->items[i].killed = true;
	}
	/* one signal may stand for several children */
	if (polls[1].revents != 0)
		(void)!read(jobs->signals, &information, sizeof(information));
	return (polls[0].revents != 0 ? RESOLVER_JOBS_ORDER : 0) |
	       (polls[1].revents != 0 ? RESOLVER_JOBS_ENDED : 0);
}

pid_t resolver_jobs_reap(struct resolver_jobs *jobs, int *ret_socket, int *ret_status)
{
	const pid_t pid = waitpid(-1, ret_status, WNOHANG);

	*ret_socket = -1;
	if (pid <= 0)
		return 0;
	for (size_t i = 0; i < jobs->count; i++) {
		if (jobs->items[i].child.pid != pid)
			continue;
		*ret_socket = jobs->items[i].socket;
		child_forget(&jobs->items[i].child);
		jobs->items[i] = jobs->items[--jobs->count];
		break;
	}
	return pid;
}
