/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop metrics`: what is counted, from where, and how a group is made of its threads. */
#include <errno.h>

#include "base/unicode.h"
#include "cmd/line/output.h"
#include "commands.h"
#include "compare/metric_tables.h"
#include "describe.h"
#include "report/report.h"
#include "table/column_name.h"
#include "window/column.h"

enum {
	METRICS_NAMES_MAX = 1000
};

struct metrics_options {
	int format; /* index in formats */
};

static const char *const formats[] = {"text", "tsv", "json", NULL};
static const enum report_format report_formats[] = {REPORT_FORMAT_TEXT, REPORT_FORMAT_TSV,
						    REPORT_FORMAT_JSON};

static const struct option metrics_options_list[] = {
	{OPTION('\0', "format", "FORMAT", struct metrics_options, format), .choices = formats,
	 .description = "text (default), tsv or json"},
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

/* What is known of each name. */
static int describe_names(char **names, int count, struct output *output)
{
	struct error error;

	for (int i = 0; i < count; i++) {
		if (describe_name(names[i], &output->buffer, &error) < 0) {
			output_abandon(output);
			buffer_release(&output->buffer);
			return command_misused(&metrics_command, &error);
		}
		buffer_append_text(&output->buffer, i + 1 < count ? "\n" : "");
	}
	return output_end(output);
}

static void list_names(struct buffer *buffer)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		buffer_append_format(buffer, "%s\n", column_word(column));
	for (size_t i = 0; i < METRIC_COUNT; i++)
		buffer_append_format(buffer, "%s\n", metrics[i].name);
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		buffer_append_format(buffer, "%s\n", derived_metrics[i].name);
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
	struct error error;

	if (operand_count != 0 && report.format != REPORT_FORMAT_TEXT) {
		error_set(&error, -EINVAL,
			  "what is known of a name is printed as text only; %s has the whole list",
			  formats[options->format]);
		return command_misused(&metrics_command, &error);
	}
	if (operand_count != 0)
		return describe_names(operands, operand_count, &output);
	report_begin(&report, &(struct report_subject){.command = "metrics"});
	draw(&report, metric_tables_metrics());
	draw(&report, metric_tables_derived());
	report_end(&report);
	return output_end(&output);
}

const struct command metrics_command = {
	.name = "metrics",
	.summary = "list the metrics: where they come from, what they need, what they mean",
	.usage = "[NAME]... [OPTION]...",
	.details = "With names prints all that is known of these metrics and columns of the screen.",
	.maximum_operands = METRICS_NAMES_MAX,
	.list_operands = list_names,
	.tables = metrics_tables,
	.table_count = ARRAY_COUNT(metrics_tables),
	.options_size = sizeof(struct metrics_options),
	.run = metrics_run,
};
