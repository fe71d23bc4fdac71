/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SPAN_H
#define CTOP_SPAN_H

#include "base/number.h"
#include "snapshot/metric_reader.h"
#include "snapshot/thread_match.h"
#include "view/view.h"

/* Beside what thread_match() says of a thread, in a span. */
enum {
	/* as it is now, in all that is not time: its row has been given up (see session_add_round()) */
	THREAD_STILL = UINT32_MAX - 2,
};

/* Between which two readings values are taken. One snapshot alone has VIEW_MODE_TOTAL only. */
struct span {
	const struct snapshot *now;
	const struct snapshot *from; /* NULL: nothing to count from, or VIEW_MODE_TOTAL */
	const uint32_t *from_of;     /* [now]: index in `from`, or THREAD_…, THREAD_STILL included */
	reason_id missing;           /* why there is no `from` */
	/*
	 * [now]: whether a thread is as it was in `from` in all that is not time; NULL: not known. See
	 * snapshot.moved.
	 */
	const bool *still;
	const struct ended *ended;     /* threads that ended since `from` and count; NULL: none do */
	const struct latency *latency; /* how long waits took; NULL or of no length: not measured */
	uint64_t elapsed_ns;           /* from `from` to `now` */
	enum view_mode mode;
};

/* The same snapshot as it stands: the lives of its threads. */
static inline struct span span_of_life(const struct span *span)
{
	return (struct span){.now = span->now, .missing = span->missing, .mode = VIEW_MODE_TOTAL};
}

/* Whether it is known how long present waits have lasted, on both sides where there are two. */
static inline bool span_knows_waits(const struct span *span)
{
	return span->now->waiting_ns != NULL && (span->from == NULL || span->from->waiting_ns != NULL);
}

/* Why it is not known how long they have lasted. */
static inline reason_id span_waits_missing(const struct span *span)
{
	return span->now->provenance.present ? REASON_OTHER_BACKEND : REASON_NOT_IN_FILE;
}

/* State of a value beside the reason ids (REASON_READ: there). */
enum {
	SPAN_ABSENT = 256
};

/* A counter over a span, looked up once for many threads. Valid as long as the span. */
struct span_counter {
	const struct span *span;
	struct metric_reader now, from;
	bool frozen;
	bool even;    /* all threads that it applies to were read on both sides, all `elapsed_ns` apart */
	bool of_life; /* in VIEW_MODE_TOTAL; there is one side only */
	uint64_t elapsed_ns;
	double scale;   /* ns of a tick, else 1 */
	bool under_way; /* waits for a CPU count as far as they have gone, not only when they end */
	bool bounded;   /* a change longer than the thread's life is none, see struct metric_reader */
};

struct span_counter span_counter_of(const struct span *span, enum metric metric);

/*
 * Whether threads that stand still and are alike (shown_gather_still()) have one state in this counter: then
 * what span_change() says of one of them it says of all.
 */
bool span_counter_is_even(const struct span_counter *counter);

/*
 * The change in one thread, in the unit of the metric, and the time between the two readings; in
 * VIEW_MODE_TOTAL the lifetime value and the age of the thread. Returns REASON_READ, SPAN_ABSENT or the
 * reason why it is not known.
 */
uint16_t span_change(const struct span_counter *counter, uint32_t thread, uint64_t *ret_amount,
		     uint64_t *ret_elapsed_ns);

/*
 * A change in a counter of waits for a CPU with the part of the present wait that is in the span. `other` is
 * the thread in `from`, or THREAD_…; what was under way there is in the counter now, or still under way.
 */
static inline uint64_t span_add_wait(const struct span_counter *counter, uint64_t change, uint32_t thread,
				     uint32_t other)
{
	const struct span *span = counter->span;
	const uint64_t with_wait = number_add_saturating(change, snapshot_wait_under_way(span->now, thread));
	const uint64_t before = other < THREAD_UNKNOWN ? snapshot_wait_under_way(span->from, other) : 0;

	return with_wait > before ? with_wait - before : 0;
}

/* For span_value(): what is not among the usual cases. */
uint16_t span_value_of_any(const struct span_counter *counter, uint32_t thread, bool as_rate,
			   double *ret_value);

/* The same as a number: an amount (ticks as ns), or per second when `as_rate`. */
static inline uint16_t span_value(const struct span_counter *counter, uint32_t thread, bool as_rate,
				  double *ret_value)
{
	uint64_t value, before;
	uint32_t other = THREAD_UNKNOWN;

	if (!counter->even || (as_rate && counter->of_life))
		return span_value_of_any(counter, thread, as_rate, ret_value);
	if (!metric_reader_applies(&counter->now, thread))
		return SPAN_ABSENT;
	value = metric_reader_value(&counter->now, thread);
	if (counter->of_life) {
		if (counter->under_way)
			value = span_add_wait(counter, value, thread, other);
		*ret_value = (double)value * counter->scale;
		return REASON_READ;
	}
	other = counter->span->from_of[thread];
	if (other >= THREAD_STILL || !metric_reader_applies(&counter->from, other))
		return span_value_of_any(counter, thread, as_rate, ret_value);
	before = metric_reader_value(&counter->from, other);
	if (value < before)
		return REASON_WENT_BACKWARDS;
	value -= before;
	if (counter->under_way)
		value = span_add_wait(counter, value, thread, other);
	*ret_value = (double)value * counter->scale;
	if (as_rate)
		*ret_value = *ret_value * 1e9 / (double)counter->elapsed_ns;
	return REASON_READ;
}

#endif
