/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FUTEX_H
#define CTOP_FUTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/feature.h"

/* The futexes at which threads of a process wait. Live rounds have them on request, files never. */

enum {
	FUTEXES_MAX = 4096, /* those with the longest time are kept */
};

/* Times in ns. Without measuring, `waits` and times are unknown. */
struct futex {
	uint64_t address; /* 0: of a thread that waits at several */
	uint64_t waits;   /* that ended since the round before */
	uint64_t time_ns; /* of all threads since the round before, with unfinished waits */
	uint64_t longest_ns;
	uint32_t threads;    /* that wait there now */
	bool is_lock;        /* by the value that threads wait for */
	const char *mapping; /* such as "[heap]"; NULL: unknown */
};

struct futexes {
	struct futex *items; /* by time, then by threads, descending; texts are in the arena */
	size_t count, capacity;
	bool present;
	bool has_more;                /* some were not kept */
	struct feature_result result; /* whether waits are measured */
};

#endif
