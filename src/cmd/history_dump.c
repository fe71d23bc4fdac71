/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_dump.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "cmd/line/command.h"
#include "report/round.h"
#include "session/session.h"
#include "session/when.h"
#include "snapshot/ended_set.h"
#include "snapshot/user_names.h"

struct dump {
	struct history *history;
	const struct history_dump_options *options;
	struct output *output;
	struct report report;
	struct view view; /* shares what that of the options owns */
	struct session *session;
	uint64_t due_ns;         /* when the next table is due, by the wall clock */
	struct ended_set *ended; /* of the rounds since the last table; NULL: nothing */
	/* The round that the session has had last, with what has ended since the table before instead of its
	 * own. */
	struct snapshot *lent;
	struct ended_set *own; /* what it had */
	uint64_t tables, damaged;
};

/* Gives the snapshot back what it had. */
static void take_back(struct dump *dump)
{
	if (dump->lent == NULL)
		return;
	ended_set_release(dump->lent->ended);
	dump->lent->ended = dump->own;
	snapshot_release(dump->lent);
	dump->lent = NULL;
}

static void forget_rounds(struct dump *dump)
{
	session_release(dump->session);
	dump->session = session_create();
	take_back(dump);
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

/*
 * Adds a round to the session, as one that tells what ended since the last round that was added. The session
 * and the history hold it besides, in this thread alone; it gets back what it told itself.
 */
static void add_round(struct dump *dump, struct snapshot *snapshot)
{
	take_back(dump);
	if (dump->ended != NULL && snapshot->ended != NULL) {
		keep_ended(dump, snapshot->ended);
		dump->lent = snapshot_reference(snapshot);
		dump->own = snapshot->ended;
		snapshot->ended = dump->ended;
		dump->ended = NULL;
	}
	ended_set_release(dump->ended);
	dump->ended = NULL;
	session_add_round(dump->session, snapshot);
}

static void print_table(struct dump *dump)
{
	const uint64_t interval_ns = session_interval_ns(dump->session);
	struct view living = dump->view;
	struct table *table;

	if (dump->tables++ == 0 || dump->options->format == REPORT_FORMAT_TEXT ||
	    dump->options->format == REPORT_FORMAT_JSON)
		view_set_scheduler(&dump->view, session_scheduler(dump->session));
	living = dump->view;
	living.hide_gone = true;
	table = session_table(dump->session, &living);
	if (!user_names_wait(0)) {
		user_names_wait(USER_NAMES_PATIENCE_NS);
		table_release(table);
		table = session_table(dump->session, &living);
	}
	dump->report.snapshot = session_now(dump->session);
	report_round(&dump->report,
		     &(struct round_subject){.file = history_directory(dump->history),
					     .previous = session_previous(dump->session),
					     .interval_ns = interval_ns},
		     &living, table);
	table_release(table);
	output_flush(dump->output);
}

/* A round that cannot be read: nothing is counted over it. */
static void tell_damage(struct dump *dump, const struct error *error)
{
	if (dump->damaged++ == 0)
		command_note("%s", error->text);
	forget_rounds(dump);
}

/* Whether the round is one of which there is a table, or that the next table counts from. */
static bool is_due(const struct dump *dump, const struct history_round *round, bool is_last)
{
	return is_last || dump->options->every_ns == 0 || session_now(dump->session) == NULL ||
	       round->unix_ns >= dump->due_ns;
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
	const uint64_t every_ns = dump->options->every_ns;

	if (every_ns == 0)
		return;
	/* beginning with the time asked for, else with whole minutes, hours ... of the clock of UTC */
	if (dump->due_ns == 0)
		dump->due_ns = dump->options->from_unix_ns != 0 ? dump->options->from_unix_ns
								: round->unix_ns - round->unix_ns % every_ns;
	if (dump->due_ns <= round->unix_ns) {
		const uint64_t times = (round->unix_ns - dump->due_ns) / every_ns + 1;

		dump->due_ns = number_add_saturating(dump->due_ns,
						     number_multiply_saturating(every_ns, times));
	}
}

static int take_round(struct dump *dump, const struct history_round *round, bool is_last, struct error *error)
{
	const bool is_before = round->unix_ns < dump->options->from_unix_ns;
	struct snapshot *snapshot;
	int result;

	if (round->after_gap)
		forget_rounds(dump);
	if (!is_due(dump, round, is_last)) {
		result = read_ended(dump, round, error);
	} else {
		result = history_read(dump->history, round, &snapshot, error);
		if (result == 0) {
			add_round(dump, snapshot);
			set_due(dump, round);
			if (!is_before &&
			    (session_previous(dump->session) != NULL || dump->view.mode == WINDOW_MODE_TOTAL))
				print_table(dump);
		}
	}
	if (result == -EBADMSG) {
		tell_damage(dump, error);
		result = 0;
	}
	return result;
}

static int walk(struct dump *dump, struct error *error)
{
	const struct history_dump_options *options = dump->options;
	struct history_round round, next;
	int result = history_find(dump->history, options->from_unix_ns, HISTORY_AT_OR_AFTER, &round, error);

	if (result < 0)
		return result;
	if (round.unix_ns < options->from_unix_ns || round.unix_ns > options->to_unix_ns) {
		char from[WHEN_TEXT_SIZE], to[WHEN_TEXT_SIZE];

		return error_set(error, -ENODATA,
				 "%s has no round from %s to %s; `ctop history` lists what it has",
				 history_directory(dump->history), when_format(from, options->from_unix_ns),
				 when_format(to, options->to_unix_ns));
	}
	/* what the first one counts from: with a table for so much time that is the first round asked for
	 * itself, lest the first table is of one round alone */
	if (options->every_ns == 0 && !round.after_gap &&
	    (result = history_step(dump->history, &round, -1, &round, error)) < 0)
		return result;
	for (bool is_last = false; !is_last; round = next) {
		result = history_step(dump->history, &round, 1, &next, error);
		if (result < 0)
			return result;
		is_last = history_is_same(&round, &next) || next.unix_ns > options->to_unix_ns;
		result = take_round(dump, &round, is_last, error);
		if (result < 0 || dump->output->status < 0)
			return result;
	}
	return 0;
}

int history_dump(struct history *history, const struct history_dump_options *options, struct output *output,
		 struct error *error)
{
	struct dump dump = {
		.history = history,
		.options = options,
		.output = output,
		.report = {.format = options->format,
			   .out = &output->buffer,
			   .ascii = options->ascii,
			   .csv_safe = options->csv_safe,
			   .to_terminal = options->to_terminal},
		.view = *options->view,
	};
	int result;

	forget_rounds(&dump);
	result = walk(&dump, error);
	if (dump.damaged > 1)
		command_note("%llu rounds cannot be read; `ctop history --check` lists them",
			     (unsigned long long)dump.damaged);
	session_release(dump.session);
	take_back(&dump);
	ended_set_release(dump.ended);
	if (result == 0 && dump.tables == 0)
		result = error_set(
			error, -ENODATA,
			"there are no two rounds in a row to count between; --mode total needs one");
	return result;
}
