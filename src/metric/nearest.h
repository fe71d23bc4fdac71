/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NEAREST_H
#define CTOP_NEAREST_H

#include <stddef.h>

#include "base/error.h"

/*
 * The candidate that is the fewest edits (insertions, deletions, replacements, swaps of neighbours; case
 * counts half) away from `word`, the first of equals; if none is near enough to be a likely typing error, the
 * first that begins with `word`; NULL if none does.
 */
const char *nearest_name(const char *word, const char *const *candidates, size_t count);

/*
 * The edit distance of a candidate from a word, in halves of an edit, counted as for nearest_name(); UINT_MAX
 * where it is larger than `most`, or one of them too long to be told.
 */
unsigned int nearest_distance(const char *word, const char *candidate, unsigned int most);

/*
 * Refuses a word that is none of `names`: writes "unknown KIND 'WORD', did you mean 'X'? valid: A, B, C" (the
 * question is left out when none is near) and returns -EINVAL.
 */
int nearest_refuse(struct error *error, const char *kind, const char *word, const char *const *names,
		   size_t count);

/*
 * The name that a user means: `word` itself, or the only name that begins with it (case ignored; equal names
 * are one). Writes its index and returns 0, or -EINVAL with a sentence: that several begin so, and which, or
 * that of nearest_refuse().
 */
int nearest_choose(struct error *error, const char *kind, const char *word, const char *const *names,
		   size_t count, size_t *ret_index);

#endif
