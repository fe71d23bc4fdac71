/* SPDX-License-Identifier: GPL-2.0-only */
/* What a counter of a thread did over a span. */
#include "span.h"

#include "base/clock.h"

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

/* REASON_READ, SPAN_ABSENT, or why the value is unavailable. */
static inline uint16_t read_state(const struct metric_reader *reader, uint32_t thread)
{
	reason_id reason;
	enum value_state state = metric_reader_known_state(reader, thread, &reason);

	return state == VALUE_ABSENT ? SPAN_ABSENT : reason;
}

struct span_counter span_counter_of(const struct span *span, enum metric metric)
{
	struct span_counter counter = {
		.span = span,
		.now = metric_reader_of(span->now, metric),
		.frozen = is_frozen(span->now, metric),
		.under_way = metric_is_run_queue_wait(metric) && span_knows_waits(span),
		.scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1,
	};

	/* one impossible wait does not spoil those after it */
	counter.bounded = counter.now.bounded;
	counter.of_life = span->mode == VIEW_MODE_TOTAL;
	counter.even = counter.now.even && counter.of_life;
	if (span->from == NULL || counter.of_life)
		return counter;
	counter.from = metric_reader_of(span->from, metric);
	counter.elapsed_ns = since(span->now->provenance.boottime_ns, span->from->provenance.boottime_ns);
	counter.even = counter.now.even && counter.from.even && counter.now.read_at == NULL &&
		       counter.from.read_at == NULL && counter.elapsed_ns != 0 && !counter.frozen;
	return counter;
}

bool span_counter_is_even(const struct span_counter *counter)
{
	const enum source source = counter->now.snapshot->metric_source[counter->now.metric];
	const struct metric_entry *entry = &metrics[counter->now.metric];

	return counter->now.read_at == NULL && counter->from.read_at == NULL &&
	       !(counter->bounded && counter->of_life) && entry->family != METRIC_FAMILY_LEADER &&
	       entry->tag != METRIC_TAG_FAIR_POLICY &&
	       (source == SOURCE_NONE || (sources[source].flags & SOURCE_LEADER_ONLY) == 0);
}

static uint16_t lifetime(const struct span_counter *counter, uint32_t thread, uint16_t state,
			 uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	const struct metric_reader *now = &counter->now;

	*ret_amount = metric_reader_value(now, thread);
	if (counter->under_way)
		*ret_amount = span_add_wait(counter, *ret_amount, thread, THREAD_UNKNOWN);
	*ret_elapsed_ns = since(metric_reader_time(now, thread),
				now->snapshot->start_time[thread] * NS_PER_TICK);
	return state == REASON_SWITCHED_OFF && *ret_amount != 0 ? REASON_READ : state;
}

static uint16_t change(const struct span_counter *counter, uint32_t thread, uint64_t *ret_amount,
		       uint64_t *ret_elapsed_ns)
{
	const struct metric_reader *now = &counter->now, *from = &counter->from;
	const struct span *span = counter->span;
	uint16_t state = read_state(now, thread);
	uint64_t value, before;
	uint32_t other;

	if (state == SPAN_ABSENT)
		return state;
	if (span->mode == VIEW_MODE_TOTAL)
		return lifetime(counter, thread, state, ret_amount, ret_elapsed_ns);
	if (state != REASON_READ)
		return state;
	if (span->from == NULL)
		return span->missing;
	if (counter->frozen)
		return REASON_SWITCHED_OFF;
	value = metric_reader_value(now, thread);
	other = span->from_of[thread];
	if (other == THREAD_UNKNOWN)
		return REASON_NOT_READ;
	if (other == THREAD_BORN) {
		*ret_amount = counter->under_way ? span_add_wait(counter, value, thread, other) : value;
		*ret_elapsed_ns = since(metric_reader_time(now, thread), span->from->provenance.boottime_ns);
		return REASON_READ;
	}
	if (other == THREAD_STILL) {
		*ret_amount = 0;
		/* there it was read when the round was; now perhaps not again */
		*ret_elapsed_ns = since(metric_reader_time(now, thread), span->from->provenance.boottime_ns);
		return *ret_elapsed_ns != 0 ? REASON_READ : REASON_NOT_READ;
	}
	state = read_state(from, other);
	if (state != REASON_READ)
		return state == SPAN_ABSENT ? REASON_NOT_READ : state;
	before = metric_reader_value(from, other);
	*ret_elapsed_ns = since(metric_reader_time(now, thread), metric_reader_time(from, other));
	if (*ret_elapsed_ns == 0 && span->now != span->from)
		return REASON_NOT_READ; /* the same reading: it was carried over */
	if (value < before)
		return REASON_WENT_BACKWARDS;
	*ret_amount = value - before;
	if (counter->under_way)
		*ret_amount = span_add_wait(counter, *ret_amount, thread, other);
	return REASON_READ;
}

uint16_t span_change(const struct span_counter *counter, uint32_t thread, uint64_t *ret_amount,
		     uint64_t *ret_elapsed_ns)
{
	const uint16_t state = change(counter, thread, ret_amount, ret_elapsed_ns);

	return state == REASON_READ && counter->bounded &&
			       metric_reader_outlives(&counter->now, thread, *ret_amount)
		       ? REASON_BAD_VALUE
		       : state;
}

uint16_t span_value_of_any(const struct span_counter *counter, uint32_t thread, bool as_rate,
			   double *ret_value)
{
	uint64_t amount = 0, elapsed = 0;
	uint16_t state = span_change(counter, thread, &amount, &elapsed);

	*ret_value = (double)amount * counter->scale;
	if (!as_rate || state != REASON_READ)
		return state;
	if (elapsed == 0)
		return REASON_NOT_READ;
	*ret_value = *ret_value * 1e9 / (double)elapsed;
	return REASON_READ;
}
