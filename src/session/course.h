/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COURSE_H
#define CTOP_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "table/view.h"

/*
 * The course of numbers: what rows had in columns over the last rounds, bounded in rounds, views, columns and
 * bytes. A number that was zero all the time, or never known, takes no room of its own. Rounds in which a row
 * was not there, not shown, or had no number are gaps. A large view, and one for which room was short, keeps
 * the rows that were drawn; the others have their course in the recordings of the rounds (ring.h).
 */

enum {
	COURSE_ROUNDS = 240,
	COURSE_VIEWS = 4,       /* the last ones shown */
	COURSE_COLUMNS = 24,    /* of a view, those noted last */
	COURSE_ROWS_ALL = 2000, /* a view of more rows keeps only those that were drawn */
};

/*
 * All courses together take no more than this; where it does not suffice, views that were shown before are
 * given up, then rows that are not drawn, then what numbers were before they became zero.
 */
#define COURSE_BYTES_MAX ((size_t)4 << 20)

/* The value of a row at the end of a round. */
struct course_point {
	uint64_t unix_ns;
	uint64_t span_ns; /* since the round before; 0 of the first one */
	double value;     /* NAN: a gap */
};

/* Numbers of a row in a column, by round. */
struct course_series {
	float *values;        /* COURSE_ROUNDS of them by the round's remainder; NULL: all are zero */
	uint32_t first, last; /* rounds noted; 0: none */
	uint32_t zeros;       /* so many at the end are zero */
};

struct course_row {
	char *key; /* owned */
	size_t key_length;
	uint64_t hash;
	uint32_t last;  /* round in which it was there */
	uint32_t drawn; /* round in which its course was last asked for; 0: never, or it was given up */
};

struct course_column {
	enum column column;
	uint32_t noted;               /* the last round it was noted in */
	struct course_series *series; /* owned, by row */
	size_t capacity;
};

/* The rows of a view that is not filtered. */
struct course_view {
	struct buffer signature; /* which view it is; empty: none */
	uint64_t used;           /* a clock */
	struct course_row *rows;
	size_t row_count, row_capacity;
	size_t guess;          /* which row is likely to be asked for next: they come in one order */
	struct hash_map index; /* hash of a key to its row */
	bool drawn_only;       /* rows that were not drawn are not noted */
	struct course_column columns[COURSE_COLUMNS];
	size_t column_count;
};

struct courses {
	uint32_t round; /* the newest one, from 1; 0 before it */
	uint64_t unix_ns[COURSE_ROUNDS], span_ns[COURSE_ROUNDS];
	uint64_t boottime_ns; /* of the newest */
	uint64_t clock;
	size_t bytes;
	uint32_t hidden_forgotten, quiet_forgotten; /* the last rounds in which room was made so */
	struct course_view views[COURSE_VIEWS];
};

/* Begins the round that ended at a time; later notes belong to it. */
void courses_add_round(struct courses *courses, uint64_t unix_ns, uint64_t boottime_ns);

/*
 * The courses of the rows of a view, whatever its columns, order and filter are; those of the view that was
 * not asked for longest are given up for them. Valid until COURSE_VIEWS other views were asked for.
 */
struct course_view *courses_view(struct courses *courses, const struct view *view);

/*
 * The number of a row for courses_note(), made when it is new; SIZE_MAX on lack of room, and for a row that
 * need not be noted because it was not drawn.
 */
size_t courses_row(struct courses *courses, struct course_view *view, const char *key, size_t key_length);

/*
 * Gives up rows that are not there any more, or were not drawn where only such are kept, when there are many
 * of them: numbers of rows change. To be called before the rows of a round are asked for, with how many there
 * are about to be.
 */
void courses_forget_rows(struct courses *courses, struct course_view *view, size_t row_count);

/* Begins to note a column in the newest round; NULL when that was done already. Valid until the next call. */
struct course_column *courses_begin_column(struct courses *courses, struct course_view *view,
					   enum column column);

/* Notes a number of a row, once in a round. One that is not finite leaves a gap. */
void courses_note(struct courses *courses, struct course_view *view, struct course_column *column, size_t row,
		  double value);

/*
 * Notes the number that a row of the courses had in the round that ended at `unix_ns`, if that is before all
 * that is known of it in the column; otherwise it does nothing. To be called from the newest round to the
 * oldest.
 */
void courses_note_earlier(struct courses *courses, const struct view *view, const char *key,
			  size_t key_length, enum column column, uint64_t unix_ns, double value);

/*
 * The course of a row in a column over the last `limit` rounds, oldest first. Returns how many rounds there
 * are; all are gaps where nothing is known of the row. The row counts as drawn: from now on it is noted.
 */
size_t courses_points(struct courses *courses, const struct view *view, const char *key, size_t key_length,
		      enum column column, struct course_point points[], size_t limit);

/* Forgets the columns from `first` to before `end`: they stand for something else now. */
void courses_forget_columns(struct courses *courses, enum column first, enum column end);

/* Frees what they own; nothing is known then. */
void courses_release(struct courses *courses);

#endif
