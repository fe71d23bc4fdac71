/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_floors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/string_pool.h"

struct diff_floors {
	enum axis axis;
	struct string_pool names; /* group, tab and metric; id 0 is the empty string */
	double *floors;           /* by id of such a name, [names.count] */
	size_t capacity;
};

void diff_floors_append_group(const struct diff_pair *pair, struct buffer *buffer)
{
	const char *part = pair->key, *end = pair->key + pair->key_length, *nul;

	while ((nul = memchr(part, '\0', (size_t)(end - part))) != NULL) {
		buffer_append(buffer, part, (size_t)(nul - part));
		buffer_append_text(buffer, " | ");
		part = nul + 1;
	}
	buffer_append(buffer, part, (size_t)(end - part));
}

bool diff_floors_find(const struct diff_floors *floors, const struct diff *diff, const struct diff_pair *pair,
		      enum column column, double *ret_floor)
{
	struct buffer name = {0};
	uint32_t id;

	if (floors == NULL || floors->axis != diff->options.grouping.axis || diff->options.single)
		return false;
	diff_floors_append_group(pair, &name);
	buffer_append_format(&name, "\t%s", column_name(column_stored_form(column)));
	id = string_pool_find(&floors->names, name.data, name.length);
	buffer_release(&name);
	if (id == UINT32_MAX)
		return false;
	*ret_floor = floors->floors[id];
	return true;
}

/* --- reading --- */

/* The rest of a text in CSV (RFC 4180). */
struct csv {
	const char *next, *end;
};

/* Takes a field over into an empty buffer. Returns the comma or line feed after it, NUL at the end. */
static char read_field(struct csv *csv, struct buffer *field)
{
	bool is_quoted = false;

	while (csv->next < csv->end) {
		const char character = *csv->next++;

		if (!is_quoted && (character == ',' || character == '\n'))
			return character;
		if (character != '"') {
			buffer_append_char(field, character);
		} else if (is_quoted && csv->next < csv->end && *csv->next == '"') {
			/* two of them are one that belongs to the field */
			buffer_append_char(field, *csv->next++);
		} else {
			is_quoted = !is_quoted;
		}
	}
	return '\0';
}

/* The fields of a line that are needed. */
struct line {
	struct buffer fields[DIFF_FLOORS_COLUMNS];
};

static void release_line(struct line *line)
{
	for (size_t i = 0; i < DIFF_FLOORS_COLUMNS; i++)
		buffer_release(&line->fields[i]);
}

/* Reads a line. Fields that it lacks are empty texts. The caller releases it. */
static struct line read_line(struct csv *csv)
{
	struct line line = {.fields = {{0}}};
	struct buffer rest = {0};
	char end = ',';

	for (size_t i = 0; end == ','; i++)
		end = read_field(csv, i < DIFF_FLOORS_COLUMNS ? &line.fields[i] : &rest);
	buffer_release(&rest);
	for (size_t i = 0; i < DIFF_FLOORS_COLUMNS; i++)
		buffer_append_text(&line.fields[i], "");
	return line;
}

/* Reads the names of the columns, the first of which is the axis of the groups. False for another table. */
static bool read_heading(struct diff_floors *floors, struct csv *csv)
{
	struct line line = read_line(csv);

	floors->axis = axis_find(line.fields[DIFF_FLOORS_GROUP].data);
	release_line(&line);
	return floors->axis != AXIS_COUNT;
}

/* Reads the floor of a group and metric. Returns false for any other line. */
static bool read_floor(struct diff_floors *floors, struct csv *csv)
{
	struct line line = read_line(csv);
	struct buffer *name = &line.fields[DIFF_FLOORS_GROUP], *number = &line.fields[DIFF_FLOORS_FLOOR];
	char *end;
	const double floor = strtod(number->data, &end);
	const bool is_floor = number->length != 0 && *end == '\0' && floor >= 0;
	uint32_t id;

	if (is_floor) {
		buffer_append_format(name, "\t%s", line.fields[DIFF_FLOORS_METRIC].data);
		id = string_pool_intern(&floors->names, name->data, name->length);
		floors->floors = memory_grow(floors->floors, &floors->capacity, (size_t)id + 1,
					     sizeof(double));
		floors->floors[id] = floor;
	}
	release_line(&line);
	return is_floor;
}

int diff_floors_parse(const char *text, size_t length, const char *name, enum axis axis,
		      struct diff_floors **ret_floors, struct error *error)
{
	static const char section[] = "# " DIFF_FLOORS_SECTION "\n";
	const size_t before = strlen(section);
	struct diff_floors *floors = memory_allocate_zero(1, sizeof(*floors));
	bool are_floors = length > before && memcmp(text, section, before) == 0;

	if (are_floors) {
		struct csv csv = {text + before, text + length};

		are_floors = read_heading(floors, &csv);
		while (are_floors && csv.next < csv.end)
			are_floors = read_floor(floors, &csv);
	}
	if (!are_floors) {
		error_set(error, -EINVAL,
			  "%s is no table of floors in CSV: make one with 'ctop diff RUN RUN RUN --noise "
			  "--format csv -o FILE'",
			  name);
	} else if (floors->axis != axis) {
		error_set(error, -EINVAL, "%s has floors of groups by %s: compare with -g %s", name,
			  axes[floors->axis].word, axes[floors->axis].word);
	} else {
		*ret_floors = floors;
		return 0;
	}
	diff_floors_release(floors);
	return -EINVAL;
}

void diff_floors_release(struct diff_floors *floors)
{
	if (floors == NULL)
		return;
	string_pool_release(&floors->names);
	free(floors->floors);
	free(floors);
}
