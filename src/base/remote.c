/* SPDX-License-Identifier: GPL-2.0-only */
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "memory.h"
#include "remote_internal.h"

/*
 * How long a call may wait: a lock that nobody holds on to is free in far less than a millisecond. Where
 * several calls have hung, those that do not have all come back by then, and many that do shall not add up to
 * a screen that stands still.
 */
#define PATIENCE_NS       (100 * NS_PER_MS)
#define PATIENCE_LEAST_NS (5 * NS_PER_MS)
#define HASTE_NS          (10 * NS_PER_S)
/* How long one may run: the memory of the largest processes takes seconds to look through. */
#define WORK_PATIENCE_NS (10 * NS_PER_S)
/* How long who was waited for in vain is left in peace: at first, and at most. */
#define PAUSE_FIRST_NS (5 * NS_PER_S)
#define PAUSE_MOST_NS  (60 * NS_PER_S)
/* How long the supervisor has for a fork, also on a host that is short of CPU time. */
#define FORK_PATIENCE_NS (5 * NS_PER_S)
/* When it is asked again after it had none to give. */
#define FORK_PAUSE_NS NS_PER_S

enum {
	ANSWER_USUAL = 32 * 1024, /* bytes that are taken along with the outcome */
};

/* A process that was waited for in vain. */
struct held {
	pid_t about;
	int socket; /* of who waits for it still, -1: nobody does */
	uint64_t pause_ns, until_ns;
};

struct remote {
	struct child supervisor;
	int control;            /* of the supervisor; -1: it is gone */
	int socket;             /* of the process that makes the calls; -1: there is none */
	pid_t pid;              /* of it */
	uint64_t patience_ns;   /* that its socket has */
	uint64_t none_until_ns; /* there is none, and none is asked for before */
	uint64_t cpu_ns;
	struct held *held;
	size_t held_count, held_capacity;
	uint64_t late_since_ns; /* the first of the calls that count as late */
	unsigned int late;      /* their number */
};

int remote_start(bool use_rights, struct remote **ret_remote, struct error *error)
{
	const pid_t program = getpid();
	struct remote *remote;
	int sockets[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_set(error, -errno, "cannot create a socket: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		remote_supervisor_run(sockets[1], program, use_rights);
	close(sockets[1]);
	if (pid < 0) {
		const int result = -errno;

		close(sockets[0]);
		return error_set(error, result, "cannot fork: %s", strerror(-result));
	}
	remote = memory_allocate_zero(1, sizeof(*remote));
	*remote = (struct remote){.supervisor = child_adopt(pid), .control = sockets[0], .socket = -1};
	*ret_remote = remote;
	return 0;
}

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

void remote_stop(struct remote *remote)
{
	if (remote == NULL)
		return;
	close_descriptor(&remote->control);
	close_descriptor(&remote->socket);
	for (size_t i = 0; i < remote->held_count; i++)
		close_descriptor(&remote->held[i].socket);
	/* who makes calls goes with it (PR_SET_PDEATHSIG), as soon as the kernel lets it */
	child_end(&remote->supervisor);
	free(remote->held);
	free(remote);
}

uint64_t remote_cpu_ns(const struct remote *remote)
{
	return remote != NULL ? remote->cpu_ns : 0;
}

bool remote_owns(const struct remote *remote, pid_t pid)
{
	return remote != NULL && (pid == remote->pid || pid == remote->supervisor.pid);
}

/* --- who is not asked about --- */

static struct held *find_held(struct remote *remote, pid_t about)
{
	for (size_t i = 0; i < remote->held_count; i++) {
		if (remote->held[i].about == about)
			return &remote->held[i];
	}
	return NULL;
}

/* Whether somebody waits for that process still: else its end of the socket is closed. */
static bool is_waited_for(struct held *held)
{
	char byte;

	if (held->socket < 0)
		return false;
	if (recv(held->socket, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	close_descriptor(&held->socket);
	return false;
}

static void forget_held(struct remote *remote, struct held *held)
{
	close_descriptor(&held->socket);
	*held = remote->held[--remote->held_count];
}

/* Forgets those that nobody has asked about for long. */
static void forget_old(struct remote *remote, uint64_t now_ns)
{
	for (size_t i = remote->held_count; i-- > 0;) {
		struct held *held = &remote->held[i];

		if (now_ns > held->until_ns + PAUSE_MOST_NS && !is_waited_for(held))
			forget_held(remote, held);
	}
}

/* A call about that process has not come back: leaves it to who makes it. */
static void hold(struct remote *remote, pid_t about)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct held *held = find_held(remote, about);

	if (held == NULL) {
		forget_old(remote, now_ns);
		held = MEMORY_APPEND(remote->held, remote->held_count, remote->held_capacity);
		*held = (struct held){.about = about, .socket = -1, .pause_ns = PAUSE_FIRST_NS / 2};
	}
	held->pause_ns = 2 * held->pause_ns < PAUSE_MOST_NS ? 2 * held->pause_ns : PAUSE_MOST_NS;
	held->until_ns = now_ns + held->pause_ns;
	close_descriptor(&held->socket);
	held->socket = remote->socket;
	remote->socket = -1;
	remote->pid = 0;
	if (remote->late == 0 || now_ns - remote->late_since_ns > HASTE_NS) {
		remote->late = 0;
		remote->late_since_ns = now_ns;
	}
	remote->late++;
}

static uint64_t patience(const struct remote *remote, uint64_t now_ns)
{
	const bool hurried = remote->late != 0 && now_ns - remote->late_since_ns <= HASTE_NS;
	const uint64_t patience_ns = hurried ? PATIENCE_NS / (1 + remote->late) : PATIENCE_NS;

	return patience_ns > PATIENCE_LEAST_NS ? patience_ns : PATIENCE_LEAST_NS;
}

/* --- messages --- */

/* Waits until `descriptor` is readable. False: it is not in time. */
static bool wait_readable(int descriptor, uint64_t deadline_ns)
{
	for (;;) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		struct pollfd wait = {.fd = descriptor, .events = POLLIN};
		const uint64_t left_ns = now_ns < deadline_ns ? deadline_ns - now_ns : 0;

		if (poll(&wait, 1, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS)) > 0)
			return true;
		if (left_ns == 0)
			return false;
	}
}

/* Has the supervisor replace the process that makes calls, or start the first. */
static bool start_process(struct remote *remote)
{
	const char byte = 0;
	struct remote_process told = {0};

	if (remote->control < 0 || clock_ns(CLOCK_MONOTONIC) < remote->none_until_ns)
		return false;
	if (!remote_send(remote->control, &byte, sizeof(byte), NULL, 0, -1, MSG_DONTWAIT) ||
	    !wait_readable(remote->control, clock_ns(CLOCK_MONOTONIC) + FORK_PATIENCE_NS) ||
	    remote_receive(remote->control, &told, sizeof(told), NULL, 0, &remote->socket, MSG_DONTWAIT) !=
		    (ssize_t)sizeof(told)) {
		close_descriptor(&remote->control);
		close_descriptor(&remote->socket);
		return false;
	}
	remote->pid = told.pid;
	remote->patience_ns = 0;
	if (remote->socket < 0)
		remote->none_until_ns = clock_ns(CLOCK_MONOTONIC) + FORK_PAUSE_NS;
	return remote->socket >= 0;
}

/*
 * Whether the process runs or would like to: then it is at work, or the host is short of CPU time. One that
 * waits for a lock does not (state D, proc_pid_stat(5)).
 */
static bool is_running(pid_t pid)
{
	char path[32], text[512];
	ssize_t length;
	const char *end;
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return false;
	length = read(descriptor, text, sizeof(text) - 1);
	close(descriptor);
	if (length <= 0)
		return false;
	text[length] = '\0';
	end = strrchr(text, ')');
	return end != NULL && strncmp(end, ") R", 3) == 0;
}

/* For how long receiving from the process waits. */
static bool set_patience(struct remote *remote, uint64_t patience_ns)
{
	const struct timeval time = {
		.tv_sec = (time_t)(patience_ns / NS_PER_S),
		.tv_usec = (suseconds_t)(patience_ns % NS_PER_S / 1000),
	};

	if (remote->patience_ns == patience_ns)
		return true;
	remote->patience_ns = patience_ns;
	return setsockopt(remote->socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0;
}

/*
 * Takes what there is of a call's outcome, as soon as there is some. Returns the number of bytes, -ETIMEDOUT,
 * or -EIO when who makes the call has ended.
 */
static ssize_t take_some(struct remote *remote, void *first, size_t first_size, void *second,
			 size_t second_size)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	int flags = 0;

	if (!set_patience(remote, patience(remote, begun_ns)))
		return -EIO;
	for (;;) {
		int descriptor;
		const ssize_t count = remote_receive(remote->socket, first, first_size, second, second_size,
						     &descriptor, flags);

		if (count > 0)
			return count;
		if (count == 0 || (errno != EAGAIN && errno != EINTR))
			return -EIO;
		if (errno == EINTR)
			continue;
		if (flags != 0)
			return -ETIMEDOUT;
		/* the answer may have come just now */
		if (clock_ns(CLOCK_MONOTONIC) - begun_ns > WORK_PATIENCE_NS || !is_running(remote->pid))
			flags = MSG_DONTWAIT;
	}
}

static int take_outcome(struct remote *remote, struct buffer *answer, int *ret_result)
{
	struct remote_outcome outcome;
	size_t done = 0;

	buffer_reserve(answer, ANSWER_USUAL);
	while (done < sizeof(outcome)) {
		const ssize_t count = take_some(remote, (char *)&outcome + done, sizeof(outcome) - done,
						answer->data, ANSWER_USUAL);

		if (count < 0)
			return (int)count;
		done += (size_t)count;
	}
	answer->length = done - sizeof(outcome);
	if (answer->length > outcome.size)
		return -EIO;
	buffer_reserve(answer, outcome.size - answer->length);
	while (answer->length < outcome.size) {
		const ssize_t count = take_some(remote, answer->data + answer->length,
						outcome.size - answer->length, NULL, 0);

		if (count < 0)
			return (int)count;
		answer->length += (size_t)count;
	}
	answer->data[answer->length] = '\0';
	remote->cpu_ns += outcome.cpu_ns;
	*ret_result = outcome.result;
	return 0;
}

static bool send_request(struct remote *remote, remote_work *work, int directory, const void *argument,
			 size_t size)
{
	const struct remote_request request = {
		.work = work,
		.size = (uint32_t)size,
		.has_directory = directory >= 0,
	};

	return remote_send(remote->socket, &request, sizeof(request), argument, size, directory,
			   MSG_DONTWAIT);
}

int remote_call(struct remote *remote, pid_t about, remote_work *work, int directory, const void *argument,
		size_t size, struct buffer *ret_answer)
{
	struct held *held;
	int result, outcome = 0;

	buffer_clear(ret_answer);
	if (remote == NULL)
		return work(directory, argument, size, ret_answer);
	held = find_held(remote, about);
	if (held != NULL && (is_waited_for(held) || clock_ns(CLOCK_MONOTONIC) < held->until_ns))
		return -ETIMEDOUT;
	if (remote->socket < 0 && !start_process(remote))
		return remote->control < 0 ? -EIO : -ETIMEDOUT;
	/* who was ended by somebody else is replaced the next time */
	result = send_request(remote, work, directory, argument, size)
			 ? take_outcome(remote, ret_answer, &outcome)
			 : -EIO;
	if (result == -ETIMEDOUT)
		hold(remote, about);
	else if (result < 0)
		close_descriptor(&remote->socket);
	else if (held != NULL)
		forget_held(remote, held);
	if (result < 0)
		buffer_clear(ret_answer);
	return result < 0 ? result : outcome;
}
