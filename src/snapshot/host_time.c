/* SPDX-License-Identifier: GPL-2.0-only */
#include "host_time.h"

#include <math.h>

#include "base/clock.h"

/*
 * The host's times are what a tick met: beyond three standard deviations it is no chance. How long a tick is
 * nobody tells, at most 10 ms (CONFIG_HZ=100). Nor do they tell less than a USER_HZ tick, of three times at
 * two ends.
 */
#define TICK_NS    (10.0 * NS_PER_MS)
#define DEVIATIONS 3
#define STEPS_NS   (6.0 * NS_PER_TICK)
#define DRIFT      0.01 /* by which the clock of the scheduler and that of the tick may differ */

/* Kinds of cpu_ticks. */
enum {
	TICKS_USER,
	TICKS_NICE,
	TICKS_SYSTEM,
};

struct host_time host_time_of(const struct snapshot *from, const struct snapshot *now)
{
	const uint64_t *before = from->provenance.cpu_ticks, *after = now->provenance.cpu_ticks;
	struct host_time time = {
		.elapsed_ns = (double)now->provenance.cpu_ticks_at_ns -
			      (double)from->provenance.cpu_ticks_at_ns,
	};

	for (size_t i = 0; i < CPU_TICK_KINDS; i++) {
		double part = after[i] > before[i] ? (double)(after[i] - before[i]) * NS_PER_TICK : 0;

		time.total_ns += part;
		if (i == TICKS_USER || i == TICKS_NICE || i == TICKS_SYSTEM)
			time.busy_ns += part;
	}
	/* the two clocks have steps of their own, but no CPU runs for longer than the time that passed */
	if (now->host.online_cpus.present)
		time.busy_ns = fmin(time.busy_ns,
				    (double)now->host.online_cpus.value * fmax(0, time.elapsed_ns));
	return time;
}

double host_time_uncertainty_ns(const struct snapshot *from, const struct snapshot *now)
{
	const struct host_time host = host_time_of(from, now);
	const double elapsed = (double)now->provenance.boottime_ns - (double)from->provenance.boottime_ns;

	if (host.total_ns == 0 || host.elapsed_ns <= 0)
		return INFINITY;
	/* threads are read while a round goes on, the host's time is read at one moment of it */
	return DEVIATIONS * sqrt(TICK_NS * host.busy_ns * fmax(0, 1 - host.busy_ns / host.total_ns)) +
	       STEPS_NS + DRIFT * host.busy_ns +
	       fabs(host.elapsed_ns - elapsed) * host.busy_ns / host.elapsed_ns;
}
