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

static const char *skip_blanks(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	return text;
}

/* Takes the word at `*text` and the blanks behind it. */
static size_t take_word(const char **text, const char *end, const char **ret_word)
{
	const char *word = skip_blanks(*text, end);
	const char *behind = word;

	while (behind < end && *behind != ' ' && *behind != '\t')
		behind++;
	*text = behind;
	*ret_word = word;
	return (size_t)(behind - word);
}

static bool parse_number(const char *text, size_t length, unsigned int base, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (length == 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		unsigned int digit = 16;

		if (text[i] >= '0' && text[i] <= '9')
			digit = (unsigned int)(text[i] - '0');
		else if (text[i] >= 'a' && text[i] <= 'f')
			digit = (unsigned int)(text[i] - 'a') + 10;
		if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*ret_value = value;
	return true;
}

/* Two hexadecimal numbers around a separator: a range, or the numbers of a device. */
static bool parse_pair(const char *text, size_t length, char separator, uint64_t *ret_first,
		       uint64_t *ret_second)
{
	const char *middle = memchr(text, separator, length);
	size_t first_length;

	if (middle == NULL)
		return false;
	first_length = (size_t)(middle - text);
	return parse_number(text, first_length, 16, ret_first) &&
	       parse_number(middle + 1, length - first_length - 1, 16, ret_second);
}

/*
 * "5583e6f7a000-5583e6f7b000 r-xp 00000000 fe:00 12345   /usr/bin/example" (show_map_vma() in
 * fs/proc/task_mmu.c). Only the first word of a path counts.
 */
static bool parse_line(const char *line, const char *end, struct mapping *ret_mapping)
{
	uint64_t major = 0, minor = 0;
	const char *word;
	size_t length;

	*ret_mapping = (struct mapping){0};
	length = take_word(&line, end, &word);
	if (!parse_pair(word, length, '-', &ret_mapping->start, &ret_mapping->end) ||
	    ret_mapping->start >= ret_mapping->end)
		return false;
	length = take_word(&line, end, &word);
	ret_mapping->is_executable = memchr(word, 'x', length) != NULL;
	length = take_word(&line, end, &word);
	if (!parse_number(word, length, 16, &ret_mapping->offset))
		return false;
	length = take_word(&line, end, &word);
	if (!parse_pair(word, length, ':', &major, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	ret_mapping->device = makedev((unsigned int)major, (unsigned int)minor);
	length = take_word(&line, end, &word);
	if (!parse_number(word, length, 10, &ret_mapping->inode))
		return false;
	length = take_word(&line, end, &word);
	if (length > 0 && word[0] == '/') {
		ret_mapping->path = word;
		ret_mapping->path_length = length;
	}
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

static void parse_map(const struct buffer *text, uint64_t executable_device, uint64_t executable_inode,
		      struct process_map *map)
{
	const char *line = text->data;
	const char *text_end = text->data + text->length;
	struct file_run run = {0};
	size_t capacity = 0;

	while (line != NULL && line < text_end) {
		const char *newline = memchr(line, '\n', (size_t)(text_end - line));
		const char *end = newline != NULL ? newline : text_end;
		struct mapping mapping;

		if (parse_line(line, end, &mapping)) {
			follow_run(&run, &mapping);
			if (mapping.is_executable && mapping.path_length > 0 &&
			    !(mapping.device == executable_device && mapping.inode == executable_inode) &&
			    !is_known(map, mapping.device, mapping.inode)) {
				map->objects = memory_grow(map->objects, &capacity, map->count + 1,
							   sizeof(map->objects[0]));
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
		line = newline != NULL ? newline + 1 : NULL;
	}
}

int process_map_read(int process_directory, dev_t executable_device, ino_t executable_inode,
		     struct process_map *ret_map, struct error *error)
{
	struct buffer text = {0};
	int result = file_read(process_directory, "maps", &text, MAP_BYTES_MAX);

	*ret_map = (struct process_map){0};
	if (result < 0)
		error_set(error, result, "cannot read its memory map: %s", strerror(-result));
	else
		parse_map(&text, executable_device, executable_inode, ret_map);
	buffer_release(&text);
	return result < 0 ? result : 0;
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
