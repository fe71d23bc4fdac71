/* SPDX-License-Identifier: GPL-2.0-only */
/* For people, of two windows: a row a group, with the columns of a tab of the screen. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diff_evidence.h"
#include "diff_summary.h"
#include "table/column_list.h"
#include "table/screen_format.h"
#include "table/value_cell.h"
#include "tables_internal.h"

struct tab_table {
	struct tables_build *build;
	enum column columns[COLUMN_TOTAL];
	size_t column_count;
	size_t *pairs; /* in the order of the rows, the first `count` have one */
	size_t count, folded, unknown;
};

/* Whether the column has words, which either differ or not. */
static bool has_words(enum column column)
{
	return diff_metric_inputs(column) == 1 &&
	       metric_type((enum metric)column_entry(column)->inputs[0])->reduction == METRIC_REDUCTION_MODE;
}

/* The column of reports with the same numbers or words. */
static enum column as_stored(enum column column)
{
	return has_words(column) ? column_of_stored((enum metric)column_entry(column)->inputs[0])
				 : column_as_stored(column);
}

/* Whether a change counts: that of a sum does where the change of one of its counters does. */
static bool is_real(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const enum column stored = column_as_stored(column);
	struct diff_value value;

	if (stored != column || diff_metric_inputs(column) == 0)
		return diff_is_real(diff, pair, stored);
	/* what is no sum may stay as it is while its counters change */
	if (diff_evidence_has_real_input(diff, pair, column))
		return !column_has(column_entry(column), COLUMN_NEEDS_ALL) ||
		       diff_is_real(diff, pair, column);
	value = diff_column(diff, pair, column);
	return diff_evidence_is_unexplained(diff, pair, column, &value);
}

/* Whether a side does not know a number that the other may know. */
static bool is_unknown(const struct tab_table *tab, const struct diff_pair *pair)
{
	for (size_t i = 0; i < tab->column_count; i++) {
		if (tables_is_unknown(tab->build->diff, pair, tab->columns[i]))
			return true;
	}
	return false;
}

/* Finds the groups that have a row, those whose change matters most first. */
static void collect(struct tab_table *tab)
{
	const struct diff *diff = tab->build->diff;
	double *heaviest = memory_allocate((diff->pair_count + 1) * sizeof(*heaviest));

	for (size_t pair = 0; pair < diff->pair_count; pair++)
		heaviest[pair] = diff_pair_is_joined(&diff->pairs[pair]) && tab->build->request->all
					 ? -DBL_MAX
					 : -INFINITY;
	for (size_t i = 0; i < tab->column_count; i++) {
		struct diff_weight *weights = diff_weigh(diff, as_stored(tab->columns[i]));

		for (size_t pair = 0; pair < diff->pair_count; pair++) {
			if (diff_pair_is_joined(&diff->pairs[pair]) && weights[pair].is_known &&
			    is_real(diff, &diff->pairs[pair], tab->columns[i]))
				heaviest[pair] = fmax(heaviest[pair], weights[pair].weight);
		}
		free(weights);
	}
	tab->pairs = tables_order(heaviest, diff->pair_count);
	for (size_t pair = 0; pair < diff->pair_count; pair++) {
		const bool is_folded = heaviest[pair] == -INFINITY && diff_pair_is_joined(&diff->pairs[pair]);

		tab->count += heaviest[pair] > -INFINITY;
		tab->folded += is_folded;
		tab->unknown += is_folded && is_unknown(tab, &diff->pairs[pair]);
	}
	free(heaviest);
}

/* Appends the value of a side as the screen shows it: times as a percentage of a CPU. */
static struct cell append_side(const struct tab_table *tab, const struct diff_pair *pair, enum column column,
			       enum diff_side side, struct buffer *text)
{
	const struct diff *diff = tab->build->diff;
	struct value value;
	struct cell cell;

	diff_side(diff, pair, side, column, &value);
	value_cell(reduction_column(diff->reductions[side], column), &value, &tab->build->table->arena,
		   &cell);
	cell.unit = column_unit(column, WINDOW_MODE_RATE, false);
	if (cell.unit == UNIT_PERCENT && cell.form == CELL_FORM_REAL && column_entry(column)->unit == UNIT_NS)
		cell.value.real /= 1e7;
	screen_format_cell(text, &cell, &screen_marks_utf8);
	return cell;
}

/* Why a side that is shown is no plain number: its mark stands in the text. */
static void note_reason(struct cell *cell, const struct cell *side)
{
	if (side->state != CELL_UNAVAILABLE && !(side->state == CELL_VALUE && side->partial))
		return;
	cell->form = CELL_FORM_SIDES;
	cell->partial = true;
	cell->reason = side->reason;
}

/* Both sides of a change that counts, else the present value, by whose number it is sorted. */
static struct cell make_cell(const struct tab_table *tab, const struct diff_pair *pair, enum column column)
{
	struct tables_build *build = tab->build;
	const struct diff_value value = diff_column(build->diff, pair, column);
	struct buffer texts[DIFF_SIDE_COUNT] = {0};
	struct cell cell, sides[DIFF_SIDE_COUNT];
	bool changed;

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		sides[side] = append_side(tab, pair, column, (enum diff_side)side, &texts[side]);
	changed = is_real(build->diff, pair, column) &&
		  strcmp(texts[DIFF_BEFORE].data, texts[DIFF_AFTER].data) != 0;
	if (changed)
		buffer_append_format(&build->text, "%s → ", texts[DIFF_BEFORE].data);
	buffer_append_text(&build->text, texts[DIFF_AFTER].data);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		buffer_release(&texts[side]);
	cell = cell_of_text(tables_take_text(build));
	if (value.side[DIFF_AFTER].has_number) {
		cell.form = CELL_FORM_SIDES;
		cell.value.sides.kind[DIFF_AFTER] = CELL_SIDE_REAL;
		cell.value.sides.number[DIFF_AFTER].real = value.side[DIFF_AFTER].number;
	}
	if (changed)
		note_reason(&cell, &sides[DIFF_BEFORE]);
	note_reason(&cell, &sides[DIFF_AFTER]);
	return cell;
}

/* A column in which no group has a number says nothing, nor does one of words that are the same. */
static void choose_columns(struct tab_table *tab)
{
	enum column columns[COLUMN_TOTAL];
	const struct diff *diff = tab->build->diff;
	const size_t count = column_list(tab->build->request->tab, false, 0, COLUMN_COUNT, columns);

	for (size_t i = 0; i < count; i++) {
		bool has = false;

		for (size_t pair = 0; !has && pair < diff->pair_count; pair++) {
			const struct diff_value value = diff_column(diff, &diff->pairs[pair], columns[i]);

			has = value.side[DIFF_BEFORE].has_number || value.side[DIFF_AFTER].has_number ||
			      (has_words(columns[i]) && is_real(diff, &diff->pairs[pair], columns[i]));
		}
		if (has && !column_is_task_field(columns[i]))
			tab->columns[tab->column_count++] = columns[i];
	}
}

static void begin_table(const struct tab_table *tab)
{
	struct table *table = table_create("groups", tab->column_count + 1);

	table->columns[0].name = axes[tab->build->diff->options.grouping.axis].header;
	table->columns[0].left = true;
	for (size_t i = 0; i < tab->column_count; i++)
		table->columns[i + 1].name = column_title(tab->columns[i], WINDOW_MODE_RATE);
	tab->build->table = table;
}

static void append_label(const struct tab_table *tab, const struct diff_pair *pair, struct buffer *label)
{
	const struct diff *diff = tab->build->diff;

	if (diff->options.grouping.axis != AXIS_ALL) {
		tables_row_append_label(tab->build, pair, false, label);
		return;
	}
	diff_append_mark(pair, false, label);
	diff_summary_append_name(diff, pair, label);
}

void tables_tab(struct tables_build *build)
{
	const size_t limit = build->request->limit;
	struct tab_table tab = {.build = build};

	choose_columns(&tab);
	collect(&tab);
	begin_table(&tab);
	for (size_t i = 0; i < tab.count && (limit == 0 || i < limit); i++) {
		const struct diff_pair *pair = &build->diff->pairs[tab.pairs[i]];
		struct table_row *row = table_add_row(build->table);

		append_label(&tab, pair, &build->text);
		row->cells[0] = cell_of_text(tables_take_text(build));
		row->is_own = pair->is_own;
		for (size_t k = 0; k < tab.column_count; k++)
			row->cells[k + 1] = make_cell(&tab, pair, tab.columns[k]);
	}
	build->table->row_total = tab.count;
	build->table->row_folded = tab.folded;
	build->table->row_unknown = tab.unknown;
	build->emit(build->context, build->table);
	table_release(build->table);
	free(tab.pairs);
}
