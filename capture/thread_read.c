/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the files of one thread into its row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "round.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/thread_file.h"

enum {
	AFFINITY_FIRST_SIZE = 8192 / 8,
	AFFINITY_LARGEST_SIZE = 262144 / 8,
};

static bool parse_status(struct round *round, const char *text, size_t length)
{
	return procfs_parse_status(&round->reading, &round->snapshot->cpu_sets, text, length);
}

static bool parse_stat(struct round *round, const char *text, size_t length)
{
	return procfs_parse_stat(&round->reading, text, length);
}

static bool parse_schedstat(struct round *round, const char *text, size_t length)
{
	return procfs_parse_schedstat(&round->reading, text, length);
}

static bool parse_io(struct round *round, const char *text, size_t length)
{
	return procfs_parse_io(&round->reading, text, length);
}

static bool parse_sched(struct round *round, const char *text, size_t length)
{
	return procfs_parse_sched(&round->reading, text, length);
}

/* The files that become metrics: how they are parsed and what the format calls a failure to read them. */
static const struct {
	bool (*parse)(struct round *round, const char *text, size_t length);
	enum parse_file file;
} files[SOURCE_COUNT] = {
	[SOURCE_STAT] = {parse_stat, PARSE_FILE_STAT},
	[SOURCE_SCHEDSTAT] = {parse_schedstat, PARSE_FILE_SCHEDSTAT},
	[SOURCE_STATUS] = {parse_status, PARSE_FILE_STATUS},
	[SOURCE_IO] = {parse_io, PARSE_FILE_IO},
	[SOURCE_SCHED] = {parse_sched, PARSE_FILE_SCHED},
};

static enum reason failure_reason(int result, int tasks, uint32_t tid, enum source source)
{
	char path[THREAD_PATH_SIZE];

	/* A thread without stat has ended; without another file it may be the kernel that has none. */
	if (source == SOURCE_STAT)
		return thread_file_reason(result, tasks, NULL);
	return thread_file_reason(result, tasks, thread_file_path(path, tid, sources[SOURCE_STAT].file));
}

static void fail(struct round *round, size_t row, enum source source, enum reason reason)
{
	struct thread_state *state = &round->states[row];

	round_apply_failure(round, row, source, reason);
	if (source == SOURCE_IO && reason == REASON_NOT_PERMITTED)
		state->flags |= THREAD_GUARDED;
	/* A full capture keeps what was read of it before. */
	if (reason == REASON_ENDED && (!round->full || source == SOURCE_STAT))
		state->flags |= THREAD_ENDED;
}

bool round_read_file(struct round *round, size_t row, int tasks, enum source source)
{
	struct buffer *text = &round->capture->text;
	uint32_t tid = round->snapshot->tid[row];
	char path[THREAD_PATH_SIZE];
	int result = -ESRCH;

	if (tasks >= 0)
		result = thread_file_read(tasks, thread_file_path(path, tid, sources[source].file), text);
	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	if (result < 0) {
		enum reason reason = failure_reason(result, tasks, tid, source);

		/* schedstat comes before stat: a thread that ended by then is dropped, and its failures with
		 * it */
		if (source != SOURCE_SCHEDSTAT || reason != REASON_ENDED)
			round->failures[files[source].file]++;
		fail(round, row, source, reason);
		return false;
	}
	if (!files[source].parse(round, text->data, text->length)) {
		fail(round, row, source, REASON_BAD_VALUE);
		return false;
	}
	if (source == SOURCE_IO)
		round->states[row].flags &= (uint8_t)~THREAD_GUARDED;
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

	if (state_letter == 'R' && state->state != 'R' && (state->flags & THREAD_MOVED) == 0)
		round->unseen_found++;
	if (!blocked)
		state->blocked_since = 0;
	else if (state->blocked_since == 0 || (state->flags & THREAD_MOVED) != 0 ||
		 state->state != state_letter)
		state->blocked_since = round->now_ns;
	state->state = state_letter;
	waited = blocked ? round->now_ns - state->blocked_since : 0;
	/* a lone runner's counters stand still as well until they are brought up to date */
	if (state_letter == 'R' && waited < round->capture->run_time_lag_ns)
		waited = 0;
	round->snapshot->stuck_ns[row] = waited;
}

/* What stat tells of who this is. Returns false when it is not who it was in the last round. */
static bool take_stat(struct round *round, size_t row)
{
	const struct thread_reading *reading = &round->reading;
	struct snapshot *snapshot = round->snapshot;
	struct thread_state *state = &round->states[row];
	bool same = (state->flags & THREAD_NEW) != 0 || round->previous == NULL ||
		    !reading->start_time_known || reading->start_time == snapshot->start_time[row];

	if (!same) {
		round_reset_row(round, row);
		round_apply(round, row, SOURCE_STAT);
	}
	if (reading->start_time_known)
		snapshot->start_time[row] = reading->start_time;
	snapshot->thread_flags[row] &= (uint8_t)~THREAD_KERNEL;
	if (thread_reading_is_kernel(reading))
		snapshot->thread_flags[row] |= THREAD_KERNEL;
	round->comm[row] = string_pool_intern(&snapshot->strings, reading->name, reading->name_length);
	state->flags |= THREAD_IDENTIFIED;
	state->flags &= (uint8_t)~THREAD_SUSPECT;
	note_state(round, row, (char)reading->value[METRIC_STATE]);
	return same;
}

/* Without stat: the name alone tells a living thread from one that ended (spec: ghost filter). */
static bool read_name(struct round *round, size_t row, int tasks)
{
	struct buffer *text = &round->capture->text;
	char path[THREAD_PATH_SIZE];
	const char *name;
	size_t length;

	thread_file_path(path, round->snapshot->tid[row], sources[SOURCE_COMM].file);
	if (tasks < 0 || thread_file_read(tasks, path, text) < 0 ||
	    !procfs_parse_comm(text->data, text->length, &name, &length))
		return false;
	round->comm[row] = string_pool_intern(&round->snapshot->strings, name, length);
	return true;
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

/* By system call; where that is refused or empty, from status. */
static void read_affinity(struct round *round, size_t row, int tasks)
{
	struct thread_reading *reading = &round->reading;
	long length = read_mask(round->capture, round->snapshot->tid[row]);
	uint32_t id = length > 0 ? intern_mask(round, (size_t)length) : 0;

	round->now_ns = clock_ns(CLOCK_BOOTTIME);
	if (length == -ESRCH) {
		fail(round, row, SOURCE_AFFINITY, REASON_ENDED);
		return;
	}
	if (id != 0)
		thread_reading_set(reading, METRIC_CPU_AFFINITY, id);
	else if (!round_read_file(round, row, tasks, SOURCE_STATUS)) {
		round_apply_failure(round, row, SOURCE_AFFINITY,
				    thread_file_reason((int)length, tasks, NULL));
		return;
	}
	round_apply(round, row, SOURCE_AFFINITY);
}

/* Stat, or what stands in for it. */
static source_set identify(struct round *round, size_t row, int tasks)
{
	struct thread_state *state = &round->states[row];

	if (round_read_file(round, row, tasks, SOURCE_STAT))
		return take_stat(round, row) ? 0 : round->needed;
	if (read_name(round, row, tasks))
		state->flags &= (uint8_t)~THREAD_ENDED;
	else if (round->full)
		state->flags |= THREAD_ENDED;
	return 0;
}

void round_read_thread(struct round *round, size_t row, int tasks, source_set wanted)
{
	static const enum source by_file[] = {SOURCE_IO, SOURCE_STATUS, SOURCE_SCHED};
	struct snapshot *snapshot = round->snapshot;
	struct thread_state *state = &round->states[row];
	uint64_t failures[PARSE_FILE_COUNT];

	memcpy(failures, round->failures, sizeof(failures));
	thread_reading_begin(&round->reading, snapshot->tgid[row], snapshot->tid[row]);
	if ((wanted & source_bit(SOURCE_STAT)) != 0)
		wanted |= identify(round, row, tasks);
	/* Only the file keeps the I/O of a kernel thread. */
	if (!round->full && (snapshot->thread_flags[row] & THREAD_KERNEL) != 0 &&
	    (wanted & source_bit(SOURCE_IO)) != 0) {
		wanted &= ~source_bit(SOURCE_IO);
		round_apply_failure(round, row, SOURCE_IO, REASON_READ);
	}
	for (size_t i = 0; i < sizeof(by_file) / sizeof(by_file[0]); i++) {
		if ((state->flags & THREAD_ENDED) == 0 && (wanted & source_bit(by_file[i])) != 0)
			round_read_file(round, row, tasks, by_file[i]);
	}
	if ((state->flags & THREAD_ENDED) == 0 && (wanted & source_bit(SOURCE_AFFINITY)) != 0)
		read_affinity(round, row, tasks);
	if ((state->flags & THREAD_ENDED) != 0) {
		memcpy(round->failures, failures, sizeof(failures));
		return;
	}
	if (round->reading.uid_known)
		snapshot->uid[row] = round->reading.uid;
	round->negative_values += round->reading.negative_values;
}
