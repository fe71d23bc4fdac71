/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of groups: primary (with the taskstats metrics) and derived. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "tables_rank.h"

struct group_table {
	struct tables_build *build;
	struct table *table;
	const char *section;
	const enum column *subjects;
	size_t subject_count;
	double *totals; /* of the changes of each subject in all pairs; NULL: those of the pairs at hand */
	bool is_tree;
};

static void make_sides(struct group_table *groups, struct tables_row *content, enum column subject)
{
	for (size_t i = groups->build->first_side; i < DIFF_SIDE_COUNT; i++)
		tables_cell_set_column(groups->build, groups->table, &content->sides[i], content->pair,
				       (enum diff_side)i, subject);
}

static void fill_row(struct group_table *groups, size_t index, const struct tables_ranked *row,
		     struct buffer *label)
{
	const enum column subject = groups->subjects[row->subject];
	const struct diff_pair *pair = &groups->build->diff->pairs[row->pair];
	struct tables_row content = {
		.pair = pair,
		.name = column_name(subject),
		.column = subject,
		.value = diff_column(groups->build->diff, pair, subject),
		.ladder = column_report_ladder(subject),
	};

	buffer_clear(label);
	tables_row_append_label(groups->build, pair, groups->is_tree, label);
	content.label = label->data;
	content.label_length = label->length;
	make_sides(groups, &content, subject);
	groups->table->rows[index].key = pair->key;
	groups->table->rows[index].key_length = pair->key_length;
	groups->table->rows[index].threads = pair->threads[DIFF_AFTER];
	tables_row_fill(groups->build, groups->table, index, &content);
}

/* All rows one below the other, in pieces when they are many. */
static void add_flat(struct group_table *groups, const struct tables_ranking *ranking, size_t *row_of_line)
{
	struct buffer label = {0};
	const bool filled_later = tables_rank_forgets(groups->build);

	for (size_t i = 0; i < ranking->count; i++) {
		if (!filled_later)
			groups->table = tables_continue(groups->build, groups->table);
		table_add_row(groups->table);
		row_of_line[i] = groups->table->row_count - 1;
		if (!filled_later)
			fill_row(groups, row_of_line[i], &ranking->rows[i], &label);
	}
	buffer_release(&label);
}

static void add_tree(struct group_table *groups, const struct tables_ranking *ranking, size_t *row_of_line)
{
	struct diff_tree *tree = diff_tree_create();

	for (size_t i = 0; i < ranking->count; i++)
		diff_tree_add(tree, &groups->build->diff->pairs[ranking->rows[i].pair], i);
	tables_row_add_tree(groups->table, tree, row_of_line);
	diff_tree_release(tree);
}

/* Fills rows that stand already, one column after the other where there are many groups. */
static void fill_rows(struct group_table *groups, const struct tables_ranking *ranking,
		      const size_t *row_of_line)
{
	struct buffer label = {0};

	for (size_t subject = 0; subject < groups->subject_count; subject++) {
		for (size_t i = 0; i < ranking->count; i++) {
			if (ranking->rows[i].subject == subject)
				fill_row(groups, row_of_line[i], &ranking->rows[i], &label);
		}
		if (tables_rank_forgets(groups->build))
			tables_rank_forget(groups->build->diff);
	}
	buffer_release(&label);
}

/* Ranks the rows of some pairs and adds them to the table. */
static void add_rows(struct group_table *groups, const uint32_t *pairs, size_t pair_count)
{
	struct tables_ranking ranking = tables_rank(groups->build, pairs, pair_count, groups->subjects,
						    groups->subject_count, groups->totals);
	size_t *row_of_line = memory_allocate_zero(ranking.count + 1, sizeof(*row_of_line));
	size_t cut = groups->table->row_total + ranking.total - ranking.count;

	cut -= groups->table->row_count;
	if (groups->is_tree)
		add_tree(groups, &ranking, row_of_line);
	else
		add_flat(groups, &ranking, row_of_line);
	if (groups->is_tree || tables_rank_forgets(groups->build))
		fill_rows(groups, &ranking, row_of_line);
	groups->table->row_total = groups->table->row_count + cut;
	groups->table->row_folded += ranking.folded;
	free(row_of_line);
	free(ranking.rows);
}

static void begin_table(struct group_table *groups)
{
	enum axis axis = groups->build->diff->options.grouping.axis;

	groups->table = tables_row_create_table(groups->build, groups->section, axes[axis].header);
	groups->is_tree = groups->build->request->layout && axis == AXIS_ALL &&
			  groups->table->columns[0].column == TABLES_COLUMN_GROUP;
}

/* Length of the path of the parent, 0 without one; that of a child of the root is "/". */
static size_t parent_length(const struct diff_pair *pair)
{
	const char *slash = strrchr(pair->key, '/');

	if (slash == NULL)
		return 0;
	return slash == pair->key ? 1 : (size_t)(slash - pair->key);
}

static int compare_parents(const struct diff_pair *left, const struct diff_pair *right)
{
	return order_bytes(left->key, parent_length(left), right->key, parent_length(right));
}

static int compare_by_parent(const void *a, const void *b, void *context)
{
	const struct diff *diff = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = compare_parents(&diff->pairs[left], &diff->pairs[right]);

	return order != 0 ? order : (left > right) - (left < right);
}

/* Cgroups parent by parent; for people each has a table of its own. */
static void add_by_parent(struct group_table *groups, uint32_t *pairs, size_t pair_count)
{
	const struct diff *diff = groups->build->diff;
	const bool separate = groups->build->request->layout;
	size_t end;

	if (pair_count > 1)
		qsort_r(pairs, pair_count, sizeof(*pairs), compare_by_parent, (void *)diff);
	for (size_t first = 0; first < pair_count; first = end) {
		const struct diff_pair *pair = &diff->pairs[pairs[first]];

		for (end = first + 1;
		     end < pair_count && compare_parents(pair, &diff->pairs[pairs[end]]) == 0; end++)
			;
		if (separate && first != 0) {
			tables_finish(groups->build, groups->table);
			begin_table(groups);
		}
		if (separate)
			groups->table->heading = arena_format(&groups->table->arena, "%s %.*s",
							      groups->section, (int)parent_length(pair),
							      pair->key);
		add_rows(groups, pairs + first, end - first);
	}
}

static void build_table(struct tables_build *build, const char *section, const enum column *subjects,
			size_t subject_count, bool by_parent)
{
	struct group_table groups = {build, NULL, section, subjects, subject_count, NULL, false};
	size_t pair_count = build->diff->pair_count;
	uint32_t *pairs = memory_allocate_zero(pair_count + 1, sizeof(*pairs));

	for (size_t i = 0; i < pair_count; i++)
		pairs[i] = (uint32_t)i;
	if (by_parent && build->request->like_screen) {
		groups.totals = memory_allocate_zero(subject_count + 1, sizeof(*groups.totals));
		for (size_t i = 0; i < subject_count; i++)
			groups.totals[i] = tables_rank_total(build, subjects[i]);
	}
	begin_table(&groups);
	if (by_parent)
		add_by_parent(&groups, pairs, pair_count);
	else
		add_rows(&groups, pairs, pair_count);
	tables_finish(build, groups.table);
	free(groups.totals);
	free(pairs);
}

void tables_groups(struct tables_build *build)
{
	const struct tables_request *request = build->request;
	const bool by_parent = build->is_comparison && build->diff->options.grouping.axis == AXIS_CGROUP;
	enum column subjects[METRIC_COUNT], derived[DERIVED_COUNT];
	size_t count = 0, derived_count = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (request->metrics[i] && request->sections[metrics[i].section])
			subjects[count++] = column_of_stored((enum metric)i);
	}
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		if (request->derived[i] && request->sections[derived_metrics[i].section])
			derived[derived_count++] = column_of_derived((enum derived)i);
	}
	build_table(build, sections[SECTION_PRIMARY].name, subjects, count, by_parent);
	build_table(build, sections[SECTION_DERIVED].name, derived, derived_count, false);
}
