/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Thread records as every writer of the format makes them: no blank, members in written order, names in
 * ASCII. Nearly all of a file is such records, and the general parser spends five times as long on them. This
 * one knows nothing else and reports no errors: at anything it does not expect it gives the record up, and
 * the general parser reads it from its beginning.
 */
#include <string.h>

#include "loader.h"

struct scanner {
	struct snapshot_loader *loader;
	const char *next, *end;
};

static inline bool take(struct scanner *scanner, char character)
{
	if (scanner->next == scanner->end || *scanner->next != character)
		return false;
	scanner->next++;
	return true;
}

static bool take_text(struct scanner *scanner, const char *text, size_t length)
{
	if ((size_t)(scanner->end - scanner->next) < length || memcmp(scanner->next, text, length) != 0)
		return false;
	scanner->next += length;
	return true;
}

/* "NAME": */
static inline bool take_name(struct scanner *scanner, const struct member *member)
{
	const char *text = scanner->next;
	size_t length = member->length;

	if ((size_t)(scanner->end - text) < length + 3 || text[0] != '"' || text[length + 1] != '"' ||
	    text[length + 2] != ':' || !load_is_named(member, text + 1, length))
		return false;
	scanner->next += length + 3;
	return true;
}

/* The digits of a number: none too many for uint64_t, no 0 before others. What follows is for the caller. */
static inline bool take_number(struct scanner *scanner, uint64_t *ret_value)
{
	const char *text = scanner->next, *end = scanner->end;
	uint64_t value = 0;

	if ((size_t)(end - text) > LOAD_SAFE_DIGITS)
		end = text + LOAD_SAFE_DIGITS;
	while (text < end && (unsigned char)(*text - '0') <= 9)
		value = value * 10 + (unsigned char)(*text++ - '0');
	if (text == scanner->next || (*scanner->next == '0' && text - scanner->next > 1))
		return false;
	scanner->next = text;
	*ret_value = value;
	return true;
}

static bool take_string(struct scanner *scanner, struct json_scalar *scalar)
{
	const char *text = ++scanner->next;

	while (text < scanner->end && *text >= ' ' && *text < 0x7f && *text != '"' && *text != '\\')
		text++;
	if (text == scanner->end || *text != '"')
		return false;
	*scalar = (struct json_scalar){
		.type = JSON_STRING, .text = scanner->next, .length = (size_t)(text - scanner->next)};
	scanner->next = text + 1;
	return true;
}

static bool take_scalar(struct scanner *scanner, struct json_scalar *scalar)
{
	const char *start = scanner->next;
	uint64_t value;

	if (start == scanner->end)
		return false;
	if (*start == '"')
		return take_string(scanner, scalar);
	*scalar = (struct json_scalar){.type = JSON_BOOLEAN, .text = ""};
	if (take_text(scanner, "false", 5))
		return true;
	scalar->boolean = true;
	if (take_text(scanner, "true", 4))
		return true;
	scanner->next += *start == '-';
	if (!take_number(scanner, &value))
		return false;
	*scalar = (struct json_scalar){
		.type = JSON_NUMBER, .text = start, .length = (size_t)(scanner->next - start)};
	return true;
}

/* The elements of an array or open object, each given to the container as the general parser would. */
static bool take_elements(struct scanner *scanner, const struct container *container, struct frame *frame)
{
	struct snapshot_loader *loader = scanner->loader;
	char end = container->type == JSON_ARRAY ? ']' : '}';
	struct json_scalar scalar;

	for (; !take(scanner, end); frame->index++) {
		if (frame->index != 0 && !take(scanner, ','))
			return false;
		if (container->type == JSON_OBJECT) {
			if (scanner->next == scanner->end || *scanner->next != '"' ||
			    !take_string(scanner, &scalar) || !take(scanner, ':'))
				return false;
			buffer_clear(&frame->key);
			buffer_append(&frame->key, scalar.text, scalar.length);
		}
		if (!take_scalar(scanner, &scalar))
			return false;
		if (!container->load_scalar(loader, frame, &scalar)) {
			buffer_clear(&loader->damage); /* the general parser will say it */
			return false;
		}
	}
	if (container->end != NULL)
		container->end(loader, frame);
	return true;
}

static bool take_container(struct scanner *scanner, const struct member *member, void *target)
{
	struct snapshot_loader *loader = scanner->loader;
	const struct container *container = load_container(member);
	struct frame *frame = &loader->frames[loader->depth]; /* free, and so is its buffer */
	struct buffer key = frame->key;

	if (container == NULL || container->load_scalar == NULL ||
	    !take(scanner, container->type == JSON_ARRAY ? '[' : '{'))
		return false;
	*frame = (struct frame){
		.container = container,
		.target = (char *)target + member->offset,
		.member = member,
		.key = key,
	};
	return take_elements(scanner, container, frame);
}

/* Most threads of a host run on the same CPUs: the text is compared with that of the last set first. */
static bool take_cpu_set(struct scanner *scanner, const struct member *member, void *target)
{
	struct snapshot_loader *loader = scanner->loader;
	uint64_t *id = (uint64_t *)((char *)target + member->offset);
	const char *start = scanner->next;

	if (loader->last_set.text.length != 0 &&
	    take_text(scanner, loader->last_set.text.data, loader->last_set.text.length)) {
		*id = loader->last_set.id;
		return true;
	}
	if (!take_container(scanner, member, target))
		return false;
	buffer_clear(&loader->last_set.text);
	buffer_append(&loader->last_set.text, start, (size_t)(scanner->next - start));
	loader->last_set.id = *id;
	return true;
}

static bool take_object(struct scanner *scanner, const struct object *object, void *target);

static bool take_value(struct scanner *scanner, const struct member *member, void *target)
{
	struct json_scalar scalar;

	if (member->type == MEMBER_OBJECT)
		return take_object(scanner, member->object, (char *)target + member->offset);
	if (member->type > MEMBER_LAST_SCALAR)
		return take_container(scanner, member, target);
	if (member->type == MEMBER_VALUE && metric_type(member->metric)->encoding == METRIC_ENCODING_CPU_SET)
		return take_cpu_set(scanner, member, target);
	return take_scalar(scanner, &scalar) && load_store(scanner->loader, member, target, &scalar);
}

/* An object with all its members in their order, but for those that are left out when they are empty. */
static bool take_object(struct scanner *scanner, const struct object *object, void *target)
{
	const bool *plain = object == &thread_object ? scanner->loader->thread_is_plain : NULL;
	bool first = true;

	if (!take(scanner, '{'))
		return false;
	for (size_t i = 0; i < object->count; i++) {
		const struct member *member = &object->members[i];
		const char *start = scanner->next;

		if (member->flags & MEMBER_OLDER)
			continue;
		if ((!first && !take(scanner, ',')) || !take_name(scanner, member)) {
			if (!(member->flags & MEMBER_OMITTED))
				return false;
			scanner->next = start;
			continue;
		}
		first = false;
		if (plain != NULL && plain[i]
			    ? !take_number(scanner, (uint64_t *)((char *)target + member->offset))
			    : !take_value(scanner, member, target))
			return false;
	}
	return take(scanner, '}');
}

size_t load_plain_threads(struct snapshot_loader *loader, const char *text, size_t length)
{
	struct scanner scanner = {.loader = loader, .next = text, .end = text + length};
	const char *taken = text;

	for (;;) {
		size_t reason_count = loader->reasons.count, age_count = loader->ages.count;

		load_begin_thread(loader);
		if (!take_object(&scanner, &thread_object, &loader->thread) || !take(&scanner, ',')) {
			loader->reasons.count = reason_count;
			loader->ages.count = age_count;
			break;
		}
		load_commit_thread(loader);
		loader->frame->index++;
		taken = scanner.next;
	}
	return (size_t)(taken - text);
}
