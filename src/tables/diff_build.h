/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_BUILD_H
#define CTOP_DIFF_BUILD_H

#include "diff_tables.h"
#include "table/table_build.h"

/* What the builders of the tables of a comparison share; for this room only. */
struct diff_build {
	struct table_build base;
	const struct diff *diff;
	const struct diff_request *request;
	bool by_flags[DIFF_SIDE_COUNT];  /* asked for, or all that the snapshot has */
	struct diff_match_count *counts; /* of the pairs, by index; NULL without a match */
};

/* What a row of a group table shows. */
struct diff_row_content {
	const char *label; /* of its group, not sanitised */
	size_t label_length;
	const struct diff_pair *pair; /* NULL: no threads, uptime or sort column */
	const char *name;             /* of the metric or field, static or in the table's arena */
	enum metric metric;           /* whose tags it has, METRIC_NONE for none */
	struct diff_value value;
	struct cell sides[DIFF_SIDE_COUNT]; /* with texts in the table's arena */
	enum ladder ladder;
	bool is_derived; /* its change is printed as that of a derived metric */
	bool is_ratio;
};

/* An empty table with the columns of groups that are asked for, the group's under this header. */
struct table *diff_create_group_table(const struct diff_build *build, const char *section, const char *group);

/* Fills the cells of a row of such a table. */
void diff_fill_row(struct diff_build *build, struct table *table, size_t row,
		   const struct diff_row_content *content);

/* Both sides with the arrow between, their numbers as they are. */
void diff_set_both(struct diff_build *build, struct table *table, struct cell *cell,
		   const struct cell sides[DIFF_SIDE_COUNT], const char *arrow);

/* How many of the pair's threads are the same, came or went, by the column. */
void diff_set_count(const struct diff_build *build, struct cell *cell, const struct diff_pair *pair,
		    enum diff_column column);

/* The change of a counter for each second between the captures. */
void diff_set_per_second(struct diff_build *build, struct table *table, struct cell *cell,
			 const struct diff_row_content *content);

/* What each thread of a side has of a sum. */
void diff_set_per_thread(struct diff_build *build, struct table *table, struct cell *cell,
			 const struct diff_row_content *content);

/* One side of a cell with both, as cgroup records, pressure and sched_ext have them. */
struct diff_cell_side {
	enum cell_side_kind kind; /* CELL_SIDE_REAL: hundredths of a percent */
	bool unavailable;         /* then of no kind; else the number may be partial */
	bool partial;
	reason_id reason;
	uint64_t number;
};

/* "a → b (delta)"; absent when neither side has anything. */
void diff_set_sides(struct diff_build *build, struct table *table, struct cell *cell,
		    const struct diff_cell_side sides[DIFF_SIDE_COUNT], enum ladder ladder);

/* The same without the delta, and one value where both sides read alike. */
void diff_set_limit(struct diff_build *build, struct table *table, struct cell *cell,
		    const struct diff_cell_side sides[DIFF_SIDE_COUNT], enum ladder ladder);

/* What a side knows of a resource's pressure. */
struct diff_pressure_side {
	const struct pressure_half *half; /* NULL: it has no record */
	bool unavailable, partial;
	reason_id reason;
};

/* A row `some` or `full`: cells from `first` on are row, avg10, avg60, avg300, total. */
void diff_set_pressure(struct diff_build *build, struct table *table, struct cell *first, const char *name,
		       const struct diff_pressure_side sides[DIFF_SIDE_COUNT]);

/* The tables by what they are about. */
void diff_group_tables(struct diff_build *build);
void diff_smaps_table(struct diff_build *build);
void diff_cgroup_tables(struct diff_build *build);
void diff_host_pressure_tables(struct diff_build *build);
void diff_sched_ext_table(struct diff_build *build);
void diff_rename_table(struct diff_build *build);
void diff_orphan_tables(struct diff_build *build);
void diff_member_tables(struct diff_build *build);

#endif
