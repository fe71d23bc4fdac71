/* SPDX-License-Identifier: GPL-2.0-only */
#include "strip.h"

#include <math.h>
#include "base/buffer.h"
#include "base/humanize.h"
#include "table/screen_format.h"
#include "ui/widget/spark.h"

enum {
	LABEL_CELLS = 22,  /* "CPU% of a name" */
	AROUND_CELLS = 40, /* " 0..12.5K  psi memory ", " 0..99.9%  60m" and the blanks */
};

size_t strip_cells(int width)
{
	const int cells = (width - LABEL_CELLS - AROUND_CELLS) / 2;

	return cells < STRIP_CELLS_LEAST ? 0 : cells > STRIP_CELLS ? STRIP_CELLS : (size_t)cells;
}

/* Draws bars and marks that of the moment, with a line if it has none; returns the largest. */
static double draw_bars(int y, int x, const double values[], size_t cells, double least, size_t marked)
{
	double largest = least;

	spark_draw(y, x, (int)cells, STYLE_NORMAL, least, values, cells);
	for (size_t i = 0; i < cells; i++)
		largest = isfinite(values[i]) && values[i] > largest ? values[i] : largest;
	if (marked < cells)
		draw_string(y, x + (int)marked, 1, STYLE_SELECTED,
			    isfinite(values[marked]) ? spark_sign(spark_height(values[marked], largest))
						     : "|");
	return largest;
}

/* Appends the scale of bars: "0..85.0". */
static void append_scale(struct buffer *text, double largest, enum unit unit)
{
	const struct cell cell = cell_of_real(largest, unit);

	buffer_append_text(text, "0..");
	screen_format_cell(text, &cell, draw_marks());
}

void strip_draw(const struct strip_data *data, int y, int width, uint64_t moment_unix_ns, const char *title,
		enum unit unit, const char *name)
{
	struct buffer text = {0};
	size_t marked = SIZE_MAX;
	int x;

	if (moment_unix_ns >= data->from_unix_ns && data->step_ns != 0)
		marked = (size_t)((moment_unix_ns - data->from_unix_ns) / data->step_ns);
	buffer_append_format(&text, "%s%s%s", title, name != NULL ? " of " : "", name != NULL ? name : "");
	(void)draw_text(y, 0, LABEL_CELLS - 1, STYLE_DIM, text.data, text.length);
	x = LABEL_CELLS + (int)data->cells + 1;
	buffer_clear(&text);
	append_scale(&text, draw_bars(y, LABEL_CELLS, data->values, data->cells, 1, marked), unit);
	buffer_append_format(&text, "  psi%s%s", data->resource != NULL ? " " : "",
			     data->resource != NULL ? data->resource : "");
	x += draw_string(y, x, width - x, STYLE_DIM, text.data) + 1;
	buffer_clear(&text);
	append_scale(&text, draw_bars(y, x, data->pressure, data->cells, 10, marked), UNIT_PERCENT);
	x += (int)data->cells + 1;
	buffer_append_text(&text, "%  ");
	humanize_compact_truncated(&text, (double)(data->step_ns * data->cells), HUMANIZE_TIME);
	(void)draw_string(y, x, width - x, STYLE_DIM, text.data);
	buffer_release(&text);
}
