/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of a tab's columns over the list of rows. */
#include "screen.h"
#include "table/column_list.h"

#include <string.h>

void screen_setup_open(struct ui *ui)
{
	const struct view *view = &ui->view;
	const bool threads = view->level == VIEW_LEVEL_THREADS;
	enum column columns[COLUMN_TOTAL];
	size_t count = view->column_count;

	/* all columns of the tab, those too that the width leaves out, but not what only the order added */
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
	setup_open(&ui->setup, view->tab, threads, columns, count);
}

void screen_setup_close(struct ui *ui)
{
	ui->setup.open = false;
}

void screen_setup_change(struct ui *ui)
{
	switch (ui->action) {
	case ACTION_SETUP_TOGGLE:
		setup_toggle(&ui->setup);
		break;
	case ACTION_SETUP_LEFT:
	case ACTION_SETUP_RIGHT:
		setup_shift(&ui->setup, ui->action == ACTION_SETUP_LEFT);
		break;
	case ACTION_SETUP_SORT:
		setup_sort(&ui->setup);
		break;
	case ACTION_SETUP_RESET:
		setup_reset(&ui->setup);
		break;
	default:
		break;
	}
}

/* Shows what was chosen; false, with the reason, if that cannot be. */
static bool apply(struct ui *ui, enum tab tab)
{
	struct error error;

	if (setup_apply(&ui->setup, tab, &error) < 0) {
		screen_message(ui, STYLE_ERROR, "%s", error.text);
		return false;
	}
	/* what is chosen now counts more than the command line */
	if (tab == ui->columns_given.tab)
		ui->columns_given.items = NULL;
	ui->view.columns = NULL;
	navigate_to_tab(ui, tab);
	return true;
}

void screen_setup_apply(struct ui *ui)
{
	if (apply(ui, ui->setup.tab))
		ui->setup.open = false;
}

static void find(struct ui *ui, const char *text)
{
	if (*text != '\0' && !setup_find(&ui->setup, text))
		screen_message(ui, STYLE_ERROR, "no column has '%s' in its title, name or description", text);
}

static void accept_find(struct ui *ui, const char *text)
{
	find(ui, text);
	ui->prompting = NULL;
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

static void accept_name(struct ui *ui, const char *text)
{
	struct error error;
	enum tab tab = ui->setup.tab; /* apply() refuses a tab without a column, and no other is made */

	if (*text == '\0') {
		ui->prompting = NULL;
		return;
	}
	if (ui->setup.chosen != 0 && tab_add(text, &tab, &error) < 0) {
		screen_message(ui, STYLE_ERROR, "%s", error.text);
		return;
	}
	ui->prompting = NULL;
	if (!apply(ui, tab))
		return;
	ui->setup.tab = tab;
	screen_message(ui, STYLE_MESSAGE, "the tab %s lasts until ctop ends; w writes it to the file", text);
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
	if (ui->options->config_path == NULL || ui->host->write_tab == NULL) {
		screen_message(ui, STYLE_ERROR,
			       "there is no home directory with a configuration file to write to");
		return;
	}
	if (!apply(ui, ui->setup.tab))
		return;
	ui->setup.open = false;
	screen_message(ui, STYLE_MESSAGE, "writing %s%s", ui->options->config_path, draw_marks()->resolving);
	ui->message_pending = true;
	ui->host->write_tab(ui->host->file_context, ui->options->config_path, ui->view.tab);
}
