/* SPDX-License-Identifier: GPL-2.0-only */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cmd/line/command.h"

enum {
	NOT_FOUND = 127,
	NOT_EXECUTABLE = 126,
	SIGNALLED = 128, /* and the signal */
};

/* Waits for a byte; an end without one means that nothing is to be run. */
static _Noreturn void run(char *const words[], int start)
{
	char go;
	ssize_t count;

	do {
		count = read(start, &go, 1);
	} while (count < 0 && errno == EINTR);
	if (count != 1)
		_exit(0);
	execvp(words[0], words);
	command_note("cannot run %s: %s", words[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* The parent of the command: tells ctop its wait status. Keeps nothing else of ctop open. */
static _Noreturn void keep(char *const words[], int start, int status)
{
	int wait_status = 0, kept[] = {start, status};
	pid_t child;

	if (file_keep_descriptors(kept, ARRAY_COUNT(kept)) < 0)
		_exit(1);
	child = fork();
	if (child == 0)
		run(words, kept[0]);
	close(kept[0]);
	/* they are for the command */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (child > 0 && waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
		;
	if (child > 0)
		(void)!write(kept[1], &wait_status, sizeof(wait_status));
	_exit(0);
}

int workload_prepare(char *const words[], struct workload *ret_workload, struct error *error)
{
	int start[2], status[2], ended;
	pid_t child;

	if (pipe2(start, O_CLOEXEC) < 0)
		return error_set(error, -errno, "cannot run %s: %s", words[0], strerror(errno));
	if (pipe2(status, O_CLOEXEC) < 0) {
		close(start[0]);
		close(start[1]);
		return error_set(error, -errno, "cannot run %s: %s", words[0], strerror(errno));
	}
	child = fork();
	if (child == 0) {
		/* the keeper's parent ends, so that it belongs to init */
		if (fork() == 0)
			keep(words, start[0], status[1]);
		_exit(0);
	}
	close(start[0]);
	close(status[1]);
	while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR)
		;
	*ret_workload = (struct workload){start[1], status[0]};
	if (child > 0)
		return 0;
	close(start[1]);
	close(status[0]);
	return error_set(error, -errno, "cannot run %s: %s", words[0], strerror(errno));
}

void workload_start(const struct workload *workload)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	(void)!write(workload->start, "", 1);
}

int workload_descriptor(const struct workload *workload)
{
	return workload->status;
}

int workload_end(struct workload *workload)
{
	int status = 0;
	ssize_t count;

	close(workload->start);
	do {
		count = read(workload->status, &status, sizeof(status));
	} while (count < 0 && errno == EINTR);
	close(workload->status);
	if (count != sizeof(status)) {
		command_note("the command did not run, or its parent was killed: its status is unknown");
		return WORKLOAD_FAILED;
	}
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}
