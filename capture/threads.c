/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads threads one by one: lists their directories; finds those that ran by their counters,
 * one taskstats message each or else a line of schedstat; then the files of those that ran, and of some of
 * the others in turn (docs/dev/live-round.md).
 */
#include "round_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/host/host.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/thread_file.h"

enum {
	CHUNK = 512,                /* threads between looks at the clock and at `cancel` */
	START_TOLERANCE_US = 50000, /* by which the start of one thread may seem to move */
	BUDGET_CHECK_ROWS = 16,     /* threads between looks at the CPU clock */
	AFFINITY_FIRST_SIZE = 8192 / 8,
	AFFINITY_LARGEST_SIZE = 262144 / 8,
};

/* --- listing threads --- */

/*
 * The threads of a process, from the previous snapshot when it still has as many: whether they are the same
 * ones comes out when taskstats is asked for each, by its number and that of its process.
 */
static void list_process(struct round *round, struct process *process)
{
	struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	size_t first = process->first_row, count = process->row_count;

	process->first_row = snapshot->thread_count;
	if (capture->rows_are_current &&
	    taskstats_has(taskstats_layout(capture->taskstats), TASKSTATS_MEMBER_AC_TGID) && count != 0 &&
	    process_list_is_settled(process)) {
		for (size_t row = first; row < first + count; row++)
			snapshot_add_thread(snapshot, process->tgid, capture->previous->tid[row]);
		return;
	}
	process->row_count = process_list_threads(&capture->processes, process);
	for (size_t i = 0; i < capture->processes.id_count; i++)
		snapshot_add_thread(snapshot, process->tgid, capture->processes.ids[i]);
}

static int list_threads(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;
	struct snapshot *snapshot = round->snapshot;
	int result = process_list_update(list, capture->scope, capture->scope_count);

	if (result < 0)
		return result;
	if (capture->previous != NULL)
		snapshot_reserve(snapshot,
				 capture->previous->thread_count + capture->previous->thread_count / 8 + 64);
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];

		if (round_is_cancelled(round))
			return -ECANCELED;
		list_process(round, process);
		process_list_done(process);
	}
	capture->rows_are_current = false;
	round->listed = snapshot->thread_count;
	return 0;
}

static void make_read_times(struct snapshot *snapshot)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((sources[i].flags & SOURCE_PER_THREAD) != 0 && sources[i].part_of == SOURCE_NONE)
			snapshot_read_times(snapshot, (enum source)i);
	}
	snapshot_read_times(snapshot, SOURCE_CGROUP);
	snapshot_read_times(snapshot, SOURCE_JEMALLOC);
}

static void make_rows(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;

	round_begin_rows(round);
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(*snapshot->stuck_ns));
	round_begin_waits(round);
	make_read_times(snapshot);
	round_settle_rows(round);
	heap_begin(round);
}

/* --- the files of a thread --- */

static bool parse_text(struct round *round, enum source source, const struct buffer *text)
{
	struct thread_reading *reading = &round->reading;

	switch (source) {
	case SOURCE_STAT:
		return procfs_parse_stat(reading, text->data, text->length);
	case SOURCE_SCHEDSTAT:
		return procfs_parse_schedstat(reading, text->data, text->length);
	default:
		return procfs_parse_lines(reading, source, &round->snapshot->cpu_sets, text->data,
					  text->length);
	}
}

/*
 * Sets state F for frozen threads, which procfs shows in D (cgroup v1) or S (v2). Only the process's cgroup
 * counts: a thread in another cgroup gets the state of its process.
 */
static void tell_frozen(struct round *round)
{
	struct thread_reading *reading = &round->reading;
	const struct process *process;

	if (!metric_set_has(&reading->present, METRIC_STATE) ||
	    (reading->value[METRIC_STATE] != 'D' && reading->value[METRIC_STATE] != 'S'))
		return;
	process = process_list_find(&round->capture->processes, reading->tgid);
	if (process != NULL && round_is_frozen(round, process))
		reading->value[METRIC_STATE] = SNAPSHOT_STATE_FROZEN;
}

static bool parse(struct round *round, enum source source, const struct buffer *text)
{
	if (!parse_text(round, source, text))
		return false;
	if (source == SOURCE_STAT || source == SOURCE_STATUS)
		tell_frozen(round);
	return true;
}

/* The format counts failures to read some of the files, by their names. */
static void count_failure(struct round *round, enum source source)
{
	for (size_t i = 0; i < PARSE_FILE_COUNT; i++)
		round->failures[i] += strcmp(parse_file_names[i], sources[source].name) == 0;
}

static void fail(struct round *round, size_t row, enum source source, enum reason reason)
{
	struct thread_state *state = &round->states[row];

	round_apply_failure(round, row, source, reason);
	if (sources[source].rights != FEATURE_NONE && reason == REASON_NOT_PERMITTED)
		state->refused |= source_bit(source);
	/* A full capture keeps what was read of it before. */
	if (reason == REASON_ENDED && (!round->full || source == SOURCE_STAT))
		state->flags |= ROW_ENDED;
}

static enum reason read_text(struct round *round, size_t row, int tasks, enum source source)
{
	const struct snapshot *snapshot = round->snapshot;
	struct capture *capture = round->capture;

	if ((source == SOURCE_STAT || source == SOURCE_IO || source == SOURCE_WAIT) &&
	    statm_is_in_exec(&round->leader_statm))
		return thread_file_read_locked(capture->reader, tasks, snapshot->tid[row], source,
					       &capture->text);
	return thread_file_read_source(tasks, snapshot->tid[row], source, &capture->text);
}

static bool read_file(struct round *round, size_t row, int tasks, enum source source)
{
	struct buffer *text = &round->capture->text;
	enum reason reason;

	round->read_from_ns = clock_ns(CLOCK_BOOTTIME);
	reason = read_text(round, row, tasks, source);
	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	if (reason != REASON_READ) {
		/* schedstat comes before stat: a thread that ended by then is dropped, and its failures with
		 * it */
		if (source != SOURCE_SCHEDSTAT || reason != REASON_ENDED)
			count_failure(round, source);
		fail(round, row, source, reason);
		return false;
	}
	if (!parse(round, source, text)) {
		fail(round, row, source, REASON_BAD_VALUE);
		return false;
	}
	round->states[row].refused &= ~source_bit(source);
	round_apply(round, row, source);
	return true;
}

/* Whether a thread has had no CPU since its counters were read, which is before its state is. */
static bool has_stood_still(struct round *round, size_t row, int tasks)
{
	const uint64_t timeslices = snapshot_value(round->snapshot, row, METRIC_TIMESLICES);
	struct buffer *text = &round->capture->text;
	struct thread_reading again;

	thread_reading_begin(&again, round->snapshot->tgid[row], round->snapshot->tid[row]);
	if (timeslices == 0 ||
	    thread_file_read_source(tasks, again.tid, SOURCE_SCHEDSTAT, text) != REASON_READ ||
	    !procfs_parse_schedstat(&again, text->data, text->length))
		return true;
	return again.value[METRIC_TIMESLICES] == timeslices;
}

/*
 * Notes since when the thread has been runnable without running, or in D: the first look that found it so
 * with its counters as they are now. The time ends when the last look began: much may pass until it is over.
 */
static void note_state(struct round *round, size_t row, char state_letter, int tasks)
{
	struct thread_state *state = &round->states[row];
	bool blocked = state_letter == 'R' || state_letter == 'D';
	uint64_t waited;

	if (state_letter == 'R' && state->state != 'R' && (state->flags & ROW_MOVED) == 0)
		round->unseen_found++;
	if (!blocked)
		state->blocked_since = 0;
	else if (state->blocked_since == 0 || (state->flags & ROW_MOVED) != 0 || state->state != state_letter)
		state->blocked_since = round->now_ns;
	if (state->state != state_letter) /* a thread that is frozen need not have moved */
		state->stale |= source_bit(SOURCE_WAIT) & ~state->refused;
	state->state = state_letter;
	waited = blocked && round->read_from_ns > state->blocked_since
			 ? round->read_from_ns - state->blocked_since
			 : 0;
	if (waited != 0 && !has_stood_still(round, row, tasks)) {
		state->blocked_since = round->now_ns;
		waited = 0;
	}
	/* a lone runner's counters stand still as well until they are brought up to date */
	if (state_letter == 'R' && waited < round->capture->run_time_lag_ns)
		waited = 0;
	round->snapshot->stuck_ns[row] = waited;
}

/* Its process's memory, which every thread's stat has, and statm better. */
static void note_resident(const struct round *round)
{
	const struct thread_reading *reading = &round->reading;
	const bool by_statm = round->capture->statm == STATM_EXACT && round->leader_statm.resident != 0;
	struct process *process = process_list_find(&round->capture->processes, reading->tgid);

	if (process == NULL)
		return;
	if (reading->resident_known)
		process_note_resident(process, reading->has_memory,
				      by_statm ? round->leader_statm.resident : reading->resident_pages,
				      round->now_ns);
	if (process->resident.read_at == round->now_ns)
		process->resident.stat_tid = by_statm ? 0 : reading->tid;
}

/* Takes the identity from stat. Returns false when this is another thread than in the last round. */
static bool take_stat(struct round *round, size_t row, int tasks)
{
	const struct thread_reading *reading = &round->reading;
	struct snapshot *snapshot = round->snapshot;
	struct thread_state *state = &round->states[row];
	bool same = (state->flags & ROW_NEW) != 0 || round->previous == NULL || !reading->start_time_known ||
		    reading->start_time == snapshot->start_time[row];

	if (!same) {
		round_reset_row(round, row);
		round_apply(round, row, SOURCE_STAT);
	}
	if (reading->start_time_known)
		snapshot->start_time[row] = reading->start_time;
	snapshot->thread_flags[row] &= (uint8_t) ~(THREAD_KERNEL | THREAD_FORKED);
	snapshot->thread_flags[row] |= round_kind_flags(reading->flags,
							snapshot->tid[row] == snapshot->tgid[row]);
	note_resident(round);
	round->comm[row] = snapshot_intern_name(&snapshot->strings, reading->name, reading->name_length);
	state->flags |= ROW_IDENTIFIED;
	state->flags &= (uint16_t) ~(ROW_SUSPECT | ROW_IO_WORKER);
	if ((reading->flags & PROCFS_PF_IO_WORKER) != 0)
		state->flags |= ROW_IO_WORKER;
	note_state(round, row, (char)reading->value[METRIC_STATE], tasks);
	return same;
}

/* The mask of a thread, grown until the kernel's fits; its length in bytes, or a negative errno. */
static long read_mask(struct capture *capture, uint32_t tid)
{
	for (;;) {
		long length = syscall(SYS_sched_getaffinity, (pid_t)tid, capture->affinity_size,
				      capture->affinity);

		if (length >= 0)
			return length;
		if (errno != EINVAL || capture->affinity_size >= AFFINITY_LARGEST_SIZE)
			return -errno;
		capture->affinity_size = capture->affinity_size != 0 ? capture->affinity_size * 2
								     : AFFINITY_FIRST_SIZE;
		capture->affinity = memory_resize(capture->affinity, capture->affinity_size, 1);
		capture->last_mask = memory_resize(capture->last_mask, capture->affinity_size, 1);
	}
}

/* Id of the set in capture->affinity; most threads have the same one as the thread before. */
static uint32_t intern_mask(struct round *round, size_t length)
{
	const unsigned char *mask = round->capture->affinity;
	uint32_t *cpus;
	size_t count = 0;

	if (round->last_mask_length == length && memcmp(round->capture->last_mask, mask, length) == 0)
		return round->last_mask_id;
	cpus = memory_allocate_zero(length * 8, sizeof(*cpus));
	for (size_t bit = 0; bit < length * 8; bit++) {
		if ((mask[bit / 8] >> (bit % 8) & 1) != 0)
			cpus[count++] = (uint32_t)bit;
	}
	round->last_mask_id = cpu_set_intern(&round->snapshot->cpu_sets, cpus, count);
	round->last_mask_length = length;
	memcpy(round->capture->last_mask, mask, length);
	free(cpus);
	return round->last_mask_id;
}

int round_read_cpus(struct round *round, uint32_t tid, uint32_t *ret_id)
{
	long length = read_mask(round->capture, tid);

	if (length <= 0)
		return length < 0 ? (int)length : -ENODATA;
	*ret_id = intern_mask(round, (size_t)length);
	return 0;
}

/* By system call; where that is refused or empty, from status. */
static void read_affinity(struct round *round, size_t row, int tasks)
{
	struct thread_reading *reading = &round->reading;
	uint32_t id = 0;
	int result = round_read_cpus(round, round->snapshot->tid[row], &id);

	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	if (result == -ESRCH) {
		fail(round, row, SOURCE_AFFINITY, REASON_ENDED);
		return;
	}
	if (id != 0)
		thread_reading_set(reading, METRIC_CPU_AFFINITY, id);
	else if (!read_file(round, row, tasks, SOURCE_STATUS)) {
		round_apply_failure(round, row, SOURCE_AFFINITY, reason_of_errno(result));
		return;
	}
	round_apply(round, row, SOURCE_AFFINITY);
}

/* Stat, or what stands in for it. */
static source_set identify(struct round *round, size_t row, int tasks)
{
	struct thread_state *state = &round->states[row];
	uint32_t name;

	if (read_file(round, row, tasks, SOURCE_STAT))
		return take_stat(round, row, tasks) ? 0 : round->needed;
	/* the name alone tells a living thread from one that ended (spec: ghost filter) */
	name = round_read_name(round, tasks, round->snapshot->tid[row]);
	if (name != UNKNOWN_TEXT) {
		round->comm[row] = name;
		state->flags &= (uint16_t)~ROW_ENDED;
	} else if (round->full) {
		state->flags |= ROW_ENDED;
	}
	return 0;
}

/* Whether a source is a file that is read by itself and does not identify the thread. */
static bool is_plain_file(enum source source)
{
	return (sources[source].flags & SOURCE_PER_THREAD) != 0 && sources[source].file[0] != '\0' &&
	       source != SOURCE_STAT;
}

/* What the thread waits for; its system call is read only if its state leaves that open. */
static void read_wait(struct round *round, size_t row, int tasks)
{
	struct buffer *text = &round->capture->text;
	enum reason reason;

	if (round_wait_by_state(round, row))
		return;
	reason = read_text(round, row, tasks, SOURCE_WAIT);
	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	if (reason == REASON_READ)
		reason = round_wait_by_call(round, row, tasks, text_of(text));
	if (reason != REASON_READ) {
		round_forget_wait(round, row);
		fail(round, row, SOURCE_WAIT, reason);
		return;
	}
	round->states[row].refused &= ~source_bit(SOURCE_WAIT);
	round_apply(round, row, SOURCE_WAIT);
}

/* Adds or removes SOURCE_WAIT from the sources to read of a thread, once its state is known. */
static source_set choose_wait(struct round *round, size_t row, source_set wanted)
{
	const source_set wait = source_bit(SOURCE_WAIT);
	const struct thread_state *state = &round->states[row];

	if (round->snapshot->wait_class == NULL)
		return wanted;
	if (round_wait_by_state(round, row))
		return wanted & ~wait;
	/* its state no longer says it, and the rest is refused */
	if ((state->refused & ~state->stale & wait) != 0) {
		round_forget_wait(round, row);
		round_apply_failure(round, row, SOURCE_WAIT, REASON_NOT_PERMITTED);
	}
	return wanted | (state->stale & round->needed & wait);
}

/* Reads the statm of a leader, which is what a thread becomes that calls execve(2). */
static void read_leader_statm(struct round *round, size_t row, int tasks, source_set wanted)
{
	const source_set waiting = source_bit(SOURCE_STAT) | source_bit(SOURCE_IO) | source_bit(SOURCE_WAIT);
	const struct snapshot *snapshot = round->snapshot;
	char path[THREAD_PATH_SIZE];

	if ((wanted & waiting) == 0 || snapshot->tid[row] != snapshot->tgid[row] ||
	    (snapshot->thread_flags[row] & THREAD_KERNEL) != 0 ||
	    statm_read(tasks, thread_file_path(path, snapshot->tid[row], "statm"), &round->leader_statm) < 0)
		round->leader_statm = (struct statm){0};
}

static void read_thread(struct round *round, size_t row, int tasks, source_set wanted)
{
	struct snapshot *snapshot = round->snapshot;
	struct thread_state *state = &round->states[row];
	uint64_t failures[PARSE_FILE_COUNT];

	memcpy(failures, round->failures, sizeof(failures));
	thread_reading_begin(&round->reading, snapshot->tgid[row], snapshot->tid[row]);
	read_leader_statm(round, row, tasks, wanted);
	if ((wanted & source_bit(SOURCE_STAT)) != 0) {
		wanted |= identify(round, row, tasks);
		wanted = choose_wait(round, row, wanted);
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source source = (enum source)i;

		if ((wanted & source_bit(source)) == 0 || !is_plain_file(source))
			continue;
		/* The I/O of a kernel thread is kept in files only, for which all is read. */
		if (!round->full && (snapshot->thread_flags[row] & THREAD_KERNEL) != 0 &&
		    (sources[source].flags & SOURCE_USER_ONLY) != 0)
			round_apply_failure(round, row, source, REASON_READ);
		else if ((state->flags & ROW_ENDED) != 0)
			continue;
		else if (source == SOURCE_WAIT)
			read_wait(round, row, tasks);
		else
			read_file(round, row, tasks, source);
	}
	if ((state->flags & ROW_ENDED) == 0 && (wanted & source_bit(SOURCE_AFFINITY)) != 0)
		read_affinity(round, row, tasks);
	if ((state->flags & ROW_ENDED) != 0) {
		memcpy(round->failures, failures, sizeof(failures));
		return;
	}
	if (round->reading.uid_known)
		snapshot->uid[row] = round->reading.uid;
	round->negative_values += round->reading.negative_values;
}

/* --- counters, which show which threads ran --- */

/* Flags that a reply does not change. */
static const uint8_t kept_flags = THREAD_KERNEL | THREAD_FORKED | THREAD_JEMALLOC_MEASURED;

/* The number may be that of a thread of another process by now (ac_tgid since version 12). */
static bool is_elsewhere(const struct taskstats_reply *reply, uint32_t tgid)
{
	return taskstats_has(reply->layout, TASKSTATS_MEMBER_AC_TGID) &&
	       taskstats_number(reply->layout, reply->stats, TASKSTATS_MEMBER_AC_TGID) != tgid;
}

struct intake {
	struct round *round;
	size_t first;    /* row of the first thread asked for */
	uint64_t now_us; /* CLOCK_MONOTONIC */
};

/*
 * A thread that waits for a CPU may be moved to another one: sched_info_dequeue() of kernel/sched/stats.h
 * adds the wait so far. It has not run, and so is stuck as before.
 */
static void take_counters(struct thread_state *state, const struct thread_counters *now)
{
	const struct thread_counters *before = &state->counters;

	if (now->wait_ns != before->wait_ns)
		state->flags |= ROW_WAITED;
	if (now->run_ns != before->run_ns || now->timeslices != before->timeslices ||
	    now->voluntary != before->voluntary || now->nonvoluntary != before->nonvoluntary)
		state->flags |= ROW_MOVED;
	if (now->run_ns < before->run_ns || now->timeslices < before->timeslices)
		state->flags |= ROW_SUSPECT;
	state->counters = *now;
}

/*
 * A name, a policy or a nice value changes without the thread running; another start time means that the
 * number was used again, or that we had to wait for a CPU between the clock and the query: stat tells.
 * ac_etime moves always, but now less ac_etime stays.
 */
static void take_identity(struct thread_state *state, const struct taskstats_reply *reply, uint64_t now_us)
{
	const struct taskstats_layout *layout = reply->layout;
	const char *name = (const char *)reply->stats + layout->offset[TASKSTATS_MEMBER_AC_COMM];
	uint64_t start = now_us - taskstats_u64(layout, reply->stats, TASKSTATS_MEMBER_AC_ETIME);
	uint8_t policy = (uint8_t)taskstats_number(layout, reply->stats, TASKSTATS_MEMBER_AC_SCHED);
	uint8_t nice = (uint8_t)taskstats_number(layout, reply->stats, TASKSTATS_MEMBER_AC_NICE);
	uint64_t drift = start > state->start_us ? start - state->start_us : state->start_us - start;

	if ((state->flags & ROW_NEW) == 0 && drift > START_TOLERANCE_US)
		state->flags |= ROW_SUSPECT;
	if ((state->flags & ROW_NEW) != 0 || drift > START_TOLERANCE_US)
		state->start_us = start;
	if (!taskstats_has(layout, TASKSTATS_MEMBER_AC_COMM))
		return;
	if (state->policy != policy || state->nice != nice ||
	    memcmp(state->name, name, TASK_COMM_SIZE) != 0) {
		state->flags |= ROW_MOVED;
		state->flags &= (uint16_t)~ROW_IDENTIFIED;
		state->policy = policy;
		state->nice = nice;
		memcpy(state->name, name, TASK_COMM_SIZE);
	}
}

/* Stores what the reply carries of a source; returns whether any of it is not 0. */
static bool store_metrics(struct round *round, size_t row, const struct taskstats_reply *reply,
			  enum source source)
{
	const struct capture *capture = round->capture;
	const struct metric_list *list = &capture->fills[source];
	bool any = false;

	for (size_t i = 0; i < list->count; i++) {
		enum metric metric = (enum metric)list->metrics[i];
		uint64_t value = taskstats_metric_value(reply->layout, reply->stats, metric,
							capture->member[metric]);

		snapshot_store(round->snapshot, row, metric, value);
		any |= value != 0;
	}
	return any;
}

static void count_reply(struct taskstats_summary *summary, int error)
{
	switch (error) {
	case 0:
		summary->ok_count++;
		break;
	case -EPERM:
		summary->eperm_count++;
		break;
	case -ESRCH:
		summary->esrch_count++;
		break;
	default:
		summary->other_err_count++;
		break;
	}
}

static void take_failure(struct round *round, size_t row, int error)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (source_is_of((enum source)i, SOURCE_TASKSTATS))
			round_apply_failure(round, row, (enum source)i, reason_of_errno(error));
	}
	round->snapshot->thread_flags[row] &= kept_flags;
	round->states[row].flags |= ROW_MOVED | ROW_SUSPECT;
}

static void take_reply(void *context, size_t index, const struct taskstats_reply *reply)
{
	struct intake *intake = context;
	struct round *round = intake->round;
	struct snapshot *snapshot = round->snapshot;
	size_t row = intake->first + index;
	struct thread_state *state = &round->states[row];
	const struct taskstats_layout *layout = reply->layout;
	struct thread_counters now = state->counters;
	reason_id *column;
	int error = reply->error;

	if (error == 0 && is_elsewhere(reply, snapshot->tgid[row]))
		error = -ESRCH;
	count_reply(&snapshot->taskstats_summary, error);
	if (error != 0) {
		take_failure(round, row, error);
		return;
	}
	if (round->capture->counters_in_taskstats) {
		now.run_ns = taskstats_u64(layout, reply->stats, TASKSTATS_MEMBER_CPU_RUN_VIRTUAL_TOTAL);
		now.timeslices = taskstats_u64(layout, reply->stats, TASKSTATS_MEMBER_CPU_COUNT);
		now.wait_ns = taskstats_u64(layout, reply->stats, TASKSTATS_MEMBER_CPU_DELAY_TOTAL);
	}
	now.voluntary = taskstats_u64(layout, reply->stats, TASKSTATS_MEMBER_NVCSW);
	now.nonvoluntary = taskstats_u64(layout, reply->stats, TASKSTATS_MEMBER_NIVCSW);
	take_identity(state, reply, intake->now_us);
	take_counters(state, &now);
	column = snapshot->source_reason[SOURCE_TASKSTATS];
	if (column != NULL && column[row] != REASON_READ) {
		column[row] = REASON_READ;
		state->flags |= ROW_MOVED; /* the failure has left zeros behind */
	}
	snapshot->read_at[SOURCE_TASKSTATS][row] = round->now_ns;
	snapshot->thread_flags[row] = (uint8_t)((snapshot->thread_flags[row] & kept_flags) |
						round_measured_flags(&round->capture->checks));
	/* other threads may grow the address space */
	store_metrics(round, row, reply, SOURCE_HIWATER);
	if ((state->flags & (ROW_MOVED | ROW_WAITED | ROW_SUSPECT)) == 0 && !round->full)
		return;
	store_metrics(round, row, reply, SOURCE_TASKSTATS);
	state->flags &= (uint16_t)~ROW_DELAYED;
	if (store_metrics(round, row, reply, SOURCE_DELAYS))
		state->flags |= ROW_DELAYED;
	snapshot->uid[row] = (uint32_t)taskstats_number(layout, reply->stats, TASKSTATS_MEMBER_AC_UID);
}

static int read_taskstats(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	size_t count = snapshot->thread_count;

	snapshot_read_times(snapshot, SOURCE_TASKSTATS);
	for (size_t row = 0; row < count; row += CHUNK) {
		struct intake intake = {round, row, clock_ns(CLOCK_MONOTONIC) / NS_PER_US};
		size_t part = count - row < CHUNK ? count - row : CHUNK;

		if (round_is_cancelled(round))
			return -ECANCELED;
		round->now_ns = clock_ns(CLOCK_BOOTTIME);
		taskstats_query(round->capture->taskstats, snapshot->tid + row, part, take_reply, &intake);
	}
	return 0;
}

/* Without schedstat nothing tells that a thread stood still, so every one counts as moved. */
static void read_schedstat(struct round *round, size_t row, int tasks)
{
	struct thread_state *state = &round->states[row];
	const struct thread_reading *reading = &round->reading;
	struct thread_counters now = state->counters;

	thread_reading_begin(&round->reading, round->snapshot->tgid[row], round->snapshot->tid[row]);
	if (!read_file(round, row, tasks, SOURCE_SCHEDSTAT)) {
		state->flags |= ROW_MOVED;
		return;
	}
	now.run_ns = reading->value[METRIC_RUN_TIME_NS];
	now.timeslices = reading->value[METRIC_TIMESLICES];
	now.wait_ns = reading->value[METRIC_WAIT_TIME_NS];
	if (metric_set_has(&reading->present, METRIC_RUN_TIME_NS) &&
	    metric_set_has(&reading->present, METRIC_TIMESLICES) &&
	    metric_set_has(&reading->present, METRIC_WAIT_TIME_NS))
		take_counters(state, &now);
	else
		state->flags |= ROW_MOVED;
}

static int read_schedstats(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;

	snapshot_read_times(round->snapshot, SOURCE_SCHEDSTAT);
	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		int tasks;

		if (process->row_count == 0)
			continue;
		if (round_is_cancelled(round))
			return -ECANCELED;
		tasks = process_list_tasks(list, process);
		for (size_t row = process->first_row; row < process->first_row + process->row_count; row++)
			read_schedstat(round, row, tasks);
		process_list_done(process);
	}
	return 0;
}

static void mark_stale(struct round *round)
{
	const source_set of_activity = source_with_flags(SOURCE_OF_ACTIVITY);

	for (size_t row = 0; row < round->snapshot->thread_count; row++) {
		struct thread_state *state = &round->states[row];

		/* on a CPU without ticks a thread runs on while its counters stand still */
		if ((state->flags & (ROW_MOVED | ROW_WAITED)) != 0 || state->state == 'R')
			state->stale |= of_activity;
		state->stale &= ~state->refused;
	}
}

static int read_counters(struct round *round)
{
	struct capture *capture = round->capture;
	int result = 0;

	if (capture->taskstats != NULL)
		result = read_taskstats(round);
	if (result == 0 && !capture->counters_in_taskstats)
		result = read_schedstats(round);
	mark_stale(round);
	return result;
}

/* --- runnable threads that were not seen so --- */

/*
 * Asks how many threads are runnable, if the host counts the same threads that we see, and keeps the smallest
 * answer of this round: nr_running() of kernel/sched/core.c, cheaper here than in /proc/stat.
 */
static void look_at_host(struct round *round)
{
	uint64_t now, all;

	if (round->watches_runnable &&
	    host_count_threads(&round->capture->roots, &round->capture->text, &now, &all) &&
	    now < round->runnable)
		round->runnable = now;
}

/*
 * If the host counted more runnable threads at every check of two rounds than either round found, a thread
 * waits unseen, and the next round reads the states of all. If that finds none, only the rotation looks for
 * it for a while.
 */
static void watch_runnable(struct round *round)
{
	struct capture *capture = round->capture;
	struct runnable_watch *watch = &capture->runnable;
	uint64_t found = 0;
	bool was_short = watch->looks > watch->found;

	for (size_t row = 0; row < round->snapshot->thread_count; row++)
		found += round->states[row].state == 'R';
	if (round->all_states && round->unseen_found == 0)
		watch->paused_until = capture->round + ROTATION_ROUNDS;
	look_at_host(round);
	watch->look_at_all = was_short && round->runnable != UINT64_MAX && round->runnable > found &&
			     round->runnable > watch->found && watch->looks > found &&
			     capture->round >= watch->paused_until && !round->all_states;
	watch->looks = round->runnable != UINT64_MAX ? round->runnable : 0;
	watch->found = found;
}

/* --- whose files are read --- */

static bool is_due(const struct round *round, uint32_t id)
{
	return (id + round->capture->round) % ROTATION_ROUNDS == 0;
}

/* The number of threads is in the leader's stat, and changes while the leader stands still. */
static bool tells_other_count(const struct round *round, const struct process *process, size_t row)
{
	return round->snapshot->tid[row] == process->tgid &&
	       snapshot_value(round->snapshot, row, METRIC_NR_THREADS) != process->row_count;
}

/* The files of a thread that are read in any case. */
static source_set choose_files(struct round *round, const struct process *process, size_t row)
{
	const source_set stat = source_bit(SOURCE_STAT);
	struct thread_state *state = &round->states[row];
	/* a thawed thread need not have run since */
	bool restless = state->state == 'R' || state->state == 'D' || state->state == SNAPSHOT_STATE_FROZEN;
	source_set wanted;

	if (is_due(round, round->snapshot->tid[row]))
		state->stale |= round->rotated | (round->needed & stat) | state->refused;
	wanted = state->stale & round->needed;
	if (tells_other_count(round, process, row))
		wanted |= round->needed & stat;
	if ((restless || round->all_states) && (round->needed & stat) != 0)
		wanted |= stat;
	if ((state->flags & ROW_IDENTIFIED) == 0 || (state->flags & ROW_SUSPECT) != 0)
		wanted |= stat;
	return wanted;
}

static int read_needed(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;

	for (size_t i = 0; i < list->count; i++) {
		struct process *process = &list->items[i];
		size_t end = process->first_row + process->row_count;
		bool due = round->full || is_due(round, process->tgid);
		const bool was_known = process->cgroup != NULL;
		bool was_read;
		int tasks;

		if (process->row_count == 0)
			continue;
		if (round_is_cancelled(round))
			return -ECANCELED;
		tasks = process_list_tasks(list, process);
		was_read = round_read_process_cgroup(round, process, tasks, due);
		for (size_t row = process->first_row; row < end; row++) {
			source_set wanted = choose_files(round, process, row);

			if (wanted != 0)
				read_thread(round, row, tasks, wanted);
			/* the number was used again, which only a directory that stays open shows earlier */
			if (was_known && process->cgroup != NULL &&
			    round->snapshot->tid[row] == process->tgid &&
			    (round->states[row].flags & ROW_NEW) != 0)
				process_forget(process);
			if (row % 1024 != 0)
				continue;
			if (capture->progress != NULL)
				atomic_store_explicit(capture->progress, (unsigned int)row,
						      memory_order_relaxed);
			if (round_is_cancelled(round))
				return -ECANCELED;
		}
		round_read_cgroups(round, process, tasks, due, was_read);
		heap_look_ahead(round, process, tasks);
		process_list_done(process);
	}
	return 0;
}

/* The process of a row, found near the one of the row before. */
static struct process *process_of(struct process_list *list, size_t row, size_t *hint)
{
	for (;;) {
		struct process *process = &list->items[*hint];

		if (row >= process->first_row && row < process->first_row + process->row_count)
			return process;
		*hint = (*hint + 1) % list->count;
	}
}

int round_read_extra(struct round *round)
{
	struct capture *capture = round->capture;
	struct process_list *list = &capture->processes;
	struct snapshot *snapshot = round->snapshot;
	size_t start = snapshot_search_row(snapshot, capture->resume_tgid, capture->resume_tid), hint = 0,
	       read = 0;
	struct process *process = NULL;

	capture->resume_tgid = capture->resume_tid = 0;
	for (size_t i = 0; i < snapshot->thread_count && round->extra != 0; i++) {
		size_t row = (start + i) % snapshot->thread_count;
		source_set wanted = round->states[row].stale & round->extra;
		struct process *next;

		if (wanted == 0 || (round->states[row].flags & ROW_ENDED) != 0)
			continue;
		if (read++ % BUDGET_CHECK_ROWS == 0 && round_is_over_budget(round)) {
			capture->resume_tgid = snapshot->tgid[row];
			capture->resume_tid = snapshot->tid[row];
			break;
		}
		if (round_is_cancelled(round))
			return -ECANCELED;
		next = process_of(list, row, &hint);
		if (process != NULL && process != next)
			process_list_done(process);
		process = next;
		read_thread(round, row, process_list_tasks(list, process), wanted);
	}
	if (process != NULL)
		process_list_done(process);
	return 0;
}

/* --- the round --- */

static void confirm_still(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	enum source counters = round->capture->counters_in_taskstats ? SOURCE_TASKSTATS : SOURCE_SCHEDSTAT;
	const uint64_t *counted_at = snapshot->read_at[counters];

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source source = (enum source)i;
		uint64_t *read_at = snapshot->read_at[source];

		if ((sources[source].flags & SOURCE_OF_ACTIVITY) == 0)
			continue;
		for (size_t row = 0; row < snapshot->thread_count; row++) {
			if ((round->states[row].stale & source_bit(source)) == 0 &&
			    read_at[row] < counted_at[row])
				read_at[row] = counted_at[row];
		}
	}
}

static void begin_watching(struct round *round)
{
	const struct capture *capture = round->capture;

	round->all_states = capture->runnable.look_at_all;
	round->runnable = UINT64_MAX;
	round->watches_runnable = capture->roots.initial_pid_namespace && capture->scope == NULL &&
				  (round->needed & source_bit(SOURCE_STAT)) != 0;
	look_at_host(round);
}

int round_read_threads(struct round *round)
{
	int result;

	begin_watching(round);
	result = list_threads(round);
	if (result < 0)
		return result;
	make_rows(round);
	result = read_counters(round);
	round_read_host_counters(round);
	look_at_host(round);
	if (result == 0)
		result = read_needed(round);
	if (result == 0 && round->heap == HEAP_USE_NEEDED)
		result = heap_read(round);
	if (result == 0)
		result = round_read_extra(round);
	if (result == 0 && round->heap == HEAP_USE_EXTRA)
		result = heap_read(round);
	if (result < 0)
		return result;
	round_drop_ended(round);
	round_settle_waits(round);
	confirm_still(round);
	watch_runnable(round);
	return 0;
}
