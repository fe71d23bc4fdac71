/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "cgroup_key.h"

/* Keys of memory.stat that are present amounts; the others count events. */
static const char *const gauge_keys[] = {"anon",
					 "file",
					 "kernel",
					 "kernel_stack",
					 "pagetables",
					 "sec_pagetables",
					 "percpu",
					 "sock",
					 "vmalloc",
					 "shmem",
					 "zswap",
					 "zswapped",
					 "file_mapped",
					 "file_dirty",
					 "file_writeback",
					 "swapcached",
					 "anon_thp",
					 "file_thp",
					 "shmem_thp",
					 "inactive_anon",
					 "active_anon",
					 "inactive_file",
					 "active_file",
					 "unevictable",
					 "slab_reclaimable",
					 "slab_unreclaimable",
					 "slab",
					 "hugetlb"};

bool cgroup_merge_is_gauge(const char *key)
{
	for (size_t i = 0; i < sizeof(gauge_keys) / sizeof(gauge_keys[0]); i++) {
		if (strcmp(key, gauge_keys[i]) == 0)
			return true;
	}
	return false;
}

/* Items of the lists of all records of one key. */
struct gathered {
	struct key_value *items;
	size_t count, capacity;
};

struct merge {
	const struct window *window;
	struct merged_cgroups *result;
	struct gathered lists[CGROUP_RECORD_FIELD_COUNT]; /* of the records of the present key */
};

static void merge_half(struct pressure_half *into, const struct pressure_half *from)
{
	into->avg10 = (uint16_t)number_larger(into->avg10, from->avg10);
	into->avg60 = (uint16_t)number_larger(into->avg60, from->avg60);
	into->avg300 = (uint16_t)number_larger(into->avg300, from->avg300);
	into->total_usec = number_add_saturating(into->total_usec, from->total_usec);
}

static void merge_pressure(struct cgroup_record *into, const struct cgroup_record *from,
			   enum pressure_resource resource)
{
	merge_half(&into->pressure.resource[resource].some, &from->pressure.resource[resource].some);
	merge_half(&into->pressure.resource[resource].full, &from->pressure.resource[resource].full);
}

static int compare_items(const void *a, const void *b, void *context)
{
	const struct snapshot *snapshot = context;
	const struct key_value *left = a, *right = b;

	return string_pool_compare(&snapshot->strings, left->key, right->key);
}

/* Notes the items of a record; they are joined once, when all records of the key are known. */
static void gather_list(struct gathered *gathered, const struct key_values *list)
{
	if (list->count == 0)
		return;
	gathered->items = memory_grow(gathered->items, &gathered->capacity, gathered->count + list->count,
				      sizeof(*gathered->items));
	memcpy(gathered->items + gathered->count, list->items, list->count * sizeof(*list->items));
	gathered->count += list->count;
}

/* Sorts what was gathered and joins the values of each key: they add, gauges take the largest. */
static struct key_values join_gathered(struct merge *merge, struct gathered *gathered, bool has_gauges)
{
	const struct snapshot *snapshot = merge->window->now;
	struct key_value *items = gathered->items;
	struct key_values joined = {0};

	if (gathered->count == 0)
		return joined;
	qsort_r(items, gathered->count, sizeof(*items), compare_items, (void *)snapshot);
	for (size_t i = 0; i < gathered->count; i++) {
		struct key_value *last = &items[joined.count == 0 ? 0 : joined.count - 1];

		if (joined.count == 0 || last->key != items[i].key)
			items[joined.count++] = items[i];
		else if (has_gauges && cgroup_merge_is_gauge(snapshot_text(snapshot, last->key)))
			last->value = number_larger(last->value, items[i].value);
		else
			last->value = number_add_saturating(last->value, items[i].value);
	}
	gathered->count = 0;
	joined.items = arena_allocate(&merge->result->arena, joined.count * sizeof(*items));
	memcpy(joined.items, items, joined.count * sizeof(*items));
	return joined;
}

static void join_lists(struct merge *merge, struct cgroup_record *record)
{
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
		const struct cgroup_record_entry *entry = &cgroup_record_fields[i];

		if (entry->type == CGROUP_TYPE_KEY_VALUES)
			*(struct key_values *)(void *)((char *)record + entry->offset) = join_gathered(
				merge, &merge->lists[i], entry->merge == CGROUP_MERGE_GAUGES);
	}
}

static void merge_number(enum cgroup_merge merge, uint64_t *into, uint64_t from)
{
	if (merge == CGROUP_MERGE_SUM)
		*into = number_add_saturating(*into, from);
	else if (merge == CGROUP_MERGE_LARGEST)
		*into = number_larger(*into, from);
	else
		*into = *into < from ? *into : from;
}

/* A sum is of the numbers that are there; a limit or floor is there only if every record has one. */
static void merge_optional(enum cgroup_merge merge, struct optional_u64 *into, struct optional_u64 from)
{
	into->present = merge == CGROUP_MERGE_SUM ? into->present || from.present
						  : into->present && from.present;
	if (merge == CGROUP_MERGE_SUM)
		from.value = from.present ? from.value : 0;
	merge_number(merge, &into->value, from.value);
	if (!into->present)
		into->value = 0;
}

static void merge_weight_nice(struct optional_i32 *into, struct optional_i32 from)
{
	into->present = into->present && from.present;
	if (!into->present)
		into->value = 0;
	else if (from.value > into->value)
		into->value = from.value;
}

/* Takes one field of a record in; `first` when no record before had it. */
static void merge_field(struct merge *merge, struct cgroup_record *into, const struct cgroup_record *from,
			enum cgroup_record_field field, bool first)
{
	const struct cgroup_record_entry *entry = &cgroup_record_fields[field];
	const void *source = (const char *)from + entry->offset;
	void *target = (char *)into + entry->offset;

	switch (entry->type) {
	case CGROUP_TYPE_U64:
		merge_number(entry->merge, target, *(const uint64_t *)source);
		break;
	case CGROUP_TYPE_OPTIONAL_U64:
		if (first)
			*(struct optional_u64 *)target = *(const struct optional_u64 *)source;
		else
			merge_optional(entry->merge, target, *(const struct optional_u64 *)source);
		break;
	case CGROUP_TYPE_OPTIONAL_I32:
		if (first)
			*(struct optional_i32 *)target = *(const struct optional_i32 *)source;
		else
			merge_weight_nice(target, *(const struct optional_i32 *)source);
		break;
	case CGROUP_TYPE_KEY_VALUES:
		gather_list(&merge->lists[field], source);
		break;
	}
}

static void merge_record(struct merge *merge, struct merged_cgroup *into, const struct cgroup_record *from)
{
	bool taken[CGROUP_FILE_COUNT], first[CGROUP_FILE_COUNT];

	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++) {
		taken[i] = merge->window->basis == WINDOW_FLAGGED || from->missing[i] == REASON_READ;
		first[i] = into->records == into->unavailable[i];
		if (!taken[i] && into->unavailable[i]++ == 0)
			into->reason[i] = from->missing[i];
	}
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++) {
		enum cgroup_file file = cgroup_record_fields[i].file;

		if (taken[file])
			merge_field(merge, &into->record, from, (enum cgroup_record_field)i, first[file]);
	}
	/* both enumerations list the resources in one order */
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		if (taken[CGROUP_FILE_CPU_PRESSURE + i])
			merge_pressure(&into->record, from, (enum pressure_resource)i);
	}
	into->records++;
}

struct keyed {
	struct string_pool keys;
	const struct snapshot *snapshot;
	uint32_t *key_of_record;
	uint32_t *order; /* records by key, then by path */
};

static int compare_records(const void *a, const void *b, void *context)
{
	const struct keyed *keyed = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = string_pool_compare(&keyed->keys, keyed->key_of_record[left],
					keyed->key_of_record[right]);

	return order != 0 ? order : order_u64(left, right);
}

static void make_keys(struct keyed *keyed, const struct grouping_options *options)
{
	const struct snapshot *snapshot = keyed->snapshot;
	struct cgroup_key_rules rules;
	struct buffer key = {0};

	keyed->key_of_record = memory_allocate_zero(snapshot->cgroup_count + 1, sizeof(uint32_t));
	keyed->order = memory_allocate_zero(snapshot->cgroup_count + 1, sizeof(uint32_t));
	cgroup_key_rules_initialise(&rules, options);
	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		uint32_t path = snapshot->cgroups[i].path;

		buffer_clear(&key);
		cgroup_key_append_name(&rules, snapshot, path, &key);
		keyed->key_of_record[i] = string_pool_intern(&keyed->keys, key.data, key.length);
		keyed->order[i] = (uint32_t)i;
	}
	cgroup_key_rules_release(&rules);
	buffer_release(&key);
	qsort_r(keyed->order, snapshot->cgroup_count, sizeof(*keyed->order), compare_records, keyed);
}

struct merged_cgroups *cgroup_merge_create(const struct window *window,
					   const struct grouping_options *options)
{
	const struct snapshot *snapshot = window->now;
	struct merged_cgroups *result = memory_allocate_zero(1, sizeof(*result));
	struct merge merge = {.window = window, .result = result};
	struct keyed keyed = {.snapshot = snapshot};
	struct merged_cgroup *cgroup = NULL;

	make_keys(&keyed, options);
	result->items = memory_allocate_zero(snapshot->cgroup_count + 1, sizeof(*result->items));
	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		uint32_t record = keyed.order[i];
		uint32_t key = keyed.key_of_record[record];

		if (cgroup == NULL) {
			cgroup = &result->items[result->count++];
			cgroup->key_length = string_pool_length(&keyed.keys, key);
			cgroup->key = arena_duplicate(&result->arena, string_pool_text(&keyed.keys, key),
						      cgroup->key_length);
		}
		merge_record(&merge, cgroup, &snapshot->cgroups[record]);
		if (i + 1 < snapshot->cgroup_count && keyed.key_of_record[keyed.order[i + 1]] == key)
			continue;
		join_lists(&merge, &cgroup->record);
		cgroup = NULL;
	}
	for (size_t i = 0; i < CGROUP_RECORD_FIELD_COUNT; i++)
		free(merge.lists[i].items);
	string_pool_release(&keyed.keys);
	free(keyed.key_of_record);
	free(keyed.order);
	return result;
}

void cgroup_merge_release(struct merged_cgroups *cgroups)
{
	if (cgroups == NULL)
		return;
	arena_release(&cgroups->arena);
	free(cgroups->items);
	free(cgroups);
}

enum value_state cgroup_merge_state(const struct merged_cgroup *cgroup, enum cgroup_file file,
				    reason_id *ret_reason)
{
	*ret_reason = cgroup->reason[file];
	return cgroup->unavailable[file] == cgroup->records ? VALUE_UNAVAILABLE : VALUE_READ;
}

bool cgroup_merge_is_partial(const struct merged_cgroup *cgroup, enum cgroup_file file)
{
	return cgroup->unavailable[file] != 0 && cgroup->unavailable[file] != cgroup->records;
}
