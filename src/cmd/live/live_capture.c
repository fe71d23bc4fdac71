/* SPDX-License-Identifier: GPL-2.0-only */
#include "live_capture.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/line/capture_loop.h"

/* The second round comes soon, so that the first changes do not have to wait for a whole interval. */
#define SECOND_ROUND_DELAY_NS (300 * NS_PER_MS)
/* How long the screen waits for a capture that is opened, so that what fails at once is told without one. */
#define OPEN_PATIENCE_NS (10 * NS_PER_MS)

struct live_capture {
	struct capture_loop *loop;
	struct queue *queue;
	struct ring *ring;
	pthread_mutex_t handing; /* while a round goes to the screen, or is taken back */
	/* Of the thread that captures: */
	struct snapshot *first; /* the first round, until it is sent with the second; NULL: none */
	bool is_filled;         /* the screen has rounds to show */
};

/* --- in the thread that captures --- */

static void send_now(struct live_capture *live, enum ui_event_kind kind, struct snapshot *snapshot)
{
	/* before it is seen: what is given up of it then is not needed any more */
	if (live->ring != NULL)
		ring_add(live->ring, snapshot);
	queue_send(live->queue, &(struct ui_event){.kind = kind, .snapshot = snapshot});
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
		send_now(live, UI_EVENT_ROUND, live->first);
	live->first = NULL;
	send_now(live, kind, snapshot);
	live->is_filled = true;
}

/* Sends a message; `format` has a place for the text of the event, which is freed. */
__attribute__((format(printf, 3, 0))) static void
send_text(struct live_capture *live, enum ui_event_kind kind, const char *format, char *text)
{
	queue_send(
		live->queue,
		&(struct ui_event){.kind = kind, .message = memory_format(format, text), .is_error = true});
	free(text);
}

static bool send_event(void *context, const struct capture_event *event)
{
	struct live_capture *live = context;

	switch (event->kind) {
	case CAPTURE_HOST:
		queue_send(live->queue,
			   &(struct ui_event){.kind = UI_EVENT_HOST, .snapshot = event->snapshot});
		break;
	case CAPTURE_ROUND:
		send_snapshot(live, UI_EVENT_ROUND, event->snapshot);
		break;
	case CAPTURE_FULL:
		send_snapshot(live, UI_EVENT_BASE, event->snapshot);
		break;
	case CAPTURE_NOTICE:
		send_text(live, UI_EVENT_MESSAGE, "%s (e: why)", event->text);
		break;
	case CAPTURE_NO_LATENCY:
		send_text(live, UI_EVENT_MESSAGE, "how long waits take cannot be measured: %s (e: why)",
			  event->text);
		break;
	case CAPTURE_NO_ROUND:
		send_text(live, UI_EVENT_MESSAGE, "%s", event->text);
		break;
	case CAPTURE_NO_FULL:
		send_text(live, UI_EVENT_MESSAGE, "no base taken: %s", event->text);
		break;
	case CAPTURE_NOT_OPEN:
		send_text(live, UI_EVENT_FAILED, "%s", event->text);
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
	struct live_capture *live = context;
	struct ui_event event = {.snapshot = NULL};

	pthread_mutex_lock(&live->handing);
	if (queue_withdraw(live->queue, is_round, &event) && live->ring != NULL)
		ring_withdraw(live->ring, event.snapshot);
	pthread_mutex_unlock(&live->handing);
	return event.snapshot;
}

/* --- in the screen's thread --- */

bool live_capture_take(struct live_capture *live, struct ui_event *ret_event)
{
	bool found;

	pthread_mutex_lock(&live->handing);
	found = queue_take(live->queue, ret_event);
	if (found && live->ring != NULL &&
	    (ret_event->kind == UI_EVENT_ROUND || ret_event->kind == UI_EVENT_BASE))
		ring_confirm(live->ring, ret_event->snapshot);
	pthread_mutex_unlock(&live->handing);
	return found;
}

void live_capture_change(struct live_capture *live, const struct ui_settings *settings)
{
	capture_loop_change(live->loop, &(struct capture_settings){
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
					});
}

void live_capture_request_base(struct live_capture *live)
{
	capture_loop_request_full(live->loop);
}

const atomic_uint *live_capture_progress(const struct live_capture *live)
{
	return capture_loop_progress(live->loop);
}

int live_capture_start(const struct live_capture_options *options, struct queue *queue,
		       struct live_capture **ret_live, struct error *error)
{
	struct live_capture *live = memory_allocate_zero(1, sizeof(*live));
	const struct capture_loop_options loop = {
		.capture = options->capture,
		.second_round_ns = SECOND_ROUND_DELAY_NS,
		.tells_host = true,
		.full_is_round = true,
		.context = live,
		.send = send_event,
		.withdraw = withdraw,
	};
	/* Longer where it fails unless BPF can be had: that takes the kernel some time, and nobody wants a
	 * screen for it. */
	const uint64_t patience_ns = options->capture.backend == CAPTURE_BACKEND_BPF ? NS_PER_S
										     : OPEN_PATIENCE_NS;
	int result;

	live->queue = queue;
	live->ring = options->ring;
	pthread_mutex_init(&live->handing, NULL);
	result = capture_loop_start(&loop, patience_ns, &live->loop, error);
	if (result < 0)
		live_capture_release(live);
	else
		*ret_live = live;
	return result;
}

void live_capture_cancel(struct live_capture *live)
{
	capture_loop_cancel(live->loop);
}

bool live_capture_stop(struct live_capture *live, uint64_t deadline_ns)
{
	return capture_loop_stop(live->loop, deadline_ns);
}

void live_capture_release(struct live_capture *live)
{
	if (live == NULL)
		return;
	capture_loop_release(live->loop);
	snapshot_release(live->first);
	pthread_mutex_destroy(&live->handing);
	free(live);
}
