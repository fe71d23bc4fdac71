/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks through the JSON text by the tables of members, with a stack of positions for the error sentences. */
#include "load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"

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

/* The present position: threads[12].cpu_affinity[3], cgroup_stats["/a"].memory. */
static void append_path(const struct loader *loader, struct buffer *buffer)
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
	append_path(loader, &path);
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

static bool is_scalar(const struct json_scalar *value)
{
	return value->type != JSON_OBJECT && value->type != JSON_ARRAY;
}

static struct frame *push(struct loader *loader, void *target)
{
	struct frame *frame = &loader->frames[loader->depth++];
	struct buffer key = frame->key;

	*frame = (struct frame){.target = target, .key = key};
	return frame;
}

/* Notes that a member has come, which may be only once. */
static int see_member(struct loader *loader, struct frame *frame, size_t index)
{
	uint64_t *seen = &frame->seen[index / 64], bit = (uint64_t)1 << (index % 64);

	frame->next = index + 1;
	frame->member = &frame->object->members[index];
	if (*seen & bit)
		return refuse(loader, "stands there twice");
	*seen |= bit;
	if (frame->member->flags & MEMBER_OLDER) {
		loader->notes.older = frame->member;
		frame->is_older = true;
	}
	return 1;
}

/* Takes the name of the next member: 1 when there is one, 0 at the end of the object. */
static int next_member(struct loader *loader, struct frame *frame)
{
	const struct object *object = frame->object;
	const struct member *expected;
	const char *name;
	size_t length;
	int more;

	if (object == &thread_object) {
		load_short_cut(loader, frame);
		load_short_cut_begin(loader);
	}
	/* members mostly come in written order */
	expected = &object->members[frame->next];
	if (frame->next < object->count &&
	    json_reader_take_text(&loader->json, expected->prefix + loader->json.fresh,
				  expected->length - loader->json.fresh)) {
		loader->json.fresh = false;
		return see_member(loader, frame, frame->next);
	}
	more = json_reader_member(&loader->json, LOAD_NAME_MAX, &name, &length);
	if (more <= 0)
		return more;
	for (size_t i = 0; i < object->count; i++) {
		const struct member *member = &object->members[i];

		if (member->length == length + strlen(",\"\":") && json_is_equal(member->name, name, length))
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
	container = &load_containers[member->type];
	if (container->type != scalar.type) {
		load_refuse(loader, &scalar, load_expectation(member));
		return -EBADMSG;
	}
	return load_elements(loader, container, member, frame->target);
}

static int load_element(struct loader *loader, struct frame *frame)
{
	const struct container *container = frame->container;
	struct json_scalar scalar;
	void *target;

	if (json_reader_scalar(&loader->json, &scalar) < 0)
		return loader->json.result;
	if (container->load_scalar != NULL && is_scalar(&scalar))
		return container->load_scalar(loader, frame, &scalar) ? 0 : -EBADMSG;
	if (container->element == NULL || scalar.type != JSON_OBJECT) {
		load_refuse(loader, &scalar, container->elements);
		return -EBADMSG;
	}
	target = container->begin_element(loader, frame);
	if (target == NULL)
		return json_reader_skip(&loader->json);
	if (load_object(loader, container->element, target) < 0)
		return -EBADMSG;
	if (container->end_element != NULL)
		container->end_element(loader, frame + 1);
	return 0;
}

/* Takes the name of the next element of an open object, or sees that an array has one. */
static int next_element(struct loader *loader, struct frame *frame)
{
	const char *name;
	size_t length;
	int more;

	if (frame->container->short_cut != NULL)
		frame->container->short_cut(loader, frame);
	if (frame->container->type == JSON_ARRAY)
		return json_reader_element(&loader->json);
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

static void mark_needed(const struct object *object, uint64_t needed[])
{
	for (size_t i = 0; i < object->count; i++) {
		if (object->members[i].flags & (MEMBER_REQUIRED | MEMBER_DEFAULTED))
			needed[i / 64] |= (uint64_t)1 << (i % 64);
	}
}

/* Refuses or notes what an object lacks, at its end. */
static int check_missing(struct loader *loader, struct frame *frame, const uint64_t needed[])
{
	bool older_form = frame->object->has_older_form && frame->is_older;

	frame->member = NULL;
	for (size_t i = 0; i < frame->object->count; i++) {
		const struct member *member = &frame->object->members[i];

		if (!((needed[i / 64] & ~frame->seen[i / 64]) >> (i % 64) & 1))
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

static int end_object(struct loader *loader, struct frame *frame)
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
	while ((more = next_member(loader, frame)) > 0) {
		if (load_member(loader, frame) < 0)
			return -EBADMSG;
		if (frame->member != NULL &&
		    (frame->member->type == MEMBER_VALUE || frame->member->type == MEMBER_CPU_SET))
			loader->touched[loader->touched_count++] = (uint8_t)frame->member->metric;
		if (object == &thread_object)
			load_short_cut_end(loader, frame);
	}
	if (more < 0 || end_object(loader, frame) < 0)
		return -EBADMSG;
	loader->depth--;
	return 0;
}

static int load_text_of_snapshot(struct loader *loader)
{
	struct json_scalar scalar;

	if (json_reader_scalar(&loader->json, &scalar) < 0)
		return loader->json.result;
	if (scalar.type != JSON_OBJECT) {
		load_refuse(loader, &scalar, "an object");
		return -EBADMSG;
	}
	if (load_object(loader, &snapshot_object, loader->snapshot) < 0)
		return -EBADMSG;
	return json_reader_finish(&loader->json);
}

struct loader *load_create(struct error *error)
{
	struct loader *loader = memory_allocate_zero(1, sizeof(*loader));

	loader->error = error;
	loader->snapshot = snapshot_create();
	mark_needed(&thread_object, loader->thread_needed);
	load_short_cuts_prepare(&loader->short_cuts);
	return loader;
}

static void release(struct loader *loader)
{
	if (loader->inner != NULL)
		release(loader->inner);
	load_window_release(loader);
	json_reader_release(&loader->json);
	snapshot_release(loader->snapshot);
	for (size_t i = 0; i < LOAD_DEPTH_MAX; i++)
		buffer_release(&loader->frames[i].key);
	buffer_release(&loader->last_set.text);
	load_short_cuts_release(&loader->short_cuts);
	free(loader->numbers.items);
	free(loader->entries.items);
	free(loader->reasons.items);
	free(loader->ages.items);
	free(loader->layouts.items);
	free(loader->heap.items);
	load_task_fields_release(loader);
	free(loader);
}

int load_snapshot(ssize_t (*fetch)(void *context, const char **ret_text), double (*progress)(void *context),
		  void *context, struct snapshot **ret_snapshot, struct error *error)
{
	struct loader *loader = load_create(error);
	struct buffer path = {0};
	int result;

	loader->progress = progress;
	json_reader_begin(&loader->json, "", 0, fetch, context);
	result = load_text_of_snapshot(loader);
	if (loader->json.damage != NULL) {
		append_path(loader, &path);
		error_set(error, result, "byte %" PRIu64 ", in %s: %s", json_reader_offset(&loader->json),
			  path.data, loader->json.damage);
		buffer_release(&path);
	} else if (loader->json.result < 0) {
		result = loader->json.result;
	} else if (result == 0) {
		load_conclude(loader);
		*ret_snapshot = loader->snapshot;
		loader->snapshot = NULL;
	}
	release(loader);
	return result;
}
