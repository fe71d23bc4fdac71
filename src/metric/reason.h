/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REASON_H
#define CTOP_REASON_H

#include <stddef.h>
#include <stdint.h>

/*
 * Why a value is unavailable; the table is reason.def. REASON_READ means that it was read. Numbers from
 * REASON_COUNT on are reasons of a file that this program does not know; their names live in the snapshot.
 */
enum reason {
	REASON_READ,
#define REASON(id, ...) REASON_##id,
#include "reason.def"
#undef REASON
	REASON_COUNT,
};

typedef uint8_t reason_id; /* an enum reason, or REASON_COUNT + n for the n-th unknown one of a snapshot */

struct reason_entry {
	const char *name;  /* in files: "not-permitted" */
	const char *words; /* on the screen: "not permitted" */
};

extern const struct reason_entry reasons[REASON_COUNT]; /* [REASON_READ] is {"read", "read"} */

/* The known reason of that name (`length` bytes; "read" gives REASON_READ), or REASON_COUNT. */
enum reason reason_find(const char *name, size_t length);

#endif
