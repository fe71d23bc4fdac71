/* SPDX-License-Identifier: GPL-2.0-only */
/* The details of a row of a comparison: all of its metrics, one number explained, its threads. */
#include "compare_internal.h"
#include "diff_summary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/explain.h"
#include "window/column.h"

/* --- all metrics --- */

/* Columns of the screen's table, from COMPARE_COLUMN_BEFORE on, and behind them the source. */
enum {
	CHANGES = COMPARE_COLUMN_COUNT - COMPARE_COLUMN_BEFORE
};

static const struct table_column metric_columns[CHANGES + 1] = {
	{.name = "before", .title = "before", .width = 9},
	{.name = "after", .title = "after", .width = 9},
	{.name = "change", .title = "change", .width = 9},
	{.name = "percent", .title = "%", .width = 8},
	{.name = "source", .title = "source", .left = true, .width = 12},
};

/* The source of the number of after, or the reason why a side has none. */
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
		       : column_entry(metric)->operation == COLUMN_OPERATION_PEAKS    ? "taskstats"
										      : "cgroup";
	source = after->metric_source[column_metric(metric)];
	name = source != SOURCE_NONE ? sources[source].name : "";
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (value->side[side].state == VALUE_UNAVAILABLE || value->side[side].partial)
			return arena_format(arena, "%s: %s %s", name,
					    side == DIFF_BEFORE ? "before" : "after",
					    reason_words(value->side[side].reason));
	}
	return name;
}

static void add_metric_row(const struct compare_subject *subject, enum column metric, struct table *table)
{
	const struct diff_value value = compare_value(subject, metric);
	struct table_row *row = table_add_named_row(table, column_name(metric), column_name(metric));

	for (size_t i = 0; i < CHANGES; i++)
		row->cells[i] = compare_cell(subject, metric, &value,
					     (enum compare_column)(COMPARE_COLUMN_BEFORE + i), &table->arena);
	row->cells[CHANGES] = cell_of_text(source_text(subject->comparison, metric, &value, &table->arena));
}

/* Finds the subject that the key of a row names, and its metric; false when it is gone. */
static bool find_row(struct comparison *comparison, const struct view *view, const char *key,
		     size_t key_length, struct compare_subject *ret_subject, enum column *ret_metric)
{
	const char *end = memchr(key, '\0', key_length);
	const struct compare_join *join = compare_join_of_view(comparison, view);

	for (enum column column = 0; end != NULL && column < COLUMN_TASK_FIELDS; column++) {
		const bool has_rows = column > COLUMN_COUNT || column_is_record(column);
		size_t pair;

		if (!has_rows || strcmp(column_name(column), key) != 0)
			continue;
		pair = diff_find(join->diff, end + 1, key_length - (size_t)(end + 1 - key));
		if (pair == SIZE_MAX)
			return false;
		*ret_metric = column;
		*ret_subject = compare_subject(comparison, join, pair);
		return true;
	}
	return false;
}

struct table *compare_metric_table(struct comparison *comparison, const struct view *view, const char *key,
				   size_t key_length)
{
	struct compare_subject subject;
	struct table *table;
	enum column metric;

	if (comparison->sides[DIFF_AFTER] == NULL ||
	    !find_row(comparison, view, key, key_length, &subject, &metric))
		return NULL;
	table = table_create_with(NULL, metric_columns, ARRAY_COUNT(metric_columns));
	for (enum column i = COLUMN_METRICS; i < COLUMN_TASK_FIELDS; i++)
		add_metric_row(&subject, i, table);
	for (enum column i = 0; i < COLUMN_COUNT; i++) {
		if (compare_record_applies(view, i))
			add_metric_row(&subject, i, table);
	}
	return table;
}

/* --- the explanation --- */

/* A number of a column with all of its digits and its unit, "per second" where rates are compared. */
static void append_number(const struct compare_subject *subject, enum column column, double number,
			  struct buffer *lines)
{
	char digits[28];

	if (fabs(number) < 0x1p63 && number == floor(number))
		buffer_append_format(lines, "%s%s", number < 0 ? "-" : "",
				     number_group_digits((uint64_t)fabs(number), digits));
	else
		buffer_append_format(lines, "%.3f", number);
	buffer_append_text(lines, explain_unit(column_report_unit(column)));
	if (column_grows(column) && compare_has_rates(subject->comparison))
		buffer_append_text(lines, " per second");
}

/* Appends how many threads of a side contributed to a metric, and why the others did not. */
static void append_coverage(const struct compare_subject *subject, enum metric metric, enum diff_side side,
			    struct buffer *lines)
{
	const struct snapshot *snapshot = compare_side(subject->comparison, side);
	const enum diff_side inside = compare_inside(subject->comparison, side);
	const struct diff *diff = subject->join->diff;
	const size_t pair = (size_t)(subject->pair - diff->pairs);
	uint64_t by_state[WINDOW_ABSENT + 1] = {0};
	char text[28], total[28];

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (diff_pair_of_thread(diff, inside, i) == pair)
			by_state[explain_state(snapshot, i, metric)]++;
	}
	buffer_append_format(lines, "  %s: read of %s of %s threads\n", metrics[metric].name,
			     number_group_digits(by_state[REASON_READ], text),
			     number_group_digits(compare_threads(subject, side), total));
	explain_missing(by_state, "it does not apply, or that were not measured", lines);
}

static void append_side(const struct compare_subject *subject, enum column metric,
			const struct diff_side_value *value, enum diff_side side, struct buffer *lines)
{
	const struct derived_entry *entry;

	buffer_append_text(lines, side == DIFF_BEFORE ? "Before: " : "After: ");
	if (!compare_is_on(subject, side)) {
		buffer_append_text(lines, "not there\n");
		return;
	}
	if (value->state == VALUE_READ && value->has_number) {
		buffer_append_text(lines, value->partial ? "at least " : "");
		append_number(subject, metric, value->number, lines);
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
		append_coverage(subject, column_metric(metric), side, lines);
		return;
	}
	entry = &derived_metrics[column_derived(metric)];
	for (size_t i = 0; i < entry->input_count; i++)
		append_coverage(subject, entry->inputs[i], side, lines);
}

static void append_change(const struct compare_subject *subject, enum column metric,
			  const struct diff_value *value, struct buffer *lines)
{
	enum row_mark mark = compare_mark(subject);

	if (value->has_delta) {
		buffer_append_text(lines, "Change: ");
		buffer_append_text(lines, value->delta > 0 ? "+" : "");
		append_number(subject, metric, value->delta, lines);
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

static void append_threads(const struct compare_subject *subject, struct buffer *lines)
{
	struct diff_match_count threads;

	if (subject->join->diff->options.single)
		return;
	if (!compare_same(subject, &threads)) {
		buffer_append_text(lines, "The captures are not known to be of one boot: ctop cannot tell "
					  "which threads are the same.\n");
		return;
	}
	buffer_append_text(lines, "Threads: ");
	append_counts(&threads, "", lines);
	buffer_append_text(lines, ".\n");
	if (compare_by_threads(subject->comparison))
		buffer_append_text(
			lines, "A counter's change is what the same threads did, whatever group they were in "
			       "before, and what new ones did since they started. What gone threads had "
			       "counted is left out of before. d shows the sums of the group.\n");
	else if (threads.came != 0 || threads.went != 0)
		buffer_append_text(lines,
				   "What gone threads had counted went with them, and new ones began at 0: "
				   "open the row for the change of each thread.\n");
}

static void append_rename(const struct compare_subject *subject, struct buffer *lines)
{
	const char *before = compare_cgroup(subject, DIFF_BEFORE);

	if (before != NULL)
		buffer_append_format(lines,
				     "The cgroup was renamed from %s to %s, by the types of its threads.\n",
				     before, compare_cgroup(subject, DIFF_AFTER));
}

static void append_metric(const struct compare_subject *subject, enum column metric, struct buffer *lines)
{
	struct diff_value value = compare_value(subject, metric);

	if (column_is_record(metric))
		buffer_append_format(lines, "%s: %s\n", column_name(metric), column_description(metric));
	else if (column_is_derived(metric))
		buffer_append_format(lines, "%s: %s\n  = %s\n", column_name(metric),
				     column_description(metric),
				     derived_metrics[column_derived(metric)].formula);
	else
		explain_metric(compare_side(subject->comparison, DIFF_AFTER), column_metric(metric), lines);
	for (int side = 0; side < DIFF_SIDE_COUNT; side++)
		append_side(subject, metric, &value.side[side], (enum diff_side)side, lines);
	append_change(subject, metric, &value, lines);
}

void compare_explain(struct comparison *comparison, const struct view *view, const char *key,
		     size_t key_length, struct buffer *lines)
{
	struct compare_subject subject;
	enum column metric;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return;
	if (!find_row(comparison, view, key, key_length, &subject, &metric)) {
		buffer_append_text(lines, "This row is gone.\n");
		return;
	}
	append_metric(&subject, metric, lines);
	append_rename(&subject, lines);
	append_threads(&subject, lines);
}

/* --- what is said of a row --- */

static void append_name(const struct compare_subject *subject, struct buffer *buffer)
{
	const struct diff_options *options = &subject->join->diff->options;
	const struct diff_pair *pair = subject->pair;
	const char *renamed;

	if (options->grouping.axis != AXIS_ALL || options->single) {
		buffer_append(buffer, pair->label, pair->label_length);
		return;
	}
	renamed = compare_cgroup(subject, DIFF_BEFORE);
	if (renamed != NULL)
		buffer_append_format(buffer, "%s renamed %s", renamed, compare_cgroup(subject, DIFF_AFTER));
	else
		buffer_append_text(buffer, pair->key);
	buffer_append_format(buffer, "  %s  %s", diff_part(pair->label, 1), diff_part(pair->label, 2));
}

static void append_thread_note(const struct compare_subject *subject, struct buffer *buffer)
{
	bool one_boot = compare_boot(subject->comparison) == COMPARE_BOOT_ONE;

	if (!compare_is_on(subject, DIFF_AFTER))
		buffer_append_text(buffer, one_boot ? ": gone" : ": of before");
	else if (!compare_is_on(subject, DIFF_BEFORE))
		buffer_append_text(buffer, one_boot ? ": came" : ": of after");
	else
		buffer_append_text(buffer, ": the same thread");
}

static void append_group_note(const struct compare_subject *subject, struct buffer *buffer)
{
	enum row_mark mark = compare_mark(subject);
	struct diff_match_count threads;

	if (mark == ROW_MARK_NEW || mark == ROW_MARK_LEFT) {
		buffer_append_text(buffer, mark == ROW_MARK_NEW ? ": in after only" : ": in before only");
		return;
	}
	if (!compare_same(subject, &threads))
		return;
	buffer_append_text(buffer, ": ");
	if (threads.same == 0)
		buffer_append_text(buffer, "restarted, none of its threads is the same");
	else if (threads.came == 0 && threads.went == 0)
		buffer_append_text(buffer, "the same threads");
	else
		append_counts(&threads, " threads", buffer);
}

static void append_note(const struct compare_subject *subject, struct buffer *buffer)
{
	if (subject->join->diff->options.single)
		append_thread_note(subject, buffer);
	else
		append_group_note(subject, buffer);
}

/* Finds the subject of a row of the last table; false for none. */
static bool find_shown(const struct comparison *comparison, const struct table_row *row,
		       struct compare_subject *ret_subject)
{
	if (comparison->shown == NULL || row->subject >= comparison->shown->diff->pair_count)
		return false;
	*ret_subject = compare_subject(comparison, comparison->shown, row->subject);
	return true;
}

void compare_append_note(const struct comparison *comparison, const struct table_row *row,
			 struct buffer *buffer)
{
	struct compare_subject subject;

	if (!find_shown(comparison, row, &subject))
		return;
	append_name(&subject, buffer);
	append_note(&subject, buffer);
}

bool compare_append_sentence(const struct comparison *comparison, const struct table_row *row, bool ascii,
			     struct buffer *buffer)
{
	const enum column column = (enum column)row->metric;
	struct compare_subject subject;
	struct diff_change change = {0};
	struct diff_value value;
	struct buffer name = {0};

	if (!find_shown(comparison, row, &subject) || !column_is_counter(column) ||
	    !diff_summary_has(column_metric(column)))
		return false;
	value = compare_value(&subject, column);
	if (!value.has_delta || value.delta == 0)
		return false;
	append_name(&subject, &name);
	change.metric = column_metric(column);
	change.name = name.data;
	change.name_length = name.length;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		change.number[side] = value.side[side].number;
		change.threads[side] = compare_threads(&subject, (enum diff_side)side);
	}
	diff_summary_append(
		&change, &(struct diff_summary_per){.rates = compare_has_rates(comparison), .ascii = ascii},
		buffer);
	append_note(&subject, buffer);
	buffer_release(&name);
	return true;
}
