/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REPORT_OPTIONS_H
#define CTOP_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "compare/tables.h"
#include "view_options.h"

/* The options of a report of saved snapshots, which `show` and `diff` have in common. */
struct report_options {
	const char *metrics, *sections; /* as written, NULL for all */
	bool ktstr;                     /* --ktstr was given */
	bool as_batch;                  /* -b was given */
	bool nearest;                   /* --nearest: accept the nearest round of a history */
	bool ascii;                     /* text without other characters */
	int format;                     /* enum report_format */
	uint64_t max_bytes;
	const char *output; /* NULL for stdout */
};

extern const struct option_table report_option_table;

/* Those of report_format_names that a single table has, by enum report_format, NULL at the end. */
extern const char *const table_format_names[];

/* Sets the defaults of a report in zeroed options; the axis is the caller's to set. */
void report_options_set_defaults(struct report_options *options, struct view_options *view);

/* Resolves the names of a report of so many snapshots, in a zeroed request. Returns 0 or -EINVAL with a
 * sentence. */
int report_options_select(const struct report_options *options, const struct view_options *view,
			  size_t side_count, struct tables_request *ret_request, struct error *error);

/* Says on stderr which sections were asked for by name but need the cgroup axis. */
void report_options_warn(const struct report_options *options, const struct view_options *view,
			 const struct tables_request *request);

#endif
