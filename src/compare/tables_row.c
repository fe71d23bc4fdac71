/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns and rows of the tables of groups. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "table/cell_format.h"
#include "table/value_cell.h"
#include "tables_internal.h"

/* --- cells --- */

/* A cell in the state of the change, still without its number. */
static struct cell begin_change(const struct diff_value *value, enum unit unit)
{
	return cell_of_state(value->state, value->reason, unit);
}

/* The cell of a column that does not apply to a row, or that a row without a group does not have. */
static struct cell no_cell(const struct tables_row *content)
{
	return (struct cell){.state = content->pair != NULL ? CELL_ABSENT : CELL_EMPTY, .sort = NAN};
}

static struct cell group_cell(struct tables_build *build, const struct tables_row *content)
{
	if (content->label != NULL)
		return tables_cell_text(build, content->label, content->label_length);
	if (!build->is_comparison)
		return tables_cell_text(build, content->pair->label, content->pair->label_length);
	diff_append_label(build->diff, content->pair, &build->text);
	return cell_of_text(tables_take_text(build));
}

static struct cell threads_cell(struct tables_build *build, const struct tables_row *content)
{
	const struct diff_pair *pair = content->pair;
	struct cell sides[DIFF_SIDE_COUNT];

	if (pair == NULL)
		return no_cell(content);
	if (!build->is_comparison)
		return cell_of_integer(pair->threads[DIFF_AFTER], UNIT_NONE);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		sides[side] = pair->group[side] != UINT32_MAX
				      ? cell_of_integer(pair->threads[side], UNIT_NONE)
				      : cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NONE);
	return tables_cell_sides(build, sides, CELL_STYLE_SIDES_CLOSE);
}

static struct cell metric_cell(struct tables_build *build, const struct tables_row *content)
{
	(void)build;
	return cell_of_text(content->name);
}

static struct cell side_cell(struct tables_build *build, const struct tables_row *content)
{
	return content->sides[build->column == TABLES_COLUMN_BASELINE ? DIFF_BEFORE : DIFF_AFTER];
}

static struct cell arrow_cell(struct tables_build *build, const struct tables_row *content)
{
	return tables_cell_sides(build, content->sides, CELL_STYLE_DIGITS);
}

static struct cell delta_cell(struct tables_build *build, const struct tables_row *content)
{
	const struct diff_value *value = &content->value;
	struct cell cell = begin_change(value, content->sides[DIFF_BEFORE].unit);

	(void)build;
	if (cell.state != CELL_VALUE)
		return cell;
	if (value->is_category)
		return cell_of_text(value->differs ? "differs" : "same");
	return cell_in_style(value->delta, cell.unit,
			     column_is_derived(content->column) ? CELL_STYLE_DERIVED_CHANGE
								: CELL_STYLE_CHANGE);
}

/* The change relative to what it changes, of a value that has it. */
static struct cell fraction_cell(const struct tables_build *build, const struct diff_value *value)
{
	struct cell cell = cell_in_style(value->fraction * 100.0, UNIT_PERCENT, CELL_STYLE_PERCENT_CHANGE);

	if (build->diff->options.dialect->has_minus_zero && value->fraction == 0 &&
	    value->side[DIFF_BEFORE].number < 0)
		cell.text = "-0.0%";
	return cell;
}

static struct cell percent_cell(struct tables_build *build, const struct tables_row *content)
{
	struct cell cell = begin_change(&content->value, UNIT_PERCENT);

	if (cell.state == CELL_VALUE && content->value.has_fraction)
		return fraction_cell(build, &content->value);
	if (cell.state == CELL_VALUE)
		cell.state = CELL_ABSENT;
	return cell;
}

/* "[cfs-only] [SCHEDSTATS]": the scheduler class, then the kernel options. */
static struct cell tags_cell(struct tables_build *build, const struct tables_row *content)
{
	const struct metric_entry *entry = column_is_metric(content->column)
						   ? &metrics[column_metric(content->column)]
						   : NULL;
	const char *gates = entry != NULL && entry->config_gates != NULL ? entry->config_gates : "";

	if (entry != NULL && entry->tag != METRIC_TAG_NONE)
		buffer_append_format(&build->text, "[%s]", metric_tag_names[entry->tag]);
	while (*gates != '\0') {
		const size_t length = strcspn(gates, " ");

		buffer_append_format(&build->text, "%s[%.*s]", build->text.length != 0 ? " " : "",
				     (int)length, gates);
		gates += length;
		gates += strspn(gates, " ");
	}
	return cell_of_text(tables_take_text(build));
}

static struct cell uptime_cell(struct tables_build *build, const struct tables_row *content)
{
	/* runs of a set may be of several boots */
	if (content->pair == NULL || !diff_pair_is_joined(content->pair) ||
	    content->pair->threads[DIFF_AFTER] == 0 || diff_has_sets(build->diff))
		return (struct cell){.state = build->is_comparison ? CELL_EMPTY : CELL_ABSENT};
	return cell_in_style(content->pair->uptime, UNIT_PERCENT, CELL_STYLE_PERCENT_WHOLE);
}

/* The threads of a pair that are the same, came and went; NULL where rates are compared, and without a match.
 */
static const struct diff_match_count *find_counts(const struct tables_build *build,
						  const struct diff_pair *pair)
{
	const struct diff_options *options = &build->diff->options;

	return options->match != NULL && !options->rates && pair != NULL ? &pair->members : NULL;
}

static struct cell members_cell(struct tables_build *build, const struct tables_row *content)
{
	const struct diff_match_count *counts = find_counts(build, content->pair);

	if (counts == NULL)
		return no_cell(content);
	return cell_of_integer(build->column == TABLES_COLUMN_SAME   ? counts->same
			       : build->column == TABLES_COLUMN_CAME ? counts->came
								     : counts->went,
			       UNIT_NONE);
}

/* The change of a counter for each second between the captures. */
static struct cell per_second_cell(struct tables_build *build, const struct tables_row *content)
{
	/* the number of threads changes over time as counters do */
	const bool is_counted = content->column == column_of_stored(METRIC_THREAD_COUNT) ||
				column_is_counter(content->column);
	const double seconds = (double)build->diff->interval_ns / 1e9;
	struct cell cell;

	if (!is_counted || seconds == 0 || content->value.state == VALUE_ABSENT)
		return no_cell(content);
	cell = begin_change(&content->value, unit_per_second(content->sides[DIFF_BEFORE].unit));
	if (cell.state != CELL_VALUE)
		return cell;
	return cell_in_style(content->value.delta / seconds, cell.unit, CELL_STYLE_CHANGE_PER_SECOND);
}

/* The threads whose numbers are in a side's sum. */
static uint32_t summed_threads(const struct tables_build *build, const struct diff_pair *pair,
			       enum diff_side side)
{
	const struct diff_match_count *counts = find_counts(build, pair);

	/* a group that went is compared with nothing, thread by thread or not */
	if (!build->diff->options.by_threads || counts == NULL || pair->kind == DIFF_PAIR_ONLY_BEFORE)
		return pair->threads[side];
	return side == DIFF_BEFORE ? counts->same : counts->same + counts->came - counts->unknown;
}

/* The part that each thread of a side has in a sum. */
static struct cell per_thread_cell(struct tables_build *build, const struct tables_row *content)
{
	struct cell sides[DIFF_SIDE_COUNT] = {content->sides[0], content->sides[1]};

	if (!column_is_counter(content->column))
		return no_cell(content);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const uint32_t threads = summed_threads(build, content->pair, (enum diff_side)side);
		const double sum = (double)sides[side].value.integer;

		if (sides[side].state != CELL_VALUE || sides[side].form != CELL_FORM_INTEGER)
			continue;
		if (threads == 0) {
			sides[side] = cell_of_state(VALUE_ABSENT, REASON_READ, sides[side].unit);
			continue;
		}
		sides[side].form = CELL_FORM_REAL;
		sides[side].style = CELL_STYLE_DERIVED;
		sides[side].value.real = sides[side].sort = sum / threads;
	}
	return tables_cell_sides(build, sides, CELL_STYLE_DIGITS);
}

/* The evidence of the parts of both windows, or of the runs of both sets, for a row. */
static struct cell evidence_cell(struct tables_build *build, const struct tables_row *content)
{
	const struct diff_evidence_cell *evidence = &content->evidence;
	struct cell cell = {.state = CELL_ABSENT}, sides[DIFF_SIDE_COUNT];

	if (build->diff->evidence == NULL || content->pair == NULL)
		return cell;
	if (build->column == TABLES_COLUMN_VERDICT && content->value.state == VALUE_UNAVAILABLE &&
	    !evidence->is_real)
		return begin_change(&content->value, UNIT_NONE);
	if (build->column == TABLES_COLUMN_VERDICT)
		return cell_of_text(cell_verdict_names[diff_evidence_verdict(evidence)]);
	if (build->column == TABLES_COLUMN_CHANCE) {
		/* none where the ranges of few runs decide */
		return evidence->is_tested && !isnan(evidence->adjusted)
			       ? cell_in_style(evidence->adjusted, UNIT_NONE, CELL_STYLE_CHANCE)
			       : cell;
	}
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const double spread = evidence->spread[side];

		sides[side] = cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NONE);
		if (isnan(spread) || content->sides[side].state == CELL_ABSENT)
			continue;
		sides[side] = cell_in_style(spread, content->sides[side].unit, CELL_STYLE_DERIVED);
	}
	return tables_cell_sides(build, sides, CELL_STYLE_DIGITS);
}

/* "b→c (+x.x%)" of the metric by which the groups are sorted. */
static struct cell sort_cell(struct tables_build *build, const struct tables_row *content)
{
	const enum metric metric = build->request->sort.items[0].metric;
	struct cell sides[DIFF_SIDE_COUNT], cell, percent;
	struct diff_value value;

	if (content->pair == NULL)
		return no_cell(content);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		sides[side] = tables_cell_column(build, content->pair, (enum diff_side)side,
						 column_of_stored(metric));
	value = diff_metric(build->diff, content->pair, metric);
	cell = tables_cell_sides(build, sides, CELL_STYLE_DIGITS);
	cell_format_cell(&build->text, &sides[DIFF_BEFORE]);
	buffer_append_text(&build->text, "→");
	cell_format_cell(&build->text, &sides[DIFF_AFTER]);
	if (value.has_fraction) {
		percent = fraction_cell(build, &value);
		buffer_append_text(&build->text, " (");
		cell_format_cell(&build->text, &percent);
		buffer_append_char(&build->text, ')');
	}
	cell.text = tables_take_text(build);
	return cell;
}

/* --- columns --- */

enum {
	COLUMNS_MAX = TABLES_COLUMN_SORT + 1,
	DISPLAY_MAX = 4, /* columns of a display */
};

/*
 * The columns of group tables: the word of --columns, the header (NULL where the table has its own), how many
 * snapshots a report with the column has (0 for any), and how its cells are made.
 */
static const struct {
	const char *word;
	struct table_column column;
	size_t sides;
	struct cell (*make)(struct tables_build *build, const struct tables_row *content);
} group_columns[] = {
	[TABLES_COLUMN_GROUP] = {"group", {NULL, .left = true}, 0, group_cell},
	[TABLES_COLUMN_THREADS] = {"threads", {"threads", .sides = true}, 0, threads_cell},
	[TABLES_COLUMN_METRIC] = {"metric", {"metric", .left = true}, 0, metric_cell},
	[TABLES_COLUMN_VALUE] = {"value", {"value", .measured = true}, 1, side_cell},
	[TABLES_COLUMN_BASELINE] = {"before", {"baseline", .measured = true}, 2, side_cell},
	[TABLES_COLUMN_CANDIDATE] = {"after", {"candidate", .measured = true}, 2, side_cell},
	[TABLES_COLUMN_DELTA] = {"delta", {"delta", .measured = true}, 2, delta_cell},
	[TABLES_COLUMN_PERCENT] = {"%", {"%", .measured = true}, 2, percent_cell},
	[TABLES_COLUMN_ARROW] = {"arrow", {"value", .measured = true}, 2, arrow_cell},
	[TABLES_COLUMN_TAGS] = {"tags", {"tags", .left = true}, 0, tags_cell},
	[TABLES_COLUMN_UPTIME] = {"uptime", {.name = "%uptime"}, 0, uptime_cell},
	[TABLES_COLUMN_SAME] = {"same", {.name = "same"}, 2, members_cell},
	[TABLES_COLUMN_CAME] = {"came", {.name = "came"}, 2, members_cell},
	[TABLES_COLUMN_WENT] = {"went", {.name = "went"}, 2, members_cell},
	[TABLES_COLUMN_PER_SECOND] = {"per-second", {"per-second", .measured = true}, 2, per_second_cell},
	[TABLES_COLUMN_PER_THREAD] = {"per-thread",
				      {"per-thread", .measured = true, .sides = true},
				      2,
				      per_thread_cell},
	[TABLES_COLUMN_SPREAD] = {"spread", {"spread", .measured = true, .sides = true}, 2, evidence_cell},
	[TABLES_COLUMN_CHANCE] = {"p", {"p", .measured = true}, 2, evidence_cell},
	[TABLES_COLUMN_VERDICT] = {"verdict", {"verdict", .left = true}, 2, evidence_cell},
	[TABLES_COLUMN_SORT] = {NULL, {.name = NULL}, 2, sort_cell},
};

bool tables_asks_per(const struct tables_request *request, enum tables_per per)
{
	static const enum tables_column columns[TABLES_PER_COUNT] = {
		[TABLES_PER_SECOND] = TABLES_COLUMN_PER_SECOND,
		[TABLES_PER_THREAD] = TABLES_COLUMN_PER_THREAD,
	};
	bool asks = request->per[per];

	for (size_t i = 0; i < request->column_count; i++)
		asks |= request->columns[i] == columns[per];
	return asks;
}

const char *const tables_per_names[TABLES_PER_COUNT + 1] = {
	[TABLES_PER_SECOND] = "second",
	[TABLES_PER_THREAD] = "thread",
};

const char *const tables_display_names[TABLES_DISPLAY_COUNT + 1] = {
	[TABLES_DISPLAY_ARROW] = "arrow",           [TABLES_DISPLAY_FULL] = "full",
	[TABLES_DISPLAY_DELTA_ONLY] = "delta-only", [TABLES_DISPLAY_NO_PERCENT] = "no-pct",
	[TABLES_DISPLAY_PERCENT_ONLY] = "pct-only",
};

/* The columns behind group, threads and metric; 0, the group, ends a shorter list. */
static const enum tables_column displays[TABLES_DISPLAY_COUNT][DISPLAY_MAX] = {
	[TABLES_DISPLAY_ARROW] = {TABLES_COLUMN_ARROW, TABLES_COLUMN_DELTA, TABLES_COLUMN_PERCENT,
				  TABLES_COLUMN_UPTIME},
	[TABLES_DISPLAY_FULL] = {TABLES_COLUMN_BASELINE, TABLES_COLUMN_CANDIDATE, TABLES_COLUMN_DELTA,
				 TABLES_COLUMN_PERCENT},
	[TABLES_DISPLAY_DELTA_ONLY] = {TABLES_COLUMN_DELTA, TABLES_COLUMN_PERCENT},
	[TABLES_DISPLAY_NO_PERCENT] = {TABLES_COLUMN_BASELINE, TABLES_COLUMN_CANDIDATE, TABLES_COLUMN_DELTA},
	[TABLES_DISPLAY_PERCENT_ONLY] = {TABLES_COLUMN_PERCENT},
};

int tables_parse_columns(const char *text, size_t side_count, struct tables_request *request,
			 struct error *error)
{
	/* of the screen, and behind it those that only ktstr has, which no list offers */
	static const struct {
		const char *word;
		enum tables_column column;
	} others[] = {
		{"change", TABLES_COLUMN_DELTA},
		{"baseline", TABLES_COLUMN_BASELINE},
		{"candidate", TABLES_COLUMN_CANDIDATE},
	};
	const char *names[TABLES_COLUMN_COUNT + ARRAY_COUNT(others)];
	enum tables_column offered[TABLES_COLUMN_COUNT + ARRAY_COUNT(others)];
	size_t chosen[TABLES_COLUMN_COUNT + ARRAY_COUNT(others)], count = 0;
	bool has[TABLES_COLUMN_COUNT] = {false};
	int status;

	for (size_t i = 0; i < TABLES_COLUMN_COUNT; i++) {
		if (group_columns[i].sides != 0 && group_columns[i].sides != side_count)
			continue;
		offered[count] = (enum tables_column)i;
		names[count++] = group_columns[i].word;
	}
	for (size_t i = 0; side_count == DIFF_SIDE_COUNT && i < ARRAY_COUNT(others); i++) {
		offered[count] = others[i].column;
		names[count++] = others[i].word;
	}
	status = selection_parse_columns(text, names, count, count - (side_count == DIFF_SIDE_COUNT ? 2 : 0),
					 chosen, &request->column_count, error);
	for (size_t i = 0; status == 0 && i < request->column_count; i++) {
		request->columns[i] = offered[chosen[i]];
		if (has[request->columns[i]])
			return error_set(error, -EINVAL, "column '%s' is named twice", names[chosen[i]]);
		has[request->columns[i]] = true;
	}
	/* the arrow shows both sides: beside one of them it would say the same thing twice */
	if (status == 0 && has[TABLES_COLUMN_ARROW] &&
	    (has[TABLES_COLUMN_BASELINE] || has[TABLES_COLUMN_CANDIDATE]))
		return error_set(error, -EINVAL,
				 "column arrow already shows before and after: leave one or the other out");
	return status;
}

struct column_list {
	enum tables_column items[COLUMNS_MAX];
	size_t count;
};

/* Appends a column that is not there yet. */
static void add_column(struct column_list *list, enum tables_column column)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == column)
			return;
	}
	list->items[list->count++] = column;
}

static void add_columns(struct column_list *list, enum tables_column first, enum tables_column last)
{
	for (enum tables_column column = first; column <= last; column++)
		add_column(list, column);
}

/* The columns of a report for which none are named. */
static void add_default_columns(struct column_list *list, const struct tables_build *build)
{
	const struct diff_options *options = &build->diff->options;
	const enum tables_column *display = displays[build->request->display];

	add_columns(list, TABLES_COLUMN_GROUP, TABLES_COLUMN_THREADS);
	if (options->match != NULL && !options->rates)
		add_columns(list, TABLES_COLUMN_SAME, TABLES_COLUMN_WENT);
	add_column(list, TABLES_COLUMN_METRIC);
	if (!build->is_comparison)
		add_column(list, TABLES_COLUMN_VALUE);
	for (size_t i = 0; build->is_comparison && i < DISPLAY_MAX && display[i] != 0; i++)
		add_column(list, display[i]);
	if (build->diff->evidence != NULL)
		add_columns(list, TABLES_COLUMN_SPREAD, TABLES_COLUMN_VERDICT);
}

static struct column_list list_columns(const struct tables_build *build)
{
	const struct tables_request *request = build->request;
	struct column_list list = {.count = 0};

	for (size_t i = 0; i < request->column_count; i++)
		add_column(&list, request->columns[i]);
	if (request->column_count == 0)
		add_default_columns(&list, build);
	if (request->per[TABLES_PER_SECOND])
		add_column(&list, TABLES_COLUMN_PER_SECOND);
	if (request->per[TABLES_PER_THREAD])
		add_column(&list, TABLES_COLUMN_PER_THREAD);
	if (build->is_comparison && request->sort.count != 0 && request->sort.items[0].metric != METRIC_NONE)
		add_column(&list, TABLES_COLUMN_SORT);
	return list;
}

void tables_row_begin(struct tables_build *build, const char *section, const char *group)
{
	const struct column_list list = list_columns(build);

	build->table = table_create(section, list.count);
	for (size_t i = 0; i < list.count; i++) {
		struct table_column *column = &build->table->columns[i];

		*column = group_columns[list.items[i]].column;
		column->column = (unsigned int)list.items[i];
		column->sides = column->sides && build->is_comparison;
		if (list.items[i] == TABLES_COLUMN_GROUP)
			column->name = group;
		if (list.items[i] == TABLES_COLUMN_SORT)
			column->name = metrics[build->request->sort.items[0].metric].name;
	}
}

/* --- rows --- */

void tables_row_fill(struct tables_build *build, size_t row, const struct tables_row *content)
{
	struct cell *cells = build->table->rows[row].cells;

	build->table->rows[row].is_own = content->is_own;
	for (size_t i = 0; i < build->table->column_count; i++) {
		build->column = (enum tables_column)build->table->columns[i].column;
		cells[i] = group_columns[build->column].make(build, content);
	}
}

struct tables_row tables_row_of_column(struct tables_build *build, const struct diff_pair *pair,
				       enum column column)
{
	struct tables_row content = {
		.pair = pair,
		.is_own = pair->is_own,
		.name = column_name(column),
		.column = column,
		.value = diff_column(build->diff, pair, column),
	};

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		content.sides[side] = tables_cell_column(build, pair, (enum diff_side)side, column);
	if (column < COLUMN_COUNT) {
		/* the time in a class is ns per second, as its side is */
		const enum window_mode mode = column_has(column_entry(column), COLUMN_RATES)
						      ? WINDOW_MODE_TOTAL
						      : WINDOW_MODE_RATE;
		struct table_column described;

		column_describe(column, mode, false, &build->table->arena, &described);
		content.name = described.name;
		for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
			content.sides[side].unit = described.unit;
	}
	if (pair != &build->diff->pairs[build->diff->pair_count]) {
		/* once for all columns about it: a test of many runs takes long */
		if (build->diff->evidence != NULL)
			content.evidence = diff_evidence_of(build->diff, pair, column, &content.value);
		return content;
	}
	content.pair = NULL;
	content.label = name_other.text;
	content.label_length = strlen(name_other.text); /* without its mark */
	content.is_own = true;
	return content;
}
