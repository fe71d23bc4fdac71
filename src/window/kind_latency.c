/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait latency, which is measured by names and process: for groups, not for threads. */
#include "kind.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

reason_id reducer_latency_missing(const struct window *window)
{
	const struct feature_result *feature = &window->now->provenance.features[FEATURE_LATENCY];

	if (window->missing == REASON_NOT_IN_FILE)
		return REASON_NOT_IN_FILE;
	if (window->latency == NULL && window->now->latency.present)
		return REASON_NOT_READ; /* of another time */
	return feature->state == FEATURE_STATE_OFF ? (reason_id)feature->reason : REASON_SWITCHED_OFF;
}

bool reducer_has_latency(const struct window *window, const struct shown *shown)
{
	return window->latency != NULL && window->latency->span_ns != 0 &&
	       (shown == NULL || shown->latency_row_of != NULL || shown->latency_rows != NULL);
}

/* What is counted of each row. */
struct measure {
	const struct latency *latency;
	enum latency_kind kind;
	enum wait_class class;            /* WAIT_CLASS_UNKNOWN: waits of that kind; else the time in it */
	uint64_t *amounts;                /* by record: waits, or ns, that are in no row yet */
	struct row_time *rows;            /* known and unknown: numbers of waits, or ns */
	struct latency_histogram *of_row; /* the known waits; NULL when time is counted */
};

static void add_known(const struct measure *measure, uint32_t row, uint64_t amount,
		      const struct latency_waits *waits)
{
	measure->rows[row].known = number_add_saturating(measure->rows[row].known, amount);
	if (measure->of_row != NULL)
		latency_merge(&measure->of_row[row], &waits->of[measure->kind]);
}

static void add_unknown(const struct measure *measure, uint32_t row, uint64_t amount, reason_id reason)
{
	struct row_time *time = &measure->rows[row];

	if (amount == 0)
		return;
	time->unknown = number_add_saturating(time->unknown, amount);
	time->reason = reason;
}

/* Adds what is of a known process, to its row. */
static void add_part(const struct measure *measure, const struct shown *shown, uint32_t record, uint32_t pid,
		     uint64_t amount, const struct latency_waits *waits)
{
	uint64_t *rest = &measure->amounts[record];
	bool unsure;
	const uint32_t row = latency_rows_find(shown->latency_rows, record, pid, &unsure);

	*rest -= amount < *rest ? amount : *rest;
	if (row != UINT32_MAX && unsure)
		add_unknown(measure, row, amount, REASON_BY_NAME);
	else if (row != UINT32_MAX)
		add_known(measure, row, amount, waits);
}

static void add_parts(const struct measure *measure, const struct shown *shown)
{
	const struct latency *latency = measure->latency;
	const struct latency_row_record *pairs;
	size_t count;

	for (size_t i = 0; measure->of_row != NULL && i < latency->share_count; i++) {
		const struct latency_share *share = &latency->shares[i];
		add_part(measure, shown, share->record, share->pid,
			 latency_count(&share->waits.of[measure->kind]), &share->waits);
	}
	for (size_t i = 0; measure->of_row == NULL && i < latency->time_count; i++) {
		const struct latency_time *time = &latency->times[i];

		if (time->class == measure->class && time->pid != LATENCY_PROCESS_UNKNOWN)
			add_part(measure, shown, time->record, time->pid, time->time_ns, NULL);
	}
	pairs = latency_rows_records(shown->latency_rows, &count);
	for (size_t i = 0; i < count; i++) {
		if (pairs[i].record < latency->count && pairs[i].record != shown->latency_other)
			add_unknown(measure, pairs[i].row, measure->amounts[pairs[i].record], REASON_BY_NAME);
	}
}

/* Adds what is of names that only one row has, or that any may have. */
static void add_records(const struct measure *measure, const struct shown *shown)
{
	const uint32_t *row_of = shown->latency_row_of, other = shown->latency_other;

	for (size_t i = 0; row_of != NULL && i < measure->latency->count; i++) {
		if (row_of[i] != UINT32_MAX)
			add_known(measure, row_of[i], measure->amounts[i],
				  latency_waits_of(measure->latency, i));
	}
	if (other == UINT32_MAX)
		return;
	for (uint32_t row = 0; row < shown->row_count; row++) {
		if (row != shown->latency_other_row)
			add_unknown(measure, row, measure->amounts[other], REASON_UNDER_OTHER);
		else if (row_of == NULL)
			add_known(measure, row, measure->amounts[other],
				  latency_waits_of(measure->latency, other));
	}
}

static void measure_rows(const struct window *window, const struct shown *shown, struct measure *measure)
{
	const struct latency *latency = window->latency;

	measure->latency = latency;
	measure->rows = memory_allocate_zero(shown->row_count + 1, sizeof(*measure->rows));
	measure->amounts = memory_allocate_zero(latency->count + 1, sizeof(*measure->amounts));
	for (size_t i = 0; measure->of_row != NULL && i < latency->count; i++)
		measure->amounts[i] = latency_count(&latency_waits_of(latency, i)->of[measure->kind]);
	for (size_t i = 0; measure->of_row == NULL && i < latency->time_count; i++) {
		uint64_t *amount = &measure->amounts[latency->times[i].record];

		if (latency->times[i].class == measure->class)
			*amount = number_add_saturating(*amount, latency->times[i].time_ns);
	}
	add_records(measure, shown);
	if (shown->latency_rows != NULL)
		add_parts(measure, shown);
	free(measure->amounts);
}

struct row_waits *reduce_waits(const struct window *window, const struct shown *shown, enum latency_kind kind)
{
	struct measure measure = {.kind = kind};
	struct row_waits *rows;

	if (!reducer_has_latency(window, shown))
		return NULL;
	rows = memory_allocate_zero(shown->row_count + 1, sizeof(*rows));
	measure.of_row = memory_allocate_zero(shown->row_count + 1, sizeof(*measure.of_row));
	measure_rows(window, shown, &measure);
	for (size_t row = 0; row < shown->row_count; row++)
		rows[row] = (struct row_waits){measure.of_row[row], measure.rows[row].unknown,
					       measure.rows[row].reason};
	free(measure.of_row);
	free(measure.rows);
	return rows;
}

struct row_time *reduce_times(const struct window *window, const struct shown *shown, enum wait_class class)
{
	struct measure measure = {.class = class};

	if (!reducer_has_latency(window, shown))
		return NULL;
	measure_rows(window, shown, &measure);
	return measure.rows;
}

static double latency_value(const struct latency_histogram *histogram, enum latency_field field,
			    uint64_t unknown)
{
	switch (field) {
	case LATENCY_FIELD_COUNT:
		return (double)latency_count(histogram);
	case LATENCY_FIELD_P50:
		return latency_percentile(histogram, 0.5, unknown);
	case LATENCY_FIELD_P90:
		return latency_percentile(histogram, 0.9, unknown);
	case LATENCY_FIELD_P99:
		return latency_percentile(histogram, 0.99, unknown);
	case LATENCY_FIELD_MAX:
		return (double)histogram->max_ns;
	}
	return 0;
}

/* Adds the waits of a row. Without a wait it has no percentile either. */
static void add_latency(struct accumulator *accumulator, const struct row_waits *waits,
			enum latency_field field)
{
	const double value = latency_value(&waits->known, field, waits->unknown);

	if (waits->unknown != 0)
		accumulator_miss(accumulator, waits->reason);
	/* at least nothing is no more than nothing known */
	if (waits->unknown != 0 ? value > 0
				: field == LATENCY_FIELD_COUNT || latency_count(&waits->known) != 0) {
		accumulator->read++;
		accumulator->sum[0].real = value;
	}
}

/* Numbers of waits are so many a second, in a report of lives too. */
static bool is_rate(const struct column_values *values)
{
	return values->entry->inputs[1] == LATENCY_FIELD_COUNT &&
	       (values->mode == WINDOW_MODE_RATE || values->basis != WINDOW_MEASURED);
}

static void begin(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;
	const enum latency_kind kind = (enum latency_kind)reducer->entry->inputs[0];
	const enum latency_field field = (enum latency_field)reducer->entry->inputs[1];
	const bool as_rate = is_rate(reducer->values);
	struct row_waits *rows;

	reducer->values->is_real = true;
	if (shown->by_thread)
		return;
	rows = reduce_waits(window, shown, kind);
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		if (rows == NULL)
			accumulator_miss(accumulator, reducer_latency_missing(window));
		else
			add_latency(accumulator, &rows[row], field);
		if (rows != NULL && as_rate)
			accumulator->sum[0].real *= 1e9 / (double)window->latency->span_ns;
	}
	free(rows);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	conclude_sum(of, value);
	if (value->state == VALUE_READ && !is_rate(of->values))
		value_make_whole(value);
}

const struct column_kind column_kind_latency = {
	.begin = begin,
	.conclude = conclude,
};

/* --- time by class --- */

reason_id reduce_times_missing(const struct window *window, const struct shown *shown)
{
	if (!reducer_has_latency(window, shown))
		return reducer_latency_missing(window);
	/* an older ctop measured none */
	return window->latency->time_count != 0 ? REASON_READ : REASON_NOT_IN_FILE;
}

/* Times are ns per second, in a report of lives too: what was measured may be shorter. */
static bool is_rate_of_time(const struct column_values *values)
{
	return values->mode == WINDOW_MODE_RATE || values->basis != WINDOW_MEASURED;
}

/* Time in a class by samples. */
struct sampling {
	struct window_counter counters[2]; /* of the time on CPUs and run queues */
	bool *measured;                    /* by flags */
};

/* Whether readings before told what threads waited for; a throttled thread is on a run queue. */
static bool can_sample(const struct reducer *reducer)
{
	const struct window *window = reducer->window;

	return window->samples != NULL && window->from != NULL && window->basis == WINDOW_MEASURED &&
	       reducer->entry->inputs[0] != WAIT_CLASS_THROTTLED;
}

static void begin_sampling(struct reducer *reducer)
{
	static const int inputs[] = {METRIC_RUN_TIME_NS, METRIC_WAIT_TIME_NS};
	struct sampling *sampling = memory_allocate_zero(1, sizeof(*sampling));

	reducer->work = sampling;
	sampling->measured = reducer_find_counters(reducer, inputs, ARRAY_COUNT(inputs), sampling->counters);
}

/* The part of its time off CPUs and run queues that a thread spent in a class. */
static double share_of(const struct window *window, uint32_t thread, enum wait_class class, bool *ret_sampled)
{
	double shares[WAIT_CLASS_COUNT] = {0};

	*ret_sampled = window->from_of[thread] != THREAD_STILL &&
		       !(window->still != NULL && window->still[thread]);
	if (!*ret_sampled)
		return window->now->wait_class[thread] == class;
	wait_samples_divide(window->samples, window->now, thread, shares);
	return shares[class];
}

static void add_sampled(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct window *window = reducer->window;
	const struct sampling *sampling = reducer->work;
	uint64_t elapsed = 0, busy = 0, amount;
	enum wait_class class;
	uint16_t state = reduce_wait_class(window->now, thread, &class);
	bool sampled;
	double time;

	for (size_t i = 0; i < ARRAY_COUNT(sampling->counters) && state == REASON_READ; i++) {
		state = window_amount(&sampling->counters[i], thread, true, &amount, &elapsed);
		busy = number_add_saturating(busy, state == REASON_READ ? amount : 0);
	}
	if (state != REASON_READ) {
		if (state != STATE_ABSENT)
			accumulator_miss(accumulator, state);
		return;
	}
	time = busy < elapsed ? (double)(elapsed - busy) : 0;
	time *= share_of(window, thread, (enum wait_class)reducer->entry->inputs[0], &sampled);
	accumulator->read++;
	accumulator->sum[0].real += is_rate_of_time(reducer->values) ? time * 1e9 / (double)elapsed : time;
	accumulator->sum[1].real += sampled ? time : 0;
}

static void end_sampling(struct reducer *reducer)
{
	const struct sampling *sampling = reducer->work;

	if (sampling != NULL)
		free(sampling->measured);
}

static void begin_time(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;
	const bool as_rate = is_rate_of_time(reducer->values);
	const reason_id missing = reduce_times_missing(window, shown);
	struct row_time *rows;

	reducer->values->is_real = true;
	if (!shown->by_thread && missing != REASON_READ && can_sample(reducer)) {
		begin_sampling(reducer);
		return;
	}
	reducer->no_threads = true;
	if (shown->by_thread)
		return;
	rows = missing == REASON_READ
		       ? reduce_times(window, shown, (enum wait_class)reducer->entry->inputs[0])
		       : NULL;
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		if (rows == NULL) {
			accumulator_miss(accumulator, missing);
			continue;
		}
		if (rows[row].unknown != 0)
			accumulator_miss(accumulator, rows[row].reason);
		if (rows[row].unknown == 0 || rows[row].known != 0)
			accumulator->read++;
		accumulator->sum[0].real = (double)rows[row].known *
					   (as_rate ? 1e9 / (double)window->latency->span_ns : 1.0);
	}
	free(rows);
}

static void conclude_time(const struct conclusion *of, struct value *value)
{
	conclude_sum(of, value);
	value->sampled = value->state == VALUE_READ && of->accumulators->sum[1].real != 0;
	if (value->state == VALUE_READ && !is_rate_of_time(of->values))
		value_make_whole(value);
}

const struct column_kind column_kind_time = {
	.begin = begin_time,
	.add_thread = add_sampled,
	.end = end_sampling,
	.conclude = conclude_time,
	.merge = merge_sums,
};
