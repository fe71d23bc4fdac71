/* SPDX-License-Identifier: GPL-2.0-only */
#include "message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PIECES = 2,
};

/* Room for descriptors, aligned as the kernel wants it (cmsg(3)). */
union descriptor_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(MESSAGE_DESCRIPTORS_MAX * sizeof(int))];
};

static void skip_sent(struct iovec pieces[PIECES], size_t sent)
{
	for (size_t i = 0; i < PIECES && sent != 0; i++) {
		const size_t here = sent < pieces[i].iov_len ? sent : pieces[i].iov_len;

		if (here == 0)
			continue;
		pieces[i].iov_base = (char *)pieces[i].iov_base + here;
		pieces[i].iov_len -= here;
		sent -= here;
	}
}

int message_send(int socket, const struct message *message, int flags)
{
	const size_t bytes = message->descriptor_count * sizeof(int);
	struct iovec pieces[PIECES] = {{message->bytes, message->size}, {message->more, message->more_size}};
	struct msghdr header = {.msg_iov = pieces, .msg_iovlen = PIECES};
	size_t left = message->size + message->more_size;
	union descriptor_room room;

	if (bytes != 0) {
		memset(&room, 0, sizeof(room));
		room.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&room.header), message->descriptors, bytes);
		header.msg_control = &room;
		header.msg_controllen = CMSG_SPACE(bytes);
	}
	while (left != 0) {
		const ssize_t count = sendmsg(socket, &header, flags | MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		left -= (size_t)count;
		skip_sent(pieces, (size_t)count);
		header.msg_control = NULL;
		header.msg_controllen = 0;
	}
	return 0;
}

static void take_descriptors(struct msghdr *header, struct message *message)
{
	struct cmsghdr *rights = CMSG_FIRSTHDR(header);
	int taken[MESSAGE_DESCRIPTORS_MAX];
	size_t count;

	if (rights == NULL || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
		return;
	count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(taken, CMSG_DATA(rights), count * sizeof(int));
	for (size_t i = 0; i < count; i++) {
		if (count == message->descriptor_count)
			message->descriptors[i] = taken[i];
		else
			close(taken[i]);
	}
}

ssize_t message_receive(int socket, struct message *message, int flags)
{
	struct iovec pieces[PIECES] = {{message->bytes, message->size}, {message->more, message->more_size}};
	struct msghdr header = {.msg_iov = pieces, .msg_iovlen = PIECES};
	union descriptor_room room;
	ssize_t received;

	for (size_t i = 0; i < message->descriptor_count; i++)
		message->descriptors[i] = -1;
	/* the kernel closes descriptors that nobody asked for */
	if (message->descriptor_count != 0) {
		header.msg_control = &room;
		header.msg_controllen = sizeof(room);
	}
	do {
		received = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return -errno;
	if (message->descriptor_count != 0)
		take_descriptors(&header, message);
	return received;
}
