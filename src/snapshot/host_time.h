/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOST_TIME_H
#define CTOP_HOST_TIME_H

#include "snapshot.h"

/* CPU time of a host between two rounds, by its CPU ticks. */
struct host_time {
	double busy_ns, total_ns; /* in which they ran threads, and all of it */
	double elapsed_ns;        /* between the two readings; 0 or less: nothing is known */
};

/*
 * Interrupts are left out of what is busy: whether the time of threads includes theirs depends on the kernel
 * (CONFIG_IRQ_TIME_ACCOUNTING), and that of idle CPUs is no thread's.
 */
struct host_time host_time_of(const struct snapshot *from, const struct snapshot *now);

/* By how much the host's time may be off from that of its threads, in ns; INFINITY: nothing is known. */
double host_time_uncertainty_ns(const struct snapshot *from, const struct snapshot *now);

#endif
