/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOST_NUMBERS_H
#define CTOP_HOST_NUMBERS_H

#include "base/buffer.h"
#include "snapshot/snapshot.h"

/* Numbers of a host as a whole, between two rounds: what the screen's header and `-b` say of it. */

/* Part of the time between two rounds (NULL: none) in which some task waited for a resource, as a fraction;
 * NAN when it is not known. */
double host_pressure_share(const struct snapshot *now, const struct snapshot *before,
			   enum pressure_resource resource);

/* The number of CPUs online in a round, preferably from the list of their ticks; 0 if unknown. */
uint64_t host_online_cpus(const struct snapshot *round);

/*
 * The busy share of each CPU between two rounds, by CPU number: NAN for CPUs that were not online all the
 * time. `*ret_count` is the number of CPUs, including offline ones. Each round may be NULL. Returns NULL if
 * unknown; otherwise the caller frees the array.
 */
double *host_cpu_shares(const struct snapshot *now, const struct snapshot *before, size_t *ret_count);

/* Rates of a disk or network interface between two rounds. */
struct host_device_rate {
	const char *name;               /* owned by the newer round, as read, not sanitised */
	double busy;                    /* part of the time in which a disk had some request under way */
	double read_per_s, write_per_s; /* bytes; of a network: received, sent */
};

/* The disk that was busy longest, or the network with the most bytes; false where none is known. */
bool host_busiest_disk(const struct snapshot *now, const struct snapshot *before,
		       struct host_device_rate *ret_rate);
bool host_busiest_network(const struct snapshot *now, const struct snapshot *before,
			  struct host_device_rate *ret_rate);

/*
 * Append pieces of a line about a host, or nothing if unknown: "up 3d", "load 0.5 0.4 0.3", "cpu 23% of 8",
 * "psi cpu 0.4 mem 0 io 12", "mem 40% of 16G" or, if brief, "mem 40%". If CPUs went offline or online between
 * two rounds, "cpu unknown" and the reason. Pressure is the percentage of the time between two rounds in
 * which some task waited; without an earlier round (NULL), as from a file, the kernel's average of the last
 * 10 s (Documentation/accounting/psi.rst).
 */
void host_append_uptime(const struct snapshot *now, struct buffer *buffer);
void host_append_load(const struct snapshot *now, struct buffer *buffer);
void host_append_busy(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer);
void host_append_pressure(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer);
void host_append_memory(const struct snapshot *now, bool brief, struct buffer *buffer);

/*
 * Appends all of it in one line without its end: "HOST  up 3d  load 0.5 0.4 0.3  cpu 23% of 8  runnable 3
 * …". Nothing is appended of what is not known. The name of the host is as read, not sanitised.
 */
void host_append_line(const struct snapshot *now, const struct snapshot *before, struct buffer *buffer);

#endif
