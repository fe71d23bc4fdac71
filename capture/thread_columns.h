/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_COLUMNS_H
#define CTOP_THREAD_COLUMNS_H

#include "round.h"

/* How readings become cells of a snapshot, and what of an older snapshot stays. */

/* Works out which source fills which metric, after the features were checked. */
void capture_choose_sources(struct capture *capture);

/* What was not read of these rows, where they are new, and why not, until it is. */
void round_expect_sources(struct round *round, size_t first, size_t count);

/* Copies what the previous snapshot holds of the rows that were in it already. */
void round_carry_over(struct round *round);

/* Stores the metrics that `source` fills from round->reading and notes that it was read at round->now_ns. */
void round_apply(struct round *round, size_t row, enum source source);

/* Notes why `source` was not read; the metrics that it fills become 0. */
void round_apply_failure(struct round *round, size_t row, enum source source, enum reason reason);

/* Sets one cell; columns come into being with their first number that is not 0. */
void round_store(struct round *round, size_t row, enum metric metric, uint64_t value);

/* Nothing is known of the row's allocation counters any more. */
void round_forget_heap(struct round *round, size_t row);

/* The row belongs to another thread than before: nothing of it stays but what the counters brought. */
void round_reset_row(struct round *round, size_t row);

/* Takes the rows of ended threads out. */
void round_drop_ended(struct round *round);

#endif
