/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TABLES_INTERNAL_H
#define CTOP_TABLES_INTERNAL_H

#include "base/buffer.h"
#include "tables.h"

/* What the builders of tables share; for this room only. Of one snapshot the side before has nothing. */

struct tables_build {
	const struct diff *diff;
	const struct tables_request *request;
	void (*emit)(void *context, const struct table *table);
	void *context;
	struct buffer text; /* scratch for the text of a cell */
	size_t first_side;  /* DIFF_BEFORE of a comparison, DIFF_AFTER of one snapshot */
	bool is_comparison;
	bool by_flags[DIFF_SIDE_COUNT]; /* asked for, or all that the snapshot has */
};

/* --- tables.c: rows, handed over when there are many --- */

/* A row to fill, or NULL when the limit is reached: it is then only counted. */
struct table_row *tables_add_row(struct tables_build *build, struct table *table);

/* Hands over the rows made so far once there are many; returns the table for those that follow. The section
 * must be static. */
struct table *tables_continue(struct tables_build *build, struct table *table);

/* Hands the table over if it has rows, and releases it. */
void tables_finish(struct tables_build *build, struct table *table);

/* --- tables_row.c: cells --- */

/* Takes build->text, the printed form, over into the cell; each NUL in it becomes U+FFFD. */
void tables_cell_take_text(struct tables_build *build, struct table *table, struct cell *cell);

/* A copy of a text; each NUL in it becomes U+FFFD, since cells end at one. */
void tables_cell_set_text(struct table *table, struct cell *cell, const char *text, size_t length);
void tables_cell_set_integer(struct tables_build *build, struct table *table, struct cell *cell,
			     uint64_t value, enum ladder ladder);

/* Marks a cell, whose unit stands, by the state of its value; true when there is one to print. */
bool tables_cell_begin(struct cell *cell, enum value_state state, reason_id reason);

/* What a side of a pair has in the column of a metric or derived metric. */
void tables_cell_set_column(struct tables_build *build, struct table *table, struct cell *cell,
			    const struct diff_pair *pair, enum diff_side side, enum column column);

/* Both sides with an arrow between; their numbers stay as they are. */
void tables_cell_set_both(struct tables_build *build, struct table *table, struct cell *cell,
			  const struct cell sides[DIFF_SIDE_COUNT], const char *arrow);

void tables_cell_set_count(struct cell *cell, uint64_t count);

/* --- the rows of group tables --- */

/* What a row of a group table shows. */
struct tables_row {
	const char *label; /* of its group, not sanitised */
	size_t label_length;
	const struct diff_pair *pair; /* NULL: no threads, uptime or sort column */
	const char *name;             /* of the metric or field, static or in the table's arena */
	enum column column;           /* COLUMN_COUNT for none */
	struct diff_value value;
	struct cell sides[DIFF_SIDE_COUNT]; /* with texts in the table's arena */
	enum ladder ladder;
};

/* An empty table with the columns of groups that are asked for, the group's under this header. */
struct table *tables_row_create_table(const struct tables_build *build, const char *section,
				      const char *group);

/* The name of a pair for a row of it: in a tree, where cgroup and process stand above, the mark and the
 * thread. */
void tables_row_append_label(const struct tables_build *build, const struct diff_pair *pair, bool in_tree,
			     struct buffer *label);

/* What the row of a column of a pair shows; the label stays the caller's. */
struct tables_row tables_row_of_column(struct tables_build *build, struct table *table,
				       const struct diff_pair *pair, enum column column,
				       const struct buffer *label);

/*
 * Adds a row for each of some pairs of AXIS_ALL, below headings for their cgroups and processes, which come
 * in the order in which the first of the pairs in them does; ret_rows[i] is the index of a pair's row.
 */
void tables_row_add_tree(struct table *table, const struct diff_pair *const pairs[], size_t count,
			 size_t ret_rows[]);

/* The order by weights, the heaviest first, of equal ones the first; the caller frees it. */
size_t *tables_order(const double *weights, size_t count);

/* Fills the cells of a row of such a table. */
void tables_row_fill(struct tables_build *build, struct table *table, size_t row,
		     const struct tables_row *content);

/* --- tables_sides.c: cells of what is not of groups: cgroup records, pressure, sched_ext --- */

/* What one side has. */
struct tables_side {
	enum cell_side_kind kind; /* CELL_SIDE_REAL: hundredths of a percent */
	bool unavailable;         /* then there is no number; else it may be partial */
	bool partial;
	reason_id reason;
	uint64_t number;
};

/* An empty table whose measured columns have both sides of a comparison. */
struct table *tables_sides_create_table(const struct tables_build *build, const char *section,
					const struct table_column columns[], size_t column_count);

/* The number, or "a → b (delta)"; absent when no side has anything. */
void tables_sides_set(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct tables_side sides[DIFF_SIDE_COUNT], enum ladder ladder);

/* The same without the delta, and one value where both sides read alike. */
void tables_sides_set_limit(struct tables_build *build, struct table *table, struct cell *cell,
			    const struct tables_side sides[DIFF_SIDE_COUNT], enum ladder ladder);

/* The texts of both sides, or one where they are equal. */
void tables_sides_set_texts(struct tables_build *build, struct table *table, struct cell *cell,
			    const char *before, const char *after);

/* What a side knows of a resource's pressure: without its record, or without the numbers in it. */
struct tables_pressure {
	const struct pressure *pressure; /* NULL: it has no record */
	struct tables_side side;
};

/* Whether any number of a resource on a side is not zero, or could not be read. */
bool tables_sides_has_pressure(const struct tables_pressure *side, enum pressure_resource resource);

/* A row `some` or `full`: cells from `first` on are row, avg10, avg60, avg300, total. */
void tables_sides_set_pressure(struct tables_build *build, struct table *table, struct cell *first, bool full,
			       enum pressure_resource resource,
			       const struct tables_pressure sides[DIFF_SIDE_COUNT]);

/* --- the tables by what they are about --- */

void tables_groups(struct tables_build *build);
void tables_tab(struct tables_build *build);
void tables_smaps(struct tables_build *build);
void tables_cgroups(struct tables_build *build);
void tables_host_pressure(struct tables_build *build);
void tables_host_sched_ext(struct tables_build *build);
void tables_latency(struct tables_build *build);
void tables_task_fields(struct tables_build *build);
void tables_renames(struct tables_build *build);
void tables_orphans(struct tables_build *build);
void tables_threads(struct tables_build *build);

#endif
