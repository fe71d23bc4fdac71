/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop dump`: a series of tables of what was recorded. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/history_place.h"
#include "cmd/line/output.h"
#include "cmd/line/report_options.h"
#include "cmd/line/screen_options.h"
#include "cmd/line/view_options.h"
#include "commands.h"
#include "history_dump.h"
#include "session/when.h"

struct dump_options {
	const char *from, *to;
	uint64_t every_ns;
	int format;
	bool ascii;
	const char *output;
	struct config_file config;
	struct screen_options screen;
	struct view_options view;
};

static void set_defaults(void *untyped)
{
	((struct dump_options *)untyped)->view.axis = AXIS_COUNT;
}

static int parse_length(const char *value, void *member, struct error *error)
{
	return when_parse_length(value, member, error);
}

static const struct option own_options[] = {
	{OPTION('\0', "from", "WHEN", struct dump_options, from),
	 .description =
		 "begin there: -1h, 09:40, 'yesterday 3pm', '2026-11-20 09:40'; default the first round"},
	{OPTION('\0', "to", "WHEN", struct dump_options, to),
	 .description = "end there; default the last round"},
	{
		.name = "every",
		.kind = OPTION_PARSED,
		.value_name = "TIME",
		.offset = offsetof(struct dump_options, every_ns),
		.parse = parse_length,
		.description = "print a table for so much time, as 1m or 1h, and one for what is left at the "
			       "end; default for each round",
	},
	{OPTION('\0', "format", "FORMAT", struct dump_options, format), .choices = table_format_names,
	 .description = "text (default), tsv, csv or json (one object per table and line)"},
	{OPTION('o', "output", "OUT", struct dump_options, output),
	 .description = "write to this file, which is replaced only once all is written"},
	{OPTION('\0', "ascii", NULL, struct dump_options, ascii),
	 .description = "use only ASCII characters in text"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&history_option_table, 0},
	{&screen_option_table, offsetof(struct dump_options, screen)},
	{&view_option_table, offsetof(struct dump_options, view)},
};

static int configure(void *untyped, const struct option_set *given, struct error *error)
{
	struct dump_options *options = untyped;

	(void)given;
	return config_tabs_read(NULL, options->screen.tab, &options->config, error);
}

/* `newest_unix_ns` is the newest moment of the history, or now where it is not open yet. */
static int parse_span(const struct dump_options *options, uint64_t newest_unix_ns,
		      struct history_dump_options *dump, struct error *error)
{
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	int result = 0;

	dump->to_unix_ns = UINT64_MAX;
	if (options->from != NULL)
		result = when_parse(options->from, now, newest_unix_ns, &dump->from_unix_ns, error);
	if (result == 0 && options->to != NULL)
		result = when_parse(options->to, now, newest_unix_ns, &dump->to_unix_ns, error);
	if (result == 0 && dump->from_unix_ns > dump->to_unix_ns) {
		char from[WHEN_TEXT_SIZE], to[WHEN_TEXT_SIZE];

		result = error_set(error, -EINVAL, "--from %s is later than --to %s",
				   when_format(from, dump->from_unix_ns), when_format(to, dump->to_unix_ns));
	}
	if (result == 0 && dump->every_ns != 0 && view_needs_latency(dump->view))
		result = error_set(
			error, -EINVAL,
			"how long waits took is known of each round, not over several: leave out --every");
	return result;
}

static int dump_history(const struct dump_options *options, struct history_dump_options *dump)
{
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	struct output output = {0};
	struct history *history;
	struct error error;
	int result = history_open(history_place(), &history, &error);

	if (result < 0)
		return command_failed(&error);
	if (parse_span(options, history_newest(history, now), dump, &error) < 0) {
		history_close(history);
		return command_misused(&dump_command, &error);
	}
	result = output_open(&output, options->output, true, &error);
	if (result == 0) {
		result = history_dump(history, dump, &output, &error);
		if (result < 0)
			output_abandon(&output);
	}
	history_close(history);
	if (result < 0) {
		buffer_release(&output.buffer);
		return command_failed(&error);
	}
	return output_end(&output);
}

static int dump_run(void *untyped, char **operands, int operand_count)
{
	struct dump_options *options = untyped;
	enum column columns[SCREEN_COLUMNS_MAX];
	struct view view;
	struct history_dump_options dump = {
		.view = &view,
		.format = (enum report_format)options->format,
		.ascii = options->ascii || !unicode_in_locale(),
		.csv_safe = options->view.csv_safe,
		.to_terminal = options->output == NULL && isatty(STDOUT_FILENO) == 1,
		.every_ns = options->every_ns,
	};
	struct error error;
	int status;

	(void)operands;
	(void)operand_count;
	if (screen_options_make_view(&options->screen, &options->view, AXIS_PROCESS, columns, &view, &error) <
		    0 ||
	    parse_span(options, clock_ns(CLOCK_REALTIME), &dump, &error) < 0)
		status = command_misused(&dump_command, &error);
	else
		status = dump_history(options, &dump);
	view_release(&view);
	config_file_release(&options->config);
	return status;
}

const struct command dump_command = {
	.name = "dump",
	.summary = "print what was recorded as a series of tables",
	.usage = "[--from WHEN] [--to WHEN] [--every TIME] [OPTION]...",
	.details = "Prints the table of a view for each round of a history, or for each minute, hour ..., as "
		   "`ctop -b` prints it of a live host: rates are over the time between two tables, and "
		   "threads that ended in between count. Times are in UTC nanoseconds in tsv, csv and json.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct dump_options),
	.set_defaults = set_defaults,
	.configure = configure,
	.run = dump_run,
};
