/* SPDX-License-Identifier: GPL-2.0-only */
#include "record_capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "cmd/line/privilege.h"
#include "snapshot/ended_set.h"
#include "store/recording.h"
#include "table/view.h"

/* For how long the resolving of executables is served before a request is looked at. */
#define SERVE_SLICE_NS (20 * NS_PER_MS)
/* CPU time for all expensive sources together, in a full snapshot. */
#define EXPENSIVE_BUDGET_NS NS_PER_S
/* How long the thread has to end: a capture looks for the end all the time, unless the kernel holds it. */
#define END_PATIENCE_NS (10 * NS_PER_S)

enum {
	QUEUE_LENGTH = 16,
	/*
	 * Rounds that wait for the disk. Where there are more the next one is not taken before one of them is
	 * stored: it then covers a longer time, and nothing is lost.
	 */
	ROUNDS_WAITING = 3,
};

struct record_capture {
	struct record_capture_options options;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */
	int event_fd;
	atomic_bool cancel;
	struct snapshot *unseen; /* of the thread: a full one since the last round, or NULL */

	/* Everything below is guarded by the lock. */
	bool stop, stopped, is_open, full_wanted;
	int open_result;
	struct error open_error;
	uint64_t busy_since; /* CLOCK_MONOTONIC ns; 0: not */
	struct record_event events[QUEUE_LENGTH];
	size_t event_count, rounds_waiting;
};

static void release_event(struct record_event *event)
{
	snapshot_release(event->round);
	snapshot_release(event->full);
	free(event->notice);
}

static void send_event(struct record_capture *capture, struct record_event event)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&capture->lock);
	/* rounds and full snapshots are bounded before; of sentences the newest may go, but not a failure */
	if (capture->event_count == QUEUE_LENGTH && event.failure == 0) {
		release_event(&event);
	} else {
		if (capture->event_count == QUEUE_LENGTH)
			release_event(&capture->events[--capture->event_count]);
		capture->events[capture->event_count++] = event;
		capture->rounds_waiting += event.round != NULL;
	}
	pthread_mutex_unlock(&capture->lock);
	/* a full counter is readable already */
	if (write(capture->event_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

static void set_busy(struct record_capture *capture, bool busy)
{
	pthread_mutex_lock(&capture->lock);
	capture->busy_since = busy ? clock_ns(CLOCK_MONOTONIC) : 0;
	pthread_mutex_unlock(&capture->lock);
}

/* What the live screen reads when it begins: what its first tab needs, and all else that costs little. */
static struct capture_round_options what_to_read(source_set needed)
{
	struct capture_round_options round = {.task_fields = true};
	struct view view;
	bool cgroups, smaps;

	view_initialise(&view);
	view_needs(&view, &round.needed, &cgroups, &smaps);
	view_release(&view);
	round.needed |= needed;
	round.cgroup_records = true;
	return round;
}

static int take_round(struct record_capture *capture, struct capture *source,
		      const struct capture_round_options *round)
{
	struct record_event event = {0};
	struct error error;
	int result;

	set_busy(capture, true);
	result = capture_round(source, round, &capture->cancel, &event.round, &error);
	set_busy(capture, false);
	if (result == -ECANCELED)
		return 0;
	if (result == 0)
		recording_even_times(event.round); /* before rules look at it */
	if (result < 0) {
		event.round = NULL;
		event.notice = memory_duplicate(error.text);
		event.failure = result;
	} else if (capture->unseen != NULL) {
		/* what ended is told once: what the full snapshot tells, the round tells */
		if (event.round->ended != NULL && capture->unseen->ended != NULL)
			ended_set_absorb(event.round->ended, capture->unseen->ended);
		snapshot_release(capture->unseen);
		capture->unseen = NULL;
	}
	send_event(capture, event);
	return result;
}

/* Keeps a full snapshot, a reference taken over, until the next round. */
static void keep_unseen(struct record_capture *capture, struct snapshot *full)
{
	if (capture->unseen != NULL && capture->unseen->ended != NULL && full->ended != NULL)
		ended_set_absorb(full->ended, capture->unseen->ended);
	snapshot_release(capture->unseen);
	capture->unseen = full;
}

static void take_full(struct record_capture *capture, struct capture *source)
{
	struct record_event event = {0};
	struct error error;
	int result;

	set_busy(capture, true);
	result = capture_full(source, EXPENSIVE_BUDGET_NS, &capture->cancel, &event.full, &error);
	set_busy(capture, false);
	if (result < 0) {
		event.full = NULL;
		event.notice = memory_format("no snapshot taken: %s", error.text);
	} else {
		keep_unseen(capture, snapshot_reference(event.full));
	}
	if (result != -ECANCELED)
		send_event(capture, event);
	else
		free(event.notice);
}

/*
 * Waits for the next round, or for something that was asked for; false at the end. Called and returns with
 * the lock held.
 */
static bool wait_for_work(struct record_capture *capture, struct capture *source, uint64_t next_round)
{
	bool resolving = true;

	while (!capture->stop && !capture->full_wanted) {
		uint64_t now, wake_ns;
		struct timespec until;

		pthread_mutex_unlock(&capture->lock);
		wake_ns = capture_serve_ended(source);
		now = clock_ns(CLOCK_MONOTONIC);
		if (resolving && now < next_round) {
			const uint64_t slice = now + SERVE_SLICE_NS;

			resolving = capture_serve_heap(source, slice < next_round ? slice : next_round) != 0;
		}
		pthread_mutex_lock(&capture->lock);
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= next_round && capture->rounds_waiting < ROUNDS_WAITING)
			break;
		if (resolving || capture->stop || capture->full_wanted)
			continue;
		/* for a round that is stored while one is due: then somebody says so */
		if (now < next_round && wake_ns > next_round)
			wake_ns = next_round;
		until = clock_timespec(wake_ns);
		if (wake_ns == UINT64_MAX)
			pthread_cond_wait(&capture->changed, &capture->lock);
		else
			pthread_cond_timedwait(&capture->changed, &capture->lock, &until);
	}
	return !capture->stop;
}

static void capture_rounds(struct record_capture *capture, struct capture *source)
{
	const struct capture_round_options round = what_to_read(capture->options.needed);
	const uint64_t interval = capture->options.interval_ns;
	uint64_t next_round = clock_ns(CLOCK_MONOTONIC);
	bool slow_told = false;
	int result = 0;

	pthread_mutex_lock(&capture->lock);
	while (result == 0 && wait_for_work(capture, source, next_round)) {
		const bool full = capture->full_wanted;
		const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
		const char *notice;
		uint64_t now;

		capture->full_wanted = false;
		pthread_mutex_unlock(&capture->lock);
		if (full)
			take_full(capture, source);
		else
			result = take_round(capture, source, &round);
		notice = capture_take_notice(source);
		if (notice != NULL)
			send_event(capture, (struct record_event){.notice = memory_duplicate(notice)});
		now = clock_ns(CLOCK_MONOTONIC);
		if (!full && now - begun > interval && !slow_told) {
			slow_told = true;
			send_event(capture, (struct record_event){
						    .notice = memory_format(
							    "a round takes longer than the interval of %g s; "
							    "rounds follow one another",
							    (double)interval / 1e9)});
		}
		if (!full) {
			/* one that is late delays the next instead of queueing it */
			next_round += interval;
			if (next_round < now)
				next_round = now - begun > interval ? now : now + interval;
		}
		pthread_mutex_lock(&capture->lock);
	}
	pthread_mutex_unlock(&capture->lock);
}

static void *capture_thread(void *argument)
{
	struct record_capture *capture = argument;
	struct capture *source;
	struct error error;
	int result = privilege_open_capture(&capture->options.capture, &source, &error);

	pthread_mutex_lock(&capture->lock);
	capture->is_open = true;
	capture->open_result = result;
	if (result < 0)
		capture->open_error = error;
	pthread_cond_broadcast(&capture->changed);
	pthread_mutex_unlock(&capture->lock);
	if (result < 0)
		return NULL;
	if (capture->options.latency && capture_switch_latency(source, true) < 0)
		send_event(capture, (struct record_event){
					    .notice = memory_duplicate("how long waits take is not measured; "
								       "`ctop doctor` says why")});
	capture_rounds(capture, source);
	capture_close(source);
	return NULL;
}

int record_capture_start(const struct record_capture_options *options, struct record_capture **ret_capture,
			 struct error *error)
{
	struct record_capture *capture = memory_allocate_zero(1, sizeof(*capture));
	int result;

	capture->options = *options;
	capture->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&capture->lock, NULL);
	worker_initialise_condition(&capture->changed);
	result = capture->event_fd < 0 ? -errno : worker_start(&capture->thread, capture_thread, capture);
	if (result < 0) {
		error_set(error, result, "cannot start the thread that captures: %s", strerror(-result));
		capture->stopped = true;
	} else {
		pthread_mutex_lock(&capture->lock);
		while (!capture->is_open)
			pthread_cond_wait(&capture->changed, &capture->lock);
		result = capture->open_result;
		pthread_mutex_unlock(&capture->lock);
		if (result < 0)
			error_set(error, result, "%s", capture->open_error.text);
	}
	if (result < 0) {
		record_capture_release(capture);
		return result;
	}
	*ret_capture = capture;
	return 0;
}

int record_capture_descriptor(const struct record_capture *capture)
{
	return capture->event_fd;
}

bool record_capture_take(struct record_capture *capture, struct record_event *ret_event)
{
	uint64_t count;
	bool found;

	if (read(capture->event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&capture->lock);
	found = capture->event_count != 0;
	if (found) {
		*ret_event = capture->events[0];
		memmove(&capture->events[0], &capture->events[1],
			--capture->event_count * sizeof(capture->events[0]));
		capture->rounds_waiting -= ret_event->round != NULL;
		pthread_cond_broadcast(&capture->changed);
	}
	pthread_mutex_unlock(&capture->lock);
	return found;
}

void record_capture_want_full(struct record_capture *capture)
{
	pthread_mutex_lock(&capture->lock);
	capture->full_wanted = true;
	pthread_cond_broadcast(&capture->changed);
	pthread_mutex_unlock(&capture->lock);
}

uint64_t record_capture_busy_ns(struct record_capture *capture)
{
	uint64_t since;

	pthread_mutex_lock(&capture->lock);
	since = capture->busy_since;
	pthread_mutex_unlock(&capture->lock);
	return since != 0 ? clock_ns(CLOCK_MONOTONIC) - since : 0;
}

bool record_capture_stop(struct record_capture *capture)
{
	if (capture == NULL || capture->stopped)
		return true;
	atomic_store(&capture->cancel, true);
	pthread_mutex_lock(&capture->lock);
	capture->stop = true;
	pthread_cond_broadcast(&capture->changed);
	pthread_mutex_unlock(&capture->lock);
	capture->stopped = worker_join(capture->thread, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS);
	return capture->stopped;
}

void record_capture_release(struct record_capture *capture)
{
	struct record_event event;

	if (capture == NULL)
		return;
	(void)record_capture_stop(capture);
	snapshot_release(capture->unseen);
	while (capture->event_fd >= 0 && record_capture_take(capture, &event))
		release_event(&event);
	if (capture->event_fd >= 0)
		close(capture->event_fd);
	pthread_cond_destroy(&capture->changed);
	pthread_mutex_destroy(&capture->lock);
	free(capture);
}
