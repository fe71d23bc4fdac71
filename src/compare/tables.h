/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TABLES_H
#define CTOP_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "diff.h"
#include "metric/selection.h"
#include "table/tab.h"
#include "table/table.h"

/* The tables of a report, of one snapshot or of two that are compared. */

/* Columns of the group tables. */
enum tables_column {
	TABLES_COLUMN_GROUP,
	TABLES_COLUMN_THREADS,
	TABLES_COLUMN_METRIC,
	TABLES_COLUMN_VALUE, /* of one snapshot; all from here to TAGS are of two */
	TABLES_COLUMN_BASELINE,
	TABLES_COLUMN_CANDIDATE,
	TABLES_COLUMN_DELTA,
	TABLES_COLUMN_PERCENT,
	TABLES_COLUMN_ARROW,
	TABLES_COLUMN_TAGS,
	TABLES_COLUMN_UPTIME, /* absent in one snapshot */
	TABLES_COLUMN_SAME,   /* of diff_match_count, of two snapshots; absent without a match */
	TABLES_COLUMN_CAME,
	TABLES_COLUMN_WENT,
	TABLES_COLUMN_PER_SECOND,
	TABLES_COLUMN_PER_THREAD,
	TABLES_COLUMN_SPREAD, /* of diff_evidence_of(), of two windows; absent else */
	TABLES_COLUMN_CHANCE,
	TABLES_COLUMN_VERDICT,
	TABLES_COLUMN_COUNT,
	TABLES_COLUMN_SORT = TABLES_COLUMN_COUNT, /* of the first sort metric; not to be asked for */
};

/* Choices of columns of a comparison. */
enum tables_display {
	TABLES_DISPLAY_ARROW,
	TABLES_DISPLAY_FULL,
	TABLES_DISPLAY_DELTA_ONLY,
	TABLES_DISPLAY_NO_PERCENT,
	TABLES_DISPLAY_PERCENT_ONLY,
	TABLES_DISPLAY_COUNT,
};

/* "arrow", "full", "delta-only", "no-pct", "pct-only", NULL: as in `--display-format`. */
extern const char *const tables_display_names[TABLES_DISPLAY_COUNT + 1];

/* Divisors of the numbers of a comparison, each with a column of its own. */
enum tables_per {
	TABLES_PER_SECOND, /* the change of a counter, by the interval */
	TABLES_PER_THREAD, /* the value of a sum on each side, by its threads */
	TABLES_PER_COUNT,
};

/* "second", "thread", NULL: as in `--per`. */
extern const char *const tables_per_names[TABLES_PER_COUNT + 1];

/* The choices of a report. */
struct tables_request {
	bool sections[SECTION_COUNT]; /* those that need the cgroup axis are left out on others */
	bool metrics[METRIC_COUNT];
	bool derived[DERIVED_COUNT];
	struct selected_fields fields;
	struct sort_keys sort; /* none: groups by name; of a comparison the rows that changed most first */
	enum tables_column columns[TABLES_COLUMN_COUNT];
	size_t column_count; /* 0: group, threads, metric, value; of a comparison those of `display` */
	size_t limit;        /* rows of a table, 0 for all */
	size_t chunk_rows;   /* hand a long table over in pieces of about so many rows, 0 whole */
	/* of a comparison only: */
	enum tables_display display;
	bool per[TABLES_PER_COUNT]; /* further columns */
	bool is_long; /* the table turned: a row for each metric of a group, and the other sections */
	enum tab tab; /* of the columns of a row for each group, where it is not turned */
	bool all;     /* rows whose change is not real, too, which are counted else */
	const bool *broke_rule; /* by pair: rows of its group come first, marked; NULL: none */
};

/* Whether there is a column of such quotients. */
bool tables_asks_per(const struct tables_request *request, enum tables_per per);

/*
 * Columns by their names between commas, those that a report of so many snapshots has. Returns 0, or -EINVAL
 * with a sentence: a name is not known or repeated, or two columns would say the same.
 */
int tables_parse_columns(const char *text, size_t side_count, struct tables_request *request,
			 struct error *error);

/*
 * Builds the tables of a comparison, or of the one snapshot that diff_create() was given, one after the other
 * in the order of ktstr, hands each that has rows to `emit` and releases it: only one is in memory at
 * a time. Every cell carries its number and its text.
 */
void tables_make(const struct diff *diff, const struct tables_request *request,
		 void (*emit)(void *context, const struct table *table), void *context);

#endif
