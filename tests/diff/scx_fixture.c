/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_fixture.h"

#include "base/memory.h"

enum {
	EVENTS_MAX = 4,
};

void scx_fixture_begin(struct snapshot *snapshot, const char *scheduler_name, uint64_t enable_seq,
		       const char *extra)
{
	static const struct task_field_enumerator states[] = {{"IDLE", 0}, {"BUSY", 3}};
	const struct task_field_member members[SCX_FIXTURE_FIELDS] = {
		{.name = "weight", .type = "u64", .kind = TASK_FIELD_KIND_UNSIGNED},
		{.name = "sum_runtime", .type = "u64", .kind = TASK_FIELD_KIND_UNSIGNED},
		{.name = "avg_runtime", .type = "u64", .kind = TASK_FIELD_KIND_UNSIGNED},
		{.name = "last_run_at", .type = "u64", .kind = TASK_FIELD_KIND_UNSIGNED},
		{.name = "max_slots", .type = "s64", .kind = TASK_FIELD_KIND_SIGNED, .is_signed = true},
		{.name = "greedy", .type = "bool", .kind = TASK_FIELD_KIND_BOOLEAN},
		{.name = "state",
		 .type = "enum state",
		 .kind = TASK_FIELD_KIND_ENUM,
		 .enumerators = states,
		 .enumerator_count = ARRAY_COUNT(states)},
		{.name = extra, .type = "u64", .kind = TASK_FIELD_KIND_UNSIGNED},
	};
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, scheduler_name,
								     "task_ctx", "task_data", "task storage",
								     SCX_FIXTURE_FIELDS * sizeof(uint64_t));

	scheduler->enable_seq = enable_seq;
	scheduler->loaded_at_ns = enable_seq * 1000000000;
	for (size_t i = 0; i < SCX_FIXTURE_FIELDS; i++) {
		struct task_field_member member = members[i];

		member.bit_offset = (uint32_t)i * 64;
		member.bit_size = 64;
		member.count = 1;
		if (member.name != NULL)
			task_field_owner_add_member(scheduler, &member);
	}
	snapshot->provenance.present = true;
	snapshot->sched_ext = (struct sched_ext){true, "enabled", 1, 0, 0, enable_seq};
	task_fields_begin(&snapshot->task_fields, scheduler, snapshot->thread_count);
	snapshot->task_fields.read_at_ns = SCX_FIXTURE_NOW;
}

void scx_fixture_add(struct snapshot *snapshot, size_t thread, const uint64_t values[SCX_FIXTURE_FIELDS])
{
	const struct task_field_owner *scheduler = snapshot->task_fields.owner;
	uint8_t *context = task_fields_add_context(&snapshot->task_fields, thread);

	for (size_t i = 0; i < scheduler->member_count; i++)
		task_field_write(&scheduler->members[i], context, 0, values[i]);
}

void scx_fixture_add_event(struct snapshot *snapshot, const char *name, uint64_t value)
{
	struct task_fields *scx = &snapshot->task_fields;

	if (scx->events == NULL)
		scx->events = arena_allocate_zero(&snapshot->arena, EVENTS_MAX, sizeof(*scx->events));
	scx->events[scx->event_count++] = (struct task_field_event){name, value};
}
