/* SPDX-License-Identifier: GPL-2.0-only */
/* A metric of both sides of a group or thread, and its cells. */
#include "compare_internal.h"

#include <math.h>
#include <string.h>

#include "table/cell_format.h"
#include "view/column_table.h"
#include "table/screen_format.h"

/* --- values of threads --- */

/* The number for deltas, as aggregate_number() has it for groups. */
static bool thread_number(const struct snapshot *snapshot, size_t thread, enum metric metric,
			  double *ret_number)
{
	uint64_t value = snapshot_value(snapshot, thread, metric);

	switch (metric_type(metric)->reduction) {
	case METRIC_REDUCTION_MODE:
		return false;
	case METRIC_REDUCTION_AFFINITY:
		*ret_number = (double)cpu_set_count(&snapshot->cpu_sets, (uint32_t)value);
		return true;
	case METRIC_REDUCTION_RANGE:
		*ret_number = (double)(int64_t)value;
		return true;
	default:
		*ret_number = (double)value;
		return true;
	}
}

static struct diff_side_value thread_side(const struct snapshot *snapshot, uint32_t thread,
					  enum metric metric)
{
	struct diff_side_value side = {.state = VALUE_ABSENT};

	if (thread == COMPARE_NONE)
		return side;
	side.state = snapshot_value_state(snapshot, thread, metric, false, &side.reason);
	side.has_number = side.state == VALUE_READ && thread_number(snapshot, thread, metric, &side.number);
	return side;
}

static struct diff_side_value thread_derived(const struct snapshot *snapshot, uint32_t thread,
					     enum derived derived)
{
	const struct derived_entry *entry = &derived_metrics[derived];
	struct diff_side_value side = {.state = VALUE_READ};
	double inputs[DERIVED_INPUTS_MAX];

	for (size_t i = 0; i < entry->input_count; i++) {
		struct diff_side_value input = thread_side(snapshot, thread, entry->inputs[i]);

		inputs[i] = input.number;
		if (input.state == VALUE_ABSENT || (input.state != VALUE_READ && side.state == VALUE_READ))
			side = input;
		if (side.state == VALUE_ABSENT)
			return side;
	}
	if (side.state != VALUE_READ)
		return side;
	side.has_number = derived_compute(derived, inputs, &side.number);
	side.state = side.has_number ? VALUE_READ : VALUE_ABSENT;
	return side;
}

static bool words_differ(const struct compare_subjects *subjects, const struct compare_thread *thread,
			 enum metric metric)
{
	const char *words[DIFF_SIDE_COUNT];
	char letters[DIFF_SIDE_COUNT][5];

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct snapshot *snapshot = subjects->comparison->sides[side];
		uint64_t value = snapshot_value(snapshot, thread->index[side], metric);

		words[side] = category_text(snapshot, metric, value, letters[side]);
	}
	return strcmp(words[DIFF_BEFORE], words[DIFF_AFTER]) != 0;
}

static struct diff_value thread_value(const struct compare_subjects *subjects,
				      const struct compare_thread *thread, enum column column)
{
	struct diff_value value = {0};

	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++) {
		const struct snapshot *snapshot = subjects->comparison->sides[i];

		value.side[i] = compare_is_derived(column)
					? thread_derived(snapshot, thread->index[i],
							 compare_derived_of(column))
					: thread_side(snapshot, thread->index[i], compare_metric_of(column));
	}
	if (compare_is_derived(column) ||
	    metric_type(compare_metric_of(column))->reduction != METRIC_REDUCTION_MODE)
		return value;
	value.is_category = true;
	value.differs = value.side[DIFF_BEFORE].state == VALUE_READ &&
			value.side[DIFF_AFTER].state == VALUE_READ &&
			words_differ(subjects, thread, compare_metric_of(column));
	return value;
}

static struct diff_value group_value(const struct diff *diff, const struct diff_pair *pair,
				     enum column column)
{
	struct diff_value value;

	if (compare_is_derived(column))
		return diff_derived(diff, pair, compare_derived_of(column));
	value = diff_metric(diff, pair, compare_metric_of(column));
	/* threads are counted whether their counters are or not */
	for (size_t i = 0; column == compare_column_of(METRIC_THREAD_COUNT) && i < DIFF_SIDE_COUNT; i++)
		value.side[i].number = pair->threads[i];
	return value;
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

static struct diff_value record_value(const struct compare_subjects *subjects, size_t subject,
				      enum column column)
{
	struct diff_value value = {0};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		value.side[side] = (struct diff_side_value){.state = VALUE_ABSENT};
		if (subjects->join->diff->pairs[subject].threads[side] != 0)
			value.side[side] = compare_record_side(subjects, subject, column,
							       (enum diff_side)side);
	}
	return value;
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
	struct diff_value value;
	bool differs;

	if (compare_is_record(column))
		value = record_value(subjects, subject, column);
	else if (subjects->join == NULL)
		value = thread_value(subjects, &subjects->threads[subject], column);
	else
		value = group_value(subjects->join->diff, &subjects->join->diff->pairs[subject], column);
	differs = value.differs;
	if (compare_is_counter(column) && compare_by_threads(subjects->comparison))
		begin_at_zero(subjects, subject, &value);
	show_sides(subjects, &value);
	diff_value_conclude(&value, compare_is_derived(column) &&
					    derived_metrics[compare_derived_of(column)].is_ratio);
	if (value.is_category)
		value.differs = differs;
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

static void set_range(int64_t low, int64_t high, struct cell *cell)
{
	cell->state = CELL_VALUE;
	cell->form = CELL_FORM_RANGE;
	cell->value.range.low = low;
	cell->value.range.high = high;
}

/* The commonest word, with a '*' where not all threads have it. */
static void set_mode(const struct aggregation *aggregation, const struct aggregate *aggregate,
		     enum metric metric, struct arena *arena, struct cell *cell)
{
	static const char prefix[] = "SCHED_";
	struct buffer word = {0};
	uint64_t most = aggregate_mode(aggregation, aggregate, metric, &word);
	const char *text;

	buffer_append_text(&word, most < aggregate->read ? "*" : "");
	text = arena_duplicate(arena, word.data, word.length);
	set_text(strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text, cell);
	buffer_release(&word);
}

static void set_cpus(const struct aggregate *aggregate, struct arena *arena, struct cell *cell)
{
	uint32_t fewest = aggregate->value.affinity.fewest, most = aggregate->value.affinity.most;
	const char *mixed = aggregate->value.affinity.uniform ? "" : "*";

	set_text(fewest == most ? arena_format(arena, "%u%s", fewest, mixed)
				: arena_format(arena, "%u-%u%s", fewest, most, mixed),
		 cell);
}

/* Sets what stands for the number of a group in some metrics: a range, a word, CPUs. */
static void set_group(const struct compare_subjects *subjects, size_t subject, enum metric metric,
		      enum diff_side side, struct arena *arena, struct cell *cell)
{
	const struct diff *diff = subjects->join->diff;
	struct aggregation *aggregation = diff->aggregations[side];
	const struct aggregate *aggregate = aggregation_get(aggregation, diff->pairs[subject].group[side],
							    metric);

	switch (metric_type(metric)->reduction) {
	case METRIC_REDUCTION_RANGE:
		set_range(aggregate->value.range.low, aggregate->value.range.high, cell);
		break;
	case METRIC_REDUCTION_MODE:
		set_mode(aggregation, aggregate, metric, arena, cell);
		break;
	case METRIC_REDUCTION_AFFINITY:
		set_cpus(aggregate, arena, cell);
		break;
	default:
		break;
	}
}

/* The same for a thread. */
static void set_thread(const struct compare_subjects *subjects, size_t subject, enum metric metric,
		       enum diff_side side, struct arena *arena, struct cell *cell)
{
	const struct snapshot *snapshot = subjects->comparison->sides[side];
	uint64_t value = snapshot_value(snapshot, subjects->threads[subject].index[side], metric);
	char letter[5];

	if (metric_type(metric)->reduction == METRIC_REDUCTION_MODE)
		set_text(arena_format(arena, "%s", category_text(snapshot, metric, value, letter)), cell);
	else if (metric_type(metric)->reduction == METRIC_REDUCTION_RANGE)
		set_range((int64_t)value, (int64_t)value, cell);
}

void compare_side_cell(const struct compare_subjects *subjects, size_t subject, enum column metric,
		       const struct diff_value *value, enum diff_side side, struct arena *arena,
		       struct cell *ret_cell)
{
	const struct diff_side_value *own = &value->side[side];

	*ret_cell = (struct cell){.state = CELL_ABSENT, .sort = NAN};
	if (compare_subject_threads(subjects, subject, side) == 0)
		return;
	if (own->state == VALUE_UNAVAILABLE) {
		ret_cell->state = CELL_UNAVAILABLE;
		ret_cell->reason = own->reason;
	}
	if (own->state != VALUE_READ)
		return;
	side = compare_inside(subjects->comparison, side);
	set_number(own->number, compare_unit(metric), ret_cell);
	ret_cell->partial = own->partial;
	if (compare_is_derived(metric) || compare_is_record(metric))
		return;
	if (subjects->join != NULL)
		set_group(subjects, subject, compare_metric_of(metric), side, arena, ret_cell);
	else
		set_thread(subjects, subject, compare_metric_of(metric), side, arena, ret_cell);
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
		set_number(0, compare_unit(metric), ret_cell);
		return;
	}
	set_number(fabs(value->delta), compare_unit(metric), &amount);
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
