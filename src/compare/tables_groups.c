/* SPDX-License-Identifier: GPL-2.0-only */
/* The long tables of groups: which rows they have, and in which order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff_evidence.h"
#include "diff_harm.h"
#include "tables_internal.h"

/* A row: a metric of a pair. */
struct ranked {
	double sort;
	uint32_t pair, subject; /* the metric by its index */
};

struct group_table {
	struct tables_build *build;
	struct tables_subjects subjects;
	struct ranked *rows;
	size_t count, capacity;
	size_t total;   /* before the limit */
	size_t folded;  /* left out, since their change is not real */
	size_t unknown; /* of those, the rows with a number that one side does not know */
};

/* Releases reduced columns that have been used: with a limit few rows are left, which are filled by column.
 */
static void forget(const struct group_table *groups)
{
	if (groups->build->request->limit != 0)
		diff_forget(groups->build->diff);
}

/*
 * Whether a metric of a pair says something. What a group of one side never did says nothing: short-lived
 * processes would fill reports with it.
 */
static bool says_something(const struct tables_build *build, const struct diff_pair *pair, enum column column)
{
	struct diff_value value;

	if (!build->is_comparison || diff_pair_is_joined(pair))
		return true;
	if (build->diff->options.dialect->lists_one_sided)
		return false;
	value = diff_column(build->diff, pair, column);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		const struct diff_side_value *own = &value.side[side];

		if (own->state == VALUE_UNAVAILABLE ||
		    (own->state == VALUE_READ && (!own->has_number || own->number != 0)))
			return true;
	}
	return false;
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

	return groups->subjects.by_parent ? order_bytes(a->key, parent_length(a), b->key, parent_length(b))
					  : 0;
}

/* --- the order of --sort-by --- */

struct pair_order {
	const struct group_table *groups;
	const struct sort_keys *sort;
	double *values; /* sort->count of each pair, NAN for none */
};

/* By those values, pairs without one last in either direction, then by key, which the pairs follow. */
static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct pair_order *order = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int result = 0;

	for (size_t i = 0; result == 0 && i < order->sort->count; i++)
		result = order_numbers(order->values[left * order->sort->count + i],
				       order->values[right * order->sort->count + i],
				       order->sort->items[i].ascending);
	return result != 0 ? result : order_u64(left, right);
}

/* The change, where a side without the group counts as zero, or the value of one snapshot; NAN: unknown. */
static double sort_value(const struct tables_build *build, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(build->diff, pair, column);
	const struct diff_side_value *before = &value.side[DIFF_BEFORE], *after = &value.side[DIFF_AFTER];

	if (value.has_delta)
		return value.delta;
	if (build->is_comparison && diff_pair_is_joined(pair))
		return NAN;
	return after->has_number ? after->number : before->has_number ? -before->number : (double)NAN;
}

static void compute_values(struct pair_order *order)
{
	const struct tables_build *build = order->groups->build;

	for (size_t i = 0; i < order->sort->count; i++) {
		const struct sort_key *key = &order->sort->items[i];
		const enum column subject = key->metric != METRIC_NONE ? column_of_stored(key->metric)
								       : column_of_derived(key->derived);

		for (size_t pair = 0; pair < build->diff->pair_count; pair++)
			order->values[pair * order->sort->count + i] = sort_value(
				build, &build->diff->pairs[pair], subject);
		forget(order->groups);
	}
}

/* Weighs the pairs by their places in that order. */
static void weigh_places(struct group_table *groups)
{
	const struct diff *diff = groups->build->diff;
	struct pair_order order = {groups, &groups->build->request->sort, NULL};
	uint32_t *sorted = memory_allocate_zero(diff->pair_count + 1, sizeof(*sorted));

	order.values = memory_allocate_zero(diff->pair_count * order.sort->count + 1, sizeof(double));
	groups->subjects.weights = memory_allocate((diff->pair_count + 1) * sizeof(double));
	compute_values(&order);
	for (uint32_t i = 0; i < diff->pair_count; i++)
		sorted[i] = i;
	if (diff->pair_count > 1)
		qsort_r(sorted, diff->pair_count, sizeof(*sorted), compare_pairs, &order);
	for (uint32_t i = 0; i < diff->pair_count; i++)
		groups->subjects.weights[sorted[i]] = -(double)i;
	free(order.values);
	free(sorted);
}

/* --- rows --- */

/* Whether the group of a pair broke a rule; the one behind the last pair is no group. */
static bool broke_rule(const struct group_table *groups, uint32_t pair)
{
	const struct tables_build *build = groups->build;

	return build->request->broke_rule != NULL && pair < build->diff->pair_count &&
	       build->request->broke_rule[pair];
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct ranked *left = a, *right = b;
	int order = (int)broke_rule(context, right->pair) - (int)broke_rule(context, left->pair);

	if (order == 0)
		order = compare_parents(context, left->pair, right->pair);
	if (order != 0)
		return order;
	if (left->sort != right->sort)
		return left->sort > right->sort ? -1 : 1;
	if (left->pair != right->pair)
		return order_u64(left->pair, right->pair);
	return order_u64(left->subject, right->subject);
}

/* Keeps the first rows, in their order. */
static void cut(struct group_table *groups, size_t limit)
{
	order_first(groups->rows, groups->count, sizeof(*groups->rows), limit, compare_rows, groups);
	groups->count = limit < groups->count ? limit : groups->count;
}

/* Counts a row that is left out because its change is not real; false for one that is not. */
static bool fold(struct group_table *groups, const struct diff_pair *pair, enum column column)
{
	const struct tables_request *request = groups->build->request;
	const struct diff *diff = groups->build->diff;

	if (diff->evidence == NULL || request->all || diff_is_real(diff, pair, column))
		return false;
	groups->folded++;
	groups->unknown += diff_is_unknown(diff, pair, column);
	return true;
}

static bool has_row(struct group_table *groups, const struct diff_pair *pair, enum column column)
{
	if (groups->subjects.has_row != NULL)
		return groups->subjects.has_row(groups->build, pair, column);
	return says_something(groups->build, pair, column) && !fold(groups, pair, column);
}

static void add_subject(struct group_table *groups, uint32_t subject)
{
	const struct diff *diff = groups->build->diff;
	const enum column column = groups->subjects.columns[subject];
	const double *by_pair = groups->subjects.weights;

	for (uint32_t i = 0; i < groups->subjects.pair_count; i++) {
		const struct diff_pair *pair = &diff->pairs[i];
		double sort;

		if (!has_row(groups, pair, column))
			continue;
		if (by_pair != NULL)
			sort = by_pair[i];
		else if (diff->options.dialect->orders_by_fraction)
			sort = diff_column_sort(diff, pair, column);
		else
			sort = diff_harm(diff, pair, column);
		*MEMORY_APPEND(groups->rows, groups->count, groups->capacity) = (struct ranked){sort, i,
												subject};
		groups->total++;
	}
	forget(groups);
}

static void rank(struct group_table *groups)
{
	const struct tables_build *build = groups->build;
	const size_t limit = build->request->limit;

	if (groups->subjects.weights == NULL && (build->request->sort.count != 0 || !build->is_comparison))
		weigh_places(groups);
	for (uint32_t i = 0; i < groups->subjects.count; i++) {
		add_subject(groups, i);
		/* what comes after these now has no chance later */
		if (limit != 0 && groups->count / 2 > limit)
			cut(groups, limit);
	}
	cut(groups, limit != 0 ? limit : groups->count);
}

/* --- the tables --- */

static void fill_row(struct group_table *groups, size_t index, const struct ranked *row)
{
	struct table *table = groups->build->table;
	const struct diff_pair *pair = &groups->build->diff->pairs[row->pair];
	const struct tables_row content = tables_row_of_column(groups->build, pair,
							       groups->subjects.columns[row->subject]);

	table->rows[index].key = pair->key;
	table->rows[index].key_length = pair->key_length;
	table->rows[index].threads = pair->threads[DIFF_AFTER];
	table->rows[index].broke_rule = broke_rule(groups, row->pair);
	tables_row_fill(groups->build, index, &content);
}

/* Adds the rows one below the other, in pieces when they are many. */
static void add_rows(struct group_table *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		tables_continue(groups->build);
		table_add_row(groups->build->table);
		fill_row(groups, groups->build->table->row_count - 1, &groups->rows[i]);
	}
}

/* Does so with many groups: one column after the other is reduced, for all rows. */
static void add_rows_by_subject(struct group_table *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		table_add_row(groups->build->table);
	for (size_t subject = 0; subject < groups->subjects.count; subject++) {
		for (size_t i = 0; i < groups->count; i++) {
			if (groups->rows[i].subject == subject)
				fill_row(groups, i, &groups->rows[i]);
		}
		forget(groups);
	}
}

void tables_subjects(struct tables_build *build, enum section section, const struct tables_subjects *subjects)
{
	struct group_table groups = {.build = build, .subjects = *subjects};

	rank(&groups);
	tables_row_begin(build, sections[section].name, axes[build->diff->options.grouping.axis].header);
	if (build->request->limit != 0 && diff_forgets(build->diff))
		add_rows_by_subject(&groups);
	else
		add_rows(&groups);
	build->table->row_total = build->table->row_count + groups.total - groups.count;
	build->table->row_folded = groups.folded;
	build->table->row_unknown = groups.unknown;
	tables_finish(build);
	free(groups.rows);
	free(groups.subjects.weights);
}

void tables_groups(struct tables_build *build)
{
	const struct tables_request *request = build->request;
	enum column stored[METRIC_COUNT], derived[DERIVED_COUNT];
	struct tables_subjects subjects = {
		.columns = stored,
		.pair_count = build->diff->pair_count,
		.by_parent = build->is_comparison && build->diff->options.dialect->orders_by_fraction &&
			     build->diff->options.grouping.axis == AXIS_CGROUP,
	};

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (request->metrics[i] && request->sections[metrics[i].section])
			stored[subjects.count++] = column_of_stored((enum metric)i);
	}
	tables_subjects(build, SECTION_PRIMARY, &subjects);
	subjects.columns = derived;
	subjects.count = 0;
	subjects.by_parent = false;
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		if (request->derived[i] && request->sections[derived_metrics[i].section])
			derived[subjects.count++] = column_of_derived((enum derived)i);
	}
	tables_subjects(build, SECTION_DERIVED, &subjects);
}
