/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "remote_internal.h"

/* Room for one descriptor, aligned as the kernel wants it (cmsg(3)). */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* Leaves of the two pieces what is behind their first `sent` bytes. */
static void skip_sent(struct iovec pieces[2], size_t sent)
{
	for (size_t i = 0; i < 2 && sent != 0; i++) {
		const size_t here = sent < pieces[i].iov_len ? sent : pieces[i].iov_len;

		if (here == 0)
			continue;
		pieces[i].iov_base = (char *)pieces[i].iov_base + here;
		pieces[i].iov_len -= here;
		sent -= here;
	}
}

bool remote_send(int socket, const void *first, size_t first_size, const void *second, size_t second_size,
		 int descriptor, int flags)
{
	struct iovec pieces[] = {{(void *)first, first_size}, {(void *)second, second_size}};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
	size_t left = first_size + second_size;

	if (descriptor >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(descriptor));
	}
	while (left != 0) {
		const ssize_t count = sendmsg(socket, &message, flags | MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		left -= (size_t)count;
		message.msg_control = NULL;
		message.msg_controllen = 0;
		skip_sent(pieces, (size_t)count);
	}
	return true;
}

ssize_t remote_receive(int socket, void *first, size_t first_size, void *second, size_t second_size,
		       int *ret_descriptor, int flags)
{
	struct iovec pieces[] = {{first, first_size}, {second, second_size}};
	union control control;
	struct msghdr message = {
		.msg_iov = pieces,
		.msg_iovlen = 2,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	const ssize_t count = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_descriptor = -1;
	if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_descriptor, CMSG_DATA(header), sizeof(*ret_descriptor));
	return count;
}
