/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILTER_H
#define CTOP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/ended_records.h"
#include "snapshot/lookup.h"
#include "snapshot/snapshot.h"
#include "table.h"
#include "window/column.h"
#include "window/grouping.h"

/*
 * The text by which the user narrows the rows shown:
 *
 *   text, "quoted text"      part of a name; case is ignored without a capital
 *   /regex/                  POSIX extended, the same case rule
 *   COLUMN OP NUMBER[UNIT]   OP one of > >= < <= = != (a column title of the screen or a metric name:
 *                            `cpu% > 50`, `run_time_ns > 10ms`); words take = and != (`policy = FIFO`)
 *   FIELD OP VALUE           FIELD of filter_field.def: `user = root`, `state = D`, `cgroup = /system*`
 *
 * joined by `and` (which may be left out), `or`, `not` or a leading `!`, and parentheses. `or` binds least.
 * A text that looks like a comparison and is none is refused; in quotes it is a text.
 *
 * A text is looked for in what a row shows and in the names of its members: python3 is in the row python{N}.
 * So it is in the command lines of their processes, where these were read.
 *
 * A filter is a list of conditions that all have to hold. Those that are made of fields of threads alone
 * narrow the threads that are grouped and summed (filter_members()); all others choose rows
 * (filter_matches()), where a condition on threads holds for a row that has such a thread.
 *
 * A comparison with an unknown value is false, even negated.
 *
 * A title with % or /s, or a number with %, means the rate in every mode. A time compared with a share of
 * time means that time per second: 10ms is 1 %. Units are those of quantity.h that fit the column.
 */
struct filter;

enum filter_field {
#define FILTER_FIELD(id, ...) FILTER_FIELD_##id,
#include "filter_field.def"
#undef FILTER_FIELD
	FILTER_FIELD_COUNT,
};

enum filter_takes {
	FILTER_TAKES_TEXT,
	FILTER_TAKES_LETTERS,
	FILTER_TAKES_NUMBER,
};

struct filter_field_entry {
	const char *word, *alias; /* alias may be NULL */
	enum filter_takes takes;
	enum column column;
	const char *value; /* an example */
	const char *description;
};

extern const struct filter_field_entry filter_fields[FILTER_FIELD_COUNT];

enum {
	FILTER_TERMS_MAX = 4096,
};

/* Parses; NULL with a sentence that says what is wrong and lists what is valid, nearest name first. */
struct filter *filter_parse(const char *text, struct error *error);

void filter_release(struct filter *filter);

/* The text it was made from. */
const char *filter_text(const struct filter *filter);

/*
 * The column of the `index`-th comparison, whose cell filter_matches() asks for, or what is read for a field;
 * COLUMN_COUNT behind the last.
 */
enum column filter_column(const struct filter *filter, size_t index);

/* The `index`-th user that it names, by name or number and without wildcards; NULL behind the last. */
const char *filter_user(const struct filter *filter, size_t index);

/* Whether something of it is looked for in command lines, NULL allowed. */
bool filter_reads_commands(const struct filter *filter);

/* The first column that it compares as a rate; COLUMN_COUNT for none. */
enum column filter_rate(const struct filter *filter);

/* Whether it compares the cell of a column. */
bool filter_compares(const struct filter *filter);

/* Appends what has to hold besides the text of a filter (which may be empty), both in parentheses where they
 * have to be. */
void filter_append(struct buffer *text, const char *more);

/* The text of a filter without conditions on a field that stand for themselves, or are the alternatives of
 * one, appended; nothing where none is left. */
void filter_append_without(const struct filter *filter, enum filter_field field, struct buffer *text);

/* Appends a condition to the text of a filter (which may be empty): "FIELD = VALUE", quoted where it has to
 * be. */
void filter_append_condition(struct buffer *text, enum filter_field field, const char *value);

/* --- rows --- */

/* The cell of a column, as a rate or in the view's mode, valid until the next one; NULL for none. */
typedef const struct cell *filter_cell_of(void *context, enum column column, bool as_rate);

/*
 * Whether some member of the row matches the term of that number (less than FILTER_TERMS_MAX):
 * filter_term_members() tells it of each thread.
 */
typedef bool filter_has_member(void *context, size_t term);

/* A row that is asked about. */
struct filter_row {
	const char *label; /* may hold NULs between its parts */
	size_t label_length;
	filter_cell_of *cell_of;
	filter_has_member *has_member; /* NULL: nothing is known of its members */
	void *context;
};

/* Whether a row satisfies all conditions on rows. */
bool filter_matches(const struct filter *filter, const struct filter_row *row);

/*
 * Says of each cgroup and container that is asked for and that no thread of a snapshot is in that this is so,
 * with the name that may have been meant, in a sentence without a full stop at its end. Returns whether there
 * is one; `filter` may be NULL.
 */
bool filter_append_unmatched(const struct filter *filter, const struct snapshot *snapshot,
			     struct buffer *words);

/* --- threads --- */

/* Threads that are asked about. */
struct filter_subjects {
	const struct snapshot *snapshot;
	/* Threads that ended, one record for each triple of the snapshot, of which the names are known, and
	 * the process here, 0 where it is not; NULL: the threads of the snapshot. */
	const uint32_t *ended_pids;
	const struct lookup_cache *commands; /* command lines that were read; NULL for none */
	bool titles; /* whether the snapshot's recorded titles count as command lines */
};

/* Whether some conditions narrow threads, NULL allowed. */
bool filter_narrows(const struct filter *filter);

/* Whether some conditions choose rows. */
bool filter_chooses_rows(const struct filter *filter);

/* Whether one of them is about what a thread does at the moment: rows come and go with that. */
bool filter_is_fleeting(const struct filter *filter);

/* Whether a term compares a field that only living threads have: state, user, tid, command line or wait. */
bool filter_is_of_living(const struct filter *filter);

/*
 * Marks the threads that satisfy all conditions on threads, by index; the caller frees the array. NULL
 * without such conditions. Names of users are asked for and count once they are known (user_names.h).
 */
bool *filter_members(const struct filter *filter, const struct filter_subjects *subjects);

/* Does the same for records of ended threads. The record of unreported threads satisfies no condition. */
bool *filter_ended_members(const struct filter *filter, const struct ended *ended);

/*
 * Marks ended threads that by themselves satisfy the conditions on rows that contain names, by index; the
 * caller frees the array. On an axis by thread, unrelated threads of ended processes share a row with this
 * label. A condition that matches the label matches all of them; conditions on numbers match none, as their
 * own numbers are unknown. NULL without such conditions.
 */
bool *filter_pool_members(const struct filter *filter, enum axis axis, const char *label, size_t label_length,
			  const struct filter_subjects *subjects);

/*
 * Marks the threads for which the term of that number holds, by index; the caller frees the array. A text is
 * compared with the name that threads are grouped by on an axis.
 */
bool *filter_term_members(const struct filter *filter, size_t term, enum axis axis,
			  const struct filter_subjects *subjects);

#endif
