/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_floors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_reader.h"
#include "base/memory.h"
#include "base/string_pool.h"

struct diff_floors {
	enum axis axis;           /* AXIS_COUNT while it is not known */
	struct string_pool names; /* group, tab and metric; id 0 is the empty string */
	double *floors;           /* by id of such a name, [names.count] */
	size_t capacity;
};

enum {
	NAME_KEPT = 16,  /* bytes of the longest name of a member that is known, and more */
	NUMBER_MAX = 63, /* bytes of a number in JSON */
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

enum axis diff_floors_axis(const struct diff_floors *floors)
{
	return floors->axis;
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

static bool is_called(const char *name, size_t length, const char *wanted)
{
	return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

/* Takes a text over into an empty buffer; of another value nothing. */
static void read_text(struct json_reader *json, struct buffer *text)
{
	struct json_scalar scalar;

	buffer_clear(text);
	if (json_reader_scalar(json, &scalar) < 0)
		return;
	if (scalar.type == JSON_STRING)
		buffer_append(text, scalar.text, scalar.length);
	else if (scalar.type == JSON_OBJECT || scalar.type == JSON_ARRAY)
		json_reader_skip(json);
}

/* Returns a number, NAN for another value. */
static double read_number(struct json_reader *json)
{
	struct json_scalar scalar;
	char digits[NUMBER_MAX + 1];

	if (json_reader_scalar(json, &scalar) < 0)
		return NAN;
	if (scalar.type == JSON_OBJECT || scalar.type == JSON_ARRAY)
		json_reader_skip(json);
	if (scalar.type != JSON_NUMBER || scalar.length > NUMBER_MAX)
		return NAN;
	memcpy(digits, scalar.text, scalar.length);
	digits[scalar.length] = '\0';
	return strtod(digits, NULL);
}

/* Whether an object or array comes, which is then entered; anything else is skipped. */
static bool enter(struct json_reader *json, enum json_type wanted)
{
	enum json_type type;

	if (json_reader_type(json, &type) < 0)
		return false;
	if (type == wanted)
		json_reader_enter(json);
	else
		json_reader_skip(json);
	return type == wanted;
}

/* The number in {"value": …}, NAN without one. */
static double read_measured(struct json_reader *json)
{
	const char *name;
	size_t length;
	double number = NAN;

	if (!enter(json, JSON_OBJECT))
		return NAN;
	while (json_reader_member(json, NAME_KEPT, &name, &length) > 0) {
		if (is_called(name, length, "value"))
			number = read_number(json);
		else
			json_reader_skip(json);
	}
	return number;
}

static void add_floor(struct diff_floors *floors, const struct buffer *group, const struct buffer *metric,
		      double floor)
{
	struct buffer name = {0};
	uint32_t id;

	buffer_append(&name, group->data, group->length);
	buffer_append_char(&name, '\t');
	buffer_append(&name, metric->data, metric->length);
	id = string_pool_intern(&floors->names, name.data, name.length);
	floors->floors = memory_grow(floors->floors, &floors->capacity, (size_t)id + 1, sizeof(double));
	floors->floors[id] = floor;
	buffer_release(&name);
}

static void read_row(struct diff_floors *floors, struct json_reader *json)
{
	struct buffer group = {0}, metric = {0};
	double floor = NAN;
	const char *name;
	size_t length;

	if (!enter(json, JSON_OBJECT))
		return;
	while (json_reader_member(json, NAME_KEPT, &name, &length) > 0) {
		if (is_called(name, length, DIFF_FLOORS_GROUP))
			read_text(json, &group);
		else if (is_called(name, length, DIFF_FLOORS_METRIC))
			read_text(json, &metric);
		else if (is_called(name, length, DIFF_FLOORS_FLOOR))
			floor = read_measured(json);
		else
			json_reader_skip(json);
	}
	if (metric.length != 0 && floor >= 0)
		add_floor(floors, &group, &metric, floor);
	buffer_release(&group);
	buffer_release(&metric);
}

/* Reads a table; returns whether it is one of floors. Its section comes before its rows. */
static bool read_table(struct diff_floors *floors, struct json_reader *json)
{
	struct buffer section = {0};
	bool is_noise = false;
	const char *name;
	size_t length;

	if (!enter(json, JSON_OBJECT))
		return false;
	while (json_reader_member(json, NAME_KEPT, &name, &length) > 0) {
		if (is_called(name, length, "section")) {
			read_text(json, &section);
			is_noise = section.length == strlen(DIFF_FLOORS_SECTION) &&
				   memcmp(section.data, DIFF_FLOORS_SECTION, section.length) == 0;
		} else if (is_noise && is_called(name, length, "rows")) {
			if (!enter(json, JSON_ARRAY))
				continue;
			while (json_reader_element(json) > 0)
				read_row(floors, json);
		} else {
			json_reader_skip(json);
		}
	}
	buffer_release(&section);
	return is_noise;
}

/* Reads a report; returns whether it has a table of floors. */
static bool read_report(struct diff_floors *floors, struct json_reader *json)
{
	struct buffer axis = {0};
	bool has_table = false;
	const char *name;
	size_t length;

	if (!enter(json, JSON_OBJECT))
		return false;
	while (json_reader_member(json, NAME_KEPT, &name, &length) > 0) {
		if (is_called(name, length, "group_by")) {
			read_text(json, &axis);
			buffer_append_char(&axis, '\0');
			floors->axis = axis_find(axis.data);
		} else if (is_called(name, length, "tables")) {
			if (!enter(json, JSON_ARRAY))
				continue;
			while (json_reader_element(json) > 0)
				has_table |= read_table(floors, json);
		} else {
			json_reader_skip(json);
		}
	}
	buffer_release(&axis);
	return has_table;
}

int diff_floors_parse(const char *text, size_t length, const char *name, struct diff_floors **ret_floors,
		      struct error *error)
{
	struct diff_floors *floors = memory_allocate_zero(1, sizeof(*floors));
	struct json_reader json;
	bool is_one;

	floors->axis = AXIS_COUNT;
	json_reader_begin(&json, text, length, NULL, NULL);
	is_one = read_report(floors, &json) && floors->axis != AXIS_COUNT;
	is_one &= json_reader_finish(&json) == 0;
	json_reader_release(&json);
	if (!is_one) {
		diff_floors_release(floors);
		return error_set(error, -EINVAL,
				 "%s has no table of floors in JSON: make one with 'ctop diff RUN RUN RUN "
				 "--noise --format json -o FILE'",
				 name);
	}
	*ret_floors = floors;
	return 0;
}

void diff_floors_release(struct diff_floors *floors)
{
	if (floors == NULL)
		return;
	string_pool_release(&floors->names);
	free(floors->floors);
	free(floors);
}
