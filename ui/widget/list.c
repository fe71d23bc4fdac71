/* SPDX-License-Identifier: GPL-2.0-only */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

void list_reset(struct list *list)
{
	free(list->key);
	free(list->widths);
	*list = (struct list){0};
}

void list_reset_columns(struct list *list)
{
	list->mark = list->first = 0;
	list->width_count = SIZE_MAX;
}

static size_t row_count(const struct list *list)
{
	return list->table != NULL ? list->table->row_count : 0;
}

const struct table_row *list_row(const struct list *list)
{
	return list->selected < row_count(list) ? &list->table->rows[list->selected] : NULL;
}

size_t list_column(const struct list *list)
{
	return list->mark == 0 ? SIZE_MAX : list->mark - 1;
}

/* The cursor belongs to the row it stands on. */
static void bind_cursor(struct list *list)
{
	const struct table_row *row = list_row(list);

	free(list->key);
	list->key = NULL;
	list->key_length = 0;
	if (row != NULL) {
		list->key = memory_duplicate_bytes(row->key, row->key_length);
		list->key_length = row->key_length;
	}
}

static size_t find_key(const struct list *list, const char *key, size_t key_length)
{
	for (size_t i = 0; i < row_count(list); i++) {
		const struct table_row *row = &list->table->rows[i];

		if (row->key_length == key_length && memcmp(row->key, key, key_length) == 0)
			return i;
	}
	return SIZE_MAX;
}

static void select_row(struct list *list, size_t row)
{
	size_t count = row_count(list);

	list->selected = count == 0 ? 0 : row < count ? row : count - 1;
	bind_cursor(list);
}

static void set_widths(struct list *list, size_t count)
{
	list->widths = memory_resize(list->widths, count + 1, sizeof(*list->widths));
	for (size_t i = 0; i < count; i++)
		list->widths[i] = (struct list_width){
			.column = list->table->columns[i].column,
			.cells = list->table->columns[i].fill_order == 0 ? list->table->columns[i].width : 0};
	list->width_count = count;
	list->name_width = 0;
}

/* Whether the widths are those of the table's columns. */
static bool has_widths_of(const struct list *list, const struct table *table)
{
	if (list->widths == NULL || list->width_count != table->column_count)
		return false;
	for (size_t i = 0; i < table->column_count; i++) {
		if (list->widths[i].column != table->columns[i].column)
			return false;
	}
	return true;
}

void list_set_table(struct list *list, const struct table *table)
{
	size_t found = SIZE_MAX;

	list->table = table;
	if (table == NULL)
		return;
	if (!has_widths_of(list, table))
		set_widths(list, table->column_count);
	if (list->mark > table->column_count)
		list->mark = table->column_count;
	if (list->first >= table->column_count)
		list->first = 0;
	if (list->key != NULL)
		found = find_key(list, list->key, list->key_length);
	/*
	 * A row that goes down out of sight goes without the cursor, which stays where it is: larger rows are
	 * not pushed out of sight for it. One that was never moved goes back to the top.
	 */
	if (found != SIZE_MAX && list->page != 0 && found >= list->top + list->page)
		found = list->moved ? SIZE_MAX : 0;
	select_row(list, found != SIZE_MAX ? found : list->selected);
}

void list_show_top(struct list *list)
{
	list->top = 0;
	list->moved = false;
	select_row(list, 0);
}

bool list_scroll(struct list *list, int rows)
{
	const size_t top = list->top, last = row_count(list) > list->page ? row_count(list) - list->page : 0;
	const size_t distance = (size_t)abs(rows);

	if (rows < 0)
		list->top -= list->top < distance ? list->top : distance;
	else
		list->top = list->top + distance < last ? list->top + distance : last;
	if (list->top == 1)
		list->top = rows < 0 ? 0 : 2;
	if (list->top == top)
		return false;
	/* the cursor stays in sight */
	if (list->selected < list->top)
		select_row(list, list->top);
	else if (list->page != 0 && list->selected >= list->top + list->page)
		select_row(list, list->top + list->page - 1);
	list->moved = true;
	return true;
}

/* Rows that are in sight from list->top on, of `lines` lines with those that say what is not. */
static size_t page_at_top(const struct list *list, size_t lines)
{
	const size_t page = lines - (list->top != 0);

	return list->top + page >= row_count(list) ? row_count(list) - list->top : page - 1;
}

void list_place_window(struct list *list, size_t lines)
{
	const size_t count = row_count(list);
	const bool announces = lines >= LIST_LINES_ANNOUNCING && count > lines;

	if (count <= lines)
		list->top = 0;
	if (!announces) {
		list->page = lines;
		if (list->selected < list->top)
			list->top = list->selected;
		if (lines != 0 && list->selected >= list->top + lines)
			list->top = list->selected - lines + 1;
		if (list->top + lines > count)
			list->top = count > lines ? count - lines : 0;
		list->others = (struct list_others){
			.above = list->top,
			.below = count - list->top > lines ? count - list->top - lines : 0,
		};
		return;
	}
	if (list->selected < list->top)
		list->top = list->selected;
	if (list->top > count - (lines - 1))
		list->top = count - (lines - 1);
	/* a line that says of one row that it is not there could as well hold it */
	if (list->top == 1)
		list->top = list->selected < lines - 1 ? 0 : 2;
	list->page = page_at_top(list, lines);
	while (list->selected >= list->top + list->page) {
		list->top = list->selected - list->page + 1 > 2 ? list->selected - list->page + 1 : 2;
		if (list->top > count - (lines - 1))
			list->top = count - (lines - 1);
		list->page = page_at_top(list, lines);
	}
	list->others = (struct list_others){
		.above = list->top, .below = count - list->top - list->page, .announced = true};
}

void list_select(struct list *list, const char *key, size_t key_length)
{
	size_t found = find_key(list, key, key_length);

	if (found == SIZE_MAX)
		return;
	list->moved = found != 0;
	select_row(list, found);
}

void list_select_row(struct list *list, size_t row)
{
	select_row(list, row);
	list->moved = true;
}

/* The column whose title is at a cell of the row of titles. */
static size_t title_at(const struct list *list, int x)
{
	for (size_t i = 0; i < list->width_count && i < list->table->column_count; i++) {
		/* with the blank before it */
		if (list->widths[i].drawn != 0 && x >= list->widths[i].x - 1 &&
		    x < list->widths[i].x + list->widths[i].drawn)
			return i;
	}
	return SIZE_MAX;
}

enum list_part list_part_at(const struct list *list, int y, int x, size_t *ret_index)
{
	const int row = y - list->first_row;

	if (list->table == NULL)
		return LIST_PART_NONE;
	if (y == list->titles_row) {
		*ret_index = title_at(list, x);
		/* between two titles there is nothing */
		return *ret_index != SIZE_MAX || x < list->name_end ? LIST_PART_TITLE : LIST_PART_NONE;
	}
	if (row >= 0 && (size_t)row < list->page && list->top + (size_t)row < row_count(list)) {
		*ret_index = list->top + (size_t)row;
		return LIST_PART_ROW;
	}
	if (list->others.announced && list->others.above != 0 && y == list->titles_row + 1)
		return LIST_PART_ABOVE;
	return list->others.announced && list->others.below != 0 && row >= 0 && (size_t)row == list->page
		       ? LIST_PART_BELOW
		       : LIST_PART_NONE;
}

bool list_name_has(const struct table_row *row, const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i + length <= row->label_length; i++) {
		if (strncasecmp(row->label + i, text, length) == 0)
			return true;
	}
	return false;
}

void list_move(struct list *list, enum action action)
{
	/* one row stays in sight */
	size_t page = list->page > 1 ? list->page - 1 : 1;

	const size_t half = (page + 1) / 2;

	if (action == ACTION_PAGE_UP)
		list->top -= list->top < page ? list->top : page;
	else if (action == ACTION_PAGE_DOWN)
		list->top += page;
	else if (action == ACTION_HALF_UP)
		list->top -= list->top < half ? list->top : half;
	else if (action == ACTION_HALF_DOWN)
		list->top += half;
	select_row(list, key_moved_row(action, list->selected, row_count(list), page));
	list->moved = action != ACTION_FIRST && action != ACTION_FIRST_OF_PAGE;
}

bool list_mark_left(struct list *list)
{
	if (list->mark == 0)
		return false;
	list->mark--;
	if (list->mark == 0)
		list->first = 0;
	else if (list->mark - 1 < list->first)
		list->first = list->mark - 1;
	return true;
}

void list_mark_end(struct list *list, bool last)
{
	list->mark = last && list->table != NULL ? list->table->column_count : 0;
	if (!last)
		list->first = 0;
}

void list_mark_right(struct list *list)
{
	if (list->table != NULL && list->mark < list->table->column_count)
		list->mark++;
}
