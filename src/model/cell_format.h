/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CELL_FORMAT_H
#define CTOP_CELL_FORMAT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "metric.h"
#include "table.h"

/*
 * The reference's number formats, for reports: a ladder step chosen before rounding, three decimals above the
 * base step, the unit glued to the number ("1.235ms", "8.697K", "1023B").
 */
void cell_format_value(struct buffer *buffer, uint64_t value, enum ladder ladder);

/* A derived value: two decimals at the base step, three above; a ratio has three decimals and no unit. */
void cell_format_derived(struct buffer *buffer, double value, enum ladder ladder, bool is_ratio);

#endif
