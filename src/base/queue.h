/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_QUEUE_H
#define CTOP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/*
 * Events from other threads into the one that draws or writes, in the order in which they were sent. Each
 * event is a struct of the user's, which is copied in and out. All calls are safe from any thread.
 */
struct queue;

enum {
	/* Events that wait, more than the rounds of a course: behind a reader that hangs, the oldest ones are
	 * discarded. */
	QUEUE_LENGTH = 128
};

/*
 * Creates a queue of events of `event_size` bytes. `discard` frees what an event owns; NULL: that is nothing.
 * Returns 0 and a queue, or a negative errno with a sentence.
 */
int queue_create(size_t event_size, void (*discard)(void *event), struct queue **ret_queue,
		 struct error *error);

/* Discards what nobody took. NULL is allowed. */
void queue_release(struct queue *queue);

/* Readable (poll(2)) from when an event is sent until queue_take() finds none. */
int queue_descriptor(const struct queue *queue);

/* Appends a copy; the queue then owns what the event does. */
void queue_send(struct queue *queue, const void *event);

/* Takes the oldest event; false when there is none. */
bool queue_take(struct queue *queue, void *ret_event);

/* Takes the newest event for which `matches` holds; false when there is none. */
bool queue_withdraw(struct queue *queue, bool (*matches)(const void *event), void *ret_event);

#endif
