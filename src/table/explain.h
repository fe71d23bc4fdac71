/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPLAIN_H
#define CTOP_EXPLAIN_H

#include "base/buffer.h"
#include "table.h"
#include "window/window.h"

/* Parts of the text behind a number that one snapshot and a comparison have in common. */

/* Appends what a metric counts and from where a snapshot has it. */
void explain_metric(const struct snapshot *snapshot, enum metric metric, struct buffer *lines);

/* The unit behind a number with all of its digits, with a blank before it; nothing for a plain count. */
const char *explain_unit(enum unit unit);

/* Appends how many threads are not in a number, and why; `absent` says what is the matter with those that
 * have none. */
void explain_missing(const uint64_t by_state[STATE_ABSENT + 1], const char *absent, struct buffer *lines);

/* Appends what a context has in a member, in full: a list of an array's first elements, an address, bytes. */
void explain_member_value(const struct task_field_owner *scheduler, const struct task_field_member *member,
			  const uint8_t *context, struct buffer *text);

/* Appends the place of a member in contexts, its scheduler, and how it is reduced for groups. */
void explain_member(const struct task_field_owner *scheduler, const struct task_field_member *member,
		    struct buffer *lines);

/* Appends what a thread does at present, and for how long where that is known: "waits for a CPU for 4.2s". */
void explain_wait(const struct snapshot *snapshot, size_t thread, struct buffer *text);

#endif
