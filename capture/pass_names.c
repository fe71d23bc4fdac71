/* SPDX-License-Identifier: GPL-2.0-only */
#include "pass.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "capture/host/cgroup.h"

/* Flags of include/linux/sched.h. */
enum {
	FLAG_WORKER = 0x20,       /* PF_WQ_WORKER: procfs names what it does at present */
	FLAG_KERNEL = 0x00200000, /* PF_KTHREAD */
};

/* --- CPU sets and policies --- */

static struct known_cpus *find_cpus(struct task_passes *passes, uint64_t hash)
{
	for (size_t i = 0; i < passes->cpus_count; i++) {
		if (passes->cpus[i].hash == hash)
			return &passes->cpus[i];
	}
	return NULL;
}

/* Keeps the set of a hash; returns whether it was another one before. */
static bool keep_cpus(struct task_passes *passes, uint64_t hash, const uint32_t *cpus, size_t count)
{
	struct known_cpus *known = find_cpus(passes, hash);
	bool changed = false;

	if (known == NULL) {
		known = MEMORY_APPEND(passes->cpus, passes->cpus_count, passes->cpus_capacity);
		*known = (struct known_cpus){.hash = hash};
	} else {
		changed = known->count != count ||
			  (count != 0 && memcmp(known->cpus, cpus, count * sizeof(*cpus)) != 0);
		free(known->cpus);
	}
	known->cpus = memory_allocate((count + 1) * sizeof(*cpus));
	if (count != 0)
		memcpy(known->cpus, cpus, count * sizeof(*cpus));
	known->count = count;
	known->round = 0;
	return changed;
}

static bool ask_cpus(struct round *round, uint32_t tid, uint64_t hash, bool *ret_changed)
{
	struct string_pool *pool = &round->snapshot->cpu_sets;
	uint32_t id;

	if (round_read_cpus(round, tid, &id) < 0)
		return false;
	*ret_changed = keep_cpus(&round->capture->passes, hash, cpu_set_cpus(pool, id),
				 cpu_set_count(pool, id));
	return true;
}

bool intake_recheck_cpus(struct intake *intake)
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
		    !ask_cpus(intake->round, record->tid, record->cpus, &other))
			continue; /* another thread may tell */
		last = record->cpus;
		changed |= other;
	}
	return changed;
}

void intake_store_cpus(struct intake *intake, size_t row)
{
	struct round *round = intake->round;
	struct task_passes *passes = &round->capture->passes;
	const struct task_record *record = intake_record(intake, row);
	struct known_cpus *known = find_cpus(passes, record->cpus);
	bool changed;

	if (known == NULL && ask_cpus(round, record->tid, record->cpus, &changed))
		known = find_cpus(passes, record->cpus);
	if (known == NULL) {
		snapshot_source_reasons(round->snapshot, SOURCE_AFFINITY)[row] = REASON_ENDED;
		round->states[row].seen.fingerprint = 0; /* to be decoded again */
		return;
	}
	if (known->round != round->capture->round) {
		known->id = cpu_set_intern(&round->snapshot->cpu_sets, known->cpus, known->count);
		known->round = round->capture->round;
	}
	task_columns_store(&intake->columns, row, METRIC_CPU_AFFINITY, known->id);
}

void intake_store_policy(struct intake *intake, size_t row)
{
	task_columns_store(&intake->columns, row, METRIC_POLICY,
			   round_policy_text(intake->round, intake_record(intake, row)->policy));
}

/* --- names and cgroups --- */

/* Kernel threads have longer names than their structure holds, and workers say what they do: procfs knows. */
void intake_store_name(struct intake *intake, struct process *process, size_t row, bool changed)
{
	struct round *round = intake->round;
	struct thread_state *state = &round->states[row];
	const struct task_record *record = intake_record(intake, row);
	bool renamed = (state->flags & ROW_NEW) != 0 ||
		       memcmp(state->name, record->comm, TASK_NAME_SIZE) != 0;
	struct text name = {record->comm, strnlen(record->comm, TASK_NAME_SIZE)};

	memcpy(state->name, record->comm, TASK_NAME_SIZE);
	if ((record->task_flags & FLAG_KERNEL) != 0 &&
	    (renamed || (changed && (record->task_flags & FLAG_WORKER) != 0)))
		round->comm[row] = round_read_name(
			round, process_list_tasks(&round->capture->processes, process), record->tid);
	if (!renamed || round->comm[row] != UNKNOWN_TEXT)
		return;
	name = text_trim(name);
	round->comm[row] = string_pool_intern(&round->snapshot->strings, name.data, name.length);
}

static struct known_cgroup *find_cgroup(struct task_passes *passes, uint64_t id)
{
	uint32_t index;

	if (hash_map_get(&passes->cgroup_index, id, &index))
		return &passes->cgroups[index];
	hash_map_set(&passes->cgroup_index, id, (uint32_t)passes->cgroup_count);
	*MEMORY_APPEND(passes->cgroups, passes->cgroup_count,
		       passes->cgroup_capacity) = (struct known_cgroup){.id = id, .reason = REASON_NOT_READ};
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

	if (path.length == 0)
		return CGROUP_CERTAIN; /* there is no hierarchy of v2 */
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

static void ask_cgroup(struct round *round, struct known_cgroup *known, struct process *process, uint32_t tid)
{
	struct text path;
	enum reason reason = round_read_cgroup_path(
		round, process_list_tasks(&round->capture->processes, process), tid, &path);

	known->asked = round->capture->round;
	if (reason != REASON_READ && known->proof == CGROUP_LIKELY)
		return;
	free(known->path);
	known->path = NULL;
	known->reason = (reason_id)reason;
	known->round = 0;
	if (reason != REASON_READ)
		return;
	known->proof = prove_path(&round->capture->roots, known->id, path);
	known->path = memory_duplicate_bytes(path.data, path.length);
	known->length = path.length;
}

/* The cgroup of a row with its id in this snapshot's strings; true of the next row after another call only.
 */
static const struct known_cgroup *cgroup_of(struct intake *intake, struct process *process, size_t row)
{
	struct round *round = intake->round;
	const struct task_record *record = intake_record(intake, row);
	struct known_cgroup *known = find_cgroup(&round->capture->passes, record->cgroup);

	if (is_to_be_asked(round, known))
		ask_cgroup(round, known, process, record->tid);
	if (known->path != NULL && known->round != round->capture->round) {
		known->text = string_pool_intern(&round->snapshot->strings, known->path, known->length);
		known->round = round->capture->round;
	}
	return known;
}

/* The id of a cgroup may be the same and the path not. */
static void mark_changed(struct round *round, const struct process *process)
{
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++)
		round->states[row].flags |= ROW_CHANGED;
}

static void store_process_cgroup(struct intake *intake, struct process *process, size_t row)
{
	const struct known_cgroup *known = cgroup_of(intake, process, row);

	process->cgroup_reason = known->reason;
	process->cgroup_read_at = intake->pass.begin_ns;
	if (known->path == NULL || (process->cgroup != NULL && process->cgroup_length == known->length &&
				    memcmp(process->cgroup, known->path, known->length) == 0))
		return;
	free(process->cgroup);
	process->cgroup = memory_duplicate_bytes(known->path, known->length);
	process->cgroup_length = known->length;
	mark_changed(intake->round, process);
}

/* The cgroup of the leader is that of the process; threads elsewhere have their own. */
void intake_store_cgroups(struct intake *intake, struct process *process)
{
	struct round *round = intake->round;
	size_t leader = round_leader_row(round, process);
	uint64_t id = intake_record(intake, leader)->cgroup;

	store_process_cgroup(intake, process, leader);
	process->threads_have_cgroups = false;
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++)
		process->threads_have_cgroups |= intake_record(intake, row)->cgroup != id;
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		enum reason reason = (enum reason)process->cgroup_reason;

		if (process->threads_have_cgroups) {
			const struct known_cgroup *known = cgroup_of(intake, process, row);

			reason = (enum reason)known->reason;
			if (known->path != NULL)
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
