/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORDING_FIELDS_H
#define CTOP_RECORDING_FIELDS_H

#include "round.h"

/* Members of structs, by tables. */

enum field_type {
	FIELD_BOOL,
	FIELD_U8,
	FIELD_U16,
	FIELD_U32,
	FIELD_U64,
	FIELD_TEXT,         /* const char *, in the arena; NULL is a value */
	FIELD_OPTIONAL_U64, /* struct optional_u64 */
	FIELD_OPTIONAL_I32, /* struct optional_i32 */
	FIELD_STRING,       /* uint32_t id in snapshot.strings */
	FIELD_REASON,       /* reason_id */
	FIELD_ENUM_REASON,  /* enum reason */
	FIELD_SOURCE,       /* enum source */
	FIELD_KEY_VALUES,   /* struct key_values, in the arena */
	FIELD_BELOW,        /* an enum, below `end` */
};

struct field {
	size_t offset;
	enum field_type type;
	uint32_t end;   /* of FIELD_BELOW */
	uint32_t count; /* elements of an array of them, 1 for none */
	uint32_t stride;
	bool is_brief;  /* an interval has it too */
	uint8_t by;     /* an array by the words of this vocabulary_kind and one more; 0: by no words */
	uint8_t stream; /* from the first one of the table on */
};

/* A member of a struct, and an array of members: `stride` bytes from one to the next. */
#define FIELD(type, record, member)                                                                          \
	{                                                                                                    \
		offsetof(record, member), FIELD_##type, 0, 1, 0, false, 0, 0                                 \
	}
#define FIELD_LIST(type, record, member, count, stride)                                                      \
	{                                                                                                    \
		offsetof(record, member), FIELD_##type, 0, count, (uint32_t)(stride), false, 0, 0            \
	}

/*
 * Codes the fields of a record; `expected` is one like it, NULL for none: zeros. `stream` is the first of the
 * table's streams. Of `expected` ids are of `against` if `is_old`, else of `now`.
 */
void fields_code(struct round *round, const struct field fields[], size_t count, unsigned int stream,
		 void *record, const void *expected, bool is_old);

#endif
