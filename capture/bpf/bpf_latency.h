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
 * Measures how long threads wait for a CPU and who runs there meanwhile, and how long they are blocked (D),
 * by programs at the scheduler's events. It is loaded switched off, and costs nothing until it is switched
 * on.
 */
struct bpf_latency;

/* The waits of threads that have one slot, which ended since the last reading; may be none. And the time that
 * they spent in each class of wait_class.def since then. Or those of the threads among them that belong to
 * one process. */
struct bpf_waits {
	uint32_t slot;
	const struct latency_names *names; /* NULL: of all threads without a slot */
	uint32_t tgid, tid;                /* of one of the threads, in the initial pid namespace */
	uint64_t buckets[LATENCY_RECORD_KINDS][LATENCY_RECORD_BUCKETS];    /* [i]: from 2^i ns on */
	uint64_t sum[LATENCY_RECORD_KINDS], longest[LATENCY_RECORD_KINDS]; /* ns */
	uint64_t time[WAIT_CLASS_COUNT]; /* ns in each class; of what goes on, up to the reading */
};

/* The time that threads of one slot waited for a CPU while threads of another ran there, or for another
 * cause; and how often these woke them. */
struct bpf_blame {
	uint32_t victim, culprit; /* slots whose waits were handed over before; the culprit may be BLAME_… */
	uint64_t time;            /* ns */
	uint64_t waits;           /* of the victim in which it was */
	uint64_t wakes;           /* of the victim by the culprit; BLAME_INTERRUPTS: by interrupts */
};

struct bpf_latency_taker {
	void (*waits)(void *context, const struct bpf_waits *waits);
	/* Those of the process `tgid`, of a slot whose waits were handed over just before; NULL: not wanted.
	 */
	void (*share)(void *context, const struct bpf_waits *waits);
	void (*blame)(void *context, const struct bpf_blame *blame); /* NULL: not wanted */
	void *context;
};

struct bpf_latency_cost {
	uint64_t span_ns; /* of what was measured */
	uint64_t events;  /* of the scheduler */
	uint64_t unseen;  /* switches of CPUs, or more, that the kernel did not tell of */
	uint64_t time_ns; /* CPU time inside the programs, as estimated from one event in 64 */
};

/*
 * Loads the programs, switched off. Of `scope_count` processes only where that is not 0, ids as in the
 * initial pid namespace. `calls` says what sleeps in system calls are. `*ret_result` is on, or tells why it
 * cannot be measured; its words are owned by `arena`. Returns NULL then; else the reader, to be ended with
 * bpf_latency_close().
 */
struct bpf_latency *bpf_latency_open(const uint32_t *scope, size_t scope_count,
				     const struct latency_calls *calls, struct arena *arena,
				     struct feature_result *ret_result);
void bpf_latency_close(struct bpf_latency *latency);

/* Begins or ends measuring; what is not read then is forgotten. Returns 0 or a negative errno. */
int bpf_latency_switch(struct bpf_latency *latency, bool on);

/*
 * Hands over the waits that ended since the last reading, or since it was switched on (`taker` may be NULL),
 * and the times, of each slot and of its shares, and then what delayed the waits. `*ret_cost` is the cost of
 * measuring since then.
 */
void bpf_latency_read(struct bpf_latency *latency, const struct bpf_latency_taker *taker,
		      struct bpf_latency_cost *ret_cost);

#endif
