/* SPDX-License-Identifier: GPL-2.0-only */
/* Two snapshots side by side: how one gets there and back, and what stands above and below their rows. */
#include "screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

enum {
	SIDE_CELLS = 8, /* "before" and two blanks */
	NAME_CELLS_MIN = 12,
	ARROW_CELLS = 4,
	STATE_CELLS_MAX = 28, /* "every 0.5s  change by thread" */
	FULL_LINES = 3,       /* both sides and how they are related */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The name of a side: its file's, or "now". */
static const char *side_name(const struct ui *ui, enum diff_side side)
{
	bool of_before = (side == DIFF_BEFORE) != compare_is_swapped(ui->comparison);
	const char *path = of_before ? ui->before_name : ui->options->file_name;

	return path != NULL ? base_name(path) : "now";
}

/* --- entering and leaving --- */

static void set_before_name(struct ui *ui, const char *name)
{
	char *copy = memory_duplicate(name);

	free(ui->before_name);
	ui->before_name = copy;
}

/* The order, metrics and rows that a comparison begins with. */
static void reset_view(struct view *view)
{
	view->sort_by_name = view->sort_ascending = false;
	view->compare_sort = COMPARE_COLUMN_CHANGE;
	view->focus = COLUMN_COUNT;
	/* numbers of a filter mean rates or amounts of one snapshot */
	if (view->filter != NULL && filter_column(view->filter, 0) != COLUMN_COUNT) {
		filter_release(view->filter);
		view->filter = NULL;
	}
}

static void close_pages(struct ui *ui)
{
	ui->overlay = OVERLAY_NONE;
	screen_metrics_close(ui);
}

static void compare_with(struct ui *ui, struct snapshot *before)
{
	ui->comparison = compare_create(before);
	ui->content = &content_of_comparison;
	compare_set_after(ui->comparison, session_now(ui->session));
}

void screen_comparison_take_round(struct ui *ui)
{
	if (ui->comparison != NULL)
		compare_set_after(ui->comparison, session_now(ui->session));
}

void screen_comparison_begin(struct ui *ui)
{
	compare_with(ui, snapshot_reference(ui->options->before));
	set_before_name(ui, ui->options->before_name);
	view_copy(&ui->plain_view, &ui->view);
	if (ui->plain_view.grouping.axis == AXIS_ALL)
		ui->plain_view.grouping.axis = AXIS_PROCESS;
	reset_view(&ui->view);
}

/* Goes from the view of the session to the comparison with a file of that name as before. */
static void enter(struct ui *ui, struct snapshot *before, const char *before_name)
{
	compare_with(ui, before);
	set_before_name(ui, before_name);
	ui->plain_view = ui->view;
	memcpy(ui->plain_filters, ui->outer_filters, sizeof(ui->plain_filters));
	memset(ui->outer_filters, 0, sizeof(ui->outer_filters));
	for (size_t i = 0; i < VIEW_STEPS_MAX; i++)
		ui->outer_focus[i] = COLUMN_COUNT;
	view_copy(&ui->view, &ui->plain_view);
	reset_view(&ui->view);
	close_pages(ui);
	navigate_change_rows(ui);
}

void screen_comparison_leave(struct ui *ui)
{
	if (ui->comparison == NULL)
		return;
	compare_release(ui->comparison);
	ui->comparison = NULL;
	ui->content = &content_of_session;
	view_release(&ui->view);
	for (size_t i = 0; i < VIEW_STEPS_MAX; i++)
		filter_release(ui->outer_filters[i]);
	ui->view = ui->plain_view;
	memcpy(ui->outer_filters, ui->plain_filters, sizeof(ui->outer_filters));
	memset(&ui->plain_view, 0, sizeof(ui->plain_view));
	memset(ui->plain_filters, 0, sizeof(ui->plain_filters));
	close_pages(ui);
	navigate_change_rows(ui);
}

void screen_comparison_release(struct ui *ui)
{
	compare_release(ui->comparison);
	view_release(&ui->plain_view);
	for (size_t i = 0; i < VIEW_STEPS_MAX; i++)
		filter_release(ui->plain_filters[i]);
	free(ui->before_name);
	free(ui->loading);
}

static void ask_for_file(struct ui *ui, const char *path)
{
	ui->prompting = NULL;
	if (path[strspn(path, " ")] == '\0')
		return;
	free(ui->loading);
	ui->loading = memory_duplicate(path);
	screen_message(ui, STYLE_MESSAGE, "reading %s%s", path, draw_marks()->resolving);
	ui->message_pending = true;
	ui->host->request_file(ui->host->file_context, path);
}

void screen_comparison_toggle(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "compare with: ",
		.example = "a saved file; it will be before",
		.accept = ask_for_file,
	};

	if (ui->comparison != NULL) {
		screen_comparison_leave(ui);
		return;
	}
	if (ui->host->request_file == NULL) {
		screen_message(ui, STYLE_MESSAGE, "there is nothing here to compare a file with");
		return;
	}
	screen_open_prompt(ui, &use,
			   ui->loading != NULL       ? ui->loading
			   : ui->before_name != NULL ? ui->before_name
						     : "");
}

void screen_comparison_take_file(struct ui *ui, struct snapshot *snapshot, const char *message)
{
	if (snapshot == NULL) {
		/* the path stays for the next try */
		screen_message(ui, STYLE_ERROR, "%s", message);
		return;
	}
	screen_comparison_leave(ui);
	enter(ui, snapshot, ui->loading);
	free(ui->loading);
	ui->loading = NULL;
	screen_message(ui, STYLE_MESSAGE, "%s%scompared with %s; D goes back", message != NULL ? message : "",
		       message != NULL ? ". " : "", side_name(ui, DIFF_BEFORE));
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

static bool can_report(const struct ui *ui)
{
	return ui->host->write_comparison != NULL;
}

static int write_report(struct ui *ui, const char *path, struct error *error)
{
	const struct ui_comparison comparison = {
		.before = compare_side(ui->comparison, DIFF_BEFORE),
		.after = compare_side(ui->comparison, DIFF_AFTER),
		.before_name = side_name(ui, DIFF_BEFORE),
		.after_name = side_name(ui, DIFF_AFTER),
		.grouping = &ui->view.grouping,
		.by_threads = compare_by_threads(ui->comparison),
	};

	if (session_now(ui->session) == NULL)
		return error_set(error, -EAGAIN, "the first round is still being read");
	return ui->host->write_comparison(ui->host->file_context, &comparison, path, error);
}

/* --- the header --- */

static bool local_time(const struct snapshot *snapshot, struct tm *ret_local)
{
	time_t seconds = (time_t)(snapshot->captured_at_unix_ns / NS_PER_S);

	return snapshot->captured_at_unix_ns != 0 && localtime_r(&seconds, ret_local) != NULL;
}

/* The clock, with the date where the sides are not of one day. */
static void append_time(const struct ui *ui, const struct snapshot *snapshot, struct buffer *text)
{
	struct tm local, before, after;
	char clock[32];
	bool one_day = local_time(compare_side(ui->comparison, DIFF_BEFORE), &before) &&
		       local_time(compare_side(ui->comparison, DIFF_AFTER), &after) &&
		       before.tm_year == after.tm_year && before.tm_yday == after.tm_yday;

	if (!local_time(snapshot, &local) ||
	    strftime(clock, sizeof(clock), one_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &local) == 0)
		snprintf(clock, sizeof(clock), "an unknown time");
	buffer_append_text(text, clock);
}

static void append_facts(const struct ui *ui, const struct snapshot *snapshot, struct buffer *text)
{
	char count[28];

	append_time(ui, snapshot, text);
	buffer_append_format(text, "  %s thread%s", number_group_digits(snapshot->thread_count, count),
			     snapshot->thread_count == 1 ? "" : "s");
	if (snapshot->provenance.hostname != NULL)
		buffer_append_format(text, "  %s", snapshot->provenance.hostname);
}

/* What is at the right of the first line: whose changes these are. Returns the cells left of it. */
static int draw_state(const struct ui *ui, int y)
{
	const char *whose = compare_by_threads(ui->comparison) ? "change by thread" : "change by group";
	int width = draw_screen_width(), x = width - (int)strlen(whose);
	char every[32];

	draw_string(y, x, (int)strlen(whose), STYLE_STRONG, whose);
	if (ui->host->set_interval == NULL)
		return x - 2;
	snprintf(every, sizeof(every), ui->paused ? " PAUSED " : "every %gs",
		 (double)ui->interval_ns / NS_PER_S);
	x -= (int)strlen(every) + 2;
	draw_string(y, x, (int)strlen(every), ui->paused ? STYLE_MESSAGE : STYLE_NORMAL, every);
	return x - 2;
}

/* "before  NAME  14:02:10  1,284 threads  host": the name is cut where there is no room. */
static void draw_side(const struct ui *ui, enum diff_side side, int y, int width)
{
	const char *name = side_name(ui, side);
	struct buffer facts = {0};
	int room, x = SIDE_CELLS;

	append_facts(ui, compare_side(ui->comparison, side), &facts);
	room = width - x - 2 - draw_width(facts.data, facts.length);
	if (room < NAME_CELLS_MIN)
		room = NAME_CELLS_MIN;
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

/* "6.0s", "14m47s", "3h05m", "12d" */
static void append_distance(uint64_t distance_ns, struct buffer *text)
{
	uint64_t seconds = distance_ns / NS_PER_S;

	if (seconds < 120)
		screen_format_duration(text, (double)distance_ns);
	else if (seconds < 2 * 3600)
		buffer_append_format(text, "%um%02us", (unsigned int)(seconds / 60),
				     (unsigned int)(seconds % 60));
	else if (seconds < 48 * 3600)
		buffer_append_format(text, "%uh%02um", (unsigned int)(seconds / 3600),
				     (unsigned int)(seconds / 60 % 60));
	else
		buffer_append_format(text, "%llud", (unsigned long long)(seconds / (24 * 3600)));
}

/* How the sides are related. */
static void draw_relation(struct ui *ui, int y)
{
	static const char *const boots[] = {[COMPARE_BOOT_ONE] = "one boot",
					    [COMPARE_BOOT_OTHER] = "different boots",
					    [COMPARE_BOOT_UNKNOWN] = "boot not known"};
	uint64_t distance = compare_distance_ns(ui->comparison);
	struct diff_match_count threads;
	char same[28], came[28], gone[28];
	struct buffer text = {0};

	buffer_append_text(&text, boots[compare_boot(ui->comparison)]);
	if (distance != 0) {
		buffer_append_text(&text, ", ");
		append_distance(distance, &text);
		buffer_append_text(&text, " apart");
	}
	if (compare_count_threads(ui->comparison, &threads))
		buffer_append_format(&text, ": %s threads the same, %s came, %s gone",
				     number_group_digits(threads.same, same),
				     number_group_digits(threads.came, came),
				     number_group_digits(threads.went, gone));
	draw_text(y, 0, draw_screen_width(), STYLE_NORMAL, text.data, text.length);
	buffer_release(&text);
}

/* How many doubts are more than notes; `*ret_first` gets the first of them. */
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

static void draw_warning(struct ui *ui, int y)
{
	const char *first = "";
	size_t count = count_warnings(ui, &first);
	int width = draw_screen_width(), cells;
	char more[64];

	snprintf(more, sizeof(more), count > 1 ? "(e: all %zu)" : "(e: more)", count);
	cells = width - (int)strlen(more) - 1;
	draw_string(y, 0, 2, STYLE_WAIT, "!");
	draw_string(y, 2, cells - 2, STYLE_WAIT, first);
	draw_right(y, 0, width, STYLE_KEY, more);
}

static int header_lines(struct ui *ui)
{
	const char *first;

	return FULL_LINES + (count_warnings(ui, &first) != 0);
}

static void draw_header(struct ui *ui, int lines)
{
	bool doubtful = header_lines(ui) > FULL_LINES;
	int y = 0;

	if (lines < 1)
		return;
	if (session_now(ui->session) == NULL) {
		draw_string(0, 0, draw_screen_width(), STYLE_DIM, "reading every thread for the first time");
		return;
	}
	if (lines >= FULL_LINES + doubtful) {
		draw_side(ui, DIFF_BEFORE, y, draw_state(ui, y));
		y++;
		draw_side(ui, DIFF_AFTER, y++, draw_screen_width());
	} else {
		draw_names(ui, y++);
	}
	/* where there is room for one of them only, the doubt */
	if (y < lines - doubtful)
		draw_relation(ui, y++);
	if (doubtful && y < lines)
		draw_warning(ui, y);
}

static void draw_note(struct ui *ui, int y)
{
	const struct table_row *row = list_row(&ui->list);
	struct buffer text = {0};

	if (row == NULL)
		return;
	compare_append_note(ui->comparison, row, &text);
	/* the end says more than the beginning of a path */
	if (text.length != 0)
		draw_tail(y, 1, draw_screen_width() - 1, STYLE_DIM, text.data, text.length);
	buffer_release(&text);
}

/* --- the evidence --- */

/* One side of a comparison. */
static void add_side(struct ui *ui, enum diff_side side)
{
	pager_add_format(&ui->pager, STYLE_NORMAL, "%s", "");
	pager_add_format(&ui->pager, STYLE_STRONG, "%s  %s", side == DIFF_BEFORE ? "BEFORE" : "AFTER",
			 side_name(ui, side));
	screen_evidence_add(ui, compare_side(ui->comparison, side), 0, 0);
}

/* What keeps the sides from being compared, then how good each of them is. */
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

static void fill(struct ui *ui, size_t first, size_t count)
{
	compare_table_fill(ui->comparison, ui->table, first, count);
}

static struct table *make_metrics(struct ui *ui)
{
	return compare_metric_table(ui->comparison, &ui->view, ui->metrics_key, ui->metrics_key_length);
}

static void explain(struct ui *ui, const struct table_row *row, size_t column, struct buffer *lines)
{
	(void)column;
	compare_explain(ui->comparison, &ui->view, row->key, row->key_length, lines);
}

static size_t sort_columns(const struct view *view, unsigned int columns[COLUMN_TOTAL])
{
	(void)view;
	for (unsigned int i = 0; i < COMPARE_COLUMN_COUNT; i++)
		columns[i] = COMPARE_COLUMN_ID(i);
	return COMPARE_COLUMN_COUNT;
}

static const char *why_empty(const struct ui *ui)
{
	if (ui->view.filter != NULL)
		return "No change matches the filter. / changes it, an empty one shows all.";
	return ui->view.equal_rows ? "Nothing to compare here."
				   : "Nothing changed here. = shows what is the same on both sides.";
}

static bool offers(const struct ui *ui, enum action action)
{
	(void)ui;
	return action != ACTION_COMPARE && action != ACTION_BASE;
}

/* A column's key shows the changes of its metrics alone. */
static void sort_key(struct ui *ui, enum column column)
{
	if (column != COLUMN_COUNT)
		navigate_focus(ui, column);
	else
		navigate_sort(ui, column);
}

static void set_base(struct ui *ui)
{
	screen_message(ui, STYLE_MESSAGE, "a comparison counts from the file; D leaves it");
}

const struct content content_of_comparison = {
	.first_axis = AXIS_ALL,
	.make_table = make_table,
	.fill = fill,
	.make_metrics = make_metrics,
	.explain = explain,
	.needs = compare_needs,
	.sort_columns = sort_columns,
	.header_lines = header_lines,
	.draw_header = draw_header,
	.draw_note = draw_note,
	.make_evidence = make_evidence,
	.why_empty = why_empty,
	.offers = offers,
	.change_mode = change_mode,
	.sort_key = sort_key,
	.set_base = set_base,
	.can_report = can_report,
	.write_report = write_report,
};
