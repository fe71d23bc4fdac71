/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_HOSTS_H
#define CTOP_DIFF_HOSTS_H

#include "cmd/line/hosts_moment.h"
#include "cmd/line/snapshot_report.h"

/*
 * Compares each host with itself between two moments, and prints the rows of all hosts in one table, largest
 * change first. `printing` has an open output (text, Markdown or HTML) and the grouping (`how`); its
 * `request` decides the tab, the limit and `all`. Returns 0, or a negative errno with a sentence: then
 * nothing is printed.
 */
int diff_hosts_print(struct snapshot_report *printing, const struct hosts_moment *moment,
		     const struct report_options *options, struct error *error);

#endif
