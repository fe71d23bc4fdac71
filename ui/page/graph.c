/* SPDX-License-Identifier: GPL-2.0-only */
#include "graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"
#include "table/screen_format.h"

#include "ui/terminal/draw.h"
#include "ui/widget/spark.h"

enum {
	LINES_BESIDE = 4,   /* title, numbers, the axis of time and its labels */
	LABELED_MIDDLE = 5, /* rows of bars from which on the middle has a label */
	LABEL_GAP = 2,
};

/* --- points --- */

void graph_open(struct graph *graph, const struct table_column *column, const struct table_row *row,
		enum unit unit)
{
	struct buffer title = {0};

	graph_close(graph);
	buffer_append_format(&title, "%s of ", column_title((enum column)column->column, WINDOW_MODE_RATE));
	buffer_append(&title, row->label, row->label_length);
	graph->column = (enum column)column->column;
	graph->unit = unit;
	graph->column_title = memory_duplicate(column->title);
	graph->title = memory_duplicate_bytes(title.data, title.length);
	graph->title_length = title.length;
	buffer_release(&title);
}

void graph_close(struct graph *graph)
{
	free(graph->column_title);
	free(graph->title);
	graph->column_title = graph->title = NULL;
	graph->gone = false;
	graph->count = 0;
}

/* How many of the points given are there already: up to the newest that is, whatever clocks were set to. */
static size_t find_known(const struct graph *graph, const struct course_point points[], size_t count)
{
	const struct course_point *newest;

	if (graph->count == 0)
		return 0;
	newest = &graph->points[graph->count - 1];
	while (count != 0 &&
	       (points[count - 1].unix_ns != newest->unix_ns || points[count - 1].span_ns != newest->span_ns))
		count--;
	return count;
}

void graph_take(struct graph *graph, const struct course_point points[], size_t count)
{
	const size_t known = find_known(graph, points, count), more = count - known;
	size_t kept;

	/* what was not kept yet when the page was opened may be known now */
	for (size_t i = 0; i < known && i < graph->count; i++) {
		const struct course_point *point = &points[known - 1 - i];

		if (isfinite(point->value))
			graph->points[graph->count - 1 - i].value = point->value;
	}
	if (more >= GRAPH_POINTS) {
		memcpy(graph->points, &points[count - GRAPH_POINTS], sizeof(graph->points));
		graph->count = GRAPH_POINTS;
		return;
	}
	kept = graph->count + more > GRAPH_POINTS ? GRAPH_POINTS - more : graph->count;
	memmove(graph->points, &graph->points[graph->count - kept], kept * sizeof(*points));
	memcpy(&graph->points[kept], &points[known], more * sizeof(*points));
	graph->count = kept + more;
}

/* --- numbers --- */

struct numbers {
	double least, largest, sum; /* of those that are known */
	size_t count;
};

static struct numbers sum_up(const struct graph *graph)
{
	struct numbers numbers = {.least = INFINITY, .largest = 0};

	for (size_t i = 0; i < graph->count; i++) {
		const double value = graph->points[i].value;

		if (!isfinite(value))
			continue;
		numbers.least = value < numbers.least ? value : numbers.least;
		numbers.largest = numbers.count == 0 || value > numbers.largest ? value : numbers.largest;
		numbers.sum += value;
		numbers.count++;
	}
	return numbers;
}

static void append_number(const struct graph *graph, double value, struct buffer *text)
{
	const struct cell cell = {
		.state = isfinite(value) ? CELL_VALUE : CELL_UNAVAILABLE,
		.form = CELL_FORM_REAL,
		.unit = graph->unit,
		.value.real = value,
	};

	screen_format_cell(text, &cell, draw_marks());
}

/* The newest number and what all are between, with so many blanks between them. */
static void append_numbers(const struct graph *graph, const struct numbers *numbers, int blanks,
			   struct buffer *text)
{
	const double count = numbers->count != 0 ? (double)numbers->count : NAN;
	const struct {
		const char *word;
		double value;
	} parts[] = {
		{"now ", graph->count != 0 ? graph->points[graph->count - 1].value : NAN},
		{"max ", numbers->count != 0 ? numbers->largest : NAN},
		{"avg ", numbers->sum / count},
		{"min ", numbers->count != 0 ? numbers->least : NAN},
	};

	buffer_clear(text);
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		buffer_append_format(text, "%*s%s", i != 0 ? blanks : 0, "", parts[i].word);
		append_number(graph, parts[i].value, text);
	}
}

static void draw_numbers(const struct graph *graph, int y, int width, const struct numbers *numbers)
{
	struct buffer text = {0};

	append_numbers(graph, numbers, 3, &text);
	if (draw_width(text.data, text.length) > width)
		append_numbers(graph, numbers, 1, &text);
	draw_text(y, 0, width, STYLE_NORMAL, text.data, text.length);
	buffer_release(&text);
}

/* The first number from `largest` on that is short to write and to halve. */
static double round_up(double largest, enum unit unit)
{
	static const double steps[] = {1, 1.2, 1.5, 2, 3, 4, 5, 6, 8};
	const double factor = unit == UNIT_BYTES || unit == UNIT_BYTES_PER_S ? 1024 : 1000;
	/* fractions of one are none of bytes and counts */
	double whole = unit == UNIT_RATIO || unit == UNIT_CPUS || unit == UNIT_PERCENT ? 0.001 : 1;

	for (; isfinite(whole); whole *= factor) {
		for (double ten = 1; ten < 1000; ten *= 10) {
			for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
				if (whole * ten * steps[i] >= largest)
					return whole * ten * steps[i];
			}
		}
	}
	return largest;
}

/* --- time --- */

/* The time that a column of the graph stands for. */
struct timing {
	double round_ns, column_ns;
	size_t rounds; /* in a column */
};

/* The median: one round after a long pause says nothing of the others. */
static double usual_span(const struct graph *graph)
{
	uint64_t spans[GRAPH_POINTS];
	size_t count = 0;

	for (size_t i = 0; i < graph->count; i++) {
		if (graph->points[i].span_ns != 0)
			spans[count++] = graph->points[i].span_ns;
	}
	if (count == 0)
		return NS_PER_S;
	qsort(spans, count, sizeof(*spans), order_by_u64);
	return (double)spans[count / 2];
}

static struct timing choose_timing(const struct graph *graph, int columns)
{
	struct timing timing = {.round_ns = usual_span(graph), .rounds = 1};

	while (timing.rounds * (size_t)columns < graph->count)
		timing.rounds++;
	timing.column_ns = timing.round_ns * (double)timing.rounds;
	return timing;
}

/*
 * The number of each column, the newest on the right: the largest of the rounds whose middle is in it, else
 * that of the round that it is in the middle of.
 */
static void fill_columns(const struct graph *graph, const struct timing *timing, double values[], int columns)
{
	double age = 0;

	for (int i = 0; i < columns; i++)
		values[i] = NAN;
	for (size_t i = graph->count; i-- > 0;) {
		const struct course_point *point = &graph->points[i];
		const double span = point->span_ns != 0 ? (double)point->span_ns : timing->round_ns;
		const double middle = (age + span / 2) / timing->column_ns;
		/* columns whose middle is in the round */
		const double first = ceil(age / timing->column_ns - 0.5);
		const double end = (age + span) / timing->column_ns - 0.5;

		age += span;
		if (!isfinite(point->value))
			continue;
		for (double column = first; column < end && column < columns; column++) {
			double *value = &values[columns - 1 - (int)column];

			if (isnan(*value))
				*value = point->value;
		}
		if (middle < columns) {
			double *value = &values[columns - 1 - (int)middle];

			*value = isnan(*value) || point->value > *value ? point->value : *value;
		}
	}
}

/* "-8m", "-40s": how long ago. */
static void append_age(double ns, struct buffer *text)
{
	buffer_append_char(text, '-');
	humanize_compact_truncated(text, round(ns / NS_PER_S) * NS_PER_S, HUMANIZE_TIME);
}

/* --- drawing --- */

/* The area of the bars. */
struct plot {
	int y, x, rows, columns;
	double top; /* the number that is as high as all rows */
};

static void draw_bars(const struct plot *plot, const double values[])
{
	for (int row = 0; row < plot->rows; row++) {
		struct buffer line = {0};
		const int below = (plot->rows - 1 - row) * SPARK_HEIGHTS; /* eighths under this row */

		for (int i = 0; i < plot->columns; i++) {
			int eighths;

			if (isnan(values[i]) || values[i] < 0) {
				buffer_append_text(&line,
						   values[i] < 0 && below == 0 ? draw_marks()->below : " ");
				continue;
			}
			eighths = (int)(values[i] / plot->top * (double)(plot->rows * SPARK_HEIGHTS) + 0.5);
			/* zero is the lowest bar, and nothing else is */
			if (eighths < 1)
				eighths = 1;
			if (values[i] > 0 && eighths < 2)
				eighths = 2;
			if (eighths <= below)
				buffer_append_char(&line, ' ');
			else
				buffer_append_text(&line, spark_sign(eighths - below < SPARK_HEIGHTS
									     ? eighths - below - 1
									     : SPARK_HEIGHTS - 1));
		}
		draw_text(plot->y + row, plot->x, plot->columns, STYLE_GRAPH, line.data, line.length);
		buffer_release(&line);
	}
}

/* The label of a part of the height, and how wide it is. */
static int label(const struct graph *graph, double value, struct buffer *text)
{
	buffer_clear(text);
	append_number(graph, value, text);
	return draw_width(text->data, text->length);
}

static void draw_axis_of_values(const struct graph *graph, const struct plot *plot)
{
	const bool has_middle = plot->rows >= LABELED_MIDDLE;
	const char *bar = draw_is_utf8() ? "│" : "|";
	struct buffer text = {0};

	for (int row = 0; row < plot->rows; row++)
		draw_string(plot->y + row, plot->x - 1, 1, STYLE_FRAME, bar);
	label(graph, plot->top, &text);
	draw_right(plot->y, 0, plot->x - 1, STYLE_DIM, text.data);
	if (has_middle) {
		/* what reaches half way up ends with this row, or in it */
		label(graph, plot->top / 2, &text);
		draw_right(plot->y + plot->rows / 2, 0, plot->x - 1, STYLE_DIM, text.data);
	}
	label(graph, 0, &text);
	draw_right(plot->y + plot->rows, 0, plot->x - 1, STYLE_DIM, text.data);
	buffer_release(&text);
}

static void draw_axis_of_time(const struct plot *plot, const struct timing *timing)
{
	const int y = plot->y + plot->rows;
	struct buffer text = {0};

	draw_string(y, plot->x - 1, 1, STYLE_FRAME, draw_is_utf8() ? "└" : "+");
	for (int i = 0; i < plot->columns; i++)
		draw_string(y, plot->x + i, 1, STYLE_FRAME, draw_is_utf8() ? "─" : "-");
	append_age(timing->column_ns * plot->columns, &text);
	draw_text(y + 1, plot->x, plot->columns, STYLE_DIM, text.data, text.length);
	buffer_clear(&text);
	append_age(timing->column_ns * (plot->columns - plot->columns / 2), &text);
	draw_text(y + 1, plot->x + plot->columns / 2, plot->columns, STYLE_DIM, text.data, text.length);
	draw_right(y + 1, plot->x, plot->columns, STYLE_DIM, "now");
	buffer_release(&text);
}

/* Whose number it is; where there is room, what a column is of. */
static void draw_title(const struct graph *graph, int y, int width, const struct timing *timing)
{
	struct buffer note = {0};
	int used, cells;

	if (graph->gone)
		buffer_append_text(&note, "the row is gone");
	else if (timing->rounds > 1)
		buffer_append_format(&note, "each column: the largest of %zu rounds", timing->rounds);
	cells = note.length != 0 ? draw_width(note.data, note.length) : 0;
	used = draw_middle(y, 0, width, STYLE_STRONG, graph->title, graph->title_length);
	if (cells != 0 && used + LABEL_GAP + cells <= width)
		draw_text(y, width - cells, cells, STYLE_DIM, note.data, note.length);
	buffer_release(&note);
}

void graph_draw(const struct graph *graph, int y, int height, int width)
{
	const struct numbers numbers = sum_up(graph);
	struct plot plot = {.y = y + 2, .rows = height - LINES_BESIDE};
	struct timing timing;
	struct buffer text = {0};
	double *values;
	int labels, middle;

	plot.top = round_up(numbers.largest > 0 ? numbers.largest : 1, graph->unit);
	labels = label(graph, plot.top, &text);
	middle = label(graph, plot.top / 2, &text);
	plot.x = (labels > middle ? labels : middle) + LABEL_GAP;
	plot.columns = width - plot.x;
	buffer_release(&text);
	timing = choose_timing(graph, plot.columns > 0 ? plot.columns : 1);
	draw_title(graph, y, width, &timing);
	draw_numbers(graph, y + 1, width, &numbers);
	if (plot.rows < 1 || plot.columns < 1)
		return;
	values = memory_allocate((size_t)plot.columns * sizeof(*values));
	fill_columns(graph, &timing, values, plot.columns);
	draw_bars(&plot, values);
	draw_axis_of_values(graph, &plot);
	draw_axis_of_time(&plot, &timing);
	free(values);
	if (numbers.count == 0)
		draw_string(plot.y + plot.rows / 2, plot.x + 1, plot.columns - 1, STYLE_NORMAL,
			    "There was no number yet.");
}
