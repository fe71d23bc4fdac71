/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_tables.h"

#include <stdlib.h>

#include "diff_build.h"

void diff_tables(const struct diff *diff, const struct diff_request *request,
		 void (*emit)(void *context, const struct table *table), void *context)
{
	enum axis axis = diff_options(diff)->grouping.axis;
	struct diff_build build = {
		.base =
			{
				.emit = emit,
				.context = context,
				.limit = request->limit,
				.chunk_rows = request->chunk_rows,
			},
		.diff = diff,
		.request = request,
	};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		build.by_flags[side] = diff_options(diff)->by_flags ||
				       !diff_snapshot(diff, (enum diff_side)side)->provenance.present;
	if (request->match != NULL)
		build.counts = diff_match_count(request->match, diff);
	diff_group_tables(&build);
	if (request->sections[SECTION_SMAPS_ROLLUP])
		diff_smaps_table(&build);
	if (axis == AXIS_CGROUP)
		diff_cgroup_tables(&build);
	if (request->sections[SECTION_HOST_PRESSURE])
		diff_host_pressure_tables(&build);
	if (request->sections[SECTION_SCHED_EXT])
		diff_sched_ext_table(&build);
	diff_rename_table(&build);
	diff_orphan_tables(&build);
	if (request->match != NULL && request->members)
		diff_member_tables(&build);
	free(build.counts);
	buffer_release(&build.base.text);
}
