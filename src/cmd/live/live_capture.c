/* SPDX-License-Identifier: GPL-2.0-only */
#include "live_capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/line/privilege.h"
#include "save_name.h"
#include "worker.h"
#include "ctprof/ctprof.h"
#include "probe/resolver/resolver.h"

/* The second round comes soon, so that the first deltas do not have to wait for a whole interval. */
#define SECOND_ROUND_DELAY_NS (UINT64_C(300) * 1000 * 1000)
/* All sources that may take long together, in a capture that the user waits for. */
#define DEAR_BUDGET_NS NS_PER_S
/* How long the resolving of executables is served without a look at what else is wanted. */
#define SERVE_SLICE_NS (UINT64_C(20) * 1000 * 1000)
/* How long the end of the program waits for a save that is still being captured or written. */
#define SAVE_PATIENCE_NS (10 * NS_PER_S)

enum {
	EVENT_QUEUE_LENGTH = 16
};

struct live_capture {
	struct live_capture_options options;
	struct ui_host host;
	pthread_t capture_thread, save_thread;
	pthread_mutex_t lock;
	pthread_cond_t wake_capture, wake_save, opened, save_ended;

	/* Everything below is guarded by the lock. */
	bool stop;
	bool is_open;
	int open_result;
	struct error open_error;
	uint64_t interval_ns;
	bool paused;
	bool heap_off; /* the allocator probe */
	bool round_wanted, base_wanted, save_wanted;
	bool needs_known; /* the screen has said what it shows: before that no round is of use */
	struct capture_round_options needs;
	struct snapshot *to_save;   /* handed to the save thread */
	unsigned int saves_pending; /* asked for, not written or given up yet */
	struct ui_event events[EVENT_QUEUE_LENGTH];
	size_t event_count;
	atomic_bool cancel; /* read without the lock by a capture under way */
};

static void event_discard(struct ui_event *event)
{
	snapshot_release(event->snapshot);
	free(event->message);
}

/* A round nobody has looked at yet is replaced by the newer one: the screen needs only the newest. */
static void drop_event(struct live_capture *live, size_t index)
{
	event_discard(&live->events[index]);
	live->event_count--;
	memmove(&live->events[index], &live->events[index + 1],
		(live->event_count - index) * sizeof(live->events[0]));
}

static void send_event(struct live_capture *live, struct ui_event event)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&live->lock);
	for (size_t i = 0; event.kind == UI_EVENT_ROUND && i < live->event_count; i++) {
		if (live->events[i].kind == UI_EVENT_ROUND) {
			drop_event(live, i);
			break;
		}
	}
	if (live->event_count == EVENT_QUEUE_LENGTH)
		drop_event(live, 0);
	live->events[live->event_count++] = event;
	pthread_mutex_unlock(&live->lock);
	/* a full counter means that the reader has been told already */
	if (write(live->host.notify_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

static void send_message(struct live_capture *live, enum ui_event_kind kind, char *message, bool is_error)
{
	send_event(live, (struct ui_event){.kind = kind, .message = message, .is_error = is_error});
}

static void end_save(struct live_capture *live)
{
	pthread_mutex_lock(&live->lock);
	live->saves_pending--;
	pthread_cond_signal(&live->save_ended);
	pthread_mutex_unlock(&live->lock);
}

/* Hands a snapshot to the save thread. Takes the reference over. */
static void hand_to_save(struct live_capture *live, struct snapshot *snapshot)
{
	pthread_mutex_lock(&live->lock);
	if (live->to_save != NULL) {
		pthread_mutex_unlock(&live->lock);
		snapshot_release(snapshot);
		send_message(live, UI_EVENT_MESSAGE,
			     memory_duplicate("not saved: the previous snapshot is still being written"),
			     true);
		end_save(live);
		return;
	}
	live->to_save = snapshot;
	pthread_cond_signal(&live->wake_save);
	pthread_mutex_unlock(&live->lock);
}

static void take_full(struct live_capture *live, struct capture *capture, bool for_base)
{
	struct snapshot *snapshot;
	struct error error;
	int result = capture_full(capture, DEAR_BUDGET_NS, &live->cancel, &snapshot, &error);

	if (result < 0) {
		send_message(live, UI_EVENT_MESSAGE,
			     memory_format("%s: %s", for_base ? "no base taken" : "not saved", error.text),
			     true);
		if (!for_base)
			end_save(live);
	} else if (for_base) {
		send_event(live, (struct ui_event){.kind = UI_EVENT_BASE, .snapshot = snapshot});
	} else {
		hand_to_save(live, snapshot);
	}
}

static void take_round(struct live_capture *live, struct capture *capture,
		       const struct capture_round_options *options)
{
	struct snapshot *snapshot;
	struct error error;
	int result = capture_round(capture, options, &live->cancel, &snapshot, &error);

	if (result == 0)
		send_event(live, (struct ui_event){.kind = UI_EVENT_ROUND, .snapshot = snapshot});
	else if (result != -ECANCELED)
		send_message(live, UI_EVENT_MESSAGE, memory_duplicate(error.text), true);
}

/*
 * While executables are being resolved the wait is spent serving that, in slices so short that nobody who
 * wants a round notices. Called and returns with the lock held; false when nothing is being resolved.
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

/* Waits for the next thing to do; false at the end. Called and returns with the lock held. */
static bool wait_for_work(struct live_capture *live, struct capture *capture, uint64_t next_round)
{
	bool resolving = true;

	while (!live->stop && !live->round_wanted && !live->base_wanted && !live->save_wanted) {
		struct timespec until = clock_timespec(next_round);

		if (live->paused || !live->needs_known) {
			pthread_cond_wait(&live->wake_capture, &live->lock);
			continue;
		}
		if (clock_ns(CLOCK_MONOTONIC) >= next_round)
			break;
		if (resolving) {
			resolving = serve_heap(live, capture, next_round);
			continue;
		}
		pthread_cond_timedwait(&live->wake_capture, &live->lock, &until);
		if (live->interval_ns != 0 && next_round > clock_ns(CLOCK_MONOTONIC) + live->interval_ns)
			next_round = clock_ns(CLOCK_MONOTONIC) +
				     live->interval_ns; /* the interval became shorter */
	}
	return !live->stop;
}

static void capture_loop(struct live_capture *live, struct capture *capture)
{
	uint64_t rounds = 0, next_round = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&live->lock);
	while (wait_for_work(live, capture, next_round)) {
		const struct capture_round_options needs = live->needs;
		const bool base = live->base_wanted, save = live->save_wanted;
		const bool round = live->round_wanted || (!base && !save);
		const bool heap_off = live->heap_off;

		live->base_wanted = live->save_wanted = live->round_wanted = false;
		pthread_mutex_unlock(&live->lock);
		capture_switch_heap(capture, !heap_off);
		if (save)
			take_full(live, capture, false);
		if (base)
			take_full(live, capture, true);
		if (round) {
			take_round(live, capture, &needs);
			rounds++;
		}
		pthread_mutex_lock(&live->lock);
		if (round && rounds == 1) {
			next_round = clock_ns(CLOCK_MONOTONIC) + SECOND_ROUND_DELAY_NS;
		} else if (round) {
			next_round += live->interval_ns;
			/* a round that took longer than the interval delays the next, it does not queue them
			 */
			if (next_round < clock_ns(CLOCK_MONOTONIC) ||
			    next_round > clock_ns(CLOCK_MONOTONIC) + live->interval_ns)
				next_round = clock_ns(CLOCK_MONOTONIC) + live->interval_ns;
		}
	}
	pthread_mutex_unlock(&live->lock);
}

static void *run_capture(void *argument)
{
	struct live_capture *live = argument;
	struct capture *capture = NULL;
	struct error error = {""};
	int result;

	result = privilege_open_capture(&live->options.capture, &capture, &error);
	pthread_mutex_lock(&live->lock);
	live->is_open = true;
	live->open_result = result;
	live->open_error = error;
	pthread_cond_signal(&live->opened);
	pthread_mutex_unlock(&live->lock);
	if (result < 0)
		return NULL;
	capture_loop(live, capture);
	capture_close(capture);
	return NULL;
}

/* The screen has one line, so the reason must not stand behind a long name. */
static char *describe_failed_save(const char *directory, const struct error *error)
{
	static const char suffix[] = ".ctprof.zst: ";
	const char *end_of_name = strstr(error->text, suffix);

	return memory_format("not saved in %s: %s", directory != NULL ? directory : ".",
			     end_of_name != NULL ? end_of_name + strlen(suffix) : error->text);
}

static void save(struct live_capture *live, struct snapshot *snapshot)
{
	char *path = NULL;
	struct error error;
	uint64_t json_bytes;
	int result = save_name_write(snapshot, live->options.save_directory, &path, &json_bytes, &error);

	if (result < 0)
		send_message(live, UI_EVENT_MESSAGE,
			     describe_failed_save(live->options.save_directory, &error), true);
	else if (json_bytes > CTPROF_REFERENCE_LIMIT)
		send_message(live, UI_EVENT_SAVED,
			     memory_format("%s (over 256 MiB of JSON: ktstr will refuse it)", path), false);
	else
		send_message(live, UI_EVENT_SAVED, memory_duplicate(path), false);
	free(path);
	snapshot_release(snapshot);
}

static void *run_save(void *argument)
{
	struct live_capture *live = argument;

	pthread_mutex_lock(&live->lock);
	while (!live->stop || live->to_save != NULL) {
		struct snapshot *snapshot = live->to_save;

		if (snapshot == NULL) {
			pthread_cond_wait(&live->wake_save, &live->lock);
			continue;
		}
		pthread_mutex_unlock(&live->lock);
		save(live, snapshot);
		end_save(live);
		pthread_mutex_lock(&live->lock);
		live->to_save = NULL;
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
		*ret_event = live->events[0];
		live->event_count--;
		memmove(&live->events[0], &live->events[1], live->event_count * sizeof(live->events[0]));
		found = true;
	} else if (read(live->host.notify_fd, &counter, sizeof(counter)) < 0 && errno != EAGAIN) {
		abort();
	}
	pthread_mutex_unlock(&live->lock);
	return found;
}

static void host_set_interval(void *context, uint64_t interval_ns)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->interval_ns = interval_ns;
	pthread_cond_signal(&live->wake_capture);
	pthread_mutex_unlock(&live->lock);
}

static void host_set_paused(void *context, bool paused)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->paused = paused;
	pthread_cond_signal(&live->wake_capture);
	pthread_mutex_unlock(&live->lock);
}

static void host_set_needs(void *context, source_set needed, bool cgroup_records, bool smaps)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->needs = (struct capture_round_options){
		.needed = needed,
		.cgroup_records = cgroup_records,
		.smaps = smaps,
	};
	live->needs_known = true;
	pthread_cond_signal(&live->wake_capture);
	pthread_mutex_unlock(&live->lock);
}

static void wake(struct live_capture *live, bool *wanted)
{
	pthread_mutex_lock(&live->lock);
	*wanted = true;
	pthread_cond_signal(&live->wake_capture);
	pthread_mutex_unlock(&live->lock);
}

static void host_set_heap(void *context, bool on)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->heap_off = !on;
	live->round_wanted = live->round_wanted || !live->paused;
	pthread_cond_signal(&live->wake_capture);
	pthread_mutex_unlock(&live->lock);
}

static void host_request_round(void *context)
{
	struct live_capture *live = context;

	wake(live, &live->round_wanted);
}

static void host_request_base(void *context)
{
	struct live_capture *live = context;

	wake(live, &live->base_wanted);
}

static void host_request_save(void *context, struct snapshot *shown)
{
	struct live_capture *live = context;

	pthread_mutex_lock(&live->lock);
	live->saves_pending++;
	pthread_mutex_unlock(&live->lock);
	if (shown != NULL)
		hand_to_save(live, snapshot_reference(shown));
	else
		wake(live, &live->save_wanted);
}

static void initialise_conditions(struct live_capture *live)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&live->wake_capture, &attributes);
	pthread_cond_init(&live->wake_save, &attributes);
	pthread_cond_init(&live->opened, &attributes);
	pthread_cond_init(&live->save_ended, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void release(struct live_capture *live)
{
	for (size_t i = 0; i < live->event_count; i++)
		event_discard(&live->events[i]);
	snapshot_release(live->to_save);
	close(live->host.notify_fd);
	pthread_cond_destroy(&live->wake_capture);
	pthread_cond_destroy(&live->wake_save);
	pthread_cond_destroy(&live->opened);
	pthread_cond_destroy(&live->save_ended);
	pthread_mutex_destroy(&live->lock);
	resolver_stop(live->options.capture.resolver);
	free(live);
}

static int start_threads(struct live_capture *live)
{
	int result = worker_start(&live->save_thread, run_save, live);

	if (result == 0) {
		result = worker_start(&live->capture_thread, run_capture, live);
		if (result < 0) {
			pthread_mutex_lock(&live->lock);
			live->stop = true;
			pthread_cond_signal(&live->wake_save);
			pthread_mutex_unlock(&live->lock);
			pthread_join(live->save_thread, NULL);
		}
	}
	return result;
}

int live_capture_start(const struct live_capture_options *options, struct live_capture **ret_live,
		       struct error *error)
{
	struct live_capture *live;
	int result, notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (notify_fd < 0) {
		resolver_stop(options->capture.resolver);
		return error_set(error, -errno, "cannot create an eventfd: %s", strerror(errno));
	}
	live = memory_allocate_zero(1, sizeof(*live));
	live->options = *options;
	live->interval_ns = options->interval_ns;
	live->host = (struct ui_host){
		.context = live,
		.notify_fd = notify_fd,
		.receive = host_receive,
		.set_interval = host_set_interval,
		.set_paused = host_set_paused,
		.set_needs = host_set_needs,
		.set_heap = options->capture.resolver != NULL ? host_set_heap : NULL,
		.request_round = host_request_round,
		.request_base = host_request_base,
		.request_save = host_request_save,
	};
	initialise_conditions(live);
	result = start_threads(live);
	if (result < 0) {
		release(live);
		return error_set(error, result, "cannot create a thread: %s", strerror(-result));
	}
	pthread_mutex_lock(&live->lock);
	while (!live->is_open)
		pthread_cond_wait(&live->opened, &live->lock);
	pthread_mutex_unlock(&live->lock);
	if (live->open_result < 0) {
		bool is_error;

		result = live->open_result;
		if (error != NULL)
			*error = live->open_error;
		free(live_capture_stop(live, &is_error));
		return result;
	}
	*ret_live = live;
	return 0;
}

const struct ui_host *live_capture_host(struct live_capture *live)
{
	return &live->host;
}

static char *last_save_message(struct live_capture *live, bool *ret_is_error)
{
	for (size_t i = live->event_count; i-- > 0;) {
		struct ui_event *event = &live->events[i];

		if (event->kind == UI_EVENT_SAVED || (event->kind == UI_EVENT_MESSAGE && event->is_error)) {
			char *message = event->message;

			*ret_is_error = event->is_error;
			event->message = NULL;
			return message;
		}
	}
	return NULL;
}

char *live_capture_stop(struct live_capture *live, bool *ret_is_error)
{
	struct timespec until;
	char *message;
	bool capture_ended;

	/* a save that was asked for is carried out even when the screen is closed right after */
	until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + SAVE_PATIENCE_NS);
	pthread_mutex_lock(&live->lock);
	while (live->saves_pending != 0) {
		if (pthread_cond_timedwait(&live->save_ended, &live->lock, &until) == ETIMEDOUT)
			break;
	}
	live->stop = true;
	pthread_cond_signal(&live->wake_capture);
	pthread_cond_signal(&live->wake_save);
	pthread_mutex_unlock(&live->lock);
	atomic_store(&live->cancel, true);
	until = clock_timespec(clock_ns(CLOCK_REALTIME) + NS_PER_S);
	capture_ended = pthread_timedjoin_np(live->capture_thread, NULL, &until) == 0;
	pthread_join(live->save_thread, NULL);
	/* a capture that was left behind may still send something */
	pthread_mutex_lock(&live->lock);
	message = last_save_message(live, ret_is_error);
	pthread_mutex_unlock(&live->lock);
	if (capture_ended)
		release(live);
	return message;
}
