/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop dump`: the tables of recorded rounds, one after the other, as `ctop -b` would have printed them. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/unicode.h"
#include "cmd/line/config_tabs.h"
#include "cmd/line/history_absence.h"
#include "cmd/line/history_place.h"
#include "cmd/line/output.h"
#include "cmd/line/report_options.h"
#include "cmd/line/screen_options.h"
#include "cmd/line/snapshot_files.h"
#include "cmd/line/view_options.h"
#include "commands.h"
#include "report/report.h"
#include "session/session.h"
#include "session/when.h"
#include "snapshot/ended_set.h"
#include "snapshot/user_names.h"
#include "store/history.h"

struct dump_options {
	const char *from, *to;
	uint64_t every_ns;
	int format;
	bool ascii, nearest;
	const char *output;
	struct config_file config;
	struct screen_options screen;
	struct view_options view;
};

static void set_defaults(void *untyped)
{
	((struct dump_options *)untyped)->view.axis = AXIS_COUNT;
}

static const struct option own_options[] = {
	{OPTION('\0', "from", "WHEN", struct dump_options, from), .old_name = "since",
	 .description =
		 "begin there: -1h, 09:40, 'yesterday 3pm', '2026-11-20 09:40'; default the first round"},
	{OPTION('\0', "to", "WHEN", struct dump_options, to), .old_name = "until",
	 .description = "end there; default the last round"},
	{PARSED_OPTION('\0', "every", "TIME", struct dump_options, every_ns, when_parse_length),
	 .description = "print one table per TIME (1m, 1h), a shorter one at the end, before a gap and "
			"before damage; default one per round"},
	{OPTION('\0', "nearest", NULL, struct dump_options, nearest),
	 .description = "where no round lies between --from and --to, print the nearest one and say so, "
			"instead of failing"},
	{OPTION('\0', "format", "FORMAT", struct dump_options, format), .choices = table_format_names,
	 .description = "text (default), tsv, csv or json (one object per table and line)"},
	{OPTION('o', "output", "OUT", struct dump_options, output),
	 .description = "write to this file, which is replaced only once all is written; - for standard "
			"output"},
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

/* --- rounds --- */

struct dump {
	struct history *history;
	struct output output;
	struct report report;
	struct view view;
	uint64_t from_unix_ns, to_unix_ns; /* both included; 0 and UINT64_MAX if not given */
	const char *when;                  /* --from as written, or else --to; NULL without both */
	bool nearest;                      /* if no round lies there, use the nearest one */
	uint64_t every_ns;                 /* a table for so much time; 0: for each round */
	struct session *session;
	uint64_t due_ns;         /* when the next table is due, by the wall clock */
	struct ended_set *ended; /* of the rounds since the last table; NULL: nothing */
	uint64_t tables, damaged;
};

static void forget_rounds(struct dump *dump)
{
	session_release(dump->session);
	dump->session = session_create();
	ended_set_release(dump->ended);
	dump->ended = NULL;
}

static void keep_ended(struct dump *dump, const struct ended_set *ended)
{
	if (ended == NULL)
		return;
	if (dump->ended == NULL)
		dump->ended = ended_set_create();
	ended_set_absorb(dump->ended, ended);
}

/* Adds a round, which the session takes over, with all threads that ended since the last added round. */
static void add_round(struct dump *dump, struct snapshot *snapshot)
{
	if (dump->ended != NULL && snapshot->ended != NULL) {
		struct snapshot *alone = snapshot;

		keep_ended(dump, snapshot->ended);
		snapshot = snapshot_with_ended(alone, dump->ended);
		snapshot_release(alone);
	} else {
		ended_set_release(dump->ended);
	}
	dump->ended = NULL;
	session_add_round(dump->session, snapshot);
}

static void print_table(struct dump *dump)
{
	struct view living;

	if (dump->tables++ == 0 || dump->report.format == REPORT_FORMAT_TEXT ||
	    dump->report.format == REPORT_FORMAT_JSON)
		view_set_scheduler(&dump->view, session_scheduler(dump->session));
	living = dump->view;
	living.hide_gone = true;
	table_release(screen_options_draw(dump->session, &living, &dump->report, dump->history->directory,
					  USER_NAMES_PATIENCE_NS, NULL, NULL));
	output_flush(&dump->output);
}

/* A round that cannot be read: nothing is counted over it. */
static void tell_damage(struct dump *dump, const struct error *error)
{
	if (dump->damaged++ == 0)
		command_note("%s", error->text);
	forget_rounds(dump);
}

/* Whether the round gets a table, or the next table counts from it. */
static bool is_due(const struct dump *dump, const struct history_round *round, bool is_last)
{
	return is_last || dump->every_ns == 0 || session_now(dump->session) == NULL ||
	       round->unix_ns >= dump->due_ns ||
	       /* the clock was set back */
	       dump->due_ns - round->unix_ns > dump->every_ns;
}

static int read_ended(struct dump *dump, const struct history_round *round, struct error *error)
{
	struct snapshot *gone;
	double left_ns;
	int result = history_read_gone(dump->history, round, &gone, &left_ns, error);

	if (result == 0 && gone != NULL) {
		keep_ended(dump, gone->ended);
		snapshot_release(gone);
	}
	return result;
}

static void set_due(struct dump *dump, const struct history_round *round)
{
	const uint64_t every_ns = dump->every_ns;

	if (every_ns == 0)
		return;
	/* beginning with the time asked for, else with whole minutes, hours ... of the clock of UTC */
	if (dump->due_ns == 0)
		dump->due_ns = dump->from_unix_ns != 0 ? dump->from_unix_ns
						       : round->unix_ns - round->unix_ns % every_ns;
	if (dump->due_ns > round->unix_ns) {
		dump->due_ns -= (dump->due_ns - round->unix_ns - 1) / every_ns * every_ns;
	} else {
		const uint64_t times = (round->unix_ns - dump->due_ns) / every_ns + 1;

		dump->due_ns = number_add_saturating(dump->due_ns,
						     number_multiply_saturating(every_ns, times));
	}
}

/* Adds a round that the history has to the tables. */
static int take_whole(struct dump *dump, const struct history_round *round, struct error *error)
{
	struct snapshot *snapshot;
	const int result = history_read(dump->history, round, &snapshot, error);

	if (result < 0)
		return result;
	add_round(dump, snapshot);
	set_due(dump, round);
	if (round->unix_ns >= dump->from_unix_ns &&
	    (session_previous(dump->session) != NULL || dump->view.mode == WINDOW_MODE_TOTAL))
		print_table(dump);
	return 0;
}

/* `before`: the round that was taken before it, NULL for none. */
static int take_round(struct dump *dump, const struct history_round *before,
		      const struct history_round *round, bool is_last, struct error *error)
{
	struct error ignored;
	int result;

	if (before != NULL && !history_adjoins(dump->history, before, round))
		forget_rounds(dump);
	result = is_due(dump, round, is_last) ? take_whole(dump, round, error)
					      : read_ended(dump, round, error);
	if (result == -EBADMSG) {
		/* what was before it has not been printed yet */
		if (before != NULL && session_now(dump->session) != NULL &&
		    session_now(dump->session)->captured_at_unix_ns < before->unix_ns)
			(void)take_whole(dump, before, &ignored);
		tell_damage(dump, error);
		result = 0;
	}
	return result;
}

/* Handles a span without rounds: narrows it to the nearest round, or refuses without --nearest. */
static int take_nearest(struct dump *dump, const struct history_round *nearest, struct error *error)
{
	const struct history_absence absence = {dump->from_unix_ns, dump->to_unix_ns, *nearest, dump->when};
	char *note;

	if (!dump->nearest)
		return history_absence_refuse(dump->history, &absence, error);
	note = history_absence_describe(dump->history, &absence);
	command_note("%s", note);
	free(note);
	dump->from_unix_ns = dump->to_unix_ns = nearest->unix_ns;
	/* print one table for that round, counted since the round before */
	dump->every_ns = 0;
	return 0;
}

static int walk(struct dump *dump, struct error *error)
{
	struct history_round before, round, next;
	bool is_first = true;
	int result = history_find_within(dump->history, dump->from_unix_ns, dump->to_unix_ns, &round, error);

	if (result == 0)
		result = take_nearest(dump, &round, error);
	if (result < 0)
		return result;
	/* what the first one counts from: with a table for so much time that is the first round asked for
	 * itself, lest the first table is of one round alone */
	if (dump->every_ns == 0 && !round.after_gap &&
	    (result = history_step(dump->history, &round, -1, &round, error)) < 0)
		return result;
	for (bool is_last = false; !is_last; before = round, round = next, is_first = false) {
		result = history_step(dump->history, &round, 1, &next, error);
		if (result < 0)
			return result;
		is_last = history_is_same(&round, &next) || next.unix_ns > dump->to_unix_ns;
		/* the last round before a gap gets a table, as the last of all does */
		result = take_round(dump, is_first ? NULL : &before, &round,
				    is_last || !history_adjoins(dump->history, &round, &next), error);
		if (result < 0 || dump->output.status < 0)
			return result;
	}
	return 0;
}

/* Reports damage that was skipped while searching for rounds, unless damaged rounds are reported already. */
static void tell_holes(const struct dump *dump)
{
	size_t count;
	const struct history_hole *holes = history_damage(dump->history, false, &count);

	if (count != 0 && dump->damaged == 0)
		command_note("%s", holes[0].why);
}

/*
 * Prints the tables. Rates and amounts of a table count since the one before it, or since the round before
 * where each round has a table; threads that ended in between count with what they did. Nothing is counted
 * over a gap. Damaged rounds are told on stderr. Returns 0, or a negative errno with a sentence: -ENODATA
 * when no round lies there.
 */
static int print_tables(struct dump *dump, struct error *error)
{
	int result;

	forget_rounds(dump);
	result = walk(dump, error);
	if (dump->damaged > 1)
		command_note("%llu rounds cannot be read; `ctop history --check` lists them",
			     (unsigned long long)dump->damaged);
	tell_holes(dump);
	session_release(dump->session);
	ended_set_release(dump->ended);
	if (result == 0 && dump->tables == 0)
		result = error_set(
			error, -ENODATA,
			"there are no two rounds in a row to count between; --mode total needs one");
	return result;
}

/* --- the command --- */

static int parse_span(const struct dump_options *options, struct dump *dump, struct error *error)
{
	const uint64_t now = clock_ns(CLOCK_REALTIME);
	char from[WHEN_TEXT_SIZE], to[WHEN_TEXT_SIZE];
	int result = 0;

	dump->to_unix_ns = UINT64_MAX;
	if (options->from != NULL)
		result = when_parse(options->from, now, now, &dump->from_unix_ns, error);
	if (result == 0 && options->to != NULL)
		result = when_parse(options->to, now, now, &dump->to_unix_ns, error);
	if (result < 0)
		return result;
	/* as rounds are called by their second, one within it is asked for */
	if (dump->to_unix_ns % NS_PER_S == 0)
		dump->to_unix_ns += NS_PER_S - 1;
	if (dump->from_unix_ns > dump->to_unix_ns)
		return error_set(error, -EINVAL, "--from %s is later than --to %s",
				 when_format(from, dump->from_unix_ns), when_format(to, dump->to_unix_ns));
	if (dump->every_ns != 0 && view_needs_latency(&dump->view))
		return error_set(error, -EINVAL,
				 "latency is known for each round, not over several: leave out --every");
	return 0;
}

static int dump_history(const struct dump_options *options, struct dump *dump)
{
	struct error error;
	int result = history_place_open(history_place(), &dump->history, &error);

	if (result < 0)
		return command_failed(&error);
	result = snapshot_files_check_history(history_place(), options->output, &error);
	if (result == 0)
		result = output_open(&dump->output, options->output, true, &error);
	dump->report.to_terminal = output_is_terminal(&dump->output);
	if (result == 0) {
		result = print_tables(dump, &error);
		if (result < 0)
			output_abandon(&dump->output);
	}
	history_close(dump->history);
	return result < 0 ? command_failed(&error) : output_end(&dump->output);
}

static int dump_run(void *untyped, char **operands, int operand_count)
{
	struct dump_options *options = untyped;
	enum column columns[SCREEN_COLUMNS_MAX];
	struct dump dump = {
		.report = {.format = (enum report_format)options->format,
			   .ascii = options->ascii || !unicode_in_locale(),
			   .csv_safe = options->view.csv_safe},
		.when = options->from != NULL ? options->from : options->to,
		.nearest = options->nearest,
		.every_ns = options->every_ns,
	};
	struct error error;
	int status;

	(void)operands;
	(void)operand_count;
	dump.report.out = &dump.output.buffer;
	if (screen_options_make_view(&options->screen, &options->view, AXIS_PROCESS, columns, &dump.view,
				     &error) < 0 ||
	    parse_span(options, &dump, &error) < 0)
		status = command_misused(&dump_command, &error);
	else
		status = dump_history(options, &dump);
	view_release(&dump.view);
	config_file_release(&options->config);
	return status;
}

const struct command dump_command = {
	.name = "dump",
	.summary = "print what was recorded as a series of tables",
	.purpose = COMMAND_LOOKS,
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
