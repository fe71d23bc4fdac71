/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "report/report.h"
#include "snapshot/snapshot.h"

#include "ui/terminal/terminal.h"

enum {
	WHEEL_ROWS = 3, /* that a step of the wheel scrolls by */
};

/* --- rows, pages and menus --- */

static void move_rows(struct ui *ui)
{
	if (ui->overlay == OVERLAY_CHOOSER)
		menu_move(&ui->chooser.menu, ui->action, ui->chooser.choices.matching);
	else if (ui->overlay == OVERLAY_USERS)
		menu_move(&ui->users.menu, ui->action, ui->users.count + 1);
	else if (ui->overlay != OVERLAY_NONE)
		pager_move(&ui->pager, ui->action);
	else if (ui->page == PLACE_SETUP)
		menu_move(&ui->setup.menu, ui->action, ui->setup.count);
	else
		list_move(screen_rows(ui), ui->action);
}

/* Leaves in ui->action what else is to be done. */
static void choose(struct ui *ui)
{
	if (ui->overlay == OVERLAY_USERS) {
		screen_users_choose(ui);
		ui->action = ACTION_NONE;
	} else {
		ui->action = screen_chooser_choose(ui);
	}
}

static void close_top(struct ui *ui)
{
	/* they need sources that the list may not need */
	const bool changes_needs = ui->overlay == OVERLAY_USERS ||
				   (ui->overlay == OVERLAY_NONE && ui->page == PLACE_METRICS);

	if (ui->overlay != OVERLAY_NONE) {
		ui->overlay = OVERLAY_NONE;
	} else {
		/* the cursor goes to the row that the page was about, wherever that is by now */
		if (ui->page_row.key != NULL)
			list_select(&ui->list, ui->page_row.key, ui->page_row.key_length);
		screen_close_page(ui);
	}
	if (changes_needs)
		navigate_tell_host(ui);
}

/* Backspace takes back what was typed first. */
static void close_menu(struct ui *ui)
{
	if (ui->overlay == OVERLAY_CHOOSER)
		screen_chooser_close(ui);
	else
		close_top(ui);
}

/* Leaves the row that was opened last; at the top, on a live screen, the comparison or the past. */
static void go_back(struct ui *ui)
{
	if (screen_search_end(ui))
		return;
	if (navigate_back(ui))
		return;
	if (ui->comparison == NULL)
		look_leave(ui);
	else if (ui_is_live(ui->host) || ui->past.open)
		screen_comparison_leave(ui);
}

static void mark_left(struct ui *ui)
{
	if (list_mark_left(screen_rows(ui)))
		return;
	if (screen_place(ui) == PLACE_LIST)
		go_back(ui);
	else
		close_top(ui);
}

static void mark_right(struct ui *ui)
{
	if (screen_place(ui) == PLACE_LIST)
		navigate_right(ui);
	else
		list_mark_right(screen_rows(ui));
}

static void mark_end(struct ui *ui)
{
	list_mark_end(screen_rows(ui), ui->action == ACTION_LAST_COLUMN);
}

/* --- the view --- */

static void change_mode(struct ui *ui)
{
	ui->content->change_mode(ui);
	screen_metrics_refresh(ui);
	screen_blame_refresh(ui);
}

static void find_next(struct ui *ui)
{
	if (ui->search == NULL && ui->past.open)
		look_at_mark(ui, ui->action == ACTION_SORT_NAME);
	else if (ui->search != NULL)
		screen_search_next(ui, ui->action == ACTION_SORT_NAME);
	else
		screen_message(ui, STYLE_MESSAGE,
			       "n goes to the next match: F3 searches, x switches patterns");
}

/* While something is searched for, N goes to the match before; while looking back, to the mark. */
static void sort_by_name(struct ui *ui)
{
	if (ui->search != NULL || ui->past.open)
		find_next(ui);
	else
		navigate_sort(ui, COLUMN_COUNT);
}

static void sort_by(struct ui *ui)
{
	static const struct {
		enum action action;
		enum column column;
	} columns[] = {
		{ACTION_SORT_CPU, COLUMN_CPU},       {ACTION_SORT_LOST, COLUMN_LOST},
		{ACTION_SORT_MEMORY, COLUMN_RSS},    {ACTION_SORT_MEMORY_WAIT, COLUMN_MWAIT},
		{ACTION_SORT_READ_WRITE, COLUMN_RW}, {ACTION_SORT_ALLOCATED, COLUMN_ALLOC},
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (columns[i].action == ui->action)
			navigate_sort(ui, columns[i].column);
	}
}

static void open_page(struct ui *ui)
{
	enum overlay page = ui->action == ACTION_HELP       ? OVERLAY_HELP
			    : ui->action == ACTION_EVIDENCE ? OVERLAY_EVIDENCE
							    : OVERLAY_EXPLAIN;

	/* the key that opened a page closes it too */
	if (ui->overlay == page)
		ui->overlay = OVERLAY_NONE;
	else
		screen_pages_open(ui, page);
}

/* What a row of the metrics stands for: an explanation, or those folded into it. */
static void open_metric(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->page_list);

	if (row != NULL && row->key_length == strlen(METRICS_FOLDED) &&
	    memcmp(row->key, METRICS_FOLDED, row->key_length) == 0)
		screen_metrics_fold(ui);
	else
		screen_pages_open(ui, OVERLAY_EXPLAIN);
}

/* --- the host --- */

static void set_base(struct ui *ui)
{
	if (ui->past.open && ui->comparison == NULL) {
		look_set_base(ui);
		return;
	}
	if (ui->comparison != NULL || !ui_offers(ui->host, UI_REQUEST_BASE)) {
		screen_message(ui, STYLE_MESSAGE,
			       ui->comparison != NULL ? "a comparison counts from the file; D leaves it"
						      : "a file has no later round to count from");
		return;
	}
	screen_message(ui, STYLE_MESSAGE, "taking a full round for the base%s", draw_marks()->resolving);
	ui->message_pending = true;
	(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_BASE});
}

static void toggle_pause(struct ui *ui)
{
	if (ui->past.open) {
		look_play(ui);
		return;
	}
	if (!ui_is_live(ui->host)) {
		screen_message(ui, STYLE_MESSAGE, "a file does not change");
		return;
	}
	ui->settings.paused = !ui->settings.paused;
	navigate_tell_host(ui);
}

/* Goes to the tab that shows what was switched on. */
static void toggle_latency(struct ui *ui)
{
	if (ui->past.open) {
		screen_message(ui, STYLE_MESSAGE,
			       "cannot measure the past; the tab Latency shows what was measured then");
		return;
	}
	if (!ui->host->has_latency) {
		screen_message(ui, STYLE_MESSAGE,
			       "cannot measure in a file; the tab Latency shows what it holds");
		return;
	}
	ui->settings.latency = !ui->settings.latency;
	screen_message(ui, STYLE_MESSAGE, "measuring latency is %s%s", ui->settings.latency ? "on" : "off",
		       ui->settings.paused ? ", once the screen goes on (Space)" : "");
	/* a page stays with its row */
	if (ui->settings.latency && ui->comparison == NULL && ui->view.tab != TAB_LATENCY &&
	    (ui->page == PLACE_LIST || ui->page == PLACE_SETUP))
		navigate_to_tab(ui, TAB_LATENCY);
	else
		navigate_tell_host(ui);
}

static void toggle_heap(struct ui *ui)
{
	if (ui->past.open) {
		look_ask(ui);
		return;
	}
	if (!ui->host->has_heap) {
		screen_message(ui, STYLE_MESSAGE,
			       ui->options->file_name != NULL
				       ? "a file has what the allocator probe read at the time"
				       : "ctop was started without the allocator probe (--no-heap)");
		return;
	}
	ui->settings.heap_off = !ui->settings.heap_off;
	navigate_tell_host(ui);
	screen_message(ui, STYLE_MESSAGE, "allocator probe %s%s", ui->settings.heap_off ? "off" : "on",
		       ui->settings.paused ? ", once the screen goes on (Space)" : "");
}

static bool write_report(struct ui *ui, const char *path)
{
	enum report_format format;
	struct error error = {"the first round is still being read"};

	if (*path == '\0')
		return true;
	if (report_format_of_file(path, &format, &error) < 0 || session_now(ui->session) == NULL) {
		screen_message(ui, STYLE_ERROR, "%s", error.text);
		return false;
	}
	(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_REPORT,
							.text = path,
							.report = ui->content->subject(ui)});
	screen_message(ui, STYLE_MESSAGE, "writing %s%s", path, draw_marks()->resolving);
	return true;
}

/* A name beside the file, or of both: what is read from it is there already. */
static void append_report_name(const struct ui *ui, struct buffer *name)
{
	const char *files[] = {ui->comparison != NULL ? basename(ui->before_name) : NULL, screen_name(ui)};

	for (size_t i = 0; i < 2; i++) {
		const char *ending = files[i] != NULL ? strstr(files[i], ".ctprof") : NULL;

		if (files[i] == NULL)
			continue;
		buffer_append(name, files[i],
			      ending != NULL ? (size_t)(ending - files[i]) : strlen(files[i]));
		buffer_append_text(name, i == 0 ? "-to-" : report_format_endings[REPORT_FORMAT_HTML]);
	}
}

static void open_report_prompt(struct ui *ui)
{
	struct buffer name = {0};
	static char example[128];
	static const struct prompt_use use = {
		.label = "report: ",
		.topic = PROMPT_TOPIC_FILE,
		.example = example,
		.accept = write_report,
	};
	struct buffer endings = {0};

	buffer_append_list(&endings, report_format_endings, REPORT_FORMAT_COUNT, "or");
	snprintf(example, sizeof(example), "a path that ends in %s", endings.data);
	buffer_release(&endings);
	if (ui->unwritten != NULL)
		buffer_append_text(&name, ui->unwritten);
	else
		append_report_name(ui, &name);
	screen_open_prompt(ui, &use, name.data);
	buffer_release(&name);
}

void actions_take_report(struct ui *ui, struct ui_event *event)
{
	screen_message(ui, event->is_error ? STYLE_ERROR : STYLE_MESSAGE, "%s", event->message);
	free(ui->unwritten);
	ui->unwritten = event->path;
	event->path = NULL;
}

static void save(struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);

	if (screen_has_report(ui)) {
		open_report_prompt(ui);
		return;
	}
	if (!ui_offers(ui->host, UI_REQUEST_SAVE)) {
		screen_message(ui, STYLE_MESSAGE, "this is already a saved file");
		return;
	}
	if (now == NULL) {
		screen_message(ui, STYLE_MESSAGE, "nothing has been read yet");
		return;
	}
	screen_message(ui, STYLE_MESSAGE, "saving%s", draw_marks()->resolving);
	ui->message_pending = true;
	(void)ui_request(ui->host, &(struct ui_request){
					   .kind = UI_REQUEST_SAVE,
					   .save = {now, session_save_window(ui->session, ui->view.mode)}});
}

static void change_interval(struct ui *ui)
{
	static const uint64_t steps_ms[] = {500, 1000, 2000, 5000, 10000, 30000, 60000};
	const uint64_t interval_ns = ui->settings.interval_ns;
	uint64_t chosen = interval_ns;
	struct buffer text = {0};

	if (ui->past.open) {
		look_change_speed(ui);
		return;
	}
	if (!ui_is_live(ui->host)) {
		screen_message(ui, STYLE_MESSAGE, "a file has no interval");
		return;
	}
	for (size_t i = 0; i < sizeof(steps_ms) / sizeof(steps_ms[0]); i++) {
		uint64_t step = steps_ms[i] * NS_PER_MS;

		if (ui->action == ACTION_LONGER && step > interval_ns && chosen == interval_ns)
			chosen = step;
		else if (ui->action == ACTION_SHORTER && step < interval_ns)
			chosen = step;
	}
	if (chosen == interval_ns)
		return;
	ui->settings.interval_ns = chosen;
	navigate_tell_host(ui);
	humanize_duration(&text, (double)chosen);
	screen_message(ui, STYLE_MESSAGE, "a round every %s", text.data);
	buffer_release(&text);
}

/* --- the screen itself --- */

static void next_frame(struct ui *ui)
{
	ui->frame = (ui->frame + 1) % SCREEN_FRAME_COUNT;
}

static void toggle_devices(struct ui *ui)
{
	if (ui->comparison != NULL) {
		screen_message(ui, STYLE_MESSAGE, "a comparison has no CPUs and disks: D leaves it");
		return;
	}
	ui->shows_devices = !ui->shows_devices;
	if (ui->shows_devices && !screen_header_has_room(screen_header_lines()))
		screen_message(ui, STYLE_MESSAGE, "CPUs and disks need a taller screen");
}

static void repaint(struct ui *ui)
{
	(void)ui;
	terminal_repaint();
}

static void suspend(struct ui *ui)
{
	ui->suspend = true;
}

static void quit(struct ui *ui)
{
	ui->quit = true;
}

/* --- the prompt --- */

static void accept_prompt(struct ui *ui)
{
	const enum prompt_topic topic = ui->prompting->topic;
	char *text = memory_duplicate(prompt_text(&ui->prompt));

	if (ui->prompting->accept(ui, text)) {
		ui->prompting = NULL;
		terminal_show_cursor(false);
		if (*text != '\0' && topic != PROMPT_TOPIC_NONE)
			prompt_history_add(&ui->histories[topic], text);
	}
	free(text);
}

static void cancel_prompt(struct ui *ui)
{
	const struct prompt_use *use = ui->prompting;

	ui->prompting = NULL;
	if (use->cancelled != NULL)
		use->cancelled(ui, ui->prompt_before);
	terminal_show_cursor(false);
}

/* Whoever waits for the text sees it as it is now. */
static void tell_changed(struct ui *ui)
{
	if (ui->prompting == NULL || ui->prompting->changed == NULL)
		return;
	ui->prompting->changed(ui, prompt_text(&ui->prompt));
}

/* A text that was typed before, or after that again a newer one. */
static void recall(struct ui *ui)
{
	struct prompt_history *history = &ui->histories[ui->prompting->topic];
	const char *text;

	text = prompt_history_step(history, prompt_text(&ui->prompt), ui->action == ACTION_OLDER);
	if (text == NULL)
		return;
	prompt_set(&ui->prompt, text);
	tell_changed(ui);
}

/* The names of a directory come later, if at all. */
static void complete(struct ui *ui)
{
	if (ui->prompting->topic == PROMPT_TOPIC_FILE && ui_offers(ui->host, UI_REQUEST_NAMES))
		(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_NAMES,
								.text = ui->prompt.text.data});
}

void actions_take_names(struct ui *ui, const char *lines)
{
	const size_t asked = strcspn(lines, "\n"), length = strcspn(lines + asked + 1, "\n");
	const char *name = lines + asked + 1, *others = name + length + 1;
	char *text;

	/* whoever typed on has no use for it */
	if (ui->prompting == NULL || ui->prompting->topic != PROMPT_TOPIC_FILE ||
	    ui->prompt.text.length != asked || memcmp(ui->prompt.text.data, lines, asked) != 0)
		return;
	text = memory_duplicate_bytes(name, length);
	prompt_set(&ui->prompt, text);
	free(text);
	if (length != asked)
		return;
	text = memory_duplicate(others);
	for (char *end = text; (end = strchr(end, '\n')) != NULL;)
		*end = ' ';
	screen_message(ui, STYLE_MESSAGE, "%s", *text != '\0' ? text : "no other file name begins with this");
	free(text);
}

static void edit_prompt(struct ui *ui)
{
	prompt_edit(&ui->prompt, ui->action);
	tell_changed(ui);
}

static void (*const handlers[ACTION_COUNT])(struct ui *ui) = {
#define KEY(id, handler, ...) [ACTION_##id] = handler,
#include "ui/terminal/keys.def"
#undef KEY
};

/* A key without a use says so, and what does what it does elsewhere. */
static void refuse_key(struct ui *ui)
{
	const char *sentence = key_elsewhere(ui->key);
	struct buffer name = {0};

	key_append_name(&name, ui->key);
	if (sentence != NULL)
		screen_message(ui, STYLE_MESSAGE, "%s: %s", name.data, sentence);
	else
		screen_message(ui, STYLE_MESSAGE, "nothing on '%s' (? lists the keys)", name.data);
	buffer_release(&name);
}

void actions_handle_key(struct ui *ui, int key)
{
	ui->key = key;
	ui->action = key_action(key, screen_place(ui));
	if (!ui->message_pending)
		buffer_clear(&ui->message);
	/* letters are what is looked for in a menu, whatever they do elsewhere */
	if (ui->overlay == OVERLAY_CHOOSER && key >= ' ' && key <= '~' && key != '?') {
		screen_chooser_type(ui);
		return;
	}
	if (ui->action == ACTION_CHOOSE) {
		choose(ui);
		if (ui->action != ACTION_NONE)
			handlers[ui->action](ui);
	} else if (ui->action != ACTION_NONE) {
		handlers[ui->action](ui);
	} else if (ui->prompting != NULL) {
		prompt_insert(&ui->prompt, key);
		tell_changed(ui);
	} else if (!ui->message_pending) {
		refuse_key(ui);
	}
}

void actions_handle_pasted(struct ui *ui, int character)
{
	ui->key = character;
	if (!ui->message_pending)
		buffer_clear(&ui->message);
	if (ui->prompting != NULL) {
		prompt_insert(&ui->prompt, character);
		tell_changed(ui);
	} else if (ui->overlay == OVERLAY_CHOOSER && character <= '~') {
		screen_chooser_type(ui);
	} else if (!ui->message_pending) {
		screen_message(ui, STYLE_MESSAGE,
			       "pasted text is ignored here: open a prompt first (/ filters)");
	}
}

/* --- the mouse --- */

static bool is_wheel(struct pointer pointer)
{
	return pointer.event == POINTER_WHEEL_UP || pointer.event == POINTER_WHEEL_DOWN;
}

/* Rows of a list or a page, and lines of a menu one by one. */
static void turn_wheel(struct ui *ui, bool up)
{
	const unsigned int place = screen_place(ui);

	ui->action = up ? ACTION_UP : ACTION_DOWN;
	if ((place & PLACE_ROWS) != 0)
		list_scroll(screen_rows(ui), up ? -WHEEL_ROWS : WHEEL_ROWS);
	for (int i = 0;
	     i < (place == PLACE_TEXT ? WHEEL_ROWS : 1) && (place & (PLACE_ROWS | PLACE_GRAPH)) == 0; i++)
		move_rows(ui);
}

/* A title that the rows are sorted by already reverses their order. */
static void press_title(struct ui *ui, size_t column)
{
	const struct table *table = ui->table;
	const bool sorted = column == SIZE_MAX ? ui->view.sort_by_name : column == table->sort_column;

	if (sorted)
		navigate_reverse(ui);
	else
		navigate_sort(ui, column == SIZE_MAX ? COLUMN_COUNT : table->columns[column].column);
}

static void press_list(struct ui *ui, struct pointer pointer)
{
	const enum tab tab = screen_list_tab_at(ui, pointer.y, pointer.x);
	size_t index;

	if (tab != TAB_COUNT) {
		navigate_to_tab(ui, tab);
		return;
	}
	switch (list_part_at(&ui->list, pointer.y, pointer.x, &index)) {
	case LIST_PART_TITLE:
		press_title(ui, index);
		break;
	case LIST_PART_ROW:
		list_select_row(&ui->list, index);
		break;
	case LIST_PART_ABOVE:
		list_move(&ui->list, ACTION_PAGE_UP);
		break;
	case LIST_PART_BELOW:
		list_move(&ui->list, ACTION_PAGE_DOWN);
		break;
	case LIST_PART_NONE:
		break;
	}
}

void actions_handle_pointer(struct ui *ui, struct pointer pointer)
{
	size_t index;

	if (ui->prompting != NULL || pointer.event == POINTER_OTHER || screen_is_too_small())
		return;
	if (!ui->message_pending)
		buffer_clear(&ui->message);
	if (is_wheel(pointer))
		turn_wheel(ui, pointer.event == POINTER_WHEEL_UP);
	else if (screen_place(ui) == PLACE_LIST)
		press_list(ui, pointer);
	else if ((screen_place(ui) & PLACE_ROWS) != 0 &&
		 list_part_at(screen_rows(ui), pointer.y, pointer.x, &index) == LIST_PART_ROW)
		list_select_row(screen_rows(ui), index);
}
