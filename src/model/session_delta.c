/* SPDX-License-Identifier: GPL-2.0-only */
/* One metric of many threads over a span. */
#include "session_internal.h"

enum {
	NS_PER_TICK = 1000000000 / USER_HZ_PER_SECOND
};

enum span span_of_mode(enum view_mode mode)
{
	static const enum span spans[VIEW_MODE_COUNT] = {
		[VIEW_MODE_RATE] = SPAN_INTERVAL,
		[VIEW_MODE_INTERVAL] = SPAN_INTERVAL,
		[VIEW_MODE_BASE] = SPAN_BASE,
		[VIEW_MODE_TOTAL] = SPAN_TOTAL,
	};

	return spans[mode];
}

struct comparison_sides session_comparison(const struct session *session, enum span span)
{
	struct comparison_sides sides = {
		.to = session->now,
		.missing = session->is_file ? REASON_NOT_IN_FILE : REASON_NOT_READ,
		.total = span == SPAN_TOTAL,
	};

	if (session->previous == NULL)
		return sides;
	if (span == SPAN_INTERVAL) {
		sides.from = session->previous;
		sides.from_of = session->previous_of;
	} else if (span == SPAN_BASE) {
		sides.from = session->base;
		sides.from_of = session->base_of;
	}
	return sides;
}

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

static uint16_t lifetime(const struct snapshot *to, uint32_t thread, enum metric metric,
			 enum value_state state, reason_id reason, uint64_t *ret_amount,
			 uint64_t *ret_elapsed_ns)
{
	*ret_amount = snapshot_value(to, thread, metric);
	if (ret_elapsed_ns != NULL)
		*ret_elapsed_ns = since(snapshot_read_time(to, thread, metric),
					to->start_time[thread] * NS_PER_TICK);
	if (state == VALUE_READ || (reason == REASON_SWITCHED_OFF && *ret_amount != 0))
		return REASON_READ;
	return reason;
}

/* From zero: the thread did not exist at the other side. */
static uint16_t from_birth(const struct comparison_sides *sides, uint32_t thread, enum metric metric,
			   uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	*ret_amount = snapshot_value(sides->to, thread, metric);
	if (ret_elapsed_ns != NULL)
		*ret_elapsed_ns = since(snapshot_read_time(sides->to, thread, metric),
					sides->from->provenance.boottime_ns);
	return REASON_READ;
}

uint16_t thread_change(const struct comparison_sides *sides, uint32_t thread, enum metric metric,
		       uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	const struct snapshot *to = sides->to, *from = sides->from;
	uint64_t value, before, elapsed;
	reason_id reason;
	enum value_state state = snapshot_value_state(to, thread, metric, false, &reason);
	uint32_t other;

	if (state == VALUE_ABSENT)
		return SERIES_ABSENT;
	if (sides->total)
		return lifetime(to, thread, metric, state, reason, ret_amount, ret_elapsed_ns);
	if (state == VALUE_UNAVAILABLE)
		return reason;
	if (from == NULL)
		return sides->missing;
	if (is_frozen(to, metric))
		return REASON_SWITCHED_OFF;
	other = sides->from_of[thread];
	if (other == THREAD_BORN)
		return from_birth(sides, thread, metric, ret_amount, ret_elapsed_ns);
	if (other == THREAD_UNKNOWN)
		return REASON_NOT_READ;
	state = snapshot_value_state(from, other, metric, false, &reason);
	if (state == VALUE_ABSENT)
		return REASON_NOT_READ;
	if (state == VALUE_UNAVAILABLE)
		return reason;
	value = snapshot_value(to, thread, metric);
	before = snapshot_value(from, other, metric);
	elapsed = since(snapshot_read_time(to, thread, metric), snapshot_read_time(from, other, metric));
	if (elapsed == 0 && to != from)
		return REASON_NOT_READ; /* the same reading: it was carried over */
	if (value < before)
		return REASON_WENT_BACKWARDS;
	*ret_amount = value - before;
	if (ret_elapsed_ns != NULL)
		*ret_elapsed_ns = elapsed;
	return REASON_READ;
}

void series_fill(const struct comparison_sides *sides, const uint32_t *threads, size_t count,
		 enum metric metric, bool as_rate, struct series *series)
{
	double scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1;

	for (size_t k = 0; k < count; k++) {
		uint64_t amount = 0, elapsed = 0;
		uint16_t state = thread_change(sides, threads[k], metric, &amount, as_rate ? &elapsed : NULL);
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
