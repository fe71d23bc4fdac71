/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells of what is not of groups: cgroup records, pressure, sched_ext. */
#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "tables_internal.h"

static void append_side(struct buffer *text, const struct tables_side *side, enum ladder ladder)
{
	if (side->unavailable) {
		buffer_append_text(text, "·");
		return;
	}
	buffer_append_text(text, side->partial && side->kind != CELL_SIDE_NONE ? "≥" : "");
	switch (side->kind) {
	case CELL_SIDE_NONE:
		buffer_append_char(text, '-');
		break;
	case CELL_SIDE_INTEGER:
		cell_format_value(text, side->number, ladder);
		break;
	case CELL_SIDE_REAL:
		cell_format_pressure(text, (uint32_t)side->number);
		break;
	case CELL_SIDE_UNLIMITED:
		buffer_append_text(text, "max");
		break;
	}
}

static bool is_empty(const struct tables_side *side)
{
	return side->kind == CELL_SIDE_NONE && !side->unavailable;
}

/* Appends " (delta)" where both sides have a value, " (·)" where one of them is not the whole of it. */
static void append_delta(struct buffer *text, const struct tables_side sides[DIFF_SIDE_COUNT],
			 enum ladder ladder)
{
	const struct tables_side *before = &sides[DIFF_BEFORE], *after = &sides[DIFF_AFTER];
	/* a double may hold the difference of two numbers that it does not hold */
	const double delta = after->number >= before->number ? (double)(after->number - before->number)
							     : -(double)(before->number - after->number);

	if (is_empty(before) || is_empty(after))
		return;
	buffer_append_text(text, " (");
	if (before->unavailable || after->unavailable || before->partial || after->partial)
		buffer_append_text(text, "·");
	else if (before->kind == CELL_SIDE_REAL)
		buffer_append_format(text, "%+.2f%%", delta / 100.0);
	else
		cell_format_delta(text, delta, ladder);
	buffer_append_char(text, ')');
}

/* Sets everything but the text. */
static void set_numbers(struct cell *cell, const struct tables_side sides[DIFF_SIDE_COUNT],
			enum ladder ladder)
{
	*cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_SIDES, .sort = NAN};
	cell->unit = sides[DIFF_BEFORE].kind == CELL_SIDE_REAL || sides[DIFF_AFTER].kind == CELL_SIDE_REAL
			     ? UNIT_PERCENT
			     : unit_of_ladder(ladder);
	for (size_t i = DIFF_SIDE_COUNT; i-- > 0;) {
		const struct tables_side *side = &sides[i];

		if (side->unavailable || side->partial) {
			cell->partial = true;
			cell->reason = side->reason;
			cell->reason_of_before = i == DIFF_BEFORE;
		}
		if (side->unavailable)
			continue;
		cell->value.sides.kind[i] = (uint8_t)side->kind;
		if (side->kind == CELL_SIDE_REAL)
			cell->value.sides.number[i].real = (double)side->number / 100.0;
		else
			cell->value.sides.number[i].integer = side->number;
	}
}

/* The cell of one snapshot. */
static void set_value(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct tables_side *side, enum ladder ladder)
{
	const enum value_state state = side->unavailable              ? VALUE_UNAVAILABLE
				       : side->kind == CELL_SIDE_NONE ? VALUE_ABSENT
								      : VALUE_READ;

	cell->unit = side->kind == CELL_SIDE_REAL ? UNIT_PERCENT : unit_of_ladder(ladder);
	if (!tables_cell_begin(cell, state, side->reason))
		return;
	cell->partial = side->partial;
	cell->reason = side->partial ? side->reason : REASON_READ;
	if (side->kind == CELL_SIDE_INTEGER) {
		tables_cell_set_integer(build, table, cell, side->number, ladder);
	} else if (side->kind == CELL_SIDE_REAL) {
		cell->form = CELL_FORM_REAL;
		cell->value.real = cell->sort = (double)side->number / 100.0;
		cell_format_pressure(&build->text, (uint32_t)side->number);
		tables_cell_take_text(build, table, cell);
	} else {
		cell->text = "max";
	}
}

struct table *tables_sides_create_table(const struct tables_build *build, const char *section,
					const struct table_column columns[], size_t column_count)
{
	struct table *table = table_create_with(section, columns, column_count);

	for (size_t i = 0; i < column_count; i++)
		table->columns[i].sides = build->is_comparison && table->columns[i].measured;
	return table;
}

void tables_sides_set(struct tables_build *build, struct table *table, struct cell *cell,
		      const struct tables_side sides[DIFF_SIDE_COUNT], enum ladder ladder)
{
	struct buffer *text = &build->text;

	if (!build->is_comparison) {
		set_value(build, table, cell, &sides[DIFF_AFTER], ladder);
		return;
	}
	set_numbers(cell, sides, ladder);
	if (is_empty(&sides[DIFF_BEFORE]) && is_empty(&sides[DIFF_AFTER])) {
		cell->state = CELL_ABSENT;
		return;
	}
	append_side(text, &sides[DIFF_BEFORE], ladder);
	buffer_append_text(text, " → ");
	append_side(text, &sides[DIFF_AFTER], ladder);
	append_delta(text, sides, ladder);
	tables_cell_take_text(build, table, cell);
}

void tables_sides_set_texts(struct tables_build *build, struct table *table, struct cell *cell,
			    const char *before, const char *after)
{
	cell->state = CELL_VALUE;
	buffer_append_text(&build->text, before);
	if (strcmp(before, after) != 0)
		buffer_append_format(&build->text, " → %s", after);
	tables_cell_take_text(build, table, cell);
}

void tables_sides_set_limit(struct tables_build *build, struct table *table, struct cell *cell,
			    const struct tables_side sides[DIFF_SIDE_COUNT], enum ladder ladder)
{
	struct buffer texts[DIFF_SIDE_COUNT] = {0};

	if (!build->is_comparison) {
		set_value(build, table, cell, &sides[DIFF_AFTER], ladder);
		return;
	}
	set_numbers(cell, sides, ladder);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		append_side(&texts[side], &sides[side], ladder);
	tables_sides_set_texts(build, table, cell, texts[DIFF_BEFORE].data, texts[DIFF_AFTER].data);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		buffer_release(&texts[side]);
}

static bool is_zero(const struct pressure_half *half)
{
	return (half->avg10 | half->avg60 | half->avg300) == 0 && half->total_usec == 0;
}

bool tables_sides_has_pressure(const struct tables_pressure *side, enum pressure_resource resource)
{
	if (side->side.unavailable)
		return side->side.reason != REASON_NOT_IN_KERNEL;
	return side->pressure != NULL && !(is_zero(&side->pressure->resource[resource].some) &&
					   is_zero(&side->pressure->resource[resource].full));
}

void tables_sides_set_pressure(struct tables_build *build, struct table *table, struct cell *first, bool full,
			       enum pressure_resource resource,
			       const struct tables_pressure sides[DIFF_SIDE_COUNT])
{
	struct tables_side cells[4][DIFF_SIDE_COUNT];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct pressure *pressure = sides[side].pressure;
		struct pressure_half half = {0};

		if (pressure != NULL)
			half = full ? pressure->resource[resource].full : pressure->resource[resource].some;
		for (size_t i = 0; i < 4; i++) {
			cells[i][side] = sides[side].side;
			cells[i][side].kind = pressure == NULL ? CELL_SIDE_NONE
					      : i < 3          ? CELL_SIDE_REAL
							       : CELL_SIDE_INTEGER;
		}
		cells[0][side].number = half.avg10;
		cells[1][side].number = half.avg60;
		cells[2][side].number = half.avg300;
		cells[3][side].number = half.total_usec;
	}
	first[0] = cell_of_text(full ? "full" : "some");
	for (size_t i = 0; i < 4; i++)
		tables_sides_set(build, table, &first[1 + i], cells[i], LADDER_US);
}
