/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BLAME_H
#define CTOP_BLAME_H

#include "grouping.h"
#include "snapshot/latency.h"

/* Delays and wakeups between groups. */

/* A relation between two groups. */
enum blame_relation {
	BLAME_DELAYED_BY, /* how long the second kept the first waiting */
	BLAME_WOKEN_BY,   /* how often the second woke the first */
	BLAME_WAKES,      /* how often the first woke the second */
};

enum {
	BLAME_NOBODY = UINT32_MAX, /* no group: see the cause */
};

/* What stands for the victim itself, and for a culprit that is no group: "(wakeup)". */
extern const char blame_itself[];
extern const char *const blame_cause_labels[LATENCY_CAUSE_COUNT];

struct blame {
	struct grouping *groups; /* of all names, whatever is shown; owned */
	enum blame_relation relation;
	/*
	 * Each pair once: by victim, the first of the two groups, the largest first. Victim and culprit are
	 * groups (by rows: a row, and a row or the number of a group and `first_group`). The culprit is the
	 * victim where its threads delayed or woke one another, BLAME_NOBODY for other causes.
	 */
	struct latency_delay *entries;
	size_t count;
	uint64_t *whole;      /* of each group (by rows: of each row): blame_size() of all its entries */
	uint32_t first_group; /* of culprits: how many rows there are; 0 by groups */
	uint64_t span_ns;     /* that was measured */
};

/*
 * Groups one relation of a span. `names` are the sums whose records the span has
 * (latency_sums_add()); they must outlive what is returned. `patterns` may be NULL; see grouping_create().
 * NULL where the groups of an axis are not known by names (axis_is_by_thread()). The caller releases it.
 */
struct blame *blame_create(const struct grouping_options *options, const struct snapshot *names,
			   const struct latency *span, struct pattern_memory *patterns,
			   enum blame_relation relation);

/*
 * The same of the rows of a table: victims are rows, of which each record of the sums has one or UINT32_MAX.
 * A culprit of the victim's own row is the victim, others are groups, whether they have a row or not.
 */
struct blame *blame_create_by_row(const struct grouping_options *options, const struct snapshot *names,
				  const struct latency *span, struct pattern_memory *patterns,
				  enum blame_relation relation, const uint32_t row_of[], size_t row_count);
void blame_release(struct blame *blame);

/* The group with that key, BLAME_NOBODY for none. */
uint32_t blame_find(const struct blame *blame, const char *key, size_t length);

/* The size of an entry: the time of a delay in ns, or a number of wakes. */
uint64_t blame_size(const struct blame *blame, const struct latency_delay *entry);

/* The entries of a victim; `*ret_count` may be 0. */
const struct latency_delay *blame_of(const struct blame *blame, uint32_t victim, size_t *ret_count);

/* What is shown of the culprit: "backup", "itself", "(wakeup)". Owned by `blame`, or static. */
const char *blame_culprit_label(const struct blame *blame, const struct latency_delay *entry,
				size_t *ret_length);

#endif
