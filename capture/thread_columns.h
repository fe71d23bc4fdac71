/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_COLUMNS_H
#define CTOP_THREAD_COLUMNS_H

#include "round.h"

/* How readings become cells of a snapshot, and what is kept from an older snapshot. */

/* Works out which source fills which metric, after the features were checked. */
void capture_choose_sources(struct capture *capture);

/* Marks every source of new rows as not read, with the reason that holds until it is. */
void round_expect_sources(struct round *round, size_t first, size_t count);

/* Copies what the previous snapshot holds for the rows that it already had. */
void round_carry_over(struct round *round);

/* Stores the metrics that `source` fills from round->reading and notes that it was read at round->now_ns. */
void round_apply(struct round *round, size_t row, enum source source);

/* Notes why `source` was not read; the metrics that it fills become 0. */
void round_apply_failure(struct round *round, size_t row, enum source source, enum reason reason);

/* Sets one cell; a column is made for its first number that is not 0. */
void round_store(struct round *round, size_t row, enum metric metric, uint64_t value);

/* Forgets the row's allocation counters. */
void round_forget_heap(struct round *round, size_t row);

/* The row now belongs to another thread: clears everything but what came with the counters. */
void round_reset_row(struct round *round, size_t row);

/* Removes the rows of ended threads. */
void round_drop_ended(struct round *round);

#endif
