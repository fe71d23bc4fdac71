/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COLUMN_H
#define CTOP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "metric.h"
#include "table.h"

/* The screen's tabs, in their order; key 1 is the first, 0 the tenth. */
enum tab {
	TAB_OVERVIEW,
	TAB_RUN,
	TAB_SCHED,
	TAB_WAKEUPS,
	TAB_DELAY,
	TAB_IO,
	TAB_MEMORY,
	TAB_HEAP, /* joins with the allocator probe; not selectable before */
	TAB_CGROUP,
	TAB_ALL,
	TAB_COUNT,
};

struct tab_entry {
	const char *name;  /* option `-t`: "overview" */
	const char *title; /* "Overview" */
	bool selectable;
	const char *description;
};

extern const struct tab_entry tabs[TAB_COUNT];

/* The tab of that name (case ignored), or TAB_COUNT. */
enum tab tab_find(const char *name);

/* The screen's columns; the table is columns.def. Ids after them: the metrics and derived metrics of the All
 * tab. */
enum column {
#define COLUMN(id, ...) COLUMN_##id,
#include "columns.def"
#undef COLUMN
	COLUMN_COUNT,
};

/* Further members of the column table, the formulas and lookups: column_table.h, for the model only. */

/* Title in a mode: "RUNQ%" as rate, "RUNQ" as an amount. Static storage. */
const char *column_title(enum column column, int view_mode);

/* One sentence (what it counts, caveats), for help and `i`. */
const char *column_description(enum column column);

/* The column of that title, short name or alias (case ignored, with or without % and /s), or COLUMN_COUNT. */
enum column column_find(const char *name);

/* Sources whose readings a tab's columns need at this width (0: all columns of the tab). */
source_set column_sources_of_tab(enum tab tab, int width);

/* Sources one column needs. */
source_set column_sources(enum column column);

#endif
