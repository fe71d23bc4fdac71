/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CPU_SET_H
#define CTOP_CPU_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/string_pool.h"

/*
 * Distinct CPU sets with small ids, in a string pool whose strings are the CPU ids as an array of uint32_t in
 * file order (what a file says is kept as it is, sorted or not). Id 0 is the empty set.
 */

/* Id of the set of `count` CPU ids, added when new. */
uint32_t cpu_set_intern(struct string_pool *pool, const uint32_t *cpus, size_t count);

/* The CPU ids of a set, owned by the pool (NULL for the empty set), and their number. */
const uint32_t *cpu_set_cpus(const struct string_pool *pool, uint32_t id);
size_t cpu_set_count(const struct string_pool *pool, uint32_t id);

/* Appends the set as ranges in file order: [0,1,4,5,7] as "0-1,4-5,7"; nothing for the empty set. */
void cpu_set_append_ranges(const struct string_pool *pool, uint32_t id, struct buffer *buffer);

/*
 * Parses the kernel's list form, "0-3,8": items separated by ',', blanks around an item trimmed, empty items
 * skipped, sorted and deduplicated. A bad item, a reversed range, a range of more than 65536 CPUs, more than
 * 1048576 CPUs in all items or an empty result makes the whole list invalid: returns false. `*ret_id` gets
 * the set's id.
 */
bool cpu_set_parse(struct string_pool *pool, const char *text, size_t length, uint32_t *ret_id);

#endif
