/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolver_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

enum {
	ORDER_BYTES_MAX = 512 << 20,
};

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
