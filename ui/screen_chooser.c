/* SPDX-License-Identifier: GPL-2.0-only */
/* The menus that typing narrows: columns to sort by, and what to group by. */
#include "screen.h"

#include <string.h>

#include "base/memory.h"

/* --- any of them --- */

/* The caller releases them. */
static void make(const struct ui *ui, struct choices *choices)
{
	*choices = (struct choices){.count = 0};
	ui->choosing->make(ui, choices);
	choices_narrow(choices, &ui->chooser, &ui->choosing->words);
}

void screen_chooser_open(struct ui *ui, const struct chooser_use *use)
{
	struct choices choices;

	ui->overlay = OVERLAY_CHOOSER;
	ui->choosing = use;
	*ui->chooser.typed = '\0';
	make(ui, &choices);
	chooser_open(&ui->chooser, &choices, use->present != NULL ? use->present(ui) : 0);
	choices_release(&choices);
}

void screen_chooser_move(struct ui *ui)
{
	struct choices choices;

	make(ui, &choices);
	chooser_move(&ui->chooser, ui->action, &choices);
	choices_release(&choices);
}

/* Says what is wrong with what was typed; nothing where a choice is marked. */
static void tell_missing(struct ui *ui, const struct choices *choices)
{
	const struct chooser_words *words = &ui->choosing->words;

	if (chooser_marked(&ui->chooser, choices) != NULL)
		return;
	if (choices->matching != 0)
		screen_message(ui, STYLE_MESSAGE,
			       "no %s is called '%s': Down chooses one that is described with it",
			       words->noun, ui->chooser.typed);
	else
		screen_message(ui, STYLE_MESSAGE, "no %s has '%s' in its title, name or description",
			       words->noun, ui->chooser.typed);
}

/* After something was typed, or taken back. */
static void narrow(struct ui *ui)
{
	struct choices choices;

	make(ui, &choices);
	chooser_mark(&ui->chooser, &choices, &ui->choosing->words);
	tell_missing(ui, &choices);
	choices_release(&choices);
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
	enum action action = ACTION_NONE;
	const struct choice *choice;
	struct choices choices;

	make(ui, &choices);
	choice = chooser_marked(&ui->chooser, &choices);
	if (choice != NULL) {
		ui->overlay = OVERLAY_NONE;
		action = ui->choosing->choose(ui, choice->id);
	} else {
		tell_missing(ui, &choices);
	}
	choices_release(&choices);
	return action;
}

int screen_chooser_draw(struct ui *ui, struct area area)
{
	struct choices choices;
	int row;

	make(ui, &choices);
	row = chooser_draw(&ui->chooser, &choices, &ui->choosing->words, area.y, area.height, area.width);
	choices_release(&choices);
	return row;
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
	return column < COMPARE_COLUMN_ID(COMPARE_COLUMN_COUNT)
		       ? compare_columns[column - COLUMN_TOTAL].description
		       : NULL;
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
	for (size_t i = 0; i < count; i++) {
		const bool compared = columns[i] >= COLUMN_TOTAL;
		struct choice *choice = choices_add(choices);

		*choice = (struct choice){
			.id = columns[i],
			.title = compared ? compare_columns[columns[i] - COLUMN_TOTAL].title
					  : column_title((enum column)columns[i], ui->view.mode),
			.name = compared ? NULL : column_name((enum column)columns[i]),
			.description = screen_chooser_description(columns[i]),
		};
		add_why(ui, choice, &choices->arena);
	}
}

static unsigned int sort_column(const struct ui *ui)
{
	return ui->view.sort_by_name    ? COLUMN_COUNT
	       : ui->comparison != NULL ? COMPARE_COLUMN_ID(ui->view.compare_sort)
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

	screen_chooser_open(ui, &use);
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

	screen_chooser_open(ui, &use);
}
