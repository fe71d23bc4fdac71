/* SPDX-License-Identifier: GPL-2.0-only */
#include "arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum {
	ARENA_BLOCK_SIZE = 32 * 1024
};

struct arena_block {
	struct arena_block *next;
	size_t size; /* bytes behind this header */
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_allocate(struct arena *arena, size_t size)
{
	const size_t alignment = alignof(max_align_t);
	size_t rounded = (size + alignment - 1) & ~(alignment - 1);
	struct arena_block *block = arena->blocks;
	void *pointer;

	if (rounded < size)
		rounded = SIZE_MAX - sizeof(*block); /* lets the allocation below fail by itself */
	if (block == NULL || block->size - arena->used < rounded) {
		size_t wanted = rounded > ARENA_BLOCK_SIZE ? rounded : ARENA_BLOCK_SIZE;

		block = memory_allocate(sizeof(*block) + wanted);
		block->size = wanted;
		block->next = arena->blocks;
		arena->blocks = block;
		arena->used = 0;
	}
	pointer = block->bytes + arena->used;
	arena->used += rounded;
	return pointer;
}

void *arena_allocate_zero(struct arena *arena, size_t count, size_t size)
{
	size_t total;
	void *pointer;

	if (__builtin_mul_overflow(count, size, &total))
		total = SIZE_MAX;
	pointer = arena_allocate(arena, total);
	memset(pointer, 0, total);
	return pointer;
}

char *arena_duplicate(struct arena *arena, const char *bytes, size_t length)
{
	char *copy = arena_allocate(arena, length + 1);

	if (length != 0)
		memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	char *text, *copy;

	va_start(arguments, format);
	text = memory_format_list(format, arguments);
	va_end(arguments);
	copy = arena_duplicate(arena, text, strlen(text));
	free(text);
	return copy;
}

void arena_release(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block != NULL) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	arena->blocks = NULL;
	arena->used = 0;
}
