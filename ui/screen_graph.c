/* SPDX-License-Identifier: GPL-2.0-only */
/* The page that draws a number of a row over time. */
#include "screen.h"

#include <string.h>

/* The number of the column that is marked, or that the rows are sorted by; SIZE_MAX: that is the name. */
static size_t chosen_column(const struct ui *ui)
{
	const size_t marked = list_column(&ui->list);

	return marked < ui->table->column_count ? marked : ui->table->sort_column;
}

/* The column of a number of a row; NULL: it is a word, or says who the row is. */
static const struct table_column *number_column(const struct ui *ui, const struct table_row *row,
						size_t column)
{
	const struct table_column *described;
	const struct cell *cell;

	if (column >= ui->table->column_count || row->cells == NULL)
		return NULL;
	described = &ui->table->columns[column];
	cell = &row->cells[column];
	if (described->left || described->foreign || described->column >= COLUMN_TOTAL)
		return NULL;
	return cell->state != CELL_VALUE || cell->form == CELL_FORM_INTEGER || cell->form == CELL_FORM_REAL
		       ? described
		       : NULL;
}

/* The unit of a course: rates, even where the cell is an amount. */
static enum unit course_unit(const struct ui *ui, const struct cell *cell, enum column column)
{
	if (ui->view.mode == WINDOW_MODE_RATE && cell->state == CELL_VALUE)
		return cell->unit;
	return column_unit(column, WINDOW_MODE_RATE, ui->view.level == VIEW_LEVEL_THREADS);
}

static void take_points(struct ui *ui)
{
	struct course_point points[COURSE_ROUNDS];
	const size_t count = session_course(ui->session, &ui->view, ui->page_row.key, ui->page_row.key_length,
					    ui->graph.column, points, COURSE_ROUNDS);

	graph_take(&ui->graph, points, count);
}

/* Says why there is no graph; false where there may be one. */
static bool refuse(struct ui *ui)
{
	if (screen_has_courses(ui))
		return false;
	screen_message(
		ui, STYLE_MESSAGE, "%s",
		ui->comparison != NULL ? "a comparison is of two moments: c draws numbers of a live screen"
		: ui_is_live(ui->host) ? "Esc goes back to now: c draws what a number did until then"
		: ui->past.open ? "the line above the tabs draws the column sorted by, before and after"
				: "a file is of one moment: c draws numbers of a live screen");
	return true;
}

void screen_graph_open(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->list);
	const size_t index = chosen_column(ui);
	const struct table_column *column;

	if (row == NULL || refuse(ui) || screen_list_refuse_gone(ui, row))
		return;
	/* one that was not drawn so far has no cells */
	ui->content->fill(ui, ui->list.selected, 1);
	column = number_column(ui, row, index);
	if (column == NULL) {
		screen_message(ui, STYLE_MESSAGE, "no number to draw: Right marks one");
		return;
	}
	screen_open_page(ui, PLACE_GRAPH);
	graph_open(&ui->graph, column, row, course_unit(ui, &row->cells[index], (enum column)column->column));
	/* of threads it may not have been kept so far */
	session_keep_courses(ui->session, ui->graph.column);
	screen_list_refresh(ui);
	take_points(ui);
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
	size_t row;

	if (ui->page != PLACE_GRAPH)
		return;
	if (!column_is_same(ui)) {
		screen_close_page(ui);
		return;
	}
	row = list_find(&ui->list, ui->page_row.key, ui->page_row.key_length);
	ui->graph.gone = row == SIZE_MAX || table_row_is_gone(&ui->table->rows[row]);
	take_points(ui);
}
