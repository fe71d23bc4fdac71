/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_FORMAT_H
#define CTOP_SCREEN_FORMAT_H

#include "base/buffer.h"
#include "table.h"

/* Marks that differ between UTF-8 and plain ASCII terminals. */
struct screen_marks {
	const char *unavailable; /* "·" or "?" */
	const char *resolving;   /* "…" or "..." */
	const char *at_least;    /* "≥" or ">" */
	const char *arrow;       /* "→" or "->" between both sides of a comparison */
	const char *real;        /* "≠" or "#" before a change that is real */
	const char *burst;       /* "≈" or "%" before one that came in a burst */
	const char *replacement; /* for characters that cannot be shown: "\uFFFD" or "?" */
	const char *ellipsis;    /* "~" */
	const char *middle;      /* where the middle of a name is left out: "…" or "~", one cell wide */
	const char *times;       /* "×" or "x" before a number of threads */
	const char *above;       /* "▲" or "^", before how many rows are above those in sight */
	const char *below;       /* "▼" or "v" */
};

extern const struct screen_marks screen_marks_utf8, screen_marks_ascii;

/*
 * Appends a cell as the screen shows it: a number in the compact form (base/humanize.h), with its marks at
 * most seven cells wide. A peak that rose ends in '+'. A range is as wide as its two numbers. Texts are
 * appended as they are (not sanitised). A cell of a comparison shows both sides, after the mark of its
 * verdict.
 */
void screen_format_cell(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks);

/* The same in a column: where its title says that every number is a lower bound, none does. */
void screen_format_cell_in(struct buffer *buffer, const struct table_column *column, const struct cell *cell,
			   const struct screen_marks *marks);

/*
 * Appends a cell with a `head` in at most `cells` cells, if these are enough for its head and its number of
 * threads: of what stands between them the first word stays, or it loses its middle, or is left out where too
 * little of it would remain.
 */
void screen_format_narrow(struct buffer *buffer, const struct cell *cell, const struct screen_marks *marks,
			  int cells);

/* The title of a column, after `≥` where every number of it is a lower bound. */
void screen_format_title(struct buffer *buffer, const struct table_column *column,
			 const struct screen_marks *marks);

enum {
	SCREEN_BAR_CELLS = 24 /* width of a bar in text output; on the screen, that of its column */
};

/* The sign of each share of a bar, in the order of table_bar_names: "#rimqkfspd.". */
extern const char screen_bar_signs[TIME_PART_COUNT];

/* A Delay bar of `cells` cells: "####r##io...": one letter or sign per share, in the order of
 * table_bar_names. */
void screen_format_bar(struct buffer *buffer, const struct cell *cell, int cells);

#endif
