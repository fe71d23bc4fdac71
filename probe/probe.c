/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/living_thread.h"
#include "base/memory.h"
#include "base/stat_file.h"
#include "base/statm.h"
#include "probe/resolver/resolution_cache.h"
#include "thread_reader.h"

enum {
	LINK_SIZE = 4096,
};

/*
 * A process that failed is examined again at the next look, then after these pauses, which double up to the
 * longest.
 */
#define CHECK_PAUSE_FIRST_NS (5 * NS_PER_S)
#define CHECK_PAUSE_MOST_NS  (60 * NS_PER_S)

/* Tells one address space of a process from another: exec keeps thread ids and start times. */
struct address_space {
	uint64_t device, inode;           /* of the executable */
	uint64_t start_code, start_stack; /* fields 26 and 28 of PROCESS/stat, 0 where hidden */
};

struct known_process {
	struct probe_process shown; /* first: what probe_look() hands out */
	struct address_space space;
	uint64_t next_check_ns;  /* CLOCK_MONOTONIC time from which a failed process is examined again */
	uint64_t check_pause_ns; /* pause after the next failure */
	bool seen;               /* since probe_drop_unseen() */
	bool is_stale;           /* it runs another program than the one we attached to */
	bool has_run;            /* one of its threads ran since it was examined */
	struct process_map map;
	struct resolution_entry *resolution; /* held; NULL at first */
	unsigned int tries;                  /* of the resolution, when its outcome was taken */
	bool is_attached;
	struct attachment attachment;
	struct known_threads known;
	char version[LAYOUT_VERSION_SIZE];
	char *text; /* owned */
};

struct probe {
	struct resolution_cache *resolutions;
	struct thread_reader reader;
	struct known_process **processes;
	size_t count, capacity;
	struct hash_map by_tgid; /* index in `processes` */
};

struct probe *probe_create(const struct probe_options *options)
{
	struct probe *probe = memory_allocate_zero(1, sizeof(*probe));

	probe->resolutions = resolution_cache_create();
	thread_reader_initialise(&probe->reader, options->allow_stop, options->reader);
	return probe;
}

/* Forgets what belongs to one program that the process ran. */
static void forget_program(struct known_process *process)
{
	if (process->is_attached)
		attachment_release(&process->attachment);
	process->is_attached = false;
	process->is_stale = false;
	known_threads_clear(&process->known);
	process_map_release(&process->map);
	if (process->resolution != NULL)
		resolution_cache_leave(process->resolution);
	process->resolution = NULL;
}

static void release_process(struct known_process *process)
{
	forget_program(process);
	known_threads_release(&process->known);
	free(process->text);
	free(process);
}

void probe_release(struct probe *probe)
{
	if (probe == NULL)
		return;
	for (size_t i = 0; i < probe->count; i++)
		release_process(probe->processes[i]);
	free(probe->processes);
	hash_map_release(&probe->by_tgid);
	thread_reader_release(&probe->reader);
	resolution_cache_release(probe->resolutions);
	free(probe);
}

static struct known_process *find_process(struct probe *probe, uint32_t tgid)
{
	struct known_process *process;
	uint32_t index;

	if (hash_map_get(&probe->by_tgid, tgid, &index))
		return probe->processes[index];
	process = memory_allocate_zero(1, sizeof(*process));
	process->shown.tgid = tgid;
	process->shown.text = "";
	process->shown.version = "";
	process->is_stale = true;
	hash_map_set(&probe->by_tgid, tgid, (uint32_t)probe->count);
	*MEMORY_APPEND(probe->processes, probe->count, probe->capacity) = process;
	return process;
}

static void set_text(struct known_process *process, const char *text)
{
	free(process->text);
	process->text = memory_duplicate(text);
	process->shown.text = process->text;
}

static void fail_process(struct known_process *process, enum heap_tag tag, const char *text)
{
	const uint64_t pause_ns = process->check_pause_ns;

	process->next_check_ns = clock_ns(CLOCK_MONOTONIC) + pause_ns;
	process->check_pause_ns = pause_ns == 0 ? CHECK_PAUSE_FIRST_NS : 2 * pause_ns;
	if (process->check_pause_ns > CHECK_PAUSE_MOST_NS)
		process->check_pause_ns = CHECK_PAUSE_MOST_NS;
	process_map_release(&process->map);
	process->shown.state = PROBE_STATE_FAILED;
	process->shown.tag = tag;
	set_text(process, text);
}

static void read_addresses(int process_directory, struct address_space *space)
{
	struct buffer text = {0};

	if (file_read(process_directory, "stat", &text, STAT_FILE_BYTES_MAX) == 0) {
		space->start_code = strtoull(stat_file_field(&text, STAT_FILE_START_CODE), NULL, 10);
		space->start_stack = strtoull(stat_file_field(&text, STAT_FILE_START_STACK), NULL, 10);
	}
	buffer_release(&text);
}

/*
 * The address space that the process has now. For one that failed the file of its executable is enough, at a
 * fraction of the cost: run again, it would fail again, or else be found by the next check. A stale one is
 * another program in any case.
 */
static struct address_space find_space(const struct known_process *process, int process_directory)
{
	struct address_space space = {0};
	struct executable executable;

	if (process->shown.state != PROBE_STATE_FAILED || process->is_stale) {
		read_addresses(process_directory, &space);
	} else {
		space.start_code = process->space.start_code;
		space.start_stack = process->space.start_stack;
	}
	if (executable_identify(process_directory, &executable) == 0) {
		space.device = executable.device;
		space.inode = executable.inode;
	}
	return space;
}

static bool spaces_equal(const struct address_space *a, const struct address_space *b)
{
	return a->device == b->device && a->inode == b->inode && a->start_code == b->start_code &&
	       a->start_stack == b->start_stack;
}

/* A kernel thread and a process that has ended both have no executable; only one has no stat. */
static void fail_link(struct known_process *process, int process_directory, int error_number)
{
	struct stat status;

	if (error_number == EACCES || error_number == EPERM)
		fail_process(process, HEAP_TAG_NOT_PERMITTED, "its executable may not be read");
	else if (error_number == ESRCH || fstatat(process_directory, "stat", &status, 0) < 0)
		fail_process(process, HEAP_TAG_PID_MISSING, "");
	else
		fail_process(process, HEAP_TAG_READLINK_FAILURE, "");
}

/* Begins with the program that the process runs now. */
static void begin(struct probe *probe, struct known_process *process, int process_directory)
{
	const struct resolution_entry *before = process->resolution;
	const bool was_cached = process->shown.cached;
	struct executable executable;
	struct error error;
	char link[LINK_SIZE];
	ssize_t length;
	int r;

	forget_program(process);
	process->has_run = false;
	length = readlinkat(process_directory, "exe", link, sizeof(link) - 1);
	r = length < 0 ? -errno : executable_identify(process_directory, &executable);
	if (r < 0) {
		fail_link(process, process_directory, -r);
		return;
	}
	link[length] = '\0';
	r = process_map_read(probe->reader.way.reader, (pid_t)process->shown.tgid, process_directory,
			     executable.device, executable.inode, &process->map, &error);
	if (r < 0) {
		fail_process(process, attachment_failure_tag(r, HEAP_TAG_MAPS_READ_FAILURE), error.text);
		return;
	}
	process->resolution = resolution_cache_find(probe->resolutions, process_directory, link, &executable,
						    &process->map, &process->shown.cached);
	if (before != NULL && process->resolution == before)
		process->shown.cached = was_cached;
	process->shown.state = PROBE_STATE_RESOLVING;
	process->shown.tag = HEAP_TAG_NONE;
	set_text(process, "");
	/* without a descriptor to begin with, the next look tries again */
	process->is_stale = process->resolution == NULL;
}

static void attach(struct probe *probe, struct known_process *process, uint32_t tid, int process_directory)
{
	struct address_space space;
	struct resolution resolution;
	struct error error = {0};
	enum heap_tag tag;
	int r;

	process->tries = resolution_entry_tries(process->resolution);
	resolution_entry_result(process->resolution, &process->map, &resolution);
	if (resolution.tag != HEAP_TAG_NONE) {
		fail_process(process, resolution.tag, resolution.text);
		return;
	}
	r = attachment_open(&process->attachment, (pid_t)process->shown.tgid, (pid_t)tid, process_directory,
			    &resolution, &process->map, &probe->reader.way, &tag, &error);
	if (r < 0) {
		fail_process(process, tag, error.text);
		return;
	}
	/* the process may have executed another program meanwhile */
	space = find_space(process, process_directory);
	if (!spaces_equal(&space, &process->space)) {
		attachment_release(&process->attachment);
		process->is_stale = true;
		return;
	}
	process->is_attached = true;
	process->shown.state = PROBE_STATE_READY;
	process->shown.origin = resolution.layout.origin;
	memcpy(process->version, resolution.layout.version, sizeof(process->version));
	process->shown.version = process->version;
	process_map_release(&process->map);
}

/* Takes the outcome when it is there. */
static void advance(struct probe *probe, struct known_process *process, uint32_t tid, int process_directory)
{
	if (process->shown.state != PROBE_STATE_RESOLVING || process->resolution == NULL)
		return;
	if (resolution_entry_state(process->resolution) == RESOLUTION_VOID)
		begin(probe, process, process_directory);
	if (process->resolution != NULL && resolution_entry_state(process->resolution) == RESOLUTION_DONE)
		attach(probe, process, tid, process_directory);
}

/*
 * Whether to examine a process again that failed. Seen for the first time, it may have been on its way from
 * exec to its libraries; later it may have loaded jemalloc, for which it has to run, or changed its owner.
 * The pauses grow since each examination reads its memory map. The resolutions know when a failure is worth
 * another try, or was tried again for another process.
 */
static bool is_check_due(const struct known_process *process)
{
	if (process->resolution != NULL && (resolution_entry_is_due(process->resolution) ||
					    resolution_entry_tries(process->resolution) != process->tries))
		return true;
	return (process->has_run || process->shown.tag != HEAP_TAG_JEMALLOC_NOT_FOUND) &&
	       clock_ns(CLOCK_MONOTONIC) >= process->next_check_ns;
}

static void note_change(struct known_process *process, enum probe_change change)
{
	process->has_run |= change != PROBE_STILL;
	process->is_stale |= change == PROBE_EXECUTED;
}

bool probe_is_due(struct probe *probe, const struct probe_process *shown, enum probe_change change)
{
	struct known_process *process = find_process(probe, shown->tgid);

	note_change(process, change);
	if (process->is_stale)
		return true;
	switch (process->shown.state) {
	case PROBE_STATE_RESOLVING:
		return process->resolution == NULL ||
		       resolution_entry_state(process->resolution) != RESOLUTION_WAITING;
	case PROBE_STATE_READY:
		return false;
	case PROBE_STATE_FAILED:
		return is_check_due(process);
	}
	return true;
}

/* Examines a process through its thread `tid`, whose open directory is `directory`. */
static void look(struct probe *probe, struct known_process *process, uint32_t tid, int directory)
{
	struct address_space space;
	struct statm statm;
	bool changed;

	if (statm_read(directory, "statm", &statm) == 0 && statm_is_in_exec(&statm)) {
		forget_program(process);
		fail_process(process, HEAP_TAG_MEMORY_LOCKED, "it is in execve(2)");
		process->is_stale = true;
		return;
	}
	space = find_space(process, directory);
	changed = process->is_stale || !spaces_equal(&space, &process->space);
	if (changed) {
		process->check_pause_ns = 0;
		process->space = space;
	}
	if (changed || (process->shown.state == PROBE_STATE_FAILED && is_check_due(process)))
		begin(probe, process, directory);
	advance(probe, process, tid, directory);
}

const struct probe_process *probe_look(struct probe *probe, uint32_t tgid, int process_directory,
				       enum probe_change change)
{
	struct known_process *process = find_process(probe, tgid);
	uint32_t tid;
	const int directory = living_thread_open(process_directory, tgid, &tid);

	process->seen = true;
	note_change(process, change);
	if (directory < 0) {
		forget_program(process);
		fail_process(process, HEAP_TAG_PID_MISSING, "");
		process->is_stale = true;
		return &process->shown;
	}
	look(probe, process, tid, directory);
	close(directory);
	return &process->shown;
}

size_t probe_serve(struct probe *probe, uint64_t deadline_ns)
{
	return resolution_cache_serve(probe->resolutions, deadline_ns);
}

int probe_read(struct probe *probe, const struct probe_process *shown, struct probe_thread *threads,
	       size_t count, const volatile int *stop_flag)
{
	struct known_process *process = find_process(probe, shown->tgid);
	int r;

	if (!process->is_attached)
		return -ESRCH;
	r = thread_reader_read(&probe->reader, &process->attachment, &process->known, threads, count,
			       stop_flag);
	if (r == -ESRCH || r == -EPERM)
		process->is_stale = true;
	return r;
}

void probe_keep(struct probe *probe, const struct probe_process *shown)
{
	find_process(probe, shown->tgid)->seen = true;
}

void probe_drop_unseen(struct probe *probe)
{
	size_t kept = 0;

	for (size_t i = 0; i < probe->count; i++) {
		struct known_process *process = probe->processes[i];

		if (process->seen) {
			process->seen = false;
			probe->processes[kept++] = process;
		} else {
			release_process(process);
		}
	}
	if (kept != probe->count) {
		hash_map_clear(&probe->by_tgid);
		for (size_t i = 0; i < kept; i++)
			hash_map_set(&probe->by_tgid, probe->processes[i]->shown.tgid, (uint32_t)i);
	}
	probe->count = kept;
	resolution_cache_trim(probe->resolutions);
}

struct probe_counts probe_counts(const struct probe *probe)
{
	struct probe_counts counts = probe->reader.counts;

	counts.transfers = probe->reader.way.calls;
	return counts;
}
