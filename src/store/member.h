/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MEMBER_H
#define CTOP_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/snapshot_window.h"

/*
 * What a snapshot is made of, as tables: for every kind of object its members in the order of the file, each
 * with its type and its offset in a struct. Reader and writer of files, and the coder of rounds, walk these
 * tables and know no names.
 */

/* Lists of names, by which arrays of rounds are: vocabulary.h. */
enum vocabulary_kind {
	VOCABULARY_METRIC,
	VOCABULARY_SOURCE,
	VOCABULARY_REASON,
	VOCABULARY_FEATURE,
	VOCABULARY_ENDED,  /* amounts of threads that ended, by metric */
	VOCABULARY_LAYOUT, /* must be the same: tables that are coded as a whole */
	VOCABULARY_KINDS,
};

/* The C type of a member and its form in JSON. */
enum member_type {
	/* Scalars; the field is of the type that the name says. */
	MEMBER_U64,
	MEMBER_U32,
	MEMBER_U16,
	MEMBER_BOOLEAN,
	MEMBER_FLAG,         /* bit `bit` of a uint8_t; true or false */
	MEMBER_UID,          /* uint32_t, UINT32_MAX when unknown */
	MEMBER_OPTIONAL_U64, /* struct optional_u64 */
	MEMBER_OPTIONAL_I32,
	MEMBER_TEXT,            /* const char *, NULL when unknown; a string */
	MEMBER_NAME,            /* uint32_t, id in snapshot.strings; a string, without the mark */
	MEMBER_FEATURE_STATE,   /* enum feature_state; a string */
	MEMBER_FEATURE_REASON,  /* reason_id; a string */
	MEMBER_TASK_FIELD_KIND, /* enum task_field_kind; a string */
	MEMBER_LATENCY_CAUSE,   /* enum latency_cause; a string */
	MEMBER_VERSION,         /* no field: PROVENANCE_VERSION when written */
	MEMBER_REASON,          /* reason_id; in rounds only */
	MEMBER_METRIC_SOURCE,   /* enum source; in rounds only */
	MEMBER_VALUE,           /* uint64_t, by the encoding of `metric` */
	MEMBER_LAST_SCALAR = MEMBER_VALUE,
	/* Objects and arrays. */
	MEMBER_OBJECT,     /* the struct that lies there, by `object` */
	MEMBER_LIST,       /* a pointer, and a size_t at `known`; array of what `object` says, or of its one
			      member where that has no name */
	MEMBER_CPU_SET,    /* uint64_t, id in snapshot.cpu_sets; array of numbers */
	MEMBER_KEY_VALUES, /* struct key_values; object of numbers */
	MEMBER_TEXT_PAIRS, /* struct text_pairs; object of strings */
	MEMBER_NUMBERED_PAIRS, /* the same, keys are decimal numbers in numerical order */
	MEMBER_NUMBERS,        /* uint64_t[count], and a bool at `known`; array of numbers */
	MEMBER_NAMED_NUMBERS,  /* uint64_t[count] by `names`, 0 is left out; object of numbers */
	MEMBER_NAMED_TEXTS,    /* const char *[count] by `names`; object of strings */
	MEMBER_NAMED_REASONS,  /* reason_id[count] by `names`; object of strings */
	MEMBER_MISSED,         /* uint64_t[256] by reason id; object of numbers */
	MEMBER_ELEMENTS,       /* an array of `element`, by the words `by` if that is not 0; in rounds only */
	/* Parts of the snapshot as a whole, the struct is struct snapshot. */
	MEMBER_THREADS,
	MEMBER_CGROUPS,
	/* Parts of struct provenance. */
	MEMBER_FEATURES, /* struct feature_result[FEATURE_COUNT] */
	MEMBER_SOURCES,
	MEMBER_MISSING,
	MEMBER_TALLIES,        /* struct tally *, [SOURCE_COUNT] or NULL */
	MEMBER_LATENCY,        /* struct latency: since measuring began, or within the window; an object by
				  `object` */
	MEMBER_LATENCY_GROUPS, /* array of objects of struct latency_group */
	MEMBER_LATENCY_DELAYS, /* as MEMBER_LIST, but not in the arena */
	MEMBER_WAITS,          /* no field: a string, written where the snapshot has waiting_ns */
	MEMBER_TASK_FIELDS,    /* no field: the scheduler as struct task_fields_record, by `object` */
	/* Parts of struct task_fields_record and struct task_field_member_record. */
	MEMBER_TASK_FIELD_EVENTS,      /* no field: those of the snapshot; object of numbers */
	MEMBER_TASK_FIELD_MEMBERS,     /* no field: those of its scheduler; array of objects */
	MEMBER_TASK_FIELD_ENUMERATORS, /* as MEMBER_LIST, in the file an object of numbers that may be
					  negative */
	/* Parts of struct thread_record. */
	MEMBER_THREAD_MISSING,
	MEMBER_AGES,
	MEMBER_ELAPSED,           /* the same of the time between two readings */
	MEMBER_TASK_FIELD_VALUES, /* of its context; array of numbers that may be negative */
	MEMBER_BUCKETS,           /* uint64_t[count], zeros at the end are left out; array of numbers */
	/* Parts of the window that ends with the snapshot. */
	MEMBER_WINDOW, /* that of the snapshot; an object by `object`, whose struct is the beginning */
	MEMBER_WINDOW_THREADS,  /* of the beginning; array of objects */
	MEMBER_WINDOW_BORN,     /* threads that began later; array of indices of threads of the snapshot */
	MEMBER_WINDOW_UNKNOWN,  /* threads of which the beginning had no reading; the same */
	MEMBER_WINDOW_RESIDENT, /* memory of processes; array of indices of leaders, each followed by bytes */
	MEMBER_WINDOW_ENDED,    /* what threads did that ended; an object by `object`, of struct ended */
	MEMBER_PART_NAMES,      /* of the parts of the window; array of objects */
	MEMBER_PARTS,           /* array of objects */
	MEMBER_PART_INDICES,    /* of struct window_part: names; array of numbers */
	MEMBER_PART_METRICS,    /* metrics; array of strings */
	MEMBER_PART_AMOUNTS,    /* amounts; array of numbers */
	MEMBER_ENDED_RECORDS,   /* by names; array of objects */
	MEMBER_ENDED_COUNTED,   /* amounts of struct ended_record that are whole; object of numbers by slot */
	MEMBER_ENDED_AT_LEAST,  /* those that are not */
	MEMBER_ENDED_MISSED,    /* reasons for what is not known; object of strings by slot */
	/* Numbers of the types above are part of the rounds' format. */
	MEMBER_LATENCY_SHARES, /* as MEMBER_LATENCY_DELAYS */
	MEMBER_OWN_NAMES,     /* no field: which names of a triple ctop made up; array of MEMBER_NAME_WORDS */
	MEMBER_WAIT_CLASS,    /* uint8_t, enum wait_class; a string, left out when unknown */
	MEMBER_WAIT_CLASSES,  /* no field: true, written where the snapshot has wait_class */
	MEMBER_LATENCY_TIMES, /* as MEMBER_LATENCY_DELAYS */
	MEMBER_TYPE_COUNT,
};

enum {
	MEMBER_REQUIRED = 1 << 0,  /* a file without it is refused */
	MEMBER_DEFAULTED = 1 << 1, /* older generations lack it: read as 0, with a note */
	MEMBER_NULLABLE = 1 << 2,  /* null is allowed and means that it is absent */
	MEMBER_OMITTED = 1 << 3,   /* left out when absent or empty, else written as null */
	MEMBER_OLDER = 1 << 4,     /* name of an older generation: read with a note, never written */
	MEMBER_UNWRITTEN = 1 << 5, /* in rounds only */
	MEMBER_UNCODED = 1 << 6,   /* in files only: a round has it in another form, or not at all */
	MEMBER_BRIEF = 1 << 7,     /* intervals of rounds have it, too */
};

struct member {
	const char *name;
	char prefix[48]; /* `,"NAME":`, what comes before its value unless it is the first member */
	uint8_t length;  /* of the prefix */
	uint8_t flags;
	enum member_type type;
	uint64_t largest;         /* number that it takes; 0: it is no number, or one of another form */
	uint16_t offset;          /* of the field in the object's struct */
	uint16_t known;           /* of the bool, MEMBER_NUMBERS; of the count, MEMBER_LIST */
	uint8_t bit;              /* MEMBER_FLAG */
	uint8_t count;            /* of the array */
	uint8_t by;               /* MEMBER_ELEMENTS: enum vocabulary_kind + 1, 0 for none */
	enum member_type element; /* MEMBER_ELEMENTS */
	const char *const *names;
	const struct object *object;
	enum metric metric; /* MEMBER_VALUE */
};

/* The number in the field of a member that has a largest one; values of metrics have 64 bits. */
static inline uint64_t member_number(const struct member *member, const void *field)
{
	switch (member->type) {
	case MEMBER_U16:
		return *(const uint16_t *)field;
	case MEMBER_U32:
	case MEMBER_UID:
		return *(const uint32_t *)field;
	default:
		return *(const uint64_t *)field;
	}
}

struct object {
	const struct member *members;
	size_t count;
	size_t present; /* offset of the bool that says that the object is there, SIZE_MAX when it has none */
	size_t size;    /* of the struct, bytes; of elements of lists */
	bool has_older_form; /* members of an older generation may stand for required ones */
};

/* A thread as it is in the file: gathered from the columns, or to be spread over them. */
struct thread_record {
	uint32_t tid, tgid, uid;
	struct triple names;
	const char *layout; /* of its allocator, NULL for the ordinary one */
	uint8_t flags;
	uint8_t wait_class;   /* enum wait_class */
	uint32_t wait_object; /* id in snapshot.strings */
	uint64_t start_time;
	uint64_t waiting_ns;
	struct optional_u64 resident; /* bytes, of the process, where this is its leader */
	struct key_values smaps;
	size_t index;      /* in the snapshot */
	uint64_t stuck_ns; /* where how long waits have lasted is not known */
	uint32_t of;       /* of the beginning of a window: the index of the same thread at its end */
	uint64_t values[METRIC_COUNT];
};

/* A sched_ext scheduler as it is in the file. */
struct task_fields_record {
	bool present;
	const char *source, *scheduler, *type, *storage, *layout; /* no source: TASK_FIELD_SOURCE */
	uint64_t enable_seq, loaded_at_ns, read_at_ns, mismatched;
	uint32_t size;
};

struct task_field_member_record {
	struct task_field_member member;
	struct optional_u64 count; /* where it is an array */
	const char *reduction,
		*unit; /* where it has_facts: of task_field_reduction_names, task_field_units */
};

/* Describes the scheduler of a snapshot, and a member; texts are not copied. Zeros without a scheduler. */
struct task_fields_record task_fields_describe(const struct task_fields *fields);
struct task_field_member_record task_fields_describe_member(const struct task_field_member *member);

/* And back: a scheduler without members, a reference for the caller; a member to be added to it. Missing
 * texts become empty ones, words that are not known are as if they were missing. */
struct task_field_owner *task_fields_create(const struct task_fields_record *record);
struct task_field_member task_fields_create_member(const struct task_field_member_record *record);

/* Threads of one name that ended within a window. */
struct ended_member {
	struct triple names;
	struct ended_record record;
	bool is_estimate; /* it is what nobody told */
};

/* Names whose threads were measured, as they are in the file. */
struct latency_group {
	struct triple names;
	bool is_kernel;
	struct latency_waits waits;
};

/* The group of a record, and back: a record of the group, with its waits. */
struct latency_group latency_group_of(const struct latency *latency, size_t index);
void latency_add_group(struct snapshot *snapshot, const struct latency_group *group);

enum {
	MEMBER_NAME_WORDS = 3,
};

/* Member names, in the order of struct triple. */
extern const char *const member_name_words[MEMBER_NAME_WORDS];

extern const struct object snapshot_object;          /* of struct snapshot */
extern const struct object thread_object;            /* of struct thread_record */
extern const struct object cgroup_object;            /* of struct cgroup_record */
extern const struct object window_thread_object;     /* of struct thread_record */
extern const struct object part_name_object;         /* of struct triple */
extern const struct object part_object;              /* of struct window_part */
extern const struct object ended_record_object;      /* of struct ended_member */
extern const struct object feature_object;           /* of struct feature_result */
extern const struct object tally_object;             /* of struct tally */
extern const struct object text_pair_object;         /* of struct text_pair */
extern const struct object latency_object;           /* of struct latency */
extern const struct object task_fields_object;       /* of struct task_fields_record */
extern const struct object latency_group_object;     /* of struct latency_group */
extern const struct object latency_share_object;     /* of struct latency_share */
extern const struct object latency_delay_object;     /* of struct latency_delay */
extern const struct object task_field_member_object; /* of struct task_field_member_record */

enum {
	PROVENANCE_VERSION = 2,  /* version of the `ctop` objects */
	NAMES_MARKED_SINCE = 2,  /* older versions: made-up names are found by text */
	OBJECT_MEMBERS_MAX = 128 /* in one object; a test holds the tables to it */
};

/* Values of `waits`: threads have a `waiting_ns` where it is not 0, or a `stuck_ns`. */
#define MEMBER_WAITS_UNDER_WAY "under-way"
#define MEMBER_WAITS_STUCK     "stuck"

/* The key of `missing` for fields of sched_ext schedulers. */
#define TASK_FIELDS_MISSING TASK_FIELD_SOURCE

/* Pressure resources in the keys of `missing`, "psi.irq". */
#define PRESSURE_MISSING_PREFIX "psi."

/* The name of a slot of struct ended_record; the slot of a name, ENDED_SLOTS for none. */
const char *member_slot_name(size_t slot);
size_t member_slot_find(const char *name, size_t length);

#endif
