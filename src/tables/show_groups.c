/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of groups: primary (with the taskstats metrics) and derived. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "group/aggregate.h"
#include "base/memory.h"
#include "base/order.h"
#include "group_cell.h"
#include "show_build.h"

const char *const show_column_names[SHOW_COLUMN_COUNT] = {
	[SHOW_COLUMN_GROUP] = "group", [SHOW_COLUMN_THREADS] = "threads", [SHOW_COLUMN_METRIC] = "metric",
	[SHOW_COLUMN_VALUE] = "value", [SHOW_COLUMN_TAGS] = "tags",       [SHOW_COLUMN_UPTIME] = "uptime",
};

static const size_t default_columns[] = {
	SHOW_COLUMN_GROUP,
	SHOW_COLUMN_THREADS,
	SHOW_COLUMN_METRIC,
	SHOW_COLUMN_VALUE,
};

struct groups {
	struct show_build *build;
	struct grouping *grouping;
	struct aggregation *aggregation;
	uint32_t *order; /* groups that have threads, as the report lists them */
	size_t count;
	double *sort_values; /* sort.count of each group, NAN where there is none */
};

/* One row's subject: a metric, or a derived metric when that is METRIC_NONE. */
struct subject {
	enum metric metric;
	enum derived derived;
};

static void aggregate_groups(struct groups *groups)
{
	const struct snapshot *snapshot = groups->build->snapshot;
	uint32_t *group_of_thread = memory_allocate_zero(snapshot->thread_count + 1, sizeof(uint32_t));

	groups->grouping = grouping_create(&groups->build->request->grouping, &snapshot, 1, NULL);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		group_of_thread[i] = grouping_of_triple(groups->grouping, 0, snapshot->triple[i]);
	groups->aggregation = aggregation_create(snapshot, group_of_thread, grouping_count(groups->grouping),
						 groups->build->by_flags);
	free(group_of_thread);
}

static uint32_t member_count(const struct groups *groups, uint32_t group)
{
	return aggregation_get(groups->aggregation, group, METRIC_THREAD_COUNT)->members;
}

static double sort_value(const struct groups *groups, uint32_t group, const struct sort_key *key)
{
	double number;

	if (key->metric != METRIC_NONE)
		return aggregate_number(aggregation_get(groups->aggregation, group, key->metric), key->metric,
					&number)
			       ? number
			       : (double)NAN;
	number = aggregation_derive(groups->aggregation, group, key->derived).value;
	return aggregation_derive(groups->aggregation, group, key->derived).state == VALUE_READ ? number
												: (double)NAN;
}

/* By the sort keys, groups without a value last in either direction, then by name, which the ids follow. */
static int compare_groups(const void *a, const void *b, void *context)
{
	const struct groups *groups = context;
	const struct sort_keys *sort = &groups->build->request->sort;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	for (size_t i = 0; i < sort->count; i++) {
		double x = groups->sort_values[left * sort->count + i];
		double y = groups->sort_values[right * sort->count + i];

		int order = order_numbers(x, y, sort->items[i].ascending);

		if (order != 0)
			return order;
	}
	return (left > right) - (left < right);
}

static void order_groups(struct groups *groups)
{
	const struct sort_keys *sort = &groups->build->request->sort;
	size_t group_count = grouping_count(groups->grouping);

	groups->order = memory_allocate_zero(group_count + 1, sizeof(*groups->order));
	groups->sort_values = memory_allocate_zero(group_count * sort->count + 1,
						   sizeof(*groups->sort_values));
	for (uint32_t group = 0; group < group_count; group++) {
		if (member_count(groups, group) == 0)
			continue;
		groups->order[groups->count++] = group;
		for (size_t i = 0; i < sort->count; i++)
			groups->sort_values[group * sort->count + i] = sort_value(groups, group,
										  &sort->items[i]);
	}
	qsort_r(groups->order, groups->count, sizeof(*groups->order), compare_groups, groups);
}

static struct table *create_group_table(const struct groups *groups, const char *section)
{
	const struct show_request *request = groups->build->request;
	const size_t *columns = request->column_count != 0 ? request->columns : default_columns;
	size_t count = request->column_count != 0 ? request->column_count
						  : sizeof(default_columns) / sizeof(default_columns[0]);
	const struct table_build_column specs[SHOW_COLUMN_COUNT] = {
		[SHOW_COLUMN_GROUP] = {axes[request->grouping.axis].header, true, false},
		[SHOW_COLUMN_THREADS] = {"threads", false, false},
		[SHOW_COLUMN_METRIC] = {"metric", true, false},
		[SHOW_COLUMN_VALUE] = {"value", false, true},
		[SHOW_COLUMN_TAGS] = {"tags", true, false},
		[SHOW_COLUMN_UPTIME] = {"%uptime", false, false},
	};
	struct table_build_columns chosen = {.count = count};
	struct table *table;

	for (size_t i = 0; i < count; i++)
		chosen.items[i] = specs[columns[i]];
	table = table_build_create(section, &chosen);
	for (size_t i = 0; i < count; i++)
		table->columns[i].column = (unsigned int)columns[i];
	return table;
}

static void fill_cell(struct groups *groups, struct table *table, size_t column, const struct table_row *row,
		      struct cell *cell, uint32_t group, struct subject subject)
{
	const char *name = subject.metric != METRIC_NONE ? metrics[subject.metric].name
							 : derived_metrics[subject.derived].name;

	switch ((enum show_column)table->columns[column].column) {
	case SHOW_COLUMN_GROUP:
		cell->state = CELL_VALUE;
		cell->text = strlen(row->label) == row->label_length
				     ? row->label
				     : table_build_text(table, row->label, row->label_length);
		break;
	case SHOW_COLUMN_THREADS:
		cell->state = CELL_VALUE;
		cell->form = CELL_FORM_INTEGER;
		cell->value.integer = row->threads;
		break;
	case SHOW_COLUMN_METRIC:
		cell->state = CELL_VALUE;
		cell->text = name;
		break;
	case SHOW_COLUMN_VALUE:
		if (subject.metric != METRIC_NONE)
			group_cell_set_metric(&groups->build->base, table, cell, groups->aggregation, group,
					      subject.metric);
		else
			group_cell_set_derived(&groups->build->base, table, cell, groups->aggregation, group,
					       subject.derived);
		break;
	case SHOW_COLUMN_TAGS:
		cell->state = CELL_VALUE;
		if (subject.metric != METRIC_NONE)
			group_cell_append_tags(&groups->build->base.text, subject.metric);
		table_build_take_text(&groups->build->base, table, cell);
		break;
	case SHOW_COLUMN_UPTIME: /* of a comparison only */
		cell->state = CELL_ABSENT;
		break;
	case SHOW_COLUMN_COUNT:
		break;
	}
}

/* A row for each subject of each group. */
static void build_table(struct groups *groups, const char *section, const struct subject *subjects,
			size_t subject_count)
{
	struct table *table = create_group_table(groups, section);

	for (size_t i = 0; i < groups->count; i++) {
		uint32_t group = groups->order[i];
		const char *label = NULL;
		size_t length;

		table = table_build_continue(&groups->build->base, table);

		for (size_t j = 0; j < subject_count; j++) {
			struct table_row *row = table_build_add_row(&groups->build->base, table);

			if (row == NULL)
				continue;
			if (label == NULL) {
				label = grouping_key(groups->grouping, group, &length);
				label = arena_duplicate(&table->arena, label, length);
			}
			row->key = row->label = label;
			row->key_length = row->label_length = length;
			row->threads = member_count(groups, group);
			for (size_t column = 0; column < table->column_count; column++)
				fill_cell(groups, table, column, row, &row->cells[column], group,
					  subjects[j]);
		}
	}
	table_build_finish(&groups->build->base, table);
}

static void build_primary(struct groups *groups)
{
	const struct show_request *request = groups->build->request;
	struct subject subjects[METRIC_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (request->metrics[i] && request->sections[metrics[i].section])
			subjects[count++] = (struct subject){(enum metric)i, DERIVED_NONE};
	}
	build_table(groups, sections[SECTION_PRIMARY].name, subjects, count);
}

static void build_derived(struct groups *groups)
{
	const struct show_request *request = groups->build->request;
	struct subject subjects[DERIVED_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		if (request->derived[i] && request->sections[derived_metrics[i].section])
			subjects[count++] = (struct subject){METRIC_NONE, (enum derived)i};
	}
	build_table(groups, sections[SECTION_DERIVED].name, subjects, count);
}

void show_group_tables(struct show_build *build)
{
	struct groups groups = {.build = build};

	if (!build->request->sections[SECTION_PRIMARY] && !build->request->sections[SECTION_DERIVED] &&
	    !build->request->sections[SECTION_TASKSTATS_DELAY])
		return;
	aggregate_groups(&groups);
	order_groups(&groups);
	build_primary(&groups);
	build_derived(&groups);
	grouping_release(groups.grouping);
	aggregation_release(groups.aggregation);
	free(groups.order);
	free(groups.sort_values);
}
