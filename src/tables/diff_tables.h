/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_TABLES_H
#define CTOP_DIFF_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "diff/diff.h"
#include "diff/diff_match.h"
#include "metric/selection.h"
#include "table/table.h"

/* Columns of the group tables. */
enum diff_column {
	DIFF_COLUMN_GROUP,
	DIFF_COLUMN_THREADS,
	DIFF_COLUMN_METRIC,
	DIFF_COLUMN_BASELINE,
	DIFF_COLUMN_CANDIDATE,
	DIFF_COLUMN_DELTA,
	DIFF_COLUMN_PERCENT,
	DIFF_COLUMN_ARROW,
	DIFF_COLUMN_TAGS,
	DIFF_COLUMN_UPTIME,
	DIFF_COLUMN_SAME, /* of diff_match_count(); absent without a match */
	DIFF_COLUMN_CAME,
	DIFF_COLUMN_WENT,
	DIFF_COLUMN_PER_SECOND,
	DIFF_COLUMN_PER_THREAD,
	DIFF_COLUMN_COUNT,
	DIFF_COLUMN_SORT = DIFF_COLUMN_COUNT, /* of the first sort metric; not to be asked for */
};

extern const char *const diff_column_names[DIFF_COLUMN_COUNT]; /* as in `--columns` */

/* Choices of columns. */
enum diff_display {
	DIFF_DISPLAY_ARROW,
	DIFF_DISPLAY_FULL,
	DIFF_DISPLAY_DELTA_ONLY,
	DIFF_DISPLAY_NO_PERCENT,
	DIFF_DISPLAY_PERCENT_ONLY,
	DIFF_DISPLAY_COUNT,
};

/* "arrow", "full", "delta-only", "no-pct", "pct-only", NULL: as in `--display-format`. */
extern const char *const diff_display_names[DIFF_DISPLAY_COUNT + 1];

/* By what numbers are divided in columns of their own. */
enum diff_per {
	DIFF_PER_SECOND, /* the change of a counter, by the interval */
	DIFF_PER_THREAD, /* the value of a sum on each side, by its threads */
	DIFF_PER_COUNT,
};

/* "second", "thread", NULL: as in `--per`. */
extern const char *const diff_per_names[DIFF_PER_COUNT + 1];

/* Which report of a comparison is wanted. */
struct diff_request {
	bool sections[SECTION_COUNT]; /* those that need the cgroup axis are left out on others */
	bool metrics[METRIC_COUNT];
	bool derived[DERIVED_COUNT];
	struct sort_keys sort; /* none: the rows that changed most come first */
	enum diff_display display;
	size_t columns[DIFF_COLUMN_COUNT]; /* enum diff_column; not both the arrow and a side */
	size_t column_count;               /* 0: those of `display` */
	bool per[DIFF_PER_COUNT];          /* columns besides those */
	uint64_t interval_ns;              /* between the captures; 0 when it is not known */
	const struct diff_match *match;    /* of the threads: with the default columns those of its counts
					    * are shown, too; NULL for none */
	bool members;                      /* list the threads that came and went; needs `match` */
	size_t limit; /* rows of a table (on the cgroup axis of each parent), 0 for all; renamed cgroups are
		       * never cut */
	size_t chunk_rows; /* hand a long table over in pieces of about so many rows, 0 whole */
	bool layout;       /* for people: AXIS_ALL as a tree, a table for each parent on the cgroup axis */
	const char *names[DIFF_SIDE_COUNT]; /* of the sides in headings */
};

/*
 * Builds the tables of a comparison one after the other, in the order of the reference, hands each that has
 * rows to `emit` and releases it: only one is in memory at a time. Every cell carries its number and its
 * text.
 */
void diff_tables(const struct diff *diff, const struct diff_request *request,
		 void (*emit)(void *context, const struct table *table), void *context);

#endif
