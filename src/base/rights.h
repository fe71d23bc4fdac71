/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RIGHTS_H
#define CTOP_RIGHTS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

/* The bit of a capability (CAP_…) in a set of them. */
#define RIGHTS_BIT(capability) (UINT64_C(1) << (capability))

/* The sets of a thread (capabilities(7)): its rights beyond those of its user. */
struct rights {
	uint64_t effective, permitted, inheritable;
};

/* The rights that this thread has now. Returns 0 or a negative errno. */
int rights_read(struct rights *ret_rights);

/*
 * Leaves this thread only the rights that its user has without ctop: empties the effective set, unless the
 * real user is root, whose own rights are meant to count. Returns 0, or a negative errno when nothing was
 * lowered.
 */
int rights_lower(struct rights *ret_before);

/* Undoes rights_lower() or rights_use(), or takes what rights_read() gave in another process. */
void rights_restore(const struct rights *before);

/* Makes effective what is permitted and in `wanted`, and nothing else. Returns 0 or a negative errno. */
int rights_use(uint64_t wanted);

/*
 * Leaves this thread of what it is permitted only `kept`, for good, and makes that of it effective which is
 * in `wanted` too. Failure leaves the thread as it was.
 */
void rights_limit(uint64_t kept, uint64_t wanted);

/* The effective capabilities of this thread; 0 when unknown. */
uint64_t rights_effective(void);

/* Whether they hold a capability (CAP_…). */
bool rights_include(int capability);

/* Empties every set of this thread, for good. Returns 0 or a negative errno. */
int rights_give_up(void);

#endif
