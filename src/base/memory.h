/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MEMORY_H
#define CTOP_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* The number of elements of an array; not for a pointer. */
#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Allocation that never returns NULL: when the system has no memory left, the handler set by
 * memory_set_failure_handler() runs (it restores the terminal) and the process exits with status 1 after one
 * line on stderr. The caller owns what is returned and releases it with free().
 */
void *memory_allocate(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* `count` elements of `size` bytes, all zero; an overflow of the product counts as no memory. */
void *memory_allocate_zero(size_t count, size_t size)
	__attribute__((malloc, returns_nonnull, alloc_size(1, 2)));

/* Resizes `pointer` (NULL allowed) to `count` elements of `size` bytes. New bytes are not initialised. */
void *memory_resize(void *pointer, size_t count, size_t size) __attribute__((returns_nonnull));

/*
 * Makes room for `needed` elements of `size` bytes in a dynamic array: returns `pointer` unchanged while
 * `*capacity` suffices, else resizes it to at least twice the capacity and updates `*capacity` (elements).
 */
void *memory_grow(void *pointer, size_t *capacity, size_t needed, size_t size)
	__attribute__((returns_nonnull));

/*
 * Appends an element, not initialised, to a dynamic array and gives a pointer to it, valid until the next
 * one. The arguments are lvalues and are evaluated more than once.
 */
#define MEMORY_APPEND(items, count, capacity)                                                                \
	((items) = memory_grow((items), &(capacity), (count) + 1, sizeof(*(items))), &(items)[(count)++])

/*
 * Empties a dynamic array of which `*count` elements of `size` bytes were used: `pointer`, or NULL with no
 * capacity where that is much more than was used.
 */
void *memory_empty(void *pointer, size_t *count, size_t *capacity, size_t size);

/* A copy of `count` elements of `size` bytes, with room for `capacity` of them; NULL where `array` is. */
void *memory_copy(const void *array, size_t count, size_t capacity, size_t size);

/* A copy of the NUL-terminated `text`. */
char *memory_duplicate(const char *text) __attribute__((malloc, returns_nonnull));

/* A NUL-terminated copy of `length` bytes. */
char *memory_duplicate_bytes(const char *bytes, size_t length) __attribute__((malloc, returns_nonnull));

/* A formatted string, owned by the caller. */
char *memory_format(const char *format, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *memory_format_list(const char *format, va_list arguments)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/*
 * Sets up malloc(3) for rounds of so many threads; 0 at the start. Large arrays come and go with each round
 * and are mapped, so the kernel clears only the pages that are used. Free memory at the end of the heap is
 * kept for the next table. Tables of many threads are kept on the heap, too: to map them anew took a third of
 * a key's time. All threads use one heap, so that memory_trim() reaches the whole of it.
 */
void memory_expect(size_t threads);

/*
 * Gives free memory back to the system, of all threads: malloc(3) keeps what is not at the end of a heap.
 * Takes some ms; for when much was freed that will not be needed soon.
 */
void memory_trim(void);

/* Ends the process as above: for when a library lacks memory. */
void memory_fail(void) __attribute__((noreturn));

/* `handler` runs once before the process ends for lack of memory; NULL removes it. */
void memory_set_failure_handler(void (*handler)(void));

#endif
