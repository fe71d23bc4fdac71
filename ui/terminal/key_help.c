/* SPDX-License-Identifier: GPL-2.0-only */
#include "key_help.h"

#include <stdbool.h>

const struct key_section key_sections[KEY_SECTION_COUNT] = {
	{"Groups and threads", PLACE_LIST}, {"All metrics of a row", PLACE_METRICS},
	{"Graph of a number", PLACE_GRAPH}, {"Pages of text", PLACE_TEXT},
	{"Columns of a tab", PLACE_SETUP},  {"Sort menu", PLACE_MENU},
	{"Typing a text", PLACE_PROMPT},
};

/* Without these nobody gets anywhere; the others follow in the order of the table. */
static const enum action needed_first[] = {
	ACTION_OPEN,        ACTION_CHOOSE,     ACTION_ACCEPT, ACTION_BACK, ACTION_CLOSE, ACTION_CLOSE_MENU,
	ACTION_CLOSE_GRAPH, ACTION_CLOSE_TEXT, ACTION_CANCEL, ACTION_QUIT, ACTION_HELP,
};

enum {
	NEEDED_FIRST_COUNT = sizeof(needed_first) / sizeof(needed_first[0]),
};

static bool is_needed_first(enum action action)
{
	for (size_t i = 0; i < NEEDED_FIRST_COUNT; i++) {
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
	for (size_t i = 0; i < NEEDED_FIRST_COUNT; i++) {
		const struct key_entry *entry = &ui_keys[needed_first[i]];

		if ((entry->where & where) != 0 && (entry->where & told) == 0)
			actions[count++] = needed_first[i];
	}
	for (enum action action = 0; action < ACTION_COUNT; action++) {
		if ((ui_keys[action].where & where) != 0 && (ui_keys[action].where & told) == 0 &&
		    !is_needed_first(action))
			actions[count++] = action;
	}
	return count;
}
