/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SPARK_H
#define CTOP_SPARK_H

#include <stddef.h>

#include "ui/terminal/draw.h"

/*
 * Numbers as bars of one cell each: eight heights of Unicode's block elements (U+2581 to U+2588), in ASCII
 * the signs "_.:-=+*#". The lowest is exact zero alone; a gap is blank.
 */

enum {
	SPARK_HEIGHTS = 8,
	SPARK_CELLS_MAX = 64,
};

/* The sign of a height, 0 to SPARK_HEIGHTS - 1. Static storage. */
const char *spark_sign(int height);

/* The height of a number on a scale from 0 to `largest`: 0 for zero and less, else 1 to SPARK_HEIGHTS - 1. */
int spark_height(double value, double largest);

/*
 * Draws the last `cells` (at most SPARK_CELLS_MAX) of `count` numbers, the newest on the right; one that is
 * not finite is a gap, one below zero has the mark for that. The largest of all, `least` included, has the
 * full height.
 */
void spark_draw(int y, int x, int cells, enum style style, double least, const double values[], size_t count);

#endif
