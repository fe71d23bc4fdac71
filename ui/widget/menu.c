/* SPDX-License-Identifier: GPL-2.0-only */
#include "menu.h"

#include "ui/terminal/draw.h"

void menu_move(struct menu *menu, enum action action, size_t count)
{
	if (count != 0 && !menu->unmarked)
		menu->choice = key_moved_row(action, menu->choice, count - 1,
					     menu->page != 0 ? menu->page : 1);
	menu->unmarked = menu->unmarked && count == 0;
}

/* Scrolls until the choice is in sight. */
static void place(struct menu *menu, size_t count, int lines)
{
	menu->page = lines > 0 ? (size_t)lines : 1;
	if (menu->choice >= count)
		menu->choice = count != 0 ? count - 1 : 0;
	if (menu->choice < menu->top)
		menu->top = menu->choice;
	if (menu->choice >= menu->top + menu->page)
		menu->top = menu->choice - menu->page + 1;
}

int menu_draw(struct menu *menu, size_t count, const struct menu_style *style)
{
	const int frame = style->title != NULL;
	int lines = style->height - style->foot - 2 * frame, y = style->y;

	if (frame != 0 && (int)style->room < lines) {
		y += lines - (int)style->room;
		lines = (int)style->room;
	}
	place(menu, count, lines);
	if (frame != 0)
		draw_box(y++, 0, lines + style->foot + 2, style->width, style->title);
	for (size_t i = 0; i < menu->page && menu->top + i < count; i++) {
		const bool chosen = menu->top + i == menu->choice && !menu->unmarked;

		if (chosen)
			draw_fill(y + (int)i, frame, style->width - 2 * frame, STYLE_SELECTED);
		style->draw_line(style->context, menu->top + i, y + (int)i, style->width, chosen);
	}
	return y + (int)(menu->choice - menu->top);
}
