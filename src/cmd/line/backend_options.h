/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BACKEND_OPTIONS_H
#define CTOP_BACKEND_OPTIONS_H

#include "capture/scx/scx_reader.h"
#include "options.h"

/* How the live screen and `capture` read threads. */
struct backend_options {
	int backend; /* enum capture_backend */
	struct scx_choice scx;
};

extern const struct option_table backend_option_table;

#endif
