/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROW_MARKS_H
#define CTOP_ROW_MARKS_H

#include "base/arena.h"
#include "base/hash.h"
#include "table/table.h"
#include "table/view.h"
#include "window/shown.h"

/* Changes since the table of the round before: new rows, gone rows, the largest rises. */

/* A row as it is when the table of a round is made. */
struct marked_row {
	uint64_t hash;  /* hash of the key, or of thread id and start time */
	uint32_t alike; /* next noted row with this hash, UINT32_MAX for none */
	double sort;
	const char *label, *key; /* no key for a thread */
	size_t label_length, key_length;
	uint32_t tid, tgid; /* 0 for a group; the `tgid` of a process is its id */
	uint64_t start_time;
	bool is_thread;
	bool is_own;        /* see struct table_row */
	bool seen;          /* found again in the round after */
	uint32_t before;    /* of a noted row: that of the round before, UINT32_MAX for none */
	unsigned char mark; /* enum row_mark */
};

struct row_generation {
	uint64_t round;   /* 0: none */
	enum column sort; /* what `sort` of the rows is of; COLUMN_COUNT: nothing */
	struct arena arena;
	struct marked_row *rows; /* texts are in the arena */
	size_t count;
	size_t capacity;
	const char **names;    /* of threads, by triple; NULL until one is noted */
	struct hash_map index; /* hash to row; empty until it is asked for */
};

struct row_marks {
	struct buffer signature; /* of the view it belongs to */
	struct row_generation now, before;
};

/*
 * Describes and marks the rows of the table of a round, and notes them; `sort_values` has one for each. The
 * caller frees the result, whose texts belong to `shown`. What was noted of the round before, of the same
 * view, is in `row_marks->before`.
 */
struct marked_row *row_marks_update(struct row_marks *row_marks, uint64_t round, const struct view *view,
				    const struct shown *shown, const double *sort_values);

void row_marks_release(struct row_marks *row_marks);

#endif
