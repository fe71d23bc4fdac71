/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ORDER_H
#define CTOP_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Orders of bytes and numbers, and the first items of an array in their order. */

/* Negative, zero or positive as memcmp(3). A text comes before a longer one that begins with it. A text of no
 * length may be NULL. */
int order_bytes(const char *left, size_t left_length, const char *right, size_t right_length);

static inline int order_u64(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* For qsort(3) and bsearch(3): numbers, texts (const char *), and structs that begin with one. */
int order_by_u64(const void *left, const void *right);
int order_by_u32(const void *left, const void *right);
int order_by_text(const void *left, const void *right);

/* A NAN comes last whatever the direction. */
int order_numbers(double left, double right, bool ascending);

/* An item by two numbers: by `first`, and where these are equal by `second`. */
struct order_item {
	uint64_t first, second;
	uint32_t index;
};

/* Sorts items; equal ones keep their order. Costs a pass for each byte in which they differ, whatever their
 * order. */
void order_items(struct order_item *items, size_t count);

/* A number for `first` or `second`, so that items come in the order of order_numbers(). */
uint64_t order_key(double number, bool ascending);

typedef int order_compare(const void *left, const void *right, void *context);

/*
 * Moves the `first` smallest items of an array of `count`, sorted, to its front; the others follow in any
 * order. Costs the sorting of those alone and a few comparisons for each of the others. `first` may be larger
 * than `count`; equal items come in any order, so `compare` should tell all apart.
 */
void order_first(void *items, size_t count, size_t size, size_t first, order_compare *compare, void *context);

/*
 * Finds the items of a sorted array whose first member, a uint32_t, is `key`: the index of the first of them,
 * and how many there are, which may be 0.
 */
size_t order_find_run(const void *items, size_t count, size_t size, uint32_t key, size_t *ret_count);

#endif
