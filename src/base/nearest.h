/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NEAREST_H
#define CTOP_NEAREST_H

#include <stddef.h>

/*
 * The candidate that is the fewest edits (insertions, deletions, replacements, swaps of neighbours; case
 * counts half) away from `word`, the first of equals; NULL when none is near enough to be a likely slip.
 */
const char *nearest_name(const char *word, const char *const *candidates, size_t count);

#endif
