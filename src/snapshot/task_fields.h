/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASK_FIELDS_H
#define CTOP_TASK_FIELDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "metric/reason.h"
#include "metric/task_field.h"

/*
 * What a sched_ext scheduler keeps for each task: its contexts, as bytes, and what their members are. Whether
 * and why not they could be read says FEATURE_TASK_FIELDS of the snapshot; what sysfs tells of sched_ext is
 * in snapshot.sched_ext.
 */

struct task_field_enumerator {
	const char *name;
	int64_t value;
};

/* A member of the type of a context that has no members itself; nested ones are "outer.inner". */
struct task_field_member {
	const char *name;
	const char *type; /* as in C: "u64", "enum task_state", "struct bpf_cpumask *" */
	enum task_field_kind kind;
	uint32_t bit_offset;                             /* in the context */
	uint32_t bit_size;                               /* of one element */
	uint32_t count;                                  /* of elements of an array, else 1 */
	bool is_signed;                                  /* its integers, those of an enum or array too */
	const struct task_field_enumerator *enumerators; /* of an enum */
	size_t enumerator_count;
	uint16_t field; /* its number as a column, TASK_FIELD_NONE for what is no field; set when it is added
			 */
	/* How it is reduced and in what it is measured; set by the name and what the user chose when it is
	 * added, unless it has_facts. */
	struct task_field_facts facts;
	bool has_facts;
};

/* A scheduler that runs or ran, and the type of its contexts. Immutable once handed over, shared by reference
 * count. */
struct task_field_owner {
	atomic_uint references;
	struct arena arena;  /* owns all its texts */
	const char *source;  /* what stands before the names of its fields: "scx" */
	const char *name;    /* that it gave its operations: "lavd_1.0.21_x86_64_unknown_linux_gnu" */
	const char *family;  /* "lavd" */
	uint64_t enable_seq; /* of the kernel: how many schedulers were started before it (kernel/sched/ext.c)
			      */
	uint64_t loaded_at_ns; /* CLOCK_BOOTTIME, 0 when unknown */
	const char *type;      /* of its contexts: "task_ctx" */
	const char *storage;   /* name of the map in which they are found: "scx_task_map" */
	const char *layout;    /* in words: "task storage", "arena, id before the context" … */
	uint32_t size;         /* of a context, bytes */
	struct task_field_member *members;
	size_t member_count, member_capacity;
	size_t field_count; /* members that are fields */
};

enum {
	TASK_FIELDS_SIZE_MAX = 65536,  /* of a context */
	TASK_FIELD_MEMBERS_MAX = 1024, /* of a type, more are left out */
	/* of a type, more have no number: one file must not use up the numbers of all (TASK_FIELD_MAX) */
	TASK_FIELDS_OF_OWNER_MAX = 256,
	TASK_FIELD_ELEMENTS_MAX = 4096, /* of an array */
};

/* In context_of: why a thread has no context here. */
enum {
	TASK_FIELDS_NONE = UINT32_MAX, /* it has none: it is older than the scheduler's hook, or exits */
	TASK_FIELDS_OTHER_TASK = UINT32_MAX - 1, /* what was read belongs to another task */
	TASK_FIELDS_NOT_READ = UINT32_MAX - 2,
};

/* What the user chooses of a scheduler's contexts where a rule would choose; NULL for what he leaves to it.
 */
struct context_choice {
	const char *type; /* name of the contexts' struct or typedef */
	const char *map;  /* name of the task storage, as the kernel has it: at most 15 bytes */
};

/* Prefixes of counters that are left out of their names. */
#define TASK_FIELD_EVENT_PREFIX "SCX_EV_"

/* A counter that the kernel keeps of a scheduler (kernel/sched/ext.c, /sys/kernel/sched_ext/root/events). */
struct task_field_event {
	const char *name; /* in the snapshot's arena */
	uint64_t value;
};

/* Contexts of a snapshot. A zeroed struct is empty. */
struct task_fields {
	struct task_field_owner *owner; /* a reference, NULL: none runs, or nothing is known of it */
	uint32_t *context_of; /* by thread: which of `contexts`, or TASK_FIELDS_…; NULL: none were read */
	size_t context_of_count; /* threads behind these: TASK_FIELDS_NOT_READ */
	uint8_t *contexts;       /* owner->size bytes each */
	size_t context_count, context_capacity;
	uint64_t read_at_ns; /* CLOCK_MONOTONIC, the clock of their time stamps; 0 when unknown */
	uint64_t mismatched; /* contexts that belonged to another task */
	bool only_numbers;   /* they are from a file: pointers and others are not there, their bytes are 0 */
	struct task_field_event *events; /* in the snapshot's arena */
	size_t event_count;
};

/* A run of a program that keeps fields, with one reference and no members; the texts are copied. `source`
 * stands before the names of its fields. */
struct task_field_owner *task_field_owner_create(const char *source, const char *name, const char *type,
						 const char *storage, const char *layout, uint32_t size);

/*
 * Adds a member; its texts and enumerators are copied. What does not lie in the context, or is an integer of
 * no size that fits 64 bits, becomes TASK_FIELD_KIND_OTHER or, beyond TASK_FIELD_MEMBERS_MAX, is left out:
 * false.
 */
bool task_field_owner_add_member(struct task_field_owner *owner, const struct task_field_member *member);

struct task_field_owner *task_field_owner_reference(struct task_field_owner *owner);
void task_field_owner_release(struct task_field_owner *owner); /* NULL is allowed */

/* Whether both are one and the same run of a scheduler, so that counters of one can be counted from the
 * other. */
bool task_field_owner_is_same_run(const struct task_field_owner *a, const struct task_field_owner *b);

/* Whether contexts of both have the same members, of the same types at the same places. */
bool task_field_owner_has_same_type(const struct task_field_owner *a, const struct task_field_owner *b);

/* The member that is a field, or NULL. */
const struct task_field_member *task_field_find_member(const struct task_field_owner *owner, uint16_t field);

/* The name of an enum's value, or NULL. */
const char *task_field_find_enumerator(const struct task_field_member *member, int64_t value);

/* Whether a member is an integer, bool, enum or an array of integers: then it has numbers. */
bool task_field_has_numbers(const struct task_field_member *member);

/* The count of its numbers: all elements of an array, 0 for a member without numbers. */
size_t task_field_elements(const struct task_field_member *member);

/*
 * Element `index` (0 where it is no array) of a member in a context; negative ones as (uint64_t)(int64_t).
 * 0 where the member has no numbers.
 */
uint64_t task_field_read(const struct task_field_member *member, const uint8_t *context, size_t index);

/* The same the other way round: keeps of `value` as many bits as fit. */
void task_field_write(const struct task_field_member *member, uint8_t *context, size_t index, uint64_t value);

/*
 * What a counter of a thread added between two readings of the same run of a scheduler. False where it fell:
 * then it is no counter, or the context is a new one.
 */
bool task_field_counter_added(const struct task_field_member *member, uint64_t then, uint64_t now,
			      uint64_t *ret_added);

/* A value as a number that may be negative. */
double task_field_number(const struct task_field_member *member, uint64_t value);

/* Appends a value in words: a number, true or false, the name of an enum's value where it has one. */
void task_field_append(const struct task_field_member *member, uint64_t value, struct buffer *text);

/* Makes room for the contexts of `count` threads, which have none yet: TASK_FIELDS_NONE. Takes over the
 * reference. */
void task_fields_begin(struct task_fields *fields, struct task_field_owner *owner, size_t count);

/* Makes room for so many contexts, where that is known before they are added. */
void task_fields_expect(struct task_fields *fields, size_t contexts);

/* A zeroed context for a thread, valid until the next one. */
uint8_t *task_fields_add_context(struct task_fields *fields, size_t thread);

/* The context of a thread, or NULL; `*ret_reason` (may be NULL) is then why, REASON_READ where it has none.
 */
const uint8_t *task_fields_context(const struct task_fields *fields, size_t thread, reason_id *ret_reason);

/* Frees what it holds. */
void task_fields_release(struct task_fields *fields);

/* Gives thread `thread`, which is the last one, the context that a thread of another snapshot has. */
void task_fields_take_row(struct task_fields *fields, size_t thread, const struct task_fields *from,
			  size_t row);

#endif
