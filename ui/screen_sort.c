/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <string.h>

/* Appends to a description that nothing can be sorted by the column here. */
static void add_why(const struct ui *ui, unsigned int column, struct sort_items *items,
		    struct sort_item *item)
{
	struct buffer words = {0};

	if (ui->comparison == NULL && column < COLUMN_TOTAL &&
	    session_why_unavailable(ui->session, &ui->view, (enum column)column, &words)) {
		item->unavailable = true;
		item->description = arena_format(&items->arena, "%s Cannot be read here: %s",
						 item->description, words.data);
	}
	buffer_release(&words);
}

/* What rows can be sorted by, the name first. */
static struct sort_items make_items(const struct ui *ui)
{
	unsigned int columns[COLUMN_TOTAL];
	const size_t count = ui->content->sort_columns(&ui->view, columns);
	struct sort_items items = {0};

	sort_items_add(&items, &(struct sort_item){
				       .column = COLUMN_COUNT,
				       .title = screen_list_name_title(&ui->view),
				       .name = "name",
				       .description = "The name.",
			       });
	for (size_t i = 0; i < count; i++) {
		const bool compared = columns[i] >= COLUMN_TOTAL;
		struct sort_item item = {
			.column = columns[i],
			.title = compared ? compare_columns[columns[i] - COLUMN_TOTAL].title
					  : column_title((enum column)columns[i], ui->view.mode),
			.name = compared ? NULL : column_name((enum column)columns[i]),
			.description = screen_sort_description(columns[i]),
		};

		add_why(ui, columns[i], &items, &item);
		sort_items_add(&items, &item);
	}
	return items;
}

void screen_sort_open(struct ui *ui)
{
	struct sort_items items = make_items(ui);

	ui->overlay = OVERLAY_SORT;
	sort_menu_open(&ui->sort_menu, &items,
		       ui->view.sort_by_name    ? COLUMN_COUNT
		       : ui->comparison != NULL ? COMPARE_COLUMN_ID(ui->view.compare_sort)
						: (unsigned int)ui->view.sort);
	sort_items_release(&items);
}

void screen_sort_move(struct ui *ui)
{
	struct sort_items items = make_items(ui);

	sort_menu_move(&ui->sort_menu, &items, ui->action);
	sort_items_release(&items);
}

void screen_sort_type(struct ui *ui)
{
	struct sort_items items = make_items(ui);

	if (!sort_menu_type(&ui->sort_menu, &items, ui->key))
		screen_message(ui, STYLE_MESSAGE, "no column has '%s%c' in its title, name or description",
			       ui->sort_menu.typed, ui->key > ' ' && ui->key <= '~' ? ui->key : '?');
	sort_items_release(&items);
}

void screen_sort_close(struct ui *ui)
{
	struct sort_items items = make_items(ui);

	if (ui->key == '\033' || !sort_menu_erase(&ui->sort_menu, &items))
		ui->overlay = OVERLAY_NONE;
	sort_items_release(&items);
}

void screen_sort_choose(struct ui *ui)
{
	struct sort_items items = make_items(ui);
	const struct sort_item *item = sort_menu_choice(&ui->sort_menu, &items);

	ui->overlay = OVERLAY_NONE;
	if (item != NULL)
		navigate_sort(ui, item->column);
	sort_items_release(&items);
}

const char *screen_sort_description(unsigned int column)
{
	if (column < COLUMN_TOTAL)
		return column_description((enum column)column);
	return column < COMPARE_COLUMN_ID(COMPARE_COLUMN_COUNT)
		       ? compare_columns[column - COLUMN_TOTAL].description
		       : NULL;
}

int screen_sort_draw(struct ui *ui, struct area area)
{
	struct sort_items items = make_items(ui);
	const int row = sort_menu_draw(&ui->sort_menu, &items, area.y, area.height, area.width);

	sort_items_release(&items);
	return row;
}
