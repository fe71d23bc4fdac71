/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DIFF_REPORT_H
#define CTOP_DIFF_REPORT_H

#include "diff/comparability.h"
#include "diff/diff_match.h"
#include "diff/diff_rule.h"
#include "report_options.h"

/*
 * What `ctop diff` prints of two snapshots, and the screen writes to a file. The caller fills the first
 * members, the others being zero, and calls the functions in their order.
 */
struct diff_report {
	const struct snapshot *snapshots[DIFF_SIDE_COUNT];
	struct diff_options how;
	/* `threads`: changes are those of the same threads; `display` may be TABLES_DISPLAY_COUNT, the
	 * format's own. What depends on the snapshots and on the format is filled in here. */
	struct tables_request request;
	struct comparability *comparability;
	struct diff_match *match; /* NULL where the captures are not of one boot */
	struct diff *diff;
	struct diff_rule_outcomes outcomes; /* of rules that the caller has judged before it writes */
};

/*
 * Finds the threads that are in both snapshots; cells of the reference need that only with `threads`. Returns
 * 0, or -EINVAL with a sentence: they cannot be matched, and changes will be those of groups.
 */
int diff_report_match(struct diff_report *report, struct error *error);

void diff_report_compare(struct diff_report *report);

/* Draws everything and closes the output, as output_close(). */
int diff_report_write(struct diff_report *report, struct report_drawing *drawing, struct error *error);

void diff_report_release(struct diff_report *report);

#endif
