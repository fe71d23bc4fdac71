/* SPDX-License-Identifier: GPL-2.0-only */
/* From the records that were read to the columns of the snapshot, and what the file lacked. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "load.h"

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
	snapshot_expect(snapshot, (size_t)expected);
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

void load_end_thread(struct loader *loader, const struct frame *element)
{
	const struct thread_record *record = &loader->thread;
	struct snapshot *snapshot = loader->snapshot;
	size_t thread;

	(void)element;
	make_room(loader);
	thread = snapshot_add_thread(snapshot, record->tgid, record->tid);
	snapshot->triple[thread] = snapshot_intern_triple(snapshot, record->names);
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

static void apply_reasons(struct loader *loader)
{
	struct snapshot *snapshot = loader->snapshot;

	for (size_t i = 0; i < loader->reasons.count; i++) {
		const struct pending_reason *pending = &loader->reasons.items[i];

		if (pending->key < SOURCE_COUNT)
			snapshot_source_reasons(snapshot,
						(enum source)pending->key)[pending->thread] = pending->reason;
		else
			snapshot_add_exception(snapshot, pending->thread,
					       (enum metric)(pending->key - SOURCE_COUNT), pending->reason);
	}
}

static void apply_ages(struct loader *loader)
{
	uint64_t now = loader->snapshot->provenance.boottime_ns;

	for (size_t i = 0; i < loader->ages.count; i++) {
		const struct pending_age *pending = &loader->ages.items[i];
		uint64_t *times = snapshot_read_times(loader->snapshot, (enum source)pending->source);

		times[pending->thread] = pending->age_ns < now ? now - pending->age_ns : 0;
	}
}

/* How long threads have been waiting, where the file says that it knows; of waits for a CPU and in D twice.
 */
static void apply_waits(struct loader *loader)
{
	struct snapshot *snapshot = loader->snapshot;
	uint64_t stuck_after = SNAPSHOT_STUCK_AFTER_NS;

	if (!loader->knows_stuck || loader->knows_waits) {
		free(snapshot->stuck_ns);
		snapshot->stuck_ns = NULL;
	} else if (snapshot->stuck_ns == NULL) {
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	}
	if (!loader->knows_waits) {
		free(snapshot->waiting_ns);
		snapshot->waiting_ns = NULL;
		return;
	}
	/* what waited through all of a shorter window is stuck */
	if (snapshot->window != NULL &&
	    snapshot->provenance.boottime_ns - snapshot->window->from->provenance.boottime_ns < stuck_after)
		stuck_after = snapshot->provenance.boottime_ns -
			      snapshot->window->from->provenance.boottime_ns;
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	if (snapshot->waiting_ns == NULL)
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint64_t state = snapshot_value(snapshot, i, METRIC_STATE);

		if ((state == 'R' || state == 'D') && snapshot->waiting_ns[i] >= stuck_after)
			snapshot->stuck_ns[i] = snapshot->waiting_ns[i];
	}
}

/* The processes of `heap`, and those known only from the `layout` of their threads. */
static void apply_heap(struct loader *loader)
{
	struct provenance *provenance = &loader->snapshot->provenance;
	struct hash_map known = {0};
	uint32_t unused;

	for (size_t i = 0; i < loader->heap.count; i++)
		hash_map_set(&known, loader->heap.items[i].tgid, 0);
	for (size_t i = 0; i < loader->layouts.count; i++) {
		const struct pending_layout *pending = &loader->layouts.items[i];

		if (hash_map_get(&known, pending->tgid, &unused))
			continue;
		hash_map_set(&known, pending->tgid, 0);
		*MEMORY_APPEND(loader->heap.items, loader->heap.count,
			       loader->heap.capacity) = (struct heap_process){.tgid = pending->tgid,
									      .layout = pending->layout};
	}
	hash_map_release(&known);
	if (loader->heap.count == 0)
		return;
	provenance->heap_count = loader->heap.count;
	provenance->heap = arena_allocate(&loader->snapshot->arena,
					  loader->heap.count * sizeof(*provenance->heap));
	memcpy(provenance->heap, loader->heap.items, loader->heap.count * sizeof(*provenance->heap));
}

/* A metric that no thread of the file has is unavailable, not zero. */
static void mark_metrics_not_in_file(struct loader *loader)
{
	struct snapshot *snapshot = loader->snapshot;

	for (size_t i = 0; i < thread_object.count; i++) {
		const struct member *member = &thread_object.members[i];

		if (member->type == MEMBER_VALUE && snapshot->thread_count != 0 &&
		    loader->notes.missing[i] == snapshot->thread_count)
			snapshot->metric_reason[member->metric] = REASON_NOT_IN_FILE;
	}
}

struct lacking {
	const struct member *first; /* a number that is read as 0 */
	size_t others;
	bool flags;
};

static struct lacking find_lacking(const struct loader *loader)
{
	struct lacking lacking = {.first = loader->notes.other};

	for (size_t i = 0; i < thread_object.count; i++) {
		const struct member *member = &thread_object.members[i];

		if (loader->notes.missing[i] == 0)
			continue;
		if (member->type == MEMBER_FLAG)
			lacking.flags = true;
		else if (member->type == MEMBER_KEY_VALUES && loader->notes.older != NULL)
			continue; /* stood there by its older name */
		else if (lacking.first == NULL)
			lacking.first = member;
		else
			lacking.others++;
	}
	return lacking;
}

static void append_part(struct buffer *text, const char *part)
{
	buffer_append_text(text, text->length == 0 ? "the file is of an older generation: " : "; ");
	buffer_append_text(text, part);
}

static void describe_notes(const struct loader *loader)
{
	struct lacking lacking = find_lacking(loader);
	struct buffer text = {0};

	if (lacking.flags)
		append_part(&text, "measured flags that it lacks are read as false");
	if (lacking.first != NULL) {
		append_part(&text, "missing numbers are read as 0 (");
		buffer_append_text(&text, lacking.first->name);
		if (lacking.others != 0)
			buffer_append_format(&text, " and %zu more", lacking.others);
		buffer_append_char(&text, ')');
	}
	if (loader->notes.older_cgroup)
		append_part(&text, "cgroup records hold CPU and memory use only");
	else if (loader->notes.older != NULL) {
		append_part(&text, "older names of members are understood (");
		buffer_append_text(&text, loader->notes.older->name);
		buffer_append_char(&text, ')');
	}
	if (loader->notes.older_state)
		append_part(&text, "state \"?\" is read as unknown");
	if (loader->task_fields.left_out != 0)
		buffer_append_format(
			&text,
			"%scontexts of the scheduler are left out where they are not as the file "
			"says (%zu)",
			text.length != 0 ? "; " : "", loader->task_fields.left_out);
	if (loader->notes.window)
		buffer_append_format(&text,
				     "%sits window does not fit its threads and is left out: only totals are "
				     "known; capture it again",
				     text.length != 0 ? "; " : "");
	if (loader->notes.parts)
		buffer_append_format(&text, "%sits parts do not add up to its window and are left out",
				     text.length != 0 ? "; " : "");
	if (text.length != 0)
		loader->snapshot->format_notes = arena_duplicate(&loader->snapshot->arena, text.data,
								 text.length);
	buffer_release(&text);
}

/* Memory has no age of its own in a file, and may stand in it before the time of the capture. */
static void apply_resident(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->resident_count; i++)
		snapshot->resident[i].read_at = snapshot->provenance.boottime_ns;
}

void load_conclude(struct loader *loader)
{
	apply_reasons(loader);
	apply_ages(loader);
	load_window_conclude(loader);
	apply_waits(loader);
	apply_resident(loader->snapshot);
	apply_heap(loader);
	load_task_fields_conclude(loader);
	mark_metrics_not_in_file(loader);
	describe_notes(loader);
	snapshot_finish(loader->snapshot);
}
