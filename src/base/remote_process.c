/* SPDX-License-Identifier: GPL-2.0-only */
/* The process that makes the calls, and hangs where they do; and the one that replaces it. */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "descriptors.h"
#include "memory.h"
#include "remote_internal.h"
#include "rights.h"

enum {
	/* Processes that were killed and hang in the kernel all the same; with so many, no calls are made. */
	HANGING_MAX = 16,
};

void remote_bind(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
}

/* Receives all of it. False at the end. */
static bool receive_all(int socket, void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		const ssize_t count = recv(socket, (char *)data + done, size - done, 0);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

/* Takes a request, whose argument is in `argument`. False at the end. */
static bool receive_request(int socket, struct remote_request *ret_request, char *argument,
			    int *ret_directory)
{
	const size_t size = sizeof(*ret_request);
	size_t received, had;
	ssize_t count;

	do {
		count = remote_receive(socket, ret_request, size, argument, REMOTE_ARGUMENT_MAX,
				       ret_directory, 0);
	} while (count < 0 && errno == EINTR);
	received = count > 0 ? (size_t)count : 0;
	had = received > size ? received - size : 0;
	if (received == 0 ||
	    (received < size && !receive_all(socket, (char *)ret_request + received, size - received)))
		return false;
	/* a descriptor that there was no room for is no reason to answer about another directory */
	return ret_request->size <= REMOTE_ARGUMENT_MAX && had <= ret_request->size &&
	       receive_all(socket, argument + had, ret_request->size - had) &&
	       (ret_request->has_directory != 0) == (*ret_directory >= 0);
}

_Noreturn void remote_process_run(int socket, pid_t supervisor, bool use_rights)
{
	const uint32_t rights = RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_DAC_READ_SEARCH);
	char *argument = memory_allocate(REMOTE_ARGUMENT_MAX);
	struct buffer answer = {0};

	prctl(PR_SET_NAME, "ctop-remote", 0, 0, 0);
	if (descriptors_keep(&socket, 1) < 0)
		_exit(EXIT_FAILURE);
	remote_bind(supervisor);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* root's own are meant to count, and a process with fewer than its target may not read that */
	if (getuid() != 0)
		rights_limit(rights, use_rights ? rights : 0);
	for (;;) {
		struct remote_request request;
		struct remote_outcome outcome;
		uint64_t begun_ns;
		int directory;

		if (!receive_request(socket, &request, argument, &directory))
			_exit(EXIT_SUCCESS);
		begun_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		buffer_clear(&answer);
		outcome.result = request.work(directory, argument, request.size, &answer);
		if (answer.length > UINT32_MAX) {
			outcome.result = -EFBIG;
			buffer_clear(&answer);
		}
		outcome.size = (uint32_t)answer.length;
		outcome.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns;
		if (directory >= 0)
			close(directory);
		if (!remote_send(socket, &outcome, sizeof(outcome), answer.data, answer.length, -1, 0))
			_exit(EXIT_SUCCESS);
	}
}

struct supervisor {
	int control; /* of the program */
	bool use_rights;
	struct child process; /* that makes the calls; pid 0: there is none */
	struct child hanging[HANGING_MAX];
	size_t hanging_count;
};

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

/* Gives the process up, whatever it is doing. */
static void drop(struct supervisor *supervisor)
{
	reap(supervisor);
	if (supervisor->process.pid == 0)
		return;
	child_kill(&supervisor->process);
	supervisor->hanging[supervisor->hanging_count++] = supervisor->process;
	supervisor->process = (struct child){.handle = -1};
}

/* Forks the next one and tells the program. */
static void start(struct supervisor *supervisor)
{
	const pid_t self = getpid();
	struct remote_process told = {0};
	int sockets[2] = {-1, -1};

	/* there must be room to drop it */
	if (supervisor->hanging_count < HANGING_MAX &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0) {
		const pid_t pid = fork();

		if (pid == 0)
			remote_process_run(sockets[1], self, supervisor->use_rights);
		if (pid > 0) {
			supervisor->process = child_adopt(pid);
			told.pid = pid;
		}
		close(sockets[1]);
	}
	if (!remote_send(supervisor->control, &told, sizeof(told), NULL, 0, told.pid != 0 ? sockets[0] : -1,
			 MSG_DONTWAIT))
		_exit(EXIT_SUCCESS);
	if (sockets[0] >= 0)
		close(sockets[0]);
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

_Noreturn void remote_supervisor_run(int control, pid_t program, bool use_rights)
{
	struct supervisor supervisor = {.control = control, .use_rights = use_rights, .process.handle = -1};

	prctl(PR_SET_NAME, "ctop-remotes", 0, 0, 0);
	ignore_terminal();
	if (descriptors_keep(&supervisor.control, 1) < 0)
		_exit(EXIT_FAILURE);
	remote_bind(program);
	for (;;) {
		char byte;

		if (!receive_all(supervisor.control, &byte, sizeof(byte)))
			_exit(EXIT_SUCCESS);
		drop(&supervisor);
		start(&supervisor);
	}
}
