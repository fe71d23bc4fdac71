/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_READING_OPTIONS_H
#define CTOP_READING_OPTIONS_H

#include <stdbool.h>

#include "capture/capture.h"
#include "options.h"

/* The options of commands that read a host: how, from where, and whether with the allocator probe. */

/* The way in which threads are read. */
struct backend_options {
	int backend; /* enum capture_backend */
	struct context_choice fields;
};

extern const struct option_table backend_option_table;

/* The directories that stand for those of the host, indexed by enum root_kind; NULL for the host's own. */
struct root_options {
	const char *roots[ROOT_COUNT];
};

extern const struct option_table root_option_table;

/* The options of the allocator probe. */
struct heap_options {
	bool no_heap, allow_stop;
};

extern const struct option_table heap_option_table;

/* The options of a capture of the processes `scope`, which point into these. */
struct capture_options reading_options_capture(const struct option_numbers *scope,
					       const struct backend_options *backend,
					       const struct root_options *roots);

#endif
