/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_COUNTERS_H
#define CTOP_THREAD_COUNTERS_H

#include "round.h"

/*
 * The counters that show which threads ran: one taskstats message each, else one line of schedstat. Returns 0
 * or -ECANCELED.
 */
int round_read_counters(struct round *round);

#endif
