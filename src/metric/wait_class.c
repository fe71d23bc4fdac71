/* SPDX-License-Identifier: GPL-2.0-only */
#include "wait_class.h"

#include <string.h>

const struct wait_class_entry wait_classes[WAIT_CLASS_COUNT] = {
	[WAIT_CLASS_UNKNOWN] = {"", TIME_PART_SLEEP, false, ""},
#define WAIT_CLASS(id, name, column, title, part, rests, description)                                        \
	[WAIT_CLASS_##id] = {name, TIME_PART_##part, rests, description},
#include "wait_class.def"
#undef WAIT_CLASS
};

enum wait_class wait_class_find(const char *name, size_t length)
{
	for (size_t i = 1; i < WAIT_CLASS_COUNT; i++) {
		if (strlen(wait_classes[i].name) == length && memcmp(wait_classes[i].name, name, length) == 0)
			return (enum wait_class)i;
	}
	return WAIT_CLASS_UNKNOWN;
}
