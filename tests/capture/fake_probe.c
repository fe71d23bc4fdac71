/* SPDX-License-Identifier: GPL-2.0-only */
#include "fake_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum {
	ITEMS_MAX = 64,
};

struct probe {
	int unused;
};

static struct fake_process {
	struct probe_process process;
	unsigned int looks;
	enum probe_change change; /* that the capture told last */
	bool seen, dropped;
} processes[ITEMS_MAX];
static size_t process_count;

static struct fake_thread {
	struct probe_thread thread;
	unsigned int reads;
} threads[ITEMS_MAX];
static size_t thread_count;

static bool resolve_when_served;
static const struct probe_process nothing = {
	.state = PROBE_STATE_FAILED, .tag = HEAP_TAG_JEMALLOC_NOT_FOUND, .text = "", .version = ""};

static struct fake_process *find_process(uint32_t tgid)
{
	for (size_t i = 0; i < process_count; i++) {
		if (processes[i].process.tgid == tgid)
			return &processes[i];
	}
	return NULL;
}

static struct fake_thread *find_thread(uint32_t tid)
{
	for (size_t i = 0; i < thread_count; i++) {
		if (threads[i].thread.tid == tid)
			return &threads[i];
	}
	threads[thread_count] = (struct fake_thread){.thread = {.tid = tid, .tag = HEAP_TAG_NONE}};
	return &threads[thread_count++];
}

void fake_probe_set(pid_t tgid, enum probe_state state, enum heap_tag tag, enum layout_origin origin)
{
	struct fake_process *item = find_process((uint32_t)tgid);

	if (item == NULL)
		item = &processes[process_count++];
	item->process = (struct probe_process){
		.tgid = (uint32_t)tgid,
		.state = state,
		.tag = tag,
		.text = state == PROBE_STATE_FAILED ? "what was tried" : "",
		.origin = origin,
		.version = "5.3.0",
	};
}

void fake_probe_set_thread(pid_t tid, uint64_t allocated, uint64_t deallocated)
{
	struct fake_thread *item = find_thread((uint32_t)tid);

	item->thread = (struct probe_thread){.tid = (uint32_t)tid,
					     .tag = HEAP_TAG_NONE,
					     .allocated = allocated,
					     .deallocated = deallocated};
}

void fake_probe_fail_thread(pid_t tid, enum heap_tag tag, int error_number)
{
	struct fake_thread *item = find_thread((uint32_t)tid);

	item->thread = (struct probe_thread){.tid = (uint32_t)tid, .tag = tag, .error_number = error_number};
}

unsigned int fake_probe_looks(pid_t tgid)
{
	const struct fake_process *item = find_process((uint32_t)tgid);

	return item != NULL ? item->looks : 0;
}

enum probe_change fake_probe_change(pid_t tgid)
{
	const struct fake_process *item = find_process((uint32_t)tgid);

	return item != NULL ? item->change : PROBE_STILL;
}

bool fake_probe_has_dropped(pid_t tgid)
{
	const struct fake_process *item = find_process((uint32_t)tgid);

	return item != NULL && item->dropped;
}

unsigned int fake_probe_reads(pid_t tid)
{
	return find_thread((uint32_t)tid)->reads;
}

void fake_probe_resolve_when_served(bool on)
{
	resolve_when_served = on;
}

void fake_probe_forget_counts(void)
{
	for (size_t i = 0; i < process_count; i++) {
		processes[i].looks = 0;
		processes[i].change = PROBE_STILL;
	}
	for (size_t i = 0; i < thread_count; i++)
		threads[i].reads = 0;
}

void fake_probe_reset(void)
{
	process_count = thread_count = 0;
	memset(processes, 0, sizeof(processes));
	resolve_when_served = false;
}

/* --- probe.h --- */

struct probe *probe_create(const struct probe_options *options)
{
	(void)options;
	return memory_allocate_zero(1, sizeof(struct probe));
}

void probe_release(struct probe *probe)
{
	free(probe);
}

/* The directory must be that of the process: it has its number. */
static bool is_directory_of(int directory, uint32_t tgid)
{
	char text[32];
	int file = openat(directory, "stat", O_RDONLY | O_CLOEXEC);
	ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;

	if (file >= 0)
		close(file);
	if (length <= 0)
		return false;
	text[length] = '\0';
	return strtoul(text, NULL, 10) == tgid;
}

const struct probe_process *probe_look(struct probe *probe, uint32_t tgid, int process_directory,
				       enum probe_change change)
{
	struct fake_process *item = find_process(tgid);

	(void)probe;
	if (item == NULL)
		return &nothing;
	if (!is_directory_of(process_directory, tgid))
		abort();
	item->looks++;
	item->change = change;
	item->seen = true;
	item->dropped = false;
	return &item->process;
}

bool probe_is_due(struct probe *probe, const struct probe_process *process, enum probe_change change)
{
	struct fake_process *item = find_process(process->tgid);

	(void)probe;
	if (item != NULL)
		item->change = change;
	return change == PROBE_EXECUTED || process->state == PROBE_STATE_RESOLVING;
}

size_t probe_serve(struct probe *probe, uint64_t deadline_ns)
{
	size_t under_way = 0;

	(void)probe;
	for (size_t i = 0; i < process_count; i++) {
		struct probe_process *process = &processes[i].process;

		if (process->state != PROBE_STATE_RESOLVING)
			continue;
		if (deadline_ns != 0 && resolve_when_served)
			process->state = PROBE_STATE_READY;
		else
			under_way++;
	}
	if (under_way != 0 && deadline_ns != 0)
		usleep(10000);
	return under_way;
}

int probe_read(struct probe *probe, const struct probe_process *process, struct probe_thread *wanted,
	       size_t count, const volatile int *stop_flag)
{
	(void)probe;
	(void)stop_flag;
	if (process->state != PROBE_STATE_READY)
		abort();
	for (size_t i = 0; i < count; i++) {
		struct fake_thread *item = find_thread(wanted[i].tid);
		uint64_t start_time = wanted[i].start_time;

		if (start_time == 0)
			abort();
		wanted[i] = item->thread;
		wanted[i].start_time = start_time;
		item->reads++;
	}
	return 0;
}

void probe_keep(struct probe *probe, const struct probe_process *process)
{
	struct fake_process *item = find_process(process->tgid);

	(void)probe;
	if (item != NULL && item->dropped)
		abort();
	if (item != NULL)
		item->seen = true;
}

void probe_drop_unseen(struct probe *probe)
{
	(void)probe;
	for (size_t i = 0; i < process_count; i++) {
		processes[i].dropped |= processes[i].looks != 0 && !processes[i].seen;
		processes[i].seen = false;
	}
}

struct probe_counts probe_counts(const struct probe *probe)
{
	(void)probe;
	return (struct probe_counts){.stops = 2};
}
