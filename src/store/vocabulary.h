/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORDING_VOCABULARY_H
#define CTOP_RECORDING_VOCABULARY_H

#include "coder.h"
#include "member.h"
#include "metric/reason.h"

/*
 * The names that numbers in a recording stand for. Another version of ctop may have other ones, or the same
 * with other numbers: a whole round brings the names of who recorded it, and what is encoded against it, or
 * comes with it, has their check.
 */

enum {
	VOCABULARY_WORDS_MAX = 256,
	VOCABULARY_METRICS_MAX = 160,
	VOCABULARY_SOURCES_MAX = 32,
	VOCABULARY_NONE = UINT16_MAX, /* a word that this program does not know */
};

struct vocabulary {
	uint32_t check;
	uint16_t count[VOCABULARY_KINDS];
	/* Number of each word in this program, VOCABULARY_NONE if unknown; every reason has an id. */
	uint16_t own[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX];
	uint8_t reason_of[UINT8_MAX + 1]; /* by reason id, its word; 0 for none */
	bool lost_reasons;                /* a reason got no id and reads as unreadable */
	const char *words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX];
};

/* That of this program. */
const struct vocabulary *vocabulary_own(void);

/*
 * Codes the words of one. When decoding the result is a known or new one, which is remembered; NULL where it
 * cannot be.
 */
const struct vocabulary *vocabulary_code(struct coder *coder, struct coder_stream *lengths, uint32_t check,
					 const struct vocabulary *vocabulary);

/* Whether the tables that are coded as a whole are the same as here. */
static inline bool vocabulary_is_readable(const struct vocabulary *vocabulary)
{
	return vocabulary->own[VOCABULARY_LAYOUT][0] == 0 && vocabulary->count[VOCABULARY_LAYOUT] == 1;
}

/* The number in a recording of what has that number here; the number of words where it has none. */
static inline uint64_t vocabulary_put(const struct vocabulary *vocabulary, enum vocabulary_kind kind,
				      uint64_t own)
{
	uint64_t number = 0;

	while (number < vocabulary->count[kind] && vocabulary->own[kind][number] != own)
		number++;
	return number;
}

/* One whose words were decoded before, or NULL. */
const struct vocabulary *vocabulary_find(uint32_t check);

/*
 * Makes one of words, which are copied: NULL where there are too many, or one comes twice. The caller frees
 * it (vocabulary_release()).
 */
struct vocabulary *vocabulary_create(const char *const words[VOCABULARY_KINDS][VOCABULARY_WORDS_MAX],
				     const uint16_t counts[VOCABULARY_KINDS]);
void vocabulary_release(struct vocabulary *vocabulary);

#endif
