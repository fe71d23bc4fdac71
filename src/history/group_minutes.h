/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GROUP_MINUTES_H
#define CTOP_GROUP_MINUTES_H

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * What groups of threads did in each minute, as plain tables of "groups.db" in the directory of a history,
 * for whoever asks in SQL (docs/history.md). The numbers are those of a live screen since a base: threads
 * that ended count, and threads that started.
 */
struct group_minutes;

/*
 * Takes up the file, which is made when the first minute is over. Minutes older than `keep_ns` are removed
 * bit by bit; so are the oldest ones while the file is larger than `max_bytes` (0: no limit). Never NULL.
 */
struct group_minutes *group_minutes_create(const char *directory, uint64_t keep_ns, uint64_t max_bytes);

/* Writes the minute under way and ends; NULL is allowed. */
void group_minutes_release(struct group_minutes *minutes);

/*
 * Takes the next round, with references of its own. With `after_gap` nothing is counted from the rounds
 * before. When a minute is over it is written; where the file is damaged or not one of ours, that gets
 * another name and a new one is begun. A negative errno with a sentence: then it is tried again with the next
 * round.
 */
int group_minutes_add(struct group_minutes *minutes, struct snapshot *round, bool after_gap,
		      struct error *error);

/* Whether a new file took the place of another; the sentence that says so lives until the next call. Once. */
const char *group_minutes_take_notice(struct group_minutes *minutes);

#endif
