/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings, numbers and booleans of a snapshot file, each checked against what its member must be. */
#include <string.h>

#include "base/unicode.h"
#include "load.h"
#include "metric/name.h"

static bool number_up_to(const struct json_scalar *scalar, uint64_t largest, uint64_t *ret_value)
{
	return load_number_u64(scalar, ret_value) && *ret_value <= largest;
}

static bool number_i32(const struct json_scalar *scalar, int32_t *ret_value)
{
	return scalar->type == JSON_NUMBER && number_parse_i32(scalar->text, scalar->length, ret_value);
}

reason_id load_reason(struct loader *loader, const char *name, size_t length)
{
	return snapshot_reason_intern(loader->outer != NULL ? loader->outer->snapshot : loader->snapshot,
				      name, length);
}

const char *load_text(struct loader *loader, const struct json_scalar *scalar)
{
	return unicode_duplicate_without_nul(&loader->snapshot->arena, scalar->text, scalar->length);
}

static bool character(struct loader *loader, const struct json_scalar *scalar, uint64_t *ret_value)
{
	uint32_t scalar_value;

	if (scalar->type != JSON_STRING || scalar->length == 0 ||
	    unicode_decode(scalar->text, scalar->length, &scalar_value) != scalar->length)
		return false;
	if (scalar_value == '?') {
		/* what older generations wrote for a state that could not be read */
		loader->notes.older_state = true;
		scalar_value = '~';
	}
	*ret_value = scalar_value;
	return true;
}

static uint32_t intern(struct loader *loader, const struct json_scalar *scalar)
{
	return string_pool_intern(&loader->snapshot->strings, scalar->text, scalar->length);
}

/* A value of a thread's metric; the field is a slot of thread_record.values. */
static bool load_value(struct loader *loader, enum metric_encoding encoding, uint64_t *value,
		       const struct json_scalar *scalar)
{
	int32_t number;

	switch (encoding) {
	case METRIC_ENCODING_U64:
		return load_number_u64(scalar, value);
	case METRIC_ENCODING_U32:
		return number_up_to(scalar, UINT32_MAX, value);
	case METRIC_ENCODING_I32:
		if (!number_i32(scalar, &number))
			return false;
		*value = (uint64_t)(int64_t)number;
		return true;
	case METRIC_ENCODING_STRING:
		*value = intern(loader, scalar);
		return scalar->type == JSON_STRING;
	case METRIC_ENCODING_CHARACTER:
		return character(loader, scalar, value);
	case METRIC_ENCODING_BOOLEAN:
		*value = scalar->boolean;
		return scalar->type == JSON_BOOLEAN;
	case METRIC_ENCODING_CPU_SET:
		break; /* a container */
	}
	return false;
}

static enum feature_state feature_state(const struct json_scalar *scalar)
{
	size_t state = name_find(feature_state_names, FEATURE_STATE_OFF + 1, sizeof(char *), scalar->text,
				 scalar->length);

	return state <= FEATURE_STATE_OFF ? (enum feature_state)state : FEATURE_STATE_UNKNOWN;
}

static enum reason feature_reason(const struct json_scalar *scalar)
{
	enum reason reason = reason_find(scalar->text, scalar->length);

	return reason != REASON_COUNT ? reason : REASON_UNREADABLE;
}

/* A number into a field that is narrower than it. */
static bool load_narrow(const struct member *member, void *field, const struct json_scalar *scalar)
{
	uint64_t value;

	if (!number_up_to(scalar, member->type == MEMBER_U16 ? UINT16_MAX : UINT32_MAX, &value))
		return false;
	if (member->type == MEMBER_U16)
		*(uint16_t *)field = (uint16_t)value;
	else
		*(uint32_t *)field = (uint32_t)value;
	return true;
}

static bool load_optional_u64(struct optional_u64 *field, const struct json_scalar *scalar)
{
	field->present = load_number_u64(scalar, &field->value);
	return field->present;
}

static bool load_optional_i32(struct optional_i32 *field, const struct json_scalar *scalar)
{
	field->present = number_i32(scalar, &field->value);
	return field->present;
}

static bool is_text(const struct json_scalar *scalar, const char *text)
{
	return scalar->type == JSON_STRING && scalar->length == strlen(text) &&
	       json_is_equal(text, scalar->text, scalar->length);
}

static bool load_string(struct loader *loader, const struct member *member, void *field,
			const struct json_scalar *scalar)
{
	if (scalar->type != JSON_STRING)
		return false;
	if (member->type == MEMBER_TEXT)
		*(const char **)field = load_text(loader, scalar);
	else if (member->type == MEMBER_NAME)
		*(uint32_t *)field = intern(loader, scalar);
	else if (member->type == MEMBER_FEATURE_STATE)
		*(enum feature_state *)field = feature_state(scalar);
	else
		*(enum reason *)field = feature_reason(scalar);
	return true;
}

static bool load_boolean(const struct member *member, void *field, const struct json_scalar *scalar)
{
	if (scalar->type != JSON_BOOLEAN)
		return false;
	if (member->type == MEMBER_BOOLEAN)
		*(bool *)field = scalar->boolean;
	else if (scalar->boolean)
		*(uint8_t *)field |= member->bit;
	return true;
}

/* False for a scalar of a wrong type. */
static bool store(struct loader *loader, const struct member *member, void *target,
		  const struct json_scalar *scalar)
{
	void *field = (char *)target + member->offset;

	switch (member->type) {
	case MEMBER_VALUE:
		return load_value(loader, metric_type(member->metric)->encoding, field, scalar);
	case MEMBER_U64:
		return load_number_u64(scalar, field);
	case MEMBER_U16:
	case MEMBER_U32:
	case MEMBER_UID:
		return load_narrow(member, field, scalar);
	case MEMBER_BOOLEAN:
	case MEMBER_FLAG:
		return load_boolean(member, field, scalar);
	case MEMBER_OPTIONAL_U64:
		return load_optional_u64(field, scalar);
	case MEMBER_OPTIONAL_I32:
		return load_optional_i32(field, scalar);
	case MEMBER_TEXT:
	case MEMBER_NAME:
	case MEMBER_FEATURE_STATE:
	case MEMBER_FEATURE_REASON:
		return load_string(loader, member, field, scalar);
	case MEMBER_TASK_FIELD_KIND:
		return scalar->type == JSON_STRING && load_task_field_kind(scalar, field);
	case MEMBER_VERSION:
		return scalar->type == JSON_NUMBER;
	case MEMBER_WAITS:
		loader->knows_waits = is_text(scalar, MEMBER_WAITS_UNDER_WAY);
		loader->knows_stuck = is_text(scalar, MEMBER_WAITS_STUCK);
		return scalar->type == JSON_STRING;
	default:
		return false;
	}
}

bool load_scalar(struct loader *loader, const struct member *member, void *target,
		 const struct json_scalar *scalar)
{
	return store(loader, member, target, scalar) || load_refuse(loader, scalar, load_expectation(member));
}

#define WHOLE_NUMBER "a whole number from 0 to "

static const char *const encoding_words[] = {
	[METRIC_ENCODING_U64] = WHOLE_NUMBER "18446744073709551615",
	[METRIC_ENCODING_U32] = WHOLE_NUMBER "4294967295",
	[METRIC_ENCODING_I32] = "a whole number from -2147483648 to 2147483647",
	[METRIC_ENCODING_STRING] = "a string",
	[METRIC_ENCODING_CHARACTER] = "a string of one character",
	[METRIC_ENCODING_BOOLEAN] = "true or false",
};

/* Types that are not named here are objects. */
static const char *const type_words[MEMBER_TYPE_COUNT] = {
	[MEMBER_U64] = WHOLE_NUMBER "18446744073709551615",
	[MEMBER_U32] = WHOLE_NUMBER "4294967295",
	[MEMBER_U16] = WHOLE_NUMBER "65535",
	[MEMBER_BOOLEAN] = "true or false",
	[MEMBER_FLAG] = "true or false",
	[MEMBER_UID] = WHOLE_NUMBER "4294967295",
	[MEMBER_OPTIONAL_U64] = WHOLE_NUMBER "18446744073709551615 or null",
	[MEMBER_OPTIONAL_I32] = "a whole number from -2147483648 to 2147483647 or null",
	[MEMBER_TEXT] = "a string",
	[MEMBER_NAME] = "a string",
	[MEMBER_FEATURE_STATE] = "a string",
	[MEMBER_FEATURE_REASON] = "a string",
	[MEMBER_TASK_FIELD_KIND] = "a string",
	[MEMBER_VERSION] = "a number",
	[MEMBER_WAITS] = "a string",
	[MEMBER_CPU_SET] = "an array of CPU numbers",
	[MEMBER_NUMBERS] = "an array of numbers",
	[MEMBER_THREADS] = "an array of thread records",
	[MEMBER_CAPABILITIES] = "an array of strings",
	[MEMBER_SCOPE] = "an array of process ids",
	[MEMBER_HEAP] = "an array of objects",
	[MEMBER_TASK_FIELD_MEMBERS] = "an array of objects",
	[MEMBER_WINDOW_THREADS] = "an array of thread records",
	[MEMBER_WINDOW_BORN] = "an array of numbers",
	[MEMBER_WINDOW_UNKNOWN] = "an array of numbers",
	[MEMBER_WINDOW_RESIDENT] = "an array of numbers",
	[MEMBER_PART_NAMES] = "an array of objects",
	[MEMBER_PARTS] = "an array of objects",
	[MEMBER_PART_INDICES] = "an array of numbers",
	[MEMBER_PART_METRICS] = "an array of strings",
	[MEMBER_PART_AMOUNTS] = "an array of numbers",
	[MEMBER_ENDED_RECORDS] = "an array of objects",
	[MEMBER_TASK_FIELD_VALUES] = "an array of numbers",
};

const char *load_expectation(const struct member *member)
{
	if (member->type == MEMBER_VALUE)
		return encoding_words[metric_type(member->metric)->encoding];
	return type_words[member->type] != NULL ? type_words[member->type] : "an object";
}
