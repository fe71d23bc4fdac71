/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIST_H
#define CTOP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "table/table.h"

#include "ui/terminal/keys.h"

/* The number of rows above and below those in sight. */
struct list_others {
	size_t above, below;
	bool announced; /* in lines of the list's own: the first where rows are above, the last where below */
};

/*
 * What the texts of a column need. It grows at once and shrinks only after several tables that need less, so
 * that a long name that comes and goes does not move the columns.
 */
struct list_need {
	int cells;
	int recent;          /* the most that was needed since it was that wide */
	unsigned int tables; /* drawn since */
};

/*
 * The one widget that shows a table. The cursor belongs to the key of a row and stays on it when the table is
 * sorted again, as long as the row does not go down out of sight: only the user scrolls down. If the row is
 * gone, the cursor stays on the same line. A zeroed struct is an empty list.
 */
struct list {
	const struct table *table; /* not owned */
	char *key;                 /* of the row under the cursor */
	size_t key_length;
	size_t selected, top;      /* rows */
	size_t page;               /* rows shown by the last list_draw() */
	struct list_others others; /* at that time */
	int titles_row, first_row; /* of the screen, where the titles and the first of them were drawn */
	bool moved;                /* by the user: then the rows scroll along with the cursor */
	size_t mark;               /* 0: the name is marked, else column mark - 1 */
	size_t first;              /* first column shown, more than 0 when scrolled to the right */
	struct list_need name;     /* of names */
	bool is_new;               /* the table was not drawn yet */
	int name_cells, name_end;  /* that names had in the last frame, and the first cell behind them */
	struct list_width {
		unsigned int column; /* id of the column it belongs to */
		struct list_need need;
		int x, drawn; /* in the last frame: its first cell, and its cells: 0 where it is not shown */
	} * widths;
	size_t width_count;
};

/* The layout of a list. Positions and sizes in cells; the titles take the first row. */
struct list_style {
	int y, height, width;
	int name_cells;         /* that the name has at least, 0 for the 12 of the rule */
	const char *name_title; /* of the first column */
	bool (*matches)(const void *context,
			const struct table_row *row); /* rows that stand out; NULL for none */
	bool thread_ids;                              /* TID before the name */
	bool unsorted;    /* the rows are not sorted by the name when they are by no column */
	bool ascending;   /* the sort mark is ^ rather than v */
	const char *note; /* a line below the last row, or behind how many rows are below; NULL for none */
	/*
	 * What a row had in the column sorted by over the last rounds, at most `limit`, oldest first and NAN
	 * for a gap; returns how many. NULL when that is not known.
	 */
	size_t (*course)(void *context, const struct table_row *row, double values[], size_t limit);
	uint64_t course_round_ns; /* how long a round is */
	/* Makes the cells of rows that are about to be drawn; NULL when all are made. */
	void (*fill)(void *context, size_t first, size_t count);
	void *context;
};

/* Frees what the list owns and forgets cursor, scrolling and widths; the list is empty then. */
void list_reset(struct list *list);

/* Forgets the mark, sideways scrolling and widths: other columns over the same rows. */
void list_reset_columns(struct list *list);

/* Shows another table, which must stay valid until the next call; NULL for none. */
void list_set_table(struct list *list, const struct table *table);

/* Goes to the first row, with the cursor. */
void list_show_top(struct list *list);

/* Scrolls by so many rows, down where that is positive; the cursor stays in sight. Returns whether it did. */
bool list_scroll(struct list *list, int rows);

/* The part of the list at a cell of the last frame. */
enum list_part {
	LIST_PART_NONE,
	LIST_PART_TITLE, /* `index`: of the column, SIZE_MAX for the name */
	LIST_PART_ROW,   /* `index`: of the row */
	LIST_PART_ABOVE, /* the line that says how many rows are above, */
	LIST_PART_BELOW, /* and the one for those below */
};

enum list_part list_part_at(const struct list *list, int y, int x, size_t *ret_index);

/* Puts the cursor on a row. */
void list_select_row(struct list *list, size_t row);

/* The row of that key, SIZE_MAX for none. */
size_t list_find(const struct list *list, const char *key, size_t key_length);

/* Puts the cursor on the row of that key, if there is one. */
void list_select(struct list *list, const char *key, size_t key_length);

/* A former place of the cursor. A zeroed struct is no place. */
struct list_place {
	char *key; /* of its row, owned; NULL for none */
	size_t key_length, top;
};

/* Notes where the cursor stands; the place is to be released. */
void list_note_place(const struct list *list, struct list_place *place);

/* Goes back there, if its row is still in the list. */
void list_return(struct list *list, const struct list_place *place);
void list_release_place(struct list_place *place);

/* Moves the cursor by one of the actions that move rows, and the rows with it by pages. */
void list_move(struct list *list, enum action action);

/* Moves the column mark. Returns false when the name is marked already. */
bool list_mark_left(struct list *list);
void list_mark_right(struct list *list);

/* Marks the column of that index, if there is one. */
void list_mark_column(struct list *list, size_t column);

/* Marks the last number, or else the name. */
void list_mark_end(struct list *list, bool last);

/* The row under the cursor, NULL when there are no rows. */
const struct table_row *list_row(const struct list *list);

/* Index of the marked column, SIZE_MAX when the name is marked. */
size_t list_column(const struct list *list);

/* Whether a column of the last frame was wide enough for a text. */
bool list_shows_whole(const struct list *list, size_t column, const char *text, size_t length);

/* Draws titles and rows, and how many others there are. Returns the screen row of the cursor. */
int list_draw(struct list *list, const struct list_style *style);

#endif
