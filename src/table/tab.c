/* SPDX-License-Identifier: GPL-2.0-only */
#include "tab.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/unicode.h"
#include "metric/nearest.h"

struct own_columns {
	enum column columns[TAB_OWN_COLUMNS_MAX];
	size_t count;
};

/* The user's changes to a tab. */
struct own_tab {
	struct own_columns of_rows[2]; /* groups, threads */
	enum column sort;              /* if it is chosen */
	bool sort_chosen, title_chosen, moved;
	char name[TAB_TEXT_MAX + 1], title[TAB_TEXT_MAX + 1];
};

static struct own_tab own_tabs[TAB_TOTAL];
static size_t own_count;

/* Places of the bar that the user moved tabs to; until then they stand in the order of the table. */
static unsigned char order[TAB_TOTAL];
static bool is_ordered;

struct tab_entry tabs[TAB_TOTAL] = {
#define TAB(id, name, title, sort, description) [TAB_##id] = {name, title, COLUMN_##sort, description},
#include "tabs.def"
#undef TAB
};

static const struct tab_entry table[TAB_COUNT] = {
#define TAB(id, name, title, sort, description) [TAB_##id] = {name, title, COLUMN_##sort, description},
#include "tabs.def"
#undef TAB
};

size_t tab_count(void)
{
	return (size_t)TAB_COUNT + own_count;
}

static enum tab tab_of_index(size_t index)
{
	return (enum tab)(index < TAB_COUNT ? index : TAB_OWN + (index - TAB_COUNT));
}

enum tab tab_at(size_t place)
{
	return is_ordered ? (enum tab)order[place] : tab_of_index(place);
}

size_t tab_place(enum tab tab)
{
	size_t place = 0;

	while (place < tab_count() && tab_at(place) != tab)
		place++;
	return place;
}

int tab_digit(enum tab tab)
{
	const size_t place = tab_place(tab);

	return place < 10 ? (int)(place + 1) % 10 : -1;
}

enum tab tab_find(const char *name)
{
	/* the name of tab Time when it showed delay accounting alone */
	if (strcasecmp(name, "delay") == 0)
		return TAB_TIME;
	for (size_t i = 0; i < tab_count(); i++) {
		const enum tab tab = tab_of_index(i);

		if (strcasecmp(tabs[tab].name, name) == 0 || strcasecmp(tabs[tab].title, name) == 0)
			return tab;
	}
	return TAB_COUNT;
}

int tab_choose(const char *name, enum tab *ret_tab, struct error *error)
{
	const char *names[TAB_TOTAL];
	size_t chosen;
	int result;

	*ret_tab = tab_find(name);
	if (*ret_tab != TAB_COUNT)
		return 0;
	for (size_t i = 0; i < tab_count(); i++)
		names[i] = tabs[tab_at(i)].name;
	result = nearest_choose(error, "tab", name, names, tab_count(), &chosen);
	if (result == 0)
		*ret_tab = tab_at(chosen);
	return result;
}

static bool is_name(const char *name)
{
	static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t length = strlen(name);

	return length != 0 && length <= TAB_TEXT_MAX && strspn(name, valid) == length && name[0] != '-';
}

/* A name may be on the screen as it is: it begins with a capital there. */
static void set_title(struct own_tab *own, enum tab tab, const char *title)
{
	memcpy(own->title, title, strlen(title) + 1);
	tabs[tab].title = own->title;
}

int tab_add(const char *name, enum tab *ret_tab, struct error *error)
{
	const enum tab tab = tab_of_index(tab_count());
	struct own_tab *own;

	if (!is_name(name))
		return error_set(error, -EINVAL,
				 "a tab's name is made of letters, digits, - and _, at most %d, not '%s'",
				 TAB_TEXT_MAX, name);
	if (tab_find(name) != TAB_COUNT)
		return error_set(error, -EEXIST, "there is a tab '%s' already", tabs[tab_find(name)].name);
	if (own_count == OWN_TABS_MAX)
		return error_set(error, -ENOSPC, "there are %d own tabs already, and no more", OWN_TABS_MAX);
	own = &own_tabs[tab];
	*own = (struct own_tab){.sort_chosen = false};
	memcpy(own->name, name, strlen(name) + 1);
	tabs[tab] = (struct tab_entry){own->name, own->title, COLUMN_CPU, "A tab of your own."};
	set_title(own, tab, name);
	order[tab_count()] = (unsigned char)tab;
	own_count++;
	*ret_tab = tab;
	return 0;
}

bool tab_is_own(enum tab tab)
{
	return tab >= TAB_OWN && tab < TAB_TOTAL;
}

int tab_set_title(enum tab tab, const char *title, struct error *error)
{
	const size_t length = strlen(title);
	struct buffer printable = {0};
	bool as_it_is;

	unicode_append_printable(&printable, title, length, "?");
	as_it_is = length != 0 && length <= TAB_TEXT_MAX && printable.length == length &&
		   memcmp(printable.data, title, length) == 0;
	buffer_release(&printable);
	if (!as_it_is)
		return error_set(error, -EINVAL, "a tab's title has 1 to %d printable characters",
				 TAB_TEXT_MAX);
	set_title(&own_tabs[tab], tab, title);
	own_tabs[tab].title_chosen = true;
	return 0;
}

const char *tab_own_title(enum tab tab)
{
	return own_tabs[tab].title_chosen ? own_tabs[tab].title : NULL;
}

bool tab_is_moved(enum tab tab)
{
	return own_tabs[tab].moved;
}

void tab_move(enum tab tab, enum tab after)
{
	size_t count = tab_count(), place;

	if (tab == after)
		return;
	own_tabs[tab].moved = true;
	for (size_t i = 0; !is_ordered && i < count; i++)
		order[i] = (unsigned char)tab_of_index(i);
	is_ordered = true;
	place = tab_place(tab);
	memmove(&order[place], &order[place + 1], count - place - 1);
	order[count - 1] = (unsigned char)TAB_COUNT;
	place = tab_place(after) + 1;
	memmove(&order[place + 1], &order[place], count - place - 1);
	order[place] = (unsigned char)tab;
}

bool tab_has_own_columns(enum tab tab, bool threads)
{
	return own_tabs[tab].of_rows[threads].count != 0;
}

size_t tab_own_columns(enum tab tab, bool threads, enum column columns[TAB_OWN_COLUMNS_MAX])
{
	const struct own_columns *own = &own_tabs[tab].of_rows[threads];
	size_t count = 0;

	if (own->count != 0) {
		memcpy(columns, own->columns, own->count * sizeof(columns[0]));
		return own->count;
	}
	own = &own_tabs[tab].of_rows[!threads];
	for (size_t i = 0; tab_is_own(tab) && i < own->count; i++) {
		if (!threads || !column_has(column_entry(own->columns[i]), COLUMN_OF_GROUPS))
			columns[count++] = own->columns[i];
	}
	return count;
}

/* An own tab is about its first column. */
static unsigned int first_sort(enum tab tab)
{
	enum column columns[TAB_OWN_COLUMNS_MAX];

	if (!tab_is_own(tab))
		return table[tab].sort;
	return tab_own_columns(tab, true, columns) != 0 ? columns[0] : COLUMN_CPU;
}

void tab_set_columns(enum tab tab, bool threads, const enum column *columns, size_t count)
{
	struct own_columns *own = &own_tabs[tab].of_rows[threads];

	own->count = count < TAB_OWN_COLUMNS_MAX ? count : TAB_OWN_COLUMNS_MAX;
	if (own->count != 0)
		memcpy(own->columns, columns, own->count * sizeof(columns[0]));
	if (!own_tabs[tab].sort_chosen)
		tabs[tab].sort = first_sort(tab);
}

void tab_set_sort(enum tab tab, enum column sort)
{
	struct own_tab *own = &own_tabs[tab];

	own->sort_chosen = sort != COLUMN_COUNT;
	own->sort = sort;
	tabs[tab].sort = own->sort_chosen ? sort : first_sort(tab);
}

enum column tab_own_sort(enum tab tab)
{
	return own_tabs[tab].sort_chosen ? own_tabs[tab].sort : COLUMN_COUNT;
}

void tab_reset(void)
{
	memset(own_tabs, 0, sizeof(own_tabs));
	memcpy(tabs, table, sizeof(table));
	own_count = 0;
	is_ordered = false;
}
