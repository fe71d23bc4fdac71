/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop metrics`: what is counted, from where, and how a group is made of its threads. */
#include "base/unicode.h"
#include "commands.h"
#include "tables/metric_tables.h"
#include "cmd/line/output.h"
#include "report/report.h"

struct metrics_options {
	int format; /* index in formats */
};

static const char *const formats[] = {"text", "tsv", "json", NULL};
static const enum report_format report_formats[] = {REPORT_FORMAT_TEXT, REPORT_FORMAT_TSV,
						    REPORT_FORMAT_JSON};

static const struct option metrics_options_list[] = {
	{
		.name = "format",
		.kind = OPTION_CHOICE,
		.value_name = "FORMAT",
		.choices = formats,
		.offset = offsetof(struct metrics_options, format),
		.description = "text (default), tsv or json",
	},
};

static const struct option_table metrics_option_table = {
	"Options",
	metrics_options_list,
	ARRAY_COUNT(metrics_options_list),
};

static const struct option_table_use metrics_tables[] = {{&metrics_option_table, 0}};

static void draw(struct report *report, struct table *table)
{
	report_table(report, table);
	table_release(table);
}

static int metrics_run(void *opaque, char **operands, int operand_count)
{
	const struct metrics_options *options = opaque;
	struct output output = {0};
	struct report report = {
		.format = report_formats[options->format],
		.out = &output.buffer,
		.ascii = !unicode_in_locale(),
	};

	(void)operands;
	(void)operand_count;
	report_begin(&report, &(struct report_subject){.command = "metrics"});
	draw(&report, metric_tables_metrics());
	draw(&report, metric_tables_derived());
	report_end(&report);
	return output_end(&output);
}

const struct command metrics_command = {
	.name = "metrics",
	.summary = "list the metrics: where they come from, what they need, what they mean",
	.usage = "[OPTION]...",
	.tables = metrics_tables,
	.table_count = ARRAY_COUNT(metrics_tables),
	.options_size = sizeof(struct metrics_options),
	.run = metrics_run,
};
