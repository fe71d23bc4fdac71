/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns by thread. Threads that did not change are not coded. */
#include "round.h"

#include <string.h>

_Static_assert((int)COLUMN_IDENTITY_COUNT + (int)VOCABULARY_SOURCES_MAX + (int)VOCABULARY_METRICS_MAX <=
		       (int)(STREAM_TIMES - STREAM_COLUMNS) / 3,
	       "columns have streams");

/* The map of the ids that cells of an encoding are; NULL where they are none, or mean the same in both. */
static const uint32_t *map_of(const struct round *round, enum metric_encoding encoding)
{
	switch (encoding) {
	case METRIC_ENCODING_STRING:
		return round->keeps_names ? NULL : round->string_of;
	case METRIC_ENCODING_CPU_SET:
		return round->cpu_set_of;
	default:
		return NULL;
	}
}

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
		return (struct column_view){snapshot->triple, sizeof(uint32_t), 0,
					    round->keeps_names ? NULL : round->triple_of};
	case COLUMN_WAIT_CLASS:
		return (struct column_view){snapshot->wait_class, sizeof(uint8_t), WAIT_CLASS_UNKNOWN, NULL};
	case COLUMN_WAIT_OBJECT:
		return (struct column_view){snapshot->wait_object, sizeof(uint32_t), 0,
					    map_of(round, METRIC_ENCODING_STRING)};
	default:
		break;
	}
	if (column < COLUMN_VALUES) {
		index = column - COLUMN_REASONS;
		return (struct column_view){snapshot->source_reason[index], sizeof(reason_id),
					    snapshot->default_reason[index], NULL};
	}
	index = column - COLUMN_VALUES;
	return (struct column_view){snapshot->values[index], sizeof(uint64_t), 0,
				    map_of(round, metric_type((enum metric)index)->encoding)};
}

/* A column being coded. */
struct column {
	struct round *round;
	struct column_view now, old;
	bool is_reason;
	bool is_wait_class;
	bool follows_row;                   /* of a new thread it is expected to be as of the row above */
	unsigned int step;                  /* or so much more */
	uint64_t end;                       /* every cell is below; 0: any */
	struct coder_stream *carried, *new; /* two of three streams, one behind the other */
};

static uint64_t expected_cell(const struct column *column, uint32_t row)
{
	const uint32_t old_row = column->round->old_row[row];

	if (old_row != UINT32_MAX)
		return column_old_cell(&column->old, old_row);
	return column->follows_row && row != 0 ? column_cell(&column->now, row - 1) + column->step : 0;
}

static void store_cell(const struct column *column, uint32_t row, uint64_t cell)
{
	void *cells = (void *)(uintptr_t)column->now.cells;

	if (column->end != 0 && cell != 0)
		cell = coder_below(&column->round->coder, cell, column->end);
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
	return column->is_reason ? round_put_reason(column->round, (reason_id)cell) : cell;
}

/*
 * Returns the cell for a decoded number. If reasons were lost, an expected REASON_UNREADABLE may be a reason
 * whose number is unknown, so a changed cell stays unreadable.
 */
static uint64_t take_cell(const struct column *column, uint64_t number, uint64_t expected)
{
	if (!column->is_reason)
		return number;
	if (column->round->lost_reasons && expected == REASON_UNREADABLE &&
	    number != put_cell(column, expected))
		return REASON_UNREADABLE;
	return round_take_reason(column->round, number);
}

/* Takes the cells of threads over that did not change, and of those that did, to be overwritten. */
static void carry_cells(const struct column *column)
{
	const struct round *round = column->round;
	const size_t count = round->now->thread_count;
	const size_t size = column->now.size;

	for (size_t row = 0; row < count;) {
		const uint32_t old_row = round->old_row[row];
		size_t run = 1;

		if (old_row == UINT32_MAX) {
			row++;
			continue;
		}
		while (row + run < count && round->old_row[row + run] == old_row + run)
			run++;
		if (column->old.cells != NULL && column->old.map == NULL)
			memcpy((char *)(uintptr_t)column->now.cells + row * size,
			       (const char *)column->old.cells + old_row * size, run * size);
		else
			for (size_t i = 0; i < run; i++)
				store_cell(column, (uint32_t)(row + i),
					   column_old_cell(&column->old, old_row + i));
		row += run;
	}
}

/*
 * What a thread waits for: as expected, or one more than the class. So a class that only a later version
 * knows, which is WAIT_CLASS_OTHER here, spoils no other cell.
 */
static uint64_t code_wait_class(struct coder *coder, struct coder_stream *stream, uint64_t class,
				uint64_t expected)
{
	const uint64_t number = coder_number(coder, stream, class == expected ? 0 : class + 1);

	if (number == 0)
		return expected;
	return number <= WAIT_CLASS_COUNT ? number - 1 : WAIT_CLASS_OTHER;
}

static uint64_t code_cell(const struct column *column, struct coder_stream *stream, uint64_t cell,
			  uint64_t expected)
{
	struct coder *coder = &column->round->coder;

	if (column->is_wait_class)
		return code_wait_class(coder, stream, cell, expected);
	cell = coder_residual(coder, stream, coder->decoding ? 0 : put_cell(column, cell),
			      put_cell(column, expected));
	return coder->decoding ? take_cell(column, cell, expected) : cell;
}

static void code_cells(const struct column *column)
{
	struct round *round = column->round;

	for (size_t i = 0; i < round->row_count; i++) {
		const uint32_t row = round->rows[i];
		const bool is_new = round->old_row[row] == UINT32_MAX;
		const uint64_t cell = code_cell(column, is_new ? column->new : column->carried,
						column_cell(&column->now, row), expected_cell(column, row));

		if (round->coder.decoding)
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

/* The bound of ids in a list: without elements only 0, which stands for none, is one. */
static uint64_t end_of_ids(size_t count)
{
	return count != 0 ? count : 1;
}

/* Column `index`, which has the `place`-th streams. */
static struct column column_of(struct round *round, unsigned int index, unsigned int place)
{
	const struct snapshot *against = round->against;
	struct coder_stream *streams = &round->streams[STREAM_COLUMNS + 3 * place];
	struct column column = {
		.round = round,
		.now = column_view_of(round, round->now, index),
		.follows_row = true,
		.carried = &streams[0],
		.new = &streams[1],
	};

	if (against != NULL)
		column.old = column_view_of(round, against, index);
	if (index == COLUMN_TID || index == COLUMN_TRIPLE)
		column.step = 1;
	if (index == COLUMN_TRIPLE)
		column.end = end_of_ids(round->now->triple_count);
	column.is_reason = index >= COLUMN_REASONS && index < COLUMN_VALUES;
	return column;
}

/* Bounds of what is not only a number. */
static uint64_t metric_end(const struct round *round, enum metric metric)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return end_of_ids(round->now->strings.count);
	case METRIC_ENCODING_CPU_SET:
		return end_of_ids(round->now->cpu_sets.count);
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
	if (coder_bit(coder, &column->carried[2], !coder->decoding && is_surprising(column)))
		code_cells(column);
	else if (coder->decoding)
		for (size_t i = 0; i < column->round->row_count; i++)
			store_cell(column, column->round->rows[i],
				   expected_cell(column, column->round->rows[i]));
}

/* Whether the column is there: one that this program does not know could be left out. */
static bool code_presence(struct round *round, const struct column *column)
{
	return coder_bit(&round->coder, &round->streams[STREAM_PRESENCE], column->now.cells != NULL);
}

static void code_identity(struct round *round)
{
	for (unsigned int index = 0; index < COLUMN_IDENTITY_COUNT; index++) {
		const struct column column = column_of(round, index, index);

		code_all_cells(&column);
	}
}

/* A column that only the version knows which recorded the round. */
static void skip_column(struct round *round, unsigned int place)
{
	const struct column column = {.round = round};

	if (code_presence(round, &column)) {
		for (unsigned int i = 0; i < 3; i++)
			coder_skip(&round->streams[STREAM_COLUMNS + 3 * place + i]);
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
	code_all_cells(&column);
}

/* Metrics in the order of the version that recorded the round. */
static void code_metrics(struct round *round)
{
	const struct vocabulary *words = round->words;
	const unsigned int first = COLUMN_IDENTITY_COUNT + VOCABULARY_SOURCES_MAX;
	const uint16_t *own = words->own[VOCABULARY_METRIC];

	for (unsigned int i = 0; i < words->count[VOCABULARY_METRIC]; i++) {
		if (own[i] == VOCABULARY_NONE)
			skip_column(round, first + i);
		else if (own[i] != METRIC_THREAD_COUNT)
			code_metric(round, first + i, (enum metric)own[i]);
	}
}

static void code_wait_column(struct round *round, unsigned int index, unsigned int stream, uint64_t end)
{
	struct column column = column_of(round, index, 0);

	column.carried = &round->streams[stream];
	column.new = column.carried + 1;
	column.is_wait_class = index == COLUMN_WAIT_CLASS;
	column.end = end;
	code_all_cells(&column);
}

/* What threads wait for. Rounds without it, such as those of versions that did not read it, have no stream
 * of it. */
static void code_waits(struct round *round)
{
	const struct coder_stream *known = &round->streams[STREAM_WAIT_CLASS + 2];
	struct snapshot *now = round->now;

	if (round->coder.decoding ? known->next == known->end : now->wait_class == NULL)
		return;
	if (round->coder.decoding)
		snapshot_make_wait_columns(now);
	code_wait_column(round, COLUMN_WAIT_CLASS, STREAM_WAIT_CLASS, 0);
	code_wait_column(round, COLUMN_WAIT_OBJECT, STREAM_WAIT_OBJECT, end_of_ids(now->strings.count));
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
	code_waits(round);
	round_code_times(round);
}
