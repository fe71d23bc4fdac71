/* SPDX-License-Identifier: GPL-2.0-only */
/* Which rows a comparison has, and their order. */
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"
#include "view/column_table.h"

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

	if (column > COLUMN_COUNT || pair_record_applies(set->view, column))
		add_metric(set, column);
	if (column == COLUMN_THR)
		add_metric(set, pair_column_of(METRIC_THREAD_COUNT));
	if (column > COLUMN_COUNT || !column_has_metrics(column) ||
	    entry->operation == COLUMN_OPERATION_STUCK)
		return;
	for (size_t i = 0; i < entry->input_count; i++)
		add_metric(set, pair_column_of((enum metric)entry->inputs[i]));
}

/* Means and shares of what is there already. */
static void add_derived(struct metric_set *set)
{
	for (int d = 0; d < DERIVED_COUNT; d++) {
		const struct derived_entry *entry = &derived_metrics[d];
		bool complete = true;

		for (size_t i = 0; i < entry->input_count; i++)
			complete = complete && set->has[pair_column_of(entry->inputs[i])];
		if (complete)
			add_metric(set, column_of_derived((enum derived)d));
	}
}

size_t session_pair_metrics(const struct view *view, enum column ret_metrics[PAIR_METRICS_MAX])
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
	/* a capture reads the memory of processes, a round only where it is looked at: that is dear */
	if (view->tab == TAB_OVERVIEW && view->mode == VIEW_MODE_TOTAL)
		add_column(&set, COLUMN_RSS);
	add_derived(&set);
	return set.count;
}

void session_pair_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records,
			bool *ret_smaps)
{
	enum column wanted[PAIR_METRICS_MAX];
	size_t count = session_pair_metrics(view, wanted);

	*ret_sources = 0;
	*ret_cgroup_records = *ret_smaps = false;
	for (size_t i = 0; i < count; i++) {
		*ret_sources |= column_sources(wanted[i]);
		if (pair_is_record(wanted[i]))
			*(column_entry(wanted[i])->operation == COLUMN_OPERATION_SMAPS
				  ? ret_smaps
				  : ret_cgroup_records) = true;
	}
}

/* --- what a change weighs --- */

/* What a quiet host does in a second, by the ladder of a metric: 1 % of a CPU, ten of something, 100 KiB. */
static double allowance_of(enum ladder ladder)
{
	switch (ladder) {
	case LADDER_NS:
		return 1e7;
	case LADDER_US:
		return 1e4;
	case LADDER_TICKS:
		return 1;
	case LADDER_BYTES:
		return 100 * 1024;
	case LADDER_NONE: /* CPUs of a limit: nobody changes them by chance */
		return 0.01;
	default:
		return 10;
	}
}

/* How much what has no total counts beside a counter's part of all changes. */
#define WEIGHT_OF_NUMBER 0.02
#define WEIGHT_OF_WORD   0.001

struct build {
	const struct pair_subjects *subjects;
	const struct view *view;
	double seconds;                  /* between the captures, for the allowance */
	double totals[PAIR_METRICS_MAX]; /* of the amounts of all changes, by metric of the view */
	enum column metrics[PAIR_METRICS_MAX];
	size_t metric_count;
	struct pair_row *rows;
	size_t count, capacity;
	struct buffer filter_text;
	size_t subject; /* that the filter asks about */
	struct cell filter_cell;
};

/* Whether changes of groups add up to something: counters, and amounts in records. */
static bool has_total(enum column metric)
{
	if (pair_is_record(metric))
		return true;
	return metric < COLUMN_DERIVED &&
	       metric_type((enum metric)(metric - COLUMN_METRICS))->kind == METRIC_KIND_COUNTER;
}

/* How many seconds of a quiet host are between the sides; captures of years apart are not compared by the
 * noise between them. */
static double allowance_seconds(const struct session *session)
{
	double seconds = (double)session_pair_distance_ns(session) / NS_PER_S;

	return seconds < 1 ? 1 : seconds > 3600 ? 3600 : seconds;
}

/* The amount that moved: the change, or all of it where the subject is on one side only. */
static double amount_of(const struct diff_value *value, enum row_mark mark)
{
	if (value->has_delta)
		return fabs(value->delta);
	if (mark == ROW_MARK_NEW && value->side[DIFF_AFTER].has_number)
		return fabs(value->side[DIFF_AFTER].number);
	if (mark == ROW_MARK_LEFT && value->side[DIFF_BEFORE].has_number)
		return fabs(value->side[DIFF_BEFORE].number);
	return 0;
}

/* Of what has no total: its part of the larger side. */
static double score_alone(const struct diff_value *value, double amount, enum column metric)
{
	double larger = 0;

	if (value->is_category)
		return value->differs ? WEIGHT_OF_WORD : 0;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		larger = fmax(larger, fabs(value->side[side].has_number ? value->side[side].number : 0));
	if (pair_unit(metric) != UNIT_RATIO)
		larger += allowance_of(pair_ladder(metric));
	return larger != 0 ? WEIGHT_OF_NUMBER * fmin(1, amount / larger) : 0;
}

/* What a counter's part of all changes counts: time is what a user feels, events are how it comes about. */
static double weight_of(enum ladder ladder)
{
	switch (ladder) {
	case LADDER_NS:
	case LADDER_US:
	case LADDER_TICKS:
		return 1;
	case LADDER_BYTES:
		return 0.8;
	default:
		return 0.5;
	}
}

/* Of a counter: its part of all changes of it. */
static double score_in_total(const struct build *build, double amount, size_t metric)
{
	enum ladder ladder = pair_ladder(build->metrics[metric]);

	/* threads come and go by themselves less than anything else */
	if (build->metrics[metric] == pair_column_of(METRIC_THREAD_COUNT))
		return amount / (build->totals[metric] + 1);
	return weight_of(ladder) * amount / (build->totals[metric] + allowance_of(ladder) * build->seconds);
}

/* --- filter --- */

/* The change of a metric of the subject, of all metrics of a column together. */
static const struct cell *filter_cell(void *context, enum column column, bool as_rate)
{
	struct build *build = context;
	enum column inputs[PAIR_METRICS_MAX];
	struct view focused = *build->view;
	size_t count;

	focused.focus = column;
	count = session_pair_metrics(&focused, inputs);

	build->filter_cell = (struct cell){.state = CELL_ABSENT};
	for (size_t i = 0; i < count && !as_rate; i++) {
		struct diff_value value = pair_value(build->subjects, build->subject, inputs[i]);

		if (!value.has_delta) {
			build->filter_cell.state = CELL_UNAVAILABLE;
			break;
		}
		build->filter_cell.state = CELL_VALUE;
		build->filter_cell.form = CELL_FORM_REAL;
		build->filter_cell.unit = pair_unit(inputs[i]);
		build->filter_cell.value.real += value.delta;
	}
	return &build->filter_cell;
}

/* A text may be in the name or in that of the metric. */
static bool passes(struct build *build, size_t subject, enum column metric)
{
	struct buffer *text = &build->filter_text;
	struct pair_label label;

	if (build->view->filter == NULL)
		return true;
	label = pair_subject_label(build->subjects, subject);
	buffer_clear(text);
	buffer_append(text, label.text, label.length);
	buffer_append_char(text, ' ');
	buffer_append_text(text, column_name(metric));
	build->subject = subject;
	return filter_matches(build->view->filter, text->data, text->length, filter_cell, build);
}

/* --- rows --- */

static double number_of(const struct diff_value *value, enum diff_side side)
{
	return value->side[side].has_number ? value->side[side].number : NAN;
}

/* What a row is sorted by, but for names. */
static double sort_key(const struct build *build, size_t subject, const struct diff_value *value)
{
	if (build->view->sort_by_name)
		return 0;
	switch (build->view->pair_sort) {
	case PAIR_COLUMN_THREADS:
		return fabs((double)pair_subject_threads(build->subjects, subject, DIFF_AFTER) -
			    (double)pair_subject_threads(build->subjects, subject, DIFF_BEFORE));
	case PAIR_COLUMN_BEFORE:
		return number_of(value, DIFF_BEFORE);
	case PAIR_COLUMN_AFTER:
		return number_of(value, DIFF_AFTER);
	case PAIR_COLUMN_PERCENT:
		return value->has_fraction ? fabs(value->fraction) : NAN;
	default:
		return 0; /* by the score, which needs all totals first */
	}
}

static void add_row(struct build *build, size_t subject, size_t metric, const struct diff_value *value,
		    double score)
{
	build->rows = memory_grow(build->rows, &build->capacity, build->count + 1, sizeof(*build->rows));
	build->rows[build->count++] = (struct pair_row){
		.subject = (uint32_t)subject,
		.metric = (uint32_t)metric,
		.score = score,
		.key = sort_key(build, subject, value),
	};
}

/* Adds a metric of a subject to the totals and, where it is to be seen, to the rows. */
static void consider(struct build *build, size_t subject, enum row_mark mark, size_t metric)
{
	enum column column = build->metrics[metric];
	struct diff_value value = pair_value(build->subjects, subject, column);
	double amount = amount_of(&value, mark);
	bool moved = amount != 0 || value.differs;
	double score;

	if (value.side[DIFF_BEFORE].state == VALUE_ABSENT && value.side[DIFF_AFTER].state == VALUE_ABSENT)
		return;
	build->totals[metric] += amount;
	/* most rows of a large comparison */
	if ((!moved && !build->view->equal_rows) || !passes(build, subject, column))
		return;
	score = has_total(column) ? amount : score_alone(&value, amount, column);
	add_row(build, subject, metric, &value, moved || value.state == VALUE_READ ? score : NAN);
}

static int compare_labels(const struct build *build, const struct pair_row *a, const struct pair_row *b)
{
	struct pair_label left, right;
	int order;

	if (a->subject == b->subject)
		return 0;
	left = pair_subject_label(build->subjects, a->subject);
	right = pair_subject_label(build->subjects, b->subject);
	order = order_bytes(left.text, left.length, right.text, right.length);
	return order != 0 ? order : a->subject < b->subject ? -1 : 1;
}

/* Total, whatever the values: by what was asked for, then by the weight of the change, name and metric. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	const struct pair_row *left = a, *right = b;
	const struct view *view = build->view;
	int order = 0;

	if (view->sort_by_name)
		order = compare_labels(build, left, right);
	else if (view->pair_sort == PAIR_COLUMN_METRIC)
		order = (left->metric > right->metric) - (left->metric < right->metric);
	else if (view->pair_sort == PAIR_COLUMN_CHANGE)
		order = order_numbers(left->score, right->score, view->sort_ascending);
	else
		order = order_numbers(left->key, right->key, view->sort_ascending);
	if ((view->sort_by_name || view->pair_sort == PAIR_COLUMN_METRIC) && !view->sort_ascending)
		order = -order;
	if (order == 0)
		order = order_numbers(left->score, right->score, false);
	if (order == 0)
		order = compare_labels(build, left, right);
	return order != 0 ? order : (left->metric > right->metric) - (left->metric < right->metric);
}

/* What the changes of counters weigh, now that all of them are known. */
static void weigh(struct build *build)
{
	for (size_t i = 0; i < build->count; i++) {
		struct pair_row *row = &build->rows[i];

		if (has_total(build->metrics[row->metric]) && !isnan(row->score))
			row->score = score_in_total(build, row->score, row->metric);
	}
}

struct pair_row *pair_rows_make(const struct pair_subjects *subjects, const struct view *view, size_t limit,
				size_t *ret_count, size_t *ret_total)
{
	struct build *build = memory_allocate_zero(1, sizeof(*build));
	struct pair_row *rows;

	build->subjects = subjects;
	build->view = view;
	build->seconds = allowance_seconds(subjects->session);
	build->metric_count = session_pair_metrics(view, build->metrics);
	for (size_t subject = 0; subject < subjects->count; subject++) {
		enum row_mark mark = pair_subject_mark(subjects, subject);

		for (size_t metric = 0; metric < build->metric_count; metric++)
			consider(build, subject, mark, metric);
	}
	weigh(build);
	*ret_total = build->count;
	*ret_count = build->count < limit ? build->count : limit;
	rows = build->rows;
	order_first(rows, build->count, sizeof(*rows), *ret_count, compare_rows, build);
	for (size_t i = 0; i < *ret_count; i++)
		rows[i].metric = build->metrics[rows[i].metric];
	buffer_release(&build->filter_text);
	free(build);
	return rows;
}
