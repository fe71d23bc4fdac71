/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	METRIC_CELLS = 28, /* nr_failed_migrations_running: columns are left out before a name is cut */
};

void screen_metrics_open(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->list);

	if (row == NULL || screen_list_refuse_gone(ui, row))
		return;
	screen_open_page(ui, PLACE_METRICS);
	ui->metrics.name = row->tid != 0 ? memory_format("%.*s  tid %u of %u", (int)row->label_length,
							 row->label, row->tid, row->tgid)
					 : memory_duplicate_bytes(row->label, row->label_length);
	ui->metrics.name_length = row->tid != 0 ? strlen(ui->metrics.name) : row->label_length;
	ui->metrics.task = (struct table_row){.tid = row->tid,
					      .process = row->tid != 0 ? row->process : 0,
					      .process_start = row->process_start,
					      .start_time = row->start_time};
	screen_metrics_refresh(ui);
}

/* Whether nothing of a row is known, and that is not about to change. */
static bool is_unavailable(const struct table *table, const struct table_row *row)
{
	bool unavailable = false;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct cell *cell = &row->cells[i];

		/* where it came from is no number */
		if (table->columns[i].left || cell->state == CELL_EMPTY)
			continue;
		if (cell->state != CELL_UNAVAILABLE || cell->reason == REASON_BEING_RESOLVED ||
		    cell->reason == REASON_NOT_READ)
			return false;
		unavailable = true;
	}
	return unavailable;
}

/* Replaces the rows without any value by one that counts them. */
static void fold(struct table *table)
{
	size_t kept = 0, count;
	char *label;

	for (size_t i = 0; i < table->row_count; i++) {
		if (!is_unavailable(table, &table->rows[i]))
			table->rows[kept++] = table->rows[i];
	}
	count = table->row_count - kept;
	if (count == 0)
		return;
	table->row_count = kept;
	label = arena_format(&table->arena, "%zu not available (a: show)", count);
	table_add_named_row(table, METRICS_FOLDED, label);
}

void screen_metrics_fold(struct ui *ui)
{
	ui->metrics.is_unfolded = !ui->metrics.is_unfolded;
	screen_metrics_refresh(ui);
}

void screen_metrics_refresh(struct ui *ui)
{
	struct table *table;

	if (ui->page != PLACE_METRICS)
		return;
	table = ui->content->make_metrics(ui);
	ui->metrics.is_gone = table == NULL;
	if (table == NULL)
		return;
	if (!ui->metrics.is_unfolded)
		fold(table);
	list_set_table(&ui->page_list, table);
	table_release(ui->page_table);
	ui->page_table = table;
}

/* Draws a line unless it is empty; returns the number of lines. */
static int draw_line(const struct buffer *line, struct area area, int used)
{
	if (line->length == 0)
		return 0;
	draw_text(area.y + used, 0, area.width, STYLE_NORMAL, line->data, line->length);
	return 1;
}

/*
 * Draws what a thread waits for, its system call, and where in the kernel it sleeps, in a line each. Returns
 * the number of lines.
 */
static int draw_sleep(struct ui *ui, struct area area)
{
	const struct table_row *task = &ui->metrics.task;
	struct buffer waits_for = {0}, call = {0}, sleep = {0};
	int used = 0;

	if (!ui->metrics.is_gone) {
		screen_lookup_append_call(ui, task, &call);
		buffer_append(&waits_for, ui->metrics.waits_for.data, ui->metrics.waits_for.length);
		if (waits_for.length != 0)
			screen_lookup_append_peer(ui, task, &call, &waits_for);
		screen_lookup_append_sleep(ui, task, &sleep);
		used += draw_line(&waits_for, area, used);
		used += draw_line(&call, area, used);
		used += draw_line(&sleep, area, used);
	}
	buffer_release(&waits_for);
	buffer_release(&call);
	buffer_release(&sleep);
	/* the lines stay while they are asked again, so that nothing moves */
	if (ui->metrics.sleep_lines < used)
		ui->metrics.sleep_lines = used;
	return ui->metrics.sleep_lines;
}

/* Draws the source of the number under the cursor, or the reason why it is missing, if that was cut. */
static void draw_source(const struct ui *ui)
{
	const struct table_row *row = list_row(&ui->page_list);
	const struct table *table = ui->page_table;
	const struct cell *cell;

	if (table == NULL || row == NULL || table->column_count == 0 || screen_bottom_lines(ui) < 2 ||
	    ui->prompting != NULL || ui->message.length != 0 || ui->overlay != OVERLAY_NONE)
		return;
	cell = &row->cells[table->column_count - 1];
	if (cell->state == CELL_VALUE && cell->form == CELL_FORM_TEXT &&
	    !list_shows_whole(&ui->page_list, table->column_count - 1, cell->text, strlen(cell->text)))
		draw_string(draw_screen_height() - 2, 1, draw_screen_width() - 1, STYLE_DIM, cell->text);
}

int screen_metrics_draw(struct ui *ui, struct area area)
{
	int used = draw_text(area.y, 0, area.width, STYLE_STRONG, ui->metrics.name, ui->metrics.name_length);
	int lines, row;

	if (ui->metrics.is_gone)
		draw_string(area.y, used + 2, area.width - used - 2, STYLE_ALARM,
			    "gone; these are its last numbers");
	else if (ui->page_table != NULL && ui->page_table->heading != NULL)
		draw_string(area.y, used + 2, area.width - used - 2, STYLE_NORMAL, ui->page_table->heading);
	area.y++;
	area.height--;
	lines = draw_sleep(ui, area);
	row = list_draw(&ui->page_list, &(struct list_style){
						.y = area.y + lines,
						.height = area.height - lines,
						.width = area.width,
						.name_cells = METRIC_CELLS,
						.name_title = "METRIC",
						.unsorted = true,
					});
	draw_source(ui);
	return row;
}
