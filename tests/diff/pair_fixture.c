/* SPDX-License-Identifier: GPL-2.0-only */
#include "pair_fixture.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "snapshot/snapshot_window.h"

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

struct snapshot *pair_snapshot_open(uint64_t seconds, const struct pair_thread *threads, size_t count)
{
	struct snapshot *snapshot = snapshot_create();
	struct provenance *provenance = &snapshot->provenance;

	provenance->present = true;
	provenance->program = "ctop 0.1.0";
	provenance->boot_id = "6a2f0c6e-0000-4000-8000-000000000001";
	provenance->hostname = "first";
	provenance->boottime_ns = seconds * NS_PER_S;
	provenance->uid.present = true;
	snapshot->captured_at_unix_ns = (UINT64_C(1767225600) + seconds) * NS_PER_S;
	snapshot->host.present = true;
	snapshot->host.kernel_name = "Linux";
	snapshot->host.kernel_release = "6.12.1";
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		provenance->features[i].state = FEATURE_STATE_ON;
	for (size_t i = 0; i < count; i++) {
		size_t index = snapshot_add_thread(snapshot, threads[i].tgid, threads[i].tid);

		snapshot->triple[index] = snapshot_intern_triple(
			snapshot, (struct triple){intern(snapshot, threads[i].process),
						  intern(snapshot, threads[i].name),
						  intern(snapshot, threads[i].cgroup)});
		snapshot->start_time[index] = threads[i].start_time;
		snapshot_column(snapshot, METRIC_RUN_TIME_NS)[index] = threads[i].run_time_ns;
		snapshot_column(snapshot, METRIC_WAIT_TIME_NS)[index] = threads[i].wait_time_ns;
		snapshot_column(snapshot, METRIC_READ_BYTES)[index] = threads[i].read_bytes;
		snapshot_column(snapshot, METRIC_POLICY)[index] = intern(snapshot, "SCHED_OTHER");
		if (threads[i].io != REASON_READ)
			snapshot_source_reasons(snapshot, SOURCE_IO)[index] = threads[i].io;
	}
	return snapshot;
}

struct snapshot *pair_snapshot(uint64_t seconds, const struct pair_thread *threads, size_t count)
{
	struct snapshot *snapshot = pair_snapshot_open(seconds, threads, count);

	snapshot_finish(snapshot);
	return snapshot;
}

struct snapshot *pair_window(uint64_t from_s, const struct pair_thread *from, uint64_t to_s,
			     const struct pair_thread *to, size_t count)
{
	struct snapshot *now = pair_snapshot(to_s, to, count);
	struct snapshot_window *window = memory_allocate_zero(1, sizeof(*window));

	window->from = pair_snapshot(from_s, from, count);
	window->from_of = memory_allocate(count * sizeof(*window->from_of));
	window->thread_count = count;
	for (uint32_t i = 0; i < count; i++)
		window->from_of[i] = i;
	now->window = window;
	return now;
}

void pair_window_add_ended(struct snapshot *snapshot, const char *cgroup, const char *name,
			   uint64_t run_time_ns)
{
	struct ended *ended = &snapshot->window->ended;
	struct triple names;

	if (ended->names == NULL)
		ended->names = snapshot_create();
	names.cgroup = string_pool_intern(&ended->names->strings, cgroup, strlen(cgroup));
	names.pcomm = names.comm = string_pool_intern(&ended->names->strings, name, strlen(name));
	snapshot_intern_triple(ended->names, names);
	*MEMORY_APPEND(ended->records, ended->count,
		       ended->capacity) = (struct ended_record){.threads = 1, .processes = 1, .born = 1};
	ended->records[ended->count - 1].states[METRIC_RUN_TIME_NS] = ENDED_COUNTED;
	ended->records[ended->count - 1].amounts[METRIC_RUN_TIME_NS] = run_time_ns;
	ended->threads++;
}

void pair_window_add_parts(struct snapshot *snapshot, const struct pair_thread *threads, size_t count,
			   const uint64_t *run_ms, size_t part_count)
{
	struct window_parts *parts = &snapshot->window->parts;

	parts->names = snapshot_create();
	for (size_t i = 0; i < count; i++) {
		struct string_pool *strings = &parts->names->strings;

		snapshot_intern_triple(
			parts->names,
			(struct triple){
				string_pool_intern(strings, threads[i].process, strlen(threads[i].process)),
				string_pool_intern(strings, threads[i].name, strlen(threads[i].name)),
				string_pool_intern(strings, threads[i].cgroup, strlen(threads[i].cgroup))});
	}
	for (size_t k = 0; k < part_count; k++) {
		struct window_part *part = MEMORY_APPEND(parts->items, parts->count, parts->capacity);

		*part = (struct window_part){.length_ns = NS_PER_S,
					     .count = (uint32_t)count,
					     .metrics = {METRIC_RUN_TIME_NS},
					     .metric_count = 1};
		part->names = memory_allocate(count * sizeof(*part->names));
		part->amounts = memory_allocate(count * sizeof(*part->amounts));
		for (uint32_t i = 0; i < count; i++) {
			part->names[i] = i;
			part->amounts[i] = run_ms[i * part_count + k] * 1000000;
		}
	}
}
