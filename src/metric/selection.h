/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SELECTION_H
#define CTOP_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "metric.h"

/*
 * Selects the contents of a report by lists that the user typed: names separated by commas, blanks around
 * them ignored. Unknown and empty names are refused (-EINVAL) with a sentence that lists the valid ones, and
 * so are repeated names where the order or the number matters.
 */

/* Sections: case is ignored. NULL selects all. */
int selection_parse_sections(const char *text, bool ret_sections[SECTION_COUNT], struct error *error);

enum {
	SELECTED_FIELDS_MAX = 64,
	SELECTED_FIELD_MAX = 160, /* bytes of its name, with the NUL */
};

/* Fields that a sched_ext scheduler keeps for threads: which there are is known only from a snapshot. */
struct selected_fields {
	bool all;
	size_t count;
	char names[SELECTED_FIELDS_MAX][SELECTED_FIELD_MAX]; /* with the source: "SOURCE.weight" */
};

bool selected_fields_has(const struct selected_fields *fields, const char *name);

/* Metrics and derived metrics by their exact names, and fields by theirs, "SOURCE.NAME". NULL selects all. */
int selection_parse_metrics(const char *text, bool ret_metrics[METRIC_COUNT], bool ret_derived[DERIVED_COUNT],
			    struct selected_fields *ret_fields, struct error *error);

enum {
	SORT_KEYS_MAX = 16
};

/* The order of groups: by a metric, or a derived metric when `metric` is METRIC_NONE. */
struct sort_key {
	enum metric metric;
	enum derived derived;
	bool ascending;
};

struct sort_keys {
	struct sort_key items[SORT_KEYS_MAX];
	size_t count;
};

/*
 * "wait_time_ns,nice:asc": largest first unless ":asc" (case is ignored). Metrics without a number (policy,
 * state, ext_enabled) are refused. NULL gives no keys.
 */
int selection_parse_sort_keys(const char *text, struct sort_keys *ret_keys, struct error *error);

/* Columns of a report as indices into `names`; at most `name_count` of them. A refusal lists the first
 * `listed`. */
int selection_parse_columns(const char *text, const char *const *names, size_t name_count, size_t listed,
			    size_t ret_columns[], size_t *ret_count, struct error *error);

#endif
