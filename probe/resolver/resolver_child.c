/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolver_message.h"
#include "resolver_parent.h"

static int send_message(int socket, const void *message, size_t size)
{
	struct iovec part = {.iov_base = (void *)message, .iov_len = size};
	const struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	do {
		sent = sendmsg(socket, &header, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* Takes an answer and its descriptor; returns the descriptor or a negative errno. */
static int take_answer(int socket)
{
	struct resolver_answer answer;
	struct iovec part = {.iov_base = &answer, .iov_len = sizeof(answer)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control)};
	struct cmsghdr *rights;
	int descriptor;
	ssize_t received;

	do {
		received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	/* whoever wanted the result is gone */
	if (received != (ssize_t)sizeof(answer))
		_exit(EXIT_FAILURE);
	if (answer.result < 0)
		return answer.result;
	rights = CMSG_FIRSTHDR(&header);
	if (rights == NULL || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS ||
	    rights->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EMFILE; /* no room for it here: unix(7), MSG_CTRUNC */
	memcpy(&descriptor, CMSG_DATA(rights), sizeof(descriptor));
	return descriptor;
}

static int ask(void *context, uint32_t object, enum resolve_file file, const char *name, uint32_t ordinal)
{
	const int socket = *(const int *)context;
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
	result = send_message(socket, &request, sizeof(request));
	if (result < 0)
		_exit(EXIT_FAILURE);
	return take_answer(socket);
}

int resolver_child_run(int socket, uint32_t object_count, const struct sandbox_filter *filter,
		       resolver_work *work)
{
	const struct resolve_source source = {.context = &socket, .object_count = object_count, .open = ask};
	struct resolver_result message;
	int result = sandbox_enter(filter);

	memset(&message, 0, sizeof(message));
	message.kind = RESOLVER_MESSAGE_RESULT;
	if (result == 0) {
		work(&source, &message.resolution);
	} else {
		message.resolution.tag = HEAP_TAG_WORKER_PANIC;
		snprintf(message.resolution.text, sizeof(message.resolution.text),
			 "the sandbox could not be entered: %s", strerror(-result));
	}
	return send_message(socket, &message, sizeof(message)) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
