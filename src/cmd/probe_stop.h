/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_STOP_H
#define CTOP_PROBE_STOP_H

#include <stdint.h>

/*
 * What makes `ctop probe` stop early: SIGINT, SIGTERM and a deadline. They set one flag; calls that block
 * return EINTR.
 */

/* Non-zero when the run is to stop. */
extern volatile int probe_stop_flag;

/*
 * Installs the handlers and, for a `deadline_ms` above 0, starts the timer (SIGALRM) that sets the flag and
 * prints the marker on stderr when so much time has passed.
 */
void probe_stop_start(uint64_t deadline_ms);

/* Stops the timer. */
void probe_stop_end(void);

/* Sleeps until `until_ns` (CLOCK_MONOTONIC) or until the flag is set, which it looks at every 10 ms. */
void probe_stop_sleep(uint64_t until_ns);

#endif
