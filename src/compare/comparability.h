/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMPARABILITY_H
#define CTOP_COMPARABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "snapshot/snapshot.h"

/* Differences that make two captures hard to compare, as sentences that name the consequence. */

/* The sides of a comparison. */
enum diff_side {
	DIFF_BEFORE,
	DIFF_AFTER,
	DIFF_SIDE_COUNT,
};

extern const char *const diff_side_names[DIFF_SIDE_COUNT]; /* "before" "after" */

enum comparability_severity {
	COMPARABILITY_NOTE,    /* worth knowing */
	COMPARABILITY_WARNING, /* some of the changes shown are no changes */
	COMPARABILITY_SEVERITY_COUNT,
};

extern const char *const comparability_severity_names[COMPARABILITY_SEVERITY_COUNT]; /* "note" "warning" */

struct comparability_row {
	enum comparability_severity severity;
	const char *id;   /* stable word for programs: "other-kernel" */
	const char *text; /* one sentence without a period; names in it are as read, not sanitised */
};

struct comparability {
	struct arena arena;             /* owns the texts */
	struct comparability_row *rows; /* warnings first */
	size_t count;
	size_t capacity;
};

/*
 * Examines what is known of both captures: order, boot, host, kernel, hardware, what was readable on one side
 * only, rights, namespaces, the processes captured, the program that wrote the file, and the time
 * between them. Of files without `ctop` objects only the flags and the host object are known. Nothing of the
 * snapshots is kept. The caller releases the result with comparability_release().
 */
struct comparability *comparability_create(const struct snapshot *before, const struct snapshot *after);

/* All runs of a side, each with the name of its file as the user wrote it; none where there is no side. */
struct comparability_set {
	const struct snapshot *const *runs;
	const char *const *names;
	size_t count;
};

/*
 * The same of two sets of runs: their last runs are compared, without their order in time, and each set in
 * itself: rows name captures that are in the sets twice, and runs of another host, kernel or setting than the
 * first of their set. The set before may be empty: then nothing is compared but the runs of the other.
 */
struct comparability *comparability_create_of_sets(const struct comparability_set sets[DIFF_SIDE_COUNT]);

/* Adds a row of the caller's; `id` is static, `text` is copied. Warnings come before notes. */
void comparability_add(struct comparability *comparability, enum comparability_severity severity,
		       const char *id, const char *text);

/* Whether there is a row with that id. */
bool comparability_has(const struct comparability *comparability, const char *id);

/* Frees the rows; NULL is allowed. */
void comparability_release(struct comparability *comparability);

/*
 * Nanoseconds from one capture to the other: of CLOCK_BOOTTIME where both are of one boot, else of the wall
 * clock. Negative when `after` is the older one; 0 where it is not known.
 */
int64_t comparability_interval(const struct snapshot *before, const struct snapshot *after);

/* Whether they are known to be of two hosts: then what differs did not happen between the two captures. */
bool comparability_other_host(const struct snapshot *before, const struct snapshot *after);

/* Whether both captures are known to be of one boot of one host. */
bool comparability_same_boot(const struct snapshot *before, const struct snapshot *after);

#endif
