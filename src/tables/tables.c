/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

#include "tables_build.h"

static const char *const column_names[TABLES_COLUMN_COUNT] = {
	[TABLES_COLUMN_GROUP] = "group",
	[TABLES_COLUMN_THREADS] = "threads",
	[TABLES_COLUMN_METRIC] = "metric",
	[TABLES_COLUMN_VALUE] = "value",
	[TABLES_COLUMN_BASELINE] = "baseline",
	[TABLES_COLUMN_CANDIDATE] = "candidate",
	[TABLES_COLUMN_DELTA] = "delta",
	[TABLES_COLUMN_PERCENT] = "%",
	[TABLES_COLUMN_ARROW] = "arrow",
	[TABLES_COLUMN_TAGS] = "tags",
	[TABLES_COLUMN_UPTIME] = "uptime",
	[TABLES_COLUMN_SAME] = "same",
	[TABLES_COLUMN_CAME] = "came",
	[TABLES_COLUMN_WENT] = "went",
	[TABLES_COLUMN_PER_SECOND] = "per-second",
	[TABLES_COLUMN_PER_THREAD] = "per-thread",
};

/* Whether reports of so many snapshots have the column. */
static bool has_column(enum tables_column column, size_t side_count)
{
	if (column == TABLES_COLUMN_VALUE)
		return side_count == 1;
	return side_count != 1 || column <= TABLES_COLUMN_METRIC || column == TABLES_COLUMN_TAGS ||
	       column == TABLES_COLUMN_UPTIME;
}

int tables_parse_columns(const char *text, size_t side_count, struct tables_request *request,
			 struct error *error)
{
	const char *names[TABLES_COLUMN_COUNT];
	enum tables_column offered[TABLES_COLUMN_COUNT];
	size_t chosen[TABLES_COLUMN_COUNT], count = 0;
	bool has[TABLES_COLUMN_COUNT] = {false};
	int status;

	for (size_t i = 0; i < TABLES_COLUMN_COUNT; i++) {
		if (!has_column((enum tables_column)i, side_count))
			continue;
		offered[count] = (enum tables_column)i;
		names[count++] = column_names[i];
	}
	status = selection_parse_columns(text, names, count, chosen, &request->column_count, error);
	for (size_t i = 0; status == 0 && i < request->column_count; i++) {
		request->columns[i] = offered[chosen[i]];
		has[request->columns[i]] = true;
	}
	/* the arrow shows both sides: beside one of them it would say the same thing twice */
	if (status == 0 && has[TABLES_COLUMN_ARROW] &&
	    (has[TABLES_COLUMN_BASELINE] || has[TABLES_COLUMN_CANDIDATE]))
		return error_set(
			error, -EINVAL,
			"column arrow already shows baseline and candidate: leave one or the other out");
	return status;
}

/* Sections that stand at another place in a comparison. */
static void make_smaps(struct tables_build *build, bool comparison)
{
	if (build->request->sections[SECTION_SMAPS_ROLLUP] && build->is_comparison == comparison)
		tables_smaps(build);
}

void tables_make(const struct diff *diff, const struct tables_request *request,
		 void (*emit)(void *context, const struct table *table), void *context)
{
	const bool is_comparison = diff_snapshot(diff, DIFF_BEFORE) != NULL;
	struct tables_build build = {
		.base =
			{
				.emit = emit,
				.context = context,
				.limit = request->limit,
				.chunk_rows = request->chunk_rows,
			},
		.diff = diff,
		.request = request,
		.is_comparison = is_comparison,
		.first_side = is_comparison ? DIFF_BEFORE : DIFF_AFTER,
	};

	for (size_t side = build.first_side; side < DIFF_SIDE_COUNT; side++)
		build.by_flags[side] = diff_options(diff)->by_flags ||
				       !diff_snapshot(diff, (enum diff_side)side)->provenance.present;
	if (request->match != NULL)
		build.counts = diff_match_count(request->match, diff);
	tables_groups(&build);
	make_smaps(&build, true);
	if (diff_options(diff)->grouping.axis == AXIS_CGROUP)
		tables_cgroups(&build);
	if (request->sections[SECTION_HOST_PRESSURE])
		tables_host_pressure(&build);
	make_smaps(&build, false);
	if (request->sections[SECTION_SCHED_EXT])
		tables_host_sched_ext(&build);
	if (is_comparison) {
		tables_renames(&build);
		tables_orphans(&build);
	}
	if (request->match != NULL && request->threads)
		tables_threads(&build);
	free(build.counts);
	buffer_release(&build.base.text);
}
