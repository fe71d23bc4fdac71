/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of smaps_rollup: memory by kind, summed over the processes of one name. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/unicode.h"
#include "tables_build.h"
#include "group/smaps_groups.h"

/* A process of one or both sides, SIZE_MAX where it is not. */
struct process_pair {
	size_t process[DIFF_SIDE_COUNT];
	uint64_t weight[2]; /* change of Rss and larger Rss; of one snapshot Rss and Pss */
};

struct smaps_table {
	struct tables_build *build;
	struct smaps_groups *groups[DIFF_SIDE_COUNT];
	struct process_pair *pairs;
	size_t count;
	struct table *table;
};

/* A process of after whose leader's row stands under the name of before stands there itself. */
static void rename_cgroup(void *context, uint32_t thread, struct buffer *cgroup)
{
	const struct smaps_table *smaps = context;
	const struct diff *diff = smaps->build->diff;
	const struct diff_pair *pair = &diff->pairs[diff_pair_of_thread(diff, DIFF_AFTER, thread)];

	if (pair->kind != DIFF_PAIR_FUDGED)
		return;
	buffer_clear(cgroup);
	buffer_append_text(cgroup, pair->key);
}

static void collect(struct smaps_table *smaps)
{
	const struct diff *diff = smaps->build->diff;

	for (size_t side = smaps->build->first_side; side < DIFF_SIDE_COUNT; side++)
		smaps->groups[side] = smaps_groups_create(diff->snapshots[side], &diff->options.grouping,
							  smaps->build->by_flags[side],
							  side == DIFF_AFTER ? rename_cgroup : NULL, smaps);
}

/* The process of a pair on one side; where it is not, one without anything. */
static const struct smaps_process *process_of(const struct smaps_table *smaps,
					      const struct process_pair *pair, enum diff_side side)
{
	static const struct smaps_process none;

	return pair->process[side] != SIZE_MAX ? &smaps->groups[side]->processes[pair->process[side]] : &none;
}

static void add_pair(struct smaps_table *smaps, size_t before, size_t after)
{
	struct process_pair *pair = &smaps->pairs[smaps->count++];
	uint64_t before_rss, after_rss;

	*pair = (struct process_pair){.process = {before, after}};
	before_rss = process_of(smaps, pair, DIFF_BEFORE)->rss;
	after_rss = process_of(smaps, pair, DIFF_AFTER)->rss;
	pair->weight[0] = after_rss > before_rss ? after_rss - before_rss : before_rss - after_rss;
	pair->weight[1] = after_rss > before_rss ? after_rss : before_rss;
	if (!smaps->build->is_comparison)
		pair->weight[1] = process_of(smaps, pair, DIFF_AFTER)->pss;
}

static void join_processes(struct smaps_table *smaps)
{
	const struct smaps_groups *before = smaps->groups[DIFF_BEFORE], *after = smaps->groups[DIFF_AFTER];
	const size_t before_count = before != NULL ? before->process_count : 0;
	size_t length;

	smaps->pairs = memory_allocate_zero(before_count + after->process_count + 1, sizeof(*smaps->pairs));
	for (size_t i = 0; i < before_count; i++) {
		const char *name = smaps_groups_name(before, i, &length);

		add_pair(smaps, i, smaps_groups_find(after, name, length));
	}
	for (size_t i = 0; i < after->process_count; i++) {
		const char *name = smaps_groups_name(after, i, &length);

		if (before == NULL || smaps_groups_find(before, name, length) == SIZE_MAX)
			add_pair(smaps, SIZE_MAX, i);
	}
}

static const char *name_of(const struct smaps_table *smaps, const struct process_pair *pair,
			   size_t *ret_length)
{
	enum diff_side side = pair->process[DIFF_BEFORE] != SIZE_MAX ? DIFF_BEFORE : DIFF_AFTER;

	return smaps_groups_name(smaps->groups[side], pair->process[side], ret_length);
}

/* By weight, then by name. */
static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct smaps_table *smaps = context;
	const struct process_pair *left = a, *right = b;
	size_t left_length, right_length;
	const char *left_name = name_of(smaps, left, &left_length);
	const char *right_name = name_of(smaps, right, &right_length);

	for (size_t i = 0; i < 2; i++) {
		if (left->weight[i] != right->weight[i])
			return left->weight[i] > right->weight[i] ? -1 : 1;
	}
	return order_bytes(left_name, left_length, right_name, right_length);
}

/* What a side knows of one field (NULL: it has none): the cell and what the change is concluded from. */
static void set_side(struct smaps_table *smaps, const struct process_pair *pair, enum diff_side side,
		     const struct smaps_field *field, struct tables_row *content)
{
	const struct smaps_process *process = process_of(smaps, pair, side);
	const bool incomplete = process->unavailable != 0;
	struct diff_side_value *value = &content->value.side[side];
	struct cell *cell = &content->sides[side];

	cell->unit = UNIT_BYTES;
	value->reason = incomplete ? process->reason : REASON_READ;
	if (field != NULL) {
		tables_cell_set_integer(smaps->build, smaps->table, cell, field->bytes, LADDER_BYTES);
		value->has_number = true;
		value->number = (double)field->bytes;
		value->is_whole = true;
		value->whole = field->bytes;
		value->partial = cell->partial = incomplete;
		cell->reason = value->reason;
	} else {
		value->state = incomplete ? VALUE_UNAVAILABLE : VALUE_ABSENT;
		tables_cell_begin(cell, value->state, value->reason);
	}
}

static void add_row(struct smaps_table *smaps, const struct process_pair *pair, const char *label,
		    size_t label_length, const char *key, size_t key_length,
		    const struct smaps_field *const fields[DIFF_SIDE_COUNT])
{
	struct table_row *row = tables_add_row(smaps->build, smaps->table);
	struct tables_row content = {
		.label = label,
		.label_length = label_length,
		.column = COLUMN_COUNT,
		.ladder = LADDER_BYTES,
	};

	if (row == NULL)
		return;
	content.name = unicode_duplicate_without_nul(&smaps->table->arena, key, key_length);
	for (size_t side = smaps->build->first_side; side < DIFF_SIDE_COUNT; side++)
		set_side(smaps, pair, (enum diff_side)side, fields[side], &content);
	diff_value_conclude(&content.value, false);
	tables_row_fill(smaps->build, smaps->table, smaps->table->row_count - 1, &content);
}

/* The next field of a process on one side, in byte order of their keys, and its key; NULL at the end. */
static const struct smaps_field *field_of(const struct smaps_table *smaps,
					  const struct smaps_process *process, enum diff_side side,
					  size_t next, const char **ret_key, size_t *ret_length)
{
	const struct smaps_groups *groups = smaps->groups[side];
	const struct smaps_field *field;

	if (next == process->end)
		return NULL;
	field = &groups->fields[next];
	*ret_key = snapshot_text(groups->snapshot, field->key);
	*ret_length = string_pool_length(&groups->snapshot->strings, field->key);
	return field;
}

/* A row for each field that differs, of one snapshot that is not zero. */
static void add_process(struct smaps_table *smaps, const struct process_pair *pair, const char *label,
			size_t label_length)
{
	const struct smaps_process *before = process_of(smaps, pair, DIFF_BEFORE);
	const struct smaps_process *after = process_of(smaps, pair, DIFF_AFTER);

	for (size_t i = before->first, j = after->first; i < before->end || j < after->end;) {
		const char *left_key = NULL, *right_key = NULL;
		size_t left_length = 0, right_length = 0;
		const struct smaps_field *left = field_of(smaps, before, DIFF_BEFORE, i, &left_key,
							  &left_length);
		const struct smaps_field *right = field_of(smaps, after, DIFF_AFTER, j, &right_key,
							   &right_length);
		int order = left == NULL ? 1 : -1;

		if (left != NULL && right != NULL)
			order = order_bytes(left_key, left_length, right_key, right_length);
		i += order <= 0;
		j += order >= 0;
		if (smaps->build->is_comparison ? order == 0 && left->bytes == right->bytes
						: right->bytes == 0)
			continue;
		add_row(smaps, pair, label, label_length, order <= 0 ? left_key : right_key,
			order <= 0 ? left_length : right_length,
			(const struct smaps_field *const[]){order <= 0 ? left : NULL,
							    order >= 0 ? right : NULL});
	}
}

/* In the table of one snapshot a process of which nothing was read has a row of its own. */
static void add_unread(struct smaps_table *smaps, const struct process_pair *pair, const char *label,
		       size_t label_length)
{
	const struct smaps_process *process = process_of(smaps, pair, DIFF_AFTER);
	const char *file = sources[SOURCE_SMAPS_ROLLUP].name;

	if (process->records == 0 && process->unavailable != 0)
		add_row(smaps, pair, label, label_length, file, strlen(file),
			(const struct smaps_field *const[]){NULL, NULL});
}

static struct table *create_table(const struct smaps_table *smaps)
{
	static const struct table_column columns[] = {
		{"process", .left = true},
		{"key", .left = true},
		{"value", .measured = true},
	};
	static const enum tables_column ids[] = {TABLES_COLUMN_GROUP, TABLES_COLUMN_METRIC,
						 TABLES_COLUMN_VALUE};
	const enum axis axis = smaps->build->diff->options.grouping.axis;
	struct table *table;

	if (smaps->build->is_comparison)
		return tables_row_create_table(smaps->build, sections[SECTION_SMAPS_ROLLUP].name,
					       axes[axis == AXIS_ALL ? AXIS_ALL : AXIS_PROCESS].header);
	table = table_create_with(sections[SECTION_SMAPS_ROLLUP].name, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].column = ids[i];
	return table;
}

static void build_table(struct smaps_table *smaps)
{
	const bool is_all = smaps->build->diff->options.grouping.axis == AXIS_ALL;
	struct buffer label = {0};

	smaps->table = create_table(smaps);
	if (smaps->count > 1)
		qsort_r(smaps->pairs, smaps->count, sizeof(*smaps->pairs), compare_pairs, smaps);
	for (size_t i = 0; i < smaps->count; i++) {
		size_t length;
		const char *name = name_of(smaps, &smaps->pairs[i], &length);
		size_t cgroup = is_all ? strlen(name) + 1 : 0;

		buffer_clear(&label);
		if (is_all)
			buffer_append_format(&label, "%s | ", name);
		buffer_append(&label, name + cgroup, length - cgroup);
		add_process(smaps, &smaps->pairs[i], label.data, label.length);
		if (!smaps->build->is_comparison)
			add_unread(smaps, &smaps->pairs[i], label.data, label.length);
	}
	tables_finish(smaps->build, smaps->table);
	buffer_release(&label);
}

void tables_smaps(struct tables_build *build)
{
	struct smaps_table smaps = {.build = build};

	collect(&smaps);
	join_processes(&smaps);
	build_table(&smaps);
	smaps_groups_release(smaps.groups[DIFF_BEFORE]);
	smaps_groups_release(smaps.groups[DIFF_AFTER]);
	free(smaps.pairs);
}
