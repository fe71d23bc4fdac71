/* SPDX-License-Identifier: GPL-2.0-only */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "memory.h"
#include "message.h"
#include "rights.h"
#include "stat_file.h"
#include "supervisor.h"

/*
 * A lock that nobody holds on to is free in far less than a millisecond. After several calls that hung, the
 * patience shrinks: many of them must not add up to a screen that stands still.
 */
#define PATIENCE_NS       (100 * NS_PER_MS)
#define PATIENCE_LEAST_NS (5 * NS_PER_MS)
#define HASTE_NS          (10 * NS_PER_S)
/* A call may run for this long: the memory of the largest processes takes seconds to look through. */
#define WORK_PATIENCE_NS (10 * NS_PER_S)
/* A target that hung is left alone for this long: at first, and at most. */
#define PAUSE_FIRST_NS (5 * NS_PER_S)
#define PAUSE_MOST_NS  (60 * NS_PER_S)
/* The supervisor has this long for a fork, also on a host that is short of CPU time. */
#define FORK_PATIENCE_NS (5 * NS_PER_S)
/* When it is asked again after it had no process to give. */
#define FORK_PAUSE_NS NS_PER_S

enum {
	ANSWER_USUAL = 32 * 1024, /* bytes that are taken along with the outcome */
	HANGING_MAX = 16,         /* processes; with so many, no calls are made */
	IDLE_MS = 60 * 1000,      /* a process that nobody needed for so long ends */
};

/* A call, followed by its argument. The descriptor of a directory comes along. */
struct request {
	reader_work *work;
	uint64_t rights;
	uint32_t size; /* of the argument */
	bool has_directory, is_foreign;
};

/* Its outcome, followed by the answer. */
struct outcome {
	int32_t result;
	uint32_t size; /* of the answer */
	uint64_t cpu_ns;
};

/* --- the process that makes calls --- */

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
static bool receive_request(int socket, struct request *ret_request, char *argument, int *ret_directory)
{
	const size_t size = sizeof(*ret_request);
	struct message message = {.bytes = ret_request,
				  .size = size,
				  .more = argument,
				  .more_size = READER_ARGUMENT_MAX,
				  .descriptors = ret_directory,
				  .descriptor_count = 1};
	const ssize_t count = message_receive(socket, &message, 0);
	const size_t received = count > 0 ? (size_t)count : 0, had = received > size ? received - size : 0;

	if (received == 0 ||
	    (received < size && !receive_all(socket, (char *)ret_request + received, size - received)))
		return false;
	/* a descriptor that there was no room for is no reason to answer about another directory */
	return ret_request->size <= READER_ARGUMENT_MAX && had <= ret_request->size &&
	       receive_all(socket, argument + had, ret_request->size - had) &&
	       ret_request->has_directory == (*ret_directory >= 0);
}

/* Waits for a request. False: nobody has had one for long. */
static bool wait_for_request(int socket)
{
	struct pollfd wait = {.fd = socket, .events = POLLIN};
	int result;

	do {
		result = poll(&wait, 1, IDLE_MS);
	} while (result < 0 && errno == EINTR);
	return result > 0;
}

/* Root's own rights are meant to count, and a process with fewer than its target may not read that. */
static void use_rights(const struct request *request)
{
	if (request->is_foreign)
		(void)rights_give_up();
	else if (getuid() != 0)
		rights_limit(READER_RIGHTS, request->rights);
}

static bool answer_request(int socket, const struct request *request, int directory, const char *argument,
			   struct buffer *answer)
{
	const uint64_t begun_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct message message;
	struct outcome outcome;

	buffer_clear(answer);
	use_rights(request);
	outcome.result = request->work(directory, argument, request->size, answer);
	if (answer->length > UINT32_MAX) {
		outcome.result = -EFBIG;
		buffer_clear(answer);
	}
	outcome.size = (uint32_t)answer->length;
	outcome.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns;
	message = (struct message){.bytes = &outcome,
				   .size = sizeof(outcome),
				   .more = answer->data,
				   .more_size = answer->length};
	return message_send(socket, &message, 0) == 0 && !request->is_foreign;
}

/* A supervisor_work: makes calls that come over its socket, until that is closed. */
static int serve(const int *descriptors, const void *unused)
{
	const int socket = descriptors[0];
	const pid_t self = getpid();
	char *argument = memory_allocate(READER_ARGUMENT_MAX);
	struct buffer answer = {0};
	bool goes_on = send(socket, &self, sizeof(self), MSG_NOSIGNAL) == (ssize_t)sizeof(self);

	(void)unused;
	while (goes_on && wait_for_request(socket)) {
		struct request request;
		int directory = -1;

		goes_on = receive_request(socket, &request, argument, &directory) &&
			  answer_request(socket, &request, directory, argument, &answer);
		if (directory >= 0)
			close(directory);
	}
	return EXIT_SUCCESS;
}

/* --- those processes, as the program has them --- */

struct server {
	pid_t pid;
	int socket;           /* -1: there is none */
	uint64_t patience_ns; /* that its socket has */
};

/* The one that waits for the next call of anybody. */
static struct {
	pthread_mutex_t lock;
	struct server server;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER, .server.socket = -1};

static void close_descriptor(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
}

static struct server take_idle(void)
{
	struct server server;

	pthread_mutex_lock(&idle.lock);
	server = idle.server;
	idle.server.socket = -1;
	pthread_mutex_unlock(&idle.lock);
	return server;
}

/* Leaves it to the next call, or ends it where one waits for that already. */
static void give_back(struct server *server)
{
	pthread_mutex_lock(&idle.lock);
	if (idle.server.socket < 0) {
		idle.server = *server;
		server->socket = -1;
	}
	pthread_mutex_unlock(&idle.lock);
	close_descriptor(&server->socket);
}

/* For how long receiving from the process waits. */
static bool set_patience(struct server *server, uint64_t patience_ns)
{
	const struct timeval time = {
		.tv_sec = (time_t)(patience_ns / NS_PER_S),
		.tv_usec = (suseconds_t)(patience_ns % NS_PER_S / 1000),
	};

	if (server->patience_ns == patience_ns)
		return true;
	server->patience_ns = patience_ns;
	return setsockopt(server->socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0;
}

/*
 * Has the supervisor fork one. Returns 0, -EIO when the supervisor has ended, or -EAGAIN when it has
 * no process to give.
 */
static int start_server(struct server *ret_server)
{
	struct supervisor_order order = {.work = serve, .hanging_max = HANGING_MAX, .descriptor_count = 1};
	struct server server = {0};
	int sockets[2], result;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -EAGAIN;
	order.descriptors[0] = sockets[1];
	result = supervisor_fork(&order);
	close(sockets[1]);
	server.socket = sockets[0];
	/* its first word is its process id; without a process the socket ends */
	if (result == 0 && set_patience(&server, FORK_PATIENCE_NS) &&
	    receive_all(server.socket, &server.pid, sizeof(server.pid))) {
		*ret_server = server;
		return 0;
	}
	close(server.socket);
	return result == 0 || result == -EAGAIN ? -EAGAIN : -EIO;
}

/* --- targets that are left alone --- */

/* A target that was waited for in vain. */
struct held {
	pid_t about;
	int socket; /* of the process that waits for it still, -1: none does */
	uint64_t pause_ns, until_ns;
};

struct reader {
	struct reader_options options;
	uint64_t none_until_ns; /* no process could be forked, and none is asked for before */
	uint64_t cpu_ns;
	struct held *held;
	size_t held_count, held_capacity;
	uint64_t late_since_ns; /* the first of the calls that count as late */
	unsigned int late;      /* their number */
};

struct reader *reader_create(const struct reader_options *options)
{
	struct reader *reader;

	if (!supervisor_is_started())
		return NULL;
	reader = memory_allocate_zero(1, sizeof(*reader));
	reader->options = *options;
	if (options->patience_ns == 0)
		reader->options.patience_ns = PATIENCE_NS;
	if (options->pause_ns == 0)
		reader->options.pause_ns = PAUSE_FIRST_NS;
	return reader;
}

void reader_release(struct reader *reader)
{
	if (reader == NULL)
		return;
	for (size_t i = 0; i < reader->held_count; i++)
		close_descriptor(&reader->held[i].socket);
	free(reader->held);
	free(reader);
}

uint64_t reader_cpu_ns(const struct reader *reader)
{
	return reader != NULL ? reader->cpu_ns : 0;
}

static struct held *find_held(struct reader *reader, pid_t about)
{
	for (size_t i = 0; i < reader->held_count; i++) {
		if (reader->held[i].about == about)
			return &reader->held[i];
	}
	return NULL;
}

/* Whether a process waits for that target still: else its end of the socket is closed. */
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

static void forget_held(struct reader *reader, struct held *held)
{
	close_descriptor(&held->socket);
	*held = reader->held[--reader->held_count];
}

/* Forgets those that nobody has asked about for long. */
static void forget_old(struct reader *reader, uint64_t now_ns)
{
	for (size_t i = reader->held_count; i-- > 0;) {
		struct held *held = &reader->held[i];

		if (now_ns > held->until_ns + PAUSE_MOST_NS && !is_waited_for(held))
			forget_held(reader, held);
	}
}

/* A call about that target has not come back: leaves it to the process that makes it. */
static void hold(struct reader *reader, pid_t about, struct server *server)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct held *held = find_held(reader, about);

	if (held == NULL) {
		forget_old(reader, now_ns);
		held = MEMORY_APPEND(reader->held, reader->held_count, reader->held_capacity);
		*held = (struct held){.about = about, .socket = -1, .pause_ns = reader->options.pause_ns / 2};
	}
	held->pause_ns = 2 * held->pause_ns < PAUSE_MOST_NS ? 2 * held->pause_ns : PAUSE_MOST_NS;
	held->until_ns = now_ns + held->pause_ns;
	close_descriptor(&held->socket);
	/* the supervisor kills it for that, and the socket ends when the kernel lets it go */
	shutdown(server->socket, SHUT_WR);
	held->socket = server->socket;
	server->socket = -1;
	if (reader->late == 0 || now_ns - reader->late_since_ns > HASTE_NS) {
		reader->late = 0;
		reader->late_since_ns = now_ns;
	}
	reader->late++;
}

/* --- calls --- */

static uint64_t patience(const struct reader *reader, uint64_t now_ns)
{
	const bool hurried = reader->late != 0 && now_ns - reader->late_since_ns <= HASTE_NS;
	const uint64_t patience_ns = reader->options.patience_ns / (1 + (hurried ? reader->late : 0));

	return patience_ns > PATIENCE_LEAST_NS ? patience_ns : PATIENCE_LEAST_NS;
}

/* Whether a process runs, or would if it had a CPU (state R of proc_pid_stat(5)): then it does not hang. */
static bool is_runnable(pid_t pid)
{
	struct buffer text = {0};
	char path[32];
	bool result;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	result = file_read(AT_FDCWD, path, &text, STAT_FILE_BYTES_MAX) == 0 &&
		 *stat_file_field(&text, STAT_FILE_STATE) == 'R';
	buffer_release(&text);
	return result;
}

/*
 * Waits for a call's outcome and takes the bytes that have come. Returns their number, -ETIMEDOUT,
 * or -EIO when the process that makes the call has ended.
 */
static ssize_t take_some(struct reader *reader, struct server *server, struct message *message)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	int flags = 0;

	if (!set_patience(server, patience(reader, begun_ns)))
		return -EIO;
	for (;;) {
		const ssize_t count = message_receive(server->socket, message, flags);

		if (count > 0)
			return count;
		if (count != -EAGAIN)
			return -EIO;
		if (flags != 0)
			return -ETIMEDOUT;
		/* one that runs is at work, or the host is short of CPU time; or the answer came just now */
		if (clock_ns(CLOCK_MONOTONIC) - begun_ns > WORK_PATIENCE_NS || !is_runnable(server->pid))
			flags = MSG_DONTWAIT;
	}
}

static int take_outcome(struct reader *reader, struct server *server, struct buffer *answer, int *ret_result)
{
	struct outcome outcome;
	size_t done = 0;

	buffer_reserve(answer, ANSWER_USUAL);
	while (done < sizeof(outcome)) {
		struct message message = {.bytes = (char *)&outcome + done,
					  .size = sizeof(outcome) - done,
					  .more = answer->data,
					  .more_size = ANSWER_USUAL};
		const ssize_t count = take_some(reader, server, &message);

		if (count < 0)
			return (int)count;
		done += (size_t)count;
	}
	answer->length = done - sizeof(outcome);
	if (answer->length > outcome.size)
		return -EIO;
	buffer_reserve(answer, outcome.size - answer->length);
	while (answer->length < outcome.size) {
		struct message message = {.bytes = answer->data + answer->length,
					  .size = outcome.size - answer->length};
		const ssize_t count = take_some(reader, server, &message);

		if (count < 0)
			return (int)count;
		answer->length += (size_t)count;
	}
	answer->data[answer->length] = '\0';
	reader->cpu_ns += outcome.cpu_ns;
	*ret_result = outcome.result;
	return 0;
}

/* Has one process make the call. Returns 0, -ETIMEDOUT or -EIO. */
static int call_server(struct reader *reader, struct server *server, const struct request *request,
		       int directory, const void *argument, struct buffer *answer, int *ret_outcome)
{
	const struct message message = {.bytes = (void *)request,
					.size = sizeof(*request),
					.more = (void *)argument,
					.more_size = request->size,
					.descriptors = &directory,
					.descriptor_count = directory >= 0};

	buffer_clear(answer);
	if (message_send(server->socket, &message, MSG_DONTWAIT) < 0)
		return -EIO;
	return take_outcome(reader, server, answer, ret_outcome);
}

/* The one that waits, or a new one. Returns 0, -EAGAIN when none can be had now, or -EIO. */
static int find_server(struct reader *reader, bool takes_idle, struct server *ret_server)
{
	int result;

	*ret_server = takes_idle ? take_idle() : (struct server){.socket = -1};
	if (ret_server->socket >= 0)
		return 0;
	if (clock_ns(CLOCK_MONOTONIC) < reader->none_until_ns)
		return -EAGAIN;
	result = start_server(ret_server);
	if (result == -EAGAIN)
		reader->none_until_ns = clock_ns(CLOCK_MONOTONIC) + FORK_PAUSE_NS;
	return result;
}

/*
 * Has a process make the call; `*ret_outcome` gets what the work returned. Returns 0, -ETIMEDOUT, or -EAGAIN
 * or -EIO when no process made the call. Without an outcome the answer is empty.
 */
static int call_elsewhere(struct reader *reader, pid_t about, reader_work *work, int directory,
			  const void *argument, size_t size, struct buffer *ret_answer, int *ret_outcome)
{
	struct held *held = find_held(reader, about);
	struct server server;
	int result;

	if (held != NULL && (is_waited_for(held) || clock_ns(CLOCK_MONOTONIC) < held->until_ns))
		return -ETIMEDOUT;
	/* one that has waited for calls may have ended meanwhile */
	for (int turn = 0; turn < 2; turn++) {
		const struct request request = {.work = work,
						.size = (uint32_t)size,
						.rights = reader->options.rights,
						.has_directory = directory >= 0,
						.is_foreign = reader->options.is_foreign};

		result = find_server(reader, turn == 0, &server);
		if (result < 0)
			break;
		result = call_server(reader, &server, &request, directory, argument, ret_answer, ret_outcome);
		if (result != -EIO)
			break;
		close_descriptor(&server.socket);
	}
	if (result == -ETIMEDOUT)
		hold(reader, about, &server);
	else if (result == 0 && !reader->options.is_foreign)
		give_back(&server);
	else
		close_descriptor(&server.socket);
	if (result == 0 && held != NULL)
		forget_held(reader, held);
	if (result < 0)
		buffer_clear(ret_answer);
	return result;
}

int reader_call(struct reader *reader, pid_t about, reader_work *work, int directory, const void *argument,
		size_t size, struct buffer *ret_answer)
{
	int result, outcome;

	buffer_clear(ret_answer);
	if (reader == NULL)
		return work(directory, argument, size, ret_answer);
	result = call_elsewhere(reader, about, work, directory, argument, size, ret_answer, &outcome);
	if (result == -EAGAIN)
		return -ETIMEDOUT;
	return result < 0 ? result : outcome;
}

int reader_call_once(uint64_t patience_ns, reader_work *work, int descriptor, const void *argument,
		     size_t size, struct buffer *ret_answer)
{
	struct reader *reader = reader_create(&(struct reader_options){.patience_ns = patience_ns});
	int result = -EIO, outcome;

	buffer_clear(ret_answer);
	if (reader != NULL)
		result = call_elsewhere(reader, 0, work, descriptor, argument, size, ret_answer, &outcome);
	reader_release(reader);
	if (result == -EAGAIN || result == -EIO)
		return work(descriptor, argument, size, ret_answer);
	return result < 0 ? result : outcome;
}
