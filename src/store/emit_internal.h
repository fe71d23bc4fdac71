/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EMIT_INTERNAL_H
#define CTOP_EMIT_INTERNAL_H

#include "base/buffer.h"
#include "base/hash.h"
#include "member.h"

/* The inside of an emitter, for the emit*.c files. */

enum {
	EMIT_FLUSH_BYTES = 64 * 1024,
};

/* State for writing the threads of a snapshot, which come in ascending order. */
struct emit_threads {
	enum metric columns[METRIC_COUNT]; /* those that exist */
	size_t column_count;
	reason_id usual_reason[SOURCE_COUNT]; /* of most threads: goes to the top level */
	size_t next_exception, next_smaps;    /* of the threads that are still to come */
	size_t resident_hint;                 /* see snapshot_find_resident() */
	struct hash_map heap;                 /* tgid to index in provenance.heap */
};

struct emitter {
	/* Writes the value of a member that is no scalar and no object of a table; false when it is absent.
	 */
	bool (*container)(struct emitter *emitter, const struct member *member, const void *target);
	const struct snapshot *snapshot;
	const struct snapshot *end;           /* what is the end of the window; else `snapshot` */
	const struct snapshot_window *window; /* NULL: none */
	struct buffer json;                   /* not yet handed to the sink */
	char last;                            /* byte before the buffer */
	int (*sink)(void *context, const char *text, size_t length);
	void *context;
	int result;                  /* the first failure of the sink */
	struct emit_threads threads; /* of `snapshot` */
	struct {
		struct key_value *items;
		size_t count, capacity;
	} values;
};

/* --- emit_object.c --- */

/* Hands the text so far to the sink, or does so when it is long; to be called only where none of it may still
 * be taken back. */
void emit_flush(struct emitter *emitter);
void emit_flush_full(struct emitter *emitter);

/* A ',' unless an object or array has just begun. */
void emit_separator(struct emitter *emitter);

/* The bracket that begins an object or array, and the one that ends it: false when nothing stands between. */
void emit_begin(struct emitter *emitter, char bracket);
bool emit_end(struct emitter *emitter, char bracket);

/* Emits a string; bytes outside valid UTF-8 are escaped as in names. */
void emit_text(struct emitter *emitter, const char *text);

/* An element of an array. */
void emit_number(struct emitter *emitter, uint64_t number);

/* The key before a value in an object with open keys; a foreign key may hold anything. */
void emit_key(struct emitter *emitter, const char *name);
void emit_foreign_key(struct emitter *emitter, const char *text, size_t length);

void emit_named_text(struct emitter *emitter, const char *name, const char *text);
void emit_named_u64(struct emitter *emitter, const char *name, uint64_t value);

/* The value of a scalar that is not absent. */
void emit_scalar(struct emitter *emitter, const struct member *member, const void *field);

/* An object by its table, with its braces. */
void emit_object(struct emitter *emitter, const struct object *object, const void *target);

/* --- emit_task_fields.c: values of members, as emitter.container --- */

bool emit_task_fields(struct emitter *emitter, const struct object *object);
bool emit_task_field_events(struct emitter *emitter);
bool emit_task_field_members(struct emitter *emitter);
bool emit_task_field_enumerators(struct emitter *emitter, const struct task_field_member_record *record);
bool emit_task_field_values(struct emitter *emitter, size_t thread);

/* Why no thread, or this one, has a context that should have one, else REASON_READ. */
reason_id emit_task_fields_missing(const struct emitter *emitter);
reason_id emit_task_fields_thread_missing(const struct emitter *emitter, size_t thread);

#endif
