/* SPDX-License-Identifier: GPL-2.0-only */
/* Records that only some threads, processes and cgroups have. */
#include <stdlib.h>

#include "base/memory.h"
#include "member_table.h"
#include "round.h"

/* --- exceptions --- */

/* Exceptions of one thread. */
struct run {
	const struct metric_exception *first;
	size_t count;
};

/* Those of a row, which are at or behind `*next`. */
static struct run take_run(const struct snapshot *snapshot, size_t row, size_t *next)
{
	struct run run;

	while (*next < snapshot->exception_count && snapshot->exceptions[*next].thread < row)
		++*next;
	run = (struct run){*next < snapshot->exception_count ? &snapshot->exceptions[*next] : NULL, 0};
	while (*next < snapshot->exception_count && snapshot->exceptions[*next].thread == row) {
		run.count++;
		++*next;
	}
	return run;
}

static bool runs_are_equal(const struct run *a, const struct run *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (a->first[i].metric != b->first[i].metric || a->first[i].reason != b->first[i].reason)
			return false;
	}
	return true;
}

static void code_run(struct round *round, size_t row, const struct run *run)
{
	struct coder *coder = &round->coder;
	const size_t count = round_new_count(round, run->count);
	const struct vocabulary *words = round->words;
	uint64_t metric = UINT64_MAX, reason = 0;

	for (size_t i = 0; i < count; i++) {
		const bool decoding = coder->decoding;
		reason_id own;

		metric = coder_residual(
			coder, &round->streams[STREAM_EXCEPTION_METRIC],
			decoding ? 0 : vocabulary_put(words, VOCABULARY_METRIC, run->first[i].metric),
			metric + 1);
		reason = coder_residual(coder, &round->streams[STREAM_EXCEPTION_REASON],
					decoding ? 0 : round_put_reason(round, run->first[i].reason), reason);
		if (!decoding)
			continue;
		/* that number stands for what the words have not got */
		metric = coder_below(coder, metric, (uint64_t)words->count[VOCABULARY_METRIC] + 1);
		own = round_take_reason(round, reason);
		if (metric < words->count[VOCABULARY_METRIC] &&
		    words->own[VOCABULARY_METRIC][metric] != VOCABULARY_NONE)
			snapshot_add_exception(round->now, row,
					       (enum metric)words->own[VOCABULARY_METRIC][metric], own);
	}
}

static void take_over(struct round *round, size_t row, const struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		snapshot_add_exception(round->now, row, (enum metric)run->first[i].metric,
				       run->first[i].reason);
}

void round_code_exceptions(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	struct coder_stream *stream = &round->streams[STREAM_EXCEPTIONS];
	const bool had = round->against != NULL && round->against->exception_count != 0;
	size_t next = 0, old_next = 0;

	if (!coder_bit(coder, stream, now->exception_count != 0 || had))
		return;
	for (size_t row = 0; row < now->thread_count && !coder->failed; row++) {
		const uint32_t old_row = round->old_row[row];
		struct run run = {0}, old = {0};

		if (had && old_row != UINT32_MAX)
			old = take_run(round->against, old_row, &old_next);
		if (!coder->decoding)
			run = take_run(now, row, &next);
		/* of metrics that only another version knows `old` has none: nothing else goes by it */
		if (coder_bit(coder, stream, !coder->decoding && !runs_are_equal(&run, &old)))
			code_run(round, row, &run);
		else if (coder->decoding)
			take_over(round, row, &old);
	}
}

/* The matching record of `against`, as round_code_place(). */
static uint32_t code_old_record(struct round *round, uint32_t found, size_t *next, size_t old_count)
{
	const uint32_t old = round_code_place(round, STREAM_RECORDS, found, next, old_count);

	if (old == UINT32_MAX)
		coder_take(&round->coder, 1);
	return old;
}

/* --- resident memory --- */

enum {
	PAGE_BITS = 12, /* sizes are mostly multiples of 4 KiB */
};

static uint64_t pages_first(uint64_t bytes)
{
	return bytes >> PAGE_BITS | bytes << (64 - PAGE_BITS);
}

static uint64_t bytes_first(uint64_t pages)
{
	return pages << PAGE_BITS | pages >> (64 - PAGE_BITS);
}

/* The record of the same process in `against`, at or behind `next`. */
static uint32_t find_resident(const struct round *round, const struct resident_record *record, size_t next)
{
	const struct snapshot *against = round->against;

	while (next < against->resident_count && against->resident[next].tgid < record->tgid)
		next++;
	return next < against->resident_count && against->resident[next].tgid == record->tgid &&
			       against->resident[next].start_time == record->start_time
		       ? (uint32_t)next
		       : UINT32_MAX;
}

static struct resident_record code_resident(struct round *round, const struct resident_record *record,
					    const struct resident_record *old,
					    const struct resident_record *above)
{
	struct coder *coder = &round->coder;
	struct coder_stream *streams = &round->streams[STREAM_RESIDENT];
	struct resident_record result = {
		.bytes = bytes_first(coder_residual(coder, &streams[0], pages_first(record->bytes),
						    old != NULL ? pages_first(old->bytes) : 0)),
		.read_at = coder_residual(coder, &streams[1], record->read_at, above->read_at),
	};

	if (old != NULL) {
		result.tgid = old->tgid;
		result.start_time = old->start_time;
		return result;
	}
	result.tgid = coder_below(coder,
				  coder_residual(coder, &streams[2], record->tgid, (uint64_t)above->tgid + 1),
				  (uint64_t)UINT32_MAX + 1);
	result.start_time = coder_residual(coder, &streams[3], record->start_time, above->start_time);
	return result;
}

void round_code_resident(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	const size_t old_count = round->against != NULL ? round->against->resident_count : 0;
	const struct resident_record nothing = {0};
	struct resident_record above = {.read_at = now->provenance.boottime_ns};
	const size_t count = coder_count_beside(coder, &round->streams[STREAM_COUNT], now->resident_count,
						old_count);
	size_t next = 0;

	if (coder->decoding && count != 0) {
		now->resident = memory_allocate_zero(count, sizeof(*now->resident));
		now->resident_capacity = count;
	}
	for (size_t i = 0; i < count && !coder->failed; i++) {
		const struct resident_record *record = coder->decoding ? &nothing : &now->resident[i];
		const uint32_t found = coder->decoding || round->against == NULL
					       ? UINT32_MAX
					       : find_resident(round, record, next);
		const uint32_t old = code_old_record(round, found, &next, old_count);

		above = code_resident(round, record,
				      old != UINT32_MAX ? &round->against->resident[old] : NULL, &above);
		if (coder->decoding)
			now->resident[now->resident_count++] = above;
	}
}

/* --- smaps --- */

static const struct member smaps_members[] = {SAME(smaps_record, KEY_VALUES, 0, kib)};
static const struct object smaps_object = OBJECT(smaps_members);

static uint32_t find_smaps(const struct round *round, const struct smaps_record *record, size_t next)
{
	const struct snapshot *against = round->against;
	const uint32_t old_row = round->old_row[record->thread];

	while (old_row != UINT32_MAX && next < against->smaps_count && against->smaps[next].thread < old_row)
		next++;
	return old_row != UINT32_MAX && next < against->smaps_count && against->smaps[next].thread == old_row
		       ? (uint32_t)next
		       : UINT32_MAX;
}

/* The row, from `row` on, that a thread of `against` has become. */
static uint32_t find_row(struct round *round, uint32_t row, uint32_t old_row)
{
	while (row < round->now->thread_count && round->old_row[row] != old_row)
		row++;
	return row < round->now->thread_count ? row : coder_fail(&round->coder);
}

static void code_smaps(struct round *round, struct smaps_record *record, const struct smaps_record *old,
		       uint32_t least)
{
	struct coder *coder = &round->coder;
	uint64_t thread;

	if (old == NULL) {
		thread = coder_residual(coder, &round->streams[STREAM_SMAPS_KEYS], record->thread, least);
		if (coder->decoding)
			record->thread = coder_below(coder, thread, round->now->thread_count);
	} else if (coder->decoding) {
		record->thread = find_row(round, least, old->thread);
	}
	round_code_object(round, &smaps_object, STREAM_SMAPS, false, record, old, true);
}

void round_code_smaps(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	const size_t old_count = round->against != NULL ? round->against->smaps_count : 0;
	const size_t count = coder_count_beside(coder, &round->streams[STREAM_COUNT], now->smaps_count,
						old_count);
	uint32_t least = 0;
	size_t next = 0;

	if (coder->decoding && count != 0) {
		now->smaps = memory_allocate_zero(count, sizeof(*now->smaps));
		now->smaps_count = now->smaps_capacity = count;
	}
	for (size_t i = 0; i < count && !coder->failed; i++) {
		const uint32_t found = coder->decoding || round->against == NULL
					       ? UINT32_MAX
					       : find_smaps(round, &now->smaps[i], next);
		const uint32_t old = code_old_record(round, found, &next, old_count);

		code_smaps(round, &now->smaps[i], old != UINT32_MAX ? &round->against->smaps[old] : NULL,
			   least);
		least = now->smaps[i].thread + 1;
	}
}

/* --- cgroups --- */

/* The record of the same path in `against`, at or behind `next`. */
static uint32_t find_cgroup(const struct round *round, const struct cgroup_record *record, size_t next)
{
	for (; next < round->against->cgroup_count; next++) {
		if (round->string_of[round->against->cgroups[next].path] == record->path)
			return (uint32_t)next;
	}
	return UINT32_MAX;
}

static void code_cgroup(struct round *round, struct cgroup_record *record, const struct cgroup_record *old,
			uint32_t above)
{
	struct coder *coder = &round->coder;
	uint64_t path;

	if (old == NULL) {
		path = coder_residual(coder, &round->streams[STREAM_CGROUP_KEYS + 1], record->path,
				      above + 1);
		if (coder->decoding)
			record->path = path == 0 ? 0 : coder_below(coder, path, round->now->strings.count);
	} else if (coder->decoding) {
		record->path = round_id(round->string_of, old->path);
	}
	round_code_object(round, &cgroup_object, STREAM_CGROUP, true, record, old, true);
}

void round_code_cgroups(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	const size_t old_count = round->against != NULL ? round->against->cgroup_count : 0;
	const size_t count = coder_count_beside(coder, &round->streams[STREAM_COUNT], now->cgroup_count,
						old_count);
	size_t next = 0;

	if (coder->decoding && count != 0) {
		now->cgroups = memory_allocate_zero(count, sizeof(*now->cgroups));
		now->cgroup_count = now->cgroup_capacity = count;
	}
	for (size_t i = 0; i < count && !coder->failed; i++) {
		const uint32_t found = coder->decoding || round->against == NULL
					       ? UINT32_MAX
					       : find_cgroup(round, &now->cgroups[i], next);
		const uint32_t old = code_old_record(round, found, &next, old_count);

		code_cgroup(round, &now->cgroups[i], old != UINT32_MAX ? &round->against->cgroups[old] : NULL,
			    i != 0 ? now->cgroups[i - 1].path : 0);
	}
}
