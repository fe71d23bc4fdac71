/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <string.h>

enum {
	PAGE_ROWS = 10, /* that PgUp and PgDn move by */
};

/* What rows can be sorted by: ids of columns, COLUMN_COUNT for the name, which is first. */
struct sort_choices {
	size_t count;
	unsigned int columns[1 + COLUMN_TOTAL];
};

static struct sort_choices find_choices(const struct ui *ui)
{
	struct sort_choices choices = {.columns = {COLUMN_COUNT}};

	choices.count = 1 + ui->content->sort_columns(&ui->view, choices.columns + 1);
	return choices;
}

static bool is_sorted_by(const struct view *view, unsigned int column)
{
	if (view->sort_by_name)
		return column == COLUMN_COUNT;
	return column ==
	       (column < COLUMN_TOTAL ? (unsigned int)view->sort : COMPARE_COLUMN_ID(view->compare_sort));
}

void screen_sort_open(struct ui *ui)
{
	struct sort_choices choices = find_choices(ui);

	ui->overlay = OVERLAY_SORT;
	ui->sort_choice = ui->sort_top = 0;
	for (size_t i = 0; i < choices.count; i++) {
		if (is_sorted_by(&ui->view, choices.columns[i]))
			ui->sort_choice = i;
	}
}

void screen_sort_move(struct ui *ui)
{
	ui->sort_choice = key_moved_row(ui->action, ui->sort_choice, find_choices(ui).count - 1, PAGE_ROWS);
}

void screen_sort_choose(struct ui *ui)
{
	struct sort_choices choices = find_choices(ui);
	size_t choice = ui->sort_choice;

	ui->overlay = OVERLAY_NONE;
	if (choice < choices.count)
		navigate_sort(ui, choices.columns[choice]);
}

const char *screen_sort_description(unsigned int column)
{
	if (column < COLUMN_TOTAL)
		return column_description((enum column)column);
	return column < COMPARE_COLUMN_ID(COMPARE_COLUMN_COUNT)
		       ? compare_columns[column - COLUMN_TOTAL].description
		       : NULL;
}

static void draw_choice(const struct ui *ui, int y, int width, const struct sort_choices *choices,
			size_t choice)
{
	unsigned int column = choices->columns[choice];
	bool chosen = choice == ui->sort_choice;
	enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
	const char *title = screen_list_name_title(&ui->view), *description = "The name.";

	if (choice != 0) {
		title = column < COLUMN_TOTAL ? column_title((enum column)column, (int)ui->view.mode)
					      : compare_columns[column - COLUMN_TOTAL].title;
		description = screen_sort_description(column);
	}
	draw_fill(y, 1, width - 2, style);
	draw_string(y, 2, 9, chosen ? STYLE_SELECTED : STYLE_KEY, title);
	draw_string(y, 12, width - 14, style, description);
}

int screen_sort_draw(struct ui *ui, struct area area)
{
	struct sort_choices choices = find_choices(ui);
	int width = area.width < 84 ? area.width : 84;
	int height = (int)choices.count + 2 < area.height ? (int)choices.count + 2 : area.height;
	size_t page = (size_t)(height - 2);

	if (ui->sort_choice < ui->sort_top)
		ui->sort_top = ui->sort_choice;
	if (ui->sort_choice >= ui->sort_top + page)
		ui->sort_top = ui->sort_choice - page + 1;
	area.y += area.height - height;
	draw_box(area.y, 0, height, width, "Sort by");
	for (size_t i = 0; i < page && ui->sort_top + i < choices.count; i++)
		draw_choice(ui, area.y + 1 + (int)i, width, &choices, ui->sort_top + i);
	return area.y + 1 + (int)(ui->sort_choice - ui->sort_top);
}
