/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_FIELD_H
#define CTOP_SCX_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metric.h"

/*
 * Fields of the contexts that sched_ext schedulers keep for tasks. Which there are is known only when a
 * scheduler runs, or from a file; a name gets a number once for the life of the program, so that a column can
 * stand for it. What is known of fields by their names: scx_field.def. All functions are safe from any
 * thread.
 */

/* What a member of a context is. Only those up to SCX_KIND_ENUM are fields. */
enum scx_kind {
	SCX_KIND_UNSIGNED,
	SCX_KIND_SIGNED,
	SCX_KIND_BOOLEAN,
	SCX_KIND_ENUM,
	SCX_KIND_POINTER,
	SCX_KIND_ARRAY, /* of integers */
	SCX_KIND_OTHER, /* bytes that have no form: a union that cannot be told apart, a float */
	SCX_KIND_COUNT,
};

extern const char *const scx_kind_names[SCX_KIND_COUNT]; /* in files: "unsigned" … */

/* How a group is made of its threads. */
enum scx_reduction {
	SCX_REDUCTION_COUNTER, /* what the threads added, as other counters; unknown where it ever fell */
	SCX_REDUCTION_SUM,     /* of the present values */
	SCX_REDUCTION_MEAN,
	SCX_REDUCTION_MAXIMUM,
	SCX_REDUCTION_COUNT, /* by value: the commonest one; of a bool how many threads have it set */
	SCX_REDUCTION_AGE,   /* a time stamp: how long ago the oldest one is; 0 is never */
	SCX_REDUCTION_TOTAL,
};

extern const char
	*const scx_reduction_names[SCX_REDUCTION_TOTAL]; /* "counter" "sum" "mean" "max" "count" "age" */
extern const char
	*const scx_reduction_words[SCX_REDUCTION_TOTAL]; /* a sentence for `i` and the manual page */

enum {
	SCX_FIELD_MAX = 512,
	SCX_FIELD_NONE = UINT16_MAX,
	SCX_FIELD_NAME_MAX = 128, /* bytes; a longer name is no field */
};

struct scx_field {
	const char *name;  /* "stats.runtime" */
	const char *title; /* of its column, at most 12 cells: "RUNTIME" */
	/* of its column too: */
	const char *column;        /* its name, "scx.stats.runtime" */
	const char *percent_title; /* where it is a rate of time: "RUNTIME%" */
	const char *rate_title;    /* where it is another rate: "RUNTIME/s" */
};

/* What a reduction was chosen by. */
enum scx_field_choice {
	SCX_FIELD_CHOICE_DEFAULT, /* no row of the table fits the name, or it is a word */
	SCX_FIELD_CHOICE_TABLE,   /* scx_field.def */
	SCX_FIELD_CHOICE_USER,
};

/* What is known of a field of a scheduler by its name and kind. */
struct scx_field_facts {
	enum scx_reduction reduction;
	enum ladder ladder;
};

/*
 * The number of a field name, which is made when it is new. SCX_FIELD_NONE for a name that is empty or too
 * long, and when SCX_FIELD_MAX names are known.
 */
uint16_t scx_field_intern(const char *name);

/* The field of a number that scx_field_intern() gave; lives as long as the program. */
const struct scx_field *scx_field(uint16_t field);

/* How many numbers there are: they are those below. */
size_t scx_field_count(void);

/* The number of a name of so many bytes, in whatever case; SCX_FIELD_NONE when none or several have it. */
uint16_t scx_field_find(const char *name, size_t length);

/* What the user chose for the field, else what the table says; scheduler as scx_field_scheduler() names it.
 */
struct scx_field_facts scx_field_facts_of(const char *scheduler, const char *name, enum scx_kind kind);

/* What that was chosen by. */
enum scx_field_choice scx_field_choice_of(const char *scheduler, const char *name, enum scx_kind kind);

/*
 * Remembers what was found out of a field last (titles and units of columns are by it), or tells it: what the
 * table says of the name of an unsigned number as long as nobody has met the field.
 */
void scx_field_describe(uint16_t field, struct scx_field_facts facts, enum scx_kind kind);
struct scx_field_facts scx_field_described(uint16_t field, enum scx_kind *ret_kind);

/*
 * The user's choice, "FIELD=HOW[,FIELD=HOW]…", HOW being a name of scx_reduction_names; "scx." may stand
 * before a field. To be called before anything is captured or loaded. Returns 0, or -EINVAL with a sentence.
 */
int scx_field_choose(const char *choices, struct error *error);

/*
 * The scheduler's own name out of that of its operations ("lavd_1.0.21_x86_64_unknown_linux_gnu" gives
 * "lavd"): what stands before the first '_' that a digit follows, or all of it. Returns its length.
 */
size_t scx_field_scheduler(const char *operations);

/* The place of a field among the columns of its scheduler's tab (scx_column.def): from 0, or SIZE_MAX. */
size_t scx_field_place(const char *scheduler, const char *name);

#endif
