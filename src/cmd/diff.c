/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop diff`: what changed between two saved snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "metric/nearest.h"
#include "commands.h"
#include "diff.h"
#include "diff/comparability.h"
#include "diff/diff_match.h"
#include "diff/diff_rule.h"
#include "tables/tables.h"
#include "cmd/line/snapshot_pair.h"

static const char *const matchings[] = {
	[DIFF_MATCHING_GROUPS] = "group",
	[DIFF_MATCHING_THREADS] = "thread",
	NULL,
};

static int parse_per(const char *value, void *member, struct error *error)
{
	bool *per = member;

	for (size_t i = 0; i < TABLES_PER_COUNT; i++) {
		if (strcmp(value, tables_per_names[i]) == 0) {
			per[i] = true;
			return 0;
		}
	}
	return nearest_refuse(error, "--per", value, tables_per_names, TABLES_PER_COUNT);
}

static const struct option diff_options_list[] = {
	{
		.name = "display-format",
		.kind = OPTION_CHOICE,
		.value_name = "COLUMNS",
		.choices = tables_display_names,
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
		.name = "match",
		.kind = OPTION_CHOICE,
		.value_name = "HOW",
		.choices = matchings,
		.offset = offsetof(struct diff_command_options, match),
		.description =
			"group (default): compare what the groups add up to on each side; thread: for two "
			"captures of one boot, add up what each thread did in between, and list the threads "
			"that came and went",
	},
	{
		.name = "per",
		.kind = OPTION_PARSED,
		.value_name = "second|thread",
		.offset = offsetof(struct diff_command_options, per),
		.parse = parse_per,
		.description = "add a column with the change per second between the captures, or with the "
			       "value per thread; may be repeated",
	},
	{
		.name = "fail-if",
		.kind = OPTION_TEXTS,
		.value_name = "RULE",
		.offset = offsetof(struct diff_command_options, fail_if),
		.description = "exit with 3 if 'METRIC(GROUP-GLOB) OP LIMIT' is true of a group's change: "
			       "'run_time_ns(worker-*) > 10ms', 'read_bytes(*) >= 50%'; with after: before "
			       "the metric, of its value in the second file; also if a number is unavailable "
			       "or no group matches; may be repeated",
	},
};

static const struct option_table diff_option_table = {
	"Options",
	diff_options_list,
	ARRAY_COUNT(diff_options_list),
};

static const struct option_table_use diff_tables_used[] = {
	{&diff_option_table, 0},
	{&report_option_table, offsetof(struct diff_command_options, report)},
	{&view_option_table, offsetof(struct diff_command_options, view)},
};

void diff_set_defaults(void *options)
{
	struct diff_command_options *diff = options;

	diff->view.axis = AXIS_ALL;
	diff->display = TABLES_DISPLAY_COUNT;
	report_options_set_defaults(&diff->report, &diff->view);
}

static int make_request(const struct diff_command_options *options, char **files,
			struct tables_request *request, struct error *error)
{
	const enum report_format format = (enum report_format)options->report.format;
	const bool is_text = format == REPORT_FORMAT_TEXT;
	int status = report_options_select(&options->report, &options->view, DIFF_SIDE_COUNT, request, error);

	if (status < 0)
		return status;
	request->display = (enum tables_display)options->display;
	if (options->display == TABLES_DISPLAY_COUNT)
		request->display = is_text || format == REPORT_FORMAT_TSV ? TABLES_DISPLAY_ARROW
									  : TABLES_DISPLAY_FULL;
	request->layout = is_text;
	for (size_t i = 0; i < DIFF_SIDE_COUNT; i++)
		request->names[i] = files[i];
	memcpy(request->per, options->per, sizeof(request->per));
	return 0;
}

/* Cells of a line of the terminal that is printed to, 0 for none. */
static int terminal_width(const struct diff_command_options *options)
{
	struct winsize size;

	if (options->report.output != NULL || isatty(STDOUT_FILENO) != 1 ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* Everything that a report is made of, besides the options. */
struct comparison {
	const struct diff_command_options *options;
	char **files;
	struct snapshot *snapshots[DIFF_SIDE_COUNT];
	struct tables_request request;
	struct diff_rule *rules;  /* as many as options->fail_if has */
	struct diff_match *match; /* NULL where the captures are not of one boot */
	struct diff *diff;
	struct comparability *comparability;
	struct diff_rule_outcomes outcomes;
};

static int parse_rules(struct comparison *comparison, struct error *error)
{
	const struct option_texts *texts = &comparison->options->fail_if;

	comparison->rules = memory_allocate_zero(texts->count + 1, sizeof(*comparison->rules));
	for (size_t i = 0; i < texts->count; i++) {
		int status = diff_rule_parse(texts->items[i], &comparison->rules[i], error);

		if (status < 0)
			return status;
	}
	return 0;
}

/* Which threads are the same: only where it is asked for must that be known. */
static int match_threads(struct comparison *comparison, struct error *error)
{
	struct buffer text = {0};
	const bool by_thread = comparison->options->match == DIFF_MATCHING_THREADS;

	if (comparison->options->report.reference && !by_thread)
		return 0;
	comparison->match = diff_match_create(comparison->snapshots[DIFF_BEFORE],
					      comparison->snapshots[DIFF_AFTER], error);
	if (comparison->match == NULL)
		return by_thread ? -EINVAL : 0;
	diff_match_describe(comparison->match, by_thread, &text);
	comparability_add(comparison->comparability, COMPARABILITY_NOTE, "threads", text.data);
	buffer_release(&text);
	return 0;
}

static int compare(struct comparison *comparison, struct error *error)
{
	const struct diff_command_options *options = comparison->options;
	struct snapshot *before = comparison->snapshots[DIFF_BEFORE];
	struct snapshot *after = comparison->snapshots[DIFF_AFTER];
	struct diff_options how = {
		.grouping = view_options_grouping(&options->view),
		.by_flags = options->report.reference,
	};
	const int64_t interval = comparability_interval(before, after);
	int status;

	comparison->comparability = comparability_create(before, after);
	status = match_threads(comparison, error);
	if (status < 0)
		return status;
	if (options->per[TABLES_PER_SECOND] && interval == 0)
		return error_set(error, -EINVAL,
				 "the time between the captures is zero or unknown: leave out --per second");
	if (options->match == DIFF_MATCHING_THREADS)
		diff_match_apply(comparison->match, &how);
	comparison->diff = diff_create(before, after, &how);
	comparison->request.match = comparison->match;
	comparison->request.threads = options->match == DIFF_MATCHING_THREADS;
	comparison->request.interval_ns = (uint64_t)(interval < 0 ? -interval : interval);
	for (size_t i = 0; i < options->fail_if.count; i++)
		diff_rule_judge(&comparison->rules[i], comparison->diff, &comparison->outcomes);
	return 0;
}

static void release_comparison(struct comparison *comparison)
{
	diff_rule_outcomes_release(&comparison->outcomes);
	comparability_release(comparison->comparability);
	diff_release(comparison->diff);
	diff_match_release(comparison->match);
	for (size_t i = 0; comparison->rules != NULL && i < comparison->options->fail_if.count; i++)
		diff_rule_release(&comparison->rules[i]);
	free(comparison->rules);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		snapshot_release(comparison->snapshots[side]);
}

/* What stands on top of other formats goes to stderr where the output is for programs that read rows. */
static void tell_comparability(const struct comparison *comparison)
{
	const struct comparability *comparability = comparison->comparability;

	if (comparison->options->report.format != REPORT_FORMAT_TSV &&
	    comparison->options->report.format != REPORT_FORMAT_CSV)
		return;
	for (size_t i = 0; i < comparability->count; i++)
		command_note("%s: %s", comparability_severity_names[comparability->rows[i].severity],
			     comparability->rows[i].text);
}

static int tell_rules(const struct diff_rule_outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++) {
		if (outcomes->items[i].broken)
			command_note("rule broken: %s", outcomes->items[i].text);
	}
	return outcomes->broken ? COMMAND_RULE_BROKEN : COMMAND_DONE;
}

static int print_report(struct report_drawing *drawing, const struct comparison *comparison)
{
	const struct diff_command_options *options = comparison->options;
	struct error error;

	report_drawing_start(drawing, &options->report, &options->view);
	drawing->report.snapshot = comparison->snapshots[DIFF_AFTER];
	drawing->report.before = comparison->snapshots[DIFF_BEFORE];
	drawing->report.wrap_width = options->wrap ? terminal_width(options) : 0;
	tell_comparability(comparison);
	report_begin(&drawing->report, &(struct report_subject){
					       .command = "diff",
					       .before_file = comparison->files[DIFF_BEFORE],
					       .file = comparison->files[DIFF_AFTER],
					       .group_by = axes[options->view.axis].name,
					       .comparability = comparison->comparability,
					       .rules = comparison->outcomes.items,
					       .rule_count = comparison->outcomes.count,
				       });
	tables_make(comparison->diff, &comparison->request, report_drawing_add, drawing);
	report_end(&drawing->report);
	if (output_close(&drawing->output, &error) < 0)
		return output_failed(&drawing->output, &error);
	return tell_rules(&comparison->outcomes);
}

/* Reads, compares and prints what the checked options ask for. */
static int run(struct comparison *comparison)
{
	const struct diff_command_options *options = comparison->options;
	const char *const files[DIFF_SIDE_COUNT] = {comparison->files[DIFF_BEFORE],
						    comparison->files[DIFF_AFTER]};
	struct report_drawing drawing;
	struct error error;

	if (output_open(&drawing.output, options->report.output, &error) < 0)
		return command_failed(&error);
	if (snapshot_pair_read(files, options->report.max_bytes, comparison->snapshots, &error) < 0 ||
	    compare(comparison, &error) < 0) {
		output_abandon(&drawing.output);
		return command_failed(&error);
	}
	return print_report(&drawing, comparison);
}

int diff_run(void *opaque, char **operands, int operand_count)
{
	struct comparison comparison = {.options = opaque, .files = operands};
	const struct diff_command_options *options = opaque;
	struct error error;
	int status;

	(void)operand_count;
	if (make_request(options, operands, &comparison.request, &error) < 0 ||
	    parse_rules(&comparison, &error) < 0) {
		status = command_misused(&diff_command, &error);
	} else {
		report_options_warn(&options->report, &options->view, &comparison.request);
		status = run(&comparison);
	}
	release_comparison(&comparison);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.alias = "compare",
	.summary = "print what changed between two saved snapshots",
	.usage = "BEFORE AFTER [OPTION]...",
	.details = "Reads two .ctprof.zst files; one of them may be - for standard input. Groups are joined "
		   "by their names; with the axis all, which is the default, cgroups that were renamed are "
		   "joined too: they run the same types of threads and are marked [fudged: NAME]. The rows "
		   "that changed most, relative to the first file, come first. A change is a centred dot if "
		   "a side is unavailable or lacks the values of some threads, and - if the metric does not "
		   "apply to a side.",
	.tables = diff_tables_used,
	.table_count = ARRAY_COUNT(diff_tables_used),
	.options_size = sizeof(struct diff_command_options),
	.set_defaults = diff_set_defaults,
	.minimum_operands = 2,
	.maximum_operands = 2,
	.run = diff_run,
};
