/* SPDX-License-Identifier: GPL-2.0-only */
/* The details of a row of a comparison: all of its metrics, one number explained, its threads. */
#include "compare_internal.h"
#include "diff_summary.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>

#include "base/number.h"
#include "table/explain.h"
#include "window/column.h"

/* --- all metrics --- */

enum {
	CELL_BEFORE,
	CELL_AFTER,
	CELL_CHANGE,
	CELL_PERCENT,
	CELL_SOURCE,
	CELL_COUNT,
};

static const struct table_column metric_columns[CELL_COUNT] = {
	[CELL_BEFORE] = {.name = "before", .title = "before", .width = 9},
	[CELL_AFTER] = {.name = "after", .title = "after", .width = 9},
	[CELL_CHANGE] = {.name = "change", .title = "change", .width = 9},
	[CELL_PERCENT] = {.name = "percent", .title = "%", .width = 8},
	[CELL_SOURCE] = {.name = "source", .title = "source", .left = true, .width = 12},
};

/* Where the number of after came from, or why a side has none. */
static const char *source_text(const struct comparison *comparison, enum column metric,
			       const struct diff_value *value, struct arena *arena)
{
	const struct snapshot *after = compare_side(comparison, DIFF_AFTER);
	enum source source;
	const char *name;

	if (column_is_derived(metric))
		return derived_metrics[column_derived(metric)].formula;
	if (column_is_record(metric))
		return column_entry(metric)->operation == COLUMN_OPERATION_SMAPS      ? "smaps_rollup"
		       : column_entry(metric)->operation == COLUMN_OPERATION_RESIDENT ? "stat"
										      : "cgroup";
	source = after->metric_source[column_metric(metric)];
	name = source != SOURCE_NONE ? sources[source].name : "";
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (value->side[side].state == VALUE_UNAVAILABLE || value->side[side].partial)
			return arena_format(
				arena, "%s: %s %s", name, side == DIFF_BEFORE ? "before" : "after",
				snapshot_reason_words(compare_side(comparison, (enum diff_side)side),
						      value->side[side].reason));
	}
	return name;
}

static void add_metric_row(const struct compare_subjects *subjects, size_t subject, enum column metric,
			   struct table *table)
{
	struct diff_value value = compare_value(subjects, subject, metric);
	enum row_mark mark = compare_subject_mark(subjects, subject);
	struct table_row *row = table_add_named_row(table, column_name(metric), column_name(metric));

	for (int side = 0; side < DIFF_SIDE_COUNT; side++)
		compare_side_cell(subjects, subject, metric, &value, (enum diff_side)side, &table->arena,
				  &row->cells[CELL_BEFORE + side]);
	compare_change_cell(&value, metric, &table->arena, &row->cells[CELL_CHANGE]);
	compare_percent_cell(&value, mark, &table->arena, &row->cells[CELL_PERCENT]);
	row->cells[CELL_SOURCE] = cell_of_text(
		source_text(subjects->comparison, metric, &value, &table->arena));
}

struct table *compare_metric_table(struct comparison *comparison, const struct view *view, const char *key,
				   size_t key_length)
{
	struct compare_subjects subjects;
	struct table *table = NULL;
	enum column metric;
	size_t subject;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return NULL;
	compare_subjects_collect(comparison, view, &subjects);
	subject = compare_find_row(&subjects, key, key_length, &metric);
	if (subject != SIZE_MAX) {
		table = table_create_with(NULL, metric_columns, CELL_COUNT);
		for (enum column i = COLUMN_METRICS; i < COLUMN_TASK_FIELDS; i++)
			add_metric_row(&subjects, subject, i, table);
		for (enum column i = 0; i < COLUMN_COUNT; i++) {
			if (compare_record_applies(view, i))
				add_metric_row(&subjects, subject, i, table);
		}
	}
	compare_subjects_release(&subjects);
	return table;
}

/* --- the explanation --- */

/* A number with all of its digits and its unit. */
static void append_number(double number, enum unit unit, struct buffer *lines)
{
	char digits[28];

	if (fabs(number) < 0x1p63 && number == floor(number))
		buffer_append_format(lines, "%s%s", number < 0 ? "-" : "",
				     number_group_digits((uint64_t)fabs(number), digits));
	else
		buffer_append_format(lines, "%.3f", number);
	buffer_append_text(lines, explain_unit(unit));
}

/* How many threads of a side contributed to a metric, and why the others did not. */
static void append_coverage(const struct compare_subjects *subjects, size_t subject, enum metric metric,
			    enum diff_side side, struct buffer *lines)
{
	const struct snapshot *snapshot = compare_side(subjects->comparison, side);
	uint64_t by_state[WINDOW_ABSENT + 1] = {0};
	char text[28], total[28];

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (compare_subject_has(subjects, subject, side, i))
			by_state[explain_state(snapshot, i, metric)]++;
	}
	buffer_append_format(lines, "  %s: read of %s of %s threads\n", metrics[metric].name,
			     number_group_digits(by_state[REASON_READ], text),
			     number_group_digits(compare_subject_threads(subjects, subject, side), total));
	explain_missing(snapshot, by_state, "it does not apply, or not measured", lines);
}

static void append_side(const struct compare_subjects *subjects, size_t subject, enum column metric,
			const struct diff_side_value *value, enum diff_side side, struct buffer *lines)
{
	const struct derived_entry *entry;

	buffer_append_text(lines, side == DIFF_BEFORE ? "Before: " : "After: ");
	if (compare_subject_threads(subjects, subject, side) == 0) {
		buffer_append_text(lines, "not there\n");
		return;
	}
	if (value->state == VALUE_READ && value->has_number) {
		buffer_append_text(lines, value->partial ? "at least " : "");
		append_number(value->number, column_report_unit(metric), lines);
	} else if (value->state == VALUE_UNAVAILABLE) {
		buffer_append_text(lines, "unavailable");
	} else if (value->state == VALUE_ABSENT) {
		buffer_append_text(lines,
				   "does not apply, was not measured, or there is nothing to divide by");
	}
	buffer_append_char(lines, '\n');
	if (column_is_record(metric))
		return;
	if (!column_is_derived(metric)) {
		append_coverage(subjects, subject, column_metric(metric), side, lines);
		return;
	}
	entry = &derived_metrics[column_derived(metric)];
	for (size_t i = 0; i < entry->input_count; i++)
		append_coverage(subjects, subject, entry->inputs[i], side, lines);
}

static void append_change(const struct compare_subjects *subjects, size_t subject, enum column metric,
			  const struct diff_value *value, struct buffer *lines)
{
	enum row_mark mark = compare_subject_mark(subjects, subject);

	if (value->has_delta) {
		buffer_append_text(lines, "Change: ");
		buffer_append_text(lines, value->delta > 0 ? "+" : "");
		append_number(value->delta, column_report_unit(metric), lines);
		if (value->has_fraction)
			buffer_append_format(lines, ", %+.1f percent", value->fraction * 100);
		buffer_append_char(lines, '\n');
	} else if (mark == ROW_MARK_NEW || mark == ROW_MARK_LEFT) {
		buffer_append_text(lines, "Change: not given, since it is on one side only. It is sorted as "
					  "if it had been zero on the other.\n");
	} else if (!value->is_category || value->state != VALUE_READ) {
		buffer_append_text(
			lines, "Change: not known, since a side lacks a number or some of its threads.\n");
	}
}

/* Appends what became of the threads of a group; `what` names them behind the first number. */
static void append_counts(const struct diff_match_count *threads, const char *what, struct buffer *buffer)
{
	char same[28], came[28], gone[28];

	buffer_append_format(
		buffer, "%s%s the same, %s came, %s gone", number_group_digits(threads->same, same), what,
		number_group_digits(threads->came, came), number_group_digits(threads->went, gone));
}

static void append_threads(const struct compare_subjects *subjects, size_t subject, struct buffer *lines)
{
	struct diff_match_count threads;

	if (subjects->join == NULL)
		return;
	if (!compare_subject_same(subjects, subject, &threads)) {
		buffer_append_text(lines, "The captures are not known to be of one boot: ctop cannot tell "
					  "which threads are the same.\n");
		return;
	}
	buffer_append_text(lines, "Threads: ");
	append_counts(&threads, "", lines);
	buffer_append_text(lines, ".\n");
	if (compare_by_threads(subjects->comparison))
		buffer_append_text(
			lines, "A counter's change is what the same threads did, whatever group they were in "
			       "before, and what new ones did since they started. What gone threads had "
			       "counted is left out of before. d shows the sums of the group.\n");
	else if (threads.came != 0 || threads.went != 0)
		buffer_append_text(lines,
				   "What gone threads had counted went with them, and new ones began at 0: "
				   "open the row for the change of each thread.\n");
}

static void append_rename(const struct compare_subjects *subjects, size_t subject, struct buffer *lines)
{
	const char *before = compare_subject_cgroup(subjects, subject, DIFF_BEFORE);

	if (before != NULL)
		buffer_append_format(lines,
				     "The cgroup was renamed from %s to %s, by the types of its threads.\n",
				     before, compare_subject_cgroup(subjects, subject, DIFF_AFTER));
}

static void append_metric(const struct compare_subjects *subjects, size_t subject, enum column metric,
			  struct buffer *lines)
{
	struct diff_value value = compare_value(subjects, subject, metric);

	if (column_is_record(metric))
		buffer_append_format(lines, "%s: %s\n", column_name(metric), column_description(metric));
	else if (column_is_derived(metric))
		buffer_append_format(lines, "%s: %s\n  = %s\n", column_name(metric),
				     column_description(metric),
				     derived_metrics[column_derived(metric)].formula);
	else
		explain_metric(compare_side(subjects->comparison, DIFF_AFTER), column_metric(metric), lines);
	for (int side = 0; side < DIFF_SIDE_COUNT; side++)
		append_side(subjects, subject, metric, &value.side[side], (enum diff_side)side, lines);
	append_change(subjects, subject, metric, &value, lines);
}

void compare_explain(struct comparison *comparison, const struct view *view, const char *key,
		     size_t key_length, struct buffer *lines)
{
	struct compare_subjects subjects;
	enum column metric;
	size_t subject;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return;
	compare_subjects_collect(comparison, view, &subjects);
	subject = compare_find_row(&subjects, key, key_length, &metric);
	if (subject == SIZE_MAX) {
		buffer_append_text(lines, "This row is gone.\n");
	} else {
		append_metric(&subjects, subject, metric, lines);
		append_rename(&subjects, subject, lines);
		append_threads(&subjects, subject, lines);
	}
	compare_subjects_release(&subjects);
}

/* --- what is said of a row --- */

static void append_name(const struct compare_subjects *subjects, size_t subject, struct buffer *buffer)
{
	const struct diff_pair *pair;
	const char *process, *renamed;

	if (subjects->join == NULL || subjects->join->diff->options.grouping.axis != AXIS_ALL) {
		struct compare_label label = compare_subject_label(subjects, subject);

		buffer_append(buffer, label.text, label.length);
		return;
	}
	pair = &subjects->join->diff->pairs[subject];
	process = pair->label + strlen(pair->label) + 1;
	renamed = compare_subject_cgroup(subjects, subject, DIFF_BEFORE);
	if (renamed != NULL)
		buffer_append_format(buffer, "%s renamed %s", renamed,
				     compare_subject_cgroup(subjects, subject, DIFF_AFTER));
	else
		buffer_append_text(buffer, pair->key);
	buffer_append_format(buffer, "  %s  %s", process, process + strlen(process) + 1);
}

static void append_thread_note(const struct comparison *comparison, const struct compare_thread *thread,
			       struct buffer *buffer)
{
	bool one_boot = compare_boot(comparison) == COMPARE_BOOT_ONE;

	if (thread->index[compare_inside(comparison, DIFF_AFTER)] == COMPARE_NONE)
		buffer_append_text(buffer, one_boot ? ": gone" : ": of before");
	else if (thread->index[compare_inside(comparison, DIFF_BEFORE)] == COMPARE_NONE)
		buffer_append_text(buffer, one_boot ? ": came" : ": of after");
	else
		buffer_append_text(buffer, ": the same thread");
}

static void append_group_note(const struct compare_subjects *subjects, size_t subject, struct buffer *buffer)
{
	enum row_mark mark = compare_subject_mark(subjects, subject);
	struct diff_match_count threads;

	if (mark == ROW_MARK_NEW || mark == ROW_MARK_LEFT) {
		buffer_append_text(buffer, mark == ROW_MARK_NEW ? ": in after only" : ": in before only");
		return;
	}
	if (!compare_subject_same(subjects, subject, &threads))
		return;
	buffer_append_text(buffer, ": ");
	if (threads.same == 0)
		buffer_append_text(buffer, "restarted, none of its threads is the same");
	else if (threads.came == 0 && threads.went == 0)
		buffer_append_text(buffer, "the same threads");
	else
		append_counts(&threads, " threads", buffer);
}

static void append_note(const struct comparison *comparison, const struct table_row *row,
			struct buffer *buffer)
{
	const struct compare_subjects *subjects = &comparison->shown;

	if (subjects->join != NULL)
		append_group_note(subjects, row->subject, buffer);
	else
		append_thread_note(comparison, &subjects->threads[row->subject], buffer);
}

void compare_append_note(const struct comparison *comparison, const struct table_row *row,
			 struct buffer *buffer)
{
	const struct compare_subjects *subjects = &comparison->shown;

	if (row->subject >= subjects->count)
		return;
	append_name(subjects, row->subject, buffer);
	append_note(comparison, row, buffer);
}

bool compare_append_sentence(const struct comparison *comparison, const struct table_row *row, bool ascii,
			     struct buffer *buffer)
{
	const struct compare_subjects *subjects = &comparison->shown;
	const enum column column = (enum column)row->metric;
	struct diff_change change = {0};
	struct diff_value value;
	struct buffer name = {0};

	if (row->subject >= subjects->count || !column_is_counter(column) ||
	    !diff_summary_has(column_metric(column)))
		return false;
	value = compare_value(subjects, row->subject, column);
	if (!value.has_delta || value.delta == 0)
		return false;
	append_name(subjects, row->subject, &name);
	change.metric = column_metric(column);
	change.name = name.data;
	change.name_length = name.length;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		change.number[side] = value.side[side].number;
		change.threads[side] = compare_subject_threads(subjects, row->subject, (enum diff_side)side);
	}
	diff_summary_append(&change, &(struct diff_summary_per){.ascii = ascii}, buffer);
	append_note(comparison, row, buffer);
	buffer_release(&name);
	return true;
}
