/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_AGGREGATE_H
#define CTOP_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "metric/metric.h"
#include "snapshot/metric_reader.h"
#include "snapshot/snapshot.h"

/* How often a category occurs; `value` as the snapshot's column holds it. */
struct aggregate_count {
	uint64_t value;
	uint64_t threads;
};

/* One metric of a group's threads taken together. */
struct aggregate {
	uint32_t read;        /* threads of the group with a value */
	uint32_t unavailable; /* those without one that should have it; for the others it is absent */
	reason_id reason;     /* of the first that is unavailable */
	uint64_t missing;     /* fingerprint of the set of unavailable threads, 0 for none */
	union {
		uint64_t number; /* METRIC_REDUCTION_SUM, saturating, and METRIC_REDUCTION_MAXIMUM */
		struct {
			int64_t low, high;
		} range; /* METRIC_REDUCTION_RANGE */
		struct {
			uint32_t fewest, most; /* CPUs in a set */
			uint32_t set;          /* id of the one set that all have, when uniform */
			bool uniform;
		} affinity; /* METRIC_REDUCTION_AFFINITY */
		struct {
			struct aggregate_count *counts;
			uint32_t count, capacity;
		} tally; /* METRIC_REDUCTION_MODE */
	} value;
};

/* The aggregates of all groups of one snapshot, made metric by metric when they are first asked for. */
struct aggregation {
	const struct snapshot *snapshot;
	size_t group_count;
	bool by_flags;
	uint32_t *group_of_thread;
	/*
	 * The threads whose counters are added up; a counter of any other thread counts as zero if it was
	 * read. NULL for all. To be set before any column is made; not owned.
	 */
	const bool *counted;
	const bool *replaced; /* those of the others whose counters are unavailable; NULL for none */
	struct aggregation_column {
		struct aggregate *aggregates; /* one for each group; NULL until asked for */
		struct arena tallies;
	} columns[METRIC_COUNT];
	enum metric reducing; /* the column that is being made */
	/*
	 * Which threads have a value is the same for all metrics of a source. What it comes to for each
	 * group, with empty values, is kept for the metrics that follow; NULL for none yet.
	 */
	struct aggregate *states;
	struct aggregation_rule {
		bool by_flags;
		enum metric_family family;   /* by flags */
		struct metric_states states; /* by knowledge */
	} states_rule;
	struct aggregate *spare; /* a column that was forgotten: its pages are there already; or NULL */
	struct hash_map
		categories; /* index of each category in its tally, of the column that is being made */
	struct aggregation_merge {
		size_t into, from;
	} * merges;
	size_t merge_count, merge_capacity;
};

/*
 * Reduces the metrics over the threads of each group; `group_of_thread` has a number below `group_count` for
 * each thread of `snapshot` and is copied, the snapshot must outlive the result. With `by_flags` (and for
 * snapshots without knowledge of their own, see snapshot_value_state()) the format's flags alone decide: a
 * group with one measured thread is measured, and every thread adds what it has stored. Otherwise only values
 * that were read count. The caller releases the result.
 */
struct aggregation *aggregation_create(const struct snapshot *snapshot, const uint32_t *group_of_thread,
				       size_t group_count, bool by_flags);
void aggregation_release(struct aggregation *aggregation);

/* Makes the column of a metric. */
struct aggregate *aggregation_reduce(struct aggregation *aggregation, enum metric metric);

/* Frees the column of a metric until it is asked for again; pointers into it are stale afterwards. */
void aggregation_forget(struct aggregation *aggregation, enum metric metric);

/* The aggregate of a group, valid until a merge, or until its metric is forgotten. */
static inline struct aggregate *aggregation_get(struct aggregation *aggregation, size_t group,
						enum metric metric)
{
	struct aggregate *column = aggregation->columns[metric].aggregates;

	return &(column != NULL ? column : aggregation_reduce(aggregation, metric))[group];
}

/* Adds the group `from` to `into`: sums add, maxima and ranges widen, tallies join. */
void aggregation_merge(struct aggregation *aggregation, size_t into, size_t from);

/* Whether there is a value, or it is absent, or unavailable (why: `*ret_reason`, may be NULL). */
static inline enum value_state aggregate_state(const struct aggregate *aggregate, reason_id *ret_reason)
{
	if (ret_reason != NULL)
		*ret_reason = aggregate->unavailable != 0 ? aggregate->reason : REASON_READ;
	if (aggregate->read != 0)
		return VALUE_READ;
	return aggregate->unavailable != 0 ? VALUE_UNAVAILABLE : VALUE_ABSENT;
}

/* Whether the value lacks threads that should be in it. */
static inline bool aggregate_is_partial(const struct aggregate *aggregate)
{
	return aggregate->read != 0 && aggregate->unavailable != 0;
}

/*
 * The number for deltas and sorting: the sum, the maximum, the middle of a range, of the CPU counts. False
 * for categories and where there is no value.
 */
bool aggregate_number(const struct aggregate *aggregate, enum metric metric, double *ret_number);

/*
 * The commonest category: most threads, the smallest in byte order among equals. `text` takes its bytes
 * (appended). Returns the threads that have it, 0 when there is none ("~").
 */
uint64_t aggregate_mode(const struct aggregation *aggregation, const struct aggregate *aggregate,
			enum metric metric, struct buffer *text);

/* A derived metric of a group. */
struct aggregate_derived {
	enum value_state state;
	reason_id reason;
	bool partial; /* a lower bound */
	double value;
};

/*
 * Computes a derived metric. Absent when an input is absent or the divisor is 0; unavailable when an input
 * is, or when inputs that are divided or subtracted miss different threads. A sum of partial inputs is
 * partial.
 */
struct aggregate_derived aggregation_derive(struct aggregation *aggregation, size_t group,
					    enum derived derived);

#endif
