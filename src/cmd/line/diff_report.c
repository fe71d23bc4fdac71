/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_report.h"

#include <errno.h>

int diff_report_match(struct diff_report *report, struct error *error)
{
	const struct snapshot *const *snapshots = report->snapshots;
	struct buffer text = {0};

	report->comparability = comparability_create(snapshots[DIFF_BEFORE], snapshots[DIFF_AFTER]);
	if (report->how.by_flags && !report->request.threads)
		return 0;
	report->match = diff_match_create(snapshots[DIFF_BEFORE], snapshots[DIFF_AFTER], error);
	if (report->match == NULL) {
		report->request.threads = false;
		return -EINVAL;
	}
	diff_match_describe(report->match, report->request.threads, &text);
	comparability_add(report->comparability, COMPARABILITY_NOTE, "threads", text.data);
	buffer_release(&text);
	return 0;
}

void diff_report_compare(struct diff_report *report)
{
	const struct snapshot *before = report->snapshots[DIFF_BEFORE];
	const struct snapshot *after = report->snapshots[DIFF_AFTER];
	const int64_t interval = comparability_interval(before, after);

	if (report->request.threads)
		diff_match_apply(report->match, &report->how);
	report->diff = diff_create(before, after, &report->how);
	report->request.match = report->match;
	report->request.interval_ns = (uint64_t)(interval < 0 ? -interval : interval);
}

int diff_report_write(struct diff_report *report, struct report_drawing *drawing, struct error *error)
{
	const enum report_format format = drawing->report.format;
	const bool is_text = format == REPORT_FORMAT_TEXT;
	const struct report_subject subject = {
		.command = "diff",
		.before_file = report->request.names[DIFF_BEFORE],
		.file = report->request.names[DIFF_AFTER],
		.group_by = axes[report->how.grouping.axis].name,
		.comparability = report->comparability,
		.rules = report->outcomes.items,
		.rule_count = report->outcomes.count,
	};

	if (report->request.display == TABLES_DISPLAY_COUNT)
		report->request.display = is_text || format == REPORT_FORMAT_TSV ? TABLES_DISPLAY_ARROW
										 : TABLES_DISPLAY_FULL;
	report->request.layout = is_text;
	drawing->report.snapshot = report->snapshots[DIFF_AFTER];
	drawing->report.before = report->snapshots[DIFF_BEFORE];
	return report_drawing_finish(drawing, &subject, report->diff, &report->request, error);
}

void diff_report_release(struct diff_report *report)
{
	diff_rule_outcomes_release(&report->outcomes);
	comparability_release(report->comparability);
	diff_release(report->diff);
	diff_match_release(report->match);
}
