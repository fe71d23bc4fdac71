/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ARENA_H
#define CTOP_ARENA_H

#include <stddef.h>

struct arena_block;

/* Many small allocations that are released together. A zeroed struct is an empty arena. */
struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes handed out of the newest block */
};

/* `size` bytes aligned for any type, owned by the arena; not initialised. Never NULL. */
void *arena_allocate(struct arena *arena, size_t size)
	__attribute__((malloc, returns_nonnull, alloc_size(2)));

/* `count` zeroed elements of `size` bytes, owned by the arena. */
void *arena_allocate_zero(struct arena *arena, size_t count, size_t size)
	__attribute__((malloc, returns_nonnull));

/* A NUL-terminated copy of `length` bytes, owned by the arena. */
char *arena_duplicate(struct arena *arena, const char *bytes, size_t length)
	__attribute__((malloc, returns_nonnull));

/* A formatted string, owned by the arena. */
char *arena_format(struct arena *arena, const char *format, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 2, 3)));

/* Releases everything; the arena is empty and usable again. */
void arena_release(struct arena *arena);

#endif
