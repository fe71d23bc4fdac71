/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOAD_INTERNAL_H
#define CTOP_LOAD_INTERNAL_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/number.h"
#include "coder.h"
#include "member.h"

/* The inside of a loader, for the load*.c files. */

enum {
	LOAD_DEPTH_MAX = 8, /* objects and arrays in each other, by the tables */
	LOAD_NAME_MAX = 64, /* longer than every member's name */
};

struct frame;
struct loader;

/* An element that is a number or a string. */
struct load_value {
	uint64_t number;
	const char *text;
	size_t length;
};

enum load_elements {
	LOAD_OBJECTS,
	LOAD_NUMBERS,    /* up to UINT64_MAX */
	LOAD_NUMBERS_32, /* up to UINT32_MAX */
	LOAD_INTEGERS,   /* of 64 bits, with a sign or without */
	LOAD_STRINGS,
};

/* An object with open keys, or an array: how its elements are read. */
struct container {
	enum json_type type;
	enum load_elements holds;
	const char *elements; /* what they must be, for the error sentence; NULL: as `holds` says */
	/* Takes an element that is a number or a string. */
	void (*take)(struct loader *loader, struct frame *frame, const struct load_value *value);
	/* For elements that are objects: their members (NULL: those of the member's own object), the struct
	 * to fill (NULL: skip it), and what then. */
	const struct object *element;
	void *(*begin_element)(struct loader *loader, struct frame *frame);
	void (*end_element)(struct loader *loader, const struct frame *element);
	/* Called when the container ends; may be NULL. */
	void (*end)(struct loader *loader, struct frame *frame);
};

/* An object or array that has begun and not ended. */
struct frame {
	const struct object *object; /* NULL for a container */
	const struct container *container;
	void *target;                /* the object's struct; the field of a container */
	const struct member *member; /* of an object: the one that was read last, NULL for an unknown one; of
				      * a container: what holds it */
	uint64_t seen[OBJECT_MEMBERS_MAX / 64];
	bool is_older;          /* a member of an older generation was among them */
	size_t next;            /* member that is expected next, as files are written */
	size_t index;           /* of the element of an array */
	struct buffer key;      /* of the element of an open object */
	struct buffer elements; /* of a container, so far */
};

/* An element of an object with open keys until the object ends. */
struct load_entry {
	uint32_t key; /* id in snapshot.strings */
	uint32_t index;
	uint64_t value;
	const char *text;
};

/* An entry of a thread's own `missing`; kept until the top level is known, which may come later. */
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

/* The task fields of a thread, whose numbers lie in loader.task_fields.numbers, or the entry of its
 * `missing`. */
struct pending_task_fields {
	uint32_t thread, numbers;
	bool is_list;
	reason_id reason;
};

struct pending_layout {
	uint32_t tgid;
	const char *layout; /* owned by the snapshot */
};

/* Numbers of a list. */
struct load_indices {
	uint64_t *items;
	size_t count, capacity;
};

struct loader {
	const struct container *containers; /* by enum member_type */
	struct json_reader json;
	struct loader *outer,
		*inner; /* of the snapshot that the window ends with; of its beginning; or NULL */
	double (*progress)(void *context); /* of json.context; see load_snapshot() */
	struct snapshot *snapshot;
	struct error *error; /* gets the sentence when a value is refused */
	struct frame frames[LOAD_DEPTH_MAX];
	size_t depth; /* frames in use; after a failure they stay, since they tell the position */

	struct thread_record thread;
	uint8_t own_names;     /* made-up names of the record, as in member_name_words */
	bool names_are_marked; /* true from file version NAMES_MARKED_SINCE on */
	/* `waits` says so; before that is known, values are kept in the column */
	bool knows_waits, knows_stuck;
	bool knows_wait_classes;             /* `wait_classes` says so */
	uint8_t touched[OBJECT_MEMBERS_MAX]; /* metrics of which `thread` may have a value */
	size_t touched_count;

	struct {
		struct buffer text; /* "[0,1,2]" */
		uint64_t id;
	} last_set;

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

	/* Fields that a program keeps for each task; load_task_fields.c. */
	struct {
		struct task_fields_record record;
		struct task_field_member_record member; /* that is being read */
		struct {
			struct task_field_member *items;
			size_t count, capacity;
		} members;
		struct coder coder;
		struct coder_stream numbers; /* of all threads in the order of `pending` */
		struct {
			struct pending_task_fields *items;
			size_t count, capacity;
		} pending;
		uint64_t further_numbers; /* of a thread, for members without room */
		bool is_missing;          /* no thread has any */
		size_t left_out;          /* contexts that are not as the description says */
	} task_fields;

	struct {
		size_t missing[OBJECT_MEMBERS_MAX]; /* threads without this member of thread_object */
		const struct member *other;         /* a member that another object lacks */
		const struct member *older;         /* a name of an older generation that stood there */
		bool older_state;
		bool older_cgroup;
		bool window; /* it does not fit the snapshot */
		bool parts;  /* they do not add up to the window */
	} notes;

	struct latency_group latency_group; /* that is being read */

	/* In a loader for the beginning of a window; load_window.c. */
	struct {
		uint32_t *from_of; /* see struct snapshot_window */
		struct load_indices thread_of, born, unknown, resident;
		struct ended ended;
		struct ended_member member; /* that is being read */
		struct window_parts parts;
		struct triple part_name;
		struct load_indices part_names; /* by name in the file: its triple in parts.names */
		struct window_part part;        /* the current part, with capacities */
		size_t part_capacity, amount_count, amount_capacity;
		bool parts_damaged;
	} window;
};

/* --- load_object.c --- */

/* Says that the value at the present position is of a wrong type or out of range: "must be WANTED, not …".
 * Returns false. */
bool load_refuse(struct loader *loader, const struct json_scalar *value, const char *wanted);

/* A zeroed element, beside those that the container has so far. */
void *load_add_element(struct frame *frame, size_t size);

/* A copy of a string that the snapshot owns; a NUL in it becomes U+FFFD, since C ends there. */
const char *load_text(struct loader *loader, const char *text, size_t length);

/* Marks made-up names among three: by `own_names`, or `by_text` by their text, as in older files. */
void load_mark_names(struct loader *loader, uint32_t *names, bool by_text);

/* A loader with a snapshot of its own, which its caller releases; `containers` are by enum member_type. */
struct loader *load_create(const struct container *containers, struct error *error);

/* Reads the object that comes. */
int load_object(struct loader *loader, const struct object *object, void *target);

/* The present position: threads[12].cpu_affinity[3], cgroup_stats["/a"].memory. */
void load_append_path(const struct loader *loader, struct buffer *buffer);

/* --- load_window.c: containers of the beginning of a window --- */

void load_window_index(struct loader *loader, struct frame *frame, const struct load_value *value);
void load_end_window_thread(struct loader *loader, const struct frame *element);
void *load_begin_ended(struct loader *loader, struct frame *frame);
void load_end_ended(struct loader *loader, const struct frame *element);
void load_ended_amount(struct loader *loader, struct frame *frame, const struct load_value *value);
void load_ended_missed(struct loader *loader, struct frame *frame, const struct load_value *value);

void *load_begin_part_name(struct loader *loader, struct frame *frame);
void load_end_part_name(struct loader *loader, const struct frame *element);
void *load_begin_part(struct loader *loader, struct frame *frame);
void load_end_part(struct loader *loader, const struct frame *element);
void load_part_index(struct loader *loader, struct frame *frame, const struct load_value *value);
void load_part_metric(struct loader *loader, struct frame *frame, const struct load_value *value);
void load_part_amount(struct loader *loader, struct frame *frame, const struct load_value *value);

/* Whether the window fits the snapshot, whose threads are all there; then its beginning may be concluded. */
bool load_window_fits(struct loader *loader);

/* Gives the window to the snapshot. */
void load_window_join(struct loader *loader);
void load_window_release(struct loader *loader);

/* --- load_task_fields.c: containers of what a scheduler keeps --- */

void load_task_field_event(struct loader *loader, struct frame *frame, const struct load_value *value);
void *load_task_field_begin_member(struct loader *loader, struct frame *frame);
void load_task_field_enumerator(struct loader *loader, struct frame *frame, const struct load_value *value);
void load_task_field_end_member(struct loader *loader, const struct frame *element);
void load_task_field_value(struct loader *loader, struct frame *frame, const struct load_value *value);
void load_task_field_end_values(struct loader *loader, struct frame *frame);

/* Why the thread that is being read has no context that it should have. */
void load_task_fields_thread_missing(struct loader *loader, reason_id reason);

/* Brings the scheduler and the contexts into the snapshot, whose threads are all there. */
void load_task_fields_conclude(struct loader *loader);
void load_task_fields_release(struct loader *loader);

/* --- load_threads.c --- */

/* Empties the record for the next thread, and returns it. */
void *load_begin_thread(struct loader *loader, struct frame *frame);

/* Spreads the record that was read over the columns of the snapshot. */
void load_end_thread(struct loader *loader, const struct frame *element);

#endif
