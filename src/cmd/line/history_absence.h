/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_ABSENCE_H
#define CTOP_HISTORY_ABSENCE_H

#include <stdint.h>

#include "base/error.h"
#include "store/history.h"

/*
 * A time that a history has no round for. Commands fail with a sentence about it. With --nearest, and on the
 * screen, the nearest round is shown instead, and the sentence is a note.
 */
struct history_absence {
	/* The span asked for, CLOCK_REALTIME ns. Both ends are equal for a moment; an end that was not given
	 * is 0 or UINT64_MAX. */
	uint64_t from_unix_ns, to_unix_ns;
	struct history_round nearest; /* the round nearest to the span, before or after it */
	const char *when;             /* the span's first time as the user wrote it; NULL: unknown */
};

/*
 * Says that nothing was recorded then, or nothing readable, and where the nearest round is: "nothing was
 * recorded at 2026-11-20 12:05:00: the nearest round is of 2026-11-20 11:59:00, 6 min earlier". The caller
 * frees the text.
 */
char *history_absence_describe(struct history *history, const struct history_absence *absence);

/*
 * Sets `error` to that sentence, plus a hint at --nearest and, if the user gave a time of day, the last such
 * time that was recorded. `history` must have a directory. Returns -ENODATA.
 */
int history_absence_refuse(struct history *history, const struct history_absence *absence,
			   struct error *error);

#endif
