/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RUNNABLE_H
#define CTOP_RUNNABLE_H

#include "round.h"

/* Whether threads wait for a CPU that nobody has seen waiting, by the host's own count of runnable threads.
 */

/* Asks the host, where its count is of the threads we see; keeps the least of the answers of this round. */
void runnable_look(struct round *round);

/*
 * More threads runnable at every look of two rounds than were found so in either: then somebody waits unseen,
 * and the next round looks at the states of all. When that finds nobody, the rotation has to do for a while.
 */
void runnable_watch(struct round *round);

#endif
