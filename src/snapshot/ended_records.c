/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended_records.h"

#include <stdlib.h>

#include "base/memory.h"

void ended_clear(struct ended *ended)
{
	free(ended->records);
	snapshot_release(ended->names);
	*ended = (struct ended){0};
}

static uint32_t copy_name(struct snapshot *names, const struct snapshot *from, uint32_t id)
{
	return string_pool_intern(&names->strings, string_pool_text(&from->strings, id),
				  string_pool_length(&from->strings, id));
}

struct ended ended_copy(const struct ended *ended)
{
	struct ended copy = *ended;

	copy.names = NULL;
	copy.records = NULL;
	copy.count = copy.capacity = 0;
	copy.has_estimate = copy.estimate_is_void = false;
	for (size_t i = 0; i < ended->count; i++) {
		const struct triple *triple = &ended->names->triples[i];

		if (ended_is_void(ended, i))
			continue;
		if (copy.names == NULL)
			copy.names = snapshot_create();
		if (ended->has_estimate && i == ended->estimate) {
			copy.has_estimate = true;
			copy.estimate = copy.count;
		}
		snapshot_intern_triple(copy.names,
				       (struct triple){copy_name(copy.names, ended->names, triple->pcomm),
						       copy_name(copy.names, ended->names, triple->comm),
						       copy_name(copy.names, ended->names, triple->cgroup)});
		*MEMORY_APPEND(copy.records, copy.count, copy.capacity) = ended->records[i];
	}
	return copy;
}
