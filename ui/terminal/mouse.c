/* SPDX-License-Identifier: GPL-2.0-only */
#include "mouse.h"

const char *const mouse_beginnings[MOUSE_FORM_COUNT] = {
	[MOUSE_FORM_SGR] = "\033[<",
	[MOUSE_FORM_PLAIN] = "\033[M",
};

const char mouse_on[] = "\033[?1000h\033[?1006h", mouse_off[] = "\033[?1006l\033[?1000l";

enum {
	BUTTON_LEFT = 0,
	BUTTON_WHEEL_UP = 64,
	BUTTON_WHEEL_DOWN = 65,
	BUTTON_RELEASED = 3, /* in the plain form, which does not say which */
	PLAIN_OFFSET = 32,
	COORDINATE_MAX = 1 << 15,
};

void mouse_begin(struct mouse_report *report, enum mouse_form form)
{
	*report = (struct mouse_report){.form = form};
}

/* The report is complete; returns whether it is of more than the release of a button. */
static bool finish(struct mouse_report *report, bool released, struct pointer *ret_pointer)
{
	const uint32_t *numbers = report->numbers;

	report->form = MOUSE_FORM_NONE;
	if (released || numbers[0] == BUTTON_RELEASED || numbers[1] == 0 || numbers[2] == 0)
		return false;
	*ret_pointer = (struct pointer){
		.event = numbers[0] == BUTTON_LEFT         ? POINTER_PRESS
			 : numbers[0] == BUTTON_WHEEL_UP   ? POINTER_WHEEL_UP
			 : numbers[0] == BUTTON_WHEEL_DOWN ? POINTER_WHEEL_DOWN
							   : POINTER_OTHER,
		.x = (int)numbers[1] - 1,
		.y = (int)numbers[2] - 1,
	};
	return true;
}

static bool take_plain(struct mouse_report *report, uint32_t character, struct pointer *ret_pointer)
{
	if (character < PLAIN_OFFSET || character > COORDINATE_MAX) {
		report->form = MOUSE_FORM_NONE;
		return false;
	}
	report->numbers[report->count++] = character - PLAIN_OFFSET;
	return report->count == MOUSE_NUMBERS && finish(report, false, ret_pointer);
}

bool mouse_take(struct mouse_report *report, uint32_t character, struct pointer *ret_pointer)
{
	if (report->form == MOUSE_FORM_PLAIN)
		return take_plain(report, character, ret_pointer);
	/* parameters, up to the character that ends a control sequence (ECMA-48, 5.4), are part of it */
	if (character >= ' ' && character < '@') {
		uint32_t *number = &report->numbers[report->count < MOUSE_NUMBERS ? report->count : 0];

		if (character == ';' && report->count < MOUSE_NUMBERS)
			report->count++;
		else if (character < '0' || character > '9')
			report->count = MOUSE_NUMBERS;
		else if (*number < COORDINATE_MAX)
			*number = *number * 10 + (character - '0');
		return false;
	}
	if ((character == 'M' || character == 'm') && report->count + 1 == MOUSE_NUMBERS)
		return finish(report, character == 'm', ret_pointer);
	report->form = MOUSE_FORM_NONE;
	return false;
}
