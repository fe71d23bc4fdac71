/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DAY_RECORD_H
#define CTOP_DAY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "history.h"

/*
 * Records of rounds (ctop-history(5)): everything about a round except its threads. The round's own frame
 * begins with its record, and an index frame repeats it.
 */

/* A round in the file of a day. round.id is the offset of its frame. */
struct day_round {
	struct history_round round; /* round.boot is an index in day_reader.facts */
	uint64_t length;            /* payload length of the round's frame, bytes */
	uint64_t against;           /* offset of the round that this one is encoded against; 0: it is whole */
	uint64_t interval;          /* offset of the frame with the round's interval; 0: it has none */
	uint64_t facts;             /* offset of the frame with the facts of the round's boot */
	uint64_t slept_ns;          /* time the host has slept since it started */
};

enum {
	DAY_RECORD_BYTES = 80,
	/* Offsets in the payload of an index: the previous index, the first offset that it covers, the counts
	 * of rounds and marks. Entries of rounds follow, then the offsets of marks. */
	DAY_INDEX_PREVIOUS_AT = 0,
	DAY_INDEX_FROM_AT = 8,
	DAY_INDEX_ROUNDS_AT = 16,
	DAY_INDEX_MARKS_AT = 20,
	DAY_INDEX_BYTES = 24,
	DAY_ENTRY_BYTES = 24 + DAY_RECORD_BYTES, /* offset, time and payload length, 8 bytes each; record */
	DAY_MARK_BYTES = 8,                      /* its offset */
	DAY_MARK_TEXT_MAX = UINT16_MAX,          /* longest text of a mark, bytes */
};

/* Encodes the record of a round. */
void day_record_write(const struct day_round *round, uint8_t bytes[static DAY_RECORD_BYTES]);

/* Decodes a record into `round`; members that a record does not have stay as they are. */
void day_record_read(struct day_round *round, const uint8_t bytes[static DAY_RECORD_BYTES]);

/* Encodes the entry of a round in an index. */
void day_entry_write(const struct day_round *round, uint8_t bytes[static DAY_ENTRY_BYTES]);

/* Decodes an entry; round.day and round.boot of the result are 0. */
struct day_round day_entry_read(const uint8_t bytes[static DAY_ENTRY_BYTES]);

/* Whether a recorder could have written `round` after `before` (NULL: as the first one) into the file `day`.
 */
bool day_round_is_valid(const struct day_round *round, const struct day_round *before, uint32_t day);

#endif
