/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads of a round, their rows in another round, and which of them changed. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "round.h"

/* --- which row was which --- */

static int compare_threads(const struct snapshot *now, size_t row, const struct snapshot *against, size_t old)
{
	if (now->tgid[row] != against->tgid[old])
		return now->tgid[row] < against->tgid[old] ? -1 : 1;
	return now->tid[row] < against->tid[old] ? -1 : now->tid[row] > against->tid[old];
}

static bool is_carried(const struct round *round)
{
	const struct snapshot *now = round->now;

	return round->against != NULL && now->carried_serial != 0 && now->carried_row != NULL &&
	       now->carried_serial == round->against->serial;
}

/* Rows that are in the same order in both are found; the others are new, and that is no mistake. */
static void match_rows(struct round *round)
{
	const struct snapshot *now = round->now, *against = round->against;
	size_t old = 0;

	for (size_t row = 0; row < now->thread_count; row++) {
		round->old_row[row] = UINT32_MAX;
		while (old < against->thread_count && compare_threads(now, row, against, old) > 0)
			old++;
		if (old < against->thread_count && compare_threads(now, row, against, old) == 0 &&
		    now->start_time[row] == against->start_time[old])
			round->old_row[row] = (uint32_t)old++;
	}
}

static void find_old_rows(struct round *round)
{
	if (is_carried(round))
		memcpy(round->old_row, round->now->carried_row,
		       round->now->thread_count * sizeof(*round->old_row));
	else if (round->against != NULL)
		match_rows(round);
	else
		memset(round->old_row, 0xff, round->now->thread_count * sizeof(*round->old_row));
}

uint32_t round_code_place(struct round *round, unsigned int stream_index, uint32_t place, size_t *next,
			  size_t count)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[stream_index];

	if (*next >= count)
		return UINT32_MAX;
	if (!coder_bit(coder, stream, place != *next))
		return (uint32_t)(*next)++;
	if (!coder_bit(coder, stream, place != UINT32_MAX))
		return UINT32_MAX;
	/* at least one was left out */
	place = coder_below(coder, *next + 1 + coder_number(coder, stream, place - *next - 1), count);
	if (coder->failed)
		return UINT32_MAX;
	*next = (size_t)place + 1;
	return place;
}

/* Encodes the rows from `row` on that are, one by one, those from `old` on; returns how many they are. */
static size_t code_following(struct round *round, size_t row, size_t old, size_t old_count)
{
	const size_t count = round->now->thread_count;
	size_t run = 0;

	while (row + run < count && old + run < old_count && round->old_row[row + run] == old + run)
		run++;
	coder_zeros(&round->streams[STREAM_ROWS], run);
	return run;
}

static void code_old_rows(struct round *round)
{
	const size_t count = round->now->thread_count;
	const size_t old_count = round->against != NULL ? round->against->thread_count : 0;
	size_t next = 0;

	for (size_t row = 0; row < count && !round->coder.failed; row++) {
		const size_t run = round->coder.decoding ? 0 : code_following(round, row, next, old_count);
		uint32_t old;

		row += run;
		next += run;
		if (row == count)
			break;
		old = round_code_place(round, STREAM_ROWS, round->old_row[row], &next, old_count);
		if (round->coder.decoding)
			round->old_row[row] = old;
	}
}

/* --- which rows changed --- */

/* Rows that follow each other in both rounds. */
struct row_run {
	size_t row, old_row, count;
};

/* The runs of all rows that have an old one; the caller frees them. */
static struct row_run *find_runs(const struct round *round, size_t *ret_count)
{
	struct row_run *runs = NULL, *last = NULL;
	size_t count = 0, capacity = 0;

	for (size_t row = 0; row < round->now->thread_count; row++) {
		const uint32_t old = round->old_row[row];

		if (old == UINT32_MAX)
			continue;
		if (last == NULL || row != last->row + last->count || old != last->old_row + last->count) {
			last = MEMORY_APPEND(runs, count, capacity);
			*last = (struct row_run){.row = row, .old_row = old};
		}
		last->count++;
	}
	*ret_count = count;
	return runs;
}

/* Whether a run of cells has the same bytes in both rounds. Mostly it has: then no cell needs a look. */
static bool is_same_run(const struct column_view *now, const struct column_view *old,
			const struct row_run *run)
{
	return now->cells != NULL && old->cells != NULL && old->map == NULL &&
	       memcmp((const char *)now->cells + run->row * now->size,
		      (const char *)old->cells + run->old_row * old->size, run->count * now->size) == 0;
}

/* Marks rows whose cell differs from that in `against`. */
static void mark_changed(const struct round *round, unsigned int column, const struct row_run runs[],
			 size_t run_count, bool changed[])
{
	const struct column_view now = column_view_of(round, round->now, column);
	const struct column_view old = column_view_of(round, round->against, column);

	if (now.cells == NULL && old.cells == NULL && now.absent == old.absent)
		return;
	for (size_t i = 0; i < run_count; i++) {
		const struct row_run *run = &runs[i];

		if (is_same_run(&now, &old, run))
			continue;
		for (size_t k = 0; k < run->count; k++) {
			if (column_cell(&now, run->row + k) != column_old_cell(&old, run->old_row + k))
				changed[run->row + k] = true;
		}
	}
}

static void find_changed(const struct round *round, bool changed[])
{
	const struct snapshot *now = round->now;
	const bool moved_known = is_carried(round) && now->moved_known;
	size_t run_count;
	struct row_run *runs = find_runs(round, &run_count);

	for (size_t i = 0; moved_known && i < now->moved_count; i++)
		changed[now->moved[i]] = true;
	for (unsigned int column = 0; column < COLUMN_COUNT; column++) {
		/* a thread that did not move may have other names, or wait for something else */
		if (!moved_known || column < COLUMN_IDENTITY_COUNT || column >= COLUMN_WAIT_CLASS)
			mark_changed(round, column, runs, run_count, changed);
	}
	free(runs);
}

/* The distance from each changed row to the next, 0 behind the last; rows without an old one are changed. */
static void code_changed(struct round *round, bool changed[])
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_CHANGED];
	const size_t count = round->now->thread_count;

	for (size_t last = 0, row; !coder->failed;) {
		for (row = last; !coder->decoding && row < count; row++) {
			if (changed[row] && round->old_row[row] != UINT32_MAX)
				break;
		}
		row = coder_number(coder, stream, row < count ? row - last + 1 : 0);
		if (row == 0)
			break;
		row = coder->decoding ? coder_below(coder, last + row - 1, count) : last + row - 1;
		changed[row] = true;
		last = row + 1;
	}
	round->rows = memory_allocate((count + 1) * sizeof(*round->rows));
	for (size_t row = 0; row < count; row++) {
		changed[row] |= round->old_row[row] == UINT32_MAX;
		if (changed[row])
			round->rows[round->row_count++] = (uint32_t)row;
	}
}

/* --- what a live round says of it --- */

/* Moved threads are among the rows that changed, mostly all of them. */
static void code_moved(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	size_t next = 0;

	if (coder->decoding)
		now->moved = memory_allocate((now->thread_count + 1) * sizeof(*now->moved));
	for (size_t i = 0; i < round->row_count; i++) {
		const uint32_t row = round->rows[i];
		const bool moved = !coder->decoding && next < now->moved_count && now->moved[next] == row;

		next += moved;
		if (!coder_bit(coder, &round->streams[STREAM_MOVED], !moved) && coder->decoding)
			now->moved[now->moved_count++] = row;
	}
}

static void code_live(struct round *round)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_FACTS];
	struct snapshot *now = round->now;

	if (round->against == NULL || !coder_bit(coder, stream, !coder->decoding && is_carried(round)))
		return;
	if (coder->decoding) {
		now->carried_serial = round->against->serial;
		now->carried_row = memory_allocate((now->thread_count + 1) * sizeof(*now->carried_row));
		memcpy(now->carried_row, round->old_row, now->thread_count * sizeof(*now->carried_row));
	}
	if (!coder_bit(coder, stream, !coder->decoding && now->moved_known))
		return;
	now->moved_known |= coder->decoding;
	code_moved(round);
}

void round_code_rows(struct round *round)
{
	struct coder *coder = &round->coder;
	const size_t count = coder_count_beside(coder, &round->streams[STREAM_COUNT],
						round->now->thread_count,
						round->against != NULL ? round->against->thread_count : 0);
	bool *changed = memory_allocate_zero(count + 1, sizeof(*changed));
	size_t new = 0;

	if (coder->decoding) {
		snapshot_reserve(round->now, count + 1);
		round->now->thread_count = count;
	}
	round->old_row = memory_allocate((count + 1) * sizeof(*round->old_row));
	memset(round->old_row, 0xff, (count + 1) * sizeof(*round->old_row));
	if (!coder->decoding)
		find_old_rows(round);
	code_old_rows(round);
	if (!coder->decoding && round->against != NULL)
		find_changed(round, changed);
	code_changed(round, changed);
	free(changed);
	code_live(round);
	for (size_t i = 0; i < round->row_count; i++)
		new += round->old_row[round->rows[i]] == UINT32_MAX;
	coder_take(coder, new);
}
