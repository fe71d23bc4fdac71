/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TAB_H
#define CTOP_TAB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "window/column.h"

/* The screen's tabs, in their order; the table is tabs.def. */
enum tab {
#define TAB(id, ...) TAB_##id,
#include "tabs.def"
#undef TAB
	TAB_COUNT, /* none */
	TAB_OWN,   /* the first of those that the user makes */
	OWN_TABS_MAX = 16,
	TAB_TOTAL = TAB_OWN + OWN_TABS_MAX
};

struct tab_entry {
	const char *name;  /* option `-t`: "overview" */
	const char *title; /* "Overview" */
	unsigned int sort; /* the enum column it is sorted by until the user chooses one */
	const char *description;
};

/* By enum tab; the entries of TAB_COUNT and of own tabs not made are empty. Only tab.c writes it. */
extern struct tab_entry tabs[TAB_TOTAL];

/* The digit of the key that shows it, 1 to 9 and 0 for the first ten of the bar, -1 for others. */
int tab_digit(enum tab tab);

/* The tab of that name or title (case ignored), or TAB_COUNT. */
enum tab tab_find(const char *name);

/*
 * Changes that the user makes to the tabs: own tabs behind TAB_COUNT, other columns on those of tabs.def, and
 * their order. It belongs to one thread, that which draws, and lasts as long as the program.
 */

enum {
	TAB_OWN_COLUMNS_MAX = 128, /* of one kind of rows */
	TAB_TEXT_MAX = 24          /* bytes of a name or title */
};

/* The number of tabs, those of the table and own ones. */
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
 * has no columns but what tab_set_columns() gives it. Returns 0, or a negative
 * errno with a sentence: -EINVAL for a name that does not do, -EEXIST, -ENOSPC.
 */
int tab_add(const char *name, enum tab *ret_tab, struct error *error);

/* Whether a tab was made by tab_add(). */
bool tab_is_own(enum tab tab);

/* Gives a tab another title; -EINVAL with a sentence if it is empty, too long or not printable. */
int tab_set_title(enum tab tab, const char *title, struct error *error);

/* The title set by tab_set_title(), or NULL. */
const char *tab_own_title(enum tab tab);

/* Whether tab_move() moved a tab. */
bool tab_is_moved(enum tab tab);

/* Moves a tab behind another one on the bar. */
void tab_move(enum tab tab, enum tab after);

/*
 * Columns of a tab for rows that are groups or `threads`, in order; without any (`count` 0) those of the
 * table again. An own tab that has none for threads shows them those of groups that a thread can have.
 */
void tab_set_columns(enum tab tab, bool threads, const enum column *columns, size_t count);

/*
 * The columns that tab_set_columns() gave a tab (of an own tab: those shown), into `columns`; returns how
 * many, 0 for those of the table.
 */
size_t tab_own_columns(enum tab tab, bool threads, enum column columns[TAB_OWN_COLUMNS_MAX]);

/* Whether tab_set_columns() gave a tab columns for these rows. */
bool tab_has_own_columns(enum tab tab, bool threads);

/*
 * Sets the sort column of a tab until the user chooses; COLUMN_COUNT for that of the table, of an own tab its
 * first column that threads have too.
 */
void tab_set_sort(enum tab tab, enum column sort);

/* The column set by tab_set_sort(), or COLUMN_COUNT. */
enum column tab_own_sort(enum tab tab);

/* Forgets all of it. */
void tab_reset(void);

#endif
