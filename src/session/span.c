/* SPDX-License-Identifier: GPL-2.0-only */
/* One metric of many threads over a span. */
#include "span.h"

#include "base/clock.h"
#include "snapshot/metric_reader.h"

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Delay counters stand still while the switch is off: a lifetime value, but no delta. */
static bool is_frozen(const struct snapshot *snapshot, enum metric metric)
{
	return metrics[metric].source == SOURCE_DELAYS &&
	       snapshot->provenance.features[FEATURE_DELAYS].state == FEATURE_STATE_OFF;
}

/* REASON_READ, SERIES_ABSENT, or why the value is unavailable. */
static inline uint16_t read_state(const struct metric_reader *reader, uint32_t thread)
{
	reason_id reason;
	enum value_state state = metric_reader_state(reader, thread, &reason);

	return state == VALUE_ABSENT ? SERIES_ABSENT : reason;
}

/* Both sides of a change. */
struct change_reader {
	const struct span *span;
	struct metric_reader to, from;
	bool frozen;
};

static struct change_reader prepare_change(const struct span *span, enum metric metric)
{
	struct change_reader reader = {.span = span, .to = metric_reader_of(span->now, metric)};

	if (span->from != NULL)
		reader.from = metric_reader_of(span->from, metric);
	reader.frozen = is_frozen(span->now, metric);
	return reader;
}

static uint16_t lifetime(const struct change_reader *reader, uint32_t thread, uint16_t state,
			 uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	*ret_amount = metric_reader_value(&reader->to, thread);
	*ret_elapsed_ns = since(metric_reader_time(&reader->to, thread),
				reader->to.snapshot->start_time[thread] * NS_PER_TICK);
	return state == REASON_SWITCHED_OFF && *ret_amount != 0 ? REASON_READ : state;
}

static uint16_t read_change(const struct change_reader *reader, uint32_t thread, uint64_t *ret_amount,
			    uint64_t *ret_elapsed_ns)
{
	const struct span *span = reader->span;
	uint16_t state = read_state(&reader->to, thread);
	uint64_t value, before;
	uint32_t other;

	if (state == SERIES_ABSENT)
		return state;
	if (span->mode == VIEW_MODE_TOTAL)
		return lifetime(reader, thread, state, ret_amount, ret_elapsed_ns);
	if (state != REASON_READ)
		return state;
	if (span->from == NULL)
		return span->missing;
	if (reader->frozen)
		return REASON_SWITCHED_OFF;
	value = metric_reader_value(&reader->to, thread);
	other = span->from_of[thread];
	if (other == THREAD_UNKNOWN)
		return REASON_NOT_READ;
	if (other == THREAD_BORN) {
		*ret_amount = value;
		*ret_elapsed_ns = since(metric_reader_time(&reader->to, thread),
					span->from->provenance.boottime_ns);
		return REASON_READ;
	}
	state = read_state(&reader->from, other);
	if (state != REASON_READ)
		return state == SERIES_ABSENT ? REASON_NOT_READ : state;
	before = metric_reader_value(&reader->from, other);
	*ret_elapsed_ns = since(metric_reader_time(&reader->to, thread),
				metric_reader_time(&reader->from, other));
	if (*ret_elapsed_ns == 0 && span->now != span->from)
		return REASON_NOT_READ; /* the same reading: it was carried over */
	if (value < before)
		return REASON_WENT_BACKWARDS;
	*ret_amount = value - before;
	return REASON_READ;
}

uint16_t span_change(const struct span *span, uint32_t thread, enum metric metric, uint64_t *ret_amount)
{
	struct change_reader reader = prepare_change(span, metric);
	uint64_t elapsed;

	return read_change(&reader, thread, ret_amount, &elapsed);
}

void span_fill(const struct span *span, const uint32_t *threads, size_t count, enum metric metric,
	       bool as_rate, struct series *series)
{
	struct change_reader reader = prepare_change(span, metric);
	double scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1;

	for (size_t k = 0; k < count; k++) {
		uint64_t amount = 0, elapsed = 0;
		uint16_t state = read_change(&reader, threads[k], &amount, &elapsed);
		double value = (double)amount * scale;

		if (as_rate && state == REASON_READ) {
			if (elapsed == 0)
				state = REASON_NOT_READ;
			else
				value = value * 1e9 / (double)elapsed;
		}
		series->values[k] = value;
		series->states[k] = state;
	}
}
