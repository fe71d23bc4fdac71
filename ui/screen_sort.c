/* SPDX-License-Identifier: GPL-2.0-only */
/* The menu of columns to sort by, which typing narrows. */
#include "screen.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum {
	WIDTH_MAX = 84, /* cells of the box */
	TITLE_X = 2,
	TEXT_X = 12,
	LINES_MIN = 3, /* items in sight however long the description of the chosen one is */
};

struct sort_item {
	unsigned int column;     /* id of a column of the table, COLUMN_COUNT for the name */
	const char *title;       /* as above the table */
	const char *name;        /* as in options; NULL for none */
	const char *description; /* with the reason where nothing can be sorted by it here */
	bool unavailable;
};

struct sort_items {
	struct sort_item items[COLUMN_TOTAL + 1];
	size_t count, matching; /* the first `matching` of them have what was typed */
	struct arena arena;
};

/* Appends to a description why the column cannot be read here. */
static void add_why(const struct ui *ui, struct sort_item *item, struct arena *arena)
{
	struct buffer words = {0};

	if (ui->comparison == NULL && item->column < COLUMN_TOTAL &&
	    session_why_unavailable(ui->session, &ui->view, (enum column)item->column, &words)) {
		item->unavailable = true;
		item->description = arena_format(arena, "%s Cannot be read here: %s", item->description,
						 words.data);
	}
	buffer_release(&words);
}

static bool item_has(const struct sort_item *item, const char *text, bool in_title)
{
	if (!in_title)
		return strcasestr(item->description, text) != NULL;
	return strcasestr(item->title, text) != NULL ||
	       (item->name != NULL && strcasestr(item->name, text) != NULL);
}

/* Descriptions count only where no title or name has the text. */
static void put_matching_first(struct sort_items *items, const char *text)
{
	items->matching = 0;
	for (int in_title = 1; in_title >= 0 && items->matching == 0; in_title--) {
		for (size_t i = 0; i < items->count; i++) {
			const struct sort_item item = items->items[i];
			struct sort_item *place = &items->items[items->matching];

			if (!item_has(&item, text, in_title != 0))
				continue;
			memmove(place + 1, place, (i - items->matching) * sizeof(item));
			*place = item;
			items->matching++;
		}
	}
}

/* The columns to sort by, the name first. The caller releases the arena. */
static void make_items(const struct ui *ui, struct sort_items *items)
{
	unsigned int columns[COLUMN_TOTAL];
	const size_t count = ui->content->sort_columns(&ui->view, columns);

	*items = (struct sort_items){.count = count + 1};
	items->items[0] = (struct sort_item){
		.column = COLUMN_COUNT,
		.title = screen_list_name_title(&ui->view),
		.name = "name",
		.description = "The name.",
	};
	for (size_t i = 0; i < count; i++) {
		const bool compared = columns[i] >= COLUMN_TOTAL;

		items->items[i + 1] = (struct sort_item){
			.column = columns[i],
			.title = compared ? compare_columns[columns[i] - COLUMN_TOTAL].title
					  : column_title((enum column)columns[i], ui->view.mode),
			.name = compared ? NULL : column_name((enum column)columns[i]),
			.description = screen_sort_description(columns[i]),
		};
		add_why(ui, &items->items[i + 1], &items->arena);
	}
	put_matching_first(items, ui->sort_menu.typed);
}

void screen_sort_open(struct ui *ui)
{
	const unsigned int present = ui->view.sort_by_name    ? COLUMN_COUNT
				     : ui->comparison != NULL ? COMPARE_COLUMN_ID(ui->view.compare_sort)
							      : (unsigned int)ui->view.sort;
	struct sort_items items;

	ui->overlay = OVERLAY_SORT;
	ui->sort_menu = (struct sort_menu){.menu.page = ui->sort_menu.menu.page};
	make_items(ui, &items);
	for (size_t i = 0; i < items.count; i++) {
		if (items.items[i].column == present)
			ui->sort_menu.menu.choice = i;
	}
	arena_release(&items.arena);
}

void screen_sort_move(struct ui *ui)
{
	struct sort_items items;

	make_items(ui, &items);
	menu_move(&ui->sort_menu.menu, ui->action, items.matching);
	arena_release(&items.arena);
}

/* Chooses the first item whose title begins with what was typed; false: no item has it. */
static bool narrow(struct ui *ui)
{
	const char *text = ui->sort_menu.typed;
	struct sort_items items;
	bool found;

	make_items(ui, &items);
	found = items.matching != 0;
	if (found)
		ui->sort_menu.menu = (struct menu){.page = ui->sort_menu.menu.page};
	for (size_t i = items.matching; i-- > 0;) {
		if (strncasecmp(items.items[i].title, text, strlen(text)) == 0)
			ui->sort_menu.menu.choice = i;
	}
	arena_release(&items.arena);
	return found;
}

void screen_sort_type(struct ui *ui)
{
	char *typed = ui->sort_menu.typed;
	const size_t length = strlen(typed);

	if (length < SORT_TYPED_MAX) {
		typed[length] = (char)ui->key;
		if (narrow(ui))
			return;
		typed[length] = '\0';
	}
	screen_message(ui, STYLE_MESSAGE, "no column has '%s%c' in its title, name or description", typed,
		       ui->key);
}

void screen_sort_close(struct ui *ui)
{
	const size_t length = strlen(ui->sort_menu.typed);

	if (ui->key == '\033' || length == 0) {
		ui->overlay = OVERLAY_NONE;
		return;
	}
	ui->sort_menu.typed[length - 1] = '\0';
	(void)narrow(ui);
}

void screen_sort_choose(struct ui *ui)
{
	struct sort_items items;

	make_items(ui, &items);
	ui->overlay = OVERLAY_NONE;
	if (ui->sort_menu.menu.choice < items.matching)
		navigate_sort(ui, items.items[ui->sort_menu.menu.choice].column);
	arena_release(&items.arena);
}

const char *screen_sort_description(unsigned int column)
{
	if (column < COLUMN_TOTAL)
		return column_description((enum column)column);
	return column < COMPARE_COLUMN_ID(COMPARE_COLUMN_COUNT)
		       ? compare_columns[column - COLUMN_TOTAL].description
		       : NULL;
}

static void draw_item(const void *context, size_t line, int y, int width, bool chosen)
{
	const struct sort_item *item = &((const struct sort_items *)context)->items[line];
	const enum style style = chosen ? STYLE_SELECTED : item->unavailable ? STYLE_DIM : STYLE_NORMAL;

	draw_string(y, TITLE_X, TEXT_X - TITLE_X - 1, style == STYLE_NORMAL ? STYLE_KEY : style, item->title);
	draw_string(y, TEXT_X, width - TEXT_X - 2, style, item->description);
}

/* Rows below the list for a description that is cut in it. */
static int text_rows(const struct sort_item *item, int width, struct pager *pager)
{
	const size_t length = strlen(item->description);

	pager_clear(pager);
	if (draw_width(item->description, length) <= width - TEXT_X - 2)
		return 0;
	pager_add_lines(pager, STYLE_NORMAL, item->description, length);
	return (int)pager_rows(pager, width - 4);
}

int screen_sort_draw(struct ui *ui, struct area area)
{
	const int width = area.width < WIDTH_MAX ? area.width : WIDTH_MAX;
	char *title = *ui->sort_menu.typed != '\0' ? memory_format("Sort by: %s", ui->sort_menu.typed)
						   : memory_duplicate("Sort by (type to narrow)");
	struct pager pager = {0};
	struct sort_items items;
	int foot = 0, most, row;

	make_items(ui, &items);
	/* room for the longest description, so that nothing moves with the choice */
	for (size_t i = 0; i < items.count; i++) {
		const int rows = text_rows(&items.items[i], width, &pager);

		foot = rows > foot ? rows : foot;
	}
	most = area.height - 2 - (items.matching < LINES_MIN ? (int)items.matching : LINES_MIN);
	foot = foot < most ? foot : most > 0 ? most : 0;
	row = menu_draw(&ui->sort_menu.menu, items.matching,
			&(struct menu_style){
				.y = area.y,
				.height = area.height,
				.width = width,
				.title = title,
				.room = items.count,
				.foot = foot,
				.draw_line = draw_item,
				.context = &items,
			});
	if (foot != 0 && ui->sort_menu.menu.choice < items.matching &&
	    text_rows(&items.items[ui->sort_menu.menu.choice], width, &pager) != 0)
		pager_draw(&pager,
			   row + (int)(ui->sort_menu.menu.top + ui->sort_menu.menu.page -
				       ui->sort_menu.menu.choice),
			   TITLE_X, foot, width - 4);
	pager_release(&pager);
	arena_release(&items.arena);
	free(title);
	return row;
}
