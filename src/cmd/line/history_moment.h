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
 * is counted from. Sets `*ret_unix_ns` to the moment, or to the end of a range. Returns 0, or -EINVAL with a
 * sentence.
 */
int history_moment_check(const char *name, uint64_t now_unix_ns, uint64_t *ret_unix_ns, struct error *error);

/* A moment that was found, or a file that was read instead (snapshot_files.h). */
struct history_moment {
	/* One reference, the caller's. Its window is since the round before, or of a range from its beginning
	 * on; NULL where nothing is known of the time before. */
	struct snapshot *snapshot;
	char *name; /* with the time that the round has: "/var/lib/ctop@2026-11-20 09:40:05", of a file as
		       written; owned by the caller */
	char *note; /* that nothing was recorded then and how far away this round is, or what an older
		       generation of the file lacks; owned by the caller; NULL for nothing */
};

/*
 * Reads the round at a moment, or the rounds at both ends of a range. Lengths such as -1h count back from
 * `now_unix_ns`. `with_parts` also reads runs of rounds within a range, which takes longer. If nothing was
 * recorded at the moment (history_holds()), or no round lies in the range, `nearest` reads the nearest round
 * and adds a note. Returns 0, or a negative errno with a sentence: -EINVAL for an invalid time, an empty
 * range, or a range in which the host was started again; -ENODATA if nothing was recorded, or the range has
 * only one round; else as in history.h.
 */
int history_moment_read(const char *name, uint64_t now_unix_ns, bool with_parts, bool nearest,
			struct history_moment *ret_moment, struct error *error);

/*
 * Reads from an open history, without parts and accepting the nearest round: from `from_unix_ns` (0: since
 * the round before) to `unix_ns`. The name has no directory if the history is in memory. Returns as
 * history_moment_read(), or -ECANCELED once `*cancel` is true.
 */
int history_moment_read_from(struct history *history, uint64_t from_unix_ns, uint64_t unix_ns,
			     const atomic_bool *cancel, struct history_moment *ret_moment,
			     struct error *error);

#endif
