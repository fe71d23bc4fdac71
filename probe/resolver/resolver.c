/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_process.h"

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

#include "base/child.h"
#include "base/clock.h"
#include "base/memory.h"
#include "resolution_check.h"

#define PATIENCE_NS (10 * NS_PER_S)

enum {
	SOCKET_TYPE = SOCK_SEQPACKET | SOCK_CLOEXEC,
};

struct resolver {
	struct child supervisor;
	pid_t parent; /* the resolver, 0 while there is none */
	int control;
	uint64_t patience_ns;
};

struct resolve_job {
	int socket;
	uint64_t deadline_ns;
	uint32_t object_count;
	bool done;
	bool hangs_at_executable;     /* the tag is file-system-hangs, for the executable itself */
	struct resolution resolution; /* once done */
};

/* What the supervisor tells, as far as it is there; with `flags` 0 waits for it. */
static void take_news(struct resolver *resolver, int flags)
{
	pid_t parent;

	while (resolver_message_receive(resolver->control, &parent, sizeof(parent), NULL, 0, flags) ==
	       (ssize_t)sizeof(parent)) {
		resolver->parent = parent;
		flags = MSG_DONTWAIT;
	}
}

int resolver_start_work(resolver_work *work, uint64_t patience_ns, struct resolver **ret_resolver,
			struct error *error)
{
	const pid_t program = getpid();
	struct resolver_task task = {.work = work};
	struct resolver *resolver;
	int sockets[2];
	pid_t supervisor;
	int result = sandbox_filter_create(&task.filter, error);

	if (result < 0)
		return result;
	if (socketpair(AF_UNIX, SOCKET_TYPE, 0, sockets) < 0) {
		result = error_set(error, -errno, "cannot create a socket: %s", strerror(errno));
		seccomp_release(task.filter);
		return result;
	}
	supervisor = fork();
	if (supervisor == 0)
		resolver_supervisor_run(sockets[1], program, &task);
	result = -errno;
	seccomp_release(task.filter);
	close(sockets[1]);
	if (supervisor < 0) {
		close(sockets[0]);
		return error_set(error, result, "cannot fork: %s", strerror(-result));
	}
	resolver = memory_allocate(sizeof(*resolver));
	*resolver = (struct resolver){
		.supervisor = child_adopt(supervisor), .control = sockets[0], .patience_ns = patience_ns};
	take_news(resolver, 0);
	*ret_resolver = resolver;
	return 0;
}

int resolver_start(struct resolver **ret_resolver, struct error *error)
{
	return resolver_start_work(resolve, PATIENCE_NS, ret_resolver, error);
}

void resolver_stop(struct resolver *resolver)
{
	if (resolver == NULL)
		return;
	close(resolver->control);
	/* what it has forked goes with it: PR_SET_PDEATHSIG */
	child_end(&resolver->supervisor);
	free(resolver);
}

void resolver_tend(struct resolver *resolver)
{
	take_news(resolver, MSG_DONTWAIT);
	if (child_reap(&resolver->supervisor, NULL))
		resolver->parent = 0;
}

bool resolver_owns(const struct resolver *resolver, pid_t process)
{
	return process == resolver->supervisor.pid || process == resolver->parent;
}

static void finish(struct resolve_job *job)
{
	if (job->socket >= 0)
		close(job->socket); /* processes that still run are killed for it */
	job->socket = -1;
	job->done = true;
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

/* Makes the socket of a job and sends the order. Returns 0 or a negative errno. */
static int send_order(struct resolver *resolver, struct resolve_job *job, int process_directory,
		      const char *executable_path, const struct process_map *map)
{
	struct resolver_order order = {.object_count = (uint32_t)map->count};
	int descriptors[ORDER_DESCRIPTORS] = {[ORDER_DIRECTORY] = process_directory};
	int sockets[2], result = rights_read(&order.rights);

	if (result < 0)
		return result;
	descriptors[ORDER_MAP] = resolver_order_write(executable_path, map);
	if (descriptors[ORDER_MAP] < 0)
		return descriptors[ORDER_MAP];
	if (socketpair(AF_UNIX, SOCKET_TYPE, 0, sockets) < 0) {
		result = -errno;
	} else {
		job->socket = sockets[0];
		descriptors[ORDER_JOB] = sockets[1];
		result = resolver_message_send(resolver->control, &order, sizeof(order), descriptors,
					       ORDER_DESCRIPTORS, MSG_DONTWAIT);
		close(sockets[1]);
	}
	close(descriptors[ORDER_MAP]);
	return result;
}

struct resolve_job *resolver_submit(struct resolver *resolver, int process_directory,
				    const char *executable_path, const struct process_map *map)
{
	struct resolve_job *job = memory_allocate_zero(1, sizeof(*job));
	int result;

	resolver_tend(resolver);
	job->socket = -1;
	job->object_count = (uint32_t)map->count;
	job->deadline_ns = clock_ns(CLOCK_MONOTONIC) + resolver->patience_ns;
	result = send_order(resolver, job, process_directory, executable_path, map);
	if (result == -EPIPE || result == -ECONNRESET)
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED, "its supervisor has ended");
	else if (result < 0)
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it could not be started: %s", strerror(-result));
	return job;
}

/* Signals by which a child may end, as far as that tells something. */
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

static void finish_ended(struct resolve_job *job, const struct resolver_ended *ended)
{
	const int status = ended->wait_status;

	if (ended->error_number != 0) {
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it could not be started: %s",
			      strerror(ended->error_number));
		return;
	}
	if (ended->without_resolver != 0) {
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED,
			      "it was killed, by somebody or for lack of memory");
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

/* Takes one message. Returns false when there is none. */
static bool take_message(struct resolve_job *job)
{
	union resolver_message message;
	ssize_t received;

	memset(&message, 0, sizeof(message));
	received = resolver_message_receive(job->socket, &message, sizeof(message), NULL, 0, MSG_DONTWAIT);
	if (received == -EAGAIN)
		return false;
	if (received <= 0)
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED, "it was killed with its supervisor");
	else if (received == (ssize_t)sizeof(message.result) && message.kind == RESOLVER_MESSAGE_RESULT)
		take_result(job, &message.result);
	else if (received == (ssize_t)sizeof(message.ended) && message.kind == RESOLVER_MESSAGE_ENDED)
		finish_ended(job, &message.ended);
	else
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it sent an invalid message");
	return true;
}

bool resolve_job_poll(struct resolve_job *job, struct resolution *ret_resolution)
{
	while (!job->done && take_message(job))
		;
	if (!job->done && clock_ns(CLOCK_MONOTONIC) >= job->deadline_ns)
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it did not end in time");
	if (job->done)
		*ret_resolution = job->resolution;
	return job->done;
}

int resolve_job_descriptor(const struct resolve_job *job)
{
	return job->socket;
}

bool resolve_job_hangs_at_executable(const struct resolve_job *job)
{
	return job->hangs_at_executable;
}

uint64_t resolve_job_deadline_ns(const struct resolve_job *job)
{
	return job->deadline_ns;
}

void resolve_job_release(struct resolve_job *job)
{
	if (job == NULL)
		return;
	if (!job->done)
		finish(job);
	free(job);
}
