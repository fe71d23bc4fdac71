/* SPDX-License-Identifier: GPL-2.0-only */
#include "reduction.h"

#include <stdlib.h>

#include "base/memory.h"

struct reduction *reduction_create(const struct window *window, const struct shown *shown)
{
	struct reduction *reduction = memory_allocate(sizeof(*reduction));

	*reduction = (struct reduction){
		.window = *window,
		.shown = *shown,
		.columns = memory_allocate_zero(COLUMN_TOTAL, sizeof(*reduction->columns)),
	};
	return reduction;
}

void reduction_release(struct reduction *reduction)
{
	if (reduction == NULL)
		return;
	reduction_forget_all(reduction);
	shown_release(&reduction->shown);
	free(reduction->columns);
	free(reduction);
}

const struct column_values *reduction_column(struct reduction *reduction, enum column column)
{
	struct column_values *values = &reduction->columns[column];

	if (values->stride == 0)
		reduce_column(&reduction->window, &reduction->shown, column, values);
	return values;
}

void reduction_forget(struct reduction *reduction, enum column column)
{
	column_values_release(&reduction->columns[column]);
	reduction->columns[column] = (struct column_values){0};
}

void reduction_forget_all(struct reduction *reduction)
{
	for (enum column column = 0; column < COLUMN_TOTAL; column++)
		reduction_forget(reduction, column);
}
