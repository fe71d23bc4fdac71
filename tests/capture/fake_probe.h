/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_FAKE_PROBE_H
#define CTOP_TEST_FAKE_PROBE_H

#include <sys/types.h>

#include "probe/probe.h"

/*
 * A stand-in for the allocator probe whose findings a test sets: fake_probe.c defines the functions of
 * probe.h. Processes that a test says nothing of have no jemalloc.
 */

/* The result of looking at a process from now on; `tag` of a failure. */
void fake_probe_set(pid_t tgid, enum probe_state state, enum heap_tag tag, enum layout_origin origin);

/* The result of reading a thread from now on; other threads have counted nothing. */
void fake_probe_set_thread(pid_t tid, uint64_t allocated, uint64_t deallocated);
void fake_probe_fail_thread(pid_t tid, enum heap_tag tag, int error_number);

/* The number of looks at processes, and of threads read, since the last fake_probe_forget(). */
unsigned int fake_probe_looks(pid_t tgid);
unsigned int fake_probe_reads(pid_t tid);

/* What the capture told last of a process, since the last fake_probe_forget_counts(). */
enum probe_change fake_probe_change(pid_t tgid);

/* Whether the capture made the probe forget a process that the probe had examined. */
bool fake_probe_has_dropped(pid_t tgid);

/* Processes that resolve become ready when they are served with patience. */
void fake_probe_resolve_when_served(bool on);

void fake_probe_forget_counts(void);
void fake_probe_reset(void);

#endif
