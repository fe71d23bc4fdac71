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

/* What the numbers of a window's threads are. */
enum window_basis {
	WINDOW_MEASURED, /* what they did, unfinished waits included; times in ns */
	/* Lives as the file stores them, for reports: without unfinished waits and delays whose switch is
	 * off, and with clock ticks. */
	WINDOW_STORED,
	/* The same; the format's flags alone say what was measured, since the file has no `ctop` objects or
	 * --ktstr was given. */
	WINDOW_FLAGGED,
};

#endif
