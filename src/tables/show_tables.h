/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SHOW_TABLES_H
#define CTOP_SHOW_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "group/grouping.h"
#include "metric/selection.h"
#include "snapshot/snapshot.h"
#include "table/table.h"

/* Columns of the group tables. */
enum show_column {
	SHOW_COLUMN_GROUP,
	SHOW_COLUMN_THREADS,
	SHOW_COLUMN_METRIC,
	SHOW_COLUMN_VALUE,
	SHOW_COLUMN_TAGS,
	SHOW_COLUMN_UPTIME,
	SHOW_COLUMN_COUNT,
};

extern const char *const show_column_names[SHOW_COLUMN_COUNT]; /* as in `--columns` */

/* Which report of one snapshot is wanted. */
struct show_request {
	struct grouping_options grouping; /* any axis but AXIS_ALL */
	bool sections[SECTION_COUNT];     /* those that need the cgroup axis are left out on others */
	bool metrics[METRIC_COUNT];
	bool derived[DERIVED_COUNT];
	struct sort_keys sort;
	size_t columns[SHOW_COLUMN_COUNT]; /* enum show_column */
	size_t column_count;               /* 0: group, threads, metric, value */
	size_t limit;                      /* rows of a table, 0 for all */
	size_t chunk_rows; /* hand a long table over in pieces of about so many rows, 0 whole */
	bool by_flags;     /* as the reference does: only the format's flags count */
};

/*
 * Builds the tables of a report one after the other, in the order of the reference, hands each that has rows
 * to `emit` and releases it: only one is in memory at a time. Every cell carries its number and its text.
 */
void show_tables(const struct snapshot *snapshot, const struct show_request *request,
		 void (*emit)(void *context, const struct table *table), void *context);

#endif
