/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PRESSURE_H
#define CTOP_PRESSURE_H

#include <stdbool.h>
#include <stddef.h>

#include "snapshot/snapshot.h"
#include "capture/procfs/root.h"

/*
 * Parses a pressure file (Documentation/accounting/psi.rst): rows `some` and `full`, unknown words and keys
 * ignored, averages as hundredths of a percent (at most 65535), a value that makes no sense as 0. False when
 * the text has neither row; then both halves are zero.
 */
bool pressure_parse(const char *text, size_t length, struct pressure_half *ret_some,
		    struct pressure_half *ret_full);

/*
 * Reads host-wide pressure into the snapshot, each resource with its reason. `unavailable` is the reason of
 * FEATURE_PRESSURE: why there is none at all (REASON_READ when there is).
 */
void pressure_read(const struct roots *roots, enum reason unavailable, struct snapshot *snapshot);

#endif
