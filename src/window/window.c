/* SPDX-License-Identifier: GPL-2.0-only */
/* The change of a thread's counter over a window. */
#include "window.h"

#include "base/clock.h"

const char *const window_mode_names[WINDOW_MODE_COUNT] = {
	[WINDOW_MODE_RATE] = "rate",
	[WINDOW_MODE_INTERVAL] = "interval",
	[WINDOW_MODE_BASE] = "base",
	[WINDOW_MODE_TOTAL] = "total",
};

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

bool window_is_frozen(const struct snapshot *snapshot, enum metric metric)
{
	return metrics[metric].source == SOURCE_DELAYS &&
	       snapshot->provenance.features[FEATURE_DELAYS].state == FEATURE_STATE_OFF;
}

uint16_t window_value_state(const struct window *window, uint32_t thread, enum metric metric)
{
	return window->basis == WINDOW_FLAGGED ? snapshot_flagged_state(window->now, thread, metric)
					       : snapshot_value_state(window->now, thread, metric);
}

struct window_counter window_counter_of(const struct window *window, enum metric metric)
{
	struct window_counter counter = {
		.window = window,
		.now = metric_reader_of(window->now, metric),
		.frozen = window_is_frozen(window->now, metric),
		.under_way = metric_is_run_queue_wait(metric) && window->basis == WINDOW_MEASURED &&
			     (window->now->waiting_ns != NULL ? window_knows_waits(window)
							      : window->now->stuck_ns != NULL),
		.is_counted = metric_type(metric)->kind == METRIC_KIND_COUNTER,
		.scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1,
	};

	/* one impossible wait does not spoil those after it */
	counter.bounded = counter.now.bounded;
	counter.of_life = window->mode == WINDOW_MODE_TOTAL;
	counter.stored = window->basis == WINDOW_STORED && window->counted == NULL;
	counter.even = counter.now.even && counter.of_life && window->basis == WINDOW_MEASURED;
	if (window->from == NULL || counter.of_life)
		return counter;
	counter.from = metric_reader_of(window->from, metric);
	counter.elapsed_ns = since(window->now->provenance.boottime_ns, window->from->provenance.boottime_ns);
	counter.even = counter.now.even && counter.from.even && counter.now.read_at == NULL &&
		       counter.from.read_at == NULL && counter.elapsed_ns != 0 && !counter.frozen;
	return counter;
}

bool window_counter_is_even(const struct window_counter *counter)
{
	const enum source source = counter->now.snapshot->metric_source[counter->now.metric];
	const struct metric_entry *entry = &metrics[counter->now.metric];

	return counter->now.read_at == NULL && counter->from.read_at == NULL &&
	       !(counter->bounded && counter->of_life) && entry->family != METRIC_FAMILY_LEADER &&
	       entry->tag != METRIC_TAG_FAIR_POLICY &&
	       (source == SOURCE_NONE || (sources[source].flags & SOURCE_LEADER_ONLY) == 0);
}

static uint16_t lifetime(const struct window_counter *counter, uint32_t thread, uint16_t state,
			 uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	const struct metric_reader *now = &counter->now;

	*ret_amount = metric_reader_value(now, thread);
	if (counter->under_way)
		*ret_amount = window_add_wait(counter, *ret_amount, thread, THREAD_UNKNOWN, UINT64_MAX);
	*ret_elapsed_ns = since(metric_reader_time(now, thread),
				now->snapshot->start_time[thread] * NS_PER_TICK);
	return state == REASON_SWITCHED_OFF && *ret_amount != 0 ? REASON_READ : state;
}

/* A life as its file stores it. */
static uint16_t stored(const struct window_counter *counter, uint32_t thread, uint64_t *ret_amount)
{
	const struct window *window = counter->window;
	const bool is_counted = !counter->is_counted || window->counted == NULL || window->counted[thread];
	uint16_t state;

	*ret_amount = is_counted ? metric_reader_value(&counter->now, thread) : 0;
	if (window->basis == WINDOW_FLAGGED)
		return counter->measured[thread] ? REASON_READ : STATE_ABSENT;
	state = metric_reader_state(&counter->now, thread);
	if (is_counted)
		return state;
	if (state != REASON_READ)
		return STATE_ABSENT;
	return window->replaced != NULL && window->replaced[thread] ? REASON_NOT_READ : REASON_READ;
}

static uint16_t change(const struct window_counter *counter, uint32_t thread, uint64_t *ret_amount,
		       uint64_t *ret_elapsed_ns)
{
	const struct metric_reader *now = &counter->now, *from = &counter->from;
	const struct window *window = counter->window;
	uint16_t state;
	uint64_t value, before;
	uint32_t other;

	if (window->basis != WINDOW_MEASURED)
		return stored(counter, thread, ret_amount);
	state = metric_reader_known_state(now, thread);
	if (state == STATE_ABSENT)
		return state;
	if (window->mode == WINDOW_MODE_TOTAL)
		return lifetime(counter, thread, state, ret_amount, ret_elapsed_ns);
	if (state != REASON_READ)
		return state;
	if (window->from == NULL)
		return window->missing;
	if (counter->frozen)
		return REASON_SWITCHED_OFF;
	value = metric_reader_value(now, thread);
	other = window->from_of[thread];
	if (other == THREAD_UNKNOWN)
		return REASON_NOT_READ;
	if (other == THREAD_BORN) {
		/* what its parent had allocated until then is not known */
		if (metrics[now->metric].family == METRIC_FAMILY_JEMALLOC &&
		    (now->snapshot->thread_flags[thread] & THREAD_FORKED) != 0)
			return REASON_NOT_READ;
		*ret_elapsed_ns = since(metric_reader_time(now, thread),
					window->from->provenance.boottime_ns);
		*ret_amount = counter->under_way
				      ? window_add_wait(counter, value, thread, other, *ret_elapsed_ns)
				      : value;
		return REASON_READ;
	}
	if (other == THREAD_STILL) {
		*ret_amount = 0;
		/* there it was read when the round was; now perhaps not again */
		*ret_elapsed_ns = since(metric_reader_time(now, thread),
					window->from->provenance.boottime_ns);
		return *ret_elapsed_ns != 0 ? REASON_READ : REASON_NOT_READ;
	}
	state = metric_reader_known_state(from, other);
	if (state != REASON_READ)
		return state == STATE_ABSENT ? REASON_NOT_READ : state;
	before = metric_reader_value(from, other);
	*ret_elapsed_ns = since(metric_reader_time(now, thread), metric_reader_time(from, other));
	if (*ret_elapsed_ns == 0 && window->now != window->from)
		return REASON_NOT_READ; /* the same reading: it was carried over */
	if (value < before)
		return REASON_WENT_BACKWARDS;
	*ret_amount = value - before;
	if (counter->under_way)
		*ret_amount = window_add_wait(counter, *ret_amount, thread, other, *ret_elapsed_ns);
	return REASON_READ;
}

uint16_t window_change(const struct window_counter *counter, uint32_t thread, uint64_t *ret_amount,
		       uint64_t *ret_elapsed_ns)
{
	const uint16_t state = change(counter, thread, ret_amount, ret_elapsed_ns);

	if (state != REASON_READ || !counter->bounded || counter->window->basis != WINDOW_MEASURED)
		return state;
	if (metric_reader_outlives(&counter->now, thread, *ret_amount))
		return REASON_BAD_VALUE;
	return counter->without_io_uring && *ret_amount != 0 &&
			       snapshot_waits_for_io_uring(counter->window->now, thread)
		       ? REASON_WITH_IO_URING
		       : REASON_READ;
}
