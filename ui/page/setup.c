/* SPDX-License-Identifier: GPL-2.0-only */
#include "setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "table/column_list.h"
#include "table/tab.h"
#include "table/view.h"
#include "ui/terminal/draw.h"
#include "ui/widget/pager.h"
#include "window/column.h"

enum {
	TITLE_CELLS = 14,     /* with a blank behind it */
	DESCRIPTION_ROWS = 3, /* below the columns */
	LEAST_ROWS = 4,       /* of columns; the description gives way */
	NAME_CELLS = 14,      /* of a row's name and mark, of which a table keeps 12 */
	SHORT_WIDTH = 60,
};

static bool has(const struct setup *setup, size_t count, enum column column)
{
	for (size_t i = 0; i < count; i++) {
		if (setup->columns[i] == column)
			return true;
	}
	return false;
}

/* Puts all other columns below the chosen ones: first those of the screen, then metrics, then fields. */
static void add_others(struct setup *setup)
{
	setup->count = setup->chosen;
	for (enum column column = 0; column < COLUMN_TOTAL; column++) {
		if (column == COLUMN_COUNT || has(setup, setup->chosen, column))
			continue;
		if (column_is_task_field(column) && column - COLUMN_TASK_FIELDS >= task_field_count())
			break;
		setup->columns[setup->count++] = column;
	}
}

static void choose(struct setup *setup, const enum column *columns, size_t count)
{
	setup->chosen = count < TAB_OWN_COLUMNS_MAX ? count : TAB_OWN_COLUMNS_MAX;
	memcpy(setup->columns, columns, setup->chosen * sizeof(columns[0]));
	add_others(setup);
}

void setup_open(struct setup *setup, enum tab tab, bool threads, const enum column *columns, size_t count)
{
	setup->open = true;
	setup->tab = tab;
	setup->threads = threads;
	setup->sort = tab_own_sort(tab);
	setup->selected = setup->top = 0;
	choose(setup, columns, count);
}

void setup_move(struct setup *setup, enum action action)
{
	setup->selected = key_moved_row(action, setup->selected, setup->count - 1, setup->page);
}

void setup_toggle(struct setup *setup)
{
	const enum column column = setup->columns[setup->selected];
	enum column *at = &setup->columns[setup->selected];

	if (setup->selected < setup->chosen) {
		memmove(at, at + 1, (setup->chosen - setup->selected - 1) * sizeof(*at));
		setup->chosen--;
	} else if (setup->chosen < TAB_OWN_COLUMNS_MAX) {
		memmove(&setup->columns[setup->chosen + 1], &setup->columns[setup->chosen],
			(setup->selected - setup->chosen) * sizeof(*at));
		setup->columns[setup->chosen++] = column;
		/* the next one may be wanted too */
		if (setup->selected + 1 < setup->count)
			setup->selected++;
	}
	add_others(setup);
}

void setup_shift(struct setup *setup, bool left)
{
	const size_t other = left ? setup->selected - 1 : setup->selected + 1;
	const enum column column = setup->columns[setup->selected];

	if (setup->selected >= setup->chosen || other >= setup->chosen)
		return;
	setup->columns[setup->selected] = setup->columns[other];
	setup->columns[other] = column;
	setup->selected = other;
}

void setup_sort(struct setup *setup)
{
	const enum column column = setup->columns[setup->selected];

	setup->sort = setup->sort == column ? COLUMN_COUNT : column;
}

/* The columns that a tab has of the table. */
static size_t table_columns(enum tab tab, bool threads, enum column columns[COLUMN_TOTAL])
{
	enum column own[TAB_OWN_COLUMNS_MAX];
	const size_t own_count = tab_has_own_columns(tab, threads) ? tab_own_columns(tab, threads, own) : 0;
	size_t count;

	tab_set_columns(tab, threads, NULL, 0);
	count = column_list(tab, threads, 0, COLUMN_COUNT, columns);
	tab_set_columns(tab, threads, own, own_count);
	return count;
}

void setup_reset(struct setup *setup)
{
	enum column columns[COLUMN_TOTAL];

	choose(setup, columns, table_columns(setup->tab, setup->threads, columns));
	setup->sort = COLUMN_COUNT;
	setup->selected = 0;
}

static bool matches(enum column column, const char *text, bool begins)
{
	const char *title = column_title(column, WINDOW_MODE_RATE), *name = column_name(column);
	const size_t length = strlen(text);

	if (begins)
		return strncasecmp(title, text, length) == 0 || strncasecmp(name, text, length) == 0;
	return strcasestr(title, text) != NULL || strcasestr(name, text) != NULL ||
	       strcasestr(column_description(column), text) != NULL;
}

bool setup_find(struct setup *setup, const char *text)
{
	for (int begins = 1; begins >= 0; begins--) {
		for (size_t row = 0; row < setup->count; row++) {
			if (matches(setup->columns[row], text, begins != 0)) {
				setup->selected = row;
				return true;
			}
		}
	}
	return false;
}

int setup_apply(const struct setup *setup, enum tab tab, struct error *error)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = table_columns(tab, setup->threads, columns);

	if (setup->chosen == 0)
		return error_set(error, -EINVAL, "a tab has at least one column: Space takes the marked one");
	tab_set_sort(tab, setup->sort);
	if (!tab_is_own(tab) && count == setup->chosen &&
	    memcmp(columns, setup->columns, count * sizeof(columns[0])) == 0)
		tab_set_columns(tab, setup->threads, NULL, 0);
	else
		tab_set_columns(tab, setup->threads, setup->columns, setup->chosen);
	return 0;
}

static void draw_row(const struct setup *setup, size_t row, int y, int width)
{
	const enum column column = setup->columns[row];
	const bool selected = row == setup->selected, chosen = row < setup->chosen;
	const enum style style = selected ? STYLE_SELECTED : chosen ? STYLE_NORMAL : STYLE_DIM;
	const enum column sort = setup->sort != COLUMN_COUNT ? setup->sort
							     : (enum column)tabs[setup->tab].sort;
	const char *title = column_title(column, WINDOW_MODE_RATE);

	if (selected)
		draw_fill(y, 0, width, style);
	draw_string(y, 1, width - 1, style, chosen ? "[x]" : "[ ]");
	draw_string(y, 5, TITLE_CELLS - 1, selected ? style : chosen ? STYLE_STRONG : style, title);
	if (column == sort)
		draw_string(y, 5 + (int)strlen(title), 1, style, "v");
	draw_string(y, 5 + TITLE_CELLS, width - 5 - TITLE_CELLS, style, column_description(column));
}

/* What is chosen, and whether it fits. */
static void draw_heading(const struct setup *setup, int y, int width)
{
	int used = NAME_CELLS, x;
	char text[128];

	for (size_t i = 0; i < setup->chosen; i++)
		used += column_width(setup->columns[i]) + 1;
	snprintf(text, sizeof(text), "Columns of %s%s", tabs[setup->tab].title,
		 setup->threads ? ", for threads" : "");
	x = draw_string(y, 0, width, STYLE_STRONG, text);
	if (used <= width)
		snprintf(text, sizeof(text), "%zu columns, %d of %d cells", setup->chosen, used, width);
	else
		snprintf(text, sizeof(text),
			 width >= SHORT_WIDTH ? "%zu columns, %d cells: the last leave at %d"
					      : "%zu columns, %d of %d cells",
			 setup->chosen, used, width);
	if (x + 2 + (int)strlen(text) <= width)
		draw_right(y, x, width - x, used <= width ? STYLE_DIM : STYLE_WAIT, text);
}

static void draw_description(const struct setup *setup, int y, int height, int width)
{
	const enum column column = setup->columns[setup->selected];
	struct pager pager = {0};

	pager_add_format(&pager, STYLE_NORMAL, "%s (%s): %s", column_title(column, WINDOW_MODE_RATE),
			 column_name(column), column_description(column));
	pager_draw(&pager, y, 1, height, width - 2);
	pager_release(&pager);
}

int setup_draw(struct setup *setup, int y, int height, int width)
{
	int description = height - 1 - LEAST_ROWS, rows;

	description = description > DESCRIPTION_ROWS ? DESCRIPTION_ROWS : description < 0 ? 0 : description;
	rows = height - 1 - description;
	setup->page = rows > 0 ? (size_t)rows : 1;
	if (setup->selected < setup->top)
		setup->top = setup->selected;
	if (setup->selected >= setup->top + setup->page)
		setup->top = setup->selected - setup->page + 1;
	draw_heading(setup, y, width);
	for (size_t i = 0; i < setup->page && setup->top + i < setup->count; i++)
		draw_row(setup, setup->top + i, y + 1 + (int)i, width);
	if (description != 0)
		draw_description(setup, y + 1 + rows, description, width);
	return y + 1 + (int)(setup->selected - setup->top);
}
