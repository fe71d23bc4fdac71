/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOSTS_H
#define CTOP_HOSTS_H

#include "snapshot/snapshot.h"
#include "table/table.h"
#include "table/view.h"

/*
 * Merges the windows of several hosts into one table. Each window is grouped, filtered and reduced by itself,
 * in a session that ends before the next one begins, so only rows stay in memory. Rows with the same key
 * become one row, whose numbers are merged as the column's kind says (window/kind.h). On the axes host and
 * pid, rows of different hosts are never merged.
 */
struct hosts;

/*
 * Creates an empty table. `view` decides naming, mode, filter, order and limit; it must outlive the result.
 * The caller releases the result with hosts_release().
 */
struct hosts *hosts_create(const struct view *view);
void hosts_release(struct hosts *hosts);

/* Adds the window of the host `name`. Takes over the reference to `snapshot`; copies `name`. */
void hosts_add(struct hosts *hosts, const char *name, struct snapshot *snapshot);

/*
 * Returns the sorted table; at least one host must have been added, and none can be added afterwards. Its
 * columns are the names, HOST (the row's only host, or the number of hosts; not on the axis host), and the
 * columns of the view. Rows are sorted by name if the table lacks the sort column. `*ret_hosts` is the number
 * of hosts added, and `*ret_interval_ns` the length of the last host's window in ns, 0 if it has none. The
 * table is owned by `hosts`.
 */
struct table *hosts_table(struct hosts *hosts, size_t *ret_hosts, uint64_t *ret_interval_ns);

#endif
