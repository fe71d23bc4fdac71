/* SPDX-License-Identifier: GPL-2.0-only */
#include "process_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"

enum {
	/* sysctl vm.max_map_count is 65,530 by default; a line is rarely longer than 200 bytes */
	MAP_BYTES_MAX = 256 << 20,
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

static void parse_map(const char *line, uint64_t executable_device, uint64_t executable_inode,
		      struct process_map *map)
{
	struct file_run run = {0};
	struct mapping mapping;
	size_t capacity = 0;

	for (const char *next = line; next != NULL;) {
		line = next;
		next = strchr(line, '\n');
		if (next != NULL)
			next++;
		if (!parse_line(line, &mapping))
			continue;
		follow_run(&run, &mapping);
		if (!mapping.is_executable || mapping.path_length == 0 ||
		    (mapping.device == executable_device && mapping.inode == executable_inode) ||
		    is_known(map, mapping.device, mapping.inode))
			continue;
		map->objects = memory_grow(map->objects, &capacity, map->count + 1, sizeof(map->objects[0]));
		map->objects[map->count++] = (struct mapped_object){
			.path = memory_duplicate_bytes(mapping.path, mapping.path_length),
			.start = mapping.start,
			.end = mapping.end,
			.first = run.first,
			.device = mapping.device,
			.inode = mapping.inode,
		};
	}
}

int process_map_read(int process_directory, dev_t executable_device, ino_t executable_inode,
		     struct process_map *ret_map, struct error *error)
{
	struct buffer text = {0};
	const int result = file_read(process_directory, "maps", &text, MAP_BYTES_MAX);

	*ret_map = (struct process_map){0};
	if (result < 0)
		error_set(error, result, "cannot read its memory map: %s", strerror(-result));
	else
		parse_map(text.data, executable_device, executable_inode, ret_map);
	buffer_release(&text);
	return result;
}

void process_map_copy(const struct process_map *map, struct process_map *ret_copy)
{
	*ret_copy = (struct process_map){0};
	if (map->count == 0)
		return;
	ret_copy->objects = memory_allocate_zero(map->count, sizeof(map->objects[0]));
	ret_copy->count = map->count;
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
