/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables.h"

#include "pair_table.h"
#include "tables_internal.h"

/* Makes the table for people: a row for each group, with the columns of a tab. */
static void make_pairs(struct tables_build *build)
{
	const struct tables_request *request = build->request;
	const struct pair_sides sides = {.diff = build->diff, .broke_rule = request->broke_rule};
	struct view view;

	view_initialise(&view);
	view.grouping = build->diff->options.grouping;
	view.tab = request->tab;
	view.compares = view.sort_by_change = true;
	view.equal_rows = request->all;
	view.limit = request->limit;
	build->table = pair_table_create(&sides, &view, axes[view.grouping.axis].header);
	tables_finish(build);
}

void tables_make(const struct diff *diff, const struct tables_request *request,
		 void (*emit)(void *context, const struct table *table), void *context)
{
	const bool is_comparison = diff->snapshots[DIFF_BEFORE] != NULL;
	struct tables_build build = {
		.diff = diff,
		.request = request,
		.emit = emit,
		.context = context,
		.is_comparison = is_comparison,
		.first_side = is_comparison ? DIFF_BEFORE : DIFF_AFTER,
	};

	if (is_comparison && !request->is_long) {
		make_pairs(&build);
		tables_renames(&build);
		if (diff->options.by_threads)
			tables_threads(&build);
		buffer_release(&build.text);
		return;
	}
	tables_groups(&build);
	if (is_comparison && request->sections[SECTION_SMAPS_ROLLUP])
		tables_smaps(&build);
	if (diff->options.grouping.axis == AXIS_CGROUP)
		tables_cgroups(&build);
	if (request->sections[SECTION_HOST_PRESSURE])
		tables_host_pressure(&build);
	if (!is_comparison && request->sections[SECTION_SMAPS_ROLLUP])
		tables_smaps(&build);
	if (request->sections[SECTION_SCHED_EXT])
		tables_host_sched_ext(&build);
	if (request->sections[SECTION_LATENCY])
		tables_latency(&build);
	if (request->sections[SECTION_TIME])
		tables_time(&build);
	if (request->sections[SECTION_BLAME])
		tables_blame(&build);
	if (request->sections[SECTION_TASK_FIELDS]) {
		tables_scheduler(&build);
		tables_task_fields(&build);
	}
	if (is_comparison) {
		tables_renames(&build);
		if (diff->options.dialect->lists_one_sided)
			tables_orphans(&build);
	}
	if (diff->options.by_threads)
		tables_threads(&build);
	buffer_release(&build.text);
}
