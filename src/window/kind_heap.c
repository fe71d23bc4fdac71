/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of the allocator probe: facts about processes, not about each thread. */
#include "kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* The threads of one process in one row. */
struct process_part {
	uint32_t row, tgid;
	uint32_t shown, read, missed;
	reason_id reason; /* of a missed one */
	double live;      /* allocated less released, of those read */
};

static void add_thread(const struct metric_reader *allocated, uint32_t thread, struct process_part *part)
{
	const uint16_t state = metric_reader_state(allocated, thread);

	part->shown++;
	if (state == REASON_READ) {
		part->read++;
		part->live += (double)metric_reader_value(allocated, thread) -
			      (double)snapshot_value(allocated->snapshot, thread, METRIC_DEALLOCATED_BYTES);
	} else if (state != STATE_ABSENT) {
		part->missed++;
		part->reason = (reason_id)state;
	}
}

/* The processes of each row, one part for each; the caller frees them. */
static struct process_part *collect_parts(const struct shown *shown, size_t *ret_count)
{
	const struct metric_reader allocated = metric_reader_of(shown->now, METRIC_ALLOCATED_BYTES);
	struct process_part *parts = memory_allocate((shown->count + 1) * sizeof(*parts));
	struct hash_map index_of = {0}; /* by row and tgid */
	uint32_t count = 0, index;

	for (size_t k = 0; k < shown->count; k++) {
		uint32_t row = shown->row_of[k], tgid = shown->now->tgid[shown->threads[k]];
		uint64_t key = (uint64_t)row << 32 | tgid;

		if (!hash_map_get(&index_of, key, &index)) {
			index = count++;
			hash_map_set(&index_of, key, index);
			parts[index] = (struct process_part){.row = row, .tgid = tgid};
		}
		add_thread(&allocated, shown->threads[k], &parts[index]);
	}
	hash_map_release(&index_of);
	*ret_count = count;
	return parts;
}

const struct heap_process *reduce_find_heap(const struct snapshot *snapshot, uint32_t tgid)
{
	const struct provenance *provenance = &snapshot->provenance;

	for (size_t i = 0; i < provenance->heap_count; i++) {
		if (provenance->heap[i].tgid == tgid)
			return &provenance->heap[i];
	}
	return NULL;
}

/* Processes that were read; where none of a process was, it may have jemalloc or not. */
static void add_process(const struct process_part *part, struct accumulator *accumulator)
{
	if (part->read != 0) {
		accumulator->read++;
		accumulator->present.value++;
	} else if (part->missed != 0) {
		accumulator_miss(accumulator, part->reason);
	}
}

static void add_seen(const struct process_part *part, struct accumulator *accumulator)
{
	accumulator->present.value += part->read;
	accumulator->read += part->read;
	if (part->missed != 0)
		accumulator_miss(accumulator, part->reason);
}

static void add_live(const struct process_part *part, uint32_t threads, struct accumulator *accumulator)
{
	if (part->read == 0 && part->missed == 0)
		return;
	accumulator->differs |= part->shown != threads;
	if (part->missed != 0)
		accumulator_miss(accumulator, part->reason);
	accumulator->read += part->read;
	accumulator->sum[0].real += part->live;
}

static void add_layout(const struct snapshot *now, const struct process_part *part,
		       struct accumulator *accumulator)
{
	const struct heap_process *process, *heap = now->provenance.heap;

	if (part->missed != 0 && part->read == 0)
		accumulator_miss(accumulator, part->reason);
	if (part->read == 0)
		return;
	process = reduce_find_heap(now, part->tgid);
	if (process == NULL || process->layout == NULL) {
		accumulator_miss(accumulator, REASON_NOT_IN_FILE);
		return;
	}
	if (accumulator->read++ == 0)
		accumulator->present.value = (uint64_t)(process - heap);
	accumulator->differs |= strcmp(heap[accumulator->present.value].layout, process->layout) != 0;
}

static void count_threads(const struct snapshot *now, struct hash_map *counts)
{
	for (size_t i = 0; i < now->thread_count; i++) {
		uint32_t count = 0;

		hash_map_get(counts, now->tgid[i], &count);
		hash_map_set(counts, now->tgid[i], count + 1);
	}
}

static void begin(struct reducer *reducer)
{
	const enum heap_field field = (enum heap_field)reducer->entry->inputs[0];
	const struct shown *shown = reducer->shown;
	const struct snapshot *now = shown->now;
	struct hash_map threads = {0};
	struct process_part *parts;
	size_t count;

	reducer->values->is_real = field == HEAP_FIELD_LIVE;
	parts = collect_parts(shown, &count);
	if (field == HEAP_FIELD_LIVE)
		count_threads(now, &threads);
	for (size_t i = 0; i < count; i++) {
		struct accumulator *accumulator = reducer_row(reducer, parts[i].row);
		uint32_t all = 0;

		switch (field) {
		case HEAP_FIELD_PROCESSES:
			add_process(&parts[i], accumulator);
			break;
		case HEAP_FIELD_THREADS:
			add_seen(&parts[i], accumulator);
			break;
		case HEAP_FIELD_LIVE:
			hash_map_get(&threads, parts[i].tgid, &all);
			add_live(&parts[i], all, accumulator);
			break;
		case HEAP_FIELD_LAYOUT:
			add_layout(now, &parts[i], accumulator);
			break;
		}
	}
	/* what was seen is just that, however many were not */
	for (size_t row = 0; field == HEAP_FIELD_THREADS && row < shown->row_count; row++) {
		if (reducer_row(reducer, row)->read != 0)
			reducer_row(reducer, row)->missed = 0;
	}
	hash_map_release(&threads);
	free(parts);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	switch ((enum heap_field)of->values->entry->inputs[0]) {
	case HEAP_FIELD_PROCESSES:
	case HEAP_FIELD_THREADS:
		conclude_present(of, value);
		return;
	case HEAP_FIELD_LIVE:
		if (!accumulator->differs)
			conclude_net(of, value);
		return;
	case HEAP_FIELD_LAYOUT:
		if (!value_set_state(accumulator, value))
			return;
		value->form = VALUE_FORM_WORD;
		value->differs = accumulator->differs;
		value->word.value = accumulator->present.value;
		return;
	}
}

const struct column_kind column_kind_heap = {
	.begin = begin,
	.conclude = conclude,
};
