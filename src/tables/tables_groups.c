/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of groups: primary (with the taskstats metrics) and derived. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff/diff_internal.h"
#include "tables_rank.h"
#include "diff/diff_tree.h"

struct group_table {
	struct tables_build *build;
	struct table *table;
	const char *section;
	const struct tables_subject *subjects;
	size_t subject_count;
	bool is_tree;
};

static void make_sides(struct group_table *groups, struct tables_row *content, struct tables_subject subject)
{
	for (size_t i = groups->build->first_side; i < DIFF_SIDE_COUNT; i++) {
		struct aggregation *aggregation = diff_aggregation(groups->build->diff, (enum diff_side)i);
		size_t group = content->pair->group[i];

		if (subject.metric != METRIC_NONE)
			tables_cell_set_metric(&groups->build->base, groups->table, &content->sides[i],
					       aggregation, group, subject.metric);
		else
			tables_cell_set_derived(&groups->build->base, groups->table, &content->sides[i],
						aggregation, group, subject.derived);
	}
}

/* In a tree the cgroup and the process stand above: what is left is the mark and the thread. */
static void append_label(const struct group_table *groups, const struct diff_pair *pair, struct buffer *label)
{
	const char *thread;

	if (!groups->build->is_comparison) {
		buffer_append(label, pair->key, pair->key_length);
		return;
	}
	if (!groups->is_tree) {
		diff_append_label(pair, label);
		return;
	}
	thread = diff_thread_part(pair);
	diff_append_mark(pair, label);
	buffer_append(label, thread, (size_t)(pair->key + pair->key_length - thread));
}

static void fill_row(struct group_table *groups, size_t index, const struct tables_ranked *row,
		     struct buffer *label)
{
	const struct tables_subject subject = groups->subjects[row->subject];
	const struct diff_pair *pair = diff_pair(groups->build->diff, row->pair);
	const bool is_derived = subject.metric == METRIC_NONE;
	struct tables_row content = {
		.pair = pair,
		.name = is_derived ? derived_metrics[subject.derived].name : metrics[subject.metric].name,
		.metric = subject.metric,
		.value = tables_subject_value(groups->build->diff, pair, subject),
		.ladder = is_derived ? derived_metrics[subject.derived].ladder
				     : metric_type(subject.metric)->ladder,
		.is_derived = is_derived,
		.is_ratio = is_derived && derived_metrics[subject.derived].is_ratio,
	};

	buffer_clear(label);
	append_label(groups, pair, label);
	content.label = label->data != NULL ? label->data : "";
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
			groups->table = table_build_continue(&groups->build->base, groups->table);
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
	struct diff_tree_line *lines;
	size_t count;

	for (size_t i = 0; i < ranking->count; i++)
		diff_tree_add(tree, diff_pair(groups->build->diff, ranking->rows[i].pair), i);
	lines = diff_tree_lines(tree, &count);
	for (size_t i = 0; i < count; i++) {
		struct table_row *row = table_add_row(groups->table);

		row->depth = lines[i].depth;
		if (lines[i].heading == NULL) {
			row_of_line[lines[i].id] = groups->table->row_count - 1;
			continue;
		}
		row->heading = true;
		table_build_set_text(groups->table, &row->cells[0], lines[i].heading,
				     lines[i].heading_length);
	}
	free(lines);
	diff_tree_release(tree);
}

/* Fills rows that stand already, one column of aggregates after the other where there are many groups. */
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
						    groups->subject_count);
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
	free(row_of_line);
	free(ranking.rows);
}

static void begin_table(struct group_table *groups)
{
	enum axis axis = diff_options(groups->build->diff)->grouping.axis;

	groups->table = tables_row_create_table(groups->build, groups->section, axes[axis].header);
	groups->is_tree = groups->build->request->layout && axis == AXIS_ALL &&
			  groups->table->columns[0].column == TABLES_COLUMN_GROUP;
}

/* The text before the last '/', "/" of what stands right below it; empty without one. */
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
	int order = compare_parents(diff_pair(diff, left), diff_pair(diff, right));

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
		const struct diff_pair *pair = diff_pair(diff, pairs[first]);

		for (end = first + 1;
		     end < pair_count && compare_parents(pair, diff_pair(diff, pairs[end])) == 0; end++)
			;
		if (separate && first != 0) {
			table_build_finish(&groups->build->base, groups->table);
			begin_table(groups);
		}
		if (separate)
			groups->table->heading = arena_format(&groups->table->arena, "%s %.*s",
							      groups->section, (int)parent_length(pair),
							      pair->key);
		add_rows(groups, pairs + first, end - first);
	}
}

static void build_table(struct tables_build *build, const char *section,
			const struct tables_subject *subjects, size_t subject_count, bool by_parent)
{
	struct group_table groups = {build, NULL, section, subjects, subject_count, false};
	size_t pair_count = diff_pair_count(build->diff);
	uint32_t *pairs = memory_allocate_zero(pair_count + 1, sizeof(*pairs));

	for (size_t i = 0; i < pair_count; i++)
		pairs[i] = (uint32_t)i;
	begin_table(&groups);
	if (by_parent)
		add_by_parent(&groups, pairs, pair_count);
	else
		add_rows(&groups, pairs, pair_count);
	table_build_finish(&build->base, groups.table);
	free(pairs);
}

static void build_primary(struct tables_build *build)
{
	const struct tables_request *request = build->request;
	struct tables_subject subjects[METRIC_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (request->metrics[i] && request->sections[metrics[i].section])
			subjects[count++] = (struct tables_subject){(enum metric)i, DERIVED_NONE};
	}
	build_table(build, sections[SECTION_PRIMARY].name, subjects, count,
		    build->is_comparison && diff_options(build->diff)->grouping.axis == AXIS_CGROUP);
}

static void build_derived(struct tables_build *build)
{
	const struct tables_request *request = build->request;
	struct tables_subject subjects[DERIVED_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		if (request->derived[i] && request->sections[derived_metrics[i].section])
			subjects[count++] = (struct tables_subject){METRIC_NONE, (enum derived)i};
	}
	build_table(build, sections[SECTION_DERIVED].name, subjects, count, false);
}

void tables_groups(struct tables_build *build)
{
	build_primary(build);
	build_derived(build);
}
