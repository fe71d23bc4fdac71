/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture_loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/reader.h"
#include "base/worker.h"
#include "privilege.h"
#include "snapshot/ended_set.h"

/* CPU time for all expensive sources together, in a full snapshot. */
#define EXPENSIVE_BUDGET_NS NS_PER_S
/* For how long the resolving of executables is served before requests are looked at. */
#define SERVE_SLICE_NS (20 * NS_PER_MS)

enum {
	/* Two snapshots make the first numbers. */
	SHOWN_LEAST = 2,
	/*
	 * After so many smaller rounds nobody holds one of a host that had many more threads, and after so
	 * many nothing is known of those that ended.
	 */
	ROUNDS_UNTIL_TRIM = 5,
	ROUNDS_UNTIL_FORGOTTEN = 40,
};

struct capture_loop {
	struct capture_loop_options options;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */
	atomic_bool cancel;     /* read by a capture under way */
	atomic_uint progress;   /* written by one */

	/* Of the thread: */
	struct capture *capture;
	struct snapshot *unseen; /* not counted from by the receiver, since the last one that was; or NULL */
	bool latency_loaded, latency_on;
	bool slow_told;
	size_t most_threads;         /* of a round, since memory was given back */
	unsigned int smaller_rounds; /* in a row, that had less than half of them */
	bool last_is_round;          /* of the snapshots sent, the last */

	/* Everything below is guarded by the lock. */
	bool stop, is_open, is_started;
	int open_result;
	struct error open_error;
	struct capture_settings settings;
	bool round_wanted, full_wanted;
	uint64_t sent; /* snapshots */
	unsigned int unfinished;
	uint64_t busy_since; /* CLOCK_MONOTONIC ns; 0: not */
};

void capture_event_discard(void *untyped)
{
	struct capture_event *event = untyped;

	snapshot_release(event->snapshot);
	free(event->text);
}

/* --- sending --- */

static bool send_event(struct capture_loop *loop, struct capture_event event)
{
	event.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return loop->options.send(loop->options.context, &event);
}

static bool send_text(struct capture_loop *loop, enum capture_event_kind kind, const char *text, int result)
{
	return send_event(
		loop, (struct capture_event){.kind = kind, .text = memory_duplicate(text), .result = result});
}

/* A snapshot tells of the threads that ended once: the next one tells of those of a snapshot that is not
 * counted from. */
static void hand_on_ended(struct snapshot *snapshot, const struct snapshot *unseen)
{
	if (unseen != NULL && snapshot->ended != NULL && unseen->ended != NULL)
		ended_set_absorb(snapshot->ended, unseen->ended);
}

/* Keeps a snapshot that is not counted from, a reference taken over, until the next one that is. */
static void keep_unseen(struct capture_loop *loop, struct snapshot *snapshot)
{
	hand_on_ended(snapshot, loop->unseen);
	snapshot_release(loop->unseen);
	loop->unseen = snapshot;
}

static bool send_snapshot(struct capture_loop *loop, enum capture_event_kind kind, struct snapshot *snapshot)
{
	if (kind == CAPTURE_ROUND || loop->options.capture.full_is_round) {
		hand_on_ended(snapshot, loop->unseen);
		snapshot_release(loop->unseen);
		loop->unseen = NULL;
	} else {
		keep_unseen(loop, snapshot_reference(snapshot));
	}
	pthread_mutex_lock(&loop->lock);
	loop->sent++;
	loop->last_is_round = kind == CAPTURE_ROUND;
	loop->unfinished += kind == CAPTURE_ROUND;
	pthread_mutex_unlock(&loop->lock);
	return send_event(loop, (struct capture_event){.kind = kind, .snapshot = snapshot});
}

/* --- capturing --- */

static void set_busy(struct capture_loop *loop, bool busy)
{
	pthread_mutex_lock(&loop->lock);
	loop->busy_since = busy ? clock_ns(CLOCK_MONOTONIC) : 0;
	pthread_mutex_unlock(&loop->lock);
}

static bool take_full(struct capture_loop *loop)
{
	struct snapshot *snapshot;
	struct error error;
	int result;

	set_busy(loop, true);
	result = capture_full(loop->capture, EXPENSIVE_BUDGET_NS, &loop->cancel, &snapshot, &error);
	set_busy(loop, false);
	if (result == 0)
		return send_snapshot(loop, CAPTURE_FULL, snapshot);
	return result == -ECANCELED || send_text(loop, CAPTURE_NO_FULL, error.text, result);
}

static void expect_threads(struct capture_loop *loop, size_t threads)
{
	loop->most_threads = threads;
	memory_expect(threads);
}

/* Gives back what rounds of a host took that had many more threads for a while. */
static void trim_memory(struct capture_loop *loop, size_t threads)
{
	if (threads >= loop->most_threads / 2) {
		loop->smaller_rounds = 0;
		if (threads > loop->most_threads)
			expect_threads(loop, threads);
		return;
	}
	loop->smaller_rounds++;
	if (loop->smaller_rounds == ROUNDS_UNTIL_FORGOTTEN)
		expect_threads(loop, threads);
	if (loop->smaller_rounds == ROUNDS_UNTIL_TRIM || loop->smaller_rounds == ROUNDS_UNTIL_FORGOTTEN)
		memory_trim();
}

/* A paused receiver drops rounds once it has two to show. */
static bool is_unseen(struct capture_loop *loop)
{
	bool is_paused;

	pthread_mutex_lock(&loop->lock);
	is_paused = loop->settings.paused;
	pthread_mutex_unlock(&loop->lock);
	return is_paused && loop->sent >= SHOWN_LEAST;
}

static bool take_round(struct capture_loop *loop, struct capture_round_options round)
{
	const struct capture_loop_options *options = &loop->options;
	struct snapshot *snapshot, *older;
	struct error error;
	int result;

	if (loop->sent != 0)
		round.heap_patience_ns = 0;
	set_busy(loop, true);
	result = capture_round(loop->capture, &round, &loop->cancel, &snapshot, &error);
	set_busy(loop, false);
	if (result < 0)
		return result == -ECANCELED || send_text(loop, CAPTURE_NO_ROUND, error.text, result);
	trim_memory(loop, snapshot->thread_count);
	if (is_unseen(loop)) {
		capture_return_latency(loop->capture, snapshot);
		keep_unseen(loop, snapshot);
		return true;
	}
	/* a round sent before a full snapshot stays: later rounds count from the full one */
	older = options->withdraw != NULL && loop->last_is_round ? options->withdraw(options->context) : NULL;
	if (older != NULL) {
		capture_return_latency(loop->capture, older);
		keep_unseen(loop, older);
	}
	return send_snapshot(loop, CAPTURE_ROUND, snapshot);
}

/* Once: after the first round, so that this does not wait for it, unless it is wanted before. */
static void load_latency(struct capture_loop *loop)
{
	if (loop->latency_loaded)
		return;
	if (loop->options.capture.latency_later)
		privilege_load_latency(&loop->options.capture, loop->capture);
	loop->latency_loaded = true;
	/* libbpf goes through the types of the kernel to load a program: some MiB that no round needs */
	memory_trim();
}

/* Where it cannot be switched on, the columns say why; a message comes once. */
static void switch_latency(struct capture_loop *loop, bool on)
{
	int result;

	if (on == loop->latency_on)
		return;
	if (on)
		load_latency(loop);
	loop->latency_on = on;
	result = capture_switch_latency(loop->capture, on);
	if (result < 0)
		(void)send_text(loop, CAPTURE_NO_LATENCY,
				result == -ENOTSUP ? capture_latency_refusal(loop->capture)
						   : strerror(-result),
				result);
}

/* --- waiting --- */

/* Whether something was asked for, or the end has come. */
static bool is_wanted(const struct capture_loop *loop)
{
	return loop->stop || loop->round_wanted || loop->full_wanted;
}

/* When a round is due that was to come at `next_round`; UINT64_MAX: not before something changes. */
static uint64_t due_ns(const struct capture_loop *loop, uint64_t next_round)
{
	const struct capture_settings *settings = &loop->settings;
	const unsigned int unfinished_max = loop->options.unfinished_max;

	if (settings->interval_ns == 0 || (settings->paused && loop->sent >= SHOWN_LEAST) ||
	    (unfinished_max != 0 && loop->unfinished >= unfinished_max))
		return UINT64_MAX;
	return next_round;
}

static void wait_until(struct capture_loop *loop, uint64_t wake_ns)
{
	const struct timespec until = clock_timespec(wake_ns);

	if (wake_ns == UINT64_MAX)
		pthread_cond_wait(&loop->changed, &loop->lock);
	else
		pthread_cond_timedwait(&loop->changed, &loop->lock, &until);
}

/*
 * Waits until a round is due or something was asked for; false at the end. Meanwhile it reads what ended
 * threads have told, and, while executables are being resolved, serves that in slices so short that no
 * request is noticeably late. Called and returns with the lock held.
 */
static bool wait_for_work(struct capture_loop *loop, uint64_t next_round)
{
	bool resolving = true;

	while (!is_wanted(loop)) {
		uint64_t now, due, wake_ns;

		pthread_mutex_unlock(&loop->lock);
		wake_ns = capture_serve_ended(loop->capture);
		pthread_mutex_lock(&loop->lock);
		if (is_wanted(loop))
			break;
		now = clock_ns(CLOCK_MONOTONIC);
		/* the interval may have become shorter */
		if (next_round > now + loop->settings.interval_ns)
			next_round = now + loop->settings.interval_ns;
		due = due_ns(loop, next_round);
		if (now >= due)
			break;
		if (resolving && due != UINT64_MAX) {
			const uint64_t slice = now + SERVE_SLICE_NS;

			pthread_mutex_unlock(&loop->lock);
			resolving = capture_serve_heap(loop->capture, slice < due ? slice : due) != 0;
			pthread_mutex_lock(&loop->lock);
			continue;
		}
		wait_until(loop, wake_ns < due ? wake_ns : due);
	}
	return !loop->stop;
}

/*
 * When the round after one comes that was due at `due` and began at `begun`: an interval after it was due. A
 * round that is late delays the next one instead of queueing it.
 */
static uint64_t next_time(struct capture_loop *loop, uint64_t due, uint64_t begun, uint64_t interval_ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), next = due + interval_ns;

	if (next >= now)
		return next < now + interval_ns ? next : now + interval_ns;
	if (!loop->options.back_to_back || now - begun <= interval_ns)
		return now + interval_ns;
	if (!loop->slow_told) {
		struct buffer text = {0};

		buffer_append_text(&text, "a round takes longer than the interval of ");
		humanize_duration(&text, (double)interval_ns);
		buffer_append_text(&text, "; rounds follow one another");
		(void)send_event(loop,
				 (struct capture_event){.kind = CAPTURE_NOTICE, .text = buffer_steal(&text)});
	}
	loop->slow_told = true;
	return now;
}

static void take_rounds(struct capture_loop *loop)
{
	uint64_t next_round = clock_ns(CLOCK_MONOTONIC);
	bool goes_on = true, is_first = true;

	pthread_mutex_lock(&loop->lock);
	while (goes_on && wait_for_work(loop, next_round)) {
		const struct capture_settings settings = loop->settings;
		const bool full = loop->full_wanted, round = loop->round_wanted || !full;
		const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
		const char *notice;
		uint64_t taken;

		loop->full_wanted = loop->round_wanted = false;
		pthread_mutex_unlock(&loop->lock);
		capture_switch_heap(loop->capture, !settings.heap_off);
		switch_latency(loop, settings.latency);
		if (full)
			goes_on = take_full(loop);
		if (round && goes_on)
			goes_on = take_round(loop, settings.round);
		taken = clock_ns(CLOCK_MONOTONIC);
		notice = capture_take_notice(loop->capture);
		if (notice != NULL)
			(void)send_text(loop, CAPTURE_NOTICE, notice, 0);
		if (!atomic_load(&loop->cancel))
			load_latency(loop);
		if (round && is_first && loop->options.second_round_ns != 0)
			next_round = taken + loop->options.second_round_ns;
		else if (round)
			next_round = next_time(loop, next_round, begun, settings.interval_ns);
		is_first &= !round;
		pthread_mutex_lock(&loop->lock);
	}
	pthread_mutex_unlock(&loop->lock);
}

static void *run(void *argument)
{
	struct capture_loop *loop = argument;
	struct error error = {""};
	bool is_started;
	int result;

	if (loop->options.tells_host) {
		struct snapshot *facts = capture_read_host(loop->options.capture.roots);

		if (facts != NULL)
			(void)send_event(loop,
					 (struct capture_event){.kind = CAPTURE_HOST, .snapshot = facts});
	}
	loop->options.capture.reader = privilege_open_reader(loop->options.capture.roots);
	result = privilege_open_capture(&loop->options.capture, &loop->capture, &error);
	pthread_mutex_lock(&loop->lock);
	loop->is_open = true;
	loop->open_result = result;
	loop->open_error = error;
	is_started = loop->is_started;
	pthread_cond_broadcast(&loop->changed);
	pthread_mutex_unlock(&loop->lock);
	if (result < 0 && is_started)
		(void)send_text(loop, CAPTURE_NOT_OPEN, error.text, result);
	if (result == 0) {
		take_rounds(loop);
		snapshot_release(loop->unseen);
		capture_close(loop->capture);
	}
	reader_release(loop->options.capture.reader);
	return NULL;
}

/* --- for other threads --- */

void capture_loop_release(struct capture_loop *loop)
{
	if (loop == NULL)
		return;
	pthread_cond_destroy(&loop->changed);
	pthread_mutex_destroy(&loop->lock);
	free(loop);
}

/* Returns what came of opening the capture, 0 while nothing has. */
static int wait_until_open(struct capture_loop *loop, uint64_t patience_ns, struct error *error)
{
	const struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + patience_ns);
	int result = 0;

	pthread_mutex_lock(&loop->lock);
	while (!loop->is_open && result == 0)
		result = patience_ns == UINT64_MAX
				 ? pthread_cond_wait(&loop->changed, &loop->lock)
				 : pthread_cond_timedwait(&loop->changed, &loop->lock, &until);
	loop->is_started = true;
	result = loop->is_open ? loop->open_result : 0;
	if (result < 0 && error != NULL)
		*error = loop->open_error;
	pthread_mutex_unlock(&loop->lock);
	return result;
}

int capture_loop_start(const struct capture_loop_options *options, uint64_t patience_ns,
		       struct capture_loop **ret_loop, struct error *error)
{
	struct capture_loop *loop = memory_allocate_zero(1, sizeof(*loop));
	int result;

	loop->options = *options;
	loop->options.capture.hurry = &loop->cancel;
	loop->options.capture.progress = &loop->progress;
	loop->settings = options->settings;
	pthread_mutex_init(&loop->lock, NULL);
	worker_initialise_condition(&loop->changed);
	result = worker_start(&loop->thread, run, loop);
	if (result < 0) {
		capture_loop_release(loop);
		return error_set(error, result, "cannot start the thread that captures: %s",
				 strerror(-result));
	}
	result = wait_until_open(loop, patience_ns, error);
	if (result < 0) {
		pthread_join(loop->thread, NULL);
		capture_loop_release(loop);
		return result;
	}
	*ret_loop = loop;
	return 0;
}

/* Wakes the thread for a change of what the lock guards, and unlocks it. */
static void unlock_changed(struct capture_loop *loop)
{
	pthread_cond_broadcast(&loop->changed);
	pthread_mutex_unlock(&loop->lock);
}

void capture_loop_change(struct capture_loop *loop, const struct capture_settings *settings)
{
	const struct capture_settings *before = &loop->settings;

	pthread_mutex_lock(&loop->lock);
	if (before->interval_ns != 0 && !settings->paused &&
	    (settings->heap_off != before->heap_off || settings->latency != before->latency ||
	     (settings->round.task_fields && !before->round.task_fields)))
		loop->round_wanted = true;
	loop->settings = *settings;
	unlock_changed(loop);
}

void capture_loop_request_full(struct capture_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	loop->full_wanted = true;
	unlock_changed(loop);
}

void capture_loop_request_round(struct capture_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	loop->round_wanted = true;
	unlock_changed(loop);
}

void capture_loop_finish_round(struct capture_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	loop->unfinished--;
	unlock_changed(loop);
}

const atomic_uint *capture_loop_progress(const struct capture_loop *loop)
{
	return &loop->progress;
}

uint64_t capture_loop_busy_ns(struct capture_loop *loop)
{
	uint64_t since;

	pthread_mutex_lock(&loop->lock);
	since = loop->busy_since;
	pthread_mutex_unlock(&loop->lock);
	return since != 0 ? clock_ns(CLOCK_MONOTONIC) - since : 0;
}

void capture_loop_cancel(struct capture_loop *loop)
{
	atomic_store(&loop->cancel, true);
	pthread_mutex_lock(&loop->lock);
	loop->stop = true;
	unlock_changed(loop);
}

bool capture_loop_stop(struct capture_loop *loop, uint64_t deadline_ns)
{
	capture_loop_cancel(loop);
	return worker_join(loop->thread, deadline_ns);
}
