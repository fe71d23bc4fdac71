/* SPDX-License-Identifier: GPL-2.0-only */
/* From the records of threads to the columns of the snapshot. */
#include <string.h>

#include "base/memory.h"
#include "load_internal.h"

static const double first_estimate = 1024; /* threads after which the rest is estimated by them */
static const double good_estimate = 8192;  /* and again, where there are many more */
static const double threads_ahead = 100;   /* about as many may be decompressed already and not here yet */
static const double largest_growth = 64;

void *load_begin_thread(struct loader *loader, struct frame *frame)
{
	struct thread_record *record = &loader->thread;

	(void)frame;
	/* the values were zeroed when the thread before was spread */
	memset(record, 0, offsetof(struct thread_record, values));
	record->uid = UINT32_MAX;
	record->index = loader->snapshot->thread_count;
	loader->own_names = 0;
	record->values[METRIC_STATE] = '~';
	loader->touched[0] = METRIC_STATE;
	loader->touched_count = 1;
	return record;
}

/* The threads that a capture of ctop says it read; 0 where it does not. */
static double tallied_threads(const struct snapshot *snapshot)
{
	const struct tally *tallies = snapshot->provenance.tallies;
	double threads = 0;

	if (tallies == NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_COUNT(tallies->missed); i++)
		threads += (double)tallies[SOURCE_STAT].missed[i];
	return threads + (double)tallies[SOURCE_STAT].read;
}

/*
 * Makes room for the threads that come, so that columns are moved once or twice: as many as the part of the
 * file that was read had, or what the file itself says if that may be. What is too little is estimated again.
 */
static void make_room(struct loader *loader)
{
	struct snapshot *snapshot = loader->snapshot;
	const double count = (double)snapshot->thread_count;
	double progress, expected, tallied;

	if (snapshot->thread_count != snapshot->thread_capacity || count < first_estimate ||
	    loader->progress == NULL)
		return;
	tallied = tallied_threads(snapshot);
	progress = loader->progress(loader->json.context);
	expected = progress > 0 ? (count + threads_ahead) / progress : 0;
	if (tallied > count && tallied > expected / 2 && tallied < expected * 2)
		expected = tallied;
	else if (count < good_estimate && expected > good_estimate * 2)
		expected = good_estimate;
	else
		expected *= 1.05;
	if (expected > count * largest_growth)
		expected = count * largest_growth;
	snapshot_reserve(snapshot, (size_t)expected);
}

/* Only what the file had is written, and columns are zeroed when they are made. */
static void spread_values(struct loader *loader, size_t thread)
{
	struct snapshot *snapshot = loader->snapshot;

	for (size_t i = 0; i < loader->touched_count; i++) {
		enum metric metric = (enum metric)loader->touched[i];
		uint64_t value = loader->thread.values[metric];

		if (value == 0)
			continue;
		loader->thread.values[metric] = 0;
		snapshot_column(snapshot, metric)[thread] = value;
	}
}

/* The text of an object, cut where it is longer than any that ctop writes. */
static uint32_t limit_object(struct snapshot *snapshot, uint32_t object)
{
	const char *text = snapshot_text(snapshot, object);
	size_t kept = SNAPSHOT_WAIT_OBJECT_MAX;

	if (string_pool_length(&snapshot->strings, object) <= kept)
		return object;
	while (kept != 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
		kept--; /* no character is cut in two */
	return string_pool_intern(&snapshot->strings, text, kept);
}

/* An object without a class is left out. */
static void spread_wait(struct snapshot *snapshot, size_t thread, const struct thread_record *record)
{
	if (record->wait_class == WAIT_CLASS_UNKNOWN)
		return;
	if (snapshot->wait_class == NULL)
		snapshot_make_wait_columns(snapshot);
	snapshot->wait_class[thread] = record->wait_class;
	snapshot->wait_object[thread] = limit_object(snapshot, record->wait_object);
}

void load_end_thread(struct loader *loader, const struct frame *element)
{
	const struct thread_record *record = &loader->thread;
	struct snapshot *snapshot = loader->snapshot;
	struct triple names = record->names;
	size_t thread;

	(void)element;
	make_room(loader);
	thread = snapshot_add_thread(snapshot, record->tgid, record->tid);
	load_mark_names(loader, &names.pcomm, false);
	snapshot->triple[thread] = snapshot_intern_triple(snapshot, names);
	snapshot->uid[thread] = record->uid;
	snapshot->thread_flags[thread] = record->flags;
	snapshot->start_time[thread] = record->start_time;
	spread_values(loader, thread);
	if (record->waiting_ns != 0 && snapshot->waiting_ns == NULL)
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	if (snapshot->waiting_ns != NULL)
		snapshot->waiting_ns[thread] = record->waiting_ns;
	if (record->stuck_ns != 0 && snapshot->stuck_ns == NULL)
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	if (snapshot->stuck_ns != NULL)
		snapshot->stuck_ns[thread] = record->stuck_ns;
	spread_wait(snapshot, thread, record);
	if (record->resident.present && record->tid == record->tgid) {
		snapshot_add_resident(snapshot, thread, record->resident.value, 0);
		snapshot->resident_missing = REASON_READ;
	}
	if (record->smaps.count != 0)
		snapshot_add_smaps(snapshot, thread)->kib = record->smaps;
	if (record->layout != NULL)
		*MEMORY_APPEND(loader->layouts.items, loader->layouts.count,
			       loader->layouts.capacity) = (struct pending_layout){record->tgid,
										   record->layout};
}
