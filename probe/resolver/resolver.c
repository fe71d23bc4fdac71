/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/rights.h"
#include "base/supervisor.h"
#include "object_files.h"
#include "resolver_internal.h"
#include "sandbox.h"

/* --- messages between the program and the two processes of a job (SOCK_SEQPACKET) --- */

enum {
	NAME_SIZE = 256, /* NAME_MAX and a NUL: the names asked for are file names or build ids */
};

enum message_kind {
	/* child to opener: asks for a file; answered by an int, 0 and a descriptor or a negative errno */
	MESSAGE_OPEN = 1,
	MESSAGE_RESULT, /* child to opener to program, or from the opener alone */
};

/* The arguments of resolve_source.open(). */
struct open_request {
	uint32_t kind;
	uint32_t object, file, ordinal;
	char name[NAME_SIZE];
};

struct result_message {
	uint32_t kind;
	struct resolution resolution;
};

union any_message {
	uint32_t kind;
	struct open_request open;
	struct result_message result;
	struct supervisor_ended ended; /* supervisor to program: how the child ended */
};

/* --- the opener --- */

/* The descriptors of an opener: its job's socket, over which results go to the program; the socket of a
 * child. */
enum {
	OPENER_JOB,
	OPENER_FILES,
	OPENER_DIRECTORY, /* of the process */
	OPENER_MAP,       /* a file made by write_map() */
	OPENER_DESCRIPTORS,
};

struct opener_order {
	struct rights rights;  /* of the thread that orders; files are opened with the same */
	uint32_t object_count; /* libraries that can be asked for */
};

enum {
	REQUESTS_MAX = 16384, /* of one child: a few a library */
	MAP_BYTES_MAX = 512 << 20,
};

/*
 * Writes what an opener has to know of its process into a file without a name: it is too much for a message.
 * It has the map and its objects as they lie in memory, then the paths, each with its NUL. Returns a
 * descriptor or a negative errno.
 */
static int write_map(const char *executable_path, const struct process_map *map)
{
	const int descriptor = memfd_create("ctop-order", MFD_CLOEXEC);
	struct buffer bytes = {0};
	int result;

	if (descriptor < 0)
		return -errno;
	buffer_append(&bytes, map, sizeof(*map));
	buffer_append(&bytes, map->objects, map->count * sizeof(map->objects[0]));
	buffer_append(&bytes, executable_path, strlen(executable_path) + 1);
	for (size_t i = 0; i < map->count; i++)
		buffer_append(&bytes, map->objects[i].path, strlen(map->objects[i].path) + 1);
	result = file_write_all(descriptor, bytes.data, bytes.length);
	if (result == 0 && lseek(descriptor, 0, SEEK_SET) < 0)
		result = -errno;
	buffer_release(&bytes);
	if (result == 0)
		return descriptor;
	close(descriptor);
	return result;
}

/* Reads it from the beginning; the caller frees both. Returns 0 or a negative errno. */
static int read_order(int descriptor, char **ret_executable_path, struct process_map *ret_map)
{
	struct buffer bytes = {0};
	const char *next;
	int result = file_read_descriptor(descriptor, &bytes, MAP_BYTES_MAX);

	if (result < 0) {
		buffer_release(&bytes);
		return result;
	}
	memcpy(ret_map, bytes.data, sizeof(*ret_map));
	next = bytes.data + sizeof(*ret_map);
	ret_map->objects = memory_allocate_zero(ret_map->count + 1, sizeof(ret_map->objects[0]));
	memcpy(ret_map->objects, next, ret_map->count * sizeof(ret_map->objects[0]));
	next += ret_map->count * sizeof(ret_map->objects[0]);
	*ret_executable_path = memory_duplicate(next);
	for (size_t i = 0; i < ret_map->count; i++) {
		next += strlen(next) + 1;
		ret_map->objects[i].path = memory_duplicate(next);
	}
	buffer_release(&bytes);
	return 0;
}

/* The tag for a process that failed to start, by its negative errno value. */
static enum heap_tag tag_of_start(int result)
{
	switch (result) {
	case -EPERM:
	case -EACCES:
	case -ENOSYS:
		return HEAP_TAG_CALL_REFUSED;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EAGAIN: /* fork(2) at a process limit */
		return HEAP_TAG_NO_RESOURCES;
	default:
		return HEAP_TAG_WORKER_PANIC;
	}
}

/* Ends a job with a failure and its sentence. Returns the exit status. */
__attribute__((format(printf, 3, 4))) static int refuse(int job, enum heap_tag tag, const char *format, ...)
{
	struct result_message result;
	va_list arguments;

	memset(&result, 0, sizeof(result));
	result.kind = MESSAGE_RESULT;
	result.resolution.tag = tag;
	va_start(arguments, format);
	vsnprintf(result.resolution.text, sizeof(result.resolution.text), format, arguments);
	va_end(arguments);
	(void)message_send(job, &(struct message){.bytes = &result, .size = sizeof(result)}, 0);
	return EXIT_FAILURE;
}

/* Returns 0 or a negative errno of the answer. */
static int answer_request(int files, const struct object_files *objects, const struct open_request *request)
{
	int descriptor = -EINVAL, code, result;
	struct message message = {.bytes = &code, .size = sizeof(code), .descriptors = &descriptor};

	if (memchr(request->name, '\0', sizeof(request->name)) != NULL)
		descriptor = object_files_ask(objects, request->object, request->file, request->name,
					      request->ordinal);
	code = descriptor < 0 ? descriptor : 0;
	message.descriptor_count = descriptor >= 0;
	result = message_send(files, &message, 0);
	/* this may hang as well as the open: some file systems ask their server at a close */
	if (descriptor >= 0)
		close(descriptor);
	return result;
}

static int serve(int files, int job, const struct object_files *objects)
{
	union any_message received;

	for (unsigned int requests = 0;;) {
		struct message message = {.bytes = &received, .size = sizeof(received)};
		const ssize_t size = message_receive(files, &message, MSG_TRUNC);

		if (size <= 0)
			return EXIT_SUCCESS; /* the child has ended, and how is the supervisor's to tell */
		if (size == (ssize_t)sizeof(received.result) && received.kind == MESSAGE_RESULT) {
			message.size = sizeof(received.result);
			return message_send(job, &message, 0) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		}
		if (size != (ssize_t)sizeof(received.open) || received.kind != MESSAGE_OPEN)
			return refuse(job, HEAP_TAG_WORKER_PANIC, "it sent an invalid message");
		if (++requests > REQUESTS_MAX)
			return refuse(job, HEAP_TAG_WORKER_PANIC, "it asked for more than %d files",
				      REQUESTS_MAX);
		if (answer_request(files, objects, &received.open) < 0)
			return EXIT_FAILURE;
	}
}

/* A supervisor_work: opens what the child asks for, and hands its result on to the program. */
static int run_opener(const int *descriptors, const void *order_bytes)
{
	const struct opener_order *order = order_bytes;
	const int job = descriptors[OPENER_JOB];
	struct object_files objects;
	struct process_map map;
	char *path;
	int result;

	rights_restore(&order->rights);
	result = read_order(descriptors[OPENER_MAP], &path, &map);
	if (result == 0 && map.count != order->object_count)
		result = -EPROTO;
	if (result < 0)
		return refuse(job, tag_of_start(result), "it could not be started: %s", strerror(-result));
	/* all of it goes with the process */
	object_files_open(&objects, descriptors[OPENER_DIRECTORY], path, &map);
	return serve(descriptors[OPENER_FILES], job, &objects);
}

/* --- the child --- */

/* The descriptors of a child: the sockets of its job and of the opener. */
enum {
	CHILD_JOB,
	CHILD_FILES,
	CHILD_DESCRIPTORS,
};

struct child_order {
	resolver_work *work;
	uint32_t object_count;
};

/* Exit statuses of a child that was not answered in time: opening a file hangs. */
enum {
	CHILD_EXECUTABLE_HANGS = 3,
	CHILD_LIBRARY_HANGS = 4,
};

/* The state of a child while it works. */
struct asking {
	int files;    /* first: tests misuse it */
	bool in_vain; /* a file could not be opened in time: whoever opens them hangs */
};

/* Takes an answer and its descriptor; returns the descriptor or a negative errno. */
static int take_answer(int files)
{
	int answer, descriptor;
	struct message message = {
		.bytes = &answer, .size = sizeof(answer), .descriptors = &descriptor, .descriptor_count = 1};
	const ssize_t received = message_receive(files, &message, 0);

	if (received == -EAGAIN)
		return -ETIMEDOUT; /* SO_RCVTIMEO */
	/* whoever wanted the result is gone */
	if (received != (ssize_t)sizeof(answer))
		_exit(EXIT_FAILURE);
	if (answer < 0)
		return answer;
	return descriptor >= 0 ? descriptor : -EMFILE; /* no room for it here: unix(7), MSG_CTRUNC */
}

/*
 * Debug data on a file system that hangs are debug data that are not there. Without the executable, or one of
 * the libraries, nothing can be said.
 */
static int ask(void *context, uint32_t object, enum resolve_file file, const char *name, uint32_t ordinal)
{
	struct asking *asking = context;
	struct open_request request;
	int result;

	memset(&request, 0, sizeof(request));
	request.kind = MESSAGE_OPEN;
	request.object = object;
	request.file = file;
	request.ordinal = ordinal;
	if (name != NULL) {
		if (strlen(name) >= sizeof(request.name))
			return -ENAMETOOLONG;
		strcpy(request.name, name);
	}
	if (!asking->in_vain) {
		const struct message message = {.bytes = &request, .size = sizeof(request)};

		if (message_send(asking->files, &message, 0) < 0)
			_exit(EXIT_FAILURE);
		result = take_answer(asking->files);
		asking->in_vain = result == -ETIMEDOUT;
	} else {
		result = -ETIMEDOUT;
	}
	if (result == -ETIMEDOUT && file == RESOLVE_FILE_OBJECT)
		_exit(object == LAYOUT_EXECUTABLE ? CHILD_EXECUTABLE_HANGS : CHILD_LIBRARY_HANGS);
	return result;
}

/* When a debug file needs too much memory, no other process is to be killed for it (proc(5)). */
static void be_killed_first(void)
{
	const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (score < 0)
		return;
	(void)file_write_all(score, "1000", strlen("1000"));
	close(score);
}

/*
 * A supervisor_work: gives every right up, enters the sandbox, does the work and sends its result to the
 * opener, which it asks for files, too; or to the program when the opener does not answer any more.
 */
static int run_child(const int *descriptors, const void *order_bytes)
{
	const struct child_order *order = order_bytes;
	struct asking asking = {.files = descriptors[CHILD_FILES]};
	const struct resolve_source source = {
		.context = &asking, .object_count = order->object_count, .open = ask};
	struct result_message answer;
	int result;

	be_killed_first();
	result = sandbox_enter();
	memset(&answer, 0, sizeof(answer));
	answer.kind = MESSAGE_RESULT;
	if (result == 0) {
		order->work(&source, &answer.resolution);
	} else {
		answer.resolution.tag = tag_of_start(result);
		snprintf(answer.resolution.text, sizeof(answer.resolution.text),
			 "the sandbox could not be entered: %s", strerror(-result));
	}
	result = message_send(asking.in_vain ? descriptors[CHILD_JOB] : asking.files,
			      &(struct message){.bytes = &answer, .size = sizeof(answer)}, 0);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* --- the program --- */

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

__attribute__((format(printf, 3, 4))) static void finish_failed(struct resolve_job *job, enum heap_tag tag,
								const char *format, ...)
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
		.work = run_opener,
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
		.work = run_child,
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

/* Orders both processes of a job, which share its `socket`. Returns 0, or an errno and the failed step. */
static int order_processes(resolver_work *work, int socket, int process_directory,
			   const char *executable_path, const struct process_map *map, const char **ret_step)
{
	const uint32_t object_count = (uint32_t)map->count;
	const int map_file = write_map(executable_path, map);
	int files[2], result;

	if (map_file < 0) {
		*ret_step = "memfd_create: ";
		return map_file;
	}
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

/* Makes the socket of a job and orders its processes. Returns 0, or a negative errno and the failed step. */
static int start_job(resolver_work *work, struct resolve_job *job, int process_directory,
		     const char *executable_path, const struct process_map *map, const char **ret_step)
{
	int sockets[2], result;

	if (socketpair(AF_UNIX, SOCKET_TYPE, 0, sockets) < 0)
		return -errno;
	job->socket = sockets[0];
	result = order_processes(work, sockets[1], process_directory, executable_path, map, ret_step);
	close(sockets[1]);
	return result;
}

struct resolve_job *resolver_submit_for(resolver_work *work, uint64_t patience_ns, int process_directory,
					const char *executable_path, const struct process_map *map)
{
	struct resolve_job *job = memory_allocate_zero(1, sizeof(*job));
	const char *step = "";
	int result;

	job->socket = -1;
	job->object_count = (uint32_t)map->count;
	job->deadline_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;
	result = start_job(work, job, process_directory, executable_path, map, &step);
	if (result == -EPIPE || result == -ECONNRESET)
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED, "its supervisor has ended");
	else if (result == -ESRCH)
		finish_failed(job, HEAP_TAG_WORKER_PANIC,
			      "it could not be started: no supervisor could be forked when ctop began");
	else if (result < 0)
		finish_failed(job, tag_of_start(result), "it could not be started: %s%s", step,
			      strerror(-result));
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
		finish_failed(job, tag_of_start(-ended->error_number), "it could not be started: %s",
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

static void take_result(struct resolve_job *job, const struct result_message *message)
{
	const unsigned char *bytes = (const unsigned char *)message +
				     offsetof(struct result_message, resolution);

	if (resolution_check(bytes, job->object_count, &job->resolution))
		finish(job);
	else
		finish_failed(job, HEAP_TAG_WORKER_PANIC, "its result is invalid");
}

/* Takes one message. Returns false without one. */
static bool take_message(struct resolve_job *job)
{
	union any_message received;
	struct message message = {.bytes = &received, .size = sizeof(received)};
	ssize_t size;

	memset(&received, 0, sizeof(received));
	size = message_receive(job->socket, &message, MSG_DONTWAIT | MSG_TRUNC);
	if (size == -EAGAIN)
		return false;
	if (size <= 0)
		finish_failed(job, HEAP_TAG_RESOLVER_ENDED, "it was killed with its supervisor");
	else if (size == (ssize_t)sizeof(received.result) && received.kind == MESSAGE_RESULT)
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
