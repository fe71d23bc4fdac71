/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REASON_H
#define CTOP_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Why a value is unavailable (reason.def); REASON_READ means that it was read. Reasons in files that this
 * program does not know get ids from REASON_COUNT on, for the life of the program, so an id means the same in
 * every snapshot. All functions are safe from any thread.
 */
enum reason {
	REASON_READ,
#define REASON(id, ...) REASON_##id,
#include "reason.def"
#undef REASON
	REASON_COUNT,
};

typedef uint8_t reason_id; /* an enum reason, or an id from reason_intern() */

enum {
	REASON_NAME_MAX = 255, /* bytes */
};

/* Whether a reason may have this name of `length` bytes: neither empty nor too long, UTF-8 without NUL. */
bool reason_is_name(const char *name, size_t length);

/*
 * Returns the id of a reason by its name of `length` bytes ("read" gives REASON_READ). A new name gets a new
 * id. Returns REASON_UNREADABLE for names that reason_is_name() rejects, and for new names once all 256 ids
 * are in use.
 */
reason_id reason_intern(const char *name, size_t length);

/*
 * The name of a reason in files ("not-permitted") and its words on the screen ("not permitted"; the name if
 * the reason is unknown). Both live as long as the program. Unused ids read as REASON_UNREADABLE.
 */
const char *reason_name(size_t reason);
const char *reason_words(size_t reason);

/*
 * Returns the reason for the negative errno of a failed call; 0 gives REASON_READ. An errno never proves that
 * the kernel lacks a feature: a sandbox (seccomp(2)) may have refused the call, or a mount may hide a file.
 */
enum reason reason_of_errno(int result);

#endif
