/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays and objects with open keys of a snapshot file. Of a repeated key the last value is kept. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "load.h"
#include "metric/name.h"

bool load_element_number(struct loader *loader, const struct json_scalar *scalar, uint64_t largest,
			 uint64_t *ret_value)
{
	if (load_number_u64(scalar, ret_value) && *ret_value <= largest)
		return true;
	return load_refuse(loader, scalar,
			   largest == UINT32_MAX ? "a whole number from 0 to 4294967295"
						 : "a whole number from 0 to 18446744073709551615");
}

static bool load_element_string(struct loader *loader, const struct json_scalar *scalar)
{
	return scalar->type == JSON_STRING || load_refuse(loader, scalar, "a string");
}

/* CPU sets and the scope: arrays of numbers. */

static bool load_u32(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	uint64_t value;

	if (!load_element_number(loader, scalar, UINT32_MAX, &value))
		return false;
	loader->numbers.items = memory_grow(loader->numbers.items, &loader->numbers.capacity,
					    frame->index + 1, sizeof(*loader->numbers.items));
	loader->numbers.items[frame->index] = (uint32_t)value;
	return true;
}

static void end_cpu_set(struct loader *loader, struct frame *frame)
{
	struct buffer *text = &loader->last_set.text;
	uint64_t *id = frame->target;

	*id = loader->last_set.id = cpu_set_intern(&loader->snapshot->cpu_sets, loader->numbers.items,
						   frame->index);
	buffer_clear(text);
	for (size_t i = 0; i < frame->index; i++) {
		buffer_append_char(text, i == 0 ? '[' : ',');
		buffer_append_u64(text, loader->numbers.items[i]);
	}
	buffer_append_text(text, frame->index == 0 ? "[]" : "]");
}

static void end_scope(struct loader *loader, struct frame *frame)
{
	struct provenance *provenance = &loader->snapshot->provenance;

	if (frame->index == 0)
		return;
	provenance->scope = arena_allocate(&loader->snapshot->arena, frame->index * sizeof(uint32_t));
	memcpy(provenance->scope, loader->numbers.items, frame->index * sizeof(uint32_t));
	provenance->scope_count = frame->index;
}

/* Objects with open keys that are kept in ascending order: memory.stat, smaps_rollup, host's maps. */

static struct load_entry *add_entry(struct loader *loader, struct frame *frame)
{
	struct load_entry *entry;

	if (frame->index == 0)
		loader->entries.count = 0;
	entry = MEMORY_APPEND(loader->entries.items, loader->entries.count, loader->entries.capacity);
	*entry = (struct load_entry){
		.key = string_pool_intern(&loader->snapshot->strings, frame->key.data, frame->key.length),
		.index = (uint32_t)frame->index,
	};
	return entry;
}

static bool load_number_entry(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	return load_element_number(loader, scalar, UINT64_MAX, &add_entry(loader, frame)->value);
}

static bool load_text_entry(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	if (!load_element_string(loader, scalar))
		return false;
	add_entry(loader, frame)->text = load_text(loader, scalar);
	return true;
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
static size_t sort_entries(struct loader *loader, const struct frame *frame,
			   int (*compare)(const void *left, const void *right, void *snapshot))
{
	struct load_entry *entries = loader->entries.items;
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
			.key = loader->entries.items[i].key,
			.value = loader->entries.items[i].value,
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
			.key = snapshot_text(loader->snapshot, loader->entries.items[i].key),
			.value = loader->entries.items[i].text,
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

static void end_capabilities(struct loader *loader, struct frame *frame)
{
	struct provenance *provenance = &loader->snapshot->provenance;

	provenance->capability_count = frame->index;
	provenance->capabilities = arena_allocate_zero(&loader->snapshot->arena, frame->index,
						       sizeof(*provenance->capabilities));
	for (size_t i = 0; i < frame->index; i++)
		provenance->capabilities[i] = loader->entries.items[i].text;
}

/* Objects and arrays of a fixed size; what is beyond it, or has an unknown name, is left out. */

static bool load_number_slot(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	uint64_t value;

	if (!load_element_number(loader, scalar, UINT64_MAX, &value))
		return false;
	if (frame->index < frame->member->count)
		((uint64_t *)frame->target)[frame->index] = value;
	return true;
}

static void end_number_slots(struct loader *loader, struct frame *frame)
{
	char *object = (char *)frame->target - frame->member->offset;

	(void)loader;
	*(bool *)(object + frame->member->known) = frame->index >= frame->member->count;
}

static bool load_named(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	const struct member *member = frame->member;
	const size_t index = name_find(member->names, member->count, sizeof(char *), frame->key.data,
				       frame->key.length);
	uint64_t number = 0;

	if (member->type == MEMBER_NAMED_NUMBERS ? !load_element_number(loader, scalar, UINT64_MAX, &number)
						 : !load_element_string(loader, scalar))
		return false;
	if (index == member->count)
		return true;
	if (member->type == MEMBER_NAMED_NUMBERS)
		((uint64_t *)frame->target)[index] = number;
	else if (member->type == MEMBER_NAMED_TEXTS)
		((const char **)frame->target)[index] = load_text(loader, scalar);
	else
		((reason_id *)frame->target)[index] = load_reason(loader, scalar->text, scalar->length);
	return true;
}

static bool load_missed(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	reason_id reason = load_reason(loader, frame->key.data, frame->key.length);

	return load_element_number(loader, scalar, UINT64_MAX, &((uint64_t *)frame->target)[reason]);
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

	if ((element->seen[0] & 1) != 0)
		return; /* has the first member of a nested record */
	loader->notes.older_cgroup = true;
	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++)
		record->missing[i] = REASON_NOT_IN_FILE;
	record->missing[CGROUP_FILE_CPU_STAT] = REASON_READ;
	record->missing[CGROUP_FILE_MEMORY_CURRENT] = REASON_READ;
}

/* Parts of the `ctop` objects. */

static void *begin_feature(struct loader *loader, struct frame *frame)
{
	enum feature feature = feature_find(frame->key.data, frame->key.length);

	return feature != FEATURE_COUNT ? &loader->snapshot->provenance.features[feature] : NULL;
}

static bool load_source(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	enum metric metric = metric_find(frame->key.data, frame->key.length);
	enum source source;

	if (!load_element_string(loader, scalar))
		return false;
	source = source_find(scalar->text, scalar->length);
	if (metric != METRIC_NONE && source != SOURCE_NONE &&
	    (source == metrics[metric].source || source == metrics[metric].equivalent_source))
		loader->snapshot->metric_source[metric] = source;
	return true;
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

static bool load_missing(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	enum source source = source_find(frame->key.data, frame->key.length);
	enum metric metric = metric_find(frame->key.data, frame->key.length);
	enum pressure_resource resource = find_pressure(&frame->key);
	reason_id reason;

	if (!load_element_string(loader, scalar))
		return false;
	reason = load_reason(loader, scalar->text, scalar->length);
	if (source != SOURCE_NONE)
		loader->snapshot->default_reason[source] = reason;
	else if (metric != METRIC_NONE)
		loader->snapshot->metric_reason[metric] = reason;
	else if (resource != PRESSURE_RESOURCE_COUNT)
		loader->snapshot->pressure_missing[resource] = reason;
	else if (is_task_fields(&frame->key))
		loader->task_fields.is_missing = reason != REASON_READ;
	return true;
}

static bool load_thread_missing(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	enum source source = source_find(frame->key.data, frame->key.length);
	enum metric metric = metric_find(frame->key.data, frame->key.length);

	if (!load_element_string(loader, scalar))
		return false;
	if (is_task_fields(&frame->key))
		load_task_fields_thread_missing(loader, load_reason(loader, scalar->text, scalar->length));
	if (source == SOURCE_NONE && metric == METRIC_NONE)
		return true;
	*MEMORY_APPEND(loader->reasons.items, loader->reasons.count,
		       loader->reasons.capacity) = (struct pending_reason){
		.thread = (uint32_t)loader->thread.index,
		.key = (uint16_t)(source != SOURCE_NONE ? (size_t)source : SOURCE_COUNT + (size_t)metric),
		.reason = load_reason(loader, scalar->text, scalar->length),
	};
	return true;
}

static bool load_age(struct loader *loader, struct frame *frame, const struct json_scalar *scalar)
{
	enum source source = source_find(frame->key.data, frame->key.length);
	uint64_t age;

	if (!load_element_number(loader, scalar, UINT64_MAX, &age))
		return false;
	if (source == SOURCE_NONE)
		return true;
	*MEMORY_APPEND(loader->ages.items, loader->ages.count, loader->ages.capacity) = (struct pending_age){
		.thread = (uint32_t)loader->thread.index,
		.source = (uint16_t)source,
		.age_ns = age,
	};
	return true;
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

static void *begin_heap(struct loader *loader, struct frame *frame)
{
	struct heap_process *process = MEMORY_APPEND(loader->heap.items, loader->heap.count,
						     loader->heap.capacity);

	(void)frame;
	*process = (struct heap_process){0};
	return process;
}

/* As many as sums have (latency.h); more are left out. */
static void *begin_latency_record(struct loader *loader, struct frame *frame)
{
	if (frame->index > LATENCY_RECORDS_MAX)
		return NULL;
	return latency_add_record(loader->snapshot, 0, 0, 0);
}

const struct container load_containers[MEMBER_TYPE_COUNT] = {
	[MEMBER_CPU_SET] = {JSON_ARRAY, "a CPU number", .load_scalar = load_u32, .end = end_cpu_set},
	[MEMBER_KEY_VALUES] = {JSON_OBJECT, "a number", .load_scalar = load_number_entry,
			       .end = end_key_values},
	[MEMBER_TEXT_PAIRS] = {JSON_OBJECT, "a string", .load_scalar = load_text_entry,
			       .end = end_text_pairs},
	[MEMBER_NUMBERED_PAIRS] = {JSON_OBJECT, "a string", .load_scalar = load_text_entry,
				   .end = end_numbered_pairs},
	[MEMBER_NUMBERS] = {JSON_ARRAY, "a number", .load_scalar = load_number_slot, .end = end_number_slots},
	[MEMBER_NAMED_NUMBERS] = {JSON_OBJECT, "a number", .load_scalar = load_named},
	[MEMBER_NAMED_TEXTS] = {JSON_OBJECT, "a string", .load_scalar = load_named},
	[MEMBER_NAMED_REASONS] = {JSON_OBJECT, "a string", .load_scalar = load_named},
	[MEMBER_MISSED] = {JSON_OBJECT, "a number", .load_scalar = load_missed},
	[MEMBER_THREADS] = {JSON_ARRAY, "a thread record", .element = &thread_object,
			    .begin_element = load_begin_thread, .end_element = load_end_thread},
	[MEMBER_CGROUPS] = {JSON_OBJECT, "a cgroup record", .element = &cgroup_object,
			    .begin_element = begin_cgroup, .end_element = end_cgroup},
	[MEMBER_CAPABILITIES] = {JSON_ARRAY, "a string", .load_scalar = load_text_entry,
				 .end = end_capabilities},
	[MEMBER_SCOPE] = {JSON_ARRAY, "a process id", .load_scalar = load_u32, .end = end_scope},
	[MEMBER_FEATURES] = {JSON_OBJECT, "an object", .element = &feature_object,
			     .begin_element = begin_feature},
	[MEMBER_SOURCES] = {JSON_OBJECT, "a string", .load_scalar = load_source},
	[MEMBER_MISSING] = {JSON_OBJECT, "a string", .load_scalar = load_missing},
	[MEMBER_TALLIES] = {JSON_OBJECT, "an object", .element = &tally_object, .begin_element = begin_tally},
	[MEMBER_HEAP] = {JSON_ARRAY, "an object", .element = &heap_object, .begin_element = begin_heap},
	[MEMBER_LATENCY_RECORDS] = {JSON_ARRAY, "an object", .element = &latency_record_object,
				    .begin_element = begin_latency_record},
	[MEMBER_BUCKETS] = {JSON_ARRAY, "a number", .load_scalar = load_number_slot},
	[MEMBER_TASK_FIELD_EVENTS] = {JSON_OBJECT, "a number", .load_scalar = load_task_field_event},
	[MEMBER_TASK_FIELD_MEMBERS] = {JSON_ARRAY, "an object", .element = &task_field_member_object,
				       .begin_element = load_task_field_begin_member,
				       .end_element = load_task_field_end_member},
	[MEMBER_TASK_FIELD_ENUMERATORS] = {JSON_OBJECT, "a number",
					   .load_scalar = load_task_field_enumerator},
	[MEMBER_TASK_FIELD_VALUES] = {JSON_ARRAY, "a number", .load_scalar = load_task_field_value,
				      .short_cut = load_task_field_take_values,
				      .end = load_task_field_end_values},
	[MEMBER_THREAD_MISSING] = {JSON_OBJECT, "a string", .load_scalar = load_thread_missing},
	[MEMBER_AGES] = {JSON_OBJECT, "a number", .load_scalar = load_age},
	[MEMBER_ELAPSED] = {JSON_OBJECT, "a number", .load_scalar = load_age},
	[MEMBER_WINDOW_THREADS] = {JSON_ARRAY, "a thread record", .element = &window_thread_object,
				   .begin_element = load_begin_thread, .end_element = load_end_window_thread},
	[MEMBER_WINDOW_BORN] = {JSON_ARRAY, "a number", .load_scalar = load_window_born},
	[MEMBER_WINDOW_UNKNOWN] = {JSON_ARRAY, "a number", .load_scalar = load_window_unknown},
	[MEMBER_WINDOW_RESIDENT] = {JSON_ARRAY, "a number", .load_scalar = load_window_resident},
	[MEMBER_PART_NAMES] = {JSON_ARRAY, "an object", .element = &part_name_object,
			       .begin_element = load_begin_part_name, .end_element = load_end_part_name},
	[MEMBER_PARTS] = {JSON_ARRAY, "an object", .element = &part_object, .begin_element = load_begin_part,
			  .end_element = load_end_part},
	[MEMBER_PART_INDICES] = {JSON_ARRAY, "a number", .load_scalar = load_part_index},
	[MEMBER_PART_METRICS] = {JSON_ARRAY, "a string", .load_scalar = load_part_metric},
	[MEMBER_PART_AMOUNTS] = {JSON_ARRAY, "a number", .load_scalar = load_part_amount},
	[MEMBER_ENDED_RECORDS] = {JSON_ARRAY, "an object", .element = &ended_record_object,
				  .begin_element = load_begin_ended, .end_element = load_end_ended},
	[MEMBER_ENDED_COUNTED] = {JSON_OBJECT, "a number", .load_scalar = load_ended_amount},
	[MEMBER_ENDED_AT_LEAST] = {JSON_OBJECT, "a number", .load_scalar = load_ended_amount},
	[MEMBER_ENDED_MISSED] = {JSON_OBJECT, "a string", .load_scalar = load_ended_missed},
};
