/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/file.h"
#include "resolver_jobs.h"

void resolver_bind(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
}

/* What the fork leaves to the child. */
_Noreturn static void become_child(const struct resolver_task *task, pid_t parent, int *descriptors,
				   uint32_t object_count)
{
	sigset_t none;

	prctl(PR_SET_NAME, "ctop-resolve", 0, 0, 0);
	resolver_bind(parent);
	if (descriptors_keep(descriptors, ORDER_RESOLVER_DESCRIPTORS) < 0)
		_exit(EXIT_FAILURE);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(resolver_child_run(descriptors[ORDER_FILES], descriptors[ORDER_JOB], object_count, task));
}

/* Takes one order. Ends the process when the supervisor has closed its end, or is gone. */
static void take_order(struct resolver_jobs *jobs, const struct resolver_task *task)
{
	const pid_t parent = getpid();
	int descriptors[ORDER_RESOLVER_DESCRIPTORS];
	struct resolver_order order;
	pid_t pid;
	const ssize_t received = resolver_message_receive(jobs->control, &order, sizeof(order), descriptors,
							  ORDER_RESOLVER_DESCRIPTORS, MSG_DONTWAIT);

	if (received == -EAGAIN)
		return;
	if (received <= 0)
		_exit(EXIT_SUCCESS); /* the children die with this process */
	/* no descriptor left here: the kernel has closed the sockets, their other ends see it */
	if (descriptors[ORDER_JOB] < 0)
		return;
	pid = resolver_jobs_fork(jobs, descriptors[ORDER_JOB]);
	if (pid == 0)
		become_child(task, parent, descriptors, order.object_count);
	close(descriptors[ORDER_FILES]);
	if (pid > 0)
		return;
	resolver_message_send_ended(descriptors[ORDER_JOB],
				    (struct resolver_ended){.error_number = (int32_t)-pid});
	close(descriptors[ORDER_JOB]);
}

static void reap_children(struct resolver_jobs *jobs)
{
	int socket, status;

	while (resolver_jobs_reap(jobs, &socket, &status) != 0) {
		if (socket < 0)
			continue;
		resolver_message_send_ended(socket, (struct resolver_ended){.wait_status = status});
		close(socket);
	}
}

void resolver_parent_run(int control, pid_t supervisor, const struct resolver_task *task)
{
	struct resolver_jobs jobs = {0};
	int score;

	prctl(PR_SET_NAME, "ctop-resolver", 0, 0, 0);
	if (descriptors_keep(&control, 1) < 0)
		_exit(EXIT_FAILURE);
	/* Where a debug file needs too much memory, no other process is to be killed for it (proc(5)). */
	score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0) {
		(void)file_write_all(score, "1000", strlen("1000"));
		close(score);
	}
	if (sandbox_drop_capabilities() < 0)
		_exit(EXIT_FAILURE);
	/* For when the socket does not end; after the capabilities, whose change may clear it. */
	resolver_bind(supervisor);
	if (resolver_jobs_open(&jobs, control) < 0)
		_exit(EXIT_FAILURE);
	for (;;) {
		const unsigned int events = resolver_jobs_wait(&jobs);

		if ((events & RESOLVER_JOBS_ENDED) != 0)
			reap_children(&jobs);
		if ((events & RESOLVER_JOBS_ORDER) != 0)
			take_order(&jobs, task);
	}
}
