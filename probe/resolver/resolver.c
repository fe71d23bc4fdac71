/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_private.h"

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
#include "object_files.h"
#include "resolution_check.h"
#include "probe/dwarf/resolve.h"
#include "resolver_message.h"

#define PATIENCE_NS (10 * NS_PER_S)

enum {
	REQUESTS_MAX = 16384,   /* of one child: a few a library */
	REQUESTS_AT_ONCE = 256, /* in one poll */
	SOCKET_TYPE = SOCK_SEQPACKET | SOCK_CLOEXEC,
};

struct resolver {
	pid_t parent;
	int control;
	uint64_t patience_ns;
};

struct resolve_job {
	int socket;
	uint64_t deadline_ns;
	struct object_files files;
	uint32_t requests;
	bool done;
	struct resolution resolution; /* once done */
};

int resolver_start_work(resolver_work *work, uint64_t patience_ns, struct resolver **ret_resolver,
			struct error *error)
{
	const pid_t program = getpid();
	struct sandbox_filter *filter;
	int sockets[2];
	pid_t parent;
	int result = sandbox_filter_create(&filter, error);

	if (result < 0)
		return result;
	if (socketpair(AF_UNIX, SOCKET_TYPE, 0, sockets) < 0) {
		result = error_set(error, -errno, "cannot create a socket: %s", strerror(errno));
		sandbox_filter_release(filter);
		return result;
	}
	parent = fork();
	if (parent == 0)
		resolver_parent_run(sockets[1], program, filter, work);
	result = -errno;
	sandbox_filter_release(filter);
	close(sockets[1]);
	if (parent < 0) {
		close(sockets[0]);
		return error_set(error, result, "cannot fork: %s", strerror(-result));
	}
	*ret_resolver = memory_allocate(sizeof(**ret_resolver));
	**ret_resolver = (struct resolver){
		.parent = parent, .control = sockets[0], .patience_ns = patience_ns};
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
	/* its children go with it: PR_SET_PDEATHSIG */
	kill(resolver->parent, SIGKILL);
	while (waitpid(resolver->parent, NULL, 0) < 0 && errno == EINTR)
		;
	free(resolver);
}

pid_t resolver_parent_id(const struct resolver *resolver)
{
	return resolver->parent;
}

/* Sends a message and perhaps a descriptor, never waiting. Returns 0 or a negative errno. */
static int send_with_descriptor(int socket, const void *message, size_t size, int descriptor)
{
	struct iovec part = {.iov_base = (void *)message, .iov_len = size};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (descriptor >= 0) {
		struct cmsghdr *rights;

		memset(&control, 0, sizeof(control));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &descriptor, sizeof(descriptor));
	}
	return sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void finish(struct resolve_job *job)
{
	if (job->socket >= 0)
		close(job->socket); /* a child that still runs is killed for it */
	job->socket = -1;
	object_files_close(&job->files);
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

struct resolve_job *resolver_submit(struct resolver *resolver, int process_directory,
				    const char *executable_path, const struct process_map *map)
{
	const struct resolver_order order = {.object_count = (uint32_t)map->count};
	struct resolve_job *job = memory_allocate_zero(1, sizeof(*job));
	int sockets[2];
	int result;

	job->socket = -1;
	job->deadline_ns = clock_ns(CLOCK_MONOTONIC) + resolver->patience_ns;
	result = object_files_open(&job->files, process_directory, executable_path, map);
	if (result == 0 && socketpair(AF_UNIX, SOCKET_TYPE, 0, sockets) < 0)
		result = -errno;
	if (result == 0) {
		job->socket = sockets[0];
		result = send_with_descriptor(resolver->control, &order, sizeof(order), sockets[1]);
		close(sockets[1]);
	}
	if (result < 0)
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
	if (!WIFSIGNALED(status)) {
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

static void answer(struct resolve_job *job, const struct resolver_open *request)
{
	struct resolver_answer message = {0};
	int descriptor = -EINVAL;
	int result;

	if (++job->requests > REQUESTS_MAX) {
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it asked for more than %d files", REQUESTS_MAX);
		return;
	}
	if (memchr(request->name, '\0', sizeof(request->name)) != NULL)
		descriptor = object_files_ask(&job->files, request->object, request->file, request->name,
					      request->ordinal);
	if (descriptor < 0)
		message.result = descriptor;
	result = send_with_descriptor(job->socket, &message, sizeof(message), descriptor);
	if (descriptor >= 0)
		close(descriptor);
	/* EPIPE: it has ended, and how is still to be read */
	if (result < 0 && result != -EPIPE)
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "it does not take what it asked for: %s",
			      strerror(-result));
}

static void take_result(struct resolve_job *job, const struct resolver_result *message)
{
	const unsigned char *bytes = (const unsigned char *)message +
				     offsetof(struct resolver_result, resolution);

	if (resolution_check(bytes, (uint32_t)job->files.map.count, &job->resolution))
		finish(job);
	else
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "its result is invalid");
}

/* Takes one message. Returns false when there is none. */
static bool take_message(struct resolve_job *job)
{
	union resolver_message message;
	ssize_t received;

	/* Descriptors that a child might send along are not taken: the kernel closes them. */
	memset(&message, 0, sizeof(message));
	received = recv(job->socket, &message, sizeof(message), MSG_DONTWAIT | MSG_TRUNC);
	if (received < 0 && errno == EINTR)
		return true;
	if (received < 0 && errno == EAGAIN)
		return false;
	if (received <= 0)
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "the resolver has ended");
	else if (received == (ssize_t)sizeof(message.open) && message.kind == RESOLVER_MESSAGE_OPEN)
		answer(job, &message.open);
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
	for (int i = 0; i < REQUESTS_AT_ONCE && !job->done; i++) {
		if (!take_message(job))
			break;
	}
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

uint64_t resolve_job_deadline_ns(const struct resolve_job *job)
{
	return job->done ? 0 : job->deadline_ns;
}

void resolve_job_release(struct resolve_job *job)
{
	if (job == NULL)
		return;
	if (!job->done)
		finish(job);
	free(job);
}
