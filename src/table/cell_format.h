/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CELL_FORMAT_H
#define CTOP_CELL_FORMAT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "metric/metric.h"
#include "snapshot/cpu_set.h"
#include "snapshot/snapshot.h"
#include "table.h"

/*
 * ktstr's formats, for reports that programs read: a ladder step chosen before rounding, three decimals above
 * the base step, the unit glued to the number ("1.235ms", "8.697K", "1023B"). All of them append UTF-8 to
 * `buffer`; rounding is that of printf(3).
 */

/* "5" when both are equal, else "-5..5". */
void cell_format_range(struct buffer *buffer, int64_t low, int64_t high);

/* "SCHED_OTHER" when all `total` members have it, else "SCHED_OTHER (3/4)". */
void cell_format_mode(struct buffer *buffer, const char *text, size_t length, uint64_t count, uint64_t total);

/* "4 cpus (0-3)" when all members have one set, "4 cpus (mixed)" for sets of one size, "2-6 cpus (mixed)". */
void cell_format_affinity(struct buffer *buffer, const struct string_pool *sets, uint32_t fewest,
			  uint32_t most, bool uniform, uint32_t set);

/* cpu.max: "50.000ms/100.000ms", "max/100.000ms". */
void cell_format_cpu_limit(struct buffer *buffer, struct optional_u64 quota_us, uint64_t period_us);

/* Whether a printed cell carries the mark of partial values: amounts do, ranges and sets do not. */
bool cell_format_has_partial_mark(const struct cell *cell);

/* The number of a cell with all its digits; false (nothing appended) for cells that hold a text. */
bool cell_format_number(struct buffer *buffer, const struct cell *cell);

/*
 * Appends a cell: its text, else both of its sides or its number in its style, with a mark when partial; "-"
 * when absent, a centred dot when unavailable.
 */
void cell_format_cell(struct buffer *buffer, const struct cell *cell);

/* Takes away what follows `middle` if the text from `start` to there is also that from `after` on. */
void cell_format_once(struct buffer *buffer, size_t start, size_t middle, size_t after);

#endif
