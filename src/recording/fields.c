/* SPDX-License-Identifier: GPL-2.0-only */
#include "fields.h"

#include <string.h>

/* One element of a field, which is being coded. */
struct cell {
	struct round *round;
	struct residual_model *model;
	const struct field *field;
	void *to;             /* not written to when encoding */
	const void *expected; /* NULL: zeros */
	bool is_old;          /* ids of `expected` are of `against` */
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
	uint64_t decoded = coder_residual(coder, cell->model, 0, number, expected);

	if (!coder->decoding)
		return;
	if (end != 0)
		decoded = coder_below(coder, decoded, end);
	else if (size < sizeof(uint64_t) && decoded >> 8 * size != 0)
		decoded = coder_fail(coder);
	store(cell->to, size, decoded);
}

static void code_text(const struct cell *cell)
{
	struct round *round = cell->round;
	struct coder *coder = &round->coder;
	const char *text = coder->decoding ? NULL : *(const char *const *)cell->to;
	const char *expected = cell->expected != NULL ? *(const char *const *)cell->expected : NULL;
	size_t length = text != NULL ? strlen(text) : 0;
	bool same = text == expected || (text != NULL && expected != NULL && strcmp(text, expected) == 0);

	if (!coder_bit(coder, &cell->model->differs[1], !same)) {
		text = expected;
		length = expected != NULL ? strlen(expected) : 0;
	} else if (!coder_bit(coder, &cell->model->differs[2], text != NULL)) {
		text = NULL;
	} else {
		text = coder_text(coder, &round->models[MODEL_LENGTH].by, text, &length);
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
	const bool was_present = expected != NULL && expected->present;
	const bool present = coder_bit(coder, &cell->model->differs[2 + was_present],
				       !coder->decoding && value->present);
	const uint64_t number = coder_residual(coder, cell->model, present,
					       coder->decoding ? 0 : value->value,
					       expected != NULL ? expected->value : 0);

	if (coder->decoding)
		*value = (struct optional_u64){number, present};
}

static void code_optional_i32(const struct cell *cell)
{
	struct coder *coder = &cell->round->coder;
	struct optional_i32 *value = cell->to;
	const struct optional_i32 *expected = cell->expected;
	const bool was_present = expected != NULL && expected->present;
	const bool present = coder_bit(coder, &cell->model->differs[2 + was_present],
				       !coder->decoding && value->present);
	const uint64_t number = coder_residual(coder, cell->model, present,
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
	const uint64_t id = coder_residual(coder, cell->model, 0,
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

	if (coder_bit(coder, &cell->model->differs[3], !coder->decoding && values->count != expected_count))
		count = (uint32_t)coder_count(coder, &round->models[MODEL_COUNT].by,
					      coder->decoding ? 0 : values->count);
	if (coder->decoding) {
		items = arena_allocate_zero(&round->now->arena, count, sizeof(*items));
		*values = (struct key_values){items, count};
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct key_value *old = i < expected_count ? &expected->items[i] : NULL;
		const uint32_t before = i != 0 ? items[i - 1].key : 0;
		const uint64_t key = coder_residual(
			coder, &round->models[MODEL_CGROUP_KEYS], old != NULL, items[i].key,
			old != NULL ? expected_string(cell, old->key) : before + 1);
		const uint64_t value = coder_residual(coder, cell->model, old != NULL, items[i].value,
						      old != NULL ? old->value : 0);

		if (coder->decoding)
			items[i] = (struct key_value){
				key == 0 ? 0 : coder_below(coder, key, round->now->strings.count), value};
	}
}

static void code_cell(const struct cell *cell)
{
	const struct snapshot *now = cell->round->now;

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
		code_number(cell, sizeof(reason_id), REASON_COUNT + now->unknown_reason_count);
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

void fields_code(struct round *round, const struct field fields[], size_t count, unsigned int model,
		 void *record, const void *expected, bool is_old)
{
	for (size_t i = 0; i < count; i++) {
		struct cell cell = {
			.round = round,
			.model = &round->models[model + fields[i].model],
			.field = &fields[i],
			.to = (char *)record + fields[i].offset,
			.expected = expected != NULL ? (const char *)expected + fields[i].offset : NULL,
			.is_old = is_old,
		};

		if (round->is_brief && !fields[i].is_brief)
			continue;
		for (uint32_t element = 0; element < fields[i].count; element++) {
			code_cell(&cell);
			cell.to = (char *)cell.to + fields[i].stride;
			if (cell.expected != NULL)
				cell.expected = (const char *)cell.expected + fields[i].stride;
		}
	}
}
