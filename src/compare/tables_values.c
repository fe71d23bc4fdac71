/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables in which a group has a row for each number of one kind: how long waits took, and what a
 * sched_ext scheduler keeps for threads.
 */
#include <math.h>

#include "base/memory.h"
#include "table/column_list.h"
#include "tables_internal.h"

/* --- how long waits took: rates, percentiles and the longest, of groups that have any --- */

/* The number of a side; 0 without one, also of a side that is not there. */
static double number_of(const struct tables_build *build, const struct diff_pair *pair, size_t side,
			enum column column)
{
	struct value value;
	double number;

	diff_side(build->diff, pair, (enum diff_side)side, column, &value);
	return value.state == VALUE_READ && value_number(&value, &number) ? number : 0;
}

/* By how much the 99th percentile of either kind differs; of one snapshot how long it is. */
static double weigh_waits(const struct tables_build *build, const struct diff_pair *pair)
{
	double weight = 0;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		const enum column column = kind == LATENCY_RUN_QUEUE ? COLUMN_RQ99 : COLUMN_D99;

		weight = fmax(weight, fabs(number_of(build, pair, DIFF_AFTER, column) -
					   number_of(build, pair, DIFF_BEFORE, column)));
	}
	return weight;
}

/* Whether a group has waits of the kind that a column is about. */
static bool has_waits(const struct tables_build *build, const struct diff_pair *pair, enum column column)
{
	const enum column waits = column_entry(column)->inputs[0] == LATENCY_RUN_QUEUE ? COLUMN_WAITS
										       : COLUMN_DWAITS;

	return number_of(build, pair, DIFF_AFTER, waits) != 0 ||
	       number_of(build, pair, DIFF_BEFORE, waits) != 0;
}

void tables_latency(struct tables_build *build)
{
	static const enum column columns[] = {
		COLUMN_WAITS,  COLUMN_RQ50, COLUMN_RQ90, COLUMN_RQ99, COLUMN_RQMAX,
		COLUMN_DWAITS, COLUMN_D50,  COLUMN_D90,  COLUMN_D99,  COLUMN_DMAX,
	};
	const size_t count = build->diff->pair_count + 1;
	double *weights;

	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++) {
		if (build->diff->reductions[side]->shown.latency_row_of == NULL)
			return;
	}
	weights = memory_allocate(count * sizeof(*weights));
	for (size_t i = 0; i < count; i++)
		weights[i] = weigh_waits(build, &build->diff->pairs[i]);
	tables_subjects(build, SECTION_LATENCY,
			&(struct tables_subjects){
				.columns = columns,
				.count = ARRAY_COUNT(columns),
				.weights = weights,
				.pair_count = count,
				.has_row = has_waits,
			});
}

/* --- the time of groups in each class of waits --- */

static const enum column time_columns[] = {
#define RUNNABLE_CLASS(...)
#define WAIT_CLASS(id, ...) COLUMN_TIME_##id,
#include "metric/wait_class.def"
#undef WAIT_CLASS
};

static bool has_time(const struct tables_build *build, const struct diff_pair *pair, enum column column)
{
	return number_of(build, pair, DIFF_AFTER, column) != 0 ||
	       number_of(build, pair, DIFF_BEFORE, column) != 0;
}

void tables_time(struct tables_build *build)
{
	const size_t count = build->diff->pair_count + 1;
	double *weights = memory_allocate_zero(count, sizeof(*weights));

	/* by the class that differs most; of one snapshot by the one with most time */
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < ARRAY_COUNT(time_columns); k++)
			weights[i] = fmax(
				weights[i],
				fabs(number_of(build, &build->diff->pairs[i], DIFF_AFTER, time_columns[k]) -
				     number_of(build, &build->diff->pairs[i], DIFF_BEFORE, time_columns[k])));
	}
	tables_subjects(build, SECTION_TIME,
			&(struct tables_subjects){
				.columns = time_columns,
				.count = ARRAY_COUNT(time_columns),
				.weights = weights,
				.pair_count = count,
				.has_row = has_time,
			});
}

/* --- what a sched_ext scheduler keeps for the threads of groups --- */

/* The fields that are asked for: of the scheduler of after, then those that only that of before has. */
static size_t list_fields(const struct tables_build *build, enum column fields[TASK_FIELD_MAX])
{
	bool listed[TASK_FIELD_MAX] = {false};
	size_t count = 0;

	for (size_t side = DIFF_SIDE_COUNT; side-- > build->first_side;) {
		uint16_t of_side[TASK_FIELD_MAX];
		const size_t side_count = column_list_fields(build->diff->snapshots[side]->task_fields.owner,
							     of_side);

		for (size_t i = 0; i < side_count; i++) {
			const enum column column = column_of_task_field(of_side[i]);

			if (listed[of_side[i]] ||
			    !selected_fields_has(&build->request->fields, column_name(column)))
				continue;
			listed[of_side[i]] = true;
			fields[count++] = column;
		}
	}
	return count;
}

/* Whether a field says something of a group: not of one whose threads have no context, or have never run. */
static bool has_field(const struct tables_build *build, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(build->diff, pair, column);

	return value.side[DIFF_BEFORE].state != VALUE_ABSENT || value.side[DIFF_AFTER].state != VALUE_ABSENT;
}

void tables_task_fields(struct tables_build *build)
{
	const struct diff *diff = build->diff;
	enum column fields[TASK_FIELD_MAX];
	const size_t count = list_fields(build, fields);
	double *weights = memory_allocate((diff->pair_count + 1) * sizeof(*weights));

	for (size_t pair = 0; pair < diff->pair_count; pair++) {
		/* by the field that changed most; groups of one snapshot come by their names */
		weights[pair] = -INFINITY;
		for (size_t i = 0; build->is_comparison && i < count; i++)
			weights[pair] = fmax(weights[pair],
					     diff_column_sort(diff, &diff->pairs[pair], fields[i]));
	}
	tables_subjects(build, SECTION_TASK_FIELDS,
			&(struct tables_subjects){
				.columns = fields,
				.count = count,
				.weights = weights,
				.pair_count = diff->pair_count,
				.has_row = has_field,
			});
}
