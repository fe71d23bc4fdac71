/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NOISE_TABLE_H
#define CTOP_NOISE_TABLE_H

#include "diff.h"
#include "table/table.h"

/*
 * Makes the table of what varies between the runs of one set, the side after of a diff without before: a row
 * for each group and column in which two runs may differ by more than the floor of the unit. The columns are
 * those of diff_floors.h; numbers have the unit of reports. The floor is the larger of the range of the runs
 * and the difference between two runs that is exceeded one time in twenty (ISO 5725-6: 2.77 standard
 * deviations). Rows are sorted by how many times the unit's floor that is; `limit` is at most so many, 0 for
 * all. Calls diff_forget(). The caller releases the table.
 */
struct table *noise_table_create(const struct diff *diff, size_t limit);

#endif
