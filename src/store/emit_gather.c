/* SPDX-License-Identifier: GPL-2.0-only */
/* From the columns of a snapshot to the records of its threads. */
#include <string.h>

#include "emit.h"

/* The layout that needs no mark: it was read from the program's own debug data. */
#define ORDINARY_LAYOUT "dwarf"

/* The reason that most threads have for a source; it is written once, the others per thread. */
static reason_id find_usual_reason(const struct snapshot *snapshot, enum source source)
{
	const reason_id *column = snapshot->source_reason[source];
	size_t counts[UINT8_MAX + 1] = {0};
	size_t usual = REASON_READ;

	if (column == NULL || snapshot->thread_count == 0)
		return snapshot->default_reason[source];
	for (size_t i = 0; i < snapshot->thread_count; i++)
		counts[column[i]]++;
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		if (counts[i] > counts[usual])
			usual = i;
	}
	return (reason_id)usual;
}

void emit_prepare(struct emitter *emitter)
{
	const struct provenance *provenance = &emitter->snapshot->provenance;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		emitter->usual_reason[i] = find_usual_reason(emitter->snapshot, (enum source)i);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (emitter->snapshot->values[i] != NULL)
			emitter->columns[emitter->column_count++] = (struct emit_column){
				emitter->snapshot->values[i], (enum metric)i};
	}
	for (size_t i = 0; i < provenance->heap_count; i++)
		hash_map_set(&emitter->heap, provenance->heap[i].tgid, (uint32_t)i);
}

static const char *find_layout(const struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	const char *layout;
	uint32_t index;

	if (!snapshot->provenance.present || !(snapshot->thread_flags[thread] & THREAD_JEMALLOC_MEASURED) ||
	    !hash_map_get(&emitter->heap, snapshot->tgid[thread], &index))
		return NULL;
	layout = snapshot->provenance.heap[index].layout;
	return layout != NULL && strcmp(layout, ORDINARY_LAYOUT) != 0 ? layout : NULL;
}

static struct key_values find_smaps(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;

	while (emitter->next_smaps < snapshot->smaps_count &&
	       snapshot->smaps[emitter->next_smaps].thread < thread)
		emitter->next_smaps++;
	if (emitter->next_smaps < snapshot->smaps_count &&
	    snapshot->smaps[emitter->next_smaps].thread == thread)
		return snapshot->smaps[emitter->next_smaps].kib;
	return (struct key_values){0};
}

static struct optional_u64 find_resident(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	struct optional_u64 resident = {0};
	reason_id reason;

	resident.present = snapshot->provenance.present &&
			   snapshot_resident(snapshot, thread, &emitter->resident_hint, &resident.value,
					     &reason) == VALUE_READ;
	return resident;
}

void emit_gather_thread(struct emitter *emitter, size_t thread, struct thread_record *record)
{
	const struct snapshot *snapshot = emitter->snapshot;

	record->index = thread;
	record->tid = snapshot->tid[thread];
	record->tgid = snapshot->tgid[thread];
	record->uid = snapshot->uid[thread];
	record->names = snapshot->triples[snapshot->triple[thread]];
	record->flags = snapshot->thread_flags[thread];
	record->start_time = snapshot->start_time[thread];
	record->waiting_ns = snapshot->waiting_ns != NULL ? snapshot->waiting_ns[thread] : 0;
	record->stuck_ns = snapshot->waiting_ns == NULL && snapshot->stuck_ns != NULL
				   ? snapshot->stuck_ns[thread]
				   : 0;
	record->resident = find_resident(emitter, thread);
	record->smaps = find_smaps(emitter, thread);
	record->layout = find_layout(emitter, thread);
	for (size_t i = 0; i < emitter->column_count; i++)
		record->values[emitter->columns[i].metric] = emitter->columns[i].values[thread];
}
