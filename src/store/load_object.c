/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks through the JSON text by the tables of members, with a stack of positions for the error sentences. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "load_internal.h"
#include "metric/name.h"

enum {
	SHOWN_BYTES = 60, /* of a foreign text in an error sentence */
};

static void append_shown(struct buffer *buffer, const char *text, size_t length)
{
	bool cut = length > SHOWN_BYTES;

	buffer_append_char(buffer, '"');
	unicode_append_printable(buffer, text, cut ? SHOWN_BYTES : length, "?");
	buffer_append_text(buffer, cut ? "…\"" : "\"");
}

static void append_frames(const struct loader *loader, struct buffer *buffer)
{
	for (size_t i = 0; i < loader->depth; i++) {
		const struct frame *frame = &loader->frames[i];

		if (frame->container != NULL && frame->container->type == JSON_ARRAY) {
			buffer_append_format(buffer, "[%zu]", frame->index);
		} else if (frame->container != NULL) {
			buffer_append_char(buffer, '[');
			append_shown(buffer, frame->key.data, frame->key.length);
			buffer_append_char(buffer, ']');
		} else if (frame->member != NULL) {
			buffer_append_text(buffer, buffer->length != 0 ? "." : "");
			buffer_append_text(buffer, frame->member->name);
		}
	}
}

void load_append_path(const struct loader *loader, struct buffer *buffer)
{
	if (loader->outer != NULL)
		append_frames(loader->outer, buffer);
	append_frames(loader, buffer);
	if (loader->inner != NULL)
		append_frames(loader->inner, buffer);
	if (buffer->length == 0)
		buffer_append_text(buffer, "the snapshot");
}

/* Refuses the value at the present position: "byte 812: threads[12].nice WORDS". */
__attribute__((format(printf, 2, 3))) static int refuse(struct loader *loader, const char *format, ...)
{
	struct buffer path = {0};
	char words[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	load_append_path(loader, &path);
	error_set(loader->error, -EBADMSG, "byte %" PRIu64 ": %s %s", json_reader_offset(&loader->json),
		  path.data, words);
	buffer_release(&path);
	return -EBADMSG;
}

bool load_refuse(struct loader *loader, const struct json_scalar *value, const char *wanted)
{
	struct buffer shown = {0};

	if (value->type == JSON_NUMBER)
		buffer_append(&shown, value->text, value->length < SHOWN_BYTES ? value->length : SHOWN_BYTES);
	else if (value->type == JSON_STRING)
		append_shown(&shown, value->text, value->length);
	else if (value->type == JSON_BOOLEAN)
		buffer_append_text(&shown, value->boolean ? "true" : "false");
	else
		buffer_append_text(&shown, value->type == JSON_OBJECT  ? "an object"
					   : value->type == JSON_ARRAY ? "an array"
								       : "null");
	refuse(loader, "must be %s, not %s", wanted, shown.data);
	buffer_release(&shown);
	return false;
}

/* --- scalars --- */

/* Reads a number as the format wants it: digits only, in range. */
static bool number_up_to(const struct json_scalar *scalar, uint64_t largest, uint64_t *ret_value)
{
	return scalar->type == JSON_NUMBER && number_parse_u64(scalar->text, scalar->length, ret_value) &&
	       *ret_value <= largest;
}

static bool number_i32(const struct json_scalar *scalar, int32_t *ret_value)
{
	return scalar->type == JSON_NUMBER && number_parse_i32(scalar->text, scalar->length, ret_value);
}

const char *load_text(struct loader *loader, const char *text, size_t length)
{
	return unicode_duplicate_without_nul(&loader->snapshot->arena, text, length);
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

/* Interns a string. A NUL at its end becomes U+FFFD, since it would mark a name that ctop made up. */
static uint32_t intern(struct loader *loader, const struct json_scalar *scalar)
{
	struct buffer text = {0};
	uint32_t id;

	if (!name_is_own(scalar->text, scalar->length))
		return string_pool_intern(&loader->snapshot->strings, scalar->text, scalar->length);
	buffer_append(&text, scalar->text, scalar->length - 1);
	buffer_append_text(&text, "\uFFFD");
	id = string_pool_intern(&loader->snapshot->strings, text.data, text.length);
	buffer_release(&text);
	return id;
}

void load_mark_names(struct loader *loader, uint32_t *names, bool by_text)
{
	struct string_pool *strings = &loader->snapshot->strings;

	for (size_t i = 0; i < MEMBER_NAME_WORDS; i++) {
		const char *text = string_pool_text(strings, names[i]);
		struct name_text own = {text, strlen(text) + 1};

		if (!(loader->own_names & 1 << i))
			own = by_text ? name_find_own(text, string_pool_length(strings, names[i]))
				      : (struct name_text){0};
		if (own.length > 1)
			names[i] = snapshot_intern_own_name(strings, own);
	}
}

/* A value of a thread's metric; the field is a slot of thread_record.values. */
static bool load_value(struct loader *loader, const struct member *member, uint64_t *value,
		       const struct json_scalar *scalar)
{
	int32_t number;

	switch (metric_type(member->metric)->encoding) {
	case METRIC_ENCODING_U64:
	case METRIC_ENCODING_U32:
		return number_up_to(scalar, member->largest, value);
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

/* The number of a word; `unknown` for one of a later version. */
static unsigned int find_word(const char *const words[], size_t count, const struct json_scalar *scalar,
			      unsigned int unknown)
{
	const size_t word = name_find(words, count, sizeof(char *), scalar->text, scalar->length);

	return word < count ? (unsigned int)word : unknown;
}

/* A number into its field, which has 64 bits where it is a value of a metric. */
static void store_number(const struct member *member, void *field, uint64_t value)
{
	switch (member->type) {
	case MEMBER_U16:
		*(uint16_t *)field = (uint16_t)value;
		break;
	case MEMBER_U32:
	case MEMBER_UID:
		*(uint32_t *)field = (uint32_t)value;
		break;
	default:
		*(uint64_t *)field = value;
		break;
	}
}

static bool load_number(const struct member *member, void *field, const struct json_scalar *scalar)
{
	uint64_t value;

	if (!number_up_to(scalar, member->largest, &value))
		return false;
	store_number(member, field, value);
	return true;
}

static bool load_optional_u64(struct optional_u64 *field, const struct json_scalar *scalar)
{
	field->present = number_up_to(scalar, UINT64_MAX, &field->value);
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
		*(const char **)field = load_text(loader, scalar->text, scalar->length);
	else if (member->type == MEMBER_NAME)
		*(uint32_t *)field = intern(loader, scalar);
	else if (member->type == MEMBER_FEATURE_STATE)
		*(enum feature_state *)field = (enum feature_state)find_word(
			feature_state_names, FEATURE_STATE_OFF + 1, scalar, FEATURE_STATE_UNKNOWN);
	else if (member->type == MEMBER_LATENCY_CAUSE)
		*(enum latency_cause *)field = (enum latency_cause)find_word(
			latency_cause_names, LATENCY_CAUSE_COUNT, scalar, LATENCY_CAUSE_OTHER);
	else if (member->type == MEMBER_TASK_FIELD_KIND)
		*(enum task_field_kind *)field = (enum task_field_kind)find_word(
			task_field_kind_names, TASK_FIELD_KIND_COUNT, scalar, TASK_FIELD_KIND_OTHER);
	else
		*(reason_id *)field = reason_intern(scalar->text, scalar->length);
	return true;
}

/* A class that only a later version knows is one of no other class here. */
static bool load_wait_class(uint8_t *field, const struct json_scalar *scalar)
{
	enum wait_class class;

	if (scalar->type != JSON_STRING)
		return false;
	class = wait_class_find(scalar->text, scalar->length);
	*field = (uint8_t)(class != WAIT_CLASS_UNKNOWN ? class : WAIT_CLASS_OTHER);
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

static bool load_version(struct loader *loader, const struct json_scalar *scalar)
{
	uint64_t version;

	loader->names_are_marked = !number_up_to(scalar, UINT64_MAX, &version) ||
				   version >= NAMES_MARKED_SINCE;
	return scalar->type == JSON_NUMBER;
}

/* False for a scalar of a wrong type. */
static bool store(struct loader *loader, const struct member *member, void *target,
		  const struct json_scalar *scalar)
{
	void *field = (char *)target + member->offset;

	switch (member->type) {
	case MEMBER_VALUE:
		return load_value(loader, member, field, scalar);
	case MEMBER_U64:
	case MEMBER_U16:
	case MEMBER_U32:
	case MEMBER_UID:
		return load_number(member, field, scalar);
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
	case MEMBER_LATENCY_CAUSE:
	case MEMBER_TASK_FIELD_KIND:
		return load_string(loader, member, field, scalar);
	case MEMBER_VERSION:
		return load_version(loader, scalar);
	case MEMBER_WAITS:
		loader->knows_waits = is_text(scalar, MEMBER_WAITS_UNDER_WAY);
		loader->knows_stuck = is_text(scalar, MEMBER_WAITS_STUCK);
		return scalar->type == JSON_STRING;
	case MEMBER_WAIT_CLASSES:
		loader->knows_wait_classes = scalar->boolean;
		return scalar->type == JSON_BOOLEAN;
	case MEMBER_WAIT_CLASS:
		return load_wait_class(field, scalar);
	default:
		return false;
	}
}

/* Whether it is no object but a value without a name, in a list of values. */
static bool is_value(const struct object *object)
{
	return object != NULL && object->members[0].name == NULL;
}

/* The words for elements of a container, after "a " or "an ". */
static const char *element_words(const struct container *container)
{
	static const char *const words[] = {"an object", "a number", "a number", "a number", "a string"};

	return container->elements != NULL ? container->elements : words[container->holds];
}

enum {
	EXPECTATION_BYTES = 64,
};

static const char *number_words(uint64_t largest, const char *end, char words[EXPECTATION_BYTES])
{
	snprintf(words, EXPECTATION_BYTES, "a whole number from 0 to %" PRIu64 "%s", largest, end);
	return words;
}

static const char *array_words(const struct loader *loader, const struct member *member,
			       char words[EXPECTATION_BYTES])
{
	const char *element = element_words(&loader->containers[member->type]);

	if (member->type == MEMBER_LIST && is_value(member->object))
		element = member->object->members->type == MEMBER_TEXT ? "a string" : "a number";
	snprintf(words, EXPECTATION_BYTES, "an array of %ss", strchr(element, ' ') + 1);
	return words;
}

static const char *value_words(const struct member *member, char words[EXPECTATION_BYTES])
{
	switch (metric_type(member->metric)->encoding) {
	case METRIC_ENCODING_I32:
		return "a whole number from -2147483648 to 2147483647";
	case METRIC_ENCODING_CHARACTER:
		return "a string of one character";
	case METRIC_ENCODING_BOOLEAN:
		return "true or false";
	default:
		return member->largest != 0 ? number_words(member->largest, "", words) : "a string";
	}
}

/* The words of an error sentence for the value that a member takes. */
static const char *expectation_of(const struct loader *loader, const struct member *member,
				  char words[EXPECTATION_BYTES])
{
	switch (member->type) {
	case MEMBER_VALUE:
		return value_words(member, words);
	case MEMBER_BOOLEAN:
	case MEMBER_FLAG:
	case MEMBER_WAIT_CLASSES:
		return "true or false";
	case MEMBER_OPTIONAL_U64:
		return number_words(UINT64_MAX, " or null", words);
	case MEMBER_OPTIONAL_I32:
		return "a whole number from -2147483648 to 2147483647 or null";
	case MEMBER_VERSION:
		return "a number";
	case MEMBER_WAITS:
	case MEMBER_WAIT_CLASS:
		return "a string";
	default:
		break;
	}
	if (member->largest != 0)
		return number_words(member->largest, "", words);
	if (member->type <= MEMBER_LAST_SCALAR)
		return "a string";
	return loader->containers[member->type].type == JSON_ARRAY ? array_words(loader, member, words)
								   : "an object";
}

static bool refuse_member(struct loader *loader, const struct member *member, const struct json_scalar *value)
{
	char words[EXPECTATION_BYTES];

	return load_refuse(loader, value, expectation_of(loader, member, words));
}

static bool load_scalar(struct loader *loader, const struct member *member, void *target,
			const struct json_scalar *scalar)
{
	return store(loader, member, target, scalar) || refuse_member(loader, member, scalar);
}

/* Any integer of 64 bits, with a sign or without. */
static bool integer(const struct json_scalar *scalar, uint64_t *ret_value)
{
	const bool is_negative = scalar->type == JSON_NUMBER && scalar->text[0] == '-';
	uint64_t value;

	if (scalar->type != JSON_NUMBER ||
	    !number_parse_u64(scalar->text + is_negative, scalar->length - is_negative, &value) ||
	    (is_negative && value > (uint64_t)INT64_MAX + 1))
		return false;
	*ret_value = is_negative ? 0 - value : value;
	return true;
}

/* An element that is a number or a string. */
static bool load_element_value(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	const enum load_elements holds = frame->container->holds;
	const uint64_t largest = holds == LOAD_NUMBERS_32 ? UINT32_MAX : UINT64_MAX;
	struct load_value value = {.text = scalar->text, .length = scalar->length};
	char words[EXPECTATION_BYTES];

	if (holds == LOAD_STRINGS && scalar->type != JSON_STRING)
		return load_refuse(loader, scalar, "a string");
	if (holds == LOAD_INTEGERS && !integer(scalar, &value.number))
		return load_refuse(loader, scalar,
				   "a whole number from -9223372036854775808 to 18446744073709551615");
	if ((holds == LOAD_NUMBERS || holds == LOAD_NUMBERS_32) &&
	    !number_up_to(scalar, largest, &value.number))
		return load_refuse(loader, scalar, number_words(largest, "", words));
	frame->container->take(loader, frame, &value);
	return true;
}

/* --- objects and arrays --- */

void *load_add_element(struct frame *frame, size_t size)
{
	struct buffer *elements = &frame->elements;

	buffer_reserve(elements, size);
	memset(elements->data + elements->length, 0, size);
	elements->length += size;
	return elements->data + elements->length - size;
}

static bool is_scalar(const struct json_scalar *value)
{
	return value->type != JSON_OBJECT && value->type != JSON_ARRAY;
}

static struct frame *push(struct loader *loader, void *target)
{
	struct frame *frame = &loader->frames[loader->depth++];

	*frame = (struct frame){.target = target, .key = frame->key, .elements = frame->elements};
	return frame;
}

static inline bool is_seen(const struct frame *frame, size_t index)
{
	return (frame->seen[index / 64] >> (index % 64) & 1) != 0;
}

/* Notes that a member has come, which may be only once. */
static inline int see_member(struct loader *loader, struct frame *frame, size_t index)
{
	frame->next = index + 1;
	frame->member = &frame->object->members[index];
	if (is_seen(frame, index))
		return refuse(loader, "stands there twice");
	frame->seen[index / 64] |= (uint64_t)1 << (index % 64);
	if (frame->member->flags & MEMBER_OLDER) {
		loader->notes.older = frame->member;
		frame->is_older = true;
	}
	return 1;
}

/* Takes the name of the next member: 1, or 0 at the end of the object. */
static int next_member(struct loader *loader, struct frame *frame)
{
	const struct object *object = frame->object;
	const char *name;
	size_t length;
	int more;

	/* members mostly come in written order; of those that may be left out another one may be next */
	for (size_t i = frame->next; i < object->count; i++) {
		const struct member *expected = &object->members[i];

		if (!(expected->flags & MEMBER_UNWRITTEN) &&
		    json_reader_take_text(&loader->json, expected->prefix + loader->json.fresh,
					  expected->length - loader->json.fresh)) {
			loader->json.fresh = false;
			return see_member(loader, frame, i);
		}
		if (!(expected->flags & MEMBER_OMITTED))
			break;
	}
	more = json_reader_member(&loader->json, LOAD_NAME_MAX, &name, &length);
	if (more <= 0)
		return more;
	for (size_t i = 0; i < object->count; i++) {
		const struct member *member = &object->members[i];

		if (member->length == length + strlen(",\"\":") && !(member->flags & MEMBER_UNWRITTEN) &&
		    json_is_equal(member->name, name, length))
			return see_member(loader, frame, i);
	}
	frame->member = NULL;
	return 1;
}

static int load_elements(struct loader *loader, const struct container *container,
			 const struct member *member, void *target);

static bool allows_null(const struct member *member)
{
	return (member->flags & (MEMBER_NULLABLE | MEMBER_OMITTED)) != 0;
}

/* Most threads of a host may run on the same CPUs: the text of the last set is tried first. */
static bool take_last_set(struct loader *loader, const struct member *member, void *target)
{
	if (member->type != MEMBER_CPU_SET || loader->last_set.text.length == 0 ||
	    !json_reader_take_text(&loader->json, loader->last_set.text.data, loader->last_set.text.length))
		return false;
	*(uint64_t *)(void *)((char *)target + member->offset) = loader->last_set.id;
	return true;
}

/*
 * Short cut for most of a file: members in written order that are numbers, without blanks. It stops before
 * whatever else comes. Without it a file takes about twice as long.
 */
static void take_numbers(struct loader *loader, struct frame *frame)
{
	const struct object *object = frame->object;
	struct json_reader *json = &loader->json;
	uint64_t value;

	for (size_t i = frame->next; i < object->count; i++) {
		const struct member *member = &object->members[i];
		const char *before = json->next;

		if (member->largest == 0 || (member->flags & (MEMBER_OLDER | MEMBER_UNWRITTEN)) != 0 ||
		    is_seen(frame, i) ||
		    !json_reader_take_text(json, member->prefix + json->fresh, member->length - json->fresh))
			return;
		if (!json_reader_take_number(json, 0, &value) || value > member->largest) {
			json->next = before;
			return;
		}
		store_number(member, (char *)frame->target + member->offset, value);
		if (value != 0 && member->type == MEMBER_VALUE)
			loader->touched[loader->touched_count++] = (uint8_t)member->metric;
		json->fresh = false;
		frame->member = member;
		frame->next = i + 1;
		frame->seen[i / 64] |= (uint64_t)1 << (i % 64);
	}
}

struct loader *load_create(const struct container *containers, struct error *error)
{
	struct loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->containers = containers;
	loader->error = error;
	loader->snapshot = snapshot_create();
	return loader;
}

/*
 * The beginning of the window that ends with the snapshot is a snapshot of its own with a loader of its own,
 * which reads on where the other one is; both are joined once all threads are known.
 */
static int load_window(struct loader *loader, const struct object *object)
{
	struct loader *inner = load_create(loader->containers, loader->error);
	int result;

	loader->inner = inner;
	inner->outer = loader;
	inner->json = loader->json;
	inner->snapshot->provenance.present = true;
	result = load_object(inner, object, inner->snapshot);
	loader->json = inner->json;
	inner->json = (struct json_reader){0};
	return result;
}

/* The value of a member of the object at `frame`. */
static int load_member(struct loader *loader, struct frame *frame)
{
	const struct member *member = frame->member;
	const struct container *container;
	struct json_scalar scalar;

	if (member == NULL)
		return json_reader_skip(&loader->json);
	if (take_last_set(loader, member, frame->target))
		return 0;
	if (json_reader_scalar(&loader->json, &scalar) < 0)
		return loader->json.result;
	if (is_scalar(&scalar)) {
		if (scalar.type == JSON_NULL && allows_null(member))
			return 0;
		return load_scalar(loader, member, frame->target, &scalar) ? 0 : -EBADMSG;
	}
	if ((member->type == MEMBER_OBJECT || member->type == MEMBER_LATENCY) && scalar.type == JSON_OBJECT)
		return load_object(loader, member->object, (char *)frame->target + member->offset);
	if (member->type == MEMBER_WINDOW && scalar.type == JSON_OBJECT)
		return load_window(loader, member->object);
	if (member->type == MEMBER_WINDOW_ENDED && scalar.type == JSON_OBJECT)
		return load_object(loader, member->object, &loader->window.ended);
	if (member->type == MEMBER_TASK_FIELDS && scalar.type == JSON_OBJECT)
		return load_object(loader, member->object, &loader->task_fields.record);
	container = &loader->containers[member->type];
	if (container->type != scalar.type) {
		refuse_member(loader, member, &scalar);
		return -EBADMSG;
	}
	return load_elements(loader, container, member, frame->target);
}

static int load_element(struct loader *loader, struct frame *frame)
{
	const struct container *container = frame->container;
	const struct object *element = container->element != NULL ? container->element
								  : frame->member->object;
	struct json_scalar scalar;
	void *target;

	if (json_reader_scalar(&loader->json, &scalar) < 0)
		return loader->json.result;
	if (container->take != NULL && is_scalar(&scalar))
		return load_element_value(loader, frame, &scalar) ? 0 : -EBADMSG;
	if (is_value(element))
		return load_scalar(loader, element->members, container->begin_element(loader, frame), &scalar)
			       ? 0
			       : -EBADMSG;
	if (container->begin_element == NULL || scalar.type != JSON_OBJECT) {
		load_refuse(loader, &scalar, element_words(container));
		return -EBADMSG;
	}
	target = container->begin_element(loader, frame);
	if (target == NULL)
		return json_reader_skip(&loader->json);
	if (load_object(loader, element, target) < 0)
		return -EBADMSG;
	if (container->end_element != NULL)
		container->end_element(loader, frame + 1);
	return 0;
}

/* Short cut for contexts of schedulers, which are long lists of integers. */
static void take_integers(struct loader *loader, struct frame *frame)
{
	struct load_value value = {0};

	if (frame->container->holds != LOAD_INTEGERS)
		return;
	for (; json_reader_take_element(&loader->json, &value.number); frame->index++)
		frame->container->take(loader, frame, &value);
}

/* Takes the name of the next element of an open object, or sees that an array has one. */
static int next_element(struct loader *loader, struct frame *frame)
{
	const char *name;
	size_t length;
	int more;

	if (frame->container->type == JSON_ARRAY) {
		take_integers(loader, frame);
		return json_reader_element(&loader->json);
	}
	more = json_reader_member(&loader->json, JSON_TEXT_MAX, &name, &length);
	if (more > 0) {
		buffer_clear(&frame->key);
		buffer_append(&frame->key, name, length);
	}
	return more;
}

static int load_elements(struct loader *loader, const struct container *container,
			 const struct member *member, void *target)
{
	struct frame *frame = push(loader, (char *)target + member->offset);
	int more;

	frame->container = container;
	frame->member = member;
	buffer_clear(&frame->key);
	buffer_clear(&frame->elements);
	json_reader_enter(&loader->json);
	for (; (more = next_element(loader, frame)) > 0; frame->index++) {
		if (load_element(loader, frame) < 0)
			return -EBADMSG;
	}
	if (more == 0 && container->end != NULL)
		container->end(loader, frame);
	loader->depth -= more == 0;
	return more;
}

/* Refuses or notes what an object lacks that ends. */
static int end_object(struct loader *loader, struct frame *frame)
{
	const bool older_form = frame->object->has_older_form && frame->is_older;

	frame->member = NULL;
	for (size_t i = 0; i < frame->object->count; i++) {
		const struct member *member = &frame->object->members[i];

		if (!(member->flags & (MEMBER_REQUIRED | MEMBER_DEFAULTED)) || is_seen(frame, i))
			continue;
		if ((member->flags & MEMBER_REQUIRED) && !older_form)
			return refuse(loader, "lacks the member \"%s\"", member->name);
		if (frame->object == &thread_object)
			loader->notes.missing[i]++;
		else if (!older_form)
			loader->notes.other = member;
	}
	return 0;
}

int load_object(struct loader *loader, const struct object *object, void *target)
{
	struct frame *frame = push(loader, target);
	int more;

	frame->object = object;
	if (object->present != SIZE_MAX)
		*(bool *)((char *)target + object->present) = true;
	json_reader_enter(&loader->json);
	while (take_numbers(loader, frame), (more = next_member(loader, frame)) > 0) {
		if (load_member(loader, frame) < 0)
			return -EBADMSG;
		if (frame->member != NULL &&
		    (frame->member->type == MEMBER_VALUE || frame->member->type == MEMBER_CPU_SET))
			loader->touched[loader->touched_count++] = (uint8_t)frame->member->metric;
	}
	if (more < 0 || end_object(loader, frame) < 0)
		return -EBADMSG;
	loader->depth--;
	return 0;
}
