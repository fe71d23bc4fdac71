/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop diff`: what changed between two saved snapshots. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cmd/line/history_place.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/snapshot_report.h"
#include "commands.h"
#include "compare/diff_floors.h"
#include "diff_hosts.h"
#include "metric/nearest.h"
#include "table/tab.h"
#include "window/column.h"

enum diff_matching {
	DIFF_MATCHING_GROUPS,
	DIFF_MATCHING_THREADS,
	DIFF_MATCHING_COUNT, /* threads where they can be told apart */
};

/* The options of `ctop diff`. */
struct diff_command_options {
	struct view_options view;
	struct report_options report;
	int display;                 /* enum tables_display; TABLES_DISPLAY_COUNT: the format's own */
	int match;                   /* enum diff_matching */
	bool per[TABLES_PER_COUNT];  /* columns for each second, for each thread */
	struct option_texts fail_if; /* rules */
	int unjudged;                /* index of the status for rules that cannot be judged */
	const char *tab;             /* of the rows of groups; NULL: Overview */
	bool is_long;                /* a row for each metric */
	bool any, all;               /* changes that are not real break them; and are printed */
	bool noise;                  /* of one set of runs: what varies in it */
	const char *floors;          /* a file of floors; NULL for none */
};

enum {
	OPERANDS_MAX = 1024,
	FLOORS_MAX = 64 << 20, /* bytes of a file of floors */
};

static const char *const matchings[] = {
	[DIFF_MATCHING_GROUPS] = "group",
	[DIFF_MATCHING_THREADS] = "thread",
	NULL,
};

/* The exit statuses for rules that cannot be judged, by what --unjudged calls them. */
static const char *const unjudged_names[] = {"warn", "fail", "ok", NULL};
static const int unjudged_statuses[] = {COMMAND_NOT_JUDGED, COMMAND_RULE_BROKEN, COMMAND_DONE};

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
		 "exit with 3 if a rule is broken or matches nothing (ctop help rules); may be repeated: "
		 "'CPU%(worker-*) > 20%', 'after:RSS(api) > 2G'"},
	{OPTION('\0', "unjudged", "HOW", struct diff_command_options, unjudged), .choices = unjudged_names,
	 .description =
		 "exit status for rules that cannot be judged, because a number is unavailable: warn (4, "
		 "default), fail (3) or ok (0)"},
	{OPTION('\0', "any", NULL, struct diff_command_options, any),
	 .description = "let changes that may be chance, and bursts, break rules (files with windows)"},
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
	{OPTION('\0', "noise", NULL, struct diff_command_options, noise), .excludes = "fail-if",
	 .description = "of one set of runs, print by how much each group and metric varies without any "
			"change, where that is more than the floor of its unit; --format csv for --floors"},
	{OPTION('\0', "floors", "FILE", struct diff_command_options, floors), .excludes = "noise",
	 .description = "count no change below the floors in this file, which --noise --format csv has "
			"printed for the same -g"},
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

/* Prints the outcomes of rules that are not kept; returns the exit status. */
static int tell_rules(const struct diff_rule_outcomes *outcomes, int unjudged)
{
	for (size_t i = 0; i < outcomes->count; i++) {
		if (outcomes->items[i].result != DIFF_RULE_KEPT)
			command_note("rule %s: %s", diff_rule_results[outcomes->items[i].result],
				     outcomes->items[i].text);
	}
	if (outcomes->broken)
		return COMMAND_RULE_BROKEN;
	return outcomes->unjudged ? unjudged : COMMAND_DONE;
}

/* Refuses two files in which a check would find nothing, or the reverse of what happened. */
static int check_order(const struct snapshot_report *report, struct error *error)
{
	if (comparability_has(report->comparability, "same-capture"))
		return error_set(error, -EINVAL,
				 "%s and %s are one capture: rules need two, the earlier one first",
				 report->names[DIFF_BEFORE], report->names[DIFF_AFTER]);
	if (comparability_has(report->comparability, "swapped-order") &&
	    comparability_same_boot(report->snapshots[DIFF_BEFORE], report->snapshots[DIFF_AFTER]))
		return error_set(error, -EINVAL,
				 "%s is older than %s: rules need the earlier capture first; swap the two",
				 report->names[DIFF_AFTER], report->names[DIFF_BEFORE]);
	return 0;
}

static int check_rules(const struct snapshot_report *report, const struct rule *rules, size_t count,
		       struct error *error)
{
	int status = count != 0 && !diff_has_sets(report->diff) ? check_order(report, error) : 0;

	for (size_t i = 0; status == 0 && i < count; i++)
		status = diff_rule_check(&rules[i], report->diff, error);
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

/* --- the captures --- */

/* The captures of both sides, one after the other. Without sets there is one of each. */
struct captures {
	const char *const *paths; /* by side: where those of the command line begin */
	size_t count[DIFF_SIDE_COUNT];
	struct history_moment *files; /* those before, then those after */
	const struct snapshot **snapshots;
	const char **names;
	char *titles[DIFF_SIDE_COUNT]; /* of sets: what the head of a report calls a side */
};

/* Finds the sides in the operands, and removes what parts them. */
static int part_operands(bool noise, char **operands, size_t count, struct captures *ret_captures,
			 struct error *error)
{
	size_t before = 0, after;
	bool is_parted, are_files, are_sets;

	while (before < count && strcmp(operands[before], options_separator) != 0)
		before++;
	is_parted = before < count;
	after = is_parted ? count - before - 1 : count - 1;
	if (is_parted)
		memmove(&operands[before], &operands[before + 1], after * sizeof(*operands));
	else
		before = 1;
	are_files = before == 1 && after == 1;
	are_sets = before >= 2 && after >= 2;
	if (noise ? is_parted : !are_files && !are_sets)
		return error_set(error, -EINVAL,
				 "more than two files are sets of runs, with -- between them and at least 2 "
				 "on each side: ctop diff A1 A2 A3 -- B1 B2 B3 (or --noise for one set)");
	ret_captures->paths = (const char *const *)operands;
	ret_captures->count[DIFF_BEFORE] = noise ? 0 : before;
	ret_captures->count[DIFF_AFTER] = noise ? count : after;
	return 0;
}

static size_t capture_count(const struct captures *captures)
{
	return captures->count[DIFF_BEFORE] + captures->count[DIFF_AFTER];
}

/* Gives the report a side, whose captures begin at `first`. */
static void take_side(struct captures *captures, enum diff_side side, size_t first,
		      struct snapshot_report *report)
{
	const size_t count = captures->count[side], last = first + count - 1;

	if (count == 0)
		return;
	report->snapshots[side] = captures->snapshots[last];
	report->names[side] = captures->names[last];
	if (count == 1)
		return;
	report->how.sets[side] = (struct comparability_set){
		.runs = &captures->snapshots[first],
		.names = &captures->names[first],
		.count = count,
	};
	captures->titles[side] = memory_format("%s, the last of %zu runs", captures->names[last], count);
	report->names[side] = captures->titles[side];
}

/* Reads the captures; they are released in any case. */
static int read_captures(struct captures *captures, const struct report_options *options,
			 struct snapshot_report *report, struct error *error)
{
	const size_t count = capture_count(captures);
	int result;

	captures->files = memory_allocate_zero(count, sizeof(*captures->files));
	captures->snapshots = memory_allocate_zero(count, sizeof(*captures->snapshots));
	captures->names = memory_allocate_zero(count, sizeof(*captures->names));
	result = snapshot_files_read(captures->paths, count, options->max_bytes, options->nearest,
				     captures->files, error);
	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++) {
		captures->snapshots[i] = captures->files[i].snapshot;
		captures->names[i] = captures->files[i].name;
	}
	take_side(captures, DIFF_BEFORE, 0, report);
	take_side(captures, DIFF_AFTER, captures->count[DIFF_BEFORE], report);
	return 0;
}

static void release_captures(struct captures *captures)
{
	for (size_t i = 0; captures->files != NULL && i < capture_count(captures); i++)
		snapshot_file_release(&captures->files[i]);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		free(captures->titles[side]);
	free(captures->files);
	free(captures->snapshots);
	free(captures->names);
}

/* Reads the floors that the options name, which the report must not overwrite. */
static int read_floors(const struct diff_command_options *options, struct diff_floors **ret_floors,
		       struct error *error)
{
	const char *path = options->floors;
	struct buffer text = {0};
	int result = snapshot_files_check_output(&path, 1, options->report.output, error);

	if (result < 0)
		return result;
	result = file_read(AT_FDCWD, path, &text, FLOORS_MAX);
	if (result < 0)
		error_set(error, result, "%s: %s", path, strerror(-result));
	else
		result = diff_floors_parse(text.data, text.length, path, (enum axis)options->view.axis,
					   ret_floors, error);
	buffer_release(&text);
	return result;
}

/* --- the report --- */

/* Joins what was read; a request that does not fit it is refused. */
static int join(struct snapshot_report *report, const struct rule *rules, size_t rule_count,
		struct error *error)
{
	int status = snapshot_report_join(report, error);

	if (status == 0)
		status = check_per(report, error);
	if (status == 0)
		status = check_rules(report, rules, rule_count, error);
	return status;
}

static int write_comparison(const struct diff_command_options *options, struct snapshot_report *report,
			    const struct captures *captures, const struct rule *rules)
{
	struct error error;

	report->outcomes.notes = report->comparability;
	diff_rules_judge(rules, options->fail_if.count, report->diff, options->any, &report->outcomes);
	/* the head of a report of one set has no room for it */
	tell_comparability(report->comparability, options->noise ? REPORT_FORMAT_TSV : report->report.format);
	if (report->how.rates && !options->noise && capture_count(captures) == DIFF_SIDE_COUNT)
		tell_range(captures->names[DIFF_BEFORE], captures->names[DIFF_AFTER]);
	return snapshot_report_write(report, &error) < 0
		       ? command_failed(&error)
		       : tell_rules(&report->outcomes, unjudged_statuses[options->unjudged]);
}

/* Reads, compares and prints what the checked options ask for. */
static int run(const struct diff_command_options *options, struct snapshot_report *report,
	       struct captures *captures, const struct rule *rules)
{
	struct diff_floors *floors = NULL;
	struct error error;
	bool are_read;
	int status;

	if (snapshot_files_check_output(captures->paths, capture_count(captures), options->report.output,
					&error) < 0 ||
	    (options->floors != NULL && read_floors(options, &floors, &error) < 0))
		return command_failed(&error);
	if (snapshot_report_open(report, &options->report, &options->view, true, &error) < 0) {
		diff_floors_release(floors);
		return command_failed(&error);
	}
	report->report.width = terminal_width(&report->output);
	report->how.floors = floors;
	status = read_captures(captures, &options->report, report, &error);
	are_read = status == 0;
	if (status == 0)
		status = join(report, rules, options->fail_if.count, &error);
	if (status < 0) {
		output_abandon(&report->output);
		/* the files are good: the request does not fit them */
		status = are_read ? command_misused(&diff_command, &error) : command_failed(&error);
	} else {
		status = write_comparison(options, report, captures, rules);
	}
	snapshot_report_release(report);
	release_captures(captures);
	diff_floors_release(floors);
	return status;
}

/* Refuses options that only work for a single host. */
static int check_hosts(const struct diff_command_options *options, const struct hosts_moment *moment,
		       const struct tables_request *request, struct error *error)
{
	if (!options->noise && !request->is_long && options->fail_if.count == 0 && options->floors == NULL &&
	    !options->report.ktstr && options->match != DIFF_MATCHING_THREADS &&
	    report_format_is_for_people((enum report_format)options->report.format))
		return 0;
	return error_set(
		error, -EINVAL,
		"%s has the histories of several hosts, which are compared in rows of groups, as text, "
		"markdown or html, without rules, floors and --match thread: leave that out, or name one "
		"host",
		moment->directory);
}

/* Compares each host of `moment` with itself. */
static int run_hosts(const struct diff_command_options *options, struct snapshot_report *report,
		     const struct hosts_moment *moment)
{
	struct error error;

	if (check_hosts(options, moment, &report->request, &error) < 0)
		return command_misused(&diff_command, &error);
	if (snapshot_report_open(report, &options->report, &options->view, true, &error) < 0)
		return command_failed(&error);
	report->report.width = terminal_width(&report->output);
	if (diff_hosts_print(report, moment, &options->report, &error) == 0)
		return output_end(&report->output);
	output_abandon(&report->output);
	return command_failed(&error);
}

/* Runs the command after its options were checked: compares many hosts, or files. */
static int run_either(struct diff_command_options *options, struct snapshot_report *report,
		      struct captures *captures, const struct rule *rules)
{
	struct hosts_moment moment;
	struct error error;
	int status = hosts_moment_find(captures->paths, capture_count(captures), &moment, &error);

	/* the cgroup tab's numbers need rows of cgroups */
	if (options->view.axis == AXIS_COUNT)
		options->view.axis = report->request.tab == TAB_CGROUP ? AXIS_CGROUP
				     : status == 1                     ? AXIS_HOST
								       : AXIS_ALL;
	if (status < 0) {
		status = command_misused(&diff_command, &error);
	} else if (status == 1) {
		status = run_hosts(options, report, &moment);
	} else {
		report_options_warn(&options->report, &options->view, &report->request);
		status = run(options, report, captures, rules);
	}
	hosts_moment_release(&moment);
	return status;
}

/* Refuses options that have no meaning for sets of runs, or for the table of what varies in one. */
static int check_sets(const struct diff_command_options *options, const struct captures *captures,
		      bool is_long, struct error *error)
{
	if ((options->noise || capture_count(captures) > DIFF_SIDE_COUNT) && options->report.ktstr)
		return error_set(error, -EINVAL, "ktstr compares two files: leave out --ktstr");
	if (options->noise && (is_long || options->all || options->tab != NULL))
		return error_set(
			error, -EINVAL,
			"--noise has a table of its own: leave out --tab, --all, --long and what asks "
			"for that form, such as --metrics");
	return 0;
}

static int diff_run(void *opaque, char **operands, int operand_count)
{
	struct diff_command_options *options = opaque;
	static struct snapshot_report report; /* large for a stack */
	struct captures captures = {.paths = NULL};
	struct rule *rules = NULL;
	struct error error;
	int status;

	report.request.display = (enum tables_display)options->display;
	report.how.by_threads = options->match == DIFF_MATCHING_THREADS;
	report.threads_by_default = options->match == DIFF_MATCHING_COUNT;
	memcpy(report.request.per, options->per, sizeof(report.request.per));
	report.request.all = options->all;
	report.is_noise = options->noise;
	report.request.is_long = options->is_long || options->report.metrics != NULL ||
				 options->report.sections != NULL || options->view.columns != NULL ||
				 options->view.sort_by != NULL || options->display != TABLES_DISPLAY_COUNT ||
				 options->per[TABLES_PER_SECOND] || options->per[TABLES_PER_THREAD];
	if (part_operands(options->noise, operands, (size_t)operand_count, &captures, &error) < 0 ||
	    check_sets(options, &captures, report.request.is_long, &error) < 0 ||
	    snapshot_files_check(captures.paths, capture_count(&captures), &error) < 0 ||
	    view_options_check_pair(&options->view, &error) < 0 ||
	    report_options_select(&options->report, &options->view, DIFF_SIDE_COUNT, &report.request,
				  &error) < 0 ||
	    (options->tab != NULL && tab_choose(options->tab, &report.request.tab, &error) < 0) ||
	    parse_rules(&options->fail_if, &rules, &error) < 0) {
		status = command_misused(&diff_command, &error);
	} else {
		status = run_either(options, &report, &captures, rules);
	}
	release_rules(rules, options->fail_if.count);
	return status;
}

const struct command diff_command = {
	.name = "diff",
	.alias = "compare",
	.summary = "print what changed between two saved snapshots",
	.purpose = COMMAND_LOOKS,
	.usage = "BEFORE... [--] AFTER... [OPTION]...",
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
		"in one file only has - on the other side. A value is a centred dot if it is unavailable. "
		"Sets of runs, of at least two each, have -- between them: A1 A2 A3 -- B1 B2 B3 compares "
		"their means, and a change is real where the runs of both differ by more than those of one. "
		"Two moments or ranges of a directory of histories (DIR@03:00..03:10 DIR@03:12..03:20) "
		"compare each host with itself: a row for each host, or with -g AXIS for each host and "
		"group.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct diff_command_options),
	.set_defaults = diff_set_defaults,
	.minimum_operands = 2,
	.maximum_operands = OPERANDS_MAX,
	.has_sets = true,
	.run = diff_run,
};
