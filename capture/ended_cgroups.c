/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended_cgroups.h"

#include <stdlib.h>

#include "base/memory.h"

struct ended_cgroup {
	uint64_t id;
	char *path; /* owned */
};

static void forget(struct ended_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->count; i++)
		free(cgroups->items[i].path);
	cgroups->count = 0;
	hash_map_clear(&cgroups->index);
}

const char *ended_cgroups_path(struct ended_cgroups *cgroups, uint64_t id, ended_cgroup_finder *find,
			       const void *context)
{
	struct ended_cgroup *cgroup;
	uint32_t place;
	char *path;

	if (hash_map_get(&cgroups->index, id, &place))
		return cgroups->items[place].path;
	path = find(context, id);
	if (path == NULL)
		return NULL;
	if (cgroups->count == ENDED_CGROUPS_MAX)
		forget(cgroups);
	hash_map_set(&cgroups->index, id, (uint32_t)cgroups->count);
	cgroup = MEMORY_APPEND(cgroups->items, cgroups->count, cgroups->capacity);
	*cgroup = (struct ended_cgroup){id, path};
	return path;
}

void ended_cgroups_release(struct ended_cgroups *cgroups)
{
	forget(cgroups);
	free(cgroups->items);
	hash_map_release(&cgroups->index);
	*cgroups = (struct ended_cgroups){0};
}
