/* SPDX-License-Identifier: GPL-2.0-only */
/* Searching rows by their names and command lines: while typing, and from match to match. */
#include "screen.h"

#include <stdlib.h>

#include "base/memory.h"

/* The first row from `from` on, in steps of 1 or back in steps of -1, whose name or
 * command line has the text, over the end
 * of the list too; SIZE_MAX for none. */
static size_t find_match(const struct ui *ui, const char *text, size_t from, bool back)
{
	const size_t count = ui->table->row_count;

	for (size_t i = 0; i < count; i++) {
		const size_t row = back ? (from + count - i % count) % count : (from + i) % count;

		if (screen_lookup_row_has(ui, &ui->table->rows[row], text))
			return row;
	}
	return SIZE_MAX;
}

static void go_to(struct ui *ui, size_t row)
{
	list_select(&ui->list, ui->table->rows[row].key, ui->table->rows[row].key_length);
}

static void change(struct ui *ui, const char *text)
{
	size_t row;

	list_return(&ui->list, &ui->prompt_place);
	row = *text != '\0' ? find_match(ui, text, ui->list.selected, false) : SIZE_MAX;
	if (row != SIZE_MAX)
		go_to(ui, row);
	free(ui->search);
	ui->search = *text != '\0' ? memory_duplicate(text) : NULL;
}

static void tell_missing(struct ui *ui, const char *text)
{
	screen_message(ui, STYLE_MESSAGE, "no row has '%s' in its name or command line%s", text,
		       ui->table->row_idle != 0 ? "; idle rows are hidden (a shows them)" : "");
}

static bool accept(struct ui *ui, const char *text)
{
	change(ui, text);
	if (ui->search != NULL && find_match(ui, text, 0, false) == SIZE_MAX)
		tell_missing(ui, text);
	return true;
}

void screen_search_open(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "search: ",
		.topic = PROMPT_TOPIC_SEARCH,
		.example = "part of a name or command line; n and N go on",
		.accept = accept,
		.changed = change,
		.cancelled = change,
	};

	screen_search_end(ui);
	screen_lookup_read_commands(ui);
	screen_open_prompt(ui, &use, "");
}

bool screen_search_end(struct ui *ui)
{
	const bool active = ui->search != NULL;

	free(ui->search);
	ui->search = NULL;
	return active;
}

void screen_search_next(struct ui *ui, bool back)
{
	const size_t count = ui->table->row_count;
	size_t row = SIZE_MAX;

	if (count != 0)
		row = find_match(ui, ui->search, (ui->list.selected + (back ? count - 1 : 1)) % count, back);
	if (row != SIZE_MAX)
		go_to(ui, row);
	else
		tell_missing(ui, ui->search);
}
