/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of smaps_rollup: memory by kind, summed over the processes of one name pattern. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "show_build.h"
#include "group/smaps_groups.h"

static const struct table_build_columns columns = {
	{{"process", .left = true}, {"key", .left = true}, {"value", .measured = true}},
	3,
};

/* Largest Rss first, then largest Pss, then by name. */
static int compare_processes(const void *a, const void *b, void *context)
{
	const struct smaps_groups *groups = context;
	const struct smaps_process *left = &groups->processes[*(const size_t *)a];
	const struct smaps_process *right = &groups->processes[*(const size_t *)b];

	if (left->rss != right->rss)
		return left->rss > right->rss ? -1 : 1;
	if (left->pss != right->pss)
		return left->pss > right->pss ? -1 : 1;
	return string_pool_compare(&groups->names, left->name, right->name);
}

static struct table_row *add_row(struct show_build *build, struct table *table,
				 const struct smaps_groups *groups, size_t process, const char *key,
				 size_t key_length)
{
	struct table_row *row = table_build_add_row(&build->base, table);
	const char *name;
	size_t length;

	if (row == NULL)
		return NULL;
	name = smaps_groups_name(groups, process, &length);
	table_build_set_text(table, &row->cells[0], name, length);
	table_build_set_text(table, &row->cells[1], key, key_length);
	return row;
}

static void add_process_rows(struct show_build *build, struct table *table, const struct smaps_groups *groups,
			     size_t index)
{
	const struct smaps_process *process = &groups->processes[index];
	const struct string_pool *strings = &groups->snapshot->strings;
	const char *file = sources[SOURCE_SMAPS_ROLLUP].name;
	struct table_row *row;

	for (size_t i = process->first; i < process->end; i++) {
		const struct smaps_field *field = &groups->fields[i];

		if (field->bytes == 0)
			continue;
		row = add_row(build, table, groups, index, string_pool_text(strings, field->key),
			      string_pool_length(strings, field->key));
		if (row == NULL)
			continue;
		table_build_set_integer(&build->base, table, &row->cells[2], field->bytes, LADDER_BYTES);
		row->cells[2].partial = process->unavailable != 0;
		row->cells[2].reason = process->reason;
	}
	if (process->records != 0 || process->unavailable == 0)
		return;
	row = add_row(build, table, groups, index, file, strlen(file));
	if (row != NULL)
		table_build_set_unavailable(&row->cells[2], process->reason, UNIT_BYTES);
}

void show_smaps_table(struct show_build *build)
{
	struct smaps_groups *groups = smaps_groups_create(build->snapshot, &build->request->grouping,
							  build->by_flags, NULL, NULL);
	struct table *table = table_build_create(sections[SECTION_SMAPS_ROLLUP].name, &columns);
	size_t *order = memory_allocate_zero(groups->process_count + 1, sizeof(*order));

	for (size_t i = 0; i < groups->process_count; i++)
		order[i] = i;
	if (groups->process_count > 1)
		qsort_r(order, groups->process_count, sizeof(*order), compare_processes, groups);
	for (size_t i = 0; i < groups->process_count; i++)
		add_process_rows(build, table, groups, order[i]);
	table_build_finish(&build->base, table);
	smaps_groups_release(groups);
	free(order);
}
