/* SPDX-License-Identifier: GPL-2.0-only */
#include "row_names.h"

#include <limits.h>
#include <string.h>

enum {
	TID_CELLS = 7 /* digits of PID_MAX_LIMIT */
};

static bool is_of_triples(const struct view *view)
{
	return view->level == VIEW_LEVEL_GROUPS && view->grouping.axis == AXIS_ALL;
}

/* The word of the axis in capitals. */
static const char *axis_title(const struct view *view, struct arena *arena)
{
	const char *word = axes[view->grouping.axis].word;
	char *title = arena_duplicate(arena, word, strlen(word));

	/* toupper() depends on the locale */
	for (char *c = title; *c != '\0'; c++)
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	return title;
}

static size_t list_names(const struct view *view, struct arena *arena, const char *names[ROW_NAMES_MAX])
{
	const bool is_of_threads = view->level == VIEW_LEVEL_THREADS;
	size_t count = 0;

	if (view->naming == VIEW_NAMING_TITLES) {
		if (is_of_threads)
			names[count++] = "TID";
		names[count++] = is_of_threads ? "THREAD" : axis_title(view, arena);
	} else if (view->naming == VIEW_NAMING_FIELDS && is_of_threads) {
		names[count++] = "tid";
		names[count++] = "tgid";
		names[count++] = "thread";
	} else if (view->naming == VIEW_NAMING_FIELDS && is_of_triples(view)) {
		names[count++] = "cgroup";
		names[count++] = "process";
		names[count++] = "thread";
	} else if (view->naming == VIEW_NAMING_FIELDS) {
		names[count++] = "group";
	}
	return count;
}

size_t row_names_columns(const struct view *view, struct arena *arena,
			 struct table_column columns[ROW_NAMES_MAX])
{
	const char *names[ROW_NAMES_MAX];
	const size_t count = list_names(view, arena, names);

	for (size_t i = 0; i < count; i++)
		columns[i] = (struct table_column){
			.name = names[i],
			.title = names[i],
			.left = true,
			.foreign = true,
			.width = strcmp(names[i], "TID") == 0 ? TID_CELLS : 0,
			.column = UINT_MAX,
		};
	return count;
}

/* Name `index` of a label, whose names NULs separate; the last one if there are fewer. */
static const char *name_at(const struct table_row *row, size_t index)
{
	const char *name = row->label, *end = row->label + row->label_length;

	for (; index != 0 && name + strlen(name) < end; index--)
		name += strlen(name) + 1;
	return name;
}

static struct cell id_cell(uint32_t id, struct arena *arena)
{
	struct cell cell = cell_of_integer(id, UNIT_NONE);

	cell.text = arena_format(arena, "%u", id);
	return cell;
}

void row_names_set(const struct view *view, struct arena *arena, struct table_row *row)
{
	struct cell *cell = row->cells;

	if (view->naming == VIEW_NAMING_APART)
		return;
	if (view->level == VIEW_LEVEL_THREADS) {
		*cell++ = id_cell(row->tid, arena);
		if (view->naming == VIEW_NAMING_FIELDS)
			*cell++ = id_cell(row->tgid, arena);
	}
	if (!is_of_triples(view)) {
		*cell = cell_of_text(name_at(row, 0));
	} else if (view->naming == VIEW_NAMING_TITLES) {
		*cell = cell_of_text(
			arena_format(arena, "%s  %s  %s", name_at(row, 0), name_at(row, 1), name_at(row, 2)));
	} else {
		for (size_t i = 0; i < ROW_NAMES_MAX; i++)
			*cell++ = cell_of_text(name_at(row, i));
	}
}
