/* SPDX-License-Identifier: GPL-2.0-only */
#include "tab_bar.h"

#include <stdio.h>
#include <string.h>

#include "table/tab.h"

#include "ui/terminal/draw.h"

enum {
	POSITION_CELLS = 10, /* behind the tabs: where the rows stand */
};

static bool has_tab(const struct tab_bar_style *style, enum tab tab)
{
	return style->has_tab(style->context, tab);
}

static int title_width(enum tab tab)
{
	return draw_width(tabs[tab].title, strlen(tabs[tab].title));
}

/* Cells of the tab bar, with the number keys before the titles or not, and so many blanks beside a title. */
static int bar_width(const struct tab_bar_style *style, bool numbered, int blanks)
{
	int width = 0;

	for (size_t i = 0; i < tab_count(); i++) {
		const enum tab tab = tab_at(i);

		if (has_tab(style, tab))
			width += title_width(tab) + (numbered && tab_digit(tab) >= 0 ? 2 : 0) + blanks;
	}
	return width;
}

static int draw_tab(int y, int x, enum tab tab, bool numbered, int blanks, bool current)
{
	char text[64];

	if (numbered && tab_digit(tab) >= 0)
		snprintf(text, sizeof(text), " %d %s ", tab_digit(tab), tabs[tab].title);
	else
		snprintf(text, sizeof(text), " %s%s", tabs[tab].title, blanks > 1 ? " " : "");
	return draw_string(y, x, (int)strlen(text), current ? STYLE_TAB_CURRENT : STYLE_TAB, text);
}

int tab_bar_draw(struct tab_bar *bar, const struct tab_bar_style *style)
{
	const bool numbered = bar_width(style, true, 2) <= style->width;
	const int blanks = numbered || bar_width(style, false, 2) + POSITION_CELLS <= style->width ? 2 : 1;
	const size_t current = tab_place(style->current);
	size_t first = 0;
	int x = 0, before = 0;

	/* on a narrow screen the bar starts further right, so that the current tab is in it */
	for (size_t i = 0; i <= current && bar_width(style, numbered, blanks) > style->width; i++) {
		if (!has_tab(style, tab_at(i)))
			continue;
		before += title_width(tab_at(i)) + blanks;
		while (before > style->width && first < i)
			before -= title_width(tab_at(first++)) + blanks;
	}
	bar->y = style->y;
	bar->count = 0;
	for (size_t i = first; i < tab_count() && x < style->width; i++) {
		const int start = x;

		if (!has_tab(style, tab_at(i)))
			continue;
		x += draw_tab(style->y, x, tab_at(i), numbered, blanks, i == current);
		bar->places[bar->count].tab = tab_at(i);
		bar->places[bar->count].x = start;
		bar->places[bar->count++].end = x;
	}
	return x;
}

enum tab tab_bar_at(const struct tab_bar *bar, int y, int x)
{
	for (size_t i = 0; i < bar->count && y == bar->y; i++) {
		if (x >= bar->places[i].x && x < bar->places[i].end)
			return bar->places[i].tab;
	}
	return TAB_COUNT;
}
