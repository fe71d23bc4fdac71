/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen over a real session of made snapshots of a host with sched_ext, steered by a test as
 * driven.h says. Each other command is a round:
 *
 *   none       no scheduler runs
 *   lavd, mini one of these runs, and the contexts of its threads were read
 *   unread     lavd runs, and contexts were not asked for
 *   refused    a scheduler runs, and contexts may not be read
 *
 * What the screen asks for is answered: "scx 1" when it wants contexts, "scx 0" when it does not.
 * Options: --tab=NAME; --file=ROUND shows a file of such a round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "snapshot/task_fields.h"
#include "ui/ui.h"

#include "driven.h"

enum {
	THREADS = 7,
};

static const struct task_field_enumerator states[] = {{"STATE_QUEUED", 0}, {"STATE_RUNNING", 1}};

#define MEMBER(of, at, width) .type = of, .bit_offset = (at)*8, .bit_size = width, .count = 1

static const struct task_field_member lavd_members[] = {
	{.name = "last_runnable_clk", MEMBER("u64", 0, 64)},
	{.name = "avg_runtime", MEMBER("u64", 8, 64)},
	{.name = "svc_time_wwgt", MEMBER("u64", 16, 64)},
	{.name = "slice_wall", MEMBER("u64", 24, 64)},
	{.name = "wait_freq", MEMBER("u64", 32, 64)},
	{.name = "wake_freq", MEMBER("u64", 40, 64)},
	{.name = "lat_cri", MEMBER("u16", 48, 16)},
	{.name = "perf_cri", MEMBER("u16", 50, 16)},
	{.name = "is_greedy", .kind = TASK_FIELD_KIND_BOOLEAN, MEMBER("bool", 52, 8)},
	{.name = "state",
	 .kind = TASK_FIELD_KIND_ENUM,
	 .enumerators = states,
	 .enumerator_count = 2,
	 MEMBER("enum task_state", 56, 32)},
	{.name = "sum_runtime", MEMBER("u64", 64, 64)},
	{.name = "cpu_id", MEMBER("u32", 60, 32)},
	{.name = "cpumask", .kind = TASK_FIELD_KIND_POINTER, MEMBER("struct bpf_cpumask *", 72, 64)},
	{.name = "history",
	 .kind = TASK_FIELD_KIND_ARRAY,
	 .type = "u32[4]",
	 .bit_offset = 80 * 8,
	 .bit_size = 32,
	 .count = 4},
};

static const struct task_field_member mini_members[] = {
	{.name = "vtime", MEMBER("u64", 0, 64)},
	{.name = "weight", MEMBER("u32", 8, 32)},
};

static struct task_field_owner *make_scheduler(bool is_lavd)
{
	struct task_field_owner *scheduler =
		is_lavd ? task_field_owner_create(TASK_FIELD_SOURCE, "lavd_1.1.4_x86_64_unknown_linux_gnu",
						  "task_ctx", "scx_task_map", "arena, id after the context",
						  96)
			: task_field_owner_create(TASK_FIELD_SOURCE, "mini", "mini_ctx", "task_data",
						  "task storage", 16);

	scheduler->enable_seq = is_lavd ? 1 : 2;
	scheduler->loaded_at_ns = 1000000000;
	for (size_t i = 0; is_lavd && i < sizeof(lavd_members) / sizeof(lavd_members[0]); i++)
		task_field_owner_add_member(scheduler, &lavd_members[i]);
	for (size_t i = 0; !is_lavd && i < sizeof(mini_members) / sizeof(mini_members[0]); i++)
		task_field_owner_add_member(scheduler, &mini_members[i]);
	return scheduler;
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

static void add_threads(struct snapshot *snapshot)
{
	static const char *const names[THREADS][2] = {
		{"redis-server", "redis-server"},
		{"redis-server", "bio_close_file"},
		{"redis-server", "bio_aof"},
		{"nginx", "nginx"},
		{"backup", "backup"},
		{"backup", "zstd-1"},
		{"backup", "zstd-2"},
	};
	static const uint32_t processes[THREADS] = {100, 100, 100, 200, 300, 300, 300};

	for (uint32_t i = 0; i < THREADS; i++) {
		const size_t thread = snapshot_add_thread(snapshot, processes[i],
							  100 * (processes[i] / 100) + i);

		snapshot->start_time[thread] = 100;
		snapshot->triple[thread] = snapshot_intern_triple(
			snapshot, (struct triple){intern(snapshot, names[i][0]),
						  intern(snapshot, names[i][1]), intern(snapshot, "/")});
		snapshot_column(snapshot, METRIC_EXT_ENABLED)[thread] = snapshot->sched_ext.switch_all;
	}
}

/* Each thread has other numbers, and the counters rise from round to round. */
static void add_contexts(struct snapshot *snapshot, struct task_field_owner *scheduler, uint64_t round)
{
	task_fields_begin(&snapshot->task_fields, scheduler, THREADS);
	snapshot->task_fields.read_at_ns = (5000 + 2 * round) * 1000000000;
	/* the scheduler keeps nothing for the last one */
	for (uint32_t i = 0; i + 1 < THREADS; i++) {
		uint8_t *context = task_fields_add_context(&snapshot->task_fields, i);

		for (size_t m = 0; m < scheduler->member_count; m++) {
			const struct task_field_member *member = &scheduler->members[m];
			uint64_t value = 100 * (THREADS - i) + 7 * m;

			if (member->facts.reduction == TASK_FIELD_REDUCTION_COUNTER)
				value = (uint64_t)(i + 1) * round * 100000000;
			else if (member->facts.reduction == TASK_FIELD_REDUCTION_AGE)
				value = snapshot->task_fields.read_at_ns - i * 250000000;
			else if (member->facts.reduction == TASK_FIELD_REDUCTION_COUNT)
				value = i % 2;
			else if (member->facts.ladder == LADDER_NS)
				value = (i + 1) * 1500000;
			for (size_t element = 0; element < member->count; element++)
				task_field_write(member, context, element, value + element);
		}
	}
}

static struct snapshot *make_round(const char *kind, uint64_t round)
{
	struct snapshot *snapshot = snapshot_create();
	struct provenance *provenance = &snapshot->provenance;
	const bool runs = strcmp(kind, "none") != 0, is_mini = strcmp(kind, "mini") == 0;

	snapshot->captured_at_unix_ns = (1700000000 + 2 * round) * 1000000000;
	provenance->present = true;
	provenance->hostname = "fakehost";
	provenance->boottime_ns = (10801 + 2 * round) * 1000000000;
	provenance->duration_ns = 6000000;
	provenance->procs_running = (struct optional_u64){5, true};
	provenance->procs_blocked = (struct optional_u64){4, true};
	provenance->mem_available_kib = (struct optional_u64){8 << 20, true};
	snapshot->host.present = true;
	snapshot->host.total_memory_kib = (struct optional_u64){16 << 20, true};
	snapshot->sched_ext = (struct sched_ext){.present = true,
						 .state = runs ? "enabled" : "disabled",
						 .switch_all = runs && !is_mini,
						 .nr_rejected = is_mini ? 3 : 0,
						 .enable_seq = is_mini ? 2 : 1};
	add_threads(snapshot);
	provenance->features[FEATURE_TASK_FIELDS].state = FEATURE_STATE_ON;
	if (strcmp(kind, "refused") == 0)
		provenance->features[FEATURE_TASK_FIELDS] = (struct feature_result){
			.state = FEATURE_STATE_OFF,
			.reason = REASON_NOT_PERMITTED,
			.detail = "finding its maps takes CAP_SYS_ADMIN",
			.remedy = "sudo ctop",
		};
	else if (!runs)
		provenance->features[FEATURE_TASK_FIELDS] = (struct feature_result){
			.state = FEATURE_STATE_OFF,
			.reason = REASON_SWITCHED_OFF,
			.detail = "no scheduler runs"};
	else if (strcmp(kind, "unread") == 0)
		snapshot->task_fields.owner = make_scheduler(true);
	else
		add_contexts(snapshot, make_scheduler(!is_mini), round);
	if (runs) {
		struct task_field_event *events = arena_allocate_zero(&snapshot->arena, 3, sizeof(*events));

		events[0] = (struct task_field_event){"SCX_EV_SELECT_CPU_FALLBACK", 24 * round};
		events[1] = (struct task_field_event){"SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE", 7};
		events[2] = (struct task_field_event){"SCX_EV_ENQ_SKIP_EXITING", 5 * round};
		snapshot->task_fields.events = events;
		snapshot->task_fields.event_count = 3;
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static bool obey(void *context, char *line, struct ui_event *event)
{
	uint64_t *rounds = context;

	event->snapshot = make_round(line, ++*rounds);
	return true;
}

static bool receive(void *context, struct ui_event *event)
{
	return driven_receive(obey, context, event);
}

static void change_settings(void *context, const struct ui_settings *settings)
{
	static bool told, before;

	(void)context;
	if (told && settings->task_fields == before)
		return;
	told = true;
	before = settings->task_fields;
	driven_answer("scx %d\n", settings->task_fields);
}

int main(int argc, char **argv)
{
	uint64_t rounds = 0;
	struct ui_host host = {.context = &rounds, .receive = receive, .change_settings = change_settings};
	struct session *session = NULL;
	struct view view;
	struct ui_options options = {.interval_ns = 2000000000, .view = &view};

	view_initialise(&view);
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--tab=", 6) == 0)
			view_set_tab(&view, tab_find(argv[i] + 6));
		if (strncmp(argv[i], "--file=", 7) == 0) {
			session = session_create_file(make_round(argv[i] + 7, 3));
			options.file_name = "saved.ctprof.zst";
			host.change_settings = NULL;
		}
	}
	return driven_run(session != NULL ? session : session_create(), &host, &options);
}
