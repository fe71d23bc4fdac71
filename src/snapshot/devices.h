/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DEVICES_H
#define CTOP_DEVICES_H

#include <stddef.h>
#include <stdint.h>

/* Counters of each CPU, disk and network interface of a host, since boot or since it was added. */

enum {
	DEVICES_CPUS_MAX = 8192, /* NR_CPUS of arch/x86/Kconfig */
	DEVICES_MAX = 1024,      /* disks, and networks; more are left out */
};

/* A line `cpuN` of /proc/stat (proc_stat(5)), in USER_HZ ticks. */
struct cpu_ticks {
	uint32_t number;
	uint64_t idle; /* waiting for I/O, too */
	uint64_t all;
};

struct device {
	const char *name;     /* as the kernel has it; owned by the snapshot */
	uint64_t busy_ms;     /* of a disk: with some request under way; wraps at 2^32 */
	uint64_t read_bytes;  /* of a network: received */
	uint64_t write_bytes; /* of a network: sent */
};

struct devices {
	/* CLOCK_BOOTTIME when disks and networks were read; 0: nothing is known, of CPUs neither */
	uint64_t read_at_ns;
	uint32_t cpu_end;       /* one above the highest number of a CPU that is present; 0: not known */
	struct cpu_ticks *cpus; /* those that are online, ascending */
	size_t cpu_count;
	struct device *disks; /* whole ones, in the kernel's order */
	size_t disk_count;
	struct device *networks; /* without `lo` */
	size_t network_count;
};

#endif
