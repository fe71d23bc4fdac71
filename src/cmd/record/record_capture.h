/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORD_CAPTURE_H
#define CTOP_RECORD_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/capture.h"

/*
 * The thread that captures for a recording: the only one with effective capabilities, so that files are
 * opened with the user's own rights, and a disk that takes its time does not hold up what ended threads tell.
 */
struct record_capture;

struct record_capture_options {
	struct capture_options capture; /* its texts, resolver and remote outlive the thread */
	uint64_t interval_ns;
	bool latency;      /* how long waits take is measured */
	source_set needed; /* is read in any case, besides what the screen needs */
};

/*
 * Opens the capture in a thread of its own, which then takes rounds. Returns 0, or a negative errno with a
 * sentence. End it with record_capture_stop().
 */
int record_capture_start(const struct record_capture_options *options, struct record_capture **ret_capture,
			 struct error *error);

/* Readable (poll(2)) when there is something for record_capture_take(). */
int record_capture_descriptor(const struct record_capture *capture);

/* What the thread has to tell. */
struct record_event {
	struct snapshot *round; /* a reference that the taker owns; NULL: none */
	struct snapshot *full;  /* that was asked for, likewise */
	char *notice;           /* a sentence for the user, owned by the taker; NULL: none */
	int failure;            /* a negative errno: it has ended, and `notice` says why */
};

/* Takes the next event; false when there is none. */
bool record_capture_take(struct record_capture *capture, struct record_event *ret_event);

/* Asks for a full snapshot, to be taken at once. Nothing while another one is under way. */
void record_capture_want_full(struct record_capture *capture);

/* How long the thread has been busy with one capture, ns; 0 while it waits. */
uint64_t record_capture_busy_ns(struct record_capture *capture);

/*
 * Ends a capture under way and the thread. Rounds that were not taken can be taken still. Returns false where
 * the thread hangs in the kernel: it is left behind, and so is the object, which is not to be released then.
 * NULL is allowed for both calls.
 */
bool record_capture_stop(struct record_capture *capture);
void record_capture_release(struct record_capture *capture);

#endif
