/* SPDX-License-Identifier: GPL-2.0-only */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "column_table.h"

const char *const view_mode_names[VIEW_MODE_COUNT] = {
	[VIEW_MODE_RATE] = "rate",
	[VIEW_MODE_INTERVAL] = "interval",
	[VIEW_MODE_BASE] = "base",
	[VIEW_MODE_TOTAL] = "total",
};

/* Opening a group goes to the next of these that it was not narrowed by yet, then to its threads. */
static const enum axis open_order[] = {AXIS_CGROUP, AXIS_PROCESS, AXIS_THREAD};

enum {
	OPEN_ORDER_COUNT = sizeof(open_order) / sizeof(open_order[0])
};

void view_initialise(struct view *view)
{
	*view = (struct view){
		.grouping.axis = AXIS_PROCESS,
		.level = VIEW_LEVEL_GROUPS,
		.tab = TAB_OVERVIEW,
		.mode = VIEW_MODE_RATE,
		.sort = COLUMN_CPU,
		.compare_sort = COMPARE_COLUMN_CHANGE,
		.focus = COLUMN_COUNT,
	};
}

void view_release(struct view *view)
{
	for (size_t i = 0; i < view->step_count; i++) {
		free(view->steps[i].key);
		filter_release(view->steps[i].filter);
	}
	view->step_count = 0;
	filter_release(view->filter);
	view->filter = NULL;
}

void view_set_tab(struct view *view, enum tab tab)
{
	view->tab = tab;
	if (!view->sort_chosen)
		view->sort = (enum column)tabs[tab].sort;
}

static struct filter *copy_filter(const struct filter *filter)
{
	return filter != NULL ? filter_parse(filter_text(filter), NULL) : NULL;
}

void view_copy(struct view *to, const struct view *from)
{
	*to = *from;
	for (size_t i = 0; i < from->step_count; i++) {
		to->steps[i].key = memory_duplicate_bytes(from->steps[i].key, from->steps[i].key_length);
		to->steps[i].filter = copy_filter(from->steps[i].filter);
	}
	to->filter = copy_filter(from->filter);
}

void view_append_signature(const struct view *view, enum axis axis, size_t step_count, struct buffer *buffer)
{
	const struct grouping_options *grouping = &view->grouping;

	buffer_append_format(buffer, "%d %d%d%d %p %zu", (int)axis, grouping->keep_thread_names,
			     grouping->keep_cgroup_names, view->hide_kernel_threads,
			     (const void *)grouping->flatten, grouping->flatten_count);
	for (size_t i = 0; i < step_count; i++) {
		buffer_append_format(buffer, " %d %zu ", (int)view->steps[i].axis, view->steps[i].key_length);
		buffer_append(buffer, view->steps[i].key, view->steps[i].key_length);
	}
}

static bool narrowed_by(const struct view *view, enum axis axis)
{
	for (size_t i = 0; i < view->step_count; i++) {
		if (view->steps[i].axis == axis)
			return true;
	}
	return false;
}

/* Goes to the axis after the one just narrowed by, or to the threads. */
static void advance(struct view *view)
{
	size_t next = 0;

	while (next < OPEN_ORDER_COUNT && open_order[next] != view->grouping.axis)
		next++;
	for (next++; next < OPEN_ORDER_COUNT; next++) {
		if (!narrowed_by(view, open_order[next])) {
			view->grouping.axis = open_order[next];
			return;
		}
	}
	view->level = VIEW_LEVEL_THREADS;
}

bool view_open(struct view *view, const char *key, size_t key_length)
{
	if (view->level == VIEW_LEVEL_THREADS || view->step_count == VIEW_STEPS_MAX)
		return false;
	view->steps[view->step_count++] = (struct view_step){
		.axis = view->grouping.axis,
		.key = memory_duplicate_bytes(key, key_length),
		.key_length = key_length,
		.filter = view->filter,
		.focus = view->focus,
	};
	view->filter = NULL;
	advance(view);
	return true;
}

char *view_close(struct view *view, size_t *ret_key_length)
{
	struct view_step left;
	bool automatic;

	if (view->step_count == 0)
		return NULL;
	do {
		left = view->steps[--view->step_count];
		filter_release(view->filter);
		view->filter = left.filter;
		automatic = left.automatic && view->step_count > 0;
		if (automatic)
			free(left.key);
	} while (automatic);
	view->grouping.axis = left.axis;
	view->level = VIEW_LEVEL_GROUPS;
	view->focus = left.focus;
	*ret_key_length = left.key_length;
	return left.key;
}

size_t view_columns(const struct view *view, enum column columns[COLUMN_TOTAL])
{
	enum column sort = view->sort_by_name ? COLUMN_COUNT : view->sort;

	if (view->columns == NULL)
		return column_list(view->tab, view->level == VIEW_LEVEL_THREADS, view->width, sort, columns);
	memcpy(columns, view->columns, view->column_count * sizeof(columns[0]));
	return view->column_count;
}

static void add_needs(enum column column, source_set *needed, bool *cgroup_records, bool *smaps)
{
	*needed |= column_sources(column);
	*cgroup_records |= column_entry(column)->operation == COLUMN_OPERATION_CGROUP;
	*smaps |= column_entry(column)->operation == COLUMN_OPERATION_SMAPS;
	/* what is sorted by lost time counts stuck threads as well */
	if (column_entry(column)->operation == COLUMN_OPERATION_LOST)
		*needed |= column_sources(COLUMN_STUCK);
}

void view_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records, bool *ret_smaps)
{
	enum column columns[COLUMN_TOTAL];
	size_t count = view_columns(view, columns);

	*ret_sources = 0;
	*ret_cgroup_records = *ret_smaps = false;
	for (size_t i = 0; i < count; i++)
		add_needs(columns[i], ret_sources, ret_cgroup_records, ret_smaps);
	if (!view->sort_by_name)
		add_needs(view->sort, ret_sources, ret_cgroup_records, ret_smaps);
	for (size_t i = 0; view->filter != NULL && filter_column(view->filter, i) != COLUMN_COUNT; i++)
		add_needs(filter_column(view->filter, i), ret_sources, ret_cgroup_records, ret_smaps);
}

static bool is_latency(enum column column)
{
	return column_entry(column)->operation == COLUMN_OPERATION_LATENCY;
}

bool view_needs_latency(const struct view *view)
{
	enum column columns[COLUMN_TOTAL];
	size_t count = view_columns(view, columns);

	for (size_t i = 0; i < count; i++) {
		if (is_latency(columns[i]))
			return true;
	}
	for (size_t i = 0; view->filter != NULL && filter_column(view->filter, i) != COLUMN_COUNT; i++) {
		if (is_latency(filter_column(view->filter, i)))
			return true;
	}
	return !view->sort_by_name && is_latency(view->sort);
}
