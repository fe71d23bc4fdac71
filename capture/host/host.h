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
 * What the load is relative to, for rounds that do not read all of the host's facts: online CPUs and total
 * memory. Sets these two members of snapshot->host and leaves host.present alone.
 */
void host_read_size(const struct roots *roots, struct snapshot *snapshot);

/* The load of the moment, for every round: CPU ticks, running and blocked tasks, load averages, available
 * memory. */
void host_read_load(const struct roots *roots, struct provenance *provenance);

#endif
