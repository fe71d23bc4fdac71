/* SPDX-License-Identifier: GPL-2.0-only */
#include "record_loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/queue.h"
#include "cmd/line/capture_loop.h"
#include "cmd/line/command.h"
#include "cmd/line/signals.h"
#include "cmd/live/save_name.h"
#include "notify.h"
#include "store/recording.h"
#include "table/view.h"

/* The interval of status lines to the service manager. */
#define STATUS_INTERVAL_NS (30 * NS_PER_S)
/* How long the capture has to end: it looks for the end all the time, unless the kernel holds it. */
#define END_PATIENCE_NS (10 * NS_PER_S)

enum {
	POLLED_SIGNALS,
	POLLED_CAPTURE,
	POLLED_RULES, /* and those after it */

	ROUNDS_WAITING = 3, /* for the disk; with more the next round waits, too */
	/* Open files of the capture and of the history, besides one for each rule: 45 by BPF, and some while
	 * a round is read. */
	DESCRIPTORS_NEEDED = 64,
};

/* A mark that waits for its snapshot. */
struct pending_mark {
	uint64_t unix_ns;
	char *text;
};

struct record_loop {
	const struct record_loop_options *options;
	struct history_writer *writer;
	struct queue *queue; /* of struct capture_event */
	struct capture_loop *capture;
	struct record_titles *titles; /* NULL: titles are not recorded */
	struct pollfd *polled;        /* signals, the capture, and one of each rule */
	struct pending_mark *marks;
	size_t mark_count, mark_capacity;
	struct signals signals;
	int signal;  /* that ended it; 0: none */
	bool failed; /* the capture has */
	int result;
	uint64_t threads;       /* of the last round */
	uint64_t paused_since;  /* CLOCK_MONOTONIC ns; 0: it does not pause */
	uint64_t mark_failures; /* that were told */
	uint64_t status_at_ns, watchdog_at_ns, watchdog_ns;
};

static void tell_status(struct record_loop *loop, const char *first_lines)
{
	const struct history_writer_state *state = history_writer_state(loop->writer);
	struct buffer status = {0};

	buffer_append_format(&status, "%sSTATUS=%s %llu rounds in %s, ", first_lines,
			     state->paused ? "paused after" : "recorded", (unsigned long long)state->rounds,
			     loop->options->history.directory);
	humanize_bytes(&status, (double)state->bytes);
	if (loop->threads != 0)
		buffer_append_format(&status, "; %llu threads", (unsigned long long)loop->threads);
	/* recording does not depend on whether anybody listens */
	(void)notify_send(status.data);
	buffer_release(&status);
	loop->status_at_ns = clock_ns(CLOCK_MONOTONIC) + STATUS_INTERVAL_NS;
}

/* --- rounds --- */

static void tell_pause(struct record_loop *loop, int result, const struct error *error)
{
	struct buffer line = {0};

	if (result < 0 && loop->paused_since == 0) {
		loop->paused_since = clock_ns(CLOCK_MONOTONIC);
		command_note("recording pauses, and resumes by itself: %s", error->text);
		tell_status(loop, "");
	} else if (result == 0 && loop->paused_since != 0) {
		humanize_duration(&line, (double)(clock_ns(CLOCK_MONOTONIC) - loop->paused_since));
		command_note("recording goes on after a pause of %s", line.data);
		loop->paused_since = 0;
		tell_status(loop, "");
	}
	buffer_release(&line);
}

static void tell_writer(struct record_loop *loop)
{
	const char *notice = history_writer_take_notice(loop->writer);

	if (notice != NULL)
		command_note("%s", notice);
}

static void add_hits(struct record_loop *loop, const struct record_hit *hits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		command_note("%s", hits[i].text);
		*MEMORY_APPEND(loop->marks, loop->mark_count, loop->mark_capacity) = (struct pending_mark){
			hits[i].unix_ns, memory_duplicate(hits[i].text)};
	}
	if (count != 0 && loop->signal == 0)
		capture_loop_request_full(loop->capture);
}

static void store_round(struct record_loop *loop, struct snapshot *round)
{
	const struct record_hit *hits;
	const char *notice;
	struct error error;
	size_t count;
	int result;

	record_titles_add(loop->titles, round);
	result = history_writer_add(loop->writer, round, &error);
	tell_pause(loop, result, &error);
	tell_writer(loop);
	loop->threads = round->thread_count;
	if (result == 0 && history_writer_state(loop->writer)->rounds == 1)
		tell_status(loop, "");
	count = record_rules_judge(loop->options->rules, round, &hits);
	add_hits(loop, hits, count);
	while ((notice = record_rules_take_notice(loop->options->rules)) != NULL)
		command_note("%s", notice);
}

/* --- marks --- */

/* Stores the marks that wait, with the snapshot that was taken for them; `full` NULL for none. */
static void store_marks(struct record_loop *loop, const struct snapshot *full)
{
	const char *name = NULL;
	struct error error;
	char *path = NULL;
	size_t stored = 0;
	int result = 0;

	if (full != NULL && loop->mark_count != 0)
		result = save_name_write(full, NULL, loop->options->history.directory, &path, NULL, &error);
	if (result < 0)
		command_note("cannot save a snapshot for the mark: %s", error.text);
	if (path != NULL)
		name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < loop->mark_count; i++) {
		const struct history_mark mark = {
			.unix_ns = loop->marks[i].unix_ns,
			.kind = "rule",
			.text = loop->marks[i].text,
			.path = name,
		};

		result = history_writer_mark(loop->writer, &mark, &error);
		stored += result == 0;
		if (result == 0)
			loop->mark_failures = 0;
		else if (loop->mark_failures++ == 0)
			command_note("a mark is not stored: %s", error.text);
		free(loop->marks[i].text);
	}
	loop->mark_count = 0;
	/* what no mark names nobody would look for, or remove */
	if (path != NULL && stored == 0)
		unlink(path);
	free(path);
}

/* --- the loop --- */

static void fail(struct record_loop *loop, int result, const char *text)
{
	command_note("%s", text);
	loop->failed = true;
	loop->result = result;
}

static bool has_all_rounds(const struct record_loop *loop)
{
	return loop->options->rounds != 0 &&
	       history_writer_state(loop->writer)->rounds >= loop->options->rounds;
}

static void take_event(struct record_loop *loop, struct capture_event *event)
{
	switch (event->kind) {
	case CAPTURE_ROUND:
		capture_loop_finish_round(loop->capture);
		/* more may be there already than were asked for */
		if (!has_all_rounds(loop))
			store_round(loop, event->snapshot);
		break;
	case CAPTURE_FULL:
		store_marks(loop, event->snapshot);
		break;
	case CAPTURE_NO_FULL:
		command_note("no snapshot taken: %s", event->text);
		store_marks(loop, NULL);
		break;
	case CAPTURE_NO_LATENCY:
		command_note("latency is not measured; `ctop doctor` says why");
		break;
	case CAPTURE_NO_ROUND:
	case CAPTURE_NOT_OPEN:
		fail(loop, event->result, event->text);
		break;
	case CAPTURE_NOTICE:
		command_note("%s", event->text);
		break;
	case CAPTURE_HOST:
		break;
	}
}

static void take_events(struct record_loop *loop)
{
	struct capture_event event;

	while (queue_take(loop->queue, &event)) {
		take_event(loop, &event);
		capture_event_discard(&event);
	}
}

/* Says that it is alive, but not while a capture hangs: this thread answers for the other one. */
static void keep_alive(struct record_loop *loop)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now >= loop->status_at_ns)
		tell_status(loop, "");
	if (loop->watchdog_ns == 0 || now < loop->watchdog_at_ns)
		return;
	loop->watchdog_at_ns = now + loop->watchdog_ns / 3;
	if (capture_loop_busy_ns(loop->capture) < loop->watchdog_ns)
		(void)notify_send("WATCHDOG=1");
}

static bool is_done(const struct record_loop *loop)
{
	/* the last round may have broken a rule, and its snapshot is being taken */
	return loop->signal != 0 || loop->failed || (has_all_rounds(loop) && loop->mark_count == 0);
}

static void wait_for_events(struct record_loop *loop)
{
	struct pollfd *polled = loop->polled;
	uint64_t wake_ns = loop->status_at_ns, now = clock_ns(CLOCK_MONOTONIC);
	const struct record_hit *hits;
	struct timespec left;
	size_t rules;

	polled[POLLED_SIGNALS] = (struct pollfd){.fd = loop->signals.descriptor, .events = POLLIN};
	polled[POLLED_CAPTURE] = (struct pollfd){.fd = queue_descriptor(loop->queue), .events = POLLIN};
	rules = record_rules_descriptors(loop->options->rules, &polled[POLLED_RULES]);
	if (loop->watchdog_ns != 0 && loop->watchdog_at_ns < wake_ns)
		wake_ns = loop->watchdog_at_ns;
	left = clock_timespec(wake_ns > now ? wake_ns - now : 0);
	if (ppoll(polled, (nfds_t)(POLLED_RULES + rules), &left, NULL) < 0)
		return;
	if (polled[POLLED_SIGNALS].revents != 0)
		loop->signal = signals_take(&loop->signals);
	rules = record_rules_told(loop->options->rules, &polled[POLLED_RULES], rules, &hits);
	add_hits(loop, hits, rules);
}

static void run_rounds(struct record_loop *loop)
{
	keep_alive(loop);
	while (!is_done(loop)) {
		wait_for_events(loop);
		take_events(loop);
		keep_alive(loop);
	}
}

static void tell_start(const struct record_loop_options *options)
{
	struct buffer line = {0};

	buffer_append_format(&line, "recording into %s every ", options->history.directory);
	humanize_duration(&line, (double)options->interval_ns);
	if (options->history.keep_ns != 0) {
		buffer_append_text(&line, ", keeping ");
		humanize_duration(&line, (double)options->history.keep_ns);
	}
	if (options->history.max_bytes != 0) {
		buffer_append_text(&line, ", at most ");
		humanize_bytes(&line, (double)options->history.max_bytes);
	}
	command_note("%s", line.data);
	buffer_release(&line);
}

/* In the thread that captures: rules look at a round only after its times are those that are stored. */
static bool send_event(void *queue, const struct capture_event *event)
{
	if (event->kind == CAPTURE_ROUND)
		recording_even_times(event->snapshot);
	queue_send(queue, event);
	return event->kind != CAPTURE_NO_ROUND;
}

/* Reads what the live screen reads when it begins: what its first tab needs, and all else that costs little.
 */
static int start_capture(struct record_loop *loop, struct error *error)
{
	const struct record_loop_options *options = loop->options;
	struct capture_loop_options capture = {
		.capture = options->capture,
		.settings =
			{
				.interval_ns = options->interval_ns,
				.latency = options->capture.latency,
				.round.task_fields = true,
			},
		.unfinished_max = ROUNDS_WAITING,
		.back_to_back = true,
		.send = send_event,
	};
	struct capture_round_options *round = &capture.settings.round;
	struct view view;
	int result = queue_create(sizeof(struct capture_event), capture_event_discard, &loop->queue, error);

	if (result < 0)
		return result;
	capture.context = loop->queue;
	view_initialise(&view);
	view_needs(&view, &round->needed, &round->cgroup_records, &round->smaps);
	view_release(&view);
	round->needed |= record_rules_needs(options->rules);
	round->cgroup_records = true;
	round->smaps = false;
	return capture_loop_start(&capture, UINT64_MAX, &loop->capture, error);
}

/* Failure is only noted: a recording without titles is better than none. */
static void start_titles(struct record_loop *loop)
{
	const struct record_loop_options *options = loop->options;
	struct error error;

	if (record_titles_start(options->titles, options->capture.roots[ROOT_PROC], &loop->titles, &error) <
	    0)
		command_note("no titles are recorded: %s", error.text);
}

/* With fewer it would pause for ever, or read less without a word. The capture raises the soft limit. */
static int check_descriptors(size_t rules, struct error *error)
{
	const rlim_t needed = DESCRIPTORS_NEEDED + rules;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max >= needed)
		return 0;
	return error_set(
		error, -EMFILE,
		"only %ju open files are allowed and recording needs %ju; raise the limit (ulimit -n)",
		(uintmax_t)limit.rlim_max, (uintmax_t)needed);
}

static int start(struct record_loop *loop, struct error *error)
{
	const struct record_loop_options *options = loop->options;
	int result = check_descriptors(record_rules_count(options->rules), error);

	if (result == 0)
		result = history_writer_open(&options->history, &loop->writer, error);
	if (result < 0)
		return result;
	result = signals_catch(&loop->signals, error);
	if (result < 0)
		return result;
	tell_writer(loop);
	start_titles(loop);
	return start_capture(loop, error);
}

int record_loop_run(const struct record_loop_options *options, bool *ret_left_behind, struct error *error)
{
	bool left_behind = false;
	struct record_loop loop = {
		.options = options, .signals.descriptor = -1, .watchdog_ns = notify_watchdog_ns()};
	const size_t rules = record_rules_count(options->rules);
	int result = start(&loop, error);

	loop.polled = memory_allocate_zero(POLLED_RULES + rules, sizeof(*loop.polled));
	if (result == 0) {
		tell_start(options);
		tell_status(&loop, "READY=1\n");
		run_rounds(&loop);
		tell_status(&loop, "STOPPING=1\n");
		left_behind = !capture_loop_stop(loop.capture, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS);
		take_events(&loop);
		store_marks(&loop, NULL);
		result = loop.failed ? error_set(error, loop.result,
						 "recording ends, nothing can be captured any more")
				     : loop.signal;
		if (result == SIGTERM)
			result = 0;
	}
	/* it may still use both while the process ends */
	if (left_behind) {
		command_note("a read hangs in the kernel; ctop ends without waiting for it");
	} else {
		capture_loop_release(loop.capture);
		queue_release(loop.queue);
	}
	record_titles_end(loop.titles);
	history_writer_close(loop.writer);
	free(loop.marks);
	free(loop.polled);
	signals_restore(&loop.signals);
	*ret_left_behind = left_behind;
	return result;
}
