/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_FLOORS_H
#define CTOP_DIFF_FLOORS_H

#include "diff.h"
#include "table/table.h"

/*
 * Floors: changes below them do not count. Each unit has one. A set of runs without any change gives floors
 * of single groups and columns, which later comparisons read and which replace those of units.
 */
struct diff_floors;

/* The part of before that a change has to be at least, and the smallest change of a ratio. */
#define DIFF_FLOORS_PART 0.1

/* The smallest change of a column that counts, in its unit, of a second where diff_has_amounts(). */
double diff_floors_of_unit(enum column column);

/* The floor of a column in a pair: that of the file of floors if the file has the pair and the comparison's
 * axis, else the unit's floor. */
double diff_floors_of(const struct diff *diff, const struct diff_pair *pair, enum column column);

/* The section of the table of floors, and its columns. The first column has the name of the axis. */
#define DIFF_FLOORS_SECTION "noise"
enum {
	DIFF_FLOORS_GROUP, /* key of the pair, as diff_append_parts() has it */
	DIFF_FLOORS_METRIC,
	DIFF_FLOORS_MEAN,
	DIFF_FLOORS_FLOOR,
	DIFF_FLOORS_COLUMNS,
};

/*
 * Makes the table of what varies between the runs of one set, the side after of a diff without before: a row
 * for each group and column in which two runs may differ by more than the floor of the unit. Numbers have the
 * unit of reports. The floor is the larger of the range of the runs and the difference between two runs that
 * is exceeded one time in twenty (ISO 5725-6: 2.77 standard deviations). Rows are sorted by how many times
 * the unit's floor that is; `limit` is at most so many, 0 for all. Calls diff_forget(). The caller releases
 * the table.
 */
struct table *diff_floors_table(const struct diff *diff, size_t limit);

/*
 * Reads the CSV of `ctop diff RUN RUN RUN --noise --format csv` for groups of an axis. Error sentences name
 * the file by `name`. Returns 0 and floors that the caller releases with diff_floors_release(), or -EINVAL
 * with a sentence that names the required file format or axis.
 */
int diff_floors_parse(const char *text, size_t length, const char *name, enum axis axis,
		      struct diff_floors **ret_floors, struct error *error);
void diff_floors_release(struct diff_floors *floors); /* NULL is allowed */

#endif
