/* SPDX-License-Identifier: GPL-2.0-only */
/* A column's values reduced to one accumulator a row: counters here, the rest where it belongs. */
#include "reduce.h"

#include "base/clock.h"
#include "base/memory.h"
#include "view/column_table.h"

size_t reduce_ended_count(const struct span *span, const struct shown *shown)
{
	return span->ended != NULL && span->ended == shown->ended ? span->ended->count : 0;
}

/* --- sums of counters --- */

/* Whether columns of these counters have to touch only what moved. */
static bool follows_movers(const struct span *span, const struct shown *shown,
			   const struct span_counter counters[], size_t count)
{
	if (span->still == NULL || span->still != shown->still)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!span_counter_is_even(&counters[i]))
			return false;
	}
	return true;
}

/* What is added up: all inputs, or the last two as the larger of them. */
struct sum {
	const int *inputs;
	size_t count;
	size_t share; /* of BAR: which of its accumulators */
	bool overlap;
	bool whole; /* a thread with an input that is missing does not count: a derived metric */
	bool as_rate;
	bool living; /* ended threads do not count */
};

/* Adds what is known of a thread or record; `reason` says why something of it is missing. */
static void add_amount(struct accumulator *accumulator, const struct sum *sum, double amount, bool read,
		       uint16_t reason)
{
	if (read && (reason == REASON_READ || !sum->whole)) {
		accumulator->sum.first += amount;
		accumulator->read++;
		accumulator->partial |= reason != REASON_READ;
	} else if (reason != REASON_READ) {
		accumulator_miss(accumulator, reason);
	}
}

/* A sum and the counters of its inputs. */
struct sum_work {
	const struct sum *sum;
	struct span_counter counters[COLUMN_INPUTS_MAX];
};

static void add_thread(const void *work_pointer, uint32_t thread, struct accumulator *accumulator)
{
	const struct sum_work *work = work_pointer;
	const struct sum *sum = work->sum;
	size_t plain = sum->overlap ? sum->count - 2 : sum->count;
	double amount = 0.0, largest = 0.0;
	uint16_t reason = REASON_READ;
	bool read = false;

	for (size_t i = 0; i < sum->count; i++) {
		double value;
		uint16_t state = span_value(&work->counters[i], thread, sum->as_rate, &value);

		if (state == REASON_READ) {
			read = true;
			if (i < plain)
				amount += value;
			else if (value > largest)
				largest = value;
		} else if (state != SPAN_ABSENT && reason == REASON_READ) {
			reason = state;
		}
	}
	add_amount(accumulator, sum, amount + largest, read, reason);
}

double reduce_scale(const struct span *span, bool as_rate)
{
	return as_rate && span->elapsed_ns != 0 ? 1e9 / (double)span->elapsed_ns : 1.0;
}

/* Adds what ended threads of a triple did. */
static void add_ended(const struct ended_record *record, const struct sum *sum, double rate,
		      struct accumulator *accumulator)
{
	size_t plain = sum->overlap ? sum->count - 2 : sum->count;
	uint8_t states = 0;
	uint16_t reason = REASON_READ;
	double amount = 0.0;

	for (size_t i = 0; i < plain + sum->overlap; i++) {
		enum metric metric = (enum metric)sum->inputs[i];
		size_t slot = i < plain ? (size_t)metric : ENDED_SLOT_OVERLAP;
		double scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1;

		amount += (double)record->amounts[slot] * scale;
		states |= record->states[slot];
		if (reason == REASON_READ && (record->states[slot] & ENDED_MISSED) != 0)
			reason = record->reasons[slot];
	}
	add_amount(accumulator, sum, amount * rate, (states & ENDED_COUNTED) != 0, reason);
	accumulator->partial |= (states & ENDED_AT_LEAST) != 0;
}

/* What threads did of which nothing is known may belong to any row. */
static void mark_incomplete(const struct span *span, const struct shown *shown,
			    const struct column_values *values, size_t share)
{
	if (span->ended == NULL || span->ended != shown->ended || !span->ended->incomplete)
		return;
	for (size_t row = 0; row < shown->row_count; row++)
		reduce_accumulator(values, row)[share].partial = true;
}

static void reduce_sum(const struct span *span, const struct shown *shown, const struct column_values *values,
		       const struct sum *sum)
{
	struct sum_work work = {.sum = sum};

	for (size_t i = 0; i < sum->count; i++)
		work.counters[i] = span_counter_of(span, (enum metric)sum->inputs[i]);
	reduce_add_threads(shown, values->accumulators + sum->share, values->stride,
			   follows_movers(span, shown, work.counters, sum->count), add_thread, &work);
	for (size_t i = 0; !sum->living && i < reduce_ended_count(span, shown); i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			add_ended(&span->ended->records[i], sum, reduce_scale(span, sum->as_rate),
				  reduce_accumulator(values, shown->ended_row_of[i]) + sum->share);
	}
	if (!sum->living)
		mark_incomplete(span, shown, values, sum->share);
}

/* --- two counters side by side: ratios and differences --- */

struct both_work {
	struct span_counter counters[2];
	bool as_rate;
};

static void add_both(struct accumulator *accumulator, const uint16_t states[2], const double amounts[2])
{
	if (states[0] == REASON_READ && states[1] == REASON_READ) {
		accumulator->sum.first += amounts[0];
		accumulator->sum.second += amounts[1];
		accumulator->read++;
		return;
	}
	/* one input is there and the other is not: the sums would be of different threads */
	accumulator->differs |= states[0] == REASON_READ || states[1] == REASON_READ;
	for (size_t i = 0; i < 2; i++) {
		if (states[i] != REASON_READ && states[i] != SPAN_ABSENT) {
			accumulator_miss(accumulator, states[i]);
			return;
		}
	}
}

static void add_thread_to_both(const void *work_pointer, uint32_t thread, struct accumulator *accumulator)
{
	const struct both_work *work = work_pointer;
	double amounts[2];
	uint16_t states[2];

	for (size_t i = 0; i < 2; i++)
		states[i] = span_value(&work->counters[i], thread, work->as_rate, &amounts[i]);
	add_both(accumulator, states, amounts);
}

static void add_ended_both(struct accumulator *accumulator, const struct ended_record *record,
			   const int inputs[2], double rate)
{
	uint16_t states[2];
	double amounts[2];

	for (size_t i = 0; i < 2; i++) {
		uint8_t state = record->states[inputs[i]];

		amounts[i] = (double)record->amounts[inputs[i]] * rate;
		states[i] = (state & ENDED_MISSED) != 0    ? record->reasons[inputs[i]]
			    : (state & ENDED_COUNTED) != 0 ? REASON_READ
							   : SPAN_ABSENT;
	}
	add_both(accumulator, states, amounts);
}

static void reduce_both(const struct span *span, const struct shown *shown,
			const struct column_values *values, bool as_rate)
{
	const int *inputs = column_entry(values->column)->inputs;
	struct both_work work = {
		.counters = {span_counter_of(span, (enum metric)inputs[0]),
			     span_counter_of(span, (enum metric)inputs[1])},
		.as_rate = as_rate,
	};

	/* a mean is one of the waits that were counted */
	for (size_t i = 0; i < 2; i++)
		work.counters[i].under_way &= column_counts_waits(values->column);
	reduce_add_threads(shown, values->accumulators, values->stride,
			   follows_movers(span, shown, work.counters, 2), add_thread_to_both, &work);
	for (size_t i = 0; i < reduce_ended_count(span, shown); i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			add_ended_both(reduce_accumulator(values, shown->ended_row_of[i]),
				       &span->ended->records[i], inputs, reduce_scale(span, as_rate));
	}
}

/* --- how many threads started and ended --- */

/* Why it is not known how many threads ended: where nothing watches them there is what rounds miss since. */
static uint16_t unknown_lives(const struct span *span, enum life_event event)
{
	if (span->from == NULL)
		return span->missing;
	if (span->now->ended != NULL || event != LIFE_ENDED || span->mode == VIEW_MODE_BASE)
		return REASON_READ;
	if (span->now->provenance.features[FEATURE_EXITS].reason == REASON_READ)
		return REASON_NOT_READ;
	return (uint16_t)span->now->provenance.features[FEATURE_EXITS].reason;
}

static void count_living(const struct span *span, const struct shown *shown,
			 const struct column_values *values, double rate)
{
	for (size_t k = 0; k < shown->count; k++) {
		if (span->from_of[shown->threads[k]] == THREAD_BORN)
			values->accumulators[shown->row_of[k]].sum.first += rate;
	}
}

static void reduce_lives(const struct span *span, const struct shown *shown,
			 const struct column_values *values, int event)
{
	const double rate = reduce_scale(span, span->mode == VIEW_MODE_RATE);
	const uint16_t reason = unknown_lives(span, (enum life_event)event);

	if (span->mode == VIEW_MODE_TOTAL)
		return;
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = &values->accumulators[row];

		if (reason != REASON_READ) {
			accumulator_miss(accumulator, reason);
		} else {
			accumulator->read++;
			accumulator->partial = span->now->ended == NULL ||
					       (span->ended != NULL && span->ended->incomplete);
		}
	}
	if (reason != REASON_READ)
		return;
	if (event == LIFE_BEGAN)
		count_living(span, shown, values, rate);
	for (size_t i = 0; i < reduce_ended_count(span, shown); i++) {
		const struct ended_record *record = &span->ended->records[i];

		if (shown->ended_row_of[i] != UINT32_MAX)
			values->accumulators[shown->ended_row_of[i]].sum.first +=
				rate * (double)(event == LIFE_BEGAN ? record->born : record->threads);
	}
}

/* --- columns --- */

static void reduce_bar(const struct span *span, const struct shown *shown, const struct column_values *values,
		       const int *inputs)
{
	/* the inputs of each share but sleep, in the order of table_bar_names */
	static const struct {
		size_t from, count;
		bool overlap;
	} shares[] = {{0, 1, false}, {1, 1, false}, {2, 1, false}, {3, 5, true}, {8, 1, false}};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct sum sum = {
			.inputs = inputs + shares[i].from,
			.count = shares[i].count,
			.share = i,
			.overlap = shares[i].overlap,
			.as_rate = true,
			.living = true,
		};

		reduce_sum(span, shown, values, &sum);
	}
}

void reduce_column(const struct span *span, const struct shown *shown, enum column column,
		   struct column_values *ret_values)
{
	const struct column_entry *entry = column_entry(column);
	const struct span life = span_of_life(span);
	struct sum sum = {
		.inputs = entry->inputs,
		.count = entry->input_count,
		.overlap = entry->operation == COLUMN_OPERATION_SUM_WITH_LARGEST ||
			   entry->operation == COLUMN_OPERATION_LOST,
		.whole = column >= COLUMN_DERIVED && !column_is_scx(column),
		.as_rate = span->mode == VIEW_MODE_RATE,
	};
	size_t stride = entry->operation == COLUMN_OPERATION_BAR ? CELL_BAR_SHARES : 1;

	*ret_values = (struct column_values){
		.column = column,
		.mode = span->mode,
		.accumulators = memory_allocate_zero((shown->row_count + 1) * stride,
						     sizeof(struct accumulator)),
		.stride = stride,
	};
	switch (entry->operation) {
	case COLUMN_OPERATION_THREADS:
		break;
	case COLUMN_OPERATION_LOST:
		reduce_waits(span, shown, ret_values);
		reduce_sum(span, shown, ret_values, &sum);
		break;
	case COLUMN_OPERATION_SUM:
	case COLUMN_OPERATION_SUM_WITH_LARGEST:
		reduce_sum(span, shown, ret_values, &sum);
		break;
	case COLUMN_OPERATION_LIFETIME:
		sum.as_rate = false;
		reduce_sum(&life, shown, ret_values, &sum);
		break;
	case COLUMN_OPERATION_QUOTIENT:
	case COLUMN_OPERATION_SHARE:
		reduce_both(span, shown, ret_values, false);
		break;
	case COLUMN_OPERATION_NET:
		reduce_both(span, shown, ret_values, sum.as_rate);
		break;
	case COLUMN_OPERATION_DIFFERENCE:
		reduce_both(&life, shown, ret_values, false);
		break;
	case COLUMN_OPERATION_PRESENT:
		reduce_present(span, shown, ret_values, (enum metric)entry->inputs[0]);
		break;
	case COLUMN_OPERATION_STUCK:
	case COLUMN_OPERATION_WAITING:
	case COLUMN_OPERATION_LONG:
		reduce_waits(span, shown, ret_values);
		break;
	case COLUMN_OPERATION_AGE:
		reduce_age(shown, ret_values);
		break;
	case COLUMN_OPERATION_BAR:
		reduce_bar(span, shown, ret_values, entry->inputs);
		break;
	case COLUMN_OPERATION_SMAPS:
		reduce_smaps(shown, ret_values);
		break;
	case COLUMN_OPERATION_RESIDENT:
	case COLUMN_OPERATION_GROWTH:
		reduce_resident(span, shown, ret_values, entry->operation == COLUMN_OPERATION_GROWTH);
		break;
	case COLUMN_OPERATION_CGROUP:
		reduce_cgroup(span, shown, ret_values);
		break;
	case COLUMN_OPERATION_LIVES:
		reduce_lives(span, shown, ret_values, entry->inputs[0]);
		break;
	case COLUMN_OPERATION_HEAP:
		reduce_heap(shown, ret_values);
		break;
	case COLUMN_OPERATION_LATENCY:
		reduce_latency(span, shown, ret_values);
		break;
	case COLUMN_OPERATION_SCX:
		reduce_scx(span, shown, ret_values);
		break;
	case COLUMN_OPERATION_IDENTITY:
		reduce_identity(shown, ret_values);
		break;
	}
}
