/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TABLE_BUILD_H
#define CTOP_TABLE_BUILD_H

#include "base/buffer.h"
#include "snapshot/snapshot.h"
#include "table.h"

/* What the builders of the reports' tables share; for them only. */
struct table_build {
	void (*emit)(void *context, const struct table *table);
	void *context;
	size_t limit;       /* rows of a table, 0 for all */
	size_t chunk_rows;  /* hand a long table over in pieces of about so many rows, 0 whole */
	struct buffer text; /* scratch for the text of a cell */
};

enum {
	TABLE_BUILD_COLUMNS_MAX = 18
};

struct table_build_column {
	const char *name;
	bool left;
	bool measured;
};

/* Columns of the tables that reports of one and of two snapshots have in common. */
struct table_build_columns {
	struct table_build_column items[TABLE_BUILD_COLUMNS_MAX];
	size_t count;
};

extern const struct table_build_columns cgroup_stats_columns, cgroup_limits_columns, memory_stat_columns,
	memory_events_columns, cgroup_pressure_columns, host_pressure_columns, sched_ext_columns;

/* An empty table with these columns. */
struct table *table_build_create(const char *section, const struct table_build_columns *columns);

/* A row to fill, or NULL when the limit is reached: it is then only counted. */
struct table_row *table_build_add_row(struct table_build *build, struct table *table);

/*
 * Hands over the rows made so far once there are many; returns the table for those that follow. Section and
 * column names must be static.
 */
struct table *table_build_continue(struct table_build *build, struct table *table);

/* Hands the table over if it has rows, and releases it. */
void table_build_finish(struct table_build *build, struct table *table);

/* A copy of the text in the table's arena, in which each NUL has become U+FFFD: cells end there. */
const char *table_build_text(struct table *table, const char *text, size_t length);

/* Cells; texts are copied as by table_build_text(). */
void table_build_set_text(struct table *table, struct cell *cell, const char *text, size_t length);
void table_build_set_integer(struct table_build *build, struct table *table, struct cell *cell,
			     uint64_t value, enum ladder ladder);
void table_build_set_unavailable(struct cell *cell, reason_id reason, enum unit unit);

/* Takes build->text, the printed form, over into the cell. */
void table_build_take_text(struct table_build *build, struct table *table, struct cell *cell);

bool table_build_pressure_is_zero(const struct pressure *pressure, enum pressure_resource resource);

#endif
