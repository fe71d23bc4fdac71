/* SPDX-License-Identifier: GPL-2.0-only */
/* Which rows a comparison has, and their order. */
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff_evidence.h"
#include "diff_weight.h"

/* Rows being chosen and weighed. */
struct ranking {
	const struct compare_subjects *subjects;
	const struct view *view;
	double seconds;              /* between the captures, for the allowance */
	double totals[COLUMN_TOTAL]; /* of the amounts of all changes, by metric of the view */
	enum column metrics[COLUMN_TOTAL];
	size_t metric_count;
	struct compare_row *rows;
	size_t count, capacity;
	struct buffer filter_text;
	size_t subject; /* that the filter asks about */
	struct cell filter_cell;
	bool *members[FILTER_TERMS_MAX]; /* by term, NULL until it is asked for: whether a subject has one */
};

/* --- filter --- */

/* The change of a column in the subject: that of all its metrics together. */
static const struct cell *filter_cell(void *context, enum column column, bool as_rate)
{
	struct ranking *ranking = context;
	enum column inputs[COLUMN_TOTAL];
	struct view focused = *ranking->view;
	size_t count;

	focused.focus = column;
	count = compare_metrics(&focused, inputs);

	ranking->filter_cell = (struct cell){.state = CELL_ABSENT};
	for (size_t i = 0; i < count && !as_rate; i++) {
		struct diff_value value = compare_value(ranking->subjects, ranking->subject, inputs[i]);

		if (!value.has_delta) {
			ranking->filter_cell.state = CELL_UNAVAILABLE;
			break;
		}
		ranking->filter_cell.state = CELL_VALUE;
		ranking->filter_cell.form = CELL_FORM_REAL;
		ranking->filter_cell.unit = column_report_unit(inputs[i]);
		ranking->filter_cell.value.real += value.delta;
	}
	return &ranking->filter_cell;
}

/* Which subjects have a thread that a term of the filter holds for, on either side. */
static bool *subjects_with(struct ranking *ranking, size_t term)
{
	const struct compare_subjects *subjects = ranking->subjects;
	const enum axis axis = subjects->join != NULL ? ranking->view->grouping.axis : AXIS_THREAD;
	bool *found = memory_allocate_zero(subjects->count + 1, sizeof(*found));

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct snapshot *snapshot = subjects->comparison->sides[side];
		bool *members = filter_term_members(ranking->view->filter, term, axis,
						    &(struct filter_subjects){.snapshot = snapshot});

		for (size_t i = 0; subjects->join != NULL && i < snapshot->thread_count; i++) {
			const size_t pair = diff_pair_of_thread(subjects->join->diff, (enum diff_side)side,
								i);

			if (members[i] && pair < subjects->count &&
			    compare_join_has(subjects->join, pair, (enum diff_side)side, i))
				found[pair] = true;
		}
		for (size_t i = 0; subjects->join == NULL && i < subjects->count; i++) {
			const uint32_t thread = subjects->threads[i].index[side];

			found[i] |= thread != COMPARE_NONE && members[thread];
		}
		free(members);
	}
	return found;
}

static bool has_member(void *context, size_t term)
{
	struct ranking *ranking = context;

	if (ranking->members[term] == NULL)
		ranking->members[term] = subjects_with(ranking, term);
	return ranking->members[term][ranking->subject];
}

/* A text may be in the name or in that of the metric. */
static bool passes(struct ranking *ranking, size_t subject, enum column metric)
{
	struct buffer *text = &ranking->filter_text;
	struct compare_label label;

	if (ranking->view->filter == NULL)
		return true;
	label = compare_subject_label(ranking->subjects, subject);
	buffer_clear(text);
	buffer_append(text, label.text, label.length);
	buffer_append_char(text, ' ');
	buffer_append_text(text, column_name(metric));
	ranking->subject = subject;
	return filter_matches(ranking->view->filter, &(struct filter_row){.label = text->data,
									  .label_length = text->length,
									  .cell_of = filter_cell,
									  .has_member = has_member,
									  .context = ranking});
}

/* --- rows --- */

static double number_of(const struct diff_value *value, enum diff_side side)
{
	return value->side[side].has_number ? value->side[side].number : NAN;
}

/* What a row is sorted by, but for names. */
static double sort_key(const struct ranking *ranking, size_t subject, size_t metric,
		       const struct diff_value *value)
{
	switch (ranking->view->compare_sort) {
	case COMPARE_COLUMN_THREADS:
		return fabs((double)compare_subject_threads(ranking->subjects, subject, DIFF_AFTER) -
			    (double)compare_subject_threads(ranking->subjects, subject, DIFF_BEFORE));
	case COMPARE_COLUMN_METRIC:
		return (double)metric;
	case COMPARE_COLUMN_BEFORE:
		return number_of(value, DIFF_BEFORE);
	case COMPARE_COLUMN_AFTER:
		return number_of(value, DIFF_AFTER);
	case COMPARE_COLUMN_PERCENT:
		return value->has_fraction ? fabs(value->fraction) : NAN;
	default:
		return 0; /* the score, which needs all totals first: see weigh() */
	}
}

static void add_row(struct ranking *ranking, size_t subject, size_t metric, const struct diff_value *value,
		    double score)
{
	ranking->rows = memory_grow(ranking->rows, &ranking->capacity, ranking->count + 1,
				    sizeof(*ranking->rows));
	ranking->rows[ranking->count++] = (struct compare_row){
		.subject = (uint32_t)subject,
		.metric = (uint32_t)metric,
		.score = score,
		.key = sort_key(ranking, subject, metric, value),
	};
}

/* Of two windows: whether a change is more than what is there by chance. Of single threads nobody knows. */
static bool is_real(const struct ranking *ranking, size_t subject, enum column column)
{
	const struct compare_join *join = ranking->subjects->join;

	return join == NULL || diff_is_real(join->diff, &join->diff->pairs[subject], column);
}

/* Adds a metric of a subject to the totals and, where it is to be seen, to the rows. */
static void consider(struct ranking *ranking, size_t subject, enum row_mark mark, size_t metric)
{
	enum column column = ranking->metrics[metric];
	const struct diff_weight_kind kind = diff_weight_kind(column);
	struct diff_value value = compare_value(ranking->subjects, subject, column);
	double amount = diff_weight_amount(&value, mark == ROW_MARK_LEFT, mark == ROW_MARK_NEW);
	bool moved = amount != 0 || value.differs;
	double score;

	if (moved && compare_has_rates(ranking->subjects->comparison))
		moved = is_real(ranking, subject, column);

	if (value.side[DIFF_BEFORE].state == VALUE_ABSENT && value.side[DIFF_AFTER].state == VALUE_ABSENT)
		return;
	ranking->totals[metric] += amount;
	/* most rows of a large comparison */
	if ((!moved && !ranking->view->equal_rows) || !passes(ranking, subject, column))
		return;
	score = kind.has_total ? amount : diff_weight_alone(&kind, &value, amount);
	add_row(ranking, subject, metric, &value, moved || value.state == VALUE_READ ? score : NAN);
}

static int compare_labels(const struct ranking *ranking, const struct compare_row *a,
			  const struct compare_row *b)
{
	struct compare_label left, right;
	int order;

	if (a->subject == b->subject)
		return 0;
	left = compare_subject_label(ranking->subjects, a->subject);
	right = compare_subject_label(ranking->subjects, b->subject);
	order = order_bytes(left.text, left.length, right.text, right.length);
	return order != 0 ? order : a->subject < b->subject ? -1 : 1;
}

/* A total order, whatever the values: by what was asked for, then by the weight of the change, name and
 * metric. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct ranking *ranking = context;
	const struct compare_row *left = a, *right = b;
	const struct view *view = ranking->view;
	int order = view->sort_by_name ? compare_labels(ranking, left, right)
				       : order_numbers(left->key, right->key, view->sort_ascending);

	if (view->sort_by_name && !view->sort_ascending)
		order = -order;
	if (order == 0)
		order = order_numbers(left->score, right->score, false);
	if (order == 0)
		order = compare_labels(ranking, left, right);
	return order != 0 ? order : (left->metric > right->metric) - (left->metric < right->metric);
}

/* What the changes of counters weigh, now that all of them are known. */
static void weigh(struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->count; i++) {
		struct compare_row *row = &ranking->rows[i];

		const struct diff_weight_kind kind = diff_weight_kind(ranking->metrics[row->metric]);

		if (kind.has_total && !isnan(row->score))
			row->score = diff_weight_in_total(&kind, row->score, ranking->totals[row->metric],
							  ranking->seconds);
		if (ranking->view->compare_sort == COMPARE_COLUMN_CHANGE)
			row->key = row->score;
	}
}

struct compare_row *compare_rows_make(const struct compare_subjects *subjects, const struct view *view,
				      size_t limit, size_t *ret_count, size_t *ret_total)
{
	struct ranking *ranking = memory_allocate_zero(1, sizeof(*ranking));
	struct compare_row *rows;

	ranking->subjects = subjects;
	ranking->view = view;
	ranking->seconds = diff_weight_seconds(compare_distance_ns(subjects->comparison));
	ranking->metric_count = compare_metrics(view, ranking->metrics);
	for (size_t subject = 0; subject < subjects->count; subject++) {
		enum row_mark mark = compare_subject_mark(subjects, subject);

		for (size_t metric = 0; metric < ranking->metric_count; metric++)
			consider(ranking, subject, mark, metric);
	}
	weigh(ranking);
	*ret_total = ranking->count;
	*ret_count = ranking->count < limit ? ranking->count : limit;
	rows = ranking->rows;
	order_first(rows, ranking->count, sizeof(*rows), *ret_count, compare_rows, ranking);
	for (size_t i = 0; i < *ret_count; i++)
		rows[i].metric = ranking->metrics[rows[i].metric];
	for (size_t i = 0; i < FILTER_TERMS_MAX; i++)
		free(ranking->members[i]);
	buffer_release(&ranking->filter_text);
	free(ranking);
	return rows;
}
