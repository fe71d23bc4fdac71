/* SPDX-License-Identifier: GPL-2.0-only */
#include "round_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/living_thread.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/release.h"
#include "base/supervisor.h"
#include "capture/host/cgroup.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/thread_file.h"
#include "snapshot/container_names.h"

/* Whether PATH/cgroup.type lets threads be spread over the cgroups below (cgroup-v2.rst, "Threads"). */
static bool is_threaded(int directory, const char *path, struct buffer *text)
{
	struct text type;

	if (thread_file_read(directory, path, text) < 0)
		return false;
	type = text_trim(text_of(text));
	return text_equals(type, "threaded") || text_equals(type, "domain threaded");
}

/* The root cgroup has no type; its threads may be in its own threaded children. */
static bool has_threaded_child(int directory, struct buffer *text)
{
	DIR *children = file_open_directory(directory, ".");
	bool threaded = false;
	struct dirent *entry;

	if (children == NULL)
		return true;
	while (!threaded && (entry = readdir(children)) != NULL) {
		char path[sizeof(entry->d_name) + sizeof("/cgroup.type")];

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/cgroup.type", entry->d_name);
		threaded = is_threaded(dirfd(children), path, text);
	}
	closedir(children);
	return threaded;
}

static bool examine_cgroup(struct round *round, const char *path, size_t length)
{
	struct capture *capture = round->capture;
	struct stat status;
	int directory;
	bool threaded;

	if (length == 0)
		return false;
	/* a cgroup that cannot be opened may be threaded */
	directory = cgroup_open(&capture->roots, path, length, O_PATH | O_DIRECTORY);
	if (directory < 0)
		return directory != -ENOENT;
	if (fstatat(directory, "cgroup.type", &status, 0) == 0)
		threaded = is_threaded(directory, "cgroup.type", &capture->text);
	else
		threaded = has_threaded_child(directory, &capture->text);
	close(directory);
	return threaded;
}

/* The same, asked once per path and round. */
static bool threads_may_differ(struct round *round, const char *path, size_t length)
{
	const uint32_t id = snapshot_intern_name(&round->snapshot->strings, path, length);
	uint32_t known;

	if (hash_map_get(&round->cgroup_types, id, &known))
		return known != 0;
	known = examine_cgroup(round, path, length);
	hash_map_set(&round->cgroup_types, id, known);
	return known != 0;
}

/*
 * Finds the path in the first v1 hierarchy where the thread is in a container. On hosts whose controllers are
 * on v1, runtimes create their cgroups there, and the v2 path is the root or the runtime's own cgroup.
 */
static void find_old_container(struct text rest, struct text *ret_path)
{
	struct text controllers, path;

	while (procfs_next_cgroup(&rest, &controllers, &path)) {
		if (!container_has(path.data, path.length))
			continue;
		*ret_path = path;
		return;
	}
}

enum reason round_read_cgroup_path(struct round *round, int tasks, uint32_t tid, struct text *ret_path)
{
	struct buffer *text = &round->capture->text;
	enum reason reason = thread_file_read_source(tasks, tid, SOURCE_CGROUP, text);

	/* A host without cgroup v2 has no such line; then the path is empty and nothing failed. */
	if (reason == REASON_READ && procfs_parse_cgroup(text->data, text->length, ret_path) &&
	    container_has(ret_path->data, ret_path->length))
		return reason;
	if (reason == REASON_READ)
		find_old_container(text_of(text), ret_path);
	return reason;
}

/* Stores the process's cgroup in the v1 freezer, from the text that was just read. */
static void note_freezer(const struct round *round, struct process *process)
{
	struct text rest = text_of(&round->capture->text), controllers, path;

	while (procfs_next_cgroup(&rest, &controllers, &path)) {
		if (!text_has_part(controllers, ',', "freezer"))
			continue;
		process_note_freezer(process, path.data, path.length);
		return;
	}
	process_note_freezer(process, "", 0);
}

/* Whether a cgroup is frozen. Each cgroup is read once per round. */
static bool is_frozen(struct round *round, bool by_freezer, const char *path, size_t length)
{
	const uint64_t key = (uint64_t)snapshot_intern_name(&round->snapshot->strings, path, length) << 1 |
			     by_freezer;
	uint32_t known;

	if (!hash_map_get(&round->frozen, key, &known)) {
		known = by_freezer ? cgroup_freezer_is_frozen(&round->capture->roots, path)
				   : cgroup_is_frozen(&round->capture->roots, path, length);
		hash_map_set(&round->frozen, key, known);
	}
	return known != 0;
}

bool round_is_frozen(struct round *round, const struct process *process)
{
	return (process->cgroup != NULL && process->cgroup_length > 1 &&
		is_frozen(round, false, process->cgroup, process->cgroup_length)) ||
	       (process->freezer != NULL &&
		is_frozen(round, true, process->freezer, strlen(process->freezer)));
}

static void read_process_cgroup(struct round *round, struct process *process, int tasks)
{
	/* procfs shows an ended thread in the v1 root: proc_cgroup_show() of kernel/cgroup/cgroup.c */
	const uint32_t tid = process->row_count > 1 ? living_thread_find(tasks, process->tgid)
						    : process->tgid;
	struct text path;

	process->cgroup_reason = (reason_id)round_read_cgroup_path(round, tasks, tid, &path);
	if (process->cgroup_reason != REASON_READ)
		return;
	note_freezer(round, process);
	process_note_cgroup(process, path.data, path.length);
	process->cgroup_read_at = clock_ns(CLOCK_BOOTTIME);
	process->threads_have_cgroups = process->row_count > 1 &&
					threads_may_differ(round, process->cgroup, path.length);
}

/* The format counts per thread, and forgets the failures of those that ended. */
static void count_cgroup_failure(struct round *round, size_t row)
{
	if ((round->states[row].flags & ROW_ENDED) == 0)
		round->failures[PARSE_FILE_CGROUP]++;
}

static void read_thread_cgroup(struct round *round, size_t row, int tasks)
{
	struct snapshot *snapshot = round->snapshot;
	enum reason reason;
	struct text path;

	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	reason = round_read_cgroup_path(round, tasks, snapshot->tid[row], &path);
	if (reason != REASON_READ) {
		count_cgroup_failure(round, row);
		if (reason != REASON_ENDED)
			snapshot_source_reasons(snapshot, SOURCE_CGROUP)[row] = (reason_id)reason;
		return;
	}
	round->cgroup[row] = snapshot_intern_name(&snapshot->strings, path.data, path.length);
	snapshot->read_at[SOURCE_CGROUP][row] = round->now_ns;
}

bool round_read_process_cgroup(struct round *round, struct process *process, int tasks, bool due)
{
	const bool reading = due || process->cgroup == NULL;

	if (reading)
		read_process_cgroup(round, process, tasks);
	return reading;
}

void round_read_cgroups(struct round *round, struct process *process, int tasks, bool due, bool was_read)
{
	size_t end = process->first_row + process->row_count;
	/* the process was forgotten while its threads were read: another one has its id now */
	const bool reading = round_read_process_cgroup(round, process, tasks, false) || was_read;

	for (size_t row = process->first_row; row < end; row++) {
		struct snapshot *snapshot = round->snapshot;

		if (process->cgroup_reason != REASON_READ || snapshot->source_reason[SOURCE_CGROUP] != NULL)
			snapshot_source_reasons(snapshot, SOURCE_CGROUP)[row] = process->cgroup_reason;
		if (process->cgroup_reason != REASON_READ && reading)
			count_cgroup_failure(round, row);
		snapshot->read_at[SOURCE_CGROUP][row] = process->cgroup_read_at;
		if (process->threads_have_cgroups && snapshot->tid[row] != process->tgid &&
		    (due || (round->states[row].flags & ROW_NEW) != 0))
			read_thread_cgroup(round, row, tasks);
	}
}

/* Ids of the previous snapshot's strings in this one's pool. */
struct translation {
	const struct snapshot *from;
	struct snapshot *to;
	uint32_t *ids; /* UNKNOWN_TEXT until asked for; NULL: they are the same, as are those of triples */
};

static uint32_t translate(struct translation *translation, uint32_t id)
{
	if (translation->ids == NULL)
		return id;
	if (translation->ids[id] == UNKNOWN_TEXT)
		translation->ids[id] = string_pool_copy(&translation->to->strings,
							&translation->from->strings, id);
	return translation->ids[id];
}

static const struct triple *previous_triple(const struct round *round, size_t row)
{
	const struct snapshot *previous = round->capture->previous;

	if (previous == NULL || round->old_row[row] == SNAPSHOT_NO_ROW)
		return NULL;
	return &previous->triples[previous->triple[round->old_row[row]]];
}

uint32_t round_read_name(struct round *round, int directory, uint32_t id)
{
	struct buffer *text = &round->capture->text;
	struct text name;

	if (thread_file_read_source(directory, id, SOURCE_COMM, text) != REASON_READ)
		return UNKNOWN_TEXT;
	name = text_of(text);
	/* comm_show() of fs/proc/base.c ends the line */
	if (name.length != 0 && name.data[name.length - 1] == '\n')
		name.length--;
	name = text_trim_name(name);
	return name.length != 0 ? snapshot_intern_name(&round->snapshot->strings, name.data, name.length)
				: UNKNOWN_TEXT;
}

bool round_is_own(const struct round *round, uint32_t tgid)
{
	return round->capture->roots.own_namespace &&
	       (tgid == round->capture->own_tgid || supervisor_owns((pid_t)tgid));
}

static uint32_t comm_of(struct round *round, struct translation *translation, size_t row)
{
	const struct triple *old;

	if (round->comm[row] == UNKNOWN_TEXT) {
		old = previous_triple(round, row);
		round->comm[row] = old != NULL ? translate(translation, old->comm) : 0;
	}
	return round->comm[row];
}

/* The name of a process. One whose leader has no row may have none any more. */
static uint32_t name_of_process(struct round *round, struct translation *translation,
				const struct process *process)
{
	const size_t leader = round_leader_row(round, process);
	uint32_t name;

	if (round->capture->scope_count == 0 && round_is_own(round, process->tgid))
		return snapshot_intern_own_name(&round->snapshot->strings, name_self);
	if (round->snapshot->tid[leader] == process->tgid)
		return comm_of(round, translation, leader);
	name = round_read_name(round, round->capture->roots.descriptor[ROOT_PROC], process->tgid);
	return name != UNKNOWN_TEXT ? name : 0;
}

static uint32_t cgroup_of(struct round *round, struct translation *translation, const struct process *process,
			  size_t row, uint32_t process_cgroup)
{
	const struct triple *old = previous_triple(round, row);

	if (!process->threads_have_cgroups || round->snapshot->tid[row] == process->tgid)
		return process_cgroup;
	if (round->cgroup[row] != UNKNOWN_TEXT)
		return round->cgroup[row];
	return old != NULL ? translate(translation, old->cgroup) : process_cgroup;
}

static void name_process(struct round *round, struct translation *translation, const struct process *process)
{
	struct snapshot *snapshot = round->snapshot;
	size_t end = process->first_row + process->row_count;
	uint32_t cgroup = process->cgroup == NULL ? 0
						  : snapshot_intern_name(&snapshot->strings, process->cgroup,
									 process->cgroup_length);
	uint32_t pcomm = name_of_process(round, translation, process);
	struct triple last = {UNKNOWN_TEXT, UNKNOWN_TEXT, UNKNOWN_TEXT};
	uint32_t last_id = 0;

	for (size_t row = process->first_row; row < end; row++) {
		const struct triple *old = translation->ids == NULL ? previous_triple(round, row) : NULL;
		struct triple triple = {pcomm, comm_of(round, translation, row),
					cgroup_of(round, translation, process, row, cgroup)};

		/* most threads have the names that they had */
		if (old != NULL && memcmp(&triple, old, sizeof(triple)) == 0) {
			snapshot->triple[row] = (uint32_t)(old - translation->from->triples);
			continue;
		}
		if (memcmp(&triple, &last, sizeof(triple)) != 0) {
			last = triple;
			last_id = snapshot_intern_triple(snapshot, triple);
		}
		snapshot->triple[row] = last_id;
	}
}

void round_name_threads(struct round *round)
{
	struct process_list *list = &round->capture->processes;
	struct translation translation = {.from = round->capture->previous, .to = round->snapshot};

	if (translation.from != NULL && translation.from->names_serial != round->snapshot->names_serial) {
		size_t count = translation.from->strings.count + 1;

		translation.ids = memory_allocate(count * sizeof(*translation.ids));
		memset(translation.ids, 0xff, count * sizeof(*translation.ids));
	}
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].row_count != 0)
			name_process(round, &translation, &list->items[i]);
	}
	free(translation.ids);
}

/* The record of the previous snapshot stays until its turn comes again. */
static void carry_smaps(struct round *round, size_t row)
{
	struct snapshot *snapshot = round->snapshot;
	const struct snapshot *previous = round->previous;
	const struct smaps_record *old;
	struct smaps_record *record;

	old = previous != NULL && round->old_row[row] != SNAPSHOT_NO_ROW
		      ? snapshot_find_smaps(previous, round->old_row[row])
		      : NULL;
	if (old == NULL)
		return;
	record = snapshot_add_smaps(snapshot, row);
	record->kib.count = old->kib.count;
	record->kib.items = arena_allocate(&snapshot->arena, old->kib.count * sizeof(*old->kib.items));
	for (uint32_t i = 0; i < old->kib.count; i++) {
		record->kib.items[i].key = string_pool_copy(&snapshot->strings, &previous->strings,
							    old->kib.items[i].key);
		record->kib.items[i].value = old->kib.items[i].value;
	}
}

/* --- resident memory --- */

/* Touches some pages and returns by how many statm of this program has grown. */
static int64_t grow_statm(const struct roots *roots, size_t pages)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	struct statm before, after;
	int64_t grown = -1;

	if (memory == MAP_FAILED)
		return -1;
	madvise(memory, pages * page_size, MADV_NOHUGEPAGE);
	if (statm_read(roots->descriptor[ROOT_PROC], "self/statm", &before) == 0) {
		for (size_t i = 0; i < pages; i++)
			*(volatile char *)(memory + i * page_size) = 1;
		if (statm_read(roots->descriptor[ROOT_PROC], "self/statm", &after) == 0)
			grown = (int64_t)(after.resident - before.resident);
	}
	munmap(memory, pages * page_size);
	return grown;
}

/*
 * Tried, since kernels have it of other versions too. Where parts are left out the number stands still until
 * a CPU, or before Linux 6.2 a thread, hands over 32 pages or more. Other threads of this program may get and
 * release memory meanwhile.
 */
static enum statm_use find_statm_use(struct capture *capture)
{
	enum {
		PAGES = 8,
		TRIES = 5,
	};
	int hits = 0;

	if (!capture->roots.own_namespace)
		return STATM_AS_STAT;
	for (int i = 0; i < TRIES && hits < 2; i++)
		hits += grow_statm(&capture->roots, PAGES) == PAGES;
	return hits == 2 ? STATM_EXACT : STATM_AS_STAT;
}

/*
 * Bytes by which the resident size may be off. Each CPU may keep a batch of each of the three counters to
 * itself: compute_batch_value() of lib/percpu_counter.c. Before Linux 6.2 each thread did, and there is no
 * bound: TASK_RSS_EVENTS_THRESH of mm/memory.c.
 */
static uint64_t largest_resident_error(void)
{
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t batch = 2 * cpus > 32 ? 2 * cpus : 32;
	struct utsname kernel;

	return uname(&kernel) == 0 && !release_is_older(kernel.release, 6, 2)
		       ? 3 * batch * cpus * (uint64_t)sysconf(_SC_PAGESIZE)
		       : UINT64_MAX;
}

/* Once for each process of which a stat was read, since statm takes as long. */
static void take_statm(struct capture *capture, struct process *process)
{
	char path[THREAD_PATH_SIZE];
	struct statm statm;

	if (statm_read(process_list_tasks(&capture->processes, process),
		       thread_file_path(path, process->resident.stat_tid, "statm"), &statm) == 0 &&
	    statm.resident != 0)
		process->resident.pages = statm.resident;
	process->resident.stat_tid = 0;
	process_list_done(process);
}

/* Whether the numbers lack nothing; for a saved tree nobody can tell. */
static bool resident_is_exact(struct capture *capture)
{
	if (capture->passes.tasks != NULL)
		return capture->passes.resident_is_exact;
	if (capture->statm == STATM_UNKNOWN)
		capture->statm = find_statm_use(capture);
	return capture->statm == STATM_EXACT;
}

void round_store_resident(struct round *round)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct process_list *list = &round->capture->processes;
	struct snapshot *snapshot = round->snapshot;
	const bool exact = resident_is_exact(round->capture);

	snapshot->resident_missing = REASON_READ;
	if (!exact && round->capture->roots.is_procfs)
		snapshot->provenance.resident_error = largest_resident_error();
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		size_t row;

		if (process->row_count == 0 || process->resident.read_at == 0 ||
		    !process->resident.has_memory)
			continue;
		if (exact && process->resident.stat_tid != 0)
			take_statm(round->capture, process);
		row = round_leader_row(round, process);
		if (snapshot->tid[row] == process->tgid && (snapshot->thread_flags[row] & THREAD_KERNEL) == 0)
			snapshot_add_resident(snapshot, row,
					      number_multiply_saturating(process->resident.pages, page_size),
					      process->resident.read_at);
	}
}

/* Where nothing else knows it exactly, the memory of a process is what its page tables say. */
static void take_rollup(struct round *round, struct process *process, const struct key_values *kib)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);

	if (resident_is_exact(round->capture))
		return;
	for (uint32_t i = 0; i < kib->count; i++) {
		if (strcmp(snapshot_text(round->snapshot, kib->items[i].key), "Rss") == 0)
			process_note_resident(process, true, kib->items[i].value * 1024 / page_size,
					      process->smaps_read_at);
	}
}

static void read_smaps(struct round *round, struct process *process, size_t row)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	int tasks = process_list_tasks(&capture->processes, process);
	enum reason reason = thread_file_read_locked(
		capture->reader, tasks, tasks < 0 ? process->tgid : living_thread_find(tasks, process->tgid),
		SOURCE_SMAPS_ROLLUP, &capture->text);
	struct key_values kib;

	process->smaps_read_at = clock_ns(CLOCK_BOOTTIME);
	if (reason != REASON_READ) {
		round->failures[PARSE_FILE_SMAPS_ROLLUP]++;
	} else if (procfs_parse_keys(capture->text.data, capture->text.length, PROCFS_KEYS_COLON,
				     &snapshot->strings, &snapshot->arena, &kib)) {
		snapshot_add_smaps(snapshot, row)->kib = kib;
		take_rollup(round, process, &kib);
	} else {
		reason = REASON_BAD_VALUE;
	}
	snapshot_source_reasons(snapshot, SOURCE_SMAPS_ROLLUP)[row] = (reason_id)reason;
	process_list_done(process);
}

static void visit_smaps(struct round *round, struct process *process)
{
	struct snapshot *snapshot = round->snapshot;
	size_t row = round_leader_row(round, process);
	bool spent;

	if (snapshot->tid[row] != process->tgid)
		return;
	if ((snapshot->thread_flags[row] & THREAD_KERNEL) != 0) {
		/* A kernel thread has none; the format counts that as a failure. */
		round->failures[PARSE_FILE_SMAPS_ROLLUP]++;
		return;
	}
	spent = capture_cpu_ns(round->capture) - round->expensive_start_ns > round->expensive_budget_ns;
	if (!spent && !round_is_cancelled(round)) {
		read_smaps(round, process, row);
	} else {
		if (round->capture->resume_smaps == 0)
			round->capture->resume_smaps = process->tgid;
		if (round->full || process->smaps_read_at == 0)
			snapshot_source_reasons(snapshot, SOURCE_SMAPS_ROLLUP)[row] = REASON_OVER_BUDGET;
		else
			carry_smaps(round, row);
	}
	snapshot_read_times(snapshot, SOURCE_SMAPS_ROLLUP)[row] = process->smaps_read_at;
}

void round_read_smaps(struct round *round)
{
	struct process_list *list = &round->capture->processes;
	uint32_t from = round->full ? 0 : round->capture->resume_smaps;

	round->capture->resume_smaps = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < list->count; i++) {
			struct process *process = &list->items[i];

			if (process->row_count != 0 && (process->tgid >= from) == (pass == 0))
				visit_smaps(round, process);
		}
	}
}
