/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <string.h>

/* What rows can be sorted by: the name, then every column of the tab, or those of a comparison. */
struct sort_choices {
	size_t count; /* the name included */
	enum column columns[COLUMN_TOTAL];
	bool of_pair;
};

static struct sort_choices find_choices(const struct ui *ui)
{
	struct sort_choices choices = {.of_pair = session_is_pair(ui->session)};
	struct view all = ui->view;

	all.width = 0;
	choices.count = 1 + (choices.of_pair ? PAIR_COLUMN_COUNT : view_columns(&all, choices.columns));
	return choices;
}

void screen_sort_open(struct ui *ui)
{
	struct sort_choices choices = find_choices(ui);

	ui->overlay = OVERLAY_SORT;
	ui->sort_choice = ui->sort_top = 0;
	for (size_t i = 1; i < choices.count && !ui->view.sort_by_name; i++) {
		if (choices.of_pair ? i - 1 == ui->view.pair_sort : choices.columns[i - 1] == ui->view.sort)
			ui->sort_choice = i;
	}
}

void screen_sort_move(struct ui *ui)
{
	size_t count = find_choices(ui).count;
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
	struct sort_choices choices = find_choices(ui);
	size_t choice = ui->sort_choice;

	ui->overlay = OVERLAY_NONE;
	if (choice >= choices.count)
		return;
	if (choices.of_pair)
		navigate_sort_pair(ui, choice == 0 ? PAIR_COLUMN_COUNT : (enum pair_column)(choice - 1));
	else
		navigate_sort(ui, choice == 0 ? COLUMN_COUNT : choices.columns[choice - 1]);
}

static void draw_choice(const struct ui *ui, int y, int width, const struct sort_choices *choices,
			size_t choice)
{
	bool chosen = choice == ui->sort_choice;
	enum style style = chosen ? STYLE_SELECTED : STYLE_NORMAL;
	const char *title = screen_list_name_title(&ui->view), *description = "The name.";

	if (choice != 0 && choices->of_pair) {
		title = pair_columns[choice - 1].title;
		description = pair_columns[choice - 1].description;
	} else if (choice != 0) {
		title = column_title(choices->columns[choice - 1], (int)ui->view.mode);
		description = column_description(choices->columns[choice - 1]);
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
