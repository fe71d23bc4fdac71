/* SPDX-License-Identifier: GPL-2.0-only */
#include "ui.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "screen.h"
#include "ui/terminal/signal_pipe.h"
#include "ui/terminal/stderr_capture.h"
#include "ui/terminal/terminal.h"

/* The descriptors that the loop waits for. */
enum {
	WAIT_KEYS,
	WAIT_SCREEN, /* for POLLHUP and POLLERR alone */
	WAIT_SIGNALS,
	WAIT_HOST,
	WAIT_STDERR,
	WAIT_COUNT,
};

enum {
	PROGRESS_MS = 100,    /* between two looks at how far the first round is */
	NO_MEMORY_US = 10000, /* until poll(2) may have memory again */
};

struct loop {
	struct ui *ui;
	struct pollfd waits[WAIT_COUNT];
	struct stderr_capture capture;
	int deadly_signal;
	bool resumed;  /* it was stopped, and has set the screen up again */
	bool is_shown; /* nothing has changed since the last frame */
};

/* --- events of the host --- */

static bool rounds_done(const struct ui *ui, const struct session *session)
{
	return ui->options->rounds != 0 && session_round_count(session) >= ui->options->rounds;
}

/* A round that nobody sees: a moment that has been is on the screen. */
static void take_unseen_round(struct ui *ui, struct snapshot *snapshot, bool is_base)
{
	session_add_round(ui->past.live, snapshot);
	if (is_base) {
		session_set_base(ui->past.live);
		ui->past.took_base = true;
		screen_message(ui, STYLE_MESSAGE,
			       "numbers of now count from this moment on (d: other modes)");
	}
	ui->quit |= rounds_done(ui, ui->past.live);
}

static void take_round(struct ui *ui, struct snapshot *snapshot, bool is_base)
{
	/* While paused, only a round that the user asked for changes the screen, once it shows anything. One
	 * that was on its way is kept, so that what ended in it still counts. */
	if (ui->settings.paused && !is_base && session_previous(ui->session) != NULL) {
		snapshot_release(ui->held);
		ui->held = snapshot;
		return;
	}
	if (ui->held != NULL)
		session_add_round(ui->past.live != NULL ? ui->past.live : ui->session, ui->held);
	ui->held = NULL;
	if (ui->past.live != NULL) {
		take_unseen_round(ui, snapshot, is_base);
		return;
	}
	session_add_round(ui->session, snapshot);
	if (is_base) {
		session_set_base(ui->session);
		if (ui->comparison == NULL)
			ui->view.mode = WINDOW_MODE_BASE;
		screen_message(ui, STYLE_MESSAGE, "numbers count from this round on (d: other modes)");
	}
	if (session_round_count(ui->session) == 1)
		navigate_check_options(ui);
	look_refresh(ui);
	/* rows that are sorted for the first time: a cursor that was not moved goes to the first of them */
	if (session_round_count(ui->session) == 2 && !ui->list.moved)
		list_move(&ui->list, ACTION_FIRST);
	ui->quit |= rounds_done(ui, ui->session);
}

/* The screen has nothing to show, nor will it have. */
static void fail(struct ui *ui, struct ui_event *event)
{
	free(ui->failure);
	ui->failure = event->message;
	event->message = NULL;
	ui->quit = true;
}

static void take_host(struct ui *ui, struct snapshot *facts)
{
	snapshot_release(ui->host_facts);
	ui->host_facts = facts;
}

static void take_saved(struct ui *ui, struct ui_event *event)
{
	screen_message(ui, event->is_error ? STYLE_ERROR : STYLE_MESSAGE, "%s%s",
		       event->is_error ? "" : "saved ", event->message);
	if (event->path == NULL)
		return;
	free(ui->saved);
	ui->saved = event->path;
	event->path = NULL;
	screen_comparison_forget_failed(ui);
}

/* Takes over what it uses of an event. Returns whether the screen may change. */
static bool take_event(struct ui *ui, struct ui_event *event)
{
	struct snapshot *snapshot = event->snapshot;

	event->snapshot = NULL;
	switch (event->kind) {
	case UI_EVENT_ROUND:
	case UI_EVENT_BASE:
		take_round(ui, snapshot, event->kind == UI_EVENT_BASE);
		break;
	case UI_EVENT_HOST:
		take_host(ui, snapshot);
		break;
	case UI_EVENT_FAILED:
		fail(ui, event);
		break;
	case UI_EVENT_MESSAGE:
		screen_message(ui, event->is_error ? STYLE_ERROR : STYLE_MESSAGE, "%s", event->message);
		break;
	case UI_EVENT_SAVED:
		take_saved(ui, event);
		break;
	case UI_EVENT_REPORT:
		actions_take_report(ui, event);
		break;
	case UI_EVENT_FILE:
		event->snapshot = snapshot;
		screen_comparison_take_file(ui, event);
		break;
	case UI_EVENT_NAMES:
		actions_take_names(ui, event->message);
		break;
	case UI_EVENT_MOMENT:
		look_take(ui, &event->moment);
		break;
	case UI_EVENT_STRIP:
		look_take_strip(ui, &event->strip);
		break;
	case UI_EVENT_COURSES:
		screen_list_take_courses(ui, &event->courses);
		break;
	case UI_EVENT_LOOKUP:
		return lookup_cache_take(&ui->lookups, &event->lookup);
	}
	return true;
}

/*
 * Up to one that may take long: while each of them takes longer than the next is off, keys are answered in
 * between. The first round comes with the second, and is not shown alone. Returns whether the
 * screen may change.
 */
static bool take_events(struct ui *ui)
{
	struct ui_event event;
	bool took_long = false, changed = false;

	while (!took_long && ui->host->receive != NULL && ui->host->receive(ui->host->context, &event)) {
		took_long = (event.kind == UI_EVENT_ROUND && session_now(ui->session) != NULL) ||
			    event.kind == UI_EVENT_BASE || event.kind == UI_EVENT_MOMENT;
		changed |= take_event(ui, &event);
		ui_event_discard(&event);
	}
	return changed;
}

/* --- keys and signals --- */

/* Returns false when the terminal went away. */
static bool take_keys(struct ui *ui)
{
	enum terminal_key_result result;
	int key;

	while ((result = terminal_read_key(ui->prompting != NULL, &key)) == TERMINAL_KEY ||
	       result == TERMINAL_TEXT) {
		if (result == TERMINAL_TEXT)
			actions_handle_pasted(ui, key);
		else if (key == KEY_POINTER)
			actions_handle_pointer(ui, terminal_pointer());
		else
			actions_handle_key(ui, key);
		if (ui->quit || ui->suspend)
			return true;
	}
	return result != TERMINAL_GONE;
}

static void take_size(struct ui *ui)
{
	terminal_take_size();
	screen_list_refresh(ui);
	screen_pages_refresh(ui);
	navigate_tell_host(ui);
}

static void take_signals(struct loop *loop)
{
	struct signal_news news = signal_pipe_take();

	loop->deadly_signal = news.deadly;
	loop->ui->suspend |= news.suspend;
	/* after a stop of its own the screen is set up already */
	if (news.continued && !loop->resumed && news.deadly == 0)
		loop->deadly_signal = terminal_resume();
	loop->resumed = false;
	if (news.resized || news.continued) {
		take_size(loop->ui);
		loop->is_shown = false;
	}
}

static void take_stderr(struct loop *loop)
{
	struct buffer line = {0};

	if (stderr_capture_take(&loop->capture, &line) && line.length != 0)
		screen_message(loop->ui, STYLE_MESSAGE, "%s", line.data);
	buffer_release(&line);
}

/* --- the loop --- */

static void prepare_waits(struct loop *loop, int signals)
{
	const int descriptors[WAIT_COUNT] = {
		[WAIT_KEYS] = terminal_input(),
		[WAIT_SCREEN] = terminal_output(),
		[WAIT_SIGNALS] = signals,
		[WAIT_HOST] = loop->ui->host->descriptor,
		[WAIT_STDERR] = loop->capture.reader,
	};

	for (int i = 0; i < WAIT_COUNT; i++)
		loop->waits[i] = (struct pollfd){.fd = descriptors[i],
						 .events = i == WAIT_SCREEN ? 0 : POLLIN};
}

static bool terminal_is_gone(const struct loop *loop)
{
	return ((loop->waits[WAIT_KEYS].revents | loop->waits[WAIT_SCREEN].revents) &
		(POLLHUP | POLLERR | POLLNVAL)) != 0;
}

/* Milliseconds until the loop has something to do without being woken, -1 for never. */
static int wait_ms(const struct ui *ui)
{
	const int filter_ms = screen_filter_wait_ms(ui), look_ms = look_wait_ms(ui);

	/* the progress of the first round is drawn */
	if (session_now(ui->session) == NULL && ui->host->progress != NULL)
		return PROGRESS_MS;
	return filter_ms < 0 || (look_ms >= 0 && look_ms < filter_ms) ? look_ms : filter_ms;
}

/* Runs until the screen ends; returns 0, or the signal that ended it. */
static int run(struct loop *loop)
{
	struct ui *ui = loop->ui;
	int ready, timeout_ms;

	while (!ui->quit && loop->deadly_signal == 0) {
		if (ui->suspend) {
			ui->suspend = false;
			loop->deadly_signal = terminal_suspend();
			if (loop->deadly_signal != 0)
				break;
			loop->resumed = true;
			loop->is_shown = false;
			screen_list_refresh(ui);
		}
		if (!loop->is_shown) {
			screen_comparison_follow(ui);
			look_follow(ui);
			screen_list_follow(ui);
			screen_draw(ui);
		}
		timeout_ms = wait_ms(ui);
		ready = poll(loop->waits, WAIT_COUNT, timeout_ms);
		/* after a slow event the host's descriptor stays readable, and most answers change nothing */
		loop->is_shown = ready == 1 && timeout_ms < 0 &&
				 (loop->waits[WAIT_HOST].revents & POLLIN) != 0;
		if (ready < 0 && errno == ENOMEM)
			usleep(NO_MEMORY_US);
		else if (ready < 0 && errno != EINTR)
			return SIGHUP;
		/* before the next frame: after a stop, another program may have the terminal */
		take_signals(loop);
		/* poll() reports earlier input again */
		if (ready < 0 || loop->deadly_signal != 0)
			continue;
		if (terminal_is_gone(loop))
			return SIGHUP;
		if ((loop->waits[WAIT_HOST].revents & POLLIN) != 0 && take_events(ui))
			loop->is_shown = false;
		if ((loop->waits[WAIT_STDERR].revents & POLLIN) != 0)
			take_stderr(loop);
		if ((loop->waits[WAIT_KEYS].revents & POLLIN) != 0 && !take_keys(ui))
			return SIGHUP;
		screen_filter_apply(ui);
		look_play_on(ui);
	}
	return loop->deadly_signal;
}

static void release_ui(struct ui *ui)
{
	free(ui->users.users);
	chooser_release(&ui->chooser);
	free(ui->prompt_before);
	list_release_place(&ui->prompt_place);
	for (size_t i = 0; i < PROMPT_TOPIC_COUNT; i++)
		prompt_history_release(&ui->histories[i]);
	screen_close_page(ui);
	screen_comparison_release(ui);
	look_release(ui);
	view_release(&ui->view);
	list_reset(&ui->list);
	frozen_release(&ui->frozen);
	(void)screen_search_end(ui);
	table_release(ui->table);
	lookup_cache_release(&ui->lookups);
	pager_release(&ui->pager);
	buffer_release(&ui->prompt.text);
	buffer_release(&ui->message);
	buffer_release(&ui->slow.why.loss);
	buffer_release(&ui->slow.why.waits_for);
	free(ui->slow.key);
	free(ui->explain_title);
	free(ui->saved);
	free(ui->unwritten);
	snapshot_release(ui->held);
	free(ui->scheduler);
	free(ui->failure);
	snapshot_release(ui->host_facts);
	buffer_release(&ui->courses.of);
	draw_release();
}

int ui_run(struct session *session, const struct ui_host *host, const struct ui_options *options,
	   struct error *error)
{
	struct ui ui = {.session = session,
			.content = &content_of_session,
			.host = host,
			.options = options,
			.page = PLACE_LIST,
			.settings.interval_ns = options->interval_ns,
			.settings.latency = options->latency};
	struct loop loop = {.ui = &ui};
	int signals, result;

	/* before curses, which installs handlers only for signals that have none */
	signals = signal_pipe_open(error);
	if (signals < 0)
		return signals;
	result = terminal_open(error);
	if (result != 0) {
		signal_pipe_close();
		return result;
	}
	if (!options->no_mouse)
		terminal_use_mouse();
	stderr_capture_open(&loop.capture);
	terminal_guard(loop.capture.standard_error, loop.capture.reader);
	draw_initialise(options->theme, options->ascii);
	view_copy(&ui.view, options->view);
	navigate_begin(&ui);
	terminal_take_size();
	if (options->moment != NULL)
		look_begin(&ui);
	else
		session_keep_courses(session, COLUMN_COUNT);
	if (options->before != NULL)
		screen_comparison_begin(&ui);
	(void)navigate_follow_scheduler(&ui);
	navigate_check_options(&ui);
	screen_list_refresh(&ui);
	navigate_tell_host(&ui);
	if (options->notice != NULL)
		screen_message(&ui, STYLE_ERROR, "%s", options->notice);
	prepare_waits(&loop, signals);
	/* what is known already is in the first frame */
	(void)take_events(&ui);
	result = run(&loop);
	terminal_close();
	stderr_capture_close(&loop.capture);
	signal_pipe_close();
	if (ui.failure != NULL && result == 0)
		result = error_set(error, -EIO, "%s", ui.failure);
	release_ui(&ui);
	return result;
}
