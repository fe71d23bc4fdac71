/* SPDX-License-Identifier: GPL-2.0-only */
/* The page on which the columns of a tab are chosen and put in order. It changes nothing until it is applied.
 */
#include "screen.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "table/column_list.h"

enum {
	TITLE_CELLS = 14,     /* with a blank behind it */
	DESCRIPTION_ROWS = 6, /* below the columns */
	LEAST_ROWS = 4,       /* of columns; the description gives way */
	NAME_CELLS = 14,      /* of a row's name and mark, of which a table keeps 12 */
	SHORT_WIDTH = 60,
};

/* Puts all other columns below the chosen ones: those of the screen, then metrics, then fields. */
static void add_others(struct setup *setup)
{
	setup->count = setup->chosen;
	for (enum column column = 0; column < COLUMN_TOTAL; column++) {
		if (column == COLUMN_COUNT || column_list_has(setup->columns, setup->chosen, column))
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

void screen_setup_open(struct ui *ui)
{
	const struct view *view = &ui->view;
	const bool threads = view->level == VIEW_LEVEL_THREADS;
	enum column columns[COLUMN_TOTAL];
	size_t count = view->column_count;

	/* also columns that the width leaves out, but not the one that only the order added */
	if (view->columns != NULL)
		memcpy(columns, view->columns, count * sizeof(columns[0]));
	else
		count = column_list_with(
			view->tab, threads,
			&(struct column_choice){
				.fields = view->task_fields,
				.field_count = view->tab == TAB_TASK_FIELDS ? view->task_field_count : 0,
				.sort = COLUMN_COUNT,
			},
			columns);
	screen_open_page(ui, PLACE_SETUP);
	ui->setup.tab = view->tab;
	ui->setup.threads = threads;
	ui->setup.sort = tab_own_sort(view->tab);
	ui->setup.menu = (struct menu){.page = ui->setup.menu.page};
	choose(&ui->setup, columns, count);
}

/* --- changes --- */

/* Adds the marked column behind the chosen ones, or removes it. */
static void toggle(struct setup *setup)
{
	const size_t marked = setup->menu.choice;
	enum column *at = &setup->columns[marked];
	const enum column column = *at;

	if (marked < setup->chosen) {
		memmove(at, at + 1, (setup->chosen - marked - 1) * sizeof(*at));
		setup->chosen--;
	} else if (setup->chosen < TAB_OWN_COLUMNS_MAX) {
		memmove(&setup->columns[setup->chosen + 1], &setup->columns[setup->chosen],
			(marked - setup->chosen) * sizeof(*at));
		setup->columns[setup->chosen++] = column;
		/* the next one may be wanted too */
		menu_move(&setup->menu, ACTION_DOWN, setup->count);
	}
	add_others(setup);
}

/* Moves the marked column one place to the left on the screen, or to the right. */
static void shift(struct setup *setup, bool left)
{
	const size_t marked = setup->menu.choice, other = left ? marked - 1 : marked + 1;
	const enum column column = setup->columns[marked];

	if (marked >= setup->chosen || other >= setup->chosen)
		return;
	setup->columns[marked] = setup->columns[other];
	setup->columns[other] = column;
	setup->menu.choice = other;
}

/* The built-in columns of a tab. */
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

static void reset(struct setup *setup)
{
	enum column columns[COLUMN_TOTAL];

	choose(setup, columns, table_columns(setup->tab, setup->threads, columns));
	setup->sort = COLUMN_COUNT;
	setup->menu.choice = 0;
}

void screen_setup_change(struct ui *ui)
{
	struct setup *setup = &ui->setup;
	const enum column marked = setup->columns[setup->menu.choice];

	if (ui->action == ACTION_SETUP_TOGGLE)
		toggle(setup);
	else if (ui->action == ACTION_SETUP_SORT)
		setup->sort = setup->sort == marked ? COLUMN_COUNT : marked;
	else if (ui->action == ACTION_SETUP_RESET)
		reset(setup);
	else
		shift(setup, ui->action == ACTION_SETUP_LEFT);
}

/* --- what becomes of it --- */

/* Gives the chosen columns to a tab and shows it; false, with the reason, where there are none. */
static bool apply(struct ui *ui, enum tab tab)
{
	const struct setup *setup = &ui->setup;
	enum column columns[COLUMN_TOTAL];
	const size_t count = table_columns(tab, setup->threads, columns);

	if (setup->chosen == 0) {
		screen_message(ui, STYLE_ERROR, "a tab needs at least one column: Space adds the marked one");
		return false;
	}
	/* that one now, not the order that was chosen on the tab */
	if (setup->sort != tab_own_sort(tab)) {
		ui->view.sorts[tab].chosen = false;
		ui->view.sort_chosen &= ui->view.sort_tab != tab;
	}
	tab_set_sort(tab, setup->sort);
	if (!tab_is_own(tab) && count == setup->chosen &&
	    memcmp(columns, setup->columns, count * sizeof(columns[0])) == 0)
		tab_set_columns(tab, setup->threads, NULL, 0);
	else
		tab_set_columns(tab, setup->threads, setup->columns, setup->chosen);
	/* overrides the command line */
	if (tab == ui->columns_given.tab)
		ui->columns_given.items = NULL;
	ui->view.columns = NULL;
	navigate_to_tab(ui, tab);
	return true;
}

void screen_setup_apply(struct ui *ui)
{
	if (apply(ui, ui->setup.tab))
		screen_close_page(ui);
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

/* Marks the first column whose title or name begins with the text, else one that has it anywhere. */
static void find(struct ui *ui, const char *text)
{
	for (int begins = 1; begins >= 0 && *text != '\0'; begins--) {
		for (size_t i = 0; i < ui->setup.count; i++) {
			if (matches(ui->setup.columns[i], text, begins != 0)) {
				ui->setup.menu.choice = i;
				return;
			}
		}
	}
	if (*text != '\0')
		screen_message(ui, STYLE_ERROR, "no column has '%s' in its title, name or description", text);
}

static bool accept_find(struct ui *ui, const char *text)
{
	find(ui, text);
	return true;
}

void screen_setup_find(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "find: ",
		.example = "title, name or description of a column",
		.accept = accept_find,
		.changed = find,
	};

	screen_open_prompt(ui, &use, "");
}

static bool accept_name(struct ui *ui, const char *text)
{
	struct error error;
	enum tab tab = ui->setup.tab; /* apply() refuses a tab without a column, and no other is made */

	if (*text == '\0')
		return true;
	if (ui->setup.chosen != 0 && tab_add(text, &tab, &error) < 0) {
		screen_message(ui, STYLE_ERROR, "%s", error.text);
		return false;
	}
	if (!apply(ui, tab))
		return true;
	ui->setup.tab = tab;
	screen_message(ui, STYLE_MESSAGE, "the tab %s lasts until ctop ends; w writes it to the file", text);
	return true;
}

void screen_setup_new(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "new tab: ",
		.example = "a name for a tab with these columns",
		.accept = accept_name,
	};

	screen_open_prompt(ui, &use, "");
}

void screen_setup_write(struct ui *ui)
{
	if (ui->options->config_path == NULL || !ui_offers(ui->host, UI_REQUEST_WRITE_TAB)) {
		screen_message(ui, STYLE_ERROR,
			       "cannot write the configuration file: there is no home directory");
		return;
	}
	if (!apply(ui, ui->setup.tab))
		return;
	screen_close_page(ui);
	screen_message(ui, STYLE_MESSAGE, "writing %s%s", ui->options->config_path, draw_marks()->resolving);
	ui->message_pending = true;
	(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_WRITE_TAB,
							.text = ui->options->config_path,
							.tab = ui->view.tab});
}

/* --- drawing --- */

static void draw_line(const void *context, size_t line, int y, int width, bool selected)
{
	const struct setup *setup = context;
	const enum column column = setup->columns[line];
	const bool chosen = line < setup->chosen;
	const enum style style = selected ? STYLE_SELECTED : chosen ? STYLE_NORMAL : STYLE_DIM;
	const enum column sort = setup->sort != COLUMN_COUNT ? setup->sort
							     : (enum column)tabs[setup->tab].sort;
	const char *title = column_title(column, WINDOW_MODE_RATE);

	draw_string(y, 1, width - 1, style, chosen ? "[x]" : "[ ]");
	draw_string(y, 5, TITLE_CELLS - 1, style == STYLE_NORMAL ? STYLE_STRONG : style, title);
	if (column == sort)
		draw_string(y, 5 + (int)strlen(title), 1, style, "v");
	draw_clauses(y, 5 + TITLE_CELLS, width - 5 - TITLE_CELLS, style, column_description(column));
}

/* Draws the number of chosen columns, and whether they fit. */
static void draw_heading(const struct setup *setup, int y, int width)
{
	int used = NAME_CELLS, x;
	char text[128];

	for (size_t i = 0; i < setup->chosen; i++)
		used += column_width(setup->columns[i]) + 1;
	snprintf(text, sizeof(text), "Columns of %s%s", tabs[setup->tab].title,
		 setup->threads ? ", for threads" : "");
	x = draw_string(y, 0, width, STYLE_STRONG, text);
	snprintf(text, sizeof(text),
		 used > width && width >= SHORT_WIDTH ? "%zu columns, %d cells: the last do not fit in %d"
						      : "%zu columns, %d of %d cells",
		 setup->chosen, used, width);
	if (x + 2 + (int)strlen(text) <= width)
		draw_right(y, x, width - x, used <= width ? STYLE_DIM : STYLE_WAIT, text);
}

static void draw_description(enum column column, int y, int height, int width)
{
	struct pager pager = {0};

	pager_add_format(&pager, STYLE_NORMAL, "%s (%s): %s", column_title(column, WINDOW_MODE_RATE),
			 column_name(column), column_description(column));
	pager_draw_start(&pager, y, 1, height, width - 2);
	pager_release(&pager);
}

int screen_setup_draw(struct ui *ui, struct area area)
{
	struct setup *setup = &ui->setup;
	int description = area.height - 1 - LEAST_ROWS, row;

	description = description > DESCRIPTION_ROWS ? DESCRIPTION_ROWS : description < 0 ? 0 : description;
	draw_heading(setup, area.y, area.width);
	row = menu_draw(&setup->menu, setup->count,
			&(struct menu_style){
				.y = area.y + 1,
				.height = area.height - 1,
				.width = area.width,
				.foot = description,
				.draw_line = draw_line,
				.context = setup,
			});
	if (description != 0)
		draw_description(setup->columns[setup->menu.choice], area.y + area.height - description,
				 description, area.width);
	return row;
}
