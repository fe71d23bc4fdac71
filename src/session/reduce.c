/* SPDX-License-Identifier: GPL-2.0-only */
/* A column's values reduced to one accumulator a row. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "view/column_table.h"

/* Everything a reducer needs. */
struct column_reduction {
	struct span span;
	const struct shown *shown;
	enum column column;
	struct accumulator *accumulators;
	size_t stride;
};

static const char *const smaps_key_names[SMAPS_KEY_COUNT] = {"Rss", "Pss", "Swap"};

static struct accumulator *accumulator_of(const struct column_reduction *reduction, size_t row)
{
	return &reduction->accumulators[row * reduction->stride];
}

static bool counts_ended(const struct column_reduction *reduction)
{
	return reduction->span.ended != NULL && reduction->shown->ended_row_of != NULL;
}

/* --- sums of counters --- */

/* One or more series of the same threads, in one block of memory. */
struct series_set {
	struct series series[COLUMN_INPUTS_MAX];
	size_t count;
};

static void series_set_allocate(struct series_set *set, size_t count, size_t length)
{
	double *values = memory_allocate(count * (length + 1) * (sizeof(double) + sizeof(uint16_t)));
	uint16_t *states = (uint16_t *)(values + count * (length + 1));

	set->count = count;
	for (size_t i = 0; i < count; i++)
		set->series[i] = (struct series){values + i * (length + 1), states + i * (length + 1)};
}

static void series_set_release(struct series_set *set)
{
	free(set->series[0].values);
}

/* What is added up: all inputs, or the last two as the larger of them. */
struct sum {
	const int *inputs;
	size_t count;
	bool overlap;
	bool whole; /* a thread with an input that is missing does not count: a derived metric */
	bool as_rate;
};

/* Adds one thread: what is available of it. */
static void add_thread(const struct series_set *set, size_t k, const struct sum *which,
		       struct accumulator *accumulator)
{
	size_t plain = which->overlap ? set->count - 2 : set->count;
	double sum = 0.0, largest = 0.0;
	uint16_t reason = REASON_READ;
	bool read = false;

	for (size_t i = 0; i < set->count; i++) {
		uint16_t state = set->series[i].states[k];
		double value = set->series[i].values[k];

		if (state == REASON_READ) {
			read = true;
			if (i < plain)
				sum += value;
			else if (value > largest)
				largest = value;
		} else if (state != SERIES_ABSENT && reason == REASON_READ) {
			reason = state;
		}
	}
	if (read && (reason == REASON_READ || !which->whole)) {
		accumulator->sum.first += sum + largest;
		accumulator->read++;
		accumulator->partial |= reason != REASON_READ;
	} else if (reason != REASON_READ) {
		accumulator_miss(accumulator, reason);
	}
}

/* Adds what ended threads of a triple did. */
static void add_ended(const struct ended_record *record, const struct sum *sum,
		      struct accumulator *accumulator)
{
	size_t plain = sum->overlap ? sum->count - 2 : sum->count;
	bool read = false, missed = false;
	double amount = 0.0;

	for (size_t i = 0; i < plain + sum->overlap; i++) {
		enum metric metric = (enum metric)sum->inputs[i];
		size_t slot = i < plain ? (size_t)metric : ENDED_SLOT_OVERLAP;
		double scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1;

		amount += (double)record->amounts[slot] * scale;
		read |= (record->states[slot] & ENDED_COUNTED) != 0;
		missed |= (record->states[slot] & ENDED_MISSED) != 0;
	}
	if (read && !(missed && sum->whole)) {
		accumulator->sum.first += amount;
		accumulator->read++;
		accumulator->partial |= missed;
	} else if (missed) {
		accumulator_miss(accumulator, REASON_ENDED);
	}
}

static void reduce_sum(const struct column_reduction *reduction, const struct sum *sum, size_t offset)
{
	const struct shown *shown = reduction->shown;
	const struct ended *ended = reduction->span.ended;
	struct series_set set;

	series_set_allocate(&set, sum->count, shown->count);
	for (size_t i = 0; i < sum->count; i++)
		span_fill(&reduction->span, shown->threads, shown->count, (enum metric)sum->inputs[i],
			  sum->as_rate, &set.series[i]);
	for (size_t k = 0; k < shown->count; k++)
		add_thread(&set, k, sum, accumulator_of(reduction, shown->row_of[k]) + offset);
	series_set_release(&set);
	for (size_t i = 0; !sum->as_rate && counts_ended(reduction) && i < ended->count; i++) {
		if (shown->ended_row_of[i] != UINT32_MAX)
			add_ended(&ended->records[i], sum,
				  accumulator_of(reduction, shown->ended_row_of[i]) + offset);
	}
}

/* --- ratios --- */

static void add_ratio(struct accumulator *accumulator, const uint16_t states[2], const double values[2])
{
	if (states[0] == REASON_READ && states[1] == REASON_READ) {
		accumulator->sum.first += values[0];
		accumulator->sum.second += values[1];
		accumulator->read++;
		return;
	}
	if (states[0] == SERIES_ABSENT && states[1] == SERIES_ABSENT)
		return;
	/* one input is there and the other is not: the sums would be of different threads */
	accumulator->differs |= states[0] == REASON_READ || states[1] == REASON_READ;
	for (size_t i = 0; i < 2; i++) {
		if (states[i] != REASON_READ && states[i] != SERIES_ABSENT) {
			accumulator_miss(accumulator, states[i]);
			return;
		}
	}
}

static void add_ended_ratios(const struct column_reduction *reduction, const struct column_entry *entry)
{
	const struct ended *ended = reduction->span.ended;

	for (size_t r = 0; r < ended->count; r++) {
		const struct ended_record *record = &ended->records[r];
		uint16_t states[2];
		double values[2];

		if (reduction->shown->ended_row_of[r] == UINT32_MAX)
			continue;
		for (size_t i = 0; i < 2; i++) {
			size_t slot = (size_t)entry->inputs[i];

			values[i] = (double)record->amounts[slot];
			states[i] = (record->states[slot] & ENDED_MISSED)    ? REASON_ENDED
				    : (record->states[slot] & ENDED_COUNTED) ? REASON_READ
									     : SERIES_ABSENT;
		}
		add_ratio(accumulator_of(reduction, reduction->shown->ended_row_of[r]), states, values);
	}
}

static void reduce_ratio(const struct column_reduction *reduction, const struct column_entry *entry)
{
	const struct shown *shown = reduction->shown;
	struct series_set set;

	series_set_allocate(&set, 2, shown->count);
	for (size_t i = 0; i < 2; i++)
		span_fill(&reduction->span, shown->threads, shown->count, (enum metric)entry->inputs[i],
			  false, &set.series[i]);
	for (size_t k = 0; k < shown->count; k++) {
		uint16_t states[2] = {set.series[0].states[k], set.series[1].states[k]};
		double values[2] = {set.series[0].values[k], set.series[1].values[k]};

		add_ratio(accumulator_of(reduction, shown->row_of[k]), states, values);
	}
	series_set_release(&set);
	if (counts_ended(reduction))
		add_ended_ratios(reduction, entry);
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
	return other != THREAD_UNKNOWN &&
	       snapshot_value_state(span->from, other, metric, false, NULL) == VALUE_READ &&
	       value > snapshot_value(span->from, other, metric);
}

static void add_largest(const struct column_reduction *reduction, struct accumulator *accumulator,
			uint32_t thread, enum metric metric, uint64_t value)
{
	bool first = accumulator->read == 0;

	if (!first && value < accumulator->present.value)
		return;
	if (first || value > accumulator->present.value)
		accumulator->rose = false;
	accumulator->present.value = value;
	if (metric_type(metric)->kind == METRIC_KIND_PEAK)
		accumulator->rose |= has_risen(&reduction->span, thread, metric, value);
}

static void add_range(struct accumulator *accumulator, int64_t low, int64_t high)
{
	if (accumulator->read == 0 || low < accumulator->range.low)
		accumulator->range.low = low;
	if (accumulator->read == 0 || high > accumulator->range.high)
		accumulator->range.high = high;
}

/* The first value, and whether another one follows. */
static void add_category(struct accumulator *accumulator, uint64_t value)
{
	if (accumulator->read == 0)
		accumulator->present.value = value;
	accumulator->differs |= value != accumulator->present.value;
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

/* Finds the commonest value of the rows whose threads do not agree. */
static void elect_categories(const struct column_reduction *reduction, enum metric metric)
{
	const struct shown *shown = reduction->shown;
	const struct snapshot *now = reduction->span.now;
	struct row_value *pairs = memory_allocate((shown->count + 1) * sizeof(*pairs));
	size_t count = 0, most = 0;
	uint32_t row = UINT32_MAX;

	for (size_t k = 0; k < shown->count; k++) {
		uint32_t thread = shown->threads[k];

		if (accumulator_of(reduction, shown->row_of[k])->differs &&
		    snapshot_value_state(now, thread, metric, false, NULL) == VALUE_READ)
			pairs[count++] = (struct row_value){shown->row_of[k],
							    snapshot_value(now, thread, metric)};
	}
	qsort(pairs, count, sizeof(*pairs), compare_row_values);
	for (size_t i = 0, run; i < count; i += run) {
		struct accumulator *accumulator = accumulator_of(reduction, pairs[i].row);

		for (run = 1; i + run < count && compare_row_values(&pairs[i], &pairs[i + run]) == 0;)
			run++;
		if (pairs[i].row != row)
			most = 0;
		row = pairs[i].row;
		if (run > most ||
		    (run == most && comes_first(now, metric, pairs[i].value, accumulator->present.value))) {
			most = run;
			accumulator->present.value = pairs[i].value;
		}
	}
	free(pairs);
}

static void add_set(const struct snapshot *now, struct accumulator *accumulator, uint64_t set)
{
	int64_t count = (int64_t)cpu_set_count(&now->cpu_sets, (uint32_t)set);

	add_range(accumulator, count, count);
}

static void reduce_present(const struct column_reduction *reduction, enum metric metric)
{
	const struct shown *shown = reduction->shown;
	const struct snapshot *now = reduction->span.now;
	enum metric_reduction kind = metric_type(metric)->reduction;
	uint64_t *first_sets = NULL;

	if (kind == METRIC_REDUCTION_AFFINITY)
		first_sets = memory_allocate_zero(shown->row_count + 1, sizeof(*first_sets));
	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = accumulator_of(reduction, shown->row_of[k]);
		uint32_t thread = shown->threads[k];
		uint64_t value = snapshot_value(now, thread, metric);
		reason_id reason;
		enum value_state state = snapshot_value_state(now, thread, metric, false, &reason);

		if (state == VALUE_UNAVAILABLE)
			accumulator_miss(accumulator, reason);
		if (state != VALUE_READ)
			continue;
		switch (kind) {
		case METRIC_REDUCTION_RANGE:
			add_range(accumulator, (int64_t)value, (int64_t)value);
			break;
		case METRIC_REDUCTION_MODE:
			add_category(accumulator, value);
			break;
		case METRIC_REDUCTION_AFFINITY:
			if (accumulator->read == 0)
				first_sets[shown->row_of[k]] = value;
			accumulator->differs |= first_sets[shown->row_of[k]] != value;
			add_set(now, accumulator, value);
			break;
		default:
			add_largest(reduction, accumulator, thread, metric, value);
			break;
		}
		accumulator->read++;
	}
	if (kind == METRIC_REDUCTION_MODE)
		elect_categories(reduction, metric);
	free(first_sets);
}

/* The same over the lives of the threads; what ended threads did since the base is no part of it. */
static struct column_reduction over_life(const struct column_reduction *reduction)
{
	struct column_reduction life = *reduction;

	life.span = span_of_life(&reduction->span);
	return life;
}

/* first - second as they are now: signed, since threads free what others allocated. */
static void reduce_difference(const struct column_reduction *reduction, const struct column_entry *entry)
{
	struct column_reduction life = over_life(reduction);

	reduce_ratio(&life, entry);
}

/* What living threads counted since they started, whatever the span of the view. */
static void reduce_lifetime(const struct column_reduction *reduction, const struct column_entry *entry)
{
	struct sum sum = {.inputs = entry->inputs, .count = entry->input_count};
	struct column_reduction life = over_life(reduction);

	reduce_sum(&life, &sum, 0);
}

/* --- what is no metric --- */

static void reduce_stuck(const struct column_reduction *reduction)
{
	const struct shown *shown = reduction->shown;
	const uint64_t *stuck_ns = reduction->span.now->stuck_ns;

	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = accumulator_of(reduction, shown->row_of[k]);
		uint64_t stuck;

		if (stuck_ns == NULL) {
			accumulator_miss(accumulator, reduction->span.missing);
			continue;
		}
		stuck = stuck_ns[shown->threads[k]];
		accumulator->read++;
		accumulator->present.value += shown->by_thread ? stuck : stuck != 0;
	}
}

/* What stuck threads lost, for sorting: the whole time of each. */
static void add_stuck_losses(const struct column_reduction *reduction)
{
	const struct shown *shown = reduction->shown;
	const struct snapshot *now = reduction->span.now;

	for (size_t k = 0; now->stuck_ns != NULL && k < shown->count; k++) {
		uint64_t stuck = now->stuck_ns[shown->threads[k]];

		if (stuck != 0)
			accumulator_of(reduction, shown->row_of[k])->sum.second +=
				reduction->span.mode == VIEW_MODE_RATE ? 1e9 : (double)stuck;
	}
}

static void reduce_age(const struct column_reduction *reduction)
{
	const struct shown *shown = reduction->shown;
	const struct snapshot *now = reduction->span.now;

	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = accumulator_of(reduction, shown->row_of[k]);
		uint64_t start = number_multiply_saturating(now->start_time[shown->threads[k]], NS_PER_TICK);
		uint64_t age = now->provenance.boottime_ns > start ? now->provenance.boottime_ns - start : 0;

		if (now->provenance.boottime_ns == 0)
			continue; /* a file that does not say when it was taken since boot */
		accumulator->read++;
		if (age > accumulator->present.value)
			accumulator->present.value = age;
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
static void reduce_smaps(const struct column_reduction *reduction, enum smaps_key key)
{
	const struct shown *shown = reduction->shown;
	const struct snapshot *now = reduction->span.now;

	for (size_t k = 0; k < shown->count; k++) {
		uint32_t thread = shown->threads[k];

		if (now->tid[thread] == now->tgid[thread] && !(now->thread_flags[thread] & THREAD_KERNEL))
			add_smaps(now, thread, key, accumulator_of(reduction, shown->row_of[k]));
	}
}

/* Inputs of BAR, in the order of its shares. */
static void reduce_bar(const struct column_reduction *reduction, const struct column_entry *entry)
{
	static const struct {
		size_t from, count;
		bool overlap;
	} shares[] = {{0, 1, false}, {1, 1, false}, {2, 1, false}, {3, 5, true}, {8, 1, false}};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct sum sum = {
			.inputs = entry->inputs + shares[i].from,
			.count = shares[i].count,
			.overlap = shares[i].overlap,
			.as_rate = true,
		};

		reduce_sum(reduction, &sum, i);
	}
}

static void reduce(const struct column_reduction *reduction, const struct column_entry *entry)
{
	bool overlap = entry->operation != COLUMN_OPERATION_SUM;
	struct sum sum = {
		.inputs = entry->inputs,
		.count = entry->input_count,
		.overlap = overlap,
		.whole = reduction->column >= COLUMN_DERIVED,
		.as_rate = reduction->span.mode == VIEW_MODE_RATE,
	};

	switch (entry->operation) {
	case COLUMN_OPERATION_THREADS:
	case COLUMN_OPERATION_CGROUP:
	case COLUMN_OPERATION_HEAP:
	case COLUMN_OPERATION_NET:
		break;
	case COLUMN_OPERATION_LIFETIME:
		reduce_lifetime(reduction, entry);
		break;
	case COLUMN_OPERATION_LOST:
		add_stuck_losses(reduction);
		reduce_sum(reduction, &sum, 0);
		break;
	case COLUMN_OPERATION_SUM:
	case COLUMN_OPERATION_SUM_WITH_LARGEST:
		reduce_sum(reduction, &sum, 0);
		break;
	case COLUMN_OPERATION_QUOTIENT:
	case COLUMN_OPERATION_SHARE:
		reduce_ratio(reduction, entry);
		break;
	case COLUMN_OPERATION_DIFFERENCE:
		reduce_difference(reduction, entry);
		break;
	case COLUMN_OPERATION_PRESENT:
		reduce_present(reduction, (enum metric)entry->inputs[0]);
		break;
	case COLUMN_OPERATION_STUCK:
		reduce_stuck(reduction);
		break;
	case COLUMN_OPERATION_AGE:
		reduce_age(reduction);
		break;
	case COLUMN_OPERATION_BAR:
		reduce_bar(reduction, entry);
		break;
	case COLUMN_OPERATION_SMAPS:
		reduce_smaps(reduction, (enum smaps_key)entry->inputs[0]);
		break;
	}
}

void reduce_column(const struct span *span, const struct shown *shown, enum column column,
		   struct column_values *ret_values)
{
	const struct column_entry *entry = column_entry(column);
	struct column_reduction reduction = {
		.span = *span,
		.shown = shown,
		.column = column,
		.stride = entry->operation == COLUMN_OPERATION_BAR ? CELL_BAR_SHARES : 1,
	};

	reduction.accumulators = memory_allocate_zero((shown->row_count + 1) * reduction.stride,
						      sizeof(struct accumulator));
	*ret_values = (struct column_values){
		.column = column,
		.mode = span->mode,
		.accumulators = reduction.accumulators,
		.stride = reduction.stride,
	};
	if (entry->operation == COLUMN_OPERATION_CGROUP)
		reduce_cgroup(span, shown, ret_values);
	else if (entry->operation == COLUMN_OPERATION_HEAP)
		reduce_heap(span, shown, ret_values);
	else if (entry->operation == COLUMN_OPERATION_NET)
		reduce_net(span, shown, ret_values);
	else
		reduce(&reduction, entry);
}
