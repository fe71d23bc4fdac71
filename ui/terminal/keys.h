/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_KEYS_H
#define CTOP_KEYS_H

#include <stddef.h>

#include "base/buffer.h"

/* The places where a key works; a set of bits. */
enum {
	PLACE_LIST = 1 << 0,    /* groups and threads */
	PLACE_METRICS = 1 << 1, /* all metrics of a row */
	PLACE_TEXT = 1 << 2,    /* help, evidence, explanation */
	PLACE_MENU = 1 << 3,    /* menus */
	PLACE_PROMPT = 1 << 4,  /* a line being typed */
	PLACE_SETUP = 1 << 5,   /* the columns of a tab */
	PLACE_GRAPH = 1 << 6,   /* a number over time */
	PLACE_BLAME = 1 << 7,   /* who delays whom */
	PLACE_ROWS = PLACE_LIST | PLACE_METRICS | PLACE_BLAME,
	PLACE_EVERYWHERE = PLACE_ROWS | PLACE_TEXT | PLACE_MENU | PLACE_PROMPT | PLACE_SETUP | PLACE_GRAPH,
};

/* The actions that keys ask for; the table is keys.def. */
enum action {
#define KEY(id, ...) ACTION_##id,
#include "keys.def"
#undef KEY
	ACTION_COUNT,
	ACTION_NONE = ACTION_COUNT,
};

struct key_entry {
	const char *keys; /* "? h F1" */
	unsigned int where;
	const char *hint; /* NULL for none */
	const char *help;
};

/* The table itself, ACTION_COUNT entries by action: for the help screen, the hint line and the man page. */
extern const struct key_entry ui_keys[ACTION_COUNT];

/* The action of a key (see terminal_read_key()) where keys go at present, or ACTION_NONE. */
enum action key_action(int key, unsigned int place);

/* A sentence about a key that does something else in other programs; NULL for other keys. */
const char *key_elsewhere(int key);

/* Appends the name of a key as in keys.def: "F9", "Ctrl-L", "x". */
void key_append_name(struct buffer *buffer, int key);

/* The row of 0 to `last` that an action leads to from `row`: up, down, by pages and
 * half pages, to the first or the last. */
size_t key_moved_row(enum action action, size_t row, size_t last, size_t page);

/* Keys as the help lists them, on the screen and elsewhere: by place, what a newcomer needs first. */

enum {
	KEY_SECTION_COUNT = 8,
};

struct key_section {
	const char *title;  /* "Groups and threads" */
	unsigned int where; /* a PLACE_ bit */
};

extern const struct key_section key_sections[KEY_SECTION_COUNT];

/* The keys of a section, each under the first place in which it works; returns how many. */
size_t key_section_actions(size_t section, enum action actions[ACTION_COUNT]);

#endif
