/* SPDX-License-Identifier: GPL-2.0-only */
/* The age of present waits. */
#include "kind.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Whether threads that stand still are known neither to wait for a CPU nor to be in D: see
 * origin_find_still(). */
static bool sleeps_where_still(const struct reducer *reducer)
{
	return reducer_knows_still(reducer) && reducer->window->now->waiting_ns != NULL;
}

static void begin(struct reducer *reducer)
{
	struct metric_reader *states = memory_allocate(sizeof(*states));

	*states = metric_reader_of(reducer->window->now, METRIC_STATE);
	reducer->work = states;
	reducer->only_movers = sleeps_where_still(reducer);
}

/* The reason why the age of the present wait of a thread is a lower bound, or REASON_READ. */
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

/* --- what stuck threads lost --- */

struct loss_work {
	const struct window *window;
	struct metric_reader states;
	bool exact;     /* waits for a CPU are in the sums */
	double elapsed; /* in the window, ns; 0 without another side, or when not exact */
};

struct loss_work *reducer_begin_loss(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	const struct snapshot *now = window->now, *from = window->from;
	struct loss_work *work = memory_allocate(sizeof(*work));

	*work = (struct loss_work){
		.window = window,
		.states = metric_reader_of(now, METRIC_STATE),
		.exact = window_knows_waits(window) && (from != NULL || window->mode == WINDOW_MODE_TOTAL),
	};
	if (work->exact && from != NULL && now->provenance.boottime_ns > from->provenance.boottime_ns)
		work->elapsed = (double)(now->provenance.boottime_ns - from->provenance.boottime_ns);
	reducer->only_movers &= sleeps_where_still(reducer);
	return work;
}

/*
 * Adds the time a thread lost, for sorting, in a wait that no counter shows: the whole time if it is stuck.
 * Where it is known how long waits have lasted, the sum has those for a CPU, and one in D adds its part of
 * the window.
 */
void reducer_add_loss(const struct loss_work *work, uint32_t thread, struct accumulator *accumulator)
{
	const struct snapshot *now = work->window->now;
	double lost = now->stuck_ns != NULL ? (double)now->stuck_ns[thread] : 0;

	if (work->exact)
		lost = metric_reader_value(&work->states, thread) == 'D' ? (double)now->waiting_ns[thread]
									 : 0;
	if (lost == 0)
		return;
	if (work->elapsed > 0 && lost > work->elapsed)
		lost = work->elapsed;
	if (work->window->mode == WINDOW_MODE_RATE)
		lost = work->elapsed > 0 ? lost * 1e9 / work->elapsed : 1e9;
	accumulator->sum[1].real += lost;
}

const struct column_kind column_kind_stuck = {
	.begin = begin,
	.add_thread = add_stuck,
	.conclude = conclude_present,
};

const struct column_kind column_kind_waiting = {
	.begin = begin,
	.add_thread = add_waiting,
	.conclude = conclude_waiting,
};
