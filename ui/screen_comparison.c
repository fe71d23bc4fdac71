/* SPDX-License-Identifier: GPL-2.0-only */
/* Two snapshots side by side: how one gets there and back, and what the screen shows of them. */
#include "screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "session/when.h"

#include "ui/page/evidence_page.h"

enum {
	SIDE_CELLS = 8, /* "before" and two blanks */
	NAME_CELLS_MIN = 12,
	ARROW_CELLS = 4,
	STATE_CELLS_MAX = 28, /* "every 0.5s  change by thread" */
	FULL_LINES = 3,       /* both sides and how they are related */
};

/* The name of a side: its file's without the directory, a time, or "now". */
static const char *side_name(const struct ui *ui, enum diff_side side)
{
	bool of_before = (side == DIFF_BEFORE) != compare_is_swapped(ui->comparison);

	return of_before ? basename(ui->before_name) : screen_name(ui);
}

/* --- entering and leaving --- */

/* A filter with numbers is one of rates or amounts of one snapshot. */
static void drop_numbers(struct filter **filter)
{
	if (*filter == NULL || !filter_compares(*filter))
		return;
	filter_release(*filter);
	*filter = NULL;
}

/* The order and rows that a comparison begins with. */
static void reset_view(struct view *view, bool has_rates)
{
	view->sort_by_name = view->sort_ascending = false;
	view->compares = view->sort_by_change = true;
	view->mode = has_rates ? WINDOW_MODE_RATE : WINDOW_MODE_TOTAL;
	if (view->grouping.axis == AXIS_PID)
		view->grouping.axis = AXIS_PROCESS;
	if (view->tab == TAB_TASK_FIELDS)
		view_set_tab(view, TAB_OVERVIEW);
	for (size_t i = 0; i < view->step_count; i++)
		drop_numbers(&view->steps[i].filter);
	drop_numbers(&view->filter);
}

static void close_pages(struct ui *ui)
{
	ui->overlay = OVERLAY_NONE;
	if (ui->page != PLACE_SETUP)
		screen_close_page(ui);
}

/* The snapshot on the screen becomes the side after, with its window if the other side has one, too. */
static void set_after(struct ui *ui)
{
	const enum diff_side other = compare_is_swapped(ui->comparison) ? DIFF_AFTER : DIFF_BEFORE;
	const struct snapshot *now = session_now(ui->session);
	struct snapshot_window *window = NULL;
	struct snapshot *after;

	if (now != NULL && now->window == NULL && compare_side(ui->comparison, other)->window != NULL)
		window = session_save_window(ui->session, ui->plain_view.mode);
	if (window == NULL) {
		compare_set_after(ui->comparison, now);
		return;
	}
	after = snapshot_with_window((struct snapshot *)(uintptr_t)now, window);
	compare_set_after(ui->comparison, after);
	snapshot_release(after);
}

void screen_comparison_take_round(struct ui *ui)
{
	if (ui->comparison != NULL)
		set_after(ui);
}

/* Goes to the comparison with `before`, which is taken over, from a file of that name. */
static void enter(struct ui *ui, struct snapshot *before, const char *before_name)
{
	ui->comparison = compare_create(before);
	ui->content = &content_of_comparison;
	free(ui->before_name);
	ui->before_name = memory_duplicate(before_name);
	view_copy(&ui->plain_view, &ui->view);
	set_after(ui);
	reset_view(&ui->view, compare_has_rates(ui->comparison));
}

void screen_comparison_begin(struct ui *ui)
{
	enter(ui, snapshot_reference(ui->options->before), ui->options->before_name);
	/* the order that the command line asks for */
	if (ui->plain_view.sort_chosen) {
		ui->view.sort_by_change = false;
		ui->view.sort_by_name = ui->plain_view.sort_by_name;
		ui->view.sort_ascending = ui->plain_view.sort_ascending;
	}
	/* a single file is not grouped by AXIS_ALL */
	if (ui->plain_view.grouping.axis == AXIS_ALL)
		ui->plain_view.grouping.axis = AXIS_PROCESS;
}

/* The name of a report that failed is not for a report of something else. */
static void forget_report(struct ui *ui)
{
	free(ui->unwritten);
	ui->unwritten = NULL;
}

void screen_comparison_leave(struct ui *ui)
{
	if (ui->comparison == NULL)
		return;
	compare_release(ui->comparison);
	ui->comparison = NULL;
	ui->content = &content_of_session;
	view_release(&ui->view);
	ui->view = ui->plain_view;
	ui->plain_view = (struct view){0};
	forget_report(ui);
	close_pages(ui);
	navigate_change_rows(ui);
}

void screen_comparison_release(struct ui *ui)
{
	compare_release(ui->comparison);
	view_release(&ui->plain_view);
	free(ui->before_name);
	free(ui->loading);
	ui_event_discard(&ui->arrived);
}

int screen_parse_time(const struct ui *ui, const char *text, uint64_t *ret_unix_ns, struct error *error)
{
	const uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	const struct past *past = &ui->past;

	return when_parse(text, past->open ? past->unix_ns : now_ns, now_ns, ret_unix_ns, error);
}

/*
 * Whether a text is a time from the moment shown, or two with .. between: -1d, @09:00, -10m..-5m. A file that
 * is called so is meant with ./ before its name.
 */
static bool parse_other(const struct ui *ui, const char *text, struct ui_other *ret_other)
{
	const char *dots = strstr(text, ".."), *to = dots != NULL ? dots + 2 : text;
	bool valid = screen_parse_time(ui, to, &ret_other->unix_ns, NULL) == 0;
	char *from;

	ret_other->from_unix_ns = 0;
	if (valid && dots != NULL) {
		from = memory_duplicate_bytes(text, (size_t)(dots - text));
		valid = screen_parse_time(ui, from, &ret_other->from_unix_ns, NULL) == 0;
		free(from);
	}
	return valid || (*text == '@' && parse_other(ui, text + 1, ret_other));
}

static void drop_arrived(struct ui *ui)
{
	ui_event_discard(&ui->arrived);
	ui->arrived = (struct ui_event){.kind = UI_EVENT_FILE};
}

static bool ask_for_file(struct ui *ui, const char *path)
{
	struct ui_request request = {.kind = UI_REQUEST_FILE, .text = path};
	char *name = NULL;

	if (path[strspn(path, " ")] == '\0')
		return true;
	drop_arrived(ui);
	free(ui->loading);
	ui->loading = memory_duplicate(path);
	ui->is_loading = true;
	screen_message(ui, STYLE_MESSAGE, "reading %s%s", path, draw_marks()->resolving);
	ui->message_pending = true;
	request.number = ++ui->other_number;
	if (parse_other(ui, path, &request.other)) {
		if (ui_offers(ui->host, UI_REQUEST_OTHER))
			request.kind = UI_REQUEST_OTHER;
		else /* of the history that is recorded on this host */
			request.text = name = memory_format("%s%s", *path == '@' ? "" : "@", path);
	}
	(void)ui_request(ui->host, &request);
	free(name);
	return true;
}

void screen_comparison_toggle(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "compare with: ",
		.topic = PROMPT_TOPIC_FILE,
		.example = "a file, or a time: -1m, 09:40, yesterday 3pm, -10m..-5m",
		.accept = ask_for_file,
	};

	if (ui->comparison != NULL) {
		screen_comparison_leave(ui);
		return;
	}
	if (!ui_offers(ui->host, UI_REQUEST_FILE)) {
		screen_message(ui, STYLE_MESSAGE, "there is nothing here to compare a file with");
		return;
	}
	screen_open_prompt(ui, &use,
			   ui->loading != NULL       ? ui->loading
			   : ui->saved != NULL       ? ui->saved
			   : ui->before_name != NULL ? ui->before_name
						     : "");
}

/* Whether the user is typing or choosing something that must stay open. */
static bool is_busy(const struct ui *ui)
{
	return ui->page == PLACE_SETUP || (screen_place(ui) & (PLACE_PROMPT | PLACE_MENU)) != 0;
}

void screen_comparison_take_file(struct ui *ui, struct ui_event *event)
{
	/* something else was asked for since then */
	if (event->number != ui->other_number)
		return;
	ui->is_loading = false;
	if (event->snapshot == NULL) {
		/* ui->loading stays: the prompt offers it again */
		screen_message(ui, STYLE_ERROR, "%s", event->message);
		return;
	}
	drop_arrived(ui);
	ui->arrived = *event;
	*event = (struct ui_event){.kind = UI_EVENT_FILE};
	if (is_busy(ui))
		screen_message(ui, STYLE_MESSAGE, "%s is read: close this to compare", ui->loading);
}

void screen_comparison_follow(struct ui *ui)
{
	struct ui_event event = ui->arrived;

	if (event.snapshot == NULL || is_busy(ui))
		return;
	ui->arrived = (struct ui_event){.kind = UI_EVENT_FILE};
	screen_comparison_leave(ui);
	enter(ui, event.snapshot, event.path != NULL ? event.path : ui->loading);
	event.snapshot = NULL;
	forget_report(ui);
	close_pages(ui);
	navigate_change_rows(ui);
	free(ui->loading);
	ui->loading = NULL;
	screen_message(ui, STYLE_MESSAGE, "compared with %s; D goes back%s%s", side_name(ui, DIFF_BEFORE),
		       event.message != NULL ? "; " : "", event.message != NULL ? event.message : "");
	ui_event_discard(&event);
}

void screen_comparison_forget_failed(struct ui *ui)
{
	if (ui->is_loading || ui->arrived.snapshot != NULL)
		return;
	free(ui->loading);
	ui->loading = NULL;
}

static bool needs_comparison(struct ui *ui)
{
	if (ui->comparison != NULL)
		return false;
	screen_message(ui, STYLE_MESSAGE, "there is no comparison: D compares with a file");
	return true;
}

void screen_comparison_swap(struct ui *ui)
{
	if (needs_comparison(ui))
		return;
	compare_swap(ui->comparison);
	screen_list_refresh(ui);
	screen_metrics_refresh(ui);
}

void screen_comparison_equal(struct ui *ui)
{
	if (needs_comparison(ui))
		return;
	ui->view.equal_rows = !ui->view.equal_rows;
	/* rows that were there are not gone */
	frozen_release(&ui->frozen);
	navigate_change_cells(ui);
}

static void change_mode(struct ui *ui)
{
	bool by_threads = !compare_by_threads(ui->comparison);
	struct error error;

	if (compare_set_by_threads(ui->comparison, by_threads, &error) < 0) {
		screen_message(ui, STYLE_MESSAGE, "%s", error.text);
		return;
	}
	screen_message(ui, STYLE_MESSAGE, "%s",
		       by_threads ? "changes of the threads that are the same, and of those that are new"
				  : "changes of the sums of each group, as in reports");
	navigate_change_cells(ui);
}

static struct ui_report subject(const struct ui *ui)
{
	return (struct ui_report){
		.before = compare_side(ui->comparison, DIFF_BEFORE),
		.after = compare_side(ui->comparison, DIFF_AFTER),
		.before_name = side_name(ui, DIFF_BEFORE),
		.after_name = side_name(ui, DIFF_AFTER),
		.grouping = &ui->view.grouping,
		.by_threads = compare_by_threads(ui->comparison),
	};
}

/* --- header --- */

static bool is_one_day(const struct comparison *comparison)
{
	char before[HUMANIZE_TIME_SIZE], after[HUMANIZE_TIME_SIZE];

	humanize_time(before, compare_side(comparison, DIFF_BEFORE)->captured_at_unix_ns, true);
	humanize_time(after, compare_side(comparison, DIFF_AFTER)->captured_at_unix_ns, true);
	return strncmp(before, after, strlen("2026-11-20")) == 0;
}

static void append_facts(const struct ui *ui, const struct snapshot *snapshot, const char *name,
			 struct buffer *text)
{
	char clock[HUMANIZE_TIME_SIZE] = "an unknown time";

	if (snapshot->captured_at_unix_ns != 0)
		humanize_time(clock, snapshot->captured_at_unix_ns, !is_one_day(ui->comparison));
	if (strstr(name, clock) == NULL) /* a moment is called by its time */
		buffer_append_format(text, "%s  ", clock);
	humanize_counted(text, snapshot->thread_count, "thread");
	if (snapshot->provenance.hostname != NULL)
		buffer_append_format(text, "  %s", snapshot->provenance.hostname);
}

/* At the right of the first line: the interval, and whether changes are those of threads or of groups.
 * Returns the cells left of it. */
static int draw_state(const struct ui *ui, int y)
{
	const char *whose = compare_has_rates(ui->comparison)    ? "change of rates"
			    : compare_by_threads(ui->comparison) ? "change by thread"
								 : "change by group";
	int width = draw_screen_width(), x = width - (int)strlen(whose);
	char every[32];

	draw_string(y, x, (int)strlen(whose), STYLE_STRONG, whose);
	if (!ui_is_live(ui->host) || ui->past.open)
		return x - 2;
	snprintf(every, sizeof(every), ui->settings.paused ? " PAUSED " : "every %gs",
		 (double)ui->settings.interval_ns / NS_PER_S);
	/* the name of what is compared comes first */
	if (x - (int)strlen(every) - 4 < SIDE_CELLS + NAME_CELLS_MIN)
		return x - 2;
	x -= (int)strlen(every) + 2;
	draw_string(y, x, (int)strlen(every), ui->settings.paused ? STYLE_MESSAGE : STYLE_NORMAL, every);
	return x - 2;
}

/* "before  NAME  14:02:10  1,284 threads  host": the name is cut where there is no room. */
static void draw_side(const struct ui *ui, enum diff_side side, int y, int width)
{
	const char *name = side_name(ui, side);
	struct buffer facts = {0};
	int room, x = SIDE_CELLS;

	append_facts(ui, compare_side(ui->comparison, side), name, &facts);
	room = width - x - 2 - draw_width(facts.data, facts.length);
	if (room < NAME_CELLS_MIN)
		room = NAME_CELLS_MIN;
	if (room > width - x)
		room = width - x;
	draw_string(y, 0, SIDE_CELLS, STYLE_DIM, side == DIFF_BEFORE ? "before" : "after");
	x += draw_string(y, x, room, STYLE_STRONG, name) + 2;
	draw_text(y, x, width - x, STYLE_NORMAL, facts.data, facts.length);
	buffer_release(&facts);
}

/* Both names in one line, for a screen with few; whose changes these are only where there is room beside
 * them.
 */
static void draw_names(const struct ui *ui, int y)
{
	const char *before = side_name(ui, DIFF_BEFORE);
	const char *after = side_name(ui, DIFF_AFTER);
	int width = draw_screen_width(), x = draw_width(before, strlen(before));
	int room, after_cells = draw_width(after, strlen(after));

	if (x + ARROW_CELLS + after_cells + 2 + STATE_CELLS_MAX <= width)
		draw_state(ui, y);
	/* the longer name is cut first */
	room = width - ARROW_CELLS - after_cells;
	if (room < (width - ARROW_CELLS) / 2)
		room = (width - ARROW_CELLS) / 2;
	x = draw_string(y, 0, room, STYLE_STRONG, before);
	x += draw_string(y, x, ARROW_CELLS, STYLE_DIM, " -> ");
	draw_string(y, x, width - x, STYLE_STRONG, after);
}

/* Says that the rows are sorted by change: no column shows it, as units are mixed. */
static void draw_order(const struct ui *ui, int y, int used)
{
	static const char *const forms[] = {
		"sorted by harm: time, memory, storage, threads, events",
		"sorted by harm",
		"by harm",
	};
	const int room = draw_screen_width() - used - 2;

	if (ui->view.sort_by_name || !ui->view.sort_by_change)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(forms); i++) {
		if ((int)strlen(forms[i]) <= room) {
			draw_right(y, 0, draw_screen_width(), STYLE_DIM, forms[i]);
			return;
		}
	}
}

/* Draws the relation of the two sides. */
static void draw_relation(struct ui *ui, int y)
{
	static const char *const boots[] = {[COMPARE_BOOT_ONE] = "one boot",
					    [COMPARE_BOOT_OTHER] = "different boots",
					    [COMPARE_BOOT_UNKNOWN] = "boot not known"};
	uint64_t distance = compare_distance_ns(ui->comparison);
	struct diff_match_count threads;
	struct buffer text = {0};

	buffer_append_text(&text, boots[compare_boot(ui->comparison)]);
	if (distance != 0) {
		buffer_append_text(&text, ", ");
		humanize_duration(&text, (double)distance);
		buffer_append_text(&text, " apart");
	}
	if (compare_count_threads(ui->comparison, &threads)) {
		buffer_append_text(&text, ": ");
		compare_append_counts(&threads, " threads", &text);
	}
	draw_text(y, 0, draw_screen_width(), STYLE_NORMAL, text.data, text.length);
	draw_order(ui, y, draw_width(text.data, text.length));
	buffer_release(&text);
}

/* The number of doubts that are warnings; `*ret_first` gets the first of them. */
static size_t count_warnings(struct ui *ui, const char **ret_first)
{
	const struct comparability *doubts = compare_doubts(ui->comparison);
	size_t count = 0;

	for (size_t i = 0; doubts != NULL && i < doubts->count; i++) {
		if (doubts->rows[i].severity == COMPARABILITY_WARNING && count++ == 0)
			*ret_first = doubts->rows[i].text;
	}
	return count;
}

/* How much of a sentence is shown in so many cells: all of it, or up to the last word that fits, which three
 * dots follow. */
static size_t whole_words(const char *text, int cells)
{
	const size_t length = strlen(text);
	size_t used;

	if (draw_width(text, length) <= cells)
		return length;
	used = unicode_prefix(text, length, cells - (int)strlen("..."), NULL);
	while (used != 0 && text[used] != ' ')
		used--;
	while (used != 0 && strchr(" ,;:", text[used - 1]) != NULL)
		used--;
	return used;
}

static void draw_warning(struct ui *ui, int y)
{
	const char *first = "";
	size_t count = count_warnings(ui, &first), length;
	int width = draw_screen_width(), cells, x = 2;
	char more[64];

	snprintf(more, sizeof(more), count > 1 ? "(e: all %zu)" : "(e: all of it)", count);
	cells = width - (int)strlen(more) - 1 - x;
	length = whole_words(first, cells);
	if (count <= 1 && length == strlen(first))
		snprintf(more, sizeof(more), "(e)");
	draw_string(y, 0, x, STYLE_WAIT, "!");
	x += draw_text(y, x, cells, STYLE_WAIT, first, length);
	if (length != strlen(first))
		draw_string(y, x, width - x, STYLE_WAIT, "...");
	draw_right(y, 0, width, STYLE_KEY, more);
}

static int draw_header(struct ui *ui, int lines)
{
	const char *first;
	bool doubtful = count_warnings(ui, &first) != 0;
	int y = 0;

	if (lines > FULL_LINES + doubtful)
		lines = FULL_LINES + doubtful;
	if (session_now(ui->session) == NULL) {
		draw_string(0, 0, draw_screen_width(), STYLE_DIM, "reading every thread for the first time");
		return lines;
	}
	if (lines == FULL_LINES + doubtful) {
		draw_side(ui, DIFF_BEFORE, y, draw_state(ui, y));
		y++;
		draw_side(ui, DIFF_AFTER, y++, draw_screen_width());
	} else {
		draw_names(ui, y++);
	}
	/* where there is room for one of the two lines only, the doubt */
	if (y < lines - doubtful)
		draw_relation(ui, y++);
	if (doubtful && y < lines)
		draw_warning(ui, y);
	return lines;
}

/* --- below the list, and the evidence --- */

static void draw_note(struct ui *ui, int y)
{
	const struct table_row *row = list_row(&ui->list);
	struct buffer text = {0};

	if (row == NULL || table_row_is_gone(row))
		return;
	/* the whole change in a sentence where there is room for one: of the column marked, else of the first
	 */
	for (size_t i = 0; i < ui->table->column_count && text.length == 0; i++) {
		const size_t marked = list_column(&ui->list);
		const size_t column = marked != SIZE_MAX ? marked : i;

		compare_append_sentence(ui->comparison, row, (enum column)ui->table->columns[column].column,
					draw_marks() == &screen_marks_ascii, &text);
		if (marked != SIZE_MAX)
			break;
	}
	if (text.length == 0 || draw_width(text.data, text.length) > draw_screen_width() - 1) {
		buffer_clear(&text);
		compare_append_note(ui->comparison, row, &text);
	}
	if (text.length != 0)
		draw_middle(y, 1, draw_screen_width() - 1, STYLE_DIM, text.data, text.length);
	buffer_release(&text);
}

/* One side of a comparison. */
static void add_side(struct ui *ui, enum diff_side side)
{
	pager_add_format(&ui->pager, STYLE_NORMAL, "%s", "");
	pager_add_format(&ui->pager, STYLE_STRONG, "%s  %s", side == DIFF_BEFORE ? "BEFORE" : "AFTER",
			 side_name(ui, side));
	evidence_page_add(&ui->pager, compare_side(ui->comparison, side), 0, 0);
}

/* Lists the doubts about the comparison, then the evidence of each side. */
static void make_evidence(struct ui *ui)
{
	const struct comparability *doubts = compare_doubts(ui->comparison);

	pager_add_format(&ui->pager, STYLE_STRONG, "%s",
			 doubts->count == 0 ? "No reason is known why these two should not be compared."
					    : "Before you trust the changes");
	for (size_t i = 0; i < doubts->count; i++) {
		bool warning = doubts->rows[i].severity == COMPARABILITY_WARNING;
		struct buffer line = {0};

		buffer_append_format(&line, "%s %s.", warning ? "!" : "-", doubts->rows[i].text);
		pager_add(&ui->pager, &(struct pager_line){.text = line.data,
							   .length = line.length,
							   .style = warning ? STYLE_WAIT : STYLE_NORMAL,
							   .indent = 2});
		buffer_release(&line);
	}
	add_side(ui, DIFF_BEFORE);
	add_side(ui, DIFF_AFTER);
}

/* --- the list --- */

static struct table *make_table(struct ui *ui)
{
	return compare_table(ui->comparison, &ui->view);
}

static void fill(void *context, size_t first, size_t count)
{
	struct ui *ui = context;

	compare_table_fill(ui->comparison, ui->table, first, count);
}

static struct table *make_metrics(struct ui *ui)
{
	return compare_metric_table(ui->comparison, &ui->view, ui->page_row.key, ui->page_row.key_length);
}

static void explain(struct ui *ui, const struct table_row *row, size_t column, struct buffer *lines)
{
	compare_explain(ui->comparison, &ui->view, row->key, row->key_length,
			(enum column)ui->table->columns[column].column, lines);
}

static size_t sort_columns(const struct view *view, unsigned int columns[COLUMN_TOTAL])
{
	enum column of_tab[COLUMN_TOTAL];
	const size_t count = view_columns(view, of_tab);

	columns[0] = VIEW_SORT_CHANGE;
	for (size_t i = 0; i < count; i++)
		columns[1 + i] = of_tab[i];
	return 1 + count;
}

static const char *why_empty(const struct ui *ui)
{
	if (ui->view.filter != NULL)
		return "No change matches the filter. / changes it, an empty one shows all.";
	if (ui->view.equal_rows)
		return "Nothing to compare here.";
	return compare_has_rates(ui->comparison)
		       ? "Nothing changed measurably here. = shows all rows."
		       : "Nothing changed here. = shows what is the same on both sides.";
}

const struct content content_of_comparison = {
	.make_table = make_table,
	.fill = fill,
	.make_metrics = make_metrics,
	.explain = explain,
	.sort_columns = sort_columns,
	.draw_header = draw_header,
	.draw_note = draw_note,
	.make_evidence = make_evidence,
	.why_empty = why_empty,
	.change_mode = change_mode,
	.subject = subject,
};
