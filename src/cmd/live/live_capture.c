/* SPDX-License-Identifier: GPL-2.0-only */
#include "live_capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/remote.h"
#include "base/worker.h"
#include "cmd/line/privilege.h"
#include "probe/resolver/resolver.h"
#include "save_name.h"
#include "snapshot/ended_set.h"
#include "store/ctprof.h"

/* The second round comes soon, so that the first changes do not have to wait for a whole interval. */
#define SECOND_ROUND_DELAY_NS (300 * NS_PER_MS)
/* CPU time for all expensive sources together, in a capture that the user waits for. */
#define EXPENSIVE_BUDGET_NS NS_PER_S
/* For how long the resolving of executables is served before other requests are looked at. */
#define SERVE_SLICE_NS (20 * NS_PER_MS)
/*
 * How long the program waits at its end for a save: in all, and while no thread uses CPU time for it. Without
 * a save its threads have to end within END_PATIENCE_NS, all together.
 */
#define SAVE_PATIENCE_NS (10 * NS_PER_S)
#define IDLE_PATIENCE_NS (700 * NS_PER_MS)
#define END_PATIENCE_NS  (900 * NS_PER_MS)
/* The least CPU time since the last look that counts as work on the save. */
#define WORK_NS NS_PER_MS

enum {
	EVENT_QUEUE_LENGTH = 16
};

/* How long the screen waits for a capture that is opened, so that what fails at once is told without one. */
#define OPEN_PATIENCE_NS (10 * NS_PER_MS)

/* What is saved: the end of a window and when that began, 0 where there is none. */
struct live_saved {
	uint64_t serial, from_ns;
};

struct live_capture {
	struct live_capture_options options;
	struct ui_host host;
	pthread_t capture_thread, save_thread;
	/* Of the capture thread; NULL for none. */
	struct snapshot *unseen; /* that the screen did not get */
	struct snapshot *first;  /* the first round, until it is sent with the second */
	struct ring *ring;       /* the options' */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */

	/* Everything below is guarded by the lock. */
	bool stop;
	bool is_open, is_started; /* the capture; the screen, which did not wait for it */
	int open_result;
	struct error open_error;
	struct ui_settings settings;
	bool settings_known;            /* before that no round is taken */
	bool is_filled;                 /* the screen has rounds to show: it can be paused */
	bool round_wanted, base_wanted; /* at once */
	bool is_saving;           /* from when it was asked for until the file is there: one at a time */
	struct live_saved saving; /* what it is */
	struct snapshot *to_save; /* both until the save thread, which owns them then, begins */
	struct snapshot_window *to_save_window;
	struct ui_event events[EVENT_QUEUE_LENGTH];
	size_t event_count;
	bool latency_asked; /* of the capture thread alone: the last setting that it has seen */
	/* Not guarded: */
	atomic_bool cancel, hurry; /* read by a capture under way */
	atomic_uint progress;      /* written by one */
};

/* Wakes whoever waits for a change of what the lock guards, and unlocks it. */
static void unlock_changed(struct live_capture *live)
{
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
}

static void event_discard(struct ui_event *event)
{
	snapshot_release(event->snapshot);
	free(event->message);
	free(event->path);
}

static struct ui_event remove_event(struct live_capture *live, size_t index)
{
	struct ui_event event = live->events[index];

	live->event_count--;
	memmove(&live->events[index], &live->events[index + 1],
		(live->event_count - index) * sizeof(live->events[0]));
	return event;
}

static void drop_event(struct live_capture *live, size_t index)
{
	struct ui_event event = remove_event(live, index);

	event_discard(&event);
}

/* Takes back a round that the screen has not taken yet; NULL when there is none. */
static struct snapshot *withdraw_round(struct live_capture *live)
{
	struct snapshot *snapshot = NULL;

	pthread_mutex_lock(&live->lock);
	for (size_t i = live->event_count; i-- > 0;) {
		if (live->events[i].kind == UI_EVENT_ROUND) {
			snapshot = remove_event(live, i).snapshot;
			if (live->ring != NULL)
				ring_withdraw(live->ring, snapshot);
			break;
		}
	}
	pthread_mutex_unlock(&live->lock);
	return snapshot;
}

/* What ended is told once: what a snapshot tells that the screen does not get, the next one tells. */
static void hand_on_ended(struct snapshot *snapshot, const struct snapshot *unseen)
{
	if (snapshot->ended != NULL && unseen->ended != NULL)
		ended_set_absorb(snapshot->ended, unseen->ended);
}

static void send_event(struct live_capture *live, struct ui_event event)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&live->lock);
	if (live->event_count == EVENT_QUEUE_LENGTH)
		drop_event(live, 0);
	live->events[live->event_count++] = event;
	pthread_mutex_unlock(&live->lock);
	/* a full counter is readable already */
	if (write(live->host.notify_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

static void send_message(struct live_capture *live, enum ui_event_kind kind, char *message, bool is_error)
{
	send_event(live, (struct ui_event){.kind = kind, .message = message, .is_error = is_error});
}

/* Keeps a snapshot that the screen does not get, a reference taken over, until the next one that it gets. */
static void keep_unseen(struct live_capture *live, struct snapshot *snapshot)
{
	if (live->unseen != NULL)
		hand_on_ended(snapshot, live->unseen);
	snapshot_release(live->unseen);
	live->unseen = snapshot;
}

static void send_snapshot_now(struct live_capture *live, enum ui_event_kind kind, struct snapshot *snapshot)
{
	if (live->unseen != NULL)
		hand_on_ended(snapshot, live->unseen);
	snapshot_release(live->unseen);
	live->unseen = NULL;
	/* before it is seen: what is given up of it then is not needed any more */
	if (live->ring != NULL)
		ring_add(live->ring, snapshot);
	send_event(live, (struct ui_event){.kind = kind, .snapshot = snapshot});
}

/*
 * Sends a snapshot to the screen; the first round together with the one after it, so that the first table has
 * numbers.
 */
static void send_snapshot(struct live_capture *live, enum ui_event_kind kind, struct snapshot *snapshot)
{
	if (!live->is_filled && live->first == NULL && kind == UI_EVENT_ROUND) {
		live->first = snapshot;
		return;
	}
	if (live->first != NULL)
		send_snapshot_now(live, UI_EVENT_ROUND, live->first);
	live->first = NULL;
	send_snapshot_now(live, kind, snapshot);
	pthread_mutex_lock(&live->lock);
	live->is_filled = true;
	pthread_mutex_unlock(&live->lock);
}

static void take_base(struct live_capture *live, struct capture *capture)
{
	struct snapshot *snapshot;
	struct error error;
	int result = capture_full(capture, EXPENSIVE_BUDGET_NS, &live->cancel, &snapshot, &error);

	if (result < 0)
		send_message(live, UI_EVENT_MESSAGE, memory_format("no base taken: %s", error.text), true);
	else
		send_snapshot(live, UI_EVENT_BASE, snapshot);
}

static void take_round(struct live_capture *live, struct capture *capture, const struct ui_settings *settings)
{
	const struct capture_round_options options = {
		.needed = settings->needed,
		.cgroup_records = settings->cgroup_records,
		.smaps = settings->smaps,
		.task_fields = settings->task_fields,
	};
	struct snapshot *snapshot, *older;
	struct error error;
	int result = capture_round(capture, &options, &live->cancel, &snapshot, &error);

	/* a round that the screen has not taken yet is replaced: it needs only the newest */
	older = result == 0 ? withdraw_round(live) : NULL;
	if (older != NULL) {
		capture_return_latency(capture, older);
		keep_unseen(live, older);
	}
	if (result == 0) {
		send_snapshot(live, UI_EVENT_ROUND, snapshot);
	} else if (result != -ECANCELED) {
		send_message(live, UI_EVENT_MESSAGE, memory_duplicate(error.text), true);
	}
}

/*
 * While executables are being resolved, the wait is spent serving that, in slices so short that no request is
 * noticeably late. Called and returns with the lock held; false when nothing is being resolved.
 */
static bool serve_heap(struct live_capture *live, struct capture *capture, uint64_t next_round)
{
	uint64_t slice = clock_ns(CLOCK_MONOTONIC) + SERVE_SLICE_NS;
	size_t left;

	pthread_mutex_unlock(&live->lock);
	left = capture_serve_heap(capture, slice < next_round ? slice : next_round);
	pthread_mutex_lock(&live->lock);
	return left != 0;
}

/* The same for what ended threads have told. Returns when it is to be called again; also while paused. */
static uint64_t serve_ended(struct live_capture *live, struct capture *capture)
{
	uint64_t next;

	pthread_mutex_unlock(&live->lock);
	next = capture_serve_ended(capture);
	pthread_mutex_lock(&live->lock);
	return next;
}

/* Whether there is something to do, or the end has come. */
static bool is_wanted(const struct live_capture *live)
{
	return live->stop || live->round_wanted || live->base_wanted;
}

/* Waits until there is something to do; false at the end. Called and returns with the lock held. */
static bool wait_for_work(struct live_capture *live, struct capture *capture, uint64_t next_round)
{
	bool resolving = true;

	while (!is_wanted(live)) {
		const uint64_t next_serve = serve_ended(live, capture);
		struct timespec until;
		uint64_t soonest;

		if (is_wanted(live))
			break;
		if ((live->settings.paused && live->is_filled) || !live->settings_known) {
			until = clock_timespec(next_serve);
			if (next_serve == UINT64_MAX)
				pthread_cond_wait(&live->changed, &live->lock);
			else
				pthread_cond_timedwait(&live->changed, &live->lock, &until);
			continue;
		}
		if (clock_ns(CLOCK_MONOTONIC) >= next_round)
			break;
		if (resolving) {
			resolving = serve_heap(live, capture, next_round);
			continue;
		}
		until = clock_timespec(next_serve < next_round ? next_serve : next_round);
		pthread_cond_timedwait(&live->changed, &live->lock, &until);
		/* the interval may have become shorter */
		soonest = clock_ns(CLOCK_MONOTONIC) + live->settings.interval_ns;
		if (next_round > soonest)
			next_round = soonest;
	}
	return !live->stop;
}

/* Where it cannot be switched on, the columns say why; a message comes once. */
static void switch_latency(struct live_capture *live, struct capture *capture, bool on)
{
	int result = on != live->latency_asked ? capture_switch_latency(capture, on) : 0;

	live->latency_asked = on;
	if (result < 0)
		send_message(live, UI_EVENT_MESSAGE,
			     memory_format("how long waits take cannot be measured: %s (e: why)",
					   result == -ENOTSUP ? "the kernel or the rights do not allow it"
							      : strerror(-result)),
			     true);
}

static void send_notice(struct live_capture *live, struct capture *capture)
{
	const char *notice = capture_take_notice(capture);

	if (notice != NULL)
		send_message(live, UI_EVENT_MESSAGE, memory_format("%s (e: why)", notice), true);
}

/* Once: behind the first round, so that the screen does not wait for it, unless it is asked for before. */
static void load_latency(struct live_capture *live, struct capture *capture, bool *loaded)
{
	if (!*loaded)
		privilege_load_latency(&live->options.capture, capture);
	*loaded = true;
}

static void capture_loop(struct live_capture *live, struct capture *capture)
{
	uint64_t rounds = 0, next_round = clock_ns(CLOCK_MONOTONIC);
	bool latency_loaded = false;

	pthread_mutex_lock(&live->lock);
	while (wait_for_work(live, capture, next_round)) {
		const struct ui_settings settings = live->settings;
		const bool base = live->base_wanted, round = live->round_wanted || !base;

		live->base_wanted = live->round_wanted = false;
		pthread_mutex_unlock(&live->lock);
		capture_switch_heap(capture, !settings.heap_off);
		if (settings.latency)
			load_latency(live, capture, &latency_loaded);
		switch_latency(live, capture, settings.latency);
		if (base)
			take_base(live, capture);
		if (round) {
			take_round(live, capture, &settings);
			rounds++;
		}
		send_notice(live, capture);
		pthread_mutex_lock(&live->lock);
		if (!latency_loaded && !live->stop) {
			pthread_mutex_unlock(&live->lock);
			load_latency(live, capture, &latency_loaded);
			pthread_mutex_lock(&live->lock);
		}
		if (round && rounds == 1) {
			next_round = clock_ns(CLOCK_MONOTONIC) + SECOND_ROUND_DELAY_NS;
		} else if (round) {
			const uint64_t now = clock_ns(CLOCK_MONOTONIC), interval = live->settings.interval_ns;

			/* a round longer than the interval delays the next instead of queueing it */
			next_round += interval;
			if (next_round < now || next_round > now + interval)
				next_round = now + interval;
		}
	}
	pthread_mutex_unlock(&live->lock);
}

/* Sends the facts of the host for the header. Called before this thread gets its capabilities. */
static void send_host(struct live_capture *live)
{
	struct snapshot *facts = capture_read_host(live->options.capture.roots);

	if (facts != NULL)
		send_event(live, (struct ui_event){.kind = UI_EVENT_HOST, .snapshot = facts});
}

static void *run_capture(void *argument)
{
	struct live_capture *live = argument;
	struct capture *capture = NULL;
	struct error error = {""};
	bool is_started;
	int result;

	send_host(live);
	result = privilege_open_capture(&live->options.capture, &capture, &error);
	pthread_mutex_lock(&live->lock);
	live->is_open = true;
	live->open_result = result;
	live->open_error = error;
	is_started = live->is_started;
	unlock_changed(live);
	if (result < 0 && is_started)
		send_message(live, UI_EVENT_FAILED, memory_duplicate(error.text), true);
	if (result == 0) {
		capture_loop(live, capture);
		capture_close(capture);
	}
	return NULL;
}

/* A message is one line on the screen, so the reason must not come after a long name. */
static char *describe_failed_save(const char *directory, const char *reason)
{
	static const char suffix[] = ".ctprof.zst: ";
	const char *end_of_name = strstr(reason, suffix);

	return memory_format("not saved in %s: %s", directory != NULL ? directory : ".",
			     end_of_name != NULL ? end_of_name + strlen(suffix) : reason);
}

static void save(struct live_capture *live, struct snapshot *snapshot, struct snapshot_window *window)
{
	char *path = NULL, *message;
	struct error error;
	uint64_t json_bytes;
	int result = save_name_write(snapshot, window, live->options.save_directory, &path, &json_bytes,
				     &error);

	if (result < 0)
		message = describe_failed_save(live->options.save_directory, error.text);
	else
		message = memory_format("%s%s", path,
					json_bytes > CTPROF_REFERENCE_LIMIT
						? " (over 256 MiB of JSON: ktstr will refuse it)"
						: "");
	send_event(live,
		   (struct ui_event){
			   .kind = UI_EVENT_SAVED, .message = message, .is_error = result < 0, .path = path});
	snapshot_release(snapshot);
	snapshot_window_release(window);
}

static void *run_save(void *argument)
{
	struct live_capture *live = argument;

	pthread_mutex_lock(&live->lock);
	while (!live->stop || live->to_save != NULL) {
		struct snapshot *snapshot = live->to_save;
		struct snapshot_window *window = live->to_save_window;

		if (snapshot == NULL) {
			pthread_cond_wait(&live->changed, &live->lock);
			continue;
		}
		live->to_save = NULL;
		live->to_save_window = NULL;
		pthread_mutex_unlock(&live->lock);
		save(live, snapshot, window);
		pthread_mutex_lock(&live->lock);
		live->is_saving = false;
		pthread_cond_broadcast(&live->changed);
	}
	pthread_mutex_unlock(&live->lock);
	return NULL;
}

static bool host_receive(void *context, struct ui_event *ret_event)
{
	struct live_capture *live = context;
	uint64_t counter;
	bool found = false;

	pthread_mutex_lock(&live->lock);
	if (live->event_count != 0) {
		*ret_event = remove_event(live, 0);
		found = true;
		if (live->ring != NULL &&
		    (ret_event->kind == UI_EVENT_ROUND || ret_event->kind == UI_EVENT_BASE))
			ring_confirm(live->ring, ret_event->snapshot);
	} else if (read(live->host.notify_fd, &counter, sizeof(counter)) < 0 && errno != EAGAIN) {
		abort();
	}
	pthread_mutex_unlock(&live->lock);
	return found;
}

static void host_change_settings(void *context, const struct ui_settings *settings)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->round_wanted |= (settings->heap_off != live->settings.heap_off ||
			       settings->latency != live->settings.latency ||
			       (live->settings_known && settings->task_fields &&
				!live->settings.task_fields)) &&
			      !settings->paused;
	live->settings = *settings;
	live->settings_known = true;
	unlock_changed(live);
}

static void host_request_base(void *context)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->base_wanted = true;
	unlock_changed(live);
}

static void host_request_save(void *context, struct snapshot *shown, struct snapshot_window *window)
{
	const struct live_saved wanted = {shown->serial,
					  window != NULL ? window->from->provenance.boottime_ns : 0};
	struct live_capture *live = context;
	bool is_busy, is_same;

	pthread_mutex_lock(&live->lock);
	is_busy = live->is_saving;
	is_same = live->saving.serial == wanted.serial && live->saving.from_ns == wanted.from_ns;
	if (!is_busy) {
		live->is_saving = true;
		live->saving = wanted;
		live->to_save = snapshot_reference(shown);
		live->to_save_window = window;
	}
	unlock_changed(live);
	if (!is_busy)
		return;
	snapshot_window_release(window);
	/* the save under way serves this request too */
	if (is_same)
		return;
	send_message(live, UI_EVENT_SAVED,
		     memory_duplicate("not saved: the previous snapshot is still being written"), true);
}

static void release(struct live_capture *live)
{
	for (size_t i = 0; i < live->event_count; i++)
		event_discard(&live->events[i]);
	snapshot_release(live->to_save);
	snapshot_window_release(live->to_save_window);
	snapshot_release(live->unseen);
	snapshot_release(live->first);
	close(live->host.notify_fd);
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	resolver_stop(live->options.capture.resolver);
	remote_stop(live->options.capture.remote);
	free(live);
}

static int start_threads(struct live_capture *live)
{
	int result = worker_start(&live->save_thread, run_save, live);

	if (result < 0)
		return result;
	result = worker_start(&live->capture_thread, run_capture, live);
	if (result == 0)
		return 0;
	pthread_mutex_lock(&live->lock);
	live->stop = true;
	unlock_changed(live);
	pthread_join(live->save_thread, NULL);
	return result;
}

/*
 * Waits a moment for the capture to be open: longer where it fails unless BPF can be had, since that takes
 * the kernel some time and nobody wants a screen for it. Returns what came of it, 0 while nothing has.
 */
static int wait_until_open(struct live_capture *live)
{
	const bool is_asked = live->options.capture.backend == CAPTURE_BACKEND_BPF;
	const uint64_t patience_ns = is_asked ? NS_PER_S : OPEN_PATIENCE_NS;
	const struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + patience_ns);
	int result = 0;

	pthread_mutex_lock(&live->lock);
	while (!live->is_open && result == 0)
		result = pthread_cond_timedwait(&live->changed, &live->lock, &until);
	result = live->is_open ? live->open_result : 0;
	live->is_started = result == 0;
	pthread_mutex_unlock(&live->lock);
	return result;
}

int live_capture_start(const struct live_capture_options *options, struct live_capture **ret_live,
		       struct error *error)
{
	struct live_capture *live;
	int result, notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (notify_fd < 0) {
		resolver_stop(options->capture.resolver);
		remote_stop(options->capture.remote);
		return error_set(error, -errno, "cannot create an eventfd: %s", strerror(errno));
	}
	live = memory_allocate_zero(1, sizeof(*live));
	live->options = *options;
	live->ring = options->ring;
	live->options.capture.hurry = &live->hurry;
	live->options.capture.progress = &live->progress;
	live->host = (struct ui_host){
		.context = live,
		.notify_fd = notify_fd,
		.receive = host_receive,
		.progress = &live->progress,
		.change_settings = host_change_settings,
		.has_heap = options->capture.resolver != NULL,
		.has_latency = true,
		.request_base = host_request_base,
		.request_save = host_request_save,
	};
	pthread_mutex_init(&live->lock, NULL);
	worker_initialise_condition(&live->changed);
	result = start_threads(live);
	if (result < 0) {
		release(live);
		return error_set(error, result, "cannot create a thread: %s", strerror(-result));
	}
	result = wait_until_open(live);
	if (result < 0) {
		bool is_error, left_behind;

		if (error != NULL)
			*error = live->open_error;
		free(live_capture_stop(live, &is_error, &left_behind));
		return result;
	}
	*ret_live = live;
	return 0;
}

const struct ui_host *live_capture_host(struct live_capture *live)
{
	return &live->host;
}

/* The result of the last save that the screen has not shown, or NULL. */
static char *last_save_message(struct live_capture *live, bool *ret_is_error)
{
	for (size_t i = live->event_count; i-- > 0;) {
		struct ui_event *event = &live->events[i];

		if (event->kind == UI_EVENT_SAVED) {
			char *message = event->message;

			*ret_is_error = event->is_error;
			event->message = NULL;
			return message;
		}
	}
	return NULL;
}

/* CPU time of the thread that works on the save. Called with the lock held. */
static uint64_t save_work_ns(struct live_capture *live)
{
	clockid_t clock;

	return pthread_getcpuclockid(live->save_thread, &clock) == 0 ? clock_ns(clock) : 0;
}

/*
 * A save that was asked for is carried out even when the screen is closed right after, unless what it waits
 * for hangs. Called and returns with the lock held.
 */
static void wait_for_save(struct live_capture *live)
{
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	uint64_t now = begun, moved = begun, work = save_work_ns(live);

	while (live->is_saving && now - begun < SAVE_PATIENCE_NS && now - moved < IDLE_PATIENCE_NS) {
		const struct timespec until = clock_timespec(now + IDLE_PATIENCE_NS / 10);
		uint64_t work_now;

		pthread_cond_timedwait(&live->changed, &live->lock, &until);
		now = clock_ns(CLOCK_MONOTONIC);
		work_now = save_work_ns(live);
		if (work_now < work || work_now - work >= WORK_NS) {
			work = work_now;
			moved = now;
		}
	}
}

char *live_capture_stop(struct live_capture *live, bool *ret_is_error, bool *ret_left_behind)
{
	uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS, least_ns;
	char *message;
	bool ended, is_unsaved;

	atomic_store(&live->hurry, true);
	pthread_mutex_lock(&live->lock);
	wait_for_save(live);
	is_unsaved = live->is_saving;
	live->stop = true;
	unlock_changed(live);
	atomic_store(&live->cancel, true);
	/* after a long save the threads, which were only now asked to end, still get a moment for it */
	least_ns = clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS - IDLE_PATIENCE_NS;
	if (deadline_ns < least_ns)
		deadline_ns = least_ns;
	ended = worker_join(live->capture_thread, deadline_ns);
	ended = worker_join(live->save_thread, deadline_ns) && ended;
	/* a thread that is left behind may still send events */
	pthread_mutex_lock(&live->lock);
	message = last_save_message(live, ret_is_error);
	if (is_unsaved && live->is_saving) {
		free(message);
		*ret_is_error = true;
		message = describe_failed_save(live->options.save_directory,
					       "its file system does not answer");
	}
	pthread_mutex_unlock(&live->lock);
	*ret_left_behind = !ended;
	if (ended)
		release(live);
	return message;
}
