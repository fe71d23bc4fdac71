/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BLAME_TEXT_H
#define CTOP_BLAME_TEXT_H

#include "base/buffer.h"
#include "window/blame.h"

/* "the CPU was idle and had to start" */
const char *blame_cause_meaning(enum latency_cause cause);

/* A size of a relation per second, as the screen has it, and its unit: "ms/s", "wakes/s". */
double blame_per_s(const struct blame *blame, uint64_t size);
const char *blame_unit(const struct blame *blame);

/* Appends what is shown of a culprit, blanks between the names of a group of several. */
void blame_append_culprit(const struct blame *blame, const struct latency_delay *entry, struct buffer *text);

/*
 * Appends lines of text: each culprit of a victim with its size per second and its share, the largest first,
 * then what the causes among them mean.
 */
void blame_append_text(const struct blame *blame, uint32_t victim, struct buffer *lines);

#endif
