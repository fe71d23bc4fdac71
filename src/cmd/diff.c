/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop diff`: what changed between two saved snapshots. */
#include <errno.h>
#include <langinfo.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "diff.h"
#include "model/comparability.h"
#include "model/diff_tables.h"
#include "model/snapshot_file.h"
#include "output.h"
#include "report/report.h"
#include "snapshot_pair.h"

enum {
	CHUNK_ROWS = 4096, /* bounds the memory of a long report; text needs whole tables for its widths */
};

static const struct option diff_options_list[] = {
	{
		.name = "metrics",
		.kind = OPTION_TEXT,
		.value_name = "NAME,...",
		.offset = offsetof(struct diff_command_options, metrics),
		.description = "print these metrics and derived metrics only (see 'ctop metrics')",
	},
	{
		.name = "sections",
		.kind = OPTION_TEXT,
		.value_name = "NAME,...",
		.offset = offsetof(struct diff_command_options, sections),
		.description = "print these sections only: primary, taskstats-delay, derived, cgroup-stats, "
			       "cgroup-limits, memory-stat, memory-events, pressure, host-pressure, "
			       "smaps-rollup, sched-ext",
	},
	{
		.name = "display-format",
		.kind = OPTION_CHOICE,
		.value_name = "COLUMNS",
		.choices = diff_display_names,
		.offset = offsetof(struct diff_command_options, display),
		.description =
			"columns after group, threads and metric: arrow (both sides in one, change, %, "
			"uptime; default of text and tsv), full (baseline, candidate, change, %; "
			"default of the other formats), delta-only, no-pct or pct-only",
	},
	{
		.name = "wrap",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct diff_command_options, wrap),
		.description = "on a terminal, continue long names on the next line",
	},
	{
		.name = "reference",
		.kind = OPTION_FLAG,
		.offset = offsetof(struct diff_command_options, reference),
		.description = "print the cells of ktstr's ctprof: what was not read counts as zero",
	},
	{
		.name = "format",
		.kind = OPTION_CHOICE,
		.value_name = "FORMAT",
		.choices = report_format_names,
		.offset = offsetof(struct diff_command_options, format),
		.description = "text (default), tsv, csv, json, markdown or html; unless --limit says so, "
			       "text has at most 500 rows of a section, markdown 100 and html 5000",
	},
	{
		.name = "max-bytes",
		.kind = OPTION_COUNT,
		.value_name = "N",
		.minimum = 1,
		.maximum = 1e18,
		.offset = offsetof(struct diff_command_options, max_bytes),
		.description = "refuse a file with more bytes of JSON than this (default 4294967296)",
	},
	{
		.letter = 'o',
		.name = "output",
		.kind = OPTION_TEXT,
		.value_name = "OUT",
		.offset = offsetof(struct diff_command_options, output),
		.description = "write to this file, which is replaced only when the report is complete",
	},
};

static const struct option_table diff_option_table = {
	"Options",
	diff_options_list,
	ARRAY_COUNT(diff_options_list),
};

static const struct option_table_use diff_tables_used[] = {
	{&diff_option_table, 0},
	{&view_option_table, offsetof(struct diff_command_options, view)},
};

void diff_set_defaults(void *options)
{
	struct diff_command_options *diff = options;

	diff->view.axis = AXIS_ALL;
	diff->view.limit = UINT64_MAX;
	diff->display = DIFF_DISPLAY_COUNT;
	diff->max_bytes = SNAPSHOT_FILE_DEFAULT_LIMIT;
}

/* Sections that were asked for by name but are of cgroups only. */
static void warn_of_sections(const struct diff_command_options *options, const struct diff_request *request)
{
	if (options->sections == NULL || options->view.axis == AXIS_CGROUP)
		return;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (request->sections[i] && sections[i].needs_cgroup_axis)
			command_note("section %s needs --group-by cgroup and is left out (the axis is %s)",
				     sections[i].name, axes[options->view.axis].name);
	}
}

/* The arrow shows both sides: beside one of them it would say the same thing twice. */
static int check_columns(const struct diff_request *request, struct error *error)
{
	bool has[DIFF_COLUMN_COUNT] = {false};

	for (size_t i = 0; i < request->column_count; i++)
		has[request->columns[i]] = true;
	if (has[DIFF_COLUMN_ARROW] && (has[DIFF_COLUMN_BASELINE] || has[DIFF_COLUMN_CANDIDATE]))
		return error_set(
			error, -EINVAL,
			"column arrow already shows baseline and candidate: leave one or the other out");
	return 0;
}

static int make_request(const struct diff_command_options *options, char **files,
			struct diff_request *request, struct error *error)
{
	const bool is_text = options->format == REPORT_FORMAT_TEXT;
	int status = selection_parse_sections(options->sections, request->sections, error);

	if (status == 0)
		status = selection_parse_metrics(options->metrics, request->metrics, request->derived, error);
	if (status == 0)
		status = selection_parse_sort_keys(options->view.sort_by, &request->sort, error);
	if (status == 0)
		status = selection_parse_columns(options->view.columns, diff_column_names, DIFF_COLUMN_COUNT,
						 request->columns, &request->column_count, error);
	if (status == 0)
		status = check_columns(request, error);
	if (status < 0)
		return status;
	request->display = (enum diff_display)options->display;
	if (options->display == DIFF_DISPLAY_COUNT)
		request->display = is_text || options->format == REPORT_FORMAT_TSV ? DIFF_DISPLAY_ARROW
										   : DIFF_DISPLAY_FULL;
	request->layout = is_text;
	request->chunk_rows = is_text ? 0 : CHUNK_ROWS;
	request->limit = options->view.limit != UINT64_MAX ? options->view.limit
							   : report_default_limits[options->format];
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		request->names[i] = files[i];
	return 0;
}

struct drawing {
	struct report report;
	struct output output;
};

static void draw(void *context, const struct table *table)
{
	struct drawing *drawing = context;

	report_table(&drawing->report, table);
	if (table->row_total > table->row_count && !table->more &&
	    (drawing->report.format == REPORT_FORMAT_TSV || drawing->report.format == REPORT_FORMAT_CSV))
		command_note("%zu rows of section %s are left out by --limit",
			     table->row_total - table->row_count, table->section);
	output_flush(&drawing->output);
}

static int print_report(struct drawing *drawing, const struct diff_command_options *options,
			const struct diff_request *request, char **files,
			struct snapshot *const snapshots[DIFF_SIDE_COUNT])
{
	const struct diff_options how = {
		.grouping = view_options_grouping(&options->view),
		.by_flags = options->reference,
	};
	struct diff *diff = diff_create(snapshots[DIFF_BEFORE], snapshots[DIFF_AFTER], &how);
	struct comparability *comparability = comparability_create(snapshots[DIFF_BEFORE],
								   snapshots[DIFF_AFTER]);
	struct error error;

	drawing->report = (struct report){
		.format = (enum report_format)options->format,
		.out = &drawing->output.buffer,
		.snapshot = snapshots[DIFF_AFTER],
		.before = snapshots[DIFF_BEFORE],
		.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.to_terminal = options->output == NULL && isatty(STDOUT_FILENO) == 1,
	};
	report_begin(&drawing->report, &(struct report_subject){
					       .command = "diff",
					       .before_file = files[DIFF_BEFORE],
					       .file = files[DIFF_AFTER],
					       .group_by = axes[options->view.axis].name,
					       .comparability = comparability,
				       });
	diff_tables(diff, request, draw, drawing);
	report_end(&drawing->report);
	comparability_release(comparability);
	diff_release(diff);
	if (output_close(&drawing->output, &error) < 0)
		return output_failed(&drawing->output, &error);
	return COMMAND_DONE;
}

int diff_run(void *opaque, char **operands, int operand_count)
{
	const struct diff_command_options *options = opaque;
	const char *const files[DIFF_SIDE_COUNT] = {operands[DIFF_BEFORE], operands[DIFF_AFTER]};
	struct diff_request request = {0};
	struct snapshot *snapshots[DIFF_SIDE_COUNT];
	struct drawing drawing;
	struct error error;
	int status;

	(void)operand_count;
	if (make_request(options, operands, &request, &error) < 0)
		return command_misused(&diff_command, &error);
	warn_of_sections(options, &request);
	if (output_open(&drawing.output, options->output, &error) < 0)
		return command_failed(&error);
	if (snapshot_pair_read(files, options->max_bytes, snapshots, &error) < 0) {
		output_abandon(&drawing.output);
		return command_failed(&error);
	}
	status = print_report(&drawing, options, &request, operands, snapshots);
	snapshot_release(snapshots[DIFF_BEFORE]);
	snapshot_release(snapshots[DIFF_AFTER]);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.alias = "compare",
	.summary = "print what changed between two saved snapshots",
	.usage = "BEFORE AFTER [OPTION]...",
	.details =
		"Reads two .ctprof.zst files; one of them may be - for standard input. Groups are joined by "
		"their names; with the axis all, which is the default, also those of cgroups that were "
		"renamed: they run the same types of threads and are marked [fudged: NAME]. The rows that "
		"changed most, relative to the first file, come first. A change is a centred dot where a "
		"side is not available or lacks some members' values, and - where there is none to have.",
	.tables = diff_tables_used,
	.table_count = ARRAY_COUNT(diff_tables_used),
	.options_size = sizeof(struct diff_command_options),
	.set_defaults = diff_set_defaults,
	.minimum_operands = 2,
	.maximum_operands = 2,
	.run = diff_run,
};
