/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks the JSON text with a stack of places, each of which knows what may come by the tables. */
#include "load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "loader.h"

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

/* The present place: threads[12].cpu_affinity[3], cgroup_stats["/a"].memory. */
static void append_path(const struct snapshot_loader *loader, struct buffer *buffer)
{
	size_t start = buffer->length;

	for (size_t i = 0; i < loader->depth; i++) {
		const struct frame *frame = &loader->frames[i];

		if (frame->container != NULL && frame->container->type == JSON_ARRAY) {
			buffer_append_format(buffer, "[%zu]", frame->index);
		} else if (frame->container != NULL) {
			buffer_append_char(buffer, '[');
			append_shown(buffer, frame->key.data, frame->key.length);
			buffer_append_char(buffer, ']');
		} else if (frame->member != NULL) {
			buffer_append_text(buffer, buffer->length != start ? "." : "");
			buffer_append_text(buffer, frame->member->name);
		}
	}
	if (buffer->length == start)
		buffer_append_text(buffer, "the snapshot");
}

bool load_refuse(struct snapshot_loader *loader, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	append_path(loader, &loader->damage);
	buffer_append_char(&loader->damage, ' ');
	buffer_append_text(&loader->damage, text);
	return false;
}

bool load_refuse_scalar(struct snapshot_loader *loader, const struct json_scalar *scalar, const char *wanted)
{
	load_refuse(loader, "must be %s, not ", wanted);
	switch (scalar->type) {
	case JSON_NUMBER:
		buffer_append(&loader->damage, scalar->text,
			      scalar->length < SHOWN_BYTES ? scalar->length : SHOWN_BYTES);
		break;
	case JSON_STRING:
		append_shown(&loader->damage, scalar->text, scalar->length);
		break;
	case JSON_BOOLEAN:
		buffer_append_text(&loader->damage, scalar->boolean ? "true" : "false");
		break;
	default:
		buffer_append_text(&loader->damage, "null");
		break;
	}
	return false;
}

static bool refuse_structure(struct snapshot_loader *loader, enum json_type type, const char *wanted)
{
	return load_refuse(loader, "must be %s, not an %s", wanted, type == JSON_OBJECT ? "object" : "array");
}

/* Members mostly come in written order: the one that is expected next is tried first. */
static inline size_t find_member(const struct frame *frame, const char *text, size_t length)
{
	const struct object *object = frame->object;
	size_t index = frame->next;

	if (index < object->count && load_is_named(&object->members[index], text, length))
		return index;
	for (index = 0; index < object->count; index++) {
		if (load_is_named(&object->members[index], text, length))
			break;
	}
	return index;
}

static bool handle_key(void *loader_pointer, const char *text, size_t length)
{
	struct snapshot_loader *loader = loader_pointer;
	struct frame *frame = loader->frame;
	uint64_t *seen, bit;
	size_t index;

	loader->slot = NULL;
	if (loader->skipped != 0)
		return true;
	if (frame->object == NULL) {
		buffer_clear(&frame->key);
		buffer_append(&frame->key, text, length);
		return true;
	}
	index = find_member(frame, text, length);
	if (index == frame->object->count) {
		frame->member = NULL;
		return true;
	}
	frame->next = index + 1;
	frame->member = &frame->object->members[index];
	seen = &frame->seen[index / 64];
	bit = (uint64_t)1 << (index % 64);
	if (*seen & bit)
		return load_refuse(loader, "stands there twice");
	*seen |= bit;
	if (frame->object == &thread_object && loader->thread_is_plain[index])
		loader->slot = (uint64_t *)((char *)frame->target + frame->member->offset);
	if (frame->member->flags & MEMBER_OLDER)
		loader->notes.older = frame->member;
	return true;
}

static bool allows_null(const struct member *member)
{
	return (member->flags & (MEMBER_NULLABLE | MEMBER_OMITTED)) != 0;
}

static bool handle_scalar(void *loader_pointer, const struct json_scalar *scalar)
{
	struct snapshot_loader *loader = loader_pointer;
	struct frame *frame;
	bool loaded;

	if (loader->slot != NULL && load_number_u64(scalar, loader->slot))
		return true;
	if (loader->skipped != 0)
		return true;
	if (loader->depth == 0)
		return load_refuse_scalar(loader, scalar, "an object");
	frame = loader->frame;
	if (frame->container != NULL) {
		if (frame->container->load_scalar == NULL)
			return load_refuse_scalar(loader, scalar, frame->container->elements);
		loaded = frame->container->load_scalar(loader, frame, scalar);
		frame->index += loaded;
		return loaded;
	}
	if (frame->member == NULL || (scalar->type == JSON_NULL && allows_null(frame->member)))
		return true;
	if (frame->member->type > MEMBER_LAST_SCALAR)
		return load_refuse_scalar(loader, scalar, load_expectation(frame->member));
	return load_scalar(loader, frame->member, frame->target, scalar);
}

static struct frame *push(struct snapshot_loader *loader, void *target)
{
	struct frame *frame = &loader->frames[loader->depth++];
	struct buffer key = frame->key;

	*frame = (struct frame){.target = target, .key = key};
	loader->frame = frame;
	return frame;
}

static void push_object(struct snapshot_loader *loader, const struct object *object, void *target)
{
	struct frame *frame = push(loader, target);

	frame->object = object;
	if (object->present != SIZE_MAX)
		*(bool *)((char *)target + object->present) = true;
}

static void push_container(struct snapshot_loader *loader, const struct container *container,
			   const struct member *member, void *target)
{
	struct frame *frame = push(loader, (char *)target + member->offset);

	frame->container = container;
	frame->member = member;
	buffer_clear(&frame->key);
}

static bool begin_element(struct snapshot_loader *loader, struct frame *frame, enum json_type type)
{
	const struct container *container = frame->container;
	void *target;

	if (container->element == NULL || type != JSON_OBJECT)
		return refuse_structure(loader, type, container->elements);
	target = container->begin_element(loader, frame);
	if (target != NULL)
		push_object(loader, container->element, target);
	else
		loader->skipped = 1;
	return true;
}

static bool handle_begin(void *loader_pointer, enum json_type type)
{
	struct snapshot_loader *loader = loader_pointer;
	const struct container *container;
	const struct member *member;
	struct frame *frame;

	if (loader->skipped != 0) {
		loader->skipped++;
		return true;
	}
	if (loader->depth == 0) {
		if (type != JSON_OBJECT)
			return refuse_structure(loader, type, "an object");
		push_object(loader, &snapshot_object, loader->snapshot);
		return true;
	}
	frame = loader->frame;
	if (frame->container != NULL)
		return begin_element(loader, frame, type);
	member = frame->member;
	if (member == NULL) {
		loader->skipped = 1;
		return true;
	}
	if (member->type == MEMBER_OBJECT) {
		if (type != JSON_OBJECT)
			return refuse_structure(loader, type, "an object");
		push_object(loader, member->object, (char *)frame->target + member->offset);
		return true;
	}
	container = load_container(member);
	if (container == NULL || container->type != type)
		return refuse_structure(loader, type, load_expectation(member));
	push_container(loader, container, member, frame->target);
	return true;
}

static void mark_needed(const struct object *object, uint64_t needed[])
{
	for (size_t i = 0; i < object->count; i++) {
		if (object->members[i].flags & (MEMBER_REQUIRED | MEMBER_DEFAULTED))
			needed[i / 64] |= (uint64_t)1 << (i % 64);
	}
}

static bool has_older_member(const struct frame *frame)
{
	for (size_t i = 0; i < frame->object->count; i++) {
		if ((frame->object->members[i].flags & MEMBER_OLDER) && (frame->seen[i / 64] >> (i % 64) & 1))
			return true;
	}
	return false;
}

/* Looks which members of an object that ends did not come. */
static bool check_missing(struct snapshot_loader *loader, struct frame *frame, const uint64_t needed[])
{
	bool older_form = frame->object->has_older_form && has_older_member(frame);

	frame->member = NULL;
	for (size_t i = 0; i < frame->object->count; i++) {
		const struct member *member = &frame->object->members[i];

		if (!((needed[i / 64] & ~frame->seen[i / 64]) >> (i % 64) & 1))
			continue;
		if ((member->flags & MEMBER_REQUIRED) && !older_form)
			return load_refuse(loader, "lacks the member \"%s\"", member->name);
		if (frame->object == &thread_object)
			loader->notes.missing[i]++;
		else if (!older_form)
			loader->notes.other = member;
	}
	return true;
}

static bool end_object(struct snapshot_loader *loader, struct frame *frame)
{
	uint64_t needed[OBJECT_MEMBERS_MAX / 64] = {0};

	if (frame->object == &thread_object)
		memcpy(needed, loader->thread_needed, sizeof(needed));
	else
		mark_needed(frame->object, needed);
	for (size_t i = 0; i < OBJECT_MEMBERS_MAX / 64; i++) {
		if ((needed[i] & ~frame->seen[i]) != 0)
			return check_missing(loader, frame, needed);
	}
	return true;
}

static bool handle_end(void *loader_pointer)
{
	struct snapshot_loader *loader = loader_pointer;
	struct frame *frame, *parent;

	if (loader->skipped > 1) {
		loader->skipped--;
		return true;
	}
	if (loader->skipped == 1) {
		loader->skipped = 0;
		loader->frame->index++;
		return true;
	}
	frame = loader->frame;
	if (frame->object != NULL && !end_object(loader, frame))
		return false;
	if (frame->container != NULL && frame->container->end != NULL)
		frame->container->end(loader, frame);
	loader->depth--;
	if (loader->depth == 0)
		return true;
	parent = loader->frame = frame - 1;
	if (parent->container != NULL && parent->container->end_element != NULL)
		parent->container->end_element(loader, parent, frame);
	parent->index++;
	return true;
}

static const struct json_callbacks callbacks = {
	.scalar = handle_scalar,
	.key = handle_key,
	.begin = handle_begin,
	.end = handle_end,
};

struct snapshot_loader *snapshot_loader_create(void)
{
	struct snapshot_loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->parser = json_parser_create(&callbacks, loader);
	loader->snapshot = snapshot_create();
	mark_needed(&thread_object, loader->thread_needed);
	buffer_append_format(&loader->between, "},{\"%s\":", thread_object.members[0].name);
	for (size_t i = 0; i < thread_object.count; i++) {
		const struct member *member = &thread_object.members[i];

		loader->thread_is_plain[i] = member->type == MEMBER_VALUE &&
					     metric_type(member->metric)->encoding == METRIC_ENCODING_U64;
	}
	return loader;
}

/* The sentence for what the parser or a table refused; `error` holds the parser's part. */
static int describe(struct snapshot_loader *loader, int result, struct error *error)
{
	unsigned long long offset = json_parser_offset(loader->parser);
	struct buffer path = {0};
	struct error cause = *error;

	if (result == -ECANCELED) {
		error_set(error, -EBADMSG, "byte %llu: %s", offset, loader->damage.data);
		return -EBADMSG;
	}
	append_path(loader, &path);
	error_set(error, result, "byte %llu, in %s: %s", offset, path.data, cause.text);
	buffer_release(&path);
	return result;
}

/* Whether the parser stands in the array of threads, in a record or between two. */
static bool is_in_threads(const struct snapshot_loader *loader)
{
	return loader->depth >= 2 && loader->frames[1].member != NULL &&
	       loader->frames[1].member->type == MEMBER_THREADS;
}

/*
 * Bytes to the next place where a plain record may begin: behind the comma of "},{"tid":". A quote inside a
 * string has a backslash before it, so that this never stands in one.
 */
static size_t find_record(const struct snapshot_loader *loader, const char *text, size_t length)
{
	const char *found = memmem(text, length, loader->between.data, loader->between.length);

	return found != NULL ? (size_t)(found - text) + strlen("},") : length;
}

int snapshot_loader_feed(struct snapshot_loader *loader, const char *text, size_t length, struct error *error)
{
	struct error local;
	int result = 0;

	if (error == NULL)
		error = &local;
	while (result == 0 && length != 0) {
		size_t piece = length;

		if (is_in_threads(loader))
			piece = find_record(loader, text, length);
		result = json_parser_feed(loader->parser, text, piece, error);
		text += piece;
		length -= piece;
		/* Only the threads' own array counts, not one in an unknown member of a record. */
		if (result == 0 && length != 0 && loader->depth == 2 && loader->skipped == 0) {
			piece = load_plain_threads(loader, text, length);
			json_parser_skip(loader->parser, piece);
			text += piece;
			length -= piece;
		}
	}
	return result < 0 ? describe(loader, result, error) : 0;
}

int snapshot_loader_finish(struct snapshot_loader *loader, struct snapshot **ret_snapshot,
			   struct ctprof_notes *ret_notes, struct error *error)
{
	struct ctprof_notes notes;
	struct error local;
	int result;

	if (error == NULL)
		error = &local;
	result = json_parser_finish(loader->parser, error);
	if (result < 0)
		return describe(loader, result, error);
	load_conclude(loader, ret_notes != NULL ? ret_notes : &notes);
	*ret_snapshot = loader->snapshot;
	loader->snapshot = NULL;
	return 0;
}

void snapshot_loader_release(struct snapshot_loader *loader)
{
	if (loader == NULL)
		return;
	json_parser_release(loader->parser);
	snapshot_release(loader->snapshot);
	for (size_t i = 0; i < JSON_DEPTH_MAX; i++)
		buffer_release(&loader->frames[i].key);
	buffer_release(&loader->between);
	buffer_release(&loader->last_set.text);
	buffer_release(&loader->damage);
	free(loader->numbers.items);
	free(loader->entries.items);
	free(loader->reasons.items);
	free(loader->ages.items);
	free(loader->layouts.items);
	free(loader->heap.items);
	free(loader);
}
