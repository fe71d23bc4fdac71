/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads did since the base that are gone: one record per triple, bounded. */
#include "ended.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* Records beyond the bound are put together under this name. */
static const char other_name[] = "(other)";

static uint32_t copy_name(struct snapshot *to, const struct snapshot *from, uint32_t id)
{
	return string_pool_intern(&to->strings, string_pool_text(&from->strings, id),
				  string_pool_length(&from->strings, id));
}

static uint32_t find_name(const struct snapshot *in, const struct snapshot *from, uint32_t id)
{
	return string_pool_find(&in->strings, string_pool_text(&from->strings, id),
				string_pool_length(&from->strings, id));
}

static struct ended_record *add_record(struct ended *ended)
{
	struct ended_record *record;

	if (ended->count == ended->capacity)
		ended->records = memory_grow(ended->records, &ended->capacity, ended->count + 1,
					     sizeof(*ended->records));
	record = &ended->records[ended->count++];
	*record = (struct ended_record){
		.amounts = memory_allocate_zero(ENDED_SLOTS, sizeof(uint64_t)),
		.states = memory_allocate_zero(ENDED_SLOTS, sizeof(uint8_t)),
	};
	return record;
}

/* Id of a triple in the record names; once there are too many, that of all others when it is new. */
static uint32_t intern_names(struct ended *ended, const struct snapshot *snapshot,
			     const struct triple *triple)
{
	struct snapshot *names = ended->names;
	struct triple copy;
	uint32_t id;

	if (ended->count < ENDED_RECORDS_MAX) {
		copy.pcomm = copy_name(names, snapshot, triple->pcomm);
		copy.comm = copy_name(names, snapshot, triple->comm);
		copy.cgroup = copy_name(names, snapshot, triple->cgroup);
		return snapshot_intern_triple(names, copy);
	}
	/* looked up only, so that the names do not grow either */
	copy.pcomm = find_name(names, snapshot, triple->pcomm);
	copy.comm = find_name(names, snapshot, triple->comm);
	copy.cgroup = find_name(names, snapshot, triple->cgroup);
	id = snapshot_find_triple(names, copy);
	if (id != UINT32_MAX)
		return id;
	copy.pcomm = copy.comm = copy.cgroup = string_pool_intern(&names->strings, other_name,
								  sizeof(other_name) - 1);
	return snapshot_intern_triple(names, copy);
}

/* The record of a thread's triple. */
static struct ended_record *find_record(struct ended *ended, const struct snapshot *snapshot, uint32_t thread)
{
	uint32_t id;

	if (ended->names == NULL)
		ended->names = snapshot_create();
	id = intern_names(ended, snapshot, &snapshot->triples[snapshot->triple[thread]]);
	return id < ended->count ? &ended->records[id] : add_record(ended);
}

static void fold_slot(struct ended_record *record, size_t slot, uint16_t state, uint64_t amount)
{
	if (state == REASON_READ) {
		record->amounts[slot] = number_add_saturating(record->amounts[slot], amount);
		record->states[slot] |= ENDED_COUNTED;
	} else if (state != SERIES_ABSENT) {
		record->states[slot] |= ENDED_MISSED;
	}
}

/* Swap-in and thrashing overlap: the larger counts, thread by thread. */
static void fold_overlap(struct ended_record *record, const uint16_t states[2], const uint64_t amounts[2])
{
	uint64_t largest = 0;
	uint16_t state = states[0];

	for (size_t i = 0; i < 2; i++) {
		if (states[i] == REASON_READ) {
			state = REASON_READ;
			largest = amounts[i] > largest ? amounts[i] : largest;
		} else if (states[i] != SERIES_ABSENT) {
			record->states[ENDED_SLOT_OVERLAP] |= ENDED_MISSED;
		}
	}
	fold_slot(record, ENDED_SLOT_OVERLAP, state, largest);
}

void ended_fold(struct ended *ended, const struct span *span, uint32_t thread)
{
	struct ended_record *record = find_record(ended, span->now, thread);
	uint16_t overlap_states[2] = {SERIES_ABSENT, SERIES_ABSENT};
	uint64_t overlap_amounts[2] = {0, 0};

	ended->threads++;
	record->threads++;
	for (int m = 0; m < METRIC_COUNT; m++) {
		enum metric metric = (enum metric)m;
		uint64_t amount = 0;
		uint16_t state;

		if (metric_type(metric)->kind != METRIC_KIND_COUNTER || metric == METRIC_THREAD_COUNT)
			continue;
		state = span_change(span, thread, metric, &amount);
		fold_slot(record, metric, state, amount);
		if (metric == METRIC_SWAPIN_DELAY_TOTAL_NS || metric == METRIC_THRASHING_DELAY_TOTAL_NS) {
			overlap_states[metric == METRIC_THRASHING_DELAY_TOTAL_NS] = state;
			overlap_amounts[metric == METRIC_THRASHING_DELAY_TOTAL_NS] = amount;
		}
	}
	fold_overlap(record, overlap_states, overlap_amounts);
}

void ended_clear(struct ended *ended)
{
	for (size_t i = 0; i < ended->count; i++) {
		free(ended->records[i].amounts);
		free(ended->records[i].states);
	}
	free(ended->records);
	snapshot_release(ended->names);
	*ended = (struct ended){0};
}
