/* SPDX-License-Identifier: GPL-2.0-only */
#include "view_options.h"

#include <errno.h>
#include <string.h>

#include "command.h"
#include "metric/nearest.h"
#include "metric/task_field.h"
#include "table/column_name.h"
#include "window/column.h"

/* Both spellings of an axis: those of files and those of the screen, which alone are offered. */
static int parse_axis(const char *value, void *member, struct error *error)
{
	const char *names[AXIS_COUNT];
	size_t chosen;
	enum axis axis = axis_find(value);

	for (size_t i = 0; i < AXIS_COUNT; i++)
		names[i] = axes[i].word;
	if (axis == AXIS_COUNT) {
		int result = nearest_choose(error, "axis", value, names, AXIS_COUNT, &chosen);

		if (result < 0)
			return result;
		axis = axis_find(names[chosen]);
	}
	*(int *)member = (int)axis;
	return 0;
}

static void print_axis(const void *member, struct buffer *buffer)
{
	const int axis = *(const int *)member;

	/* AXIS_COUNT: that of the command */
	buffer_append_text(buffer, axis < AXIS_COUNT ? axes[axis].word : "");
}

static void list_axes(struct buffer *buffer)
{
	for (size_t i = 0; i < AXIS_COUNT; i++)
		buffer_append_format(buffer, "%s\n", axes[i].word);
}

/* Choices are kept with the fields, which may be met later: they set no member. */
static struct buffer reductions;

static int parse_reductions(const char *value, void *member, struct error *error)
{
	int result = task_field_choose(value, error);

	(void)member;
	if (result == 0)
		buffer_append_format(&reductions, "%s%s", reductions.length != 0 ? "," : "", value);
	return result;
}

static void print_reductions(const void *member, struct buffer *buffer)
{
	(void)member;
	buffer_append(buffer, reductions.data, reductions.length);
}

static void describe_reductions(struct buffer *buffer)
{
	buffer_append_text(buffer, "what a group has of a field of a sched_ext scheduler: ");
	buffer_append_list(buffer, task_field_reduction_names, TASK_FIELD_REDUCTION_TOTAL, "or");
	buffer_append_text(buffer, "; default by its name");
}

void view_options_list_columns(struct buffer *buffer)
{
	for (enum column column = 0; column < COLUMN_COUNT; column++)
		buffer_append_format(buffer, "%s\n", column_word(column));
	for (size_t i = 0; i < METRIC_COUNT; i++)
		buffer_append_format(buffer, "%s\n", metrics[i].name);
}

static const struct option view_options_list[] = {
	{PARSED_OPTION('g', "group-by", "AXIS", struct view_options, axis, parse_axis),
	 .brief = "group by process, pid, cgroup, container, thread, user or wait", .print = print_axis,
	 .list = list_axes, .in_file = true,
	 .description =
		 "group threads by process, pid, cgroup, container, thread, thread-exact, "
		 "user, host, what they wait for (wait), or by cgroup, process and thread together (all)"},
	{OPTION('\0', "no-thread-normalize", NULL, struct view_options, keep_thread_names), .in_file = true,
	 .description = "keep process and thread names as they are instead of worker-{N}"},
	{OPTION('\0', "no-cg-normalize", NULL, struct view_options, keep_cgroup_names), .in_file = true,
	 .description = "keep cgroup paths as they are"},
	{OPTION('\0', "cgroup-flatten", "GLOB", struct view_options, flatten), .in_file = true,
	 .description = "treat all cgroups that match as one; may be repeated, the first match wins"},
	{OPTION('s', "sort-by", "COLUMN[:asc|:desc],...", struct view_options, sort_by),
	 .brief = "sort by this column", .list = view_options_list_columns, .in_file = true,
	 .about = OPTION_ABOUT_ROWS,
	 .description = "order groups by these metrics, largest first unless :asc; names from A on"},
	{OPTION('\0', "columns", "NAME,...", struct view_options, columns), .list = view_options_list_columns,
	 .in_file = true, .description = "print these columns in this order"},
	{OPTION('\0', "limit", "N", struct view_options, limit), .maximum = 1e15,
	 .description = "print at most this many rows per section, 0 for all"},
	{
		.name = "scx-reduce",
		.kind = OPTION_PARSED,
		.value_name = "FIELD=HOW,...",
		.parse = parse_reductions,
		.print = print_reductions,
		.is_kept_elsewhere = true,
		.in_file = true,
		.describe = describe_reductions,
	},
	{OPTION('\0', "csv-safe", NULL, struct view_options, csv_safe),
	 .description = "in csv, put a ' before texts that begin with =, +, -, @, a tab or the end of a "
			"line, which a spreadsheet would take for formulas"},
};

const struct option_table view_option_table = {"View", view_options_list, ARRAY_COUNT(view_options_list)};

int view_options_check_pair(const struct view_options *options, struct error *error)
{
	if (options->axis != AXIS_PID)
		return 0;
	return error_set(
		error, -EINVAL,
		"two snapshots are not compared by pid: the processes of one are mostly not those of "
		"the other. Use -g process, or of two single readings --match thread for changes of the "
		"same threads");
}

struct grouping_options view_options_grouping(const struct view_options *options)
{
	return (struct grouping_options){
		.axis = (enum axis)options->axis,
		.keep_thread_names = options->keep_thread_names,
		.keep_cgroup_names = options->keep_cgroup_names,
		.flatten = options->flatten.items,
		.flatten_count = options->flatten.count,
	};
}
