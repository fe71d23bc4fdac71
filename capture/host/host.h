/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOST_H
#define CTOP_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/procfs/root.h"
#include "feature.h"
#include "snapshot/snapshot.h"

/*
 * Reads facts about the host into snapshot->host: processor, memory, kernel, tunables, governors. Reads some
 * 50 small files, so not in every round. `checks` has the two switches already. Never fails: a fact that
 * cannot be read is absent.
 */
void host_read(const struct roots *roots, const struct feature_checks *checks, struct snapshot *snapshot);

/* Copies only the two switches, which every round reads. */
void host_tell_switches(const struct feature_checks *checks, struct host *host);

/*
 * Reads the origin of the capture into snapshot->provenance: program, boot id, user, effective
 * capabilities of the calling thread, namespaces, roots. None of it changes from round to round. Does not
 * touch times, scope, features, tallies, heap.
 */
void host_read_provenance(const struct roots *roots, struct snapshot *snapshot);

/*
 * CPU ticks, of all and of each CPU, with the time of their reading, running and blocked tasks and how many
 * have started, into snapshot->provenance. To be read beside the threads' run times, which the ticks are
 * compared with.
 */
void host_read_ticks(const struct roots *roots, struct snapshot *snapshot);

/*
 * Reads what every round shows of the host: name, load averages, available memory, disks and networks into
 * snapshot->provenance; online CPUs, total memory and the kernel's name into snapshot->host, whose `present`
 * is left alone.
 */
void host_read_load(const struct roots *roots, struct snapshot *snapshot);

/*
 * Counts the runnable threads of the host, and all of them: the fourth word of loadavg
 * (proc_loadavg(5)), read into `buffer`. False where that is not known.
 */
bool host_count_threads(const struct roots *roots, struct buffer *buffer, uint64_t *ret_runnable,
			uint64_t *ret_all);

/*
 * Counts the threads that were started since the host was: `processes` of PROC/stat, which is total_forks of
 * kernel/fork.c, read into `buffer`. False where that is not known.
 */
bool host_count_starts(const struct roots *roots, struct buffer *buffer, uint64_t *ret_starts);

/*
 * Parses a pressure file (Documentation/accounting/psi.rst): rows `some` and `full`, unknown words and keys
 * ignored, averages as hundredths of a percent (at most 65535), a value that makes no sense as 0. False when
 * the text has neither row; then both halves are zero.
 */
bool pressure_parse(const char *text, size_t length, struct pressure_half *ret_some,
		    struct pressure_half *ret_full);

/*
 * Reads host-wide pressure into the snapshot, each resource with its reason. `unavailable` is the reason of
 * FEATURE_PRESSURE: why the host has none (else REASON_READ).
 */
void pressure_read(const struct roots *roots, enum reason unavailable, struct snapshot *snapshot);

/*
 * Reads SYS/kernel/sched_ext (Documentation/scheduler/sched-ext.rst) into the snapshot; not present only when
 * the directory does not exist, unreadable members are "" or 0.
 */
void sched_ext_read(const struct roots *roots, struct snapshot *snapshot);

#endif
