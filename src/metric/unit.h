/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_UNIT_H
#define CTOP_UNIT_H

#include "metric.h"

/* The unit of a number. */
enum unit {
	UNIT_NONE,
	UNIT_COUNT,
	UNIT_NS,
	UNIT_US,
	UNIT_BYTES,
	UNIT_TICKS,
	UNIT_RATIO,   /* a fraction, 0.5 */
	UNIT_PERCENT, /* 50.0 */
	UNIT_COUNT_PER_S,
	UNIT_BYTES_PER_S,
	UNIT_NS_PER_S,
	UNIT_TICKS_PER_S,
	UNIT_CPUS, /* a number of CPUs, 1.82 */
	UNIT_TOTAL,
};

/* Names for CSV and JSON: "", "count", "ns", "us", "bytes", "ticks", "ratio", "percent", "count_per_s" … */
extern const char *const unit_names[UNIT_TOTAL];

/* The unit of so much a second; UNIT_NONE where there is none. */
enum unit unit_per_second(enum unit unit);

/* The unit that the numbers of a ladder count. */
enum unit unit_of_ladder(enum ladder ladder);

/* The ladder of the amounts of a unit, also of so much a second; LADDER_NONE where there is none. */
enum ladder unit_ladder(enum unit unit);

#endif
