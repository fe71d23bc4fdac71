/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_FLOORS_H
#define CTOP_DIFF_FLOORS_H

#include "diff.h"

/*
 * Floors of single groups and columns, as a set of runs without any change gave them (noise_table.h): changes
 * below them do not count. They replace those of units.
 */
struct diff_floors;

/* The section of the table of floors, and its columns. The first column has the name of the axis. */
#define DIFF_FLOORS_SECTION "noise"
enum {
	DIFF_FLOORS_GROUP,
	DIFF_FLOORS_METRIC,
	DIFF_FLOORS_MEAN,
	DIFF_FLOORS_FLOOR,
	DIFF_FLOORS_COLUMNS,
};

/*
 * Reads the CSV that `ctop diff RUN RUN RUN --noise --format csv` prints, for groups of an axis; `name` is
 * that of the file, for sentences. Returns 0 and floors that the caller releases with diff_floors_release(),
 * or -EINVAL with a sentence that says what kind of file, or which axis, is needed.
 */
int diff_floors_parse(const char *text, size_t length, const char *name, enum axis axis,
		      struct diff_floors **ret_floors, struct error *error);
void diff_floors_release(struct diff_floors *floors); /* NULL is allowed */

/* Finds the floor of a column in a pair, in the column's unit as reports have it. Returns false for none, for
 * a comparison by another axis, and for NULL. */
bool diff_floors_find(const struct diff_floors *floors, const struct diff *diff, const struct diff_pair *pair,
		      enum column column, double *ret_floor);

/* Appends the name by which floors know a pair: its key with " | " between the parts. */
void diff_floors_append_group(const struct diff_pair *pair, struct buffer *buffer);

#endif
