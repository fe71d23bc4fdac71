/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RING_H
#define CTOP_RING_H

#include "store/history.h"

/*
 * The last rounds of a live screen as recordings in memory, bounded in bytes; what they are made of is
 * released. One thread adds, one confirms, one reads, at the same time if they like.
 */
struct ring;

#define RING_BYTES_DEFAULT (UINT64_C(32) << 20)

/* `bytes` is how much all of them may take; the oldest ones go first. */
struct ring *ring_create(uint64_t bytes);
void ring_release(struct ring *ring); /* NULL is allowed */

/*
 * Adds a round that is about to be handed to the screen, which keeps it as it is until the next one has been
 * confirmed. The ring has a reference to it and, until it is confirmed, to the one before.
 */
void ring_add(struct ring *ring, struct snapshot *round);

/*
 * The screen takes a round, or leaves it: if that is the one that was added last, it stays from now on, or it
 * is as if it had not been added.
 */
void ring_confirm(struct ring *ring, const struct snapshot *round);
void ring_withdraw(struct ring *ring, const struct snapshot *round);

/* The rounds that have been confirmed. */
struct history *ring_history(struct ring *ring);

/* How much the recorded rounds take. */
uint64_t ring_bytes(struct ring *ring);

#endif
