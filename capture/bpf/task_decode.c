/* SPDX-License-Identifier: GPL-2.0-only */
#include "task_decode.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"

/* States of include/linux/sched.h. */
enum {
	STATE_SLEEPING = 0x02,    /* TASK_UNINTERRUPTIBLE */
	STATE_HALTED = 0x0c,      /* __TASK_STOPPED | __TASK_TRACED */
	STATE_NO_LOAD = 0x400,    /* TASK_NOLOAD; together with TASK_UNINTERRUPTIBLE it means TASK_IDLE */
	STATE_LOCK_WAIT = 0x1000, /* TASK_RTLOCK_WAIT */
	STATE_FROZEN = 0x8000,    /* TASK_FROZEN */
	STATE_REPORTED = 0x7f,    /* TASK_REPORT */
};

/* Policies of include/uapi/linux/sched.h that fair_policy() of kernel/sched/sched.h knows. */
enum {
	POLICY_NORMAL = 0,
	POLICY_BATCH = 3,
	POLICY_EXT = 7,
};

/* Numbers that are handed on as they are. */
enum part {
	PART_RECORD,
	PART_DELAYS,
	PART_STATISTICS,
	PART_IO, /* of the record */
};

struct plain_number {
	enum metric metric;
	enum part part;
	uint16_t offset; /* of a u64 */
	uint32_t kernel; /* TASK_KERNEL_… that it needs */
};

#define RECORD(metric, member, kernel)                                                                       \
	{                                                                                                    \
		METRIC_##metric, PART_RECORD, offsetof(struct task_record, member), kernel                   \
	}
#define IO(metric, index, kernel)                                                                            \
	{                                                                                                    \
		METRIC_##metric, PART_IO, offsetof(struct task_record, io[index]), kernel                    \
	}
#define STATISTIC(member, metric)                                                                            \
	{METRIC_##metric, PART_STATISTICS, offsetof(struct task_statistics, member), TASK_KERNEL_STATISTICS},
#define DELAY_MEMBER(metric, index, member, kernel)                                                          \
	{                                                                                                    \
		METRIC_##metric, PART_DELAYS, offsetof(struct task_delays, of[TASK_DELAY_##index].member),   \
			TASK_KERNEL_DELAYS | (kernel)                                                        \
	}
#define DELAY(id, name, kernel)                                                                              \
	DELAY_MEMBER(id##_DELAY_COUNT, id, count, kernel),                                                   \
		DELAY_MEMBER(id##_DELAY_TOTAL_NS, id, total, kernel),                                        \
		DELAY_MEMBER(id##_DELAY_MAX_NS, id, max, (kernel) | TASK_KERNEL_DELAY_RANGES),               \
		DELAY_MEMBER(id##_DELAY_MIN_NS, id, min, (kernel) | TASK_KERNEL_DELAY_RANGES),

static const struct plain_number plain_numbers[] = {
	RECORD(RUN_TIME_NS, run_time, 0),
	RECORD(WAIT_TIME_NS, run_delay, 0),
	RECORD(TIMESLICES, timeslices, 0),
	RECORD(VOLUNTARY_CSW, voluntary, 0),
	RECORD(NONVOLUNTARY_CSW, nonvoluntary, 0),
	RECORD(NR_MIGRATIONS, migrations, 0),
	RECORD(MINFLT, minor_faults, 0),
	RECORD(MAJFLT, major_faults, 0),
	/* __delayacct_add_tsk() of kernel/delayacct.c */
	RECORD(CPU_DELAY_COUNT, timeslices, TASK_KERNEL_DELAYS),
	RECORD(CPU_DELAY_TOTAL_NS, run_delay, TASK_KERNEL_DELAYS),
	{METRIC_CPU_DELAY_MAX_NS, PART_DELAYS, offsetof(struct task_delays, run_delay_max),
	 TASK_KERNEL_DELAYS | TASK_KERNEL_RUN_DELAY_RANGE},
	{METRIC_CPU_DELAY_MIN_NS, PART_DELAYS, offsetof(struct task_delays, run_delay_min),
	 TASK_KERNEL_DELAYS | TASK_KERNEL_RUN_DELAY_RANGE},
	TASK_DELAYS(DELAY)
	/* do_io_accounting() of fs/proc/base.c */
	IO(RCHAR, 0, TASK_KERNEL_CHARS),
	IO(WCHAR, 1, TASK_KERNEL_CHARS),
	IO(SYSCR, 2, TASK_KERNEL_CHARS),
	IO(SYSCW, 3, TASK_KERNEL_CHARS),
	IO(READ_BYTES, 4, TASK_KERNEL_IO),
	IO(WRITE_BYTES, 5, TASK_KERNEL_IO),
	IO(CANCELLED_WRITE_BYTES, 6, TASK_KERNEL_IO),
	/* proc_sched_show_task() of kernel/sched/debug.c */
	TASK_STATISTICS(STATISTIC){METRIC_CORE_FORCEIDLE_SUM, PART_STATISTICS,
				   offsetof(struct task_statistics, core_forceidle_sum),
				   TASK_KERNEL_STATISTICS | TASK_KERNEL_FORCE_IDLE},
};

enum {
	PLAIN_NUMBER_COUNT = ARRAY_COUNT(plain_numbers)
};

/* The others, decoded by hand, and what they need. */
static const struct {
	enum metric metric;
	uint32_t kernel;
} other_numbers[] = {
	{METRIC_POLICY, 0},
	{METRIC_NICE, 0},
	{METRIC_PRIORITY, 0},
	{METRIC_RT_PRIORITY, 0},
	{METRIC_CPU_AFFINITY, 0},
	{METRIC_PROCESSOR, 0},
	{METRIC_STATE, 0},
	{METRIC_EXT_ENABLED, TASK_KERNEL_EXT},
	{METRIC_NR_THREADS, 0},
	{METRIC_FAIR_SLICE_NS, TASK_KERNEL_SLICE},
	{METRIC_UTIME_CLOCK_TICKS, 0},
	{METRIC_STIME_CLOCK_TICKS, 0},
	{METRIC_VOLUNTARY_SLEEP_NS, TASK_KERNEL_STATISTICS},
	{METRIC_HIWATER_RSS_BYTES, TASK_KERNEL_CHARS},
	{METRIC_HIWATER_VM_BYTES, TASK_KERNEL_CHARS},
};

struct task_parts task_parts_of(const struct bpf_pass *pass, size_t index)
{
	struct task_parts parts = {.record = bpf_pass_record(pass, index)};
	const size_t slot = bpf_pass_slot(pass, index);

	if (pass->delays != NULL)
		parts.delays = (const void *)(pass->delays + slot * pass->delays_stride);
	if (pass->statistics != NULL)
		parts.statistics = (const void *)(pass->statistics + slot * pass->statistics_stride);
	if (pass->calls != NULL)
		parts.call = (const void *)(pass->calls + slot * pass->calls_stride);
	return parts;
}

/* --- the order of rows --- */

/* Tasks one after the other in a pass that ascend in the order of rows. */
struct run {
	uint64_t key; /* of the first one */
	uint32_t first, count;
};

static uint64_t row_key(const struct task_record *record)
{
	return (uint64_t)record->tgid << 32 | record->tid;
}

/* The runs of all tasks, not sorted; the caller frees them. */
static struct run *find_runs(const struct bpf_pass *pass, size_t *ret_count)
{
	struct run *runs = NULL;
	size_t count = 0, capacity = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < pass->count; i++) {
		const struct task_record *record = bpf_pass_record(pass, i);
		uint64_t key = row_key(record);

		if (last != 0 && key > last && key >> 32 == last >> 32)
			runs[count - 1].count++;
		else
			*MEMORY_APPEND(runs, count, capacity) = (struct run){key, (uint32_t)i, 1};
		last = key;
	}
	*ret_count = count;
	return runs;
}

/* In the order of rows, and of the same ids in that of the pass. */
static int compare_records(const void *a, const void *b, void *context)
{
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	uint64_t left = row_key(bpf_pass_record(context, first));
	uint64_t right = row_key(bpf_pass_record(context, second));

	if (left == right)
		return (first > second) - (first < second);
	return left < right ? -1 : 1;
}

/*
 * Leaves each thread of one process once in its sorted order, as it was met last: of tasks with the same ids
 * the last one, and not as another thread, too, the task that was the leader when it was met again. (A thread
 * that was met later may have the memory of a leader that ended.) Returns how many are left.
 */
static size_t merge_process(const struct bpf_pass *pass, uint32_t *order, size_t count)
{
	uint32_t leader = UINT32_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct task_record *record = bpf_pass_record(pass, order[i]);

		if (record->tid == record->tgid)
			leader = order[i];
		if (i + 1 < count && bpf_pass_record(pass, order[i + 1])->tid == record->tid)
			continue;
		order[kept++] = order[i];
	}
	if (leader == UINT32_MAX)
		return kept;
	count = kept;
	kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (order[i] >= leader ||
		    bpf_pass_record(pass, order[i])->task != bpf_pass_record(pass, leader)->task)
			order[kept++] = order[i];
	}
	return kept;
}

/* The same for each process of a pass. */
static size_t merge_processes(const struct bpf_pass *pass, uint32_t *order, size_t count)
{
	size_t kept = 0, end;

	for (size_t begin = 0; begin < count; begin = end) {
		const uint32_t process = bpf_pass_record(pass, order[begin])->tgid;
		size_t left;

		for (end = begin; end < count && bpf_pass_record(pass, order[end])->tgid == process; end++)
			;
		left = merge_process(pass, order + begin, end - begin);
		memmove(order + kept, order + begin, left * sizeof(*order));
		kept += left;
	}
	return kept;
}

uint32_t *bpf_pass_order(struct bpf_pass *pass, size_t *ret_count)
{
	uint32_t *order = memory_allocate((pass->count + 1) * sizeof(*order));
	size_t run_count, count = 0;
	struct run *runs = find_runs(pass, &run_count);
	bool ascending = true;

	if (run_count != 0)
		qsort(runs, run_count, sizeof(*runs), order_by_u64);
	for (size_t i = 0; i < run_count; i++) {
		for (uint32_t k = 0; k < runs[i].count; k++) {
			order[count] = runs[i].first + k;
			ascending &= count == 0 || row_key(bpf_pass_record(pass, order[count - 1])) <
							   row_key(bpf_pass_record(pass, order[count]));
			count++;
		}
	}
	free(runs);
	if (ascending) {
		*ret_count = count;
		return order;
	}
	/* ids that went around, or a thread that was met twice */
	qsort_r(order, count, sizeof(*order), compare_records, pass);
	*ret_count = merge_processes(pass, order, count);
	return order;
}

/* --- numbers --- */

/* The kernel facts that a metric needs, or NULL when records do not have it. */
static const uint32_t *find_needs(enum metric metric)
{
	for (size_t i = 0; i < PLAIN_NUMBER_COUNT; i++) {
		if (plain_numbers[i].metric == metric)
			return &plain_numbers[i].kernel;
	}
	for (size_t i = 0; i < sizeof(other_numbers) / sizeof(other_numbers[0]); i++) {
		if (other_numbers[i].metric == metric)
			return &other_numbers[i].kernel;
	}
	return NULL;
}

bool task_decodes(enum metric metric)
{
	return find_needs(metric) != NULL;
}

bool task_kernel_has(uint32_t kernel, enum metric metric)
{
	const uint32_t *needs = find_needs(metric);

	return needs != NULL && (kernel & *needs) == *needs;
}

/*
 * Whether a freezer stops the task. The v1 freezer uses a task state of its own since Linux 6.1 and D before
 * (__refrigerator() of kernel/freezer.c). A stopped or traced task does not count as frozen.
 */
static bool is_frozen(const struct task_record *record)
{
	if (record->exit_state != 0 || record->state == 0 || (record->state & STATE_HALTED) != 0)
		return false;
	return (record->state & STATE_FROZEN) != 0 || (record->flags & TASK_IN_FREEZER) != 0 ||
	       ((record->task_flags & (TASK_FROZEN_BEFORE | TASK_KERNEL_THREAD)) == TASK_FROZEN_BEFORE &&
		(record->state & STATE_SLEEPING) != 0);
}

char task_state_letter(const struct task_record *record)
{
	static const char letters[] = "RSDTtXZPI";
	uint32_t state = (record->state | record->exit_state) & STATE_REPORTED;
	unsigned int index = 0;

	if ((record->state & (STATE_SLEEPING | STATE_NO_LOAD)) == (STATE_SLEEPING | STATE_NO_LOAD))
		return 'I';
	if (is_frozen(record))
		return SNAPSHOT_STATE_FROZEN;
	if ((record->state & STATE_LOCK_WAIT) != 0)
		state = STATE_SLEEPING;
	while (state != 0) {
		state >>= 1;
		index++;
	}
	return letters[index];
}

struct task_times task_share_times(uint64_t run, struct task_times sampled, struct task_times last)
{
	uint64_t system = 0;

	if (last.user + last.system >= run)
		return last;
	if (sampled.system != 0)
		system = (uint64_t)((unsigned __int128)sampled.system * run /
				    number_add_saturating(sampled.user, sampled.system));
	system = number_larger(system < run ? system : run, last.system);
	if (run - system < last.user)
		system = run - last.user;
	return (struct task_times){run - system, system};
}

/*
 * User and system time as procfs and taskstats show them. The kernel remembers what it showed; what we showed
 * is not known to it. Of a thread that runs on a CPU without a tick, task_cputime() adds to the ticks what is
 * not accounted yet, which is not looked at here.
 */
static struct task_times scale_times(const struct task_record *record, struct task_times shown)
{
	const struct task_times last = {
		number_larger(record->previous_user_time, shown.user * NS_PER_TICK),
		number_larger(record->previous_system_time, shown.system * NS_PER_TICK)};
	const struct task_times times = task_share_times(
		record->run_time, (struct task_times){record->user_time, record->system_time}, last);

	return (struct task_times){times.user / NS_PER_TICK, times.system / NS_PER_TICK};
}

static bool has_fair_policy(uint32_t policy)
{
	return policy == POLICY_NORMAL || policy == POLICY_BATCH || policy == POLICY_EXT;
}

static uint64_t read_u64(const void *part, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)part + offset, sizeof(value));
	return value;
}

static void decode_plain(struct snapshot *snapshot, size_t row, const struct task_parts *parts, bool with_io)
{
	const void *const bytes[] = {
		[PART_RECORD] = parts->record,
		[PART_DELAYS] = parts->delays,
		[PART_STATISTICS] = parts->statistics,
		[PART_IO] = with_io ? parts->record : NULL,
	};

	for (size_t i = 0; i < PLAIN_NUMBER_COUNT; i++) {
		const struct plain_number *number = &plain_numbers[i];

		if (bytes[number->part] != NULL)
			snapshot_store(snapshot, row, number->metric,
				       read_u64(bytes[number->part], number->offset));
	}
}

/* The sum has the time in D in it: __update_stats_enqueue_sleeper() of kernel/sched/stats.c. */
static uint64_t voluntary_sleep(const struct task_statistics *statistics)
{
	return statistics->sum_sleep_runtime > statistics->sum_block_runtime
		       ? statistics->sum_sleep_runtime - statistics->sum_block_runtime
		       : 0;
}

void task_decode(struct snapshot *snapshot, size_t row, const struct task_parts *parts, bool with_io,
		 struct task_times shown)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct task_record *record = parts->record;
	struct task_times times = scale_times(record, shown);

	decode_plain(snapshot, row, parts, with_io);
	if (parts->statistics != NULL)
		snapshot_store(snapshot, row, METRIC_VOLUNTARY_SLEEP_NS, voluntary_sleep(parts->statistics));
	snapshot_store(snapshot, row, METRIC_UTIME_CLOCK_TICKS, times.user);
	snapshot_store(snapshot, row, METRIC_STIME_CLOCK_TICKS, times.system);
	snapshot_store(snapshot, row, METRIC_NICE, (uint64_t)(int64_t)record->nice);
	snapshot_store(snapshot, row, METRIC_PRIORITY, (uint64_t)(int64_t)record->priority);
	snapshot_store(snapshot, row, METRIC_RT_PRIORITY, record->rt_priority);
	snapshot_store(snapshot, row, METRIC_PROCESSOR, record->cpu);
	snapshot_store(snapshot, row, METRIC_STATE, (unsigned char)task_state_letter(record));
	snapshot_store(snapshot, row, METRIC_EXT_ENABLED, (record->flags & TASK_EXT) != 0);
	snapshot_store(snapshot, row, METRIC_NR_THREADS, record->thread_count);
	snapshot_store(snapshot, row, METRIC_FAIR_SLICE_NS,
		       has_fair_policy(record->policy) ? record->slice : 0);
	snapshot_store(snapshot, row, METRIC_HIWATER_RSS_BYTES, record->hiwater_rss * page_size);
	snapshot_store(snapshot, row, METRIC_HIWATER_VM_BYTES, record->hiwater_vm * page_size);
}

#define SLEEP_STEP_MASK ((UINT64_C(1) << 17) - 1)

/* By how much two bounds of an age may differ where it counts as known: a cell shows no more digits, and a
 * pass may take so long. */
#define KNOWN_WITHIN_SHARE 100
#define KNOWN_WITHIN_NS    NS_PER_MS

static bool is_on_cpu(const struct task_record *record)
{
	return (record->flags & TASK_RUNNING) != 0;
}

bool task_sleeps(const struct task_record *record)
{
	return !is_on_cpu(record) && record->exit_state == 0 && task_state_letter(record) != 'R';
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Whether it is the sleep of `before`: the task had no CPU since. A task that sleeps may stay on its queue
 * for a while and be moved to another CPU (sched_delayed of kernel/sched/fair.c, since Linux 6.12), where
 * enqueue_entity() forgets exec_start.
 */
static bool goes_on(const struct task_record *record, const struct task_sleep *before)
{
	return before != NULL && record->timeslices == before->timeslices &&
	       (record->exec_start == before->exec_start || record->exec_start == 0);
}

/*
 * The least age of a sleep, by the clock in which update_curr() noted its beginning. That stands
 * still in interrupts and while a hypervisor runs something else: update_rq_clock_task() of
 * kernel/sched/core.c.
 */
static uint64_t least_sleep(const struct task_record *record, uint64_t clock_ns)
{
	const uint64_t began_ns = record->exec_start + record->clock_lag;

	if (record->exec_start == 0 || clock_ns <= began_ns)
		return 0;
	if (task_state_letter(record) == 'D')
		return clock_ns - began_ns;
	/* a history has room for all of these numbers but not for their last bits */
	return clock_ns - (began_ns & ~SLEEP_STEP_MASK);
}

/*
 * The run time since it last got a CPU: set_next_entity() of kernel/sched/fair.c. Other classes do not note
 * it.
 */
static uint64_t last_stretch(const struct task_record *record)
{
	const bool is_fair = record->priority >= 0 && (record->flags & TASK_EXT) == 0;

	return is_fair ? less(record->run_time, record->arrival_run_time) : 0;
}

static struct task_wait sleep_of(const struct task_record *record, uint64_t clock_ns,
				 const struct task_sleep *before)
{
	/* sched_info_arrive() of kernel/sched/stats.h notes it by the wall, which nothing does at the end */
	const uint64_t since_arrival = less(clock_ns, record->last_arrival);
	const uint64_t longest = less(since_arrival, last_stretch(record));
	struct task_wait wait = {0};

	if (goes_on(record, before))
		wait.ns = before->ns + less(clock_ns, before->clock_ns);
	else
		wait.ns = least_sleep(record, clock_ns);
	if (wait.ns > since_arrival + SLEEP_STEP_MASK)
		wait.ns = since_arrival;
	wait.at_least = longest > wait.ns + wait.ns / KNOWN_WITHIN_SHARE + KNOWN_WITHIN_NS;
	return wait;
}

struct task_wait task_wait_of(const struct task_record *record, uint64_t clock_ns,
			      const struct task_sleep *before)
{
	if (clock_ns == 0 || is_on_cpu(record) || record->exit_state != 0)
		return (struct task_wait){0};
	if (record->state != 0)
		return sleep_of(record, clock_ns, before);
	/*
	 * sched_info_enqueue() and sched_info_arrive() of kernel/sched/stats.h. A thread that went to sleep
	 * may be queued anew on another CPU (see goes_on()): it waits for none.
	 */
	return (struct task_wait){
		.ns = record->last_queued != 0 ? less(clock_ns, record->last_queued) : 0,
		.queued = record->last_queued != 0,
	};
}

void task_slept_follow(struct task_slept *slept, const struct task_record *record, uint64_t clock_ns)
{
	if (slept->queued_from != record->last_queued) {
		slept->counted += slept->pending;
		slept->queued_from = slept->pending = 0;
	}
	if (record->last_queued == 0 || !task_sleeps(record))
		return;
	slept->queued_from = record->last_queued;
	slept->pending = less(clock_ns, record->last_queued);
}

void task_slept_leave_out(const struct task_slept *slept, struct task_record *record)
{
	record->run_delay = less(record->run_delay, slept->counted);
	record->last_queued += slept->pending;
}

/* Any change of one word changes the result; of several, all but never not. */
static uint64_t mix_words(uint64_t hash, const void *bytes, size_t size)
{
	uint64_t lanes[4] = {hash, ~hash, hash + 1, hash ^ 0x9e3779b97f4a7c15};
	size_t i = 0;

	for (; i + sizeof(lanes) <= size; i += sizeof(lanes)) {
		for (size_t lane = 0; lane < 4; lane++)
			lanes[lane] = ((lanes[lane] << 5 | lanes[lane] >> 59) ^
				       read_u64(bytes, i + lane * sizeof(uint64_t))) *
				      0x517cc1b727220a95;
	}
	for (; i < size; i += sizeof(uint64_t))
		lanes[0] = ((lanes[0] << 5 | lanes[0] >> 59) ^ read_u64(bytes, i)) * 0x517cc1b727220a95;
	for (size_t lane = 1; lane < 4; lane++)
		lanes[0] = ((lanes[0] << 23 | lanes[0] >> 41) ^ lanes[lane]) * 0x9e3779b97f4a7c15;
	return lanes[0];
}

uint64_t task_fingerprint(const struct task_parts *parts)
{
	const size_t rest = offsetof(struct task_record, start_boottime);
	uint64_t hash = mix_words(1, parts->record, offsetof(struct task_record, pass));

	hash = mix_words(hash, (const char *)parts->record + rest, sizeof(*parts->record) - rest);
	if (parts->delays != NULL)
		hash = mix_words(hash, parts->delays, sizeof(*parts->delays));
	if (parts->statistics != NULL)
		hash = mix_words(hash, parts->statistics, sizeof(*parts->statistics));
	return hash;
}
