/* SPDX-License-Identifier: GPL-2.0-only */
#include "process_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "process_root.h"

enum {
	/* sysctl vm.max_map_count is 65,530 by default; a line is rarely longer than 200 bytes */
	MAP_BYTES_MAX = 256 << 20,
	FILE_BYTES_MAX = 16 << 20, /* of the mappings of files alone */
	OBJECTS_MAX = 4096,        /* of a process: each is compared with those before it */
	PATH_BYTES_MAX = 1 << 20,  /* of all of them */
};

/*
 * A question to a descriptor of maps (PROCMAP_QUERY of include/uapi/linux/fs.h, from Linux 6.11 on). The
 * kernel then passes over mappings without a file; a process with many threads has thousands of them, the
 * stacks.
 */
struct mapping_query {
	uint64_t size; /* of this structure */
	uint64_t query_flags, query_address;
	uint64_t start, end, flags, page_size, offset, inode; /* of the mapping */
	uint32_t device_major, device_minor;
	uint32_t name_size, build_id_size; /* room, then what was written; 0: not asked for */
	uint64_t name, build_id;           /* addresses of the room */
};

#define MAPPING_QUERY _IOWR('f', 17, struct mapping_query)

/* Bits of query_flags and flags. */
enum {
	MAPPING_EXECUTABLE = 0x04,
	QUERY_COVERING_OR_NEXT = 0x10,
	QUERY_FILE_BACKED = 0x20,
};

/* One line of maps. */
struct mapping {
	uint64_t start, end, offset, device, inode;
	bool is_executable;
	const char *path;
	size_t path_length; /* 0: no file */
};

/* Takes a number and the character that must stand behind it. */
static bool take_number(const char **text, int base, char behind, uint64_t *ret_value)
{
	char *end;

	*ret_value = strtoull(*text, &end, base);
	if (end == *text || *end != behind)
		return false;
	*text = end + 1;
	return true;
}

/*
 * "5583e6f7a000-5583e6f7b000 r-xp 00000000 fe:00 12345   /usr/bin/example" (show_map_vma() in
 * fs/proc/task_mmu.c). Only the first word of a path counts.
 */
static bool parse_line(const char *line, struct mapping *ret_mapping)
{
	uint64_t major, minor;
	char *end;

	*ret_mapping = (struct mapping){0};
	if (!take_number(&line, 16, '-', &ret_mapping->start) ||
	    !take_number(&line, 16, ' ', &ret_mapping->end) || ret_mapping->start >= ret_mapping->end ||
	    strcspn(line, " \n") != strlen("r-xp"))
		return false;
	ret_mapping->is_executable = line[2] == 'x';
	line += strlen("r-xp ");
	if (!take_number(&line, 16, ' ', &ret_mapping->offset) || !take_number(&line, 16, ':', &major) ||
	    !take_number(&line, 16, ' ', &minor))
		return false;
	ret_mapping->device = makedev((unsigned int)major, (unsigned int)minor);
	ret_mapping->inode = strtoull(line, &end, 10);
	ret_mapping->path = end + strspn(end, " ");
	if (ret_mapping->path[0] == '/')
		ret_mapping->path_length = strcspn(ret_mapping->path, " \t\n");
	return true;
}

static bool is_known(const struct process_map *map, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < map->count; i++) {
		if (map->objects[i].device == device && map->objects[i].inode == inode)
			return true;
	}
	return false;
}

/*
 * The mappings of one file follow each other by address. Whoever maps a library as data too (a profiler in
 * the process) gives it a second run of them: the run that the executable mapping belongs to counts.
 */
struct file_run {
	uint64_t device, inode, first;
};

static void follow_run(struct file_run *run, const struct mapping *mapping)
{
	if (mapping->path_length == 0)
		return; /* anonymous: the .bss of an object between its segments */
	if (run->device == mapping->device && run->inode == mapping->inode && mapping->offset != 0)
		return;
	*run = (struct file_run){mapping->device, mapping->inode, mapping->start};
}

struct map_taking {
	struct process_map *map;
	size_t capacity, path_bytes;
	struct file_run run;
};

/* Takes the next mapping, by address. */
static void take_mapping(struct map_taking *taking, const struct mapping *mapping)
{
	struct process_map *map = taking->map;

	follow_run(&taking->run, mapping);
	if (!mapping->is_executable || mapping->path_length == 0 || map->count == OBJECTS_MAX ||
	    taking->path_bytes + mapping->path_length > PATH_BYTES_MAX ||
	    (mapping->device == map->executable_device && mapping->inode == map->executable_inode) ||
	    is_known(map, mapping->device, mapping->inode))
		return;
	taking->path_bytes += mapping->path_length;
	*MEMORY_APPEND(map->objects, map->count, taking->capacity) = (struct mapped_object){
		.path = memory_duplicate_bytes(mapping->path, mapping->path_length),
		.start = mapping->start,
		.end = mapping->end,
		.first = taking->run.first,
		.device = mapping->device,
		.inode = mapping->inode,
	};
}

/*
 * Asks for one mapping of a file after the other and writes each as maps would, but for the flags that do not
 * matter here. Returns 0, -EFBIG, or -ENOTTY where the kernel does not answer so; what was written by then is
 * to be forgotten.
 */
static int ask_for_mappings(int maps, struct buffer *text)
{
	char path[PATH_MAX];
	struct mapping_query query = {.end = 0};

	for (;;) {
		query = (struct mapping_query){
			.size = sizeof(query),
			.query_flags = QUERY_COVERING_OR_NEXT | QUERY_FILE_BACKED,
			.query_address = query.end,
			.name_size = sizeof(path),
			.name = (uintptr_t)path,
		};
		if (ioctl(maps, MAPPING_QUERY, &query) < 0)
			return errno == ENOENT ? 0 : -ENOTTY; /* behind the last one */
		if (text->length > FILE_BYTES_MAX)
			return -EFBIG;
		/* maps escapes what else could be the end of a line; only the first word counts */
		if (query.name_size == 0)
			path[0] = '\0';
		path[strcspn(path, " \t\n")] = '\0';
		buffer_append_format(
			text,
			"%" PRIx64 "-%" PRIx64 " --%cp %" PRIx64 " %" PRIx32 ":%" PRIx32 " %" PRIu64 " %s\n",
			query.start, query.end, (query.flags & MAPPING_EXECUTABLE) != 0 ? 'x' : '-',
			query.offset, query.device_major, query.device_minor, query.inode, path);
	}
}

/* A reader_work: answers with the mappings of a process in its open directory, as lines. */
static int read_mappings(int directory, const void *argument, size_t size, struct buffer *answer)
{
	const int maps = openat(directory, "maps", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int result;

	(void)argument;
	(void)size;
	if (maps < 0)
		return -errno;
	result = ask_for_mappings(maps, answer);
	if (result == -ENOTTY) {
		buffer_clear(answer);
		result = file_read_descriptor(maps, answer, MAP_BYTES_MAX);
	}
	if (result < 0)
		buffer_release(answer);
	close(maps);
	return result;
}

/*
 * Reads the state of a library's file, unless its path now leads to another file. Uses only the kernel's
 * caches, which hold a mapped file and its parent directories, so a dead file server cannot block it. The
 * link in map_files would wait for the lock of the address space.
 */
static void find_state(const struct process_root *root, struct mapped_object *object)
{
	const int file = process_root_open_object(root, object, PROCESS_ROOT_CACHED);
	struct statx status;

	if (file < 0)
		return;
	if (statx(file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) == 0)
		object->state = (struct file_state){
			.size = status.stx_size,
			.change_seconds = status.stx_ctime.tv_sec,
			.change_nanoseconds = status.stx_ctime.tv_nsec,
		};
	close(file);
}

static void find_states(int process_directory, struct process_map *map)
{
	struct process_root root;

	process_root_open(process_directory, &root);
	for (size_t i = 0; i < map->count; i++)
		find_state(&root, &map->objects[i]);
	process_root_close(&root);
}

int process_map_read(struct reader *reader, pid_t tgid, int process_directory, dev_t executable_device,
		     ino_t executable_inode, struct process_map *ret_map, struct error *error)
{
	struct map_taking taking = {.map = ret_map};
	struct buffer text = {0};
	struct mapping mapping;
	int result;

	*ret_map = (struct process_map){.executable_device = executable_device,
					.executable_inode = executable_inode};
	result = reader_call(reader, tgid, read_mappings, process_directory, NULL, 0, &text);
	for (const char *line = text.data; result == 0 && line != NULL;) {
		const char *end = strchr(line, '\n');

		if (parse_line(line, &mapping))
			take_mapping(&taking, &mapping);
		line = end != NULL ? end + 1 : NULL;
	}
	buffer_release(&text);
	if (result == 0)
		find_states(process_directory, ret_map);
	else
		error_set(error, result, "cannot read its memory map%s%s",
			  result == -ETIMEDOUT ? " in time" : ": ",
			  result == -ETIMEDOUT ? "" : strerror(-result));
	return result;
}

void process_map_copy(const struct process_map *map, struct process_map *ret_copy)
{
	*ret_copy = *map;
	ret_copy->objects = NULL;
	if (map->count == 0)
		return;
	ret_copy->objects = memory_allocate_zero(map->count, sizeof(map->objects[0]));
	for (size_t i = 0; i < map->count; i++) {
		ret_copy->objects[i] = map->objects[i];
		ret_copy->objects[i].path = memory_duplicate(map->objects[i].path);
	}
}

void process_map_release(struct process_map *map)
{
	for (size_t i = 0; i < map->count; i++)
		free(map->objects[i].path);
	free(map->objects);
	*map = (struct process_map){0};
}

int executable_identify(int process_directory, struct executable *ret_executable)
{
	struct statx status;

	if (statx(process_directory, "exe", AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0)
		return -errno;
	*ret_executable = (struct executable){
		.device = makedev(status.stx_dev_major, status.stx_dev_minor),
		.inode = status.stx_ino,
		.size = status.stx_size,
		.change_seconds = status.stx_ctime.tv_sec,
		.change_nanoseconds = status.stx_ctime.tv_nsec,
	};
	return 0;
}
