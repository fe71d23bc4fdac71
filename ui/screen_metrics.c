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

	if (row == NULL)
		return;
	if (row->mark == ROW_MARK_GONE) {
		screen_message(ui, STYLE_MESSAGE, "this row is gone");
		return;
	}
	screen_metrics_close(ui);
	ui->metrics_open = true;
	ui->metrics_key = memory_duplicate_bytes(row->key, row->key_length);
	ui->metrics_key_length = row->key_length;
	ui->metrics_name = row->tid != 0 ? memory_format("%.*s  tid %u of %u", (int)row->label_length,
							 row->label, row->tid, row->tgid)
					 : memory_duplicate_bytes(row->label, row->label_length);
	ui->metrics_name_length = row->tid != 0 ? strlen(ui->metrics_name) : row->label_length;
	screen_metrics_refresh(ui);
}

void screen_metrics_close(struct ui *ui)
{
	list_reset(&ui->metrics_list);
	table_release(ui->metrics_table);
	free(ui->metrics_key);
	free(ui->metrics_name);
	ui->metrics_table = NULL;
	ui->metrics_key = NULL;
	ui->metrics_name = NULL;
	ui->metrics_open = false;
	ui->metrics_gone = false;
}

void screen_metrics_refresh(struct ui *ui)
{
	struct table *table;

	if (!ui->metrics_open)
		return;
	table = ui->content->make_metrics(ui);
	ui->metrics_gone = table == NULL;
	if (table == NULL)
		return;
	list_set_table(&ui->metrics_list, table);
	table_release(ui->metrics_table);
	ui->metrics_table = table;
}

int screen_metrics_draw(struct ui *ui, struct area area)
{
	int used = draw_text(area.y, 0, area.width, STYLE_STRONG, ui->metrics_name, ui->metrics_name_length);

	if (ui->metrics_gone)
		draw_string(area.y, used + 2, area.width - used - 2, STYLE_ALARM,
			    "gone; these are its last numbers");
	else if (ui->metrics_table != NULL && ui->metrics_table->heading != NULL)
		draw_string(area.y, used + 2, area.width - used - 2, STYLE_NORMAL,
			    ui->metrics_table->heading);
	return list_draw(&ui->metrics_list, &(struct list_style){
						    .y = area.y + 1,
						    .height = area.height - 1,
						    .width = area.width,
						    .name_cells = METRIC_CELLS,
						    .name_title = "METRIC",
						    .unsorted = true,
					    });
}
