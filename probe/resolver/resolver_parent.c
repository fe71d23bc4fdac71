/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_parent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "resolver_message.h"

enum {
	CHILDREN_MAX = 128, /* the callers' own bound is far lower */
	FIXED_POLLS = 2,    /* the control socket, the signals */
};

struct child {
	pid_t pid;
	int socket;  /* the end that the child has too: tells when the job was given up */
	bool killed; /* for that reason; it will be reaped */
};

struct parent {
	int control, signals;
	const struct sandbox_filter *filter;
	resolver_work *work;
	struct child children[CHILDREN_MAX];
	size_t child_count;
};

static void send_ended(int socket, int error_number, int wait_status)
{
	struct resolver_ended message;

	memset(&message, 0, sizeof(message));
	message.kind = RESOLVER_MESSAGE_ENDED;
	message.error_number = error_number;
	message.wait_status = wait_status;
	/* nobody is left to be told when this fails */
	(void)send(socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What the fork leaves to the child. */
_Noreturn static void become_child(const struct parent *parent, pid_t parent_pid, int socket,
				   uint32_t object_count)
{
	sigset_t none;

	prctl(PR_SET_NAME, "ctop-resolve", 0, 0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent_pid)
		_exit(EXIT_FAILURE);
	socket = sandbox_close_others(socket);
	if (socket < 0)
		_exit(EXIT_FAILURE);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(resolver_child_run(socket, object_count, parent->filter, parent->work));
}

static void start_child(struct parent *parent, int socket, uint32_t object_count)
{
	const pid_t parent_pid = getpid();
	pid_t pid = -1;

	errno = EAGAIN;
	if (parent->child_count < CHILDREN_MAX)
		pid = fork();
	if (pid == 0)
		become_child(parent, parent_pid, socket, object_count);
	if (pid < 0) {
		send_ended(socket, errno, 0);
		close(socket);
		return;
	}
	parent->children[parent->child_count++] = (struct child){.pid = pid, .socket = socket};
}

/* Takes one order. Ends the process when the program has closed its end, or is gone. */
static void take_order(struct parent *parent)
{
	struct resolver_order order;
	struct iovec part = {.iov_base = &order, .iov_len = sizeof(order)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control)};
	const ssize_t received = recvmsg(parent->control, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *rights;
	int socket;

	if (received < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (received <= 0)
		_exit(EXIT_SUCCESS); /* the children die with this process */
	rights = CMSG_FIRSTHDR(&header);
	if (rights == NULL || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
	    rights->cmsg_len != CMSG_LEN(sizeof(int)))
		return; /* no descriptor left here: the kernel has closed the socket, its other end sees it */
	memcpy(&socket, CMSG_DATA(rights), sizeof(socket));
	if (received == (ssize_t)sizeof(order))
		start_child(parent, socket, order.object_count);
	else
		close(socket);
}

static void drop_child(struct parent *parent, size_t index)
{
	close(parent->children[index].socket);
	parent->children[index] = parent->children[--parent->child_count];
}

static void reap_children(struct parent *parent)
{
	struct signalfd_siginfo information;
	int status;
	pid_t pid;

	/* one signal may stand for several children */
	(void)!read(parent->signals, &information, sizeof(information));
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < parent->child_count; i++) {
			if (parent->children[i].pid != pid)
				continue;
			send_ended(parent->children[i].socket, 0, status);
			drop_child(parent, i);
			break;
		}
	}
}

static void serve(struct parent *parent)
{
	struct pollfd polls[FIXED_POLLS + CHILDREN_MAX] = {
		{.fd = parent->control, .events = POLLIN},
		{.fd = parent->signals, .events = POLLIN},
	};

	for (size_t i = 0; i < parent->child_count; i++)
		polls[FIXED_POLLS + i].fd = parent->children[i].killed ? -1 : parent->children[i].socket;
	if (poll(polls, FIXED_POLLS + parent->child_count, -1) < 0)
		return;
	for (size_t i = 0; i < parent->child_count; i++) {
		if (polls[FIXED_POLLS + i].revents == 0)
			continue;
		kill(parent->children[i].pid, SIGKILL);
		parent->children[i].killed = true;
	}
	if (polls[1].revents != 0)
		reap_children(parent);
	if (polls[0].revents != 0)
		take_order(parent);
}

/* Keys of the terminal are for the program; this process ends with it. */
static void ignore_terminal(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
}

void resolver_parent_run(int control, pid_t program, const struct sandbox_filter *filter, resolver_work *work)
{
	struct parent parent = {.filter = filter, .work = work};
	sigset_t child_signal;
	int score;

	prctl(PR_SET_NAME, "ctop-resolver", 0, 0, 0);
	ignore_terminal();
	parent.control = sandbox_close_others(control);
	if (parent.control < 0)
		_exit(EXIT_FAILURE);
	/* A debug file that needs too much memory must not cost anybody else his life (proc(5)). */
	score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0) {
		(void)file_write_all(score, "1000", strlen("1000"));
		close(score);
	}
	if (sandbox_drop_capabilities() < 0)
		_exit(EXIT_FAILURE);
	/* Besides the end of the socket; after the capabilities, whose change may clear it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != program)
		_exit(EXIT_FAILURE);
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child_signal, NULL);
	parent.signals = signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
	if (parent.signals < 0)
		_exit(EXIT_FAILURE);
	for (;;)
		serve(&parent);
}
