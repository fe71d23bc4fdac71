/* SPDX-License-Identifier: GPL-2.0-only */
/* Metrics as rows: each is a column of its own, as are numbers of records. */
#include "compare_internal.h"

#include <string.h>

#include "table/cell_format.h"
#include "view/column_table.h"

bool compare_is_record(enum column column)
{
	return column < COLUMN_COUNT && (column_entry(column)->operation == COLUMN_OPERATION_SMAPS ||
					 column_entry(column)->operation == COLUMN_OPERATION_CGROUP);
}

bool compare_record_applies(const struct view *view, enum column column)
{
	if (!compare_is_record(column) || view->level != VIEW_LEVEL_GROUPS)
		return false;
	return column_entry(column)->operation == COLUMN_OPERATION_SMAPS ||
	       view->grouping.axis == AXIS_CGROUP;
}

bool compare_is_counter(enum column column)
{
	return !compare_is_derived(column) && !compare_is_record(column) &&
	       metric_type(compare_metric_of(column))->kind == METRIC_KIND_COUNTER &&
	       column != compare_column_of(METRIC_THREAD_COUNT);
}

static enum ladder ladder_of_unit(enum unit unit)
{
	switch (unit) {
	case UNIT_NS:
		return LADDER_NS;
	case UNIT_BYTES:
		return LADDER_BYTES;
	case UNIT_CPUS:
		return LADDER_NONE;
	default:
		return LADDER_UNITLESS;
	}
}

enum ladder compare_ladder(enum column metric)
{
	if (compare_is_record(metric))
		return ladder_of_unit(column_entry(metric)->unit);
	return compare_is_derived(metric) ? derived_metrics[compare_derived_of(metric)].ladder
					  : metric_type(compare_metric_of(metric))->ladder;
}

enum unit compare_unit(enum column metric)
{
	if (compare_is_record(metric))
		return column_entry(metric)->unit;
	if (compare_is_derived(metric) && derived_metrics[compare_derived_of(metric)].is_ratio)
		return UNIT_RATIO;
	return cell_format_unit(compare_ladder(metric));
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

	if (column > COLUMN_COUNT || compare_record_applies(set->view, column))
		add_metric(set, column);
	if (column == COLUMN_THR)
		add_metric(set, compare_column_of(METRIC_THREAD_COUNT));
	if (column > COLUMN_COUNT || !column_has_metrics(column) ||
	    entry->operation == COLUMN_OPERATION_STUCK)
		return;
	for (size_t i = 0; i < entry->input_count; i++)
		add_metric(set, compare_column_of((enum metric)entry->inputs[i]));
}

/* Means and shares of what is there already. */
static void add_derived(struct metric_set *set)
{
	for (int d = 0; d < DERIVED_COUNT; d++) {
		const struct derived_entry *entry = &derived_metrics[d];
		bool complete = true;

		for (size_t i = 0; i < entry->input_count; i++)
			complete = complete && set->has[compare_column_of(entry->inputs[i])];
		if (complete)
			add_metric(set, column_of_derived((enum derived)d));
	}
}

size_t compare_metrics(const struct view *view, enum column ret_metrics[COMPARE_METRICS_MAX])
{
	struct metric_set set = {.view = view, .metrics = ret_metrics};
	enum column columns[COLUMN_TOTAL];
	size_t count;

	if (view->focus != COLUMN_COUNT) {
		add_column(&set, view->focus);
		return set.count;
	}
	if (view->columns != NULL) {
		for (size_t i = 0; i < view->column_count; i++)
			add_column(&set, view->columns[i]);
		return set.count;
	}
	count = column_list(view->tab, view->level == VIEW_LEVEL_THREADS, 0, COLUMN_COUNT, columns);
	for (size_t i = 0; i < count; i++)
		add_column(&set, columns[i]);
	/* a tab has the same metrics for groups and threads */
	count = column_list(view->tab, view->level != VIEW_LEVEL_THREADS, 0, COLUMN_COUNT, columns);
	for (size_t i = 0; i < count; i++)
		add_column(&set, columns[i]);
	/* a capture reads the memory of processes, a round only where it is looked at: that is expensive */
	if (view->tab == TAB_OVERVIEW && view->mode == VIEW_MODE_TOTAL)
		add_column(&set, COLUMN_RSS);
	add_derived(&set);
	return set.count;
}

void compare_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records,
		   bool *ret_smaps)
{
	enum column wanted[COMPARE_METRICS_MAX];
	size_t count = compare_metrics(view, wanted);

	*ret_sources = 0;
	*ret_cgroup_records = *ret_smaps = false;
	for (size_t i = 0; i < count; i++) {
		*ret_sources |= column_sources(wanted[i]);
		if (compare_is_record(wanted[i]))
			*(column_entry(wanted[i])->operation == COLUMN_OPERATION_SMAPS
				  ? ret_smaps
				  : ret_cgroup_records) = true;
	}
}

/* --- keys of rows: "METRIC\0SUBJECT" --- */

void compare_append_key(enum column metric, const char *subject, size_t subject_length, struct buffer *buffer)
{
	buffer_append_text(buffer, column_name(metric));
	buffer_append_char(buffer, '\0');
	buffer_append(buffer, subject, subject_length);
}

static enum column find_metric(const char *name, size_t length)
{
	enum metric metric = metric_find(name, length);
	enum derived derived = derived_find(name, length);

	if (metric != METRIC_NONE)
		return compare_column_of(metric);
	if (derived != DERIVED_NONE)
		return column_of_derived(derived);
	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		if (compare_is_record(column) && strlen(column_name(column)) == length &&
		    memcmp(column_name(column), name, length) == 0)
			return column;
	}
	return COLUMN_COUNT;
}

bool compare_split_key(const char *key, size_t key_length, enum column *ret_metric, const char **ret_subject,
		       size_t *ret_subject_length)
{
	const char *end = memchr(key, '\0', key_length);

	if (end == NULL)
		return false;
	*ret_metric = find_metric(key, (size_t)(end - key));
	*ret_subject = end + 1;
	*ret_subject_length = key_length - (size_t)(end + 1 - key);
	return *ret_metric != COLUMN_COUNT;
}
