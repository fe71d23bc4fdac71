/* SPDX-License-Identifier: GPL-2.0-only */
#include "key_values.h"

#include "base/number.h"
#include "text_scan.h"

/* The key and the word that should be a number; false when the line has another shape. */
static bool split_line(struct text line, enum key_values_form form, struct text *ret_key,
		       struct text *ret_word)
{
	struct text value;

	if (form == KEY_VALUES_FLAT)
		return text_next_word(&line, ret_key) && text_next_word(&line, ret_word);
	if (!text_split(line, ':', ret_key, &value))
		return false;
	for (size_t i = 0; i < ret_key->length; i++) {
		if (ret_key->data[i] == '-' || text_is_blank(ret_key->data[i]))
			return false;
	}
	return text_next_word(&value, ret_word);
}

static size_t count_lines(struct text rest)
{
	struct text line;
	size_t count = 0;

	while (text_next_line(&rest, &line))
		count++;
	return count;
}

bool key_values_parse(const char *text, size_t length, enum key_values_form form, struct string_pool *strings,
		      struct arena *arena, struct key_values *ret_values)
{
	struct text rest = {text, length}, line, key, word;
	size_t most = count_lines(rest);
	uint32_t i;

	*ret_values = (struct key_values){NULL, 0};
	if (most == 0)
		return false;
	ret_values->items = arena_allocate_zero(arena, most, sizeof(*ret_values->items));
	while (text_next_line(&rest, &line)) {
		struct key_value item;

		if (!split_line(line, form, &key, &word) ||
		    !number_parse_u64(word.data, word.length, &item.value))
			continue;
		item.key = string_pool_intern(strings, key.data, key.length);
		for (i = 0; i < ret_values->count && ret_values->items[i].key != item.key; i++)
			;
		ret_values->items[i] = item;
		if (i == ret_values->count)
			ret_values->count++;
	}
	return ret_values->count != 0;
}
