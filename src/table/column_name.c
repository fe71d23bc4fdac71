/* SPDX-License-Identifier: GPL-2.0-only */
#include "column_name.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "metric/nearest.h"

/* Titles that columns had before: options and filters that name them mean what they meant. */
static const char *const former_titles[COLUMN_COUNT] = {
	[COLUMN_MWAIT] = "MEM%", [COLUMN_SWAPIN] = "SWAP%", [COLUMN_WAIT] = "WAIT%",
	[COLUMN_LOST] = "LOST%", [COLUMN_THRA] = "THRA%",   [COLUMN_RECL] = "RECL%",
	[COLUMN_COMP] = "COMP%", [COLUMN_BAR] = "BAR",      [COLUMN_LIMIT] = "LIMIT",
	[COLUMN_CGMAX] = "MAX",  [COLUMN_HITS] = "HITS/s",
};

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
		if (strncasecmp(column_entry((enum column)i)->name, name, length) == 0 &&
		    column_entry((enum column)i)->name[length] == '\0')
			return (enum column)i;
	}
	return COLUMN_COUNT;
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
	static const char prefix[] = TASK_FIELD_SOURCE ".";
	const size_t length = sizeof(prefix) - 1;
	char copy[sizeof(prefix) + TASK_FIELD_NAME_MAX] = TASK_FIELD_SOURCE ".";
	uint16_t field = find_field(name);

	for (uint16_t i = 0; field == TASK_FIELD_NONE && i < task_field_count(); i++) {
		if (titles_match(task_field(i)->title, name))
			field = i;
	}
	/* one that nobody has met yet */
	if (field == TASK_FIELD_NONE && strncasecmp(name, prefix, length) == 0 &&
	    task_field_is_name(name + length, bare_length(name + length))) {
		memcpy(copy + length, name + length, bare_length(name + length));
		field = task_field_intern(copy);
	}
	return field != TASK_FIELD_NONE ? column_of_task_field(field) : COLUMN_COUNT;
}

/* By a title as the screen shows it, then by one without its unit mark, then by a former one. */
static enum column find_by_title(const char *title)
{
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (strcasecmp(column_entry((enum column)i)->rate_title, title) == 0)
			return (enum column)i;
	}
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (titles_match(column_entry((enum column)i)->rate_title, title))
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
	if (found == COLUMN_COUNT)
		found = find_task_field(name);
	/* titles of the tab All that nothing else has */
	for (enum column i = COLUMN_METRICS; found == COLUMN_COUNT && i < COLUMN_TASK_FIELDS; i++) {
		if (i != column_of_stored(METRIC_THREAD_COUNT) &&
		    titles_match(column_entry((enum column)i)->rate_title, name))
			return i;
	}
	return found;
}

const char *column_word(enum column column)
{
	const char *title;

	if (column_is_task_field(column))
		return column_name(column);
	title = column_entry(column)->rate_title;
	/* lists of columns in configuration files have blanks between */
	return column_find(title) == column && strchr(title, ' ') == NULL ? title : column_name(column);
}

/* A column with a title or name near a word. */
struct near_column {
	unsigned int edits;
	enum column column;
	const char *word; /* that one */
};

enum {
	NEAR_COUNT = 3
};

/* Keeps the nearest ones, of equally near ones those of the table's order, and each title once. */
static void add_near(struct near_column near[NEAR_COUNT], enum column column, const char *word,
		     const char *candidate)
{
	const unsigned int worst = near[NEAR_COUNT - 1].edits;
	/* with half of the word wrong it is another one; as far away as the last of them there is no place */
	const unsigned int length = (unsigned int)strlen(word),
			   most = worst != 0 && worst <= length ? worst - 1 : length;
	const struct near_column added = {nearest_distance(word, candidate, most), column, candidate};
	size_t at = NEAR_COUNT, same = NEAR_COUNT - 1;

	if (added.edits > most)
		return;
	while (at > 0 && near[at - 1].edits > added.edits)
		at--;
	for (size_t i = NEAR_COUNT; i-- > 0;) {
		if (near[i].column == column ||
		    (near[i].column != COLUMN_COUNT &&
		     strcmp(column_entry(near[i].column)->rate_title, column_entry(column)->rate_title) == 0))
			same = i;
	}
	if (same < at || at == NEAR_COUNT)
		return;
	memmove(&near[at + 1], &near[at], (same - at) * sizeof(*near));
	near[at] = added;
}

int column_refuse(const char *name, struct error *error)
{
	struct near_column near[NEAR_COUNT];
	struct buffer list = {0};
	size_t count = 0;
	int result;

	for (size_t i = 0; i < NEAR_COUNT; i++)
		near[i] = (struct near_column){UINT_MAX, COLUMN_COUNT, NULL};
	for (enum column i = 0; i < COLUMN_TASK_FIELDS; i++) {
		if (i == COLUMN_COUNT || i == column_of_stored(METRIC_THREAD_COUNT))
			continue;
		add_near(near, i, name, column_entry((enum column)i)->rate_title);
		add_near(near, i, name, column_entry((enum column)i)->name);
	}
	for (uint16_t i = 0; i < task_field_count(); i++)
		add_near(near, column_of_task_field(i), name, task_field(i)->column);
	while (count < NEAR_COUNT && near[count].column != COLUMN_COUNT)
		count++;
	for (size_t i = 0; i < count; i++)
		buffer_append_format(&list, "%s%s",
				     i == 0           ? ", did you mean "
				     : i + 1 == count ? " or "
						      : ", ",
				     near[i].word);
	result = error_set(error, -EINVAL, "no column or metric '%.100s'%s%c `ctop help columns` lists them",
			   name, list.length != 0 ? list.data : "", list.length != 0 ? '?' : ';');
	buffer_release(&list);
	return result;
}
