/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SHOW_BUILD_H
#define CTOP_SHOW_BUILD_H

#include "base/buffer.h"
#include "cgroup_merge.h"
#include "show_tables.h"

/* What the builders of the report's tables share. For the model only. */
struct show_build {
	const struct snapshot *snapshot;
	const struct show_request *request;
	bool by_flags; /* asked for, or all that the snapshot has */
	void (*emit)(void *context, const struct table *table);
	void *context;
	struct buffer text; /* scratch for the text of a cell */
};

struct show_column_spec {
	const char *name;
	bool left;
	bool measured;
};

/* An empty table with these columns. */
struct table *show_create_table(const char *section, const struct show_column_spec *columns, size_t count);

/* A row to fill, or NULL when the limit is reached: it is then only counted. */
struct table_row *show_add_row(struct show_build *build, struct table *table);

/* Hands the table over if it has rows, and releases it. */
void show_finish_table(struct show_build *build, struct table *table);

/* A copy of the text in the table's arena, in which each NUL has become U+FFFD: cells end there. */
const char *show_text(struct table *table, const char *text, size_t length);

/* Cells; texts are copied as by show_text(). */
void show_set_text(struct table *table, struct cell *cell, const char *text, size_t length);
void show_set_integer(struct show_build *build, struct table *table, struct cell *cell, uint64_t value,
		      enum ladder ladder);
void show_set_unavailable(struct cell *cell, reason_id reason, enum unit unit);

/* Takes build->text, the printed form, over into the cell. */
void show_take_text(struct show_build *build, struct table *table, struct cell *cell);

/* One resource's rows `some` and `full`: cells from `first` on are row, avg10, avg60, avg300, total. */
void show_set_pressure(struct show_build *build, struct table *table, struct cell *first, const char *row,
		       const struct pressure_half *half);

/* The same rows where the pressure was not read. */
void show_set_pressure_unavailable(struct table *table, struct cell *first, const char *row,
				   reason_id reason);

bool show_pressure_is_zero(const struct pressure *pressure, enum pressure_resource resource);

/* The tables by what they are about. */
void show_group_tables(struct show_build *build);
void show_cgroup_tables(struct show_build *build);
void show_host_pressure_tables(struct show_build *build);
void show_smaps_table(struct show_build *build);
void show_sched_ext_table(struct show_build *build);

#endif
