/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOADER_H
#define CTOP_LOADER_H

/* The inside of a loader, shared by the snapshot_file_load…c files only. */

#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "json.h"
#include "load.h"
#include "member.h"

enum {
	LOAD_SAFE_DIGITS = 19, /* so many decimal digits fit uint64_t whatever they are */
};

struct frame;

/* An object with open keys, or an array: how its elements are read. */
struct container {
	enum json_type type;
	const char *elements; /* what they must be, for the error sentence */
	/* Called for an element that is no object; false after load_refuse(). NULL: they must be objects. */
	bool (*load_scalar)(struct snapshot_loader *loader, struct frame *frame,
			    const struct json_scalar *scalar);
	/* For elements that are objects: their members, the struct to fill (NULL: skip it), and what then. */
	const struct object *element;
	void *(*begin_element)(struct snapshot_loader *loader, struct frame *frame);
	void (*end_element)(struct snapshot_loader *loader, struct frame *frame, const struct frame *element);
	/* Called when the container ends; may be NULL. */
	void (*end)(struct snapshot_loader *loader, struct frame *frame);
};

/* A place in the text: an object or array that has begun and not ended. */
struct frame {
	const struct object *object; /* NULL for a container */
	const struct container *container;
	void *target; /* the object's struct; the field of a container */
	const struct member
		*member; /* of an object: whose value comes, NULL to skip it; else what holds it */
	uint64_t seen[OBJECT_MEMBERS_MAX / 64];
	size_t next;       /* member that is expected next */
	size_t index;      /* of the element of an array */
	struct buffer key; /* of the element of an open object */
};

/* An element of an object with open keys until the object ends. */
struct load_entry {
	uint32_t key; /* id in snapshot.strings */
	uint32_t index;
	uint64_t value;
	const char *text;
};

/* What a thread's own `missing` says; kept until the top level is known, which may stand behind. */
struct pending_reason {
	uint32_t thread;
	uint16_t key; /* a source, or SOURCE_COUNT + a metric */
	reason_id reason;
};

struct pending_age {
	uint32_t thread;
	uint16_t source;
	uint64_t age_ns;
};

struct pending_layout {
	uint32_t tgid;
	const char *layout; /* owned by the snapshot */
};

struct snapshot_loader {
	struct json_parser *parser;
	struct snapshot *snapshot;
	struct frame frames[JSON_DEPTH_MAX];
	size_t depth;
	struct frame *frame;   /* the innermost one, frames[depth - 1] */
	unsigned int skipped;  /* levels inside a value that is ignored */
	uint64_t *slot;        /* where the number that comes next belongs, NULL when it is not a plain one */
	struct buffer between; /* the text between two plain records, by which the next one is found */
	struct buffer damage;  /* why a value was refused */

	struct thread_record thread;
	uint64_t thread_needed[OBJECT_MEMBERS_MAX / 64]; /* members that a thread of today has */
	bool thread_is_plain[OBJECT_MEMBERS_MAX];        /* values that are any uint64_t: nearly all */

	struct {
		uint32_t *items;
		size_t capacity;
	} numbers; /* of a CPU set, of the scope */
	struct {
		struct buffer text; /* "[0,1,2]" */
		uint64_t id;
	} last_set;
	struct {
		struct load_entry *items;
		size_t count, capacity;
	} entries; /* of an object with open keys, of the capabilities */

	struct {
		struct pending_reason *items;
		size_t count, capacity;
	} reasons;
	struct {
		struct pending_age *items;
		size_t count, capacity;
	} ages;
	struct {
		struct pending_layout *items;
		size_t count, capacity;
	} layouts;
	struct {
		struct heap_process *items;
		size_t count, capacity;
	} heap;

	struct {
		size_t missing[OBJECT_MEMBERS_MAX]; /* threads without this member of thread_object */
		const struct member *other;         /* a member that another object lacks */
		const struct member *older;         /* a name of an older generation that stood there */
		bool older_state;
		bool older_cgroup;
	} notes;
};

/* Notes why the value at the present place is refused and returns false. */
bool load_refuse(struct snapshot_loader *loader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for a value of the wrong type or out of range: "must be WANTED, not …". */
bool load_refuse_scalar(struct snapshot_loader *loader, const struct json_scalar *scalar, const char *wanted);

/* Whether this is the member's name. Every second token is a name: too many to call memcmp() for each. */
static inline bool load_is_named(const struct member *member, const char *text, size_t length)
{
	const char *name = member->name;
	uint64_t left, right;
	size_t i = 0;

	if (member->length != length)
		return false;
	if (length < sizeof(left))
		return memcmp(name, text, length) == 0;
	for (; i + sizeof(left) < length; i += sizeof(left)) {
		memcpy(&left, name + i, sizeof(left));
		memcpy(&right, text + i, sizeof(right));
		if (left != right)
			return false;
	}
	memcpy(&left, name + length - sizeof(left), sizeof(left));
	memcpy(&right, text + length - sizeof(right), sizeof(right));
	return left == right;
}

/* Stores a scalar in the field of `member` in the struct at `target`; false when it is of a wrong type. */
bool load_store(struct snapshot_loader *loader, const struct member *member, void *target,
		const struct json_scalar *scalar);

/* The same, refusing what is wrong. */
bool load_scalar(struct snapshot_loader *loader, const struct member *member, void *target,
		 const struct json_scalar *scalar);

/* What a member must be, in words. */
const char *load_expectation(const struct member *member);

/*
 * Reads a number as the format wants it: digits only, in range. Inline, since nearly all of a file is this.
 * False, with `*ret_value` undefined, when it is not one.
 */
static inline bool load_number_u64(const struct json_scalar *scalar, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (scalar->type != JSON_NUMBER)
		return false;
	if (scalar->length > LOAD_SAFE_DIGITS)
		return number_parse_u64(scalar->text, scalar->length, ret_value);
	for (size_t i = 0; i < scalar->length; i++) {
		unsigned int digit = (unsigned int)((unsigned char)scalar->text[i] - '0');

		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return true;
}

/* A copy of a string that the snapshot owns; a NUL in it becomes U+FFFD, since C ends there. */
const char *load_text(struct snapshot_loader *loader, const char *text, size_t length);

/* How the elements of an open object or array are read, NULL for another type of member. */
const struct container *load_container(const struct member *member);

/* Empties the record for the next thread. */
void load_begin_thread(struct snapshot_loader *loader);

/* Spreads the record that was read over the columns of the snapshot. */
void load_commit_thread(struct snapshot_loader *loader);

/*
 * Reads plain thread records, each with the comma behind it, as long as there are any whole ones. The text
 * stands where an element of the threads must begin. Returns the bytes that were read.
 */
size_t load_plain_threads(struct snapshot_loader *loader, const char *text, size_t length);

/* Brings what had to wait into the snapshot, and says what was defaulted. */
void load_conclude(struct snapshot_loader *loader, struct ctprof_notes *ret_notes);

#endif
