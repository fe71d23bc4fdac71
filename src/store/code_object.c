/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects of a round by their tables of members: each number as it differs from an expected one. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "member.h"
#include "round.h"

/* The place in an object that is being coded. */
struct cell {
	struct round *round;
	struct coder_stream *stream;
	bool is_spread;       /* each member has a stream of its own, one behind the other */
	bool is_brief;        /* only MEMBER_BRIEF */
	bool is_old;          /* ids of `expected` are of `against` */
	bool is_unknown;      /* to this program: what is decoded is forgotten */
	void *to;             /* not written to when encoding */
	const void *expected; /* NULL: zeros */
};

static uint64_t load(const void *from, size_t size)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)from;
	case sizeof(uint16_t):
		memcpy(&u16, from, size);
		return u16;
	case sizeof(uint32_t):
		memcpy(&u32, from, size);
		return u32;
	default:
		memcpy(&u64, from, size);
		return u64;
	}
}

static void store(void *to, size_t size, uint64_t number)
{
	const uint32_t u32 = (uint32_t)number;
	const uint16_t u16 = (uint16_t)number;

	switch (size) {
	case sizeof(uint8_t):
		*(uint8_t *)to = (uint8_t)number;
		break;
	case sizeof(uint16_t):
		memcpy(to, &u16, size);
		break;
	case sizeof(uint32_t):
		memcpy(to, &u32, size);
		break;
	default:
		memcpy(to, &number, size);
		break;
	}
}

/* A number of `size` bytes, which when decoding must be below `end`; 0 for any. */
static void code_number(const struct cell *cell, size_t size, uint64_t end)
{
	struct coder *coder = &cell->round->coder;
	const uint64_t number = coder->decoding ? 0 : load(cell->to, size);
	const uint64_t expected = cell->expected != NULL ? load(cell->expected, size) : 0;
	uint64_t decoded = coder_residual(coder, cell->stream, number, expected);

	if (!coder->decoding || cell->is_unknown)
		return;
	if (end != 0)
		decoded = coder_below(coder, decoded, end);
	else if (size < sizeof(uint64_t) && decoded >> 8 * size != 0)
		decoded = coder_fail(coder);
	store(cell->to, size, decoded);
}

/*
 * The number of a word, `own` here: as expected, or another one. What was expected need not be known to who
 * recorded it by the same number, or at all. False where it is as expected.
 */
static bool code_word(const struct cell *cell, uint64_t number, bool differs, uint64_t *ret_number)
{
	struct coder *coder = &cell->round->coder;

	if (!coder_bit(coder, cell->stream, differs))
		return false;
	*ret_number = coder_number(coder, cell->stream, number);
	return true;
}

static void code_reason(const struct cell *cell)
{
	struct round *round = cell->round;
	const reason_id own = round->coder.decoding ? REASON_READ : *(const reason_id *)cell->to;
	reason_id reason = cell->expected != NULL ? *(const reason_id *)cell->expected : REASON_READ;
	const bool differs = own != reason;
	uint64_t number = differs ? round_put_reason(round, own) : 0;

	if (code_word(cell, number, differs, &number))
		reason = round_take_reason(round, number);
	if (round->coder.decoding)
		*(reason_id *)cell->to = reason;
}

static void code_source(const struct cell *cell)
{
	struct coder *coder = &cell->round->coder;
	const struct vocabulary *words = cell->round->words;
	const size_t size = sizeof(enum source), count = words->count[VOCABULARY_SOURCE];
	const uint64_t own = coder->decoding ? SOURCE_NONE : load(cell->to, size);
	uint64_t source = cell->expected != NULL ? load(cell->expected, size) : SOURCE_NONE, number;

	if (code_word(cell, vocabulary_put(words, VOCABULARY_SOURCE, own), own != source, &number)) {
		number = coder_below(coder, number, count + 1);
		source = number < count && words->own[VOCABULARY_SOURCE][number] != VOCABULARY_NONE
				 ? words->own[VOCABULARY_SOURCE][number]
				 : SOURCE_NONE;
	}
	if (coder->decoding)
		store(cell->to, size, source);
}

static void code_text(const struct cell *cell)
{
	struct round *round = cell->round;
	struct coder *coder = &round->coder;
	const char *text = coder->decoding ? NULL : *(const char *const *)cell->to;
	const char *expected = cell->expected != NULL ? *(const char *const *)cell->expected : NULL;
	size_t length = text != NULL ? strlen(text) : 0;
	bool same = text == expected || (text != NULL && expected != NULL && strcmp(text, expected) == 0);

	if (!coder_bit(coder, cell->stream, !same)) {
		text = expected;
		length = expected != NULL ? strlen(expected) : 0;
	} else if (!coder_bit(coder, cell->stream, text != NULL)) {
		text = NULL;
	} else {
		text = coder_text(coder, &round->streams[STREAM_LENGTH], text, &length);
	}
	if (coder->decoding)
		*(const char **)cell->to = text != NULL ? arena_duplicate(&round->now->arena, text, length)
							: NULL;
}

/* An optional number of `size` bytes, which begins with the number; its bool is at `present`. */
static void code_optional(const struct cell *cell, size_t size, size_t present)
{
	struct coder *coder = &cell->round->coder;
	bool *is_present = (bool *)((char *)cell->to + present);
	const bool coded = coder_bit(coder, cell->stream, !coder->decoding && *is_present);
	const uint64_t number = coder_residual(coder, cell->stream,
					       coder->decoding ? 0 : load(cell->to, size),
					       cell->expected != NULL ? load(cell->expected, size) : 0);

	if (coder->decoding) {
		store(cell->to, size, number);
		*is_present = coded;
	}
}

static uint32_t expected_string(const struct cell *cell, uint32_t id)
{
	return cell->is_old ? round_id(cell->round->string_of, id) : id;
}

static void code_string(const struct cell *cell)
{
	struct coder *coder = &cell->round->coder;
	const uint32_t expected = cell->expected != NULL
					  ? expected_string(cell, *(const uint32_t *)cell->expected)
					  : 0;
	const uint64_t id = coder_residual(coder, cell->stream,
					   coder->decoding ? 0 : *(const uint32_t *)cell->to, expected);

	if (coder->decoding)
		*(uint32_t *)cell->to = id == 0 ? 0 : coder_below(coder, id, cell->round->now->strings.count);
}

/* The number of elements of a list, which mostly is as expected. */
static size_t code_count(struct round *round, struct coder_stream *stream, size_t count, size_t expected)
{
	struct coder *coder = &round->coder;

	if (!coder_bit(coder, stream, !coder->decoding && count != expected))
		return expected;
	return coder_count(coder, &round->streams[STREAM_COUNT], coder->decoding ? 0 : count);
}

static void code_key_values(const struct cell *cell)
{
	struct round *round = cell->round;
	struct coder *coder = &round->coder;
	struct key_values *values = cell->to;
	const struct key_values none = {0}, *expected = cell->expected != NULL ? cell->expected : &none;
	const uint32_t expected_count = expected->count;
	const uint32_t count = (uint32_t)code_count(round, cell->stream, values->count, expected_count);
	struct key_value *items = coder->decoding ? NULL : values->items;

	if (coder->decoding) {
		items = arena_allocate_zero(&round->now->arena, count, sizeof(*items));
		*values = (struct key_values){items, count};
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct key_value *old = i < expected_count ? &expected->items[i] : NULL;
		const uint32_t before = i != 0 ? items[i - 1].key : 0;
		const uint64_t key = coder_residual(coder, &round->streams[STREAM_CGROUP_KEYS], items[i].key,
						    old != NULL ? expected_string(cell, old->key)
								: before + 1);
		const uint64_t value = coder_residual(coder, cell->stream, items[i].value,
						      old != NULL ? old->value : 0);

		if (coder->decoding)
			items[i] = (struct key_value){
				key == 0 ? 0 : coder_below(coder, key, round->now->strings.count), value};
	}
}

/* --- members --- */

static void code_members(struct cell *cell, const struct object *object, char *to, const char *expected);

/* A value of that type, at `cell->to`. */
static void code_value(struct cell *cell, enum member_type type, const struct object *object)
{
	switch (type) {
	case MEMBER_U64:
		code_number(cell, sizeof(uint64_t), 0);
		break;
	case MEMBER_U32:
		code_number(cell, sizeof(uint32_t), 0);
		break;
	case MEMBER_U16:
		code_number(cell, sizeof(uint16_t), 0);
		break;
	case MEMBER_BOOLEAN:
		code_number(cell, sizeof(bool), 2);
		break;
	case MEMBER_FEATURE_STATE:
		code_number(cell, sizeof(enum feature_state), FEATURE_STATE_OFF + 1);
		break;
	case MEMBER_LATENCY_CAUSE:
		code_number(cell, sizeof(enum latency_cause), LATENCY_CAUSE_COUNT);
		break;
	case MEMBER_TASK_FIELD_KIND:
		code_number(cell, sizeof(enum task_field_kind), TASK_FIELD_KIND_COUNT);
		break;
	case MEMBER_REASON:
	case MEMBER_FEATURE_REASON:
		code_reason(cell);
		break;
	case MEMBER_METRIC_SOURCE:
		code_source(cell);
		break;
	case MEMBER_TEXT:
		code_text(cell);
		break;
	case MEMBER_OPTIONAL_U64:
		code_optional(cell, sizeof(uint64_t), offsetof(struct optional_u64, present));
		break;
	case MEMBER_OPTIONAL_I32:
		code_optional(cell, sizeof(int32_t), offsetof(struct optional_i32, present));
		break;
	case MEMBER_NAME:
		code_string(cell);
		break;
	case MEMBER_KEY_VALUES:
		code_key_values(cell);
		break;
	case MEMBER_OBJECT:
		code_members(cell, object, cell->to, cell->expected);
		break;
	default:
		abort(); /* a table has a member that rounds cannot have */
	}
}

/* All elements of an array, of `size` bytes each; by words where `by` is not 0. */
static void code_array(struct cell *cell, const struct member *member, enum member_type type, size_t size,
		       unsigned int by)
{
	const struct vocabulary *words = cell->round->words;
	const size_t count = by != 0 ? words->count[by - 1] : member->count;
	char *to = cell->to;
	const char *expected = cell->expected;

	for (size_t i = 0; i < count; i++) {
		const size_t own = by != 0 ? words->own[by - 1][i] : i;
		struct feature_result unknown = {0}; /* the largest element */

		cell->is_unknown = by != 0 && own == VOCABULARY_NONE;
		cell->to = cell->is_unknown ? (void *)&unknown : to + own * size;
		cell->expected = cell->is_unknown || expected == NULL ? NULL : expected + own * size;
		code_value(cell, type, member->object);
	}
	cell->is_unknown = false;
}

/* A list in the arena of the snapshot: a pointer and a count. */
static void code_list(struct cell *cell, const struct object *object, char *count_field,
		      const char *expected_count)
{
	struct round *round = cell->round;
	char **field = cell->to;
	const char *const *expected = cell->expected;
	const size_t old_count = expected != NULL ? *(const size_t *)(const void *)expected_count : 0;
	const size_t count = code_count(round, cell->stream, *(size_t *)(void *)count_field, old_count);
	const char *old = expected != NULL ? *expected : NULL;

	if (round->coder.decoding) {
		*field = count != 0 ? arena_allocate_zero(&round->now->arena, count, object->size) : NULL;
		*(size_t *)(void *)count_field = count;
	}
	for (size_t i = 0; i < count && !round->coder.failed; i++)
		code_members(cell, object, *field + i * object->size,
			     i < old_count ? old + i * object->size : NULL);
}

/*
 * Codes the increase of each count of a tally, by the recording's reason numbers. Counts of reasons that
 * share an id here add up.
 */
static void code_missed(struct round *round, struct tally *tally, const struct tally *old)
{
	struct coder *coder = &round->coder;

	for (size_t i = 0; !coder->decoding && i <= UINT8_MAX; i++) {
		if (tally->missed[i] != old->missed[i])
			round_put_reason(round, (reason_id)i);
	}
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		const bool is_used = i < round->words->count[VOCABULARY_REASON] + round->more_reason_count;
		const reason_id reason = is_used ? round_take_reason(round, i) : REASON_READ;
		const uint64_t more = is_used && !coder->decoding
					      ? tally->missed[reason] - old->missed[reason]
					      : 0;
		const uint64_t decoded = coder_residual(coder, &round->streams[STREAM_COUNT], more, 0);

		if (coder->decoding && is_used)
			tally->missed[reason] += decoded;
	}
}

static void code_tally(const struct cell *cell, struct tally *tally, const struct tally *old)
{
	struct coder *coder = &cell->round->coder;
	const uint64_t read = coder_residual(coder, cell->stream, tally->read, old->read);
	const bool differs = coder_bit(
		coder, cell->stream,
		!coder->decoding && memcmp(tally->missed, old->missed, sizeof(tally->missed)) != 0);

	if (coder->decoding) {
		*tally = *old;
		tally->read = read;
	}
	if (differs)
		code_missed(cell->round, tally, old);
}

static void code_tallies(const struct cell *cell)
{
	static const struct tally nothing;
	struct round *round = cell->round;
	const struct vocabulary *words = round->words;
	struct tally **tallies = cell->to;
	const struct tally *old = cell->expected != NULL ? *(struct tally *const *)cell->expected : NULL;

	if (!coder_bit(&round->coder, cell->stream, *tallies != NULL))
		return;
	if (round->coder.decoding)
		*tallies = arena_allocate_zero(&round->now->arena, SOURCE_COUNT, sizeof(**tallies));
	for (size_t i = 0; i < words->count[VOCABULARY_SOURCE]; i++) {
		const uint16_t own = words->own[VOCABULARY_SOURCE][i];
		struct tally unknown = {0};

		code_tally(cell, own != VOCABULARY_NONE ? &(*tallies)[own] : &unknown,
			   old != NULL && own != VOCABULARY_NONE ? &old[own] : &nothing);
	}
}

static void code_pairs(struct cell *cell)
{
	struct text_pairs *pairs = cell->to;
	const struct text_pairs *expected = cell->expected;

	cell->to = &pairs->present;
	cell->expected = expected != NULL ? &expected->present : NULL;
	code_number(cell, sizeof(bool), 2);
	cell->to = &pairs->items;
	cell->expected = expected != NULL ? &expected->items : NULL;
	code_list(cell, &text_pair_object, (char *)&pairs->count,
		  expected != NULL ? (const char *)&expected->count : NULL);
	/* texts may be missing elsewhere */
	for (size_t i = 0; cell->round->coder.decoding && !cell->is_unknown && i < pairs->count; i++) {
		if (pairs->items[i].key == NULL || pairs->items[i].value == NULL)
			coder_fail(&cell->round->coder);
	}
}

static const void *beside(const char *object, size_t offset)
{
	return object != NULL ? object + offset : NULL;
}

static void code_member(struct cell *cell, const struct member *member, char *to, const char *expected)
{
	cell->to = to + member->offset;
	cell->expected = beside(expected, member->offset);
	switch (member->type) {
	case MEMBER_NUMBERS:
		cell->to = to + member->known;
		cell->expected = beside(expected, member->known);
		code_number(cell, sizeof(bool), 2);
		cell->to = to + member->offset;
		cell->expected = beside(expected, member->offset);
		code_array(cell, member, MEMBER_U64, sizeof(uint64_t), 0);
		break;
	case MEMBER_NAMED_NUMBERS:
	case MEMBER_BUCKETS:
		code_array(cell, member, MEMBER_U64, sizeof(uint64_t), 0);
		break;
	case MEMBER_NAMED_TEXTS:
		code_array(cell, member, MEMBER_TEXT, sizeof(char *), 0);
		break;
	case MEMBER_NAMED_REASONS:
		code_array(cell, member, MEMBER_REASON, sizeof(reason_id), 0);
		break;
	case MEMBER_ELEMENTS:
		code_array(cell, member, member->element,
			   member->element == MEMBER_REASON ? sizeof(reason_id) : sizeof(enum source),
			   member->by);
		break;
	case MEMBER_FEATURES:
		code_array(cell, member, MEMBER_OBJECT, sizeof(struct feature_result),
			   VOCABULARY_FEATURE + 1);
		break;
	case MEMBER_TEXT_PAIRS:
	case MEMBER_NUMBERED_PAIRS:
		code_pairs(cell);
		break;
	case MEMBER_LIST:
	case MEMBER_TASK_FIELD_ENUMERATORS:
		code_list(cell, member->object, to + member->known, beside(expected, member->known));
		break;
	case MEMBER_TALLIES:
		code_tallies(cell);
		break;
	default:
		code_value(cell, member->type, member->object);
		break;
	}
}

/* The members of an object, but for those that only files have. */
static void code_members(struct cell *cell, const struct object *object, char *to, const char *expected)
{
	if (object->present != SIZE_MAX) {
		cell->to = to + object->present;
		cell->expected = beside(expected, object->present);
		code_number(cell, sizeof(bool), 2);
	}
	for (size_t i = 0; i < object->count; i++) {
		const struct member *member = &object->members[i];

		if ((member->flags & (MEMBER_OLDER | MEMBER_UNCODED)) != 0 ||
		    (cell->is_brief && !(member->flags & MEMBER_BRIEF)))
			continue;
		code_member(cell, member, to, expected);
		cell->stream += cell->is_spread && member->type != MEMBER_OBJECT;
	}
}

void round_code_object(struct round *round, const struct object *object, unsigned int stream, bool is_spread,
		       void *record, const void *expected, bool is_old)
{
	struct cell cell = {
		.round = round,
		.stream = &round->streams[stream],
		.is_spread = is_spread,
		.is_old = is_old,
	};

	code_members(&cell, object, record, expected);
}

/* --- the host --- */

/* Whether no name of a list is missing: none is, but in crafted rounds. */
static bool has_names(const struct snapshot *snapshot)
{
	bool all = true;

	for (size_t i = 0; i < snapshot->provenance.capability_count; i++)
		all = all && snapshot->provenance.capabilities[i] != NULL;
	for (size_t i = 0; i < snapshot->task_fields.event_count; i++)
		all = all && snapshot->task_fields.events[i].name != NULL;
	return all;
}

void round_code_facts(struct round *round)
{
	struct cell cell = {
		.round = round,
		.stream = &round->streams[STREAM_FACTS],
		.is_brief = round->is_brief,
		.is_old = true,
	};

	code_members(&cell, &snapshot_object, (char *)round->now, (const char *)round->against);
	if (round->coder.decoding && !has_names(round->now))
		coder_fail(&round->coder);
}
