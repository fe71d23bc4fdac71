/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EVIDENCE_H
#define CTOP_EVIDENCE_H

#include "base/buffer.h"
#include "snapshot/snapshot.h"
#include "table.h"

/* The quality of the data of a snapshot: values read, values missed and why, and remedies. */

enum {
	EVIDENCE_READ,
	EVIDENCE_MISSED,
	EVIDENCE_WHY,
	EVIDENCE_REMEDY,
	EVIDENCE_COUNT,
};

/*
 * One row per source (SOURCE READ MISSED WHY REMEDY), then the processes that the allocator probe has
 * something to say of (rows with a tgid), then features; texts are not sanitised.
 */
struct table *evidence_table(const struct snapshot *snapshot);

/*
 * Appends commands and advice against missing a source for a reason, in the order in which they help.
 * Remedies that the text already has are left out. Appends nothing if nothing helps.
 */
void evidence_append_remedy(const struct snapshot *now, enum source source, reason_id reason,
			    struct buffer *text);

/*
 * The lines under the table: probe, parse and taskstats summaries, cost. Of a live screen also what the cost
 * is of the time since the round before (0 without one), and the threads that ended since the base.
 */
void evidence_append_lines(const struct snapshot *snapshot, uint64_t interval_ns, uint64_t ended,
			   struct buffer *lines);

/*
 * Appends what would let the allocator probe read the processes that it may not, to a user who is root or not
 * and has what FEATURE_PROCESS_MEMORY says: a part of a sentence, without a remedy if none is known.
 */
void evidence_append_privilege_hint(const struct feature_result *feature, bool root, struct buffer *text);

/* The feature with the remedy when a source is missed for a reason, or FEATURE_NONE. */
enum feature evidence_feature(enum source source, reason_id reason);

#endif
