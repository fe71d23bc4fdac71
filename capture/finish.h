/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FINISH_H
#define CTOP_FINISH_H

#include "round.h"

/*
 * What a snapshot says besides its threads: host-wide sources, expensive sources, reasons, tallies,
 * summaries. To be called once, when all rows are read.
 */
void round_finish(struct round *round);

#endif
