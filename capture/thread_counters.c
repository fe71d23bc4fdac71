/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum {
	CHUNK = 512,                /* threads between looks at the clock and at `cancel` */
	START_TOLERANCE_US = 50000, /* by which the start of one thread may seem to move */
};

/* What a reply says nothing of. */
static const uint8_t kept_flags = THREAD_KERNEL | THREAD_JEMALLOC_MEASURED;

/* The number may be that of a thread of another process by now (ac_tgid since version 12). */
static bool is_elsewhere(const struct taskstats_reply *reply, uint32_t tgid)
{
	return taskstats_has(reply->layout, TASKSTATS_MEMBER_AC_TGID) &&
	       taskstats_number(reply->layout, reply->stats, TASKSTATS_MEMBER_AC_TGID) != tgid;
}

/* What one query round of taskstats needs to know. */
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
	    memcmp(state->name, name, TASK_NAME_SIZE) != 0) {
		state->flags |= ROW_MOVED;
		state->flags &= (uint16_t)~ROW_IDENTIFIED;
		state->policy = policy;
		state->nice = nice;
		memcpy(state->name, name, TASK_NAME_SIZE);
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

		round_store(round, row, metric, value);
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

uint8_t round_measured_flags(const struct feature_checks *checks)
{
	unsigned int flags = THREAD_TASKSTATS_MEASURED;

	if (checks->task_delayacct != TASK_DELAYACCT_CONFIG_OFF)
		flags |= THREAD_CPU_DELAY_ACTIVE;
	if (checks->task_delayacct == TASK_DELAYACCT_ON)
		flags |= THREAD_DELAY_BLOCK_ACTIVE;
	if (checks->task_xacct != KERNEL_OPTION_OFF)
		flags |= THREAD_XACCT_ACTIVE;
	return (uint8_t)flags;
}

static void take_failure(struct round *round, size_t row, int error)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (source_is_of((enum source)i, SOURCE_TASKSTATS))
			round_apply_failure(round, row, (enum source)i, root_reason(error));
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
	/* The address space grows by what other threads do. */
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
	if (!round_read_file(round, row, tasks, SOURCE_SCHEDSTAT)) {
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

int round_read_counters(struct round *round)
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
