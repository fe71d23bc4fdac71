/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RUNNABLE_H
#define CTOP_RUNNABLE_H

#include "round.h"

/*
 * Whether threads wait for a CPU without having been seen waiting, by the host's own count of runnable
 * threads.
 */

/* Asks the host, if it counts the same threads that we see, and keeps the smallest answer of this round. */
void runnable_look(struct round *round);

/*
 * If the host counted more runnable threads at every check of two rounds than either round found, a thread
 * waits unseen, and the next round reads the states of all. If that finds none, only the rotation looks for
 * it for a while.
 */
void runnable_watch(struct round *round);

#endif
