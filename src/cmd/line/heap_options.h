/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HEAP_OPTIONS_H
#define CTOP_HEAP_OPTIONS_H

#include <stdbool.h>

#include "options.h"

/* The options of the allocator probe, for the live screen and `capture`. */
struct heap_options {
	bool no_heap, allow_stop;
};

extern const struct option_table heap_option_table;

#endif
