/* SPDX-License-Identifier: GPL-2.0-only */
#include "batch.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/queue.h"
#include "capture/lookup_thread.h"
#include "cmd/line/capture_loop.h"
#include "cmd/line/command.h"
#include "cmd/line/output.h"
#include "cmd/line/screen_options.h"
#include "cmd/line/signals.h"
#include "session/session.h"
#include "table/column_list.h"
#include "table/futex_table.h"
#include "table/value_cell.h"

/*
 * How long the first round waits for executables whose allocation counters are being looked for, so that the
 * first table has them already.
 */
#define HEAP_PATIENCE_NS (5 * NS_PER_S)

/* How long a table waits for the names of users that nobody has asked for before. */
#define USER_PATIENCE_NS (500 * NS_PER_MS)

/* How long a text that is looked up may take beyond its deadline, for processes that have to be scheduled. */
#define LOOKUP_SLACK_NS (400 * NS_PER_MS)

/* How long the capture has to end: it looks for the end all the time, unless the kernel holds it. */
#define END_PATIENCE_NS (10 * NS_PER_S)

struct batch {
	const struct batch_options *options;
	struct capture_loop *capture;
	struct queue *queue; /* of struct capture_event */
	struct view view;    /* what it owns belongs to that of the options */
	struct capture_round_options round;
	struct session *session;
	struct export *export;         /* NULL: tables are printed */
	struct lookup_thread *lookups; /* NULL: nothing is looked up */
	struct lookup_cache texts;     /* that were */
	struct report report;
	struct buffer output;
	struct signals signals;
	int signal;        /* that has come, 0: none */
	bool output_gone;  /* nobody reads it any more */
	uint64_t unseen;   /* context switches that were lost while waits were measured */
	bool futexes_told; /* that there are too many of them */
};

/*
 * In pieces that a pipe with room takes at once (pipe(7), PIPE_BUF), in which signals act as they did before
 * they were caught: a reader that has stopped reading, or a terminal that is held, must not keep ctop from
 * ending.
 */
static int write_output(struct batch *batch)
{
	struct pollfd waits[] = {
		{.fd = STDOUT_FILENO, .events = POLLOUT},
		{.fd = batch->signals.descriptor, .events = POLLIN},
	};
	const char *next = batch->output.data;
	size_t left = batch->output.length;

	while (left != 0) {
		ssize_t count = ppoll(waits, ARRAY_COUNT(waits), NULL, NULL);
		sigset_t caught;

		if (count > 0 && waits[1].revents != 0)
			return 0;
		if (count > 0) {
			sigprocmask(SIG_SETMASK, &batch->signals.former_mask, &caught);
			count = write(STDOUT_FILENO, next, left < PIPE_BUF ? left : PIPE_BUF);
			if (count < 0)
				count = -errno;
			sigprocmask(SIG_SETMASK, &caught, NULL);
		} else {
			count = -errno;
		}
		if (count == -EINTR || count == -EAGAIN)
			continue;
		if (count < 0)
			return (int)count;
		next += count;
		left -= (size_t)count;
	}
	return 0;
}

static void note_missing(const char *what, const struct feature_result *result)
{
	command_note("%s: %s%s%s", what,
		     result->detail != NULL ? result->detail : reason_words(result->reason),
		     result->remedy != NULL ? "; try: " : "", result->remedy != NULL ? result->remedy : "");
}

/* Says once why fields of a scheduler that were asked for are missing. */
static void note_scheduler(const struct batch *batch)
{
	const struct snapshot *now = session_now(batch->session);
	const struct feature_result *result = &now->provenance.features[FEATURE_TASK_FIELDS];

	if (!batch->round.task_fields || now->task_fields.context_of != NULL)
		return;
	if (!session_scheduler_runs(batch->session))
		command_note("no sched_ext scheduler runs: its columns are empty");
	else
		note_missing("what the sched_ext scheduler keeps is not read", result);
}

/*
 * The tab of task fields follows the scheduler that runs, but a table that is printed in pieces under one
 * header keeps the fields of the first round.
 */
static void follow_scheduler(struct batch *batch)
{
	const bool one_header = batch->options->format == REPORT_FORMAT_TSV ||
				batch->options->format == REPORT_FORMAT_CSV;
	const bool is_first = session_round_count(batch->session) == 1;

	if (is_first)
		note_scheduler(batch);
	if (is_first || !one_header)
		view_set_scheduler(&batch->view, session_scheduler(batch->session));
}

/* Says once that rows cannot be sorted or filtered by a column that cannot be read here. */
static void check_options(struct batch *batch)
{
	struct view *view = &batch->view;
	struct buffer words = {0};

	screen_options_check_filter(batch->session, view);
	if (view->sort_chosen && !view->sort_by_name &&
	    session_refuse_column(batch->session, view, view->sort, &words)) {
		view_forget_sort(view);
		command_note("%s; sorted by %s", words.data, column_title(view->sort, view->mode));
	}
	buffer_release(&words);
}

/* Waits for the answer to a request; answers that come for others are kept too. */
static void wait_for_lookup(struct batch *batch, const struct lookup_request *request)
{
	const uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + LOOKUP_DEADLINE_NS + LOOKUP_SLACK_NS;
	struct lookup_answer answer;

	for (;;) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		struct pollfd wait = {.fd = lookup_thread_descriptor(batch->lookups), .events = POLLIN};

		while (lookup_thread_receive(batch->lookups, &answer)) {
			(void)lookup_cache_take(&batch->texts, &answer);
			if (memcmp(&answer.request, request, sizeof(*request)) == 0)
				return;
		}
		if (now_ns >= deadline_ns)
			return;
		poll(&wait, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1);
	}
}

static void look_up_cell(struct batch *batch, struct table *table, const struct table_row *row,
			 enum column column, struct cell *cell)
{
	const bool of_thread = column == COLUMN_WCHAN;
	const struct lookup_request request = {
		.kind = of_thread ? LOOKUP_SLEEP : LOOKUP_COMMAND,
		.tgid = row->process,
		.tid = of_thread ? row->tid : row->process,
		.start_time = of_thread ? row->start_time : row->process_start,
	};
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct lookup_entry *entry;

	if (request.tgid == 0 || request.tid == 0)
		return;
	entry = lookup_cache_entry(&batch->texts, &request, now_ns);
	if (batch->lookups != NULL && lookup_is_due(entry, now_ns) &&
	    lookup_thread_ask(batch->lookups, &request)) {
		entry->asked_ns = now_ns;
		wait_for_lookup(batch, &request);
		entry = lookup_cache_entry(&batch->texts, &request, now_ns);
	}
	value_set_looked_up(entry, &table->arena, cell);
}

/* Puts texts into the cells that are looked up; waits for each as long as an answer takes at most. */
static void look_up(void *context, struct table *table)
{
	struct batch *batch = context;

	for (size_t i = 0; i < table->column_count; i++) {
		const enum column column = (enum column)table->columns[i].column;

		if (column >= COLUMN_COUNT || !column_is_looked_up(column))
			continue;
		for (size_t row = 0; row < table->row_count; row++) {
			struct cell *cell = &table->rows[row].cells[i];

			if (cell->state == CELL_UNAVAILABLE)
				look_up_cell(batch, table, &table->rows[row], column, cell);
		}
	}
}

static void draw_table(struct batch *batch)
{
	struct view living = batch->view;

	living.hide_gone = true;
	table_release(screen_options_draw(batch->session, &living, &batch->report, NULL, USER_PATIENCE_NS,
					  look_up, batch));
}

static void draw_futexes(struct batch *batch)
{
	const struct snapshot *now = session_now(batch->session);
	const uint64_t interval_ns = session_interval_ns(batch->session);
	struct report *report = &batch->report;
	struct table *table = futex_table(now, batch->view.limit);
	struct buffer heading = {0};
	struct report_round round = {.interval_ns = interval_ns,
				     .mode = window_mode_names[WINDOW_MODE_INTERVAL]};
	char clock[HUMANIZE_TIME_SIZE];

	buffer_append_format(&heading, "%s  ", humanize_time(clock, now->captured_at_unix_ns, false));
	humanize_counted(&heading, table->threads, "thread");
	buffer_append_format(&heading, " waiting, %s%zu futex%s over ",
			     now->futexes.has_more ? "more than " : "", table->row_total,
			     table->row_total == 1 ? "" : "es");
	humanize_compact(&heading, (double)interval_ns, HUMANIZE_TIME, true);
	if (now->futexes.has_more && !batch->futexes_told)
		command_note("threads waited at more than %d futexes in a round; only these are listed",
			     FUTEXES_MAX);
	batch->futexes_told |= now->futexes.has_more;
	round.heading = heading.data;
	report->snapshot = now;
	report->round = &round;
	table->continues = report->table_count != 0 &&
			   (report->format == REPORT_FORMAT_TSV || report->format == REPORT_FORMAT_CSV);
	report_table(report, table);
	report->round = NULL;
	buffer_release(&heading);
	table_release(table);
}

/* Writes a whole page for Prometheus each round; groups by users have the names that are known. */
static void draw_export(struct batch *batch, uint64_t capture_cpu_ns)
{
	struct exposition exposition = {.buffer = &batch->output, .format = EXPOSITION_OPENMETRICS};
	const struct export_health health = {
		.now_boottime_ns = clock_ns(CLOCK_BOOTTIME),
		.rounds = session_round_count(batch->session),
		.capture_cpu_ns = capture_cpu_ns,
	};
	struct export_round *round = export_round_create(batch->export, batch->session);

	if (round != NULL)
		export_add(batch->export, round);
	export_round_release(round);
	export_write_groups(batch->export, &exposition);
	export_write_health(batch->export, &health, &exposition);
	exposition_end(&exposition);
	exposition_release(&exposition);
	batch->report.table_count++;
}

static int print_round(struct batch *batch, uint64_t capture_cpu_ns, struct error *error)
{
	int result;

	buffer_clear(&batch->output);
	if (batch->export != NULL)
		draw_export(batch, capture_cpu_ns);
	else if (batch->options->capture.futexes)
		draw_futexes(batch);
	else
		draw_table(batch);
	result = write_output(batch);
	return result < 0 ? error_set(error, result, "cannot write the output: %s", strerror(-result))
			  : result;
}

/* --- rounds --- */

/* Returns 1 once all tables are printed, else 0 or a negative errno with a sentence. */
static int take_round(struct batch *batch, const struct capture_event *event, struct error *error)
{
	const bool needs_two = batch->options->view->mode != WINDOW_MODE_TOTAL;
	const struct futexes *futexes;
	int result;

	session_add_round(batch->session, event->snapshot);
	follow_scheduler(batch);
	batch->unseen += session_now(batch->session)->latency.unseen;
	if (session_round_count(batch->session) == 1)
		check_options(batch);
	futexes = &session_now(batch->session)->futexes;
	if (session_round_count(batch->session) == 1 && futexes->present &&
	    futexes->result.state != FEATURE_STATE_ON)
		note_missing("waits at futexes are not measured", &futexes->result);
	if (session_round_count(batch->session) == 1 && needs_two)
		return 0;
	result = print_round(batch, event->cpu_ns, error);
	return result == 0 && batch->report.table_count == batch->options->rounds ? 1 : result;
}

/* Takes any event; returns as take_round(). */
static int take_event(struct batch *batch, struct capture_event *event, struct error *error)
{
	int result = 0;

	switch (event->kind) {
	case CAPTURE_ROUND:
		result = take_round(batch, event, error);
		event->snapshot = NULL;
		capture_loop_finish_round(batch->capture);
		break;
	case CAPTURE_NO_ROUND:
		result = error_set(error, event->result, "%s", event->text);
		break;
	case CAPTURE_NO_LATENCY:
		command_note("latency is not measured; `ctop doctor` says why");
		break;
	case CAPTURE_NOTICE:
		command_note("%s", event->text);
		break;
	default:
		break;
	}
	capture_event_discard(event);
	return result;
}

/* Waits for an event or a signal, or until the output has no reader any more. */
static void wait_for_events(struct batch *batch)
{
	struct pollfd waits[] = {
		{.fd = batch->signals.descriptor, .events = POLLIN},
		{.fd = queue_descriptor(batch->queue), .events = POLLIN},
		{.fd = batch->output_gone ? -1 : STDOUT_FILENO},
	};

	if (poll(waits, ARRAY_COUNT(waits), -1) <= 0 || waits[2].revents == 0)
		return;
	/* POLLERR means a pipe or socket without a reader (pipe(7)): writing the next round fails */
	batch->output_gone = true;
	capture_loop_request_round(batch->capture);
}

static int run_rounds(struct batch *batch, struct error *error)
{
	struct capture_event event;
	int result = 0;

	while (result == 0 && (batch->signal = signals_take(&batch->signals)) == 0) {
		if (queue_take(batch->queue, &event))
			result = take_event(batch, &event, error);
		else
			wait_for_events(batch);
	}
	return result > 0 ? 0 : result;
}

static bool send_event(void *queue, const struct capture_event *event)
{
	queue_send(queue, event);
	return event->kind != CAPTURE_NO_ROUND;
}

static int start_capture(struct batch *batch, struct error *error)
{
	const struct batch_options *options = batch->options;
	struct capture_loop_options capture = {
		.capture = options->capture,
		.settings =
			{
				.interval_ns = options->interval_ns,
				.latency = options->capture.latency,
				.round = batch->round,
			},
		/* the first one may have waited for executables to be resolved */
		.second_round_ns = options->interval_ns,
		.unfinished_max = 1,
		.back_to_back = true,
		.send = send_event,
	};
	int result = queue_create(sizeof(struct capture_event), capture_event_discard, &batch->queue, error);

	capture.context = batch->queue;
	return result < 0 ? result : capture_loop_start(&capture, UINT64_MAX, &batch->capture, error);
}

static void choose_needs(struct batch *batch)
{
	const struct batch_options *options = batch->options;
	struct capture_round_options *round = &batch->round;

	if (options->capture.futexes) {
		round->needed = source_bit(SOURCE_WAIT);
	} else if (options->export != NULL) {
		batch->export = export_create(options->export);
		export_needs(batch->export, &round->needed, &round->cgroup_records, &round->smaps);
	} else {
		view_needs(options->view, &round->needed, &round->cgroup_records, &round->smaps);
		round->task_fields = view_needs_task_fields(options->view);
	}
}

int batch_run(const struct batch_options *options, struct error *error)
{
	struct batch batch = {.options = options,
			      .signals.descriptor = -1,
			      .view = *options->view,
			      .report = {.format = options->format,
					 .out = &batch.output,
					 .ascii = options->ascii,
					 .csv_safe = options->csv_safe,
					 .to_terminal = isatty(STDOUT_FILENO) == 1},
			      .round = {.only_needed = true, .heap_patience_ns = HEAP_PATIENCE_NS}};
	bool ended = true;
	int result;

	if ((view_shows(options->view, COLUMN_COMMAND) || view_shows(options->view, COLUMN_WCHAN)) &&
	    lookup_thread_start(options->capture.roots[ROOT_PROC], &batch.lookups, error) < 0)
		command_note("no command lines: %s", error->text);
	choose_needs(&batch);
	batch.session = session_create();
	result = signals_reserve(&batch.signals, error);
	if (result == 0)
		result = start_capture(&batch, error);
	if (result == 0) {
		result = signals_catch(&batch.signals, error);
		if (result == 0)
			result = run_rounds(&batch, error);
		if (result == 0 && batch.signal == 0)
			batch.signal = signals_take(&batch.signals); /* while the last table was written */
		if (result == 0 && batch.signal == 0)
			result = output_check_stdout(error);
		signals_restore(&batch.signals); /* a second Ctrl-C ends the wait for the capture */
		ended = capture_loop_stop(batch.capture, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS);
		if (batch.signal != 0)
			result = batch.signal;
	}
	if (batch.unseen != 0)
		command_note("the kernel did not report at least %" PRIu64
			     " context switches: waits that began with one are missing",
			     batch.unseen);
	if (result == -EPIPE && batch.signals.former_pipe_action.sa_handler != SIG_IGN)
		result = SIGPIPE; /* which would have ended it had signals_catch() not ignored it */
	signals_restore(&batch.signals);
	buffer_release(&batch.output);
	export_release(batch.export);
	session_release(batch.session);
	lookup_thread_stop(batch.lookups);
	lookup_cache_release(&batch.texts);
	/* the capture that is left behind still uses them */
	if (!ended)
		_exit(signals_end(result, error));
	capture_loop_release(batch.capture);
	queue_release(batch.queue);
	return signals_end(result, error);
}
