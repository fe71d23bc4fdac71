/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/thread_file.h"

enum {
	AFFINITY_FIRST_SIZE = 8192 / 8,
	AFFINITY_LARGEST_SIZE = 262144 / 8,
};

static bool parse(struct round *round, enum source source, const struct buffer *text)
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

bool round_read_file(struct round *round, size_t row, int tasks, enum source source)
{
	struct buffer *text = &round->capture->text;
	enum reason reason = thread_file_read_source(tasks, round->snapshot->tid[row], source, text);

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

/*
 * How long the thread has been runnable without running, or in D: since the first look that found it so with
 * its counters as they are now.
 */
static void note_state(struct round *round, size_t row, char state_letter)
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
	state->state = state_letter;
	waited = blocked ? round->now_ns - state->blocked_since : 0;
	/* a lone runner's counters stand still as well until they are brought up to date */
	if (state_letter == 'R' && waited < round->capture->run_time_lag_ns)
		waited = 0;
	round->snapshot->stuck_ns[row] = waited;
}

/* Its process's memory, which every thread's stat has. */
static void note_resident(const struct round *round)
{
	const struct thread_reading *reading = &round->reading;
	struct process *process = process_list_find(&round->capture->processes, reading->tgid);

	if (reading->resident_known && process != NULL)
		process_note_resident(process, reading->has_memory, reading->resident_pages, round->now_ns);
}

/* What stat tells of who this is. Returns false when it is not who it was in the last round. */
static bool take_stat(struct round *round, size_t row)
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
	snapshot->thread_flags[row] &= (uint8_t)~THREAD_KERNEL;
	if (thread_reading_is_kernel(reading))
		snapshot->thread_flags[row] |= THREAD_KERNEL;
	note_resident(round);
	round->comm[row] = string_pool_intern(&snapshot->strings, reading->name, reading->name_length);
	state->flags |= ROW_IDENTIFIED;
	state->flags &= (uint16_t)~ROW_SUSPECT;
	note_state(round, row, (char)reading->value[METRIC_STATE]);
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
	else if (!round_read_file(round, row, tasks, SOURCE_STATUS)) {
		round_apply_failure(round, row, SOURCE_AFFINITY, root_reason(result));
		return;
	}
	round_apply(round, row, SOURCE_AFFINITY);
}

/* Stat, or what stands in for it. */
static source_set identify(struct round *round, size_t row, int tasks)
{
	struct thread_state *state = &round->states[row];
	uint32_t name;

	if (round_read_file(round, row, tasks, SOURCE_STAT))
		return take_stat(round, row) ? 0 : round->needed;
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

/* Whether a source is a file that is read by itself and says nothing of who the thread is. */
static bool is_plain_file(enum source source)
{
	return (sources[source].flags & SOURCE_PER_THREAD) != 0 && sources[source].file[0] != '\0' &&
	       source != SOURCE_STAT;
}

void round_read_thread(struct round *round, size_t row, int tasks, source_set wanted)
{
	struct snapshot *snapshot = round->snapshot;
	struct thread_state *state = &round->states[row];
	uint64_t failures[PARSE_FILE_COUNT];

	memcpy(failures, round->failures, sizeof(failures));
	thread_reading_begin(&round->reading, snapshot->tgid[row], snapshot->tid[row]);
	if ((wanted & source_bit(SOURCE_STAT)) != 0)
		wanted |= identify(round, row, tasks);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source source = (enum source)i;

		if ((wanted & source_bit(source)) == 0 || !is_plain_file(source))
			continue;
		/* The I/O of a kernel thread is kept in files only, for which all is read. */
		if (!round->full && (snapshot->thread_flags[row] & THREAD_KERNEL) != 0 &&
		    (sources[source].flags & SOURCE_USER_ONLY) != 0)
			round_apply_failure(round, row, source, REASON_READ);
		else if ((state->flags & ROW_ENDED) == 0)
			round_read_file(round, row, tasks, source);
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
