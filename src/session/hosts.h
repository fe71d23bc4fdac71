/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOSTS_H
#define CTOP_HOSTS_H

#include "snapshot/snapshot.h"
#include "table/table.h"
#include "table/view.h"

/*
 * One table of the windows of several hosts. Each window is grouped, filtered and reduced by itself, in a
 * session that ends before the next one begins: only rows stay in memory. Rows of one key become one row, in
 * which the column's kind merges the numbers (window/kind.h). On the axes host and pid every row is of one
 * host.
 */
struct hosts;

/*
 * An empty table of a view, whose naming, mode, filter, order and limit count. The view outlives the result,
 * which the caller releases.
 */
struct hosts *hosts_create(const struct view *view);
void hosts_release(struct hosts *hosts);

/* Adds the window of a host, whose reference is taken over. `name` of the host is copied. */
void hosts_add(struct hosts *hosts, const char *name, struct snapshot *snapshot);

/*
 * The sorted rows of at least one host: names, on other axes than host the column HOST (the only host of a
 * row, or how many have it), and the columns of the view; by name if the table lacks the column of the order.
 * Also the number of hosts, and the length of the last one's window, ns, 0 for none. Owned by `hosts`, to
 * which none can be added any more.
 */
struct table *hosts_table(struct hosts *hosts, size_t *ret_hosts, uint64_t *ret_interval_ns);

#endif
