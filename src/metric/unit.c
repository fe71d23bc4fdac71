/* SPDX-License-Identifier: GPL-2.0-only */
#include "unit.h"

const char *const unit_names[UNIT_TOTAL] = {
	[UNIT_NONE] = "",
	[UNIT_COUNT] = "count",
	[UNIT_NS] = "ns",
	[UNIT_US] = "us",
	[UNIT_BYTES] = "bytes",
	[UNIT_TICKS] = "ticks",
	[UNIT_RATIO] = "ratio",
	[UNIT_PERCENT] = "percent",
	[UNIT_COUNT_PER_S] = "count_per_s",
	[UNIT_BYTES_PER_S] = "bytes_per_s",
	[UNIT_NS_PER_S] = "ns_per_s",
	[UNIT_TICKS_PER_S] = "ticks_per_s",
	[UNIT_CPUS] = "cpus",
};

enum unit unit_per_second(enum unit unit)
{
	static const enum unit units[UNIT_TOTAL] = {
		[UNIT_COUNT] = UNIT_COUNT_PER_S,
		[UNIT_NS] = UNIT_NS_PER_S,
		[UNIT_BYTES] = UNIT_BYTES_PER_S,
		[UNIT_TICKS] = UNIT_TICKS_PER_S,
	};

	return units[unit];
}

enum unit unit_of_ladder(enum ladder ladder)
{
	static const enum unit units[] = {
		[LADDER_NONE] = UNIT_NONE, [LADDER_UNITLESS] = UNIT_COUNT, [LADDER_NS] = UNIT_NS,
		[LADDER_US] = UNIT_US,     [LADDER_BYTES] = UNIT_BYTES,    [LADDER_TICKS] = UNIT_TICKS,
	};

	return units[ladder];
}

enum ladder unit_ladder(enum unit unit)
{
	static const enum ladder ladders[UNIT_TOTAL] = {
		[UNIT_COUNT] = LADDER_UNITLESS,
		[UNIT_COUNT_PER_S] = LADDER_UNITLESS,
		[UNIT_NS] = LADDER_NS,
		[UNIT_NS_PER_S] = LADDER_NS,
		[UNIT_US] = LADDER_US,
		[UNIT_BYTES] = LADDER_BYTES,
		[UNIT_BYTES_PER_S] = LADDER_BYTES,
		[UNIT_TICKS] = LADDER_TICKS,
		[UNIT_TICKS_PER_S] = LADDER_TICKS,
	};

	return ladders[unit];
}
