/* SPDX-License-Identifier: GPL-2.0-only */
#include "moment_strip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

/* The time that is shown at most, half of it before the moment. */
#define WINDOW_NS (3600 * NS_PER_S)

struct moment_strip {
	struct ui_strip result;
	uint64_t unix_ns;
	struct view view;
	enum column column;
	char *key;
	size_t key_length;
	struct session *session;
	bool is_placed;
	/* Cells whose number has been made: outwards from the moment. */
	size_t made;
	struct history_round rounds[STRIP_CELLS]; /* one of each cell; `threads` 0 and id 0: none */
	bool has_round[STRIP_CELLS];
};

void moment_strip_copy_view(struct view *to, const struct view *from, const enum column *column)
{
	view_copy(to, from);
	to->mode = WINDOW_MODE_RATE;
	to->columns = column;
	to->column_count = 1;
	to->sort = *column;
	to->sort_by_name = false;
	to->limit = 0;
	to->width = 0;
	to->hide_gone = true;
	to->hide_idle = to->fold_idle = false;
	to->cells_on_demand = true;
	to->looks_up = false;
	to->kept_key = NULL;
	/* the screen goes on reading into them, in another thread, and they are of now */
	to->commands = NULL;
	to->left_out = (struct column_set){0};
}

struct moment_strip *moment_strip_create(const struct ui_strip_request *request)
{
	struct moment_strip *strip = memory_allocate_zero(1, sizeof(*strip));
	struct strip_data *data = &strip->result.data;

	strip->result.number = request->number;
	strip->unix_ns = request->unix_ns;
	data->cells = request->cells < STRIP_CELLS ? request->cells : STRIP_CELLS;
	for (size_t i = 0; i < STRIP_CELLS; i++)
		data->values[i] = data->pressure[i] = NAN;
	strip->column = request->column;
	moment_strip_copy_view(&strip->view, request->view, &strip->column);
	strip->key = request->key != NULL ? memory_duplicate_bytes(request->key, request->key_length) : NULL;
	strip->key_length = request->key_length;
	strip->session = session_create();
	return strip;
}

void moment_strip_release(struct moment_strip *strip)
{
	if (strip == NULL)
		return;
	view_release(&strip->view);
	free(strip->key);
	session_release(strip->session);
	free(strip);
}

struct ui_strip moment_strip_result(const struct moment_strip *strip)
{
	return strip->result;
}

/* Places the window about the moment, between the oldest round and the newest. */
static bool place(struct moment_strip *strip, struct history *history)
{
	struct strip_data *data = &strip->result.data;
	struct history_round first, last, at;
	uint64_t span_ns, window_ns;

	if (history_first(history, &first, NULL) < 0 || history_last(history, &last, NULL) < 0 ||
	    history_find(history, strip->unix_ns, HISTORY_NEAREST, &at, NULL) < 0)
		return false;
	span_ns = at.span_ns != 0 ? at.span_ns : NS_PER_S;
	window_ns = last.unix_ns > first.unix_ns ? last.unix_ns - first.unix_ns + span_ns : span_ns;
	if (window_ns > WINDOW_NS)
		window_ns = WINDOW_NS;
	data->step_ns = window_ns / data->cells + 1;
	/* a cell has at least a round, and cells begin at fixed times, so they stay the same */
	if (data->step_ns < span_ns)
		data->step_ns = span_ns;
	window_ns = data->step_ns * data->cells;
	data->from_unix_ns = strip->unix_ns > window_ns / 2 ? strip->unix_ns - window_ns / 2 : 0;
	if (data->from_unix_ns + window_ns > last.unix_ns + span_ns)
		data->from_unix_ns = last.unix_ns + span_ns > window_ns ? last.unix_ns + span_ns - window_ns
									: 0;
	if (data->from_unix_ns < first.unix_ns)
		data->from_unix_ns = first.unix_ns;
	return true;
}

/* The pressure in the cells, by resource: the largest of the rounds of each. */
struct pressures {
	double values[PRESSURE_IRQ][STRIP_CELLS];
	double largest[PRESSURE_IRQ];
};

static void add_pressure(struct pressures *pressures, size_t cell, const struct history_round *round)
{
	for (size_t i = 0; i < PRESSURE_IRQ; i++) {
		const double value = (double)round->psi[i] / 100;

		if (round->psi[i] == HISTORY_PSI_UNKNOWN)
			continue;
		if (!(pressures->values[i][cell] >= value))
			pressures->values[i][cell] = value;
		if (pressures->largest[i] < value)
			pressures->largest[i] = value;
	}
}

/* Shows the resource that had most. */
static void take_pressure(struct strip_data *data, const struct pressures *pressures)
{
	size_t chosen = 0;

	for (size_t i = 1; i < PRESSURE_IRQ; i++) {
		if (pressures->largest[i] > pressures->largest[chosen])
			chosen = i;
	}
	memcpy(data->pressure, pressures->values[chosen], sizeof(data->pressure));
	data->resource = pressures->largest[chosen] > 0 ? pressure_resource_names[chosen] : NULL;
}

/* Reads the pressure of all rounds, and chooses the last round of each cell for its number. */
static void take_rounds(struct moment_strip *strip, struct history *history)
{
	struct strip_data *data = &strip->result.data;
	struct pressures pressures = {.largest = {0}};
	struct history_round *rounds;
	struct error error;
	size_t count;

	if (history_range(history, data->from_unix_ns, data->from_unix_ns + data->step_ns * data->cells - 1,
			  &rounds, &count, &error) < 0)
		return;
	for (size_t i = 0; i < PRESSURE_IRQ * STRIP_CELLS; i++)
		pressures.values[i / STRIP_CELLS][i % STRIP_CELLS] = NAN;
	for (size_t i = 0; i < count; i++) {
		const size_t cell = (size_t)((rounds[i].unix_ns - data->from_unix_ns) / data->step_ns);

		if (rounds[i].unix_ns < data->from_unix_ns || cell >= data->cells)
			continue;
		strip->rounds[cell] = rounds[i];
		strip->has_round[cell] = true;
		add_pressure(&pressures, cell, &rounds[i]);
	}
	take_pressure(data, &pressures);
	free(rounds);
}

/* The number of the row in the moment that the session shows. */
static double value_now(struct moment_strip *strip)
{
	struct table *table = session_table(strip->session, &strip->view);
	double value = NAN;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cell;

		if (table->rows[i].key_length != strip->key_length ||
		    memcmp(table->rows[i].key, strip->key, strip->key_length) != 0)
			continue;
		session_table_fill(strip->session, &strip->view, table, i, 1);
		cell = table->rows[i].cells != NULL && table->column_count != 0 ? &table->rows[i].cells[0]
										: NULL;
		if (cell != NULL && cell->state == CELL_VALUE && cell->form == CELL_FORM_REAL)
			value = cell->value.real;
		else if (cell != NULL && cell->state == CELL_VALUE && cell->form == CELL_FORM_INTEGER)
			value = (double)cell->value.integer;
		break;
	}
	table_release(table);
	return value;
}

/* The cell that comes next, outwards from the moment; SIZE_MAX when all have been made. */
static size_t next_cell(struct moment_strip *strip)
{
	const struct strip_data *data = &strip->result.data;
	const size_t middle = (size_t)((strip->unix_ns - data->from_unix_ns) / data->step_ns);

	while (strip->made < 2 * data->cells) {
		const size_t off = (strip->made + 1) / 2;
		const size_t cell = strip->made % 2 == 0 ? middle + off : middle - off;

		strip->made++;
		if (cell < data->cells && strip->has_round[cell])
			return cell;
	}
	return SIZE_MAX;
}

bool moment_strip_work(struct moment_strip *strip, struct history *history, const atomic_bool *cancel)
{
	struct session_moment *moment;
	struct error error;
	size_t cell;

	if (!strip->is_placed) {
		strip->is_placed = true;
		if (!place(strip, history))
			return false;
		take_rounds(strip, history);
		return true;
	}
	cell = strip->key != NULL && strip->result.data.step_ns != 0 ? next_cell(strip) : SIZE_MAX;
	if (cell == SIZE_MAX)
		return false;
	if (session_moment_make(history, NULL, &strip->rounds[cell], cancel, &moment, &error) < 0)
		return true;
	session_show_moment(strip->session, moment);
	strip->result.data.values[cell] = value_now(strip);
	return true;
}
