/* SPDX-License-Identifier: GPL-2.0-only */
#include "column.h"

#include <string.h>

#include "blame.h"
#include "snapshot/latency.h"

#define UNWRAP(...) __VA_ARGS__

/* A metric as a column, by its type: titles, operation, unit. */
#define AS_COUNT(title)       title "/s", title, COLUMN_OPERATION_SUM, UNIT_COUNT
#define AS_NS(title)          title "%", title, COLUMN_OPERATION_SUM, UNIT_NS
#define AS_TICKS(title)       title "%", title, COLUMN_OPERATION_SUM, UNIT_NS
#define AS_BYTES(title)       title "/s", title, COLUMN_OPERATION_SUM, UNIT_BYTES
#define AS_PEAK_NS(title)     title, title, COLUMN_OPERATION_PRESENT, UNIT_NS
#define AS_PEAK_BYTES(title)  title, title, COLUMN_OPERATION_PRESENT, UNIT_BYTES
#define AS_GAUGE_NS(title)    title, title, COLUMN_OPERATION_PRESENT, UNIT_NS
#define AS_GAUGE_COUNT(title) title, title, COLUMN_OPERATION_PRESENT, UNIT_COUNT
#define AS_ORDINAL_I32(title) title, title, COLUMN_OPERATION_PRESENT, UNIT_NONE
#define AS_ORDINAL_U32(title) title, title, COLUMN_OPERATION_PRESENT, UNIT_NONE
#define AS_CATEGORY(title)    title, title, COLUMN_OPERATION_PRESENT, UNIT_NONE
#define AS_CHARACTER(title)   title, title, COLUMN_OPERATION_PRESENT, UNIT_NONE
#define AS_BOOLEAN(title)     title, title, COLUMN_OPERATION_PRESENT, UNIT_NONE
#define AS_AFFINITY(title)    title, title, COLUMN_OPERATION_PRESENT, UNIT_NONE

/* The unit of a derived metric as a column, by its ladder. */
#define DERIVED_UNIT_NONE  UNIT_RATIO
#define DERIVED_UNIT_NS    UNIT_NS
#define DERIVED_UNIT_BYTES UNIT_BYTES

static const struct column_entry entries[COLUMN_TASK_FIELDS] = {
#define COLUMN(id, name, rate_title, amount_title, operation, unit, width, inputs, description)              \
	[COLUMN_##id] = {                                                                                    \
		name,        rate_title, amount_title,    COLUMN_OPERATION_##operation,                      \
		UNIT_##unit, width,      {UNWRAP inputs}, sizeof((int[]){UNWRAP inputs}) / sizeof(int),      \
		description,                                                                                 \
	},
#include "columns.def"
#undef COLUMN
#define METRIC(id, name, position, type, tag, gates, section, family, source, key, form, equivalent,         \
	       equivalent_key, title, description)                                                           \
	[COLUMN_METRICS + (int)METRIC_##id] = {name, AS_##type(title), 0, {METRIC_##id}, 1, description},
#include "metric/metrics.def"
#undef METRIC
#define DERIVED(id, name, operation, inputs, ladder, is_ratio, section, title, formula, description)         \
	[COLUMN_DERIVED + (int)DERIVED_##id] = {                                                             \
		name,                                                                                        \
		title,                                                                                       \
		title,                                                                                       \
		COLUMN_OPERATION_##operation,                                                                \
		DERIVED_UNIT_##ladder,                                                                       \
		0,                                                                                           \
		{UNWRAP inputs},                                                                             \
		sizeof((int[]){UNWRAP inputs}) / sizeof(int),                                                \
		description,                                                                                 \
	},
#include "metric/derived.def"
#undef DERIVED
};

const struct column_operation_entry column_operations[COLUMN_OPERATION_COUNT] = {
#define OPERATION(id, kind, traits, joint, source) [COLUMN_OPERATION_##id] = {traits, joint, SOURCE_##source},
#include "column_operation.def"
#undef OPERATION
};

/* --- fields of schedulers --- */

enum unit column_unit_of_task_field(struct task_field_facts facts, enum task_field_kind kind)
{
	if (facts.reduction == TASK_FIELD_REDUCTION_COUNT)
		return kind == TASK_FIELD_KIND_BOOLEAN ? UNIT_COUNT : UNIT_NONE;
	return facts.ladder == LADDER_NS ? UNIT_NS : facts.ladder == LADDER_BYTES ? UNIT_BYTES : UNIT_COUNT;
}

static const struct column_entry *task_field_entry(enum column column)
{
	static struct column_entry of_fields[TASK_FIELD_MAX];
	const uint16_t number = (uint16_t)(column - COLUMN_TASK_FIELDS);
	struct column_entry *entry = &of_fields[number];
	const struct task_field *field = task_field(number);
	enum task_field_kind kind;
	const struct task_field_facts facts = task_field_described(number, &kind);
	const enum unit unit = column_unit_of_task_field(facts, kind);
	const struct column_entry made = {
		.name = field->column,
		.rate_title = facts.reduction != TASK_FIELD_REDUCTION_COUNTER ? field->title
			      : unit == UNIT_NS                               ? field->percent_title
									      : field->rate_title,
		.amount_title = field->title,
		.operation = COLUMN_OPERATION_TASK_FIELD,
		.unit = unit,
		.inputs = {number, (int)facts.reduction},
		.input_count = 2,
		.description = task_field_reduction_words[facts.reduction],
	};

	/* other threads may be reading it: it changes only with a scheduler that has other fields */
	if (entry->rate_title != made.rate_title || entry->unit != made.unit ||
	    entry->inputs[1] != made.inputs[1])
		*entry = made;
	return entry;
}

const struct column_entry *column_entry(enum column column)
{
	return column_is_task_field(column) ? task_field_entry(column) : &entries[column];
}

enum column column_of_task_field(uint16_t field)
{
	return (enum column)(COLUMN_TASK_FIELDS + (int)field);
}

enum column column_of_metric(enum metric metric)
{
	return metric == METRIC_THREAD_COUNT ? COLUMN_THR : (enum column)(COLUMN_METRICS + (int)metric);
}

enum column column_of_wait_class(enum wait_class class)
{
	static const enum column columns[WAIT_CLASS_COUNT] = {
		[WAIT_CLASS_UNKNOWN] = COLUMN_COUNT,
		[WAIT_CLASS_CPU] = COLUMN_CPU,
		[WAIT_CLASS_RUN_QUEUE] = COLUMN_RUNQ,
#define RUNNABLE_CLASS(...)
#define WAIT_CLASS(id, ...) [WAIT_CLASS_##id] = COLUMN_TIME_##id,
#include "metric/wait_class.def"
#undef WAIT_CLASS
	};

	return columns[class];
}

enum column column_of_derived(enum derived derived)
{
	return (enum column)(COLUMN_DERIVED + (int)derived);
}

const char *column_title(enum column column, enum window_mode mode)
{
	const struct column_entry *entry = column_entry(column);

	return mode == WINDOW_MODE_RATE ? entry->rate_title : entry->amount_title;
}

const char *column_name(enum column column)
{
	return column_entry(column)->name;
}

const char *column_description(enum column column)
{
	return column_entry(column)->description;
}

bool column_has_metrics(enum column column)
{
	return column_has(column_entry(column), COLUMN_OF_METRICS);
}

/* --- units --- */

static enum unit rate_unit(enum unit unit)
{
	switch (unit) {
	case UNIT_NS:
		return UNIT_PERCENT;
	case UNIT_BYTES:
		return UNIT_BYTES_PER_S;
	default:
		return UNIT_COUNT_PER_S;
	}
}

/* Columns of records, latency and fields are rates where their titles say so. */
static bool is_rate(const struct column_entry *entry, enum window_mode mode)
{
	return mode == WINDOW_MODE_RATE &&
	       (column_has(entry, COLUMN_RATES) || strcmp(entry->rate_title, entry->amount_title) != 0);
}

enum unit column_unit(enum column column, enum window_mode mode, bool by_thread)
{
	const struct column_entry *entry = column_entry(column);

	if (entry->operation == COLUMN_OPERATION_STUCK && by_thread)
		return UNIT_NS;
	return is_rate(entry, mode) ? rate_unit(entry->unit) : entry->unit;
}

/* --- as stored --- */

enum column column_stored_form(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	if (column == COLUMN_THR)
		return column_of_stored(METRIC_THREAD_COUNT);
	return entry->operation == COLUMN_OPERATION_SUM && entry->input_count == 1
		       ? column_of_stored((enum metric)entry->inputs[0])
		       : column;
}

bool column_is_record(enum column column)
{
	return column_has(column_entry(column), COLUMN_OF_RECORDS);
}

bool column_is_counter(enum column column)
{
	if (column_is_task_field(column))
		return column_entry(column)->inputs[1] == TASK_FIELD_REDUCTION_COUNTER;
	return column_is_metric(column) && column != column_of_stored(METRIC_THREAD_COUNT) &&
	       metric_type(column_metric(column))->kind == METRIC_KIND_COUNTER;
}

bool column_grows(enum column column)
{
	return column_is_counter(column) ||
	       (column_is_derived(column) && column_has(column_entry(column), COLUMN_RATES));
}

bool column_adds_up(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	switch (entry->operation) {
	case COLUMN_OPERATION_LATENCY:
		return entry->inputs[1] == LATENCY_FIELD_COUNT;
	case COLUMN_OPERATION_CGROUP: /* limits do not */
		return column_has_rate(column) || entry->inputs[0] == CGROUP_RECORD_MEMORY_CURRENT ||
		       entry->inputs[0] == CGROUP_RECORD_MEMORY_EVENTS ||
		       entry->inputs[0] == CGROUP_RECORD_PIDS_CURRENT;
	case COLUMN_OPERATION_TASK_FIELD:
		return entry->inputs[1] == TASK_FIELD_REDUCTION_COUNTER ||
		       entry->inputs[1] == TASK_FIELD_REDUCTION_SUM;
	default:
		return column_has(entry, COLUMN_ADDS_UP);
	}
}

bool column_may_be_negative(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	switch (entry->operation) {
	case COLUMN_OPERATION_PRESENT:
		return metric_type((enum metric)entry->inputs[0])->encoding == METRIC_ENCODING_I32;
	case COLUMN_OPERATION_HEAP: /* threads release what threads that have ended allocated */
		return entry->inputs[0] == HEAP_FIELD_LIVE;
	case COLUMN_OPERATION_TASK_FIELD: /* a field of a scheduler may be signed, unless it is a counter */
		return entry->inputs[1] != TASK_FIELD_REDUCTION_COUNTER;
	default:
		return column_has(entry, COLUMN_IS_SIGNED);
	}
}

bool column_has_lower_bounds(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	if (entry->operation == COLUMN_OPERATION_PRESENT)
		return metric_type((enum metric)entry->inputs[0])->reduction == METRIC_REDUCTION_MAXIMUM;
	return !column_has(entry, COLUMN_NEEDS_ALL) && !column_may_be_negative(column);
}

bool column_is_ratio(enum column column)
{
	return column_is_derived(column) && derived_metrics[column_derived(column)].is_ratio;
}

enum ladder column_report_ladder(enum column column)
{
	enum task_field_kind kind;

	if (column_is_metric(column))
		return metric_type(column_metric(column))->ladder;
	if (column_is_derived(column))
		return derived_metrics[column_derived(column)].ladder;
	if (column_is_task_field(column))
		return task_field_described((uint16_t)(column - COLUMN_TASK_FIELDS), &kind).ladder;
	/* of a group they are counted, also where one of a thread is how long it lasts */
	return column_has(column_entry(column), COLUMN_COUNTS_THREADS) ? LADDER_UNITLESS
								       : column_ladder(column);
}

enum unit column_report_unit(enum column column)
{
	if (column_is_record(column))
		return column_entry(column)->unit;
	return column_is_ratio(column) ? UNIT_RATIO : unit_of_ladder(column_report_ladder(column));
}

bool column_counts_waits(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	/* a mean of finished waits is one of nothing else */
	if (!column_has_metrics(column) || entry->operation == COLUMN_OPERATION_QUOTIENT)
		return false;
	for (size_t i = 0; i < entry->input_count; i++) {
		if (metric_is_run_queue_wait((enum metric)entry->inputs[i]))
			return true;
	}
	return false;
}

bool column_is_identity(enum column column)
{
	return column_entry(column)->operation == COLUMN_OPERATION_IDENTITY;
}

bool column_is_name(enum column column)
{
	const enum column_operation operation = column_entry(column)->operation;

	return operation == COLUMN_OPERATION_IDENTITY || operation == COLUMN_OPERATION_BLAME ||
	       operation == COLUMN_OPERATION_WAITS_FOR;
}

source_set column_sources(enum column column)
{
	const struct column_entry *entry = column_entry(column);
	source_set set = source_bit(column_operations[entry->operation].source);

	/* all else that says who a thread is comes with every round */
	if (column == COLUMN_USER_NAME)
		return source_bit(SOURCE_STATUS);
	if (!column_has_metrics(column))
		return set;
	for (size_t i = 0; i < entry->input_count; i++)
		set |= source_bit(metrics[entry->inputs[i]].source);
	return set;
}

enum ladder column_ladder(enum column column)
{
	switch (column_entry(column)->unit) {
	case UNIT_NS:
		return LADDER_NS;
	case UNIT_BYTES:
		return LADDER_BYTES;
	case UNIT_COUNT:
		/* of one thread it is how long it has been stuck */
		return column_entry(column)->operation == COLUMN_OPERATION_STUCK ? LADDER_NS
										 : LADDER_UNITLESS;
	default:
		return LADDER_NONE;
	}
}
