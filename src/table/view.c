/* SPDX-License-Identifier: GPL-2.0-only */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "column_list.h"
#include "tab.h"
#include "window/column.h"

/* Opening a group goes to the next of these that it was not narrowed by yet, then to its threads. */
static const enum axis open_order[] = {AXIS_CGROUP, AXIS_PROCESS, AXIS_PID, AXIS_THREAD};

enum {
	OPEN_ORDER_COUNT = sizeof(open_order) / sizeof(open_order[0])
};

void view_initialise(struct view *view)
{
	*view = (struct view){
		.grouping.axis = AXIS_PROCESS,
		.level = VIEW_LEVEL_GROUPS,
		.tab = TAB_OVERVIEW,
		.mode = WINDOW_MODE_RATE,
		.sort = COLUMN_CPU,
	};
}

void view_release(struct view *view)
{
	for (size_t i = 0; i < view->step_count; i++) {
		free(view->steps[i].key);
		free(view->steps[i].label);
		filter_release(view->steps[i].filter);
	}
	view->step_count = 0;
	filter_release(view->filter);
	view->filter = NULL;
}

static enum column first_sort(const struct view *view, enum tab tab)
{
	if (tab == TAB_TASK_FIELDS && view->task_field_count != 0 && tab_own_sort(tab) == COLUMN_COUNT)
		return column_of_task_field(view->task_fields[0]);
	return (enum column)tabs[tab].sort;
}

/* Whether the view has the column it is sorted by also when it is sorted by something else. */
static bool has_sort_column(const struct view *view)
{
	struct view other = *view;

	other.width = 0;
	other.sort_by_name = true;
	return view_shows(&other, view->sort);
}

void view_set_tab(struct view *view, enum tab tab)
{
	const struct view_sort *sort = &view->sorts[tab];

	if (view->sort_chosen && view->sort_tab == view->tab)
		view->sorts[view->tab] = (struct view_sort){true, view->sort_by_name, view->sort_by_change,
							    view->sort_ascending, view->sort};
	view->tab = tab;
	if (sort->chosen) {
		view->sort_chosen = true;
		view->sort_tab = tab;
		view->sort_by_name = sort->by_name;
		view->sort_by_change = sort->by_change;
		view->sort_ascending = sort->ascending;
		view->sort = sort->column;
		/* of another scheduler meanwhile */
		if (!column_is_task_field(sort->column) || has_sort_column(view))
			return;
	} else if (view->sort_chosen &&
		   (view->sort_by_name || view->sort_by_change || has_sort_column(view))) {
		return;
	}
	view_forget_sort(view);
}

void view_forget_sort(struct view *view)
{
	view->sort_chosen = view->sort_ascending = view->sort_by_name = false;
	view->sort_by_change = view->compares;
	view->sorts[view->tab].chosen = false;
	view->sort = first_sort(view, view->tab);
}

bool view_set_scheduler(struct view *view, const struct task_field_owner *scheduler)
{
	uint16_t fields[TASK_FIELD_MAX];
	const size_t count = column_list_fields(scheduler, fields);

	if (count == view->task_field_count &&
	    memcmp(fields, view->task_fields, count * sizeof(*fields)) == 0)
		return false;
	memcpy(view->task_fields, fields, count * sizeof(*fields));
	view->task_field_count = count;
	if (view->tab != TAB_TASK_FIELDS)
		return true;
	/* a chosen field stays while nothing else is known */
	if (view->sort_chosen && count != 0 && column_is_task_field(view->sort) &&
	    task_field_find_member(scheduler, (uint16_t)(view->sort - COLUMN_TASK_FIELDS)) == NULL)
		view->sort_chosen = view->sort_ascending = false;
	if (!view->sort_chosen)
		view->sort = first_sort(view, TAB_TASK_FIELDS);
	return true;
}

static struct filter *copy_filter(const struct filter *filter)
{
	return filter != NULL ? filter_parse(filter_text(filter), NULL) : NULL;
}

void view_copy(struct view *to, const struct view *from)
{
	*to = *from;
	for (size_t i = 0; i < from->step_count; i++) {
		to->steps[i].key = memory_duplicate_bytes(from->steps[i].key, from->steps[i].key_length);
		to->steps[i].label = memory_duplicate_bytes(from->steps[i].label,
							    from->steps[i].label_length);
		to->steps[i].filter = copy_filter(from->steps[i].filter);
	}
	to->filter = copy_filter(from->filter);
}

const struct filter *view_filter_at(const struct view *view, size_t step)
{
	return step < view->step_count ? view->steps[step].filter : view->filter;
}

bool view_narrows_threads(const struct view *view)
{
	for (size_t i = 0; i <= view->step_count; i++) {
		if (filter_narrows(view_filter_at(view, i)))
			return true;
	}
	return false;
}

bool view_looks_behind_names(const struct view *view)
{
	bool looks = axis_is_by_thread(view->grouping.axis) || view_narrows_threads(view);

	for (size_t i = 0; i < view->step_count; i++)
		looks |= axis_is_by_thread(view->steps[i].axis);
	return looks;
}

void view_append_signature(const struct view *view, enum axis axis, size_t step_count, struct buffer *buffer)
{
	const struct grouping_options *grouping = &view->grouping;

	buffer_append_format(buffer, "%d %d%d%d%d %p %zu", (int)axis, grouping->keep_thread_names,
			     grouping->keep_cgroup_names, grouping->fold_containers,
			     view->hide_kernel_threads, (const void *)grouping->flatten,
			     grouping->flatten_count);
	for (size_t i = 0; i < step_count; i++) {
		buffer_append_format(buffer, " %d %zu ", (int)view->steps[i].axis, view->steps[i].key_length);
		buffer_append(buffer, view->steps[i].key, view->steps[i].key_length);
	}
	for (size_t i = 0; i <= step_count; i++) {
		const struct filter *filter = view_filter_at(view, i);

		if (filter_narrows(filter))
			buffer_append_format(buffer, " %zu:%s", i, filter_text(filter));
	}
}

/* Whether an axis says nothing new: a process has one name, and in a comparison nobody knows which is which.
 */
static bool narrowed_by(const struct view *view, enum axis axis)
{
	for (size_t i = 0; i < view->step_count; i++) {
		if (view->steps[i].axis == axis || (axis == AXIS_PROCESS && view->steps[i].axis == AXIS_PID))
			return true;
	}
	return axis == AXIS_PID && view->compares;
}

/* Goes to the axis after the one just narrowed by, or to the threads. */
static void advance(struct view *view)
{
	enum axis axis = view->grouping.axis;
	size_t next = 0;

	/* like a cgroup, a user, container, host or what is waited for opens into its processes */
	if (axis == AXIS_USER || axis == AXIS_CONTAINER || axis == AXIS_HOST || axis == AXIS_WAIT)
		axis = AXIS_CGROUP;
	while (next < OPEN_ORDER_COUNT && open_order[next] != axis)
		next++;
	for (next++; next < OPEN_ORDER_COUNT; next++) {
		if (!narrowed_by(view, open_order[next])) {
			view->grouping.axis = open_order[next];
			return;
		}
	}
	view->level = VIEW_LEVEL_THREADS;
}

bool view_open(struct view *view, const char *key, size_t key_length, const char *label, size_t label_length)
{
	if (view->level == VIEW_LEVEL_THREADS || view->step_count == VIEW_STEPS_MAX)
		return false;
	view->steps[view->step_count++] = (struct view_step){
		.axis = view->grouping.axis,
		.key = memory_duplicate_bytes(key, key_length),
		.key_length = key_length,
		.label = memory_duplicate_bytes(label, label_length),
		.label_length = label_length,
		.filter = view->filter,
	};
	view->filter = NULL;
	advance(view);
	return true;
}

char *view_close(struct view *view, size_t *ret_key_length)
{
	struct view_step left;
	bool automatic;

	if (view->step_count == 0)
		return NULL;
	do {
		left = view->steps[--view->step_count];
		filter_release(view->filter);
		view->filter = left.filter;
		free(left.label);
		automatic = left.automatic && view->step_count > 0;
		if (automatic)
			free(left.key);
	} while (automatic);
	view->grouping.axis = left.axis;
	view->level = VIEW_LEVEL_GROUPS;
	*ret_key_length = left.key_length;
	return left.key;
}

enum {
	WCHAN_SCREEN_MIN = 160, /* cells of a screen that shows where threads sleep */
};

/* Whether a text says more of the rows than their names and what they were narrowed to. */
static bool says_more(const struct view *view, enum column column)
{
	const bool threads = view->level == VIEW_LEVEL_THREADS;
	const enum axis axis = view->grouping.axis;

	switch (column) {
	case COLUMN_PID:
		return !view->same.process && (threads || axis != AXIS_PID);
	case COLUMN_COMMAND:
		return (view->looks_up || view->has_titles) && !view->same.process;
	case COLUMN_WCHAN:
		return view->looks_up && threads && (view->tab == TAB_OVERVIEW || view->tab == TAB_RUN) &&
		       (view->width == 0 || view->width >= WCHAN_SCREEN_MIN);
	case COLUMN_PROCESS:
		if (view->same.process)
			return false;
		return threads || (axis != AXIS_PROCESS && axis != AXIS_PID && axis != AXIS_ALL);
	case COLUMN_WAITS_FOR:
		return threads || axis != AXIS_WAIT;
	case COLUMN_USER_NAME:
		return !view->same.user && (threads || axis != AXIS_USER);
	case COLUMN_CGROUP_PATH:
		if (view->same.cgroup)
			return false;
		return threads || (axis != AXIS_CGROUP && axis != AXIS_ALL && axis != AXIS_CONTAINER);
	default:
		return true;
	}
}

/* The texts behind the numbers, in the order in which they get room. */
static const enum column texts_behind[] = {COLUMN_COMMAND, COLUMN_CGROUP_PATH, COLUMN_USER_NAME, COLUMN_WCHAN,
					   COLUMN_PID};

/* In rows of threads these stand before the numbers, on any screen: a thread is one of a process. */
static const enum column texts_before[] = {COLUMN_PID, COLUMN_PROCESS};

enum {
	BEHIND_COUNT = sizeof(texts_behind) / sizeof(*texts_behind),
	BEFORE_COUNT = sizeof(texts_before) / sizeof(*texts_before),
	NAME_AND_MARK_CELLS = 21, /* that a name is given before texts stand beside it */
	NAME_MORE_CELLS = 8,      /* of these, beyond the least that it has beside numbers */
	COMMAND_SCREEN_MIN = 80,  /* cells of a screen on which numbers leave for command lines */
};

static bool is_one_process(const struct view *view)
{
	return view->level == VIEW_LEVEL_GROUPS && view->grouping.axis == AXIS_PID;
}

/* Whether each row is one process, or a thread of one: its command line says most about it. */
static bool is_of_processes(const struct view *view)
{
	return view->level == VIEW_LEVEL_THREADS || is_one_process(view);
}

int view_wanted_width(const struct view *view, enum column column)
{
	/* a title with what its process does at the end */
	if (column == COLUMN_COMMAND && is_of_processes(view))
		return 48;
	/* an address, or a socket's port and program; of groups a class and a count: kernel idle ×2 */
	if (column == COLUMN_WAITS_FOR)
		return view->level == VIEW_LEVEL_THREADS ? 21 : 14;
	/* a name of 15 bytes (TASK_COMM_LEN), or most of what a kernel thread is called */
	return column == COLUMN_PROCESS && view->level == VIEW_LEVEL_THREADS ? 24 : 0;
}

static size_t add_texts_before(const struct view *view, enum column columns[COLUMN_TOTAL])
{
	size_t count = 0;

	for (size_t i = 0; view->level == VIEW_LEVEL_THREADS && i < BEFORE_COUNT; i++) {
		if (says_more(view, texts_before[i]))
			columns[count++] = texts_before[i];
	}
	return count;
}

/* Adds the texts that have room behind the columns. */
static size_t add_texts_behind(const struct view *view, enum column columns[COLUMN_TOTAL], size_t count)
{
	bool fits[BEHIND_COUNT] = {false};
	int room = view->width - NAME_AND_MARK_CELLS;
	const size_t before = count;

	for (size_t i = 0; i < count; i++)
		room -= column_width(columns[i]) + 1;
	for (size_t i = 0; i < BEHIND_COUNT; i++) {
		const int least = column_width(texts_behind[i]);
		const int wanted = view_wanted_width(view, texts_behind[i]);

		fits[i] = (view->width == 0 || least < room) && says_more(view, texts_behind[i]) &&
			  !column_list_has(columns, before, texts_behind[i]);
		if (fits[i])
			room -= (wanted > least ? wanted : least) + 1;
	}
	if (fits[0] && is_of_processes(view))
		columns[count++] = texts_behind[0];
	for (size_t i = BEHIND_COUNT; i-- > 0;) {
		if (fits[i] && !(i == 0 && is_of_processes(view)))
			columns[count++] = texts_behind[i];
	}
	return count;
}

/* The user may have put texts into a tab that stand before its numbers already. */
static size_t drop_repeated(enum column columns[COLUMN_TOTAL], size_t before, size_t count)
{
	size_t kept = before;

	for (size_t i = before; i < count; i++) {
		if (!column_list_has(columns, before, columns[i]))
			columns[kept++] = columns[i];
	}
	return kept;
}

/* The columns of the tab, and texts beside them: with so many cells for texts before columns of wide screens.
 */
static size_t list_columns(const struct view *view, int wanted, enum column columns[COLUMN_TOTAL])
{
	enum column sort = view->sort_by_name || view->sort_by_change ? COLUMN_COUNT : view->sort;
	struct column_set left_out = view->left_out;
	size_t before = 0, count;
	int reserved = 0;

	if (view->shows_identity)
		before = add_texts_before(view, columns);
	if (view->shows_identity && !says_more(view, COLUMN_WAITS_FOR))
		column_set_add(&left_out, COLUMN_WAITS_FOR);
	for (size_t i = 0; i < before; i++)
		reserved += column_width(columns[i]) + 1;
	/* processes of one name are told apart by nothing else */
	if (view->shows_identity && view->width >= COMMAND_SCREEN_MIN && is_one_process(view) &&
	    says_more(view, COLUMN_COMMAND))
		reserved += column_width(COLUMN_COMMAND) + 1 + NAME_MORE_CELLS + 1;
	if (column_list_has(columns, before, sort))
		sort = COLUMN_COUNT;
	count = before +
		column_list_with(
			view->tab, view->level == VIEW_LEVEL_THREADS,
			&(struct column_choice){
				.fields = view->task_fields,
				.field_count = view->tab == TAB_TASK_FIELDS ? view->task_field_count : 0,
				.left_out = &left_out,
				.width = view->width,
				.reserved = reserved,
				.wanted = wanted,
				.sort = sort,
			},
			columns + before);
	count = drop_repeated(columns, before, count);
	return view->shows_identity ? add_texts_behind(view, columns, count) : count;
}

size_t view_columns(const struct view *view, enum column columns[COLUMN_TOTAL])
{
	size_t count;

	if (view->columns != NULL) {
		memcpy(columns, view->columns, view->column_count * sizeof(columns[0]));
		return view->column_count;
	}
	if (view->shows_identity && view->width != 0 && is_of_processes(view) &&
	    says_more(view, COLUMN_COMMAND)) {
		count = list_columns(view, view_wanted_width(view, COLUMN_COMMAND), columns);
		if (column_list_has(columns, count, COLUMN_COMMAND))
			return count;
	}
	return list_columns(view, 0, columns);
}

bool view_shows(const struct view *view, enum column column)
{
	enum column columns[COLUMN_TOTAL];

	return column_list_has(columns, view_columns(view, columns), column);
}

static void add_needs(enum column column, source_set *needed, bool *cgroup_records, bool *smaps)
{
	*needed |= column_sources(column);
	*cgroup_records |= column_entry(column)->operation == COLUMN_OPERATION_CGROUP;
	*smaps |= column_entry(column)->operation == COLUMN_OPERATION_SMAPS;
	/* the waits of stuck threads count as well */
	if (column_counts_waits(column))
		*needed |= column_sources(COLUMN_STUCK);
}

static void add_needs_of_columns(const struct view *view, source_set *needed, bool *cgroup_records,
				 bool *smaps)
{
	enum column columns[COLUMN_TOTAL];
	size_t count = view_columns(view, columns);

	for (size_t i = 0; i < count; i++)
		add_needs(columns[i], needed, cgroup_records, smaps);
}

bool view_hides_idle(const struct view *view)
{
	if (view->hide_idle || !view->fold_idle)
		return view->hide_idle;
	return view->level == VIEW_LEVEL_GROUPS && view->step_count == 0 && view->filter == NULL &&
	       view->mode != WINDOW_MODE_TOTAL && !view->sort_by_name && !view->sort_ascending &&
	       column_has(column_entry(view->sort), COLUMN_RATES);
}

void view_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records, bool *ret_smaps)
{
	struct view whole = *view;

	*ret_sources = 0;
	*ret_cgroup_records = *ret_smaps = false;
	add_needs_of_columns(view, ret_sources, ret_cgroup_records, ret_smaps);
	/* what was left out is asked for as before: only so is it known whether it can be read now */
	whole.left_out = (struct column_set){0};
	add_needs_of_columns(&whole, ret_sources, ret_cgroup_records, ret_smaps);
	if (!view->sort_by_name)
		add_needs(view->sort, ret_sources, ret_cgroup_records, ret_smaps);
	if (view->grouping.axis == AXIS_WAIT)
		add_needs(COLUMN_WAITS_FOR, ret_sources, ret_cgroup_records, ret_smaps);
	if (view_hides_idle(view)) {
		add_needs(COLUMN_CPU, ret_sources, ret_cgroup_records, ret_smaps);
		add_needs(COLUMN_STUCK, ret_sources, ret_cgroup_records, ret_smaps);
	}
	for (size_t step = 0; step <= view->step_count; step++) {
		const struct filter *filter = view_filter_at(view, step);

		for (size_t i = 0; filter != NULL && filter_column(filter, i) != COLUMN_COUNT; i++)
			add_needs(filter_column(filter, i), ret_sources, ret_cgroup_records, ret_smaps);
	}
}

/* Whether a column, the order or the filter is of an operation. */
static bool uses(const struct view *view, enum column_operation operation)
{
	enum column columns[COLUMN_TOTAL];
	struct view whole = *view;
	size_t count;

	whole.left_out = (struct column_set){0};
	count = view_columns(&whole, columns);
	for (size_t i = 0; i < count; i++) {
		if (column_entry(columns[i])->operation == operation)
			return true;
	}
	for (size_t i = 0; view->filter != NULL && filter_column(view->filter, i) != COLUMN_COUNT; i++) {
		if (column_entry(filter_column(view->filter, i))->operation == operation)
			return true;
	}
	return !view->sort_by_name && column_entry(view->sort)->operation == operation;
}

bool view_needs_latency(const struct view *view)
{
	return uses(view, COLUMN_OPERATION_LATENCY) || uses(view, COLUMN_OPERATION_BLAME);
}

bool view_shows_latency(const struct view *view)
{
	return view_needs_latency(view) || uses(view, COLUMN_OPERATION_TIME);
}

bool view_needs_task_fields(const struct view *view)
{
	return (view->tab == TAB_TASK_FIELDS && view->columns == NULL) ||
	       uses(view, COLUMN_OPERATION_TASK_FIELD);
}

/* --- groups --- */

/* Forbids the triples that are not in a group. */
static void narrow(struct grouping_options options, enum axis axis, const char *key, size_t key_length,
		   const struct snapshot *names, struct pattern_memory *patterns, bool *allowed)
{
	struct grouping *grouping;
	uint32_t wanted;

	if (axis_is_by_thread(axis))
		return;
	options.axis = axis;
	grouping = grouping_create(&options, &names, 1, patterns);
	wanted = grouping_find(grouping, key, key_length);
	for (uint32_t i = 0; i < names->triple_count; i++)
		allowed[i] &= wanted != UINT32_MAX && grouping_of_triple(grouping, 0, i) == wanted;
	grouping_release(grouping);
}

uint32_t *view_group_names(const struct view *view, const char *key, size_t key_length,
			   const struct snapshot *names, struct pattern_memory *patterns,
			   const struct grouping *grouping)
{
	uint32_t *groups = memory_allocate((names->triple_count + 1) * sizeof(*groups));
	bool *allowed = memory_allocate(names->triple_count + 1);
	struct grouping_options options = view->grouping;
	struct grouping *own;

	options.rules = grouping_rules(grouping);
	/* a name that stands for several threads of the grouping is a pattern here, too, by `patterns` */
	own = grouping_create(&options, &names, 1, patterns);
	memset(allowed, true, names->triple_count);
	for (size_t i = 0; i < view->step_count; i++)
		narrow(options, view->steps[i].axis, view->steps[i].key, view->steps[i].key_length, names,
		       patterns, allowed);
	if (key != NULL)
		narrow(options, options.axis, key, key_length, names, patterns, allowed);
	for (uint32_t i = 0; i < names->triple_count; i++) {
		size_t length;
		const char *own_key = grouping_key(own, grouping_of_triple(own, 0, i), &length);

		groups[i] = !allowed[i] ? UINT32_MAX
			    : axis_is_by_thread(view->grouping.axis)
				    ? 0
				    : grouping_find(grouping, own_key, length);
	}
	free(allowed);
	grouping_release(own);
	return groups;
}
