/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

/* Records beyond the bound are put together under this name. */
static const char other_name[] = "(other)";

/* Id of a name of `from` in the record names; where it is new it is added, or the id of no string. */
static uint32_t name_id(struct ended *ended, const struct snapshot *from, uint32_t id, bool add)
{
	struct string_pool *names = &ended->names->strings;
	const char *text = string_pool_text(&from->strings, id);
	size_t length = string_pool_length(&from->strings, id);

	return add ? string_pool_intern(names, text, length) : string_pool_find(names, text, length);
}

/* Index of the record of a triple; once there are too many, that of all others when it is new. */
static uint32_t record_index(struct ended *ended, const struct snapshot *snapshot,
			     const struct triple *triple)
{
	/* beyond the bound names are only looked up, so that they do not grow either */
	const bool add = ended->count < ENDED_RECORDS_MAX;
	struct triple names = {
		.pcomm = name_id(ended, snapshot, triple->pcomm, add),
		.comm = name_id(ended, snapshot, triple->comm, add),
		.cgroup = name_id(ended, snapshot, triple->cgroup, add),
	};
	uint32_t index;

	if (add)
		return snapshot_intern_triple(ended->names, names);
	index = snapshot_find_triple(ended->names, names);
	if (index != UINT32_MAX)
		return index;
	names.pcomm = string_pool_intern(&ended->names->strings, other_name, sizeof(other_name) - 1);
	names.comm = names.cgroup = names.pcomm;
	return snapshot_intern_triple(ended->names, names);
}

static struct ended_record *find_record(struct ended *ended, const struct snapshot *snapshot, uint32_t thread)
{
	uint32_t index;

	if (ended->names == NULL)
		ended->names = snapshot_create();
	index = record_index(ended, snapshot, &snapshot->triples[snapshot->triple[thread]]);
	if (index == ended->count) {
		ended->records = memory_grow(ended->records, &ended->capacity, ended->count + 1,
					     sizeof(*ended->records));
		ended->records[ended->count++] = (struct ended_record){0};
	}
	return &ended->records[index];
}

static void fold_slot(struct ended_record *record, size_t slot, uint16_t state, uint64_t amount)
{
	if (state == REASON_READ) {
		record->amounts[slot] = number_add_saturating(record->amounts[slot], amount);
		record->states[slot] |= ENDED_COUNTED;
	} else if (state != SPAN_ABSENT) {
		record->states[slot] |= ENDED_MISSED;
	}
}

void ended_fold(struct ended *ended, const struct span *span, uint32_t thread)
{
	struct ended_record *record = find_record(ended, span->now, thread);
	uint16_t overlap = SPAN_ABSENT;
	uint64_t largest = 0;

	ended->threads++;
	record->threads++;
	for (int m = 0; m < METRIC_COUNT; m++) {
		enum metric metric = (enum metric)m;
		struct span_counter counter;
		uint64_t amount = 0, elapsed;
		uint16_t state;

		if (metric_type(metric)->kind != METRIC_KIND_COUNTER || metric == METRIC_THREAD_COUNT)
			continue;
		counter = span_counter_of(span, metric);
		state = span_change(&counter, thread, &amount, &elapsed);
		fold_slot(record, metric, state, amount);
		/* swap-in and thrashing overlap: the larger counts, thread by thread */
		if (metric != METRIC_SWAPIN_DELAY_TOTAL_NS && metric != METRIC_THRASHING_DELAY_TOTAL_NS)
			continue;
		if (state == REASON_READ) {
			overlap = REASON_READ;
			largest = amount > largest ? amount : largest;
		} else {
			fold_slot(record, ENDED_SLOT_OVERLAP, state, 0);
		}
	}
	fold_slot(record, ENDED_SLOT_OVERLAP, overlap, largest);
}

void ended_clear(struct ended *ended)
{
	free(ended->records);
	snapshot_release(ended->names);
	*ended = (struct ended){0};
}
