/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BACKEND_OPTIONS_H
#define CTOP_BACKEND_OPTIONS_H

#include "snapshot/task_fields.h"
#include "options.h"

/* The way in which the live screen and `capture` read threads. */
struct backend_options {
	int backend; /* enum capture_backend */
	struct context_choice fields;
};

extern const struct option_table backend_option_table;

#endif
