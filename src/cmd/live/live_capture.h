/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIVE_CAPTURE_H
#define CTOP_LIVE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/capture.h"
#include "session/ring.h"
#include "ui/ui.h"

/*
 * The two threads behind the live screen: one captures rounds (the only one with effective capabilities), one
 * writes snapshots to disk (with the user's own rights), so that neither a slow host nor a slow disk delays a
 * key. Results come back as ui events.
 */
struct live_capture;

struct live_capture_options {
	struct capture_options capture;
	const char *save_directory; /* NULL: the working directory */
	struct ring *ring;          /* keeps the rounds that the screen gets; NULL: nobody does */
};

/*
 * Starts the threads. Returns 0, or a negative errno with a sentence for what fails at once; it does not wait
 * for a capture that takes long to open, whose failure ends the screen (UI_EVENT_FAILED). To be called
 * before ncurses is up. The options' strings must outlive the object; their resolver and remote are taken
 * over, on failure too.
 */
int live_capture_start(const struct live_capture_options *options, struct live_capture **ret_live,
		       struct error *error);

/* The calls by which the screen steers this capture; valid until live_capture_stop(). */
const struct ui_host *live_capture_host(struct live_capture *live);

/*
 * Ends the threads. A save under way is finished first, as long as a thread works on it. A thread that hangs
 * in the kernel is left behind, so that this takes less than a second then. With `*ret_left_behind` the
 * process has to end without exit(3): a leak checker, which stops all threads there, would wait for that one.
 * Returns the message of a save that the screen has not shown, or of one that was given up (owned by the
 * caller;
 * `*ret_is_error` tells which), or NULL.
 */
char *live_capture_stop(struct live_capture *live, bool *ret_is_error, bool *ret_left_behind);

#endif
