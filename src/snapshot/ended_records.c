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

struct ended ended_copy(const struct ended *ended)
{
	struct ended copy = *ended;

	copy.names = NULL;
	copy.records = NULL;
	copy.count = copy.capacity = 0;
	copy.has_estimate = copy.estimate_is_void = false;
	for (size_t i = 0; i < ended->count; i++) {
		if (ended_is_void(ended, i))
			continue;
		if (copy.names == NULL)
			copy.names = snapshot_create();
		if (ended->has_estimate && i == ended->estimate) {
			copy.has_estimate = true;
			copy.estimate = copy.count;
		}
		snapshot_copy_triple(copy.names, &ended->names->strings, &ended->names->triples[i]);
		*MEMORY_APPEND(copy.records, copy.count, copy.capacity) = ended->records[i];
	}
	return copy;
}
