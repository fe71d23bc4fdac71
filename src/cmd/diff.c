/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop diff`: what changed between two saved snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/line/history_place.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/snapshot_report.h"
#include "commands.h"
#include "metric/nearest.h"
#include "table/tab.h"
#include "window/column.h"

enum diff_matching {
	DIFF_MATCHING_GROUPS,
	DIFF_MATCHING_THREADS,
	DIFF_MATCHING_COUNT, /* threads where they can be told apart */
};

struct diff_command_options {
	struct view_options view;
	struct report_options report;
	int display;                 /* enum tables_display; TABLES_DISPLAY_COUNT: the format's own */
	int match;                   /* enum diff_matching */
	bool per[TABLES_PER_COUNT];  /* columns for each second, for each thread */
	struct option_texts fail_if; /* rules */
	const char *tab;             /* of the rows of groups; NULL: Overview */
	bool is_long;                /* a row for each metric */
	bool any, all;               /* changes that are not real break them; and are printed */
};

static const char *const matchings[] = {
	[DIFF_MATCHING_GROUPS] = "group",
	[DIFF_MATCHING_THREADS] = "thread",
	NULL,
};

static int parse_per(const char *value, void *member, struct error *error)
{
	size_t per;
	const int result = nearest_choose(error, "--per", value, tables_per_names, TABLES_PER_COUNT, &per);

	if (result == 0)
		((bool *)member)[per] = true;
	return result;
}

static const struct option own_options[] = {
	{OPTION('\0', "display-format", "COLUMNS", struct diff_command_options, display),
	 .choices = tables_display_names,
	 .description =
		 "columns of the long form after group, threads and metric: arrow (both sides in one, "
		 "change, %, uptime; default of text and tsv), full (before, after, change, %; default "
		 "of the other formats), delta-only, no-pct or pct-only"},
	{OPTION('\0', "match", "HOW", struct diff_command_options, match), .choices = matchings,
	 .description = "thread: of two single readings of one boot, add up what each thread did in between, "
			"and list the threads that came and went (default where they can be told apart); "
			"group: compare what the groups add up to on each side"},
	{PARSED_OPTION('\0', "per", "second|thread", struct diff_command_options, per, parse_per),
	 .description = "add a column to the long form with the change per second between the captures, or "
			"with the value per thread; may be repeated"},
	{OPTION('\0', "fail-if", "RULE", struct diff_command_options, fail_if),
	 .description =
		 "exit with 3 if 'NUMBER(GROUPS) OP LIMIT' is true of a group's change: 'CPU%(worker-*) > "
		 "20%', 'read_bytes(cgroup:/system.slice/*) >= 10M'; NUMBER is any column or metric, GROUPS "
		 "a glob for processes, else threads, else cgroups; 'delayed(api by backup) > 0.2' of the "
		 "seconds per second that api waited for a CPU while backup ran; with after: before it, of "
		 "the "
		 "value in the second file; also if a number is unavailable or no group matches; may be "
		 "repeated; of "
		 "two files with windows only changes that are real break it"},
	{OPTION('\0', "any", NULL, struct diff_command_options, any),
	 .description = "let changes that may be chance break rules (files with windows)"},
	{OPTION('t', "tab", "TAB", struct diff_command_options, tab),
	 .description =
		 "print the columns of this tab (run, io, memory and so on, as in ctop; default overview); "
		 "cgroup implies -g cgroup"},
	{OPTION('\0', "long", NULL, struct diff_command_options, is_long),
	 .description =
		 "print the long form: every metric of a group in a row of its own, and cgroups, pressure "
		 "and smaps_rollup, as tsv, csv and json have it; so do --metrics, --sections, --columns, "
		 "--sort-by, --display-format and --per"},
	{OPTION('\0', "all", NULL, struct diff_command_options, all),
	 .description = "print rows that did not change measurably, too"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&report_option_table, offsetof(struct diff_command_options, report)},
	{&view_option_table, offsetof(struct diff_command_options, view)},
	{&history_option_table, 0},
};

static void diff_set_defaults(void *options)
{
	struct diff_command_options *diff = options;

	diff->view.axis = AXIS_COUNT;
	diff->display = TABLES_DISPLAY_COUNT;
	diff->match = DIFF_MATCHING_COUNT;
	report_options_set_defaults(&diff->report, &diff->view);
}

/* Cells of a line of the terminal that is printed to, 0 for none. */
static int terminal_width(const struct output *output)
{
	struct winsize size;

	if (!output_is_terminal(output) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

static int parse_rules(const struct option_texts *texts, struct rule **ret_rules, struct error *error)
{
	struct rule *rules = memory_allocate_zero(texts->count + 1, sizeof(*rules));
	int status = 0;

	*ret_rules = rules;
	for (size_t i = 0; status == 0 && i < texts->count; i++)
		status = rule_parse(texts->items[i], true, &rules[i], error);
	return status;
}

static void release_rules(struct rule *rules, size_t count)
{
	for (size_t i = 0; rules != NULL && i < count; i++)
		rule_release(&rules[i]);
	free(rules);
}

/* Other formats begin with this; TSV and CSV are for programs that read rows, and so it goes to stderr. */
static void tell_comparability(const struct comparability *comparability, enum report_format format)
{
	if (format != REPORT_FORMAT_TSV && format != REPORT_FORMAT_CSV)
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

static int check_rules(const struct snapshot_report *report, const struct rule *rules, size_t count,
		       struct error *error)
{
	const bool of_one_boot = report->match != NULL && !report->how.dialect->is_flagged;
	int status = 0;

	for (size_t i = 0; status == 0 && !report->how.rates && i < count; i++)
		status = diff_rule_check_lives(&rules[i], of_one_boot, error);
	return status;
}

static int check_per(const struct snapshot_report *report, struct error *error)
{
	const struct snapshot *before = report->snapshots[DIFF_BEFORE];
	const struct snapshot *after = report->snapshots[DIFF_AFTER];

	if (!tables_asks_per(&report->request, TABLES_PER_SECOND))
		return 0;
	if (report->diff->interval_ns == 0)
		return error_set(error, -EINVAL,
				 "the time between the captures is zero or unknown: leave out --per second");
	if (comparability_other_host(before, after))
		return error_set(error, -EINVAL,
				 "the captures are of two hosts, %s and %s: no change happened in the time "
				 "between them; leave out --per second",
				 before->provenance.hostname, after->provenance.hostname);
	return 0;
}

/* Two moments of one history, the earlier one first, may mean the window between them: says how to ask for
 * it. */
static void tell_range(const char *before, const char *after)
{
	const char *at = strchr(before, '@');
	const size_t directory = at != NULL ? (size_t)(at + 1 - before) : 0;

	if (directory != 0 && strncmp(before, after, directory) == 0 && strcmp(before, after) < 0 &&
	    strstr(at, "..") == NULL && strstr(after + directory, "..") == NULL)
		command_note("what happened between them: ctop show '%s..%s'", before, after + directory);
}

static int run(const struct diff_command_options *options, struct snapshot_report *report,
	       const struct rule *rules)
{
	struct history_moment files[DIFF_SIDE_COUNT] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
	struct error error;
	bool are_read;
	int status;

	if (snapshot_files_check_output(report->names, DIFF_SIDE_COUNT, options->report.output, &error) < 0 ||
	    snapshot_report_open(report, &options->report, &options->view, true, &error) < 0)
		return command_failed(&error);
	report->report.width = terminal_width(&report->output);
	status = snapshot_files_read(report->names, DIFF_SIDE_COUNT, options->report.max_bytes, files,
				     &error);
	for (size_t side = 0; status == 0 && side < DIFF_SIDE_COUNT; side++) {
		report->snapshots[side] = files[side].snapshot;
		report->names[side] = files[side].name;
	}
	are_read = status == 0;
	if (status == 0)
		status = snapshot_report_join(report, &error);
	if (status == 0)
		status = check_per(report, &error);
	if (status == 0)
		status = check_rules(report, rules, options->fail_if.count, &error);
	if (status < 0) {
		output_abandon(&report->output);
		/* the files are good: the request does not fit them */
		status = are_read ? command_misused(&diff_command, &error) : command_failed(&error);
	} else {
		diff_rules_judge(rules, options->fail_if.count, report->diff, options->any,
				 &report->outcomes);
		tell_comparability(report->comparability, report->report.format);
		if (report->how.rates)
			tell_range(files[DIFF_BEFORE].name, files[DIFF_AFTER].name);
		status = snapshot_report_write(report, &error) < 0 ? command_failed(&error)
								   : tell_rules(&report->outcomes);
	}
	snapshot_report_release(report);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		snapshot_file_release(&files[side]);
	return status;
}

static int diff_run(void *opaque, char **operands, int operand_count)
{
	struct diff_command_options *options = opaque;
	static struct snapshot_report report; /* large for a stack */
	struct rule *rules = NULL;
	struct error error;
	int status;

	(void)operand_count;
	report.names[DIFF_BEFORE] = operands[0];
	report.names[DIFF_AFTER] = operands[1];
	report.request.display = (enum tables_display)options->display;
	report.how.by_threads = options->match == DIFF_MATCHING_THREADS;
	report.threads_by_default = options->match == DIFF_MATCHING_COUNT;
	memcpy(report.request.per, options->per, sizeof(report.request.per));
	report.request.all = options->all;
	report.request.is_long = options->is_long || options->report.metrics != NULL ||
				 options->report.sections != NULL || options->view.columns != NULL ||
				 options->view.sort_by != NULL || options->display != TABLES_DISPLAY_COUNT ||
				 options->per[TABLES_PER_SECOND] || options->per[TABLES_PER_THREAD];
	if (snapshot_files_check(report.names, DIFF_SIDE_COUNT, &error) < 0 ||
	    view_options_check_pair(&options->view, &error) < 0 ||
	    report_options_select(&options->report, &options->view, DIFF_SIDE_COUNT, &report.request,
				  &error) < 0 ||
	    (options->tab != NULL && tab_choose(options->tab, &report.request.tab, &error) < 0) ||
	    parse_rules(&options->fail_if, &rules, &error) < 0) {
		status = command_misused(&diff_command, &error);
	} else {
		/* numbers of cgroups belong to rows of cgroups */
		if (options->view.axis == AXIS_COUNT)
			options->view.axis = report.request.tab == TAB_CGROUP ? AXIS_CGROUP : AXIS_ALL;
		report_options_warn(&options->report, &options->view, &report.request);
		status = run(options, &report, rules);
	}
	release_rules(rules, options->fail_if.count);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.alias = "compare",
	.summary = "print what changed between two saved snapshots",
	.usage = "BEFORE AFTER [OPTION]...",
	.details =
		"Reads two .ctprof.zst files or recorded moments (/var/lib/ctop@-1h, @09:40); one of them "
		"may be - for standard input, as of `ssh HOST ctop capture -o -`. Groups are joined by their "
		"names; with the axis all, which is the default, cgroups that were renamed are joined too: "
		"they run the same types of threads and are marked [renamed: NAME]. Of two files with "
		"windows "
		"(ctop capture --for 10) rates are compared, else lives. Sentences about the "
		"three groups whose changes do most harm come first (on a terminal last), and the rows are "
		"sorted by harm. Text, "
		"markdown and html have a row for each group, with both values where they differ. A group "
		"in one file only has - on the other side. A value is a centred dot if it is unavailable.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct diff_command_options),
	.set_defaults = diff_set_defaults,
	.minimum_operands = 2,
	.maximum_operands = 2,
	.run = diff_run,
};
