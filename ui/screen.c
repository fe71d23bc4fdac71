/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
	MESSAGE_ROWS_MAX = 5,
	/* below this height the message takes the place of the hints */
	SEPARATE_MESSAGE_HEIGHT = 12,
	ROWS_WANTED = 9, /* the header gives its lines up so that so many are left for the rest */
};

unsigned int screen_place(const struct ui *ui)
{
	if (ui->prompting != NULL)
		return PLACE_PROMPT;
	if (ui->overlay == OVERLAY_SORT)
		return PLACE_MENU;
	if (ui->overlay != OVERLAY_NONE)
		return PLACE_TEXT;
	return ui->metrics_open ? PLACE_METRICS : PLACE_LIST;
}

void screen_message(struct ui *ui, enum style style, const char *format, ...)
{
	va_list arguments;
	char text[2048];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buffer_clear(&ui->message);
	buffer_append_text(&ui->message, text);
	ui->message_style = style;
	ui->message_pending = false;
}

static int header_lines(struct ui *ui)
{
	int lines = draw_screen_height() - ROWS_WANTED;
	int most = ui->content->header_lines(ui);

	if (ui->header_hidden)
		return 0;
	return lines < 1 ? 1 : lines > most ? most : lines;
}

/* Cells that the hint of an action takes: "key hint". */
static int hint_width(enum action action)
{
	const struct key_entry *entry = &ui_keys[action];

	return (int)strcspn(entry->keys, " ") + 1 + (int)strlen(entry->hint + (*entry->hint == '!'));
}

static int draw_hint(int y, int x, enum action action)
{
	const struct key_entry *entry = &ui_keys[action];
	size_t key = strcspn(entry->keys, " ");

	x += draw_text(y, x, (int)key, STYLE_KEY, entry->keys, key) + 1;
	return x + draw_string(y, x, draw_screen_width(), STYLE_DIM, entry->hint + (*entry->hint == '!'));
}

/* Whether the host can do what an action asks for. */
static bool is_possible(const struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_SAVE:
		return ui->host->request_save != NULL || ui->host->write_report != NULL;
	case ACTION_PAUSE:
		return ui->host->set_paused != NULL;
	default:
		return ui->content->offers(ui, action);
	}
}

static bool has_hint(const struct ui *ui, enum action action, unsigned int place, bool pinned)
{
	const struct key_entry *entry = &ui_keys[action];

	return entry->hint != NULL && (entry->where & place) != 0 && (*entry->hint == '!') == pinned &&
	       is_possible(ui, action);
}

static void draw_hints(const struct ui *ui, int y)
{
	unsigned int place = screen_place(ui);
	int width = draw_screen_width() - 1, x = 1;

	for (enum action action = 0; action < ACTION_COUNT; action++) {
		if (has_hint(ui, action, place, true))
			width -= hint_width(action) + 2;
	}
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		if (has_hint(ui, action, place, false) && x + hint_width(action) <= width)
			x = draw_hint(y, x, action) + 2;
	}
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		if (has_hint(ui, action, place, true))
			x = draw_hint(y, x, action) + 2;
	}
}

/* Draws the message with its last row at `y`; a long one takes the rows above it too. */
static void draw_message(const struct ui *ui, int y)
{
	int width = draw_screen_width();
	struct pager pager = {0};
	struct buffer text = {0};
	int rows;

	buffer_append_char(&text, ' ');
	buffer_append(&text, ui->message.data, ui->message.length);
	buffer_append_char(&text, ' ');
	if (draw_width(text.data, text.length) <= width) {
		draw_text(y, 0, width, ui->message_style, text.data, text.length);
	} else {
		pager_add_lines(&pager, ui->message_style, ui->message.data, ui->message.length);
		rows = (int)pager_rows(&pager, width - 2);
		rows = rows < MESSAGE_ROWS_MAX ? rows : MESSAGE_ROWS_MAX;
		for (int i = 0; i < rows; i++)
			draw_fill(y - i, 0, width, ui->message_style);
		pager_draw(&pager, y - rows + 1, 1, rows, width - 2);
	}
	pager_release(&pager);
	buffer_release(&text);
}

/* The line being typed; while there is nothing in it, what could be. */
static int draw_prompt(const struct ui *ui, int y)
{
	int width = draw_screen_width();
	int cursor = prompt_draw(&ui->prompt, y, 0, width, ui->prompting->label);

	if (ui->prompt.text.length == 0)
		draw_string(y, cursor + 2, width - cursor - 2, STYLE_DIM, ui->prompting->example);
	return cursor;
}

/* Draws prompt, message and hints in the last lines; returns how many of them, and the cell of the prompt's
 * cursor. */
static int draw_bottom(struct ui *ui, int *ret_cursor)
{
	int height = draw_screen_height();
	bool separate = height >= SEPARATE_MESSAGE_HEIGHT;
	int y = separate ? height - 2 : height - 1;

	if (separate || (ui->prompting == NULL && ui->message.length == 0))
		draw_hints(ui, height - 1);
	if (ui->prompting != NULL) {
		*ret_cursor = draw_prompt(ui, y);
		/* what is wrong with the text stands above it */
		if (ui->message.length != 0)
			draw_message(ui, y - 1);
	} else if (ui->message.length != 0) {
		draw_message(ui, y);
	} else if (separate && screen_place(ui) == PLACE_LIST) {
		ui->content->draw_note(ui, y);
	}
	return separate ? 2 : 1;
}

static void draw_too_small(void)
{
	char text[128];
	int width = draw_screen_width();
	size_t offset = 0;

	snprintf(text, sizeof(text), "The screen is %dx%d; ctop needs %dx%d.", width, draw_screen_height(),
		 SCREEN_WIDTH_MIN, SCREEN_HEIGHT_MIN);
	for (int y = 0; y < draw_screen_height() && offset < strlen(text); y++) {
		size_t length = strlen(text + offset) < (size_t)width ? strlen(text + offset) : (size_t)width;

		draw_text(y, 0, width, STYLE_NORMAL, text + offset, length);
		offset += length;
	}
}

/* Draws what fills the screen between header and bottom; returns the row of the cursor. */
static int draw_body(struct ui *ui, struct area area)
{
	int row = area.y;

	if (ui->overlay == OVERLAY_HELP || ui->overlay == OVERLAY_EVIDENCE) {
		screen_pages_draw(ui, area, row);
		return row;
	}
	row = ui->metrics_open ? screen_metrics_draw(ui, area) : screen_list_draw(ui, area);
	if (ui->overlay == OVERLAY_EXPLAIN)
		screen_pages_draw(ui, area, row);
	else if (ui->overlay == OVERLAY_SORT)
		row = screen_sort_draw(ui, area);
	return row;
}

void screen_draw(struct ui *ui)
{
	struct area area = {.width = draw_screen_width()};
	int bottom, row, cursor = 0;

	draw_begin();
	if (draw_screen_width() < SCREEN_WIDTH_MIN || draw_screen_height() < SCREEN_HEIGHT_MIN) {
		draw_too_small();
		draw_end(0, 0);
		return;
	}
	area.y = header_lines(ui);
	ui->content->draw_header(ui, area.y);
	area.height = draw_screen_height() - area.y -
		      (draw_screen_height() >= SEPARATE_MESSAGE_HEIGHT ? 2 : 1);
	row = draw_body(ui, area);
	bottom = draw_bottom(ui, &cursor);
	draw_end(ui->prompting != NULL ? draw_screen_height() - bottom : row, cursor);
}
