/* SPDX-License-Identifier: GPL-2.0-only */
/* The process between ctop and who reads: it never reads a file itself, and so it always answers. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "lookup_internal.h"

enum {
	/* Readers that were killed and hang in the kernel all the same; with so many, nothing is read. */
	HANGING_MAX = 8,
};

struct supervisor {
	const struct lookup_source *source;
	int program; /* socket of ctop */
	struct child reader;
	int socket; /* of the reader, -1: there is none */
	struct child hanging[HANGING_MAX];
	size_t hanging_count;
};

void lookup_bind(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
}

/* Collects those that have come back from the kernel. */
static void reap(struct supervisor *supervisor)
{
	size_t kept = 0;

	for (size_t i = 0; i < supervisor->hanging_count; i++) {
		if (!child_reap(&supervisor->hanging[i], NULL))
			supervisor->hanging[kept++] = supervisor->hanging[i];
	}
	supervisor->hanging_count = kept;
}

static bool start_reader(struct supervisor *supervisor)
{
	const pid_t self = getpid();
	int sockets[2];
	pid_t pid;

	reap(supervisor);
	if (supervisor->hanging_count == HANGING_MAX ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		lookup_reader_run(sockets[1], self, supervisor->source);
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return false;
	}
	supervisor->reader = child_adopt(pid);
	supervisor->socket = sockets[0];
	return true;
}

/* Gives the reader up, whatever it is doing. */
static void drop_reader(struct supervisor *supervisor)
{
	child_kill(&supervisor->reader);
	close(supervisor->socket);
	supervisor->socket = -1;
	supervisor->hanging[supervisor->hanging_count++] = supervisor->reader;
	reap(supervisor);
}

/* Waits for an answer. False: there is none in time, or the reader has ended. */
static bool wait_for_answer(struct supervisor *supervisor, struct lookup_answer *ret_answer)
{
	const uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + LOOKUP_DEADLINE_NS;

	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct pollfd answer = {.fd = supervisor->socket, .events = POLLIN};

		if (now >= deadline_ns)
			return false;
		if (poll(&answer, 1, (int)((deadline_ns - now) / NS_PER_MS) + 1) > 0)
			break;
	}
	return lookup_answer_is_whole(
		ret_answer, recv(supervisor->socket, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT));
}

static void serve(struct supervisor *supervisor, const struct lookup_request *request)
{
	struct lookup_answer answer;
	bool answered = false;

	if (supervisor->socket >= 0 || start_reader(supervisor)) {
		answered = send(supervisor->socket, request, sizeof(*request), MSG_DONTWAIT | MSG_NOSIGNAL) ==
				   (ssize_t)sizeof(*request) &&
			   wait_for_answer(supervisor, &answer);
		if (!answered)
			drop_reader(supervisor);
	}
	if (!answered) {
		answer.reason = answer.detail_reason = REASON_NOT_READ;
		answer.length = 0;
		answer.text[0] = '\0';
	}
	answer.request = *request;
	if (send(supervisor->program, &answer, lookup_answer_size(&answer), MSG_NOSIGNAL) < 0 &&
	    errno != EINTR)
		_exit(EXIT_SUCCESS);
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

void lookup_supervisor_run(int socket, pid_t program, const struct lookup_source *source)
{
	struct supervisor supervisor = {.source = source, .program = socket, .socket = -1};

	prctl(PR_SET_NAME, "ctop-lookup", 0, 0, 0);
	ignore_terminal();
	if (descriptors_keep(&supervisor.program, 1) < 0)
		_exit(EXIT_FAILURE);
	lookup_bind(program);
	for (;;) {
		struct lookup_request request;
		const ssize_t size = recv(supervisor.program, &request, sizeof(request), 0);

		if (size < 0 && errno == EINTR)
			continue;
		if (size != (ssize_t)sizeof(request))
			_exit(EXIT_SUCCESS);
		serve(&supervisor, &request);
	}
}
