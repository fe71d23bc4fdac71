/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_BLAME_H
#define CTOP_DIFF_BLAME_H

#include "diff.h"
#include "window/blame.h"

/* Who ran while the groups of a comparison, or of one snapshot, waited for a CPU. */

/* The smallest change of a time that counts, ns per second: 1 % of a CPU, as for other times. */
#define DIFF_BLAME_FLOOR 1e7

/* One that delayed another. Groups are told by ids, see diff_blame_group(). */
struct diff_blame_entry {
	uint32_t victim;
	uint32_t culprit; /* the victim where its threads delayed one another; BLAME_NOBODY for other causes
			   */
	enum latency_cause cause;
	double time[DIFF_SIDE_COUNT];  /* of the victim's waits, ns per second; 0 on a side that was not
					* measured */
	double waits[DIFF_SIDE_COUNT]; /* in how many of them, per second */
};

struct diff_blame {
	const struct diff *diff;
	struct diff_blame_entry *entries; /* each pair once, by victim */
	size_t count, capacity;
	bool measured[DIFF_SIDE_COUNT];
	/* Some waits of the side may be of any group: all numbers but those of `other` are lower bounds. */
	bool is_at_least[DIFF_SIDE_COUNT];
	uint32_t other; /* the group of these waits, BLAME_NOBODY for none */
	/* For this room only: names of groups that no thread is left of. */
	struct snapshot *sums;
	struct blame *names;
	struct diff_pair *strangers;
};

/*
 * What was measured on the sides: within the window where there is one that has it, else since measuring
 * began. The diff must outlive the result. NULL where the groups of its axis are not known by names, and
 * where the format's flags alone count. The caller releases it.
 */
struct diff_blame *diff_blame_create(const struct diff *diff);
void diff_blame_release(struct diff_blame *blame); /* NULL is allowed */

/* The pair of a group, or where none of its threads is left one that has but key and label. */
const struct diff_pair *diff_blame_group(const struct diff_blame *blame, uint32_t id);

/* Appends what is shown of a group, and of the culprit of an entry: "(wakeup)" for other causes than a group.
 * Not sanitised. */
void diff_blame_append_group(const struct diff_blame *blame, uint32_t id, struct buffer *buffer);
void diff_blame_append_culprit(const struct diff_blame *blame, const struct diff_blame_entry *entry,
			       struct buffer *buffer);

/* The entries of a victim; `*ret_count` may be 0. */
const struct diff_blame_entry *diff_blame_of(const struct diff_blame *blame, uint32_t victim,
					     size_t *ret_count);

/* The time of all waits of a victim on a side, ns per second. */
double diff_blame_delayed(const struct diff_blame *blame, uint32_t victim, enum diff_side side);

/*
 * Appends who is most to blame for a change of the time that a victim waited: "; RUNQ% +80.0 while backup
 * ran". Nothing for a change of less than DIFF_BLAME_FLOOR or a tenth, and unless both sides were measured.
 */
void diff_blame_append_reason(const struct diff_blame *blame, uint32_t victim, struct buffer *text);

#endif
