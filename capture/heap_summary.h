/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HEAP_SUMMARY_H
#define CTOP_HEAP_SUMMARY_H

#include "round.h"

/*
 * What the snapshot says about the allocator probe: its summary, by the rules of the file format, and the
 * processes.
 */
void heap_summarize(struct round *round);

#endif
