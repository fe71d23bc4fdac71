/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BACKEND_OPTIONS_H
#define CTOP_BACKEND_OPTIONS_H

#include "options.h"

/* How the live screen and `capture` read threads. */
struct backend_options {
	int backend; /* enum capture_backend */
};

extern const struct option_table backend_option_table;

#endif
