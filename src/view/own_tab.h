/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_OWN_TAB_H
#define CTOP_OWN_TAB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "column.h"

/*
 * What the user makes of the tabs: tabs of his own behind TAB_COUNT, other columns on those of tabs.def, and
 * their order. It belongs to one thread, that which draws, and lasts as long as the program.
 */

enum {
	OWN_TAB_COLUMNS_MAX = 128, /* of one kind of rows */
	OWN_TAB_TEXT_MAX = 24      /* bytes of a name or title */
};

/* How many tabs there are, those of the table and own ones. */
size_t tab_count(void);

/* The tab at a place of the bar, from 0 to tab_count() - 1. */
enum tab tab_at(size_t place);

/* The place of a tab on the bar. */
size_t tab_place(enum tab tab);

/*
 * The tab that a user names: by name or title, case ignored, or by a beginning that no other tab has. Returns
 * 0, or -EINVAL with a sentence that lists the candidates, or all tabs and the nearest.
 */
int tab_choose(const char *name, enum tab *ret_tab, struct error *error);

/*
 * Makes a tab, behind all others: of letters, digits, - and _, and a name that no tab or title has yet. It
 * has no columns but what own_tab_set_columns() gives it. Returns 0, or a negative
 * errno with a sentence: -EINVAL for a name that does not do, -EEXIST, -ENOSPC.
 */
int own_tab_add(const char *name, enum tab *ret_tab, struct error *error);

/* Whether a tab was made by own_tab_add(). */
bool own_tab_is(enum tab tab);

/* Gives a tab another title; -EINVAL with a sentence if it is empty, too long or not printable. */
int own_tab_set_title(enum tab tab, const char *title, struct error *error);

/* The title set by own_tab_set_title(), or NULL. */
const char *own_tab_title(enum tab tab);

/* Whether own_tab_move() moved a tab. */
bool own_tab_is_moved(enum tab tab);

/* Moves a tab behind another one on the bar. */
void own_tab_move(enum tab tab, enum tab after);

/*
 * Columns of a tab for rows that are groups or `threads`, in order; without any (`count` 0) those of the
 * table again. An own tab that has none for threads shows them those of groups that a thread can have.
 */
void own_tab_set_columns(enum tab tab, bool threads, const enum column *columns, size_t count);

/*
 * The columns that own_tab_set_columns() gave a tab (of an own tab: those shown), into `columns`; returns how
 * many, 0 for those of the table.
 */
size_t own_tab_columns(enum tab tab, bool threads, enum column columns[OWN_TAB_COLUMNS_MAX]);

/* Whether own_tab_set_columns() gave a tab columns for these rows. */
bool own_tab_has_columns(enum tab tab, bool threads);

/*
 * What a tab is sorted by until the user chooses; COLUMN_COUNT for that of the table, of an own tab its first
 * column that threads have too.
 */
void own_tab_set_sort(enum tab tab, enum column sort);

/* The column set by own_tab_set_sort(), or COLUMN_COUNT. */
enum column own_tab_sort(enum tab tab);

/* Forgets all of it. */
void own_tab_reset(void);

#endif
