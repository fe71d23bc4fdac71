/* SPDX-License-Identifier: GPL-2.0-only */
#include "preview.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/host/host.h"
#include "capture/host/pressure.h"
#include "capture/procfs/process_list.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/root.h"
#include "capture/procfs/thread_file.h"

enum {
	LOOK_PROCESSES = 64, /* are read between two looks at the clock */
};

/* What stat tells of a process that is needed here. */
struct named_process {
	uint32_t tgid, threads;
	uint32_t name; /* in preview.names */
	bool is_kernel;
};

struct preview {
	struct roots roots;
	const uint32_t *scope;
	size_t scope_count;
	bool is_listed;
	struct process_list list;
	size_t next; /* of the list, to be read */
	struct string_pool names;
	struct named_process *processes;
	size_t count, capacity;
	uint64_t thread_count;
	struct buffer text;
	struct thread_reading reading;
};

int preview_open(const char *const roots[static ROOT_COUNT], const uint32_t *scope, size_t scope_count,
		 struct preview **ret_preview, struct error *error)
{
	struct preview *preview = memory_allocate_zero(1, sizeof(*preview));
	int result = roots_open(&preview->roots, roots, error);

	if (result < 0) {
		free(preview);
		return result;
	}
	preview->scope = scope;
	preview->scope_count = scope_count;
	process_list_initialize(&preview->list, preview->roots.descriptor[ROOT_PROC]);
	*ret_preview = preview;
	return 0;
}

void preview_close(struct preview *preview)
{
	if (preview == NULL)
		return;
	process_list_release(&preview->list);
	roots_close(&preview->roots);
	string_pool_release(&preview->names);
	free(preview->processes);
	buffer_release(&preview->text);
	free(preview);
}

static struct snapshot *create_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->captured_at_unix_ns = clock_ns(CLOCK_REALTIME);
	snapshot->provenance.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	snapshot->provenance.present = true;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		snapshot->default_reason[i] = REASON_NOT_READ;
	return snapshot;
}

struct snapshot *preview_host(const struct preview *preview)
{
	struct snapshot *snapshot = create_snapshot();

	host_read_provenance(&preview->roots, snapshot);
	host_read_ticks(&preview->roots, snapshot);
	host_read_load(&preview->roots, snapshot);
	pressure_read(&preview->roots, REASON_READ, snapshot);
	snapshot_finish(snapshot);
	return snapshot;
}

static void read_process(struct preview *preview, uint32_t tgid)
{
	struct thread_reading *reading = &preview->reading;
	struct named_process *process;
	char path[THREAD_PATH_SIZE];

	thread_reading_begin(reading, tgid, tgid);
	/* of the process, not of one of its threads: below the proc root itself */
	if (thread_file_read(preview->list.proc, thread_file_path(path, tgid, "stat"), &preview->text) < 0 ||
	    !procfs_parse_stat(reading, preview->text.data, preview->text.length))
		return;
	process = MEMORY_APPEND(preview->processes, preview->count, preview->capacity);
	*process = (struct named_process){
		.tgid = tgid,
		.threads = 1,
		.name = string_pool_intern(&preview->names, reading->name, reading->name_length),
		.is_kernel = thread_reading_is_kernel(reading),
	};
	if (metric_set_has(&reading->present, METRIC_NR_THREADS) && reading->value[METRIC_NR_THREADS] != 0 &&
	    reading->value[METRIC_NR_THREADS] <= INT32_MAX)
		process->threads = (uint32_t)reading->value[METRIC_NR_THREADS];
	preview->thread_count += process->threads;
}

int preview_read(struct preview *preview, uint64_t deadline_ns, const atomic_bool *cancel)
{
	struct process_list *list = &preview->list;

	if (!preview->is_listed) {
		int result = process_list_update(list, preview->scope, preview->scope_count);

		if (result < 0)
			return result;
		preview->is_listed = true;
	}
	while (preview->next < list->count) {
		read_process(preview, list->items[preview->next++].tgid);
		if (preview->next % LOOK_PROCESSES == 0 &&
		    (clock_ns(CLOCK_MONOTONIC) >= deadline_ns ||
		     (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))))
			break;
	}
	return preview->next < list->count;
}

size_t preview_process_count(const struct preview *preview)
{
	return preview->count;
}

uint64_t preview_thread_count(const struct preview *preview)
{
	return preview->thread_count;
}

struct snapshot *preview_threads(const struct preview *preview)
{
	struct snapshot *snapshot = create_snapshot();

	snapshot_expect(snapshot, preview->thread_count);
	for (size_t i = 0; i < preview->count; i++) {
		const struct named_process *process = &preview->processes[i];
		const uint32_t name = string_pool_copy(&snapshot->strings, &preview->names, process->name);
		const uint32_t triple = snapshot_intern_triple(
			snapshot, (struct triple){.pcomm = name, .comm = name, .cgroup = 0});

		for (uint32_t k = 0; k < process->threads; k++) {
			const size_t row = snapshot_add_thread(snapshot, process->tgid, process->tgid + k);

			snapshot->triple[row] = triple;
			if (process->is_kernel)
				snapshot->thread_flags[row] |= THREAD_KERNEL;
		}
	}
	snapshot_finish(snapshot);
	return snapshot;
}
