/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GRAPH_H
#define CTOP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "session/course.h"
#include "table/table.h"

/*
 * The page that draws the course of one number: bars from zero on over time, the newest on the right. It
 * begins with what is known and keeps GRAPH_POINTS rounds while it is open. A zeroed struct has none.
 */

enum {
	GRAPH_POINTS = 600,
};

struct graph {
	bool gone; /* the row is not there any more */
	enum column column;
	enum unit unit;     /* of the numbers */
	char *column_title; /* owned */
	char *title;        /* "CPU% of nginx", owned */
	size_t title_length;
	struct course_point points[GRAPH_POINTS]; /* oldest first */
	size_t count;
};

/* Opens the page of a row's number without a point; the texts are copied. */
void graph_open(struct graph *graph, const struct table_column *column, const struct table_row *row,
		enum unit unit);

/* Takes over the points of the last rounds, oldest first: those that it has not yet, and what is known of
 * others now. */
void graph_take(struct graph *graph, const struct course_point points[], size_t count);

/* Frees what it owns; it has no point then. */
void graph_close(struct graph *graph);

/* Draws the page into `height` rows of `width` cells from row `y` on. */
void graph_draw(const struct graph *graph, int y, int height, int width);

#endif
