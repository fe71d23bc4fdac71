/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MISSING_H
#define CTOP_MISSING_H

#include "base/buffer.h"
#include "session.h"
#include "table/view.h"

/* What nobody can read on this host: columns that leave the table for that, and what to say of it. */

/*
 * Sets view->left_out to the columns of the view's tab that can have no number in any row
 * (session_why_unavailable()), and empties it where the user chose the columns or nothing was read yet.
 * What a key switched off and can switch on again, `by_key`, leaves no column out.
 */
void missing_find_columns(struct session *session, source_set by_key, struct view *view);

/*
 * Appends what is missing, for the header, in at most `room` cells: the columns that left and why ("no BLKIO%
 * MWAIT%: delays off (e: why)"), then other features of the host. `page` is where the user finds more: a key
 * or a command. Nothing where nothing is missing, or there is no room.
 */
void missing_append_words(const struct session *session, const struct view *view, const char *page, int room,
			  struct buffer *text);

/* Appends a line for each reason: the columns of the tab that left for it, why, and what would help. */
void missing_append_columns(const struct session *session, const struct view *view, struct buffer *lines);

/*
 * Whether all numbers of the tab left, but for how many threads and processes there are; then why the first
 * of them did is appended to `why`.
 */
bool missing_is_all(const struct session *session, const struct view *view, struct buffer *why);

#endif
