/* SPDX-License-Identifier: GPL-2.0-only */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
		list->widths[i] = (struct list_width){list->table->columns[i].column,
						      list->table->columns[i].width};
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
	/* a cursor that the user has not moved does not scroll the rows when its row moves out of sight */
	if (found != SIZE_MAX && !list->moved && list->page != 0 && found >= list->page)
		found = 0;
	select_row(list, found != SIZE_MAX ? found : list->selected);
}

void list_select(struct list *list, const char *key, size_t key_length)
{
	size_t found = find_key(list, key, key_length);

	if (found == SIZE_MAX)
		return;
	list->moved = found != 0;
	select_row(list, found);
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

void list_mark_right(struct list *list)
{
	if (list->table != NULL && list->mark < list->table->column_count)
		list->mark++;
}
