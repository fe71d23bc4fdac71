/* SPDX-License-Identifier: GPL-2.0-only */
/* A column's values reduced to one accumulator a row. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "view/column_table.h"

static const char *const smaps_key_names[SMAPS_KEY_COUNT] = {"Rss", "Pss", "Swap"};

static struct accumulator *accumulator_of(const struct column_values *values, size_t row)
{
	return &values->accumulators[row * values->stride];
}

size_t reduce_ended_count(const struct span *span, const struct shown *shown)
{
	return span->ended != NULL && span->ended == shown->ended ? span->ended->count : 0;
}

/* --- threads by threads, or by what moved --- */

/* Adds a thread to the accumulator of its row. */
typedef void add_function(const void *work, uint32_t thread, struct accumulator *accumulator);

/* Adds threads that stand still as often as there are: they did nothing, and have a state. */
static void add_copies(struct accumulator *accumulator, const struct accumulator *one, uint32_t count)
{
	accumulator->read += one->read * count;
	accumulator->missed += one->missed * count;
	if (accumulator->reason == REASON_READ)
		accumulator->reason = one->reason;
	accumulator->partial |= one->partial;
	accumulator->differs |= one->differs;
}

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

/*
 * Adds all threads to the accumulators from `accumulators` on, which are those of the first row. Groups that
 * stand still take their turn with their first threads: of several reasons the first one counts.
 */
static inline void add_threads(const struct shown *shown, struct accumulator *accumulators, size_t stride,
			       bool only_movers, add_function *add, const void *work)
{
	size_t next = 0;

	for (size_t k = 0; !only_movers && k < shown->count; k++)
		add(work, shown->threads[k], &accumulators[shown->row_of[k] * stride]);
	for (size_t i = 0; only_movers && i <= shown->mover_count; i++) {
		const uint32_t k = i < shown->mover_count ? shown->movers[i] : UINT32_MAX;

		for (; next < shown->still_count && shown->still_groups[next].first < k; next++) {
			const struct still_group *group = &shown->still_groups[next];
			struct accumulator one = {0};

			add(work, shown->threads[group->first], &one);
			add_copies(&accumulators[shown->row_of[group->first] * stride], &one, group->count);
		}
		if (k != UINT32_MAX)
			add(work, shown->threads[k], &accumulators[shown->row_of[k] * stride]);
	}
}

/* --- sums of counters --- */

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
}

static void reduce_sum(const struct span *span, const struct shown *shown, const struct column_values *values,
		       const struct sum *sum)
{
	struct sum_work work = {.sum = sum};

	for (size_t i = 0; i < sum->count; i++)
		work.counters[i] = span_counter_of(span, (enum metric)sum->inputs[i]);
	add_threads(shown, values->accumulators + sum->share, values->stride,
		    follows_movers(span, shown, work.counters, sum->count), add_thread, &work);
	for (size_t i = 0; !sum->living && i < reduce_ended_count(span, shown); i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			add_ended(&span->ended->records[i], sum, reduce_scale(span, sum->as_rate),
				  accumulator_of(values, shown->ended_row_of[i]) + sum->share);
	}
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
	add_threads(shown, values->accumulators, values->stride,
		    follows_movers(span, shown, work.counters, 2), add_thread_to_both, &work);
	for (size_t i = 0; i < reduce_ended_count(span, shown); i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			add_ended_both(accumulator_of(values, shown->ended_row_of[i]),
				       &span->ended->records[i], inputs, reduce_scale(span, as_rate));
	}
}

/* --- present values --- */

/* Whether a peak is higher than it was at the other side of the span. */
static bool has_risen(const struct span *span, uint32_t thread, enum metric metric, uint64_t value)
{
	uint32_t other;

	if (span->from == NULL || value == 0)
		return false;
	other = span->from_of[thread];
	if (other == THREAD_BORN)
		return true;
	return other != THREAD_UNKNOWN && other != THREAD_STILL &&
	       snapshot_value_state(span->from, other, metric, false, NULL) == VALUE_READ &&
	       value > snapshot_value(span->from, other, metric);
}

static void add_largest(const struct span *span, struct accumulator *accumulator, uint32_t thread,
			enum metric metric, uint64_t value)
{
	bool first = accumulator->read == 0;

	if (!first && value < accumulator->present)
		return;
	if (first || value > accumulator->present)
		accumulator->rose = false;
	accumulator->present = value;
	if (metric_type(metric)->kind == METRIC_KIND_PEAK)
		accumulator->rose |= has_risen(span, thread, metric, value);
}

static void extend_range(struct accumulator *accumulator, int64_t value)
{
	if (accumulator->read == 0 || value < accumulator->range.low)
		accumulator->range.low = value;
	if (accumulator->read == 0 || value > accumulator->range.high)
		accumulator->range.high = value;
}

/* The first value, and whether another one follows. */
static void add_category(struct accumulator *accumulator, uint64_t value)
{
	if (accumulator->read == 0)
		accumulator->present = value;
	accumulator->differs |= value != accumulator->present;
}

/* A pair of row and value, to be counted by sorting. */
struct row_value {
	uint32_t row;
	uint64_t value;
};

static int compare_row_values(const void *a, const void *b)
{
	const struct row_value *left = a, *right = b;

	if (left->row != right->row)
		return left->row < right->row ? -1 : 1;
	return (left->value > right->value) - (left->value < right->value);
}

/* Whether `a` wins over `b` among values that are equally common: byte order. */
static bool comes_first(const struct snapshot *snapshot, enum metric metric, uint64_t a, uint64_t b)
{
	char left[5], right[5];

	return strcmp(category_text(snapshot, metric, a, left), category_text(snapshot, metric, b, right)) <
	       0;
}

static bool any_differs(const struct shown *shown, const struct column_values *values)
{
	for (size_t row = 0; row < shown->row_count; row++) {
		if (accumulator_of(values, row)->differs)
			return true;
	}
	return false;
}

/* Finds the commonest value of the rows whose threads do not agree. */
static void elect_categories(const struct shown *shown, const struct column_values *values,
			     enum metric metric)
{
	const struct snapshot *now = shown->now;
	struct row_value *pairs;
	size_t count = 0, most = 0;
	uint32_t row = UINT32_MAX;

	if (!any_differs(shown, values))
		return;
	pairs = memory_allocate((shown->count + 1) * sizeof(*pairs));
	for (size_t k = 0; k < shown->count; k++) {
		uint32_t thread = shown->threads[k];

		if (accumulator_of(values, shown->row_of[k])->differs &&
		    snapshot_value_state(now, thread, metric, false, NULL) == VALUE_READ)
			pairs[count++] = (struct row_value){shown->row_of[k],
							    snapshot_value(now, thread, metric)};
	}
	qsort(pairs, count, sizeof(*pairs), compare_row_values);
	for (size_t i = 0, run; i < count; i += run) {
		struct accumulator *accumulator = accumulator_of(values, pairs[i].row);

		for (run = 1; i + run < count && compare_row_values(&pairs[i], &pairs[i + run]) == 0;)
			run++;
		if (pairs[i].row != row)
			most = 0;
		row = pairs[i].row;
		if (run > most ||
		    (run == most && comes_first(now, metric, pairs[i].value, accumulator->present))) {
			most = run;
			accumulator->present = pairs[i].value;
		}
	}
	free(pairs);
}

static void reduce_present(const struct span *span, const struct shown *shown,
			   const struct column_values *values, enum metric metric)
{
	const struct snapshot *now = shown->now;
	const struct metric_reader reader = metric_reader_of(now, metric);
	enum metric_reduction kind = metric_type(metric)->reduction;
	uint64_t *first_sets = NULL, set = 0;
	int64_t cpus = 0; /* in `set` */

	if (kind == METRIC_REDUCTION_AFFINITY)
		first_sets = memory_allocate_zero(shown->row_count + 1, sizeof(*first_sets));
	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = accumulator_of(values, shown->row_of[k]);
		uint32_t thread = shown->threads[k];
		uint64_t value = metric_reader_value(&reader, thread);
		reason_id reason;
		enum value_state state = metric_reader_state(&reader, thread, &reason);

		if (state == VALUE_UNAVAILABLE)
			accumulator_miss(accumulator, reason);
		if (state != VALUE_READ)
			continue;
		switch (kind) {
		case METRIC_REDUCTION_RANGE:
			extend_range(accumulator, (int64_t)value);
			break;
		case METRIC_REDUCTION_MODE:
			add_category(accumulator, value);
			break;
		case METRIC_REDUCTION_AFFINITY:
			if (accumulator->read == 0)
				first_sets[shown->row_of[k]] = value;
			accumulator->differs |= first_sets[shown->row_of[k]] != value;
			if (cpus == 0 || set != value) {
				set = value;
				cpus = (int64_t)cpu_set_count(&now->cpu_sets, (uint32_t)set);
			}
			extend_range(accumulator, cpus);
			break;
		default:
			add_largest(span, accumulator, thread, metric, value);
			break;
		}
		accumulator->read++;
	}
	if (kind == METRIC_REDUCTION_MODE)
		elect_categories(shown, values, metric);
	free(first_sets);
}

/* --- what is no metric --- */

/* Whether of the threads that stand still it is known that none waits for a CPU or is in D: see find_still().
 */
static bool sleeps_where_still(const struct span *span, const struct shown *shown)
{
	return span->still != NULL && span->still == shown->still && span->now->waiting_ns != NULL;
}

/* What the columns of present waits are made for. */
struct waits_work {
	const struct span *span;
	struct metric_reader states;
	bool by_thread, count_long;
	bool exact;     /* waits for a CPU are in the sums */
	double elapsed; /* in the span, ns; 0 when there is no other side, or not exact */
};

static void add_stuck(const void *work_pointer, uint32_t thread, struct accumulator *accumulator)
{
	const struct waits_work *work = work_pointer;
	const uint64_t *stuck_ns = work->span->now->stuck_ns;

	if (stuck_ns == NULL) {
		accumulator_miss(accumulator, work->span->missing);
		return;
	}
	accumulator->read++;
	accumulator->present += work->by_thread ? stuck_ns[thread] : stuck_ns[thread] != 0;
}

/* How long the present wait of a thread has lasted. */
struct present_wait {
	uint64_t ns;
	bool at_least; /* it may be longer */
	uint16_t reason;
};

/* Sleep counts only of one thread: most threads of a group sleep, and nothing is wrong with that. */
static struct present_wait find_wait(const struct span *span, const struct metric_reader *states,
				     uint32_t thread, bool with_sleep)
{
	const struct snapshot *now = span->now;
	const uint64_t state = metric_reader_value(states, thread);
	const bool for_cpu_or_d = state == 'R' || state == 'D';
	struct present_wait wait = {.reason = span_waits_missing(span)};
	reason_id unread;

	if (now->waiting_ns != NULL) {
		wait.ns = for_cpu_or_d || with_sleep ? now->waiting_ns[thread] : 0;
		wait.reason = REASON_READ;
	} else if (now->stuck_ns == NULL) {
		return wait;
	} else if (metric_reader_state(states, thread, &unread) != VALUE_READ) {
		wait.reason = unread;
	} else if (for_cpu_or_d && now->stuck_ns[thread] != 0) {
		wait = (struct present_wait){.ns = now->stuck_ns[thread], .at_least = true};
	} else if (!for_cpu_or_d && !with_sleep) {
		wait.reason = REASON_READ;
	}
	return wait;
}

static void add_waiting(const void *work_pointer, uint32_t thread, struct accumulator *accumulator)
{
	const struct waits_work *work = work_pointer;
	const struct present_wait wait = find_wait(work->span, &work->states, thread, work->by_thread);
	const bool is_long = wait.ns >= COLUMN_LONG_WAIT_NS;

	if (wait.reason != REASON_READ) {
		accumulator_miss(accumulator, wait.reason);
		return;
	}
	accumulator->read++;
	if (work->count_long)
		accumulator->present += is_long;
	else if (wait.ns > accumulator->present)
		accumulator->present = wait.ns;
	if (wait.at_least && !(work->count_long && is_long)) {
		accumulator->partial = true;
		accumulator->reason = REASON_OTHER_BACKEND;
	}
}

/*
 * What a thread lost, for sorting, in a wait that no counter shows: the whole time if it is stuck. Where it
 * is known how long waits have lasted, the sum has those for a CPU, and one in D adds its part of the span.
 */
static void add_stuck_loss(const void *work_pointer, uint32_t thread, struct accumulator *accumulator)
{
	const struct waits_work *work = work_pointer;
	const struct snapshot *now = work->span->now;
	double lost = now->stuck_ns != NULL ? (double)now->stuck_ns[thread] : 0;

	if (work->exact)
		lost = metric_reader_value(&work->states, thread) == 'D' ? (double)now->waiting_ns[thread]
									 : 0;
	if (lost == 0)
		return;
	if (work->elapsed > 0 && lost > work->elapsed)
		lost = work->elapsed;
	if (work->span->mode == VIEW_MODE_RATE)
		lost = work->elapsed > 0 ? lost * 1e9 / work->elapsed : 1e9;
	accumulator->sum.second += lost;
}

static void reduce_waits(const struct span *span, const struct shown *shown,
			 const struct column_values *values, add_function *add)
{
	const struct snapshot *now = span->now, *from = span->from;
	struct waits_work work = {
		.span = span,
		.states = metric_reader_of(now, METRIC_STATE),
		.by_thread = shown->by_thread,
		.count_long = column_entry(values->column)->operation == COLUMN_OPERATION_LONG,
		.exact = span_knows_waits(span) && (from != NULL || span->mode == VIEW_MODE_TOTAL),
	};

	if (work.exact && from != NULL && now->provenance.boottime_ns > from->provenance.boottime_ns)
		work.elapsed = (double)(now->provenance.boottime_ns - from->provenance.boottime_ns);
	add_threads(shown, values->accumulators, values->stride, sleeps_where_still(span, shown), add, &work);
}

static void reduce_age(const struct shown *shown, const struct column_values *values)
{
	const struct snapshot *now = shown->now;

	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = accumulator_of(values, shown->row_of[k]);
		uint64_t start = number_multiply_saturating(now->start_time[shown->threads[k]], NS_PER_TICK);
		uint64_t age = now->provenance.boottime_ns > start ? now->provenance.boottime_ns - start : 0;

		if (now->provenance.boottime_ns == 0)
			continue; /* a file that does not say when it was taken since boot */
		accumulator->read++;
		if (age > accumulator->present)
			accumulator->present = age;
	}
}

static void add_smaps(const struct snapshot *now, uint32_t thread, enum smaps_key key,
		      struct accumulator *accumulator)
{
	const struct smaps_record *record = snapshot_find_smaps(now, thread);
	reason_id reason;

	for (uint32_t i = 0; record != NULL && i < record->kib.count; i++) {
		if (strcmp(snapshot_text(now, record->kib.items[i].key), smaps_key_names[key]) != 0)
			continue;
		accumulator->sum.first += (double)record->kib.items[i].value * 1024.0;
		accumulator->read++;
		return;
	}
	if (!now->provenance.present)
		return;
	reason = now->source_reason[SOURCE_SMAPS_ROLLUP] != NULL
			 ? now->source_reason[SOURCE_SMAPS_ROLLUP][thread]
			 : now->default_reason[SOURCE_SMAPS_ROLLUP];
	if (reason != REASON_READ)
		accumulator_miss(accumulator, reason);
}

/* The memory of a process counts where its leader is; its other threads have none of their own. */
static void reduce_smaps(const struct shown *shown, const struct column_values *values, enum smaps_key key)
{
	const struct snapshot *now = shown->now;

	for (size_t k = 0; k < shown->count; k++) {
		uint32_t thread = shown->threads[k];

		if (now->tid[thread] == now->tgid[thread] && !(now->thread_flags[thread] & THREAD_KERNEL))
			add_smaps(now, thread, key, accumulator_of(values, shown->row_of[k]));
	}
}

/* --- how long waits took --- */

reason_id reduce_latency_missing(const struct span *span)
{
	const struct feature_result *feature = &span->now->provenance.features[FEATURE_LATENCY];

	if (span->missing == REASON_NOT_IN_FILE)
		return REASON_NOT_IN_FILE;
	return feature->state == FEATURE_STATE_OFF ? (reason_id)feature->reason : REASON_SWITCHED_OFF;
}

static bool has_latency(const struct span *span, const struct shown *shown)
{
	return span->latency != NULL && span->latency->span_ns != 0 && shown->latency_row_of != NULL;
}

bool reduce_latency_row(const struct span *span, const struct shown *shown, size_t row,
			enum latency_kind kind, struct latency_histogram *ret_histogram)
{
	*ret_histogram = (struct latency_histogram){0};
	if (!has_latency(span, shown))
		return false;
	for (size_t i = 0; i < span->latency->count; i++) {
		if (shown->latency_row_of[i] == row)
			latency_merge(ret_histogram, &span->latency->records[i].of[kind]);
	}
	return true;
}

static double latency_value(const struct latency_histogram *histogram, enum latency_field field)
{
	switch (field) {
	case LATENCY_FIELD_COUNT:
		return (double)latency_count(histogram);
	case LATENCY_FIELD_P50:
		return latency_percentile(histogram, 0.5);
	case LATENCY_FIELD_P99:
		return latency_percentile(histogram, 0.99);
	case LATENCY_FIELD_MAX:
		return (double)histogram->max_ns;
	}
	return 0;
}

/* Where there was no wait there is no percentile either. */
static void reduce_latency(const struct span *span, const struct shown *shown,
			   const struct column_values *values)
{
	const struct column_entry *entry = column_entry(values->column);
	const enum latency_field field = (enum latency_field)entry->inputs[1];
	const bool as_rate = field == LATENCY_FIELD_COUNT && values->mode == VIEW_MODE_RATE;
	struct latency_histogram *histograms;

	if (shown->by_thread)
		return;
	for (size_t row = 0; !has_latency(span, shown) && row < shown->row_count; row++)
		accumulator_miss(accumulator_of(values, row), reduce_latency_missing(span));
	if (!has_latency(span, shown))
		return;
	histograms = memory_allocate_zero(shown->row_count + 1, sizeof(*histograms));
	for (size_t i = 0; i < span->latency->count; i++) {
		if (shown->latency_row_of[i] != UINT32_MAX)
			latency_merge(&histograms[shown->latency_row_of[i]],
				      &span->latency->records[i].of[entry->inputs[0]]);
	}
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = accumulator_of(values, row);

		if (field != LATENCY_FIELD_COUNT && latency_count(&histograms[row]) == 0)
			continue;
		accumulator->read++;
		accumulator->sum.first = latency_value(&histograms[row], field);
		if (as_rate)
			accumulator->sum.first *= 1e9 / (double)span->latency->span_ns;
	}
	free(histograms);
}

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
		.whole = column >= COLUMN_DERIVED,
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
		reduce_waits(span, shown, ret_values, add_stuck_loss);
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
		reduce_waits(span, shown, ret_values, add_stuck);
		break;
	case COLUMN_OPERATION_WAITING:
	case COLUMN_OPERATION_LONG:
		reduce_waits(span, shown, ret_values, add_waiting);
		break;
	case COLUMN_OPERATION_AGE:
		reduce_age(shown, ret_values);
		break;
	case COLUMN_OPERATION_BAR:
		reduce_bar(span, shown, ret_values, entry->inputs);
		break;
	case COLUMN_OPERATION_SMAPS:
		reduce_smaps(shown, ret_values, (enum smaps_key)entry->inputs[0]);
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
	}
}
