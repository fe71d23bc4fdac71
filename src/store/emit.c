/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes a snapshot: arrays and objects with open keys, and the window that ends with it. */
#include "emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emit_internal.h"

static void emit_named_reason(struct emitter *emitter, const char *name, reason_id reason)
{
	emit_named_text(emitter, name, reason_name(reason));
}

static bool emit_cpu_set(struct emitter *emitter, uint64_t set)
{
	const struct string_pool *pool = &emitter->snapshot->cpu_sets;
	const uint32_t *cpus = cpu_set_cpus(pool, (uint32_t)set);

	emit_begin(emitter, '[');
	for (size_t i = 0; i < cpu_set_count(pool, (uint32_t)set); i++)
		emit_number(emitter, cpus[i]);
	emit_end(emitter, ']');
	return true;
}

static int compare_key_values(const void *left, const void *right, void *emitter_pointer)
{
	const struct emitter *emitter = emitter_pointer;

	return string_pool_compare(&emitter->snapshot->strings, ((const struct key_value *)left)->key,
				   ((const struct key_value *)right)->key);
}

static bool emit_key_values(struct emitter *emitter, const struct key_values *values)
{
	const struct string_pool *strings = &emitter->snapshot->strings;

	emitter->values.items = memory_grow(emitter->values.items, &emitter->values.capacity, values->count,
					    sizeof(*emitter->values.items));
	if (values->count != 0)
		memcpy(emitter->values.items, values->items, values->count * sizeof(*values->items));
	for (size_t i = 1; i < values->count; i++) {
		if (compare_key_values(&values->items[i - 1], &values->items[i], emitter) > 0) {
			qsort_r(emitter->values.items, values->count, sizeof(*values->items),
				compare_key_values, emitter);
			break;
		}
	}
	emit_begin(emitter, '{');
	for (size_t i = 0; i < values->count; i++) {
		uint32_t key = emitter->values.items[i].key;

		emit_foreign_key(emitter, string_pool_text(strings, key), string_pool_length(strings, key));
		buffer_append_u64(&emitter->json, emitter->values.items[i].value);
	}
	emit_end(emitter, '}');
	return true;
}

/* Pairs that are not empty, or that may be. */
static bool emit_text_pairs(struct emitter *emitter, const struct text_pairs *pairs, bool may_be_empty)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i < pairs->count; i++)
		emit_named_text(emitter, pairs->items[i].key, pairs->items[i].value);
	return (emit_end(emitter, '}') || may_be_empty) && pairs->present;
}

static bool emit_numbers(struct emitter *emitter, const uint64_t *numbers, size_t count)
{
	emit_begin(emitter, '[');
	for (size_t i = 0; i < count; i++)
		emit_number(emitter, numbers[i]);
	return emit_end(emitter, ']');
}

/* Numbers, texts or reasons by the names of the member; what is zero or absent is left out. */
static bool emit_named_array(struct emitter *emitter, const struct member *member, const void *field)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i < member->count; i++) {
		const char *name = member->names[i];

		if (member->type == MEMBER_NAMED_NUMBERS && ((const uint64_t *)field)[i] != 0)
			emit_named_u64(emitter, name, ((const uint64_t *)field)[i]);
		else if (member->type == MEMBER_NAMED_TEXTS && ((const char *const *)field)[i] != NULL)
			emit_named_text(emitter, name, ((const char *const *)field)[i]);
		else if (member->type == MEMBER_NAMED_REASONS && ((const reason_id *)field)[i] != REASON_READ)
			emit_named_reason(emitter, name, ((const reason_id *)field)[i]);
	}
	return emit_end(emitter, '}') || !(member->flags & MEMBER_OMITTED);
}

static bool emit_missed(struct emitter *emitter, const uint64_t *missed)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		if (missed[i] != 0)
			emit_named_u64(emitter, reason_name(i), missed[i]);
	}
	return emit_end(emitter, '}');
}

static bool emit_cgroups(struct emitter *emitter)
{
	const struct snapshot *snapshot = emitter->snapshot;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		const struct cgroup_record *record = &snapshot->cgroups[i];

		emit_foreign_key(emitter, snapshot_text(snapshot, record->path),
				 string_pool_length(&snapshot->strings, record->path));
		emit_object(emitter, &cgroup_object, record);
		emit_flush_full(emitter);
	}
	emit_end(emitter, '}');
	return true;
}

static bool emit_own_names(struct emitter *emitter, const uint32_t names[MEMBER_NAME_WORDS])
{
	const struct string_pool *strings = &emitter->snapshot->strings;

	emit_begin(emitter, '[');
	for (size_t i = 0; i < MEMBER_NAME_WORDS; i++) {
		if (!name_is_own(string_pool_text(strings, names[i]), string_pool_length(strings, names[i])))
			continue;
		emit_separator(emitter);
		emit_text(emitter, member_name_words[i]);
	}
	return emit_end(emitter, ']');
}

static bool emit_features(struct emitter *emitter)
{
	const struct provenance *provenance = &emitter->snapshot->provenance;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		if (provenance->features[i].state == FEATURE_STATE_UNKNOWN)
			continue;
		emit_key(emitter, features[i].name);
		emit_object(emitter, &feature_object, &provenance->features[i]);
	}
	return emit_end(emitter, '}');
}

static bool emit_sources(struct emitter *emitter)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source source = emitter->snapshot->metric_source[i];

		if (source != metrics[i].source && source != SOURCE_NONE)
			emit_named_text(emitter, metrics[i].name, sources[source].name);
	}
	return emit_end(emitter, '}');
}

static bool emit_missing(struct emitter *emitter)
{
	const struct snapshot *snapshot = emitter->snapshot;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (emitter->threads.usual_reason[i] != REASON_READ)
			emit_named_reason(emitter, sources[i].name, emitter->threads.usual_reason[i]);
	}
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (snapshot->metric_reason[i] != REASON_READ)
			emit_named_reason(emitter, metrics[i].name, snapshot->metric_reason[i]);
	}
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		char name[32];

		snprintf(name, sizeof(name), PRESSURE_MISSING_PREFIX "%s", pressure_resource_names[i]);
		if (snapshot->pressure_missing[i] != REASON_READ)
			emit_named_reason(emitter, name, snapshot->pressure_missing[i]);
	}
	if (emit_task_fields_missing(emitter) != REASON_READ)
		emit_named_reason(emitter, TASK_FIELDS_MISSING, emit_task_fields_missing(emitter));
	return emit_end(emitter, '}');
}

static bool has_tally(const struct tally *tally)
{
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		if (tally->missed[i] != 0)
			return true;
	}
	return tally->read != 0;
}

static bool emit_tallies(struct emitter *emitter)
{
	const struct tally *tallies = emitter->snapshot->provenance.tallies;

	emit_begin(emitter, '{');
	for (size_t i = 0; tallies != NULL && i < SOURCE_COUNT; i++) {
		if (!has_tally(&tallies[i]))
			continue;
		emit_key(emitter, sources[i].name);
		emit_object(emitter, &tally_object, &tallies[i]);
	}
	return emit_end(emitter, '}');
}

/* Elements that are objects, or values without a name. */
static bool emit_list(struct emitter *emitter, const struct member *member, const char *target)
{
	const struct object *object = member->object;
	const char *items = *(const char *const *)(const void *)(target + member->offset);
	const size_t count = *(const size_t *)(const void *)(target + member->known);

	emit_begin(emitter, '[');
	for (size_t i = 0; i < count; i++) {
		emit_separator(emitter);
		if (object->members[0].name != NULL)
			emit_object(emitter, object, items + i * object->size);
		else
			emit_scalar(emitter, &object->members[0], items + i * object->size);
	}
	return emit_end(emitter, ']');
}

static bool emit_latency_groups(struct emitter *emitter, const struct latency *latency)
{
	emit_begin(emitter, '[');
	for (size_t i = 0; i < latency->count; i++) {
		const struct latency_group group = latency_group_of(latency, i);

		emit_separator(emitter);
		emit_object(emitter, &latency_group_object, &group);
		emit_flush_full(emitter);
	}
	return emit_end(emitter, ']');
}

static bool emit_buckets(struct emitter *emitter, const uint64_t *buckets, size_t count)
{
	while (count != 0 && buckets[count - 1] == 0)
		count--;
	return emit_numbers(emitter, buckets, count);
}

/* --- threads --- */

/* The layout that needs no mark: it was read from the program's own debug data. */
#define ORDINARY_LAYOUT "dwarf"

static const char *find_layout(const struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	const char *layout;
	uint32_t index;

	if (!snapshot->provenance.present || !(snapshot->thread_flags[thread] & THREAD_JEMALLOC_MEASURED) ||
	    !hash_map_get(&emitter->threads.heap, snapshot->tgid[thread], &index))
		return NULL;
	layout = snapshot->provenance.heap[index].layout;
	return layout != NULL && strcmp(layout, ORDINARY_LAYOUT) != 0 ? layout : NULL;
}

static struct key_values find_smaps(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;

	while (emitter->threads.next_smaps < snapshot->smaps_count &&
	       snapshot->smaps[emitter->threads.next_smaps].thread < thread)
		emitter->threads.next_smaps++;
	if (emitter->threads.next_smaps < snapshot->smaps_count &&
	    snapshot->smaps[emitter->threads.next_smaps].thread == thread)
		return snapshot->smaps[emitter->threads.next_smaps].kib;
	return (struct key_values){0};
}

static struct optional_u64 find_resident(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	struct optional_u64 resident = {0};

	resident.present = snapshot->provenance.present &&
			   snapshot_resident(snapshot, thread, &emitter->threads.resident_hint,
					     &resident.value) == REASON_READ;
	return resident;
}

/* Fills the record, whose values of metrics without a column are 0. Threads come in ascending order. */
static void gather_thread(struct emitter *emitter, size_t thread, struct thread_record *record)
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
	record->wait_class = snapshot->wait_class != NULL ? snapshot->wait_class[thread] : WAIT_CLASS_UNKNOWN;
	record->wait_object = snapshot->wait_object != NULL ? snapshot->wait_object[thread] : 0;
	record->resident = find_resident(emitter, thread);
	record->smaps = find_smaps(emitter, thread);
	record->layout = find_layout(emitter, thread);
	for (size_t i = 0; i < emitter->threads.column_count; i++) {
		const enum metric metric = emitter->threads.columns[i];

		record->values[metric] = snapshot->values[metric][thread];
	}
}

static bool emit_threads(struct emitter *emitter)
{
	struct thread_record record = {0};

	emit_begin(emitter, '[');
	for (size_t i = 0; i < emitter->snapshot->thread_count; i++) {
		gather_thread(emitter, i, &record);
		emit_separator(emitter);
		emit_object(emitter, &thread_object, &record);
		emit_flush_full(emitter);
	}
	emit_end(emitter, ']');
	return true;
}

/* Sources whose reason differs from that of most threads, then metrics with a state of their own. */
static bool emit_thread_missing(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	reason_id reason;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->source_reason[i] != NULL &&
		    snapshot->source_reason[i][thread] != emitter->threads.usual_reason[i])
			emit_named_reason(emitter, sources[i].name, snapshot->source_reason[i][thread]);
	}
	for (; emitter->threads.next_exception < snapshot->exception_count;
	     emitter->threads.next_exception++) {
		const struct metric_exception *exception =
			&snapshot->exceptions[emitter->threads.next_exception];

		if (exception->thread > thread)
			break;
		if (exception->thread == thread)
			emit_named_reason(emitter, metrics[exception->metric].name, exception->reason);
	}
	reason = emit_task_fields_thread_missing(emitter, thread);
	if (reason != REASON_READ)
		emit_named_reason(emitter, TASK_FIELDS_MISSING, reason);
	return emit_end(emitter, '}');
}

/* Readings from before the capture began; the others count as made at its beginning. */
static bool emit_ages(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	uint64_t now = snapshot->provenance.boottime_ns;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->read_at[i] != NULL && snapshot->read_at[i][thread] < now)
			emit_named_u64(emitter, sources[i].name, now - snapshot->read_at[i][thread]);
	}
	return emit_end(emitter, '}');
}

static bool emit_waits(struct emitter *emitter)
{
	const struct snapshot *snapshot = emitter->snapshot;

	if (snapshot->waiting_ns == NULL && snapshot->stuck_ns == NULL)
		return false;
	emit_text(emitter, snapshot->waiting_ns != NULL ? MEMBER_WAITS_UNDER_WAY : MEMBER_WAITS_STUCK);
	return true;
}

static bool emit_wait_classes(struct emitter *emitter)
{
	if (emitter->snapshot->wait_class == NULL)
		return false;
	buffer_append_text(&emitter->json, "true");
	return true;
}

static bool emit_wait_class(struct emitter *emitter, enum wait_class class)
{
	if (class == WAIT_CLASS_UNKNOWN)
		return false;
	emit_text(emitter, wait_classes[class].name);
	return true;
}

/* --- the window --- */

/* The reason that most threads have for a source; it is written once at the top, the others per thread. */
static reason_id find_usual_reason(const struct snapshot *snapshot, enum source source)
{
	const reason_id *column = snapshot->source_reason[source];
	size_t counts[UINT8_MAX + 1] = {0};
	size_t usual = REASON_READ;

	if (!snapshot->provenance.present)
		return REASON_READ; /* there is no top */
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

/* Goes on with this snapshot, of which no thread has been written. */
static void begin_snapshot(struct emitter *emitter, const struct snapshot *snapshot)
{
	const struct provenance *provenance = &snapshot->provenance;
	struct emit_threads threads = {0};

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		threads.usual_reason[i] = find_usual_reason(snapshot, (enum source)i);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (snapshot->values[i] != NULL)
			threads.columns[threads.column_count++] = (enum metric)i;
	}
	for (size_t i = 0; i < provenance->heap_count; i++)
		hash_map_set(&threads.heap, provenance->heap[i].tgid, (uint32_t)i);
	emitter->snapshot = snapshot;
	emitter->threads = threads;
}

/* An object by its table, of another snapshot. */
static void emit_other(struct emitter *emitter, const struct snapshot *snapshot, const struct object *object,
		       const void *target)
{
	const struct snapshot *outer = emitter->snapshot;
	const struct emit_threads threads = emitter->threads;

	begin_snapshot(emitter, snapshot);
	emit_object(emitter, object, target);
	hash_map_release(&emitter->threads.heap);
	emitter->snapshot = outer;
	emitter->threads = threads;
}

/* --- threads at the beginning --- */

static void gather_beginning(struct emitter *emitter, uint32_t row, uint32_t thread,
			     struct thread_record *record)
{
	const struct snapshot *from = emitter->snapshot;

	gather_thread(emitter, row, record);
	record->of = thread;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!snapshot_counts_from(from, (enum metric)i))
			record->values[i] = 0;
	}
	/* the state says what the wait under way is for */
	if (record->waiting_ns == 0 && record->stuck_ns == 0)
		record->values[METRIC_STATE] = 0;
}

static bool emit_window_threads(struct emitter *emitter)
{
	const struct snapshot_window *window = emitter->window;
	const size_t count = emitter->snapshot->thread_count;
	uint32_t *thread_of = memory_allocate((count + 1) * sizeof(*thread_of));
	struct thread_record record = {0};

	for (size_t row = 0; row < count; row++)
		thread_of[row] = UINT32_MAX;
	for (uint32_t i = 0; i < window->thread_count; i++) {
		if (window->from_of[i] < THREAD_STILL)
			thread_of[window->from_of[i]] = i;
	}
	emit_begin(emitter, '[');
	for (uint32_t row = 0; row < count; row++) {
		if (thread_of[row] == UINT32_MAX)
			continue;
		emit_separator(emitter);
		gather_beginning(emitter, row, thread_of[row], &record);
		emit_object(emitter, &window_thread_object, &record);
		emit_flush_full(emitter);
	}
	free(thread_of);
	emit_end(emitter, ']');
	return true;
}

static bool emit_threads_that_are(struct emitter *emitter, uint32_t what)
{
	const struct snapshot_window *window = emitter->window;

	emit_begin(emitter, '[');
	for (uint32_t i = 0; i < window->thread_count; i++) {
		if (window->from_of[i] == what)
			emit_number(emitter, i);
	}
	return emit_end(emitter, ']');
}

/* The time between two readings of a source, where it differs from the length of the window. */
static bool emit_elapsed(struct emitter *emitter, const struct thread_record *record)
{
	const struct snapshot *from = emitter->snapshot, *now = emitter->end;
	const source_set counted = snapshot_sources_counted(from);
	const uint64_t length = now->provenance.boottime_ns - from->provenance.boottime_ns;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const enum source source = (enum source)i, whole = source_whole(source);
		const uint64_t after = snapshot_source_read_time(now, record->of, source),
			       before = snapshot_source_read_time(from, record->index, source);
		bool is_own = (counted & source_bit(source)) != 0 &&
			      (now->read_at[i] != NULL || from->read_at[i] != NULL) &&
			      snapshot_source_reason(from, record->index, source) == REASON_READ;

		/* one that is as old as the window has to say so where what it is part of is not */
		if (whole == source || (now->read_at[whole] == NULL && from->read_at[whole] == NULL))
			is_own &= after - before != length;
		if (!is_own || after < before)
			continue;
		emit_named_u64(emitter, sources[i].name, after - before);
	}
	return emit_end(emitter, '}');
}

static bool emit_window_resident(struct emitter *emitter)
{
	const struct snapshot *from = emitter->snapshot, *now = emitter->end;
	size_t hint = 0;

	emit_begin(emitter, '[');
	for (uint32_t i = 0; i < now->thread_count; i++) {
		const struct resident_record *record;

		if (now->tid[i] != now->tgid[i])
			continue;
		record = snapshot_find_resident(from, now->tgid[i], now->start_time[i], &hint);
		if (record == NULL)
			continue;
		emit_number(emitter, i);
		emit_number(emitter, record->bytes);
	}
	return emit_end(emitter, ']');
}

/* --- what took place since --- */

static bool emit_latency(struct emitter *emitter, const struct object *object)
{
	const struct snapshot_window *window = emitter->window;
	const struct snapshot *latency = emitter->snapshot != emitter->end ? window->latency
					 : window != NULL                  ? window->latency_whole
									   : emitter->snapshot;

	if (latency == NULL || !latency->latency.present)
		return false;
	emit_other(emitter, latency, object, &latency->latency);
	return true;
}

static bool emit_ended(struct emitter *emitter, const struct object *object)
{
	const struct ended *ended = &emitter->window->ended;

	if (ended->count == 0 && !ended->incomplete && !ended->told)
		return false;
	emit_other(emitter, ended->names != NULL ? ended->names : emitter->snapshot, object, ended);
	return true;
}

static bool emit_ended_records(struct emitter *emitter, const struct ended *ended)
{
	emit_begin(emitter, '[');
	for (size_t i = 0; i < ended->count; i++) {
		const struct ended_member member = {
			.names = ended->names->triples[i],
			.record = ended->records[i],
			.is_estimate = ended->has_estimate && i == ended->estimate,
		};

		if (ended_is_void(ended, i))
			continue;
		emit_separator(emitter);
		emit_object(emitter, &ended_record_object, &member);
		emit_flush_full(emitter);
	}
	return emit_end(emitter, ']');
}

static bool emit_amounts(struct emitter *emitter, const struct ended_record *record, bool at_least)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i < ENDED_SLOTS; i++) {
		if (!(record->states[i] & ENDED_COUNTED) ||
		    ((record->states[i] & ENDED_AT_LEAST) != 0) != at_least)
			continue;
		emit_named_u64(emitter, member_slot_name(i), record->amounts[i]);
	}
	return emit_end(emitter, '}');
}

/* The reasons are those of the snapshot that ends the window. */
static bool emit_ended_missed(struct emitter *emitter, const struct ended_record *record)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i < ENDED_SLOTS; i++) {
		if (!(record->states[i] & ENDED_MISSED))
			continue;
		emit_named_reason(emitter, member_slot_name(i), record->reasons[i]);
	}
	return emit_end(emitter, '}');
}

/* --- parts --- */

static bool emit_part_names(struct emitter *emitter)
{
	const struct window_parts *parts = &emitter->window->parts;

	emit_begin(emitter, '[');
	for (size_t i = 0; parts->count != 0 && i < parts->names->triple_count; i++) {
		emit_separator(emitter);
		emit_other(emitter, parts->names, &part_name_object, &parts->names->triples[i]);
	}
	return emit_end(emitter, ']');
}

static bool emit_parts(struct emitter *emitter)
{
	const struct window_parts *parts = &emitter->window->parts;

	emit_begin(emitter, '[');
	for (size_t i = 0; i < parts->count; i++) {
		emit_separator(emitter);
		emit_object(emitter, &part_object, &parts->items[i]);
	}
	return emit_end(emitter, ']');
}

static bool emit_part(struct emitter *emitter, enum member_type type, const struct window_part *part)
{
	emit_begin(emitter, '[');
	for (size_t i = 0; type == MEMBER_PART_INDICES && i < part->count; i++)
		emit_number(emitter, part->names[i]);
	for (size_t i = 0; type == MEMBER_PART_METRICS && i < part->metric_count; i++) {
		emit_separator(emitter);
		emit_text(emitter, metrics[part->metrics[i]].name);
	}
	for (size_t i = 0; type == MEMBER_PART_AMOUNTS && i < part->count * part->metric_count; i++) {
		emit_number(emitter, part->amounts[i]);
		emit_flush_full(emitter);
	}
	return emit_end(emitter, ']');
}

static bool emit_window(struct emitter *emitter, const struct member *member, const void *target)
{
	const void *field = (const char *)target + member->offset;

	switch (member->type) {
	case MEMBER_WINDOW:
		if (emitter->window == NULL)
			return false;
		emit_other(emitter, emitter->window->from, member->object, emitter->window->from);
		return true;
	case MEMBER_WINDOW_THREADS:
		return emit_window_threads(emitter);
	case MEMBER_WINDOW_BORN:
		return emit_threads_that_are(emitter, THREAD_BORN);
	case MEMBER_WINDOW_UNKNOWN:
		return emit_threads_that_are(emitter, THREAD_UNKNOWN);
	case MEMBER_WINDOW_RESIDENT:
		return emit_window_resident(emitter);
	case MEMBER_LATENCY:
		return emit_latency(emitter, member->object);
	case MEMBER_WINDOW_ENDED:
		return emit_ended(emitter, member->object);
	case MEMBER_ELAPSED:
		return emit_elapsed(emitter, target);
	case MEMBER_PART_NAMES:
		return emit_part_names(emitter);
	case MEMBER_PARTS:
		return emit_parts(emitter);
	case MEMBER_PART_INDICES:
	case MEMBER_PART_METRICS:
	case MEMBER_PART_AMOUNTS:
		return emit_part(emitter, member->type, target);
	case MEMBER_ENDED_RECORDS:
		return emit_ended_records(emitter, target);
	case MEMBER_ENDED_COUNTED:
		return emit_amounts(emitter, field, false);
	case MEMBER_ENDED_AT_LEAST:
		return emit_amounts(emitter, field, true);
	case MEMBER_ENDED_MISSED:
		return emit_ended_missed(emitter, field);
	default:
		return false;
	}
}

/* --- all of it --- */

static bool emit_container(struct emitter *emitter, const struct member *member, const void *target)
{
	const void *field = (const char *)target + member->offset;

	switch (member->type) {
	case MEMBER_CPU_SET:
		return emit_cpu_set(emitter, *(const uint64_t *)field);
	case MEMBER_KEY_VALUES:
		return emit_key_values(emitter, field);
	case MEMBER_TEXT_PAIRS:
		return emit_text_pairs(emitter, field, true);
	case MEMBER_NUMBERED_PAIRS:
		return emit_text_pairs(emitter, field, false);
	case MEMBER_NUMBERS:
		return *(const bool *)((const char *)target + member->known) &&
		       emit_numbers(emitter, field, member->count);
	case MEMBER_NAMED_NUMBERS:
	case MEMBER_NAMED_TEXTS:
	case MEMBER_NAMED_REASONS:
		return emit_named_array(emitter, member, field);
	case MEMBER_MISSED:
		return emit_missed(emitter, field);
	case MEMBER_THREADS:
		return emit_threads(emitter);
	case MEMBER_CGROUPS:
		return emit_cgroups(emitter);
	case MEMBER_LIST:
	case MEMBER_LATENCY_SHARES:
	case MEMBER_LATENCY_DELAYS:
	case MEMBER_LATENCY_TIMES:
		return emit_list(emitter, member, target);
	case MEMBER_LATENCY_GROUPS:
		return emit_latency_groups(emitter, target);
	case MEMBER_OWN_NAMES:
		return emit_own_names(emitter, field);
	case MEMBER_FEATURES:
		return emit_features(emitter);
	case MEMBER_SOURCES:
		return emit_sources(emitter);
	case MEMBER_MISSING:
		return emit_missing(emitter);
	case MEMBER_TALLIES:
		return emit_tallies(emitter);
	case MEMBER_BUCKETS:
		return emit_buckets(emitter, field, member->count);
	case MEMBER_WAITS:
		return emit_waits(emitter);
	case MEMBER_WAIT_CLASSES:
		return emit_wait_classes(emitter);
	case MEMBER_WAIT_CLASS:
		return emit_wait_class(emitter, *(const uint8_t *)field);
	case MEMBER_TASK_FIELDS:
		return emit_task_fields(emitter, member->object);
	case MEMBER_TASK_FIELD_EVENTS:
		return emit_task_field_events(emitter);
	case MEMBER_TASK_FIELD_MEMBERS:
		return emit_task_field_members(emitter);
	case MEMBER_TASK_FIELD_ENUMERATORS:
		return emit_task_field_enumerators(emitter, target);
	case MEMBER_TASK_FIELD_VALUES:
		return emit_task_field_values(emitter, *(const size_t *)field);
	case MEMBER_THREAD_MISSING:
		return emit_thread_missing(emitter, *(const size_t *)field);
	case MEMBER_AGES:
		return emit_ages(emitter, *(const size_t *)field);
	default:
		return emit_window(emitter, member, target);
	}
}

int emit_snapshot(const struct snapshot *snapshot, const struct snapshot_window *window,
		  int (*sink)(void *context, const char *text, size_t length), void *context)
{
	struct emitter emitter = {.container = emit_container,
				  .end = snapshot,
				  .window = window,
				  .sink = sink,
				  .context = context};

	begin_snapshot(&emitter, snapshot);
	emit_object(&emitter, &snapshot_object, snapshot);
	emit_flush(&emitter);
	buffer_release(&emitter.json);
	hash_map_release(&emitter.threads.heap);
	free(emitter.values.items);
	return emitter.result;
}
