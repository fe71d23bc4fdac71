/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_AMOUNTS_H
#define CTOP_ENDED_AMOUNTS_H

#include <stdint.h>

#include "capture/bpf/exit_record.h"
#include "snapshot/ended_set.h"

/* What the kernel counts of a thread, as amounts of a set: for both ways in which it tells. */

enum {
	ENDED_NAME_SIZE = 16, /* TASK_COMM_LEN of include/linux/sched.h */
	ENDED_NAME_ROOM = ENDED_NAME_SIZE + 1,
	ENDED_NO_ROW = UINT32_MAX,
};

struct ended_source {
	enum exit_amount amount;
	uint32_t needs; /* EXIT_KERNEL_… */
};

/* The amount of the kernel that each amount of a set is; user and system time are shared out anew. */
extern const struct ended_source ended_sources[ENDED_METRICS];

/*
 * The amounts of a set: `delayed` threads among them had a record of delays; the two times, in ns, are not
 * less than the least, which was told before.
 */
struct ended_amounts ended_amounts_of(const __u64 amounts[static EXIT_AMOUNTS], uint64_t delayed,
				      uint64_t least_user, uint64_t least_system);

/* The name of what nobody tells the name of. */
extern const char ended_unknown_name[];

/* A name of the kernel's structure as /proc has it, without blanks around it. Returns `text`. */
const char *ended_name(char text[static ENDED_NAME_ROOM], const char name[static ENDED_NAME_SIZE]);

#endif
