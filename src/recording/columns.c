/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns by thread. Of threads that did not change nothing is coded. */
#include "columns.h"

#include <string.h>

#include "base/memory.h"

_Static_assert((int)COLUMN_IDENTITY_COUNT + (int)VOCABULARY_SOURCES_MAX + (int)VOCABULARY_METRICS_MAX <=
		       (int)(MODEL_TIMES - MODEL_COLUMNS) / 3,
	       "columns have models");

struct column_view column_view_of(const struct round *round, const struct snapshot *snapshot,
				  unsigned int column)
{
	unsigned int index;

	switch (column) {
	case COLUMN_TGID:
		return (struct column_view){snapshot->tgid, sizeof(uint32_t), 0, NULL};
	case COLUMN_TID:
		return (struct column_view){snapshot->tid, sizeof(uint32_t), 0, NULL};
	case COLUMN_START_TIME:
		return (struct column_view){snapshot->start_time, sizeof(uint64_t), 0, NULL};
	case COLUMN_UID:
		return (struct column_view){snapshot->uid, sizeof(uint32_t), 0, NULL};
	case COLUMN_FLAGS:
		return (struct column_view){snapshot->thread_flags, sizeof(uint8_t), 0, NULL};
	case COLUMN_TRIPLE:
		return (struct column_view){snapshot->triple, sizeof(uint32_t), 0, round->triple_of};
	default:
		break;
	}
	if (column < COLUMN_VALUES) {
		index = column - COLUMN_REASONS;
		return (struct column_view){snapshot->source_reason[index], sizeof(reason_id),
					    snapshot->default_reason[index], NULL};
	}
	index = column - COLUMN_VALUES;
	return (struct column_view){
		snapshot->values[index], sizeof(uint64_t), 0,
		metric_type((enum metric)index)->encoding == METRIC_ENCODING_STRING    ? round->string_of
		: metric_type((enum metric)index)->encoding == METRIC_ENCODING_CPU_SET ? round->cpu_set_of
										       : NULL};
}

/* What a counter is expected to have grown by: as much as another one, less a third. */
struct reference {
	enum metric metric, as, less;
};

/* Which the kernel counts at the same places (sched_info_arrive() of kernel/sched/stats.h, __schedule() of
 * kernel/sched/core.c, __delayacct_add_tsk() of kernel/delayacct.c, kernel/sched/stats.c). */
static const struct reference references[] = {
	{METRIC_VOLUNTARY_CSW, METRIC_TIMESLICES, METRIC_NONVOLUNTARY_CSW},
	{METRIC_NR_WAKEUPS, METRIC_VOLUNTARY_CSW, METRIC_NONE},
	{METRIC_NR_WAKEUPS_LOCAL, METRIC_NR_WAKEUPS, METRIC_NONE},
	{METRIC_WAIT_COUNT, METRIC_TIMESLICES, METRIC_NONE},
	{METRIC_WAIT_SUM, METRIC_WAIT_TIME_NS, METRIC_NONE},
	{METRIC_CPU_DELAY_COUNT, METRIC_TIMESLICES, METRIC_NONE},
	{METRIC_CPU_DELAY_TOTAL_NS, METRIC_WAIT_TIME_NS, METRIC_NONE},
};

static const struct reference *find_reference(enum metric metric)
{
	for (size_t i = 0; i < ARRAY_COUNT(references); i++) {
		if (references[i].metric == metric)
			return &references[i];
	}
	return NULL;
}

/* A column being coded. */
struct column {
	struct round *round;
	struct column_view now, old;
	const struct reference *reference;
	struct column_view as_now, as_old, less_now, less_old;
	bool is_reason;
	bool follows_row;                     /* of a new thread it is expected to be as of the row above */
	unsigned int step;                    /* or so much more */
	uint64_t end;                         /* every cell is below; 0: any */
	struct residual_model *carried, *new; /* two of three models, one behind the other */
};

/* How much a cell of a column grew, of a new thread since nothing. */
static uint64_t growth(const struct round *round, const struct column_view *now,
		       const struct column_view *old, uint32_t row)
{
	const uint32_t old_row = round->old_row[row];

	return column_cell(now, row) - (old_row != UINT32_MAX ? column_cell(old, old_row) : 0);
}

static uint64_t expected_cell(const struct column *column, uint32_t row)
{
	const struct round *round = column->round;
	const uint32_t old_row = round->old_row[row];
	uint64_t expected = 0;

	if (old_row != UINT32_MAX)
		expected = column_old_cell(&column->old, old_row);
	else if (column->follows_row)
		return row != 0 ? column_cell(&column->now, row - 1) + column->step : 0;
	if (column->reference != NULL) {
		expected += growth(round, &column->as_now, &column->as_old, row);
		if (column->reference->less != METRIC_NONE)
			expected -= growth(round, &column->less_now, &column->less_old, row);
	}
	return expected;
}

static void store_cell(const struct column *column, uint32_t row, uint64_t cell)
{
	void *cells = (void *)(uintptr_t)column->now.cells;

	if (column->end != 0 && cell != 0)
		cell = coder_below(&column->round->coder, cell, column->end);
	if (column->is_reason)
		cell = vocabulary_take_reason(column->round->words, cell);
	switch (column->now.size) {
	case sizeof(uint8_t):
		((uint8_t *)cells)[row] = (uint8_t)cell;
		break;
	case sizeof(uint32_t):
		((uint32_t *)cells)[row] = (uint32_t)cell;
		break;
	default:
		((uint64_t *)cells)[row] = cell;
		break;
	}
}

/* A cell in the numbers of the recording. */
static uint64_t put_cell(const struct column *column, uint64_t cell)
{
	return column->is_reason ? vocabulary_put_reason(column->round->words, (reason_id)cell) : cell;
}

/* Takes the cells of threads over that did not change, and of those that did, to be overwritten. */
static void carry_cells(const struct column *column)
{
	const struct round *round = column->round;
	const size_t count = round->now->thread_count;
	const size_t size = column->now.size;
	/* a damaged recording may name fewer reasons than cells of `against` have */
	const bool is_to_check = column->is_reason && round->against != NULL &&
				 round->now->unknown_reason_count < round->against->unknown_reason_count;

	for (size_t row = 0; row < count;) {
		const uint32_t old_row = round->old_row[row];
		size_t run = 1;

		if (old_row == UINT32_MAX) {
			row++;
			continue;
		}
		while (row + run < count && round->old_row[row + run] == old_row + run)
			run++;
		if (column->old.cells != NULL && column->old.map == NULL && !is_to_check)
			memcpy((char *)(uintptr_t)column->now.cells + row * size,
			       (const char *)column->old.cells + old_row * size, run * size);
		else
			for (size_t i = 0; i < run; i++)
				store_cell(column, (uint32_t)(row + i),
					   put_cell(column, column_old_cell(&column->old, old_row + i)));
		row += run;
	}
}

static void code_cells(const struct column *column)
{
	struct round *round = column->round;
	struct coder *coder = &round->coder;
	unsigned int context = 0;

	for (size_t i = 0; i < round->row_count; i++) {
		const uint32_t row = round->rows[i];
		const bool is_new = round->old_row[row] == UINT32_MAX;
		const uint64_t expected = put_cell(column, expected_cell(column, row));
		const uint64_t cell = coder_residual(
			coder, is_new ? column->new : column->carried, context,
			coder->decoding ? 0 : put_cell(column, column_cell(&column->now, row)), expected);

		context = (context << 1 & 2) | (cell != expected);
		if (coder->decoding)
			store_cell(column, row, cell);
	}
}

/* Whether any cell is not what it is expected to be. */
static bool is_surprising(const struct column *column)
{
	const struct round *round = column->round;

	for (size_t i = 0; i < round->row_count; i++) {
		const uint32_t row = round->rows[i];

		if (column_cell(&column->now, row) != expected_cell(column, row))
			return true;
	}
	return false;
}

/* Column `index`, of which the models are the `place`-th. */
static struct column column_of(struct round *round, unsigned int index, unsigned int place)
{
	const struct snapshot *against = round->against;
	struct residual_model *models = &round->models[MODEL_COLUMNS + 3 * place];
	struct column column = {
		.round = round,
		.now = column_view_of(round, round->now, index),
		.follows_row = true,
		.carried = &models[0],
		.new = &models[1],
	};

	if (against != NULL)
		column.old = column_view_of(round, against, index);
	if (index == COLUMN_TID || index == COLUMN_TRIPLE)
		column.step = 1;
	if (index == COLUMN_TRIPLE)
		column.end = round->now->triple_count;
	if (index >= COLUMN_REASONS && index < COLUMN_VALUES) {
		column.end = round_reason_end(round);
		column.is_reason = true;
	}
	return column;
}

/* Bounds of what is not only a number. */
static uint64_t metric_end(const struct round *round, enum metric metric)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return round->now->strings.count;
	case METRIC_ENCODING_CPU_SET:
		return round->now->cpu_sets.count;
	case METRIC_ENCODING_CHARACTER:
		return 0x110000; /* of Unicode */
	case METRIC_ENCODING_BOOLEAN:
		return 2;
	default:
		return 0;
	}
}

static void code_all_cells(const struct column *column)
{
	struct coder *coder = &column->round->coder;

	if (coder->decoding)
		carry_cells(column);
	if (coder_bit(coder, &column->carried[2].differs[0], !coder->decoding && is_surprising(column)))
		code_cells(column);
	else if (coder->decoding)
		for (size_t i = 0; i < column->round->row_count; i++)
			store_cell(column, column->round->rows[i],
				   put_cell(column, expected_cell(column, column->round->rows[i])));
}

/* Whether the column is there: one that this program does not know could be left out. */
static bool code_presence(struct round *round, const struct column *column)
{
	struct bit_model *model = &round->models[MODEL_PRESENCE].differs[round->last_is_present];

	round->last_is_present = coder_bit(&round->coder, model, column->now.cells != NULL);
	return round->last_is_present;
}

static const char *const identity_names[COLUMN_IDENTITY_COUNT] = {"tgid", "tid",   "start_time",
								  "uid",  "flags", "triple"};

static void code_identity(struct round *round)
{
	for (unsigned int index = 0; index < COLUMN_IDENTITY_COUNT; index++) {
		const struct column column = column_of(round, index, index);

		code_all_cells(&column);
		round_note_part(round, identity_names[index]);
	}
}

/* A column that only the version knows which recorded the round: what follows is found behind it. */
static void skip_column(struct round *round, unsigned int place)
{
	struct coder *coder = &round->coder;
	struct residual_model *models = &round->models[MODEL_COLUMNS + 3 * place];
	const struct column column = {.round = round};
	unsigned int context = 0;

	if (!code_presence(round, &column) || !coder_bit(coder, &models[2].differs[0], false))
		return;
	for (size_t i = 0; i < round->row_count; i++) {
		const bool is_new = round->old_row[round->rows[i]] == UINT32_MAX;
		const uint64_t more = coder_residual(coder, &models[is_new ? 1 : 0], context, 0, 0);

		context = (context << 1 & 2) | (more != 0);
	}
}

static void code_reasons(struct round *round, unsigned int place, unsigned int source)
{
	struct column column = column_of(round, COLUMN_REASONS + source, place);

	if (!code_presence(round, &column))
		return;
	if (round->coder.decoding)
		column.now.cells = snapshot_source_reasons(round->now, (enum source)source);
	code_all_cells(&column);
	round_note_part(round, sources[source].name);
}

static void code_metric(struct round *round, unsigned int place, enum metric metric)
{
	const enum metric_kind kind = metric_type(metric)->kind;
	struct column column = column_of(round, COLUMN_VALUES + (unsigned int)metric, place);

	if (!code_presence(round, &column))
		return;
	if (round->coder.decoding)
		column.now.cells = snapshot_column(round->now, metric);
	column.end = metric_end(round, metric);
	column.follows_row = kind != METRIC_KIND_COUNTER;
	column.reference = find_reference(metric);
	if (column.reference != NULL) {
		const struct snapshot *old = round->against != NULL ? round->against : round->now;
		const unsigned int as = COLUMN_VALUES + (unsigned int)column.reference->as;
		const unsigned int less = COLUMN_VALUES + (unsigned int)column.reference->less;

		column.as_now = column_view_of(round, round->now, as);
		column.as_old = column_view_of(round, old, as);
		if (column.reference->less != METRIC_NONE) {
			column.less_now = column_view_of(round, round->now, less);
			column.less_old = column_view_of(round, old, less);
		}
	}
	code_all_cells(&column);
	round_note_part(round, metrics[metric].name);
}

/* Metrics in the order of the version that recorded the round, but for one that follows from the next. */
static void code_metrics(struct round *round)
{
	const struct vocabulary *words = round->words;
	const unsigned int first = COLUMN_IDENTITY_COUNT + VOCABULARY_SOURCES_MAX;
	const uint16_t *own = words->own[VOCABULARY_METRIC];
	const unsigned int voluntary = (unsigned int)vocabulary_put(words, VOCABULARY_METRIC,
								    METRIC_VOLUNTARY_CSW);

	for (unsigned int i = 0; i < words->count[VOCABULARY_METRIC]; i++) {
		if (own[i] == VOCABULARY_NONE)
			skip_column(round, first + i);
		else if (own[i] != METRIC_THREAD_COUNT && own[i] != METRIC_VOLUNTARY_CSW)
			code_metric(round, first + i, (enum metric)own[i]);
		if (own[i] == METRIC_NONVOLUNTARY_CSW && voluntary < words->count[VOCABULARY_METRIC])
			code_metric(round, first + voluntary, METRIC_VOLUNTARY_CSW);
	}
}

void round_code_columns(struct round *round)
{
	const struct vocabulary *words = round->words;

	code_identity(round);
	for (unsigned int i = 0; i < words->count[VOCABULARY_SOURCE]; i++) {
		if (words->own[VOCABULARY_SOURCE][i] == VOCABULARY_NONE)
			skip_column(round, COLUMN_IDENTITY_COUNT + i);
		else
			code_reasons(round, COLUMN_IDENTITY_COUNT + i, words->own[VOCABULARY_SOURCE][i]);
	}
	code_metrics(round);
	round_code_times(round);
}
