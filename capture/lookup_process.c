/* SPDX-License-Identifier: GPL-2.0-only */
#include "lookup_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/memory.h"
#include "lookup_internal.h"

struct lookup_process {
	struct child supervisor;
	int socket;
	bool gone;
};

int lookup_process_start(const char *proc_root, struct lookup_process **ret_process, struct error *error)
{
	const struct lookup_source source = {.proc_root = proc_root};
	const pid_t program = getpid();
	struct lookup_process *process;
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_set(error, -errno, "cannot create a socket: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		lookup_supervisor_run(sockets[1], program, &source);
	close(sockets[1]);
	if (pid < 0) {
		const int result = -errno;

		close(sockets[0]);
		return error_set(error, result, "cannot fork: %s", strerror(-result));
	}
	process = memory_allocate(sizeof(*process));
	*process = (struct lookup_process){.supervisor = child_adopt(pid), .socket = sockets[0]};
	*ret_process = process;
	return 0;
}

void lookup_process_stop(struct lookup_process *process)
{
	if (process == NULL)
		return;
	close(process->socket);
	/* who reads goes with it (PR_SET_PDEATHSIG), as soon as the kernel lets it */
	child_end(&process->supervisor);
	free(process);
}

int lookup_process_descriptor(const struct lookup_process *process)
{
	return process->gone ? -1 : process->socket;
}

bool lookup_process_ask(struct lookup_process *process, const struct lookup_request *request)
{
	return !process->gone && send(process->socket, request, sizeof(*request),
				      MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(*request);
}

bool lookup_process_receive(struct lookup_process *process, struct lookup_answer *ret_answer)
{
	while (!process->gone) {
		const ssize_t size = recv(process->socket, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);

		if (size < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (lookup_answer_is_whole(ret_answer, size))
			return true;
		process->gone = size <= 0;
	}
	return false;
}

bool lookup_process_is_gone(const struct lookup_process *process)
{
	return process->gone;
}
