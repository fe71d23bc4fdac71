/* SPDX-License-Identifier: GPL-2.0-only */
/* The menus that typing narrows: columns to sort by, what to group by, and all that the screen can do. */
#include "screen.h"

#include <string.h>

#include "table/column_list.h"
#include "table/column_name.h"

/* --- any of them --- */

struct chooser_use {
	struct chooser_words words;
	void (*make)(const struct ui *ui, struct choices *choices); /* adds the choices */
	unsigned int (*present)(const struct ui *ui); /* the id marked at first; NULL: the first */
	/* Does what a choice stands for; returns the action that is to be done for it, or ACTION_NONE. */
	enum action (*choose)(struct ui *ui, unsigned int id);
};

static void make(struct ui *ui)
{
	choices_clear(&ui->chooser.choices);
	ui->choosing->make(ui, &ui->chooser.choices);
	chooser_narrow(&ui->chooser);
}

static void open_chooser(struct ui *ui, const struct chooser_use *use)
{
	ui->overlay = OVERLAY_CHOOSER;
	ui->choosing = use;
	ui->chooser.words = &use->words;
	*ui->chooser.typed = '\0';
	make(ui);
	chooser_select(&ui->chooser,
		       use->present != NULL ? use->present(ui) : ui->chooser.choices.items[0].id);
}

/* Says what is wrong with what was typed; nothing where a choice is marked. */
static void tell_missing(struct ui *ui)
{
	const struct chooser *chooser = &ui->chooser;

	if (chooser_marked(chooser) != NULL)
		return;
	if (chooser->choices.matching != 0)
		screen_message(ui, STYLE_MESSAGE,
			       "no %s is called '%s': Down chooses one that is described with it",
			       chooser->words->noun, chooser->typed);
	else
		screen_message(ui, STYLE_MESSAGE, "no %s has '%s' in its title, name or description",
			       chooser->words->noun, chooser->typed);
}

/* After something was typed, or taken back. */
static void narrow(struct ui *ui)
{
	make(ui);
	chooser_mark(&ui->chooser);
	tell_missing(ui);
}

void screen_chooser_type(struct ui *ui)
{
	if (chooser_type(&ui->chooser, (char)ui->key))
		narrow(ui);
}

void screen_chooser_close(struct ui *ui)
{
	if (ui->key == KEY_ESCAPE || !chooser_untype(&ui->chooser))
		ui->overlay = OVERLAY_NONE;
	else
		narrow(ui);
}

enum action screen_chooser_choose(struct ui *ui)
{
	const struct choice *choice = chooser_marked(&ui->chooser);

	if (choice == NULL) {
		tell_missing(ui);
		return ACTION_NONE;
	}
	ui->overlay = OVERLAY_NONE;
	return ui->choosing->choose(ui, choice->id);
}

int screen_chooser_draw(struct ui *ui, struct area area)
{
	/* a round may have changed them */
	make(ui);
	return chooser_draw(&ui->chooser, area.y, area.height, area.width);
}

/* --- columns to sort by --- */

/* Appends to a description why the column cannot be read here. */
static void add_why(const struct ui *ui, struct choice *choice, struct arena *arena)
{
	struct buffer words = {0};

	if (ui->comparison == NULL && choice->id < COLUMN_TOTAL &&
	    session_why_unavailable(ui->session, &ui->view, (enum column)choice->id, &words)) {
		choice->unavailable = true;
		choice->description = arena_format(arena, "%s Cannot be read here: %s", choice->description,
						   words.data);
	}
	buffer_release(&words);
}

const char *screen_chooser_description(unsigned int column)
{
	if (column < COLUMN_TOTAL)
		return column_description((enum column)column);
	return column == VIEW_SORT_CHANGE
		       ? "The largest change of a row in any column, by its harm: 2% of a CPU, 64 MiB of "
			 "memory, 10 MiB/s of storage and 1,000 events/s count the same."
		       : NULL;
}

static void add_column(const struct ui *ui, struct choices *choices, unsigned int column)
{
	const bool by_change = column == VIEW_SORT_CHANGE;
	struct choice *choice = choices_add(choices);

	*choice = (struct choice){
		.id = column,
		.title = by_change ? "CHANGE" : column_title((enum column)column, ui->view.mode),
		.name = by_change ? NULL : column_name((enum column)column),
		.description = screen_chooser_description(column),
	};
	add_why(ui, choice, &choices->arena);
}

static void make_columns(const struct ui *ui, struct choices *choices)
{
	unsigned int columns[COLUMN_TOTAL];
	const size_t count = ui->content->sort_columns(&ui->view, columns);

	*choices_add(choices) = (struct choice){
		.id = COLUMN_COUNT,
		.title = screen_list_name_title(&ui->view),
		.name = "name",
		.description = "The name.",
	};
	for (size_t i = 0; i < count; i++)
		add_column(ui, choices, columns[i]);
}

static unsigned int sort_column(const struct ui *ui)
{
	return ui->view.sort_by_name     ? COLUMN_COUNT
	       : ui->view.sort_by_change ? VIEW_SORT_CHANGE
					 : (unsigned int)ui->view.sort;
}

static enum action choose_column(struct ui *ui, unsigned int column)
{
	navigate_sort(ui, column);
	return ACTION_NONE;
}

void screen_chooser_open_columns(struct ui *ui)
{
	static const struct chooser_use use = {
		.words = {.title = "Sort by", .noun = "column"},
		.make = make_columns,
		.present = sort_column,
		.choose = choose_column,
	};

	open_chooser(ui, &use);
}

/* --- axes --- */

static void make_axes(const struct ui *ui, struct choices *choices)
{
	enum axis order[AXIS_COUNT];
	const size_t count = navigate_axes(ui, order);

	for (size_t i = 0; i < count; i++)
		*choices_add(choices) = (struct choice){
			.id = order[i],
			.title = axes[order[i]].word,
			.name = axes[order[i]].name,
			.description = axes[order[i]].description,
		};
	*choices_add(choices) = (struct choice){
		.id = AXIS_COUNT,
		.title = "every thread",
		.name = "threads",
		.description = "each thread by itself",
	};
}

static unsigned int present_axis(const struct ui *ui)
{
	return ui->view.level == VIEW_LEVEL_THREADS ? AXIS_COUNT : ui->view.grouping.axis;
}

static enum action choose_axis(struct ui *ui, unsigned int axis)
{
	navigate_axis(ui, (enum axis)axis);
	return ACTION_NONE;
}

void screen_chooser_open_axes(struct ui *ui)
{
	static const struct chooser_use use = {
		.words = {.title = "Group by", .noun = "grouping"},
		.make = make_axes,
		.present = present_axis,
		.choose = choose_axis,
	};

	open_chooser(ui, &use);
}

/* --- everything --- */

/* What a choice of the palette is of, above its number. */
enum found {
	FOUND_KEY = 0 << 16,
	FOUND_TAB = 1 << 16,
	FOUND_AXIS = 2 << 16,
	FOUND_COLUMN = 3 << 16,
	FOUND_MASK = 3 << 16,
};

/* A key alone would have the digit that its action needs. */
static bool is_found(enum action action)
{
	return (ui_keys[action].where & PLACE_LIST) != 0 && action != ACTION_NUMBERED_TAB &&
	       action != ACTION_PALETTE;
}

static void add_keys(struct choices *choices, enum action first, enum action end)
{
	for (enum action action = first; action < end; action++) {
		const struct key_entry *entry = &ui_keys[action];

		if (is_found(action))
			*choices_add(choices) = (struct choice){
				.id = FOUND_KEY | (unsigned int)action,
				.title = arena_format(&choices->arena, "%.*s", (int)strcspn(entry->keys, " "),
						      entry->keys),
				.name = entry->hint != NULL ? entry->hint + (*entry->hint == '!') : NULL,
				.description = entry->help,
			};
	}
}

static void add_tabs(const struct ui *ui, struct choices *choices)
{
	for (size_t i = 0; i < tab_count(); i++) {
		const enum tab tab = tab_at(i);

		if (screen_list_has_tab(ui, tab))
			*choices_add(choices) = (struct choice){
				.id = FOUND_TAB | (unsigned int)tab,
				.title = tabs[tab].title,
				.name = tabs[tab].name,
				.description = arena_format(&choices->arena, "tab: %s",
							    tabs[tab].description),
			};
	}
}

/* Says what those from `first` on are, and numbers them so. */
static void tell(struct choices *choices, size_t first, enum found found, const char *word)
{
	for (size_t i = first; i < choices->count; i++) {
		struct choice *choice = &choices->items[i];

		choice->id |= found;
		choice->description = arena_format(&choices->arena, "%s: %s", word, choice->description);
	}
}

/* Whether a column of tabs shows the metric, or has its title: one of both is enough. */
static bool is_twice(enum column column)
{
	for (enum column i = 0; i < COLUMN_COUNT && column > COLUMN_COUNT; i++) {
		if (column_stored_form(i) == column)
			return true;
	}
	return column_find(column_title(column, WINDOW_MODE_RATE)) != column;
}

/* Keys of the list first, those that merely move last. */
static void make_palette(const struct ui *ui, struct choices *choices)
{
	size_t first;

	add_keys(choices, ACTION_OPEN, ACTION_COUNT);
	add_tabs(ui, choices);
	first = choices->count;
	make_axes(ui, choices);
	tell(choices, first, FOUND_AXIS, "group by");
	first = choices->count;
	if (ui->comparison != NULL)
		make_columns(ui, choices);
	for (enum column column = 0; column < COLUMN_TASK_FIELDS && ui->comparison == NULL; column++) {
		if (column != COLUMN_COUNT && !column_is_looked_up(column) && !is_twice(column))
			add_column(ui, choices, column);
	}
	tell(choices, first, FOUND_COLUMN, "sort by");
	add_keys(choices, 0, ACTION_OPEN);
}

static bool tab_has(const struct ui *ui, enum tab tab, unsigned int column)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = column_list(tab, ui->view.level == VIEW_LEVEL_THREADS, 0, COLUMN_COUNT, columns);

	return column_list_has(columns, count, column);
}

/* Sorts by a column on the first tab that has it, where this one has not. */
static void sort_where_it_is(struct ui *ui, unsigned int column)
{
	size_t place = 0;

	if (ui->comparison == NULL && !tab_has(ui, ui->view.tab, column)) {
		while (place < tab_count() && !tab_has(ui, tab_at(place), column))
			place++;
		if (place < tab_count())
			navigate_to_tab(ui, tab_at(place));
	}
	navigate_sort(ui, column);
}

static enum action do_found(struct ui *ui, unsigned int id)
{
	const unsigned int number = id & ~(unsigned int)FOUND_MASK;

	switch ((enum found)(id & FOUND_MASK)) {
	case FOUND_TAB:
		navigate_to_tab(ui, (enum tab)number);
		break;
	case FOUND_AXIS:
		navigate_axis(ui, (enum axis)number);
		break;
	case FOUND_COLUMN:
		sort_where_it_is(ui, number);
		break;
	default:
		return (enum action)number;
	}
	return ACTION_NONE;
}

void screen_chooser_open_palette(struct ui *ui)
{
	static const struct chooser_use use = {
		.words = {.title = "Find", .noun = "key, tab, grouping or column", .by_words = true},
		.make = make_palette,
		.choose = do_found,
	};

	open_chooser(ui, &use);
}
