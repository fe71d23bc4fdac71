/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of times, which go on also where a thread stands still. */
#include <stdlib.h>

#include "base/memory.h"
#include "recording.h"
#include "round.h"

/* --- waits under way --- */

enum {
	KNOWN_CPUS = 256,
	/* The capture tells the age of a sleep in steps of so many bits of ns, from one moment for all
	 * threads (least_sleep() of capture/bpf/task_decode.c): the bits below are then those of the
	 * moment. */
	STEP_BITS = 17,
};

#define STEP_MASK ((UINT64_C(1) << STEP_BITS) - 1)

static uint64_t elapsed_since(const struct snapshot *now, const struct snapshot *against)
{
	return against != NULL ? now->provenance.boottime_ns - against->provenance.boottime_ns : 0;
}

/* The lower bits that most waits have. */
static uint64_t find_common_bits(const struct snapshot *snapshot)
{
	uint64_t bits = 0;
	size_t votes = 0;

	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (votes == 0)
			bits = snapshot->waiting_ns[row] & STEP_MASK;
		votes += (snapshot->waiting_ns[row] & STEP_MASK) == bits ? 1 : (size_t)-1;
	}
	return bits;
}

/*
 * A wait: as expected, or in whole steps, or to the nanosecond, from one that is `near`. The choice has a
 * stream of its own.
 */
static uint64_t code_wait(struct round *round, unsigned int stream_index, uint64_t wait, uint64_t expected,
			  uint64_t near, uint64_t common)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[stream_index];

	switch (coder_number(coder, &stream[1],
			     wait == expected               ? 0
			     : (wait & STEP_MASK) == common ? 1
							    : 2)) {
	case 0:
		return expected;
	case 1:
		wait = coder_residual(coder, stream, wait >> STEP_BITS, near >> STEP_BITS);
		return wait << STEP_BITS | common;
	default:
		return coder_residual(coder, stream, wait, near);
	}
}

static void code_waiting(struct round *round)
{
	struct snapshot *now = round->now;
	const struct snapshot *against = round->against;
	const uint64_t *old = against != NULL ? against->waiting_ns : NULL;
	/* How much longer waits of threads that did not move have lasted than in `against`, by the CPU that a
	 * thread ran on last: the clocks of CPUs differ a little. */
	uint64_t longer[KNOWN_CPUS];
	const uint64_t common = coder_below(&round->coder,
					    coder_number(&round->coder, &round->streams[STREAM_FACTS],
							 round->coder.decoding ? 0 : find_common_bits(now)),
					    STEP_MASK + 1);
	size_t next = 0;

	for (size_t i = 0; i < KNOWN_CPUS; i++)
		longer[i] = elapsed_since(now, against);
	for (size_t row = 0; row < now->thread_count; row++) {
		const uint32_t old_row = round->old_row[row];
		const bool changed = next < round->row_count && round->rows[next] == row;
		uint64_t *clock = &longer[snapshot_value(now, row, METRIC_PROCESSOR) % KNOWN_CPUS];
		const uint64_t before = old != NULL && old_row != UINT32_MAX ? old[old_row] : 0;
		const uint64_t above = row != 0 ? now->waiting_ns[row - 1] : 0;
		const uint64_t expected = before != 0 ? before + *clock : 0;
		uint64_t wait = now->waiting_ns[row];

		next += changed;
		if (old_row == UINT32_MAX)
			wait = code_wait(round, STREAM_WAIT_NEW, wait, above, above, common);
		else if (changed)
			wait = code_wait(round, STREAM_WAIT_OTHER, wait, expected, 0, common);
		else
			wait = code_wait(round, STREAM_WAIT_SAME, wait, expected, expected, common);
		if (!changed && before != 0)
			*clock = wait - before;
		if (round->coder.decoding)
			now->waiting_ns[row] = wait;
	}
}

/* Mostly none, or the wait under way. */
static void code_stuck(struct round *round)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_STUCK];
	struct snapshot *now = round->now;
	const struct snapshot *against = round->against;
	const uint64_t *old = against != NULL ? against->stuck_ns : NULL;

	for (size_t row = 0; row < now->thread_count; row++) {
		const uint32_t old_row = round->old_row[row];
		const uint64_t was = old != NULL && old_row != UINT32_MAX ? old[old_row] : 0;
		const uint64_t waiting = now->waiting_ns != NULL ? now->waiting_ns[row] : 0;
		uint64_t cell = now->stuck_ns[row];
		const uint64_t choice = coder_number(coder, stream, cell == 0 ? 0 : cell == waiting ? 1 : 2);

		if (choice < 2)
			cell = choice == 0 ? 0 : waiting;
		else
			cell = coder_residual(coder, &stream[1], cell,
					      was != 0 ? was + elapsed_since(now, against) : 0);
		if (coder->decoding)
			now->stuck_ns[row] = cell;
	}
}

/* --- reading times --- */

/*
 * A source of a thread was read at the time of its counters, not again since `against`, with that of the
 * thread above, or at a moment of its own: those moments follow each other as the threads do. The choice
 * follows the last digit of the thread's id, too, since some sources are read in turns by it
 * (docs/dev/live-round.md).
 */
enum time_choice {
	TIME_AS_BEFORE,
	TIME_AS_COUNTERS,
	TIME_AS_ABOVE,
	TIME_CHOICES,
};

/* The columns that exist, the one of the counters first. */
struct time_columns {
	uint64_t *now[VOCABULARY_SOURCES_MAX];
	const uint64_t *old[VOCABULARY_SOURCES_MAX];
	unsigned int word[VOCABULARY_SOURCES_MAX]; /* of the source */
	size_t count;
	bool has_counters;
	uint64_t *unknown; /* what sources share that this program does not know */
};

static bool code_has(struct round *round, const uint64_t *column)
{
	return coder_bit(&round->coder, &round->streams[STREAM_FACTS], column != NULL);
}

static uint64_t *new_column(const struct snapshot *now)
{
	return memory_allocate_zero(now->thread_capacity + 1, sizeof(uint64_t));
}

static void add_column(struct time_columns *columns, struct round *round, unsigned int word)
{
	const uint16_t own = round->words->own[VOCABULARY_SOURCE][word];

	columns->word[columns->count] = word;
	if (own == VOCABULARY_NONE) {
		if (columns->unknown == NULL)
			columns->unknown = new_column(round->now);
		columns->now[columns->count++] = columns->unknown;
		return;
	}
	if (round->coder.decoding)
		snapshot_read_times(round->now, (enum source)own);
	columns->now[columns->count] = round->now->read_at[own];
	columns->old[columns->count++] = round->against != NULL ? round->against->read_at[own] : NULL;
}

static struct time_columns *code_columns(struct round *round)
{
	const struct vocabulary *words = round->words;
	const unsigned int count = words->count[VOCABULARY_SOURCE];
	struct time_columns *columns = memory_allocate_zero(1, sizeof(*columns));
	bool has[VOCABULARY_SOURCES_MAX] = {false};
	const uint64_t counters[] = {vocabulary_put(words, VOCABULARY_SOURCE, SOURCE_TASKSTATS),
				     vocabulary_put(words, VOCABULARY_SOURCE, SOURCE_SCHEDSTAT)};

	for (unsigned int i = 0; i < count; i++) {
		const uint16_t own = words->own[VOCABULARY_SOURCE][i];

		has[i] = code_has(round, own != VOCABULARY_NONE ? round->now->read_at[own] : NULL);
	}
	for (size_t i = 0; i < ARRAY_COUNT(counters); i++) {
		if (counters[i] < count && has[counters[i]])
			add_column(columns, round, (unsigned int)counters[i]);
	}
	columns->has_counters = columns->count != 0;
	for (unsigned int i = 0; i < count; i++) {
		if (has[i] && i != counters[0] && i != counters[1])
			add_column(columns, round, i);
	}
	return columns;
}

/* One time; `*moment` is the last one that was like no other. */
static uint64_t code_read_time(struct round *round, struct time_columns *columns, size_t column, size_t row,
			       bool changed, uint64_t *moment)
{
	struct coder *coder = &round->coder;
	const uint64_t begin = round->now->provenance.boottime_ns;
	const uint32_t old_row = round->old_row[row];
	const uint64_t choices[TIME_CHOICES] = {
		columns->old[column] != NULL && old_row != UINT32_MAX ? columns->old[column][old_row] : begin,
		columns->has_counters && column != 0 ? columns->now[0][row] : begin,
		row != 0 ? columns->now[column][row - 1] : begin,
	};
	struct coder_stream *stream = &round->streams[STREAM_READ_AT + 3 * columns->word[column]];
	uint64_t time = columns->now[column][row], choice = 0;

	while (choice < TIME_CHOICES && time != choices[choice])
		choice++;
	choice = coder_number(coder, &stream[changed], choice);
	if (choice < TIME_CHOICES)
		return choices[choice];
	time = coder_residual(coder, &stream[2], time, *moment);
	*moment = time;
	return time;
}

static void code_read_times(struct round *round)
{
	struct time_columns *columns = code_columns(round);
	uint64_t moments[2] = {round->now->provenance.boottime_ns, round->now->provenance.boottime_ns};
	size_t next = 0;

	for (size_t row = 0; columns->count != 0 && row < round->now->thread_count; row++) {
		const bool changed = next < round->row_count && round->rows[next] == row;

		next += changed;
		for (size_t column = 0; column < columns->count; column++) {
			/* counters are read before all others */
			const uint64_t time = code_read_time(round, columns, column, row, changed,
							     &moments[column != 0]);

			if (round->coder.decoding)
				columns->now[column][row] = time;
		}
	}
	free(columns->unknown);
	free(columns);
}

/* --- both --- */

void round_code_times(struct round *round)
{
	struct snapshot *now = round->now;
	const bool decoding = round->coder.decoding;

	if (code_has(round, now->waiting_ns)) {
		if (decoding)
			now->waiting_ns = new_column(now);
		code_waiting(round);
	}
	if (code_has(round, now->stuck_ns)) {
		if (decoding)
			now->stuck_ns = new_column(now);
		code_stuck(round);
	}
	code_read_times(round);
}

/* --- before --- */

static uint64_t even_time(const struct snapshot *snapshot, uint64_t time)
{
	const uint64_t begin = snapshot->provenance.boottime_ns;
	const uint64_t even = time - time % RECORDING_TIME_STEP_NS;

	return time >= begin && even < begin ? begin : even;
}

void recording_even_times(struct snapshot *snapshot)
{
	for (size_t source = 0; source < SOURCE_COUNT; source++) {
		uint64_t *read_at = snapshot->read_at[source];

		for (size_t row = 0; read_at != NULL && row < snapshot->thread_count; row++)
			read_at[row] = even_time(snapshot, read_at[row]);
	}
	for (size_t i = 0; i < snapshot->resident_count; i++)
		snapshot->resident[i].read_at = even_time(snapshot, snapshot->resident[i].read_at);
}
