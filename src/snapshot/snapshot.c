/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

const char *const pressure_resource_names[PRESSURE_RESOURCE_COUNT] = {
	[PRESSURE_CPU] = "cpu",
	[PRESSURE_MEMORY] = "memory",
	[PRESSURE_IO] = "io",
	[PRESSURE_IRQ] = "irq",
};

const struct cgroup_record_entry cgroup_record_fields[CGROUP_RECORD_FIELD_COUNT] = {
#define CGROUP_FIELD(id, field, type, name, merge, member, section, limit, ladder)                           \
	{offsetof(struct cgroup_record, field),                                                              \
	 CGROUP_TYPE_##type,                                                                                 \
	 CGROUP_MERGE_##merge,                                                                               \
	 CGROUP_MEMBER_##member,                                                                             \
	 SECTION_##section,                                                                                  \
	 limit,                                                                                              \
	 LADDER_##ladder},
#include "cgroup_field.def"
#undef CGROUP_FIELD
};

const char *const cgroup_member_names[CGROUP_MEMBER_COUNT] = {
	[CGROUP_MEMBER_CPU_STAT] = "cpu.stat",
	[CGROUP_MEMBER_CPU_MAX] = "cpu.max",
	[CGROUP_MEMBER_CPU_WEIGHT] = "cpu.weight",
	[CGROUP_MEMBER_CPU_WEIGHT_NICE] = "cpu.weight.nice",
	[CGROUP_MEMBER_MEMORY_CURRENT] = "memory.current",
	[CGROUP_MEMBER_MEMORY_MAX] = "memory.max",
	[CGROUP_MEMBER_MEMORY_HIGH] = "memory.high",
	[CGROUP_MEMBER_MEMORY_LOW] = "memory.low",
	[CGROUP_MEMBER_MEMORY_MIN] = "memory.min",
	[CGROUP_MEMBER_MEMORY_STAT] = "memory.stat",
	[CGROUP_MEMBER_MEMORY_EVENTS] = "memory.events",
	[CGROUP_MEMBER_PIDS_CURRENT] = "pids.current",
	[CGROUP_MEMBER_PIDS_MAX] = "pids.max",
	[CGROUP_MEMBER_CPU_PRESSURE] = "cpu.pressure",
	[CGROUP_MEMBER_MEMORY_PRESSURE] = "memory.pressure",
	[CGROUP_MEMBER_IO_PRESSURE] = "io.pressure",
	[CGROUP_MEMBER_IRQ_PRESSURE] = "irq.pressure",
};

const char *const parse_file_names[PARSE_FILE_COUNT] = {
	[PARSE_FILE_CGROUP] = "cgroup",
	[PARSE_FILE_IO] = "io",
	[PARSE_FILE_SCHED] = "sched",
	[PARSE_FILE_SCHEDSTAT] = "schedstat",
	[PARSE_FILE_SMAPS_ROLLUP] = "smaps_rollup",
	[PARSE_FILE_STAT] = "stat",
	[PARSE_FILE_STATUS] = "status",
};

const char *const namespace_names[NAMESPACE_COUNT] = {
	[NAMESPACE_PID] = "pid", [NAMESPACE_USER] = "user",     [NAMESPACE_NET] = "net",
	[NAMESPACE_MNT] = "mnt", [NAMESPACE_CGROUP] = "cgroup", [NAMESPACE_TIME] = "time",
};

const char *const root_names[ROOT_COUNT] = {
	[ROOT_PROC] = "proc",
	[ROOT_SYS] = "sys",
	[ROOT_CGROUP] = "cgroup",
};

enum {
	FIRST_CAPACITY = 64,
	DEFAULT_PERIOD_US = 100000, /* of cpu.max where it says nothing (kernel/sched/core.c) */
};

struct snapshot *snapshot_create(void)
{
	struct snapshot *snapshot = memory_allocate_zero(1, sizeof(*snapshot));

	atomic_init(&snapshot->references, 1);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	return snapshot;
}

struct snapshot *snapshot_reference(struct snapshot *snapshot)
{
	atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
	return snapshot;
}

void snapshot_release(struct snapshot *snapshot)
{
	if (snapshot == NULL ||
	    atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) != 1)
		return;
	free(snapshot->tid);
	free(snapshot->tgid);
	free(snapshot->triple);
	free(snapshot->uid);
	free(snapshot->thread_flags);
	free(snapshot->start_time);
	free(snapshot->stuck_ns);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		free(snapshot->values[i]);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		free(snapshot->source_reason[i]);
		free(snapshot->read_at[i]);
	}
	free(snapshot->exceptions);
	free(snapshot->triples);
	free(snapshot->triple_slots);
	free(snapshot->smaps);
	free(snapshot->cgroups);
	free(snapshot->unknown_reasons);
	string_pool_release(&snapshot->strings);
	cpu_set_release(&snapshot->cpu_sets);
	arena_release(&snapshot->arena);
	free(snapshot);
}

/* Resizes a column of `size`-byte elements and zeroes what is new. */
static void *enlarge_column(void *column, size_t old_capacity, size_t capacity, size_t size)
{
	column = memory_resize(column, capacity, size);
	memset((char *)column + old_capacity * size, 0, (capacity - old_capacity) * size);
	return column;
}

void snapshot_reserve(struct snapshot *snapshot, size_t capacity)
{
	size_t old = snapshot->thread_capacity;

	if (capacity <= old)
		return;
	snapshot->tid = enlarge_column(snapshot->tid, old, capacity, sizeof(*snapshot->tid));
	snapshot->tgid = enlarge_column(snapshot->tgid, old, capacity, sizeof(*snapshot->tgid));
	snapshot->triple = enlarge_column(snapshot->triple, old, capacity, sizeof(*snapshot->triple));
	snapshot->uid = enlarge_column(snapshot->uid, old, capacity, sizeof(*snapshot->uid));
	snapshot->thread_flags = enlarge_column(snapshot->thread_flags, old, capacity,
						sizeof(*snapshot->thread_flags));
	snapshot->start_time = enlarge_column(snapshot->start_time, old, capacity,
					      sizeof(*snapshot->start_time));
	if (snapshot->stuck_ns != NULL)
		snapshot->stuck_ns = enlarge_column(snapshot->stuck_ns, old, capacity,
						    sizeof(*snapshot->stuck_ns));
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (snapshot->values[i] != NULL)
			snapshot->values[i] = enlarge_column(snapshot->values[i], old, capacity,
							     sizeof(uint64_t));
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->source_reason[i] != NULL)
			snapshot->source_reason[i] = enlarge_column(snapshot->source_reason[i], old, capacity,
								    sizeof(reason_id));
		if (snapshot->read_at[i] != NULL)
			snapshot->read_at[i] = enlarge_column(snapshot->read_at[i], old, capacity,
							      sizeof(uint64_t));
	}
	snapshot->thread_capacity = capacity;
}

size_t snapshot_add_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid)
{
	size_t thread = snapshot->thread_count;

	if (thread == snapshot->thread_capacity)
		snapshot_reserve(snapshot, thread != 0 ? thread * 2 : FIRST_CAPACITY);
	snapshot->tid[thread] = tid;
	snapshot->tgid[thread] = tgid;
	snapshot->uid[thread] = UINT32_MAX;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->source_reason[i] != NULL)
			snapshot->source_reason[i][thread] = snapshot->default_reason[i];
		if (snapshot->read_at[i] != NULL)
			snapshot->read_at[i][thread] = snapshot->provenance.boottime_ns;
	}
	snapshot->thread_count++;
	return thread;
}

uint64_t *snapshot_column(struct snapshot *snapshot, enum metric metric)
{
	if (snapshot->values[metric] == NULL)
		snapshot->values[metric] = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	return snapshot->values[metric];
}

reason_id *snapshot_source_reasons(struct snapshot *snapshot, enum source source)
{
	if (snapshot->source_reason[source] == NULL) {
		reason_id *column = memory_allocate_zero(snapshot->thread_capacity, sizeof(*column));

		memset(column, snapshot->default_reason[source], snapshot->thread_capacity);
		snapshot->source_reason[source] = column;
	}
	return snapshot->source_reason[source];
}

uint64_t *snapshot_read_times(struct snapshot *snapshot, enum source source)
{
	if (snapshot->read_at[source] == NULL) {
		uint64_t *column = memory_allocate_zero(snapshot->thread_capacity, sizeof(*column));

		for (size_t i = 0; i < snapshot->thread_capacity; i++)
			column[i] = snapshot->provenance.boottime_ns;
		snapshot->read_at[source] = column;
	}
	return snapshot->read_at[source];
}

static size_t triple_hash(struct triple triple)
{
	return (size_t)hash_u64(hash_u64(((uint64_t)triple.pcomm << 32) | triple.comm) ^ triple.cgroup);
}

static bool triple_equal(struct triple a, struct triple b)
{
	return a.pcomm == b.pcomm && a.comm == b.comm && a.cgroup == b.cgroup;
}

static void enlarge_triple_slots(struct snapshot *snapshot)
{
	size_t count = snapshot->triple_slot_count != 0 ? snapshot->triple_slot_count * 2 : FIRST_CAPACITY;

	free(snapshot->triple_slots);
	snapshot->triple_slots = memory_allocate_zero(count, sizeof(*snapshot->triple_slots));
	snapshot->triple_slot_count = count;
	for (size_t i = 0; i < snapshot->triple_count; i++) {
		size_t slot = triple_hash(snapshot->triples[i]) & (count - 1);

		while (snapshot->triple_slots[slot] != 0)
			slot = (slot + 1) & (count - 1);
		snapshot->triple_slots[slot] = (uint32_t)i + 1;
	}
}

/* The slot of a triple, or the empty one where it would go. */
static size_t triple_slot(const struct snapshot *snapshot, struct triple triple)
{
	size_t slot = triple_hash(triple) & (snapshot->triple_slot_count - 1);

	while (snapshot->triple_slots[slot] != 0 &&
	       !triple_equal(snapshot->triples[snapshot->triple_slots[slot] - 1], triple))
		slot = (slot + 1) & (snapshot->triple_slot_count - 1);
	return slot;
}

uint32_t snapshot_intern_triple(struct snapshot *snapshot, struct triple triple)
{
	size_t slot;

	if ((snapshot->triple_count + 1) * 2 > snapshot->triple_slot_count)
		enlarge_triple_slots(snapshot);
	slot = triple_slot(snapshot, triple);
	if (snapshot->triple_slots[slot] != 0)
		return snapshot->triple_slots[slot] - 1;
	snapshot->triples = memory_grow(snapshot->triples, &snapshot->triple_capacity,
					snapshot->triple_count + 1, sizeof(*snapshot->triples));
	snapshot->triples[snapshot->triple_count] = triple;
	snapshot->triple_slots[slot] = (uint32_t)++snapshot->triple_count;
	return snapshot->triple_slots[slot] - 1;
}

uint32_t snapshot_find_triple(const struct snapshot *snapshot, struct triple triple)
{
	if (snapshot->triple_slot_count == 0)
		return UINT32_MAX;
	return snapshot->triple_slots[triple_slot(snapshot, triple)] - 1;
}

void snapshot_add_exception(struct snapshot *snapshot, size_t thread, enum metric metric, reason_id reason)
{
	snapshot->exceptions = memory_grow(snapshot->exceptions, &snapshot->exception_capacity,
					   snapshot->exception_count + 1, sizeof(*snapshot->exceptions));
	snapshot->exceptions[snapshot->exception_count++] = (struct metric_exception){
		.thread = (uint32_t)thread,
		.metric = (uint16_t)metric,
		.reason = reason,
	};
	snapshot->metric_has_exceptions[metric] = true;
}

struct cgroup_record *snapshot_add_cgroup(struct snapshot *snapshot, uint32_t path)
{
	struct cgroup_record *record;

	snapshot->cgroups = memory_grow(snapshot->cgroups, &snapshot->cgroup_capacity,
					snapshot->cgroup_count + 1, sizeof(*snapshot->cgroups));
	record = &snapshot->cgroups[snapshot->cgroup_count++];
	*record = (struct cgroup_record){.path = path, .max_period_us = DEFAULT_PERIOD_US};
	return record;
}

struct smaps_record *snapshot_add_smaps(struct snapshot *snapshot, size_t thread)
{
	struct smaps_record *record;

	snapshot->smaps = memory_grow(snapshot->smaps, &snapshot->smaps_capacity, snapshot->smaps_count + 1,
				      sizeof(*snapshot->smaps));
	record = &snapshot->smaps[snapshot->smaps_count++];
	*record = (struct smaps_record){.thread = (uint32_t)thread};
	return record;
}

reason_id snapshot_reason_intern(struct snapshot *snapshot, const char *name, size_t length)
{
	enum reason known = reason_find(name, length);
	size_t count = snapshot->unknown_reason_count;

	if (known != REASON_COUNT)
		return (reason_id)known;
	for (size_t i = 0; i < count; i++) {
		const char *unknown = snapshot->unknown_reasons[i];

		if (strlen(unknown) == length && memcmp(unknown, name, length) == 0)
			return (reason_id)(REASON_COUNT + i);
	}
	if (REASON_COUNT + count > UINT8_MAX)
		return REASON_UNREADABLE;
	snapshot->unknown_reasons = memory_resize(snapshot->unknown_reasons, count + 1,
						  sizeof(*snapshot->unknown_reasons));
	snapshot->unknown_reasons[count] = arena_duplicate(&snapshot->arena, name, length);
	snapshot->unknown_reason_count++;
	return (reason_id)(REASON_COUNT + count);
}

const char *snapshot_reason_name(const struct snapshot *snapshot, reason_id reason)
{
	return reason < REASON_COUNT ? reasons[reason].name
				     : snapshot->unknown_reasons[reason - REASON_COUNT];
}

const char *snapshot_reason_words(const struct snapshot *snapshot, reason_id reason)
{
	return reason < REASON_COUNT ? reasons[reason].words
				     : snapshot->unknown_reasons[reason - REASON_COUNT];
}
