/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOST_H
#define CTOP_HOST_H

#include "feature.h"
#include "snapshot/snapshot.h"
#include "capture/procfs/root.h"

/*
 * Facts about the host into snapshot->host: processor, memory, kernel, tunables, governors. Some 50 small
 * files; for full captures. `checks` has the two switches that were already read. Nothing is an error: what
 * cannot be read is absent.
 */
void host_read(const struct roots *roots, const struct feature_checks *checks, struct snapshot *snapshot);

/*
 * How and by whom the capture is made, into snapshot->provenance: program, boot id, user, effective
 * capabilities of the calling thread, namespaces, roots, host name. Does not touch times, scope, features,
 * tallies, heap.
 */
void host_read_provenance(const struct roots *roots, struct snapshot *snapshot);

/*
 * What every round tells of the host: its load (CPU ticks, running and blocked tasks, load averages,
 * available memory) into snapshot->provenance; and what that is relative to, online CPUs and total memory,
 * into snapshot->host, whose `present` is left alone.
 */
void host_read_load(const struct roots *roots, struct snapshot *snapshot);

#endif
