/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/line/command.h"
#include "file_loader.h"
#include "file_report.h"
#include "moment_loader.h"
#include "saver.h"
#include "snapshot/user_names.h"
#include "tasks.h"

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
	struct saver *saver; /* these may be NULL */
	struct moment_loader *moments;
	struct live_capture *capture;
	struct lookup_thread *lookups;
};

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

	return (host->capture != NULL ? live_capture_take(host->capture, ret_event)
				      : queue_take(host->queue, ret_event)) ||
	       receive_lookup(host, ret_event);
}

static bool request(void *context, const struct ui_request *request)
{
	struct screen_host *host = context;

	switch (request->kind) {
	case UI_REQUEST_BASE:
		live_capture_request_base(host->capture);
		break;
	case UI_REQUEST_SAVE:
		saver_request(host->saver, request->save.shown, request->save.window);
		break;
	case UI_REQUEST_FILE:
		file_loader_request(host->files, request->text);
		break;
	case UI_REQUEST_NAMES:
		file_loader_request_names(host->files, request->text);
		break;
	case UI_REQUEST_WRITE_TAB:
		file_loader_write_tab(host->files, request->text, request->tab);
		break;
	case UI_REQUEST_MOMENT:
		moment_loader_request(host->moments, &request->look);
		break;
	case UI_REQUEST_OTHER:
		moment_loader_request_other(host->moments, request->unix_ns);
		break;
	case UI_REQUEST_STRIP:
		moment_loader_request_strip(host->moments, &request->strip);
		break;
	case UI_REQUEST_LOOKUP:
		return host->lookups != NULL && lookup_thread_ask(host->lookups, &request->lookup);
	}
	return true;
}

static void change_settings(void *context, const struct ui_settings *settings)
{
	live_capture_change(((struct screen_host *)context)->capture, settings);
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
	saver_release(host->saver);
	moment_loader_release(host->moments);
	live_capture_release(host->capture);
	tasks_release(host->tasks);
	queue_release(host->queue);
	if (host->descriptor >= 0)
		close(host->descriptor);
	free(host);
}

static void start_past(struct screen_host *host, struct history *history)
{
	host->moments = moment_loader_create(history, host->tasks, host->queue);
	offer(host, UI_REQUEST_MOMENT);
	offer(host, UI_REQUEST_OTHER);
	offer(host, UI_REQUEST_STRIP);
}

static int start_capture(struct screen_host *host, const struct live_capture_options *options,
			 struct error *error)
{
	const int result = live_capture_start(options, host->queue, &host->capture, error);

	if (result < 0)
		return result;
	host->offered.change_settings = change_settings;
	host->offered.progress = live_capture_progress(host->capture);
	host->offered.has_heap = options->capture.resolver != NULL;
	host->offered.has_latency = true;
	offer(host, UI_REQUEST_BASE);
	return 0;
}

int screen_host_start(const struct screen_host_options *options, struct screen_host **ret_host,
		      struct error *error)
{
	struct screen_host *host = memory_allocate_zero(1, sizeof(*host));
	int result;

	host->descriptor = epoll_create1(EPOLL_CLOEXEC);
	result = host->descriptor < 0
			 ? error_set(error, -errno, "cannot wait for events: %s", strerror(errno))
			 : queue_create(sizeof(struct ui_event), ui_event_discard, &host->queue, error);
	if (result == 0)
		result = add_descriptor(host, queue_descriptor(host->queue), error);
	if (result == 0 && options->lookups != NULL) {
		host->lookups = options->lookups;
		offer(host, UI_REQUEST_LOOKUP);
		result = add_descriptor(host, lookup_thread_descriptor(host->lookups), error);
	}
	if (result < 0) {
		release(host);
		return result;
	}
	host->offered.context = host;
	host->offered.descriptor = host->descriptor;
	host->offered.receive = receive;
	host->offered.request = request;
	host->offered.write_report = file_report_write;
	host->tasks = tasks_create();
	host->files = file_loader_create(host->tasks, host->queue);
	offer(host, UI_REQUEST_FILE);
	offer(host, UI_REQUEST_NAMES);
	offer(host, UI_REQUEST_WRITE_TAB);
	if (options->saves) {
		host->saver = saver_create(options->save_directory, host->tasks, host->queue);
		offer(host, UI_REQUEST_SAVE);
	}
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

int screen_host_begin(struct screen_host *host, const struct ui_look *look, struct ui_moment *ret_moment,
		      struct error *error)
{
	return moment_loader_begin(host->moments, look, ret_moment, error);
}

/* Asks for the names of users before the first frame: no round comes that would show them later. */
static void learn_users(const struct session *session, const struct ui_options *options)
{
	const struct snapshot *shown = session_now(session);

	if (shown == NULL && options->moment != NULL && options->moment->moment != NULL)
		shown = session_moment_now(options->moment->moment);
	if (shown == NULL || !user_names_hold(shown->provenance.hostname))
		return;
	for (size_t i = 0; i < shown->thread_count; i++)
		user_name(shown->uid[i]);
	user_names_wait(USER_PATIENCE_NS);
}

int screen_host_run(struct screen_host *host, struct session *session, const struct ui_options *options,
		    struct error *error)
{
	learn_users(session, options);
	return ui_run(session, &host->offered, options, error);
}

/* Tells the result of the last save that the screen has not shown. Returns whether it failed. */
static bool tell_save(struct screen_host *host)
{
	char *message = host->saver != NULL ? saver_give_up(host->saver) : NULL;
	bool failed = message != NULL;
	struct ui_event event;

	while (queue_take(host->queue, &event)) {
		if (event.kind == UI_EVENT_SAVED && !failed) {
			free(message);
			message = memory_format("%s%s", event.is_error ? "" : "saved ", event.message);
			failed = event.is_error;
		}
		ui_event_discard(&event);
	}
	if (message != NULL)
		command_note("%s", message);
	free(message);
	return failed;
}

bool screen_host_stop(struct screen_host *host, bool *ret_failed)
{
	uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS, least_ns;
	bool ended;

	if (host->capture != NULL)
		live_capture_cancel(host->capture);
	if (host->moments != NULL)
		moment_loader_cancel(host->moments);
	tasks_finish(host->tasks);
	least_ns = clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_LEAST_NS;
	if (deadline_ns < least_ns)
		deadline_ns = least_ns;
	ended = tasks_stop(host->tasks, deadline_ns);
	if (host->capture != NULL)
		ended = live_capture_stop(host->capture, deadline_ns) && ended;
	*ret_failed = tell_save(host);
	if (ended)
		release(host);
	return ended;
}
