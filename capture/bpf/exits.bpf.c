// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the work of tasks in their lives. Every task is noted when it ends, and counted when the kernel
 * frees it (delayed_put_task_struct() of kernel/exit.c, one grace period of RCU after release_task()): by
 * then all that it did is there. A task that came and went between two rounds goes into a sum at that point;
 * one that a round may have met stays listed for the reader. On an overloaded host grace periods take
 * seconds. So a round counts the tasks that have ended and left no row, though they are not free yet, with
 * the notes of their end, and a later round adds the rest.
 */
#include "kernel_types.h"

#include "exit_record.h"

/*
 * Tasks that started before this (CLOCK_BOOTTIME ns) may be known from a round and stay in `threads` for its
 * reader. All ones while a round is under way.
 */
__u64 known_before;
__u64 lost;        /* tasks that did not fit */
__u64 unnoted;     /* ends that did not fit in `threads` */
__u32 to_other;    /* sums are those of `other_sums` */
__u32 exit_kernel; /* TASK_KERNEL_… */
__u32 readings;    /* of sums, so far */

/* The tasks put into `ending` or `threads`. A word is 0 until it is stored: see list_task(). */
struct exit_list task_list;
struct exit_identity noted_tasks[EXIT_LISTED_MAX];

/* The sums that have grown: each once between two readings. */
struct exit_list sum_list;
struct exit_touched touched_sums[EXIT_LISTED_MAX];

struct sums {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, EXIT_KEYS_MAX);
	__type(key, struct exit_key);
	__type(value, struct exit_sum);
} sums SEC(".maps"), other_sums SEC(".maps");

/*
 * The tasks that have ended and are not counted yet. Most are in the first one for a moment only, so its
 * memory is taken in advance: that halves what an end costs. The other has room for many more.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EXIT_ENDING_MAX);
	__type(key, struct exit_identity);
	__type(value, struct exit_thread);
} ending SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, EXIT_TASKS_MAX);
	__type(key, struct exit_identity);
	__type(value, struct exit_thread);
} threads SEC(".maps");

/* A new entry of `sums`, which is too large for the stack. */
static const struct exit_sum empty_sum;

/*
 * Reserves a place in a list, or returns EXIT_LISTED_MAX if the list is full. The caller has changed the map
 * before, and stores the entry next.
 *
 * - A program moves `end` only if it saw room, and the reader moves `begin` only forward. So the place is
 *   empty, and no program on another CPU, or in an interrupt on this one, reserves the same.
 * - The program may be interrupted or preempted before it stores the entry, while programs on other CPUs
 *   complete later entries. The reader stops at an incomplete entry, walks the map in that reading, and takes
 *   the rest in another.
 * - The reader resets `overflowed` before it walks the map. Setting the flag is a full barrier, so the walk
 *   finds the change. A test whether the flag is set already would be none.
 *
 * No program runs in an NMI: sched_process_exit comes from the ending task, sched_process_free from RCU.
 */
static __always_inline __u32 reserve_place(struct exit_list *list)
{
	/* a program on another CPU that appends at the same moment makes a try fail */
	for (int i = 0; i < 4; i++) {
		const __u64 begin = *(volatile __u64 *)&list->begin;
		const __u64 end = *(volatile __u64 *)&list->end;

		if (end - begin >= EXIT_LISTED_MAX)
			break;
		if (__sync_val_compare_and_swap(&list->end, end, end + 1) == end)
			return end % EXIT_LISTED_MAX;
	}
	__sync_lock_test_and_set(&list->overflowed, 1);
	return EXIT_LISTED_MAX;
}

/* Appends a task, so that the reader looks for it. */
static __always_inline void list_task(const struct exit_identity *identity)
{
	__u32 place = reserve_place(&task_list);
	volatile struct exit_identity *entry;

	if (place >= EXIT_LISTED_MAX)
		return;
	/* so that no word that is stored is 0, the number of executions is stored as its complement */
	entry = &noted_tasks[place];
	entry->start_boottime = identity->start_boottime;
	entry->task = identity->task;
	entry->self_exec_id = ~identity->self_exec_id;
}

/* The time that a task on a CPU has run since its run time was last brought up to date, until the last tick.
 */
static __always_inline __u64 last_stretch(const struct task_struct *task)
{
	__u64 now, since = task->se.exec_start;

	if (task->on_cpu == 0 || !bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	now = task->se.cfs_rq->rq->clock_task;
	return now > since ? now - since : 0;
}

#define FILL_DELAY(id, name, needs)                                                                          \
	if (bpf_core_field_exists(info->name##_delay)) {                                                     \
		amounts[EXIT_DELAYS + 2 * TASK_DELAY_##id] = info->name##_count;                             \
		amounts[EXIT_DELAYS + 2 * TASK_DELAY_##id + 1] = info->name##_delay;                         \
	}

/*
 * Returns whether delay accounting has a record of the task. One by which it waited longer than it lived is
 * none: see struct metric_reader.
 */
static __always_inline bool fill_amounts(const struct task_struct *task, __u64 amounts[EXIT_AMOUNTS])
{
	const struct task_delay_info *info;

	amounts[EXIT_RUN_TIME] = task->se.sum_exec_runtime + last_stretch(task);
	amounts[EXIT_RUN_DELAY] = task->sched_info.run_delay;
	amounts[EXIT_TIMESLICES] = task->sched_info.pcount;
	amounts[EXIT_VOLUNTARY] = task->nvcsw;
	amounts[EXIT_NONVOLUNTARY] = task->nivcsw;
	amounts[EXIT_MIGRATIONS] = task->se.nr_migrations;
	amounts[EXIT_MINOR_FAULTS] = task->min_flt;
	amounts[EXIT_MAJOR_FAULTS] = task->maj_flt;
	amounts[EXIT_USER_TIME] = task->utime;
	amounts[EXIT_SYSTEM_TIME] = task->stime;
	fill_io(task, amounts + EXIT_IO);
	if (!bpf_core_field_exists(task->delays))
		return false;
	info = task->delays;
	if (info == NULL || info->blkio_delay > bpf_ktime_get_boot_ns() - task->start_boottime)
		return false;
	TASK_DELAYS(FILL_DELAY)
	return true;
}

/*
 * When the task is freed its leader may be free already, and its memory another task's: the name of the
 * thread has to do then.
 */
static __always_inline void fill_key(const struct task_struct *task, struct exit_key *key)
{
	const struct task_struct *leader = task->group_leader;

	__builtin_memcpy(key->thread, task->comm, sizeof(key->thread));
	__builtin_memcpy(key->process, task->comm, sizeof(key->process));
	if (leader->tgid == task->tgid)
		__builtin_memcpy(key->process, leader->comm, sizeof(key->process));
	key->cgroup = cgroup_of(task);
	key->kernel = (task->flags & TASK_KERNEL_THREAD) != 0;
}

static __always_inline void fill_identity(const struct task_struct *task, struct exit_identity *identity)
{
	identity->start_boottime = task->start_boottime;
	identity->task = (__u64)task;
	identity->self_exec_id = task->self_exec_id;
}

/*
 * Whether another thread has taken over the leader's id that the task had: the new leader starts when the old
 * one did, to the nanosecond. That one, too, may be free already.
 */
static __always_inline bool is_replaced(const struct task_struct *task)
{
	const struct task_struct *leader = task->group_leader;

	return task->pid != task->tgid && leader->tgid == task->tgid &&
	       leader->start_boottime == task->start_boottime;
}

static __always_inline void fill_thread(const struct task_struct *task, struct exit_thread *thread)
{
	thread->delayed = fill_amounts(task, thread->amounts);
	thread->previous_user_time = task->prev_cputime.utime;
	thread->previous_system_time = task->prev_cputime.stime;
}

static __always_inline void note(const struct task_struct *task, const struct exit_identity *identity,
				 bool is_free)
{
	struct exit_thread thread = {0};

	thread.ended_boottime = bpf_ktime_get_boot_ns();
	fill_key(task, &thread.key);
	fill_thread(task, &thread);
	if (!is_free && task->pid == task->tgid)
		__builtin_memcpy(thread.parent, task->real_parent->group_leader->comm, sizeof(thread.parent));
	thread.tgid = task->tgid;
	thread.replaced = is_free && is_replaced(task);
	thread.tid = thread.replaced ? task->tgid : task->pid;
	thread.is_free = is_free;
	if ((task->start_boottime >= known_before &&
	     bpf_map_update_elem(&ending, identity, &thread, BPF_ANY) == 0) ||
	    bpf_map_update_elem(&threads, identity, &thread, BPF_ANY) == 0)
		list_task(identity);
	else
		__sync_fetch_and_add(is_free ? &lost : &unnoted, 1);
}

/* The sum of a key, made when it is new; NULL without room. */
static __always_inline struct exit_sum *find_sum(void *map, const struct exit_key *key)
{
	struct exit_sum *sum = bpf_map_lookup_elem(map, key);

	if (sum != NULL)
		return sum;
	bpf_map_update_elem(map, key, &empty_sum, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

static __always_inline void vote(struct exit_sum *sum, const char parent[TASK_COMM_SIZE])
{
	const __u64 *name = (const __u64 *)parent;
	__u64 *own = (__u64 *)sum->parent;

	if (own[0] == name[0] && own[1] == name[1]) {
		sum->parent_votes++;
	} else if (sum->parent_votes != 0) {
		sum->parent_votes--;
	} else {
		own[0] = name[0];
		own[1] = name[1];
		sum->parent_votes = 1;
	}
}

static __always_inline struct exit_sum *find_sum_of(const struct exit_key *key)
{
	return to_other != 0 ? find_sum(&other_sums, key) : find_sum(&sums, key);
}

/*
 * Marks a sum, whose lock the caller holds, as listed for the next reading. Returns whether the caller has to
 * append the sum because it was not marked. A reading notes the end of the list, raises `readings`, and then
 * reads the sums that were listed before that end, each under its lock (read_touched() of bpf_exits.c). A
 * program that gets the lock after the reader sees the raised number. A sum that was listed before the noted
 * end has a lower mark, so the program lists the sum again.
 */
static __always_inline bool mark_listed(struct exit_sum *sum)
{
	const __u32 next = readings + 1;
	const bool is_listed = sum->listed == next;

	sum->listed = next;
	return !is_listed;
}

/* Appends a sum, so that the reader reads it. */
static __always_inline void list_sum(const struct exit_key *key)
{
	__u32 place = reserve_place(&sum_list);

	if (place >= EXIT_LISTED_MAX)
		return;
	touched_sums[place].key = *key;
	__sync_lock_test_and_set(&touched_sums[place].is_complete, 1);
}

/* Counts who started a process. */
static __always_inline void count_parent(const struct exit_key *key, const char parent[TASK_COMM_SIZE])
{
	struct exit_sum *sum;
	bool is_new;

	if (parent[0] == '\0')
		return;
	sum = find_sum_of(key);
	if (sum == NULL)
		return;
	bpf_spin_lock(&sum->lock);
	vote(sum, parent);
	is_new = mark_listed(sum);
	bpf_spin_unlock(&sum->lock);
	if (is_new)
		list_sum(key);
}

static __always_inline void add_to_sum(const struct task_struct *task, const struct exit_key *key)
{
	__u64 amounts[EXIT_AMOUNTS] = {0};
	bool delayed = fill_amounts(task, amounts), process = task->pid == task->tgid;
	struct exit_sum *sum = find_sum_of(key);
	bool is_new;

	if (sum == NULL) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	bpf_spin_lock(&sum->lock);
	sum->threads++;
	sum->processes += process;
	sum->delayed += delayed;
	for (int i = 0; i < EXIT_AMOUNTS; i++)
		sum->amounts[i] += amounts[i];
	is_new = mark_listed(sum);
	bpf_spin_unlock(&sum->lock);
	if (is_new)
		list_sum(key);
}

/*
 * Settles a task whose end was noted and that no round has seen: the side that takes it off the list counts
 * it. It is marked as free before `known_before` is read again, and the reader sets that before it reads the
 * list. So either the reader finds the task free, and takes it, or it has begun early enough to be seen here.
 * Returns whether it is counted.
 */
static __always_inline bool settle(const struct task_struct *task, const struct exit_identity *identity,
				   struct exit_thread *noted, bool is_ending)
{
	struct exit_key key = noted->key;

	__sync_lock_test_and_set(&noted->is_free, 1);
	if (task->start_boottime < known_before)
		return false;
	/* before it is taken off: its place may be another's then */
	count_parent(&key, noted->parent);
	if ((is_ending ? bpf_map_delete_elem(&ending, identity) : bpf_map_delete_elem(&threads, identity)) ==
	    0)
		add_to_sum(task, &key);
	return true;
}

/* Once: all CPUs share the variable. */
static __always_inline void note_kernel(const struct task_struct *task)
{
	if (exit_kernel == 0)
		exit_kernel = accounting_facts(task);
}

SEC("tp_btf/sched_process_free")
int count_free(__u64 *context)
{
	const struct task_struct *task = plain_task((struct task_struct *)context[0]);
	struct exit_identity identity;
	struct exit_thread *noted;
	struct exit_key key = {0};
	bool is_ending;

	note_kernel(task);
	if (!is_in_scope(task))
		return 0;
	fill_identity(task, &identity);
	noted = bpf_map_lookup_elem(&ending, &identity);
	is_ending = noted != NULL;
	if (!is_ending)
		noted = bpf_map_lookup_elem(&threads, &identity);
	if (noted != NULL) {
		if (task->start_boottime >= known_before && settle(task, &identity, noted, is_ending))
			return 0;
		fill_thread(task, noted);
		noted->replaced = noted->tid != task->pid;
		__sync_lock_test_and_set(&noted->is_free, 1);
	} else if (task->start_boottime >= known_before) {
		fill_key(task, &key);
		add_to_sum(task, &key);
	} else if (unnoted != 0) {
		__sync_fetch_and_add(&unnoted, -1);
		note(task, &identity, true);
	} /* else it ended before the programs were attached */
	return 0;
}

SEC("tp_btf/sched_process_exit")
int note_exit(__u64 *context)
{
	const struct task_struct *task = plain_task((struct task_struct *)context[0]);
	struct exit_identity identity;

	note_kernel(task);
	if (!is_in_scope(task))
		return 0;
	fill_identity(task, &identity);
	note(task, &identity, false);
	return 0;
}

const char program_license[] SEC("license") = "GPL";
