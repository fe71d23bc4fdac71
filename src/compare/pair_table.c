/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a comparison: which pairs have a row, in which order, and their cells. */
#include "pair_table.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/unicode.h"
#include "diff_evidence.h"
#include "diff_harm.h"
#include "table/column_list.h"
#include "table/screen_format.h"
#include "table/value_cell.h"

/* --- pairs as they are shown --- */

struct diff_value pair_value(const struct pair_sides *sides, const struct diff_pair *pair, enum column column)
{
	struct diff_value value = diff_column(sides->diff, pair, column);
	const bool is_category = value.is_category, differs = value.differs;
	const struct diff_side_value before = value.side[DIFF_BEFORE];

	if (!sides->swapped)
		return value;
	value = (struct diff_value){.side = {value.side[DIFF_AFTER], before}, .is_category = is_category};
	diff_value_conclude(&value, column_is_ratio(column));
	value.differs = differs;
	return value;
}

enum row_mark pair_mark(const struct pair_sides *sides, const struct diff_pair *pair)
{
	const struct diff_options *options = &sides->diff->options;

	if (pair->group[pair_side(sides, DIFF_BEFORE)] == UINT32_MAX)
		return ROW_MARK_NEW;
	if (pair->group[pair_side(sides, DIFF_AFTER)] == UINT32_MAX)
		return ROW_MARK_LEFT;
	return options->match != NULL && !options->single && pair->members.same == 0 ? ROW_MARK_RESTARTED
										     : ROW_MARK_NONE;
}

/* --- cells --- */

struct cell pair_side_cell(const struct pair_sides *sides, const struct diff_pair *pair, enum diff_side shown,
			   enum column column, struct arena *arena)
{
	const enum diff_side side = pair_side(sides, shown);
	const struct diff *diff = sides->diff;
	struct value value;
	struct cell cell;
	double divisor;

	diff_side(diff, pair, side, column, &value);
	if (diff->reductions[side] == NULL)
		return cell_of_state(VALUE_ABSENT, REASON_READ, UNIT_NONE);
	value_cell(reduction_column(diff->reductions[side], column), &value, arena, &cell);
	cell.unit = diff_unit(diff, column, &divisor);
	if (cell.form == CELL_FORM_REAL) {
		cell.value.real /= divisor;
		cell.sort /= divisor;
	}
	return cell;
}

/* Whether two cells read alike on the screen. */
static bool read_alike(const struct cell cells[DIFF_SIDE_COUNT])
{
	struct buffer texts[DIFF_SIDE_COUNT] = {0};
	bool alike;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		screen_format_cell(&texts[side], &cells[side], &screen_marks_utf8);
	alike = order_bytes(texts[DIFF_BEFORE].data, texts[DIFF_BEFORE].length, texts[DIFF_AFTER].data,
			    texts[DIFF_AFTER].length) == 0;
	buffer_release(&texts[DIFF_BEFORE]);
	buffer_release(&texts[DIFF_AFTER]);
	return alike;
}

struct cell cell_of_sides(const struct cell sides[DIFF_SIDE_COUNT], struct arena *arena)
{
	struct cell cell = {.state = CELL_VALUE, .unit = sides[DIFF_BEFORE].unit, .sort = NAN};

	if (cell.unit == UNIT_NONE)
		cell.unit = sides[DIFF_AFTER].unit;
	cell.sides = memcpy(arena_allocate(arena, DIFF_SIDE_COUNT * sizeof(*sides)), sides,
			    DIFF_SIDE_COUNT * sizeof(*sides));
	for (size_t side = DIFF_SIDE_COUNT; side-- > 0;) {
		if (sides[side].state != CELL_UNAVAILABLE && !sides[side].partial)
			continue;
		cell.partial = true;
		cell.reason = sides[side].reason;
	}
	return cell;
}

/* Both sides where they differ by more than rounding, else that of after. */
static struct cell make_cell(const struct pair_sides *sides, const struct diff_pair *pair,
			     const struct table_column *described, struct arena *arena)
{
	const enum column column = (enum column)described->column;
	struct cell cells[DIFF_SIDE_COUNT], cell, joined;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		cells[side] = pair_side_cell(sides, pair, (enum diff_side)side, column, arena);
		/* the title says it */
		cells[side].partial &= !described->at_least;
	}
	cell = cells[DIFF_AFTER];
	cell.verdict = diff_verdict(sides->diff, pair, column);
	if (read_alike(cells))
		return cell;
	joined = cell_of_sides(cells, arena);
	joined.verdict = cell.verdict;
	joined.sort = cell.sort;
	return joined;
}

/* Fills a cell of a row: its name, or a column. */
static void fill_cell(const struct pair_sides *sides, struct table *table, struct table_row *row,
		      size_t index)
{
	const struct table_column *column = &table->columns[index];

	if (column->column == UINT_MAX) {
		row->cells[index] = cell_of_text(
			unicode_duplicate_without_nul(&table->arena, row->label, row->label_length));
		return;
	}
	row->cells[index] = make_cell(sides, &sides->diff->pairs[row->subject], column, &table->arena);
}

void pair_table_fill(const struct pair_sides *sides, struct table *table, size_t first, size_t count)
{
	for (size_t i = first; i < table->row_count && i - first < count; i++) {
		struct table_row *row = &table->rows[i];

		if (row->cells != NULL)
			continue;
		table_add_cells(table, row);
		for (size_t k = 0; k < table->column_count; k++)
			fill_cell(sides, table, row, k);
	}
}

/* Fills all rows column by column, so that no more than one need be reduced at a time. */
static void fill_all(const struct pair_sides *sides, struct table *table)
{
	for (size_t i = 0; i < table->row_count; i++)
		table_add_cells(table, &table->rows[i]);
	for (size_t k = 0; k < table->column_count; k++) {
		for (size_t i = 0; i < table->row_count; i++)
			fill_cell(sides, table, &table->rows[i], k);
		diff_forget(sides->diff);
	}
}

/* --- which pairs have a row, and in which order --- */

enum {
	ROWS_MAX = 100000 /* of a table: nobody scrolls further, so that no more are kept */
};

struct name {
	const char *text;
	size_t length;
};

/* A pair that has a row. */
struct ranked {
	uint32_t pair;
	double weight; /* harm of its worst change */
	double key;    /* of the order chosen, NAN: last */
};

struct ranking {
	const struct pair_sides *sides;
	const struct view *view;
	enum column columns[COLUMN_TOTAL];
	size_t column_count;
	bool at_least[COLUMN_TOTAL]; /* of these columns: whether every number is a lower bound */
	double *weights;             /* by pair, harm of its worst change; -INFINITY: nothing changed */
	bool *unknown;               /* by pair: whether a side lacks a number that the other has */
	struct name *names;
	struct arena arena;
	struct ranked *rows;
	size_t count, folded, unknown_count;
	size_t pair; /* that the filter asks about */
	struct cell filter_cell;
	bool **members; /* by term, NULL until it asks: whether a pair has such a thread */
};

static bool has_words(enum column column)
{
	return diff_metric_inputs(column) == 1 &&
	       metric_type((enum metric)column_entry(column)->inputs[0])->reduction == METRIC_REDUCTION_MODE;
}

/* Takes the harm that the changes of a column do; what is chance does none. */
static void weigh(struct ranking *ranking, enum column column)
{
	const struct diff *diff = ranking->sides->diff;
	const enum column stored = has_words(column)
					   ? column_of_stored((enum metric)column_entry(column)->inputs[0])
					   : column_stored_form(column);

	for (size_t i = 0; i < diff->pair_count; i++) {
		const double harm = diff_harm(diff, &diff->pairs[i], stored);

		if (harm > 0 && diff_verdict(diff, &diff->pairs[i], column) != CELL_VERDICT_NO)
			ranking->weights[i] = fmax(ranking->weights[i], harm);
	}
}

/* Names the pairs; of three parts the cgroup comes last, "cgroup>other" where it was renamed: what tells rows
 * apart comes first, where a narrow name is not cut. */
static void name_pairs(struct ranking *ranking)
{
	const struct diff *diff = ranking->sides->diff;
	struct buffer text = {0};

	ranking->names = memory_allocate((diff->pair_count + 1) * sizeof(*ranking->names));
	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];
		const char *process, *thread;
		size_t length;

		ranking->names[i] = (struct name){pair->label, pair->label_length};
		if (diff->options.grouping.axis != AXIS_ALL || diff->options.single)
			continue;
		buffer_clear(&text);
		process = diff_part(pair->label, 1);
		thread = diff_part(pair->label, 2);
		buffer_append_text(&text, process);
		if (strcmp(process, thread) != 0)
			buffer_append_format(&text, " %s", thread);
		buffer_append_format(&text, "  %s", pair->label);
		if (pair->kind == DIFF_PAIR_FUDGED)
			buffer_append_format(&text, ">%s",
					     grouping_key(diff->grouping, pair->group[DIFF_AFTER], &length));
		ranking->names[i] = (struct name){arena_duplicate(&ranking->arena, text.data, text.length),
						  text.length};
	}
	buffer_release(&text);
}

/* The change of a column, as rules of a comparison take it; of rates, times are shares. */
static const struct cell *filter_cell(void *context, enum column column, bool as_rate)
{
	struct ranking *ranking = context;
	struct cell *cell = &ranking->filter_cell;
	const struct diff *diff = ranking->sides->diff;
	const enum column stored = column_stored_form(column);
	const struct diff_value value = pair_value(ranking->sides, &diff->pairs[ranking->pair], stored);
	double divisor;

	*cell = (struct cell){.state = CELL_UNAVAILABLE};
	if (!value.has_delta || (as_rate && column_has_rate(column) && !diff->options.rates))
		return cell;
	*cell = cell_of_real(value.delta, diff_unit(diff, stored, &divisor));
	cell->value.real = cell->unit == UNIT_TICKS ? value.delta * NS_PER_TICK : value.delta / divisor;
	return cell;
}

/* Marks pairs in which a term of the filter matches a thread that ended in the window of a side. */
static void add_ended_pairs(const struct ranking *ranking, size_t term, enum axis axis, enum diff_side side,
			    bool found[])
{
	const struct diff *diff = ranking->sides->diff;
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
	const struct diff *diff = ranking->sides->diff;
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

static bool passes(struct ranking *ranking, size_t pair)
{
	ranking->pair = pair;
	return ranking->view->filter == NULL ||
	       filter_matches(ranking->view->filter,
			      &(struct filter_row){.label = ranking->names[pair].text,
						   .label_length = ranking->names[pair].length,
						   .cell_of = filter_cell,
						   .has_member = has_member,
						   .context = ranking});
}

/* By how much the numbers shown differ, also of lower bounds; a side without the group counts as zero. NAN
 * where nobody knows. */
static double amount_of(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);
	double difference = 0;

	if (diff_is_lost(diff, pair, column))
		return NAN;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (pair->group[side] == UINT32_MAX)
			continue;
		if (!value.side[side].has_number)
			return NAN;
		difference += side == DIFF_AFTER ? value.side[side].number : -value.side[side].number;
	}
	return fabs(difference);
}

static bool broke_rule(const struct ranking *ranking, uint32_t pair)
{
	return ranking->sides->broke_rule != NULL && ranking->sides->broke_rule[pair];
}

static void choose_rows(struct ranking *ranking)
{
	const struct diff *diff = ranking->sides->diff;
	const struct view *view = ranking->view;

	ranking->rows = memory_allocate((diff->pair_count + 1) * sizeof(*ranking->rows));
	for (uint32_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];
		struct ranked row = {.pair = i, .weight = ranking->weights[i]};

		if (!passes(ranking, i))
			continue;
		if (row.weight == -INFINITY && !view->equal_rows && !broke_rule(ranking, i)) {
			ranking->folded++;
			ranking->unknown_count += ranking->unknown[i];
			continue;
		}
		row.key = view->sort_by_change ? row.weight : amount_of(diff, pair, view->sort);
		ranking->rows[ranking->count++] = row;
	}
}

/* A total order, whatever the values. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct ranking *ranking = context;
	const struct view *view = ranking->view;
	const struct ranked *left = a, *right = b;
	const struct name *x = &ranking->names[left->pair], *y = &ranking->names[right->pair];
	const int by_name = order_bytes(x->text, x->length, y->text, y->length);
	int order = (int)broke_rule(ranking, right->pair) - (int)broke_rule(ranking, left->pair);

	if (order != 0)
		return order;
	if (view->sort_by_name)
		order = view->sort_ascending ? by_name : -by_name;
	else
		order = order_numbers(left->key, right->key, view->sort_ascending);
	if (order == 0)
		order = order_numbers(left->weight, right->weight, false);
	if (order == 0)
		order = by_name;
	return order != 0 ? order : order_u64(left->pair, right->pair);
}

/* --- the table --- */

static bool is_sorted_by(const struct view *view, enum column column)
{
	return !view->sort_by_name && !view->sort_by_change && column == view->sort;
}

/* Adds a column, without `always` only if it has a number or words that differ. */
static void add_column(struct ranking *ranking, enum column column, bool always)
{
	const struct diff *diff = ranking->sides->diff;
	bool says_something = always, has_bound = false, has_whole = false;

	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_value value = diff_column(diff, &diff->pairs[i], column);

		says_something |= value.is_category && value.differs;
		for (enum diff_side side = 0; side < DIFF_SIDE_COUNT; side++) {
			struct value number;

			diff_side(diff, &diff->pairs[i], side, column, &number);
			says_something |= value.side[side].has_number;
			has_bound |= number.state == VALUE_READ && number.partial;
			has_whole |= number.state == VALUE_READ && !number.partial;
		}
	}
	if (!says_something)
		return;
	ranking->at_least[ranking->column_count] = has_bound && !has_whole;
	ranking->columns[ranking->column_count++] = column;
	weigh(ranking, column);
	for (size_t i = 0; i < diff->pair_count; i++)
		ranking->unknown[i] |= diff_is_unknown(diff, &diff->pairs[i], column);
}

/* Chooses the columns, and takes from each what the order and the titles need before the next is reduced. */
static void choose_columns(struct ranking *ranking)
{
	const struct diff *diff = ranking->sides->diff;
	const struct view *view = ranking->view;
	enum column columns[COLUMN_TOTAL];
	const size_t count = view_columns(view, columns);

	ranking->unknown = memory_allocate_zero(diff->pair_count + 1, sizeof(*ranking->unknown));
	ranking->weights = memory_allocate((diff->pair_count + 1) * sizeof(*ranking->weights));
	for (size_t pair = 0; pair < diff->pair_count; pair++)
		ranking->weights[pair] = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		/* a bar has no number that could change */
		if (column_is_name(columns[i]) || column_is_task_field(columns[i]) ||
		    column_entry(columns[i])->operation == COLUMN_OPERATION_BAR)
			continue;
		add_column(ranking, columns[i],
			   columns[i] == COLUMN_THR || view->columns != NULL ||
				   is_sorted_by(view, columns[i]));
		if (!view->cells_on_demand)
			diff_forget(diff);
	}
	/* rows of threads have no such column, but one that came or went is a change */
	if (diff->options.single)
		weigh(ranking, COLUMN_THR);
}

static struct table *begin_table(const struct ranking *ranking, const char *name_title)
{
	const size_t first = name_title != NULL ? 1 : 0;
	const struct view *view = ranking->view;
	const struct diff *diff = ranking->sides->diff;
	struct table *table = table_create("groups", first + ranking->column_count);

	if (name_title != NULL)
		table->columns[0] = (struct table_column){
			.name = name_title, .left = true, .column = UINT_MAX};
	for (size_t i = 0; i < ranking->column_count; i++) {
		struct table_column *column = &table->columns[first + i];

		column_describe(ranking->columns[i], diff_mode(diff), diff->options.single, &table->arena,
				column);
		column->at_least = ranking->at_least[i];
		if (name_title != NULL)
			column->name = arena_format(&table->arena, "%s%s",
						    column->at_least ? screen_marks_utf8.at_least : "",
						    column->title);
		if (is_sorted_by(view, ranking->columns[i]))
			table->sort_column = first + i;
	}
	return table;
}

static void add_row(struct table *table, const struct ranking *ranking, const struct ranked *ranked)
{
	const struct diff *diff = ranking->sides->diff;
	const uint32_t index = ranked->pair;
	const struct diff_pair *pair = &diff->pairs[index];
	const enum diff_side side = pair->kind == DIFF_PAIR_ONLY_BEFORE ? DIFF_BEFORE : DIFF_AFTER;
	struct table_row *row = table_add_bare_row(table);

	row->label_length = ranking->names[index].length;
	row->label = arena_duplicate(&table->arena, ranking->names[index].text, row->label_length);
	row->key_length = pair->key_length;
	row->key = arena_duplicate(&table->arena, pair->key, pair->key_length);
	row->is_own = pair->is_own;
	row->threads = pair->threads[pair_side(ranking->sides, DIFF_AFTER)];
	row->mark = pair_mark(ranking->sides, pair);
	row->harm = ranked->weight;
	row->broke_rule = broke_rule(ranking, index);
	row->subject = index;
	if (diff->options.single) {
		row->tid = diff->snapshots[side]->tid[pair->group[side]];
		row->tgid = diff->snapshots[side]->tgid[pair->group[side]];
	}
}

struct table *pair_table_create(const struct pair_sides *sides, const struct view *view,
				const char *name_title)
{
	struct ranking ranking = {.sides = sides, .view = view};
	size_t limit = ROWS_MAX;
	struct table *table;

	choose_columns(&ranking);
	name_pairs(&ranking);
	choose_rows(&ranking);
	if (view->limit != 0 && view->limit < limit)
		limit = view->limit;
	if (ranking.count < limit)
		limit = ranking.count;
	order_first(ranking.rows, ranking.count, sizeof(*ranking.rows), limit, compare_rows, &ranking);
	table = begin_table(&ranking, name_title);
	for (size_t i = 0; i < limit; i++)
		add_row(table, &ranking, &ranking.rows[i]);
	table->row_total = ranking.count;
	table->row_folded = ranking.folded;
	table->row_unknown = ranking.unknown_count;
	if (!view->cells_on_demand)
		fill_all(sides, table);
	for (size_t i = 0; ranking.members != NULL && i < FILTER_TERMS_MAX; i++)
		free(ranking.members[i]);
	free(ranking.members);
	arena_release(&ranking.arena);
	free(ranking.names);
	free(ranking.weights);
	free(ranking.unknown);
	free(ranking.rows);
	return table;
}
