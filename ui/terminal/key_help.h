/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_KEY_HELP_H
#define CTOP_KEY_HELP_H

#include <stddef.h>

#include "keys.h"

/* Keys as the help lists them, on the screen and elsewhere: by place, what a newcomer needs first. */

enum {
	KEY_SECTION_COUNT = 7,
};

struct key_section {
	const char *title;  /* "Groups and threads" */
	unsigned int where; /* a PLACE_ bit */
};

extern const struct key_section key_sections[KEY_SECTION_COUNT];

/* The keys of a section, each under the first place in which it works; returns how many. */
size_t key_section_actions(size_t section, enum action actions[ACTION_COUNT]);

#endif
