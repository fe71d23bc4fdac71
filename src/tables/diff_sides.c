/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells with both sides of what is not of groups: cgroup records, pressure, sched_ext. */
#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "diff_build.h"

static void append_side(struct buffer *text, const struct diff_cell_side *side, enum ladder ladder)
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

static bool is_empty(const struct diff_cell_side *side)
{
	return side->kind == CELL_SIDE_NONE && !side->unavailable;
}

/* Appends " (delta)" where both sides have a value, " (·)" where one of them is not the whole of it. */
static void append_delta(struct buffer *text, const struct diff_cell_side sides[DIFF_SIDE_COUNT],
			 enum ladder ladder)
{
	const struct diff_cell_side *before = &sides[DIFF_BEFORE], *after = &sides[DIFF_AFTER];
	double delta = (double)after->number - (double)before->number;

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
static void set_numbers(struct cell *cell, const struct diff_cell_side sides[DIFF_SIDE_COUNT],
			enum ladder ladder)
{
	*cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_SIDES, .sort = NAN};
	cell->unit = sides[DIFF_BEFORE].kind == CELL_SIDE_REAL || sides[DIFF_AFTER].kind == CELL_SIDE_REAL
			     ? UNIT_PERCENT
			     : cell_format_unit(ladder);
	for (size_t i = DIFF_SIDE_COUNT; i-- > 0;) {
		const struct diff_cell_side *side = &sides[i];

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

void diff_set_sides(struct diff_build *build, struct table *table, struct cell *cell,
		    const struct diff_cell_side sides[DIFF_SIDE_COUNT], enum ladder ladder)
{
	struct buffer *text = &build->base.text;

	set_numbers(cell, sides, ladder);
	if (is_empty(&sides[DIFF_BEFORE]) && is_empty(&sides[DIFF_AFTER])) {
		cell->state = CELL_ABSENT;
		return;
	}
	append_side(text, &sides[DIFF_BEFORE], ladder);
	buffer_append_text(text, " → ");
	append_side(text, &sides[DIFF_AFTER], ladder);
	append_delta(text, sides, ladder);
	table_build_take_text(&build->base, table, cell);
}

void diff_set_limit(struct diff_build *build, struct table *table, struct cell *cell,
		    const struct diff_cell_side sides[DIFF_SIDE_COUNT], enum ladder ladder)
{
	struct buffer *text = &build->base.text;
	struct buffer after = {0};

	set_numbers(cell, sides, ladder);
	append_side(text, &sides[DIFF_BEFORE], ladder);
	append_side(&after, &sides[DIFF_AFTER], ladder);
	if (strcmp(text->data, after.data) != 0)
		buffer_append_format(text, " → %s", after.data);
	table_build_take_text(&build->base, table, cell);
	buffer_release(&after);
}

/* A number of a row of pressure. */
static void set_number(struct diff_build *build, struct table *table, struct cell *cell,
		       const struct diff_pressure_side sides[DIFF_SIDE_COUNT], enum cell_side_kind kind,
		       const uint64_t numbers[DIFF_SIDE_COUNT])
{
	struct diff_cell_side both[DIFF_SIDE_COUNT];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		both[side] = (struct diff_cell_side){
			.kind = sides[side].half != NULL && !sides[side].unavailable ? kind : CELL_SIDE_NONE,
			.unavailable = sides[side].unavailable,
			.partial = sides[side].partial,
			.reason = sides[side].reason,
			.number = numbers[side],
		};
	diff_set_sides(build, table, cell, both, LADDER_US);
}

void diff_set_pressure(struct diff_build *build, struct table *table, struct cell *first, const char *name,
		       const struct diff_pressure_side sides[DIFF_SIDE_COUNT])
{
	static const struct pressure_half nothing;
	const struct pressure_half *before = sides[DIFF_BEFORE].half != NULL ? sides[DIFF_BEFORE].half
									     : &nothing;
	const struct pressure_half *after = sides[DIFF_AFTER].half != NULL ? sides[DIFF_AFTER].half
									   : &nothing;

	table_build_set_text(table, &first[0], name, strlen(name));
	set_number(build, table, &first[1], sides, CELL_SIDE_REAL,
		   (const uint64_t[]){before->avg10, after->avg10});
	set_number(build, table, &first[2], sides, CELL_SIDE_REAL,
		   (const uint64_t[]){before->avg60, after->avg60});
	set_number(build, table, &first[3], sides, CELL_SIDE_REAL,
		   (const uint64_t[]){before->avg300, after->avg300});
	set_number(build, table, &first[4], sides, CELL_SIDE_INTEGER,
		   (const uint64_t[]){before->total_usec, after->total_usec});
}
