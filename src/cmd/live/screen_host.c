/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen_host.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/lookup_thread.h"
#include "cmd/line/capture_loop.h"
#include "cmd/line/command.h"
#include "cmd/line/signals.h"
#include "cmd/line/snapshot_files.h"
#include "file_loader.h"
#include "moment_loader.h"
#include "tasks.h"

/* The second round comes soon, so that the first changes do not have to wait for a whole interval. */
#define SECOND_ROUND_DELAY_NS (100 * NS_PER_MS)
/* The time the screen waits for a capture that is opened, so that what fails at once is told without one. */
#define OPEN_PATIENCE_NS (10 * NS_PER_MS)
/* How long the first frame of what does not change by itself waits for names of users. */
#define USER_PATIENCE_NS (300 * NS_PER_MS)
/* How long all threads have to end, and how long after a long save. */
#define END_PATIENCE_NS       (900 * NS_PER_MS)
#define END_PATIENCE_LEAST_NS (200 * NS_PER_MS)

struct screen_host {
	struct ui_host offered;
	int descriptor; /* epoll: of the queue, and of the lookups */
	struct queue *queue;
	struct tasks *tasks;
	struct file_loader *files;
	struct moment_loader *moments; /* these may be NULL */
	struct lookup_thread *lookups;
	struct capture_loop *capture;
	struct ring *ring;       /* keeps the rounds that the screen gets */
	pthread_mutex_t handing; /* while a round goes to the screen, or is taken back */

	/* Used by the thread that captures: */
	struct snapshot *first; /* the first round, until it is sent with the second; NULL: none */
	bool is_filled;         /* the screen has rounds to show */
};

/* --- in the thread that captures --- */

static void send_now(struct screen_host *host, enum ui_event_kind kind, struct snapshot *snapshot)
{
	/* before it is seen: what is given up of it then is not needed any more */
	if (host->ring != NULL)
		ring_add(host->ring, snapshot);
	queue_send(host->queue, &(struct ui_event){.kind = kind, .snapshot = snapshot});
}

/*
 * Sends a snapshot to the screen; the first round together with the one after it, so that the first table has
 * numbers.
 */
static void send_snapshot(struct screen_host *host, enum ui_event_kind kind, struct snapshot *snapshot)
{
	if (!host->is_filled && host->first == NULL && kind == UI_EVENT_ROUND) {
		host->first = snapshot;
		return;
	}
	if (host->first != NULL)
		send_now(host, UI_EVENT_ROUND, host->first);
	host->first = NULL;
	send_now(host, kind, snapshot);
	host->is_filled = true;
}

/* Sends a message; `format` has a place for the text of the event, which is freed. */
__attribute__((format(printf, 3, 0))) static void send_text(struct screen_host *host, enum ui_event_kind kind,
							    const char *format, char *text)
{
	queue_send(
		host->queue,
		&(struct ui_event){.kind = kind, .message = memory_format(format, text), .is_error = true});
	free(text);
}

static bool send_event(void *context, const struct capture_event *event)
{
	struct screen_host *host = context;

	switch (event->kind) {
	case CAPTURE_HOST:
		queue_send(host->queue,
			   &(struct ui_event){.kind = UI_EVENT_HOST, .snapshot = event->snapshot});
		break;
	case CAPTURE_ROUND:
		send_snapshot(host, UI_EVENT_ROUND, event->snapshot);
		break;
	case CAPTURE_FULL:
		send_snapshot(host, UI_EVENT_BASE, event->snapshot);
		break;
	case CAPTURE_NOTICE:
		send_text(host, UI_EVENT_MESSAGE, "%s (e: why)", event->text);
		break;
	case CAPTURE_NO_LATENCY:
		send_text(host, UI_EVENT_MESSAGE, "Cannot measure latency: %s (e: details)", event->text);
		break;
	case CAPTURE_NO_ROUND:
		send_text(host, UI_EVENT_MESSAGE, "%s", event->text);
		break;
	case CAPTURE_NO_FULL:
		send_text(host, UI_EVENT_MESSAGE, "no base taken: %s", event->text);
		break;
	case CAPTURE_NOT_OPEN:
		send_text(host, UI_EVENT_FAILED, "%s", event->text);
		break;
	}
	return true;
}

static bool is_round(const void *event)
{
	return ((const struct ui_event *)event)->kind == UI_EVENT_ROUND;
}

/* The screen needs only the newest of the rounds that it has not taken yet. */
static struct snapshot *withdraw(void *context)
{
	struct screen_host *host = context;
	struct ui_event event = {.snapshot = NULL};

	pthread_mutex_lock(&host->handing);
	if (queue_withdraw(host->queue, is_round, &event) && host->ring != NULL)
		ring_withdraw(host->ring, event.snapshot);
	pthread_mutex_unlock(&host->handing);
	return event.snapshot;
}

/* --- in the screen's thread --- */

/* Takes the next event of the queue: a round that the screen takes is confirmed to the ring. */
static bool take_event(struct screen_host *host, struct ui_event *ret_event)
{
	bool found;

	pthread_mutex_lock(&host->handing);
	found = queue_take(host->queue, ret_event);
	if (found && host->ring != NULL &&
	    (ret_event->kind == UI_EVENT_ROUND || ret_event->kind == UI_EVENT_BASE))
		ring_confirm(host->ring, ret_event->snapshot);
	pthread_mutex_unlock(&host->handing);
	return found;
}

static bool receive_lookup(struct screen_host *host, struct ui_event *ret_event)
{
	if (host->lookups == NULL)
		return false;
	ret_event->kind = UI_EVENT_LOOKUP;
	ret_event->snapshot = NULL;
	ret_event->message = ret_event->path = NULL;
	return lookup_thread_receive(host->lookups, &ret_event->lookup);
}

static bool receive(void *context, struct ui_event *ret_event)
{
	struct screen_host *host = context;

	return take_event(host, ret_event) || receive_lookup(host, ret_event);
}

static bool request(void *context, const struct ui_request *request)
{
	struct screen_host *host = context;

	switch (request->kind) {
	case UI_REQUEST_BASE:
		capture_loop_request_full(host->capture);
		break;
	case UI_REQUEST_SAVE:
		file_loader_save(host->files, request->save.shown, request->save.window);
		break;
	case UI_REQUEST_FILE:
		file_loader_request(host->files, request->number, request->text);
		break;
	case UI_REQUEST_NAMES:
		file_loader_request_names(host->files, request->text);
		break;
	case UI_REQUEST_WRITE_TAB:
		file_loader_write_tab(host->files, request->text, request->tab);
		break;
	case UI_REQUEST_REPORT:
		file_loader_write_report(host->files, request->text, &request->report);
		break;
	case UI_REQUEST_MOMENT:
		moment_loader_request(host->moments, &request->look);
		break;
	case UI_REQUEST_OTHER:
		moment_loader_request_other(host->moments, request->number, request->other);
		break;
	case UI_REQUEST_STRIP:
		moment_loader_request_strip(host->moments, &request->strip);
		break;
	case UI_REQUEST_COURSES:
		moment_loader_request_courses(host->moments, &request->courses);
		break;
	case UI_REQUEST_LOOKUP:
		return host->lookups != NULL && lookup_thread_ask(host->lookups, &request->lookup);
	}
	return true;
}

static void change_settings(void *context, const struct ui_settings *settings)
{
	struct capture_settings capture = {
		.interval_ns = settings->interval_ns,
		.paused = settings->paused,
		.heap_off = settings->heap_off,
		.latency = settings->latency,
		.round =
			{
				.needed = settings->needed,
				.cgroup_records = settings->cgroup_records,
				.smaps = settings->smaps,
				.task_fields = settings->task_fields,
			},
	};

	_Static_assert(sizeof(capture.round.limits_of) == sizeof(settings->limits_of), "processes");
	memcpy(capture.round.limits_of, settings->limits_of, sizeof(settings->limits_of));
	capture_loop_change(((struct screen_host *)context)->capture, &capture);
}

static void offer(struct screen_host *host, enum ui_request_kind kind)
{
	host->offered.offers |= 1U << kind;
}

static int add_descriptor(struct screen_host *host, int descriptor, struct error *error)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (epoll_ctl(host->descriptor, EPOLL_CTL_ADD, descriptor, &event) == 0)
		return 0;
	return error_set(error, -errno, "cannot wait for events: %s", strerror(errno));
}

static void release(struct screen_host *host)
{
	file_loader_release(host->files);
	moment_loader_release(host->moments);
	capture_loop_release(host->capture);
	lookup_thread_stop(host->lookups);
	snapshot_release(host->first);
	pthread_mutex_destroy(&host->handing);
	tasks_release(host->tasks);
	queue_release(host->queue);
	if (host->descriptor >= 0)
		close(host->descriptor);
	free(host);
}

/* Without lookups the screen lacks some texts. */
static int start_lookups(struct screen_host *host, const char *proc_root, struct error *error)
{
	if (lookup_thread_start(proc_root, &host->lookups, error) < 0) {
		command_note("no command lines: %s", error->text);
		return 0;
	}
	offer(host, UI_REQUEST_LOOKUP);
	return add_descriptor(host, lookup_thread_descriptor(host->lookups), error);
}

static void start_past(struct screen_host *host, struct history *history)
{
	host->moments = moment_loader_create(history, host->tasks, host->queue);
	offer(host, UI_REQUEST_MOMENT);
	offer(host, UI_REQUEST_OTHER);
	offer(host, UI_REQUEST_STRIP);
	offer(host, UI_REQUEST_COURSES);
}

static int start_capture(struct screen_host *host, const struct capture_options *options, struct error *error)
{
	struct capture_loop_options loop = {
		.capture = *options,
		.second_round_ns = SECOND_ROUND_DELAY_NS,
		.tells_host = true,
		.context = host,
		.send = send_event,
		.withdraw = withdraw,
	};
	/* Longer where it fails unless BPF can be had: that takes the kernel some time, and nobody wants a
	 * screen for it. */
	const uint64_t patience_ns = options->backend == CAPTURE_BACKEND_BPF ? NS_PER_S : OPEN_PATIENCE_NS;
	int result;

	loop.capture.full_is_round = true;
	result = capture_loop_start(&loop, patience_ns, &host->capture, error);
	if (result < 0)
		return result;
	host->offered.change_settings = change_settings;
	host->offered.progress = capture_loop_progress(host->capture);
	host->offered.has_heap = options->heap;
	host->offered.has_latency = true;
	offer(host, UI_REQUEST_BASE);
	return 0;
}

/* To be called before ncurses is up. */
static int start(const struct screen_host_options *options, struct screen_host **ret_host,
		 struct error *error)
{
	struct screen_host *host = memory_allocate_zero(1, sizeof(*host));
	int result;

	host->ring = options->ring;
	pthread_mutex_init(&host->handing, NULL);
	host->descriptor = epoll_create1(EPOLL_CLOEXEC);
	result = host->descriptor < 0
			 ? error_set(error, -errno, "cannot wait for events: %s", strerror(errno))
			 : queue_create(sizeof(struct ui_event), ui_event_discard, &host->queue, error);
	if (result == 0)
		result = add_descriptor(host, queue_descriptor(host->queue), error);
	if (result == 0 && options->capture != NULL)
		result = start_lookups(host, options->capture->roots[ROOT_PROC], error);
	if (result < 0) {
		release(host);
		return result;
	}
	host->offered.context = host;
	host->offered.descriptor = host->descriptor;
	host->offered.receive = receive;
	host->offered.request = request;
	host->tasks = tasks_create();
	host->files = file_loader_create(options->save_directory, host->tasks, host->queue);
	offer(host, UI_REQUEST_FILE);
	offer(host, UI_REQUEST_NAMES);
	offer(host, UI_REQUEST_WRITE_TAB);
	offer(host, UI_REQUEST_REPORT);
	if (options->saves)
		offer(host, UI_REQUEST_SAVE);
	if (options->history != NULL)
		start_past(host, options->history);
	if (options->capture != NULL)
		result = start_capture(host, options->capture, error);
	if (result < 0)
		release(host);
	else
		*ret_host = host;
	return result;
}

/* Makes the moment to begin with, before there is a screen. */
static int begin(struct screen_host *host, const struct screen_host_options *options,
		 struct ui_moment *ret_moment, struct error *error)
{
	int result = moment_loader_begin(host->moments, options->look, ret_moment, error);

	if (result == 0 && isatty(STDOUT_FILENO) != 1)
		result = error_set(error, -ENOTTY,
				   "a screen needs a terminal; ctop dump and ctop show %s@WHEN print",
				   options->history->directory);
	return result;
}

static int run(struct screen_host *host, const struct screen_host_options *options, struct session *session,
	       struct ui_options *ui, struct error *error)
{
	const struct snapshot *shown = session_now(session);
	struct ui_moment moment = {.number = 0};
	int result = 0;

	if (options->look != NULL) {
		result = begin(host, options, &moment, error);
		ui->moment = &moment;
	}
	if (shown == NULL && moment.moment != NULL)
		shown = session_moment_now(moment.moment);
	if (result == 0) {
		snapshot_files_wait_for_users(shown, USER_PATIENCE_NS);
		result = ui_run(session, &host->offered, ui, error);
	}
	/* where there was no screen nobody took it over */
	ui_moment_discard(&moment);
	return result;
}

/* Tells what came of a save or a report; nothing for NULL. Returns whether that is told. */
static bool tell(const char *before, const char *message)
{
	if (message != NULL)
		command_note("%s%s", before, message);
	return message != NULL;
}

/* Tells what came of saves and reports that the screen has not shown. Returns whether one failed. */
static bool tell_results(struct screen_host *host)
{
	char *unsaved = file_loader_give_up_save(host->files);
	char *unwritten = file_loader_give_up_report(host->files);
	bool failed = tell("", unsaved);
	struct ui_event event;

	failed |= tell("", unwritten);
	free(unsaved);
	free(unwritten);
	while (queue_take(host->queue, &event)) {
		if (event.kind == UI_EVENT_SAVED || event.kind == UI_EVENT_REPORT)
			failed |= tell(event.kind == UI_EVENT_SAVED && !event.is_error ? "saved " : "",
				       event.message) &&
				  event.is_error;
		ui_event_discard(&event);
	}
	return failed;
}

/* Returns false where something was left behind. */
static bool stop(struct screen_host *host, bool *ret_failed)
{
	uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS, least_ns;
	bool ended;

	if (host->capture != NULL)
		capture_loop_cancel(host->capture);
	if (host->moments != NULL)
		moment_loader_cancel(host->moments);
	tasks_finish(host->tasks);
	least_ns = clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_LEAST_NS;
	if (deadline_ns < least_ns)
		deadline_ns = least_ns;
	ended = tasks_stop(host->tasks, deadline_ns);
	if (host->capture != NULL)
		ended = capture_loop_stop(host->capture, deadline_ns) && ended;
	*ret_failed = tell_results(host);
	if (ended)
		release(host);
	return ended;
}

int screen_host_show(const struct screen_host_options *options, struct session *session,
		     struct ui_options *ui, struct error *error)
{
	bool failed = false, ended = true;
	struct screen_host *host;
	int status, result = start(options, &host, error);

	if (result == 0) {
		result = run(host, options, session, ui, error);
		ended = stop(host, &failed);
	}
	session_release(session);
	status = result == 0 && failed ? COMMAND_FAILED : signals_end(result, error);
	if (!ended)
		_exit(status);
	return status;
}
