/* SPDX-License-Identifier: GPL-2.0-only */
#include "view_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A name that stands for several threads of the grouping is a pattern there, which `patterns` remembers. */
static struct grouping *group(const struct view *view, enum axis axis, const struct snapshot *names,
			      bool reference, struct pattern_memory *patterns)
{
	struct grouping_options options = view->grouping;

	options.axis = axis;
	options.reference |= reference;
	return grouping_create(&options, &names, 1, patterns);
}

/* Forbids the triples that are not in a group. */
static void narrow(const struct view *view, enum axis axis, const char *key, size_t key_length,
		   const struct snapshot *names, bool reference, struct pattern_memory *patterns,
		   bool *allowed)
{
	struct grouping *grouping = group(view, axis, names, reference, patterns);
	uint32_t wanted = grouping_find(grouping, key, key_length);

	for (uint32_t i = 0; i < names->triple_count; i++)
		allowed[i] &= wanted != UINT32_MAX && grouping_of_triple(grouping, 0, i) == wanted;
	grouping_release(grouping);
}

uint32_t *view_group_names(const struct view *view, const char *key, size_t key_length,
			   const struct snapshot *names, struct pattern_memory *patterns,
			   const struct grouping *grouping)
{
	uint32_t *groups = memory_allocate((names->triple_count + 1) * sizeof(*groups));
	bool *allowed = memory_allocate(names->triple_count + 1);
	const bool reference = grouping_is_reference(grouping);
	struct grouping *own = group(view, view->grouping.axis, names, reference, patterns);

	memset(allowed, true, names->triple_count);
	for (size_t i = 0; i < view->step_count; i++)
		narrow(view, view->steps[i].axis, view->steps[i].key, view->steps[i].key_length, names,
		       reference, patterns, allowed);
	if (key != NULL)
		narrow(view, view->grouping.axis, key, key_length, names, reference, patterns, allowed);
	for (uint32_t i = 0; i < names->triple_count; i++) {
		size_t length;
		const char *own_key = grouping_key(own, grouping_of_triple(own, 0, i), &length);

		groups[i] = allowed[i] ? grouping_find(grouping, own_key, length) : UINT32_MAX;
	}
	free(allowed);
	grouping_release(own);
	return groups;
}
