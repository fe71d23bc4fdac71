/* SPDX-License-Identifier: GPL-2.0-only */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "list_layout.h"

void list_reset(struct list *list)
{
	list_release(list);
	memset(list, 0, sizeof(*list));
}

void list_reset_columns(struct list *list)
{
	list->mark = list->first = 0;
	list->width_count = SIZE_MAX;
}

void list_release(struct list *list)
{
	free(list->key);
	free(list->widths);
	list->key = NULL;
	list->widths = NULL;
	list->width_count = 0;
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
	/* a cursor that nobody moved does not drag the rows along when its row sinks out of sight */
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

void list_move(struct list *list, long rows)
{
	if (rows < 0 && (size_t)-rows > list->selected)
		rows = -(long)list->selected;
	list->moved = true;
	select_row(list, list->selected + (size_t)rows);
}

void list_move_pages(struct list *list, long pages)
{
	size_t rows = list->page > 1 ? list->page - 1 : 1;

	if (pages < 0)
		list->top -= list->top < rows ? list->top : rows;
	else
		list->top += rows;
	list_move(list, pages < 0 ? -(long)rows : (long)rows);
}

void list_move_first(struct list *list)
{
	select_row(list, 0);
	list->moved = false;
}

void list_move_last(struct list *list)
{
	list->moved = true;
	select_row(list, SIZE_MAX);
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

/* Rows scroll only as far as the cursor needs. */
static void scroll(struct list *list, size_t page)
{
	size_t count = row_count(list);

	list->page = page;
	if (list->selected < list->top)
		list->top = list->selected;
	if (page != 0 && list->selected >= list->top + page)
		list->top = list->selected - page + 1;
	if (list->top + page > count)
		list->top = count > page ? count - page : 0;
}

int list_draw(struct list *list, const struct list_style *style)
{
	struct list_layout layout;

	if (list->table == NULL || style->height < 1)
		return style->y;
	scroll(list, (size_t)(style->height - 1));
	if (style->fill != NULL)
		style->fill(style->context, list->top, list->page);
	list_layout_make(&layout, list, style);
	list_layout_draw_titles(&layout);
	for (size_t i = 0; i < list->page && list->top + i < row_count(list); i++)
		list_layout_draw_row(&layout, style->y + 1 + (int)i, list->top + i);
	list_layout_release(&layout);
	return style->y + 1 + (int)(list->selected - list->top);
}
