/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop history`: what a history has: days, gaps, starts of the host, marks, damage. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "cmd/line/history_place.h"
#include "cmd/line/output.h"
#include "cmd/line/report_options.h"
#include "commands.h"
#include "history_list.h"
#include "report/report.h"
#include "session/when.h"

struct history_command_options {
	int format; /* enum report_format */
	bool check;
};

static const struct option own_options[] = {
	{OPTION('\0', "check", NULL, struct history_command_options, check),
	 .description =
		 "read every round, to find all that is damaged; takes a second for a day of a large host"},
	{OPTION('\0', "format", "FORMAT", struct history_command_options, format),
	 .choices = table_format_names, .description = "text (default), tsv, csv or json"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&history_option_table, 0},
};

static int history_run(void *untyped, char **operands, int operand_count)
{
	const struct history_command_options *options = untyped;
	struct output output = {0};
	struct report report = {
		.format = (enum report_format)options->format,
		.out = &output.buffer,
		.ascii = !unicode_in_locale(),
		.screen_words = options->format == REPORT_FORMAT_TEXT,
	};
	struct history *history;
	struct error error;
	int result;

	(void)operands;
	(void)operand_count;
	if (history_open(history_place(), &history, &error) < 0)
		return command_failed(&error);
	report_begin(&report, &(struct report_subject){.command = "history"});
	result = history_list_draw(history, options->check, &report, &error);
	report_end(&report);
	history_close(history);
	if (result < 0) {
		output_abandon(&output);
		buffer_release(&output.buffer);
		return command_failed(&error);
	}
	return output_end(&output);
}

const struct command history_command = {
	.name = "history",
	.summary = "list what was recorded: days, gaps, starts of the host, marks, damage",
	.usage = "[OPTION]...",
	.details = "Times are local. A gap is a time of which nothing was recorded, between two rounds of "
		   "the same recording or of two.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct history_command_options),
	.run = history_run,
};
