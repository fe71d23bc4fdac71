/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SPAN_H
#define CTOP_SPAN_H

#include "snapshot/thread_match.h"
#include "view/view.h"

/* Between which two readings values are taken. One snapshot alone has VIEW_MODE_TOTAL only. */
struct span {
	const struct snapshot *now;
	const struct snapshot *from; /* NULL: nothing to count from, or VIEW_MODE_TOTAL */
	const uint32_t *from_of;     /* [now]: index in `from`, or THREAD_… */
	reason_id missing;           /* why there is no `from` */
	const struct ended *ended;   /* threads that ended since `from` and count; NULL: none do */
	enum view_mode mode;
};

/* The same snapshot as it stands: the lives of its threads. */
static inline struct span span_of_life(const struct span *span)
{
	return (struct span){.now = span->now, .missing = span->missing, .mode = VIEW_MODE_TOTAL};
}

/* Value state of a series beside reason ids (REASON_READ: there). */
enum {
	SERIES_ABSENT = 256
};

/* One counter of many threads. */
struct series {
	double *values;
	uint16_t *states;
};

/*
 * The change of a counter of one thread, in the unit of the metric; in VIEW_MODE_TOTAL its lifetime value.
 * Returns REASON_READ, SERIES_ABSENT or the reason why it is not known.
 */
uint16_t span_change(const struct span *span, uint32_t thread, enum metric metric, uint64_t *ret_amount);

/*
 * The same for `count` threads into `series` (whose arrays have room): amounts (ticks as ns), or per second
 * when `as_rate`.
 */
void span_fill(const struct span *span, const uint32_t *threads, size_t count, enum metric metric,
	       bool as_rate, struct series *series);

#endif
