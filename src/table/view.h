/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_VIEW_H
#define CTOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "filter.h"
#include "snapshot/task_fields.h"
#include "tab.h"
#include "window/column.h"
#include "window/grouping.h"

/* What rows of a comparison are sorted by, beside columns: all changes of a row. */
#define VIEW_SORT_CHANGE ((unsigned int)COLUMN_TOTAL)

/* The kind of the rows. */
enum view_level {
	VIEW_LEVEL_GROUPS,
	VIEW_LEVEL_THREADS,
};

/* Where the names of rows are. */
enum view_naming {
	VIEW_NAMING_APART,  /* only in the rows: the screen draws them itself */
	VIEW_NAMING_TITLES, /* in leading columns for people: TID and THREAD, or the axis, as PROCESS */
	VIEW_NAMING_FIELDS, /* in leading columns for programs: tid, tgid, thread; cgroup, process, thread;
			     * group */
};

enum {
	VIEW_STEPS_MAX = AXIS_COUNT
};

/* A group that the view was narrowed to. */
struct view_step {
	enum axis axis;
	char *key; /* owned by the view, like the next */
	size_t key_length;
	char *label; /* what was shown of it */
	size_t label_length;
	bool automatic; /* it was the only group there: view_close() leaves it together with the step before
			 */
	struct filter *filter; /* of the rows that were left; owned by the view */
};

/* The order that the user has chosen on a tab. */
struct view_sort {
	bool chosen, by_name, by_change, ascending;
	enum column column;
};

/* Everything that determines a table. A plain value except for what view_release() frees. */
struct view {
	struct grouping_options grouping; /* its axis is that of the rows on VIEW_LEVEL_GROUPS */
	enum view_level level;
	struct view_step steps[VIEW_STEPS_MAX];
	size_t step_count;
	enum tab tab;
	bool axis_of_tab; /* the axis is that which the tab asks for, by processes on the others */
	enum window_mode mode;
	bool sort_by_name;
	enum column sort; /* when not sort_by_name */
	bool sort_ascending;
	bool sort_chosen;                  /* by the user, on `sort_tab` */
	enum tab sort_tab;                 /* another one than `tab` where the order came along from there */
	struct view_sort sorts[TAB_TOTAL]; /* of other tabs */
	struct filter *filter;             /* owned, NULL for none */
	bool hide_kernel_threads;
	bool hide_self;       /* no threads of ctop itself */
	bool cells_on_demand; /* rows get their cells by session_table_fill(), but for what is gone */
	bool hide_idle;       /* no rows that did nothing in the span */
	bool fold_idle;       /* the same where view_hides_idle() says that nobody looks for such rows */
	const char *kept_key; /* of a row that stays, idle or not; not owned, NULL for none */
	size_t kept_key_length;
	bool mark_idle; /* these rows are marked, not hidden: a caller that keeps an order knows which of them
			   stay */
	bool jemalloc_only;      /* only rows that are known to have jemalloc */
	bool hide_gone;          /* no rows for groups and threads that are gone since the last round */
	enum view_naming naming; /* VIEW_NAMING_APART with `cells_on_demand` */
	size_t limit;            /* rows, 0 for all */
	int width;               /* cells of the screen for choosing columns; 0 for all columns of the tab */
	bool shows_identity;     /* identity columns stand beside the tab's columns, where they fit */
	bool looks_up;           /* texts that are looked up for what is shown too: of a live host */
	bool has_titles;         /* some processes have recorded titles */
	const struct lookup_cache *commands; /* command lines that were read, for filters; NULL for none. Not
						owned */
	/* Columns of the tab that nobody can fill here: their room is that of others. By
	 * missing_find_columns(). */
	struct column_set left_out;
	/* Names that all rows have in common, so that no column has to say them. */
	struct {
		bool process, cgroup, user;
	} same;
	const enum column
		*columns; /* `--columns`: these and no others; NULL for those of the tab. Not owned */
	size_t column_count;
	/* The fields on the tab of task fields, set by view_set_scheduler(): their numbers. */
	uint16_t task_fields[TASK_FIELD_MAX];
	size_t task_field_count;
	/* of a comparison: */
	bool compares;       /* processes are not told apart: those of before are not those of after */
	bool sort_by_change; /* what changed most comes first, whatever the column; else by the change of
				`sort` */
	bool equal_rows;     /* rows that did not change too */
};

/* The default: processes, overview, rate, by CPU%, descending. */
void view_initialise(struct view *view);

void view_release(struct view *view);

/*
 * Goes to a tab, and to the order that the user has chosen there; where that has not happened the chosen
 * order of the tab left stays if its column is one of the tab's too. Else it is that of the tab.
 */
void view_set_tab(struct view *view, enum tab tab);

/* Sorts as the tab does, as if the user had not chosen. */
void view_forget_sort(struct view *view);

/*
 * Shows the fields of a scheduler on the tab of task fields, NULL for none: those that are known to matter
 * first, then in the order of its type. The tab is sorted by the first of them until the user chooses; the
 * choice of a field that this scheduler does not have is forgotten. Returns whether the columns of that tab
 * are others now.
 */
bool view_set_scheduler(struct view *view, const struct task_field_owner *scheduler);

/* Makes `*to` (whatever it held is not released) a copy of `from` with its own steps and filters. */
void view_copy(struct view *to, const struct view *from);

/*
 * Whether rows that did nothing in the span are left out: where that was asked for, or with `fold_idle` where
 * all groups stand in the order of what they did in it.
 */
bool view_hides_idle(const struct view *view);

/*
 * The sources needed for the columns, the sort order and the filter of a view, without those that a round
 * reads anyway (names, start time, cgroup paths).
 */
void view_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records, bool *ret_smaps);

/* Whether anything of the view is how long waits took: a column, the order or the filter. */
bool view_needs_latency(const struct view *view);

/* The same, or it has columns of time in classes, which stand there while latency is measured. */
bool view_shows_latency(const struct view *view);

/* The same of what a sched_ext scheduler keeps for each task; its tab needs that before it has columns. */
bool view_needs_task_fields(const struct view *view);

/* The filter of the rows that a step was chosen from, or, behind the last step, that of the rows shown; NULL
 * for none. */
const struct filter *view_filter_at(const struct view *view, size_t step);

/* Whether the filter, or that of a step, narrows threads. */
bool view_narrows_threads(const struct view *view);

/* Whether it takes more than names to know which threads a view shows, and in which rows. */
bool view_looks_behind_names(const struct view *view);

/*
 * Appends all that decides which threads are shown and how they are grouped, on an axis inside the first
 * `step_count` steps: bytes that are equal where it is the same.
 */
void view_append_signature(const struct view *view, enum axis axis, size_t step_count, struct buffer *buffer);

/* Whether a column is one of the view's table. */
bool view_shows(const struct view *view, enum column column);

/*
 * Cells that a column of texts gets, as far as they need them, before other texts get more than their least:
 * command lines and names of processes in rows that they tell apart, and what threads wait for; else 0.
 */
int view_wanted_width(const struct view *view, enum column column);

/* The columns of the view's table, at most COLUMN_TOTAL, into `columns`; returns how many. */
size_t view_columns(const struct view *view, enum column columns[COLUMN_TOTAL]);

/*
 * Narrows to a group of the rows shown and goes to the next axis (cgroup, process, process id, thread
 * pattern, threads; from a user to its processes), without a filter. `label` is what is shown of the group.
 * Returns false (nothing changed) on VIEW_LEVEL_THREADS.
 */
bool view_open(struct view *view, const char *key, size_t key_length, const char *label, size_t label_length);

/*
 * Undoes the last view_open(), filter included: the key of the group that was left, owned by the
 * caller; NULL at the top.
 */
char *view_close(struct view *view, size_t *ret_key_length);

/*
 * Finds the group of a view for each triple of `names`, a snapshot without threads: an id of `grouping`,
 * which is that of the view's axis; UINT32_MAX for none, and where the view was narrowed
 * to others. On an axis of axis_is_by_thread() it is 0 where the view may have it, and a step on one narrows
 * nothing. `key` (may be NULL) limits them to the group of that key. `patterns` are those that the grouping
 * was made with. The caller frees the array.
 */
uint32_t *view_group_names(const struct view *view, const char *key, size_t key_length,
			   const struct snapshot *names, struct pattern_memory *patterns,
			   const struct grouping *grouping);

#endif
