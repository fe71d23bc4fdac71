/* SPDX-License-Identifier: GPL-2.0-only */
#include "feature.h"

#include <string.h>

const char *const feature_state_names[] = {
	[FEATURE_STATE_UNKNOWN] = "unknown",
	[FEATURE_STATE_ON] = "on",
	[FEATURE_STATE_PARTIAL] = "partial",
	[FEATURE_STATE_OFF] = "off",
};

const struct feature_entry features[FEATURE_COUNT] = {
#define FEATURE(id, name, words) [FEATURE_##id] = {name, words},
#include "feature.def"
#undef FEATURE
};

enum feature feature_find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < FEATURE_COUNT; i++) {
		if (strlen(features[i].name) == length && memcmp(features[i].name, name, length) == 0)
			break;
	}
	return (enum feature)i;
}
