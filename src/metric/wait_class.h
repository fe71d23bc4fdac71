/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WAIT_CLASS_H
#define CTOP_WAIT_CLASS_H

#include <stdbool.h>
#include <stddef.h>

/* What a thread is doing or waiting for; the table is wait_class.def. */
enum wait_class {
	WAIT_CLASS_UNKNOWN,
#define WAIT_CLASS(id, ...) WAIT_CLASS_##id,
#include "wait_class.def"
#undef WAIT_CLASS
	WAIT_CLASS_COUNT,
};

/* Parts of the bar WHERE; the table is time_part.def. */
enum time_part {
#define TIME_PART(id, ...) TIME_PART_##id,
#include "time_part.def"
#undef TIME_PART
	TIME_PART_COUNT,
};

struct wait_class_entry {
	const char *name; /* "" for WAIT_CLASS_UNKNOWN */
	enum time_part part;
	bool rests; /* it stands for a group only if all threads rest */
	const char *description;
};

extern const struct wait_class_entry wait_classes[WAIT_CLASS_COUNT];

/* The class with this name, which need not be NUL-terminated; WAIT_CLASS_UNKNOWN if there is none. */
enum wait_class wait_class_find(const char *name, size_t length);

#endif
