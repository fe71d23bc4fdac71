/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EMIT_H
#define CTOP_EMIT_H

#include <stddef.h>

#include "snapshot/snapshot.h"

/*
 * Makes the JSON text of a finished snapshot and hands it to `sink` in pieces, so that memory does not grow
 * with the threads. Returns 0, or the negative errno that the sink returned.
 */
int emit_snapshot(const struct snapshot *snapshot,
		  int (*sink)(void *context, const char *text, size_t length), void *context);

#endif
