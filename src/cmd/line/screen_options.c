/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "command.h"
#include "metric/nearest.h"
#include "session/missing.h"
#include "snapshot/user_names.h"
#include "table/column_list.h"
#include "table/column_name.h"
#include "table/tab.h"
#include "window/column.h"

static int parse_mode(const char *value, void *member, struct error *error)
{
	size_t mode;
	int result = nearest_choose(error, "mode", value, window_mode_names, WINDOW_MODE_COUNT, &mode);

	if (result == 0)
		*(int *)member = (int)mode;
	return result;
}

static void print_mode(const void *member, struct buffer *buffer)
{
	const int mode = *(const int *)member;

	/* WINDOW_MODE_COUNT: that of the command */
	buffer_append_text(buffer, mode < WINDOW_MODE_COUNT ? window_mode_names[mode] : "");
}

static void list_modes(struct buffer *buffer)
{
	for (size_t i = 0; i < WINDOW_MODE_COUNT; i++)
		buffer_append_format(buffer, "%s\n", window_mode_names[i]);
}

static void list_tabs(struct buffer *buffer)
{
	for (size_t i = 0; i < tab_count(); i++)
		buffer_append_format(buffer, "%s\n", tabs[tab_at(i)].name);
}

static void describe_tab(struct buffer *buffer)
{
	const char *names[TAB_COUNT];

	for (size_t i = 0; i < TAB_COUNT; i++)
		names[i] = tabs[i].name;
	buffer_append_text(buffer, "start on this tab, which may be shortened: ");
	buffer_append_list(buffer, names, TAB_COUNT, "or");
	buffer_append_text(buffer, ", or one of your own; cgroup groups by cgroup unless -g is given");
}

static const struct option list[] = {
	{OPTION('t', "tab", "TAB", struct screen_options, tab),
	 .brief = "start on a tab: run, time, io, memory, latency, ...", .describe = describe_tab,
	 .in_file = true, .list = list_tabs, .about = OPTION_ABOUT_ROWS},
	{PARSED_OPTION('\0', "mode", "MODE", struct screen_options, mode, parse_mode), .print = print_mode,
	 .list = list_modes, .in_file = true, .about = OPTION_ABOUT_ROWS,
	 .description = "numbers per second (rate), of the last interval, since the base, or in total"},
	{OPTION('f', "filter", "FILTER", struct screen_options, filter),
	 .brief = "only matching rows: web, 'cpu% > 50', 'state = D'", .in_file = true,
	 .description = "show only rows whose name contains this text or matches /REGEX/ (or does not, with "
			"!), or where COLUMN > NUMBER, and only threads with 'user = NAME', 'state = D' and "
			"so on; join several by and, or, not (ctop help filters)"},
	{OPTION('u', "user", "USER", struct screen_options, users),
	 .description = "show only threads of this user (name, number or glob), as the filter 'user = USER' "
			"does; may be repeated"},
	{OPTION('c', "cgroup", "CGROUP", struct screen_options, cgroups),
	 .description =
		 "show only threads in this cgroup and below it, as the filter 'cgroup = CGROUP' "
		 "does: a path, its last names, a glob for whole paths, or a container; may be repeated"},
	{OPTION('H', "threads", NULL, struct screen_options, threads), .brief = "a row for each thread",
	 .about = OPTION_ABOUT_ROWS, .excludes = "group-by",
	 .description = "show a row for each thread instead of groups"},
	{OPTION('\0', "all", NULL, struct screen_options, all), .about = OPTION_ABOUT_ROWS,
	 .description =
		 "print groups that did nothing in the span, and those without a number in the tab, too: in "
		 "text they are counted in lines at the end; on the screen the key a shows idle ones"},
};

const struct option_table screen_option_table = {"Table", list, ARRAY_COUNT(list)};

static int find_column(const char *name, size_t length, enum column *ret_column, struct error *error)
{
	char *copy = memory_duplicate_bytes(name, length);
	int result = 0;

	*ret_column = column_find(copy);
	if (*ret_column == COLUMN_COUNT)
		result = column_refuse(copy, error);
	free(copy);
	return result;
}

/* `--sort-by COLUMN[:asc|:desc]`: a screen has one sort column. */
static int set_sort(struct view *view, const char *sort_by, struct error *error)
{
	const char *colon = strchr(sort_by, ':');
	size_t length = colon != NULL ? (size_t)(colon - sort_by) : strlen(sort_by);
	int result;

	if (strchr(sort_by, ',') != NULL)
		return error_set(error, -EINVAL,
				 "--sort-by takes one column here: the screen is sorted by one");
	if (colon != NULL && strcasecmp(colon + 1, "asc") != 0 && strcasecmp(colon + 1, "desc") != 0)
		return error_set(error, -EINVAL, "unknown direction '%s'; valid are asc and desc", colon + 1);
	view->sort_chosen = true;
	view->sort_tab = view->tab;
	view->sort_ascending = colon != NULL && strcasecmp(colon + 1, "asc") == 0;
	if (length == 4 && strncasecmp(sort_by, "name", 4) == 0) {
		view->sort_by_name = true;
		view->sort_ascending |= colon == NULL;
		return 0;
	}
	view->sort_by_name = false;
	result = find_column(sort_by, length, &view->sort, error);
	if (result < 0 || view->sort >= COLUMN_COUNT || !column_is_identity(view->sort))
		return result;
	if (column_is_looked_up(view->sort))
		return error_set(error, -EINVAL, "cannot sort by %s: it is read only for visible rows",
				 column_title(view->sort, WINDOW_MODE_RATE));
	/* words from A on */
	view->sort_ascending |= colon == NULL;
	return 0;
}

static int set_columns(struct view *view, const char *names, enum column columns[SCREEN_COLUMNS_MAX],
		       struct error *error)
{
	size_t count = 0;

	for (const char *next = names;; next++) {
		size_t length = strcspn(next, ",");
		int result;

		if (count == SCREEN_COLUMNS_MAX)
			return error_set(error, -EINVAL, "--columns takes at most %d names",
					 SCREEN_COLUMNS_MAX);
		result = find_column(next, length, &columns[count], error);
		if (result < 0)
			return result;
		count++;
		next += length;
		if (*next == '\0')
			break;
	}
	view->columns = columns;
	view->column_count = count;
	return 0;
}

bool screen_options_filter(const struct screen_options *options)
{
	return options->filter != NULL || options->users.count != 0 || options->cgroups.count != 0;
}

/*
 * A user that is named has to be known here: an empty table would hide a mistyped name. Services that do not
 * answer in time say nothing of it.
 */
static int check_users(const struct filter *filter, struct error *error)
{
	const char *name;
	uint32_t uid;

	for (size_t i = 0; (name = filter_user(filter, i)) != NULL; i++) {
		if (user_find(name, USER_NAMES_PATIENCE_NS, &uid, error) == -ENOENT)
			return -EINVAL;
	}
	return 0;
}

/* Appends that one of the values is that of a field. */
static void append_any(struct buffer *text, enum filter_field field, const struct option_texts *values)
{
	struct buffer any = {0};

	for (size_t i = 0; i < values->count; i++) {
		struct buffer one = {0};

		filter_append_condition(&one, field, values->items[i]);
		buffer_append_format(&any, "%s%s", i != 0 ? " or " : "", one.data);
		buffer_release(&one);
	}
	if (values->count != 0)
		filter_append(text, any.data);
	buffer_release(&any);
}

static int set_filter(struct view *view, const struct screen_options *options, struct error *error)
{
	struct buffer text = {0};

	if (options->filter != NULL) {
		/* refused as it was written */
		view->filter = filter_parse(options->filter, error);
		if (view->filter == NULL)
			return -EINVAL;
		buffer_append_text(&text, options->filter);
		filter_release(view->filter);
	}
	append_any(&text, FILTER_FIELD_USER, &options->users);
	append_any(&text, FILTER_FIELD_CGROUP, &options->cgroups);
	view->filter = filter_parse(text.data, error);
	buffer_release(&text);
	return view->filter == NULL ? -EINVAL : check_users(view->filter, error);
}

int screen_options_make_view(const struct screen_options *options, const struct view_options *view_options,
			     enum axis axis, enum column columns[SCREEN_COLUMNS_MAX], struct view *view,
			     struct error *error)
{
	enum tab tab = TAB_OVERVIEW;
	int result = 0;

	view_initialise(view);
	view->grouping = view_options_grouping(view_options);
	if (view_options->axis == AXIS_COUNT)
		view->grouping.axis = axis;
	if (options->tab != NULL)
		result = tab_choose(options->tab, &tab, error);
	view_set_tab(view, tab);
	/* numbers of cgroups belong to rows of cgroups, unless others are asked for */
	view->axis_of_tab = tab == TAB_CGROUP && view_options->axis == AXIS_COUNT && axis == AXIS_PROCESS;
	if (view->axis_of_tab)
		view->grouping.axis = AXIS_CGROUP;
	if (options->threads)
		view->level = VIEW_LEVEL_THREADS;
	view->mode = (enum window_mode)options->mode;
	view->limit = view_options->limit;
	view->fold_idle = !options->all;
	if (result == 0 && view_options->sort_by != NULL)
		result = set_sort(view, view_options->sort_by, error);
	if (result == 0 && view_options->columns != NULL)
		result = set_columns(view, view_options->columns, columns, error);
	if (result == 0 && screen_options_filter(options))
		result = set_filter(view, options, error);
	return result;
}

void screen_options_check_filter(const struct session *session, const struct view *view)
{
	struct buffer words = {0};

	for (size_t i = 0; view->filter != NULL && filter_column(view->filter, i) != COLUMN_COUNT; i++) {
		buffer_clear(&words);
		if (filter_column(view->filter, i) == COLUMN_COMMAND &&
		    session_now(session)->provenance.title_count == 0)
			command_note("the filter: command lines are read on the live screen only, and no "
				     "title was recorded here; process = NAME compares names");
		else if (session_refuse_column(session, view, filter_column(view->filter, i), &words))
			command_note("the filter: %s", words.data);
	}
	buffer_clear(&words);
	if (filter_append_unmatched(view->filter, session_now(session), &words))
		command_note("%s", words.data);
	buffer_release(&words);
}

/* In text nobody sees why a cell has no number: what nobody can read leaves, and is named. */
static void leave_out(struct session *session, struct view *view, struct buffer *missing)
{
	missing_find_columns(session, 0, view);
	missing_append_words(session, view, "ctop doctor", INT_MAX, missing);
}

/* The table with the names of all users that are shown. */
static struct table *make_table(struct session *session, const struct view *view, uint64_t patience_ns)
{
	const unsigned int names_before = user_names_generation();
	struct table *table = session_table(session, view);

	user_names_wait(patience_ns);
	if (user_names_generation() == names_before)
		return table;
	table_release(table);
	return session_table(session, view);
}

struct table *screen_options_draw(struct session *session, struct view *view, struct report *report,
				  const char *file, uint64_t patience_ns,
				  void (*look_up)(void *context, struct table *table), void *context)
{
	struct buffer missing = {0};
	struct table *table;

	view->naming = screen_table_naming(report->format);
	if (report->format == REPORT_FORMAT_TEXT)
		leave_out(session, view, &missing);
	else
		view->fold_idle = false;
	table = make_table(session, view, patience_ns);
	if (look_up != NULL)
		look_up(context, table);
	report->snapshot = session_now(session);
	screen_table_print(report,
			   &(struct screen_subject){.file = file,
						    .previous = session_previous(session),
						    .interval_ns = session_interval_ns(session),
						    .missing = missing.data},
			   view, table);
	buffer_release(&missing);
	return table;
}
