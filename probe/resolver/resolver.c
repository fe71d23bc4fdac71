/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/message.h"
#include "resolver_internal.h"

#define PATIENCE_NS (10 * NS_PER_S)

enum {
	SOCKET_TYPE = SOCK_SEQPACKET | SOCK_CLOEXEC,
	/* A child waits this long for a file to be opened. Disks that sleep take less, dead servers longer.
	 */
	OPEN_PATIENCE_SECONDS = 3,
	/* Openers that were killed and hang all the same; with so many, nothing is resolved. */
	HANGING_MAX = 128,
};

static void finish(struct resolve_job *job)
{
	if (job->socket >= 0)
		close(job->socket); /* processes that still run are killed for it */
	job->socket = -1;
}

static void finish_failed(struct resolve_job *job, enum heap_tag tag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void finish_failed(struct resolve_job *job, enum heap_tag tag, const char *format, ...)
{
	va_list arguments;

	memset(&job->resolution, 0, sizeof(job->resolution));
	job->resolution.tag = tag;
	va_start(arguments, format);
	vsnprintf(job->resolution.text, sizeof(job->resolution.text), format, arguments);
	va_end(arguments);
	finish(job);
}

/* Orders the process that opens files. Returns 0 or a negative errno. */
static int order_opener(int job, int files, int process_directory, int map, uint32_t object_count)
{
	struct opener_order opener = {.object_count = object_count};
	const struct supervisor_order order = {
		.work = resolver_opener_run,
		.report = SUPERVISOR_SAYS_FAILURE,
		.hanging_max = HANGING_MAX,
		.descriptors = {[OPENER_JOB] = job,
				[OPENER_FILES] = files,
				[OPENER_DIRECTORY] = process_directory,
				[OPENER_MAP] = map},
		.descriptor_count = OPENER_DESCRIPTORS,
		.argument = &opener,
		.size = sizeof(opener),
	};
	const int result = rights_read(&opener.rights);

	return result < 0 ? result : supervisor_fork(&order);
}

/* Orders the process that parses. Returns 0 or a negative errno. */
static int order_child(resolver_work *work, int job, int files, uint32_t object_count)
{
	const struct child_order child = {.work = work, .object_count = object_count};
	const struct supervisor_order order = {
		.work = resolver_child_run,
		.report = SUPERVISOR_SAYS_END,
		.hanging_max = HANGING_MAX,
		.descriptors = {[CHILD_JOB] = job, [CHILD_FILES] = files},
		.descriptor_count = CHILD_DESCRIPTORS,
		.argument = &child,
		.size = sizeof(child),
	};
	const struct timeval patience = {.tv_sec = OPEN_PATIENCE_SECONDS};

	setsockopt(files, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return supervisor_fork(&order);
}

/* Orders both processes of a job, which have `socket` of it. Returns 0 or a negative errno. */
static int order_processes(resolver_work *work, int socket, int process_directory,
			   const char *executable_path, const struct process_map *map)
{
	const uint32_t object_count = (uint32_t)map->count;
	const int map_file = resolver_opener_write_map(executable_path, map);
	int files[2], result;

	if (map_file < 0)
		return map_file;
	if (socketpair(AF_UNIX, SOCKET_TYPE, 0, files) == 0) {
		result = order_opener(socket, files[0], process_directory, map_file, object_count);
		if (result == 0)
			result = order_child(work, socket, files[1], object_count);
		/* each of the two ends when the other does not hold its end any more */
		close(files[0]);
		close(files[1]);
	} else {
		result = -errno;
	}
	close(map_file);
	return result;
}

/* Makes the socket of a job and orders its processes. Returns 0 or a negative errno. */
static int start_job(resolver_work *work, struct resolve_job *job, int process_directory,
		     const char *executable_path, const struct process_map *map)
{
	int sockets[2], result;

	if (socketpair(AF_UNIX, SOCKET_TYPE, 0, sockets) < 0)
		return -errno;
	job->socket = sockets[0];
	result = order_processes(work, sockets[1], process_directory, executable_path, map);
	close(sockets[1]);
	return result;
}

struct resolve_job *resolver_submit_for(resolver_work *work, uint64_t patience_ns, int process_directory,
					const char *executable_path, const struct process_map *map)
{
	struct resolve_job *job = memory_allocate_zero(1, sizeof(*job));
	int result;

	job->socket = -1;
	job->object_count = (uint32_t)map->count;
	job->deadline_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;
	result = start_job(work, job, process_directory, executable_path, map);
	if (result == -EPIPE || result == -ECONNRESET || result == -ESRCH)
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED, "its supervisor has ended");
	else if (result < 0)
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it could not be started: %s", strerror(-result));
	return job;
}

struct resolve_job *resolver_submit(int process_directory, const char *executable_path,
				    const struct process_map *map)
{
	return resolver_submit_for(resolve, PATIENCE_NS, process_directory, executable_path, map);
}

/* Signals by which a child may end, and their meaning. */
static const struct {
	int number;
	const char *words;
} signal_words[] = {
	{SIGSYS, "killed by SIGSYS: it made a forbidden system call"},
	{SIGXCPU, "killed by SIGXCPU: it used up its CPU time"},
	{SIGKILL, "killed by SIGKILL: out of memory, or killed by someone"},
	{SIGSEGV, "killed by SIGSEGV"},
	{SIGBUS, "killed by SIGBUS: the file became shorter"},
	{SIGABRT, "killed by SIGABRT"},
	{SIGILL, "killed by SIGILL"},
	{SIGFPE, "killed by SIGFPE"},
	{SIGTRAP, "killed by SIGTRAP"},
};

static void finish_ended(struct resolve_job *job, const struct supervisor_ended *ended)
{
	const int status = ended->wait_status;

	if (ended->error_number != 0) {
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it could not be started: %s",
			      strerror(ended->error_number));
		return;
	}
	if (!WIFSIGNALED(status)) {
		const int exit_status = WEXITSTATUS(status);

		if (exit_status == EXIT_SUCCESS)
			return; /* the opener hands its result on */
		if (exit_status == CHILD_EXECUTABLE_HANGS || exit_status == CHILD_LIBRARY_HANGS) {
			job->hangs_at_executable = exit_status == CHILD_EXECUTABLE_HANGS;
			finish_failed(job, HEAP_TAG_FILE_SYSTEM_HANGS, "%s could not be opened in time",
				      job->hangs_at_executable ? "the executable" : "a library");
			return;
		}
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "ended with status %d", WEXITSTATUS(status));
		return;
	}
	for (size_t i = 0; i < sizeof(signal_words) / sizeof(signal_words[0]); i++) {
		if (signal_words[i].number == WTERMSIG(status)) {
			finish_failed(job, HEAP_TAG_WORKER_PANIC, "%s", signal_words[i].words);
			return;
		}
	}
	finish_failed(job, HEAP_TAG_WORKER_PANIC, "killed by signal %d", WTERMSIG(status));
}

static void take_result(struct resolve_job *job, const struct resolver_result *message)
{
	const unsigned char *bytes = (const unsigned char *)message +
				     offsetof(struct resolver_result, resolution);

	if (resolution_check(bytes, job->object_count, &job->resolution))
		finish(job);
	else
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "its result is invalid");
}

/* Takes one message. Returns false without one. */
static bool take_message(struct resolve_job *job)
{
	union resolver_message received;
	struct message message = {.bytes = &received, .size = sizeof(received)};
	ssize_t size;

	memset(&received, 0, sizeof(received));
	size = message_receive(job->socket, &message, MSG_DONTWAIT | MSG_TRUNC);
	if (size == -EAGAIN)
		return false;
	if (size <= 0)
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED, "it was killed with its supervisor");
	else if (size == (ssize_t)sizeof(received.result) && received.kind == RESOLVER_MESSAGE_RESULT)
		take_result(job, &received.result);
	else if (size == (ssize_t)sizeof(received.ended) && received.kind == SUPERVISOR_ENDED)
		finish_ended(job, &received.ended);
	else
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it sent an invalid message");
	return true;
}

bool resolve_job_poll(struct resolve_job *job)
{
	while (job->socket >= 0 && take_message(job))
		;
	if (job->socket >= 0 && clock_ns(CLOCK_MONOTONIC) >= job->deadline_ns)
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it did not end in time");
	return job->socket < 0;
}

void resolve_job_release(struct resolve_job *job)
{
	if (job == NULL)
		return;
	finish(job);
	free(job);
}
