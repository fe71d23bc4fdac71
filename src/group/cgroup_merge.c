/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup_merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "cgroup_key.h"

/* Keys of memory.stat that say how much there is now; the others count events. */
static const char *const gauge_keys[] = {
	"anon",
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
	"hugetlb",
};

static bool is_gauge(const char *key)
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
	const struct snapshot *snapshot;
	struct merged_cgroups *result;
	bool by_flags;
	struct gathered stat, events;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void merge_largest(struct optional_u64 *into, struct optional_u64 from)
{
	into->present = into->present && from.present;
	into->value = into->present ? larger(into->value, from.value) : 0;
}

static void merge_smallest(struct optional_u64 *into, struct optional_u64 from)
{
	into->present = into->present && from.present;
	if (!into->present)
		into->value = 0;
	else if (from.value < into->value)
		into->value = from.value;
}

static void merge_present(struct optional_u64 *into, struct optional_u64 from)
{
	into->present = into->present || from.present;
	into->value = number_add_saturating(into->value, from.present ? from.value : 0);
}

static void merge_half(struct pressure_half *into, const struct pressure_half *from)
{
	into->avg10 = (uint16_t)larger(into->avg10, from->avg10);
	into->avg60 = (uint16_t)larger(into->avg60, from->avg60);
	into->avg300 = (uint16_t)larger(into->avg300, from->avg300);
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
	const struct snapshot *snapshot = merge->snapshot;
	struct key_value *items = gathered->items;
	struct key_values joined = {0};

	if (gathered->count == 0)
		return joined;
	qsort_r(items, gathered->count, sizeof(*items), compare_items, (void *)snapshot);
	for (size_t i = 0; i < gathered->count; i++) {
		struct key_value *last = &items[joined.count == 0 ? 0 : joined.count - 1];

		if (joined.count == 0 || last->key != items[i].key)
			items[joined.count++] = items[i];
		else if (has_gauges && is_gauge(snapshot_text(snapshot, last->key)))
			last->value = larger(last->value, items[i].value);
		else
			last->value = number_add_saturating(last->value, items[i].value);
	}
	gathered->count = 0;
	joined.items = arena_allocate(&merge->result->arena, joined.count * sizeof(*items));
	memcpy(joined.items, items, joined.count * sizeof(*items));
	return joined;
}

/* Members that are one number or none. */
static const struct {
	void (*merge)(struct optional_u64 *into, struct optional_u64 from);
	size_t offset;
} optional_members[CGROUP_MEMBER_COUNT] = {
	[CGROUP_MEMBER_CPU_WEIGHT] = {merge_largest, offsetof(struct cgroup_record, weight)},
	[CGROUP_MEMBER_MEMORY_MAX] = {merge_largest, offsetof(struct cgroup_record, memory_max)},
	[CGROUP_MEMBER_MEMORY_HIGH] = {merge_largest, offsetof(struct cgroup_record, memory_high)},
	[CGROUP_MEMBER_MEMORY_LOW] = {merge_smallest, offsetof(struct cgroup_record, memory_low)},
	[CGROUP_MEMBER_MEMORY_MIN] = {merge_smallest, offsetof(struct cgroup_record, memory_min)},
	[CGROUP_MEMBER_PIDS_CURRENT] = {merge_present, offsetof(struct cgroup_record, pids_current)},
	[CGROUP_MEMBER_PIDS_MAX] = {merge_largest, offsetof(struct cgroup_record, pids_max)},
};

static void merge_optional(struct cgroup_record *into, const struct cgroup_record *from,
			   enum cgroup_member member, bool first)
{
	size_t offset = optional_members[member].offset;
	struct optional_u64 *target = (struct optional_u64 *)(void *)((char *)into + offset);
	const struct optional_u64 *source = (const struct optional_u64 *)(const void *)((const char *)from +
											offset);

	if (first)
		*target = *source;
	else
		optional_members[member].merge(target, *source);
}

static void merge_cpu_max(struct cgroup_record *into, const struct cgroup_record *from, bool first)
{
	if (first)
		into->max_quota_us = from->max_quota_us;
	merge_largest(&into->max_quota_us, from->max_quota_us);
	into->max_period_us = larger(into->max_period_us, from->max_period_us);
}

static void merge_weight_nice(struct cgroup_record *into, const struct cgroup_record *from, bool first)
{
	struct optional_i32 *target = &into->weight_nice;

	if (first)
		*target = from->weight_nice;
	target->present = target->present && from->weight_nice.present;
	if (!target->present)
		target->value = 0;
	else if (from->weight_nice.value > target->value)
		target->value = from->weight_nice.value;
}

/* Takes one member of a record in; `first` when no record before had it. */
static void merge_member(struct merge *merge, struct cgroup_record *into, const struct cgroup_record *from,
			 enum cgroup_member member, bool first)
{
	switch (member) {
	case CGROUP_MEMBER_CPU_STAT:
		into->usage_usec = number_add_saturating(into->usage_usec, from->usage_usec);
		into->nr_throttled = number_add_saturating(into->nr_throttled, from->nr_throttled);
		into->throttled_usec = number_add_saturating(into->throttled_usec, from->throttled_usec);
		break;
	case CGROUP_MEMBER_CPU_MAX:
		merge_cpu_max(into, from, first);
		break;
	case CGROUP_MEMBER_CPU_WEIGHT_NICE:
		merge_weight_nice(into, from, first);
		break;
	case CGROUP_MEMBER_MEMORY_CURRENT:
		into->memory_current = larger(into->memory_current, from->memory_current);
		break;
	case CGROUP_MEMBER_MEMORY_STAT:
		gather_list(&merge->stat, &from->memory_stat);
		break;
	case CGROUP_MEMBER_MEMORY_EVENTS:
		gather_list(&merge->events, &from->memory_events);
		break;
	case CGROUP_MEMBER_CPU_PRESSURE:
	case CGROUP_MEMBER_MEMORY_PRESSURE:
	case CGROUP_MEMBER_IO_PRESSURE:
	case CGROUP_MEMBER_IRQ_PRESSURE:
		/* both enumerations list the resources in one order */
		merge_pressure(into, from, (enum pressure_resource)(member - CGROUP_MEMBER_CPU_PRESSURE));
		break;
	default:
		merge_optional(into, from, member, first);
		break;
	}
}

static void merge_record(struct merge *merge, struct merged_cgroup *into, const struct cgroup_record *from)
{
	for (size_t i = 0; i < CGROUP_MEMBER_COUNT; i++) {
		if (!merge->by_flags && from->missing[i] != REASON_READ) {
			if (into->unavailable[i]++ == 0)
				into->reason[i] = from->missing[i];
			continue;
		}
		merge_member(merge, &into->record, from, (enum cgroup_member)i,
			     into->members == into->unavailable[i]);
	}
	into->members++;
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
	uint32_t left_key = keyed->key_of_record[left], right_key = keyed->key_of_record[right];
	int order = string_pool_compare(&keyed->keys, left_key, right_key);

	return order != 0 ? order : (left > right) - (left < right);
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
		cgroup_key_append(&rules, snapshot_text(snapshot, path),
				  string_pool_length(&snapshot->strings, path), &key);
		keyed->key_of_record[i] = string_pool_intern(&keyed->keys, key.data, key.length);
		keyed->order[i] = (uint32_t)i;
	}
	cgroup_key_rules_release(&rules);
	buffer_release(&key);
	qsort_r(keyed->order, snapshot->cgroup_count, sizeof(*keyed->order), compare_records, keyed);
}

struct merged_cgroups *cgroup_merge_create(const struct snapshot *snapshot,
					   const struct grouping_options *options, bool by_flags)
{
	struct merged_cgroups *result = memory_allocate_zero(1, sizeof(*result));
	struct merge merge = {
		.snapshot = snapshot,
		.result = result,
		.by_flags = by_flags || !snapshot->provenance.present,
	};
	struct keyed keyed = {.snapshot = snapshot};
	uint32_t last_key = UINT32_MAX;

	make_keys(&keyed, options);
	result->items = memory_allocate_zero(snapshot->cgroup_count + 1, sizeof(*result->items));
	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		uint32_t record = keyed.order[i];
		uint32_t key = keyed.key_of_record[record];
		struct merged_cgroup *cgroup;

		if (key != last_key)
			result->count++;
		cgroup = &result->items[result->count - 1];
		if (key != last_key) {
			cgroup->key_length = string_pool_length(&keyed.keys, key);
			cgroup->key = arena_duplicate(&result->arena, string_pool_text(&keyed.keys, key),
						      cgroup->key_length);
		}
		merge_record(&merge, cgroup, &snapshot->cgroups[record]);
		last_key = key;
		if (i + 1 < snapshot->cgroup_count && keyed.key_of_record[keyed.order[i + 1]] == key)
			continue;
		cgroup->record.memory_stat = join_gathered(&merge, &merge.stat, true);
		cgroup->record.memory_events = join_gathered(&merge, &merge.events, false);
	}
	free(merge.stat.items);
	free(merge.events.items);
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

enum value_state cgroup_merge_state(const struct merged_cgroup *cgroup, enum cgroup_member member,
				    reason_id *ret_reason)
{
	*ret_reason = cgroup->reason[member];
	return cgroup->unavailable[member] == cgroup->members ? VALUE_UNAVAILABLE : VALUE_READ;
}

bool cgroup_merge_is_partial(const struct merged_cgroup *cgroup, enum cgroup_member member)
{
	return cgroup->unavailable[member] != 0 && cgroup->unavailable[member] != cgroup->members;
}
