/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of counters. */
#include "kind.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

/* The inputs to add up; with `overlap` the last two count as the larger of them. */
struct sum {
	const int *inputs;
	size_t count, plain;
	bool overlap;
	bool whole; /* a thread with an input that is missing does not count: a derived metric */
	bool as_rate;
	bool *measured; /* by flags: as the first input was */
	struct window_counter counters[COLUMN_INPUTS_MAX];
};

/* The first parts of BAR, in the order of time_part.def: those that metrics count. */
static const struct bar_part {
	size_t from, count;
	bool overlap;
} bar_parts[] = {{0, 1, false}, {1, 1, false}, {2, 1, false}, {3, 5, true}, {8, 1, false}};

struct sums {
	bool blocked; /* unfinished times in D count as well */
	bool living;  /* ended threads do not count */
	size_t count;
	struct sum of[DERIVED_INPUTS_MAX];
};

static void add_amount(const struct column_values *values, struct accumulator *accumulator, uint64_t whole,
		       double real)
{
	if (values->is_real)
		accumulator->sum[0].real += real;
	else
		accumulator->sum[0].whole = number_add_saturating(accumulator->sum[0].whole, whole);
}

static void note_partial(struct accumulator *accumulator, uint16_t reason)
{
	accumulator->partial = true;
	if (accumulator->reason == REASON_READ)
		accumulator->reason = reason;
}

/* Counts a thread or record; `reason` says why a part of it is missing. */
static bool count_one(const struct sum *sum, struct accumulator *accumulator, bool read, uint16_t reason)
{
	if (read && (reason == REASON_READ || !sum->whole)) {
		accumulator->read++;
		if (reason != REASON_READ)
			note_partial(accumulator, reason);
		return true;
	}
	if (reason != REASON_READ)
		accumulator_miss(accumulator, reason);
	return false;
}

/*
 * Whether an amount is less than it would be seen: of a wait for a CPU that may have lasted longer, or of
 * clock ticks of a thread that has just begun, of which nothing is there until the first one is full.
 */
static bool has_bound(const struct window_counter *counter, uint32_t thread, uint64_t elapsed_ns)
{
	const struct window *window = counter->window;
	const uint64_t wait = counter->under_way ? snapshot_wait_under_way(window->now, thread) : 0;

	if (wait != 0 && window_wait_is_bound(window, thread, wait, elapsed_ns))
		return true;
	return counter->scale != 1 && !counter->of_life && window->from != NULL &&
	       window->basis == WINDOW_MEASURED && window->from_of[thread] == THREAD_BORN;
}

static void add_to_sum(const struct column_values *values, const struct sum *sum, uint32_t thread,
		       struct accumulator *accumulator)
{
	uint64_t whole = 0, largest = 0;
	double real = 0.0, largest_real = 0.0;
	uint16_t reason = REASON_READ;
	bool read = false;

	for (size_t i = 0; i < sum->count; i++) {
		uint64_t amount, elapsed;
		const uint16_t state = window_amount(&sum->counters[i], thread, sum->as_rate, &amount,
						     &elapsed);

		if (state != REASON_READ) {
			if (state != STATE_ABSENT && reason == REASON_READ)
				reason = state;
			continue;
		}
		read = true;
		if (has_bound(&sum->counters[i], thread, elapsed))
			accumulator_note_bound(accumulator);
		if (sum->as_rate) {
			const double rate = window_rate(&sum->counters[i], amount, elapsed);

			if (i < sum->plain)
				real += rate;
			else if (rate > largest_real)
				largest_real = rate;
		} else if (i < sum->plain) {
			whole = number_add_saturating(whole, amount);
		} else if (amount > largest) {
			largest = amount;
		}
	}
	if (count_one(sum, accumulator, read, reason))
		add_amount(values, accumulator, number_add_saturating(whole, largest), real + largest_real);
}

/* The sum of the delays of a thread without its waits for a CPU, and the time over which they were counted.
 */
static uint64_t delays_of(const struct sum *sum, uint32_t thread, uint64_t *ret_elapsed_ns)
{
	uint64_t whole = 0, largest = 0;

	*ret_elapsed_ns = 0;
	for (size_t i = 0; i < sum->count; i++) {
		uint64_t amount;

		if (metric_is_run_queue_wait((enum metric)sum->inputs[i]) ||
		    window_amount(&sum->counters[i], thread, true, &amount, ret_elapsed_ns) != REASON_READ)
			continue;
		if (i < sum->plain)
			whole = number_add_saturating(whole, amount);
		else if (amount > largest)
			largest = amount;
	}
	return number_add_saturating(whole, largest);
}

/* Takes back what was counted of a time in D before the window, once the delays have the whole of it. */
static void take_back_blocked(const struct reducer *reducer, uint32_t thread, uint64_t before,
			      struct accumulator *accumulator)
{
	const struct sums *sums = reducer->work;
	uint64_t elapsed, charged = delays_of(&sums->of[0], thread, &elapsed);

	/* else it was none that any delay counts; its age was read a moment early or late */
	if (charged + charged / 100 < before)
		return;
	charged = charged < before ? charged : before;
	if (reducer->values->is_real)
		accumulator->sum[0].real -= (double)charged * 1e9 / (double)elapsed;
	else
		accumulator->sum[0].whole -= charged;
}

/*
 * Adds the part of a time in D that is in the window. No counter has it before it ends, and some not then
 * either: __delayacct_blkio_end() of kernel/delayacct.c is for what waits for block I/O.
 */
static void add_blocked(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct window *window = reducer->window;
	const bool of_life = window->mode == WINDOW_MODE_TOTAL;
	const uint32_t other = of_life || window->from == NULL ? THREAD_UNKNOWN : window->from_of[thread];
	const uint64_t wait = snapshot_wait_in(window->now, thread, 'D');
	const uint64_t before = other < THREAD_STILL ? snapshot_wait_in(window->from, other, 'D') : 0;
	const uint64_t elapsed = of_life ? UINT64_MAX : window->elapsed_ns;
	const uint64_t part = wait < elapsed ? wait : elapsed;

	if (window->basis != WINDOW_MEASURED || (!of_life && window->from == NULL))
		return;
	if (before != 0 && wait < elapsed)
		take_back_blocked(reducer, thread, before, accumulator);
	if (part == 0)
		return;
	accumulator->read++;
	add_amount(reducer->values, accumulator, part, (double)part * 1e9 / (double)elapsed);
	if (window_wait_is_bound(window, thread, wait, elapsed))
		accumulator_note_bound(accumulator);
}

static void add_thread(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulators)
{
	const struct sums *sums = reducer->work;

	for (size_t i = 0; i < sums->count; i++)
		add_to_sum(reducer->values, &sums->of[i], thread, &accumulators[i]);
	if (sums->blocked)
		add_blocked(reducer, thread, accumulators);
}

/* Counts a thread that sleeps for the part that it sleeps in now, too. */
static void add_bar_thread(const struct reducer *reducer, uint32_t thread, struct accumulator parts[])
{
	const struct snapshot *now = reducer->window->now;
	double shares[WAIT_CLASS_COUNT] = {0};
	enum wait_class class;

	add_thread(reducer, thread, parts);
	if (now->wait_class == NULL || reduce_wait_class(now, thread, &class) != REASON_READ)
		return;
	if (reducer->window->samples != NULL)
		wait_samples_divide(reducer->window->samples, now, thread, shares);
	else
		shares[class] = 1;
	for (size_t i = WAIT_CLASS_RUN_QUEUE + 1; i < WAIT_CLASS_COUNT; i++) {
		if (wait_classes[i].part > TIME_PART_RUN_QUEUE)
			parts[wait_classes[i].part].sum[1].real += shares[i];
	}
}

static void add_ended(const struct reducer *reducer, const struct ended_record *record,
		      struct accumulator *accumulators)
{
	const struct sums *sums = reducer->work;
	const struct sum *sum = &sums->of[0];
	uint8_t states = 0;
	uint16_t reason = REASON_READ;
	uint64_t whole = 0;
	double real = 0.0;

	if (sums->living)
		return;
	for (size_t i = 0; i < sum->plain + sum->overlap; i++) {
		const enum metric metric = (enum metric)sum->inputs[i];
		const size_t slot = i < sum->plain ? (size_t)metric : ENDED_SLOT_OVERLAP;

		whole = number_add_saturating(whole, record->amounts[slot]);
		real += (double)record->amounts[slot] * sum->counters[i].scale;
		states |= record->states[slot];
		if (reason == REASON_READ && (record->states[slot] & ENDED_MISSED) != 0)
			reason = record->reasons[slot];
	}
	if (count_one(sum, accumulators, (states & ENDED_COUNTED) != 0, reason))
		add_amount(reducer->values, accumulators, whole,
			   real * reducer_scale(reducer->window, sum->as_rate));
	if ((states & ENDED_AT_LEAST) != 0)
		accumulator_note_bound(accumulators);
}

static struct sum *begin_sum(struct reducer *reducer, const int *inputs, size_t count, bool overlap)
{
	struct sums *sums = reducer->work;
	struct sum *sum = &sums->of[sums->count++];

	*sum = (struct sum){
		.inputs = inputs,
		.count = count,
		.plain = overlap ? count - 2 : count,
		.overlap = overlap,
		.whole = reducer->values->column >= COLUMN_DERIVED,
		.as_rate = reducer->values->is_real,
	};
	sum->measured = reducer_find_counters(reducer, inputs, count, sum->counters);
	return sum;
}

static struct sums *begin(struct reducer *reducer)
{
	struct sums *sums = memory_allocate_zero(1, sizeof(*sums));

	reducer->work = sums;
	reducer->only_movers = reducer_knows_still(reducer);
	return sums;
}

/* Amounts of clock ticks become ns; all inputs of a column have one unit. */
static void set_scale(struct reducer *reducer)
{
	const struct sums *sums = reducer->work;

	if (reducer->values->basis == WINDOW_MEASURED)
		reducer->values->scale = (uint64_t)sums->of[0].counters[0].scale;
}

static void begin_sums(struct reducer *reducer)
{
	const struct column_entry *entry = reducer->entry;
	struct sum *sum;

	begin(reducer);
	reducer->values->is_real = reducer->window->mode == WINDOW_MODE_RATE;
	sum = begin_sum(reducer, entry->inputs, entry->input_count, column_has(entry, COLUMN_OVERLAPS));
	if (sum->count == 1)
		reducer_add_stored(reducer, &sum->counters[0].now, sum->measured, true);
	set_scale(reducer);
}

/*
 * A derived metric of a report takes the larger of two sums over all threads: its accumulators are sums of
 * each input.
 */
static void begin_overlap(struct reducer *reducer)
{
	if (reducer->window->basis == WINDOW_MEASURED) {
		begin_sums(reducer);
		return;
	}
	begin(reducer);
	for (size_t i = 0; i < reducer->entry->input_count; i++)
		begin_sum(reducer, reducer->entry->inputs + i, 1, false);
}

static void begin_lost(struct reducer *reducer)
{
	struct sums *sums;

	begin_sums(reducer);
	sums = reducer->work;
	sums->blocked = true;
	reducer->only_movers &= reducer_sleeps_where_still(reducer);
}

static void begin_lifetime(struct reducer *reducer)
{
	const struct column_entry *entry = reducer->entry;

	reducer_count_lives(reducer);
	begin(reducer)->living = true;
	begin_sum(reducer, entry->inputs, entry->input_count, false);
	set_scale(reducer);
}

/* Fills the parts of all rows from the time in each class. */
static void add_class_times(struct reducer *reducer)
{
	for (enum wait_class class = WAIT_CLASS_UNKNOWN + 1; class < WAIT_CLASS_COUNT; class ++) {
		struct row_time *rows = reduce_times(reducer->window, reducer->shown, class);

		for (size_t row = 0; row < reducer->shown->row_count; row++) {
			struct accumulator *parts = reducer_row(reducer, row);

			parts[wait_classes[class].part].sum[0].real += (double)rows[row].known;
			parts[TIME_PART_SLEEP].read = 1;
			if (rows[row].known != 0)
				parts[0].read = 1;
			if (rows[row].unknown != 0)
				accumulator_miss(&parts[0], rows[row].reason);
		}
		free(rows);
	}
	reducer->no_threads = true;
}

static void begin_bar(struct reducer *reducer)
{
	struct sums *sums = begin(reducer);

	sums->living = true;
	reducer->values->is_real = true;
	if (!reducer->shown->by_thread &&
	    reduce_times_missing(reducer->window, reducer->shown) == REASON_READ) {
		add_class_times(reducer);
		return;
	}
	reducer->only_movers &= reducer->window->now->wait_class == NULL;
	for (size_t i = 0; i < ARRAY_COUNT(bar_parts); i++)
		begin_sum(reducer, reducer->entry->inputs + bar_parts[i].from, bar_parts[i].count,
			  bar_parts[i].overlap);
}

/* Unreported work of ended threads may belong to any row. */
static void end(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	struct sums *sums = reducer->work;

	for (size_t row = 0; row < reducer->shown->row_count && !sums->living && window->ended != NULL &&
			     window->ended == reducer->shown->ended && window->ended->incomplete;
	     row++)
		note_partial(reducer_row(reducer, row), REASON_LOWER_BOUND);
	for (size_t i = 0; i < sums->count; i++)
		free(sums->of[i].measured);
}

static void conclude_overlap(const struct conclusion *of, struct value *value)
{
	const size_t plain = of->values->stride - 2;
	double sum = 0, largest = 0;

	if (of->values->basis == WINDOW_MEASURED) {
		conclude_sum(of, value);
		return;
	}
	value->state = VALUE_READ;
	for (size_t i = 0; i < of->values->stride; i++) {
		struct value input = {.state = VALUE_ABSENT};
		double number = 0;

		conclude_sum(&(struct conclusion){.values = of->values, .accumulators = &of->accumulators[i]},
			     &input);
		if (input.state == VALUE_ABSENT) {
			*value = input;
			return;
		}
		if (input.state == VALUE_UNAVAILABLE && value->state == VALUE_READ) {
			value->state = input.state;
			value->reason = input.reason;
		}
		value->partial |= input.partial;
		value_number(&input, &number);
		if (i < plain)
			sum += number;
		else if (number > largest)
			largest = number;
	}
	value->form = VALUE_FORM_REAL;
	value->partial &= value->state == VALUE_READ;
	if (value->state == VALUE_READ)
		value->sort = value->real = sum + largest;
}

/* Shares of the time in classes, which accounts for all; absent without any. */
static void conclude_class_times(const struct accumulator parts[TIME_PART_COUNT], struct value *value)
{
	double life = 0.0;

	for (size_t i = 0; i < TIME_PART_COUNT; i++)
		life += parts[i].sum[0].real;
	if (!value_set_state(&parts[0], value))
		return;
	value->form = VALUE_FORM_SHARES;
	for (size_t i = 0; i < TIME_PART_COUNT; i++)
		value->shares[i] = (float)(parts[i].sum[0].real / life);
	value->sort = 1.0 - (double)value->shares[TIME_PART_SLEEP];
}

/* Divides the time asleep by what threads sleep in now: of those that stood still it is exact. */
static void divide_sleep(const struct accumulator parts[TIME_PART_COUNT], float shares[TIME_PART_COUNT])
{
	const float sleep = shares[TIME_PART_SLEEP];
	double sleepers = 0.0;

	for (size_t i = 0; i < TIME_PART_COUNT; i++)
		sleepers += parts[i].sum[1].real;
	for (size_t i = 0; i < TIME_PART_SLEEP && sleepers != 0.0; i++) {
		const float part = sleep * (float)(parts[i].sum[1].real / sleepers);

		shares[i] += part;
		shares[TIME_PART_SLEEP] -= part;
	}
	/* what is left of rounding */
	shares[TIME_PART_SLEEP] = fmaxf(shares[TIME_PART_SLEEP], 0.0F);
}

/* Shares of the time of all threads; time that nothing accounts for is sleep. */
static void conclude_bar(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulators = of->accumulators;
	const uint32_t threads = of->shown->row_threads[of->row];
	double shares[TIME_PART_COUNT] = {0}, sum = 0.0;
	size_t sleep = TIME_PART_COUNT - 1;

	if (accumulators[sleep].read != 0) {
		conclude_class_times(accumulators, value);
		return;
	}
	if (!value_set_state(&accumulators[0], value) || threads == 0)
		return;
	value->form = VALUE_FORM_SHARES;
	for (size_t i = 0; i < sleep; i++) {
		value->partial |= accumulators[i].missed > 0 || accumulators[i].partial;
		shares[i] = accumulators[i].sum[0].real / 1e9 / threads;
		sum += shares[i];
	}
	/* waits are charged when they end, so the sum may pass the whole */
	for (size_t i = 0; i < sleep; i++)
		value->shares[i] = (float)(sum > 1.0 ? shares[i] / sum : shares[i]);
	value->shares[sleep] = sum > 1.0 ? 0.0F : (float)(1.0 - sum);
	divide_sleep(accumulators, value->shares);
	value->sort = sum;
}

const struct column_kind column_kind_sum = {
	.begin = begin_sums,
	.add_thread = add_thread,
	.add_ended = add_ended,
	.end = end,
	.conclude = conclude_sum,
	.merge = merge_sums,
};

const struct column_kind column_kind_overlap = {
	.stored_by_input = true,
	.begin = begin_overlap,
	.add_thread = add_thread,
	.add_ended = add_ended,
	.end = end,
	.conclude = conclude_overlap,
	.merge = merge_sums,
};

const struct column_kind column_kind_lost = {
	.begin = begin_lost,
	.add_thread = add_thread,
	.add_ended = add_ended,
	.end = end,
	.conclude = conclude_sum,
	.merge = merge_sums,
};

const struct column_kind column_kind_lifetime = {
	.begin = begin_lifetime,
	.add_thread = add_thread,
	.end = end,
	.conclude = conclude_sum,
	.merge = merge_sums,
};

const struct column_kind column_kind_bar = {
	.stride = TIME_PART_COUNT,
	.begin = begin_bar,
	.add_thread = add_bar_thread,
	.end = end,
	.conclude = conclude_bar,
	.merge = merge_sums,
};
