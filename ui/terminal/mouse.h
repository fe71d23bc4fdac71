/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MOUSE_H
#define CTOP_MOUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal.h"

/*
 * Reports of the mouse as terminals send them: a press of a button in the SGR form, ESC [ < buttons ; column
 * ; row M, and its release with m ("Mouse Tracking" of XTerm Control Sequences, ctlseqs.txt). A terminal that
 * does not know that form sends ESC [ M and three characters, which are buttons, column and row plus 32.
 */
enum mouse_form {
	MOUSE_FORM_NONE,
	MOUSE_FORM_SGR,
	MOUSE_FORM_PLAIN,
	MOUSE_FORM_COUNT,
};

enum {
	MOUSE_KEY = 0x2000, /* plus the form: what curses is told to return for its beginning */
	MOUSE_NUMBERS = 3,
};

/* What a report begins with. */
extern const char *const mouse_beginnings[MOUSE_FORM_COUNT];

/* Asks for reports of buttons and wheel in the SGR form, and for none. */
extern const char mouse_on[], mouse_off[];

/* A report that is coming in; zeroed: none is. */
struct mouse_report {
	enum mouse_form form;
	uint32_t numbers[MOUSE_NUMBERS];
	int count;
};

void mouse_begin(struct mouse_report *report, enum mouse_form form);

/*
 * Takes the next character of a report. Returns whether it is complete and tells of something that a user
 * did, which is in `*ret_pointer` then. What is no report ends it.
 */
bool mouse_take(struct mouse_report *report, uint32_t character, struct pointer *ret_pointer);

#endif
