/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot/snapshot.h"
#include "table/column_list.h"
#include "table/tab.h"
#include "window/column.h"

void navigate_tell_host(struct ui *ui)
{
	struct ui_settings *settings = &ui->settings;

	if (!ui_is_live(ui->host))
		return;
	view_needs(&ui->view, &settings->needed, &settings->cgroup_records, &settings->smaps);
	if (ui->overlay == OVERLAY_USERS)
		settings->needed |= column_sources(COLUMN_USER_NAME);
	settings->task_fields = view_needs_task_fields(&ui->view) || ui->page == PLACE_METRICS;
	/* the page of all metrics shows every source but the expensive ones */
	if (ui->page == PLACE_METRICS) {
		for (enum source source = 0; source < SOURCE_COUNT; source++) {
			if ((sources[source].flags & SOURCE_EXPENSIVE) == 0)
				settings->needed |= source_bit(source);
		}
	}
	ui->host->change_settings(ui->host->context, settings);
}

void navigate_read_limits(struct ui *ui, uint32_t cgroup)
{
	uint32_t *of = ui->settings.limits_of;
	size_t place = 0;

	while (place < UI_LIMITS_MAX - 1 && of[place] != cgroup)
		place++;
	if (cgroup == 0 || of[0] == cgroup)
		return;
	memmove(of + 1, of, place * sizeof(*of));
	of[0] = cgroup;
	navigate_tell_host(ui);
}

void navigate_change_rows(struct ui *ui)
{
	frozen_release(&ui->frozen);
	ui->all_columns = false;
	list_reset(&ui->list);
	screen_list_refresh(ui);
	navigate_tell_host(ui);
}

void navigate_change_cells(struct ui *ui)
{
	screen_list_refresh(ui);
	/* in another order, a cursor that was not moved stays on top */
	if (!ui->list.moved)
		list_show_top(&ui->list);
	navigate_tell_host(ui);
}

/* The same rows in another order: shows the top of it. */
static void change_order(struct ui *ui)
{
	screen_list_refresh(ui);
	list_show_top(&ui->list);
	navigate_tell_host(ui);
}

void navigate_metrics(struct ui *ui)
{
	screen_metrics_open(ui);
	navigate_tell_host(ui);
}

static bool open_row(struct ui *ui, const struct table_row *row, bool automatic)
{
	const size_t top = ui->list.top;

	if (!view_open(&ui->view, row->key, row->key_length, row->label, row->label_length))
		return false;
	ui->view.steps[ui->view.step_count - 1].automatic = automatic;
	ui->tops[ui->view.step_count - 1] = top;
	navigate_change_rows(ui);
	return true;
}

void navigate_open(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->list);

	if (row == NULL || screen_list_refuse_gone(ui, row))
		return;
	if (ui->view.level == VIEW_LEVEL_THREADS) {
		navigate_metrics(ui);
		return;
	}
	if (!open_row(ui, row, false))
		return;
	/* a single group, none hidden beside it, has the numbers of its parent */
	while (ui->view.level == VIEW_LEVEL_GROUPS && ui->table->row_count == 1 && ui->table->row_idle == 0 &&
	       !ui->view.jemalloc_only) {
		if (!open_row(ui, &ui->table->rows[0], true))
			return;
	}
}

/* The rows are again what they were before the tab of cgroups had its own; false where that is not so. */
static bool leave_cgroups(struct ui *ui)
{
	struct view *view = &ui->view;

	if (!ui->axis_left.present || view->level != VIEW_LEVEL_GROUPS || view->grouping.axis != AXIS_CGROUP)
		return false;
	view->grouping.axis = ui->axis_left.axis;
	view->level = ui->axis_left.level;
	ui->axis_left.present = false;
	return true;
}

bool navigate_back(struct ui *ui)
{
	size_t key_length;
	char *key = view_close(&ui->view, &key_length);

	if (key == NULL)
		return false;
	if (ui->comparison == NULL && ui->view.step_count == 0 && ui->view.tab != TAB_CGROUP)
		(void)leave_cgroups(ui);
	navigate_change_rows(ui);
	ui->list.top = ui->tops[ui->view.step_count];
	list_select(&ui->list, key, key_length);
	free(key);
	return true;
}

size_t navigate_axes(const struct ui *ui, enum axis order[AXIS_COUNT])
{
	/* AXIS_ALL joins renamed cgroups, which only a comparison does */
	static const enum axis axes_of_session[] = {AXIS_PROCESS, AXIS_PID,  AXIS_CGROUP, AXIS_CONTAINER,
						    AXIS_THREAD,  AXIS_USER, AXIS_WAIT};
	/* a process of before is none of after */
	static const enum axis axes_of_comparison[] = {AXIS_ALL,       AXIS_PROCESS, AXIS_CGROUP,
						       AXIS_CONTAINER, AXIS_THREAD,  AXIS_USER};

	if (ui->comparison != NULL) {
		memcpy(order, axes_of_comparison, sizeof(axes_of_comparison));
		return ARRAY_COUNT(axes_of_comparison);
	}
	memcpy(order, axes_of_session, sizeof(axes_of_session));
	return ARRAY_COUNT(axes_of_session);
}

void navigate_axis(struct ui *ui, enum axis axis)
{
	ui->view.level = axis == AXIS_COUNT ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
	if (axis != AXIS_COUNT)
		ui->view.grouping.axis = axis;
	navigate_change_rows(ui);
}

void navigate_names(struct ui *ui)
{
	struct grouping_options *grouping = &ui->view.grouping;
	/* whoever asks for containers wants to see each of them at first */
	bool *keep = grouping->axis == AXIS_CGROUP      ? &grouping->keep_cgroup_names
		     : grouping->axis == AXIS_CONTAINER ? &grouping->fold_containers
							: &grouping->keep_thread_names;

	if (ui->view.level == VIEW_LEVEL_THREADS) {
		screen_message(ui, STYLE_MESSAGE, "threads have their exact names here; g groups them");
		return;
	}
	if (ui->view.step_count != 0) {
		screen_message(ui, STYLE_MESSAGE, "names change at the top only; Esc goes back");
		return;
	}
	*keep = !*keep;
	navigate_change_rows(ui);
}

/* The tab that a key asks for; TAB_COUNT for none. */
static enum tab asked_tab(const struct ui *ui)
{
	const size_t count = tab_count();
	size_t place = 0;

	if (ui->action != ACTION_NUMBERED_TAB) {
		place = tab_place(ui->view.tab);
		do {
			place = (place + (ui->action == ACTION_NEXT_TAB ? 1 : count - 1)) % count;
		} while (!screen_list_has_tab(ui, tab_at(place)));
		return tab_at(place);
	}
	while (place < count && tab_digit(tab_at(place)) != ui->key - '0')
		place++;
	return place < count ? tab_at(place) : TAB_COUNT;
}

void navigate_tab(struct ui *ui)
{
	enum tab tab = asked_tab(ui);

	if (tab != TAB_COUNT)
		navigate_to_tab(ui, tab);
}

/*
 * Numbers of cgroups belong to rows of cgroups: their tab shows these, and the others what there was before,
 * unless the user has gone elsewhere meanwhile. Returns whether the rows are others now.
 */
static bool follow_cgroup_tab(struct ui *ui, enum tab tab)
{
	struct view *view = &ui->view;
	const bool on_cgroups = view->level == VIEW_LEVEL_GROUPS && view->grouping.axis == AXIS_CGROUP;

	if (ui->comparison != NULL || view->step_count != 0 ||
	    (tab == TAB_CGROUP) == (view->tab == TAB_CGROUP))
		return false;
	if (tab == TAB_CGROUP && !on_cgroups) {
		ui->axis_left = (struct axis_left){true, view->grouping.axis, view->level};
		view->grouping.axis = AXIS_CGROUP;
		view->level = VIEW_LEVEL_GROUPS;
		return true;
	}
	return tab != TAB_CGROUP && leave_cgroups(ui);
}

void navigate_begin(struct ui *ui)
{
	struct view *view = &ui->view;

	if (ui->options->file_name != NULL && session_previous(ui->session) == NULL)
		view->mode = WINDOW_MODE_TOTAL;
	if (view->axis_of_tab)
		ui->axis_left = (struct axis_left){true, AXIS_PROCESS, VIEW_LEVEL_GROUPS};
	ui->columns_given.tab = view->tab;
	ui->columns_given.items = view->columns;
	ui->columns_given.count = view->column_count;
}

/* Columns of the command line are those of one tab; leaving it says how to find them again. */
static void follow_columns(struct ui *ui, enum tab tab)
{
	const bool given = tab == ui->columns_given.tab && ui->columns_given.items != NULL;

	if (ui->view.columns != NULL && !given) {
		const enum tab first = ui->columns_given.tab;

		if (tab_digit(first) >= 0)
			screen_message(ui, STYLE_MESSAGE, "the columns of --columns are on the tab %s (%d)",
				       tabs[first].title, tab_digit(first));
		else
			screen_message(ui, STYLE_MESSAGE, "the columns of --columns are on the tab %s",
				       tabs[first].title);
	}
	ui->view.columns = given ? ui->columns_given.items : NULL;
	ui->view.column_count = given ? ui->columns_given.count : 0;
}

void navigate_to_tab(struct ui *ui, enum tab tab)
{
	const bool other_rows = follow_cgroup_tab(ui, tab);

	if (tab != TAB_CGROUP && ui->view.step_count == 0)
		ui->axis_left.present = false;
	follow_columns(ui, tab);
	/* where a tab has rows of its own, those of another are not gone */
	if (ui->comparison != NULL || tab == TAB_HEAP || ui->view.tab == TAB_HEAP)
		frozen_release(&ui->frozen);
	view_set_tab(&ui->view, tab);
	ui->all_columns = false;
	list_reset_columns(&ui->list);
	if (other_rows)
		navigate_change_rows(ui);
	else
		change_order(ui);
}

/* Leaves pages that show fields of another scheduler, or of none. */
static void change_scheduler(struct ui *ui, const char *name, bool replaced)
{
	if (ui->view.tab != TAB_TASK_FIELDS)
		return;
	if (ui->overlay == OVERLAY_EXPLAIN || ui->overlay == OVERLAY_CHOOSER || ui->overlay == OVERLAY_USERS)
		ui->overlay = OVERLAY_NONE;
	ui->all_columns = false;
	list_reset_columns(&ui->list);
	if (replaced)
		screen_message(ui, STYLE_MESSAGE, "the scheduler %s was started; this is what it keeps",
			       name);
}

bool navigate_follow_scheduler(struct ui *ui)
{
	const enum column sort = ui->view.sort;
	const struct task_field_owner *scheduler = session_scheduler(ui->session);
	const char *name = scheduler != NULL                     ? scheduler->name
			   : session_scheduler_runs(ui->session) ? ""
								 : NULL;
	char *last = ui->scheduler;
	const bool was_there = last != NULL, same = was_there && name != NULL && strcmp(last, name) == 0;
	const bool changed = view_set_scheduler(&ui->view, scheduler);

	ui->scheduler = name != NULL ? memory_duplicate(name) : NULL;
	if (ui->comparison != NULL)
		view_set_scheduler(&ui->plain_view, scheduler);
	if (was_there && name == NULL) {
		const bool shown = ui->view.tab == TAB_TASK_FIELDS;

		change_scheduler(ui, NULL, false);
		/* schedulers are often started again: whoever looks at one waits for the next */
		ui->awaits_scheduler = shown;
		if (shown)
			screen_message(ui, STYLE_MESSAGE,
				       "the scheduler%s%s is gone; waiting for another one",
				       *last != '\0' ? " " : "", last);
	} else if (changed || (was_there && !same)) {
		const bool named = name != NULL && *name != '\0';

		change_scheduler(ui, name,
				 named && (ui->awaits_scheduler || (was_there && !same && *last != '\0')));
		ui->awaits_scheduler &= !named;
	}
	free(last);
	return ui->view.sort != sort;
}

void navigate_freeze(struct ui *ui)
{
	if (!ui_is_live(ui->host)) {
		screen_message(ui, STYLE_MESSAGE, "nothing changes here: the order stays as it is");
		return;
	}
	ui->keeps_order = !ui->keeps_order;
	frozen_release(&ui->frozen);
	navigate_change_cells(ui);
}

void navigate_idle(struct ui *ui)
{
	if (ui->comparison != NULL) {
		screen_message(ui, STYLE_MESSAGE,
			       "in a comparison = hides and shows rows that did not change");
		return;
	}
	/* again: hidden everywhere */
	ui->view.hide_idle = !view_hides_idle(&ui->view);
	ui->view.fold_idle = false;
	frozen_release(&ui->frozen);
	navigate_change_cells(ui);
}

void navigate_kernel_threads(struct ui *ui)
{
	frozen_release(&ui->frozen);
	ui->view.hide_kernel_threads = !ui->view.hide_kernel_threads;
	navigate_change_cells(ui);
}

void navigate_right(struct ui *ui)
{
	const size_t marked = list_column(&ui->list);
	uint32_t column;

	if (marked == SIZE_MAX || marked != ui->table->column_count - 1 || ui->all_columns) {
		list_mark_right(&ui->list);
		return;
	}
	column = ui->table->columns[marked].column;
	ui->all_columns = true;
	navigate_change_cells(ui);
	/* the first of those that had no room: what says who a row is stands behind them */
	if (marked < ui->table->column_count)
		list_mark_column(&ui->list, marked + (ui->table->columns[marked].column == column));
}

/* Says why nothing can be sorted or filtered by a column; false where that is not so. */
static bool refuse(struct ui *ui, unsigned int column)
{
	struct buffer words = {0};
	bool refused;

	/* what a comparison is of was read at another time */
	if (ui->comparison != NULL || column >= COLUMN_TOTAL || column == COLUMN_COUNT)
		return false;
	refused = session_refuse_column(ui->session, &ui->view, (enum column)column, &words);
	if (refused)
		screen_message(ui, STYLE_ERROR, "%s", words.data);
	buffer_release(&words);
	return refused;
}

/* Says that there are no rates that a filter could compare; false where there are. */
static bool refuse_rate(struct ui *ui, const struct filter *filter)
{
	const bool has_rates = ui->comparison != NULL ? compare_has_rates(ui->comparison)
						      : ui->options->file_name == NULL ||
								session_previous(ui->session) != NULL;
	const enum column column = filter != NULL && !has_rates ? filter_rate(filter) : COLUMN_COUNT;

	if (column == COLUMN_COUNT)
		return false;
	screen_message(ui, STYLE_ERROR, "%s is a rate, which only %s: filter by %s",
		       column_title(column, WINDOW_MODE_RATE),
		       ui->comparison != NULL ? "two windows have" : "a file with a window has",
		       column_title(column, WINDOW_MODE_TOTAL));
	return true;
}

bool navigate_refuse_filter(struct ui *ui, const struct filter *filter)
{
	if (refuse_rate(ui, filter))
		return true;
	for (size_t i = 0; filter != NULL && filter_column(filter, i) != COLUMN_COUNT; i++) {
		if (refuse(ui, filter_column(filter, i)))
			return true;
	}
	return false;
}

void navigate_check_options(struct ui *ui)
{
	struct view *view = &ui->view;

	(void)navigate_refuse_filter(ui, view->filter);
	if (!view->sort_chosen || view->sort_by_name || !refuse(ui, view->sort))
		return;
	view_forget_sort(view);
}

void navigate_sort(struct ui *ui, unsigned int column)
{
	struct view *view = &ui->view;

	if (column < COLUMN_COUNT && column_is_looked_up((enum column)column)) {
		screen_message(ui, STYLE_MESSAGE, "Cannot sort by %s: it is read only for visible rows",
			       column_title((enum column)column, WINDOW_MODE_RATE));
		return;
	}
	if (refuse(ui, column))
		return;
	/* another order is kept from now on */
	frozen_release(&ui->frozen);
	view->sort_by_name = column == COLUMN_COUNT;
	view->sort_chosen = true;
	view->sort_tab = view->tab;
	/* words from A on, numbers from the largest down */
	view->sort_ascending = view->sort_by_name ||
			       (column < COLUMN_COUNT && column_is_identity((enum column)column));
	view->sort_by_change = column == VIEW_SORT_CHANGE;
	if (!view->sort_by_name && !view->sort_by_change)
		view->sort = (enum column)column;
	change_order(ui);
}

/* Whether a column of this table is no order: it cannot be read, or is only for rows that are seen. */
static bool is_no_order(struct ui *ui, unsigned int column)
{
	return ui->comparison == NULL &&
	       ((column < COLUMN_COUNT && column_is_looked_up((enum column)column)) ||
		session_why_unavailable(ui->session, &ui->view, (enum column)column, NULL));
}

void navigate_sort_neighbour(struct ui *ui)
{
	const struct table *table = ui->table;
	const long step = ui->action == ACTION_SORT_LEFT ? -1 : 1;
	long column = table->sort_column == SIZE_MAX ? -1 : (long)table->sort_column;

	/* over what would be in the way of the next */
	do {
		column += step;
	} while (column >= 0 && column < (long)table->column_count &&
		 is_no_order(ui, table->columns[column].column));
	if (column >= -1 && column < (long)table->column_count)
		navigate_sort(ui, column == -1 ? COLUMN_COUNT : table->columns[column].column);
}

void navigate_reverse(struct ui *ui)
{
	frozen_release(&ui->frozen);
	ui->view.sort_ascending = !ui->view.sort_ascending;
	ui->view.sort_chosen = true;
	ui->view.sort_tab = ui->view.tab;
	change_order(ui);
}
