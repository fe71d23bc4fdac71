/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORT_INTERNAL_H
#define CTOP_EXPORT_INTERNAL_H

#include "export.h"

/* Shared by the files of this directory alone. */

/* Facts of the newest round. */
struct export_facts {
	uint64_t unix_ns, boottime_ns, interval_ns, duration_ns, threads;
	struct tally tallies[SOURCE_COUNT];
	enum feature_state features[FEATURE_COUNT];
	struct taskstats_summary taskstats;
	char *reason_names[UINT8_MAX + 1]; /* of those in the tallies, owned */
};

struct export
{
	struct export_options options;
	source_set sources;                       /* that are read */
	struct export_groups *groups[AXIS_COUNT]; /* by their order in the options */
	uint64_t rounds;
	struct export_facts facts;
};

#endif
