/* SPDX-License-Identifier: GPL-2.0-only */
#include "column_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "metric/nearest.h"
#include "own_tab.h"
#include "table/cell_format.h"
#include "view.h"

#define UNWRAP(...) __VA_ARGS__

/* What a metric is as a column, by its type: titles, operation, unit. */
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

/* What a derived metric is as a column: by its operation and ladder. */
#define DERIVED_OPERATION_QUOTIENT         COLUMN_OPERATION_QUOTIENT
#define DERIVED_OPERATION_SHARE            COLUMN_OPERATION_SHARE
#define DERIVED_OPERATION_DIFFERENCE       COLUMN_OPERATION_DIFFERENCE
#define DERIVED_OPERATION_SUM_WITH_LARGEST COLUMN_OPERATION_SUM_WITH_LARGEST
#define DERIVED_UNIT_NONE                  UNIT_RATIO
#define DERIVED_UNIT_NS                    UNIT_NS
#define DERIVED_UNIT_BYTES                 UNIT_BYTES

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
		DERIVED_OPERATION_##operation,                                                               \
		DERIVED_UNIT_##ladder,                                                                       \
		0,                                                                                           \
		{UNWRAP inputs},                                                                             \
		sizeof((int[]){UNWRAP inputs}) / sizeof(int),                                                \
		description,                                                                                 \
	},
#include "metric/derived.def"
#undef DERIVED
};

/* Titles that columns had before: options and filters that name them mean what they meant. */
static const char *const former_titles[COLUMN_COUNT] = {
	[COLUMN_MWAIT] = "MEM%", [COLUMN_SWAPIN] = "SWAP%", [COLUMN_WAIT] = "WAIT%",
	[COLUMN_LOST] = "LOST%", [COLUMN_THRA] = "THRA%",   [COLUMN_RECL] = "RECL%",
	[COLUMN_COMP] = "COMP%", [COLUMN_BAR] = "BAR",      [COLUMN_LIMIT] = "LIMIT",
	[COLUMN_CGMAX] = "MAX",  [COLUMN_HITS] = "HITS/s",
};

const struct column_operation_entry column_operations[COLUMN_OPERATION_COUNT] = {
	[COLUMN_OPERATION_THREADS] = {COLUMN_OF_GROUPS | COLUMN_COUNTS_THREADS | COLUMN_IS_PRESENT, NULL, 0},
	[COLUMN_OPERATION_SUM] = {COLUMN_OF_METRICS | COLUMN_RATES, " + ", 0},
	[COLUMN_OPERATION_SUM_WITH_LARGEST] = {COLUMN_OF_METRICS | COLUMN_RATES | COLUMN_OVERLAPS, " + ", 0},
	[COLUMN_OPERATION_LOST] = {COLUMN_OF_METRICS | COLUMN_RATES | COLUMN_OVERLAPS, " + ", 0},
	[COLUMN_OPERATION_QUOTIENT] = {COLUMN_OF_METRICS | COLUMN_NEEDS_ALL, " / ", 0},
	[COLUMN_OPERATION_SHARE] = {COLUMN_OF_METRICS | COLUMN_NEEDS_ALL, " / the sum with ", 0},
	[COLUMN_OPERATION_DIFFERENCE] = {COLUMN_OF_METRICS | COLUMN_NEEDS_ALL | COLUMN_IS_PRESENT, " - ", 0},
	[COLUMN_OPERATION_NET] = {COLUMN_OF_METRICS | COLUMN_RATES | COLUMN_NEEDS_ALL, " - ", 0},
	[COLUMN_OPERATION_LIFETIME] = {COLUMN_OF_METRICS, " + ", 0},
	[COLUMN_OPERATION_PRESENT] = {COLUMN_OF_METRICS | COLUMN_IS_PRESENT, " + ", 0},
	[COLUMN_OPERATION_STUCK] = {COLUMN_OF_METRICS | COLUMN_OF_WAITS | COLUMN_COUNTS_THREADS, NULL, 0},
	[COLUMN_OPERATION_WAITING] = {COLUMN_OF_METRICS | COLUMN_OF_WAITS, NULL, 0},
	[COLUMN_OPERATION_LONG] = {COLUMN_OF_METRICS | COLUMN_OF_WAITS | COLUMN_OF_GROUPS |
					   COLUMN_COUNTS_THREADS,
				   NULL, 0},
	[COLUMN_OPERATION_AGE] = {0, NULL, 0},
	[COLUMN_OPERATION_BAR] = {COLUMN_OF_METRICS, NULL, 0},
	[COLUMN_OPERATION_SMAPS] = {0, NULL, (source_set)1 << SOURCE_SMAPS_ROLLUP},
	[COLUMN_OPERATION_RESIDENT] = {0, NULL, (source_set)1 << SOURCE_STAT},
	[COLUMN_OPERATION_GROWTH] = {COLUMN_RATES, NULL, (source_set)1 << SOURCE_STAT},
	[COLUMN_OPERATION_CGROUP] = {0, NULL, 0},
	[COLUMN_OPERATION_HEAP] = {0, NULL, (source_set)1 << SOURCE_JEMALLOC},
	[COLUMN_OPERATION_LATENCY] = {COLUMN_OF_GROUPS, NULL, 0},
	[COLUMN_OPERATION_LIVES] = {COLUMN_RATES | COLUMN_OF_GROUPS, NULL, 0},
	[COLUMN_OPERATION_TASK_FIELD] = {0, NULL, 0},
	[COLUMN_OPERATION_IDENTITY] = {0, NULL, 0},
};

enum tab_rows {
	TAB_ROWS_GROUPS = 1 << 0,
	TAB_ROWS_THREADS = 1 << 1,
	TAB_ROWS_BOTH = TAB_ROWS_GROUPS | TAB_ROWS_THREADS,
};

static const struct tab_column {
	enum tab tab;
	enum tab_rows rows;
	int from;
	enum column column;
} tab_columns[] = {
#define TAB_COLUMN(tab, rows, from, column) {TAB_##tab, TAB_ROWS_##rows, from, COLUMN_##column},
#include "tab_columns.def"
#undef TAB_COLUMN
};

enum {
	TAB_COLUMN_COUNT = sizeof(tab_columns) / sizeof(tab_columns[0]),
	NAME_WIDTH_MINIMUM = 12, /* cells the name keeps */
	MARK_WIDTH = 1,
	TID_WIDTH = 7, /* of PID_MAX_LIMIT, 4194304 */
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

	*entry = (struct column_entry){
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

enum column column_of_derived(enum derived derived)
{
	return (enum column)(COLUMN_DERIVED + (int)derived);
}

const char *column_title(enum column column, int view_mode)
{
	const struct column_entry *entry = column_entry(column);

	return view_mode == VIEW_MODE_RATE ? entry->rate_title : entry->amount_title;
}

const char *column_name(enum column column)
{
	return column_entry(column)->name;
}

const char *column_description(enum column column)
{
	return column_entry(column)->description;
}

/* Length of a title without its unit mark. */
static size_t bare_length(const char *title)
{
	size_t length = strlen(title);

	if (length > 1 && title[length - 1] == '%')
		return length - 1;
	if (length > 2 && strcasecmp(title + length - 2, "/s") == 0)
		return length - 2;
	return length;
}

static bool titles_match(const char *title, const char *wanted)
{
	size_t length = bare_length(wanted);

	if (wanted[length] != '\0')
		return strcasecmp(title, wanted) == 0;
	return bare_length(title) == length && strncasecmp(title, wanted, length) == 0;
}

/* Length of a name as it heads a column of TSV and CSV, "read_bytes_per_s", without its units. */
static size_t length_without_units(const char *name)
{
	static const char *const units[] = {"_per_s", "_percent", "_bytes", "_ns"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t unit = strlen(units[i]);

		if (length > unit && strncasecmp(name + length - unit, units[i], unit) == 0)
			length -= unit;
	}
	return length;
}

static enum column find_by_name(const char *name, size_t length)
{
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (strncasecmp(entries[i].name, name, length) == 0 && entries[i].name[length] == '\0')
			return (enum column)i;
	}
	return COLUMN_COUNT;
}

/* What a name of a field may be made of: identifiers of C with dots between. */
static bool is_field_name(const char *name, size_t length)
{
	static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

	return length != 0 && length <= TASK_FIELD_NAME_MAX && strspn(name, valid) >= length &&
	       name[0] != '.' && name[length - 1] != '.';
}

/* The field of a name, with or without what heads it in a table; TASK_FIELD_NONE for none that was met. */
static uint16_t find_field(const char *name)
{
	const size_t bare = bare_length(name), own = length_without_units(name);
	uint16_t field = task_field_find(name, strlen(name));

	if (field == TASK_FIELD_NONE && bare != strlen(name))
		field = task_field_find(name, bare);
	if (field == TASK_FIELD_NONE && own != strlen(name))
		field = task_field_find(name, own);
	return field;
}

static enum column find_task_field(const char *name)
{
	static const char prefix[] = TASK_FIELDS_OF_SCX ".";
	const size_t length = sizeof(prefix) - 1;
	char copy[sizeof(prefix) + TASK_FIELD_NAME_MAX] = TASK_FIELDS_OF_SCX ".";
	uint16_t field = find_field(name);

	for (uint16_t i = 0; field == TASK_FIELD_NONE && i < task_field_count(); i++) {
		if (titles_match(task_field(i)->title, name))
			field = i;
	}
	/* one that nobody has met yet */
	if (field == TASK_FIELD_NONE && strncasecmp(name, prefix, length) == 0 &&
	    is_field_name(name + length, bare_length(name + length))) {
		memcpy(copy + length, name + length, bare_length(name + length));
		field = task_field_intern(copy);
	}
	return field != TASK_FIELD_NONE ? column_of_task_field(field) : COLUMN_COUNT;
}

/* By a title as the screen shows it, then by one without its unit mark, then by a former one. */
static enum column find_by_title(const char *title)
{
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (strcasecmp(entries[i].rate_title, title) == 0)
			return (enum column)i;
	}
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (titles_match(entries[i].rate_title, title))
			return (enum column)i;
	}
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (former_titles[i] != NULL && titles_match(former_titles[i], title))
			return (enum column)i;
	}
	return COLUMN_COUNT;
}

enum column column_find(const char *name)
{
	enum column found;
	enum metric metric;
	enum derived derived;

	found = find_by_title(name);
	if (found != COLUMN_COUNT)
		return found;
	found = find_by_name(name, strlen(name));
	if (found != COLUMN_COUNT)
		return found;
	metric = metric_find(name, strlen(name));
	if (metric != METRIC_NONE)
		return column_of_metric(metric);
	derived = derived_find(name, strlen(name));
	if (derived != DERIVED_NONE)
		return column_of_derived(derived);
	found = find_by_name(name, length_without_units(name));
	return found != COLUMN_COUNT ? found : find_task_field(name);
}

/* A column's title stands in the list once, though two tabs may have a column of that title. */
static bool is_title_taken(enum column column)
{
	for (int i = 0; i < (int)column; i++) {
		if (strcmp(entries[i].rate_title, entries[column].rate_title) == 0)
			return true;
	}
	return false;
}

const char *column_word(enum column column)
{
	if (column_is_task_field(column))
		return column_name(column);
	return column_find(entries[column].rate_title) == column ? entries[column].rate_title
								 : entries[column].name;
}

const char *column_nearest(const char *name)
{
	const char *candidates[2 * COLUMN_TOTAL];
	size_t count = 0;
	const char *nearest;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		candidates[count++] = entries[i].rate_title;
		candidates[count++] = entries[i].name;
	}
	for (int i = COLUMN_METRICS; i < COLUMN_TASK_FIELDS; i++)
		candidates[count++] = entries[i].name;
	for (uint16_t i = 0; i < task_field_count(); i++)
		candidates[count++] = task_field(i)->column;
	nearest = nearest_name(name, candidates, count);
	if (nearest != NULL && column_find(nearest) < COLUMN_COUNT)
		nearest = entries[column_find(nearest)].rate_title;
	return nearest;
}

int column_refuse(const char *name, struct error *error)
{
	const char *nearest = column_nearest(name);
	struct buffer list = {0};
	int result;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!is_title_taken((enum column)i))
			buffer_append_format(&list, "%s%s", i > 0 ? " " : "", entries[i].rate_title);
	}
	result = nearest != NULL ? error_set(error, -EINVAL,
					     "no column '%s', did you mean %s? Columns: %s, and the names of "
					     "ctop metrics",
					     name, nearest, list.data)
				 : error_set(error, -EINVAL,
					     "no column '%s'. Columns: %s, and the names of ctop metrics",
					     name, list.data);
	buffer_release(&list);
	return result;
}

bool column_has_metrics(enum column column)
{
	return column_has(column_entry(column), COLUMN_OF_METRICS);
}

/* --- units --- */

enum unit column_rate_unit(enum unit unit)
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
static bool is_rate(const struct column_entry *entry, enum view_mode mode)
{
	return mode == VIEW_MODE_RATE &&
	       (column_has(entry, COLUMN_RATES) || strcmp(entry->rate_title, entry->amount_title) != 0);
}

enum unit column_unit(enum column column, enum view_mode mode, bool by_thread)
{
	const struct column_entry *entry = column_entry(column);

	if (entry->operation == COLUMN_OPERATION_STUCK && by_thread)
		return UNIT_NS;
	return is_rate(entry, mode) ? column_rate_unit(entry->unit) : entry->unit;
}

/* --- as stored --- */

bool column_is_record(enum column column)
{
	const enum column_operation operation = column_entry(column)->operation;

	return column < COLUMN_COUNT &&
	       (operation == COLUMN_OPERATION_SMAPS || operation == COLUMN_OPERATION_RESIDENT ||
		operation == COLUMN_OPERATION_CGROUP);
}

bool column_is_counter(enum column column)
{
	if (column_is_task_field(column))
		return column_entry(column)->inputs[1] == TASK_FIELD_REDUCTION_COUNTER;
	return column_is_metric(column) && column != column_of_stored(METRIC_THREAD_COUNT) &&
	       metric_type(column_metric(column))->kind == METRIC_KIND_COUNTER;
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
	return column_ladder(column);
}

enum unit column_report_unit(enum column column)
{
	if (column_is_record(column))
		return column_entry(column)->unit;
	return column_is_ratio(column) ? UNIT_RATIO : cell_format_unit(column_report_ladder(column));
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

/* Whether cells are words, ranges or sets. */
static bool is_word(const struct column_entry *entry)
{
	return entry->unit == UNIT_NONE && (entry->operation == COLUMN_OPERATION_PRESENT ||
					    entry->operation == COLUMN_OPERATION_TASK_FIELD);
}

/* Whether it is of a field whose values have names. */
static bool is_enumeration(const struct column_entry *entry)
{
	enum task_field_kind kind;

	(void)task_field_described((uint16_t)entry->inputs[0], &kind);
	return kind == TASK_FIELD_KIND_ENUM;
}

bool column_is_identity(enum column column)
{
	return column_entry(column)->operation == COLUMN_OPERATION_IDENTITY;
}

bool column_is_looked_up(enum column column)
{
	return column == COLUMN_COMMAND || column == COLUMN_WCHAN;
}

int column_fill_order(enum column column)
{
	static const enum column order[] = {COLUMN_PROCESS, COLUMN_COMMAND, COLUMN_CGROUP_PATH,
					    COLUMN_USER_NAME, COLUMN_WCHAN};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (order[i] == column)
			return (int)i + 1;
	}
	return 0;
}

bool column_has_shares(enum column column)
{
	return column == COLUMN_CPU || column == COLUMN_LOST;
}

bool column_is_text(enum column column)
{
	const struct column_entry *entry = column_entry(column);

	if (entry->operation == COLUMN_OPERATION_IDENTITY)
		return column != COLUMN_PID;

	if (entry->operation == COLUMN_OPERATION_HEAP)
		return entry->inputs[0] == HEAP_FIELD_LAYOUT;
	if (entry->operation == COLUMN_OPERATION_TASK_FIELD)
		return is_enumeration(entry);
	return entry->operation == COLUMN_OPERATION_BAR ||
	       (is_word(entry) && metric_type((enum metric)entry->inputs[0])->kind == METRIC_KIND_CATEGORY);
}

int column_width(enum column column)
{
	const struct column_entry *entry = column_entry(column);
	int minimum = is_word(entry) ? 7 : entry->unit == UNIT_BYTES ? 6 : 5;
	int title = (int)strlen(entry->rate_title) + 1;

	if (entry->width != 0)
		return entry->width;
	return title > minimum ? title : minimum;
}

source_set column_sources(enum column column)
{
	const struct column_entry *entry = column_entry(column);
	source_set set = column_operations[entry->operation].sources;

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

static size_t list_all_tab(enum column columns[COLUMN_TOTAL])
{
	size_t count = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		columns[count++] = column_of_metric((enum metric)i);
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		columns[count++] = column_of_derived((enum derived)i);
	return count;
}

bool column_stands_for(enum column column, enum column other)
{
	const struct column_entry *left, *right;

	/* a scheduler's field is nothing but itself, whatever its name */
	if (column_is_task_field(column) || column_is_task_field(other))
		return column == other;
	left = &entries[column];
	right = &entries[other];
	if (strcmp(left->rate_title, right->rate_title) == 0)
		return true;
	return left->operation == right->operation && left->unit == right->unit &&
	       left->input_count == right->input_count &&
	       memcmp(left->inputs, right->inputs, sizeof(left->inputs)) == 0;
}

/* Puts the sort column behind THR when no other one stands for it. */
static size_t join_sort_column(enum column sort, enum column columns[COLUMN_TOTAL], size_t count)
{
	size_t index = count > 0 && columns[0] == COLUMN_THR ? 1 : 0;

	if (sort == COLUMN_COUNT)
		return count;
	for (size_t i = 0; i < count; i++) {
		if (column_stands_for(columns[i], sort))
			return count;
	}
	memmove(&columns[index + 1], &columns[index], (count - index) * sizeof(columns[0]));
	columns[index] = sort;
	return count + 1;
}

/* Drops columns from the right until those that are left fit beside `reserved` cells. */
static size_t fit(bool threads, int width, int reserved, enum column sort, enum column columns[COLUMN_TOTAL],
		  size_t count)
{
	int room = width - MARK_WIDTH - NAME_WIDTH_MINIMUM - (threads ? TID_WIDTH + 1 : 0) - reserved;
	int used = 0;

	for (size_t i = 0; i < count; i++)
		used += column_width(columns[i]) + 1;
	for (size_t i = count; i-- > 0 && used > room;) {
		if (columns[i] == COLUMN_THR || (sort != COLUMN_COUNT && column_stands_for(columns[i], sort)))
			continue;
		used -= column_width(columns[i]) + 1;
		memmove(&columns[i], &columns[i + 1], (count - i - 1) * sizeof(columns[0]));
		count--;
	}
	return count;
}

/* Takes out columns of the tab that are left out, but for the one that the rows are sorted by. */
static size_t leave_out(const struct column_choice *choice, enum column columns[COLUMN_TOTAL], size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (choice->left_out == NULL || !column_set_has(choice->left_out, columns[i]) ||
		    (choice->sort != COLUMN_COUNT && column_stands_for(columns[i], choice->sort)))
			columns[kept++] = columns[i];
	}
	return kept;
}

size_t column_list_with(enum tab tab, bool threads, const struct column_choice *choice,
			enum column columns[COLUMN_TOTAL])
{
	enum tab_rows rows = threads ? TAB_ROWS_THREADS : TAB_ROWS_GROUPS;
	const enum column sort = choice->sort;
	size_t count = own_tab_columns(tab, threads, columns);
	const bool is_own = count != 0 || own_tab_is(tab);

	if (tab == TAB_ALL && !is_own) {
		count = leave_out(choice, columns, list_all_tab(columns));
		return join_sort_column(sort, columns, count);
	}
	for (size_t i = 0; !is_own && i < TAB_COLUMN_COUNT; i++) {
		if (tab_columns[i].tab == tab && (tab_columns[i].rows & rows) != 0 &&
		    (choice->width == 0 || choice->width >= tab_columns[i].from))
			columns[count++] = tab_columns[i].column;
	}
	for (size_t i = 0; !is_own && i < choice->field_count; i++)
		columns[count++] = column_of_task_field(choice->fields[i]);
	if (!is_own)
		count = leave_out(choice, columns, count);
	count = join_sort_column(sort, columns, count);
	return choice->width == 0 || choice->whole
		       ? count
		       : fit(threads, choice->width, choice->reserved, sort, columns, count);
}

size_t column_list(enum tab tab, bool threads, int width, enum column sort, enum column columns[COLUMN_TOTAL])
{
	return column_list_with(tab, threads, &(struct column_choice){.width = width, .sort = sort}, columns);
}
