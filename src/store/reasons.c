/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of reasons in a round: the reasons of its words come first, then its own list. */
#include <string.h>

#include "round.h"

/* Returns the index of a reason in `more_reasons`, or `more_reason_count`. */
static size_t find_more(const struct round *round, reason_id reason)
{
	size_t place = 0;

	while (place < round->more_reason_count && round->more_reasons[place] != reason)
		place++;
	return place;
}

static bool has_word(const struct round *round, reason_id reason)
{
	return reason == REASON_READ || round->words->reason_of[reason] != 0;
}

uint64_t round_put_reason(struct round *round, reason_id reason)
{
	size_t place;

	if (has_word(round, reason))
		return round->words->reason_of[reason];
	place = find_more(round, reason);
	if (place == round->more_reason_count && !round->coder.decoding)
		round->more_reasons[round->more_reason_count++] = reason;
	return round->words->count[VOCABULARY_REASON] + place;
}

reason_id round_take_reason(struct round *round, uint64_t number)
{
	const uint64_t count = round->words->count[VOCABULARY_REASON];

	if (number < count)
		return (reason_id)round->words->own[VOCABULARY_REASON][number];
	if (number - count < round->more_reason_count)
		return round->more_reasons[number - count];
	coder_fail(&round->coder);
	return REASON_READ;
}

/* Adds a decoded name to the list. A name already in the words or the list means damage. */
static void take_name(struct round *round, const char *name, size_t length)
{
	const reason_id reason = reason_intern(name, length);
	const char *kept = reason_name(reason);
	const bool is_lost = strlen(kept) != length || memcmp(kept, name, length) != 0;

	if (!reason_is_name(name, length) ||
	    (!is_lost && (has_word(round, reason) || find_more(round, reason) < round->more_reason_count)))
		coder_fail(&round->coder);
	round->lost_reasons |= is_lost;
	round->more_reasons[round->more_reason_count++] = reason;
}

void round_code_more_reasons(struct round *round)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_FACTS];
	size_t count = coder->decoding ? 0 : round->more_reason_count;

	if (!coder_bit(coder, stream, count != 0))
		return;
	count = coder_count(coder, &round->streams[STREAM_COUNT], count);
	if (count > UINT8_MAX)
		coder_fail(coder);
	for (size_t i = 0; i < count && !coder->failed; i++) {
		const char *name = coder->decoding ? "" : reason_name(round->more_reasons[i]);
		size_t length = strlen(name);

		/* each text has two bits: it differs from the expected one, and it is present */
		if (!coder_bit(coder, stream, true) || !coder_bit(coder, stream, true))
			coder_fail(coder);
		name = coder_text(coder, &round->streams[STREAM_LENGTH], name, &length);
		if (coder->decoding)
			take_name(round, name, length);
	}
}
