/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait latency, which is measured by names: for groups, not for threads. */
#include "kind.h"

#include <stdlib.h>

#include "base/memory.h"

reason_id reducer_latency_missing(const struct window *window, const struct shown *shown)
{
	const struct feature_result *feature = &window->now->provenance.features[FEATURE_LATENCY];

	if (window->missing == REASON_NOT_IN_FILE)
		return REASON_NOT_IN_FILE;
	if (shown != NULL && shown->behind_names && window->latency != NULL && window->latency->span_ns != 0)
		return REASON_BY_NAME;
	if (window->latency == NULL && window->now->latency.present)
		return REASON_NOT_READ; /* of another time */
	return feature->state == FEATURE_STATE_OFF ? (reason_id)feature->reason : REASON_SWITCHED_OFF;
}

bool reducer_has_latency(const struct window *window, const struct shown *shown)
{
	return window->latency != NULL && window->latency->span_ns != 0 &&
	       (shown == NULL || shown->latency_row_of != NULL);
}

bool reduce_latency_row(const struct window *window, const struct shown *shown, size_t row,
			enum latency_kind kind, struct latency_histogram *ret_histogram)
{
	*ret_histogram = (struct latency_histogram){0};
	if (!reducer_has_latency(window, shown))
		return false;
	for (size_t i = 0; i < window->latency->count; i++) {
		if (shown->latency_row_of[i] == row)
			latency_merge(ret_histogram, &window->latency->records[i].of[kind]);
	}
	return true;
}

uint64_t reduce_latency_unknown(const struct window *window, const struct shown *shown, size_t row,
				enum latency_kind kind)
{
	const uint32_t other = shown->latency_other;

	if (!reducer_has_latency(window, shown) || other == UINT32_MAX || shown->latency_row_of[other] == row)
		return 0;
	return latency_count(&window->latency->records[other].of[kind]);
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
static void add_latency(struct accumulator *accumulator, const struct latency_histogram *histogram,
			enum latency_field field, uint64_t unknown)
{
	const double value = latency_value(histogram, field, unknown);

	if (unknown != 0)
		accumulator_miss(accumulator, REASON_UNDER_OTHER);
	/* at least nothing is no more than nothing known */
	if (unknown != 0 ? value > 0 : field == LATENCY_FIELD_COUNT || latency_count(histogram) != 0) {
		accumulator->read++;
		accumulator->sum[0].real = value;
	}
}

static void begin(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;
	const enum latency_kind kind = (enum latency_kind)reducer->entry->inputs[0];
	const enum latency_field field = (enum latency_field)reducer->entry->inputs[1];
	/* a report of lives has rates too */
	const bool as_rate = field == LATENCY_FIELD_COUNT &&
			     (reducer->values->mode == WINDOW_MODE_RATE || window->as_stored);
	struct latency_histogram *histograms;

	reducer->values->is_real = true;
	if (shown->by_thread)
		return;
	for (size_t row = 0; !reducer_has_latency(window, shown) && row < shown->row_count; row++)
		accumulator_miss(reducer_row(reducer, row), reducer_latency_missing(window, shown));
	if (!reducer_has_latency(window, shown))
		return;
	histograms = memory_allocate_zero(shown->row_count + 1, sizeof(*histograms));
	for (size_t i = 0; i < window->latency->count; i++) {
		if (shown->latency_row_of[i] != UINT32_MAX)
			latency_merge(&histograms[shown->latency_row_of[i]],
				      &window->latency->records[i].of[kind]);
	}
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		add_latency(accumulator, &histograms[row], field,
			    reduce_latency_unknown(window, shown, row, kind));
		if (as_rate)
			accumulator->sum[0].real *= 1e9 / (double)window->latency->span_ns;
	}
	free(histograms);
}

/* Counts and times are whole but for rates of the screen. */
static void conclude(const struct conclusion *of, struct value *value)
{
	conclude_sum(of, value);
	if (value->state == VALUE_READ && of->values->unit != UNIT_COUNT_PER_S)
		value_make_whole(value);
}

const struct column_kind column_kind_latency = {
	.begin = begin,
	.conclude = conclude,
};
