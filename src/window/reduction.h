/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REDUCTION_H
#define CTOP_REDUCTION_H

#include "reduce.h"

/* The columns of one window and its rows, reduced when they are first asked for. */
struct reduction {
	struct window window;
	struct shown shown;
	struct column_values *columns; /* by enum column; stride 0: not reduced */
};

/*
 * The window's snapshots must outlive the result; what `shown` owns is taken over. Released by the caller;
 * NULL is allowed there.
 */
struct reduction *reduction_create(const struct window *window, const struct shown *shown);
void reduction_release(struct reduction *reduction);

const struct column_values *reduction_column(struct reduction *reduction, enum column column);

/* The value of a row in it. */
static inline void reduction_value(struct reduction *reduction, enum column column, size_t row,
				   struct value *ret_value)
{
	reduce_value(&reduction->shown, reduction_column(reduction, column), row, ret_value);
}

/* Frees a column until it is asked for again; what reduction_column() gave is stale afterwards. */
void reduction_forget(struct reduction *reduction, enum column column);

/* Frees all of them. */
void reduction_forget_all(struct reduction *reduction);

#endif
