/* SPDX-License-Identifier: GPL-2.0-only */
/* A metric of both sides of a group or thread, and its cells. */
#include "compare_internal.h"

#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "table/screen_format.h"
#include "window/column.h"

static struct reduction *reduction_of(const struct compare_subjects *subjects, enum diff_side side)
{
	return subjects->join != NULL ? subjects->join->diff->reductions[side] : subjects->reductions[side];
}

/* What a side in the order inside has. */
static void side_value(const struct compare_subjects *subjects, size_t subject, enum diff_side side,
		       enum column column, struct value *ret_value)
{
	if (subjects->join != NULL)
		diff_side(subjects->join->diff, &subjects->join->diff->pairs[subject], side, column,
			  ret_value);
	else if (subjects->threads[subject].index[side] == COMPARE_NONE)
		*ret_value = (struct value){.state = VALUE_ABSENT, .sort = NAN};
	else
		reduction_value(subjects->reductions[side], column, subject, ret_value);
}

/*
 * Where the changes are those of threads: what started since before began at zero, and what a thread that
 * went did after before is not known.
 */
static void begin_at_zero(const struct compare_subjects *subjects, size_t subject, struct diff_value *value)
{
	enum diff_side shown_after = compare_inside(subjects->comparison, DIFF_AFTER);
	bool in_before = compare_subject_threads(subjects, subject, (enum diff_side) !shown_after) != 0;
	bool in_after = compare_subject_threads(subjects, subject, shown_after) != 0;

	if (!in_before && value->side[DIFF_AFTER].state == VALUE_READ &&
	    (subjects->join != NULL ||
	     subjects->comparison->match->counted[DIFF_AFTER][subjects->threads[subject].index[DIFF_AFTER]]))
		value->side[DIFF_BEFORE] = (struct diff_side_value){.state = VALUE_READ, .has_number = true};
	if (!in_after && subjects->join != NULL && value->side[DIFF_BEFORE].state == VALUE_READ)
		value->side[DIFF_BEFORE] = (struct diff_side_value){.state = VALUE_UNAVAILABLE,
								    .reason = REASON_ENDED};
}

/* A value of the order inside as it is shown. */
static void show_sides(const struct compare_subjects *subjects, struct diff_value *value)
{
	struct diff_side_value before = value->side[DIFF_BEFORE];

	if (compare_inside(subjects->comparison, DIFF_BEFORE) == DIFF_BEFORE)
		return;
	value->side[DIFF_BEFORE] = value->side[DIFF_AFTER];
	value->side[DIFF_AFTER] = before;
}

struct diff_value compare_value(const struct compare_subjects *subjects, size_t subject, enum column column)
{
	const struct column_values *columns[DIFF_SIDE_COUNT];
	struct diff_value inside, value;
	struct value sides[DIFF_SIDE_COUNT];

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		columns[i] = reduction_column(reduction_of(subjects, (enum diff_side)i), column);
		side_value(subjects, subject, (enum diff_side)i, column, &sides[i]);
	}
	inside = diff_value_of(columns, sides);
	value = (struct diff_value){.is_category = inside.is_category};
	memcpy(value.side, inside.side, sizeof(value.side));
	if (column_is_counter(column) && compare_by_threads(subjects->comparison))
		begin_at_zero(subjects, subject, &value);
	show_sides(subjects, &value);
	diff_value_conclude(&value, column_is_ratio(column));
	if (value.is_category)
		value.differs = inside.differs;
	return value;
}

/* --- cells --- */

static void set_text(const char *text, struct cell *cell)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_TEXT;
	cell->text = text;
}

static void set_number(double number, enum unit unit, struct cell *cell)
{
	cell->state = CELL_VALUE;
	cell->unit = unit;
	if (number >= 0 && number < 0x1p63 && number == floor(number)) {
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = (uint64_t)number;
	} else {
		cell->form = CELL_FORM_REAL;
		cell->value.real = number;
	}
}

void compare_side_cell(const struct compare_subjects *subjects, size_t subject, enum column column,
		       const struct diff_value *value, enum diff_side side, struct arena *arena,
		       struct cell *ret_cell)
{
	const struct diff_side_value *own = &value->side[side];
	const enum diff_side inside = compare_inside(subjects->comparison, side);
	struct value held;

	*ret_cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (!compare_subject_is_on(subjects, subject, side))
		return;
	if (own->state == VALUE_UNAVAILABLE) {
		ret_cell->state = CELL_UNAVAILABLE;
		ret_cell->reason = own->reason;
	}
	if (own->state != VALUE_READ)
		return;
	side_value(subjects, subject, inside, column, &held);
	/* a number may stand for what is not there: see begin_at_zero() */
	if (own->has_number && held.form != VALUE_FORM_RANGE && held.form != VALUE_FORM_CPUS) {
		set_number(own->number, column_report_unit(column), ret_cell);
	} else {
		value_cell(reduction_column(reduction_of(subjects, inside), column), &held, arena, ret_cell);
		ret_cell->unit = column_report_unit(column);
	}
	ret_cell->partial = own->partial;
}

/* Sets the state of a change that is not known. */
static void set_unknown(const struct diff_value *value, struct cell *cell)
{
	*cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (value->state == VALUE_UNAVAILABLE) {
		cell->state = CELL_UNAVAILABLE;
		cell->reason = value->reason;
	}
}

static bool is_on_one_side(const struct diff_value *value, enum row_mark mark)
{
	return (mark == ROW_MARK_NEW && value->side[DIFF_AFTER].state == VALUE_READ) ||
	       (mark == ROW_MARK_LEFT && value->side[DIFF_BEFORE].state == VALUE_READ);
}

void compare_change_cell(const struct diff_value *value, enum column metric, struct arena *arena,
			 struct cell *ret_cell)
{
	struct buffer text = {0};
	struct cell amount = {0};

	set_unknown(value, ret_cell);
	if (value->is_category && value->state == VALUE_READ)
		set_text(value->differs ? "changed" : "0", ret_cell);
	if (!value->has_delta)
		return;
	if (value->delta == 0) {
		set_number(0, column_report_unit(metric), ret_cell);
		return;
	}
	set_number(fabs(value->delta), column_report_unit(metric), &amount);
	buffer_append_char(&text, value->delta < 0 ? '-' : '+');
	screen_format_cell(&text, &amount, &screen_marks_ascii);
	set_text(arena_duplicate(arena, text.data, text.length), ret_cell);
	buffer_release(&text);
}

void compare_percent_cell(const struct diff_value *value, enum row_mark mark, struct arena *arena,
			  struct cell *ret_cell)
{
	struct buffer text = {0};

	set_unknown(value, ret_cell);
	if (is_on_one_side(value, mark)) {
		set_text(mark == ROW_MARK_NEW ? "new" : "gone", ret_cell);
		return;
	}
	if (value->is_category || (value->has_delta && !value->has_fraction)) {
		ret_cell->state = CELL_EMPTY;
		return;
	}
	if (!value->has_fraction)
		return;
	if (value->fraction == 0) {
		set_text("0%", ret_cell);
		return;
	}
	buffer_append_char(&text, value->fraction < 0 ? '-' : '+');
	screen_format_percent(&text, fabs(value->fraction) * 100);
	buffer_append_char(&text, '%');
	set_text(arena_duplicate(arena, text.data, text.length), ret_cell);
	buffer_release(&text);
}
