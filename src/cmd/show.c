/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop show`: a saved snapshot as a report. */
#include <errno.h>
#include <langinfo.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "model/show_tables.h"
#include "model/snapshot_file.h"
#include "output.h"
#include "report/report.h"
#include "view_options.h"

enum {
	CHUNK_ROWS = 4096, /* bounds the memory of a long report; text needs whole tables for its widths */
};

struct show_options {
	struct view_options view;
	const char *metrics, *sections;
	bool reference;
	int format; /* enum report_format */
	uint64_t max_bytes;
	const char *output;
};

static const struct option show_options_list[] = {
	{
		.name = "metrics",
		.kind = OPTION_TEXT,
		.value_name = "NAME,...",
		.offset = offsetof(struct show_options, metrics),
		.description = "print these metrics and derived metrics only (see 'ctop metrics')",
	},
	{
		.name = "sections",
		.kind = OPTION_TEXT,
		.value_name = "NAME,...",
		.offset = offsetof(struct show_options, sections),
		.description = "print these sections only: primary, taskstats-delay, derived, cgroup-stats, "
			       "cgroup-limits, memory-stat, memory-events, pressure, host-pressure, "
			       "smaps-rollup, sched-ext",
	},
	{
		.name = "reference",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct show_options, reference),
		.description = "print the cells of ktstr's ctprof: what was not read counts as zero",
	},
	{
		.name = "format",
		.kind = OPTION_CHOICE,
		.value_name = "FORMAT",
		.choices = report_format_names,
		.offset = offsetof(struct show_options, format),
		.description = "text (default), tsv, csv, json, markdown or html; unless --limit says so, "
			       "text has at most "
			       "500 rows of a section, markdown 100 and html 5000",
	},
	{
		.name = "max-bytes",
		.kind = OPTION_COUNT,
		.value_name = "N",
		.minimum = 1,
		.maximum = 1e18,
		.offset = offsetof(struct show_options, max_bytes),
		.description = "refuse a file with more bytes of JSON than this (default 4294967296)",
	},
	{
		.letter = 'o',
		.name = "output",
		.kind = OPTION_TEXT,
		.value_name = "OUT",
		.offset = offsetof(struct show_options, output),
		.description = "write to this file, which is replaced only when the report is complete",
	},
};

static const struct option_table show_option_table = {
	"Options",
	show_options_list,
	ARRAY_COUNT(show_options_list),
};

static const struct option_table_use show_tables_used[] = {
	{&show_option_table, 0},
	{&view_option_table, offsetof(struct show_options, view)},
};

static void show_set_defaults(void *options)
{
	struct show_options *show = options;

	show->view.axis = AXIS_PROCESS;
	show->view.limit = UINT64_MAX;
	show->max_bytes = SNAPSHOT_FILE_DEFAULT_LIMIT;
}

/* Sections that were asked for by name but are of cgroups only. */
static void warn_of_sections(const struct show_options *options, const struct show_request *request)
{
	if (options->sections == NULL || request->grouping.axis == AXIS_CGROUP)
		return;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (request->sections[i] && sections[i].needs_cgroup_axis)
			command_note("section %s needs --group-by cgroup and is left out (the axis is %s)",
				     sections[i].name, axes[request->grouping.axis].name);
	}
}

static int make_request(const struct show_options *options, struct show_request *request, struct error *error)
{
	int status = selection_parse_sections(options->sections, request->sections, error);

	if (status == 0)
		status = selection_parse_metrics(options->metrics, request->metrics, request->derived, error);
	if (status == 0)
		status = selection_parse_sort_keys(options->view.sort_by, &request->sort, error);
	if (status == 0)
		status = selection_parse_columns(options->view.columns, show_column_names, SHOW_COLUMN_COUNT,
						 request->columns, &request->column_count, error);
	if (status == 0 && options->view.axis == AXIS_ALL)
		status = error_set(error, -EINVAL,
				   "show has no axis 'all'; valid: pcomm, cgroup, comm, comm-exact");
	if (status < 0)
		return status;
	request->grouping = view_options_grouping(&options->view);
	request->by_flags = options->reference;
	request->chunk_rows = options->format == REPORT_FORMAT_TEXT ? 0 : CHUNK_ROWS;
	if (options->view.limit != UINT64_MAX)
		request->limit = options->view.limit;
	else
		request->limit = report_default_limits[options->format];
	return 0;
}

/* Whether the sections chosen can only make one table. */
static bool makes_one_table(const struct show_request *request)
{
	size_t count = 0;

	for (size_t i = 0; i < SECTION_COUNT; i++)
		count += request->sections[i];
	return count == 1 && !request->sections[SECTION_TASKSTATS_DELAY] &&
	       !request->sections[SECTION_PRESSURE] && !request->sections[SECTION_HOST_PRESSURE];
}

struct drawing {
	struct report report;
	struct output output;
};

static void draw(void *context, const struct table *table)
{
	struct drawing *drawing = context;

	report_table(&drawing->report, table);
	if (table->row_total > table->row_count &&
	    (drawing->report.format == REPORT_FORMAT_TSV || drawing->report.format == REPORT_FORMAT_CSV))
		command_note("%zu rows of section %s are left out by --limit",
			     table->row_total - table->row_count, table->section);
	output_flush(&drawing->output);
}

static int print_report(struct drawing *drawing, const struct show_options *options,
			const struct show_request *request, const char *file, const struct snapshot *snapshot)
{
	struct error error;

	drawing->report = (struct report){
		.format = (enum report_format)options->format,
		.out = &drawing->output.buffer,
		.snapshot = snapshot,
		.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.to_terminal = options->output == NULL && isatty(STDOUT_FILENO) == 1,
		.one_section = makes_one_table(request),
	};
	report_begin(&drawing->report,
		     &(struct report_subject){
			     .command = "show", .file = file, .group_by = axes[request->grouping.axis].name});
	show_tables(snapshot, request, draw, drawing);
	report_end(&drawing->report);
	if (output_close(&drawing->output, &error) < 0)
		return output_failed(&drawing->output, &error);
	return COMMAND_DONE;
}

static int show_run(void *opaque, char **operands, int operand_count)
{
	const struct show_options *options = opaque;
	struct show_request request = {0};
	struct snapshot *snapshot = NULL;
	struct snapshot_file_notes notes = {0};
	struct drawing drawing;
	struct error error;
	int status;

	(void)operand_count;
	if (make_request(options, &request, &error) < 0)
		return command_misused(&show_command, &error);
	warn_of_sections(options, &request);
	if (output_open(&drawing.output, options->output, &error) < 0)
		return command_failed(&error);
	if (snapshot_file_read(operands[0], options->max_bytes, &snapshot, &notes, &error) < 0) {
		output_abandon(&drawing.output);
		return command_failed(&error);
	}
	if (notes.text[0] != '\0')
		command_note("%s", notes.text);
	status = print_report(&drawing, options, &request, operands[0], snapshot);
	snapshot_release(snapshot);
	return status;
}

const struct command show_command = {
	.name = "show",
	.summary = "print a saved snapshot as a report",
	.usage = "FILE|- [OPTION]...",
	.details = "Reads a .ctprof.zst file, or standard input for -. A value that could not be read is "
		   "printed as a centred dot, one that does not apply as -, and an amount that lacks some "
		   "members' values has a >= sign before it.",
	.tables = show_tables_used,
	.table_count = ARRAY_COUNT(show_tables_used),
	.options_size = sizeof(struct show_options),
	.set_defaults = show_set_defaults,
	.minimum_operands = 1,
	.maximum_operands = 1,
	.run = show_run,
};
