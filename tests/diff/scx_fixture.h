/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_SCX_FIXTURE_H
#define CTOP_TESTS_SCX_FIXTURE_H

#include "snapshot/snapshot.h"

/* Contexts of a made sched_ext scheduler: a field of each reduction. */

enum scx_fixture_field {
	SCX_FIXTURE_WEIGHT,      /* sum */
	SCX_FIXTURE_SUM_RUNTIME, /* counter, ns */
	SCX_FIXTURE_AVG_RUNTIME, /* mean, ns */
	SCX_FIXTURE_LAST_RUN_AT, /* age, ns; the clock stands at SCX_FIXTURE_NOW */
	SCX_FIXTURE_MAX_SLOTS,   /* maximum, signed */
	SCX_FIXTURE_GREEDY,      /* bool */
	SCX_FIXTURE_STATE,       /* enum: IDLE 0, BUSY 3 */
	SCX_FIXTURE_EXTRA,       /* its name is the caller's; a mean unless the name says something else */
	SCX_FIXTURE_FIELDS,
};

#define SCX_FIXTURE_NOW UINT64_C(10000000000)

/*
 * Gives a snapshot with `ctop` objects this scheduler, which runs for the `enable_seq`th time, and no thread
 * a context. `extra` is the name of a last field, or NULL.
 */
void scx_fixture_begin(struct snapshot *snapshot, const char *scheduler, uint64_t enable_seq,
		       const char *extra);

/* Gives a thread a context of these values. */
void scx_fixture_add(struct snapshot *snapshot, size_t thread, const uint64_t values[SCX_FIXTURE_FIELDS]);

/* Adds a counter of the kernel. */
void scx_fixture_add_event(struct snapshot *snapshot, const char *name, uint64_t value);

#endif
