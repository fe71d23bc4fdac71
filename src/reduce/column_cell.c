/* SPDX-License-Identifier: GPL-2.0-only */
/* From accumulators to cells. */
#include "reduce.h"

#include <math.h>
#include <string.h>

#include "base/unicode.h"
#include "view/column_table.h"

/* 2^64: a double from here on does not fit into an unsigned amount. */
static const double integer_limit = 18446744073709551616.0;

static bool is_rate(const struct column_entry *entry, enum view_mode mode)
{
	if (mode != VIEW_MODE_RATE)
		return false;
	switch (entry->operation) {
	case COLUMN_OPERATION_SUM:
	case COLUMN_OPERATION_SUM_WITH_LARGEST:
	case COLUMN_OPERATION_LOST:
	case COLUMN_OPERATION_NET:
	case COLUMN_OPERATION_GROWTH:
	case COLUMN_OPERATION_LIVES:
		return true;
	case COLUMN_OPERATION_LATENCY:
		return entry->inputs[1] == LATENCY_FIELD_COUNT;
	case COLUMN_OPERATION_CGROUP:
		return reduce_cgroup_is_rate(entry->inputs[0]);
	case COLUMN_OPERATION_SCX:
		return entry->inputs[1] == SCX_REDUCTION_COUNTER;
	default:
		return false;
	}
}

/* Unit of a rate of what amounts to a unit. */
static enum unit rate_of(enum unit unit)
{
	switch (unit) {
	case UNIT_NS:
		return UNIT_PERCENT;
	case UNIT_BYTES:
		return UNIT_BYTES_PER_S;
	default:
		return UNIT_COUNT_PER_S;
	}
}

/* Unit of a column's cells in a mode, in rows that are groups or threads. */
static enum unit column_unit(enum column column, enum view_mode mode, bool by_thread)
{
	const struct column_entry *entry = column_entry(column);

	if (entry->operation == COLUMN_OPERATION_STUCK && by_thread)
		return UNIT_NS;
	return is_rate(entry, mode) ? rate_of(entry->unit) : entry->unit;
}

const char *category_text(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			  char letter[static 5])
{
	static const char policy_prefix[] = "SCHED_";
	const size_t prefix_length = strlen(policy_prefix);
	struct buffer buffer = {0};
	const char *text;

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		text = snapshot_text(snapshot, (uint32_t)value);
		return strncmp(text, policy_prefix, prefix_length) == 0 ? text + prefix_length : text;
	case METRIC_ENCODING_BOOLEAN:
		return value != 0 ? "yes" : "no";
	default:
		unicode_append(&buffer, (uint32_t)value);
		memcpy(letter, buffer.data, buffer.length);
		letter[buffer.length] = '\0';
		buffer_release(&buffer);
		return letter;
	}
}

/* A number that sorts words by their first letters. */
static double word_order(const char *word)
{
	double order = 0.0;

	for (size_t i = 0; i < 6; i++) {
		order = order * 256.0 + (unsigned char)*word;
		word += *word != '\0';
	}
	return order;
}

static void set_integer(struct cell *cell, double value)
{
	cell->form = CELL_FORM_INTEGER;
	cell->value.integer = value < integer_limit ? (uint64_t)round(value) : UINT64_MAX;
	cell->sort = value;
}

/* The same of a number with all of its digits. */
static void set_whole(struct cell *cell, uint64_t value)
{
	cell->form = CELL_FORM_INTEGER;
	cell->value.integer = value;
	cell->sort = (double)value;
}

static void set_real(struct cell *cell, double value)
{
	cell->form = CELL_FORM_REAL;
	cell->value.real = value;
	cell->sort = value;
}

/* Sets the state by what was read and missed; false when there is no value. */
static bool set_state(const struct accumulator *accumulator, struct cell *cell)
{
	cell->sort = NAN;
	if (accumulator->read > 0) {
		cell->state = CELL_VALUE;
		return true;
	}
	cell->state = accumulator->missed > 0 ? CELL_UNAVAILABLE : CELL_ABSENT;
	cell->reason = (reason_id)accumulator->reason;
	return false;
}

/* A sum in the unit of the column: amounts are whole numbers, rates of time percent. */
static void make_sum(const struct accumulator *accumulator, bool rate, struct cell *cell)
{
	if (!set_state(accumulator, cell))
		return;
	cell->partial = accumulator->missed > 0 || accumulator->partial;
	if (!rate)
		set_integer(cell, accumulator->sum.first);
	else
		set_real(cell,
			 cell->unit == UNIT_PERCENT ? accumulator->sum.first / 1e7 : accumulator->sum.first);
}

/* Lost time is sorted as if stuck threads had lost all of theirs. */
static void make_lost(const struct accumulator *accumulator, bool rate, struct cell *cell)
{
	double stuck = rate ? accumulator->sum.second / 1e7 : accumulator->sum.second;

	make_sum(accumulator, rate, cell);
	if (cell->state == CELL_VALUE)
		cell->sort += stuck;
	else if (stuck > 0)
		cell->sort = stuck;
}

static void make_ratio(const struct column_entry *entry, const struct accumulator *accumulator,
		       struct cell *cell)
{
	double first = accumulator->sum.first, second = accumulator->sum.second;
	double value;

	if (!set_state(accumulator, cell))
		return;
	if (accumulator->differs) {
		cell->state = CELL_UNAVAILABLE;
		cell->reason = (reason_id)(accumulator->reason != REASON_READ ? accumulator->reason
									      : REASON_NOT_READ);
		return;
	}
	if (entry->operation == COLUMN_OPERATION_DIFFERENCE) {
		cell->partial = accumulator->missed > 0;
		set_real(cell, first - second);
		return;
	}
	if (entry->operation == COLUMN_OPERATION_SHARE)
		second += first;
	if (second == 0.0) {
		cell->state = CELL_ABSENT;
		return;
	}
	value = first / second;
	set_real(cell, entry->unit == UNIT_PERCENT ? value * 100.0 : value);
}

/* A word, with a '*' where not all threads have it. */
static void set_word(const char *word, bool differs, struct arena *arena, struct cell *cell)
{
	cell->form = CELL_FORM_TEXT;
	cell->unanimous = !differs;
	cell->text = arena_format(arena, "%s%s", word, differs ? "*" : "");
	cell->sort = word_order(word);
}

static void make_integer(const struct accumulator *accumulator, struct cell *cell)
{
	if (!set_state(accumulator, cell))
		return;
	cell->form = CELL_FORM_INTEGER;
	cell->value.integer = accumulator->present;
	cell->sort = (double)accumulator->present;
	cell->partial = accumulator->missed > 0 || accumulator->partial;
	cell->rose = accumulator->rose;
}

/* A lower bound of nothing is no more than nothing known. */
static void make_waiting(const struct accumulator *accumulator, struct cell *cell)
{
	make_integer(accumulator, cell);
	if (cell->state != CELL_VALUE)
		return;
	if (cell->partial && accumulator->present == 0) {
		cell->state = CELL_UNAVAILABLE;
		cell->reason = (reason_id)accumulator->reason;
		cell->sort = NAN;
	}
}

static void set_range(const struct accumulator *accumulator, struct cell *cell)
{
	cell->form = CELL_FORM_RANGE;
	cell->value.range.low = accumulator->range.low;
	cell->value.range.high = accumulator->range.high;
	cell->sort = (double)accumulator->range.high;
}

static void set_affinity(const struct accumulator *accumulator, struct arena *arena, struct cell *cell)
{
	long long low = accumulator->range.low, high = accumulator->range.high;
	const char *mark = accumulator->differs ? "*" : "";

	set_range(accumulator, cell);
	cell->unanimous = !accumulator->differs;
	cell->text = low == high ? arena_format(arena, "%lld%s", low, mark)
				 : arena_format(arena, "%lld-%lld%s", low, high, mark);
}

static void make_present(const struct snapshot *now, enum metric metric,
			 const struct accumulator *accumulator, struct arena *arena, struct cell *cell)
{
	char letter[5];

	if (!set_state(accumulator, cell))
		return;
	switch (metric_type(metric)->reduction) {
	case METRIC_REDUCTION_RANGE:
		set_range(accumulator, cell);
		return;
	case METRIC_REDUCTION_MODE:
		set_word(category_text(now, metric, accumulator->present, letter), accumulator->differs,
			 arena, cell);
		return;
	case METRIC_REDUCTION_AFFINITY:
		set_affinity(accumulator, arena, cell);
		return;
	default:
		make_integer(accumulator, cell);
		return;
	}
}

/* Shares of the time of all threads; what is not accounted for is sleep. */
static void make_bar(const struct accumulator *accumulators, uint32_t threads, struct cell *cell)
{
	double shares[CELL_BAR_SHARES] = {0}, sum = 0.0;
	size_t sleep = CELL_BAR_SHARES - 1;

	if (!set_state(&accumulators[0], cell) || threads == 0)
		return;
	cell->form = CELL_FORM_BAR;
	for (size_t i = 0; i < sleep; i++) {
		cell->partial |= accumulators[i].missed > 0 || accumulators[i].partial;
		shares[i] = accumulators[i].sum.first / 1e9 / threads;
		sum += shares[i];
	}
	/* waits are charged when they end, so the sum may pass the whole */
	for (size_t i = 0; i < sleep; i++)
		cell->value.shares[i] = (float)(sum > 1.0 ? shares[i] / sum : shares[i]);
	cell->value.shares[sleep] = sum > 1.0 ? 0.0F : (float)(1.0 - sum);
	cell->sort = sum;
}

static void make_cgroup(const struct column_entry *entry, const struct accumulator *accumulator, bool rate,
			struct cell *cell)
{
	if (accumulator->differs) {
		cell->state = CELL_ABSENT; /* no limit */
		cell->sort = NAN;
		return;
	}
	make_sum(accumulator, rate || entry->unit == UNIT_CPUS, cell);
}

/* A difference of which a part is missing may be more or less than what is known. */
static void make_net(const struct accumulator *accumulator, struct cell *cell)
{
	struct accumulator known = *accumulator;

	if (known.missed > 0)
		known.read = 0;
	if (set_state(&known, cell))
		set_real(cell, known.sum.first - known.sum.second);
}

static void make_heap(const struct snapshot *now, const struct column_entry *entry,
		      const struct accumulator *accumulator, struct arena *arena, struct cell *cell)
{
	switch ((enum heap_field)entry->inputs[0]) {
	case HEAP_FIELD_PROCESSES:
	case HEAP_FIELD_THREADS:
		make_integer(accumulator, cell);
		return;
	case HEAP_FIELD_LIVE:
		if (accumulator->differs) {
			cell->state = CELL_ABSENT;
			cell->sort = NAN;
		} else {
			make_net(accumulator, cell);
		}
		return;
	case HEAP_FIELD_LAYOUT:
		if (set_state(accumulator, cell))
			set_word(now->provenance.heap[accumulator->present].layout, accumulator->differs,
				 arena, cell);
		return;
	}
}

/* The commonest value, in words where it has them, with a '*' where not all threads have it. */
static void make_commonest(const struct scx_member *member, const struct scx_reduced *reduced,
			   struct arena *arena, struct cell *cell)
{
	struct buffer text = {0};

	scx_member_append(member, reduced->value, &text);
	set_word(text.data, reduced->differs, arena, cell);
	buffer_release(&text);
	if (scx_find_enumerator(member, (int64_t)reduced->value) != NULL)
		return;
	cell->sort = scx_member_number(member, reduced->value);
	if (cell->sort < 0) {
		cell->form = CELL_FORM_REAL;
		cell->value.real = cell->sort;
	} else {
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = reduced->value;
	}
}

/* Sums, maxima and counts of those that were read are lower bounds; means are of them. */
static void make_scx(const struct column_values *values, size_t row, struct arena *arena, struct cell *cell)
{
	const struct scx_reduced *reduced = &values->fields[row];
	const struct scx_member *member = values->member;
	bool rate;

	cell->sort = NAN;
	cell->reason = reduced->reason;
	cell->state = reduced->state == VALUE_READ     ? CELL_VALUE
		      : reduced->state == VALUE_ABSENT ? CELL_ABSENT
						       : CELL_UNAVAILABLE;
	if (cell->state != CELL_VALUE)
		return;
	if (member->facts.reduction == SCX_REDUCTION_COUNT && member->kind != SCX_KIND_BOOLEAN) {
		make_commonest(member, reduced, arena, cell);
		return;
	}
	/* as this scheduler's field is, whatever another one's of that name */
	cell->unit = column_unit_of_scx(member->facts, member->kind);
	rate = values->mode == VIEW_MODE_RATE && member->facts.reduction == SCX_REDUCTION_COUNTER;
	if (rate)
		cell->unit = rate_of(cell->unit);
	cell->partial = reduced->partial && member->facts.reduction != SCX_REDUCTION_MEAN;
	if (rate)
		set_real(cell, cell->unit == UNIT_PERCENT ? reduced->number / 1e7 : reduced->number);
	else if (reduced->is_whole)
		set_whole(cell, reduced->whole);
	else if (member->facts.reduction == SCX_REDUCTION_COUNTER && reduced->number >= 0)
		set_integer(cell, reduced->number);
	else
		set_real(cell, reduced->number);
}

void column_cell(const struct shown *shown, const struct column_values *values, size_t row,
		 struct arena *arena, struct cell *ret_cell)
{
	const struct column_entry *entry = column_entry(values->column);
	const struct accumulator *accumulator = &values->accumulators[row * values->stride];
	bool rate = is_rate(entry, values->mode);

	*ret_cell = (struct cell){.unit = column_unit(values->column, values->mode, shown->by_thread)};
	switch (entry->operation) {
	case COLUMN_OPERATION_THREADS:
		ret_cell->state = CELL_VALUE;
		set_integer(ret_cell, shown->row_threads[row]);
		return;
	case COLUMN_OPERATION_SUM:
	case COLUMN_OPERATION_SUM_WITH_LARGEST:
	case COLUMN_OPERATION_SMAPS:
	case COLUMN_OPERATION_RESIDENT:
	case COLUMN_OPERATION_LIFETIME:
	case COLUMN_OPERATION_LATENCY:
	case COLUMN_OPERATION_LIVES:
		make_sum(accumulator, rate, ret_cell);
		return;
	case COLUMN_OPERATION_LOST:
		make_lost(accumulator, rate, ret_cell);
		return;
	case COLUMN_OPERATION_QUOTIENT:
	case COLUMN_OPERATION_SHARE:
	case COLUMN_OPERATION_DIFFERENCE:
		make_ratio(entry, accumulator, ret_cell);
		return;
	case COLUMN_OPERATION_PRESENT:
		make_present(shown->now, (enum metric)entry->inputs[0], accumulator, arena, ret_cell);
		return;
	case COLUMN_OPERATION_STUCK:
	case COLUMN_OPERATION_AGE:
		make_integer(accumulator, ret_cell);
		return;
	case COLUMN_OPERATION_WAITING:
	case COLUMN_OPERATION_LONG:
		make_waiting(accumulator, ret_cell);
		return;
	case COLUMN_OPERATION_BAR:
		make_bar(accumulator, shown->row_threads[row], ret_cell);
		return;
	case COLUMN_OPERATION_CGROUP:
		make_cgroup(entry, accumulator, rate, ret_cell);
		return;
	case COLUMN_OPERATION_NET:
	case COLUMN_OPERATION_GROWTH:
		make_net(accumulator, ret_cell);
		return;
	case COLUMN_OPERATION_HEAP:
		make_heap(shown->now, entry, accumulator, arena, ret_cell);
		return;
	case COLUMN_OPERATION_SCX:
		make_scx(values, row, arena, ret_cell);
		return;
	case COLUMN_OPERATION_IDENTITY:
		identity_cell(shown, (enum identity)entry->inputs[0], accumulator, arena, ret_cell);
		return;
	}
}

/* The name with its unit once: a metric's own name often ends in one. */
static const char *unit_name(const char *name, enum unit unit, struct arena *arena)
{
	static const char *const own_endings[] = {"_clock_ticks", "_bytes", "_ns", "_ratio", "_fraction"};
	const char *ending = unit == UNIT_COUNT ? "" : unit == UNIT_COUNT_PER_S ? "per_s" : unit_names[unit];
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(own_endings) / sizeof(own_endings[0]); i++) {
		size_t own = strlen(own_endings[i]);

		if (length > own && strcmp(name + length - own, own_endings[i]) == 0) {
			length -= own;
			break;
		}
	}
	return arena_format(arena, "%.*s%s%s", (int)length, name, ending[0] != '\0' ? "_" : "", ending);
}

void column_describe(enum column column, enum view_mode mode, bool by_thread, struct arena *arena,
		     struct table_column *ret_column)
{
	enum unit unit = column_unit(column, mode, by_thread);

	*ret_column = (struct table_column){
		.name = unit_name(column_name(column), unit, arena),
		.title = column_title(column, (int)mode),
		.unit = unit,
		.left = column_is_text(column),
		.foreign = column_is_identity(column),
		.cut_middle = column_is_identity(column) && column != COLUMN_COMMAND,
		.fill_order = column_fill_order(column),
		.stays = by_thread && (column == COLUMN_PID || column == COLUMN_PROCESS),
		.width = column_width(column),
		.column = column,
	};
}
