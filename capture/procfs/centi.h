/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CENTI_H
#define CTOP_CENTI_H

#include <stdint.h>

#include "text_scan.h"

/*
 * A decimal fraction as hundredths, cut after two digits: "18.59" is 1859, "1.501" is 150, "42" is 4200. A
 * part that is no number (or does not fit 32 bits before the dot) counts as 0; a bad fraction leaves the
 * whole part.
 */
uint64_t centi_parse(struct text text);

#endif
