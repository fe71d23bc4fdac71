/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARE_H
#define CTOP_COMPARE_H

#include "comparability.h"
#include "diff.h"
#include "table/table.h"
#include "table/view.h"

/*
 * A comparison of two snapshots on the screen: the tables and texts that a session (session.h) gives of one.
 * Its rows are groups or threads, with the columns of the view (pair_table.h). Not safe for several threads:
 * it belongs to the one that draws.
 */
struct comparison;

/* Whether threads of the two sides can be told apart by their ids and start times. */
enum compare_boot {
	COMPARE_BOOT_ONE,
	COMPARE_BOOT_OTHER,
	COMPARE_BOOT_UNKNOWN, /* a side does not say */
};

/* A comparison with `before`, whose reference it takes over; without rows until there is an after. */
struct comparison *compare_create(struct snapshot *before);
void compare_release(struct comparison *comparison);

/* Takes another snapshot as after and keeps a reference of its own. NULL is allowed and changes nothing. */
void compare_set_after(struct comparison *comparison, const struct snapshot *after);

/* Exchanges the sides as they are shown. */
void compare_swap(struct comparison *comparison);
bool compare_is_swapped(const struct comparison *comparison);

/* --- what follows from the two snapshots alone --- */

/* The snapshot of a side as shown, NULL before the first. */
const struct snapshot *compare_side(const struct comparison *comparison, enum diff_side side);

/*
 * Whether the change of a counter is that of the threads that are on both sides, wherever they belong, and of
 * those that started in between, rather than that of the groups' sums. So it is from the
 * start where both captures are of one boot.
 */
bool compare_by_threads(const struct comparison *comparison);

/* Whether both sides have windows: then their rates are compared, and the changes are those of groups. */
bool compare_has_rates(const struct comparison *comparison);

/* Changes that; -EINVAL with a sentence where threads cannot be matched. */
int compare_set_by_threads(struct comparison *comparison, bool by_threads, struct error *error);

enum compare_boot compare_boot(const struct comparison *comparison);

/* The reasons for which the sides are hard to compare; owned, valid until a side changes. NULL without an
 * after. */
const struct comparability *compare_doubts(struct comparison *comparison);

/* Time between the two captures, ns; 0 when it is not known. */
uint64_t compare_distance_ns(const struct comparison *comparison);

/* Counts the threads of both sides, of after only and of before only; false unless they are of one boot. */
bool compare_count_threads(const struct comparison *comparison, struct diff_match_count *ret_threads);

/* Appends "1,131 threads the same, 43 came, 73 gone", with `what` for " threads". */
void compare_append_counts(const struct diff_match_count *threads, const char *what, struct buffer *buffer);

/* --- tables and texts, as those of session.h --- */

struct table *compare_table(struct comparison *comparison, const struct view *view);

/* Fills rows of the last compare_table(). */
void compare_table_fill(struct comparison *comparison, struct table *table, size_t first, size_t count);

/* All metrics of the group or thread of a row: columns before, after, change, %, source. */
struct table *compare_metric_table(struct comparison *comparison, const struct view *view, const char *key,
				   size_t key_length);

/* The change of a column in a row and where both sides come from. */
void compare_explain(struct comparison *comparison, const struct view *view, const char *key,
		     size_t key_length, enum column column, struct buffer *lines);

/*
 * Appends a note about a row of the last table: its whole name, and how many of its threads are the
 * same. Bytes as read, not sanitised.
 */
void compare_append_note(const struct comparison *comparison, const struct table_row *row,
			 struct buffer *buffer);

/*
 * The same with the change of a column in a sentence (diff_summary.h), with `ascii` of no other characters
 * than the name's. Returns false (nothing appended) for a column without a sentence, and one that did not
 * change measurably.
 */
bool compare_append_sentence(const struct comparison *comparison, const struct table_row *row,
			     enum column column, bool ascii, struct buffer *buffer);

#endif
