/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_REPORT_H
#define CTOP_SNAPSHOT_REPORT_H

#include "compare/comparability.h"
#include "compare/diff_rule.h"
#include "output.h"
#include "report/report.h"
#include "report_options.h"

/*
 * A report of one snapshot, or of two that are compared: what `ctop show` and `ctop diff` print, and the
 * screen writes to a file. The caller sets `request` and, before they are joined, `snapshots`; everything
 * else is zero at first. The functions are called in their order.
 */
struct snapshot_report {
	/* `display` may be TABLES_DISPLAY_COUNT, the format's own. What depends on snapshots and format is
	 * filled in here. */
	struct tables_request request;
	const char *names[DIFF_SIDE_COUNT]; /* of the files */
	struct output output;
	struct report report;
	/* `sets`, of which `snapshots` are the last runs, are the caller's, and `by_threads` unless
	 * `threads_by_default`. */
	struct diff_options how;
	const struct snapshot *snapshots[DIFF_SIDE_COUNT]; /* before is NULL in a report of one */
	struct comparability *comparability;
	struct diff_match *match; /* NULL where the captures are not of one boot */
	struct diff *diff;
	bool threads_by_default;     /* how.by_threads is set where they can be told apart, but not for the
				      * tables of ktstr */
	bool only_metrics;           /* metrics were chosen, and no sections */
	bool is_noise;               /* the table of the set after is that of diff_floors.h */
	bool in_hurry;               /* names of users that are not known yet are not waited for */
	struct diff_summary changes; /* made when it is written */
	struct diff_rule_outcomes outcomes; /* of rules that the caller has judged before it writes */
};

/*
 * Opens what the options name as the output, where a file that exists is replaced only with `replace`, and
 * fills `report` and `how`. Returns 0, or a negative errno with a sentence. Who gives up later calls
 * output_abandon().
 */
int snapshot_report_open(struct snapshot_report *report, const struct report_options *options,
			 const struct view_options *view, bool replace, struct error *error);

/*
 * Groups the snapshots; of two it also finds what makes them hard to compare, and the threads that are in
 * both. Returns 0, or -EINVAL with a sentence: threads cannot be matched, and changes are those of groups.
 */
int snapshot_report_join(struct snapshot_report *report, struct error *error);

/* Draws everything and closes the output, as output_close(). */
int snapshot_report_write(struct snapshot_report *report, struct error *error);

void snapshot_report_release(struct snapshot_report *report);

#endif
