/* SPDX-License-Identifier: GPL-2.0-only */
#include "keys.h"

#include <curses.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/unicode.h"

#include "terminal.h"

const struct key_entry ui_keys[ACTION_COUNT] = {
#define KEY(id, handler, key_names, places, hint_text, help_text)                                            \
	[ACTION_##id] = {key_names, places, hint_text, help_text},
#include "keys.def"
#undef KEY
};

static const struct {
	const char *name;
	int code;
} key_words[] = {
	{"Up", KEY_FUNCTION + KEY_UP},
	{"Down", KEY_FUNCTION + KEY_DOWN},
	{"Left", KEY_FUNCTION + KEY_LEFT},
	{"Right", KEY_FUNCTION + KEY_RIGHT},
	{"PgUp", KEY_FUNCTION + KEY_PPAGE},
	{"PgDn", KEY_FUNCTION + KEY_NPAGE},
	{"Home", KEY_FUNCTION + KEY_HOME},
	{"End", KEY_FUNCTION + KEY_END},
	{"Backspace", KEY_FUNCTION + KEY_BACKSPACE},
	{"Delete", KEY_FUNCTION + KEY_DC},
	{"Shift-Tab", KEY_FUNCTION + KEY_BTAB},
	{"Enter", '\n'},
	{"Esc", KEY_ESCAPE},
	{"Tab", '\t'},
	{"Space", ' '},
};

/* The code of a key's name ("F1", "Ctrl-L", "Enter", "x"; `length` bytes), or -1. */
static int key_code(const char *name, size_t length)
{
	uint32_t number;

	if (length == 1)
		return (unsigned char)*name;
	for (size_t i = 0; i < ARRAY_COUNT(key_words); i++) {
		if (strlen(key_words[i].name) == length && memcmp(key_words[i].name, name, length) == 0)
			return key_words[i].code;
	}
	if (length == strlen("Ctrl-X") && memcmp(name, "Ctrl-", length - 1) == 0)
		return name[length - 1] & 0x1f;
	if (*name == 'F' && number_parse_u32(name + 1, length - 1, &number) && number >= 1 && number <= 12)
		return KEY_FUNCTION + KEY_F((int)number);
	return -1;
}

static const struct {
	const char *keys, *sentence;
} elsewhere[] = {
#define ELSEWHERE(key_names, text) {key_names, text},
#include "elsewhere.def"
#undef ELSEWHERE
};

static bool has_key_name(const char *names, int key)
{
	while (*names != '\0') {
		size_t length = strcspn(names, " ");

		if (key_code(names, length) == key)
			return true;
		names += length;
		names += strspn(names, " ");
	}
	return false;
}

enum action key_action(int key, unsigned int place)
{
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		if ((ui_keys[action].where & place) != 0 && has_key_name(ui_keys[action].keys, key))
			return action;
	}
	return ACTION_NONE;
}

const char *key_elsewhere(int key)
{
	for (size_t i = 0; i < ARRAY_COUNT(elsewhere); i++) {
		if (has_key_name(elsewhere[i].keys, key))
			return elsewhere[i].sentence;
	}
	return NULL;
}

void key_append_name(struct buffer *buffer, int key)
{
	for (size_t i = 0; i < ARRAY_COUNT(key_words); i++) {
		if (key_words[i].code == key) {
			buffer_append_text(buffer, key_words[i].name);
			return;
		}
	}
	for (int number = 1; number <= 12; number++) {
		if (key == KEY_FUNCTION + KEY_F(number)) {
			buffer_append_format(buffer, "F%d", number);
			return;
		}
	}
	if (key > 0 && key < ' ')
		buffer_append_format(buffer, "Ctrl-%c", key | 0x40);
	else if (key >= KEY_FUNCTION || key == 0x7f || (key >= 0x80 && key < 0xa0))
		buffer_append_text(buffer, "that key");
	else
		unicode_append(buffer, (uint32_t)key);
}

size_t key_moved_row(enum action action, size_t row, size_t last, size_t page)
{
	const bool half = action == ACTION_HALF_UP || action == ACTION_HALF_DOWN;
	size_t step = action == ACTION_UP || action == ACTION_DOWN ? 1 : half ? (page + 1) / 2 : page;

	switch (action) {
	case ACTION_FIRST:
	case ACTION_FIRST_OF_PAGE:
		return 0;
	case ACTION_LAST:
		return last;
	case ACTION_UP:
	case ACTION_HALF_UP:
	case ACTION_PAGE_UP:
		return row > step ? row - step : 0;
	default:
		return row + step < last ? row + step : last;
	}
}

/* --- help --- */

const struct key_section key_sections[KEY_SECTION_COUNT] = {
	{"Groups and threads", PLACE_LIST},
	{"All metrics of a row", PLACE_METRICS},
	{"Who delays whom", PLACE_BLAME},
	{"Graph of a number", PLACE_GRAPH},
	{"Pages of text", PLACE_TEXT},
	{"Columns of a tab", PLACE_SETUP},
	{"Menus", PLACE_MENU},
	{"Typing a text", PLACE_PROMPT},
};

/* A newcomer needs these keys before all others. */
static bool is_needed_first(enum action action)
{
	static const enum action needed_first[] = {
		ACTION_OPEN,       ACTION_OPEN_METRIC, ACTION_CHOOSE,      ACTION_ACCEPT,
		ACTION_BACK,       ACTION_CLOSE,       ACTION_CLOSE_MENU,  ACTION_CLOSE_GRAPH,
		ACTION_CLOSE_TEXT, ACTION_CLOSE_BLAME, ACTION_OPEN_VICTIM, ACTION_CANCEL,
		ACTION_QUIT,       ACTION_HELP,
	};

	for (size_t i = 0; i < ARRAY_COUNT(needed_first); i++) {
		if (needed_first[i] == action)
			return true;
	}
	return false;
}

size_t key_section_actions(size_t section, enum action actions[ACTION_COUNT])
{
	const unsigned int where = key_sections[section].where;
	unsigned int told = 0;
	size_t count = 0;

	for (size_t i = 0; i < section; i++)
		told |= key_sections[i].where;
	for (int others = 0; others < 2; others++) {
		for (enum action action = 0; action < ACTION_COUNT; action++) {
			if ((ui_keys[action].where & where) != 0 && (ui_keys[action].where & told) == 0 &&
			    is_needed_first(action) != (others != 0))
				actions[count++] = action;
		}
	}
	return count;
}
