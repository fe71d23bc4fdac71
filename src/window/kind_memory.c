/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of processes. It counts where their leaders are; other threads have none of their own. */
#include "kind.h"

#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* A difference of less than one part in so many is none: a cell shows no more digits. */
#define KNOWN_WITHIN_SHARE 100

static const char *const smaps_key_names[SMAPS_KEY_COUNT] = {"Rss", "Pss", "Swap"};

/* --- lines of smaps_rollup --- */

static bool has_smaps(const struct snapshot *now, uint32_t thread)
{
	return now->tid[thread] == now->tgid[thread] && !(now->thread_flags[thread] & THREAD_KERNEL);
}

/* Adds what was read, or notes why nothing was. */
static void add_bytes(struct accumulator *accumulator, uint16_t state, uint64_t bytes)
{
	if (state == STATE_ABSENT)
		return;
	if (state != REASON_READ) {
		accumulator_miss(accumulator, state);
		return;
	}
	accumulator->sum[0].whole = number_add_saturating(accumulator->sum[0].whole, bytes);
	accumulator->read++;
}

static void add_line(const struct snapshot *now, uint32_t thread, enum smaps_key key,
		     struct accumulator *accumulator)
{
	const struct smaps_record *record = snapshot_find_smaps(now, thread);
	reason_id reason;

	for (uint32_t i = 0; record != NULL && i < record->kib.count; i++) {
		if (strcmp(snapshot_text(now, record->kib.items[i].key), smaps_key_names[key]) != 0)
			continue;
		add_bytes(accumulator, REASON_READ,
			  number_multiply_saturating(record->kib.items[i].value, 1024));
		return;
	}
	if (!now->provenance.present)
		return;
	reason = snapshot_source_reason(now, thread, SOURCE_SMAPS_ROLLUP);
	if (reason != REASON_READ)
		accumulator_miss(accumulator, reason);
}

static void add_smaps(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	if (has_smaps(reducer->window->now, thread))
		add_line(reducer->window->now, thread, (enum smaps_key)reducer->entry->inputs[0],
			 accumulator);
}

/* --- resident memory, and how it changed --- */

struct resident {
	size_t hint, hint_before;
	double scale; /* of growth */
};

/* The resident memory of a process when the window began. */
static uint16_t resident_before(const struct window *window, uint32_t thread, size_t *hint,
				uint64_t *ret_bytes)
{
	const struct snapshot *now = window->now;
	const uint32_t of = window->from != NULL ? window->from_of[thread] : THREAD_UNKNOWN;
	const struct resident_record *record;

	*ret_bytes = 0;
	if (window->mode == WINDOW_MODE_TOTAL)
		return REASON_READ;
	if (window->from == NULL)
		return window->missing;
	if (window->from->resident_missing != REASON_READ)
		return window->from->resident_missing;
	record = snapshot_find_resident(window->from, now->tgid[thread], now->start_time[thread], hint);
	if (record == NULL)
		/* of what was there already and has no record nobody knows what it had */
		return of == THREAD_BORN ? REASON_READ : REASON_NOT_READ;
	/* by execve() another thread took its id: what it had is counted where it ended */
	if (of == THREAD_STILL || (of < THREAD_STILL && window->from->tid[of] == now->tid[thread]))
		*ret_bytes = record->bytes;
	return REASON_READ;
}

static void begin_resident(struct reducer *reducer)
{
	reducer->work = memory_allocate_zero(1, sizeof(struct resident));
}

/* Whether the memory of a process may be more than the number, by so much that it would be shown. */
static bool is_low(const struct snapshot *now, uint32_t thread, uint64_t bytes)
{
	const uint64_t error = now->provenance.resident_error;
	struct accumulator rollup = {0};

	if (error <= bytes / KNOWN_WITHIN_SHARE)
		return false;
	/* made of the page tables, it says so where the two are the same */
	add_line(now, thread, SMAPS_KEY_RSS, &rollup);
	return rollup.read == 0 || rollup.sum[0].whole != bytes;
}

/* In a file without it, the Rss of smaps_rollup stands in. */
static void add_resident(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct snapshot *now = reducer->window->now;
	struct resident *resident = reducer->work;
	uint64_t bytes = 0;
	uint16_t state;

	if (now->resident_missing != REASON_READ) {
		if (has_smaps(now, thread))
			add_line(now, thread, SMAPS_KEY_RSS, accumulator);
		return;
	}
	state = snapshot_resident(now, thread, &resident->hint, &bytes);
	add_bytes(accumulator, state, bytes);
	if (state == REASON_READ && is_low(now, thread, bytes)) {
		accumulator->partial = true;
		accumulator->reason = REASON_LOWER_BOUND;
	}
}

/*
 * Returns the peak RSS of a process whose leader has ended, 0 if it was not read. The kernel reports none for
 * the leader (xacct_add_tsk() of kernel/tsacct.c) and the same one for all other threads.
 */
static uint64_t peak_of_others(const struct snapshot *now, uint32_t leader, enum metric metric)
{
	uint64_t peak = 0;

	for (size_t row = snapshot_search_row(now, now->tgid[leader], 0);
	     row < now->thread_count && now->tgid[row] == now->tgid[leader]; row++) {
		if (snapshot_value(now, row, metric) > peak)
			peak = snapshot_value(now, row, metric);
	}
	return peak;
}

static void add_peak(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct snapshot *now = reducer->window->now;
	const enum metric metric = (enum metric)reducer->entry->inputs[0];
	uint16_t state;
	uint64_t peak;

	if (!has_smaps(now, thread))
		return;
	state = window_value_state(reducer->window, thread, metric);
	peak = snapshot_value(now, thread, metric);
	if (state == REASON_ENDED && (peak = peak_of_others(now, thread, metric)) != 0)
		state = REASON_READ;
	add_bytes(accumulator, state, peak);
}

static void begin_growth(struct reducer *reducer)
{
	struct resident *resident;

	begin_resident(reducer);
	resident = reducer->work;
	reducer->values->is_real = true; /* a difference may be below 0 */
	resident->scale = reducer_scale(reducer->window, reducer->window->mode == WINDOW_MODE_RATE);
}

static void add_growth(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct snapshot *now = reducer->window->now;
	struct resident *resident = reducer->work;
	uint64_t bytes = 0, before = 0;
	const uint16_t state = snapshot_resident(now, thread, &resident->hint, &bytes);
	uint16_t missing = state;

	if (now->tid[thread] != now->tgid[thread])
		return;
	if (state == REASON_READ || state == STATE_ABSENT)
		missing = resident_before(reducer->window, thread, &resident->hint_before, &before);
	/* a zombie has given back what it had; a kernel thread had nothing */
	if (state == STATE_ABSENT && (missing != REASON_READ || before == 0))
		return;
	if (missing != REASON_READ) {
		accumulator_miss(accumulator, missing);
		return;
	}
	accumulator->sum[0].real += (double)bytes * resident->scale;
	accumulator->sum[1].real += (double)before * resident->scale;
	accumulator->read++;
}

/* Subtracts the memory that ended processes had when the window began. */
static void add_ended_growth(const struct reducer *reducer, const struct ended_record *record,
			     struct accumulator *accumulator)
{
	const struct resident *resident = reducer->work;

	if (record->states[ENDED_SLOT_RESIDENT] == 0)
		return;
	accumulator->sum[1].real += (double)record->amounts[ENDED_SLOT_RESIDENT] * resident->scale;
	accumulator->read++;
}

const struct column_kind column_kind_smaps = {
	.add_thread = add_smaps,
	.conclude = conclude_sum,
	.merge = merge_sums,
};

const struct column_kind column_kind_resident = {
	.begin = begin_resident,
	.add_thread = add_resident,
	.conclude = conclude_sum,
	.merge = merge_sums,
};

const struct column_kind column_kind_peaks = {
	.add_thread = add_peak,
	.conclude = conclude_sum,
	.merge = merge_sums,
};

const struct column_kind column_kind_growth = {
	.begin = begin_growth,
	.add_thread = add_growth,
	.add_ended = add_ended_growth,
	.conclude = conclude_net,
	.merge = merge_sums,
};
