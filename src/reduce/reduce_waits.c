/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits: how long the present ones have lasted, and how long those of a span took. */
#include "reduce.h"

#include <stdlib.h>

#include "base/memory.h"
#include "view/column_table.h"

/* --- present waits --- */

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

/* Why it is only known that the present wait of a thread has lasted so long at least, or REASON_READ. */
static reason_id bound_of_wait(const struct snapshot *now, uint32_t thread)
{
	if (now->waiting_ns == NULL)
		return REASON_OTHER_BACKEND;
	return (now->thread_flags[thread] & THREAD_WAIT_AT_LEAST) != 0 ? REASON_LOWER_BOUND : REASON_READ;
}

static void add_bound(struct accumulator *accumulator, reason_id bound)
{
	if (bound == REASON_READ)
		return;
	accumulator->partial = true;
	accumulator->reason = bound;
}

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
	if (work->by_thread && stuck_ns[thread] != 0)
		add_bound(accumulator, bound_of_wait(work->span->now, thread));
}

/* How long the present wait of a thread has lasted. */
struct present_wait {
	uint64_t ns;
	reason_id bound;  /* of bound_of_wait() */
	reason_id reason; /* why it is not known, or REASON_READ */
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
		wait.reason = REASON_READ;
		if (for_cpu_or_d || with_sleep)
			wait = (struct present_wait){.ns = now->waiting_ns[thread],
						     .bound = bound_of_wait(now, thread)};
	} else if (now->stuck_ns == NULL) {
		return wait;
	} else if (metric_reader_state(states, thread, &unread) != VALUE_READ) {
		wait.reason = unread;
	} else if (for_cpu_or_d && now->stuck_ns[thread] != 0) {
		wait = (struct present_wait){.ns = now->stuck_ns[thread],
					     .bound = bound_of_wait(now, thread)};
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
	if (!(work->count_long && is_long))
		add_bound(accumulator, wait.bound);
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

void reduce_waits(const struct span *span, const struct shown *shown, const struct column_values *values)
{
	const enum column_operation operation = column_entry(values->column)->operation;
	const struct snapshot *now = span->now, *from = span->from;
	const bool still = sleeps_where_still(span, shown);
	struct waits_work work = {
		.span = span,
		.states = metric_reader_of(now, METRIC_STATE),
		.by_thread = shown->by_thread,
		.count_long = operation == COLUMN_OPERATION_LONG,
		.exact = span_knows_waits(span) && (from != NULL || span->mode == VIEW_MODE_TOTAL),
	};

	if (work.exact && from != NULL && now->provenance.boottime_ns > from->provenance.boottime_ns)
		work.elapsed = (double)(now->provenance.boottime_ns - from->provenance.boottime_ns);
	if (operation == COLUMN_OPERATION_LOST)
		reduce_add_threads(shown, values->accumulators, values->stride, still, add_stuck_loss, &work);
	else if (operation == COLUMN_OPERATION_STUCK)
		reduce_add_threads(shown, values->accumulators, values->stride, still, add_stuck, &work);
	else
		reduce_add_threads(shown, values->accumulators, values->stride, still, add_waiting, &work);
}

/* --- how long waits took --- */

reason_id reduce_latency_missing(const struct span *span, const struct shown *shown)
{
	const struct feature_result *feature = &span->now->provenance.features[FEATURE_LATENCY];

	if (span->missing == REASON_NOT_IN_FILE)
		return REASON_NOT_IN_FILE;
	if (shown->behind_names && span->latency != NULL && span->latency->span_ns != 0)
		return REASON_BY_NAME;
	if (span->latency == NULL && span->now->latency.present)
		return REASON_NOT_READ; /* of another time */
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

uint64_t reduce_latency_unknown(const struct span *span, const struct shown *shown, size_t row,
				enum latency_kind kind)
{
	const uint32_t other = shown->latency_other;

	if (!has_latency(span, shown) || other == UINT32_MAX || shown->latency_row_of[other] == row)
		return 0;
	return latency_count(&span->latency->records[other].of[kind]);
}

static double latency_value(const struct latency_histogram *histogram, enum latency_field field,
			    uint64_t unknown)
{
	switch (field) {
	case LATENCY_FIELD_COUNT:
		return (double)latency_count(histogram);
	case LATENCY_FIELD_P50:
		return latency_percentile_at_least(histogram, 0.5, unknown);
	case LATENCY_FIELD_P99:
		return latency_percentile_at_least(histogram, 0.99, unknown);
	case LATENCY_FIELD_MAX:
		return (double)histogram->max_ns;
	}
	return 0;
}

/* Adds what is known of a row. Where there was no wait there is no percentile either. */
static void add_latency(struct accumulator *accumulator, const struct latency_histogram *histogram,
			enum latency_field field, uint64_t unknown)
{
	const double value = latency_value(histogram, field, unknown);

	if (unknown != 0)
		accumulator_miss(accumulator, REASON_UNDER_OTHER);
	/* at least nothing is no more than nothing known */
	if (unknown != 0 ? value > 0 : field == LATENCY_FIELD_COUNT || latency_count(histogram) != 0) {
		accumulator->read++;
		accumulator->sum.first = value;
	}
}

void reduce_latency(const struct span *span, const struct shown *shown, const struct column_values *values)
{
	const struct column_entry *entry = column_entry(values->column);
	const enum latency_kind kind = (enum latency_kind)entry->inputs[0];
	const enum latency_field field = (enum latency_field)entry->inputs[1];
	const bool as_rate = field == LATENCY_FIELD_COUNT && values->mode == VIEW_MODE_RATE;
	struct latency_histogram *histograms;

	if (shown->by_thread)
		return;
	for (size_t row = 0; !has_latency(span, shown) && row < shown->row_count; row++)
		accumulator_miss(reduce_accumulator(values, row), reduce_latency_missing(span, shown));
	if (!has_latency(span, shown))
		return;
	histograms = memory_allocate_zero(shown->row_count + 1, sizeof(*histograms));
	for (size_t i = 0; i < span->latency->count; i++) {
		if (shown->latency_row_of[i] != UINT32_MAX)
			latency_merge(&histograms[shown->latency_row_of[i]],
				      &span->latency->records[i].of[kind]);
	}
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reduce_accumulator(values, row);

		add_latency(accumulator, &histograms[row], field,
			    reduce_latency_unknown(span, shown, row, kind));
		if (as_rate)
			accumulator->sum.first *= 1e9 / (double)span->latency->span_ns;
	}
	free(histograms);
}
