/* SPDX-License-Identifier: GPL-2.0-only */
#include "feature.h"

#include <stdbool.h>
#include <string.h>

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

/* Whether the user cannot provide the feature. */
static bool is_out_of_reach(const struct feature_result *result)
{
	return result->state == FEATURE_STATE_OFF && result->remedy == NULL &&
	       (result->reason == REASON_NOT_IN_KERNEL || result->reason == REASON_NOT_BUILT);
}

static void append_once(const char *remedy, struct buffer *text)
{
	if (remedy == NULL || (text->length != 0 && strstr(text->data, remedy) != NULL))
		return;
	buffer_append_format(text, "%s%s", text->length != 0 ? "; " : "", remedy);
}

void feature_append_remedy(const struct feature_result results[FEATURE_COUNT], enum feature feature,
			   struct buffer *text)
{
	enum feature chain[FEATURE_COUNT];
	size_t count = 0;

	if (results[feature].state == FEATURE_STATE_ON)
		return;
	for (enum feature part = feature; part != FEATURE_NONE; part = features[part].part_of) {
		if (is_out_of_reach(&results[part]))
			return;
		/* a partly available parent needs no remedy */
		if (part == feature || results[part].state == FEATURE_STATE_OFF)
			chain[count++] = part;
	}
	while (count != 0)
		append_once(results[chain[--count]].remedy, text);
}

enum feature feature_find(const char *name, size_t length)
{
	return (enum feature)name_find(features, FEATURE_COUNT, sizeof(features[0]), name, length);
}
