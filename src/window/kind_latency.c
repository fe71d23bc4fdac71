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

/* What is taken of a record or a share: waits of a kind, or the time in a class. */
struct measure {
	enum latency_kind kind;
	enum wait_class class; /* WAIT_CLASS_UNKNOWN: waits */
};

/* So many waits, or so many ns. */
static uint64_t amount_of(struct measure measure, const struct latency_histogram of[LATENCY_KIND_COUNT],
			  const struct latency_class_times *times)
{
	return measure.class == WAIT_CLASS_UNKNOWN ? latency_count(&of[measure.kind])
						   : times->of[measure.class];
}

static void add_known(struct measure measure, const struct latency_histogram of[LATENCY_KIND_COUNT],
		      const struct latency_class_times *times, struct row_waits *waits)
{
	if (measure.class == WAIT_CLASS_UNKNOWN)
		latency_merge(&waits->known, &of[measure.kind]);
	else
		waits->known.sum_ns = number_add_saturating(waits->known.sum_ns, times->of[measure.class]);
}

static void add_unknown(struct row_waits *waits, uint64_t count, reason_id reason)
{
	if (count == 0)
		return;
	waits->unknown = number_add_saturating(waits->unknown, count);
	waits->reason = reason;
}

/* Adds what is of a known process, to its row. */
static void add_shares(const struct window *window, const struct shown *shown, struct measure measure,
		       struct row_waits rows[])
{
	const struct latency *latency = window->latency;
	uint64_t *rest = memory_allocate((latency->count + 1) * sizeof(*rest)); /* by record */
	const struct latency_row_record *pairs;
	size_t pair_count;

	for (size_t i = 0; i < latency->count; i++)
		rest[i] = amount_of(measure, latency->records[i].of, &latency->records[i].times);
	for (size_t i = 0; i < latency->share_count; i++) {
		const struct latency_share *share = &latency->shares[i];
		const uint64_t count = amount_of(measure, share->of, &share->times);
		bool unsure;
		const uint32_t row = latency_rows_find(shown->latency_rows, share, &unsure);

		rest[share->record] -= count < rest[share->record] ? count : rest[share->record];
		if (row != UINT32_MAX && unsure)
			add_unknown(&rows[row], count, REASON_BY_NAME);
		else if (row != UINT32_MAX)
			add_known(measure, share->of, &share->times, &rows[row]);
	}
	pairs = latency_rows_records(shown->latency_rows, &pair_count);
	for (size_t i = 0; i < pair_count; i++) {
		if (pairs[i].record < latency->count && pairs[i].record != shown->latency_other)
			add_unknown(&rows[pairs[i].row], rest[pairs[i].record], REASON_BY_NAME);
	}
	free(rest);
}

static struct row_waits *measure_rows(const struct window *window, const struct shown *shown,
				      struct measure measure)
{
	const struct latency *latency = window->latency;
	const uint32_t other = shown->latency_other;
	struct row_waits *rows;

	if (!reducer_has_latency(window, shown))
		return NULL;
	rows = memory_allocate_zero(shown->row_count + 1, sizeof(*rows));
	if (shown->latency_rows != NULL)
		add_shares(window, shown, measure, rows);
	for (size_t i = 0; shown->latency_row_of != NULL && i < latency->count; i++) {
		if (shown->latency_row_of[i] != UINT32_MAX)
			add_known(measure, latency->records[i].of, &latency->records[i].times,
				  &rows[shown->latency_row_of[i]]);
	}
	if (other == UINT32_MAX)
		return rows;
	for (size_t row = 0; row < shown->row_count; row++) {
		if (row != shown->latency_other_row)
			add_unknown(&rows[row],
				    amount_of(measure, latency->records[other].of,
					      &latency->records[other].times),
				    REASON_UNDER_OTHER);
		else if (shown->latency_row_of == NULL)
			add_known(measure, latency->records[other].of, &latency->records[other].times,
				  &rows[row]);
	}
	return rows;
}

struct row_waits *reduce_waits(const struct window *window, const struct shown *shown, enum latency_kind kind)
{
	return measure_rows(window, shown, (struct measure){.kind = kind});
}

struct row_waits *reduce_times(const struct window *window, const struct shown *shown, enum wait_class class)
{
	return measure_rows(window, shown, (struct measure){.class = class});
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

/* Whether any record has times: those of an older ctop have none. */
static bool has_times(const struct latency *latency)
{
	for (size_t i = 0; i < latency->count; i++) {
		if (latency_life(&latency->records[i].times) != 0)
			return true;
	}
	return false;
}

reason_id reduce_times_missing(const struct window *window, const struct shown *shown)
{
	if (!reducer_has_latency(window, shown))
		return reducer_latency_missing(window);
	return has_times(window->latency) ? REASON_READ : REASON_NOT_IN_FILE;
}

/* Times are ns per second, in a report of lives too: what was measured may be shorter. */
static bool is_rate_of_time(const struct column_values *values)
{
	return values->mode == WINDOW_MODE_RATE || values->basis != WINDOW_MEASURED;
}

static void begin_time(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;
	const bool as_rate = is_rate_of_time(reducer->values);
	reason_id missing;
	struct row_waits *rows;

	reducer->values->is_real = true;
	if (shown->by_thread)
		return;
	missing = reduce_times_missing(window, shown);
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
		if (rows[row].unknown == 0 || rows[row].known.sum_ns != 0)
			accumulator->read++;
		accumulator->sum[0].real = (double)rows[row].known.sum_ns *
					   (as_rate ? 1e9 / (double)window->latency->span_ns : 1.0);
	}
	free(rows);
}

static void conclude_time(const struct conclusion *of, struct value *value)
{
	conclude_sum(of, value);
	if (value->state == VALUE_READ && !is_rate_of_time(of->values))
		value_make_whole(value);
}

const struct column_kind column_kind_time = {
	.begin = begin_time,
	.conclude = conclude_time,
	.merge = merge_sums,
};
