/* SPDX-License-Identifier: GPL-2.0-only */
#include "fields.h"

#include <string.h>

/* One element of a field, which is being coded. */
struct cell {
	struct round *round;
	struct coder_stream *stream;
	const struct field *field;
	void *to;             /* not written to when encoding */
	const void *expected; /* NULL: zeros */
	bool is_old;          /* ids of `expected` are of `against` */
	bool is_unknown;      /* to this program: what is decoded is forgotten */
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

/* A reason of `size` bytes; an enum reason has no unknown ones. */
static void code_reason(const struct cell *cell, size_t size)
{
	const struct round *round = cell->round;
	struct coder *coder = &cell->round->coder;
	const struct vocabulary *words = round->words;
	const reason_id own = coder->decoding ? REASON_READ : (reason_id)load(cell->to, size);
	uint64_t reason = cell->expected != NULL ? load(cell->expected, size) : REASON_READ, number;

	if (code_word(cell, vocabulary_put_reason(words, own), own != reason, &number)) {
		number = coder_below(coder, number, round_reason_end(round));
		reason = vocabulary_take_reason(words, number);
		if (size != sizeof(reason_id) && reason >= REASON_COUNT)
			reason = REASON_UNREADABLE;
	}
	if (reason >= REASON_COUNT + round->now->unknown_reason_count)
		reason = coder_fail(coder);
	if (coder->decoding)
		store(cell->to, size, reason);
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

static void code_optional_u64(const struct cell *cell)
{
	struct coder *coder = &cell->round->coder;
	struct optional_u64 *value = cell->to;
	const struct optional_u64 *expected = cell->expected;
	const bool present = coder_bit(coder, cell->stream, !coder->decoding && value->present);
	const uint64_t number = coder_residual(coder, cell->stream, coder->decoding ? 0 : value->value,
					       expected != NULL ? expected->value : 0);

	if (coder->decoding)
		*value = (struct optional_u64){number, present};
}

static void code_optional_i32(const struct cell *cell)
{
	struct coder *coder = &cell->round->coder;
	struct optional_i32 *value = cell->to;
	const struct optional_i32 *expected = cell->expected;
	const bool present = coder_bit(coder, cell->stream, !coder->decoding && value->present);
	const uint64_t number = coder_residual(coder, cell->stream,
					       coder->decoding ? 0 : (uint32_t)value->value,
					       expected != NULL ? (uint32_t)expected->value : 0);

	if (coder->decoding)
		*value = (struct optional_i32){(int32_t)(uint32_t)number, present};
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

static void code_key_values(const struct cell *cell)
{
	struct round *round = cell->round;
	struct coder *coder = &round->coder;
	struct key_values *values = cell->to;
	const struct key_values none = {0}, *expected = cell->expected != NULL ? cell->expected : &none;
	const uint32_t expected_count = expected->count;
	uint32_t count = expected_count;
	struct key_value *items = coder->decoding ? NULL : values->items;

	if (coder_bit(coder, cell->stream, !coder->decoding && values->count != expected_count))
		count = (uint32_t)coder_count(coder, &round->streams[STREAM_COUNT],
					      coder->decoding ? 0 : values->count);
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

static void code_cell(const struct cell *cell)
{
	switch (cell->field->type) {
	case FIELD_BOOL:
		code_number(cell, sizeof(bool), 2);
		break;
	case FIELD_U8:
		code_number(cell, sizeof(uint8_t), 0);
		break;
	case FIELD_U16:
		code_number(cell, sizeof(uint16_t), 0);
		break;
	case FIELD_U32:
		code_number(cell, sizeof(uint32_t), 0);
		break;
	case FIELD_U64:
		code_number(cell, sizeof(uint64_t), 0);
		break;
	case FIELD_BELOW:
		code_number(cell, sizeof(uint32_t), cell->field->end);
		break;
	case FIELD_REASON:
		code_reason(cell, sizeof(reason_id));
		break;
	case FIELD_ENUM_REASON:
		code_reason(cell, sizeof(enum reason));
		break;
	case FIELD_SOURCE:
		code_source(cell);
		break;
	case FIELD_TEXT:
		code_text(cell);
		break;
	case FIELD_OPTIONAL_U64:
		code_optional_u64(cell);
		break;
	case FIELD_OPTIONAL_I32:
		code_optional_i32(cell);
		break;
	case FIELD_STRING:
		code_string(cell);
		break;
	case FIELD_KEY_VALUES:
		code_key_values(cell);
		break;
	}
}

/* All elements of a field. */
static void code_field(struct cell *cell, char *to, const char *expected)
{
	const struct field *field = cell->field;
	const struct vocabulary *words = cell->round->words;
	const uint32_t count = field->by != 0 ? words->count[field->by - 1] : field->count;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t own = field->by != 0 ? words->own[field->by - 1][i] : i;
		uint64_t unknown = 0; /* what this program does not know is coded and forgotten */

		cell->is_unknown = own == VOCABULARY_NONE;
		if (cell->is_unknown) {
			cell->to = &unknown;
			cell->expected = NULL;
		} else {
			cell->to = to + (size_t)own * field->stride;
			cell->expected = expected != NULL ? expected + (size_t)own * field->stride : NULL;
		}
		code_cell(cell);
	}
}

void fields_code(struct round *round, const struct field fields[], size_t count, unsigned int stream,
		 void *record, const void *expected, bool is_old)
{
	for (size_t i = 0; i < count; i++) {
		struct cell cell = {
			.round = round,
			.stream = &round->streams[stream + fields[i].stream],
			.field = &fields[i],
			.is_old = is_old,
		};

		if (!round->is_brief || fields[i].is_brief)
			code_field(&cell, (char *)record + fields[i].offset,
				   expected != NULL ? (const char *)expected + fields[i].offset : NULL);
	}
}
