/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORT_GROUPS_H
#define CTOP_EXPORT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export_family.h"
#include "window/grouping.h"

/*
 * The series of one axis. What happened in each round is added to a counter that lives as long as its series:
 * threads that end and groups that shrink take nothing away. There are at most `limit` series, chosen by what
 * groups did lately; all other groups are `(other)` together.
 *
 * A group has one series as long as it has the room: it begins with 0 when it gets it, which Prometheus takes
 * for a counter that was reset, and counts in `(other)` before and after. What the counters of dropped series
 * had counted is in `(retired)` from then on, so that sums over all groups never fall. Its label `since` is
 * the time of the last drop: each drop makes it another series, which begins with all of that, and no rate
 * shows the step. Sums over rates are right at any time.
 *
 * Pairs of groups that delay each other have the same rules: the others are `(other)` by `(other)`.
 *
 * Groups are told apart by their names as they are exported. A group whose threads call themselves as one of
 * ctop's own making is another series: its label `literal` says which of its labels is such a name.
 */
struct export_groups;

struct export_groups_options {
	enum axis axis;
	bool pairs;                                  /* of victim and culprit, in place of a group */
	size_t limit;                                /* series beside that of `(other)` */
	uint64_t keep_ns;                            /* a series without threads is kept this long */
	const struct export_family_choice *families; /* not owned, outlives the groups */
};

struct export_groups *export_groups_create(const struct export_groups_options *options);
void export_groups_release(struct export_groups *groups);

/* The number of a family of a group in a round. */
struct export_number {
	bool known;
	uint64_t value; /* of a counter what it grew by in the interval; in the unit of the family's column */
};

/* A group of a round. */
struct export_group_row {
	struct name_text name;    /* anything; one of ctop's own making has its mark */
	struct name_text culprit; /* of pairs: the other name, the same */
	uint32_t threads;         /* that live */
	double weight;            /* activity, as a rate or a share, which decides whether it gets a series */
	uint64_t size;            /* what it holds, which decides between equals */
	const struct export_number *numbers; /* by family of the choice */
};

/* Adds a round that was taken at `now_ns` (a clock that only goes forward). */
void export_groups_add(struct export_groups *groups, uint64_t now_ns, const struct export_group_row rows[],
		       size_t count);

/* Numbers of the newest round: groups, those of them in `(other)`, and series that were dropped so far. */
struct export_groups_state {
	uint64_t groups, folded, dropped;
};

struct export_groups_state export_groups_state(const struct export_groups *groups);

/* `axis="process"`, for samples about the axis itself; owned by the groups. */
const char *export_groups_axis_label(const struct export_groups *groups);

/* Whether a family of the choice has samples, by its place there. */
bool export_groups_have(const struct export_groups *groups, size_t family);

/* Writes the samples of a family of the choice, by its place there. The family was begun. */
void export_groups_write(const struct export_groups *groups, size_t family, struct exposition *exposition);

#endif
