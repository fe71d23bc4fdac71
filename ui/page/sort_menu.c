/* SPDX-License-Identifier: GPL-2.0-only */
#include "sort_menu.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#include "ui/terminal/draw.h"
#include "ui/widget/pager.h"

enum {
	PAGE_ROWS = 10, /* that PgUp and PgDn move by */
	WIDTH_MAX = 84, /* cells of the box */
	TITLE_X = 2,    /* cells left of the titles, */
	TEXT_X = 12,    /* and of what they are */
	ROWS_MIN = 3,   /* items that are in sight whatever there is to say of the chosen one */
};

void sort_items_add(struct sort_items *items, const struct sort_item *item)
{
	*MEMORY_APPEND(items->items, items->count, items->capacity) = *item;
}

void sort_items_release(struct sort_items *items)
{
	free(items->items);
	arena_release(&items->arena);
	*items = (struct sort_items){0};
}

static bool has_text(const char *where, const char *text)
{
	return where != NULL && strcasestr(where, text) != NULL;
}

/* Whether titles and names have the text, so that descriptions do not count. */
static bool is_in_titles(const struct sort_items *items, const char *text)
{
	for (size_t i = 0; i < items->count; i++) {
		if (has_text(items->items[i].title, text) || has_text(items->items[i].name, text))
			return true;
	}
	return false;
}

/* The items that match a text, by their indices, which the caller frees; returns how many. */
static size_t match(const struct sort_items *items, const char *text, size_t **ret_indices)
{
	const bool in_titles = is_in_titles(items, text);
	size_t *indices = memory_allocate((items->count + 1) * sizeof(*indices));
	size_t count = 0;

	for (size_t i = 0; i < items->count; i++) {
		const struct sort_item *item = &items->items[i];

		if (in_titles ? has_text(item->title, text) || has_text(item->name, text)
			      : has_text(item->description, text))
			indices[count++] = i;
	}
	*ret_indices = indices;
	return count;
}

void sort_menu_open(struct sort_menu *menu, const struct sort_items *items, unsigned int column)
{
	menu->choice = menu->top = 0;
	menu->typed[0] = '\0';
	for (size_t i = 0; i < items->count; i++) {
		if (items->items[i].column == column)
			menu->choice = i;
	}
}

void sort_menu_move(struct sort_menu *menu, const struct sort_items *items, enum action action)
{
	size_t *indices;
	const size_t count = match(items, menu->typed, &indices);

	free(indices);
	if (count != 0)
		menu->choice = key_moved_row(action, menu->choice, count - 1, PAGE_ROWS);
}

/* The text is another one: the first title that begins with it is chosen, or the first item. */
static void choose_first(struct sort_menu *menu, const struct sort_items *items)
{
	const char *text = menu->typed;
	size_t *indices;
	const size_t count = match(items, menu->typed, &indices);

	menu->choice = menu->top = 0;
	for (size_t i = count; i-- > 0;) {
		if (strncasecmp(items->items[indices[i]].title, text, strlen(text)) == 0)
			menu->choice = i;
	}
	free(indices);
}

bool sort_menu_type(struct sort_menu *menu, const struct sort_items *items, int key)
{
	const size_t length = strlen(menu->typed);
	size_t *indices, count;

	if (key <= ' ' || key > '~' || length == SORT_TYPED_MAX)
		return false;
	menu->typed[length] = (char)key;
	menu->typed[length + 1] = '\0';
	count = match(items, menu->typed, &indices);
	free(indices);
	if (count == 0) {
		menu->typed[length] = '\0';
		return false;
	}
	choose_first(menu, items);
	return true;
}

bool sort_menu_erase(struct sort_menu *menu, const struct sort_items *items)
{
	const size_t length = strlen(menu->typed);

	if (length == 0)
		return false;
	menu->typed[length - 1] = '\0';
	choose_first(menu, items);
	return true;
}

const struct sort_item *sort_menu_choice(const struct sort_menu *menu, const struct sort_items *items)
{
	const struct sort_item *item = NULL;
	size_t *indices;
	const size_t count = match(items, menu->typed, &indices);

	if (menu->choice < count)
		item = &items->items[indices[menu->choice]];
	free(indices);
	return item;
}

static void draw_item(const struct sort_item *item, int y, int width, bool chosen)
{
	const enum style style = chosen ? STYLE_SELECTED : item->unavailable ? STYLE_DIM : STYLE_NORMAL;

	draw_fill(y, 1, width - 2, style);
	draw_string(y, TITLE_X, TEXT_X - TITLE_X - 1,
		    chosen              ? STYLE_SELECTED
		    : item->unavailable ? STYLE_DIM
					: STYLE_KEY,
		    item->title);
	draw_string(y, TEXT_X, width - TEXT_X - 2, style, item->description);
}

/* Rows that the description of an item takes below the list where it is cut in it. */
static int text_rows(const struct sort_item *item, int width, struct pager *pager)
{
	const size_t length = strlen(item->description);

	pager_clear(pager);
	if (draw_width(item->description, length) <= width - TEXT_X - 2)
		return 0;
	pager_add_lines(pager, STYLE_NORMAL, item->description, length);
	return (int)pager_rows(pager, width - 4);
}

/* Rows for the description of any item, so that nothing moves with the choice; `count` items match. */
static int rows_for_texts(const struct sort_items *items, size_t count, int width, int height)
{
	const int room = height - 2 - (count < ROWS_MIN ? (int)count : ROWS_MIN);
	struct pager pager = {0};
	int most = 0;

	for (size_t i = 0; i < items->count; i++) {
		const int rows = text_rows(&items->items[i], width, &pager);

		most = rows > most ? rows : most;
	}
	pager_release(&pager);
	if (most > room)
		most = room;
	return most > 0 ? most : 0;
}

/* All that there is to say of the chosen item. */
static void draw_text_of(const struct sort_item *item, int y, int rows, int width)
{
	struct pager pager = {0};

	if (rows != 0 && text_rows(item, width, &pager) != 0)
		pager_draw(&pager, y, TITLE_X, rows, width - 4);
	pager_release(&pager);
}

int sort_menu_draw(struct sort_menu *menu, const struct sort_items *items, int y, int height, int width)
{
	const int box_width = width < WIDTH_MAX ? width : WIDTH_MAX;
	char *title = *menu->typed != '\0' ? memory_format("Sort by: %s", menu->typed)
					   : memory_duplicate("Sort by (type to narrow)");
	size_t *indices;
	const size_t count = match(items, menu->typed, &indices);
	const int texts = rows_for_texts(items, count, box_width, height);
	const int all = (int)items->count + texts + 2, box_height = all < height ? all : height;
	const size_t page = (size_t)(box_height - 2 - texts);

	if (menu->choice >= count)
		menu->choice = count != 0 ? count - 1 : 0;
	if (menu->choice < menu->top)
		menu->top = menu->choice;
	if (menu->choice >= menu->top + page)
		menu->top = menu->choice - page + 1;
	y += height - box_height;
	draw_box(y, 0, box_height, box_width, title);
	for (size_t i = 0; i < page && menu->top + i < count; i++)
		draw_item(&items->items[indices[menu->top + i]], y + 1 + (int)i, box_width,
			  menu->top + i == menu->choice);
	if (menu->choice < count)
		draw_text_of(&items->items[indices[menu->choice]], y + box_height - 1 - texts, texts,
			     box_width);
	free(indices);
	free(title);
	return y + 1 + (int)(menu->choice - menu->top);
}
