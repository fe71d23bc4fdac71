/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_VIEW_NAMES_H
#define CTOP_VIEW_NAMES_H

#include "view.h"

/*
 * Which group of a view each triple of `names`, a snapshot without threads, belongs to: an id of `grouping`,
 * which is that of the view's axis; UINT32_MAX where there is no such group, and where the view was narrowed
 * to others. `key` (may be NULL) limits them to the group of that key. `patterns` are those that the grouping
 * was made with. The caller frees the array.
 */
uint32_t *view_group_names(const struct view *view, const char *key, size_t key_length,
			   const struct snapshot *names, struct pattern_memory *patterns,
			   const struct grouping *grouping);

#endif
