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

/* Index of the record of a thread, made when it is new; records may move. */
static uint32_t find_record(struct ended *ended, const struct snapshot *snapshot, uint32_t thread)
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
	return index;
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

/* The larger of two waits of a thread that overlap, once one of them is known. */
struct overlap {
	bool known;
	uint64_t largest;
};

/* Threads that are folded, each with its record. */
struct folding {
	const uint32_t *threads;
	uint32_t *records;
	struct overlap *overlaps;
	size_t count;
};

/* Adds a counter of the threads to their records. */
static void fold_metric(const struct ended *ended, const struct span *span, const struct folding *folding,
			enum metric metric)
{
	const struct span_counter counter = span_counter_of(span, metric);
	const bool overlaps = metric == METRIC_SWAPIN_DELAY_TOTAL_NS ||
			      metric == METRIC_THRASHING_DELAY_TOTAL_NS;

	for (size_t i = 0; i < folding->count; i++) {
		struct ended_record *record = &ended->records[folding->records[i]];
		struct overlap *overlap = &folding->overlaps[i];
		uint64_t amount = 0, elapsed;
		const uint16_t state = span_change(&counter, folding->threads[i], &amount, &elapsed);

		fold_slot(record, metric, state, amount);
		/* swap-in and thrashing overlap: the larger counts, thread by thread */
		if (!overlaps)
			continue;
		if (state == REASON_READ) {
			overlap->known = true;
			overlap->largest = amount > overlap->largest ? amount : overlap->largest;
		} else {
			fold_slot(record, ENDED_SLOT_OVERLAP, state, 0);
		}
	}
}

void ended_fold(struct ended *ended, const struct span *span, const uint32_t *threads, size_t count)
{
	const struct folding folding = {
		.threads = threads,
		.records = memory_allocate((count + 1) * sizeof(uint32_t)),
		.overlaps = memory_allocate_zero(count + 1, sizeof(struct overlap)),
		.count = count,
	};

	for (size_t i = 0; i < count; i++) {
		folding.records[i] = find_record(ended, span->now, threads[i]);
		ended->records[folding.records[i]].threads++;
	}
	ended->threads += count;
	for (int i = 0; i < METRIC_COUNT && count != 0; i++) {
		if (metric_type((enum metric)i)->kind == METRIC_KIND_COUNTER && i != METRIC_THREAD_COUNT)
			fold_metric(ended, span, &folding, (enum metric)i);
	}
	for (size_t i = 0; i < count; i++) {
		if (folding.overlaps[i].known)
			fold_slot(&ended->records[folding.records[i]], ENDED_SLOT_OVERLAP, REASON_READ,
				  folding.overlaps[i].largest);
	}
	free(folding.records);
	free(folding.overlaps);
}

void ended_clear(struct ended *ended)
{
	free(ended->records);
	snapshot_release(ended->names);
	*ended = (struct ended){0};
}
