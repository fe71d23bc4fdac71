/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COLUMN_H
#define CTOP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metric/metric.h"
#include "metric/task_field.h"
#include "table/table.h"

/* The screen's tabs, in their order; the table is tabs.def. */
enum tab {
#define TAB(id, ...) TAB_##id,
#include "tabs.def"
#undef TAB
	TAB_COUNT, /* none */
	TAB_OWN,   /* the first of those that the user makes, see own_tab.h */
	OWN_TABS_MAX = 16,
	TAB_TOTAL = TAB_OWN + OWN_TABS_MAX
};

struct tab_entry {
	const char *name;  /* option `-t`: "overview" */
	const char *title; /* "Overview" */
	unsigned int sort; /* the enum column it is sorted by until the user chooses one */
	const char *description;
};

/* By enum tab; there is no TAB_COUNT, and of own tabs those there are. Only own_tab.c writes it. */
extern struct tab_entry tabs[TAB_TOTAL];

/* The digit of the key that shows it, 1 to 9 and 0 for the first ten of the bar, -1 for others. */
int tab_digit(enum tab tab);

/* The tab of that name or title (case ignored), or TAB_COUNT. */
enum tab tab_find(const char *name);

/*
 * The screen's columns; the table is columns.def. Behind COLUMN_COUNT, which means none, stand the metrics
 * and derived metrics as columns (the All tab), then the fields that sched_ext schedulers keep for each task
 * (the Scx tab): see column_of_metric(), column_of_derived() and column_of_task_field(). What a column of a
 * field is follows what was found out of the field last; columns belong to one thread, that which draws.
 */
enum column {
#define COLUMN(id, ...) COLUMN_##id,
#include "columns.def"
#undef COLUMN
	COLUMN_COUNT,
	COLUMN_METRICS,                                 /* column of the first metric */
	COLUMN_DERIVED = COLUMN_METRICS + METRIC_COUNT, /* column of the first derived metric */
	COLUMN_TASK_FIELDS = COLUMN_DERIVED +
			     (int)DERIVED_COUNT,                /* column of the first field of schedulers */
	COLUMN_TOTAL = COLUMN_TASK_FIELDS + (int)TASK_FIELD_MAX /* one behind the last of all */
};

/* Some of the columns; a zeroed one has none. */
struct column_set {
	uint64_t bits[(COLUMN_TOTAL + 63) / 64];
};

static inline void column_set_add(struct column_set *set, enum column column)
{
	set->bits[column / 64] |= UINT64_C(1) << (column % 64);
}

static inline bool column_set_has(const struct column_set *set, enum column column)
{
	return (set->bits[column / 64] >> (column % 64) & 1) != 0;
}

/* The formulas and lookups of the column table are in column_table.h, for the rooms that make tables. */

/* The column of a metric (the All tab, `--columns`, `--sort-by`, filters). */
enum column column_of_metric(enum metric metric);

/* The column of a derived metric. */
enum column column_of_derived(enum derived derived);

/* The column of a field, by a number of task_field_intern(). */
enum column column_of_task_field(uint16_t field);

/* Whether a column is that of a field of schedulers. */
static inline bool column_is_task_field(enum column column)
{
	return column >= COLUMN_TASK_FIELDS && column < COLUMN_TOTAL;
}

/* Title in a mode: "RUNQ%" as rate, "RUNQ" as an amount. Static storage. */
const char *column_title(enum column column, int view_mode);

/* Name in options and, before the unit, in TSV, CSV and JSON: "run_queue". Static storage. */
const char *column_name(enum column column);

/* One sentence (what it counts, caveats), for help and `i`. */
const char *column_description(enum column column);

/*
 * The column of that title or name (case ignored; a title also without % and /s, if that is no other's title;
 * then the first of the table that fits; a former title where no present one fits), else that of the metric
 * or derived metric of that name, else that of a name followed by its unit as in the header of a TSV table
 * ("read_bytes_per_s"), else COLUMN_COUNT. "scx.NAME" is the field of schedulers of that name, which nobody
 * need have met yet; the name or title alone does where nothing else has it and one field that was met.
 */
enum column column_find(const char *name);

/*
 * How a column is written in options and files: by its title if column_find() finds it by that ("CPU%"), else
 * by its name. Valid until the next call.
 */
const char *column_word(enum column column);

/* The title or name that a name which column_find() does not know is a slip of; NULL for none. */
const char *column_nearest(const char *name);

/*
 * Refuses a name that column_find() does not know: a sentence with the nearest name and the titles of the
 * screen's columns; returns -EINVAL.
 */
int column_refuse(const char *name, struct error *error);

/*
 * The columns of a tab in order (of Scx those before the fields, which view_columns() knows) for rows that
 * are groups or `threads`, at most COLUMN_TOTAL of them, into `columns`; returns how many. `width` is that of
 * the screen in cells (0: all): columns are dropped from the right until the name has 12 cells, but never THR
 * and `sort`; `sort` (COLUMN_COUNT for none) is added if the tab has neither it nor a column of its title.
 */
size_t column_list(enum tab tab, bool threads, int width, enum column sort,
		   enum column columns[COLUMN_TOTAL]);

/* What else says which columns there are, and how many of them have room. */
struct column_choice {
	const uint16_t *fields; /* of schedulers, that the tab has behind the columns of the table */
	size_t field_count;
	const struct column_set *left_out; /* columns of the table that do not stand there; NULL for none */
	int width, reserved; /* cells of the screen (0: room for all), and those that others take of them */
	bool whole;          /* those too that have no room on a screen of that width */
	enum column sort;
};

/* The same by all of it. What the user made of the tab's columns stays, left out or not, and so does the
 * order. */
size_t column_list_with(enum tab tab, bool threads, const struct column_choice *choice,
			enum column columns[COLUMN_TOTAL]);

/* Sources one column needs. */
source_set column_sources(enum column column);

#endif
