/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a snapshot: arrays and objects with open keys, and at the end what had to wait for the rest. */
#include "load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "load_internal.h"
#include "metric/name.h"
#include "snapshot/container_names.h"

/* --- arrays, and objects with open keys: the last value of a repeated key is kept --- */

/* CPU sets. */

static void take_u32(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	(void)loader;
	*(uint32_t *)load_add_element(frame, sizeof(uint32_t)) = (uint32_t)value->number;
}

static void end_cpu_set(struct loader *loader, struct frame *frame)
{
	const uint32_t *numbers = (const void *)frame->elements.data;
	struct buffer *text = &loader->last_set.text;
	uint64_t *id = frame->target;

	*id = loader->last_set.id = cpu_set_intern(&loader->snapshot->cpu_sets, numbers, frame->index);
	buffer_clear(text);
	for (size_t i = 0; i < frame->index; i++) {
		buffer_append_char(text, i == 0 ? '[' : ',');
		buffer_append_u64(text, numbers[i]);
	}
	buffer_append_text(text, frame->index == 0 ? "[]" : "]");
}

/* Lists. */

static void *begin_list_element(struct loader *loader, struct frame *frame)
{
	(void)loader;
	return load_add_element(frame, frame->member->object->size);
}

static void end_list(struct loader *loader, struct frame *frame)
{
	char *object = (char *)frame->target - frame->member->offset;
	const struct buffer *elements = &frame->elements;

	if (elements->length == 0)
		return;
	*(void **)frame->target = arena_allocate(&loader->snapshot->arena, elements->length);
	memcpy(*(void **)frame->target, elements->data, elements->length);
	*(size_t *)(void *)(object + frame->member->known) = elements->length / frame->member->object->size;
}

/* Objects with open keys that are kept in ascending order: memory.stat, smaps_rollup, host's maps. */

static struct load_entry *add_entry(struct loader *loader, struct frame *frame)
{
	struct load_entry *entry = load_add_element(frame, sizeof(*entry));

	*entry = (struct load_entry){
		.key = string_pool_intern(&loader->snapshot->strings, frame->key.data, frame->key.length),
		.index = (uint32_t)frame->index,
	};
	return entry;
}

static struct load_entry *entries_of(struct frame *frame)
{
	return (void *)frame->elements.data;
}

static void take_number_entry(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	add_entry(loader, frame)->value = value->number;
}

static void take_text_entry(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	add_entry(loader, frame)->text = load_text(loader, value->text, value->length);
}

static int compare_entries(const void *left, const void *right, void *snapshot_pointer)
{
	const struct snapshot *snapshot = snapshot_pointer;
	const struct load_entry *a = left, *b = right;
	int order = string_pool_compare(&snapshot->strings, a->key, b->key);

	return order != 0 ? order : order_u64(a->index, b->index);
}

/* Decimal numbers: the shorter one is the smaller one. */
static int compare_numbered_entries(const void *left, const void *right, void *snapshot_pointer)
{
	const struct snapshot *snapshot = snapshot_pointer;
	const struct load_entry *a = left, *b = right;
	int order = order_u64(string_pool_length(&snapshot->strings, a->key),
			      string_pool_length(&snapshot->strings, b->key));

	return order != 0 ? order : compare_entries(left, right, snapshot_pointer);
}

/* Sorts the entries of the object that ends, unless they are sorted, and drops all but the last of a key. */
static size_t sort_entries(struct loader *loader, struct frame *frame,
			   int (*compare)(const void *left, const void *right, void *snapshot))
{
	struct load_entry *entries = entries_of(frame);
	size_t kept = 0, ascending = 1;

	while (ascending < frame->index &&
	       compare(&entries[ascending - 1], &entries[ascending], loader->snapshot) < 0 &&
	       entries[ascending - 1].key != entries[ascending].key)
		ascending++;
	if (ascending >= frame->index)
		return frame->index;
	qsort_r(entries, frame->index, sizeof(*entries), compare, loader->snapshot);
	for (size_t i = 0; i < frame->index; i++) {
		if (i + 1 == frame->index || entries[i].key != entries[i + 1].key)
			entries[kept++] = entries[i];
	}
	return kept;
}

static void end_key_values(struct loader *loader, struct frame *frame)
{
	size_t count = sort_entries(loader, frame, compare_entries);
	struct key_values *values = frame->target;

	values->count = (uint32_t)count;
	if (count == 0)
		return;
	values->items = arena_allocate(&loader->snapshot->arena, count * sizeof(*values->items));
	for (size_t i = 0; i < count; i++)
		values->items[i] = (struct key_value){
			.key = entries_of(frame)[i].key,
			.value = entries_of(frame)[i].value,
		};
}

static void keep_text_pairs(struct loader *loader, struct frame *frame, size_t count)
{
	struct text_pairs *pairs = frame->target;

	pairs->present = true;
	pairs->count = count;
	pairs->items = arena_allocate(&loader->snapshot->arena, count * sizeof(*pairs->items));
	for (size_t i = 0; i < count; i++)
		pairs->items[i] = (struct text_pair){
			.key = snapshot_text(loader->snapshot, entries_of(frame)[i].key),
			.value = entries_of(frame)[i].text,
		};
}

static void end_text_pairs(struct loader *loader, struct frame *frame)
{
	keep_text_pairs(loader, frame, sort_entries(loader, frame, compare_entries));
}

static void end_numbered_pairs(struct loader *loader, struct frame *frame)
{
	keep_text_pairs(loader, frame, sort_entries(loader, frame, compare_numbered_entries));
}

/* Objects and arrays of a fixed size; what is beyond it, or has an unknown name, is left out. */

static void take_slot(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	(void)loader;
	if (frame->index < frame->member->count)
		((uint64_t *)frame->target)[frame->index] = value->number;
}

static void end_number_slots(struct loader *loader, struct frame *frame)
{
	char *object = (char *)frame->target - frame->member->offset;

	(void)loader;
	*(bool *)(object + frame->member->known) = frame->index >= frame->member->count;
}

static void take_named(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	const struct member *member = frame->member;
	const size_t index = name_find(member->names, member->count, sizeof(char *), frame->key.data,
				       frame->key.length);

	if (index == member->count)
		return;
	if (member->type == MEMBER_NAMED_NUMBERS)
		((uint64_t *)frame->target)[index] = value->number;
	else if (member->type == MEMBER_NAMED_TEXTS)
		((const char **)frame->target)[index] = load_text(loader, value->text, value->length);
	else
		((reason_id *)frame->target)[index] = reason_intern(value->text, value->length);
}

static void take_missed(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	(void)loader;
	((uint64_t *)frame->target)[reason_intern(frame->key.data, frame->key.length)] = value->number;
}

/* Cgroups. */

static void *begin_cgroup(struct loader *loader, struct frame *frame)
{
	uint32_t path = string_pool_intern(&loader->snapshot->strings, frame->key.data, frame->key.length);

	return snapshot_add_cgroup(loader->snapshot, path);
}

/* A flat record of an older generation has these two readings and no other. */
static void end_cgroup(struct loader *loader, const struct frame *element)
{
	struct cgroup_record *record = element->target;

	if ((element->seen[0] & 1) != 0) { /* has the first member of a nested record */
		/* a part of the file that is not there */
		if (record->missing[CGROUP_FILE_CPU_STAT] != REASON_READ)
			record->missing[CGROUP_FILE_CPU_THROTTLING] = record->missing[CGROUP_FILE_CPU_STAT];
		return;
	}
	loader->notes.older_cgroup = true;
	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++)
		record->missing[i] = REASON_NOT_IN_FILE;
	record->missing[CGROUP_FILE_CPU_STAT] = REASON_READ;
	record->missing[CGROUP_FILE_CPU_THROTTLING] = REASON_READ;
	record->missing[CGROUP_FILE_MEMORY_CURRENT] = REASON_READ;
}

/* Parts of the `ctop` objects. */

static void *begin_feature(struct loader *loader, struct frame *frame)
{
	enum feature feature = feature_find(frame->key.data, frame->key.length);

	return feature != FEATURE_COUNT ? &loader->snapshot->provenance.features[feature] : NULL;
}

static void take_source(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	enum metric metric = metric_find(frame->key.data, frame->key.length);
	enum source source = source_find(value->text, value->length);

	if (metric != METRIC_NONE && source != SOURCE_NONE &&
	    (source == metrics[metric].source || source == metrics[metric].equivalent_source))
		loader->snapshot->metric_source[metric] = source;
}

static enum pressure_resource find_pressure(const struct buffer *key)
{
	static const size_t prefix = sizeof(PRESSURE_MISSING_PREFIX) - 1;

	if (key->length <= prefix || memcmp(key->data, PRESSURE_MISSING_PREFIX, prefix) != 0)
		return PRESSURE_RESOURCE_COUNT;
	return (enum pressure_resource)name_find(pressure_resource_names, PRESSURE_RESOURCE_COUNT,
						 sizeof(char *), key->data + prefix, key->length - prefix);
}

static bool is_task_fields(const struct buffer *key)
{
	return key->length == strlen(TASK_FIELDS_MISSING) &&
	       memcmp(key->data, TASK_FIELDS_MISSING, key->length) == 0;
}

static void take_missing(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	enum source source = source_find(frame->key.data, frame->key.length);
	enum metric metric = metric_find(frame->key.data, frame->key.length);
	enum pressure_resource resource = find_pressure(&frame->key);
	const reason_id reason = reason_intern(value->text, value->length);

	if (source != SOURCE_NONE)
		loader->snapshot->default_reason[source] = reason;
	else if (metric != METRIC_NONE)
		loader->snapshot->metric_reason[metric] = reason;
	else if (resource != PRESSURE_RESOURCE_COUNT)
		loader->snapshot->pressure_missing[resource] = reason;
	else if (is_task_fields(&frame->key))
		loader->task_fields.is_missing = reason != REASON_READ;
}

static void take_thread_missing(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	enum source source = source_find(frame->key.data, frame->key.length);
	enum metric metric = metric_find(frame->key.data, frame->key.length);

	if (is_task_fields(&frame->key))
		load_task_fields_thread_missing(loader, reason_intern(value->text, value->length));
	if (source == SOURCE_NONE && metric == METRIC_NONE)
		return;
	*MEMORY_APPEND(loader->reasons.items, loader->reasons.count,
		       loader->reasons.capacity) = (struct pending_reason){
		.thread = (uint32_t)loader->thread.index,
		.key = (uint16_t)(source != SOURCE_NONE ? (size_t)source : SOURCE_COUNT + (size_t)metric),
		.reason = reason_intern(value->text, value->length),
	};
}

static void take_age(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	enum source source = source_find(frame->key.data, frame->key.length);

	if (source == SOURCE_NONE)
		return;
	*MEMORY_APPEND(loader->ages.items, loader->ages.count, loader->ages.capacity) = (struct pending_age){
		.thread = (uint32_t)loader->thread.index,
		.source = (uint16_t)source,
		.age_ns = value->number,
	};
}

static void *begin_tally(struct loader *loader, struct frame *frame)
{
	enum source source = source_find(frame->key.data, frame->key.length);
	struct tally **tallies = frame->target;

	if (source == SOURCE_NONE)
		return NULL;
	if (*tallies == NULL)
		*tallies = arena_allocate_zero(&loader->snapshot->arena, SOURCE_COUNT, sizeof(**tallies));
	(*tallies)[source] = (struct tally){0};
	return &(*tallies)[source];
}

/* As many as sums have (latency.h); more are left out. */
static void *begin_latency_group(struct loader *loader, struct frame *frame)
{
	if (frame->index > LATENCY_RECORDS_MAX)
		return NULL;
	loader->own_names = 0;
	loader->latency_group = (struct latency_group){0};
	return &loader->latency_group;
}

static void end_latency_group(struct loader *loader, const struct frame *element)
{
	(void)element;
	load_mark_names(loader, &loader->latency_group.names.pcomm, false);
	latency_add_group(loader->snapshot, &loader->latency_group);
}

static void take_own_name(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	const size_t name = name_find(member_name_words, MEMBER_NAME_WORDS, sizeof(char *), value->text,
				      value->length);

	(void)frame;
	if (name < MEMBER_NAME_WORDS)
		loader->own_names |= (uint8_t)(1U << name);
}

/* The same. */
static void *begin_latency_share(struct loader *loader, struct frame *frame)
{
	struct latency *latency = &loader->snapshot->latency;
	struct latency_share *share;

	if (frame->index > LATENCY_SHARES_MAX)
		return NULL;
	share = MEMORY_APPEND(latency->shares, latency->share_count, latency->share_capacity);
	*share = (struct latency_share){0};
	return share;
}

/* The same. */
static void *begin_latency_delay(struct loader *loader, struct frame *frame)
{
	struct latency *latency = &loader->snapshot->latency;
	struct latency_delay *delay;

	if (frame->index > LATENCY_DELAYS_MAX)
		return NULL;
	delay = MEMORY_APPEND(latency->delays, latency->delay_count, latency->delay_capacity);
	*delay = (struct latency_delay){0};
	return delay;
}

/* As many as sums have at most: with known processes, and without. */
static void *begin_latency_time(struct loader *loader, struct frame *frame)
{
	struct latency *latency = &loader->snapshot->latency;
	struct latency_time *time;

	if (frame->index > LATENCY_TIMES_MAX + LATENCY_RECORDS_MAX * WAIT_CLASS_COUNT)
		return NULL;
	time = MEMORY_APPEND(latency->times, latency->time_count, latency->time_capacity);
	*time = (struct latency_time){0};
	return time;
}

static const struct container containers[MEMBER_TYPE_COUNT] = {
	[MEMBER_CPU_SET] = {JSON_ARRAY, LOAD_NUMBERS_32, .elements = "a CPU number", .take = take_u32,
			    .end = end_cpu_set},
	[MEMBER_KEY_VALUES] = {JSON_OBJECT, LOAD_NUMBERS, .take = take_number_entry, .end = end_key_values},
	[MEMBER_TEXT_PAIRS] = {JSON_OBJECT, LOAD_STRINGS, .take = take_text_entry, .end = end_text_pairs},
	[MEMBER_NUMBERED_PAIRS] = {JSON_OBJECT, LOAD_STRINGS, .take = take_text_entry,
				   .end = end_numbered_pairs},
	[MEMBER_NUMBERS] = {JSON_ARRAY, LOAD_NUMBERS, .take = take_slot, .end = end_number_slots},
	[MEMBER_NAMED_NUMBERS] = {JSON_OBJECT, LOAD_NUMBERS, .take = take_named},
	[MEMBER_NAMED_TEXTS] = {JSON_OBJECT, LOAD_STRINGS, .take = take_named},
	[MEMBER_NAMED_REASONS] = {JSON_OBJECT, LOAD_STRINGS, .take = take_named},
	[MEMBER_MISSED] = {JSON_OBJECT, LOAD_NUMBERS, .take = take_missed},
	[MEMBER_THREADS] = {JSON_ARRAY, LOAD_OBJECTS, .elements = "a thread record",
			    .element = &thread_object, .begin_element = load_begin_thread,
			    .end_element = load_end_thread},
	[MEMBER_CGROUPS] = {JSON_OBJECT, LOAD_OBJECTS, .elements = "a cgroup record",
			    .element = &cgroup_object, .begin_element = begin_cgroup,
			    .end_element = end_cgroup},
	[MEMBER_LIST] = {JSON_ARRAY, LOAD_OBJECTS, .begin_element = begin_list_element, .end = end_list},
	[MEMBER_FEATURES] = {JSON_OBJECT, LOAD_OBJECTS, .element = &feature_object,
			     .begin_element = begin_feature},
	[MEMBER_SOURCES] = {JSON_OBJECT, LOAD_STRINGS, .take = take_source},
	[MEMBER_MISSING] = {JSON_OBJECT, LOAD_STRINGS, .take = take_missing},
	[MEMBER_TALLIES] = {JSON_OBJECT, LOAD_OBJECTS, .element = &tally_object,
			    .begin_element = begin_tally},
	[MEMBER_LATENCY_GROUPS] = {JSON_ARRAY, LOAD_OBJECTS, .begin_element = begin_latency_group,
				   .end_element = end_latency_group},
	[MEMBER_OWN_NAMES] = {JSON_ARRAY, LOAD_STRINGS, .take = take_own_name},
	[MEMBER_LATENCY_SHARES] = {JSON_ARRAY, LOAD_OBJECTS, .begin_element = begin_latency_share},
	[MEMBER_LATENCY_DELAYS] = {JSON_ARRAY, LOAD_OBJECTS, .begin_element = begin_latency_delay},
	[MEMBER_LATENCY_TIMES] = {JSON_ARRAY, LOAD_OBJECTS, .begin_element = begin_latency_time},
	[MEMBER_BUCKETS] = {JSON_ARRAY, LOAD_NUMBERS, .take = take_slot},
	[MEMBER_TASK_FIELD_EVENTS] = {JSON_OBJECT, LOAD_NUMBERS, .take = load_task_field_event},
	[MEMBER_TASK_FIELD_MEMBERS] = {JSON_ARRAY, LOAD_OBJECTS, .element = &task_field_member_object,
				       .begin_element = load_task_field_begin_member,
				       .end_element = load_task_field_end_member},
	[MEMBER_TASK_FIELD_ENUMERATORS] = {JSON_OBJECT, LOAD_INTEGERS, .take = load_task_field_enumerator,
					   .end = end_list},
	[MEMBER_TASK_FIELD_VALUES] = {JSON_ARRAY, LOAD_INTEGERS, .take = load_task_field_value,
				      .end = load_task_field_end_values},
	[MEMBER_THREAD_MISSING] = {JSON_OBJECT, LOAD_STRINGS, .take = take_thread_missing},
	[MEMBER_AGES] = {JSON_OBJECT, LOAD_NUMBERS, .take = take_age},
	[MEMBER_ELAPSED] = {JSON_OBJECT, LOAD_NUMBERS, .take = take_age},
	[MEMBER_WINDOW_THREADS] = {JSON_ARRAY, LOAD_OBJECTS, .elements = "a thread record",
				   .element = &window_thread_object, .begin_element = load_begin_thread,
				   .end_element = load_end_window_thread},
	[MEMBER_WINDOW_BORN] = {JSON_ARRAY, LOAD_NUMBERS, .take = load_window_index},
	[MEMBER_WINDOW_UNKNOWN] = {JSON_ARRAY, LOAD_NUMBERS, .take = load_window_index},
	[MEMBER_WINDOW_RESIDENT] = {JSON_ARRAY, LOAD_NUMBERS, .take = load_window_index},
	[MEMBER_PART_NAMES] = {JSON_ARRAY, LOAD_OBJECTS, .element = &part_name_object,
			       .begin_element = load_begin_part_name, .end_element = load_end_part_name},
	[MEMBER_PARTS] = {JSON_ARRAY, LOAD_OBJECTS, .element = &part_object, .begin_element = load_begin_part,
			  .end_element = load_end_part},
	[MEMBER_PART_INDICES] = {JSON_ARRAY, LOAD_NUMBERS_32, .take = load_part_index},
	[MEMBER_PART_METRICS] = {JSON_ARRAY, LOAD_STRINGS, .take = load_part_metric},
	[MEMBER_PART_AMOUNTS] = {JSON_ARRAY, LOAD_NUMBERS, .take = load_part_amount},
	[MEMBER_ENDED_RECORDS] = {JSON_ARRAY, LOAD_OBJECTS, .element = &ended_record_object,
				  .begin_element = load_begin_ended, .end_element = load_end_ended},
	[MEMBER_ENDED_COUNTED] = {JSON_OBJECT, LOAD_NUMBERS, .take = load_ended_amount},
	[MEMBER_ENDED_AT_LEAST] = {JSON_OBJECT, LOAD_NUMBERS, .take = load_ended_amount},
	[MEMBER_ENDED_MISSED] = {JSON_OBJECT, LOAD_STRINGS, .take = load_ended_missed},
};

/* --- at the end --- */

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

/* Keeps the durations of waits if the file says that it has them; waits for a CPU and in D are in stuck_ns,
 * too. */
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

/* What threads wait for is known of none: where the file gives no other reason, it is not in the file. */
static void mark_waits_not_in_file(struct snapshot *snapshot)
{
	reason_id *reasons = snapshot->source_reason[SOURCE_WAIT];

	if (snapshot->default_reason[SOURCE_WAIT] == REASON_READ)
		snapshot->default_reason[SOURCE_WAIT] = REASON_NOT_IN_FILE;
	for (size_t i = 0; reasons != NULL && i < snapshot->thread_count; i++) {
		if (reasons[i] == REASON_READ)
			reasons[i] = REASON_NOT_IN_FILE;
	}
}

/* Keeps what threads wait for if the file says that it has it. The beginning of a window never has it. */
static void apply_wait_classes(struct loader *loader)
{
	struct snapshot *snapshot = loader->snapshot;

	if (loader->knows_wait_classes && snapshot->wait_class == NULL)
		snapshot_make_wait_columns(snapshot);
	if (loader->knows_wait_classes)
		return;
	free(snapshot->wait_class);
	free(snapshot->wait_object);
	snapshot->wait_class = NULL;
	snapshot->wait_object = NULL;
	if (loader->outer == NULL)
		mark_waits_not_in_file(snapshot);
}

/* Beside the processes of `heap` those known only from the `layout` of their threads. */
static void apply_heap(struct loader *loader)
{
	struct provenance *provenance = &loader->snapshot->provenance;
	struct heap_process *all;
	struct hash_map known = {0};
	uint32_t unused;

	if (loader->layouts.count == 0)
		return;
	all = arena_allocate_zero(&loader->snapshot->arena, provenance->heap_count + loader->layouts.count,
				  sizeof(*all));
	for (size_t i = 0; i < provenance->heap_count; i++) {
		all[i] = provenance->heap[i];
		hash_map_set(&known, all[i].tgid, 0);
	}
	for (size_t i = 0; i < loader->layouts.count; i++) {
		const struct pending_layout *pending = &loader->layouts.items[i];

		if (hash_map_get(&known, pending->tgid, &unused))
			continue;
		hash_map_set(&known, pending->tgid, 0);
		all[provenance->heap_count].tgid = pending->tgid;
		all[provenance->heap_count++].layout = pending->layout;
	}
	provenance->heap = all;
	hash_map_release(&known);
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

/* Leaves out devices without a name. */
static size_t check_names(struct device devices[], size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (devices[i].name != NULL)
			devices[kept++] = devices[i];
	}
	return kept;
}

/* Leaves out devices and CPUs that cannot be. */
static void check_devices(struct devices *devices)
{
	size_t count = 0;

	for (size_t i = 0; i < devices->cpu_count; i++) {
		if (devices->cpus[i].number < DEVICES_CPUS_MAX)
			devices->cpus[count++] = devices->cpus[i];
	}
	devices->cpu_count = count;
	devices->disk_count = check_names(devices->disks, devices->disk_count);
	devices->network_count = check_names(devices->networks, devices->network_count);
	if (devices->cpu_end > DEVICES_CPUS_MAX)
		devices->cpu_end = 0;
}

/* Leaves out shares of records that are not there. */
static void check_shares(struct latency *latency)
{
	size_t count = 0;

	for (size_t i = 0; i < latency->share_count; i++) {
		if (latency->shares[i].record < latency->count)
			latency->shares[count++] = latency->shares[i];
	}
	latency->share_count = count;
}

/* Leaves out what delayed records that are not there. */
static void check_delays(struct latency *latency)
{
	size_t count = 0;

	for (size_t i = 0; i < latency->delay_count; i++) {
		if (latency->delays[i].victim < latency->count && latency->delays[i].culprit < latency->count)
			latency->delays[count++] = latency->delays[i];
	}
	latency->delay_count = count;
}

/* Leaves out times of records that are not there, or of no class. */
static void check_times(struct latency *latency)
{
	size_t count = 0;

	for (size_t i = 0; i < latency->time_count; i++) {
		if (latency->times[i].record < latency->count &&
		    latency->times[i].class != WAIT_CLASS_UNKNOWN)
			latency->times[count++] = latency->times[i];
	}
	latency->time_count = count;
}

/* Marks names that ctop made up, in files of versions that did not mark them. */
static void mark_names(struct loader *loader)
{
	const struct loader *whole = loader->outer != NULL ? loader->outer : loader;
	struct snapshot *snapshot = loader->snapshot;

	if (!whole->snapshot->provenance.present || whole->names_are_marked)
		return;
	loader->own_names = 0;
	for (size_t i = 0; i < snapshot->triple_count; i++)
		load_mark_names(loader, &snapshot->triples[i].pcomm, true);
	for (size_t i = 0; i < snapshot->latency.count; i++)
		load_mark_names(loader, &snapshot->latency.records[i].pcomm, true);
}

/* Brings what had to wait into the snapshot, and notes in it what was defaulted. */
static void conclude(struct loader *loader)
{
	mark_names(loader);
	apply_reasons(loader);
	apply_wait_classes(loader);
	apply_ages(loader);
	if (loader->inner != NULL && load_window_fits(loader)) {
		conclude(loader->inner);
		load_window_join(loader);
	}
	apply_waits(loader);
	check_devices(&loader->snapshot->provenance.devices);
	check_shares(&loader->snapshot->latency);
	check_delays(&loader->snapshot->latency);
	check_times(&loader->snapshot->latency);
	apply_resident(loader->snapshot);
	apply_heap(loader);
	load_task_fields_conclude(loader);
	mark_metrics_not_in_file(loader);
	describe_notes(loader);
	snapshot_finish(loader->snapshot);
	container_names_take(loader->snapshot);
}

/* --- all of it --- */

static void release(struct loader *loader)
{
	if (loader->inner != NULL)
		release(loader->inner);
	load_window_release(loader);
	json_reader_release(&loader->json);
	snapshot_release(loader->snapshot);
	for (size_t i = 0; i < LOAD_DEPTH_MAX; i++) {
		buffer_release(&loader->frames[i].key);
		buffer_release(&loader->frames[i].elements);
	}
	buffer_release(&loader->last_set.text);
	free(loader->reasons.items);
	free(loader->ages.items);
	free(loader->layouts.items);
	load_task_fields_release(loader);
	free(loader);
}

static int load_text_of_snapshot(struct loader *loader)
{
	struct json_scalar scalar;

	if (json_reader_scalar(&loader->json, &scalar) < 0)
		return loader->json.result;
	if (scalar.type != JSON_OBJECT) {
		load_refuse(loader, &scalar, "an object");
		return -EBADMSG;
	}
	if (load_object(loader, &snapshot_object, loader->snapshot) < 0)
		return -EBADMSG;
	return json_reader_finish(&loader->json);
}

int load_snapshot(ssize_t (*fetch)(void *context, const char **ret_text), double (*progress)(void *context),
		  void *context, struct snapshot **ret_snapshot, struct error *error)
{
	struct loader *loader = load_create(containers, error);
	struct buffer path = {0};
	int result;

	loader->progress = progress;
	json_reader_begin(&loader->json, "", 0, fetch, context);
	result = load_text_of_snapshot(loader);
	if (loader->json.damage != NULL) {
		load_append_path(loader, &path);
		error_set(error, result, "byte %" PRIu64 ", in %s: %s", json_reader_offset(&loader->json),
			  path.data, loader->json.damage);
		buffer_release(&path);
	} else if (loader->json.result < 0) {
		result = loader->json.result;
	} else if (result == 0) {
		conclude(loader);
		*ret_snapshot = loader->snapshot;
		loader->snapshot = NULL;
	}
	release(loader);
	return result;
}
