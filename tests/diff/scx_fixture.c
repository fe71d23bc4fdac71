/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_fixture.h"

#include "base/memory.h"

enum {
	EVENTS_MAX = 4,
};

void scx_fixture_begin(struct snapshot *snapshot, const char *scheduler_name, uint64_t enable_seq,
		       const char *extra)
{
	static const struct scx_enumerator states[] = {{"IDLE", 0}, {"BUSY", 3}};
	const struct scx_member members[SCX_FIXTURE_FIELDS] = {
		{.name = "weight", .type = "u64", .kind = SCX_KIND_UNSIGNED},
		{.name = "sum_runtime", .type = "u64", .kind = SCX_KIND_UNSIGNED},
		{.name = "avg_runtime", .type = "u64", .kind = SCX_KIND_UNSIGNED},
		{.name = "last_run_at", .type = "u64", .kind = SCX_KIND_UNSIGNED},
		{.name = "max_slots", .type = "s64", .kind = SCX_KIND_SIGNED, .is_signed = true},
		{.name = "greedy", .type = "bool", .kind = SCX_KIND_BOOLEAN},
		{.name = "state",
		 .type = "enum state",
		 .kind = SCX_KIND_ENUM,
		 .enumerators = states,
		 .enumerator_count = ARRAY_COUNT(states)},
		{.name = extra, .type = "u64", .kind = SCX_KIND_UNSIGNED},
	};
	struct scx_scheduler *scheduler = scx_scheduler_create(scheduler_name, "task_ctx", "task_data",
							       "task storage",
							       SCX_FIXTURE_FIELDS * sizeof(uint64_t));

	scheduler->enable_seq = enable_seq;
	scheduler->loaded_at_ns = enable_seq * 1000000000;
	for (size_t i = 0; i < SCX_FIXTURE_FIELDS; i++) {
		struct scx_member member = members[i];

		member.bit_offset = (uint32_t)i * 64;
		member.bit_size = 64;
		member.count = 1;
		if (member.name != NULL)
			scx_scheduler_add_member(scheduler, &member);
	}
	snapshot->provenance.present = true;
	snapshot->sched_ext = (struct sched_ext){true, "enabled", 1, 0, 0, enable_seq};
	scx_begin(&snapshot->scx, scheduler, snapshot->thread_count);
	snapshot->scx.read_at_ns = SCX_FIXTURE_NOW;
}

void scx_fixture_add(struct snapshot *snapshot, size_t thread, const uint64_t values[SCX_FIXTURE_FIELDS])
{
	const struct scx_scheduler *scheduler = snapshot->scx.scheduler;
	uint8_t *context = scx_add_context(&snapshot->scx, thread);

	for (size_t i = 0; i < scheduler->member_count; i++)
		scx_member_write(&scheduler->members[i], context, 0, values[i]);
}

void scx_fixture_add_event(struct snapshot *snapshot, const char *name, uint64_t value)
{
	struct scx *scx = &snapshot->scx;

	if (scx->events == NULL)
		scx->events = arena_allocate_zero(&snapshot->arena, EVENTS_MAX, sizeof(*scx->events));
	scx->events[scx->event_count++] = (struct scx_event){name, value};
}
