/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MEMBER_TABLE_H
#define CTOP_MEMBER_TABLE_H

#include "base/memory.h"
#include "member.h"

/* Rows of tables of members. */

#define NAME(text)              .name = (text), .prefix = ",\"" text "\":", .length = sizeof(text) + 3
#define FIELD(type_name, field) .offset = offsetof(struct type_name, field)

/* An object by its table; an element of a list; an object with a bool that says whether it is there. */
#define OBJECT(table)                                                                                        \
	{                                                                                                    \
		.members = (table), .count = ARRAY_COUNT(table), .present = SIZE_MAX                         \
	}
#define LIST_OBJECT(table, type_name)                                                                        \
	{                                                                                                    \
		.members = (table), .count = ARRAY_COUNT(table), .present = SIZE_MAX,                        \
		.size = sizeof(struct type_name)                                                             \
	}
#define OPTIONAL_OBJECT(table, type_name, field)                                                             \
	{                                                                                                    \
		.members = (table), .count = ARRAY_COUNT(table),                                             \
		.present = offsetof(struct type_name, field)                                                 \
	}

/* A member that is a field of the object's struct; one of the same name; one that is an object in turn. */
#define MEMBER(type_name, text, member_type, flag, field)                                                    \
	{                                                                                                    \
		NAME(text), .type = MEMBER_##member_type, .flags = (flag), FIELD(type_name, field),          \
			    .largest = LARGEST_NUMBER(MEMBER_##member_type)                                  \
	}
#define LARGEST_NUMBER(type)                                                                                 \
	((type) == MEMBER_U64                           ? UINT64_MAX                                         \
	 : (type) == MEMBER_U32 || (type) == MEMBER_UID ? UINT32_MAX                                         \
	 : (type) == MEMBER_U16                         ? UINT16_MAX                                         \
							: 0)
#define SAME(type_name, member_type, flag, field) MEMBER(type_name, #field, member_type, flag, field)
#define NESTED(type_name, text, flag, field, nested)                                                         \
	{                                                                                                    \
		NAME(text), .type = MEMBER_OBJECT, .flags = (flag), FIELD(type_name, field),                 \
			    .object = &(nested)                                                              \
	}

#endif
