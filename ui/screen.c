/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdio.h>
#include <string.h>

enum {
	ROWS_WANTED = 9, /* the header gives up its lines so that this many are left for everything else */
	STRIP_HEIGHT_LEAST = 20,
};

static void draw_too_small(void)
{
	char text[128];
	int width = draw_screen_width();
	size_t offset = 0;

	snprintf(text, sizeof(text), "The screen is %dx%d; ctop needs %dx%d.", width, draw_screen_height(),
		 SCREEN_WIDTH_MIN, SCREEN_HEIGHT_MIN);
	for (int y = 0; y < draw_screen_height() && offset < strlen(text); y++) {
		size_t length = strlen(text + offset) < (size_t)width ? strlen(text + offset) : (size_t)width;

		draw_text(y, 0, width, STYLE_NORMAL, text + offset, length);
		offset += length;
	}
}

/* Draws what fills the screen between header and bottom; returns the row of the cursor. */
static int draw_body(struct ui *ui, struct area area)
{
	int row;

	if (ui->overlay == OVERLAY_HELP || ui->overlay == OVERLAY_EVIDENCE) {
		screen_pages_draw(ui, area, area.y);
		return area.y;
	}
	if (ui->page == PLACE_SETUP)
		return screen_setup_draw(ui, area);
	if (ui->page == PLACE_GRAPH) {
		graph_draw(&ui->graph, area.y, area.height, area.width);
		return area.y;
	}
	if (ui->page == PLACE_BLAME)
		return screen_blame_draw(ui, area);
	row = ui->page == PLACE_METRICS ? screen_metrics_draw(ui, area) : screen_list_draw(ui, area);
	if (ui->overlay == OVERLAY_EXPLAIN)
		screen_pages_draw(ui, area, row);
	else if (ui->overlay == OVERLAY_CHOOSER)
		row = screen_chooser_draw(ui, area);
	else if (ui->overlay == OVERLAY_USERS)
		row = screen_users_draw(ui, area);
	return row;
}

bool screen_is_too_small(void)
{
	return draw_screen_width() < SCREEN_WIDTH_MIN || draw_screen_height() < SCREEN_HEIGHT_MIN;
}

static bool has_strip(const struct ui *ui)
{
	return ui->frame == SCREEN_FRAME_WHOLE && ui->past.open && ui->comparison == NULL &&
	       ui->past.strip.data.cells != 0 && draw_screen_height() >= STRIP_HEIGHT_LEAST &&
	       strip_cells(draw_screen_width()) == ui->past.strip.data.cells;
}

static void draw_strip(const struct ui *ui, int y)
{
	strip_draw(&ui->past.strip.data, y, draw_screen_width(), ui->past.unix_ns, ui->past.strip_title,
		   ui->past.strip_unit, ui->past.strip_name);
}

int screen_header_lines(void)
{
	const int lines = draw_screen_height() - ROWS_WANTED;

	return lines > 1 ? lines : 1;
}

void screen_draw(struct ui *ui)
{
	struct area area = {.width = draw_screen_width()};
	int bottom = screen_bottom_lines(ui);
	int row, cursor;

	draw_begin();
	if (screen_is_too_small()) {
		draw_too_small();
		draw_end(0, 0);
		return;
	}
	if (ui->frame == SCREEN_FRAME_WHOLE)
		area.y = ui->content->draw_header(ui, screen_header_lines());
	if (has_strip(ui))
		draw_strip(ui, area.y++);
	area.height = draw_screen_height() - area.y - bottom;
	row = draw_body(ui, area);
	cursor = screen_bottom_draw(ui);
	draw_end(ui->prompting != NULL ? draw_screen_height() - bottom : row, cursor);
}
