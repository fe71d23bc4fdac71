/* SPDX-License-Identifier: GPL-2.0-only */
/* One received netlink message, and its payload read by the layout that its version and size choose. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture/procfs/taskstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every member through a copy of exactly the payload's size, so that reading past it is seen. */
static void read_members(const struct taskstats_layout *layout, const unsigned char *stats)
{
	unsigned char *copy = malloc(layout->size > 0 ? layout->size : 1);
	uint64_t sum = 0;

	if (copy == NULL)
		return;
	memcpy(copy, stats, layout->size);
	for (size_t member = 0; member < TASKSTATS_MEMBER_COUNT; member++) {
		if (member != TASKSTATS_MEMBER_AC_COMM)
			sum += taskstats_number(layout, copy, (enum taskstats_member)member);
	}
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		enum taskstats_member member = taskstats_member_of_metric((enum metric)metric);

		if (member != TASKSTATS_MEMBER_NONE && taskstats_has(layout, member))
			sum += taskstats_metric_value(layout, copy, (enum metric)metric, member);
	}
	/* Keeps the compiler from dropping the reads. */
	__asm__ volatile("" ::"r"(sum));
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned char *stats = NULL;
	size_t stats_size = 0;
	struct taskstats_layout layout;
	uint16_t version = 0;
	uint32_t tid = 0;

	if (size >= sizeof(tid)) /* the thread that was asked for ends the input */
		memcpy(&tid, data + size - sizeof(tid), sizeof(tid));
	if (taskstats_parse_message(data, size, tid, &stats, &stats_size) < 0)
		return 0;
	if (stats < data || stats_size > size || stats + stats_size > data + size)
		abort();
	if (stats_size >= sizeof(version))
		memcpy(&version, stats, sizeof(version));
	taskstats_layout_resolve(&layout, version, stats_size);
	if (layout.size > stats_size)
		abort();
	read_members(&layout, stats);
	return 0;
}
