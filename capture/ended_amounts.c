/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended_amounts.h"

#include <string.h>

#include "base/clock.h"
#include "capture/procfs/text_scan.h"

const char ended_unknown_name[] = "(ended)";

const struct ended_source ended_sources[ENDED_METRICS] = {
	{EXIT_RUN_TIME, 0},
	{EXIT_RUN_DELAY, 0},
	{EXIT_TIMESLICES, 0},
	{EXIT_VOLUNTARY, 0},
	{EXIT_NONVOLUNTARY, 0},
	{EXIT_MIGRATIONS, 0},
	{EXIT_MINOR_FAULTS, 0},
	{EXIT_MAJOR_FAULTS, 0},
	{EXIT_USER_TIME, 0},
	{EXIT_SYSTEM_TIME, 0},
	{EXIT_IO, EXIT_KERNEL_CHARS},
	{EXIT_IO + 1, EXIT_KERNEL_CHARS},
	{EXIT_IO + 2, EXIT_KERNEL_CHARS},
	{EXIT_IO + 3, EXIT_KERNEL_CHARS},
	{EXIT_IO + 4, EXIT_KERNEL_IO},
	{EXIT_IO + 5, EXIT_KERNEL_IO},
	{EXIT_IO + 6, EXIT_KERNEL_IO},
	{EXIT_TIMESLICES, EXIT_KERNEL_DELAYS},
	{EXIT_RUN_DELAY, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 1, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 2, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 3, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 4, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 5, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 6, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 7, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 8, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 9, EXIT_KERNEL_DELAYS},
	{EXIT_DELAYS + 10, EXIT_KERNEL_WPCOPY_DELAY},
	{EXIT_DELAYS + 11, EXIT_KERNEL_WPCOPY_DELAY},
	{EXIT_DELAYS + 12, EXIT_KERNEL_IRQ_DELAY},
	{EXIT_DELAYS + 13, EXIT_KERNEL_IRQ_DELAY},
};

/*
 * Shares the run time out as the clock's tick saw the two times, not less than what was told before:
 * cputime_adjust() of kernel/sched/cputime.c.
 */
static void share_times(const __u64 amounts[static EXIT_AMOUNTS], uint64_t least_user, uint64_t least_system,
			struct ended_amounts *ret)
{
	const uint64_t run = amounts[EXIT_RUN_TIME];
	const uint64_t user = amounts[EXIT_USER_TIME], system = amounts[EXIT_SYSTEM_TIME];
	uint64_t share = 0;

	if (system != 0)
		share = user == 0 ? run : (uint64_t)((double)run * (double)system / (double)(user + system));
	if (share < least_system)
		share = least_system;
	if (share > run)
		share = run;
	if (run - share < least_user)
		share = run > least_user ? run - least_user : 0;
	for (size_t i = 0; i < ENDED_METRICS; i++) {
		if (ended_metrics[i] == METRIC_UTIME_CLOCK_TICKS)
			ret->of[i] = (run - share + NS_PER_TICK / 2) / NS_PER_TICK;
		else if (ended_metrics[i] == METRIC_STIME_CLOCK_TICKS)
			ret->of[i] = (share + NS_PER_TICK / 2) / NS_PER_TICK;
	}
}

struct ended_amounts ended_amounts_of(const __u64 amounts[static EXIT_AMOUNTS], uint64_t delayed,
				      uint64_t least_user, uint64_t least_system)
{
	struct ended_amounts result = {.delayed = delayed};

	for (size_t i = 0; i < ENDED_METRICS; i++)
		result.of[i] = amounts[ended_sources[i].amount];
	share_times(amounts, least_user, least_system, &result);
	return result;
}

const char *ended_name(char text[static ENDED_NAME_ROOM], const char name[static ENDED_NAME_SIZE])
{
	struct text trimmed = text_trim((struct text){name, strnlen(name, ENDED_NAME_SIZE)});

	memcpy(text, trimmed.data, trimmed.length);
	text[trimmed.length] = '\0';
	return text;
}
