/* SPDX-License-Identifier: GPL-2.0-only */
/* The page that draws the marked number of a row over time. */
#include "screen.h"

#include <string.h>

#include "table/value_cell.h"

/* The column of the marked number; NULL: none is marked, or it is a word, or says who the row is. */
static const struct table_column *marked_number(const struct ui *ui, const struct table_row *row)
{
	const size_t column = list_column(&ui->list);
	const struct table_column *described;

	if (column >= ui->table->column_count || row->cells == NULL)
		return NULL;
	described = &ui->table->columns[column];
	if (described->left || described->foreign || described->column >= COLUMN_TOTAL)
		return NULL;
	return row->cells[column].state != CELL_VALUE || row->cells[column].form == CELL_FORM_INTEGER ||
			       row->cells[column].form == CELL_FORM_REAL
		       ? described
		       : NULL;
}

/* The unit of a course: rates, even where the cell is an amount. */
static enum unit course_unit(const struct ui *ui, const struct table_row *row, enum column column)
{
	const struct cell *cell = &row->cells[list_column(&ui->list)];
	struct table_column rate;
	struct arena arena = {0};
	enum unit unit;

	if (ui->view.mode == WINDOW_MODE_RATE && cell->state == CELL_VALUE)
		return cell->unit;
	column_describe(column, WINDOW_MODE_RATE, ui->view.level == VIEW_LEVEL_THREADS, &arena, &rate);
	unit = rate.unit;
	arena_release(&arena);
	return unit;
}

static void take_points(struct ui *ui)
{
	struct course_point points[COURSE_ROUNDS];
	const struct graph *graph = &ui->graph;
	const size_t count = session_course(ui->session, &ui->view, graph->key, graph->key_length,
					    graph->column, points, COURSE_ROUNDS);

	graph_take(&ui->graph, points, count);
}

bool screen_graph_open(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->list);
	const struct table_column *column;

	if (row == NULL || !screen_list_has_courses(ui))
		return false;
	column = marked_number(ui, row);
	if (column == NULL)
		return false;
	graph_open(&ui->graph, column, row, course_unit(ui, row, (enum column)column->column));
	/* of threads it may not have been kept so far */
	session_keep_courses(ui->session, ui->graph.column);
	screen_list_refresh(ui);
	take_points(ui);
	return true;
}

/* Whether the column of the graph is still what it was: a field of a scheduler may be another one's. */
static bool column_is_same(const struct ui *ui)
{
	if (!column_is_task_field(ui->graph.column))
		return true;
	for (size_t i = 0; i < ui->table->column_count; i++) {
		if (ui->table->columns[i].column == ui->graph.column)
			return strcmp(ui->table->columns[i].title, ui->graph.column_title) == 0;
	}
	return false;
}

void screen_graph_refresh(struct ui *ui)
{
	struct graph *graph = &ui->graph;
	size_t row;

	if (!graph->open)
		return;
	if (!column_is_same(ui)) {
		graph_close(graph);
		return;
	}
	row = list_find(&ui->list, graph->key, graph->key_length);
	graph->gone = row == SIZE_MAX || ui->table->rows[row].mark == ROW_MARK_GONE;
	take_points(ui);
}
