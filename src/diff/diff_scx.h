/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_SCX_H
#define CTOP_DIFF_SCX_H

#include "diff.h"
#include "snapshot/scx_reduce.h"

/* What stands before the name of a field where metrics are named. */
#define DIFF_SCX_PREFIX "scx."

/* A field that a sched_ext scheduler of either side keeps for threads. */
struct diff_scx_field {
	const char *name; /* with the prefix, owned by the diff */
	const struct scx_member
		*member[DIFF_SIDE_COUNT]; /* NULL: the side's scheduler has none of this name */
};

/* The fields of both sides by their names, and which threads are in which pair. */
struct diff_scx {
	struct diff_scx_field *fields; /* as the tab shows them, those of after first */
	size_t field_count;
	struct arena arena;
	struct {
		uint32_t *first;   /* of each pair, in `threads`; one more behind the last */
		uint32_t *threads; /* of the snapshot, pair by pair */
	} side[DIFF_SIDE_COUNT];
};

/* NULL where neither side has contexts. Owned by the caller, as long as the diff lives. */
struct diff_scx *diff_scx_create(const struct diff *diff);
void diff_scx_release(struct diff_scx *scx);

/* The field of that name (with the prefix), or NULL. */
const struct diff_scx_field *diff_scx_find(const struct diff_scx *scx, const char *name);

/*
 * What the threads of a pair have of a field on one side: absent where the side has no such threads or its
 * scheduler no such field, unavailable where its contexts were not read.
 */
struct scx_reduced diff_scx_reduce(const struct diff *diff, const struct diff_pair *pair, enum diff_side side,
				   const struct diff_scx_field *field);

/* Both sides of it and the change; `ret_sides` (may be NULL) gets what diff_scx_reduce() says. */
struct diff_value diff_scx_value(const struct diff *diff, const struct diff_pair *pair,
				 const struct diff_scx_field *field,
				 struct scx_reduced ret_sides[DIFF_SIDE_COUNT]);

/* What the field's numbers are measured in, as after says, else before. */
enum ladder diff_scx_ladder(const struct diff_scx_field *field);

/* Whether the number is what the threads added. */
bool diff_scx_is_counter(const struct diff_scx_field *field);

#endif
