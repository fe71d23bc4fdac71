/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCHED_EXT_H
#define CTOP_SCHED_EXT_H

#include "snapshot/snapshot.h"
#include "capture/procfs/root.h"

/*
 * Reads SYS/kernel/sched_ext (Documentation/scheduler/sched-ext.rst) into the snapshot; not present only when
 * the directory does not exist, unreadable members are "" or 0.
 */
void sched_ext_read(const struct roots *roots, struct snapshot *snapshot);

#endif
