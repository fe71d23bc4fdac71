/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOKUPS_H
#define CTOP_LOOKUPS_H

#include "capture/lookup_thread.h"
#include "table/table.h"
#include "table/view.h"

/* Looking texts up for a screen and for `-b`. */

/*
 * Starts looking up. `proc_root` is the directory that the user named, NULL for
 * /proc. NULL, with a note, where it cannot be started: then nothing is looked up.
 */
struct lookup_thread *lookups_start(const char *proc_root);

/* Whether a view shows anything that is looked up. */
bool lookups_are_shown(const struct view *view);

/*
 * Puts texts into the cells of a table that are looked up, and waits for each as long as an answer takes at
 * most. `lookups` may be NULL.
 */
void lookups_fill(struct lookup_thread *lookups, struct lookup_cache *cache, struct table *table);

#endif
