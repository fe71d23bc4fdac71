/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop show`: a saved snapshot as the table of the screen, or as a report of all metrics. */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/history_place.h"
#include "cmd/line/hosts_moment.h"
#include "cmd/line/screen_options.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/snapshot_report.h"
#include "commands.h"
#include "session/hosts.h"
#include "session/session.h"
#include "snapshot/user_names.h"

struct show_options {
	bool is_long;
	const char *config_path;
	bool no_config;
	struct config_file config;
	struct view_options view;
	struct screen_options screen;
	struct report_options report;
};

static const struct option own_options[] = {
	{OPTION('\0', "long", NULL, struct show_options, is_long),
	 .description =
		 "print every metric of every group in a line of its own, and the cgroups, pressure and "
		 "smaps_rollup, instead of the table that the screen has; so do --metrics, --sections, "
		 "--ktstr, markdown and html, and other formats than text unless -b, -t, -f or --mode "
		 "asks "
		 "for a table"},
	{OPTION('\0', "config", "FILE", struct show_options, config_path),
	 .description = "take the tabs of your own that -t may name from this file instead of "
			"~/.config/ctop/ctop.conf"},
	{OPTION('\0', "no-config", NULL, struct show_options, no_config),
	 .description = "read no configuration file", .excludes = "config"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&screen_option_table, offsetof(struct show_options, screen)},
	{&report_option_table, offsetof(struct show_options, report)},
	{&view_option_table, offsetof(struct show_options, view)},
	{&history_option_table, 0},
};

static void show_set_defaults(void *options)
{
	struct show_options *show = options;

	show->view.axis = AXIS_COUNT;
	show->screen.mode = WINDOW_MODE_COUNT;
	report_options_set_defaults(&show->report, &show->view);
}

static int show_configure(void *opaque, const struct option_set *given, struct error *error)
{
	struct show_options *options = opaque;

	(void)given;
	if (!options->no_config)
		return config_tabs_read(options->config_path, options->screen.tab, &options->config, error);
	history_place_settle();
	return 0;
}

/* Whether the sections chosen can only make one table. */
static bool makes_one_table(const struct tables_request *request)
{
	size_t count = 0;

	for (size_t i = 0; i < SECTION_COUNT; i++)
		count += request->sections[i];
	return count == 1 && !request->sections[SECTION_TASKSTATS_DELAY] &&
	       !request->sections[SECTION_PRESSURE] && !request->sections[SECTION_HOST_PRESSURE] &&
	       !request->sections[SECTION_TASK_FIELDS];
}

static int begin(const struct show_options *options, const char *path, struct snapshot_report *report,
		 struct history_moment *file, struct error *error)
{
	if (snapshot_files_check_output(&path, 1, options->report.output, error) < 0 ||
	    snapshot_report_open(report, &options->report, &options->view, true, error) < 0)
		return -1;
	if (snapshot_files_read(&path, 1, options->report.max_bytes, options->report.nearest, file, error) ==
	    0)
		return 0;
	output_abandon(&report->output);
	return -1;
}

static int print_report(struct show_options *options, const char *path)
{
	static struct snapshot_report report; /* large for a stack */
	struct history_moment file;
	struct error error;
	int status;

	if (options->view.axis == AXIS_COUNT)
		options->view.axis = AXIS_PROCESS;
	status = report_options_select(&options->report, &options->view, 1, &report.request, &error);
	if (status == 0 && options->view.axis == AXIS_ALL)
		status = error_set(&error, -EINVAL,
				   "show --long has no axis 'all'; valid: process, pid, cgroup, container, "
				   "thread, thread-exact, user, wait, host");
	if (status < 0)
		return command_misused(&show_command, &error);
	report_options_warn(&options->report, &options->view, &report.request);
	if (begin(options, path, &report, &file, &error) < 0)
		return command_failed(&error);
	report.snapshots[DIFF_AFTER] = file.snapshot;
	report.names[DIFF_AFTER] = file.name;
	report.report.one_section = makes_one_table(&report.request);
	snapshot_report_join(&report, NULL);
	status = snapshot_report_write(&report, &error) < 0 ? command_failed(&error) : COMMAND_DONE;
	if (status == COMMAND_DONE && options->report.sections != NULL && report.report.table_count == 0)
		command_note("%s has nothing for --sections %s", file.name, options->report.sections);
	snapshot_report_release(&report);
	snapshot_file_release(&file);
	return status;
}

static bool chooses_table(const struct show_options *options)
{
	return options->screen.tab != NULL || options->screen.mode != WINDOW_MODE_COUNT ||
	       screen_options_filter(&options->screen);
}

/* The view of a table. Release it, after a failure too. */
static int make_view(const struct show_options *options, enum column columns[SCREEN_COLUMNS_MAX],
		     struct view *view, struct error *error)
{
	struct screen_options screen = options->screen;
	static struct tables_request request; /* large for a stack */
	struct error other;

	if (screen.mode == WINDOW_MODE_COUNT)
		screen.mode = WINDOW_MODE_RATE;
	if (screen_options_make_view(&screen, &options->view, AXIS_PROCESS, columns, view, error) < 0) {
		/* what was right before there was a table */
		if (chooses_table(options) ||
		    report_options_select(&options->report, &options->view, 1, &request, &other) < 0)
			return -EINVAL;
		other = *error;
		return error_set(error, -EINVAL, "%s; with --long it is valid", other.text);
	}
	if (view->limit == UINT64_MAX)
		view->limit = report_default_limits[options->report.format];
	return 0;
}

/* Notes how many rows --limit left out; the text format prints that itself. */
static void tell_left_out(const struct report *report, const struct table *table)
{
	if (table->row_total > table->row_count && report->format != REPORT_FORMAT_TEXT)
		command_note(table->row_total - table->row_count == 1 ? "%zu row is left out by --limit"
								      : "%zu rows are left out by --limit",
			     table->row_total - table->row_count);
}

static void write_table(struct view *view, struct session *session, const char *path, struct report *report)
{
	struct table *table;

	view_set_scheduler(view, session_scheduler(session));
	screen_options_check_filter(session, view);
	table = screen_options_draw(session, view, report, path, USER_NAMES_PATIENCE_NS, NULL, NULL);
	if (report->format == REPORT_FORMAT_TEXT)
		report_end(report);
	tell_left_out(report, table);
	table_release(table);
}

/* Rates, where the file has a beginning to count from; else totals. */
static int choose_mode(const struct session *session, const struct show_options *options, const char *name,
		       struct view *view, struct error *error)
{
	const bool has_window = session_previous(session) != NULL;
	const enum column rate = !has_window && view->filter != NULL ? filter_rate(view->filter)
								     : COLUMN_COUNT;

	if (options->screen.mode == WINDOW_MODE_COUNT)
		view->mode = has_window ? WINDOW_MODE_RATE : WINDOW_MODE_TOTAL;
	if (rate != COLUMN_COUNT)
		return error_set(error, -EINVAL,
				 "%s is one reading and has totals only: filter by %s, not by %s", name,
				 column_title(rate, WINDOW_MODE_TOTAL), column_title(rate, WINDOW_MODE_RATE));
	if (has_window || view->mode == WINDOW_MODE_TOTAL)
		return 0;
	return error_set(
		error, -EINVAL,
		"%s is one reading and has totals only: leave out --mode %s; `ctop capture --for 10` "
		"makes a file with rates",
		name, window_mode_names[view->mode]);
}

static int print_table(struct show_options *options, const char *path)
{
	enum column columns[SCREEN_COLUMNS_MAX];
	static struct snapshot_report printing; /* large for a stack */
	struct history_moment file;
	struct session *session;
	struct error error;
	struct view view;
	int status;

	if (make_view(options, columns, &view, &error) < 0) {
		view_release(&view);
		return command_misused(&show_command, &error);
	}
	options->view.axis = (int)view.grouping.axis;
	if (begin(options, path, &printing, &file, &error) < 0) {
		view_release(&view);
		return command_failed(&error);
	}
	session = session_create_file(snapshot_reference(file.snapshot));
	if (choose_mode(session, options, file.name, &view, &error) < 0) {
		output_abandon(&printing.output);
		status = command_misused(&show_command, &error);
	} else {
		write_table(&view, session, file.name, &printing.report);
		status = output_end(&printing.output);
	}
	session_release(session);
	snapshot_file_release(&file);
	view_release(&view);
	return status;
}

/* --- many hosts --- */

/* `context` is a struct hosts. */
static void add_host(void *context, const char *host, const struct history_moment files[])
{
	hosts_add(context, host, snapshot_reference(files[0].snapshot));
}

/* Refuses options that only work for a single host. */
static int check_hosts(const struct show_options *options, const struct hosts_moment *moment,
		       const struct view *view, bool is_long, struct error *error)
{
	if (is_long)
		return error_set(
			error, -EINVAL,
			"%s has the histories of several hosts, which make a table only: leave out "
			"--long, --metrics, --sections, --ktstr, markdown and html, or name one host",
			moment->directory);
	/* names are ranked per host, so ranks of different hosts cannot be compared */
	if (options->view.sort_by != NULL && !view->sort_by_name &&
	    (column_is_identity(view->sort) || !view_shows(view, view->sort)))
		return error_set(
			error, -EINVAL,
			"cannot sort rows of several hosts by %s: sort by a number that is shown or by name",
			column_title(view->sort, WINDOW_MODE_RATE));
	return 0;
}

static void write_hosts(struct hosts *hosts, const struct hosts_moment *moment, const struct view *view,
			struct report *report)
{
	size_t count;
	uint64_t interval_ns;
	struct table *table = hosts_table(hosts, &count, &interval_ns);
	struct snapshot *time = snapshot_create();
	char *name = memory_format("%s: %zu host%s, %s", moment->directory, count, count == 1 ? "" : "s",
				   moment->zone);

	/* a report prints the capture time of its snapshot */
	time->captured_at_unix_ns = moment->unix_ns;
	time->provenance.present = true;
	report->snapshot = time;
	screen_table_print(
		report, &(struct screen_subject){.file = name, .interval_ns = interval_ns, .of_hosts = true},
		view, table);
	if (report->format == REPORT_FORMAT_TEXT)
		report_end(report);
	tell_left_out(report, table);
	report->snapshot = NULL;
	snapshot_release(time);
	free(name);
}

/* Prints one table for all hosts of `moment`. */
static int print_hosts(struct show_options *options, const struct hosts_moment *moment, bool is_long)
{
	enum column columns[SCREEN_COLUMNS_MAX];
	static struct snapshot_report printing; /* large for a stack */
	struct hosts *hosts;
	struct error error;
	struct view view;
	int status;

	if (make_view(options, columns, &view, &error) < 0 ||
	    check_hosts(options, moment, &view, is_long, &error) < 0) {
		view_release(&view);
		return command_misused(&show_command, &error);
	}
	if (snapshot_report_open(&printing, &options->report, &options->view, true, &error) < 0) {
		view_release(&view);
		return command_failed(&error);
	}
	view.naming = screen_table_naming(printing.report.format);
	view.fold_idle &= printing.report.format == REPORT_FORMAT_TEXT;
	hosts = hosts_create(&view);
	if (hosts_moment_read(moment, &options->report, add_host, hosts, &error) < 0) {
		output_abandon(&printing.output);
		status = command_failed(&error);
	} else {
		write_hosts(hosts, moment, &view, &printing.report);
		status = output_end(&printing.output);
	}
	hosts_release(hosts);
	view_release(&view);
	return status;
}

static int show_run(void *opaque, char **operands, int operand_count)
{
	struct show_options *options = opaque;
	const struct report_options *report = &options->report;
	const bool is_table = chooses_table(options), is_text = report->format == REPORT_FORMAT_TEXT;
	struct hosts_moment hosts = {.count = 0};
	const bool is_long = options->is_long || report->metrics != NULL || report->sections != NULL ||
			     report->ktstr || !screen_table_has((enum report_format)report->format);
	struct error error;
	int status;

	status = snapshot_files_check((const char *const *)operands, (size_t)operand_count, &error);
	if (status == 0 && is_long && is_table)
		status = error_set(
			&error, -EINVAL,
			"--tab, --filter, --user, --cgroup and --mode choose a table, which this is not: "
			"leave them out, or "
			"--long, --metrics, --sections, --ktstr and other formats");
	if (status < 0) {
		config_file_release(&options->config);
		return command_misused(&show_command, &error);
	}
	status = hosts_moment_find((const char *const *)operands, 1, &hosts, &error);
	if (status < 0)
		status = command_misused(&show_command, &error);
	else if (status == 1)
		status = print_hosts(options, &hosts, is_long);
	/* programs that read rows of metrics are older than the table */
	else if (is_long || (!is_table && !is_text && !report->as_batch))
		status = print_report(options, operands[0]);
	else
		status = print_table(options, operands[0]);
	hosts_moment_release(&hosts);
	config_file_release(&options->config);
	return status;
}

const struct command show_command = {
	.name = "show",
	.summary = "print a saved snapshot as a table, or as a report of all metrics",
	.purpose = COMMAND_LOOKS,
	.usage = "FILE|HISTORY@WHEN|- [OPTION]...",
	.details = "Reads a .ctprof.zst file, a recorded moment (/var/lib/ctop@-1h, @09:40), or standard "
		   "input for -, and prints the table that the screen has of it; of a directory of histories "
		   "(/srv/histories@03:12) one table of all hosts. A value that could not be read is printed "
		   "as a centred dot, one that does not apply as -, and an amount that lacks "
		   "the values of some threads has a >= sign before it.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct show_options),
	.set_defaults = show_set_defaults,
	.minimum_operands = 1,
	.maximum_operands = 1,
	.configure = show_configure,
	.run = show_run,
};
