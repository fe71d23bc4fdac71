/* SPDX-License-Identifier: GPL-2.0-only */
#include "column_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

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

bool column_is_looked_up(enum column column)
{
	return column == COLUMN_COMMAND || column == COLUMN_WCHAN;
}

int column_fill_order(enum column column)
{
	static const enum column order[] = {COLUMN_DELAYED_BY,  COLUMN_WOKEN_BY,  COLUMN_WAKES,
					    COLUMN_PROCESS,     COLUMN_WAITS_FOR, COLUMN_COMMAND,
					    COLUMN_CGROUP_PATH, COLUMN_USER_NAME, COLUMN_WCHAN};

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

	if (column_is_name(column))
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
	left = column_entry(column);
	right = column_entry(other);
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
	size_t count = tab_own_columns(tab, threads, columns);
	const bool is_own = count != 0 || tab_is_own(tab);

	if (tab == TAB_ALL && !is_own) {
		count = leave_out(choice, columns, list_all_tab(columns));
		return join_sort_column(sort, columns, count);
	}
	for (size_t i = 0; !is_own && i < TAB_COLUMN_COUNT; i++) {
		if (tab_columns[i].tab == tab && (tab_columns[i].rows & rows) != 0 &&
		    (choice->width == 0 || tab_columns[i].from == 0 ||
		     choice->width - choice->wanted >= tab_columns[i].from))
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

bool column_list_has(const enum column columns[], size_t count, enum column column)
{
	for (size_t i = 0; i < count; i++) {
		if (columns[i] == column)
			return true;
	}
	return false;
}

/* A field on the tab of task fields, with what puts it in order. */
struct placed_field {
	size_t place, index;
	uint16_t field;
};

static int compare_places(const void *a, const void *b)
{
	const struct placed_field *left = a, *right = b;
	const int order = order_u64(left->place, right->place);

	return order != 0 ? order : order_u64(left->index, right->index);
}

size_t column_list_fields(const struct task_field_owner *scheduler, uint16_t fields[TASK_FIELD_MAX])
{
	struct placed_field *placed; /* large for a stack */
	size_t count = 0;

	if (scheduler == NULL)
		return 0;
	placed = memory_allocate((scheduler->member_count + 1) * sizeof(*placed));
	for (size_t i = 0; i < scheduler->member_count && count < TASK_FIELD_MAX; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		/* two members of one name are one field */
		if (member->field != TASK_FIELD_NONE &&
		    task_field_find_member(scheduler, member->field) == member)
			placed[count++] = (struct placed_field){
				task_field_place(scheduler->family, member->name), i, member->field};
	}
	qsort(placed, count, sizeof(*placed), compare_places);
	for (size_t i = 0; i < count; i++)
		fields[i] = placed[i].field;
	free(placed);
	return count;
}
