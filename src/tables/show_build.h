/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SHOW_BUILD_H
#define CTOP_SHOW_BUILD_H

#include "group/cgroup_merge.h"
#include "show_tables.h"
#include "table/table_build.h"

/* What the builders of the tables of one snapshot share; for this room only. */
struct show_build {
	struct table_build base;
	const struct snapshot *snapshot;
	const struct show_request *request;
	bool by_flags; /* asked for, or all that the snapshot has */
};

/* One resource's rows `some` and `full`: cells from `first` on are row, avg10, avg60, avg300, total. */
void show_set_pressure(struct show_build *build, struct table *table, struct cell *first, const char *row,
		       const struct pressure_half *half);

/* The same rows where the pressure was not read. */
void show_set_pressure_unavailable(struct table *table, struct cell *first, const char *row,
				   reason_id reason);

/* The tables by what they are about. */
void show_group_tables(struct show_build *build);
void show_cgroup_tables(struct show_build *build);
void show_host_pressure_tables(struct show_build *build);
void show_smaps_table(struct show_build *build);
void show_sched_ext_table(struct show_build *build);

#endif
