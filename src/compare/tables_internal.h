/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TABLES_INTERNAL_H
#define CTOP_TABLES_INTERNAL_H

#include "base/buffer.h"
#include "diff_evidence.h"
#include "tables.h"

/* Shared by the builders of tables; for this room only. With one snapshot the side before is empty. */

struct tables_build {
	const struct diff *diff;
	const struct tables_request *request;
	void (*emit)(void *context, const struct table *table);
	void *context;
	struct table *table;       /* under construction: cells have their texts in its arena */
	enum tables_column column; /* of group tables: the cell being made */
	struct buffer text;        /* scratch for the text of a cell */
	size_t first_side;         /* DIFF_BEFORE of a comparison, DIFF_AFTER of one snapshot */
	bool is_comparison;
};

/* Whether the format's flags alone decide what a side has measured. */
static inline bool tables_side_is_flagged(const struct tables_build *build, size_t side)
{
	return build->diff->reductions[side]->window.basis == WINDOW_FLAGGED;
}

/* --- tables_build.c: tables and their rows --- */

/* Begins a table with columns that are its own; measured ones have both sides of a comparison. */
void tables_begin(struct tables_build *build, const char *section, const struct table_column columns[],
		  size_t column_count);

/* A row to fill, or NULL when the limit is reached: it is then only counted. */
struct table_row *tables_add_row(struct tables_build *build);

/* The same with a name in its first cell, which is its key and label too. */
struct table_row *tables_add_named_row(struct tables_build *build, const char *name, size_t length);

/* Hands over the rows made so far once they are many; later rows are added to another piece of the table. The
 * section must be static. */
void tables_continue(struct tables_build *build);

/* Hands the table over if it has rows, and releases it. */
void tables_finish(struct tables_build *build);

/* --- tables_build.c: cells --- */

/* Takes build->text, the printed form of a cell, over into the table; each NUL in it becomes U+FFFD. */
const char *tables_take_text(struct tables_build *build);

/* A cell with a copy of a text; each NUL in it becomes U+FFFD, since cells end at one. */
struct cell tables_cell_text(struct tables_build *build, const char *text, size_t length);

/* The value of a side of a pair in a column. */
struct cell tables_cell_column(struct tables_build *build, const struct diff_pair *pair, enum diff_side side,
			       enum column column);

/* A cell with both sides of a comparison, in a style for such cells; of one snapshot that of its side. */
struct cell tables_cell_sides(struct tables_build *build, const struct cell sides[DIFF_SIDE_COUNT],
			      enum cell_style style);

/* The texts of both sides, or one where they are equal. */
struct cell tables_cell_texts(struct tables_build *build, const char *const texts[DIFF_SIDE_COUNT]);

/* --- tables_row.c: the rows of group tables --- */

/* A row of a group table. */
struct tables_row {
	const char *label; /* of its group, not sanitised; NULL: that of `pair` */
	size_t label_length;
	bool is_own;                  /* see struct table_row */
	const struct diff_pair *pair; /* NULL: no threads, uptime or sort column */
	const char *name;             /* of the metric or field, static or in the table's arena */
	enum column column;           /* COLUMN_COUNT for none */
	struct diff_value value;
	struct diff_evidence_cell evidence; /* of a pair, where the comparison has evidence */
	struct cell sides[DIFF_SIDE_COUNT]; /* with texts in the table's arena */
};

/* Begins a table with the columns of groups that are asked for, the group's under this header. */
void tables_row_begin(struct tables_build *build, const char *section, const char *group);

/* The content of the row of a column of a pair; the pair behind the last one stands for `(other)`. */
struct tables_row tables_row_of_column(struct tables_build *build, const struct diff_pair *pair,
				       enum column column);

/* Fills the cells of a row of such a table. */
void tables_row_fill(struct tables_build *build, size_t row, const struct tables_row *content);

/* --- tables_groups.c --- */

/* The rows of a table of groups: some columns of each pair. */
struct tables_subjects {
	const enum column *columns;
	size_t count;
	double *weights;   /* of pairs, the heaviest first, owned; NULL: rows go by their changes or --sort-by
			    */
	size_t pair_count; /* diff->pair_count, or one more for that of `(other)` */
	/* Whether a column of a pair has a row; NULL: where it says something and its change is real. */
	bool (*has_row)(const struct tables_build *build, const struct diff_pair *pair, enum column column);
	bool by_parent; /* ktstr's order of cgroups: below their parents */
};

/* Makes the table of a section with such rows, and releases the weights. */
void tables_subjects(struct tables_build *build, enum section section,
		     const struct tables_subjects *subjects);

/* --- tables_host.c --- */

/* A subject of a table of pressure: a cgroup, or without a name the host. */
struct tables_pressure {
	const char *name;
	size_t name_length;
	const struct pressure *pressure[DIFF_SIDE_COUNT]; /* NULL: the side has no record */
	struct cell sides[DIFF_SIDE_COUNT];               /* in the state of the numbers, without one */
};

/* Makes the table of a resource, with rows `some` and `full` of each subject; none where all numbers are
 * zero. */
void tables_pressure(struct tables_build *build, enum section section, enum pressure_resource resource,
		     const struct tables_pressure subjects[], size_t count);

/* --- the tables by what they are about --- */

void tables_groups(struct tables_build *build);
void tables_smaps(struct tables_build *build);
void tables_cgroups(struct tables_build *build);
void tables_host_pressure(struct tables_build *build);
void tables_host_sched_ext(struct tables_build *build);
void tables_latency(struct tables_build *build);

/* The time of each group in each class of waits; nothing where it was not measured. */
void tables_time(struct tables_build *build);
void tables_blame(struct tables_build *build);
void tables_scheduler(struct tables_build *build);
void tables_task_fields(struct tables_build *build);
void tables_renames(struct tables_build *build);
void tables_orphans(struct tables_build *build);
void tables_threads(struct tables_build *build);

#endif
