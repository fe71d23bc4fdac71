/* SPDX-License-Identifier: GPL-2.0-only */
/* The details of a row of a comparison: all of its metrics, one number explained, its threads. */
#include "compare_internal.h"
#include "diff_evidence.h"
#include "diff_summary.h"

#include <math.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "table/explain.h"
#include "table/screen_format.h"
#include "window/column.h"

/* A group or thread, with the pairs that it is one of. */
struct subject {
	const struct comparison *comparison;
	struct pair_sides sides;
	const struct diff_pair *pair;
};

static struct subject make_subject(const struct comparison *comparison, const struct compare_join *join,
				   size_t pair)
{
	return (struct subject){comparison, compare_sides(comparison, join), &join->diff->pairs[pair]};
}

/* Finds the subject of the row with a key; false when it is gone. */
static bool find_row(struct comparison *comparison, const struct view *view, const char *key,
		     size_t key_length, struct subject *ret_subject)
{
	const struct compare_join *join;
	size_t pair;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return false;
	join = compare_join_of_view(comparison, view);
	pair = diff_find(join->diff, key, key_length);
	if (pair == SIZE_MAX)
		return false;
	*ret_subject = make_subject(comparison, join, pair);
	return true;
}

/* Threads of a subject on a side as shown. */
static uint32_t count_threads(const struct subject *subject, enum diff_side side)
{
	return subject->pair->threads[pair_side(&subject->sides, side)];
}

/* Whether a side as shown has something of a subject: a group may have ended threads alone. */
static bool is_on(const struct subject *subject, enum diff_side side)
{
	return subject->pair->group[pair_side(&subject->sides, side)] != UINT32_MAX;
}

/* Counts the threads of a group that are the same; false where that is not known, and for threads. */
static bool count_same(const struct subject *subject, struct diff_match_count *ret_threads)
{
	const struct diff_match_count *members = &subject->pair->members;

	if (subject->comparison->match == NULL || subject->sides.diff->options.single)
		return false;
	*ret_threads = *members;
	if (subject->sides.swapped) {
		ret_threads->came = members->went;
		ret_threads->went = members->came;
	}
	return true;
}

/* The name that the cgroup of a renamed group has on a side as shown; NULL where it was not renamed. */
static const char *cgroup_name(const struct subject *subject, enum diff_side side)
{
	size_t length;

	if (subject->pair->kind != DIFF_PAIR_FUDGED)
		return NULL;
	/* the first of three parts */
	return grouping_key(subject->sides.diff->grouping,
			    subject->pair->group[pair_side(&subject->sides, side)], &length);
}

/* --- all metrics --- */

static const struct table_column metric_columns[] = {
	{.name = "before", .title = "before", .width = 9},
	{.name = "after", .title = "after", .width = 9},
	{.name = "change", .title = "change", .width = 9},
	{.name = "percent", .title = "%", .width = 8},
	{.name = "source", .title = "source", .left = true, .width = 12},
};

/* The source of the number of after, or the reason why a side has none. */
static const char *source_text(const struct subject *subject, enum column metric,
			       const struct diff_value *value, struct arena *arena)
{
	const struct snapshot *after = compare_side(subject->comparison, DIFF_AFTER);
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
			return arena_format(arena, "%s: %s %s", name, diff_side_names[side],
					    reason_words(value->side[side].reason));
	}
	return name;
}

/* A change with its sign; a word says whether others differ. */
static struct cell change_cell(const struct diff *diff, enum column column, const struct diff_value *value)
{
	double divisor;
	enum unit unit;

	if (value->is_category && value->state == VALUE_READ)
		return cell_of_text(value->differs ? "changed" : "0");
	if (!value->has_delta)
		return cell_of_state(value->state == VALUE_READ ? VALUE_ABSENT : value->state, value->reason,
				     UNIT_NONE);
	unit = diff_unit(diff, column, &divisor);
	return cell_in_style(value->delta / divisor, unit,
			     unit == UNIT_PERCENT ? CELL_STYLE_PERCENT_CHANGE : CELL_STYLE_CHANGE);
}

static struct cell percent_cell(const struct diff_value *value)
{
	if (!value->has_fraction)
		return (struct cell){.state = CELL_EMPTY, .sort = NAN};
	return cell_in_style(value->fraction * 100, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE);
}

static void add_metric_row(const struct subject *subject, enum column metric, struct table *table)
{
	const struct diff_value value = pair_value(&subject->sides, subject->pair, metric);
	struct table_row *row = table_add_named_row(table, column_name(metric), column_name(metric));

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		row->cells[side] = pair_side_cell(&subject->sides, subject->pair, (enum diff_side)side,
						  metric, &table->arena);
		/* the name of its metric does not tell a percentage, as the title of a column does */
		if (row->cells[side].unit == UNIT_PERCENT)
			row->cells[side].style = CELL_STYLE_PERCENT;
	}
	row->cells[2] = change_cell(subject->sides.diff, metric, &value);
	row->cells[3] = percent_cell(&value);
	row->cells[4] = cell_of_text(source_text(subject, metric, &value, &table->arena));
}

/* Whether records say something of the rows of a view: of groups, and of cgroups on their axis. */
static bool record_applies(const struct view *view, enum column column)
{
	return column_is_record(column) && view->level == VIEW_LEVEL_GROUPS &&
	       (column_entry(column)->operation != COLUMN_OPERATION_CGROUP ||
		view->grouping.axis == AXIS_CGROUP);
}

struct table *compare_metric_table(struct comparison *comparison, const struct view *view, const char *key,
				   size_t key_length)
{
	struct subject subject;
	struct table *table;

	if (!find_row(comparison, view, key, key_length, &subject))
		return NULL;
	table = table_create_with(NULL, metric_columns, ARRAY_COUNT(metric_columns));
	for (enum column i = COLUMN_METRICS; i < COLUMN_TASK_FIELDS; i++)
		add_metric_row(&subject, i, table);
	for (enum column i = 0; i < COLUMN_COUNT; i++) {
		if (record_applies(view, i))
			add_metric_row(&subject, i, table);
	}
	return table;
}

/* --- the explanation --- */

/* A number of a column in its unit, with all digits of a whole one. */
static void append_number(const struct subject *subject, enum column column, double number,
			  struct buffer *lines)
{
	double divisor;
	const enum unit unit = diff_unit(subject->sides.diff, column, &divisor);

	number /= divisor;
	if (fabs(number) < 0x1p63 && number == floor(number)) {
		buffer_append_text(lines, number < 0 ? "-" : "");
		humanize_count(lines, (uint64_t)fabs(number));
	} else {
		buffer_append_format(lines, "%.3f", number);
	}
	buffer_append_text(lines, explain_unit(unit));
}

/* Appends how many threads of a side contributed to a metric, and why the others did not. */
static void append_coverage(const struct subject *subject, enum metric metric, enum diff_side side,
			    struct buffer *lines)
{
	const struct snapshot *snapshot = compare_side(subject->comparison, side);
	const enum diff_side inside = pair_side(&subject->sides, side);
	const struct diff *diff = subject->sides.diff;
	const size_t pair = (size_t)(subject->pair - diff->pairs);
	uint64_t by_state[STATE_ABSENT + 1] = {0};
	char text[28], total[28];

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (diff_pair_of_thread(diff, inside, i) == pair)
			by_state[snapshot_value_state(snapshot, i, metric)]++;
	}
	buffer_append_format(lines, "  %s: read of %s of %s threads\n", metrics[metric].name,
			     humanize_digits(by_state[REASON_READ], text),
			     humanize_digits(count_threads(subject, side), total));
	explain_missing(by_state, "it does not apply, or that were not measured", lines);
}

/* Appends the value of a column of words on a side. */
static void append_words(const struct subject *subject, enum column column, enum diff_side side,
			 struct buffer *lines)
{
	struct arena arena = {0};
	const struct cell cell = pair_side_cell(&subject->sides, subject->pair, side, column, &arena);

	screen_format_cell(lines, &cell, &screen_marks_utf8);
	arena_release(&arena);
}

static void append_side(const struct subject *subject, enum column column,
			const struct diff_side_value *value, enum diff_side side, struct buffer *lines)
{
	buffer_append_text(lines, side == DIFF_BEFORE ? "Before: " : "After: ");
	if (!is_on(subject, side)) {
		buffer_append_text(lines, "not there\n");
		return;
	}
	if (value->state == VALUE_READ && !value->has_number) {
		append_words(subject, column, side, lines);
	} else if (value->state == VALUE_READ) {
		buffer_append_text(lines, value->partial ? "at least " : "");
		append_number(subject, column, value->number, lines);
	} else if (value->state == VALUE_UNAVAILABLE) {
		buffer_append_text(lines, "unavailable");
	} else if (value->state == VALUE_ABSENT) {
		buffer_append_text(lines,
				   "does not apply, was not measured, or there is nothing to divide by");
	}
	buffer_append_char(lines, '\n');
	if (column_is_record(column) || !column_has_metrics(column))
		return;
	for (size_t i = 0; i < column_entry(column)->input_count; i++)
		append_coverage(subject, (enum metric)column_entry(column)->inputs[i], side, lines);
}

static void append_change(const struct subject *subject, enum column column, const struct diff_value *value,
			  struct buffer *lines)
{
	const enum row_mark mark = pair_mark(&subject->sides, subject->pair);

	if (value->has_delta) {
		buffer_append_text(lines, "Change: ");
		buffer_append_text(lines, value->delta > 0 ? "+" : "");
		append_number(subject, column, value->delta, lines);
		if (value->has_fraction)
			buffer_append_format(lines, ", %+.1f%% of before", value->fraction * 100);
		buffer_append_char(lines, '\n');
	} else if (diff_is_lost(subject->sides.diff, subject->pair, column)) {
		buffer_append_text(lines, "Change: not known, since the threads ended in between.\n");
	} else if (mark == ROW_MARK_NEW || mark == ROW_MARK_LEFT) {
		buffer_append_text(lines, "Change: not given, since it is on one side only. It is sorted as "
					  "if it had been zero on the other.\n");
	} else if (!value->is_category || value->state != VALUE_READ) {
		buffer_append_text(
			lines, "Change: not known, since a side lacks a number or some of its threads.\n");
	}
}

/* Appends whether the change is real, and how that is known. */
static void append_verdict(const struct subject *subject, enum column column, struct buffer *lines)
{
	static const char *const words[CELL_VERDICT_COUNT] = {
		[CELL_VERDICT_NO] = "no measurable change",
		[CELL_VERDICT_NOT_TESTED] = "large enough, but not tested",
		[CELL_VERDICT_BURST] = "a burst",
		[CELL_VERDICT_REAL] = "real",
	};
	const struct diff *diff = subject->sides.diff;
	const struct diff_value value = diff_column(diff, subject->pair, column_stored_form(column));
	const enum cell_verdict verdict = diff_verdict(diff, subject->pair, column);
	struct diff_evidence_cell evidence;

	if (diff->evidence == NULL)
		return;
	evidence = diff_evidence_of(diff, subject->pair, column_stored_form(column), &value);
	buffer_append_format(lines, "Verdict: %s", words[verdict]);
	diff_summary_append_burst(diff, subject->pair, column, lines);
	if (verdict == CELL_VERDICT_NOT_TESTED && diff_evidence_refusal(diff) != NULL)
		buffer_append_format(lines, ", since %s", diff_evidence_refusal(diff));
	if (evidence.is_tested)
		buffer_append_format(lines, " (p %.2g)", evidence.adjusted);
	buffer_append_text(lines, ".\n");
}

void compare_append_counts(const struct diff_match_count *threads, const char *what, struct buffer *buffer)
{
	char same[28], came[28], gone[28];

	buffer_append_format(buffer, "%s%s the same, %s came, %s gone", humanize_digits(threads->same, same),
			     what, humanize_digits(threads->came, came),
			     humanize_digits(threads->went, gone));
}

static void append_threads(const struct subject *subject, struct buffer *lines)
{
	struct diff_match_count threads;

	if (subject->sides.diff->options.single)
		return;
	if (!count_same(subject, &threads)) {
		buffer_append_text(lines, "The captures are not known to be of one boot: ctop cannot tell "
					  "which threads are the same.\n");
		return;
	}
	buffer_append_text(lines, "Threads: ");
	compare_append_counts(&threads, "", lines);
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

static void append_rename(const struct subject *subject, struct buffer *lines)
{
	const char *before = cgroup_name(subject, DIFF_BEFORE);

	if (before != NULL)
		buffer_append_format(lines,
				     "The cgroup was renamed from %s to %s, by the types of its threads.\n",
				     before, cgroup_name(subject, DIFF_AFTER));
}

/* Appends what a column counts. */
static void append_meaning(const struct subject *subject, enum column column, struct buffer *lines)
{
	const enum column stored = column_stored_form(column);

	if (column_is_metric(stored)) {
		explain_metric(compare_side(subject->comparison, DIFF_AFTER), column_metric(stored), lines);
		return;
	}
	buffer_append_format(lines, "%s: %s\n",
			     column < COLUMN_COUNT ? column_title(column, diff_mode(subject->sides.diff))
						   : column_name(column),
			     column_description(column));
	if (column_is_derived(column))
		buffer_append_format(lines, "  = %s\n", derived_metrics[column_derived(column)].formula);
}

void compare_explain(struct comparison *comparison, const struct view *view, const char *key,
		     size_t key_length, enum column column, struct buffer *lines)
{
	const enum column stored = column_stored_form(column);
	struct diff_value value;
	struct subject subject;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return;
	if (!find_row(comparison, view, key, key_length, &subject)) {
		buffer_append_text(lines, "This row is gone.\n");
		return;
	}
	append_meaning(&subject, column, lines);
	value = pair_value(&subject.sides, subject.pair, stored);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		append_side(&subject, stored, &value.side[side], (enum diff_side)side, lines);
	append_change(&subject, stored, &value, lines);
	append_verdict(&subject, column, lines);
	append_rename(&subject, lines);
	append_threads(&subject, lines);
}

/* --- what is said of a row --- */

static void append_name(const struct subject *subject, struct buffer *buffer)
{
	const struct diff_options *options = &subject->sides.diff->options;
	const struct diff_pair *pair = subject->pair;
	const char *renamed;

	if (options->grouping.axis != AXIS_ALL || options->single) {
		buffer_append(buffer, pair->label, pair->label_length);
		return;
	}
	renamed = cgroup_name(subject, DIFF_BEFORE);
	if (renamed != NULL)
		buffer_append_format(buffer, "%s renamed %s", renamed, cgroup_name(subject, DIFF_AFTER));
	else
		buffer_append_text(buffer, pair->key);
	buffer_append_format(buffer, "  %s  %s", diff_part(pair->label, 1), diff_part(pair->label, 2));
}

static void append_thread_note(const struct subject *subject, struct buffer *buffer)
{
	bool one_boot = compare_boot(subject->comparison) == COMPARE_BOOT_ONE;

	if (!is_on(subject, DIFF_AFTER))
		buffer_append_text(buffer, one_boot ? ": gone" : ": of before");
	else if (!is_on(subject, DIFF_BEFORE))
		buffer_append_text(buffer, one_boot ? ": came" : ": of after");
	else
		buffer_append_text(buffer, ": the same thread");
}

static void append_group_note(const struct subject *subject, struct buffer *buffer)
{
	enum row_mark mark = pair_mark(&subject->sides, subject->pair);
	struct diff_match_count threads;

	if (mark == ROW_MARK_NEW || mark == ROW_MARK_LEFT) {
		buffer_append_text(buffer, mark == ROW_MARK_NEW ? ": in after only" : ": in before only");
		return;
	}
	if (!count_same(subject, &threads))
		return;
	buffer_append_text(buffer, ": ");
	if (threads.same == 0)
		buffer_append_text(buffer, "restarted, none of its threads is the same");
	else if (threads.came == 0 && threads.went == 0)
		buffer_append_text(buffer, "the same threads");
	else
		compare_append_counts(&threads, " threads", buffer);
}

static void append_note(const struct subject *subject, struct buffer *buffer)
{
	if (subject->sides.diff->options.single)
		append_thread_note(subject, buffer);
	else
		append_group_note(subject, buffer);
}

/* Finds the subject of a row of the last table; false for none. */
static bool find_shown(const struct comparison *comparison, const struct table_row *row,
		       struct subject *ret_subject)
{
	if (comparison->shown == NULL || row->subject >= comparison->shown->diff->pair_count)
		return false;
	*ret_subject = make_subject(comparison, comparison->shown, row->subject);
	return true;
}

void compare_append_note(const struct comparison *comparison, const struct table_row *row,
			 struct buffer *buffer)
{
	struct subject subject;

	if (!find_shown(comparison, row, &subject))
		return;
	append_name(&subject, buffer);
	append_note(&subject, buffer);
}

bool compare_append_sentence(const struct comparison *comparison, const struct table_row *row,
			     enum column column, bool ascii, struct buffer *buffer)
{
	const struct diff_summary_per per = {.ascii = ascii};
	struct subject subject;
	struct buffer name = {0};
	bool is_told;

	if (!find_shown(comparison, row, &subject))
		return false;
	append_name(&subject, &name);
	is_told = diff_summary_append(&subject.sides, subject.pair, column, &name, &per, buffer);
	if (is_told)
		append_note(&subject, buffer);
	buffer_release(&name);
	return is_told;
}
