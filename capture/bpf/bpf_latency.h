/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_LATENCY_H
#define CTOP_BPF_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "latency_record.h"
#include "metric/feature.h"

/*
 * Measures how long threads wait for a CPU, and how long they are blocked (D), by programs at the scheduler's
 * events. It is loaded switched off, and costs nothing until it is switched on.
 */
struct bpf_latency;

/* The waits of threads that share their names, which ended since the last reading. */
struct bpf_waits {
	const struct latency_names *names; /* NULL: of all threads without a slot */
	uint32_t tgid, tid;                /* of one of the threads, in the initial pid namespace */
	uint64_t buckets[LATENCY_RECORD_KINDS][LATENCY_RECORD_BUCKETS];    /* [i]: from 2^i ns on */
	uint64_t sum[LATENCY_RECORD_KINDS], longest[LATENCY_RECORD_KINDS]; /* ns */
};

typedef void bpf_latency_take(void *context, const struct bpf_waits *waits);

/*
 * Loads the programs, switched off. Of `scope_count` processes only where that is not 0, ids as in the
 * initial pid namespace. `*ret_result` is on, or tells why it cannot be measured; its words are owned by
 * `arena`. Returns NULL then; else the reader, to be ended with bpf_latency_close().
 */
struct bpf_latency *bpf_latency_open(const uint32_t *scope, size_t scope_count, struct arena *arena,
				     struct feature_result *ret_result);
void bpf_latency_close(struct bpf_latency *latency);

/* Begins or ends measuring; what is not read then is forgotten. Returns 0 or a negative errno. */
int bpf_latency_switch(struct bpf_latency *latency, bool on);

/*
 * Hands over the waits that ended since the last reading, or since it was switched on (`take` may be NULL),
 * and the cost of measuring: `*ret_events` of the scheduler, and ns of CPU time inside the programs, as
 * estimated from one event in 64. `*ret_unseen` switches of CPUs, or more, the kernel did not tell of.
 */
void bpf_latency_read(struct bpf_latency *latency, bpf_latency_take *take, void *context,
		      uint64_t *ret_events, uint64_t *ret_unseen, uint64_t *ret_cost_ns);

#endif
