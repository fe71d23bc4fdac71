/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WINDOW_MODE_H
#define CTOP_WINDOW_MODE_H

/* Over which span a number counts. */
enum window_mode {
	WINDOW_MODE_RATE,     /* per second, or percent of one thread's wall time, over the last interval */
	WINDOW_MODE_INTERVAL, /* amounts over the last interval */
	WINDOW_MODE_BASE,     /* amounts since the base */
	WINDOW_MODE_TOTAL,    /* lifetime of the living threads */
	WINDOW_MODE_COUNT,
};

extern const char *const window_mode_names[WINDOW_MODE_COUNT]; /* "rate" "interval" "base" "total" */

#endif
