/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LATENCY_TEXT_H
#define CTOP_LATENCY_TEXT_H

#include "base/buffer.h"
#include "snapshot/latency.h"

/*
 * Appends a histogram as text, a line for each bucket from the first to the last that has waits: its bounds,
 * a bar, how many waits and what share of all. Before it two lines with count, mean, the longest and
 * percentiles. At most 76 cells wide, ASCII. "none" without waits.
 */
void latency_append_text(const struct latency_histogram *histogram, struct buffer *lines);

#endif
