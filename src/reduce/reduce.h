/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REDUCE_H
#define CTOP_REDUCE_H

#include "span/ended.h"
#include "shown.h"
#include "span/span.h"
#include "table/table.h"
#include "view/column_table.h"

/* A column's values reduced to an accumulator a row, and cells made of them. */

/* Reduces a column over a span whose `now` is that of the threads shown. */
void reduce_column(const struct span *span, const struct shown *shown, enum column column,
		   struct column_values *ret_values);

/* --- for reduce_column() --- */

/* The accumulator of a row, or the first of them. */
static inline struct accumulator *reduce_accumulator(const struct column_values *values, size_t row)
{
	return &values->accumulators[row * values->stride];
}

/* Adds a thread to the accumulator of its row. */
typedef void reduce_add_function(const void *work, uint32_t thread, struct accumulator *accumulator);

/* Adds threads that stand still as often as there are: they did nothing, and have a state. */
static inline void reduce_add_copies(struct accumulator *accumulator, const struct accumulator *one,
				     uint32_t count)
{
	accumulator->read += one->read * count;
	accumulator->missed += one->missed * count;
	if (accumulator->reason == REASON_READ)
		accumulator->reason = one->reason;
	accumulator->partial |= one->partial;
	accumulator->differs |= one->differs;
}

/*
 * Adds all threads to the accumulators from `accumulators` on, which are those of the first row. Groups that
 * stand still take their turn with their first threads: of several reasons the first one counts.
 */
static inline void reduce_add_threads(const struct shown *shown, struct accumulator *accumulators,
				      size_t stride, bool only_movers, reduce_add_function *add,
				      const void *work)
{
	size_t next = 0;

	for (size_t k = 0; !only_movers && k < shown->count; k++)
		add(work, shown->threads[k], &accumulators[shown->row_of[k] * stride]);
	for (size_t i = 0; only_movers && i <= shown->mover_count; i++) {
		const uint32_t k = i < shown->mover_count ? shown->movers[i] : UINT32_MAX;

		for (; next < shown->still_count && shown->still_groups[next].first < k; next++) {
			const struct still_group *group = &shown->still_groups[next];
			struct accumulator one = {0};

			add(work, shown->threads[group->first], &one);
			reduce_add_copies(&accumulators[shown->row_of[group->first] * stride], &one,
					  group->count);
		}
		if (k != UINT32_MAX)
			add(work, shown->threads[k], &accumulators[shown->row_of[k] * stride]);
	}
}

/* Reduces a column of a metric that is no counter, as the metric says. */
void reduce_present(const struct span *span, const struct shown *shown, const struct column_values *values,
		    enum metric metric);

/* Reduces the column of ages to that of the oldest thread, ns. */
void reduce_age(const struct shown *shown, const struct column_values *values);

/*
 * Reduces a column of smaps_rollup (enum smaps_key). The memory of a process counts where its leader is; its
 * other threads have none of their own.
 */
void reduce_smaps(const struct shown *shown, const struct column_values *values);

/*
 * Reduces the resident memory of processes, which counts where their leaders are; `growth`: how it changed
 * over the span, what ended processes had in sum.second. Of a file without it smaps_rollup says how much it
 * is.
 */
void reduce_resident(const struct span *span, const struct shown *shown, const struct column_values *values,
		     bool growth);

/*
 * Reduces a column of waits that have not ended (LOST, STUCK, WAITING, LONG); of LOST what no counter shows,
 * for sorting, in sum.second.
 */
void reduce_waits(const struct span *span, const struct shown *shown, const struct column_values *values);

/* Reduces a column of how long waits took (enum latency_field). */
void reduce_latency(const struct span *span, const struct shown *shown, const struct column_values *values);

/*
 * Reduces a column of cgroup records to one accumulator per row: sum.first, and `differs` where a cgroup of
 * the group has no limit. Rows that are not cgroups get nothing: it does not apply to them.
 */
void reduce_cgroup(const struct span *span, const struct shown *shown, const struct column_values *values);

/*
 * Reduces a column of the allocator probe (enum heap_field). `differs`: of LIVE, some process is not whole in
 * the row; of LAYOUT, processes do not agree, present being an index into provenance.heap.
 */
void reduce_heap(const struct shown *shown, const struct column_values *values);

/* Adds up how long waits of a kind took, of a row; false where that is not known. */
bool reduce_latency_row(const struct span *span, const struct shown *shown, size_t row,
			enum latency_kind kind, struct latency_histogram *ret_histogram);

/* How many more waits of a kind may be of a row: those of `(other)`, for other rows than its own. */
uint64_t reduce_latency_unknown(const struct span *span, const struct shown *shown, size_t row,
				enum latency_kind kind);

/* Why it is not known how long waits took. */
reason_id reduce_latency_missing(const struct span *span, const struct shown *shown);

/* How the counters of a process were found, and what became of the search; NULL when it is not known. */
const struct heap_process *reduce_find_heap(const struct snapshot *snapshot, uint32_t tgid);

/* Why no cgroup record of a snapshot has a number (enum cgroup_field); REASON_READ where one has, or there is
 * no record. */
reason_id reduce_cgroup_missing(const struct snapshot *snapshot, int field);

/* Whether a column of cgroup records is a counter shown per second in VIEW_MODE_RATE. */
bool reduce_cgroup_is_rate(int field);

/* Reduces a column of a field of schedulers, into `values->fields`. */
void reduce_scx(const struct span *span, const struct shown *shown, struct column_values *values);

/* Reduces a column of texts that say who a thread is (enum identity), into `identity`. */
void reduce_identity(const struct shown *shown, const struct column_values *values);

/* Makes a cell of one: the text of all members, or how many there are. Texts are in `arena`. */
void identity_cell(const struct shown *shown, enum identity identity, const struct accumulator *accumulator,
		   struct arena *arena, struct cell *ret_cell);

/* A field of the contexts that schedulers keep, over a span: looked up once for many threads. */
struct scx_span {
	const struct span *span;
	const struct scx_member *member; /* NULL: the scheduler of the newest snapshot has no such field */
	reason_id missing;               /* why no thread has a value; REASON_READ where they may */
	bool is_change;                  /* a counter in another mode than VIEW_MODE_TOTAL */
	reason_id from_missing;          /* of a change: why there is nothing to count from */
	double scale;                    /* of a change: to one per second where it is a rate, else 1 */
};

struct scx_span scx_span_of(const struct span *span, uint16_t field);

/*
 * What a thread has, or as a change what it added, in *ret_value as scx_member_read() gives it. Returns
 * REASON_READ, SPAN_ABSENT (no context, or no such field) or why it is not known.
 */
uint16_t scx_span_value(const struct scx_span *field, uint32_t thread, uint64_t *ret_value);

/* How many records of ended threads count. */
size_t reduce_ended_count(const struct span *span, const struct shown *shown);

/* By what amounts over a span have to be multiplied. */
double reduce_scale(const struct span *span, bool as_rate);

/* --- column_cell.c --- */

/* Makes the cell of a row; its texts are in `arena`. */
void column_cell(const struct shown *shown, const struct column_values *values, size_t row,
		 struct arena *arena, struct cell *ret_cell);

/* A category's value as words: SCHED_OTHER is OTHER, a state its letter. */
const char *category_text(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			  char letter[static 5]);

/* Fills a table's column description: name with unit, title, width. */
void column_describe(enum column column, enum view_mode mode, bool by_thread, struct arena *arena,
		     struct table_column *ret_column);

#endif
