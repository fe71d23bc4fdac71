/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/unicode.h"

/* Titles of the first column, by axis. */
static const char *const name_titles[AXIS_COUNT] = {
	[AXIS_PROCESS] = "PROCESS",     [AXIS_CGROUP] = "CGROUP", [AXIS_THREAD] = "THREAD",
	[AXIS_THREAD_EXACT] = "THREAD", [AXIS_ALL] = "GROUP",
};

const char *screen_list_name_title(const struct view *view)
{
	return view->level == VIEW_LEVEL_THREADS ? "THREAD" : name_titles[view->grouping.axis];
}

void screen_list_refresh(struct ui *ui)
{
	struct table *table;

	ui->view.width = ui->all_columns ? 0 : draw_screen_width();
	ui->view.cells_on_demand = true;
	table = ui->content->make_table(ui);
	list_set_table(&ui->list, table);
	table_release(ui->table);
	ui->table = table;
}

enum {
	POSITION_CELLS = 10, /* behind the tabs: where the rows stand */
};

bool screen_list_has_tab(const struct ui *ui, enum tab tab)
{
	return tab == ui->view.tab || ui->content->has_tab(ui, tab);
}

/* Cells of the tab bar, with the number keys before the titles or not, and so many blanks beside a title. */
static int tab_bar_width(const struct ui *ui, bool numbered, int blanks)
{
	int width = 0;

	for (enum tab tab = 0; tab < TAB_COUNT; tab++) {
		if (screen_list_has_tab(ui, tab))
			width += (int)strlen(tabs[tab].title) + (numbered && tab_digit(tab) >= 0 ? 2 : 0) +
				 blanks;
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

/* Where the rows on the screen stand among all. */
static void draw_position(const struct ui *ui, int y, int x, int cells)
{
	char row[28], total[28], text[64];

	if (ui->table->row_count == 0)
		return;
	snprintf(text, sizeof(text), "%s/%s", number_group_digits(ui->list.selected + 1, row),
		 number_group_digits(ui->table->row_count, total));
	if ((int)strlen(text) < cells)
		draw_right(y, x, cells, STYLE_DIM, text);
}

static void draw_tabs(const struct ui *ui, struct area area)
{
	const bool numbered = tab_bar_width(ui, true, 2) <= area.width;
	const int blanks = numbered || tab_bar_width(ui, false, 2) + POSITION_CELLS <= area.width ? 2 : 1;
	enum tab first = 0;
	int x = 0, before = 0;

	/* on a narrow screen the bar starts further right, so that the current tab is in it */
	for (enum tab tab = 0; tab <= ui->view.tab && tab_bar_width(ui, numbered, blanks) > area.width;
	     tab++) {
		if (!screen_list_has_tab(ui, tab))
			continue;
		before += (int)strlen(tabs[tab].title) + blanks;
		while (before > area.width)
			before -= (int)strlen(tabs[first++].title) + blanks;
	}
	for (enum tab tab = first; tab < TAB_COUNT && x < area.width; tab++) {
		if (screen_list_has_tab(ui, tab))
			x += draw_tab(area.y, x, tab, numbered, blanks, tab == ui->view.tab);
	}
	draw_position(ui, area.y, x, area.width - x);
}

static void append_name(struct buffer *buffer, const char *name, size_t length)
{
	/* keys of several names have a NUL between them */
	for (;;) {
		const char *end = memchr(name, '\0', length);
		size_t part = end != NULL ? (size_t)(end - name) : length;

		unicode_append_printable(buffer, name, part, draw_marks()->replacement);
		if (end == NULL)
			return;
		buffer_append_text(buffer, "  ");
		length -= part + 1;
		name = end + 1;
	}
}

/* Between two parts of the line. */
static void append_gap(struct buffer *path)
{
	if (path->length != 0)
		buffer_append_text(path, "   ");
}

/* Why the tab Scx has no fields, or no values in them. */
static void append_why_no_fields(const struct ui *ui, struct buffer *path)
{
	const struct snapshot *now = session_now(ui->session);
	const struct feature_result *result = &now->provenance.features[FEATURE_SCX];

	if (now->scx.context_of != NULL)
		return;
	append_gap(path);
	if (!session_scheduler_runs(ui->session))
		buffer_append_text(path, ui->options->file_name != NULL
						 ? "no sched_ext scheduler ran when this was saved"
						 : "no sched_ext scheduler runs (e: why)");
	else if (result->state != FEATURE_STATE_OFF)
		buffer_append_text(path, ui->options->file_name != NULL
						 ? "the file has nothing that the scheduler kept"
						 : "what the scheduler keeps is read in the next round");
	else
		buffer_append_format(path, "nothing is read from the scheduler: %s (e: why)",
				     result->detail != NULL ? result->detail : reasons[result->reason].words);
}

/* What the rows were narrowed to, and what hides others; false when the line would be empty. */
static bool make_path(const struct ui *ui, struct buffer *path)
{
	const struct view *view = &ui->view;

	for (size_t i = 0; i < view->step_count; i++) {
		if (view->steps[i].axis != AXIS_ALL)
			buffer_append_format(path, "%s ", axes[view->steps[i].axis].word);
		append_name(path, view->steps[i].key, view->steps[i].key_length);
		buffer_append_text(path, " > ");
	}
	if (view->step_count != 0)
		buffer_append_text(path, view->level == VIEW_LEVEL_THREADS ? "threads"
									   : axes[view->grouping.axis].word);
	if (view->focus != COLUMN_COUNT) {
		append_gap(path);
		buffer_append_text(path, view->focus < COLUMN_COUNT
						 ? column_title(view->focus, VIEW_MODE_TOTAL)
						 : column_name(view->focus));
		buffer_append_text(path, " (Esc: all metrics)");
	}
	if (view->filter != NULL) {
		append_gap(path);
		buffer_append_text(path, "filter: ");
		append_name(path, filter_text(view->filter), strlen(filter_text(view->filter)));
	}
	if (view->hide_kernel_threads) {
		append_gap(path);
		buffer_append_text(path, "kernel threads hidden");
	}
	if (view->tab == TAB_CGROUP &&
	    (view->level != VIEW_LEVEL_GROUPS || view->grouping.axis != AXIS_CGROUP)) {
		append_gap(path);
		buffer_append_text(path, "these columns need cgroups: press g");
	}
	if (view->tab == TAB_SCX && session_now(ui->session) != NULL)
		append_why_no_fields(ui, path);
	return path->length != 0;
}

int screen_list_draw(struct ui *ui, struct area area)
{
	struct buffer path = {0};
	int row;

	draw_tabs(ui, area);
	area.y++;
	area.height--;
	if (make_path(ui, &path)) {
		draw_text(area.y, 0, area.width, STYLE_STRONG, path.data, path.length);
		area.y++;
		area.height--;
	}
	buffer_release(&path);
	row = list_draw(&ui->list, &(struct list_style){
					   .y = area.y,
					   .height = area.height,
					   .width = area.width,
					   .name_title = screen_list_name_title(&ui->view),
					   .thread_ids = ui->view.level == VIEW_LEVEL_THREADS,
					   .cut_start = ui->view.level == VIEW_LEVEL_GROUPS &&
							ui->view.grouping.axis == AXIS_CGROUP,
					   .unsorted = !ui->view.sort_by_name,
					   .ascending = ui->view.sort_ascending,
					   .fill = ui->content->fill,
					   .context = ui,
				   });
	if (ui->table->row_count == 0)
		draw_string(area.y + 1, 1, area.width - 1, STYLE_NORMAL,
			    session_now(ui->session) != NULL ? ui->content->why_empty(ui)
							     : "The first round is being read.");
	return row;
}
