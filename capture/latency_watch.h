/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LATENCY_WATCH_H
#define CTOP_LATENCY_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "capture/procfs/root.h"
#include "snapshot/snapshot.h"

/*
 * Puts waits for a CPU and in D, which BPF measures, into snapshots: names instead of ids, the waits of a
 * round or of the whole time (docs/reference/latency.md).
 */
struct latency_watch;

/*
 * Whether waits can be measured on a kernel, as uname(2) describes it. The programs get room for a new
 * thread's times with preemption switched off, where a kernel with PREEMPT_RT must not use kmalloc(): it does
 * before Linux 6.4, which has bpf_mem_cache_alloc() for it (kernel/bpf/bpf_local_storage.c).
 */
bool latency_watch_suits(const struct utsname *kernel);

/*
 * Loads what measures it, switched off, with the rights of the caller; of `scope_count` processes alone where
 * that is not 0. `*ret_result` is on, or says why it cannot be measured, in words that `arena` owns. Returns
 * NULL then. `roots` outlives the watch.
 */
struct latency_watch *latency_watch_open(const struct roots *roots, const uint32_t *scope, size_t scope_count,
					 struct arena *arena, struct feature_result *ret_result);
void latency_watch_close(struct latency_watch *watch);

/* Begins or ends measuring. Returns 0 or a negative errno. */
int latency_watch_switch(struct latency_watch *watch, bool on);

/*
 * Gives a snapshot whose threads have their names what was measured: all since measuring began when `whole`,
 * else what no live round has had yet. Nothing while it is switched off.
 */
void latency_watch_read(struct latency_watch *watch, bool whole, struct snapshot *snapshot);

/* Takes back what a live round had that nobody has looked at: the next one has it too. */
void latency_watch_return(struct latency_watch *watch, const struct snapshot *snapshot);

#endif
