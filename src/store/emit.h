/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EMIT_H
#define CTOP_EMIT_H

#include "snapshot/snapshot_window.h"

/*
 * Makes the JSON text of a finished snapshot and of the window that ends with it (NULL: none) and hands it to
 * `sink` in pieces, so that memory does not grow with the threads. Returns 0, or the negative errno that the
 * sink returned.
 */
int emit_snapshot(const struct snapshot *snapshot, const struct snapshot_window *window,
		  int (*sink)(void *context, const char *text, size_t length), void *context);

#endif
