/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_TURN_H
#define CTOP_THREAD_TURN_H

#include "round.h"

/* Which threads are read in a round, once it is known which ones ran. Both return 0 or -ECANCELED. */

/* The needed sources, and the cgroups. */
int round_read_needed(struct round *round);

/* Sources that were not asked for, of threads that ran, while the budget lasts; in turn over the rounds. */
int round_read_extra(struct round *round);

#endif
