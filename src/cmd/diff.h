/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CMD_DIFF_H
#define CTOP_CMD_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "tables/tables.h"
#include "cmd/line/report_options.h"

/* What is compared with what. */
enum diff_matching {
	DIFF_MATCHING_GROUPS,
	DIFF_MATCHING_THREADS,
};

/* What `ctop diff` takes; also filled by `ctop BEFORE AFTER` where there is no terminal. */
struct diff_command_options {
	struct view_options view;
	struct report_options report;
	int display; /* enum tables_display; TABLES_DISPLAY_COUNT: the format's own */
	bool wrap;
	int match;                   /* enum diff_matching */
	bool per[TABLES_PER_COUNT];  /* columns for each second, for each thread */
	struct option_texts fail_if; /* rules */
};

/* Sets the defaults in the zeroed options. */
void diff_set_defaults(void *options);

/* Compares two files (`operands`) and prints; returns the exit status. */
int diff_run(void *options, char **operands, int operand_count);

#endif
