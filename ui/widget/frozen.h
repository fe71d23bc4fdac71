/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FROZEN_H
#define CTOP_FROZEN_H

#include <stdbool.h>
#include <stddef.h>

#include "table/table.h"

/*
 * The order of a table's rows, kept while their numbers change. A zeroed struct is none.
 */
struct frozen {
	struct frozen_row *rows;
	size_t count, capacity;
};

/* Puts the rows of a table into the order kept: new rows behind all others, from now on in their places; rows
 * that are no more as rows without numbers, marked as gone where `mark_gone`. An order that was none yet
 * becomes that of the table. Of rows that are gone the last 1,000 stay. */
void frozen_apply(struct frozen *frozen, struct table *table, bool mark_gone);

/* Forgets the order. */
void frozen_release(struct frozen *frozen);

#endif
