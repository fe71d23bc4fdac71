/* SPDX-License-Identifier: GPL-2.0-only */
#include "pair_fixture.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

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
