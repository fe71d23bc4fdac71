/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads have now: metrics that are no counters, their age, the memory of their process. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "view/column_table.h"

static const char *const smaps_key_names[SMAPS_KEY_COUNT] = {"Rss", "Pss", "Swap"};

/* --- metrics --- */

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
		if (reduce_accumulator(values, row)->differs)
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

		if (reduce_accumulator(values, shown->row_of[k])->differs &&
		    snapshot_value_state(now, thread, metric, false, NULL) == VALUE_READ)
			pairs[count++] = (struct row_value){shown->row_of[k],
							    snapshot_value(now, thread, metric)};
	}
	qsort(pairs, count, sizeof(*pairs), compare_row_values);
	for (size_t i = 0, run; i < count; i += run) {
		struct accumulator *accumulator = reduce_accumulator(values, pairs[i].row);

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

void reduce_present(const struct span *span, const struct shown *shown, const struct column_values *values,
		    enum metric metric)
{
	const struct snapshot *now = shown->now;
	const struct metric_reader reader = metric_reader_of(now, metric);
	enum metric_reduction kind = metric_type(metric)->reduction;
	uint64_t *first_sets = NULL, set = 0;
	int64_t cpus = 0; /* in `set` */

	if (kind == METRIC_REDUCTION_AFFINITY)
		first_sets = memory_allocate_zero(shown->row_count + 1, sizeof(*first_sets));
	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = reduce_accumulator(values, shown->row_of[k]);
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

void reduce_age(const struct shown *shown, const struct column_values *values)
{
	const struct snapshot *now = shown->now;

	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = reduce_accumulator(values, shown->row_of[k]);
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

static void add_all_smaps(const struct shown *shown, const struct column_values *values, enum smaps_key key)
{
	const struct snapshot *now = shown->now;

	for (size_t k = 0; k < shown->count; k++) {
		uint32_t thread = shown->threads[k];

		if (now->tid[thread] == now->tgid[thread] && !(now->thread_flags[thread] & THREAD_KERNEL))
			add_smaps(now, thread, key, reduce_accumulator(values, shown->row_of[k]));
	}
}

void reduce_smaps(const struct shown *shown, const struct column_values *values)
{
	add_all_smaps(shown, values, (enum smaps_key)column_entry(values->column)->inputs[0]);
}

/* How much of it a process had when the span began; SPAN_ABSENT for a thread that has none of its own. */
static uint16_t resident_before(const struct span *span, uint32_t thread, size_t *hint, uint64_t *ret_bytes)
{
	const struct snapshot *now = span->now;
	const struct resident_record *record;

	*ret_bytes = 0;
	if (span->mode == VIEW_MODE_TOTAL)
		return REASON_READ;
	if (span->from == NULL)
		return span->missing;
	if (span->from->resident_missing != REASON_READ)
		return span->from->resident_missing;
	record = snapshot_find_resident(span->from, now->tgid[thread], now->start_time[thread], hint);
	if (record != NULL)
		*ret_bytes = record->bytes;
	/* of what was there already and has no record nobody knows what it had */
	else if (span->from_of[thread] != THREAD_BORN)
		return REASON_NOT_READ;
	return REASON_READ;
}

static void add_ended_resident(const struct span *span, const struct shown *shown,
			       const struct column_values *values, double scale)
{
	for (size_t i = 0; i < reduce_ended_count(span, shown); i++) {
		const struct ended_record *record = &span->ended->records[i];

		if (shown->ended_row_of[i] == UINT32_MAX || record->states[ENDED_SLOT_RESIDENT] == 0)
			continue;
		reduce_accumulator(values, shown->ended_row_of[i])->sum.second +=
			(double)record->amounts[ENDED_SLOT_RESIDENT] * scale;
		reduce_accumulator(values, shown->ended_row_of[i])->read++;
	}
}

void reduce_resident(const struct span *span, const struct shown *shown, const struct column_values *values,
		     bool growth)
{
	const struct snapshot *now = shown->now;
	const double scale = reduce_scale(span, growth && span->mode == VIEW_MODE_RATE);
	size_t hint = 0, hint_before = 0;

	if (!growth && now->resident_missing != REASON_READ) {
		add_all_smaps(shown, values, SMAPS_KEY_RSS);
		return;
	}
	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = reduce_accumulator(values, shown->row_of[k]);
		const uint32_t thread = shown->threads[k];
		uint64_t bytes = 0, before = 0;
		reason_id reason = REASON_READ;
		const enum value_state state = snapshot_resident(now, thread, &hint, &bytes, &reason);
		uint16_t missing = reason;

		if (state == VALUE_ABSENT)
			continue;
		if (state == VALUE_READ && growth)
			missing = resident_before(span, thread, &hint_before, &before);
		if (missing != REASON_READ) {
			accumulator_miss(accumulator, missing);
			continue;
		}
		accumulator->sum.first += (double)bytes * scale;
		accumulator->sum.second += (double)before * scale;
		accumulator->read++;
	}
	if (growth)
		add_ended_resident(span, shown, values, scale);
}
