/* SPDX-License-Identifier: GPL-2.0-only */
#include "pointer.h"

#include "actions.h"

enum {
	WHEEL_ROWS = 3, /* that a step of the wheel scrolls by */
};

static bool is_wheel(struct pointer pointer)
{
	return pointer.event == POINTER_WHEEL_UP || pointer.event == POINTER_WHEEL_DOWN;
}

/* Rows of a list or a page, and lines of a menu one by one. */
static void turn_wheel(struct ui *ui, bool up)
{
	const unsigned int place = screen_place(ui);

	ui->action = up ? ACTION_UP : ACTION_DOWN;
	if ((place & PLACE_ROWS) != 0)
		list_scroll(ui->metrics_open ? &ui->metrics_list : &ui->list, up ? -WHEEL_ROWS : WHEEL_ROWS);
	for (int i = 0;
	     i < (place == PLACE_TEXT ? WHEEL_ROWS : 1) && (place & (PLACE_ROWS | PLACE_GRAPH)) == 0; i++)
		actions_move(ui);
}

/* A title that the rows are sorted by already reverses their order. */
static void press_title(struct ui *ui, size_t column)
{
	const struct table *table = ui->table;
	const bool sorted = column == SIZE_MAX ? ui->view.sort_by_name : column == table->sort_column;

	if (sorted)
		navigate_reverse(ui);
	else
		navigate_sort(ui, column == SIZE_MAX ? COLUMN_COUNT : table->columns[column].column);
}

static void press_list(struct ui *ui, struct pointer pointer)
{
	const enum tab tab = screen_list_tab_at(ui, pointer.y, pointer.x);
	size_t index;

	if (tab != TAB_COUNT) {
		navigate_to_tab(ui, tab);
		return;
	}
	switch (list_part_at(&ui->list, pointer.y, pointer.x, &index)) {
	case LIST_PART_TITLE:
		press_title(ui, index);
		break;
	case LIST_PART_ROW:
		list_select_row(&ui->list, index);
		break;
	case LIST_PART_ABOVE:
		list_move(&ui->list, ACTION_PAGE_UP);
		break;
	case LIST_PART_BELOW:
		list_move(&ui->list, ACTION_PAGE_DOWN);
		break;
	case LIST_PART_NONE:
		break;
	}
}

void pointer_handle(struct ui *ui, struct pointer pointer)
{
	size_t index;

	if (ui->prompting != NULL || pointer.event == POINTER_OTHER || screen_is_too_small())
		return;
	if (!ui->message_pending)
		buffer_clear(&ui->message);
	if (is_wheel(pointer))
		turn_wheel(ui, pointer.event == POINTER_WHEEL_UP);
	else if (screen_place(ui) == PLACE_LIST)
		press_list(ui, pointer);
	else if (screen_place(ui) == PLACE_METRICS &&
		 list_part_at(&ui->metrics_list, pointer.y, pointer.x, &index) == LIST_PART_ROW)
		list_select_row(&ui->metrics_list, index);
}
