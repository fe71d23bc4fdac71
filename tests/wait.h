/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_WAIT_H
#define CTOP_TEST_WAIT_H

/* Waiting for what comes in its own time. No test decides anything by a sleep of a fixed length. */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum {
	/* Enough for a loaded machine, sanitizers and emulation; a test that passes never waits so long. */
	WAIT_AT_MOST_S = 60,
};

struct patience {
	struct timespec end; /* of CLOCK_MONOTONIC */
	long pause_ns;
};

static inline struct patience patience_begin(unsigned int seconds)
{
	struct patience patience = {.pause_ns = 500000};

	clock_gettime(CLOCK_MONOTONIC, &patience.end);
	patience.end.tv_sec += (time_t)seconds;
	return patience;
}

/* Sleeps a little, longer from time to time: what comes at once is seen at once, and a long wait costs no
 * CPU. False past the end, so that the condition is looked at once more after the last sleep. */
static inline bool patience_pause(struct patience *patience)
{
	const struct timespec pause = {0, patience->pause_ns};
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > patience->end.tv_sec ||
	    (now.tv_sec == patience->end.tv_sec && now.tv_nsec >= patience->end.tv_nsec))
		return false;
	nanosleep(&pause, NULL);
	if (patience->pause_ns < 20000000)
		patience->pause_ns += patience->pause_ns / 4;
	return true;
}

/* Whether `condition`, which is evaluated again and again, comes true within so many seconds. */
#define wait_at_most(seconds, condition)                                                                     \
	({                                                                                                   \
		struct patience patience_ = patience_begin(seconds);                                         \
		bool is_true_;                                                                               \
		do {                                                                                         \
			is_true_ = (condition);                                                              \
		} while (!is_true_ && patience_pause(&patience_));                                           \
		is_true_;                                                                                    \
	})

#define wait_until(condition) wait_at_most(WAIT_AT_MOST_S, condition)

/* Fails the test, naming what did not come true. Needs cmocka. */
#define await(what, condition)                                                                               \
	do {                                                                                                 \
		if (!wait_until(condition))                                                                  \
			fail_msg("waited %d s in vain: %s", (int)WAIT_AT_MOST_S, what);                      \
	} while (0)

#endif
