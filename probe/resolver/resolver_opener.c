/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object_files.h"
#include "resolver_process.h"

enum {
	REQUESTS_MAX = 16384, /* of one child: a few a library */
};

/* Ends a job whose child misbehaves with a result that says so. Returns the exit status. */
static int refuse(int job, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(int job, const char *format, ...)
{
	struct resolver_result message;
	va_list arguments;

	memset(&message, 0, sizeof(message));
	message.kind = RESOLVER_MESSAGE_RESULT;
	message.resolution.tag = HEAP_TAG_WORKER_PANIC;
	va_start(arguments, format);
	vsnprintf(message.resolution.text, sizeof(message.resolution.text), format, arguments);
	va_end(arguments);
	(void)resolver_message_send(job, &message, sizeof(message), NULL, 0, 0);
	return EXIT_FAILURE;
}

/* Returns 0 or a negative errno of the answer. */
static int answer(int files, const struct object_files *objects, const struct resolver_open *request)
{
	int descriptor = -EINVAL, message, result;

	if (memchr(request->name, '\0', sizeof(request->name)) != NULL)
		descriptor = object_files_ask(objects, request->object, request->file, request->name,
					      request->ordinal);
	message = descriptor < 0 ? descriptor : 0;
	result = resolver_message_send(files, &message, sizeof(message), &descriptor, descriptor >= 0, 0);
	/* this may hang as well as the open: some file systems ask their server at a close */
	if (descriptor >= 0)
		close(descriptor);
	return result;
}

static int serve(int files, int job, const struct object_files *objects)
{
	union resolver_message message;

	for (unsigned int requests = 0;;) {
		const ssize_t received = resolver_message_receive(files, &message, sizeof(message), NULL, 0,
								  0);

		if (received <= 0)
			return EXIT_SUCCESS; /* the child has ended, and how is the resolver's to tell */
		if (received == (ssize_t)sizeof(message.result) && message.kind == RESOLVER_MESSAGE_RESULT)
			return resolver_message_send(job, &message.result, sizeof(message.result), NULL, 0,
						     0) < 0
				       ? EXIT_FAILURE
				       : EXIT_SUCCESS;
		if (received != (ssize_t)sizeof(message.open) || message.kind != RESOLVER_MESSAGE_OPEN)
			return refuse(job, "it sent an invalid message");
		if (++requests > REQUESTS_MAX)
			return refuse(job, "it asked for more than %d files", REQUESTS_MAX);
		if (answer(files, objects, &message.open) < 0)
			return EXIT_FAILURE;
	}
}

int resolver_opener_run(int files, const int *descriptors, const struct resolver_order *order)
{
	const int job = descriptors[ORDER_JOB];
	struct object_files objects;
	struct process_map map;
	char *path;
	int result = resolver_order_read(descriptors[ORDER_MAP], &path, &map);

	if (result == 0 && map.count != order->object_count)
		result = -EPROTO;
	if (result < 0)
		return refuse(job, "it could not be started: %s", strerror(-result));
	/* all of it goes with the process */
	object_files_open(&objects, descriptors[ORDER_DIRECTORY], path, &map);
	return serve(files, job, &objects);
}
