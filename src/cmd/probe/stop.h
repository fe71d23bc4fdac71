/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_STOP_H
#define CTOP_PROBE_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * What makes `ctop probe` stop early: SIGINT, SIGTERM and a deadline. They set one flag; calls that block
 * return EINTR.
 */

/* Non-zero when the run is to stop. */
extern volatile int probe_stop_flag;

/*
 * Installs the handlers and, for a `deadline_ms` above 0, starts the thread that prints the marker, sets the
 * flag and wakes this one (SIGALRM) when so much time has passed. Returns 0 or a negative errno with a
 * sentence.
 */
int probe_stop_start(uint64_t deadline_ms, struct error *error);

/* Ends the thread, if there is one. */
void probe_stop_end(void);

/* Sleeps until `until_ns` (CLOCK_MONOTONIC) or until the flag is set, which it looks at every 10 ms. */
void probe_stop_sleep(uint64_t until_ns);

#endif
