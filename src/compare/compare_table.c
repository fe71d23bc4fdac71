/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a comparison: its metrics, which rows it has and in which order, and their cells. */
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"
#include "diff_evidence.h"
#include "table/column_list.h"
#include "table/column_name.h"
#include "table/limit.h"
#include "table/screen_format.h"
#include "table/value_cell.h"

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
	/* reports have what schedulers keep, a comparison on the screen does not */
	if (column_is_task_field(column))
		return;
	if (column > COLUMN_COUNT || compare_record_applies(set->view, column))
		add_metric(set, column);
	if (column == COLUMN_THR)
		add_metric(set, column_of_stored(METRIC_THREAD_COUNT));
	for (size_t i = 0; column < COLUMN_COUNT && i < diff_metric_inputs(column); i++)
		add_metric(set, column_of_stored((enum metric)column_entry(column)->inputs[i]));
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

/* --- keys of rows: "METRIC\0KEY" --- */

void compare_append_key(enum column metric, const char *subject, size_t subject_length, struct buffer *buffer)
{
	buffer_append_text(buffer, column_name(metric));
	buffer_append_char(buffer, '\0');
	buffer_append(buffer, subject, subject_length);
}

/* --- rows --- */

/* A metric of a pair that may be a row, with what it is sorted by. */
struct compare_row {
	uint32_t pair, metric; /* the metric by its place in the view's */
	double score;
	double key; /* of the order, NAN: last */
};

/* Rows being chosen and weighed. */
struct ranking {
	const struct comparison *comparison;
	const struct compare_join *join;
	const struct view *view;
	enum column metrics[COLUMN_TOTAL];
	size_t metric_count;
	struct compare_row *rows;
	size_t count, capacity;
	struct buffer filter_text;
	size_t pair; /* that the filter asks about */
	struct cell filter_cell;
	bool **members; /* by term, NULL until one is asked for: whether a pair has one */
};

static struct diff_value value_of(const struct ranking *ranking, size_t pair, enum column column)
{
	const struct compare_subject subject = compare_subject(ranking->comparison, ranking->join, pair);

	return compare_value(&subject, column);
}

/* The change of a column in the pair, as rules of a comparison take it; of rates, times are shares. */
static const struct cell *filter_cell(void *context, enum column column, bool as_rate)
{
	struct ranking *ranking = context;
	struct cell *cell = &ranking->filter_cell;
	const enum column stored = column_as_stored(column);
	const struct diff_value value = value_of(ranking, ranking->pair, stored);
	const bool rates = compare_has_rates(ranking->comparison);

	*cell = (struct cell){.state = CELL_UNAVAILABLE};
	if (!value.has_delta || (as_rate && column_has_rate(column) && !rates))
		return cell;
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_REAL;
	cell->unit = column_entry(column)->unit;
	cell->value.real = value.delta;
	if (column_report_ladder(stored) == LADDER_TICKS)
		cell->value.real *= NS_PER_TICK;
	if (rates && limit_is_share(column)) {
		cell->unit = UNIT_PERCENT;
		cell->value.real *= 100.0 / NS_PER_S;
	}
	return cell;
}

/* Marks pairs in which a term of the filter matches a thread that ended in the window of a side. */
static void add_ended_pairs(const struct ranking *ranking, size_t term, enum axis axis, enum diff_side side,
			    bool found[])
{
	const struct diff *diff = ranking->join->diff;
	const struct ended *ended = diff_ended(diff, side);
	uint32_t *pids;
	bool *members;

	if (ended == NULL)
		return;
	pids = ended_pids(ended);
	members = filter_term_members(
		ranking->view->filter, term, axis,
		&(struct filter_subjects){.snapshot = ended->names, .ended_pids = pids});
	for (uint32_t i = 0; i < ended->count; i++) {
		const size_t pair = diff_pair_of_ended(diff, side, i);

		if (members[i] && pair != SIZE_MAX)
			found[pair] = true;
	}
	free(members);
	free(pids);
}

/* Marks the pairs with a thread, on either side, for which a term of the filter holds. */
static bool *pairs_with(const struct ranking *ranking, size_t term)
{
	const struct diff *diff = ranking->join->diff;
	const enum axis axis = diff->options.single ? AXIS_THREAD : ranking->view->grouping.axis;
	bool *found = memory_allocate_zero(diff->pair_count + 1, sizeof(*found));

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct snapshot *snapshot = diff->snapshots[side];
		bool *members = filter_term_members(ranking->view->filter, term, axis,
						    &(struct filter_subjects){.snapshot = snapshot});

		for (size_t i = 0; i < snapshot->thread_count; i++) {
			const size_t pair = diff_pair_of_thread(diff, (enum diff_side)side, i);

			if (members[i] && pair != SIZE_MAX)
				found[pair] = true;
		}
		free(members);
		add_ended_pairs(ranking, term, axis, (enum diff_side)side, found);
	}
	return found;
}

static bool has_member(void *context, size_t term)
{
	struct ranking *ranking = context;

	if (ranking->members == NULL)
		ranking->members = memory_allocate_zero(FILTER_TERMS_MAX, sizeof(bool *));
	if (ranking->members[term] == NULL)
		ranking->members[term] = pairs_with(ranking, term);
	return ranking->members[term][ranking->pair];
}

/* A text may be in the name or in that of the metric. */
static bool passes(struct ranking *ranking, size_t pair, enum column metric)
{
	const struct compare_label *label = &ranking->join->labels[pair];
	struct buffer *text = &ranking->filter_text;

	if (ranking->view->filter == NULL)
		return true;
	buffer_clear(text);
	buffer_append(text, label->text, label->length);
	buffer_append_char(text, ' ');
	buffer_append_text(text, column_name(metric));
	buffer_append_char(text, ' ');
	buffer_append_text(text, column_stored_title(metric));
	ranking->pair = pair;
	return filter_matches(ranking->view->filter, &(struct filter_row){.label = text->data,
									  .label_length = text->length,
									  .cell_of = filter_cell,
									  .has_member = has_member,
									  .context = ranking});
}

static double number_of(const struct diff_value *value, enum diff_side side)
{
	return value->side[side].has_number ? value->side[side].number : NAN;
}

/* The sort key of a row, unless rows are sorted by name. */
static double sort_key(const struct ranking *ranking, const struct compare_row *row,
		       const struct diff_value *value)
{
	const uint32_t *threads = ranking->join->diff->pairs[row->pair].threads;

	switch (ranking->view->compare_sort) {
	case COMPARE_COLUMN_THREADS:
		return fabs((double)threads[DIFF_AFTER] - (double)threads[DIFF_BEFORE]);
	case COMPARE_COLUMN_METRIC:
		return (double)row->metric;
	case COMPARE_COLUMN_BEFORE:
		return number_of(value, DIFF_BEFORE);
	case COMPARE_COLUMN_AFTER:
		return number_of(value, DIFF_AFTER);
	case COMPARE_COLUMN_PERCENT:
		return value->has_fraction ? fabs(value->fraction) : NAN;
	default:
		return row->score;
	}
}

/* Adds the rows of a metric. */
static void add_rows(struct ranking *ranking, uint32_t metric)
{
	const struct diff *diff = ranking->join->diff;
	const enum column column = ranking->metrics[metric];
	struct diff_weight *weights = diff_weigh(diff, column);

	for (size_t i = 0; i < diff->pair_count; i++) {
		const bool moved = weights[i].moved && diff_is_real(diff, &diff->pairs[i], column);
		struct compare_row row = {.pair = (uint32_t)i, .metric = metric};
		struct diff_value value;

		/* most rows of a large comparison */
		if (!moved && !ranking->view->equal_rows)
			continue;
		value = value_of(ranking, i, column);
		if ((value.side[DIFF_BEFORE].state == VALUE_ABSENT &&
		     value.side[DIFF_AFTER].state == VALUE_ABSENT) ||
		    !passes(ranking, i, column))
			continue;
		row.score = moved || value.state == VALUE_READ ? weights[i].weight : NAN;
		row.key = sort_key(ranking, &row, &value);
		*MEMORY_APPEND(ranking->rows, ranking->count, ranking->capacity) = row;
	}
	free(weights);
}

static int compare_labels(const struct ranking *ranking, const struct compare_row *a,
			  const struct compare_row *b)
{
	const struct compare_label *left = &ranking->join->labels[a->pair];
	const struct compare_label *right = &ranking->join->labels[b->pair];
	int order = 0;

	if (a->pair != b->pair)
		order = order_bytes(left->text, left->length, right->text, right->length);
	return order != 0 ? order : (a->pair > b->pair) - (a->pair < b->pair);
}

/* A total order, whatever the values: by the chosen column, then by the weight of the change, name and
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

/* The first rows of a view in their order, at most `limit`; the caller frees them. `*ret_total` gets the
 * number of all. */
static struct compare_row *make_rows(const struct comparison *comparison, const struct view *view,
				     size_t limit, size_t *ret_count, size_t *ret_total)
{
	struct ranking ranking = {.comparison = comparison, .join = comparison->shown, .view = view};

	ranking.metric_count = compare_metrics(view, ranking.metrics);
	for (uint32_t metric = 0; metric < ranking.metric_count; metric++)
		add_rows(&ranking, metric);
	*ret_total = ranking.count;
	*ret_count = ranking.count < limit ? ranking.count : limit;
	order_first(ranking.rows, ranking.count, sizeof(*ranking.rows), *ret_count, compare_rows, &ranking);
	for (size_t i = 0; i < *ret_count; i++)
		ranking.rows[i].metric = ranking.metrics[ranking.rows[i].metric];
	for (size_t i = 0; ranking.members != NULL && i < FILTER_TERMS_MAX; i++)
		free(ranking.members[i]);
	free(ranking.members);
	buffer_release(&ranking.filter_text);
	return ranking.rows;
}

/* --- cells --- */

static struct cell number_cell(double number, enum unit unit)
{
	return number >= 0 && number < 0x1p63 && number == floor(number)
		       ? cell_of_integer((uint64_t)number, unit)
		       : cell_of_real(number, unit);
}

static struct cell side_cell(const struct compare_subject *subject, enum column column,
			     const struct diff_side_value *own, enum diff_side side, struct arena *arena)
{
	const struct diff *diff = subject->join->diff;
	const enum diff_side inside = compare_inside(subject->comparison, side);
	const enum value_state state = compare_is_on(subject, side) ? own->state : VALUE_ABSENT;
	struct cell cell = cell_of_state(state, own->reason, UNIT_NONE);
	struct value held;

	if (state != VALUE_READ)
		return cell;
	diff_side(diff, subject->pair, inside, column, &held);
	/* a number may stand for a value that is not there: see begin_at_zero() */
	if (own->has_number && held.form != VALUE_FORM_RANGE && held.form != VALUE_FORM_CPUS) {
		cell = number_cell(own->number, column_report_unit(column));
	} else {
		value_cell(reduction_column(diff->reductions[inside], column), &held, arena, &cell);
		cell.unit = column_report_unit(column);
	}
	cell.partial = own->partial;
	return cell;
}

static bool is_on_one_side(const struct diff_value *value, enum row_mark mark)
{
	return (mark == ROW_MARK_NEW && value->side[DIFF_AFTER].state == VALUE_READ) ||
	       (mark == ROW_MARK_LEFT && value->side[DIFF_BEFORE].state == VALUE_READ);
}

/* The cell of a change that is not known. */
static struct cell unknown_cell(const struct diff_value *value)
{
	return cell_of_state(value->state == VALUE_READ ? VALUE_ABSENT : value->state, value->reason,
			     UNIT_NONE);
}

/* Takes over the text, a change with its sign. */
static struct cell signed_cell(struct buffer *text, struct arena *arena)
{
	const struct cell cell = cell_of_text(arena_duplicate(arena, text->data, text->length));

	buffer_release(text);
	return cell;
}

static struct cell change_cell(const struct diff_value *value, enum column metric, struct arena *arena)
{
	struct buffer text = {0};
	struct cell amount;

	if (value->is_category && value->state == VALUE_READ)
		return cell_of_text(value->differs ? "changed" : "0");
	if (!value->has_delta)
		return unknown_cell(value);
	amount = number_cell(fabs(value->delta), column_report_unit(metric));
	if (value->delta == 0)
		return amount;
	buffer_append_char(&text, value->delta < 0 ? '-' : '+');
	screen_format_cell(&text, &amount, &screen_marks_ascii);
	return signed_cell(&text, arena);
}

static struct cell percent_cell(const struct diff_value *value, enum row_mark mark, struct arena *arena)
{
	struct buffer text = {0};

	if (is_on_one_side(value, mark))
		return cell_of_text(mark == ROW_MARK_NEW ? "new" : "gone");
	if (value->is_category || (value->has_delta && !value->has_fraction))
		return (struct cell){.state = CELL_EMPTY, .sort = NAN};
	if (!value->has_fraction)
		return unknown_cell(value);
	if (value->fraction == 0)
		return cell_of_text("0%");
	buffer_append_char(&text, value->fraction < 0 ? '-' : '+');
	screen_format_percent(&text, fabs(value->fraction) * 100);
	buffer_append_char(&text, '%');
	return signed_cell(&text, arena);
}

static struct cell threads_cell(const struct compare_subject *subject, struct arena *arena)
{
	const uint32_t before = compare_threads(subject, DIFF_BEFORE);
	const uint32_t after = compare_threads(subject, DIFF_AFTER);

	return cell_of_text(before == after ? arena_format(arena, "%u", after)
					    : arena_format(arena, "%u>%u", before, after));
}

struct cell compare_cell(const struct compare_subject *subject, enum column metric,
			 const struct diff_value *value, enum compare_column column, struct arena *arena)
{
	switch (column) {
	case COMPARE_COLUMN_THREADS:
		return threads_cell(subject, arena);
	case COMPARE_COLUMN_METRIC:
		return cell_of_text(column_stored_title(metric));
	case COMPARE_COLUMN_BEFORE:
		return side_cell(subject, metric, &value->side[DIFF_BEFORE], DIFF_BEFORE, arena);
	case COMPARE_COLUMN_AFTER:
		return side_cell(subject, metric, &value->side[DIFF_AFTER], DIFF_AFTER, arena);
	case COMPARE_COLUMN_CHANGE:
		return change_cell(value, metric, arena);
	default:
		return percent_cell(value, compare_mark(subject), arena);
	}
}

/* --- the table --- */

enum {
	ROWS_MAX = 100000, /* of a table: nobody scrolls further, so that no more are kept */
	METRIC_CELLS_NARROW = 12,
	METRIC_CELLS = 20,
	METRIC_CELLS_WIDE = 28,
	NARROW_WIDTH = 72, /* of the screen, cells */
	WIDE_WIDTH = 100,
};

const struct compare_column_entry compare_columns[COMPARE_COLUMN_COUNT] = {
	[COMPARE_COLUMN_THREADS] =
		{"threads", "THREADS", false, 7,
		 "Threads of the group, before>after if their number changed. Sorted by how "
		 "many more or fewer there are."},
	[COMPARE_COLUMN_METRIC] = {"metric", "METRIC", true, METRIC_CELLS_NARROW,
				   "What changed; i says what it counts."},
	[COMPARE_COLUMN_BEFORE] = {"before", "BEFORE", false, 7, "What it was."},
	[COMPARE_COLUMN_AFTER] = {"after", "AFTER", false, 7, "What it is."},
	[COMPARE_COLUMN_CHANGE] = {"change", "CHANGE", false, 8,
				   "By how much it rose or fell. Sorted by its share in all changes of this "
				   "metric, so that seconds and bytes can be compared."},
	[COMPARE_COLUMN_PERCENT] = {"percent", "%", false, 7, "The change relative to what it was."},
};

/* The columns of a table: one that would say the same in every row is left out. */
static size_t shown_columns(const struct view *view, enum compare_column columns[COMPARE_COLUMN_COUNT])
{
	enum column wanted[COLUMN_TOTAL];
	size_t metric_count = compare_metrics(view, wanted), count = 0;

	for (enum compare_column column = 0; column < COMPARE_COLUMN_COUNT; column++) {
		if (column == COMPARE_COLUMN_THREADS && view->level == VIEW_LEVEL_THREADS)
			continue;
		if (column == COMPARE_COLUMN_METRIC && metric_count == 1)
			continue;
		columns[count++] = column;
	}
	return count;
}

static struct table *create(const struct view *view)
{
	enum compare_column columns[COMPARE_COLUMN_COUNT];
	size_t count = shown_columns(view, columns);
	struct table *table = table_create(NULL, count);

	for (size_t i = 0; i < count; i++) {
		const struct compare_column_entry *entry = &compare_columns[columns[i]];

		table->columns[i] = (struct table_column){
			.name = entry->name,
			.title = entry->title,
			.left = entry->left,
			.width = entry->width,
			.column = COMPARE_COLUMN_ID(columns[i]),
			.stays = columns[i] == COMPARE_COLUMN_METRIC,
		};
		if (columns[i] == COMPARE_COLUMN_METRIC)
			table->columns[i].widest = view->width == 0 || view->width >= WIDE_WIDTH
							   ? METRIC_CELLS_WIDE
						   : view->width >= NARROW_WIDTH ? METRIC_CELLS
										 : METRIC_CELLS_NARROW;
		if (!view->sort_by_name && columns[i] == view->compare_sort)
			table->sort_column = i;
	}
	return table;
}

static void add_row(struct table *table, const struct comparison *comparison, const struct compare_row *own,
		    struct compare_label *labels, struct buffer *key)
{
	const struct compare_join *join = comparison->shown;
	const struct compare_subject subject = compare_subject(comparison, join, own->pair);
	const struct diff_pair *pair = subject.pair;
	struct table_row *row = table_add_bare_row(table);
	struct compare_label *label = &labels[own->pair];

	/* names are shared by the rows of a pair: each is copied once */
	if (label->text == NULL) {
		*label = join->labels[own->pair];
		label->text = arena_duplicate(&table->arena, label->text, label->length);
	}
	row->label = label->text;
	row->label_length = label->length;
	row->is_own = pair->is_own;
	buffer_clear(key);
	compare_append_key((enum column)own->metric, pair->key, pair->key_length, key);
	row->key_name = (uint32_t)strlen(column_name((enum column)own->metric)) + 1;
	row->key = arena_duplicate(&table->arena, key->data, key->length);
	row->key_length = key->length;
	row->threads = compare_threads(&subject, DIFF_AFTER);
	row->mark = compare_mark(&subject);
	row->subject = own->pair;
	row->metric = own->metric;
	if (join->diff->options.single) {
		const enum diff_side side = pair->kind == DIFF_PAIR_ONLY_BEFORE ? DIFF_BEFORE : DIFF_AFTER;

		row->tid = comparison->sides[side]->tid[pair->group[side]];
		row->tgid = comparison->sides[side]->tgid[pair->group[side]];
	}
}

struct table *compare_table(struct comparison *comparison, const struct view *view)
{
	struct table *table = create(view);
	struct compare_label *labels;
	struct compare_row *rows;
	struct buffer key = {0};
	size_t count, total, limit = ROWS_MAX;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return table;
	comparison->shown = compare_join_of_view(comparison, view);
	if (view->limit != 0 && view->limit < limit)
		limit = view->limit;
	rows = make_rows(comparison, view, limit, &count, &total);
	labels = memory_allocate_zero(comparison->shown->diff->pair_count + 1, sizeof(*labels));
	for (size_t i = 0; i < count; i++)
		add_row(table, comparison, &rows[i], labels, &key);
	table->row_total = total;
	free(rows);
	free(labels);
	buffer_release(&key);
	if (!view->cells_on_demand)
		compare_table_fill(comparison, table, 0, table->row_count);
	return table;
}

static void fill_row(const struct comparison *comparison, struct table *table, struct table_row *row)
{
	const struct compare_subject subject = compare_subject(comparison, comparison->shown, row->subject);
	const enum column metric = (enum column)row->metric;
	const struct diff_value value = compare_value(&subject, metric);

	table_add_cells(table, row);
	for (size_t i = 0; i < table->column_count; i++)
		row->cells[i] = compare_cell(&subject, metric, &value,
					     (enum compare_column)(table->columns[i].column - COLUMN_TOTAL),
					     &table->arena);
}

void compare_table_fill(struct comparison *comparison, struct table *table, size_t first, size_t count)
{
	for (size_t i = first; i < table->row_count && i - first < count; i++) {
		if (table->rows[i].cells == NULL)
			fill_row(comparison, table, &table->rows[i]);
	}
}
