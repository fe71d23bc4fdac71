/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GROUP_CELL_H
#define CTOP_GROUP_CELL_H

#include "group/aggregate.h"
#include "table/table_build.h"

/*
 * Cells of the tables of groups: a metric, a derived metric, what a metric is tagged with; for this room
 * only.
 */

void group_cell_set_metric(struct table_build *build, struct table *table, struct cell *cell,
			   struct aggregation *aggregation, size_t group, enum metric metric);
void group_cell_set_derived(struct table_build *build, struct table *table, struct cell *cell,
			    struct aggregation *aggregation, size_t group, enum derived derived);

/* Appends "[cfs-only] [SCHEDSTATS]": the scheduler class, then the kernel options. */
void group_cell_append_tags(struct buffer *buffer, enum metric metric);

/* What the numbers of a derived metric count. */
enum unit group_cell_derived_unit(enum derived derived);

#endif
