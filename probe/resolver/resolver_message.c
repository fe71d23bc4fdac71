/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_message.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

enum {
	ORDER_BYTES_MAX = 512 << 20,
};

/* Room for the descriptors of one message. */
union rights_room {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(ORDER_DESCRIPTORS * sizeof(int))];
};

int resolver_message_send(int socket, const void *message, size_t size, const int *descriptors, size_t count,
			  int flags)
{
	struct iovec part = {.iov_base = (void *)message, .iov_len = size};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	union rights_room room;
	ssize_t sent;

	if (count != 0) {
		struct cmsghdr *rights;

		memset(&room, 0, sizeof(room));
		header.msg_control = &room;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
	}
	do {
		sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static void take_descriptors(struct msghdr *header, int *descriptors, size_t count)
{
	struct cmsghdr *rights = CMSG_FIRSTHDR(header);
	int taken[ORDER_DESCRIPTORS];
	size_t taken_count;

	for (size_t i = 0; i < count; i++)
		descriptors[i] = -1;
	if (rights == NULL || rights->cmsg_level != SOL_SOCKET || rights->cmsg_type != SCM_RIGHTS)
		return;
	taken_count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(taken, CMSG_DATA(rights), taken_count * sizeof(int));
	for (size_t i = 0; i < taken_count; i++) {
		if (taken_count == count)
			descriptors[i] = taken[i];
		else
			close(taken[i]);
	}
}

ssize_t resolver_message_receive(int socket, void *message, size_t size, int *descriptors, size_t count,
				 int flags)
{
	struct iovec part = {.iov_base = message, .iov_len = size};
	union rights_room room;
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t received;

	/* what comes along unasked is closed by the kernel */
	if (count != 0) {
		header.msg_control = &room;
		header.msg_controllen = sizeof(room);
	}
	do {
		received = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC | MSG_TRUNC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return -errno;
	if (count != 0)
		take_descriptors(&header, descriptors, count);
	return received;
}

void resolver_message_send_ended(int socket, struct resolver_ended ended)
{
	ended.kind = RESOLVER_MESSAGE_ENDED;
	(void)resolver_message_send(socket, &ended, sizeof(ended), NULL, 0, MSG_DONTWAIT);
}

/* The number of objects, the objects as they lie in memory, then the paths, each with its NUL. */
int resolver_order_write(const char *executable_path, const struct process_map *map)
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

int resolver_order_read(int descriptor, char **ret_executable_path, struct process_map *ret_map)
{
	struct buffer bytes = {0};
	const char *next;
	int result = file_read_descriptor(descriptor, &bytes, ORDER_BYTES_MAX);

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
