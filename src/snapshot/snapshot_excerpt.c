/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a snapshot that later ones are counted from. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot.h"

/* Rows that are kept, ascending, and what each row becomes. */
struct keeping {
	uint32_t *rows;
	uint32_t count;
	uint32_t *new_row; /* UINT32_MAX for none */
};

static struct keeping keeping_of(const struct snapshot *snapshot, const bool kept[])
{
	struct keeping keeping = {
		.rows = memory_allocate((snapshot->thread_count + 1) * sizeof(uint32_t)),
		.new_row = memory_allocate((snapshot->thread_count + 1) * sizeof(uint32_t)),
	};

	for (uint32_t row = 0; row < snapshot->thread_count; row++) {
		keeping.new_row[row] = kept[row] ? keeping.count : UINT32_MAX;
		if (kept[row])
			keeping.rows[keeping.count++] = row;
	}
	return keeping;
}

/* Copies the elements of a column that are kept. */
static void *fill_kept(void *copy, const void *column, size_t size, const struct keeping *keeping)
{
	for (uint32_t i = 0; i < keeping->count; i++)
		memcpy((char *)copy + i * size, (const char *)column + keeping->rows[i] * size, size);
	return copy;
}

/* The same in a column of their own; NULL for none. */
static void *copy_kept(const void *column, size_t size, const struct keeping *keeping)
{
	return column != NULL ? fill_kept(memory_allocate(keeping->count * size), column, size, keeping)
			      : NULL;
}

bool snapshot_counts_from(const struct snapshot *snapshot, enum metric metric)
{
	enum metric_kind kind = metric_type(metric)->kind;

	/* of the waits under way the state says what they are for */
	if (metric == METRIC_STATE && (snapshot->waiting_ns != NULL || snapshot->stuck_ns != NULL))
		return true;
	return kind == METRIC_KIND_COUNTER || kind == METRIC_KIND_PEAK;
}

source_set snapshot_sources_counted(const struct snapshot *snapshot)
{
	source_set counted = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const enum source source = snapshot->metric_source[i];

		if (source != SOURCE_NONE && snapshot_counts_from(snapshot, (enum metric)i))
			counted |= source_bit(source) | source_bit(source_whole(source));
	}
	return counted;
}

bool snapshot_agrees(const struct snapshot *a, const struct snapshot *b)
{
	return memcmp(a->metric_reason, b->metric_reason, sizeof(a->metric_reason)) == 0 &&
	       memcmp(a->metric_source, b->metric_source, sizeof(a->metric_source)) == 0;
}

bool *snapshot_find_plain(const struct snapshot *snapshot)
{
	const uint64_t boottime_ns = snapshot->provenance.boottime_ns;
	bool *plain = memory_allocate(snapshot->thread_count + 1);

	for (size_t row = 0; row < snapshot->thread_count; row++)
		plain[row] = snapshot_wait_under_way(snapshot, row) == 0;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const uint64_t *read_at = snapshot->read_at[i];

		for (size_t row = 0; row < snapshot->thread_count && read_at != NULL; row++)
			plain[row] &= read_at[row] == boottime_ns;
	}
	return plain;
}

static void copy_cgroups(struct snapshot *copy, const struct snapshot *from)
{
	for (size_t i = 0; i < from->cgroup_count; i++) {
		struct cgroup_record *record = snapshot_add_cgroup(copy, 0);

		*record = from->cgroups[i];
		record->path = string_pool_copy(&copy->strings, &from->strings, record->path);
		for (size_t field = 0; field < CGROUP_RECORD_FIELD_COUNT; field++) {
			struct key_values *list = (struct key_values *)((char *)record +
									cgroup_record_fields[field].offset);
			struct key_value *items;

			if (cgroup_record_fields[field].type != CGROUP_TYPE_KEY_VALUES || list->count == 0)
				continue;
			items = arena_allocate(&copy->arena, list->count * sizeof(*items));
			for (uint32_t k = 0; k < list->count; k++)
				items[k] = (struct key_value){
					string_pool_copy(&copy->strings, &from->strings, list->items[k].key),
					list->items[k].value};
			list->items = items;
		}
	}
}

static void *copy_list(struct arena *arena, const void *items, size_t size)
{
	return size != 0 ? memcpy(arena_allocate(arena, size), items, size) : NULL;
}

static struct device *copy_device_list(struct arena *arena, const struct device devices[], size_t count)
{
	struct device *copies = copy_list(arena, devices, count * sizeof(*devices));

	for (size_t i = 0; i < count; i++)
		copies[i].name = arena_duplicate(arena, devices[i].name, strlen(devices[i].name));
	return copies;
}

static void copy_devices(struct snapshot *copy, const struct devices *from)
{
	struct devices *to = &copy->provenance.devices;

	to->cpus = copy_list(&copy->arena, from->cpus, from->cpu_count * sizeof(*from->cpus));
	to->disks = copy_device_list(&copy->arena, from->disks, from->disk_count);
	to->networks = copy_device_list(&copy->arena, from->networks, from->network_count);
}

/* Numbers of the host and of the reading; no texts but the names of devices. */
static void copy_facts(struct snapshot *copy, const struct snapshot *from)
{
	struct provenance *to = &copy->provenance;

	*to = from->provenance;
	to->program = to->boot_id = to->hostname = NULL;
	to->capabilities = NULL;
	to->capability_count = 0;
	to->scope = NULL;
	to->scope_count = 0;
	to->tallies = NULL;
	to->heap = NULL;
	to->heap_count = 0;
	to->titles = NULL;
	to->title_count = 0;
	memset(to->roots, 0, sizeof(to->roots));
	to->containers = (struct text_pairs){0};
	copy_devices(copy, &from->provenance.devices);
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		to->features[i] = (struct feature_result){.state = to->features[i].state,
							  .reason = to->features[i].reason};
	copy->captured_at_unix_ns = from->captured_at_unix_ns;
	copy->sched_ext = from->sched_ext;
	copy->sched_ext.state = NULL;
	copy->sched_ext.present = false;
	copy->pressure = from->pressure;
	memcpy(copy->pressure_missing, from->pressure_missing, sizeof(copy->pressure_missing));
	memcpy(copy->default_reason, from->default_reason, sizeof(copy->default_reason));
	memcpy(copy->metric_reason, from->metric_reason, sizeof(copy->metric_reason));
	memcpy(copy->metric_source, from->metric_source, sizeof(copy->metric_source));
	copy->resident_missing = from->resident_missing;
	for (size_t i = 0; i < from->resident_count; i++)
		*MEMORY_APPEND(copy->resident, copy->resident_count,
			       copy->resident_capacity) = from->resident[i];
}

static void copy_task_fields(struct snapshot *copy, const struct snapshot *from,
			     const struct keeping *keeping)
{
	struct task_fields *to = &copy->task_fields;

	to->event_count = from->task_fields.event_count;
	to->events = arena_allocate(&copy->arena, to->event_count * sizeof(*to->events) + 1);
	for (size_t i = 0; i < to->event_count; i++) {
		const struct task_field_event *event = &from->task_fields.events[i];

		to->events[i] = (struct task_field_event){
			arena_duplicate(&copy->arena, event->name, strlen(event->name)), event->value};
	}
	if (from->task_fields.owner == NULL)
		return;
	to->owner = task_field_owner_reference(from->task_fields.owner);
	to->read_at_ns = from->task_fields.read_at_ns;
	to->only_numbers = from->task_fields.only_numbers;
	if (from->task_fields.context_of == NULL)
		return;
	to->context_of = memory_allocate(sizeof(*to->context_of));
	for (uint32_t i = 0; i < keeping->count; i++)
		task_fields_take_row(to, i, &from->task_fields, keeping->rows[i]);
}

struct snapshot *snapshot_excerpt(const struct snapshot *from, const bool kept[], uint32_t **ret_new_row)
{
	const struct keeping keeping = keeping_of(from, kept);
	struct snapshot *copy = snapshot_create();

	copy_facts(copy, from);
	copy_cgroups(copy, from);
	if (keeping.count != 0)
		snapshot_intern_triple(copy, (struct triple){0});
	copy->thread_count = copy->thread_capacity = keeping.count;
	copy->triple = memory_allocate_zero(keeping.count + 1, sizeof(*copy->triple));
#define COPY(column) copy->column = copy_kept(from->column, sizeof(*from->column), &keeping)
	COPY(tid);
	COPY(tgid);
	COPY(uid);
	COPY(thread_flags);
	COPY(start_time);
	COPY(stuck_ns);
	COPY(waiting_ns);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (from->values[i] != NULL && snapshot_counts_from(from, (enum metric)i))
			fill_kept(snapshot_bare_column(copy, (enum metric)i), from->values[i],
				  sizeof(uint64_t), &keeping);
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		COPY(source_reason[i]);
		COPY(read_at[i]);
	}
#undef COPY
	for (size_t i = 0; i < from->exception_count; i++) {
		const struct metric_exception *exception = &from->exceptions[i];

		if (kept[exception->thread])
			snapshot_add_exception(copy, keeping.new_row[exception->thread],
					       (enum metric)exception->metric, exception->reason);
	}
	copy_task_fields(copy, from, &keeping);
	snapshot_finish(copy);
	free(keeping.rows);
	*ret_new_row = keeping.new_row;
	return copy;
}

static void take_row(struct snapshot *snapshot, const struct snapshot *from, uint32_t row)
{
	const size_t thread = snapshot_add_thread(snapshot, from->tgid[row], from->tid[row]);

	snapshot->uid[thread] = from->uid[row];
	snapshot->thread_flags[thread] = from->thread_flags[row];
	snapshot->start_time[thread] = from->start_time[row];
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const uint64_t *column = from->values[i];

		if (column != NULL && column[row] != 0 && snapshot_counts_from(snapshot, (enum metric)i))
			snapshot_column(snapshot, (enum metric)i)[thread] = column[row];
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const reason_id reason = snapshot_source_reason(from, row, (enum source)i);

		if (reason != snapshot_source_reason(snapshot, thread, (enum source)i))
			snapshot_source_reasons(snapshot, (enum source)i)[thread] = reason;
	}
	task_fields_take_row(&snapshot->task_fields, thread, &from->task_fields, row);
}

void snapshot_take_rows(struct snapshot *snapshot, const struct snapshot *from, const uint32_t rows[],
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		take_row(snapshot, from, rows[i]);
}
