/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REASON_H
#define CTOP_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Why a value is unavailable; the table is reason.def. REASON_READ means that it was read. A file may have
 * reasons that this program does not know. Their names get ids from REASON_COUNT on, once for the life of the
 * program, so that an id means the same in every snapshot. All functions are safe from any thread.
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
 * The id of a reason by its name of `length` bytes ("read" gives REASON_READ); an unknown name gets a new
 * one. REASON_UNREADABLE for what reason_is_name() refuses, and for a new name once all 256 ids are used.
 */
reason_id reason_intern(const char *name, size_t length);

/*
 * The name of a reason in files ("not-permitted"), and its words on the screen ("not permitted"; unknown
 * reasons: the name). Both live as long as the program. An id that nothing has reads as REASON_UNREADABLE.
 */
const char *reason_name(size_t reason);
const char *reason_words(size_t reason);

/*
 * The reason that a failed call stands for, by the negative errno value that it gave; 0 gives REASON_READ. An
 * errno value alone never says that the kernel lacks something: a sandbox (seccomp(2)) may have refused the
 * call, and a mount may hide a file.
 */
enum reason reason_of_errno(int result);

#endif
