/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_QUANTITY_H
#define CTOP_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "metric.h"

/*
 * Amounts as users read them in sentences, and as they write them in filters and in rules: a decimal number,
 * blanks, and a unit that fits what is measured: times ns us ms s m (or min) h d, bytes B K M G T (or KiB …)
 * by 1024, counts K M G T by 1000. Percent is the business of the caller.
 */

/* Length of the decimal number (sign, digits, point, digits) at the start of the text, 0 for none. */
size_t quantity_parse_number(const char *text, size_t length, double *ret_number);

/* Finds the factor from the unit to the base unit of the ladder; 1 for no unit. False if it does not fit. */
bool quantity_find_unit(enum ladder ladder, const char *unit, size_t length, double *ret_factor);

/* Appends an amount in the unit of the ladder as sentences have it (base/humanize.h): "12.5 ms", "1.2 GiB",
 * "1,204"; zero is "0". */
void quantity_append(double amount, enum ladder ladder, struct buffer *buffer);

/* Appends the units that fit, each with ", " behind it. */
void quantity_append_units(enum ladder ladder, struct buffer *buffer);

#endif
