/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop metrics`: metrics with their sources and the way their groups are made. */
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "cmd/line/help.h"
#include "cmd/line/output.h"
#include "cmd/line/view_options.h"
#include "commands.h"
#include "compare/metric_tables.h"
#include "metric/feature.h"
#include "report/report.h"
#include "table/column_list.h"
#include "table/column_name.h"
#include "table/tab.h"
#include "table/view.h"
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

static const struct option own_options[] = {
	{OPTION('\0', "format", "FORMAT", struct metrics_options, format), .choices = formats,
	 .description = "text (default), tsv or json"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {{&own_table, 0}};

static void draw(struct report *report, struct table *table)
{
	report_table(report, table);
	table_release(table);
}

/* --- all that is known of one metric or column --- */

static void append_line(struct buffer *buffer, const char *word, const char *text)
{
	buffer_append_format(buffer, "  %-10s", word);
	help_append_wrapped(buffer, text, "", 12);
}

/* Appends "Overview, Run" where the column stands on tabs of the table. */
static void append_tabs(enum column column, struct buffer *text)
{
	static enum column columns[COLUMN_TOTAL];
	bool any = false;

	for (size_t place = 0; place < tab_count(); place++) {
		const enum tab tab = tab_at(place);
		bool here = tab == TAB_TASK_FIELDS && column_is_task_field(column);

		for (int threads = 0; threads < 2 && !here; threads++) {
			const size_t count = column_list(tab, threads != 0, 0, COLUMN_COUNT, columns);

			here = column_list_has(columns, count, column);
		}
		if (!here)
			continue;
		buffer_append_format(text, "%s%s", any ? ", " : "", tabs[tab].title);
		any = true;
	}
	buffer_append_text(text, any ? "" : "on no tab; with --columns, or chosen with the key C");
}

static void append_heading(enum column column, const char *first, struct buffer *buffer)
{
	const char *others[] = {column_title(column, WINDOW_MODE_RATE),
				column_title(column, WINDOW_MODE_INTERVAL), column_name(column)};
	const char *before = first;

	buffer_append_format(buffer, "%s", first);
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		if (strcmp(others[i], first) != 0 && strcmp(others[i], before) != 0)
			buffer_append_format(buffer, "%s%s", before == first ? "  (" : ", ", others[i]);
		if (strcmp(others[i], first) != 0)
			before = others[i];
	}
	buffer_append_text(buffer, before != first ? ")\n  " : "\n  ");
	help_append_wrapped(buffer, column_description(column), "", 2);
}

static void append_source(const struct metric_entry *entry, struct buffer *buffer)
{
	struct buffer text = {0};

	if (entry->source == SOURCE_NONE)
		return;
	buffer_append_format(&text, "%s%s%s: %s", sources[entry->source].name,
			     entry->key[0] != '\0' ? " " : "", entry->key,
			     sources[entry->source].description);
	if (entry->equivalent_source != SOURCE_NONE)
		buffer_append_format(&text, "; or the same number, %s %s: %s",
				     sources[entry->equivalent_source].name, entry->equivalent_key,
				     sources[entry->equivalent_source].description);
	append_line(buffer, "source", text.data);
	buffer_release(&text);
}

static void append_needs(const struct metric_entry *entry, struct buffer *buffer)
{
	const struct source_entry *source = &sources[entry->source];
	struct buffer text = {0};

	if (entry->config_gates != NULL)
		buffer_append_format(&text, "a kernel with %s", entry->config_gates);
	if (entry->source != SOURCE_NONE && source->needs != FEATURE_NONE)
		buffer_append_format(&text, "%s%s", text.length != 0 ? "; " : "",
				     features[source->needs].words);
	if (entry->source != SOURCE_NONE && source->rights != FEATURE_NONE)
		buffer_append_format(&text, "%s%s", text.length != 0 ? "; " : "",
				     features[source->rights].words);
	if (text.length != 0)
		append_line(buffer, "needs", text.data);
	buffer_release(&text);
}

/* The columns of the screen that are made of a metric, itself as a column apart. */
static void append_columns_of(enum metric metric, struct buffer *buffer)
{
	struct buffer text = {0};

	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		const struct column_entry *entry = column_entry(column);
		bool is_input = false;

		for (size_t i = 0; column_has_metrics(column) && i < entry->input_count; i++)
			is_input = is_input || entry->inputs[i] == (int)metric;
		if (is_input)
			buffer_append_format(&text, "%s%s", text.length != 0 ? ", " : "",
					     column_word(column));
	}
	if (text.length != 0)
		append_line(buffer, "columns", text.data);
	buffer_release(&text);
}

static void append_metric(enum metric metric, struct buffer *buffer)
{
	const struct metric_entry *entry = &metrics[metric];
	const struct metric_type_entry *type = metric_type(metric);

	append_heading(column_of_metric(metric), entry->name, buffer);
	append_source(entry, buffer);
	append_line(buffer, "kind", type->name);
	append_line(buffer, "of groups", type->aggregation);
	if (unit_names[unit_of_ladder(type->ladder)][0] != '\0')
		append_line(buffer, "unit", unit_names[unit_of_ladder(type->ladder)]);
	if (entry->tag != METRIC_TAG_NONE)
		append_line(buffer, "class", metric_tag_names[entry->tag]);
	append_needs(entry, buffer);
	append_line(buffer, "section", sections[entry->section].name);
	append_columns_of(metric, buffer);
}

static void append_derived(enum derived derived, struct buffer *buffer)
{
	const struct derived_entry *entry = &derived_metrics[derived];

	append_heading(column_of_derived(derived), entry->name, buffer);
	append_line(buffer, "formula", entry->formula);
	append_line(buffer, "unit",
		    entry->is_ratio ? unit_names[UNIT_RATIO] : unit_names[unit_of_ladder(entry->ladder)]);
	append_line(buffer, "section", sections[entry->section].name);
	for (size_t i = 0; i < entry->input_count; i++) {
		buffer_append_char(buffer, '\n');
		append_metric(entry->inputs[i], buffer);
	}
}

static void append_column(enum column column, struct buffer *buffer)
{
	const struct column_entry *entry = column_entry(column);
	struct buffer places = {0};

	append_heading(column, column_word(column), buffer);
	append_tabs(column, &places);
	append_line(buffer, "tabs", places.data);
	buffer_release(&places);
	for (size_t i = 0; column_has_metrics(column) && i < entry->input_count; i++) {
		buffer_append_char(buffer, '\n');
		append_metric((enum metric)entry->inputs[i], buffer);
	}
}

/*
 * Appends what a metric, a derived metric or a column of the screen is, by any name that column_find() knows:
 * what it counts, where it comes from, its unit, what it needs, where it stands on the screen. Returns 0, or
 * -EINVAL with a sentence that has the nearest name.
 */
static int describe_name(const char *name, struct buffer *buffer, struct error *error)
{
	const enum column column = column_find(name);

	if (column == COLUMN_COUNT)
		return column_refuse(name, error);
	if (column < COLUMN_COUNT || column_is_task_field(column))
		append_column(column, buffer);
	else if (column < COLUMN_DERIVED)
		append_metric((enum metric)(column - COLUMN_METRICS), buffer);
	else
		append_derived((enum derived)(column - COLUMN_DERIVED), buffer);
	return 0;
}

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
	view_options_list_columns(buffer);
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
	.summary = "list the metrics: where they come from and what they mean",
	.purpose = COMMAND_CHECKS,
	.usage = "[NAME]... [OPTION]...",
	.details = "With names prints all that is known of these metrics and columns of the screen.",
	.maximum_operands = METRICS_NAMES_MAX,
	.list_operands = list_names,
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct metrics_options),
	.run = metrics_run,
};
