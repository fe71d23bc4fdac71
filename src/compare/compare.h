/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARE_H
#define CTOP_COMPARE_H

#include "diff/comparability.h"
#include "diff/diff.h"
#include "session/session.h"

/*
 * A session that compares: an older snapshot with the newest round (or with the file) of the session. While
 * it does, session_table() and its kin give rows that are a metric of a group or thread, with both sides and
 * the change; opening a row narrows to its group and to its metric.
 *
 * A row that no change is known of, or that did not change, is left out unless view.equal_rows. By default
 * rows stand by how much of the change there was: that of a counter as part of all changes of this metric,
 * with an allowance for what a quiet host does anyway, so that no lone page fault stands before a second of
 * waiting. What has no total (peaks, gauges, ratios) stands behind the counters that moved most.
 */

/* A column of the table, in the order of enum pair_column. */
struct pair_column_entry {
	const char *name; /* of options and files: "percent" */
	const char *title;
	bool left;
	int width; /* cells */
	const char *description;
};

extern const struct pair_column_entry pair_columns[PAIR_COLUMN_COUNT];

/* Whether threads of the two sides can be told apart by their ids and start times. */
enum pair_boot {
	PAIR_BOOT_ONE,
	PAIR_BOOT_OTHER,
	PAIR_BOOT_UNKNOWN, /* a side does not say */
};

enum {
	PAIR_METRICS_MAX = COLUMN_TOTAL
};

/* Compares from now on with `before`, whose reference it takes over; NULL ends the comparison. */
void session_compare(struct session *session, struct snapshot *before);

bool session_is_pair(const struct session *session);

/* Exchanges the sides. */
void session_swap(struct session *session);
bool session_is_swapped(const struct session *session);

/*
 * Whether the change of a counter is that of the threads that are on both sides, wherever they belong, and of
 * those that started in between (see diff_match.h), rather than that of the groups' sums. So it is from the
 * start where both captures are of one boot.
 */
bool session_pair_by_threads(struct session *session);

/* Changes that; -EINVAL with a sentence where threads cannot be matched. */
int session_pair_set_by_threads(struct session *session, bool by_threads, struct error *error);

/* The snapshot of a side as shown, NULL before the first round or when nothing is compared. */
const struct snapshot *session_side(const struct session *session, enum diff_side side);

enum pair_boot session_pair_boot(const struct session *session);

/* What keeps the sides from being compared; owned by the session until a side changes. NULL without sides. */
const struct comparability *session_pair_comparability(struct session *session);

/* Time between the two captures, ns; 0 when it is not known. */
uint64_t session_pair_distance_ns(const struct session *session);

/* Threads of both sides, of after only and of before only. */
struct pair_threads {
	uint64_t same, came, gone;
};

/* Counts them over all threads; false unless the sides are of one boot. */
bool session_pair_threads(struct session *session, struct pair_threads *ret_threads);

/*
 * The metrics of a view: those of its focus, else of its tab. They are columns behind COLUMN_COUNT, or
 * columns of records (memory of processes, cgroups). Returns how many.
 */
size_t session_pair_metrics(const struct view *view, enum column ret_metrics[PAIR_METRICS_MAX]);

/* What the newest round must have read for them, as view_needs() says it. */
void session_pair_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records,
			bool *ret_smaps);

/* The part of a row's key that names its group or thread, what view_open() takes; any row of any session. */
const char *session_row_subject(const struct session *session, const struct table_row *row,
				size_t *ret_length);

/* Appends the key of the row of a metric of a group or thread. */
void session_pair_append_key(enum column metric, const char *subject, size_t subject_length,
			     struct buffer *buffer);

/* Appends what there is to say of a row beside its cells: its whole name, and which of its threads are the
 * same. Bytes as read, not sanitised. */
void session_pair_append_note(struct session *session, const struct view *view, const struct table_row *row,
			      struct buffer *buffer);

#endif
