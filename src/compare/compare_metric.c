/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics as rows: each is a column of its own, as are numbers of records. */
#include "compare_internal.h"

#include <string.h>

#include "table/cell_format.h"
#include "table/column_list.h"
#include "table/tab.h"
#include "window/column.h"

bool compare_record_applies(const struct view *view, enum column column)
{
	if (!column_is_record(column) || view->level != VIEW_LEVEL_GROUPS)
		return false;
	return column_entry(column)->operation != COLUMN_OPERATION_CGROUP ||
	       view->grouping.axis == AXIS_CGROUP;
}

/* --- the metrics of a view --- */

struct metric_set {
	const struct view *view;
	bool has[COLUMN_TOTAL];
	enum column *metrics;
	size_t count;
};

static void add_metric(struct metric_set *set, enum column metric)
{
	if (set->has[metric])
		return;
	set->has[metric] = true;
	set->metrics[set->count++] = metric;
}

/* The metrics that a column is made of: those whose change says something. */
static void add_column(struct metric_set *set, enum column column)
{
	const struct column_entry *entry = column_entry(column);

	/* reports have what schedulers keep, a comparison on the screen does not */
	if (column_is_task_field(column))
		return;
	if (column > COLUMN_COUNT || compare_record_applies(set->view, column))
		add_metric(set, column);
	if (column == COLUMN_THR)
		add_metric(set, column_of_stored(METRIC_THREAD_COUNT));
	if (column > COLUMN_COUNT || !column_has_metrics(column) ||
	    entry->operation == COLUMN_OPERATION_STUCK)
		return;
	for (size_t i = 0; i < entry->input_count; i++)
		add_metric(set, column_of_stored((enum metric)entry->inputs[i]));
}

static void add_columns(struct metric_set *set, const enum column columns[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_column(set, columns[i]);
}

/* Means and shares of what is there already. */
static void add_derived(struct metric_set *set)
{
	for (int d = 0; d < DERIVED_COUNT; d++) {
		const struct derived_entry *entry = &derived_metrics[d];
		bool complete = true;

		for (size_t i = 0; i < entry->input_count; i++)
			complete = complete && set->has[column_of_stored(entry->inputs[i])];
		if (complete)
			add_metric(set, column_of_derived((enum derived)d));
	}
}

size_t compare_metrics(const struct view *view, enum column ret_metrics[COLUMN_TOTAL])
{
	struct metric_set set = {.view = view, .metrics = ret_metrics};
	enum column columns[COLUMN_TOTAL];
	size_t count;

	if (view->focus != COLUMN_COUNT) {
		add_columns(&set, &view->focus, 1);
		return set.count;
	}
	if (view->columns != NULL) {
		add_columns(&set, view->columns, view->column_count);
		return set.count;
	}
	/* a tab has the same metrics for groups and threads: those of the rows come first */
	count = column_list(view->tab, view->level == VIEW_LEVEL_THREADS, 0, COLUMN_COUNT, columns);
	add_columns(&set, columns, count);
	count = column_list(view->tab, view->level != VIEW_LEVEL_THREADS, 0, COLUMN_COUNT, columns);
	add_columns(&set, columns, count);
	add_derived(&set);
	return set.count;
}

void compare_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records,
		   bool *ret_smaps)
{
	enum column wanted[COLUMN_TOTAL];
	size_t count = compare_metrics(view, wanted);

	*ret_sources = 0;
	*ret_cgroup_records = *ret_smaps = false;
	for (size_t i = 0; i < count; i++) {
		*ret_sources |= column_sources(wanted[i]);
		*ret_cgroup_records |= column_entry(wanted[i])->operation == COLUMN_OPERATION_CGROUP;
		*ret_smaps |= column_entry(wanted[i])->operation == COLUMN_OPERATION_SMAPS;
	}
	for (size_t step = 0; step <= view->step_count; step++) {
		const struct filter *filter = view_filter_at(view, step);

		for (size_t i = 0; filter != NULL && filter_column(filter, i) != COLUMN_COUNT; i++)
			*ret_sources |= column_sources(filter_column(filter, i));
	}
}

/* --- keys of rows: "METRIC\0SUBJECT" --- */

void compare_append_key(enum column metric, const char *subject, size_t subject_length, struct buffer *buffer)
{
	buffer_append_text(buffer, column_name(metric));
	buffer_append_char(buffer, '\0');
	buffer_append(buffer, subject, subject_length);
}

size_t compare_find_row(const struct compare_subjects *subjects, const char *key, size_t key_length,
			enum column *ret_metric)
{
	const char *end = memchr(key, '\0', key_length);

	for (enum column column = 0; end != NULL && column < COLUMN_TASK_FIELDS; column++) {
		bool has_rows = column > COLUMN_COUNT || column_is_record(column);

		if (has_rows && strcmp(column_name(column), key) == 0) {
			*ret_metric = column;
			return compare_subjects_find(subjects, end + 1, key_length - (size_t)(end + 1 - key));
		}
	}
	return SIZE_MAX;
}
