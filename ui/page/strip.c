/* SPDX-License-Identifier: GPL-2.0-only */
#include "strip.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ui/widget/spark.h"

enum {
	LABEL_CELLS = 26,  /* "CPU% of a name" */
	AROUND_CELLS = 22, /* " psi ", " over 60 min" and the blanks */
};

size_t strip_cells(int width)
{
	const int cells = (width - LABEL_CELLS - AROUND_CELLS) / 2;

	return cells < STRIP_CELLS_LEAST ? 0 : cells > STRIP_CELLS ? STRIP_CELLS : (size_t)cells;
}

/* Draws bars and marks that of the moment, with a line if it has none. */
static void draw_bars(int y, int x, const double values[], size_t cells, double least, size_t marked)
{
	double largest = least;

	spark_draw(y, x, (int)cells, STYLE_NORMAL, least, values, cells);
	for (size_t i = 0; i < cells; i++)
		largest = isfinite(values[i]) && values[i] > largest ? values[i] : largest;
	if (marked < cells)
		draw_string(y, x + (int)marked, 1, STYLE_SELECTED,
			    isfinite(values[marked]) ? spark_sign(spark_height(values[marked], largest))
						     : "|");
}

void strip_draw(const struct strip_data *data, int y, int width, uint64_t moment_unix_ns, const char *title,
		const char *name)
{
	const uint64_t length_s = data->step_ns * data->cells / NS_PER_S;
	size_t marked = SIZE_MAX;
	char text[96];
	int x;

	if (moment_unix_ns >= data->from_unix_ns && data->step_ns != 0)
		marked = (size_t)((moment_unix_ns - data->from_unix_ns) / data->step_ns);
	snprintf(text, sizeof(text), "%s%s%s", title, name != NULL ? " of " : "", name != NULL ? name : "");
	(void)draw_string(y, 0, LABEL_CELLS - 1, STYLE_DIM, text);
	x = LABEL_CELLS;
	draw_bars(y, x, data->values, data->cells, 1, marked);
	x += (int)data->cells + 1;
	x += draw_string(y, x, width - x, STYLE_DIM, " psi") + 1;
	draw_bars(y, x, data->pressure, data->cells, 10, marked);
	x += (int)data->cells + 1;
	if (length_s >= 120)
		snprintf(text, sizeof(text), "over %llu min", (unsigned long long)(length_s / 60));
	else
		snprintf(text, sizeof(text), "over %llu s", (unsigned long long)length_s);
	(void)draw_string(y, x, width - x, STYLE_DIM, text);
}
