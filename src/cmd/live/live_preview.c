/* SPDX-License-Identifier: GPL-2.0-only */
#include "live_preview.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/preview/preview.h"
#include "worker.h"

/*
 * On most hosts the first round takes less than this: a list of names that is replaced at once would only
 * flicker.
 */
#define NAMES_AFTER_NS (80 * NS_PER_MS)
/* How often the running count is shown while processes are read, and the header afterwards. */
#define COUNT_INTERVAL_NS  (100 * NS_PER_MS)
#define HEADER_INTERVAL_NS (250 * NS_PER_MS)

struct live_preview {
	struct live_preview_options options;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_over;       /* guarded by the lock */
	atomic_bool cancel; /* the same, for a reading under way */
};

/* Waits until then (CLOCK_MONOTONIC), or until the preview is over, which it returns. */
static bool wait_over(struct live_preview *live, uint64_t until_ns)
{
	const struct timespec until = clock_timespec(until_ns);
	bool is_over;

	pthread_mutex_lock(&live->lock);
	while (!live->is_over && clock_ns(CLOCK_MONOTONIC) < until_ns)
		pthread_cond_timedwait(&live->changed, &live->lock, &until);
	is_over = live->is_over;
	pthread_mutex_unlock(&live->lock);
	return is_over;
}

static void send(struct live_preview *live, const struct preview *preview, struct snapshot *threads,
		 bool complete)
{
	live->options.send(live->options.context,
			   (struct ui_event){
				   .kind = UI_EVENT_PREVIEW,
				   .snapshot = preview_host(preview),
				   .threads = threads != NULL ? snapshot_reference(threads) : NULL,
				   .thread_count = preview_thread_count(preview),
				   .read_count = atomic_load_explicit(live->options.capture->progress,
								      memory_order_relaxed),
				   .is_complete = complete,
			   });
}

/*
 * Names and counts of processes; those read so far are shown at growing intervals, since showing them costs
 * more the more there are. Returns the last snapshot, NULL for none.
 */
static struct snapshot *read_names(struct live_preview *live, struct preview *preview)
{
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	uint64_t shown = begun, now = begun;
	struct snapshot *threads = NULL;
	int left;

	do {
		left = preview_read(preview, now + COUNT_INTERVAL_NS, &live->cancel);
		if (left < 0 || atomic_load_explicit(&live->cancel, memory_order_relaxed))
			break;
		now = clock_ns(CLOCK_MONOTONIC);
		if (left == 0 || now - shown >= shown - begun) {
			snapshot_release(threads);
			threads = preview_threads(preview);
			shown = now;
		}
		send(live, preview, threads, left == 0);
	} while (left > 0);
	return threads;
}

static void *run(void *argument)
{
	struct live_preview *live = argument;
	const struct capture_options *options = live->options.capture;
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	struct snapshot *threads;
	struct preview *preview;
	struct error error;

	/* what cannot be opened is told by the capture, which opens the same */
	if (preview_open(options->roots, options->scope, options->scope_count, &preview, &error) < 0)
		return NULL;
	send(live, preview, NULL, false);
	if (!wait_over(live, begun + NAMES_AFTER_NS)) {
		threads = read_names(live, preview);
		while (!wait_over(live, clock_ns(CLOCK_MONOTONIC) + HEADER_INTERVAL_NS))
			send(live, preview, threads, true);
		snapshot_release(threads);
	}
	preview_close(preview);
	return NULL;
}

struct live_preview *live_preview_start(const struct live_preview_options *options)
{
	struct live_preview *live = memory_allocate_zero(1, sizeof(*live));

	live->options = *options;
	pthread_mutex_init(&live->lock, NULL);
	worker_initialise_condition(&live->changed);
	if (worker_start(&live->thread, run, live) == 0)
		return live;
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	free(live);
	return NULL;
}

void live_preview_end(struct live_preview *live)
{
	if (live == NULL)
		return;
	atomic_store(&live->cancel, true);
	pthread_mutex_lock(&live->lock);
	live->is_over = true;
	pthread_cond_broadcast(&live->changed);
	pthread_mutex_unlock(&live->lock);
}

bool live_preview_stop(struct live_preview *live, uint64_t deadline_ns)
{
	if (live == NULL)
		return true;
	live_preview_end(live);
	if (!worker_join(live->thread, deadline_ns))
		return false;
	pthread_cond_destroy(&live->changed);
	pthread_mutex_destroy(&live->lock);
	free(live);
	return true;
}
