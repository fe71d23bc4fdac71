/* SPDX-License-Identifier: GPL-2.0-only */
/* The last lines: what is being typed, a message, and hints for keys. */
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "ui/terminal/terminal.h"

enum {
	MESSAGE_ROWS_MAX = 5,
	/* below this height the message is shown instead of the hints */
	SEPARATE_MESSAGE_HEIGHT = 12,
};

unsigned int screen_place(const struct ui *ui)
{
	if (ui->prompting != NULL)
		return PLACE_PROMPT;
	if (ui->overlay == OVERLAY_CHOOSER || ui->overlay == OVERLAY_USERS)
		return PLACE_MENU;
	return ui->overlay != OVERLAY_NONE ? PLACE_TEXT : ui->page;
}

struct list *screen_rows(struct ui *ui)
{
	return ui->page == PLACE_LIST ? &ui->list : &ui->page_list;
}

void screen_open_page(struct ui *ui, unsigned int page)
{
	screen_close_page(ui);
	ui->page = page;
	list_note_place(&ui->list, &ui->page_row);
}

void screen_close_page(struct ui *ui)
{
	ui->page = PLACE_LIST;
	list_release_place(&ui->page_row);
	list_reset(&ui->page_list);
	table_release(ui->page_table);
	ui->page_table = NULL;
	free(ui->metrics.name);
	buffer_release(&ui->metrics.waits_for);
	ui->metrics = (struct metrics_page){.is_unfolded = ui->metrics.is_unfolded};
	graph_close(&ui->graph);
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

void screen_open_prompt(struct ui *ui, const struct prompt_use *use, const char *text)
{
	ui->prompting = use;
	prompt_history_begin(&ui->histories[use->topic]);
	prompt_set(&ui->prompt, text);
	free(ui->prompt_before);
	ui->prompt_before = memory_duplicate(text);
	list_note_place(&ui->list, &ui->prompt_place);
	ui->prompt.is_offered = use->topic == PROMPT_TOPIC_FILE;
	terminal_show_cursor(true);
}

/* Whether what is shown stands still or goes on because of Space. */
static bool is_stopped(const struct ui *ui)
{
	return ui->past.open ? ui->past.plays : ui->settings.paused;
}

/* The places of hints on the line: those of one are shown before those of the next. */
enum hint_place {
	HINT_FIRST, /* goes on with what Space has stopped, or stops what it plays */
	HINT_ORDINARY,
	HINT_LAST, /* always shown */
	HINT_PLACES,
};

static enum hint_place hint_place(const struct ui *ui, enum action action)
{
	if (*ui_keys[action].hint == '!')
		return HINT_LAST;
	return action == ACTION_PAUSE && is_stopped(ui) ? HINT_FIRST : HINT_ORDINARY;
}

static const char *hint_text(const struct ui *ui, enum action action)
{
	const char *hint = ui_keys[action].hint;

	if (action == ACTION_PAUSE && ui->past.open)
		return ui->past.plays ? "stop" : "play";
	if (action == ACTION_PAUSE && ui->settings.paused)
		return "resume";
	return hint + (*hint == '!');
}

/* Cells that the hint of an action takes: "key hint". */
static int hint_width(const struct ui *ui, enum action action)
{
	const struct key_entry *entry = &ui_keys[action];

	return (int)strcspn(entry->keys, " ") + 1 + (int)strlen(hint_text(ui, action));
}

static int draw_hint(const struct ui *ui, int y, int x, enum action action)
{
	const struct key_entry *entry = &ui_keys[action];
	size_t key = strcspn(entry->keys, " ");

	x += draw_text(y, x, (int)key, STYLE_KEY, entry->keys, key) + 1;
	return x + draw_string(y, x, draw_screen_width(), STYLE_DIM, hint_text(ui, action));
}

bool screen_has_report(const struct ui *ui)
{
	return ui_offers(ui->host, UI_REQUEST_REPORT) &&
	       (ui->comparison != NULL || ui->options->file_name != NULL);
}

bool screen_has_courses(const struct ui *ui)
{
	return ui->comparison == NULL && ui_is_live(ui->host) && !ui->past.open;
}

/* Whether Esc leads back to what was shown before. */
static bool leads_back(const struct ui *ui)
{
	return ui->search != NULL || ui->view.step_count != 0 || ui->past.live != NULL ||
	       (ui->comparison != NULL && (ui_is_live(ui->host) || ui->past.open));
}

/* Whether an action is of use for what is shown. */
static bool is_possible(const struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_SAVE:
		return ui_offers(ui->host, UI_REQUEST_SAVE) || screen_has_report(ui);
	case ACTION_BACK:
		return leads_back(ui);
	case ACTION_SORT_LOST:
		return ui->comparison == NULL && (ui->view.sort_by_name || ui->view.sort != COLUMN_LOST);
	case ACTION_EXPLAIN: /* of a metric Enter does it */
		return ui->page != PLACE_METRICS;
	case ACTION_GRAPH:
		return screen_has_courses(ui);
	case ACTION_IDLE:
		return ui->comparison == NULL;
	case ACTION_KERNEL_THREADS: /* what was opened is of one kind */
		return ui->comparison == NULL && ui->view.step_count == 0;
	case ACTION_QUIT: /* room for the way back */
		return !leads_back(ui);
	case ACTION_PAUSE:
		return ui_is_live(ui->host) || ui->past.open;
	case ACTION_COMPARE:
		return ui->comparison == NULL && ui_offers(ui->host, UI_REQUEST_FILE);
	case ACTION_SWAP:
	case ACTION_EQUAL:
		return ui->comparison != NULL;
	case ACTION_BASE:
		return ui->comparison == NULL && (ui->past.open || ui_offers(ui->host, UI_REQUEST_BASE));
	case ACTION_MODE:
		return ui->comparison != NULL || ui->options->file_name == NULL ||
		       session_previous(ui->session) != NULL;
	default:
		return true;
	}
}

static bool has_hint(const struct ui *ui, enum action action, enum hint_place place)
{
	const struct key_entry *entry = &ui_keys[action];

	return entry->hint != NULL && (entry->where & screen_place(ui)) != 0 &&
	       hint_place(ui, action) == place && is_possible(ui, action);
}

static void draw_hints(const struct ui *ui, int y)
{
	int width = draw_screen_width() - 1, x = 1;

	for (enum action action = 0; action < ACTION_COUNT; action++) {
		if (has_hint(ui, action, HINT_LAST))
			width -= hint_width(ui, action) + 2;
	}
	for (enum hint_place place = 0; place < HINT_PLACES; place++) {
		for (enum action action = 0; action < ACTION_COUNT; action++) {
			if (has_hint(ui, action, place) &&
			    (place == HINT_LAST || x + hint_width(ui, action) <= width))
				x = draw_hint(ui, y, x, action) + 2;
		}
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
		/* a row of the list may be below it */
		draw_fill(y, 0, width, STYLE_NORMAL);
		draw_text(y, 0, width, ui->message_style, text.data, text.length);
	} else {
		pager_add_lines(&pager, ui->message_style, ui->message.data, ui->message.length);
		rows = (int)pager_rows(&pager, width - 2);
		rows = rows < MESSAGE_ROWS_MAX ? rows : MESSAGE_ROWS_MAX;
		for (int i = 0; i < rows; i++)
			draw_fill(y - i, 0, width, ui->message_style);
		pager_draw_start(&pager, y - rows + 1, 1, rows, width - 2);
	}
	pager_release(&pager);
	buffer_release(&text);
}

/* The line being typed; until something is, an example behind it. */
static int draw_prompt(const struct ui *ui, int y)
{
	int width = draw_screen_width();
	int cursor = prompt_draw(&ui->prompt, y, 0, width, ui->prompting->label);

	if (ui->prompt.text.length == 0 || ui->prompt.is_offered)
		draw_string(y, cursor + 2, width - cursor - 2, STYLE_DIM, ui->prompting->example);
	return cursor;
}

/* The number of rows out of sight, where the list has no lines to say so. */
static void draw_others(const struct ui *ui, int y)
{
	const struct list_others *others = &ui->list.others;
	struct buffer text = {0};

	if (!others->announced)
		draw_append_others(&text, others->above, others->below);
	if (text.length != 0)
		draw_right(y, 0, draw_screen_width() - 1, STYLE_STRONG, text.data);
	buffer_release(&text);
}

/* Prompts, menus and pages say which keys leave them even where the list is to have all lines. */
static bool has_hints(const struct ui *ui)
{
	return ui->frame != SCREEN_FRAME_ROWS || (screen_place(ui) & PLACE_ROWS) == 0;
}

int screen_bottom_lines(const struct ui *ui)
{
	return draw_screen_height() >= SEPARATE_MESSAGE_HEIGHT && has_hints(ui) ? 2 : 1;
}

int screen_bottom_draw(struct ui *ui)
{
	bool hints = has_hints(ui), separate = screen_bottom_lines(ui) == 2;
	int height = draw_screen_height(), y = height - screen_bottom_lines(ui);
	int cursor = 0;

	if (separate || (hints && ui->prompting == NULL && ui->message.length == 0))
		draw_hints(ui, height - 1);
	if (ui->prompting != NULL) {
		cursor = draw_prompt(ui, y);
		/* an error in the text stands above it */
		if (ui->message.length != 0)
			draw_message(ui, y - 1);
	} else if (ui->message.length != 0) {
		draw_message(ui, y);
	} else if ((separate || !hints) && screen_place(ui) == PLACE_LIST) {
		draw_others(ui, y);
		ui->content->draw_note(ui, y);
	}
	return cursor;
}
