/* SPDX-License-Identifier: GPL-2.0-only */
#include "memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	EMPTY_KEPT = 65536,       /* bytes that an empty array may keep */
	LARGE_BYTES = 1 << 20,    /* that are mapped */
	FREE_BYTES = 16 << 20,    /* that may be left at the end of the heap */
	MANY_THREADS = 5000,      /* from which on tables are larger than that */
	LARGE_OF_MANY = 32 << 20, /* the most that malloc(3) takes on a 64-bit system */
	FREE_OF_MANY = 64 << 20,
};

static void (*failure_handler)(void);

void memory_set_failure_handler(void (*handler)(void))
{
	failure_handler = handler;
}

void memory_fail(void)
{
	static const char message[] = "ctop: out of memory\n";
	void (*handler)(void) = failure_handler;

	failure_handler = NULL;
	if (handler != NULL)
		handler();
	/* Nothing is left to be done when even this write fails. */
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(1);
	_exit(1);
}

void *memory_allocate(size_t size)
{
	void *pointer = malloc(size != 0 ? size : 1);

	if (pointer == NULL)
		memory_fail();
	return pointer;
}

void *memory_allocate_zero(size_t count, size_t size)
{
	void *pointer = calloc(count != 0 ? count : 1, size != 0 ? size : 1);

	if (pointer == NULL)
		memory_fail();
	return pointer;
}

void *memory_resize(void *pointer, size_t count, size_t size)
{
	void *resized = reallocarray(pointer, count != 0 ? count : 1, size != 0 ? size : 1);

	if (resized == NULL)
		memory_fail();
	return resized;
}

void *memory_grow(void *pointer, size_t *capacity, size_t needed, size_t size)
{
	size_t wanted = *capacity;

	if (pointer != NULL && needed <= wanted)
		return pointer;
	if (wanted < 8)
		wanted = 8;
	while (wanted < needed) {
		if (wanted > SIZE_MAX / 2)
			memory_fail();
		wanted *= 2;
	}
	pointer = memory_resize(pointer, wanted, size);
	*capacity = wanted;
	return pointer;
}

void *memory_empty(void *pointer, size_t *count, size_t *capacity, size_t size)
{
	const bool is_small = *capacity * size < EMPTY_KEPT || *count > *capacity / 4;

	*count = 0;
	if (is_small)
		return pointer;
	free(pointer);
	*capacity = 0;
	return NULL;
}

void *memory_copy(const void *array, size_t count, size_t capacity, size_t size)
{
	void *copy;

	if (array == NULL)
		return NULL;
	copy = memory_resize(NULL, capacity, size);
	memcpy(copy, array, count * size);
	return copy;
}

char *memory_duplicate(const char *text)
{
	return memory_duplicate_bytes(text, strlen(text));
}

char *memory_duplicate_bytes(const char *bytes, size_t length)
{
	char *copy = memory_allocate(length + 1);

	if (length != 0)
		memcpy(copy, bytes, length);
	copy[length] = '\0';
	return copy;
}

char *memory_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = memory_format_list(format, arguments);
	va_end(arguments);
	return text;
}

char *memory_format_list(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		memory_fail();
	return text;
}

void memory_expect(size_t threads)
{
#ifdef __GLIBC__
	const bool many = threads >= MANY_THREADS;

	/* malloc_trim(3) leaves the end of every heap but the first as it is (malloc/malloc.c, mtrim) */
	(void)mallopt(M_ARENA_MAX, 1);
	/* set, they no longer follow what was freed last */
	(void)mallopt(M_MMAP_THRESHOLD, many ? LARGE_OF_MANY : LARGE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, many ? FREE_OF_MANY : FREE_BYTES);
#else
	(void)threads;
#endif
}

void memory_trim(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}
