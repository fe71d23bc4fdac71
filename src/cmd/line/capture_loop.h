/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CAPTURE_LOOP_H
#define CTOP_CAPTURE_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/capture.h"

/*
 * A thread that captures rounds at an interval, and full snapshots on request. It is the only thread with
 * effective capabilities, so that files are opened and written with the user's own rights, and neither a slow
 * host nor a slow disk delays anybody else.
 */
struct capture_loop;

struct capture_settings {
	uint64_t interval_ns; /* 0: no round is taken before capture_loop_change() */
	bool paused;          /* from the second snapshot on: before it nothing could be shown */
	bool heap_off;        /* do not use the allocator probe */
	bool latency;         /* measure how long waits take */
	struct capture_round_options round; /* heap_patience_ns is that of the first round alone */
};

enum capture_event_kind {
	CAPTURE_HOST,       /* snapshot: facts of the host, without threads */
	CAPTURE_ROUND,      /* snapshot */
	CAPTURE_FULL,       /* snapshot: the one that was asked for */
	CAPTURE_NOTICE,     /* text: a sentence for the user */
	CAPTURE_NO_LATENCY, /* text: why waits cannot be measured */
	CAPTURE_NO_ROUND,   /* text, result: why a round failed */
	CAPTURE_NO_FULL,    /* text, result: the same of a full snapshot */
	CAPTURE_NOT_OPEN,   /* text, result: why no round will come; capture_loop_start() had returned */
};

struct capture_event {
	enum capture_event_kind kind;
	struct snapshot *snapshot; /* a reference that the receiver owns; NULL: none */
	char *text;                /* owned by the receiver; NULL: none */
	int result;                /* a negative errno, 0 for none */
	uint64_t cpu_ns;           /* CPU time that the thread has used so far */
};

/* Frees what an event owns; for a queue of events. */
void capture_event_discard(void *event);

struct capture_loop_options {
	struct capture_options capture; /* its texts outlive the thread, which has a reader of its own */
	struct capture_settings settings;
	uint64_t second_round_ns; /* from the end of the first round to the second one; 0: an interval */
	/* Rounds that were sent and not finished (capture_loop_finish_round()) before the next one waits for
	 * that: it then covers a longer time, and nothing is lost. 0: any number. */
	unsigned int unfinished_max;
	bool back_to_back; /* rounds longer than the interval follow one another, and a notice says so */
	bool tells_host;   /* CAPTURE_HOST comes first, read with the user's own rights */
	void *context;
	/* Called in the thread; the receiver owns what is in the event. False ends the rounds. */
	bool (*send)(void *context, const struct capture_event *event);
	/* Called in the thread before a round is sent: takes back a round that nobody has looked at, which
	 * this one replaces; NULL when there is none. May itself be NULL. */
	struct snapshot *(*withdraw)(void *context);
};

/*
 * Starts the thread and waits until the capture is open, but no longer than `patience_ns` (UINT64_MAX: as
 * long as it takes). Returns 0, or a negative errno with a sentence.
 */
int capture_loop_start(const struct capture_loop_options *options, uint64_t patience_ns,
		       struct capture_loop **ret_loop, struct error *error);

/*
 * Sets other settings. A change of `heap_off` or `latency`, and of `round.task_fields` to true, asks for a
 * round at once.
 */
void capture_loop_change(struct capture_loop *loop, const struct capture_settings *settings);

/* Asks for a full snapshot, or a round, at once. Nothing where one was asked for already. */
void capture_loop_request_full(struct capture_loop *loop);
void capture_loop_request_round(struct capture_loop *loop);

/* The receiver has finished with a round that was sent. */
void capture_loop_finish_round(struct capture_loop *loop);

/* How many threads the files have been read of in the capture under way; valid until the loop is released. */
const atomic_uint *capture_loop_progress(const struct capture_loop *loop);

/* How long the thread has been busy with one capture, ns; 0 while it waits. */
uint64_t capture_loop_busy_ns(struct capture_loop *loop);

/* Asks a capture under way and the thread to end, without waiting. */
void capture_loop_cancel(struct capture_loop *loop);

/*
 * Does the same and waits until `deadline_ns` (CLOCK_MONOTONIC). Returns false where the thread hangs in the
 * kernel: it is left behind with everything that it uses, the loop is not to be released, and the process has
 * to end without exit(3), where a leak checker would wait for it.
 */
bool capture_loop_stop(struct capture_loop *loop, uint64_t deadline_ns);

/* Once it has been stopped; NULL is allowed. */
void capture_loop_release(struct capture_loop *loop);

#endif
