/* SPDX-License-Identifier: GPL-2.0-only */
#include "feature.h"

#include "name.h"

const char *const feature_state_names[] = {
	[FEATURE_STATE_UNKNOWN] = "unknown",
	[FEATURE_STATE_ON] = "on",
	[FEATURE_STATE_PARTIAL] = "partial",
	[FEATURE_STATE_OFF] = "off",
};

const struct feature_entry features[FEATURE_COUNT] = {
#define FEATURE(id, name, words, part_of) [FEATURE_##id] = {name, words, FEATURE_##part_of},
#include "feature.def"
#undef FEATURE
};

enum feature feature_cause(const struct feature_result results[FEATURE_COUNT], enum feature feature)
{
	enum feature cause = feature;

	for (enum feature part = features[feature].part_of; part != FEATURE_NONE;
	     part = features[part].part_of) {
		if (results[part].state == FEATURE_STATE_OFF)
			cause = part;
	}
	return cause;
}

enum feature feature_find(const char *name, size_t length)
{
	return (enum feature)name_find(features, FEATURE_COUNT, sizeof(features[0]), name, length);
}
