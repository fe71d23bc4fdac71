/* SPDX-License-Identifier: GPL-2.0-only */
#include "config_tabs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "metric/nearest.h"
#include "table/column_list.h"
#include "table/column_name.h"

const char *const config_tab_keys[CONFIG_TAB_KEY_COUNT] = {
	[CONFIG_TAB_COLUMNS] = "columns", [CONFIG_TAB_THREAD_COLUMNS] = "thread-columns",
	[CONFIG_TAB_SORT] = "sort",       [CONFIG_TAB_TITLE] = "title",
	[CONFIG_TAB_AFTER] = "after",
};

/* --- from the file --- */

/* The name of the tab of a section "tab NAME"; NULL for any other section. */
static const char *tab_name(const char *section)
{
	return strncasecmp(section, "tab ", 4) == 0 && section[4] != '\0' ? section + 4 : NULL;
}

/* The tab of a section; TAB_COUNT for no existing tab. */
static enum tab find_tab(const char *section)
{
	const char *name = section != NULL ? tab_name(section) : NULL;

	return name != NULL ? tab_find(name) : TAB_COUNT;
}

static void add_tab(struct config_file *file, const struct config_line *line)
{
	const char *name = tab_name(line->name);
	struct error error;
	enum tab tab;

	if (name == NULL)
		config_file_problem(file, line->number, "unknown section [%s]; valid is [tab NAME]",
				    line->name);
	else if (tab_find(name) == TAB_COUNT && tab_add(name, &tab, &error) < 0)
		config_file_problem(file, line->number, "%s", error.text);
}

static bool find_column(struct config_file *file, size_t line, const char *name, enum column *ret_column)
{
	struct error error;

	*ret_column = column_find(name);
	if (*ret_column != COLUMN_COUNT)
		return true;
	column_refuse(name, &error);
	config_file_problem(file, line, "%s", error.text);
	return false;
}

static void set_columns(struct config_file *file, const struct config_line *line, enum tab tab, bool threads)
{
	static const char between[] = ", \t";
	enum column columns[TAB_OWN_COLUMNS_MAX];
	const char *next = line->value;
	size_t count = 0, length;

	for (next += strspn(next, between); *next != '\0'; next += length, next += strspn(next, between)) {
		char *name;

		length = strcspn(next, between);
		if (count == TAB_OWN_COLUMNS_MAX) {
			config_file_problem(file, line->number, "a tab has at most %d columns",
					    TAB_OWN_COLUMNS_MAX);
			break;
		}
		name = memory_duplicate_bytes(next, length);
		count += find_column(file, line->number, name, &columns[count]);
		free(name);
	}
	tab_set_columns(tab, threads, columns, count);
}

static void set_place(struct config_file *file, const struct config_line *line, enum tab tab)
{
	struct error error;
	enum tab after;

	if (tab_choose(line->value, &after, &error) < 0)
		config_file_problem(file, line->number, "%s", error.text);
	else if (after == tab)
		config_file_problem(file, line->number, "a tab cannot stand behind itself");
	else
		tab_move(tab, after);
}

static void set_key(struct config_file *file, const struct config_line *line, enum tab tab)
{
	const char *nearest;
	struct error error;
	enum column sort;

	if (strcasecmp(line->name, "columns") == 0) {
		set_columns(file, line, tab, false);
	} else if (strcasecmp(line->name, "thread-columns") == 0) {
		set_columns(file, line, tab, true);
	} else if (strcasecmp(line->name, "sort") == 0) {
		if (*line->value != '\0' && find_column(file, line->number, line->value, &sort))
			tab_set_sort(tab, sort);
	} else if (strcasecmp(line->name, "title") == 0) {
		if (tab_set_title(tab, line->value, &error) < 0)
			config_file_problem(file, line->number, "%s", error.text);
	} else if (strcasecmp(line->name, "after") == 0) {
		set_place(file, line, tab);
	} else {
		nearest = nearest_name(line->name, config_tab_keys, CONFIG_TAB_KEY_COUNT);
		config_file_problem(file, line->number, "unknown key '%s' of a tab%s%s%s", line->name,
				    nearest != NULL ? ", did you mean '" : "; valid: columns, ",
				    nearest != NULL ? nearest : "thread-columns, sort, title, after",
				    nearest != NULL ? "'?" : "");
	}
}

void config_tabs_make(struct config_file *file, bool changes)
{
	const struct config *config = &file->config;
	const char *section = NULL;

	/* all of them first, so that a tab can stand behind one that comes later */
	for (size_t i = 0; i < config->count; i++) {
		if (config->lines[i].kind == CONFIG_SECTION && config->lines[i].name[0] != '\0')
			add_tab(file, &config->lines[i]);
	}
	for (size_t i = 0; i < config->count; i++) {
		const struct config_line *line = &config->lines[i];
		const enum tab tab = find_tab(section);

		if (line->kind == CONFIG_SECTION)
			section = line->name;
		else if (line->kind == CONFIG_SETTING && tab != TAB_COUNT && (changes || tab_is_own(tab)))
			set_key(file, line, tab);
	}
}

int config_tabs_read(const char *path, const char *tab, struct config_file *file, struct error *error)
{
	enum tab own;
	int result;

	if (path == NULL && (tab == NULL || tab_choose(tab, &own, NULL) == 0))
		return 0;
	result = config_file_read(path, file, error);
	config_tabs_make(file, path != NULL);
	if (result < 0)
		config_file_release(file);
	return result;
}

/* --- to the file --- */

static char *print_columns(enum tab tab, bool threads)
{
	enum column columns[TAB_OWN_COLUMNS_MAX];
	const size_t count = tab_own_columns(tab, threads, columns);
	struct buffer text = {0};

	if (!tab_has_own_columns(tab, threads))
		return NULL;
	for (size_t i = 0; i < count; i++)
		buffer_append_format(&text, "%s%s", i != 0 ? ", " : "", column_word(columns[i]));
	return buffer_steal(&text);
}

char *config_tabs_value(enum config_tab_key key, enum tab tab)
{
	switch (key) {
	case CONFIG_TAB_COLUMNS:
		return print_columns(tab, false);
	case CONFIG_TAB_THREAD_COLUMNS:
		return print_columns(tab, true);
	case CONFIG_TAB_SORT:
		return tab_own_sort(tab) != COLUMN_COUNT ? memory_duplicate(column_word(tab_own_sort(tab)))
							 : NULL;
	case CONFIG_TAB_TITLE:
		return tab_own_title(tab) != NULL ? memory_duplicate(tab_own_title(tab)) : NULL;
	case CONFIG_TAB_AFTER:
		return tab_is_moved(tab) && tab_place(tab) != 0
			       ? memory_duplicate(tabs[tab_at(tab_place(tab) - 1)].name)
			       : NULL;
	default:
		return NULL;
	}
}

/* The columns that a tab of the table has there, as a comment. */
static void print_table_columns(enum tab tab, bool threads, struct buffer *buffer)
{
	static enum column columns[COLUMN_TOTAL];
	const size_t count = column_list(tab, threads, 0, COLUMN_COUNT, columns);

	buffer_append_format(
		buffer, "# %s =", config_tab_keys[threads ? CONFIG_TAB_THREAD_COLUMNS : CONFIG_TAB_COLUMNS]);
	for (size_t i = 0; i < count; i++)
		buffer_append_format(buffer, "%s %s", i != 0 ? "," : "", column_word(columns[i]));
	buffer_append_char(buffer, '\n');
}

static void print_tab(enum tab tab, struct buffer *buffer)
{
	char *values[CONFIG_TAB_KEY_COUNT];
	bool any = tab_is_own(tab);

	for (enum config_tab_key key = 0; key < CONFIG_TAB_KEY_COUNT; key++) {
		values[key] = config_tabs_value(key, tab);
		any = any || values[key] != NULL;
	}
	buffer_append_format(buffer, "\n%s[tab %s]\n", any ? "" : "# ", tabs[tab].name);
	/* every metric, or what the scheduler of the moment keeps */
	for (int threads = 0; threads < 2 && tab < TAB_COUNT && tab != TAB_ALL && tab != TAB_TASK_FIELDS;
	     threads++) {
		if (!tab_has_own_columns(tab, threads != 0))
			print_table_columns(tab, threads != 0, buffer);
	}
	for (enum config_tab_key key = 0; key < CONFIG_TAB_KEY_COUNT; key++) {
		if (values[key] != NULL)
			config_append_setting(buffer, config_tab_keys[key], values[key]);
		else if (key == CONFIG_TAB_SORT)
			buffer_append_format(buffer, "# sort = %s\n",
					     column_word((enum column)tabs[tab].sort));
		free(values[key]);
	}
}

void config_tabs_print(struct buffer *buffer)
{
	for (size_t i = 0; i < tab_count(); i++)
		print_tab(tab_at(i), buffer);
}
