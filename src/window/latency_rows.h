/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LATENCY_ROWS_H
#define CTOP_LATENCY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/snapshot.h"

/*
 * The rows of how long waits took where names do not tell them: rows that are processes or users, or of
 * threads that a filter chose. Waits are known by names and process (struct latency_share), and threads that
 * have these in common are mostly in one row.
 */
struct latency_rows;

/* What the rows are found by. */
struct latency_rows_options {
	const struct snapshot *now;
	const uint32_t *row_of_thread;    /* by thread of `now`; UINT32_MAX: it has no row */
	const uint32_t *record_of_triple; /* of the sums, by triple of `now`; UINT32_MAX for none */
	/* By record: the row of threads of these names, any row (0) where rows are no names, UINT32_MAX where
	 * the view has none of them. The result owns it. */
	uint32_t *row_of_record;
	bool by_thread;     /* rows are no names */
	uint32_t ended_row; /* of processes that have ended; UINT32_MAX for none */
	/* By record: whether waits of ended processes count, in `ended_row`, or in the record's row if rows
	 * are names. NULL: all count. The result owns the array. */
	bool *gone;
};

/* Threads of a row have the names of a record. */
struct latency_row_record {
	uint32_t row, record;
};

struct latency_rows *latency_rows_create(const struct latency_rows_options *options);
void latency_rows_release(struct latency_rows *rows);

/*
 * The row of what threads of a record and process did, UINT32_MAX for none. `*ret_unsure`: only some of these
 * threads are in that row.
 */
uint32_t latency_rows_find(const struct latency_rows *rows, uint32_t record, uint32_t pid, bool *ret_unsure);

/* All rows with the records that have waits of theirs, ascending, each pair once. Owned by `rows`. */
const struct latency_row_record *latency_rows_records(const struct latency_rows *rows, size_t *ret_count);

#endif
