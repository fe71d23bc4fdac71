/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_MOMENT_H
#define CTOP_HISTORY_MOMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"
#include "store/history.h"

/*
 * A recorded moment where a file is named: HISTORY@WHEN, as in `/var/lib/ctop@-1h`, or `@09:00` of the
 * history that history_place() is; or a range, HISTORY@WHEN..WHEN, as in `@09:00..09:05`. A file that has
 * such a name is meant instead.
 */

/* Whether a name is that of a moment: it has an '@', and no file is called so. */
bool history_moment_is_named(const char *name);

/* The history directory in the name of a moment, owned by the caller. */
char *history_moment_directory(const char *name);

/*
 * Checks how the times of such a name are written, without looking at the history; `now_unix_ns` is what -1h
 * is counted from. Returns 0 and the moment, or the end of the range, or -EINVAL with a sentence.
 */
int history_moment_check(const char *name, uint64_t now_unix_ns, uint64_t *ret_unix_ns, struct error *error);

/* A moment that was found, or a file that was read instead (snapshot_files.h). */
struct history_moment {
	/* One reference, the caller's. Its window is since the round before, or of a range from its beginning
	 * on; NULL where nothing is known of the time before. */
	struct snapshot *snapshot;
	char *name; /* with the time that the round has: "/var/lib/ctop@2026-11-20 09:40:05", of a file as
		       written; owned by the caller */
	char *note; /* that nothing was recorded then, and how far away this round is, or what an older
		       generation of the file lacks; owned by the caller; NULL for nothing */
};

/*
 * Reads the round nearest to a moment, or those nearest to both ends of a range, where `now_unix_ns` is what
 * -1h is counted from; of a range `with_parts` reads runs of its rounds as well, which takes longer. Where
 * nothing was recorded at the moment (history_holds()), or no round lies in the range, `nearest` reads the
 * nearest round, with a note. Returns 0, or a negative errno with a sentence: -EINVAL for a time, a range
 * that is empty or in which the host was started again, -ENODATA where nothing was recorded or the range has
 * one round, else as history.h has them.
 */
int history_moment_read(const char *name, uint64_t now_unix_ns, bool with_parts, bool nearest,
			struct history_moment *ret_moment, struct error *error);

/*
 * The same of an open history, without parts and with the nearest round: from `from_unix_ns` (0: since the
 * round before) to `unix_ns`, as long as `*cancel` is false. The name has no directory where the history is
 * in memory. Also -ECANCELED.
 */
int history_moment_read_from(struct history *history, uint64_t from_unix_ns, uint64_t unix_ns,
			     const atomic_bool *cancel, struct history_moment *ret_moment,
			     struct error *error);

#endif
