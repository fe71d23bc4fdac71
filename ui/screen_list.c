/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "session/missing.h"
#include "snapshot/user_names.h"
#include "table/column_name.h"
#include "table/tab.h"
#include "window/column.h"

#include "ui/widget/spark.h"

/* Between two requests for the course of rows that scroll into sight. */
#define COURSES_PAUSE_NS (20 * NS_PER_S)

/* Titles of the first column, by axis. */
static const char *const name_titles[AXIS_COUNT] = {
	[AXIS_PROCESS] = "PROCESS",     [AXIS_CGROUP] = "CGROUP",       [AXIS_THREAD] = "THREAD",
	[AXIS_THREAD_EXACT] = "THREAD", [AXIS_ALL] = "GROUP",           [AXIS_PID] = "PID PROCESS",
	[AXIS_USER] = "USER",           [AXIS_CONTAINER] = "CONTAINER", [AXIS_HOST] = "HOST",
	[AXIS_WAIT] = "WAITS FOR",
};

const char *screen_list_name_title(const struct view *view)
{
	return view->level == VIEW_LEVEL_THREADS ? "THREAD" : name_titles[view->grouping.axis];
}

/* Finds what all rows inside of groups have in common: the path says it, and no column has to. */
static void identify(struct ui *ui)
{
	struct view *view = &ui->view;

	memset(&view->same, 0, sizeof(view->same));
	ui->identity = (struct session_identity){0};
	if (view->step_count == 0 || ui->comparison != NULL)
		return;
	ui->identity = session_identify(ui->session, view);
	view->same.process = ui->identity.tgid != 0;
	view->same.cgroup = ui->identity.cgroup != NULL;
	view->same.user = ui->identity.has_user;
}

/* Whether COMMAND has titles to show without lookups. Once true, it stays true while past moments are shown,
 * so that columns do not jump. */
static bool has_titles(const struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);

	return (now != NULL && now->provenance.title_count != 0) || (ui->past.open && ui->view.has_titles);
}

void screen_list_refresh(struct ui *ui)
{
	const bool graphs = ui->page == PLACE_GRAPH;
	struct table *table;

	ui->view.width = ui->all_columns ? 0 : draw_screen_width();
	ui->view.cells_on_demand = true;
	ui->view.shows_identity = ui->comparison == NULL;
	ui->view.looks_up = screen_lookup_is_possible(ui);
	ui->view.commands = ui->view.looks_up ? &ui->lookups : NULL;
	ui->view.has_titles = has_titles(ui);
	if (filter_reads_commands(ui->view.filter))
		screen_lookup_read_commands(ui);
	identify(ui);
	ui->view.mark_idle = ui->keeps_order;
	ui->view.kept_key = graphs ? ui->page_row.key : ui->list.moved ? ui->list.key : NULL;
	ui->view.kept_key_length = graphs ? ui->page_row.key_length : ui->list.key_length;
	table = ui->content->make_table(ui);
	if (ui->keeps_order && session_now(ui->session) != NULL)
		frozen_apply(&ui->frozen, table, ui->view.filter == NULL && ui->comparison == NULL);
	free(ui->slow.key);
	ui->slow.key = NULL;
	list_set_table(&ui->list, table);
	table_release(ui->table);
	ui->table = table;
}

enum {
	PATH_CELLS_MIN = 12, /* that a path is cut to at most */
	NAME_CELLS_OF_PARTS = 32,
	POSITION_CELLS = 10, /* behind the tabs: where the rows stand */
};

bool screen_list_has_tab(const struct ui *ui, enum tab tab)
{
	/* that of a scheduler: while one runs, or a file has one; fields are compared in reports alone */
	return tab == ui->view.tab || tab != TAB_TASK_FIELDS ||
	       (ui->comparison == NULL && session_scheduler_runs(ui->session));
}

static bool is_gone(const struct ui *ui, size_t row)
{
	return ui->table->row_gone != 0 && table_row_is_gone(&ui->table->rows[row]);
}

bool screen_list_refuse_gone(struct ui *ui, const struct table_row *row)
{
	if (!table_row_is_gone(row))
		return false;
	screen_message(ui, STYLE_MESSAGE, "%s",
		       row->mark == ROW_MARK_GONE ? "this row is gone"
		       : ui->view.filter != NULL  ? "this row is gone, or does not match the filter now"
						  : "this row no longer shows a change");
	return true;
}

/* Draws the place of the cursor among all rows that are there, as the header counts them. */
static void draw_position(const struct ui *ui, int y, int x, int cells)
{
	char row[28], total[28], text[64];
	size_t place = ui->list.selected + 1;

	if (ui->table->row_count == 0)
		return;
	for (size_t i = 0; ui->table->row_gone != 0 && i < ui->list.selected; i++)
		place -= is_gone(ui, i);
	snprintf(text, sizeof(text), "%s/%s",
		 is_gone(ui, ui->list.selected) ? "-" : humanize_digits(place, row),
		 humanize_digits(ui->table->row_count - ui->table->row_gone, total));
	if ((int)strlen(text) < cells)
		draw_right(y, x, cells, STYLE_DIM, text);
}

static int title_width(enum tab tab)
{
	return draw_width(tabs[tab].title, strlen(tabs[tab].title));
}

/* Cells of the tab bar, with the number keys before the titles or not, and so many blanks beside a title. */
static int bar_width(const struct ui *ui, bool numbered, int blanks)
{
	int width = 0;

	for (size_t i = 0; i < tab_count(); i++) {
		const enum tab tab = tab_at(i);

		if (screen_list_has_tab(ui, tab))
			width += title_width(tab) + (numbered && tab_digit(tab) >= 0 ? 2 : 0) + blanks;
	}
	return width;
}

static int draw_tab(int y, int x, enum tab tab, bool numbered, int blanks, bool current)
{
	char text[64];

	if (numbered && tab_digit(tab) >= 0)
		snprintf(text, sizeof(text), " %d %s ", tab_digit(tab), tabs[tab].title);
	else
		snprintf(text, sizeof(text), " %s%s", tabs[tab].title, blanks > 1 ? " " : "");
	return draw_string(y, x, (int)strlen(text), current ? STYLE_TAB_CURRENT : STYLE_TAB, text);
}

static void draw_tabs(struct ui *ui, struct area area)
{
	const bool numbered = bar_width(ui, true, 2) <= area.width;
	const int blanks = numbered || bar_width(ui, false, 2) + POSITION_CELLS <= area.width ? 2 : 1;
	const bool is_cut = bar_width(ui, numbered, blanks) > area.width;
	const size_t current = tab_place(ui->view.tab);
	struct tab_bar *bar = &ui->tab_bar;
	size_t first = 0;
	int x = 0, before = 0;

	/* on a narrow screen the bar starts further right, so that the current tab is in it */
	for (size_t i = 0; i <= current && is_cut; i++) {
		if (!screen_list_has_tab(ui, tab_at(i)))
			continue;
		before += title_width(tab_at(i)) + blanks;
		while (before > area.width && first < i)
			before -= title_width(tab_at(first++)) + blanks;
	}
	bar->y = area.y;
	bar->count = 0;
	for (size_t i = first; i < tab_count() && x < area.width; i++) {
		const int start = x;

		if (!screen_list_has_tab(ui, tab_at(i)))
			continue;
		x += draw_tab(area.y, x, tab_at(i), numbered, blanks, i == current);
		bar->places[bar->count].tab = tab_at(i);
		bar->places[bar->count].x = start;
		bar->places[bar->count++].end = x;
	}
	draw_position(ui, area.y, x, area.width - x);
}

enum tab screen_list_tab_at(const struct ui *ui, int y, int x)
{
	const struct tab_bar *bar = &ui->tab_bar;

	for (size_t i = 0; i < bar->count && y == bar->y; i++) {
		if (x >= bar->places[i].x && x < bar->places[i].end)
			return bar->places[i].tab;
	}
	return TAB_COUNT;
}

/* Begins another part of the line. */
__attribute__((format(printf, 2, 3))) static void append_note(struct buffer *path, const char *format, ...)
{
	char note[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(note, sizeof(note), format, arguments);
	va_end(arguments);
	buffer_append_format(path, "%s%s", path->length != 0 ? "   " : "", note);
}

/* Says why the tab of task fields has no fields, or no values in them. */
static void append_why_no_fields(const struct ui *ui, struct buffer *path)
{
	const struct snapshot *now = session_now(ui->session);
	const struct feature_result *result = &now->provenance.features[FEATURE_TASK_FIELDS];
	const bool is_file = ui->options->file_name != NULL;

	if (now->task_fields.context_of != NULL)
		return;
	if (!session_scheduler_runs(ui->session))
		append_note(path, "%s",
			    is_file ? "no sched_ext scheduler ran when this was saved"
				    : "no sched_ext scheduler runs (e: why)");
	else if (result->state != FEATURE_STATE_OFF)
		append_note(path, "%s",
			    is_file ? "the file has nothing that the scheduler kept"
				    : "what the scheduler keeps is read in the next round");
	else
		append_note(path, "nothing is read from the scheduler: %s (e: why)",
			    result->detail != NULL ? result->detail : reason_words(result->reason));
}

static bool lacks_probe(const struct ui *ui)
{
	return !ui->host->has_heap && screen_is_of_now(ui);
}

/* Says why the tab has no numbers at all. */
static void append_why_nothing(const struct ui *ui, struct buffer *path)
{
	struct buffer why = {0};

	/* without the probe there are no rows, and that is said instead of them */
	if (ui->view.jemalloc_only && lacks_probe(ui))
		return;
	if (ui->comparison == NULL && missing_is_all(ui->session, &ui->view, &why))
		append_note(path, "no numbers here: %s", why.data);
	buffer_release(&why);
}

/* Says which rows the tab Heap leaves out. */
static void append_jemalloc_only(const struct ui *ui, struct buffer *path)
{
	const struct table *table = ui->table;
	char number[28];

	if (!ui->view.jemalloc_only || ui->comparison != NULL)
		return;
	append_note(path, "only jemalloc processes");
	if ((ui->settings.heap_off && screen_is_of_now(ui)) || lacks_probe(ui))
		return;
	if (table->jemalloc_resolving != 0)
		buffer_append_format(path, ", resolving %s",
				     humanize_digits(table->jemalloc_resolving, number));
	if (table->jemalloc_unknown != 0)
		buffer_append_format(path, ", %s not known (e: why)",
				     humanize_digits(table->jemalloc_unknown, number));
}

/* Whether the view was narrowed to a group of that axis, which its name says. */
static bool has_step(const struct view *view, enum axis axis)
{
	for (size_t i = 0; i < view->step_count; i++) {
		if (view->steps[i].axis == axis)
			return true;
	}
	return false;
}

/*
 * Who the rows are, as far as they have it in common: ", pid 4120 engine, cgroup /app.slice, user app". A
 * path that does not fit on the line loses its middle.
 */
static void append_identity(const struct ui *ui, int width, struct buffer *path)
{
	const struct session_identity *identity = &ui->identity;
	const bool is_one = identity->tgid != 0 && !has_step(&ui->view, AXIS_PID);
	const bool named = identity->process != NULL &&
			   (identity->tgid != 0 ? is_one : !has_step(&ui->view, AXIS_PROCESS));
	struct buffer user = {0};
	int room;

	if (is_one)
		buffer_append_format(path, ", pid %u", identity->tgid);
	else if (named)
		buffer_append_text(path, ", process");
	if (named) {
		buffer_append_char(path, ' ');
		buffer_append(path, identity->process, strlen(identity->process));
	}
	if (identity->has_user) {
		buffer_append_text(&user, ", user ");
		if (user_names_hold(session_now(ui->session)->provenance.hostname))
			user_name_append(&user, identity->uid);
		else
			buffer_append_u64(&user, identity->uid);
	}
	room = width - draw_width(path->data, path->length) - draw_width(user.data, user.length) -
	       (int)strlen(", cgroup ");
	if (identity->cgroup != NULL && *identity->cgroup != '\0') {
		buffer_append_text(path, ", cgroup ");
		draw_append_middle(path, room > PATH_CELLS_MIN ? room : PATH_CELLS_MIN, identity->cgroup,
				   strlen(identity->cgroup));
	}
	if (user.length != 0)
		buffer_append(path, user.data, user.length);
	buffer_release(&user);
}

/* Says what narrows the rows, but for the first steps, and what hides others; false when the line would be
 * empty. */
static bool make_path(const struct ui *ui, int width, size_t first_step, struct buffer *path)
{
	const struct view *view = &ui->view;

	if (first_step != 0)
		buffer_append_format(path, "%s > ", draw_marks()->resolving);
	for (size_t i = first_step; i < view->step_count; i++) {
		if (view->steps[i].axis != AXIS_ALL)
			buffer_append_format(path, "%s ", axes[view->steps[i].axis].word);
		buffer_append(path, view->steps[i].label, view->steps[i].label_length);
		if (filter_narrows(view->steps[i].filter)) {
			const char *text = filter_text(view->steps[i].filter);

			buffer_append_text(path, " (");
			buffer_append(path, text, strlen(text));
			buffer_append_char(path, ')');
		}
		buffer_append_text(path, " > ");
	}
	if (view->step_count != 0)
		buffer_append_text(path, view->level == VIEW_LEVEL_THREADS ? "threads"
									   : axes[view->grouping.axis].word);
	append_identity(ui, width, path);
	if (view->filter != NULL) {
		append_note(path, "filter: ");
		buffer_append(path, filter_text(view->filter), strlen(filter_text(view->filter)));
	}
	if (ui->search != NULL && ui->prompting == NULL) {
		append_note(path, "search: ");
		buffer_append(path, ui->search, strlen(ui->search));
		buffer_append_text(path, " (n N)");
	}
	if (ui->keeps_order)
		append_note(path, "order kept (f)");
	if (view->hide_kernel_threads)
		append_note(path, "kernel threads hidden");
	if (view->tab == TAB_CGROUP &&
	    (view->level != VIEW_LEVEL_GROUPS || view->grouping.axis != AXIS_CGROUP))
		append_note(path, "these columns need cgroups: press g");
	if (view->tab == TAB_TASK_FIELDS && session_now(ui->session) != NULL)
		append_why_no_fields(ui, path);
	append_why_nothing(ui, path);
	append_jemalloc_only(ui, path);
	return path->length != 0;
}

/* The course of a row in the column sorted by, for a list. */
static size_t course_of_row(void *context, const struct table_row *row, double values[], size_t limit)
{
	const struct ui *ui = context;
	struct course_point points[SPARK_CELLS_MAX];
	const unsigned int column = ui->table->columns[ui->table->sort_column].column;
	size_t count;

	count = session_course(ui->session, &ui->view, row->key, row->key_length, (enum column)column, points,
			       limit < SPARK_CELLS_MAX ? limit : SPARK_CELLS_MAX);
	for (size_t i = 0; i < count; i++)
		values[i] = points[i].value;
	return count;
}

static bool matches_search(const void *context, const struct table_row *row)
{
	const struct ui *ui = context;

	return screen_lookup_row_has(ui, row, ui->search);
}

const struct table_column *screen_list_sorted_number(const struct ui *ui)
{
	const struct table_column *column;

	if (ui->table == NULL || ui->view.sort_by_name || ui->table->sort_column >= ui->table->column_count)
		return NULL;
	column = &ui->table->columns[ui->table->sort_column];
	return column->left || column->foreign || column->column >= COLUMN_TASK_FIELDS ? NULL : column;
}

/* Whether at most the newest round is known of a row that has a number, and may have had one before. */
static bool row_lacks_past(const struct ui *ui, const struct table_row *row, enum column column)
{
	struct course_point points[SPARK_CELLS_MAX];
	size_t count;

	if (row->mark == ROW_MARK_NEW || table_row_is_gone(row) || row->cells == NULL ||
	    isnan(cell_number(&row->cells[ui->table->sort_column])))
		return false;
	count = session_course(ui->session, &ui->view, row->key, row->key_length, column, points,
			       SPARK_CELLS_MAX);
	for (size_t i = 0; i + 1 < count; i++) {
		if (!isnan(points[i].value))
			return false;
	}
	return count > 1;
}

/* The same of any row in sight. */
static bool lacks_past(struct ui *ui, enum column column)
{
	const size_t first = ui->list.top, page = ui->list.page != 0 ? ui->list.page : 1;

	if (first >= ui->table->row_count)
		return false;
	ui->content->fill(ui, first, page);
	for (size_t i = first; i < ui->table->row_count && i < first + page; i++) {
		if (row_lacks_past(ui, &ui->table->rows[i], column))
			return true;
	}
	return false;
}

/* Whether rows have come into sight for which no rounds were decoded lately: that takes its time. */
static bool is_scrolled(const struct ui *ui)
{
	return ui->list.top != ui->courses.top &&
	       clock_ns(CLOCK_MONOTONIC) - ui->courses.asked_at_ns >= COURSES_PAUSE_NS;
}

void screen_list_follow(struct ui *ui)
{
	const struct table_column *column = screen_list_sorted_number(ui);
	struct buffer of = {0};
	bool is_same;

	if (column == NULL || ui->table->row_count == 0 || !screen_has_courses(ui) ||
	    !ui_offers(ui->host, UI_REQUEST_COURSES))
		return;
	buffer_append_format(&of, "%u %d ", column->column, (int)ui->view.level);
	view_append_signature(&ui->view, ui->view.grouping.axis, ui->view.step_count, &of);
	is_same = of.length == ui->courses.of.length && memcmp(of.data, ui->courses.of.data, of.length) == 0;
	if (is_same && !is_scrolled(ui)) {
		buffer_release(&of);
		return;
	}
	buffer_release(&ui->courses.of);
	ui->courses.of = of;
	ui->courses.top = ui->list.top;
	/* from now on no answer to an earlier request is of these rows */
	if (!is_same)
		ui->courses.number++;
	if (!lacks_past(ui, (enum column)column->column))
		return;
	ui->courses.asked_at_ns = clock_ns(CLOCK_MONOTONIC);
	(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_COURSES,
							.courses = {.number = ui->courses.number,
								    .rounds = SPARK_CELLS_MAX,
								    .view = &ui->view,
								    .column = (enum column)column->column}});
}

void screen_list_take_courses(struct ui *ui, const struct ui_courses *courses)
{
	const struct table_column *column = screen_list_sorted_number(ui);

	if (courses->number == ui->courses.number && column != NULL && screen_has_courses(ui))
		session_fill_courses(ui->session, &ui->view, (enum column)column->column, courses->unix_ns,
				     courses->table);
}

/* "38 idle groups (a shows them)" */
static void append_idle(const struct ui *ui, struct buffer *text)
{
	const size_t count = ui->table->row_idle;

	if (count == 0)
		return;
	humanize_counted(text, count, ui->view.level == VIEW_LEVEL_THREADS ? "idle thread" : "idle group");
	buffer_append_format(text, " (a shows %s)", count == 1 ? "it" : "them");
}

/* Says why there are no rows: a filter by a cgroup that is mistyped, mostly. */
static void draw_why_empty(const struct ui *ui, struct area area)
{
	const struct snapshot *now = session_now(ui->session);
	struct buffer words = {0};

	if (now == NULL)
		buffer_append_text(&words, "The first round is being read.");
	else if (ui->comparison != NULL || !filter_append_unmatched(ui->view.filter, now, &words))
		buffer_append_text(&words, ui->content->why_empty(ui));
	else
		buffer_append_text(&words, "; / changes the filter");
	draw_text(area.y + 1, 1, area.width - 1, STYLE_NORMAL, words.data, words.length);
	buffer_release(&words);
}

/* Cells that names have at least, 0 for those of the rule: names of several parts get a third of the screen.
 */
static int name_cells(const struct ui *ui, int width)
{
	if (ui->comparison == NULL || ui->view.level != VIEW_LEVEL_GROUPS ||
	    ui->view.grouping.axis != AXIS_ALL)
		return 0;
	return width / 3 < NAME_CELLS_OF_PARTS ? width / 3 : NAME_CELLS_OF_PARTS;
}

int screen_list_draw(struct ui *ui, struct area area)
{
	struct buffer path = {0}, idle = {0};
	size_t first_step = 0;
	bool has_path;
	int row;

	draw_tabs(ui, area);
	area.y++;
	area.height--;
	has_path = make_path(ui, area.width, 0, &path);
	/* its end says what the rows are */
	while (has_path && first_step + 1 < ui->view.step_count &&
	       draw_width(path.data, path.length) > area.width) {
		buffer_clear(&path);
		has_path = make_path(ui, area.width, ++first_step, &path);
	}
	if (has_path) {
		draw_text(area.y, 0, area.width, STYLE_STRONG, path.data, path.length);
		area.y++;
		area.height--;
	}
	buffer_release(&path);
	append_idle(ui, &idle);
	row = list_draw(&ui->list, &(struct list_style){
					   .y = area.y,
					   .height = area.height,
					   .width = area.width,
					   .name_cells = name_cells(ui, area.width),
					   .name_title = screen_list_name_title(&ui->view),
					   .thread_ids = ui->view.level == VIEW_LEVEL_THREADS,
					   .matches = ui->search != NULL ? matches_search : NULL,
					   .unsorted = !ui->view.sort_by_name,
					   .ascending = ui->view.sort_ascending,
					   .course = screen_has_courses(ui) ? course_of_row : NULL,
					   .course_round_ns = ui->settings.interval_ns,
					   .note = idle.data,
					   .fill = ui->content->fill,
					   .context = ui,
				   });
	if (ui->table->row_count == 0 && ui->table->row_idle == 0)
		draw_why_empty(ui, area);
	buffer_release(&idle);
	return row;
}
