/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "resolver_jobs.h"
#include "resolver_process.h"

enum {
	/* A resolver that is killed more often than that is left alone until the time is over. */
	RESTARTS_MAX = 3,
	RESTARTS_SECONDS = 60,
	/* How long a child waits for a file to be opened. Disks that sleep take less, dead servers longer. */
	OPEN_PATIENCE_SECONDS = 3,
};

struct supervisor {
	const struct resolver_task *task;
	pid_t resolver; /* 0: there is none */
	int resolver_control;
	uint64_t restarts[RESTARTS_MAX]; /* CLOCK_MONOTONIC ns, the oldest first; 0: none */
	struct resolver_jobs openers;
};

static bool start_resolver(struct supervisor *supervisor)
{
	const pid_t self = getpid();
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		resolver_parent_run(sockets[1], self, supervisor->task);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return false;
	}
	supervisor->resolver = pid;
	supervisor->resolver_control = sockets[0];
	(void)resolver_message_send(supervisor->openers.control, &pid, sizeof(pid), NULL, 0, MSG_DONTWAIT);
	return true;
}

static bool restart_resolver(struct supervisor *supervisor)
{
	uint64_t *restarts = supervisor->restarts;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (restarts[0] != 0 && now - restarts[0] < RESTARTS_SECONDS * NS_PER_S)
		return false;
	memmove(&restarts[0], &restarts[1], (RESTARTS_MAX - 1) * sizeof(restarts[0]));
	restarts[RESTARTS_MAX - 1] = now;
	return start_resolver(supervisor);
}

static void end_job(int socket, int error_number)
{
	resolver_message_send_ended(socket, (struct resolver_ended){.without_resolver = error_number == 0,
								    .error_number = error_number});
}

/* What the fork leaves to the opener; `files` and the descriptors of the order are the only ones it keeps. */
_Noreturn static void become_opener(pid_t parent, int files, const int *descriptors,
				    const struct resolver_order *order)
{
	int kept[ORDER_DESCRIPTORS + 1];

	prctl(PR_SET_NAME, "ctop-opener", 0, 0, 0);
	memcpy(kept, descriptors, ORDER_DESCRIPTORS * sizeof(int));
	kept[ORDER_DESCRIPTORS] = files;
	if (descriptors_keep(kept, ORDER_DESCRIPTORS + 1) < 0)
		_exit(EXIT_FAILURE);
	rights_restore(&order->rights);
	resolver_bind(parent);
	_exit(resolver_opener_run(kept[ORDER_DESCRIPTORS], kept, order));
}

/* Hands the order on to the resolver. Returns 0 or a negative errno. */
static int hand_on(struct supervisor *supervisor, const struct resolver_order *order, int job, int files)
{
	const int descriptors[ORDER_RESOLVER_DESCRIPTORS] = {[ORDER_JOB] = job, [ORDER_FILES] = files};

	if (supervisor->resolver == 0 && !restart_resolver(supervisor))
		return -ESRCH;
	return resolver_message_send(supervisor->resolver_control, order, sizeof(*order), descriptors,
				     ORDER_RESOLVER_DESCRIPTORS, MSG_DONTWAIT);
}

/* Makes the two processes of a job. `descriptors` are closed by the caller, but for that of the job. */
static void start_job(struct supervisor *supervisor, const struct resolver_order *order, int *descriptors)
{
	const struct timeval patience = {.tv_sec = OPEN_PATIENCE_SECONDS};
	const pid_t self = getpid();
	const int job = descriptors[ORDER_JOB];
	int sockets[2], result;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		end_job(job, errno);
		return;
	}
	setsockopt(sockets[1], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	pid = resolver_jobs_fork(&supervisor->openers, job);
	if (pid == 0)
		become_opener(self, sockets[0], descriptors, order);
	close(sockets[0]);
	if (pid > 0)
		descriptors[ORDER_JOB] = -1;
	result = pid < 0 ? (int)pid : hand_on(supervisor, order, job, sockets[1]);
	close(sockets[1]); /* the opener ends when nobody else holds it */
	/* EPIPE: it was killed just now */
	if (result < 0)
		end_job(job, result == -ESRCH || result == -EPIPE ? 0 : -result);
}

/* Takes one order. Ends the process when the program has closed its end, or is gone. */
static void take_order(struct supervisor *supervisor)
{
	struct resolver_order order;
	int descriptors[ORDER_DESCRIPTORS];
	const ssize_t received = resolver_message_receive(supervisor->openers.control, &order, sizeof(order),
							  descriptors, ORDER_DESCRIPTORS, MSG_DONTWAIT);

	if (received == -EAGAIN)
		return;
	if (received <= 0)
		_exit(EXIT_SUCCESS); /* resolver and openers die with this process */
	/* no descriptor left here: the kernel has closed them, the other end of the job's socket sees it */
	if (descriptors[ORDER_JOB] < 0)
		return;
	start_job(supervisor, &order, descriptors);
	for (size_t i = 0; i < ORDER_DESCRIPTORS; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
}

/* The resolver was killed, and all children with it: tells their jobs, and starts another. */
static void replace_resolver(struct supervisor *supervisor)
{
	close(supervisor->resolver_control);
	supervisor->resolver = 0;
	for (size_t i = 0; i < supervisor->openers.count; i++) {
		if (!supervisor->openers.items[i].killed)
			end_job(supervisor->openers.items[i].socket, 0);
	}
	(void)restart_resolver(supervisor);
}

static void reap(struct supervisor *supervisor)
{
	int socket, status;
	pid_t pid;

	while ((pid = resolver_jobs_reap(&supervisor->openers, &socket, &status)) != 0) {
		if (socket >= 0)
			close(socket);
		if (pid == supervisor->resolver)
			replace_resolver(supervisor);
	}
}

/* Keys of the terminal are for the program; this process ends with it. */
static void ignore_terminal(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void resolver_supervisor_run(int control, pid_t program, const struct resolver_task *task)
{
	struct supervisor supervisor = {.task = task};

	prctl(PR_SET_NAME, "ctop-supervisor", 0, 0, 0);
	ignore_terminal();
	if (descriptors_keep(&control, 1) < 0)
		_exit(EXIT_FAILURE);
	resolver_bind(program);
	if (resolver_jobs_open(&supervisor.openers, control) < 0 || !start_resolver(&supervisor))
		_exit(EXIT_FAILURE);
	for (;;) {
		const unsigned int events = resolver_jobs_wait(&supervisor.openers);

		if ((events & RESOLVER_JOBS_ENDED) != 0)
			reap(&supervisor);
		if ((events & RESOLVER_JOBS_ORDER) != 0)
			take_order(&supervisor);
	}
}
