/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_FUTEX_H
#define CTOP_BPF_FUTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "futex_record.h"
#include "metric/feature.h"

/* Measures how long threads of a process wait at each futex, by programs at the scheduler's events. */
struct bpf_futex;

/* Waits since the last reading, or since the opening. */
struct bpf_futex_reading {
	const uint64_t *addresses; /* of `count` futexes, in no order */
	const struct futex_sums *sums;
	size_t count;    /* at most FUTEX_RECORDS */
	bool overflowed; /* there were waits at more futexes */
};

/*
 * Loads the programs and begins measuring a process, by its id in the initial pid namespace. `calls` says
 * which system calls wait at a futex. `*ret_result` is on, or says why waits cannot be measured; `arena` owns
 * its words. Returns NULL then; else the reader, to be ended with bpf_futex_close().
 */
struct bpf_futex *bpf_futex_open(uint32_t process, const struct futex_calls *calls, struct arena *arena,
				 struct feature_result *ret_result);

/* NULL is allowed. */
void bpf_futex_close(struct bpf_futex *futex);

/* Reads what was measured; its arrays are valid until the next call. Returns 0 or a negative errno. */
int bpf_futex_read(struct bpf_futex *futex, struct bpf_futex_reading *ret_reading);

#endif
