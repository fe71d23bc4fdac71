/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REDUCE_H
#define CTOP_REDUCE_H

#include "ended.h"
#include "shown.h"
#include "span.h"
#include "table/table.h"

/* A column's values reduced to an accumulator a row, and cells made of them. */

/* Reduces a column over a span whose `now` is that of the threads shown. */
void reduce_column(const struct span *span, const struct shown *shown, enum column column,
		   struct column_values *ret_values);

/* --- for reduce_column() --- */

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

/* Why it is not known how long waits took. */
reason_id reduce_latency_missing(const struct span *span);

/* How the counters of a process were found, and what became of the search; NULL when it is not known. */
const struct heap_process *reduce_find_heap(const struct snapshot *snapshot, uint32_t tgid);

/* Whether a column of cgroup records is a counter shown per second in VIEW_MODE_RATE. */
bool reduce_cgroup_is_rate(int field);

/* Reduces a column of lives (enum life_event), reduce_lives.c. */
void reduce_lives(const struct span *span, const struct shown *shown, const struct column_values *values,
		  int event);

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
