/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended_records.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/bpf/task_decode.h"
#include "capture/procfs/text_scan.h"

enum {
	BUCKETS_MAX = 16384,
	LEADERS_MAX = 65536,
	KTHREADD = 2, /* the parent of all kernel threads */
	/* Rows have starts in ticks, records how long ago they were, in us. */
	START_SLACK_NS = 2 * NS_PER_TICK,
	US = 1000,
};

struct waiting_record {
	uint32_t tgid, tid;               /* tgid is 0 when the record does not say */
	uint64_t start_from_ns, start_ns; /* CLOCK_BOOTTIME: it began between them */
	char name[TASK_COMM_SIZE];
	bool kernel;
	bool never_slept;
	uint64_t on_cpu_ns; /* of one that never slept */
	bool undelayed;     /* its delays make no sense, and are left out */
	__u64 amounts[EXIT_AMOUNTS];
};

/* Threads of one name that no row shows; leaders have no process beside them. */
struct bucket {
	uint32_t tgid;     /* of threads that are no leaders; 0 */
	uint64_t start_ns; /* of the first of them */
	uint32_t name;     /* of `names` */
	bool kernel;
	bool leaders;
	uint64_t threads, unknown, delayed;
	uint64_t on_cpu_ns;              /* of those that never slept */
	uint64_t charged_ns, sampled_ns; /* of the others: by the scheduler, by the tick */
	__u64 amounts[EXIT_AMOUNTS];
};

/* A leader that has ended; its number may have been another's before, and be so again. */
struct ended_leader {
	uint64_t start_from_ns; /* CLOCK_BOOTTIME: it began then or later */
	uint32_t name;          /* of `names` */
	uint32_t earlier;       /* the one that had the number before, UINT32_MAX for none */
};

struct ended_records {
	const uint32_t *scope;
	size_t scope_count;
	struct waiting_record *items;
	size_t count, capacity;
	struct bucket *buckets;
	size_t bucket_count, bucket_capacity;
	struct hash_map bucket_index;
	struct string_pool names;
	struct ended_leader *leaders;
	size_t leader_count, leader_capacity;
	struct hash_map leader_index;   /* process: the last of its leaders */
	struct taskstats_layout layout; /* of the last record; the size is 0 before the first */
	uint64_t lost;
	uint64_t suspended_ns; /* of the last record: the host, in all */
	uint64_t since_before; /* CLOCK_BOOTTIME of the round before the last, of the only one; 0 for none */
	struct hash_map tids;  /* rows of `tids_of` by thread, for records without a process */
	uint64_t tids_serial;  /* of the snapshot that they are of; 0 for none */
};

struct ended_records *ended_records_create(const uint32_t *scope, size_t scope_count)
{
	struct ended_records *records = memory_allocate_zero(1, sizeof(*records));

	records->scope = scope;
	records->scope_count = scope_count;
	return records;
}

void ended_records_release(struct ended_records *records)
{
	if (records == NULL)
		return;
	free(records->items);
	free(records->buckets);
	hash_map_release(&records->bucket_index);
	string_pool_release(&records->names);
	free(records->leaders);
	hash_map_release(&records->leader_index);
	hash_map_release(&records->tids);
	free(records);
}

void ended_records_lose(struct ended_records *records, uint64_t threads)
{
	records->lost += threads;
}

size_t ended_records_waiting(const struct ended_records *records)
{
	return records->count;
}

/* --- amounts and names --- */

#define DELAY(id, name, needs)                                                                               \
	{EXIT_DELAYS + 2 * TASK_DELAY_##id, (needs) | TASK_KERNEL_DELAYS, TASKSTATS_MEMBER_##id##_COUNT, 1}, \
		{EXIT_DELAYS + 2 * TASK_DELAY_##id + 1, (needs) | TASK_KERNEL_DELAYS,                        \
		 TASKSTATS_MEMBER_##id##_DELAY_TOTAL, 1},

const struct ended_source ended_sources[ENDED_METRICS] = {
	{EXIT_RUN_TIME, 0, TASKSTATS_MEMBER_CPU_RUN_VIRTUAL_TOTAL, 1},
	{EXIT_RUN_DELAY, 0, TASKSTATS_MEMBER_CPU_DELAY_TOTAL, 1},
	{EXIT_TIMESLICES, 0, TASKSTATS_MEMBER_CPU_COUNT, 1},
	{EXIT_VOLUNTARY, 0, TASKSTATS_MEMBER_NVCSW, 1},
	{EXIT_NONVOLUNTARY, 0, TASKSTATS_MEMBER_NIVCSW, 1},
	{EXIT_MIGRATIONS, 0, TASKSTATS_MEMBER_NONE, 0},
	{EXIT_MINOR_FAULTS, 0, TASKSTATS_MEMBER_AC_MINFLT, 1},
	{EXIT_MAJOR_FAULTS, 0, TASKSTATS_MEMBER_AC_MAJFLT, 1},
	{EXIT_USER_TIME, 0, TASKSTATS_MEMBER_AC_UTIME, US},
	{EXIT_SYSTEM_TIME, 0, TASKSTATS_MEMBER_AC_STIME, US},
	{EXIT_IO, TASK_KERNEL_CHARS, TASKSTATS_MEMBER_READ_CHAR, 1},
	{EXIT_IO + 1, TASK_KERNEL_CHARS, TASKSTATS_MEMBER_WRITE_CHAR, 1},
	/* records count calls in whole 1,024s (KB_MASK of kernel/tsacct.c): unknown */
	{EXIT_IO + 2, TASK_KERNEL_CHARS, TASKSTATS_MEMBER_NONE, 0},
	{EXIT_IO + 3, TASK_KERNEL_CHARS, TASKSTATS_MEMBER_NONE, 0},
	{EXIT_IO + 4, TASK_KERNEL_IO, TASKSTATS_MEMBER_READ_BYTES, 1},
	{EXIT_IO + 5, TASK_KERNEL_IO, TASKSTATS_MEMBER_WRITE_BYTES, 1},
	{EXIT_IO + 6, TASK_KERNEL_IO, TASKSTATS_MEMBER_CANCELLED_WRITE_BYTES, 1},
	{EXIT_TIMESLICES, TASK_KERNEL_DELAYS, TASKSTATS_MEMBER_CPU_COUNT, 1},
	{EXIT_RUN_DELAY, TASK_KERNEL_DELAYS, TASKSTATS_MEMBER_CPU_DELAY_TOTAL, 1},
	TASK_DELAYS(DELAY)};

struct ended_amounts ended_amounts_of(const __u64 amounts[static EXIT_AMOUNTS], uint64_t delayed,
				      uint64_t least_user, uint64_t least_system)
{
	const struct task_times times = task_share_times(
		amounts[EXIT_RUN_TIME],
		(struct task_times){amounts[EXIT_USER_TIME], amounts[EXIT_SYSTEM_TIME]},
		(struct task_times){least_user, least_system});
	struct ended_amounts result = {.delayed = delayed};

	for (size_t i = 0; i < ENDED_METRICS; i++) {
		if (ended_metrics[i] == METRIC_UTIME_CLOCK_TICKS)
			result.of[i] = times.user / NS_PER_TICK;
		else if (ended_metrics[i] == METRIC_STIME_CLOCK_TICKS)
			result.of[i] = times.system / NS_PER_TICK;
		else
			result.of[i] = amounts[ended_sources[i].amount];
	}
	return result;
}

struct name_text ended_name(char text[static ENDED_NAME_ROOM], const char name[static TASK_COMM_SIZE])
{
	const struct text trimmed = text_of_name(name, TASK_COMM_SIZE);
	struct buffer escaped = {0};
	struct name_text result = {.text = text};

	unicode_append_escaped(&escaped, trimmed.data, trimmed.length);
	result.length = escaped.length;
	if (escaped.length != 0)
		memcpy(text, escaped.data, escaped.length);
	text[escaped.length] = '\0';
	buffer_release(&escaped);
	return result;
}

void ended_add_unknown(struct ended_set *set, uint64_t threads)
{
	const uint32_t triple = ended_set_triple(set, name_ended, name_ended, name_ended);
	struct ended_group *group = ended_set_group(set, triple, false);

	group->threads += threads;
	group->unknown += threads;
}

/* --- records --- */

static uint32_t intern(struct ended_records *records, struct name_text name)
{
	return string_pool_intern(&records->names, name.text, name.length);
}

static struct name_text name_at(const struct ended_records *records, uint32_t id)
{
	return (struct name_text){string_pool_text(&records->names, id),
				  string_pool_length(&records->names, id)};
}

static bool in_scope(const struct ended_records *records, uint32_t tgid)
{
	for (size_t i = 0; i < records->scope_count; i++) {
		if (records->scope[i] == tgid)
			return true;
	}
	return records->scope_count == 0;
}

static void add_leader(struct ended_records *records, const struct waiting_record *item)
{
	char name[ENDED_NAME_ROOM];
	struct ended_leader leader = {
		.start_from_ns = item->start_from_ns,
		.name = intern(records, ended_name(name, item->name)),
		.earlier = UINT32_MAX,
	};

	(void)hash_map_get(&records->leader_index, item->tgid, &leader.earlier);
	hash_map_set(&records->leader_index, item->tgid, (uint32_t)records->leader_count);
	*MEMORY_APPEND(records->leaders, records->leader_count, records->leader_capacity) = leader;
}

/* The last leader of a process that had begun by then; NULL where none has ended. */
static const struct ended_leader *find_ended_leader(const struct ended_records *records, uint32_t tgid,
						    uint64_t by_ns)
{
	uint32_t place = UINT32_MAX;

	(void)hash_map_get(&records->leader_index, tgid, &place);
	while (place != UINT32_MAX && records->leaders[place].start_from_ns > by_ns)
		place = records->leaders[place].earlier;
	return place != UINT32_MAX ? &records->leaders[place] : NULL;
}

void ended_records_add(struct ended_records *records, const struct ended_record_span *span, uint32_t tid,
		       const unsigned char *stats, const struct taskstats_layout *layout)
{
	const uint32_t tgid = (uint32_t)taskstats_number(layout, stats, TASKSTATS_MEMBER_AC_TGID);
	const uint64_t age = taskstats_u64(layout, stats, TASKSTATS_MEMBER_AC_ETIME) * US;
	const uint64_t earliest = age + START_SLACK_NS;
	struct waiting_record *item;

	records->suspended_ns = span->suspended_ns;
	if (records->layout.version != layout->version || records->layout.size != layout->size)
		records->layout = *layout;
	if (tgid != 0 && !in_scope(records, tgid))
		return;
	if (records->count == ENDED_THREADS_MAX) {
		records->lost++;
		return;
	}
	item = MEMORY_APPEND(records->items, records->count, records->capacity);
	*item = (struct waiting_record){
		.tgid = tgid,
		.tid = tid,
		.start_from_ns = span->from_ns > earliest ? span->from_ns - earliest : 0,
		.start_ns = span->to_ns > age ? span->to_ns - age : 0,
		.kernel = tid == KTHREADD ||
			  taskstats_number(layout, stats, TASKSTATS_MEMBER_AC_PPID) == KTHREADD,
	};
	if (taskstats_has(layout, TASKSTATS_MEMBER_AC_COMM))
		memcpy(item->name, stats + layout->offset[TASKSTATS_MEMBER_AC_COMM], sizeof(item->name));
	for (size_t i = 0; i < ENDED_METRICS; i++) {
		const struct ended_source *source = &ended_sources[i];

		if (source->member != TASKSTATS_MEMBER_NONE)
			item->amounts[source->amount] = taskstats_u64(layout, stats, source->member) *
							source->unit;
	}
	/* no thread waits longer than it lives: see struct metric_reader */
	item->undelayed = item->amounts[EXIT_DELAYS + 1] > age + NS_PER_MS;
	if (item->undelayed)
		memset(&item->amounts[EXIT_DELAYS], 0, (EXIT_AMOUNTS - EXIT_DELAYS) * sizeof(__u64));
	/* a thread that slept has switched by itself; timeslices show that the kernel counts waits at all */
	item->never_slept = item->amounts[EXIT_VOLUNTARY] == 0 && item->amounts[EXIT_TIMESLICES] != 0 &&
			    age >= item->amounts[EXIT_RUN_DELAY];
	if (item->never_slept)
		item->on_cpu_ns = age - item->amounts[EXIT_RUN_DELAY];
	if (tid == tgid && records->leader_count < LEADERS_MAX)
		add_leader(records, item);
}

/* --- rows --- */

/* The row of the thread that ended, or SNAPSHOT_NO_ROW; `snapshot` may be NULL. */
static uint32_t find_row(const struct ended_records *records, const struct snapshot *snapshot,
			 const struct waiting_record *item)
{
	uint32_t row = snapshot != NULL ? snapshot_find_row(snapshot, item->tgid, item->tid)
					: SNAPSHOT_NO_ROW;
	uint64_t start_ns;

	if (row == SNAPSHOT_NO_ROW)
		return SNAPSHOT_NO_ROW;
	start_ns = snapshot->start_time[row] * NS_PER_TICK;
	/* a row's start counts the time that the host was suspended, a record's age does not */
	return start_ns + records->suspended_ns >= item->start_from_ns &&
			       start_ns <= item->start_ns + START_SLACK_NS
		       ? row
		       : SNAPSHOT_NO_ROW;
}

/* The row of a process's leader, or SNAPSHOT_NO_ROW. */
static uint32_t find_leader(const struct snapshot *snapshot, uint32_t tgid)
{
	return snapshot != NULL && tgid != 0 ? snapshot_find_row(snapshot, tgid, tgid) : SNAPSHOT_NO_ROW;
}

/* Finds the processes of records that do not say theirs among the threads of a snapshot. */
static void find_processes(struct ended_records *records, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < records->count && snapshot != NULL; i++) {
		struct waiting_record *item = &records->items[i];
		uint32_t row;

		if (item->tgid != 0)
			continue;
		if (records->tids_serial != snapshot->serial) {
			hash_map_clear(&records->tids);
			for (size_t k = 0; k < snapshot->thread_count; k++)
				hash_map_set(&records->tids, snapshot->tid[k], (uint32_t)k);
			records->tids_serial = snapshot->serial;
		}
		if (!hash_map_get(&records->tids, item->tid, &row))
			continue;
		item->tgid = snapshot->tgid[row];
		if (find_row(records, snapshot, item) == SNAPSHOT_NO_ROW)
			item->tgid = 0; /* another thread of that number */
	}
}

/* --- threads that no row shows --- */

static struct bucket *find_bucket(struct ended_records *records, const struct waiting_record *item)
{
	const bool leader = item->tid == item->tgid, full = records->bucket_count >= BUCKETS_MAX;
	const uint32_t tgid = leader || full ? 0 : item->tgid;
	char text[ENDED_NAME_ROOM];
	const uint32_t name = intern(records, full ? name_other : ended_name(text, item->name));
	const uint64_t key = (uint64_t)tgid << 34 | (uint64_t)name << 2 | (uint64_t)leader << 1 |
			     item->kernel;
	struct bucket *bucket;
	uint32_t place;

	if (hash_map_get(&records->bucket_index, key, &place))
		return &records->buckets[place];
	hash_map_set(&records->bucket_index, key, (uint32_t)records->bucket_count);
	bucket = MEMORY_APPEND(records->buckets, records->bucket_count, records->bucket_capacity);
	*bucket = (struct bucket){.tgid = tgid,
				  .start_ns = item->start_ns,
				  .name = name,
				  .kernel = item->kernel,
				  .leaders = leader};
	return bucket;
}

static void add_up(struct ended_records *records, const struct waiting_record *item,
		   const struct feature_checks *checks)
{
	struct bucket *bucket = find_bucket(records, item);

	bucket->threads++;
	/* one that is older was missed, and what it did when is unknown */
	if (item->start_ns < records->since_before) {
		bucket->unknown++;
		return;
	}
	bucket->delayed += !item->undelayed && item->start_from_ns >= checks->delayacct_on_since_ns;
	for (size_t i = 0; i < EXIT_AMOUNTS; i++)
		bucket->amounts[i] += item->amounts[i];
	if (item->never_slept) {
		bucket->on_cpu_ns += number_larger(item->on_cpu_ns, item->amounts[EXIT_RUN_TIME]);
	} else {
		bucket->charged_ns += item->amounts[EXIT_RUN_TIME];
		bucket->sampled_ns += item->amounts[EXIT_USER_TIME] + item->amounts[EXIT_SYSTEM_TIME];
	}
}

/* Whether a thread is still there, as a zombie or while it ends; its number may have gone to another one. */
static bool is_there(const struct waiting_record *item)
{
	if (item->tgid == 0)
		return kill((pid_t)item->tid, 0) == 0 || errno != ESRCH;
	return tgkill((pid_t)item->tgid, (pid_t)item->tid, 0) == 0 || errno != ESRCH;
}

void ended_records_add_up(struct ended_records *records, const struct snapshot *previous,
			  const struct feature_checks *checks)
{
	size_t kept = 0;

	find_processes(records, previous);
	for (size_t i = 0; i < records->count; i++) {
		const struct waiting_record *item = &records->items[i];

		if (!in_scope(records, item->tgid))
			continue;
		if (find_row(records, previous, item) != SNAPSHOT_NO_ROW || is_there(item))
			records->items[kept++] = *item;
		else
			add_up(records, item, checks);
	}
	records->count = kept;
}

/* --- the round --- */

struct reading {
	struct ended_records *records;
	const struct snapshot *now, *previous;
	const struct feature_checks *checks;
	struct ended_set *set;
};

/* A snapshot's name of the process or thread of a row, or its cgroup. */
static struct name_text row_name(const struct snapshot *snapshot, uint32_t row, size_t member)
{
	const struct triple *triple = &snapshot->triples[snapshot->triple[row]];

	return snapshot_name(snapshot, *(const uint32_t *)((const char *)triple + member));
}

/*
 * The names of a process that other threads than its leader belong to. A process that began after `start_ns`,
 * when the thread was there already, was given the same number later and is another one.
 */
static void name_process(const struct reading *reading, uint32_t tgid, uint64_t start_ns,
			 struct name_text *ret_process, struct name_text *ret_cgroup)
{
	const struct snapshot *snapshots[] = {reading->now, reading->previous};
	const struct ended_leader *leader = find_ended_leader(reading->records, tgid, start_ns);

	*ret_process = *ret_cgroup = name_ended;
	for (size_t i = ARRAY_COUNT(snapshots); i-- > 0;) {
		uint32_t row = find_leader(snapshots[i], tgid);

		if (row == SNAPSHOT_NO_ROW ||
		    snapshots[i]->start_time[row] * NS_PER_TICK > start_ns + START_SLACK_NS)
			continue;
		*ret_process = row_name(snapshots[i], row, offsetof(struct triple, pcomm));
		*ret_cgroup = row_name(snapshots[i], row, offsetof(struct triple, cgroup));
	}
	if (leader != NULL)
		*ret_process = name_at(reading->records, leader->name);
}

/* One that the last round has: by the names that it had last. */
static void add_known(const struct reading *reading, const struct waiting_record *item, uint32_t row)
{
	const struct snapshot *previous = reading->previous;
	const bool kernel = (previous->thread_flags[row] & THREAD_KERNEL) != 0;
	const bool delayed = !item->undelayed &&
			     (item->start_from_ns >= reading->checks->delayacct_on_since_ns ||
			      snapshot_source_reason(previous, row, SOURCE_DELAYS) == REASON_READ);
	struct name_text process, name, cgroup;
	struct ended_thread *thread;
	char text[ENDED_NAME_ROOM];
	uint32_t triple;

	name_process(reading, item->tgid, item->start_ns, &process, &cgroup);
	cgroup = row_name(previous, row, offsetof(struct triple, cgroup));
	/* names of kernel threads are longer than the kernel's structure, and stay */
	name = kernel ? row_name(previous, row, offsetof(struct triple, comm)) : ended_name(text, item->name);
	if (kernel)
		process = row_name(previous, row, offsetof(struct triple, pcomm));
	else if (item->tid == item->tgid)
		process = name;
	triple = ended_set_triple(reading->set, process, name, cgroup);
	thread = ended_set_add_thread(reading->set, triple, kernel);
	if (thread == NULL)
		return;
	thread->tgid = item->tgid;
	thread->tid = item->tid;
	thread->start_time = previous->start_time[row];
	thread->amounts = ended_amounts_of(item->amounts, delayed, 0, 0);
}

/*
 * The least time that threads ran of whom the clock's tick saw so much: what is more than three standard
 * deviations of such counts below it would be no chance. The coarse clock has the tick's length:
 * clock_getres(2).
 */
static uint64_t least_sampled(uint64_t sampled_ns)
{
	struct timespec tick = {.tv_nsec = NS_PER_TICK};
	double least;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	least = (double)sampled_ns - 3 * sqrt((double)sampled_ns * (double)tick.tv_nsec);
	return least > 0 ? (uint64_t)least : 0;
}

static void add_bucket(const struct reading *reading, const struct bucket *bucket)
{
	const struct name_text name = name_at(reading->records, bucket->name);
	struct name_text process = name, cgroup = name_ended;
	__u64 amounts[EXIT_AMOUNTS];
	struct ended_amounts sum;
	struct ended_group *group;

	if (!bucket->leaders)
		name_process(reading, bucket->tgid, bucket->start_ns, &process, &cgroup);
	memcpy(amounts, bucket->amounts, sizeof(amounts));
	amounts[EXIT_RUN_TIME] = bucket->on_cpu_ns +
				 number_larger(bucket->charged_ns, least_sampled(bucket->sampled_ns));
	sum = ended_amounts_of(amounts, bucket->delayed, 0, 0);
	group = ended_set_group(reading->set, ended_set_triple(reading->set, process, name, cgroup),
				bucket->kernel);
	group->threads += bucket->threads;
	group->processes += bucket->leaders ? bucket->threads : 0;
	group->unknown += bucket->unknown;
	ended_amounts_add(&group->amounts, &sum);
}

static void take_items(const struct reading *reading)
{
	struct ended_records *records = reading->records;
	size_t kept = 0;

	find_processes(records, reading->previous);
	find_processes(records, reading->now);
	for (size_t i = 0; i < records->count; i++) {
		const struct waiting_record *item = &records->items[i];
		uint32_t row;

		if (!in_scope(records, item->tgid))
			continue;
		if (find_row(records, reading->now, item) != SNAPSHOT_NO_ROW) {
			records->items[kept++] = *item; /* its row goes in another round, and it with it */
			continue;
		}
		row = find_row(records, reading->previous, item);
		if (row != SNAPSHOT_NO_ROW)
			add_known(reading, item, row);
		else if (reading->previous != NULL)
			add_up(records, item, reading->checks);
	}
	records->count = kept;
}

/* Why an amount is known of no thread, or REASON_READ. */
static enum reason reason_of(const struct reading *reading, size_t index)
{
	const struct feature_checks *checks = reading->checks;
	const struct feature_result *io = &checks->results[FEATURE_IO_ACCOUNTING];
	const enum source source = metrics[ended_metrics[index]].source;
	const enum taskstats_member member = ended_sources[index].member;

	if (source == SOURCE_DELAYS && checks->task_delayacct != TASK_DELAYACCT_ON)
		return feature_delays_reason(checks);
	if (source == SOURCE_IO && io->state == FEATURE_STATE_OFF)
		return io->reason;
	if (member == TASKSTATS_MEMBER_NONE)
		return REASON_OTHER_BACKEND;
	return reading->records->layout.size == 0 || taskstats_has(&reading->records->layout, member)
		       ? REASON_READ
		       : REASON_NOT_IN_KERNEL;
}

static void clear_sums(struct ended_records *records)
{
	records->bucket_count = 0;
	hash_map_clear(&records->bucket_index);
	hash_map_clear(&records->leader_index);
	records->leader_count = 0;
	string_pool_release(&records->names);
	records->lost = 0;
}

void ended_records_read(struct ended_records *records, const struct snapshot *now,
			const struct snapshot *previous, const struct feature_checks *checks,
			struct ended_set *set)
{
	const struct reading reading = {records, now, previous, checks, set};

	if (records->since_before == 0 && previous != NULL)
		records->since_before = previous->provenance.boottime_ns;
	set->lower_bound = true;
	for (size_t i = 0; i < ENDED_METRICS; i++)
		set->reasons[i] = (reason_id)reason_of(&reading, i);
	take_items(&reading);
	for (size_t i = 0; i < records->bucket_count; i++)
		add_bucket(&reading, &records->buckets[i]);
	/* lost records may be of processes outside a scope */
	set->lost = records->lost;
	if (set->lost != 0 && records->scope_count == 0)
		ended_add_unknown(set, set->lost);
	clear_sums(records);
	records->since_before = previous != NULL ? previous->provenance.boottime_ns : 0;
}
