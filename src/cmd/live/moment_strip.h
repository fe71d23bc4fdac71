/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MOMENT_STRIP_H
#define CTOP_MOMENT_STRIP_H

#include "session/moment.h"
#include "ui/ui.h"

/* Makes the strip of the time about a moment (strip.h) piece by piece. Belongs to one thread at a time. */
struct moment_strip;

/* The request is copied. */
struct moment_strip *moment_strip_create(const struct ui_strip_request *request);
void moment_strip_release(struct moment_strip *strip); /* NULL is allowed */

/* Makes the next piece. Returns false when there was none left. */
bool moment_strip_work(struct moment_strip *strip, struct history *history, const atomic_bool *cancel);

/* Makes `*to` the view of a column alone, as rates, with all rows of `from`; `column` stays the caller's. */
void moment_strip_copy_view(struct view *to, const struct view *from, const enum column *column);

/* The strip so far. */
struct ui_strip moment_strip_result(const struct moment_strip *strip);

#endif
