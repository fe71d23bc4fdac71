/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TASKSTATS_LAYOUT_H
#define CTOP_TASKSTATS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "metric/metric.h"

/* Members of struct taskstats; the table is taskstats.def. */
enum taskstats_member {
#define TASKSTATS_MEMBER(id, ...) TASKSTATS_MEMBER_##id,
#include "taskstats.def"
#undef TASKSTATS_MEMBER
	TASKSTATS_MEMBER_COUNT,
	TASKSTATS_MEMBER_NONE = TASKSTATS_MEMBER_COUNT,
};

enum {
	TASKSTATS_COMM_SIZE = 32,         /* bytes of ac_comm */
	TASKSTATS_NOT_THERE = UINT16_MAX, /* offset of a member that a layout does not have */
};

/* Where the members stand in replies of one version and size. */
struct taskstats_layout {
	uint16_t version;
	uint16_t size;
	uint16_t offset[TASKSTATS_MEMBER_COUNT];
};

/*
 * Works out the layout of payloads that say `version` and are `size` bytes long. Version 15, and 14 with the
 * size of 15 (kernel 6.14.0), carry the maxima and minima in the middle. Members newer than the version or
 * beyond the payload are not there.
 */
void taskstats_layout_resolve(struct taskstats_layout *layout, unsigned int version, size_t size);

/*
 * The member that carries `metric`, by the column `key` of metrics.def: of its own source or of the
 * equivalent one. TASKSTATS_MEMBER_NONE when no reply carries it.
 */
enum taskstats_member taskstats_member_of_metric(enum metric metric);

/* Whether payloads of this layout carry the member. */
static inline bool taskstats_has(const struct taskstats_layout *layout, enum taskstats_member member)
{
	return layout->offset[member] != TASKSTATS_NOT_THERE;
}

/* A member of eight bytes; 0 when it is not there. `stats` holds `layout->size` bytes of any alignment. */
static inline uint64_t taskstats_u64(const struct taskstats_layout *layout, const unsigned char *stats,
				     enum taskstats_member member)
{
	uint64_t value = 0;

	if (taskstats_has(layout, member))
		memcpy(&value, stats + layout->offset[member], sizeof(value));
	return value;
}

/* A member of any width up to eight bytes, zero-extended; 0 when it is not there. */
uint64_t taskstats_number(const struct taskstats_layout *layout, const unsigned char *stats,
			  enum taskstats_member member);

/*
 * The number of a metric as a column holds it, for all metrics that replies carry but `policy` (whose number
 * is the policy's): kibibytes are multiplied, saturating, and nice is sign-extended.
 */
uint64_t taskstats_metric_value(const struct taskstats_layout *layout, const unsigned char *stats,
				enum metric metric, enum taskstats_member member);

#endif
