/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WINDOW_H
#define CTOP_WINDOW_H

#include "base/number.h"
#include "snapshot/metric_reader.h"
#include "snapshot/snapshot_window.h"
#include "wait_samples.h"
#include "window_mode.h"

/*
 * The time between two readings of a host. A single reading is a window without a beginning, the lives
 * of its threads, and has WINDOW_MODE_TOTAL only.
 */
struct window {
	const struct snapshot *now;
	const struct snapshot *from; /* NULL: nothing to count from, or WINDOW_MODE_TOTAL */
	const uint32_t *from_of;     /* [now]: index in `from`, or THREAD_…, THREAD_STILL included */
	reason_id missing;           /* why `from` is missing */
	/*
	 * [now]: whether a thread is as it was in `from` in all that is not time; NULL: not known. See
	 * snapshot.moved.
	 */
	const bool *still;
	const struct ended *ended;     /* threads that ended since `from` and count; NULL: none do */
	const struct latency *latency; /* how long waits took; NULL or of no length: not measured */
	const struct wait_samples
		*samples;    /* what threads of `now` waited for lately; NULL: too few readings */
	uint64_t elapsed_ns; /* from `from` to `now` */
	enum window_mode mode;
	enum window_basis basis;
	bool per_second; /* of rates, for reports: a second's ns, and of metrics as stored clock ticks; no
			  * percentage */
	/*
	 * [now], not of WINDOW_MEASURED: the threads whose counters add up; a counter of any other that was
	 * read is 0. NULL for all. `replaced`: those of the others whose counters are unavailable; NULL for
	 * none.
	 */
	const bool *counted, *replaced;
};

/* The same snapshot as it stands: the lives of its threads. */
static inline struct window window_of_life(const struct window *window)
{
	return (struct window){.now = window->now, .missing = window->missing, .mode = WINDOW_MODE_TOTAL};
}

/* Whether it is known how long present waits have lasted, on both sides where there are two. */
static inline bool window_knows_waits(const struct window *window)
{
	return window->now->waiting_ns != NULL && (window->from == NULL || window->from->waiting_ns != NULL);
}

/* Why it is not known how long they have lasted. */
static inline reason_id window_waits_missing(const struct window *window)
{
	return window->now->provenance.present ? REASON_OTHER_BACKEND : REASON_NOT_IN_FILE;
}

/* A counter over a window, looked up once for many threads. Valid as long as the window. */
struct window_counter {
	const struct window *window;
	struct metric_reader now, from;
	bool frozen;
	bool even;    /* all threads that it applies to were read on both sides, all `elapsed_ns` apart */
	bool of_life; /* in WINDOW_MODE_TOTAL: it has one side only */
	bool stored;  /* as its file stores it, of all threads that were read */
	uint64_t elapsed_ns;
	double scale;   /* ns of a tick, else 1 */
	bool under_way; /* unfinished waits for a CPU count up to now, not only when they end; without ages
			 * those of threads that are stuck */
	/* of WINDOW_FLAGGED: [now] whether the thread counts as measured, see reducer_find_measured(); not
	 * owned */
	const bool *measured;
	bool is_counted; /* window->counted is for such metrics */
	bool bounded;    /* a change longer than the thread's life is none, see struct metric_reader */
	/* of a column that has no waits for an io_uring: nor is one of a thread that is in such a wait */
	bool without_io_uring;
};

/* The state of a metric of a thread of `now`, as snapshot_value_state(); by the format's flags in a window of
 * WINDOW_FLAGGED. */
uint16_t window_value_state(const struct window *window, uint32_t thread, enum metric metric);

/* Whether a delay counter stands still since its switch is off: it has a lifetime value, but no delta. */
bool window_is_frozen(const struct snapshot *snapshot, enum metric metric);

struct window_counter window_counter_of(const struct window *window, enum metric metric);

/*
 * Whether threads that stand still and are alike (shown_gather_still()) have one state in this counter: then
 * what window_change() says of one of them it says of all.
 */
bool window_counter_is_even(const struct window_counter *counter);

/*
 * The change in one thread, in the unit of the metric, and the time between the two readings; in
 * WINDOW_MODE_TOTAL the lifetime value and the age of the thread. Returns REASON_READ, STATE_ABSENT or the
 * reason why it is not known.
 */
uint16_t window_change(const struct window_counter *counter, uint32_t thread, uint64_t *ret_amount,
		       uint64_t *ret_elapsed_ns);

/*
 * A change in a counter of waits for a CPU with the part of the present wait that is in the window, which is
 * `elapsed_ns` long. `other` is the thread in `from`, or THREAD_…; what was under way there is in the counter
 * now, or still under way.
 */
static inline uint64_t window_add_wait(const struct window_counter *counter, uint64_t change, uint32_t thread,
				       uint32_t other, uint64_t elapsed_ns)
{
	const struct window *window = counter->window;
	const uint64_t wait = snapshot_wait_under_way(window->now, thread);
	const uint64_t before = other < THREAD_UNKNOWN ? snapshot_wait_under_way(window->from, other) : 0;
	const uint64_t with_wait = number_add_saturating(change, wait);

	/* The age in `from` is not known where that is from a file. A thread that waited throughout waited
	 * for just that long: when the kernel moves it to another CPU, it counts the whole wait, also what
	 * was before the window (sched_info_dequeue() in kernel/sched/stats.h). */
	if (window->now->waiting_ns == NULL && wait >= elapsed_ns)
		return elapsed_ns;
	return with_wait > before ? with_wait - before : 0;
}

/*
 * Whether a wait of which so much is known may have lasted longer within a window: not by more than would be
 * shown, or not because it is as long as the window.
 */
static inline bool window_wait_is_bound(const struct window *window, uint32_t thread, uint64_t wait_ns,
					uint64_t elapsed_ns)
{
	return snapshot_wait_is_bound(window->now, thread) && wait_ns + wait_ns / 100 < elapsed_ns;
}

/*
 * Like window_change(), faster where the counter is even. With `as_rate` the time is never 0: a value that
 * was not read again has none and is unavailable.
 */
static inline uint16_t window_amount(const struct window_counter *counter, uint32_t thread, bool as_rate,
				     uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	uint64_t value, before;
	uint32_t other = THREAD_UNKNOWN;
	uint16_t state;

	if (counter->stored) {
		*ret_amount = metric_reader_value(&counter->now, thread);
		return metric_reader_state(&counter->now, thread);
	}
	if (!counter->even || (as_rate && counter->of_life))
		goto any;
	if (!metric_reader_applies(&counter->now, thread))
		return STATE_ABSENT;
	value = metric_reader_value(&counter->now, thread);
	*ret_elapsed_ns = counter->elapsed_ns;
	if (counter->of_life) {
		*ret_amount = counter->under_way ? window_add_wait(counter, value, thread, other, UINT64_MAX)
						 : value;
		return REASON_READ;
	}
	other = counter->window->from_of[thread];
	if (other >= THREAD_STILL || !metric_reader_applies(&counter->from, other))
		goto any;
	before = metric_reader_value(&counter->from, other);
	if (value < before)
		return REASON_WENT_BACKWARDS;
	value -= before;
	*ret_amount = counter->under_way ? window_add_wait(counter, value, thread, other, counter->elapsed_ns)
					 : value;
	return REASON_READ;
any:
	state = window_change(counter, thread, ret_amount, ret_elapsed_ns);
	return state == REASON_READ && as_rate && *ret_elapsed_ns == 0 ? REASON_NOT_READ : state;
}

/* An amount per second; clock ticks as ns. */
static inline double window_rate(const struct window_counter *counter, uint64_t amount, uint64_t elapsed_ns)
{
	return (double)amount * counter->scale * 1e9 / (double)elapsed_ns;
}

#endif
