/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FUTEX_TABLE_H
#define CTOP_FUTEX_TABLE_H

#include "snapshot/snapshot.h"
#include "table.h"

/*
 * A table of the futexes in a snapshot that has them, at most `limit` rows (0: all): by the time of their
 * waits, then by their threads. The caller releases the table; the snapshot outlives it.
 */
struct table *futex_table(const struct snapshot *snapshot, size_t limit);

#endif
