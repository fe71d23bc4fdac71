/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_ABSENCE_H
#define CTOP_HISTORY_ABSENCE_H

#include <stdint.h>

#include "base/error.h"
#include "store/history.h"

/*
 * Sentences about a time of which a history has no round. Commands fail with them, unless --nearest asks for
 * the nearest round; then, and on a screen, the nearest round is shown with a note.
 */
struct history_absence {
	/* The span asked for, CLOCK_REALTIME ns, both ends equal for a moment; 0 and UINT64_MAX for an end
	 * that was not given. */
	uint64_t from_unix_ns, to_unix_ns;
	struct history_round nearest; /* the round nearest to the span, outside of it */
	const char *when;             /* the span's first time as the user wrote it; NULL: not known */
};

/*
 * Says that nothing was recorded then, or nothing that can be read, and where the nearest round is: "nothing
 * was recorded at 2026-11-20 12:05:00: the nearest round is of 2026-11-20 11:59:00, 6 min earlier". The
 * caller frees the text.
 */
char *history_absence_describe(struct history *history, const struct history_absence *absence);

/*
 * Writes that sentence as an error of a history with a directory, with the option --nearest and, of a time of
 * day, the last such time that was recorded. Returns -ENODATA.
 */
int history_absence_refuse(struct history *history, const struct history_absence *absence,
			   struct error *error);

#endif
