/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop record`: rounds of the live host into a history. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/line/history_place.h"
#include "cmd/line/reading_options.h"
#include "cmd/line/signals.h"
#include "cmd/record/record_loop.h"
#include "commands.h"
#include "metric/quantity.h"
#include "session/when.h"

struct record_command_options {
	double interval; /* seconds */
	uint64_t rounds;
	uint64_t keep_ns, max_bytes, rest_ns;
	struct option_numbers scope;
	double budget_percent;
	bool latency;
	int titles; /* index in title_choices */
	bool no_titles;
	struct option_texts when;
	struct root_options roots;
	struct heap_options heap;
	struct backend_options backend;
};

static void set_defaults(void *untyped)
{
	struct record_command_options *options = untyped;

	options->interval = 5;
	options->budget_percent = 3;
	options->keep_ns = UINT64_C(14) * 86400 * NS_PER_S;
	options->max_bytes = UINT64_C(2) << 30;
	options->rest_ns = 600 * NS_PER_S;
}

static int parse_size(const char *value, void *member, struct error *error)
{
	double number, factor;
	const size_t length = quantity_parse_number(value, strlen(value), &number);

	if (length == 0 ||
	    !quantity_find_unit(LADDER_BYTES, value + length, strlen(value + length), &factor) ||
	    number * factor < 1 << 20 || number * factor > 1e18)
		return error_set(error, -EINVAL, "'%.100s' is not a size of at least 1M; valid: 500M, 2G, 1T",
				 value);
	*(uint64_t *)member = (uint64_t)(number * factor);
	return 0;
}

static const char *const title_choices[] = {
	[RECORD_TITLES_SELF] = "self",
	[RECORD_TITLES_ALL] = "all",
	[RECORD_TITLES_NONE] = NULL,
};

static const struct option own_options[] = {
	{OPTION('d', "interval", "TIME", struct record_command_options, interval), .unit = "s",
	 .minimum = 0.5, .maximum = 3600,
	 .description = "time between two rounds: 5 (seconds, default), 500ms, 1m"},
	{OPTION('n', NULL, "N", struct record_command_options, rounds), .minimum = 1, .maximum = 1e15,
	 .description = "end once this many rounds are recorded; one that could not be does not count"},
	{PARSED_OPTION('\0', "keep", "TIME", struct record_command_options, keep_ns, when_parse_length),
	 .description = "remove days that are older than this: 14d (default), 12h, 8w"},
	{PARSED_OPTION('\0', "max-size", "SIZE", struct record_command_options, max_bytes, parse_size),
	 .description = "remove the oldest days when the history is larger than this; default 2G"},
	{OPTION('\0', "when", "RULE", struct record_command_options, when),
	 .description =
		 "mark the moment and save a full snapshot in the history's directory when a rule becomes "
		 "true (ctop help rules); may be repeated: 'RSS(*) > 8G', 'psi.cpu > 20'"},
	{PARSED_OPTION('\0', "rest", "TIME", struct record_command_options, rest_ns, when_parse_length),
	 .description = "time between two marks of the same rule; default 10m"},
	{OPTION('p', "pid", "PID", struct record_command_options, scope), .minimum = 1, .maximum = INT32_MAX,
	 .description = "record only this process; may be repeated"},
	{OPTION('\0', "budget", "PERCENT", struct record_command_options, budget_percent), .minimum = 0,
	 .maximum = 100,
	 .description = "CPU budget for background collection, percent of one CPU; default 3"},
	{OPTION('\0', "titles", "WHICH", struct record_command_options, titles), .choices = title_choices,
	 .description = "record what the busiest 20 processes and stuck ones say of themselves in their "
			"command lines, as PostgreSQL and nginx do: self (default), 128 bytes of it; or all, "
			"their whole command lines, which may hold passwords"},
	{OPTION('\0', "no-titles", NULL, struct record_command_options, no_titles), .excludes = "titles",
	 .description = "record nothing of command lines"},
	{OPTION('\0', "latency", NULL, struct record_command_options, latency),
	 .description = "also measure wait latency (by BPF, as root; about 0.11 us of CPU time for "
			"each wakeup and each switch of the host)"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&history_option_table, 0},
	{&backend_option_table, offsetof(struct record_command_options, backend)},
	{&heap_option_table, offsetof(struct record_command_options, heap)},
	{&root_option_table, offsetof(struct record_command_options, roots)},
};

static struct capture_options make_capture_options(const struct record_command_options *options)
{
	struct capture_options capture = reading_options_capture(&options->scope, &options->backend,
								 &options->roots);

	capture.budget_percent = options->budget_percent > 0 ? options->budget_percent : -1;
	capture.heap = !options->heap.no_heap;
	capture.allow_stop = options->heap.allow_stop;
	capture.latency = options->latency;
	return capture;
}

static int record_run(void *untyped, char **operands, int operand_count)
{
	const struct record_command_options *options = untyped;
	struct record_loop_options loop = {
		.capture = make_capture_options(options),
		.interval_ns = (uint64_t)(options->interval * NS_PER_S),
		.history =
			{
				.directory = history_place(),
				.keep_ns = options->keep_ns,
				.max_bytes = options->max_bytes,
			},
		.rounds = options->rounds,
		.titles = options->no_titles ? RECORD_TITLES_NONE
					     : (enum record_titles_choice)options->titles,
	};
	struct error error;
	bool left_behind;
	int result;

	(void)operands;
	(void)operand_count;
	if (record_rules_parse(options->when.items, options->when.count, options->rest_ns, &loop.rules,
			       &error) < 0)
		return command_misused(&record_command, &error);
	history_place_make();
	record_rules_watch(loop.rules, options->roots.roots[ROOT_PROC], loop.interval_ns);
	result = record_loop_run(&loop, &left_behind, &error);
	if (left_behind)
		_exit(signals_end(result, &error));
	record_rules_release(loop.rules);
	return signals_end(result, &error);
}

const struct command record_command = {
	.name = "record",
	.summary = "record this host into a history that can be looked at later",
	.purpose = COMMAND_KEEPS,
	.usage = "[OPTION]...",
	.details = "Reads what the live screen reads, every few seconds, and stores it in the directory of "
		   "the history, a file a day. One ctop at a time records into a history; any number may "
		   "read it meanwhile. SIGTERM ends it with everything stored. Where the disk is full "
		   "recording pauses, and resumes by itself.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct record_command_options),
	.set_defaults = set_defaults,
	.run = record_run,
};
