/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPU sets and cgroups that the ids in records of passes stand for; each is looked up once. */
#include "pass_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/living_thread.h"
#include "base/memory.h"
#include "capture/host/cgroup.h"

enum {
	KNOWN_CPUS_MAX = 1024,
	KNOWN_CGROUPS_MAX = 16384,
};

/* A set of CPUs by the hash that passes carry. */
struct known_cpus {
	uint64_t hash;
	uint32_t set;   /* in the pool of the passes */
	uint64_t round; /* of the capture, in which `id` was made */
	uint32_t id;    /* in the pool of that round's snapshot */
};

/* The threads for which the path of a cgroup is true. */
enum cgroup_proof {
	CGROUP_OF_ONE, /* of the thread that it was read of, which may have moved there since the pass */
	CGROUP_LIKELY, /* of all in it, it seems: no mount shows the directory */
	CGROUP_CERTAIN,
};

/* A cgroup by its id. */
struct known_cgroup {
	uint64_t id;
	uint32_t path; /* in the strings of the passes; UNKNOWN_TEXT where it could not be read */
	reason_id reason;
	enum cgroup_proof proof;
	uint64_t asked; /* round of the capture in which the path was last read */
	uint64_t round; /* of the capture, in which `text` was made, or the reading failed */
	uint32_t text;  /* in the strings of that round's snapshot */
};

static void forget_cpus(struct task_passes *passes)
{
	passes->cpus_count = 0;
	string_pool_release(&passes->cpu_sets);
}

static void forget_cgroups(struct task_passes *passes)
{
	passes->cgroup_count = 0;
	string_pool_release(&passes->paths);
	hash_map_clear(&passes->cgroup_index);
}

void pass_ids_release(struct task_passes *passes)
{
	forget_cpus(passes);
	forget_cgroups(passes);
	free(passes->cpus);
	free(passes->cgroups);
	hash_map_release(&passes->cgroup_index);
}

void pass_ids_bound(struct task_passes *passes)
{
	if (passes->cpus_count > KNOWN_CPUS_MAX)
		forget_cpus(passes);
	if (passes->cgroup_count > KNOWN_CGROUPS_MAX)
		forget_cgroups(passes);
}

/* --- CPU sets --- */

static struct known_cpus *find_cpus(struct task_passes *passes, uint64_t hash)
{
	for (size_t i = 0; i < passes->cpus_count; i++) {
		if (passes->cpus[i].hash == hash)
			return &passes->cpus[i];
	}
	return NULL;
}

/* Asks a thread for the set of its hash; NULL when it is gone. `*ret_changed`: it was another one before. */
static struct known_cpus *ask_cpus(struct round *round, uint32_t tid, uint64_t hash, bool *ret_changed)
{
	struct task_passes *passes = &round->capture->passes;
	struct known_cpus *known = find_cpus(passes, hash);
	uint32_t id, set;

	if (round_read_cpus(round, tid, &id) < 0)
		return NULL;
	set = string_pool_copy(&passes->cpu_sets, &round->snapshot->cpu_sets, id);
	*ret_changed = known != NULL && known->set != set;
	if (known == NULL)
		known = MEMORY_APPEND(passes->cpus, passes->cpus_count, passes->cpus_capacity);
	*known = (struct known_cpus){.hash = hash, .set = set};
	return known;
}

bool pass_ids_recheck_cpus(struct intake *intake)
{
	struct capture *capture = intake->round->capture;
	struct task_passes *passes = &capture->passes;
	uint64_t last = 0;
	bool changed = false;

	if (capture->round - passes->cpus_checked < ROTATION_ROUNDS)
		return false;
	passes->cpus_checked = capture->round;
	for (size_t i = 0; i < passes->cpus_count; i++)
		passes->cpus[i].round = UINT64_MAX; /* to be asked for */
	for (size_t row = 0; row < intake->round->snapshot->thread_count; row++) {
		const struct task_record *record = intake_record(intake, row);
		const struct known_cpus *known;
		bool other = false;

		if (record->cpus == last)
			continue;
		known = find_cpus(passes, record->cpus);
		if (known != NULL && known->round == UINT64_MAX &&
		    ask_cpus(intake->round, record->tid, record->cpus, &other) == NULL)
			continue; /* another thread may tell */
		last = record->cpus;
		changed |= other;
	}
	return changed;
}

void pass_ids_store_cpus(struct intake *intake, size_t row)
{
	struct round *round = intake->round;
	struct task_passes *passes = &round->capture->passes;
	const struct task_record *record = intake_record(intake, row);
	struct known_cpus *known = find_cpus(passes, record->cpus);
	bool changed;

	if (known == NULL)
		known = ask_cpus(round, record->tid, record->cpus, &changed);
	if (known == NULL) {
		snapshot_source_reasons(round->snapshot, SOURCE_AFFINITY)[row] = REASON_ENDED;
		passes->decode_again = true;
		return;
	}
	if (known->round != round->capture->round) {
		known->id = string_pool_copy(&round->snapshot->cpu_sets, &passes->cpu_sets, known->set);
		known->round = round->capture->round;
	}
	snapshot_store(round->snapshot, row, METRIC_CPU_AFFINITY, known->id);
}

/* --- cgroups --- */

static struct known_cgroup *find_cgroup(struct task_passes *passes, uint64_t id)
{
	uint32_t index;

	if (hash_map_get(&passes->cgroup_index, id, &index))
		return &passes->cgroups[index];
	hash_map_set(&passes->cgroup_index, id, (uint32_t)passes->cgroup_count);
	*MEMORY_APPEND(passes->cgroups, passes->cgroup_count,
		       passes->cgroup_capacity) = (struct known_cgroup){
		.id = id, .path = UNKNOWN_TEXT, .reason = REASON_NOT_READ};
	return &passes->cgroups[passes->cgroup_count - 1];
}

/*
 * A thread may have moved between the pass, which tells the id, and the reading of the path. The id is the
 * inode number of the directory (kernfs_ino() of include/linux/kernfs.h; on a 32-bit kernel its lower half),
 * and a cgroup of v2 cannot be renamed, so that what is certain stays so.
 */
static enum cgroup_proof prove_path(const struct roots *roots, uint64_t id, struct text path)
{
	struct stat status;
	int directory, result;

	if ((id & TASK_CGROUP_PAIR) != 0)
		return CGROUP_LIKELY;
	if (path.length == 0)
		return CGROUP_CERTAIN; /* no hierarchy of v2 */
	directory = cgroup_open(roots, path.data, path.length, O_PATH);
	if (directory == -ENOENT)
		return CGROUP_OF_ONE;
	if (directory < 0)
		return CGROUP_LIKELY;
	result = fstat(directory, &status);
	close(directory);
	if (result < 0)
		return CGROUP_LIKELY;
	return status.st_ino == id || status.st_ino == (uint32_t)id ? CGROUP_CERTAIN : CGROUP_OF_ONE;
}

static bool is_to_be_asked(const struct round *round, const struct known_cgroup *known)
{
	uint64_t age = round->capture->round - known->asked;

	if (known->proof == CGROUP_LIKELY)
		return age >= ROTATION_ROUNDS || (round->full && age != 0);
	return known->proof == CGROUP_OF_ONE;
}

/*
 * procfs shows an ended thread in the v1 root (proc_cgroup_show() of kernel/cgroup/cgroup.c), so the path is
 * read through a living thread of the process. Without one, the path only applies to this thread.
 */
static void ask_cgroup(struct round *round, struct known_cgroup *known, struct process *process,
		       const struct task_record *record)
{
	const int tasks = process_list_tasks(&round->capture->processes, process);
	const bool ended = record->exit_state != 0;
	const uint32_t tid = ended ? living_thread_find(tasks, process->tgid) : record->tid;
	struct text path;
	enum reason reason = round_read_cgroup_path(round, tasks, tid, &path);

	known->asked = round->capture->round;
	if (reason != REASON_READ && known->proof == CGROUP_LIKELY)
		return;
	known->path = UNKNOWN_TEXT;
	known->reason = (reason_id)reason;
	known->round = 0;
	if (reason != REASON_READ)
		return;
	known->proof = ended && tid == record->tid && (known->id & TASK_CGROUP_PAIR) != 0
			       ? CGROUP_OF_ONE
			       : prove_path(&round->capture->roots, known->id, path);
	known->path = string_pool_intern(&round->capture->passes.paths, path.data, path.length);
}

/* The cgroup of a row with its id in this snapshot's strings; true of the next row after another call only.
 */
static const struct known_cgroup *cgroup_of(struct intake *intake, struct process *process, size_t row)
{
	struct round *round = intake->round;
	const struct task_record *record = intake_record(intake, row);
	struct known_cgroup *known = find_cgroup(&round->capture->passes, record->cgroup);

	if (is_to_be_asked(round, known))
		ask_cgroup(round, known, process, record);
	if (known->path != UNKNOWN_TEXT && known->round != round->capture->round) {
		const struct string_pool *paths = &round->capture->passes.paths;

		known->text = snapshot_intern_name(&round->snapshot->strings,
						   string_pool_text(paths, known->path),
						   string_pool_length(paths, known->path));
		known->round = round->capture->round;
	}
	return known;
}

const char *round_known_cgroup(const struct round *round, uint64_t id)
{
	const struct task_passes *passes = &round->capture->passes;
	uint32_t index;

	return hash_map_get(&passes->cgroup_index, id, &index) &&
			       passes->cgroups[index].proof != CGROUP_OF_ONE
		       ? string_pool_text(&passes->paths, passes->cgroups[index].path)
		       : NULL;
}

static void store_process_cgroup(struct intake *intake, struct process *process, size_t row)
{
	const struct string_pool *paths = &intake->round->capture->passes.paths;
	const struct known_cgroup *known = cgroup_of(intake, process, row);

	process->cgroup_reason = known->reason;
	process->cgroup_read_at = intake->pass.begin_ns;
	if (known->path != UNKNOWN_TEXT && process_note_cgroup(process, string_pool_text(paths, known->path),
							       string_pool_length(paths, known->path)))
		round_mark_changed(intake->round, process); /* the id may be the same */
}

/* Whether a thread of a process is in another cgroup than its leader. */
static bool threads_differ(const struct intake *intake, const struct process *process, size_t leader)
{
	const uint64_t id = intake_record(intake, leader)->cgroup;
	bool differ = false;

	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++)
		differ |= intake_record(intake, row)->cgroup != id;
	return differ;
}

void pass_ids_store_cgroups(struct intake *intake, struct process *process, bool moved)
{
	struct round *round = intake->round;
	const size_t leader = round_leader_row(round, process);

	store_process_cgroup(intake, process, leader);
	if (moved || process->threads_have_cgroups)
		process->threads_have_cgroups = threads_differ(intake, process, leader);
	if (!process->threads_have_cgroups && process->cgroup_reason == REASON_READ)
		return;
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		enum reason reason = (enum reason)process->cgroup_reason;

		if (process->threads_have_cgroups) {
			const struct known_cgroup *known = cgroup_of(intake, process, row);

			reason = (enum reason)known->reason;
			if (known->path != UNKNOWN_TEXT)
				round->cgroup[row] = known->text;
			if (known->proof != CGROUP_CERTAIN)
				round->states[row].flags |= ROW_CHANGED;
		}
		if (reason != REASON_READ) {
			snapshot_source_reasons(round->snapshot, SOURCE_CGROUP)[row] = (reason_id)reason;
			round->failures[PARSE_FILE_CGROUP]++;
		}
	}
}
