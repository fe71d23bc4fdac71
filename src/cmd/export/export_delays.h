/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORT_DELAYS_H
#define CTOP_EXPORT_DELAYS_H

#include "export_groups.h"
#include "report/exposition.h"
#include "table/view.h"

/* Who ran while groups waited for a CPU, as series of pairs of one axis: `ctop_delayed_seconds_total`. */

/* The one family that pairs have, for export_groups_create(): theirs is a part of what groups waited. */
extern const struct export_family_choice export_delays_families;

/* The pairs of a round; a zeroed struct has none. */
struct export_delays {
	struct export_group_row *rows;
	struct export_number *numbers;
	size_t count;
	struct blame *blame; /* these two own the names */
	struct snapshot *sums;
};

/*
 * Finds the pairs of a round of the view's axis. None where latency was not measured, where names do not tell
 * the groups of the axis, and where the view has a filter, since delays are known by names alone. Release
 * them with export_delays_release().
 */
void export_delays_find(const struct view *view, const struct snapshot *round, uint64_t interval_ns,
			struct export_delays *delays);
void export_delays_release(struct export_delays *delays);

/* Its name, "ctop_delayed_seconds_total", and what it counts; the caller frees the name. */
char *export_delays_name(void);
extern const char export_delays_help[];

/* Begins the family. */
void export_delays_begin(struct exposition *exposition);

#endif
