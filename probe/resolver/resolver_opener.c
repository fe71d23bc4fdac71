/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/message.h"
#include "object_files.h"
#include "resolver_internal.h"

enum {
	REQUESTS_MAX = 16384, /* of one child: a few a library */
};

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
	result = resolver_order_read(descriptors[OPENER_MAP], &path, &map);
	if (result == 0 && map.count != order->object_count)
		result = -EPROTO;
	if (result < 0)
		return refuse(job, "it could not be started: %s", strerror(-result));
	/* all of it goes with the process */
	object_files_open(&objects, descriptors[OPENER_DIRECTORY], path, &map);
	return serve(descriptors[OPENER_FILES], job, &objects);
}
