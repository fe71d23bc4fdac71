/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ROW_MARKS_H
#define CTOP_ROW_MARKS_H

#include "base/arena.h"
#include "base/hash.h"
#include "table/table.h"
#include "table/view.h"
#include "window/shown.h"

/* What changed since the table of the round before: new rows, gone rows, the largest rises. */

/* A row as it was when the table of a round was made. */
struct marked_row {
	uint64_t hash;
	bool is_thread;
	union { /* texts are in the arena of the generation */
		struct {
			const char *bytes;
			size_t length;
			const char *label;
			size_t label_length;
			uint32_t pid; /* of a process, else 0 */
		} key;
		struct {
			uint32_t tid, tgid;
			const char *name;
			uint64_t start_time;
		} thread;
	};
	double sort;
	bool seen; /* found again in the round after */
};

struct row_generation {
	uint64_t round; /* 0: none */
	struct arena arena;
	struct marked_row *rows;
	size_t count;
	size_t capacity;
	const char **names;    /* of threads, by triple; NULL until one is noted */
	struct hash_map index; /* hash to row */
};

struct row_marks {
	struct buffer signature; /* of the view it belongs to */
	struct row_generation now, before;
};

/*
 * Notes all rows of the table of a round with their sort values and returns, for each, its mark (owned by the
 * caller, one byte each). What was noted of the round before, of the same view, is in `row_marks->before`.
 */
unsigned char *row_marks_update(struct row_marks *row_marks, uint64_t round, const struct view *view,
				const struct shown *shown, const double *sort_values);

void row_marks_release(struct row_marks *row_marks);

#endif
