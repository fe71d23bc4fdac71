/* SPDX-License-Identifier: GPL-2.0-only */
/* Without a command: the live screen, a file on the screen, or `-b`. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/reader.h"
#include "base/unicode.h"
#include "cmd/line/config_settings.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/help.h"
#include "cmd/line/history_place.h"
#include "cmd/line/output.h"
#include "cmd/line/reading_options.h"
#include "cmd/line/screen_options.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/view_options.h"
#include "cmd/live/batch.h"
#include "cmd/live/screen_host.h"
#include "commands.h"
#include "session/joined_history.h"
#include "store/ctprof.h"
#include "ui/ui.h"

/* How long a save or base waits for executables whose allocation counters are being looked for. */
#define HEAP_PATIENCE_NS NS_PER_S

/* How long the file system of the directory for snapshots has to answer. */
#define SAVE_DIRECTORY_PATIENCE_NS (5 * NS_PER_S)

struct live_options {
	struct view_options view;
	struct screen_options screen;
	struct root_options roots;
	double interval; /* seconds */
	uint64_t rounds;
	bool batch;
	int format;
	struct option_numbers scope;
	double budget_percent;
	const char *save_directory;
	int theme;
	bool no_color, ascii, no_mouse;
	struct heap_options heap;
	struct backend_options backend;
	bool latency, futex;
	uint64_t keep_mib;       /* for rounds */
	const char *config_path; /* NULL: the user's own */
	bool no_config, print_config;
	const char *export_columns; /* those of series, instead of the view's */
	struct option_set given;
	struct config_file config;
};

static void set_defaults(void *options)
{
	struct live_options *live = options;

	live->view.axis = AXIS_COUNT;
	live->interval = 2.0;
	live->budget_percent = 3.0;
	live->keep_mib = RING_BYTES_DEFAULT >> 20;
}

/* A format that a round has and a report does not. */
enum {
	FORMAT_OPENMETRICS = REPORT_FORMAT_JSON + 1
};

/* The report formats that a round has, and that one. */
static const char *const formats[] = {
	[REPORT_FORMAT_TEXT] = "text", [REPORT_FORMAT_TSV] = "tsv",          [REPORT_FORMAT_CSV] = "csv",
	[REPORT_FORMAT_JSON] = "json", [FORMAT_OPENMETRICS] = "openmetrics", [FORMAT_OPENMETRICS + 1] = NULL,
};

static const struct option live_option_list[] = {
	{OPTION('d', "interval", "TIME", struct live_options, interval),
	 .brief = "time between two rounds: 2 (seconds), 500ms, 1m", .unit = "s", .in_file = true,
	 .minimum = 0.1, .maximum = 3600, .about = OPTION_ABOUT_HOST,
	 .description = "time between two rounds: 2 (seconds, default), 500ms, 1m"},
	{OPTION('n', NULL, "N", struct live_options, rounds), .minimum = 1, .maximum = 1e15,
	 .about = OPTION_ABOUT_HOST, .description = "exit after this many rounds"},
	{OPTION('b', NULL, NULL, struct live_options, batch), .brief = "print tables instead, -n of them",
	 .description = "print a table each round instead of a screen; the first one already has deltas"},
	{OPTION('\0', "format", "FORMAT", struct live_options, format), .choices = formats,
	 .description = "format of -b: text, tsv, csv, json (one object per round and line) or openmetrics "
			"(what Prometheus reads, see ctop export)"},
	{OPTION('p', "pid", "PID", struct live_options, scope), .brief = "only these processes: 1,2",
	 .minimum = 1, .maximum = 2147483647, .about = OPTION_ABOUT_HOST,
	 .description = "read only these processes: 1,2; may be repeated"},
	{OPTION('\0', "futex", NULL, struct live_options, futex), .about = OPTION_ABOUT_HOST,
	 .description =
		 "print with -b the futexes (locks, condition variables) at which threads of the process of "
		 "-p wait: how many, how often and how long (times by BPF, as root)"},
	{OPTION('\0', "budget", "PERCENT", struct live_options, budget_percent), .in_file = true,
	 .minimum = 0, .maximum = 100, .about = OPTION_ABOUT_HOST,
	 .description = "CPU budget for background collection, percent of one CPU; default 3"},
	{OPTION('\0', "latency", NULL, struct live_options, latency), .in_file = true,
	 .about = OPTION_ABOUT_HOST,
	 .description = "measure from the start how long waits take, as the key l does: tab latency (by BPF, "
			"as root; about 0.11 us of CPU time for each wakeup and each switch of the host)"},
	{OPTION('\0', "keep-rounds", "SIZE", struct live_options, keep_mib), .unit = "MiB", .in_file = true,
	 .minimum = 0, .maximum = 4096, .about = OPTION_ABOUT_HOST,
	 .description =
		 "memory for the last rounds, which the keys T and t go through; default 32, 0 keeps none"},
	{OPTION('\0', "save-dir", "DIR", struct live_options, save_directory), .in_file = true,
	 .about = OPTION_ABOUT_HOST,
	 .description = "directory in which the key S saves snapshots; default the working directory"},
	{OPTION('\0', "theme", "THEME", struct live_options, theme), .in_file = true, .choices = theme_names,
	 .description = "colours of the screen: default (for dark backgrounds, readable on light ones), "
			"light, or mono for none"},
	{OPTION('\0', "no-color", NULL, struct live_options, no_color), .in_file = true,
	 .description = "use no colours, as --theme mono and NO_COLOR in the environment do"},
	{OPTION('\0', "no-mouse", NULL, struct live_options, no_mouse), .in_file = true,
	 .description = "leave the mouse to the terminal: without it the wheel scrolls, a click on a title "
			"sorts, on a row goes there, on a tab shows it"},
	{OPTION('\0', "ascii", NULL, struct live_options, ascii), .in_file = true,
	 .description = "use only ASCII characters on the screen and in -b text"},
	{OPTION('\0', "config", "FILE", struct live_options, config_path),
	 .description = "read this configuration file instead of ~/.config/ctop/ctop.conf, for -b too; "
			"command-line options override it"},
	{OPTION('\0', "no-config", NULL, struct live_options, no_config),
	 .description = "read no configuration file", .excludes = "config"},
	{OPTION('\0', "print-config", NULL, struct live_options, print_config),
	 .description = "print a configuration file with all keys and their present values, and exit"},
};

static const struct option_table live_option_table = {"Live", live_option_list,
						      ARRAY_COUNT(live_option_list)};

static const struct option_table_use tables[] = {
	{&live_option_table, 0},
	{&screen_option_table, offsetof(struct live_options, screen)},
	{&view_option_table, offsetof(struct live_options, view)},
	{&backend_option_table, offsetof(struct live_options, backend)},
	{&heap_option_table, offsetof(struct live_options, heap)},
	{&history_option_table, 0},
	{&root_option_table, offsetof(struct live_options, roots)},
};

static bool is_screen(const struct live_options *options)
{
	return !options->batch && isatty(STDOUT_FILENO) != 0;
}

static bool is_given(const struct live_options *options, const char *name)
{
	return options_have(tables, ARRAY_COUNT(tables), &options->given, name);
}

static int check_futex(const struct live_options *options, struct error *error)
{
	static const char *const unused[] = {"group-by", "columns", "filter", "user", "cgroup", "latency"};

	if (is_screen(options))
		return error_set(error, -EINVAL, "--futex is for printing: add -b");
	if (options->scope.count != 1)
		return error_set(error, -EINVAL, "--futex is about one process: add one -p PID");
	if (options->format == FORMAT_OPENMETRICS)
		return error_set(error, -EINVAL, "--futex has no openmetrics: use text, tsv, csv or json");
	for (size_t i = 0; i < ARRAY_COUNT(unused); i++) {
		if (is_given(options, unused[i]))
			return error_set(error, -EINVAL, "--%s does nothing with --futex: leave it out",
					 unused[i]);
	}
	return options_refuse(tables, ARRAY_COUNT(tables), &options->given, OPTION_ABOUT_ROWS,
			      "does nothing with --futex: leave it out", error);
}

/* Refuses options that would do nothing. */
static int check_given(const struct live_options *options, int file_count, struct error *error)
{
	const struct option_set *given = &options->given;
	int result = 0;

	if (is_screen(options) && is_given(options, "format"))
		result = error_set(error, -EINVAL, "--format is for printing: add -b");
	if (result == 0 && file_count != 0)
		result = options_refuse(tables, ARRAY_COUNT(tables), given, OPTION_ABOUT_HOST,
					"is for a live host: leave it out where a file is shown", error);
	if (result == 0 && options->futex)
		result = check_futex(options, error);
	if (result == 0 && options->format == FORMAT_OPENMETRICS)
		result = options_refuse(
			tables, ARRAY_COUNT(tables), given, OPTION_ABOUT_ROWS,
			"is for tables: leave it out; -g, -f, --columns and --limit choose series", error);
	return result;
}

static struct capture_options make_capture_options(const struct live_options *options)
{
	struct capture_options capture = reading_options_capture(&options->scope, &options->backend,
								 &options->roots);

	capture.budget_percent = options->budget_percent > 0 ? options->budget_percent : -1;
	capture.allow_stop = options->heap.allow_stop;
	capture.latency = options->latency;
	capture.futexes = options->futex;
	capture.heap_patience_ns = HEAP_PATIENCE_NS;
	return capture;
}

/* A reader_work. */
static int look_at_directory(int directory, const void *path, size_t size, struct buffer *answer)
{
	struct stat status;

	(void)directory;
	(void)size;
	(void)answer;
	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	return access(path, W_OK | X_OK) < 0 ? -errno : 0;
}

/* Reported at the start rather than when the moment to be saved has passed. */
static int check_save_directory(const char *path, struct error *error)
{
	struct buffer answer = {0};
	int result;

	if (path == NULL)
		return 0;
	result = reader_call_once(SAVE_DIRECTORY_PATIENCE_NS, look_at_directory, -1, path, strlen(path) + 1,
				  &answer);
	buffer_release(&answer);
	if (result == 0)
		return 0;
	return error_set(error, result, "cannot save in '%s': %s", path,
			 result == -ENOTDIR     ? "it is not a directory"
			 : result == -ETIMEDOUT ? "its file system does not answer"
						: strerror(-result));
}

static struct ui_options make_ui_options(const struct live_options *options, const struct view *view)
{
	return (struct ui_options){
		.theme = options->no_color ? THEME_MONO : (enum theme)options->theme,
		.ascii = options->ascii,
		.no_mouse = options->no_mouse,
		.view = view,
		.notice = options->config.first_problem,
		.config_path = options->config.path,
	};
}

static int run_live(const struct live_options *options, const struct view *view, struct error *error)
{
	struct capture_options capture = make_capture_options(options);
	struct ui_options ui_options = make_ui_options(options, view);
	struct screen_host_options host_options = {
		.capture = &capture,
		.saves = true,
		.save_directory = options->save_directory,
	};
	const char *places[HISTORY_PLACES_MAX];
	int status;

	if (check_save_directory(options->save_directory, error) < 0)
		return command_failed(error);
	if (options->keep_mib != 0) {
		const size_t place_count = history_place_list(places);

		host_options.ring = ring_create(options->keep_mib << 20);
		host_options.history = joined_history_create(ring_history(host_options.ring), places,
							     place_count);
	}
	capture.heap = !options->heap.no_heap;
	/* the key l switches it on; the first round does not wait for what that takes */
	capture.latency = true;
	capture.latency_later = !options->latency;
	ui_options.interval_ns = (uint64_t)(options->interval * NS_PER_S);
	ui_options.rounds = options->rounds;
	ui_options.latency = options->latency;
	status = screen_host_show(&host_options, session_create(), &ui_options, error);
	joined_history_release(host_options.history);
	ring_release(host_options.ring);
	return status;
}

/* Shows one file on the screen, or the comparison of two: `paths` are before and after. A file that cannot be
 * read is reported before the screen comes up. */
static int run_files(const struct live_options *options, const struct view *view, char *const *paths,
		     size_t count, struct error *error)
{
	struct ui_options ui_options = make_ui_options(options, view);
	struct history_moment files[2] = {{NULL, NULL, NULL}, {NULL, NULL, NULL}};
	int status;

	if (snapshot_files_read((const char *const *)paths, count, CTPROF_DEFAULT_LIMIT, true, files, error) <
	    0)
		return command_failed(error);
	ui_options.file_name = files[count - 1].name;
	/* the screen covers standard error, so it has to show the note itself */
	for (size_t i = 0; i < count && ui_options.notice == NULL; i++)
		ui_options.notice = history_moment_is_named(paths[i]) ? files[i].note : NULL;
	if (count == 2) {
		ui_options.before_name = files[0].name;
		ui_options.before = files[0].snapshot;
	}
	status = screen_host_show(&(struct screen_host_options){.saves = false},
				  session_create_file(snapshot_reference(files[count - 1].snapshot)),
				  &ui_options, error);
	for (size_t i = 0; i < count; i++)
		snapshot_file_release(&files[i]);
	return status;
}

/* The options of `--format openmetrics`, from those of the view. */
static int make_export(const struct live_options *options, const struct view *view,
		       struct export_options *ret_export, struct error *error)
{
	*ret_export = (struct export_options){
		.limit = view->limit != 0 ? view->limit : EXPORT_LIMIT_DEFAULT,
		.keep_ns = EXPORT_KEEP_DEFAULT_NS,
		.view = *view,
	};
	if (view->limit == 0 && is_given(options, "limit"))
		ret_export->limit = EXPORT_LIMIT_NONE;
	if (view->level == VIEW_LEVEL_THREADS || view->step_count != 0)
		return error_set(error, -EINVAL, "series are of groups; leave the threads out");
	if (export_check_filter(view->filter, options->latency, error) < 0 ||
	    export_parse_axes(axes[view->grouping.axis].word, ret_export, error) < 0)
		return -EINVAL;
	return export_family_choose(options->export_columns, false, &ret_export->families, error);
}

static int run_batch(const struct live_options *options, const struct view *view, struct error *error)
{
	struct export_options export;
	struct batch_options batch_options = {
		.capture = make_capture_options(options),
		.view = view,
		.format = options->format == FORMAT_OPENMETRICS ? REPORT_FORMAT_TEXT
								: (enum report_format)options->format,
		.ascii = options->ascii || !unicode_in_locale(),
		.csv_safe = options->view.csv_safe,
		.interval_ns = (uint64_t)(options->interval * NS_PER_S),
		/* without -b, where there is no terminal, one table is printed */
		.rounds = options->rounds == 0 && !options->batch ? 1 : options->rounds,
	};
	source_set needed;
	bool cgroup_records, smaps;

	if (options->format == FORMAT_OPENMETRICS) {
		if (make_export(options, view, &export, error) < 0)
			return command_misused(NULL, error);
		batch_options.export = &export;
	}
	view_needs(view, &needed, &cgroup_records, &smaps);
	if (view_needs_latency(view) && !options->latency)
		command_note("latency is measured only with --latency");
	batch_options.capture.heap = (needed & source_bit(SOURCE_JEMALLOC)) != 0 && !options->heap.no_heap;
	return batch_run(&batch_options, error);
}

/* A process that the user names has to exist: an empty table would hide a mistyped number. */
static int check_scope(const struct live_options *options, struct error *error)
{
	const char *proc = options->roots.roots[ROOT_PROC] != NULL ? options->roots.roots[ROOT_PROC]
								   : "/proc";

	for (size_t i = 0; i < options->scope.count; i++) {
		const uint32_t pid = options->scope.items[i];
		char *directory = memory_format("%s/%" PRIu32, proc, pid);
		const bool found = access(directory, F_OK) == 0;

		free(directory);
		if (!found && options->roots.roots[ROOT_PROC] == NULL && pid <= INT32_MAX &&
		    (kill((pid_t)pid, 0) == 0 || errno == EPERM))
			return error_set(error, -EPERM,
					 "process %" PRIu32 " is hidden: /proc is mounted with hidepid= "
					 "(ctop doctor: what would help)",
					 pid);
		if (!found)
			return error_set(error, -ESRCH, "there is no process %" PRIu32, pid);
	}
	return 0;
}

/* `error` is scratch: sentences are large for a stack, and one is enough. */
static int run(const struct live_options *options, const struct view *view, char **paths, size_t count,
	       struct error *error)
{
	if (check_scope(options, error) < 0)
		return command_failed(error);
	if (count != 0)
		return run_files(options, view, paths, count, error);
	return is_screen(options) ? run_live(options, view, error) : run_batch(options, view, error);
}

/* --- the configuration file --- */

/* Settings of the file are for screens; with -b, which scripts use, only its tabs, unless it was named. */
static bool uses_settings(const struct live_options *options)
{
	return options->config_path != NULL || options->print_config || is_screen(options);
}

static int configure(void *untyped, const struct option_set *given, struct error *error)
{
	struct live_options *options = untyped;
	struct config_file *file = &options->config;
	const bool settings = uses_settings(options);
	int result;

	options->given = *given;
	if (options->no_config) {
		file->path = config_file_path(); /* to write to, if the user asks for it */
		history_place_settle();
		return 0;
	}
	result = config_file_read(options->config_path, file, error);
	config_tabs_make(file, settings);
	if (settings) {
		history_place_settle();
		config_settings_use(file, tables, ARRAY_COUNT(tables), options, given, true);
	}
	if (result < 0)
		config_file_release(file);
	return result;
}

/* Appends the setting of an option, of a list one for each item. */
static void append_settings(const struct option *option, const void *member, struct buffer *buffer)
{
	struct buffer value = {0};
	size_t index = 0;

	do {
		buffer_clear(&value);
		buffer_append_text(&value, "");
		option_print(option, member, index, &value);
		config_append_setting(buffer, option->name, value.data);
		buffer_clear(&value);
	} while (option->kind == OPTION_TEXTS && option_print(option, member, ++index, &value));
	buffer_release(&value);
}

static void print_option(const struct option *option, const void *member, const void *default_member,
			 struct buffer *buffer)
{
	struct buffer settings = {0}, defaults = {0}, description = {0};
	bool is_default;

	append_settings(option, member, &settings);
	if (option->is_kept_elsewhere)
		config_append_setting(&defaults, option->name, "");
	else
		append_settings(option, default_member, &defaults);
	is_default = order_bytes(settings.data, settings.length, defaults.data, defaults.length) == 0;
	option_describe(option, &description);
	buffer_append_text(buffer, "\n# ");
	help_append_wrapped(buffer, description.data, "# ", 2);
	buffer_append_format(buffer, "%s%s", is_default ? "# " : "", settings.data);
	buffer_release(&settings);
	buffer_release(&defaults);
	buffer_release(&description);
}

/* Prints a whole configuration file: each option that may stand in one, with its description and its value,
 * as a comment where that is the default. Then the tabs. */
static int print_config(const struct live_options *options)
{
	struct live_options defaults = {.batch = false};
	struct output output = {0};

	set_defaults(&defaults);
	buffer_append_text(&output.buffer, "# ctop.conf, a configuration file of ctop " CTOP_VERSION
					   ": see ctop.conf(5). Lines that begin with # do nothing.\n");
	for (size_t t = 0; t < ARRAY_COUNT(tables); t++) {
		for (size_t i = 0; i < tables[t].table->count; i++) {
			const struct option *option = &tables[t].table->options[i];
			const size_t offset = tables[t].offset + option->offset;

			if (option->in_file)
				print_option(option, (const char *)options + offset,
					     (const char *)&defaults + offset, &output.buffer);
		}
	}
	config_tabs_print(&output.buffer);
	return output_end(&output);
}

static int live_run(void *untyped, char **operands, int operand_count)
{
	struct live_options *options = untyped;
	enum column columns[SCREEN_COLUMNS_MAX];
	struct error error;
	struct view view;
	int status;

	if (snapshot_files_check((const char *const *)operands, (size_t)operand_count, &error) < 0 ||
	    (operand_count == 2 && view_options_check_pair(&options->view, &error) < 0) ||
	    (!options->print_config && check_given(options, operand_count, &error) < 0)) {
		config_file_release(&options->config);
		return command_misused(NULL, &error);
	}
	if (options->format == FORMAT_OPENMETRICS) {
		options->export_columns = options->view.columns;
		options->view.columns = NULL;
	}
	if (config_settings_make_view(&options->config, &options->screen, &options->view,
				      operand_count == 2 ? AXIS_ALL : AXIS_PROCESS, columns, &view,
				      &error) < 0)
		status = command_misused(NULL, &error);
	else if (options->print_config)
		status = print_config(options);
	else
		status = run(options, &view, operands, (size_t)operand_count, &error);
	view_release(&view);
	config_file_release(&options->config);
	return status;
}

/* With -b, and where there is no terminal to show them on, files are printed. */
static const struct command *print_instead(const void *untyped, int file_count)
{
	const struct live_options *options = untyped;

	if (is_screen(options))
		return NULL;
	return file_count == 1 ? &show_command : file_count == 2 ? &diff_command : NULL;
}

const struct command live_command = {
	.summary = "show which groups of threads run, wait, move and read, live or from a file; compare two",
	.usage = "[OPTION]... [FILE|HISTORY@WHEN [FILE|HISTORY@WHEN]]",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct live_options),
	.set_defaults = set_defaults,
	.maximum_operands = 2,
	.instead = print_instead,
	.configure = configure,
	.run = live_run,
};
