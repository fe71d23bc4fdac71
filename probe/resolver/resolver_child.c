/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "resolver_internal.h"
#include "sandbox.h"

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

int resolver_child_run(const int *descriptors, const void *order_bytes)
{
	const struct child_order *order = order_bytes;
	struct asking asking = {.files = descriptors[CHILD_FILES]};
	const struct resolve_source source = {
		.context = &asking, .object_count = order->object_count, .open = ask};
	struct resolver_result answer;
	int result;

	be_killed_first();
	result = sandbox_enter();
	memset(&answer, 0, sizeof(answer));
	answer.kind = RESOLVER_MESSAGE_RESULT;
	if (result == 0) {
		order->work(&source, &answer.resolution);
	} else {
		answer.resolution.tag = HEAP_TAG_WORKER_PANIC;
		snprintf(answer.resolution.text, sizeof(answer.resolution.text),
			 "the sandbox could not be entered: %s", strerror(-result));
	}
	result = message_send(asking.in_vain ? descriptors[CHILD_JOB] : asking.files,
			      &(struct message){.bytes = &answer, .size = sizeof(answer)}, 0);
	return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
