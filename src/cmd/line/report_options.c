/* SPDX-License-Identifier: GPL-2.0-only */
#include "report_options.h"

#include <stdio.h>

#include "command.h"
#include "report/report.h"
#include "store/ctprof.h"

enum {
	CHUNK_ROWS = 256, /* a long report takes little memory so; text needs whole tables for its widths */
};

/* "text (default), tsv or csv; without --limit, text has at most 500 rows per section and html 5000" */
static void describe_formats(struct buffer *buffer)
{
	const char *words[REPORT_FORMAT_COUNT], *limits[REPORT_FORMAT_COUNT];
	char texts[REPORT_FORMAT_COUNT][64];
	size_t limit_count = 0;

	for (size_t i = 0; i < REPORT_FORMAT_COUNT; i++) {
		words[i] = i == REPORT_FORMAT_TEXT ? "text (default)" : report_format_names[i];
		if (report_default_limits[i] == 0)
			continue;
		snprintf(texts[i], sizeof(texts[i]),
			 limit_count == 0 ? "%s has at most %zu rows per section" : "%s %zu",
			 report_format_names[i], report_default_limits[i]);
		limits[limit_count++] = texts[i];
	}
	buffer_append_list(buffer, words, REPORT_FORMAT_COUNT, "or");
	buffer_append_text(buffer, "; without --limit, ");
	buffer_append_list(buffer, limits, limit_count, "and");
}

static void list_metrics(struct buffer *buffer)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		buffer_append_format(buffer, "%s\n", metrics[i].name);
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		buffer_append_format(buffer, "%s\n", derived_metrics[i].name);
}

static void list_sections(struct buffer *buffer)
{
	for (size_t i = 0; i < SECTION_COUNT; i++)
		buffer_append_format(buffer, "%s\n", sections[i].name);
}

static void describe_sections(struct buffer *buffer)
{
	const char *names[SECTION_COUNT];

	for (size_t i = 0; i < SECTION_COUNT; i++)
		names[i] = sections[i].name;
	buffer_append_text(buffer, "print these sections only: ");
	buffer_append_list(buffer, names, SECTION_COUNT, "and");
}

const char *const table_format_names[] = {
	[REPORT_FORMAT_TEXT] = "text", [REPORT_FORMAT_TSV] = "tsv",     [REPORT_FORMAT_CSV] = "csv",
	[REPORT_FORMAT_JSON] = "json", [REPORT_FORMAT_JSON + 1] = NULL,
};

static const struct option list[] = {
	{OPTION('\0', "metrics", "NAME,...", struct report_options, metrics), .list = list_metrics,
	 .description = "print only these metrics and derived metrics (see 'ctop metrics'), and these fields "
			"of a sched_ext scheduler (scx.NAME); sections that have none of them are printed "
			"if --sections names them"},
	{OPTION('\0', "sections", "NAME,...", struct report_options, sections), .list = list_sections,
	 .describe = describe_sections},
	{OPTION('\0', "ktstr", NULL, struct report_options, ktstr), .old_name = "reference",
	 .description = "print the cells of ktstr's ctprof: what was not read counts as zero"},
	{OPTION('\0', "format", "FORMAT", struct report_options, format), .choices = report_format_names,
	 .describe = describe_formats},
	{OPTION('\0', "max-bytes", "SIZE", struct report_options, max_bytes), .unit = "B", .minimum = 1,
	 .maximum = 1e18,
	 .description = "refuse a file with more bytes of JSON than this (default 4294967296 and, above "
			"16 MiB, 1000 per byte of the file)"},
	{OPTION('\0', "nearest", NULL, struct report_options, nearest),
	 .description = "where a history has nothing of HISTORY@WHEN, take the nearest round and say so, "
			"instead of failing"},
	{OPTION('o', "output", "OUT", struct report_options, output),
	 .description = "write to this file, which is replaced only once the report is complete; - for "
			"standard output"},
	{OPTION('\0', "ascii", NULL, struct report_options, ascii),
	 .description = "use only ASCII characters in text"},
	{OPTION('b', NULL, NULL, struct report_options, as_batch),
	 .description = "print without a screen, as `ctop -b` does: for one file, the screen's table as "
			"text, tsv, csv or json"},
};

const struct option_table report_option_table = {"Report", list, ARRAY_COUNT(list)};

void report_options_set_defaults(struct report_options *options, struct view_options *view)
{
	options->max_bytes = CTPROF_DEFAULT_LIMIT;
	view->limit = UINT64_MAX;
}

int report_options_select(const struct report_options *options, const struct view_options *view,
			  size_t side_count, struct tables_request *ret_request, struct error *error)
{
	int status = selection_parse_sections(options->sections, ret_request->sections, error);

	if (status == 0)
		status = selection_parse_metrics(options->metrics, ret_request->metrics, ret_request->derived,
						 &ret_request->fields, error);
	if (status == 0)
		status = selection_parse_sort_keys(view->sort_by, &ret_request->sort, error);
	if (status == 0)
		status = tables_parse_columns(view->columns, side_count, ret_request, error);
	ret_request->limit = view->limit != UINT64_MAX ? view->limit : report_default_limits[options->format];
	ret_request->chunk_rows = options->format == REPORT_FORMAT_TEXT ? 0 : CHUNK_ROWS;
	return status;
}

void report_options_warn(const struct report_options *options, const struct view_options *view,
			 const struct tables_request *request)
{
	if (options->sections == NULL || view->axis == AXIS_CGROUP)
		return;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		if (request->sections[i] && sections[i].needs_cgroup_axis)
			command_note("section %s needs --group-by cgroup and is left out (groups are by %s)",
				     sections[i].name, axes[view->axis].word);
	}
}
