/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIVE_CAPTURE_H
#define CTOP_LIVE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/queue.h"
#include "capture/capture.h"
#include "session/ring.h"
#include "ui/ui.h"

/* The capture behind the live screen: its rounds and messages become events of the screen. */
struct live_capture;

struct live_capture_options {
	struct capture_options capture; /* its texts and reader outlive the object */
	struct ring *ring;              /* keeps the rounds that the screen gets; NULL: nobody does */
};

/*
 * Starts to capture; no round is taken before live_capture_change(). Returns 0, or a negative errno with a
 * sentence for what fails at once; it does not wait for a capture that takes long to open, whose failure ends
 * the screen (UI_EVENT_FAILED). To be called before ncurses is up.
 */
int live_capture_start(const struct live_capture_options *options, struct queue *queue,
		       struct live_capture **ret_live, struct error *error);

/* Takes the next event of the queue, as queue_take(): a round that the screen takes is confirmed to the ring.
 */
bool live_capture_take(struct live_capture *live, struct ui_event *ret_event);

void live_capture_change(struct live_capture *live, const struct ui_settings *settings);
void live_capture_request_base(struct live_capture *live);

/* How many threads the first round has read the files of. */
const atomic_uint *live_capture_progress(const struct live_capture *live);

/* As capture_loop_cancel(), capture_loop_stop() and capture_loop_release(). */
void live_capture_cancel(struct live_capture *live);
bool live_capture_stop(struct live_capture *live, uint64_t deadline_ns);
void live_capture_release(struct live_capture *live);

#endif
