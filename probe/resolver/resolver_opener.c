/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/message.h"
#include "object_files.h"
#include "resolver_internal.h"

enum {
	REQUESTS_MAX = 16384, /* of one child: a few a library */
	MAP_BYTES_MAX = 512 << 20,
};

/* The number of objects, the objects as they lie in memory, then the paths, each with its NUL. */
int resolver_opener_write_map(const char *executable_path, const struct process_map *map)
{
	const int descriptor = memfd_create("ctop-order", MFD_CLOEXEC);
	struct buffer bytes = {0};
	int result;

	if (descriptor < 0)
		return -errno;
	buffer_append(&bytes, &map->count, sizeof(map->count));
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
	*ret_map = (struct process_map){0};
	memcpy(&ret_map->count, bytes.data, sizeof(ret_map->count));
	next = bytes.data + sizeof(ret_map->count);
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

/* Ends a job whose child misbehaves with a result that says so. Returns the exit status. */
static int refuse(int job, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(int job, const char *format, ...)
{
	struct resolver_result result;
	va_list arguments;

	memset(&result, 0, sizeof(result));
	result.kind = RESOLVER_MESSAGE_RESULT;
	result.resolution.tag = HEAP_TAG_WORKER_PANIC;
	va_start(arguments, format);
	vsnprintf(result.resolution.text, sizeof(result.resolution.text), format, arguments);
	va_end(arguments);
	(void)message_send(job, &(struct message){.bytes = &result, .size = sizeof(result)}, 0);
	return EXIT_FAILURE;
}

/* Returns 0 or a negative errno of the answer. */
static int answer(int files, const struct object_files *objects, const struct resolver_open *request)
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
	union resolver_message received;

	for (unsigned int requests = 0;;) {
		struct message message = {.bytes = &received, .size = sizeof(received)};
		const ssize_t size = message_receive(files, &message, MSG_TRUNC);

		if (size <= 0)
			return EXIT_SUCCESS; /* the child has ended, and how is the supervisor's to tell */
		if (size == (ssize_t)sizeof(received.result) && received.kind == RESOLVER_MESSAGE_RESULT) {
			message.size = sizeof(received.result);
			return message_send(job, &message, 0) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		}
		if (size != (ssize_t)sizeof(received.open) || received.kind != RESOLVER_MESSAGE_OPEN)
			return refuse(job, "it sent an invalid message");
		if (++requests > REQUESTS_MAX)
			return refuse(job, "it asked for more than %d files", REQUESTS_MAX);
		if (answer(files, objects, &received.open) < 0)
			return EXIT_FAILURE;
	}
}

int resolver_opener_run(const int *descriptors, const void *order_bytes)
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
		return refuse(job, "it could not be started: %s", strerror(-result));
	/* all of it goes with the process */
	object_files_open(&objects, descriptors[OPENER_DIRECTORY], path, &map);
	return serve(descriptors[OPENER_FILES], job, &objects);
}
