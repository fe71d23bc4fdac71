/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver_process.h"

/* What a child knows while it works. */
struct asking {
	int files;    /* first: tests misuse it */
	bool in_vain; /* a file could not be opened in time: whoever opens them hangs */
};

/* Takes an answer and its descriptor; returns the descriptor or a negative errno. */
static int take_answer(int files)
{
	int answer, descriptor;
	const ssize_t received = resolver_message_receive(files, &answer, sizeof(answer), &descriptor, 1, 0);

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
	struct resolver_open request;
	int result;

	memset(&request, 0, sizeof(request));
	request.kind = RESOLVER_MESSAGE_OPEN;
	request.object = object;
	request.file = file;
	request.ordinal = ordinal;
	if (name != NULL) {
		if (strlen(name) >= sizeof(request.name))
			return -ENAMETOOLONG;
		strcpy(request.name, name);
	}
	if (!asking->in_vain) {
		if (resolver_message_send(asking->files, &request, sizeof(request), NULL, 0, 0) < 0)
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

int resolver_child_run(int files, int job, uint32_t object_count, const struct resolver_task *task)
{
	struct asking asking = {.files = files};
	const struct resolve_source source = {.context = &asking, .object_count = object_count, .open = ask};
	struct resolver_result message;
	int result = sandbox_enter(task->filter);

	memset(&message, 0, sizeof(message));
	message.kind = RESOLVER_MESSAGE_RESULT;
	if (result == 0) {
		task->work(&source, &message.resolution);
	} else {
		message.resolution.tag = HEAP_TAG_WORKER_PANIC;
		snprintf(message.resolution.text, sizeof(message.resolution.text),
			 "the sandbox could not be entered: %s", strerror(-result));
	}
	result = resolver_message_send(asking.in_vain ? job : files, &message, sizeof(message), NULL, 0, 0);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
