/* SPDX-License-Identifier: GPL-2.0-only */
#include "selection.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/unicode.h"
#include "name.h"
#include "nearest.h"
#include "task_field.h"

enum {
	WORD_MAX = SELECTED_FIELD_MAX, /* longer words name nothing */
	NAMES_MAX = METRIC_COUNT + (int)DERIVED_COUNT,
};

struct name_list {
	const char *rest; /* NULL at the end */
	const char *what; /* "metric": for sentences */
	char word[WORD_MAX];
};

/* The next item, trimmed; an empty one names nothing and is refused as unknown. False at the end. */
static bool next_word(struct name_list *list)
{
	const char *item = list->rest;
	const char *comma;
	size_t length;

	if (item == NULL)
		return false;
	comma = strchr(item, ',');
	length = comma != NULL ? (size_t)(comma - item) : strlen(item);
	list->rest = comma != NULL ? comma + 1 : NULL;
	length = unicode_trim(&item, length);
	if (length >= WORD_MAX)
		length = WORD_MAX - 1;
	memcpy(list->word, item, length);
	list->word[length] = '\0';
	return true;
}

static int refuse_repeated(const struct name_list *list, struct error *error)
{
	return error_set(error, -EINVAL, "%s '%s' is named twice", list->what, list->word);
}

int selection_parse_sections(const char *text, bool ret_sections[SECTION_COUNT], struct error *error)
{
	struct name_list list = {.rest = text, .what = "section"};
	const char *names[SECTION_COUNT];

	for (size_t i = 0; i < SECTION_COUNT; i++) {
		names[i] = sections[i].name;
		ret_sections[i] = text == NULL;
	}
	while (next_word(&list)) {
		size_t i = 0;

		while (i < SECTION_COUNT && strcasecmp(list.word, names[i]) != 0)
			i++;
		if (i == SECTION_COUNT)
			return nearest_refuse(error, list.what, list.word, names, SECTION_COUNT);
		if (ret_sections[i])
			return refuse_repeated(&list, error);
		ret_sections[i] = true;
	}
	return 0;
}

static int refuse_metric(const struct name_list *list, struct error *error)
{
	const char *names[NAMES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		names[count++] = metrics[i].name;
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		names[count++] = derived_metrics[i].name;
	return nearest_refuse(error, list->what, list->word, names, count);
}

bool selected_fields_has(const struct selected_fields *fields, const char *name)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (strcmp(fields->names[i], name) == 0)
			return true;
	}
	return fields->all;
}

/* Whether the word can name a field of a scheduler. Only a file says which fields exist. */
static bool is_field(const char *word)
{
	static const char prefix[] = TASK_FIELD_SOURCE ".";
	const size_t length = sizeof(prefix) - 1;

	return strncmp(word, prefix, length) == 0 && task_field_is_name(word + length, strlen(word + length));
}

static int add_field(struct selected_fields *fields, const struct name_list *list, struct error *error)
{
	if (fields->count == SELECTED_FIELDS_MAX)
		return error_set(error, -EINVAL, "more than %d fields of a scheduler are named",
				 SELECTED_FIELDS_MAX);
	memcpy(fields->names[fields->count++], list->word, sizeof(list->word));
	return 0;
}

int selection_parse_metrics(const char *text, bool ret_metrics[METRIC_COUNT], bool ret_derived[DERIVED_COUNT],
			    struct selected_fields *ret_fields, struct error *error)
{
	struct name_list list = {.rest = text, .what = "metric"};

	int status = 0;

	*ret_fields = (struct selected_fields){.all = text == NULL};
	memset(ret_metrics, text == NULL, METRIC_COUNT * sizeof(*ret_metrics));
	memset(ret_derived, text == NULL, DERIVED_COUNT * sizeof(*ret_derived));
	while (status == 0 && next_word(&list)) {
		enum metric metric = metric_find(list.word, strlen(list.word));
		enum derived derived = derived_find(list.word, strlen(list.word));

		if (is_field(list.word))
			status = add_field(ret_fields, &list, error);
		else if (metric != METRIC_NONE)
			ret_metrics[metric] = true;
		else if (derived != DERIVED_NONE)
			ret_derived[derived] = true;
		else
			status = refuse_metric(&list, error);
	}
	return status;
}

/* Cuts white space off both ends; returns where the text begins then. */
static const char *trim(char *text)
{
	const char *start = text;
	size_t length = unicode_trim(&start, strlen(text));

	text[(size_t)(start - text) + length] = '\0';
	return start;
}

/* Cuts ":asc" or ":desc" off the word. */
static int parse_direction(struct name_list *list, bool *ret_ascending, struct error *error)
{
	static const char *const directions[] = {"asc", "desc"};
	char *colon = strchr(list->word, ':');
	const char *direction;

	*ret_ascending = false;
	if (colon == NULL)
		return 0;
	*colon = '\0';
	trim(list->word);
	direction = trim(colon + 1);
	*ret_ascending = strcasecmp(direction, "asc") == 0;
	if (!*ret_ascending && strcasecmp(direction, "desc") != 0)
		return nearest_refuse(error, "direction", direction, directions, 2);
	return 0;
}

static int parse_sort_key(struct name_list *list, struct sort_keys *keys, struct error *error)
{
	struct sort_key key;
	int status = parse_direction(list, &key.ascending, error);

	if (status < 0)
		return status;
	key.metric = metric_find(list->word, strlen(list->word));
	key.derived = derived_find(list->word, strlen(list->word));
	if (key.metric == METRIC_NONE && key.derived == DERIVED_NONE)
		return refuse_metric(list, error);
	if (key.metric != METRIC_NONE && metric_type(key.metric)->reduction == METRIC_REDUCTION_MODE)
		return error_set(error, -EINVAL, "cannot sort by '%s': it is a category and has no order",
				 list->word);
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->items[i].metric == key.metric && keys->items[i].derived == key.derived)
			return refuse_repeated(list, error);
	}
	if (keys->count == SORT_KEYS_MAX)
		return error_set(error, -EINVAL, "too many metrics to sort by, at most %d", SORT_KEYS_MAX);
	keys->items[keys->count++] = key;
	return 0;
}

int selection_parse_sort_keys(const char *text, struct sort_keys *ret_keys, struct error *error)
{
	struct name_list list = {.rest = text, .what = "metric"};

	ret_keys->count = 0;
	while (next_word(&list)) {
		int status = parse_sort_key(&list, ret_keys, error);

		if (status < 0)
			return status;
	}
	return 0;
}

int selection_parse_columns(const char *text, const char *const *names, size_t name_count, size_t listed,
			    size_t ret_columns[], size_t *ret_count, struct error *error)
{
	struct name_list list = {.rest = text, .what = "column"};

	*ret_count = 0;
	while (next_word(&list)) {
		size_t column = name_find(names, name_count, sizeof(*names), list.word, strlen(list.word));

		if (column == name_count)
			return nearest_refuse(error, list.what, list.word, names, listed);
		for (size_t i = 0; i < *ret_count; i++) {
			if (ret_columns[i] == column)
				return refuse_repeated(&list, error);
		}
		ret_columns[(*ret_count)++] = column;
	}
	return 0;
}
