/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORT_GROUPS_H
#define CTOP_EXPORT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export_family.h"
#include "window/grouping.h"

/*
 * The series of one axis. Each round adds its changes to counters that live as long as their series, so
 * threads that end and groups that shrink lower no counter. At most `limit` groups have a series, chosen by
 * recent activity; `(other)` is all the rest.
 *
 * A group keeps its series while there is room. A new series begins with 0, which Prometheus treats as a
 * counter reset; before and after it, the group counts in `(other)`. `(retired)` keeps the counts of dropped
 * series, so sums over all groups never fall. Its label `since` is the time of the last drop. Each drop thus
 * begins a new series with the whole sum, and no rate shows the step. Sums of rates are always right.
 *
 * Pairs of groups that delay each other follow the same rules: the rest is `(other)` by `(other)`.
 *
 * Groups are identified by their exported names. If threads bear a name that ctop uses for its own rows,
 * their group is a separate series, and its label `literal` lists the labels with such a name.
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
	struct name_text name;               /* any text; names that ctop made up have their mark */
	struct name_text culprit;            /* the second name of a pair, likewise */
	uint32_t threads;                    /* living threads */
	double weight;                       /* activity, a rate or share; decides who gets a series */
	uint64_t size;                       /* RSS; decides between equal weights */
	const struct export_number *numbers; /* export_family_numbers() of them, see `first` of the choice */
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
