/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <string.h>

/* What rows can be sorted by: the name, then every column of the tab. */
static size_t sort_choices(const struct ui *ui, enum column choices[COLUMN_TOTAL + 1])
{
	struct view all = ui->view;

	all.width = 0;
	choices[0] = COLUMN_COUNT;
	return 1 + view_columns(&all, choices + 1);
}

void screen_sort_open(struct ui *ui)
{
	enum column choices[COLUMN_TOTAL + 1];
	size_t count = sort_choices(ui, choices);
	enum column sorted = ui->view.sort_by_name ? COLUMN_COUNT : ui->view.sort;

	ui->overlay = OVERLAY_SORT;
	ui->sort_choice = ui->sort_top = 0;
	for (size_t i = 0; i < count; i++) {
		if (choices[i] == sorted)
			ui->sort_choice = i;
	}
}

void screen_sort_move(struct ui *ui)
{
	enum column choices[COLUMN_TOTAL + 1];
	size_t count = sort_choices(ui, choices);
	size_t page = 10;

	switch (ui->action) {
	case ACTION_UP:
		ui->sort_choice -= ui->sort_choice != 0;
		break;
	case ACTION_DOWN:
		ui->sort_choice += ui->sort_choice + 1 < count;
		break;
	case ACTION_PAGE_UP:
		ui->sort_choice -= ui->sort_choice < page ? ui->sort_choice : page;
		break;
	case ACTION_PAGE_DOWN:
		ui->sort_choice = ui->sort_choice + page < count ? ui->sort_choice + page : count - 1;
		break;
	case ACTION_FIRST:
		ui->sort_choice = 0;
		break;
	default:
		ui->sort_choice = count - 1;
		break;
	}
}

void screen_sort_choose(struct ui *ui)
{
	enum column choices[COLUMN_TOTAL + 1];
	size_t count = sort_choices(ui, choices);

	ui->overlay = OVERLAY_NONE;
	if (ui->sort_choice < count)
		navigate_sort(ui, choices[ui->sort_choice]);
}

static void draw_choice(const struct ui *ui, int y, int width, enum column column, bool chosen)
{
	enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
	const char *title = column == COLUMN_COUNT ? screen_list_name_title(&ui->view)
						   : column_title(column, (int)ui->view.mode);
	const char *description = column == COLUMN_COUNT ? "The name." : column_description(column);

	draw_fill(y, 1, width - 2, style);
	draw_string(y, 2, 9, chosen ? STYLE_SELECTED : STYLE_KEY, title);
	draw_string(y, 12, width - 14, style, description);
}

int screen_sort_draw(struct ui *ui, struct area area)
{
	enum column choices[COLUMN_TOTAL + 1];
	size_t count = sort_choices(ui, choices);
	int width = area.width < 84 ? area.width : 84;
	int height = (int)count + 2 < area.height ? (int)count + 2 : area.height;
	size_t page = (size_t)(height - 2);

	if (ui->sort_choice < ui->sort_top)
		ui->sort_top = ui->sort_choice;
	if (ui->sort_choice >= ui->sort_top + page)
		ui->sort_top = ui->sort_choice - page + 1;
	area.y += area.height - height;
	draw_box(area.y, 0, height, width, "Sort by");
	for (size_t i = 0; i < page && ui->sort_top + i < count; i++)
		draw_choice(ui, area.y + 1 + (int)i, width, choices[ui->sort_top + i],
			    ui->sort_top + i == ui->sort_choice);
	return area.y + 1 + (int)(ui->sort_choice - ui->sort_top);
}
