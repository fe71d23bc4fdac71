/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ORDER_H
#define CTOP_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Orders of bytes and numbers, and the first items of an array in their order. */

/* Negative, zero or positive as memcmp(3); of texts one of which begins the other the shorter comes first.
 * Text of no length may be NULL. */
int order_bytes(const char *left, size_t left_length, const char *right, size_t right_length);

/* A NAN comes last whatever the direction. */
int order_numbers(double left, double right, bool ascending);

typedef int order_compare(const void *left, const void *right, void *context);

/*
 * Brings the `first` first items of an array of `count` in their order to the front, sorted; the others
 * follow in any order. Takes time for sorting those alone, besides a few looks at each of the others. `first`
 * may be larger than `count`; items that are equal come in any order, so that `compare` should leave none.
 */
void order_first(void *items, size_t count, size_t size, size_t first, order_compare *compare, void *context);

#endif
