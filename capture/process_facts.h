/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROCESS_FACTS_H
#define CTOP_PROCESS_FACTS_H

#include "round.h"

/* What threads have from their process: its name, its cgroup, its memory. */

/* Names and cgroups of processes, then the triples of all rows. */
void round_name_threads(struct round *round);

/*
 * The cgroup of a process, from its leader, and of those of its threads that may be elsewhere: all when
 * `due`, else of what is new. `tasks` is its task directory.
 */
void round_read_cgroups(struct round *round, struct process *process, int tasks, bool due);

/* smaps_rollup of leaders, until the budget of expensive sources is spent. */
void round_read_smaps(struct round *round);

#endif
