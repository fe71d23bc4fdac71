/* SPDX-License-Identifier: GPL-2.0-only */
/* The age of present waits. */
#include "kind.h"

#include <math.h>

#include "base/memory.h"

bool reducer_sleeps_where_still(const struct reducer *reducer)
{
	return reducer_knows_still(reducer) && reducer->window->now->waiting_ns != NULL;
}

static void begin(struct reducer *reducer)
{
	struct metric_reader *states = memory_allocate(sizeof(*states));

	*states = metric_reader_of(reducer->window->now, METRIC_STATE);
	reducer->work = states;
	reducer->only_movers = reducer_sleeps_where_still(reducer);
}

/* The reason why the age of the present wait of a thread is a lower bound, or REASON_READ. */
static reason_id bound_of_wait(const struct snapshot *now, uint32_t thread)
{
	if (now->waiting_ns == NULL)
		return REASON_OTHER_BACKEND;
	return snapshot_wait_is_bound(now, thread) ? REASON_LOWER_BOUND : REASON_READ;
}

static void add_bound(struct accumulator *accumulator, reason_id bound)
{
	if (bound == REASON_READ)
		return;
	accumulator->partial = true;
	accumulator->reason = bound;
}

static void add_stuck(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const bool by_thread = reducer->shown->by_thread;
	const uint64_t *stuck_ns = reducer->window->now->stuck_ns;

	if (stuck_ns == NULL) {
		accumulator_miss(accumulator, reducer->window->missing);
		return;
	}
	accumulator->read++;
	accumulator->present.value += by_thread ? stuck_ns[thread] : stuck_ns[thread] != 0;
	if (by_thread && stuck_ns[thread] != 0)
		add_bound(accumulator, bound_of_wait(reducer->window->now, thread));
}

/* The age of the present wait of a thread. */
struct present_wait {
	uint64_t ns;
	reason_id bound;  /* of bound_of_wait() */
	reason_id reason; /* why it is not known, or REASON_READ */
};

/* Sleep counts only of one thread: most threads of a group sleep, and nothing is wrong with that. */
static struct present_wait find_wait(const struct window *window, const struct metric_reader *states,
				     uint32_t thread, bool with_sleep)
{
	const struct snapshot *now = window->now;
	const uint64_t state = metric_reader_value(states, thread);
	const bool for_cpu_or_d = state == 'R' || state == 'D';
	struct present_wait wait = {.reason = window_waits_missing(window)};
	uint16_t unread;

	if (now->waiting_ns != NULL) {
		wait.reason = REASON_READ;
		if (for_cpu_or_d || (with_sleep && !snapshot_is_held(state)))
			wait = (struct present_wait){.ns = now->waiting_ns[thread],
						     .bound = bound_of_wait(now, thread)};
	} else if (now->stuck_ns == NULL) {
		return wait;
	} else if ((unread = metric_reader_state(states, thread)) != REASON_READ) {
		wait.reason = unread != STATE_ABSENT ? (reason_id)unread : REASON_READ;
	} else if (for_cpu_or_d && now->stuck_ns[thread] != 0) {
		wait = (struct present_wait){.ns = now->stuck_ns[thread],
					     .bound = bound_of_wait(now, thread)};
	} else if (!for_cpu_or_d && (!with_sleep || snapshot_is_held(state))) {
		wait.reason = REASON_READ;
	}
	return wait;
}

/* The longest wait, or for LONG the number of long ones, which a bound leaves open only below the limit. */
static void add_waiting(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const bool counts = reducer->entry->operation == COLUMN_OPERATION_LONG;
	const struct present_wait wait = find_wait(reducer->window, reducer->work, thread,
						   reducer->shown->by_thread);
	const bool is_long = wait.ns >= COLUMN_LONG_WAIT_NS;

	if (wait.reason != REASON_READ) {
		accumulator_miss(accumulator, wait.reason);
		return;
	}
	accumulator->read++;
	if (counts)
		accumulator->present.value += is_long;
	else if (wait.ns > accumulator->present.value)
		accumulator->present.value = wait.ns;
	if (!counts || !is_long)
		add_bound(accumulator, wait.bound);
}

/* A lower bound of nothing is no more than nothing known. */
static void conclude_waiting(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	conclude_present(of, value);
	if (value->state != VALUE_READ || !value->partial || accumulator->present.value != 0)
		return;
	value->state = VALUE_UNAVAILABLE;
	value->reason = (reason_id)accumulator->reason;
	value->sort = NAN;
}

/* Adds numbers of long waits, or keeps the longest wait. */
static bool merge_waiting(const struct column_values *values, const struct accumulator *from,
			  struct accumulator *into)
{
	return values->entry->operation == COLUMN_OPERATION_LONG ? merge_present(values, from, into)
								 : merge_largest(values, from, into);
}

const struct column_kind column_kind_stuck = {
	.begin = begin,
	.add_thread = add_stuck,
	.conclude = conclude_present,
	.merge = merge_present,
};

const struct column_kind column_kind_waiting = {
	.begin = begin,
	.add_thread = add_waiting,
	.conclude = conclude_waiting,
	.merge = merge_waiting,
};
