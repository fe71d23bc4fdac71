/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WAIT_TEXT_H
#define CTOP_WAIT_TEXT_H

#include "base/buffer.h"
#include "window/value.h"

/* What a group waits for now, as a sentence about a value of COLUMN_WAITS_FOR. */

/*
 * The number of threads that the sentence is about: those that wait for the same object, or for the disk. 0,
 * and no sentence, if these are not more than half of the group, or the group is a single thread.
 */
uint32_t wait_text_threads(const struct value *value);

/*
 * Whether these threads have work to do: they wait for the disk, or for a futex whose value is that of a
 * locked mutex. In other waits they may as well be idle.
 */
bool wait_text_is_busy(const struct value *value);

/* Appends the sentence: "38 of 40 threads wait at one futex, a lock by its value". */
void wait_text_append(const struct value *value, struct buffer *text);

#endif
