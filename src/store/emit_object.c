/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes objects by their tables, and what all other members are made of. */
#include <string.h>

#include "base/number.h"
#include "base/unicode.h"
#include "emit_internal.h"

void emit_flush(struct emitter *emitter)
{
	if (emitter->json.length == 0)
		return;
	emitter->last = emitter->json.data[emitter->json.length - 1];
	if (emitter->result == 0)
		emitter->result = emitter->sink(emitter->context, emitter->json.data, emitter->json.length);
	buffer_clear(&emitter->json);
}

void emit_flush_full(struct emitter *emitter)
{
	if (emitter->json.length >= EMIT_FLUSH_BYTES)
		emit_flush(emitter);
}

static inline bool needs_separator(const struct emitter *emitter)
{
	const struct buffer *json = &emitter->json;
	char before = json->length != 0 ? json->data[json->length - 1] : emitter->last;

	/* a string ends in '"', so these three are never part of one */
	return before != '{' && before != '[' && before != ':';
}

void emit_separator(struct emitter *emitter)
{
	if (needs_separator(emitter))
		buffer_append_char(&emitter->json, ',');
}

/* The name of a member, with the comma before it unless it is the first. */
static inline void emit_prefix(struct emitter *emitter, const struct member *member)
{
	size_t first = needs_separator(emitter) ? 0 : 1;

	buffer_append(&emitter->json, member->prefix + first, member->length - first);
}

static void emit_escape(struct buffer *json, unsigned char byte)
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

	if (byte == '"' || byte == '\\' || letters[byte] != '\0') {
		buffer_append_char(json, '\\');
		buffer_append_char(json, byte < 0x20 ? letters[byte] : (char)byte);
	} else {
		buffer_append_format(json, "\\u%04x", byte);
	}
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static void emit_special(struct buffer *json, const char *text, size_t length)
{
	uint32_t scalar;

	for (size_t i = 0, used; i < length; i += used) {
		used = unicode_decode(text + i, length - i, &scalar);
		if (used == 0) {
			buffer_append_format(json, "\\\\x%02x", (unsigned char)text[i]);
			used = 1;
		} else if (used > 1 || is_plain((unsigned char)text[i])) {
			buffer_append(json, text + i, used);
		} else {
			emit_escape(json, (unsigned char)text[i]);
		}
	}
}

static void emit_string(struct emitter *emitter, const char *text, size_t length)
{
	struct buffer *json = &emitter->json;
	size_t plain = 0;

	while (plain < length && is_plain((unsigned char)text[plain]))
		plain++;
	buffer_reserve(json, plain + strlen("\"\""));
	json->data[json->length++] = '"';
	memcpy(json->data + json->length, text, plain);
	json->length += plain;
	if (plain != length)
		emit_special(json, text + plain, length - plain);
	buffer_append_char(json, '"');
}

void emit_text(struct emitter *emitter, const char *text)
{
	emit_string(emitter, text, strlen(text));
}

void emit_begin(struct emitter *emitter, char bracket)
{
	buffer_append_char(&emitter->json, bracket);
}

bool emit_end(struct emitter *emitter, char bracket)
{
	const struct buffer *json = &emitter->json;
	const char before = json->length != 0 ? json->data[json->length - 1] : emitter->last;

	buffer_append_char(&emitter->json, bracket);
	return before != '{' && before != '[';
}

void emit_foreign_key(struct emitter *emitter, const char *text, size_t length)
{
	emit_separator(emitter);
	emit_string(emitter, text, length);
	buffer_append_char(&emitter->json, ':');
}

void emit_key(struct emitter *emitter, const char *name)
{
	emit_foreign_key(emitter, name, strlen(name));
}

void emit_number(struct emitter *emitter, uint64_t number)
{
	emit_separator(emitter);
	buffer_append_u64(&emitter->json, number);
}

void emit_named_text(struct emitter *emitter, const char *name, const char *text)
{
	emit_key(emitter, name);
	emit_text(emitter, text);
}

void emit_named_u64(struct emitter *emitter, const char *name, uint64_t value)
{
	emit_key(emitter, name);
	buffer_append_u64(&emitter->json, value);
}

static void emit_name(struct emitter *emitter, uint32_t id)
{
	const struct string_pool *strings = &emitter->snapshot->strings;

	emit_string(emitter, string_pool_text(strings, id),
		    name_shown_length(string_pool_text(strings, id), string_pool_length(strings, id)));
}

static void emit_boolean(struct emitter *emitter, bool value)
{
	buffer_append_text(&emitter->json, value ? "true" : "false");
}

/* A state that was never set is the unknown one. */
static void emit_character(struct emitter *emitter, uint64_t value)
{
	struct buffer text = {0};

	unicode_append(&text, value != 0 ? (uint32_t)value : '~');
	emit_string(emitter, text.data, text.length);
	buffer_release(&text);
}

static void emit_value(struct emitter *emitter, enum metric metric, uint64_t value)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_I32:
		buffer_append_i64(&emitter->json, (int64_t)value);
		break;
	case METRIC_ENCODING_STRING:
		emit_name(emitter, (uint32_t)value);
		break;
	case METRIC_ENCODING_CHARACTER:
		emit_character(emitter, value);
		break;
	case METRIC_ENCODING_BOOLEAN:
		emit_boolean(emitter, value != 0);
		break;
	default:
		break; /* a plain number, or a container */
	}
}

/* Digits and nothing else: one that is above the largest is below 0. */
static bool is_plain_number(const struct member *member, const void *field)
{
	return member->largest != 0 && member_number(member, field) <= member->largest;
}

/* Whether a scalar is absent. In the file null or a value says so, unless it is MEMBER_OMITTED. */
static bool is_absent(const struct member *member, const char *target)
{
	const void *field = target + member->offset;
	bool omitted = (member->flags & MEMBER_OMITTED) != 0;

	switch (member->type) {
	case MEMBER_TEXT:
		return *(const char *const *)field == NULL;
	case MEMBER_OPTIONAL_U64:
		return !((const struct optional_u64 *)field)->present;
	case MEMBER_OPTIONAL_I32:
		return !((const struct optional_i32 *)field)->present;
	case MEMBER_UID:
		return *(const uint32_t *)field == UINT32_MAX;
	case MEMBER_NAME:
		return omitted && *(const uint32_t *)field == 0;
	case MEMBER_U64:
	case MEMBER_VALUE:
		return omitted && *(const uint64_t *)field == 0;
	case MEMBER_BOOLEAN:
		return omitted && !*(const bool *)field;
	case MEMBER_FLAG:
		return omitted && !(*(const uint8_t *)field & member->bit);
	case MEMBER_FEATURE_REASON:
		return *(const reason_id *)field == REASON_READ;
	case MEMBER_LATENCY_CAUSE:
		return *(const enum latency_cause *)field == LATENCY_CAUSE_THREADS;
	default:
		return false;
	}
}

void emit_scalar(struct emitter *emitter, const struct member *member, const void *field)
{
	if (is_plain_number(member, field)) {
		buffer_append_u64(&emitter->json, member_number(member, field));
		return;
	}
	switch (member->type) {
	case MEMBER_VALUE:
		emit_value(emitter, member->metric, *(const uint64_t *)field);
		break;
	case MEMBER_OPTIONAL_U64:
		buffer_append_u64(&emitter->json, ((const struct optional_u64 *)field)->value);
		break;
	case MEMBER_OPTIONAL_I32:
		buffer_append_i64(&emitter->json, ((const struct optional_i32 *)field)->value);
		break;
	case MEMBER_BOOLEAN:
		emit_boolean(emitter, *(const bool *)field);
		break;
	case MEMBER_FLAG:
		emit_boolean(emitter, (*(const uint8_t *)field & member->bit) != 0);
		break;
	case MEMBER_TEXT:
		emit_text(emitter, *(const char *const *)field);
		break;
	case MEMBER_NAME:
		emit_name(emitter, *(const uint32_t *)field);
		break;
	case MEMBER_FEATURE_STATE:
		emit_text(emitter, feature_state_names[*(const enum feature_state *)field]);
		break;
	case MEMBER_FEATURE_REASON:
		emit_text(emitter, reason_name(*(const reason_id *)field));
		break;
	case MEMBER_LATENCY_CAUSE:
		emit_text(emitter, latency_cause_names[*(const enum latency_cause *)field]);
		break;
	case MEMBER_TASK_FIELD_KIND:
		emit_text(emitter, task_field_kind_names[*(const enum task_field_kind *)field]);
		break;
	case MEMBER_VERSION:
		buffer_append_u64(&emitter->json, PROVENANCE_VERSION);
		break;
	default:
		break;
	}
}

static bool emit_nested(struct emitter *emitter, const struct member *member, const char *target)
{
	const char *nested = target + member->offset;
	size_t start = emitter->json.length;

	if (member->object->present != SIZE_MAX && !*(const bool *)(nested + member->object->present))
		return false;
	emit_object(emitter, member->object, nested);
	return member->object->present != SIZE_MAX || emitter->json.length - start > strlen("{}");
}

/*
 * Most members are numbers that are always there: name and digits in room that is made once. The name is
 * copied whole, which is less work than the length that is needed.
 */
static inline void emit_named_number(struct emitter *emitter, const struct member *member, uint64_t number)
{
	struct buffer *json = &emitter->json;
	char *end;

	buffer_reserve(json, sizeof(member->prefix) + NUMBER_DIGITS_MAX);
	end = json->data + json->length;
	memcpy(end, member->prefix, sizeof(member->prefix));
	if (__builtin_expect(!needs_separator(emitter), 0))
		memcpy(end--, member->prefix + 1, sizeof(member->prefix) - 1);
	end += member->length;
	end += number_write_u64(number, end);
	*end = '\0';
	json->length = (size_t)(end - json->data);
}

/* A member with its name and the comma before it, unless it is absent and to be omitted then. */
static void emit_member(struct emitter *emitter, const struct member *member, const void *target_pointer)
{
	const char *target = target_pointer;
	size_t start = emitter->json.length;
	bool present = true;

	if (!(member->flags & MEMBER_OMITTED) && is_plain_number(member, target + member->offset)) {
		emit_named_number(emitter, member, member_number(member, target + member->offset));
		return;
	}
	emit_prefix(emitter, member);
	if (member->type > MEMBER_LAST_SCALAR)
		present = member->type == MEMBER_OBJECT ? emit_nested(emitter, member, target)
							: emitter->container(emitter, member, target);
	else if (is_absent(member, target))
		present = false;
	else
		emit_scalar(emitter, member, target + member->offset);
	if (present)
		return;
	if (member->flags & MEMBER_OMITTED)
		emitter->json.length = start;
	else if (member->flags & MEMBER_NULLABLE)
		buffer_append_text(&emitter->json, "null");
	else if (member->type == MEMBER_TEXT)
		buffer_append_text(&emitter->json, "\"\"");
}

void emit_object(struct emitter *emitter, const struct object *object, const void *target)
{
	buffer_append_char(&emitter->json, '{');
	for (size_t i = 0; i < object->count; i++) {
		if (!(object->members[i].flags & (MEMBER_OLDER | MEMBER_UNWRITTEN)))
			emit_member(emitter, &object->members[i], target);
	}
	buffer_append_char(&emitter->json, '}');
}
