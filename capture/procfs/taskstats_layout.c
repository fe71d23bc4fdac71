/* SPDX-License-Identifier: GPL-2.0-only */
#include "taskstats_layout.h"

#include "base/number.h"

struct member_entry {
	const char *name;
	uint16_t width;
	uint16_t appended;
	uint16_t interleaved;
	uint16_t since;
};

static const struct member_entry members[TASKSTATS_MEMBER_COUNT] = {
#define TASKSTATS_MEMBER(id, name, width, appended, interleaved, since)                                      \
	[TASKSTATS_MEMBER_##id] = {#name, width, appended, interleaved, since},
#include "taskstats.def"
#undef TASKSTATS_MEMBER
};

enum {
	INTERLEAVED_VERSION = 15,
	INTERLEAVED_SIZE = 560,
	OLDEST_VERSION = 8, /* everything before is laid out as this one */
};

void taskstats_layout_resolve(struct taskstats_layout *layout, unsigned int version, size_t size)
{
	bool interleaved = version == INTERLEAVED_VERSION ||
			   (version == INTERLEAVED_VERSION - 1 && size >= INTERLEAVED_SIZE);
	unsigned int known = version < OLDEST_VERSION ? OLDEST_VERSION : version;

	if (interleaved)
		known = INTERLEAVED_VERSION;
	layout->version = (uint16_t)version;
	layout->size = (uint16_t)size;
	for (size_t i = 0; i < TASKSTATS_MEMBER_COUNT; i++) {
		const struct member_entry *entry = &members[i];
		uint16_t offset = interleaved ? entry->interleaved : entry->appended;

		if (entry->since > known || (size_t)offset + entry->width > size)
			offset = TASKSTATS_NOT_THERE;
		layout->offset[i] = offset;
	}
}

static enum taskstats_member find_member(const char *name)
{
	size_t i;

	for (i = 0; i < TASKSTATS_MEMBER_COUNT; i++) {
		if (strcmp(members[i].name, name) == 0)
			break;
	}
	return (enum taskstats_member)i;
}

enum taskstats_member taskstats_member_of_metric(enum metric metric)
{
	const struct metric_entry *entry = &metrics[metric];
	enum source source = entry->source;

	if (source_is_of(source, SOURCE_TASKSTATS))
		return find_member(entry->key);
	if (entry->equivalent_source == SOURCE_TASKSTATS)
		return find_member(entry->equivalent_key);
	return TASKSTATS_MEMBER_NONE;
}

uint64_t taskstats_number(const struct taskstats_layout *layout, const unsigned char *stats,
			  enum taskstats_member member)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;

	if (!taskstats_has(layout, member))
		return 0;
	stats += layout->offset[member];
	switch (members[member].width) {
	case sizeof(byte):
		return *stats;
	case sizeof(half):
		memcpy(&half, stats, sizeof(half));
		return half;
	case sizeof(word):
		memcpy(&word, stats, sizeof(word));
		return word;
	default:
		stats -= layout->offset[member];
		return taskstats_u64(layout, stats, member);
	}
}

uint64_t taskstats_metric_value(const struct taskstats_layout *layout, const unsigned char *stats,
				enum metric metric, enum taskstats_member member)
{
	uint64_t number = taskstats_number(layout, stats, member);

	if (metrics[metric].form == METRIC_FORM_KIBIBYTES)
		return number_multiply_saturating(number, 1024);
	if (metric_type(metric)->encoding == METRIC_ENCODING_I32)
		return (uint64_t)(int64_t)(int8_t)number;
	return number;
}
