/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASK_FIELD_H
#define CTOP_TASK_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metric.h"

/*
 * Fields of the contexts that sched_ext schedulers keep for tasks. Which there are is known only when a
 * scheduler runs, or from a file; a name gets a number once for the life of the program, so that a column can
 * stand for it. What is known of fields by their names: task_field.def. All functions are safe from any
 * thread.
 */

/* The kind of a member of a context. Only kinds up to TASK_FIELD_KIND_ENUM are fields. */
enum task_field_kind {
	TASK_FIELD_KIND_UNSIGNED,
	TASK_FIELD_KIND_SIGNED,
	TASK_FIELD_KIND_BOOLEAN,
	TASK_FIELD_KIND_ENUM,
	TASK_FIELD_KIND_POINTER,
	TASK_FIELD_KIND_ARRAY, /* of integers */
	TASK_FIELD_KIND_OTHER, /* bytes that have no form: a union that cannot be told apart, a float */
	TASK_FIELD_KIND_COUNT,
};

extern const char *const task_field_kind_names[TASK_FIELD_KIND_COUNT]; /* in files: "unsigned" … */

/* The rule that makes the value of a group from its threads. */
enum task_field_reduction {
	TASK_FIELD_REDUCTION_COUNTER, /* what the threads added, as other counters; unknown where it ever fell
				       */
	TASK_FIELD_REDUCTION_SUM,     /* of the present values */
	TASK_FIELD_REDUCTION_MEAN,
	TASK_FIELD_REDUCTION_MAXIMUM,
	TASK_FIELD_REDUCTION_COUNT, /* by value: the commonest one; of a bool how many threads have it set */
	TASK_FIELD_REDUCTION_AGE,   /* a time stamp: how long ago the oldest one is; 0 is never */
	TASK_FIELD_REDUCTION_TOTAL,
};

extern const char *const task_field_reduction_names[TASK_FIELD_REDUCTION_TOTAL]; /* "counter" "sum" "mean"
										    "max" "count" "age" */
extern const char *const
	task_field_reduction_words[TASK_FIELD_REDUCTION_TOTAL]; /* a sentence for `i` and the manual page */

extern const char *const task_field_units[LADDER_TICKS + 1]; /* in files: "count" "ns" "bytes" … */

enum {
	TASK_FIELD_MAX = 512,
	TASK_FIELD_NONE = UINT16_MAX,
	TASK_FIELD_NAME_MAX = 128, /* bytes; a longer name is no field */
};

struct task_field {
	const char *name;  /* "stats.runtime", of the program that keeps it */
	const char *title; /* of its column, at most 12 cells: "RUNTIME" */
	/* of its column too: */
	const char *column;        /* its name, "SOURCE.stats.runtime" */
	const char *percent_title; /* where it is a rate of time: "RUNTIME%" */
	const char *rate_title;    /* where it is another rate: "RUNTIME/s" */
};

/* The origin of the choice of a reduction. */
enum task_field_choice {
	TASK_FIELD_CHOICE_DEFAULT, /* no row of the table fits the name, or it is a word */
	TASK_FIELD_CHOICE_TABLE,   /* task_field.def */
	TASK_FIELD_CHOICE_USER,
};

/* Facts about a field of a scheduler by its name and kind. */
struct task_field_facts {
	enum task_field_reduction reduction;
	enum ladder ladder;
};

/* The source whose fields may be named before anybody has met them: sched_ext schedulers. */
#define TASK_FIELD_SOURCE "scx"

/* Whether a field may have this NAME of so many bytes: identifiers of C with dots between. */
bool task_field_is_name(const char *name, size_t length);

/*
 * The number of the name of a column, "SOURCE.NAME", which is made when it is new. TASK_FIELD_NONE for a name
 * that is empty or too long, and when TASK_FIELD_MAX names are known.
 */
uint16_t task_field_intern(const char *column);

/* The field of a number that task_field_intern() gave; lives as long as the program. */
const struct task_field *task_field(uint16_t field);

/* The count of numbers: all below it are in use. */
size_t task_field_count(void);

/*
 * The number of a name of so many bytes, in whatever case, with its source or alone; TASK_FIELD_NONE when
 * none or several have it.
 */
uint16_t task_field_find(const char *name, size_t length);

/*
 * The choice of the user for the field, else that of the table, and which of them it is; scheduler as
 * task_field_owner_word() names it.
 */
struct task_field_facts task_field_facts_of(const char *scheduler, const char *name,
					    enum task_field_kind kind, enum task_field_choice *ret_choice);

/*
 * Remembers what was found out of a field last (titles and units of columns are by it), or tells it: what the
 * table says of the name of an unsigned number as long as nobody has met the field.
 */
void task_field_describe(uint16_t field, struct task_field_facts facts, enum task_field_kind kind);
struct task_field_facts task_field_described(uint16_t field, enum task_field_kind *ret_kind);

/*
 * The user's choice, "FIELD=HOW[,FIELD=HOW]…", HOW being a name of task_field_reduction_names; "scx." may
 * stand before a field. To be called before anything is captured or loaded. Returns 0, or -EINVAL with a
 * sentence.
 */
int task_field_choose(const char *choices, struct error *error);

/*
 * The scheduler's own name out of that of its operations ("lavd_1.0.21_x86_64_unknown_linux_gnu" gives
 * "lavd"): what stands before the first '_' that a digit follows, or all of it. Returns its length.
 */
size_t task_field_owner_word(const char *operations);

/* The place of a field on the tab of its scheduler (task_field_column.def): from 0, or SIZE_MAX. */
size_t task_field_place(const char *scheduler, const char *name);

#endif
