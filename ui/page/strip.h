/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STRIP_H
#define CTOP_STRIP_H

#include <stddef.h>
#include <stdint.h>

#include "metric/unit.h"
#include "ui/terminal/draw.h"

/*
 * A line that says what was before and after a moment: a number of a row, and pressure, as bars over the same
 * time, with the moment marked. A zeroed struct is empty.
 */

enum {
	STRIP_CELLS = 60,
	STRIP_CELLS_LEAST = 8,
};

/* Each cell stands for `step_ns` from `from_unix_ns` on; NAN: a gap, or not known yet. */
struct strip_data {
	uint64_t from_unix_ns, step_ns;
	size_t cells;
	double values[STRIP_CELLS]; /* the row's number, as a rate where it changes over time */
	/* Stall time of the resource that has most of it at any time here, percent; NULL: none has. */
	double pressure[STRIP_CELLS];
	const char *resource;
};

/* The number of cells that fit beside the words in a line of that width; 0: none do. */
size_t strip_cells(int width);

/* Draws the line; `title` is that of the column, `unit` its numbers', `name` the row's, NULL for none. */
void strip_draw(const struct strip_data *data, int y, int width, uint64_t moment_unix_ns, const char *title,
		enum unit unit, const char *name);

#endif
