/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WAIT_SAMPLES_H
#define CTOP_WAIT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

/*
 * What threads waited for at each of the last readings. Without latency, their time asleep is divided by it.
 * Threads have samples if they are new or two of their readings differ. A zeroed struct has no readings.
 */

enum {
	WAIT_SAMPLES_MAX = 30,  /* readings that count */
	WAIT_SAMPLES_LEAST = 5, /* fewer divide nothing */
};

/* The classes of a thread at its last readings, in no order. */
struct wait_sample {
	uint32_t thread; /* index in the newest reading */
	uint8_t count;
	uint8_t oldest; /* index of the class that the next reading replaces, once there are WAIT_SAMPLES_MAX
			 */
	uint8_t classes[WAIT_SAMPLES_MAX];
};

struct wait_samples {
	size_t readings;             /* in a row in which classes were read */
	struct wait_sample *threads; /* ascending */
	size_t count, capacity;
};

/*
 * Adds the reading `now`, the one after `before`. `before_of` has for each thread of `now` its index in
 * `before`, or a number past the last index if the thread is new. Drops all samples if one of the two
 * readings has no classes.
 */
void wait_samples_add(struct wait_samples *samples, const struct snapshot *before, const struct snapshot *now,
		      const uint32_t before_of[]);

/*
 * Adds to `shares` the part of its time off CPUs and run queues that a thread of the newest reading spent in
 * each class: 1 in all, or nothing if it was never seen there.
 */
void wait_samples_divide(const struct wait_samples *samples, const struct snapshot *now, uint32_t thread,
			 double shares[WAIT_CLASS_COUNT]);

void wait_samples_release(struct wait_samples *samples);

#endif
