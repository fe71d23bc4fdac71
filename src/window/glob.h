/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GLOB_H
#define CTOP_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/*
 * File name patterns of `--cgroup-flatten`: `?`, `*`, `[abc]`, `[!abc]`, `[a-z]`, and `**` as a whole path
 * component. They match whole texts, case-sensitive; `*`, `?` and classes also match '/', and a leading dot
 * is not special. fnmatch(3) has other rules for each of these.
 */
struct glob;

/*
 * Compiles a pattern; the caller releases it. NULL if it is not a valid pattern: an open `[`, `***`, or `**`
 * next to text.
 */
struct glob *glob_compile(const char *pattern, size_t length);
void glob_release(struct glob *glob);

/* Whether the pattern has no wildcard, so that it matches one text only. */
bool glob_is_literal(const struct glob *glob);

/* Whether the whole text matches. Time is at most tokens times characters. */
bool glob_matches(const struct glob *glob, const char *text, size_t length);

#endif
