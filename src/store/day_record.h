/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_RECORD_H
#define CTOP_DAY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "coder.h"
#include "history.h"

/*
 * Records of rounds (ctop-history(5)): everything about a round except its threads. The round's own frame
 * begins with its record, and an index frame repeats it. A record is a list of numbers, each encoded as its
 * difference from the same number of the previous record in the list; most differences take one byte.
 */

/* A round in the file of a day. round.id is the offset of its frame; round.boot is not set. */
struct day_round {
	struct history_round round;
	uint64_t length;   /* payload length of the round's frame, bytes */
	uint64_t against;  /* offset of the round that this one is encoded against; 0: it is whole */
	uint64_t interval; /* offset of the frame with the round's interval; 0: it has none */
	uint64_t facts;    /* offset of the frame with the facts of the round's boot */
	uint64_t slept_ns; /* time the host has slept since it started */
};

enum {
	DAY_RECORD_NUMBERS = 11 + PRESSURE_IRQ,
	DAY_RECORD_MAX = 10 * DAY_RECORD_NUMBERS, /* longest record, bytes: at most ten for a number */
	/*
	 * Places of numbers in an index's payload: offset of the previous index, offset of the first frame
	 * that this index covers, counts of rounds and marks. After these come the offsets of marks and the
	 * list of rounds.
	 */
	DAY_INDEX_PREVIOUS_AT = 0,
	DAY_INDEX_FROM_AT = 8,
	DAY_INDEX_ROUNDS_AT = 16,
	DAY_INDEX_MARKS_AT = 20,
	DAY_INDEX_BYTES = 24,
	DAY_MARK_BYTES = 8,             /* bytes of a mark's offset in an index */
	DAY_MARK_TEXT_MAX = UINT16_MAX, /* longest text of a mark, bytes */
	DAY_MARK_TEXTS = 3,             /* kind, text, path */
};

/* Appends the record of a round. The caller has set the round's id. */
void day_record_append(struct buffer *bytes, const struct day_round *round);

/*
 * Decodes a record into `round`, whose id the caller has set. Members that are not part of a record are left
 * unchanged. Returns the length of the record in bytes, or 0 if the bytes do not begin with a record.
 */
size_t day_record_read(struct day_round *round, const void *bytes, size_t length);

/* Whether two rounds have the same id, time, length and record. */
bool day_round_is_same(const struct day_round *a, const struct day_round *b);

/* A list of rounds with their ids, times and lengths, for an index. A zeroed struct is an empty list. */
struct day_list {
	struct coder coder;
	struct coder_stream stream;
	struct day_round last; /* the round that was encoded or decoded last */
	uint32_t count;        /* count of rounds appended */
};

/* Appends a round to the list. The encoded list is in stream.bytes. */
void day_list_append(struct day_list *list, const struct day_round *round);

/* Returns a list that decodes `bytes`, which stay owned by the caller. */
struct day_list day_list_open(const void *bytes, size_t length);

/* Decodes the next round. Returns false if the bytes are damaged or end. */
bool day_list_next(struct day_list *list, struct day_round *ret_round);

void day_list_release(struct day_list *list);

/* Whether a recorder could have written `round` into the file `day`, after `before` (NULL: as the first
 * round). */
bool day_round_is_valid(const struct day_round *round, const struct day_round *before, uint32_t day);

#endif
