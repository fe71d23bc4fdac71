/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended_set.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"

const enum metric ended_metrics[ENDED_METRICS] = {
	METRIC_RUN_TIME_NS,
	METRIC_WAIT_TIME_NS,
	METRIC_TIMESLICES,
	METRIC_VOLUNTARY_CSW,
	METRIC_NONVOLUNTARY_CSW,
	METRIC_NR_MIGRATIONS,
	METRIC_MINFLT,
	METRIC_MAJFLT,
	METRIC_UTIME_CLOCK_TICKS,
	METRIC_STIME_CLOCK_TICKS,
	METRIC_RCHAR,
	METRIC_WCHAR,
	METRIC_SYSCR,
	METRIC_SYSCW,
	METRIC_READ_BYTES,
	METRIC_WRITE_BYTES,
	METRIC_CANCELLED_WRITE_BYTES,
	METRIC_CPU_DELAY_COUNT,
	METRIC_CPU_DELAY_TOTAL_NS,
	METRIC_BLKIO_DELAY_COUNT,
	METRIC_BLKIO_DELAY_TOTAL_NS,
	METRIC_SWAPIN_DELAY_COUNT,
	METRIC_SWAPIN_DELAY_TOTAL_NS,
	METRIC_FREEPAGES_DELAY_COUNT,
	METRIC_FREEPAGES_DELAY_TOTAL_NS,
	METRIC_THRASHING_DELAY_COUNT,
	METRIC_THRASHING_DELAY_TOTAL_NS,
	METRIC_COMPACT_DELAY_COUNT,
	METRIC_COMPACT_DELAY_TOTAL_NS,
	METRIC_WPCOPY_DELAY_COUNT,
	METRIC_WPCOPY_DELAY_TOTAL_NS,
	METRIC_IRQ_DELAY_COUNT,
	METRIC_IRQ_DELAY_TOTAL_NS,
};

struct ended_set *ended_set_create(void)
{
	struct ended_set *set = memory_allocate_zero(1, sizeof(*set));

	set->names = snapshot_create();
	return set;
}

static uint32_t name_id(struct string_pool *pool, struct name_text name, bool add)
{
	return add ? string_pool_intern(pool, name.text, name.length)
		   : string_pool_find(pool, name.text, name.length);
}

uint32_t ended_set_triple(struct ended_set *set, struct name_text process, struct name_text thread,
			  struct name_text cgroup)
{
	struct string_pool *pool = &set->names->strings;
	const bool add = set->names->triple_count < ENDED_GROUPS_MAX;
	const struct triple triple = {
		.pcomm = name_id(pool, process, add),
		.comm = name_id(pool, thread, add),
		.cgroup = name_id(pool, cgroup, add),
	};
	const uint32_t id = add ? snapshot_intern_triple(set->names, triple)
				: snapshot_find_triple(set->names, triple);

	return id != UINT32_MAX ? id : snapshot_other_triple(set->names);
}

struct ended_group *ended_set_group(struct ended_set *set, uint32_t triple, bool kernel)
{
	const uint64_t key = (uint64_t)triple << 1 | kernel;
	struct ended_group *group;
	uint32_t place;

	if (hash_map_get(&set->group_index, key, &place))
		return &set->groups[place];
	hash_map_set(&set->group_index, key, (uint32_t)set->group_count);
	group = MEMORY_APPEND(set->groups, set->group_count, set->group_capacity);
	*group = (struct ended_group){.triple = triple, .kernel = kernel};
	return group;
}

struct ended_thread *ended_set_add_thread(struct ended_set *set, uint32_t triple, bool kernel)
{
	struct ended_thread *thread;

	if (set->thread_count == ENDED_THREADS_MAX) {
		struct ended_group *group = ended_set_group(set, triple, kernel);

		group->threads++;
		group->unknown++;
		return NULL;
	}
	thread = MEMORY_APPEND(set->threads, set->thread_count, set->thread_capacity);
	*thread = (struct ended_thread){.triple = triple, .kernel = kernel};
	return thread;
}

void started_by_add(struct started_by *sum, struct started_by more)
{
	if (sum->name == more.name && sum->processes != 0)
		sum->processes += more.processes;
	else if (more.processes > sum->processes)
		*sum = more;
}

struct started_by started_by_copy(struct string_pool *to, const struct string_pool *from,
				  struct started_by by)
{
	/* a damaged file may name a parent without processes */
	if (by.processes == 0)
		return (struct started_by){0};
	by.name = string_pool_copy(to, from, by.name);
	return by;
}

void ended_amounts_add(struct ended_amounts *sum, const struct ended_amounts *amounts)
{
	sum->delayed += amounts->delayed;
	for (size_t i = 0; i < ENDED_METRICS; i++)
		sum->of[i] = number_add_saturating(sum->of[i], amounts->of[i]);
}

bool ended_set_sees_all(const struct snapshot *snapshot)
{
	const struct provenance *provenance = &snapshot->provenance;
	const struct feature_result *results = provenance->features;

	return results[FEATURE_ALL_PROCESSES].state == FEATURE_STATE_ON &&
	       results[FEATURE_PID_NAMESPACE].state == FEATURE_STATE_ON && provenance->scope_count == 0;
}

bool ended_set_is_left(const struct snapshot *snapshot)
{
	return snapshot->ended == NULL &&
	       snapshot->provenance.features[FEATURE_EXITS].state == FEATURE_STATE_OFF &&
	       ended_set_sees_all(snapshot) && snapshot->provenance.cpu_ticks_known;
}

/* The triple of another set. */
static uint32_t take_triple(struct ended_set *set, const struct ended_set *from, uint32_t triple)
{
	return snapshot_copy_triple_within(set->names, &from->names->strings, &from->names->triples[triple],
					   ENDED_GROUPS_MAX);
}

void ended_set_absorb(struct ended_set *set, const struct ended_set *from)
{
	for (size_t i = 0; i < from->group_count; i++) {
		const struct ended_group *other = &from->groups[i];
		struct ended_group *group = ended_set_group(set, take_triple(set, from, other->triple),
							    other->kernel);

		group->threads += other->threads;
		group->processes += other->processes;
		group->unknown += other->unknown;
		started_by_add(&group->started_by, started_by_copy(&set->names->strings,
								   &from->names->strings, other->started_by));
		ended_amounts_add(&group->amounts, &other->amounts);
	}
	for (size_t i = 0; i < from->thread_count; i++) {
		const struct ended_thread *other = &from->threads[i];
		uint32_t triple = take_triple(set, from, other->triple);
		struct ended_thread *thread = ended_set_add_thread(set, triple, other->kernel);

		if (thread == NULL)
			continue;
		*thread = *other;
		thread->triple = triple;
	}
	for (size_t i = 0; i < ENDED_METRICS; i++) {
		if (set->reasons[i] == REASON_READ)
			set->reasons[i] = from->reasons[i];
	}
	set->lower_bound |= from->lower_bound;
	set->lost += from->lost;
	set->unread |= from->unread;
}
