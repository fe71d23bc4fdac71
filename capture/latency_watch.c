/* SPDX-License-Identifier: GPL-2.0-only */
/* Puts measured waits into snapshots (docs/reference/latency.md). */
#include "latency_watch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/release.h"
#include "base/rights.h"
#include "capture/bpf/bpf_latency.h"
#include "capture/host/cgroup.h"
#include "capture/host/feature.h"
#include "capture/procfs/text_scan.h"
#include "wait_call.h"

_Static_assert((int)LATENCY_RECORD_BUCKETS == (int)LATENCY_BUCKETS, "the buckets are the same");
_Static_assert((int)LATENCY_RECORD_KINDS == (int)LATENCY_KIND_COUNT, "the kinds are the same");
_Static_assert((int)TASK_CALL_LIMIT == (int)WAIT_CALL_LIMIT, "numbers of calls");
_Static_assert((int)LATENCY_SLOTS <= (int)LATENCY_RECORDS_MAX, "sums have room for all names of a round");

struct latency_watch {
	struct bpf_latency *bpf;
	const struct roots *roots;
	bool is_on;
	uint64_t read_at_ns; /* CLOCK_BOOTTIME */
	/* Sums (latency_sums_add()) since it was switched on, and of what no live round has had yet. */
	struct snapshot *whole, *pending;
	struct cgroup_paths cgroups;
};

bool latency_watch_suits(const struct utsname *kernel)
{
	return strstr(kernel->version, "PREEMPT_RT") == NULL || !release_is_older(kernel->release, 6, 4);
}

/* Lists what the class of a sleep is, by the system call. As /proc/PID/syscall, what a thread sleeps in is
 * for its own user unless we may trace others. */
static void list_calls(struct latency_calls *calls)
{
	calls->is_limited = !rights_include(CAP_SYS_PTRACE);
	calls->uid = geteuid();
	for (int32_t number = 0; number < WAIT_CALL_LIMIT; number++) {
		for (int abi = 0; abi < 2; abi++) {
			const struct wait_call call = {.number = number, .is_compat = abi == 1};

			calls->entries[abi][number] =
				(uint8_t)((unsigned int)wait_call_class(&call) |
					  (wait_call_polls(&call) ? LATENCY_CALL_POLLS : 0U) |
					  (wait_call_resumes(&call) ? LATENCY_CALL_RESUMES : 0U));
		}
	}
}

struct latency_watch *latency_watch_open(const struct roots *roots, const uint32_t *scope, size_t scope_count,
					 struct arena *arena, struct feature_result *ret_result)
{
	struct bpf_latency *bpf;
	struct latency_watch *watch;
	struct latency_calls calls;
	struct utsname kernel;

	/* ids are those of the initial one */
	*ret_result = feature_of_other_pids(roots, arena);
	if (!roots->initial_pid_namespace)
		return NULL;
	if (uname(&kernel) == 0 && !latency_watch_suits(&kernel)) {
		*ret_result = feature_off(REASON_NOT_IN_KERNEL,
					  "a PREEMPT_RT kernel can measure it since Linux 6.4", NULL);
		return NULL;
	}
	list_calls(&calls);
	bpf = bpf_latency_open(scope, scope_count, &calls, arena, ret_result);
	if (bpf == NULL)
		return NULL;
	watch = memory_allocate_zero(1, sizeof(*watch));
	watch->bpf = bpf;
	watch->roots = roots;
	return watch;
}

void latency_watch_close(struct latency_watch *watch)
{
	if (watch == NULL)
		return;
	bpf_latency_close(watch->bpf);
	snapshot_release(watch->whole);
	snapshot_release(watch->pending);
	cgroup_paths_release(&watch->cgroups);
	free(watch);
}

static void start_sums(struct snapshot **sums)
{
	snapshot_release(*sums);
	*sums = snapshot_create();
}

int latency_watch_switch(struct latency_watch *watch, bool on)
{
	int result = on != watch->is_on ? bpf_latency_switch(watch->bpf, on) : 0;

	if (result < 0 || on == watch->is_on)
		return result;
	watch->is_on = on;
	watch->read_at_ns = clock_ns(CLOCK_BOOTTIME);
	start_sums(&watch->whole);
	start_sums(&watch->pending);
	return 0;
}

void latency_watch_return(struct latency_watch *watch, const struct snapshot *snapshot)
{
	if (watch->is_on && !snapshot->latency.is_whole)
		free(latency_sums_add(watch->pending, snapshot));
}

/* --- names --- */

/* The id of a cgroup is the inode number of its directory: kernfs_node of include/linux/kernfs.h. */
static void learn_cgroup(struct latency_watch *watch, const struct snapshot *snapshot, uint32_t path)
{
	const char *text = snapshot_text(snapshot, path);
	size_t length = string_pool_length(&snapshot->strings, path);
	int directory = cgroup_open(watch->roots, text, length, O_PATH);
	struct stat status;

	if (directory < 0)
		return;
	if (fstat(directory, &status) == 0)
		cgroup_paths_add(&watch->cgroups, status.st_ino, text, length);
	close(directory);
}

/* Learns the ids of the cgroups that threads of this round are in. */
static void learn_cgroups(struct latency_watch *watch, const struct snapshot *snapshot)
{
	bool *done = memory_allocate_zero(snapshot->strings.count + 1, sizeof(*done));

	for (size_t i = 0; i < snapshot->triple_count; i++) {
		uint32_t path = snapshot->triples[i].cgroup;

		if (!done[path])
			learn_cgroup(watch, snapshot, path);
		done[path] = true;
	}
	free(done);
}

struct taking {
	struct latency_watch *watch;
	struct snapshot *snapshot;
	bool learned;
	uint32_t record_of[LATENCY_SLOTS]; /* index and 1; 0: none */
};

static bool has_prefix(const struct snapshot *snapshot, uint32_t id, const char name[TASK_COMM_SIZE])
{
	const struct text text = text_of_name(name, TASK_COMM_SIZE);
	struct buffer escaped = {0};
	bool is_prefix;

	unicode_append_escaped(&escaped, text.data, text.length);
	is_prefix = strncmp(snapshot_text(snapshot, id), escaped.data != NULL ? escaped.data : "",
			    escaped.length) == 0;
	buffer_release(&escaped);
	return is_prefix;
}

/*
 * The names of a thread in the snapshot that these waits are of; NULL when it is gone or has other names now.
 * procfs writes behind the name of a worker of the kernel what it does (proc_task_name()).
 */
static const struct triple *find_names(const struct snapshot *snapshot, const struct bpf_waits *waits)
{
	const uint32_t row = snapshot_find_row(snapshot, waits->tgid, waits->tid);
	const struct triple *names;

	if (row == SNAPSHOT_NO_ROW)
		return NULL;
	names = &snapshot->triples[snapshot->triple[row]];
	return has_prefix(snapshot, names->pcomm, waits->names->process) &&
			       has_prefix(snapshot, names->comm, waits->names->thread)
		       ? names
		       : NULL;
}

/* Those of any thread of that process and name: the first one to wait, which is looked for, may have ended.
 */
static const struct triple *find_alike(const struct snapshot *snapshot, const struct bpf_waits *waits)
{
	for (size_t row = snapshot_search_row(snapshot, waits->tgid, 0);
	     row < snapshot->thread_count && snapshot->tgid[row] == waits->tgid; row++) {
		const struct triple *names = &snapshot->triples[snapshot->triple[row]];

		if (has_prefix(snapshot, names->comm, waits->names->thread))
			return names;
	}
	return NULL;
}

static uint32_t find_cgroup(struct taking *taking, const struct bpf_waits *waits, const struct triple *names)
{
	struct latency_watch *watch = taking->watch;
	struct string_pool *strings = &taking->snapshot->strings;
	const char *path = cgroup_paths_find(&watch->cgroups, waits->names->cgroup);

	/* no directory has the number of a pair, and whom it was met with may have moved since */
	if (path == NULL && !taking->learned && (waits->names->cgroup & TASK_CGROUP_PAIR) == 0) {
		learn_cgroups(watch, taking->snapshot);
		taking->learned = true;
		path = cgroup_paths_find(&watch->cgroups, waits->names->cgroup);
	}
	if (path != NULL)
		return string_pool_intern(strings, path, strlen(path));
	/* what lies outside of ctop's own cgroup namespace has no path that can be opened */
	if (names == NULL)
		names = find_alike(taking->snapshot, waits);
	return names != NULL ? names->cgroup : snapshot_intern_own_name(strings, name_ended);
}

static uint32_t intern_name(struct string_pool *strings, const char name[TASK_COMM_SIZE])
{
	const struct text text = text_of_name(name, TASK_COMM_SIZE);

	return snapshot_intern_name(strings, text.data, text.length);
}

static struct latency_waits waits_of(const struct bpf_waits *waits)
{
	struct latency_waits to;

	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++) {
		memcpy(to.of[kind].buckets, waits->buckets[kind], sizeof(waits->buckets[kind]));
		to.of[kind].sum_ns = waits->sum[kind];
		to.of[kind].max_ns = waits->longest[kind];
	}
	return to;
}

static void add_times(struct latency *latency, uint32_t record, uint32_t pid, const struct bpf_waits *waits)
{
	for (uint8_t class = 0; class < WAIT_CLASS_COUNT; class ++)
		latency_add_time(latency, &(struct latency_time){record, pid, class, waits->time[class]});
}

static void take_waits(void *context, const struct bpf_waits *waits)
{
	struct taking *taking = context;
	struct snapshot *snapshot = taking->snapshot;
	struct string_pool *strings = &snapshot->strings;
	const struct triple *names = NULL;
	struct latency_waits own = waits_of(waits);
	struct latency_record *record;
	uint32_t pcomm, comm, cgroup, index;

	if (waits->names == NULL) {
		pcomm = comm = cgroup = snapshot_intern_own_name(strings, name_other);
	} else {
		const bool is_kernel = waits->names->kind == LATENCY_THREAD_KERNEL;

		names = find_names(snapshot, waits);
		cgroup = find_cgroup(taking, waits, names);
		if (waits->names->kind == LATENCY_THREAD_OWN)
			pcomm = snapshot_intern_own_name(strings, name_self);
		else
			pcomm = names != NULL && is_kernel ? names->pcomm
							   : intern_name(strings, waits->names->process);
		comm = names != NULL && is_kernel ? names->comm : intern_name(strings, waits->names->thread);
	}
	record = latency_add_record(snapshot, pcomm, comm, cgroup);
	record->is_kernel = waits->names != NULL && waits->names->kind == LATENCY_THREAD_KERNEL;
	taking->record_of[waits->slot] = (uint32_t)snapshot->latency.count;
	index = taking->record_of[waits->slot] - 1;
	latency_add_waits(&snapshot->latency, index, &own);
	add_times(&snapshot->latency, index, LATENCY_PROCESS_UNKNOWN, waits);
}

static void take_share(void *context, const struct bpf_waits *waits)
{
	const struct taking *taking = context;
	struct snapshot *snapshot = taking->snapshot;
	struct latency *latency = &snapshot->latency;
	struct latency_share share = {.record = taking->record_of[waits->slot] - 1};

	if (snapshot_find_row(snapshot, waits->tgid, waits->tgid) != SNAPSHOT_NO_ROW)
		share.pid = waits->tgid;
	share.waits = waits_of(waits);
	*MEMORY_APPEND(latency->shares, latency->share_count, latency->share_capacity) = share;
	add_times(latency, share.record, share.pid, waits);
}

/* Times of unknown processes are the whole so far: takes those of known processes off. */
static void subtract_known_times(struct latency *latency)
{
	uint64_t known = 0;
	size_t count = 0;

	for (size_t i = 0; i < latency->time_count; i++) {
		struct latency_time time = latency->times[i];
		const struct latency_time *before = count != 0 ? &latency->times[count - 1] : &time;

		if (before->record != time.record || before->class != time.class)
			known = 0;
		if (time.pid != LATENCY_PROCESS_UNKNOWN)
			known += time.time_ns;
		else
			time.time_ns -= known < time.time_ns ? known : time.time_ns;
		if (time.time_ns != 0)
			latency->times[count++] = time;
	}
	latency->time_count = count;
}

static const enum latency_cause causes[] = {
	[BLAME_EARLIER - BLAME_EARLIER] = LATENCY_CAUSE_EARLIER,
	[BLAME_WAKEUP - BLAME_EARLIER] = LATENCY_CAUSE_WAKEUP,
	[BLAME_THROTTLED - BLAME_EARLIER] = LATENCY_CAUSE_THROTTLED,
	[BLAME_INTERRUPTS - BLAME_EARLIER] = LATENCY_CAUSE_INTERRUPTS,
};

static void take_blame(void *context, const struct bpf_blame *blame)
{
	const struct taking *taking = context;
	struct latency *latency = &taking->snapshot->latency;
	struct latency_delay delay = {.time_ns = blame->time, .waits = blame->waits, .wakes = blame->wakes};
	const uint32_t victim = taking->record_of[blame->victim];

	if (victim == 0)
		return;
	delay.victim = victim - 1;
	if (blame->culprit >= BLAME_EARLIER)
		delay.cause = causes[blame->culprit - BLAME_EARLIER];
	else if (blame->culprit == LATENCY_SLOT_OTHER || taking->record_of[blame->culprit] == 0)
		delay.cause = LATENCY_CAUSE_OTHER;
	else
		delay.culprit = taking->record_of[blame->culprit] - 1;
	*MEMORY_APPEND(latency->delays, latency->delay_count, latency->delay_capacity) = delay;
}

/* --- rounds --- */

void latency_watch_read(struct latency_watch *watch, bool whole, struct snapshot *snapshot)
{
	struct latency *latency = &snapshot->latency;
	struct taking *taking;
	struct bpf_latency_cost cost;
	uint64_t now;

	if (!watch->is_on)
		return;
	now = clock_ns(CLOCK_BOOTTIME);
	latency->present = true;
	taking = memory_allocate_zero(1, sizeof(*taking));
	taking->watch = watch;
	taking->snapshot = snapshot;
	bpf_latency_read(watch->bpf, &(struct bpf_latency_taker){take_waits, take_share, take_blame, taking},
			 &cost);
	free(taking);
	latency_join_shares(latency);
	latency_join_times(latency);
	subtract_known_times(latency);
	latency_end_processes(&watch->whole->latency, snapshot, watch->read_at_ns);
	latency_end_processes(&watch->pending->latency, snapshot, watch->read_at_ns);
	latency->events = cost.events;
	latency->unseen = cost.unseen;
	latency->cost_ns = cost.time_ns;
	latency->span_ns = cost.span_ns;
	watch->read_at_ns = now;
	free(latency_sums_add(watch->whole, snapshot));
	if (!whole && watch->pending->latency.span_ns == 0)
		return; /* as it is */
	free(latency_sums_add(watch->pending, snapshot));
	latency_release(latency);
	latency_copy(snapshot, whole ? watch->whole : watch->pending);
	latency->present = true;
	latency->is_whole = whole;
	if (!whole)
		start_sums(&watch->pending);
}
