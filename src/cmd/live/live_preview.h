/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIVE_PREVIEW_H
#define CTOP_LIVE_PREVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "ui/ui.h"

/*
 * The thread that fills the screen until the first round is there, beside the one that opens the capture and
 * reads that round. It has the user's own rights: with hidepid= it may find fewer processes than the round.
 */
struct live_preview;

struct live_preview_options {
	const struct capture_options *capture; /* its roots, scope and progress; outlives the preview */
	void (*send)(void *context, struct ui_event event);
	void *context;
};

/*
 * Starts it; it hands UI_EVENT_PREVIEWs over by `send`, at first without threads. NULL when no thread can be
 * made: nothing depends on it.
 */
struct live_preview *live_preview_start(const struct live_preview_options *options);

/* Asks it to end: the first round is there. Does not wait. Safe from any thread; NULL is allowed. */
void live_preview_end(struct live_preview *preview);

/*
 * Asks it to end and waits for that until `deadline_ns` (CLOCK_MONOTONIC). Returns whether it ended; then it
 * is freed, otherwise left behind. True for NULL.
 */
bool live_preview_stop(struct live_preview *preview, uint64_t deadline_ns);

#endif
