/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of groups, primary (with the taskstats metrics) and derived: which rows they have, and where. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff_evidence.h"
#include "tables_internal.h"

enum {
	PAIRS_MAX = 4096 /* with more, all reduced columns at once would take tens of megabytes */
};

/* A row: a subject of a pair. */
struct ranked {
	double sort;
	uint32_t pair, subject; /* the subject by its index */
};

struct group_table {
	struct tables_build *build;
	const char *section;
	const enum column *subjects;
	size_t subject_count;
	bool by_parent; /* cgroups stand below their parents, and the limit is one of each parent's rows */
	bool is_tree;
	struct ranked *rows; /* in the order of the report */
	size_t count;
	size_t total;   /* before the limit */
	size_t folded;  /* beside these, whose change is not real */
	size_t unknown; /* of those, such as a side does not know */
};

/* The limit of all rows. */
static size_t limit_of(const struct group_table *groups)
{
	return groups->by_parent ? 0 : groups->build->request->limit;
}

/* Whether the columns that were reduced are released as soon as they have been used. */
static bool forgets(const struct group_table *groups)
{
	return limit_of(groups) != 0 && groups->build->diff->pair_count > PAIRS_MAX;
}

static void forget(const struct group_table *groups)
{
	for (size_t side = groups->build->first_side; forgets(groups) && side < DIFF_SIDE_COUNT; side++)
		reduction_forget_all(groups->build->diff->reductions[side]);
}

static bool has_rows(const struct group_table *groups, const struct diff_pair *pair)
{
	return !groups->build->is_comparison || diff_pair_is_joined(pair);
}

/* Length of the path of the parent, 0 without one; that of a child of the root is "/". */
static size_t parent_length(const struct diff_pair *pair)
{
	const char *slash = strrchr(pair->key, '/');

	if (slash == NULL)
		return 0;
	return slash == pair->key ? 1 : (size_t)(slash - pair->key);
}

static int compare_parents(const struct group_table *groups, uint32_t left, uint32_t right)
{
	const struct diff_pair *a = &groups->build->diff->pairs[left],
			       *b = &groups->build->diff->pairs[right];

	return groups->by_parent ? order_bytes(a->key, parent_length(a), b->key, parent_length(b)) : 0;
}

/* --- in the order of what changed most --- */

/* By parent, then what changed most first, then by key, which the pairs follow, and registry order. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct ranked *left = a, *right = b;
	const int order = compare_parents(context, left->pair, right->pair);

	if (order != 0)
		return order;
	if (left->sort != right->sort)
		return left->sort > right->sort ? -1 : 1;
	if (left->pair != right->pair)
		return order_u64(left->pair, right->pair);
	return order_u64(left->subject, right->subject);
}

struct rows {
	struct ranked *items;
	size_t count, capacity;
};

static void add(struct rows *rows, struct ranked row)
{
	*MEMORY_APPEND(rows->items, rows->count, rows->capacity) = row;
}

/* Keeps the best rows, in their order. */
static void cut(struct rows *rows, size_t limit, struct group_table *groups)
{
	order_first(rows->items, rows->count, sizeof(*rows->items), limit, compare_rows, groups);
	rows->count = limit < rows->count ? limit : rows->count;
}

/* Counts a row that is left out because its change is not real; false for one that is not. */
static bool fold(struct group_table *groups, const struct diff_pair *pair, enum column column)
{
	const struct tables_request *request = groups->build->request;
	const struct diff *diff = groups->build->diff;

	if (diff->evidence == NULL || !request->for_people || request->all ||
	    diff_is_real(diff, pair, column))
		return false;
	groups->folded++;
	groups->unknown += diff_is_unknown(diff, pair, column);
	return true;
}

static void add_subject(struct group_table *groups, uint32_t subject, struct rows *best, struct rows *renamed)
{
	const struct tables_request *request = groups->build->request;
	const struct diff *diff = groups->build->diff;
	const enum column column = groups->subjects[subject];
	struct diff_weight *weights = request->like_screen ? diff_weigh(diff, column) : NULL;

	for (uint32_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];
		double sort;

		if (!has_rows(groups, pair))
			continue;
		if (fold(groups, pair, column))
			continue;
		if (weights == NULL)
			sort = diff_column_sort(diff, pair, column);
		else
			sort = weights[i].is_known ? weights[i].weight : -INFINITY;
		add(pair->kind == DIFF_PAIR_FUDGED ? renamed : best, (struct ranked){sort, i, subject});
		groups->total++;
	}
	free(weights);
	forget(groups);
}

static void rank_by_change(struct group_table *groups)
{
	const size_t limit = limit_of(groups);
	struct rows best = {0}, renamed = {0};

	for (uint32_t i = 0; i < groups->subject_count; i++) {
		add_subject(groups, i, &best, &renamed);
		/* what comes after these now has no chance later */
		if (limit != 0 && best.count / 2 > limit)
			cut(&best, limit, groups);
	}
	if (limit != 0)
		cut(&best, limit, groups);
	/* rows of renamed cgroups stand beside them, whatever their number */
	for (size_t i = 0; i < renamed.count; i++)
		add(&best, renamed.items[i]);
	free(renamed.items);
	cut(&best, best.count, groups);
	groups->rows = best.items;
	groups->count = best.count;
}

/* --- in the order of keys --- */

struct pair_order {
	const struct group_table *groups;
	const struct sort_keys *sort;
	double *values; /* sort->count of each pair, NAN for none */
};

/* By parent, then by those values, pairs without one last in either direction, then by key, which the pairs
 * follow. */
static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct pair_order *order = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int result = compare_parents(order->groups, left, right);

	for (size_t i = 0; result == 0 && i < order->sort->count; i++)
		result = order_numbers(order->values[left * order->sort->count + i],
				       order->values[right * order->sort->count + i],
				       order->sort->items[i].ascending);
	return result != 0 ? result : order_u64(left, right);
}

/* Computes the sort keys of pairs: the change, or the value of one snapshot. */
static void compute_values(struct pair_order *order)
{
	const struct diff *diff = order->groups->build->diff;

	for (size_t i = 0; i < order->sort->count; i++) {
		const struct sort_key *key = &order->sort->items[i];
		const enum column subject = key->metric != METRIC_NONE ? column_of_stored(key->metric)
								       : column_of_derived(key->derived);

		for (size_t pair = 0; pair < diff->pair_count; pair++) {
			const struct diff_value value = diff_column(diff, &diff->pairs[pair], subject);
			const struct diff_side_value *after = &value.side[DIFF_AFTER];
			double *ret_value = &order->values[pair * order->sort->count + i];

			if (order->groups->build->is_comparison)
				*ret_value = value.has_delta ? value.delta : (double)NAN;
			else
				*ret_value = after->has_number ? after->number : (double)NAN;
		}
		forget(order->groups);
	}
}

/* By pair and subject, whether it is left out; column by column, since many are not kept together. */
static bool *fold_all(struct group_table *groups)
{
	const struct diff *diff = groups->build->diff;
	bool *folded = memory_allocate_zero(diff->pair_count * groups->subject_count + 1, sizeof(*folded));

	for (uint32_t j = 0; j < groups->subject_count; j++) {
		for (size_t i = 0; i < diff->pair_count; i++)
			folded[i * groups->subject_count + j] = has_rows(groups, &diff->pairs[i]) &&
								fold(groups, &diff->pairs[i],
								     groups->subjects[j]);
		forget(groups);
	}
	return folded;
}

static void rank_by_keys(struct group_table *groups)
{
	const struct diff *diff = groups->build->diff;
	const size_t limit = limit_of(groups);
	struct pair_order order = {groups, &groups->build->request->sort, NULL};
	uint32_t *sorted = memory_allocate_zero(diff->pair_count + 1, sizeof(*sorted));
	bool *folded = fold_all(groups);
	struct rows rows = {0};
	size_t kept = 0;

	order.values = memory_allocate_zero(diff->pair_count * order.sort->count + 1, sizeof(double));
	compute_values(&order);
	for (uint32_t i = 0; i < diff->pair_count; i++)
		sorted[i] = i;
	if (diff->pair_count > 1)
		qsort_r(sorted, diff->pair_count, sizeof(*sorted), compare_pairs, &order);
	for (size_t i = 0; i < diff->pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[sorted[i]];

		for (uint32_t j = 0; has_rows(groups, pair) && j < groups->subject_count; j++) {
			if (folded[sorted[i] * groups->subject_count + j])
				continue;
			groups->total++;
			if (pair->kind != DIFF_PAIR_FUDGED && limit != 0 && kept == limit)
				continue;
			kept += pair->kind != DIFF_PAIR_FUDGED;
			add(&rows, (struct ranked){.pair = sorted[i], .subject = j});
		}
	}
	groups->rows = rows.items;
	groups->count = rows.count;
	free(order.values);
	free(sorted);
	free(folded);
}

/* --- the tables --- */

static void fill_row(struct group_table *groups, size_t index, const struct ranked *row, struct buffer *label)
{
	const struct diff_pair *pair = &groups->build->diff->pairs[row->pair];
	struct tables_row content;

	buffer_clear(label);
	tables_row_append_label(groups->build, pair, groups->is_tree, label);
	content = tables_row_of_column(groups->build, pair, groups->subjects[row->subject], label);
	groups->build->table->rows[index].key = pair->key;
	groups->build->table->rows[index].key_length = pair->key_length;
	groups->build->table->rows[index].threads = pair->threads[DIFF_AFTER];
	tables_row_fill(groups->build, index, &content);
}

/* All rows one below the other, in pieces when they are many. */
static void add_flat(struct group_table *groups, const struct ranked *rows, size_t count, size_t *row_of_line)
{
	struct buffer label = {0};

	for (size_t i = 0; i < count; i++) {
		if (!forgets(groups))
			tables_continue(groups->build);
		table_add_row(groups->build->table);
		row_of_line[i] = groups->build->table->row_count - 1;
		if (!forgets(groups))
			fill_row(groups, row_of_line[i], &rows[i], &label);
	}
	buffer_release(&label);
}

static void add_tree(struct group_table *groups, const struct ranked *rows, size_t count, size_t *row_of_line)
{
	const struct diff_pair **pairs = memory_allocate((count + 1) * sizeof(*pairs));

	for (size_t i = 0; i < count; i++)
		pairs[i] = &groups->build->diff->pairs[rows[i].pair];
	tables_row_add_tree(groups->build->table, pairs, count, row_of_line);
	free(pairs);
}

/* Fills rows that stand already, one column after the other with many groups. */
static void fill_rows(struct group_table *groups, const struct ranked *rows, size_t count,
		      const size_t *row_of_line)
{
	struct buffer label = {0};

	for (size_t subject = 0; subject < groups->subject_count; subject++) {
		for (size_t i = 0; i < count; i++) {
			if (rows[i].subject == subject)
				fill_row(groups, row_of_line[i], &rows[i], &label);
		}
		forget(groups);
	}
	buffer_release(&label);
}

/* Adds the first `count` of `total` rows. */
static void add_rows(struct group_table *groups, const struct ranked *rows, size_t count, size_t total)
{
	const size_t left_out = groups->build->table->row_total - groups->build->table->row_count + total -
				count;
	size_t *row_of_line = memory_allocate_zero(count + 1, sizeof(*row_of_line));

	if (groups->is_tree)
		add_tree(groups, rows, count, row_of_line);
	else
		add_flat(groups, rows, count, row_of_line);
	if (groups->is_tree || forgets(groups))
		fill_rows(groups, rows, count, row_of_line);
	groups->build->table->row_total = groups->build->table->row_count + left_out;
	free(row_of_line);
}

static void begin_table(struct group_table *groups)
{
	enum axis axis = groups->build->diff->options.grouping.axis;

	tables_row_begin(groups->build, groups->section, axes[axis].header);
	groups->is_tree = groups->build->request->layout && axis == AXIS_ALL &&
			  groups->build->table->columns[0].column == TABLES_COLUMN_GROUP;
}

/* Cgroups parent by parent; for people each has a table of its own. */
static void add_by_parent(struct group_table *groups)
{
	const size_t limit = groups->build->request->limit;
	size_t end;

	for (size_t first = 0; first < groups->count; first = end) {
		const struct diff_pair *pair = &groups->build->diff->pairs[groups->rows[first].pair];
		size_t count = 1;

		while (first + count < groups->count &&
		       compare_parents(groups, groups->rows[first].pair, groups->rows[first + count].pair) ==
			       0)
			count++;
		end = first + count;
		if (groups->build->request->layout) {
			if (first != 0) {
				tables_finish(groups->build);
				begin_table(groups);
			}
			groups->build->table->heading = arena_format(&groups->build->table->arena, "%s %.*s",
								     groups->section,
								     (int)parent_length(pair), pair->key);
		}
		add_rows(groups, &groups->rows[first], limit != 0 && limit < count ? limit : count, count);
	}
}

static void build_table(struct tables_build *build, const char *section, const enum column *subjects,
			size_t subject_count, bool by_parent)
{
	struct group_table groups = {
		.build = build,
		.section = section,
		.subjects = subjects,
		.subject_count = subject_count,
		.by_parent = by_parent,
	};

	if (build->request->sort.count != 0 || !build->is_comparison)
		rank_by_keys(&groups);
	else
		rank_by_change(&groups);
	begin_table(&groups);
	if (by_parent)
		add_by_parent(&groups);
	else
		add_rows(&groups, groups.rows, groups.count, groups.total);
	build->table->row_folded = groups.folded;
	build->table->row_unknown = groups.unknown;
	tables_finish(build);
	free(groups.rows);
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
