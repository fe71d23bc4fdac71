/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_VIEW_OPTIONS_H
#define CTOP_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "window/grouping.h"

/* The options that choose a table, shared by the live screen, `show` and `diff`. */
struct view_options {
	int axis; /* enum axis */
	bool keep_thread_names, keep_cgroup_names;
	struct option_texts flatten;
	const char *sort_by; /* as written: names are resolved by the command; NULL for its default */
	const char *columns; /* likewise */
	uint64_t limit;      /* rows of a section; 0 for all */
	bool csv_safe;
};

extern const struct option_table view_option_table;

/* Refuses the axis of process ids for two snapshots. Returns 0 or a negative errno with a sentence. */
int view_options_check_pair(const struct view_options *options, struct error *error);

/* The options of grouping they amount to; points into `options`. */
struct grouping_options view_options_grouping(const struct view_options *options);

/* Appends what --columns takes: words of columns of the screen, then metrics, each with a newline. */
void view_options_list_columns(struct buffer *buffer);

#endif
