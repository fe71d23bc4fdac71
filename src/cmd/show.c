/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop show`: a saved snapshot as a report. */
#include <errno.h>

#include "commands.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/snapshot_report.h"

struct show_options {
	struct view_options view;
	struct report_options report;
};

static const struct option_table_use show_tables_used[] = {
	{&report_option_table, offsetof(struct show_options, report)},
	{&view_option_table, offsetof(struct show_options, view)},
};

static void show_set_defaults(void *options)
{
	struct show_options *show = options;

	show->view.axis = AXIS_PROCESS;
	report_options_set_defaults(&show->report, &show->view);
}

/* Whether the sections chosen can only make one table. */
static bool makes_one_table(const struct tables_request *request)
{
	size_t count = 0;

	for (size_t i = 0; i < SECTION_COUNT; i++)
		count += request->sections[i];
	return count == 1 && !request->sections[SECTION_TASKSTATS_DELAY] &&
	       !request->sections[SECTION_PRESSURE] && !request->sections[SECTION_HOST_PRESSURE] &&
	       !request->sections[SECTION_SCX];
}

static int show_run(void *opaque, char **operands, int operand_count)
{
	const struct show_options *options = opaque;
	struct snapshot_report report = {.request.names[DIFF_AFTER] = operands[0]};
	struct snapshot *snapshot;
	struct error error;
	int status;

	(void)operand_count;
	status = report_options_select(&options->report, &options->view, 1, &report.request, &error);
	if (status == 0 && options->view.axis == AXIS_ALL)
		status = error_set(&error, -EINVAL,
				   "show has no axis 'all'; valid: pcomm, cgroup, comm, comm-exact");
	if (status < 0)
		return command_misused(&show_command, &error);
	report_options_warn(&options->report, &options->view, &report.request);
	if (snapshot_report_open(&report, &options->report, &options->view, true, &error) < 0)
		return command_failed(&error);
	if (snapshot_files_read(&report.request.names[DIFF_AFTER], 1, options->report.max_bytes, &snapshot,
				&error) < 0) {
		output_abandon(&report.output);
		return command_failed(&error);
	}
	report.snapshots[DIFF_AFTER] = snapshot;
	report.report.one_section = makes_one_table(&report.request);
	snapshot_report_join(&report, NULL);
	status = snapshot_report_write(&report, &error) < 0 ? output_failed(&report.output, &error)
							    : COMMAND_DONE;
	snapshot_report_release(&report);
	snapshot_release(snapshot);
	return status;
}

const struct command show_command = {
	.name = "show",
	.summary = "print a saved snapshot as a report",
	.usage = "FILE|- [OPTION]...",
	.details = "Reads a .ctprof.zst file, or standard input for -. A value that could not be read is "
		   "printed as a centred dot, one that does not apply as -, and an amount that lacks the "
		   "values of some threads has a >= sign before it.",
	.tables = show_tables_used,
	.table_count = ARRAY_COUNT(show_tables_used),
	.options_size = sizeof(struct show_options),
	.set_defaults = show_set_defaults,
	.minimum_operands = 1,
	.maximum_operands = 1,
	.run = show_run,
};
