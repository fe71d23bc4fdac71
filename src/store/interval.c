/* SPDX-License-Identifier: GPL-2.0-only */
/* The interval between two rounds: threads that are gone, ended ones, waits. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "round.h"
#include "member_table.h"
#include "snapshot/ended_set.h"

/* --- threads that are gone --- */

static uint64_t take_value(struct snapshot *to, const struct snapshot *from, enum metric metric,
			   uint64_t value)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return string_pool_copy(&to->strings, &from->strings, (uint32_t)value);
	case METRIC_ENCODING_CPU_SET:
		return cpu_set_intern(&to->cpu_sets, cpu_set_cpus(&from->cpu_sets, (uint32_t)value),
				      cpu_set_count(&from->cpu_sets, (uint32_t)value));
	default:
		return value;
	}
}

static void take_names(struct snapshot *to, size_t thread, const struct snapshot *from, uint32_t row)
{
	to->triple[thread] = snapshot_copy_triple(to, &from->strings, &from->triples[from->triple[row]]);
}

static void take_exceptions(struct snapshot *to, size_t thread, const struct snapshot *from, uint32_t row)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric_exception *exception = from->metric_has_exceptions[i]
								   ? snapshot_find_exception(from, row,
											     (enum metric)i)
								   : NULL;

		if (exception != NULL)
			snapshot_add_exception(to, thread, (enum metric)i, exception->reason);
	}
}

static void take_resident(struct snapshot *to, size_t thread, const struct snapshot *from, uint32_t row)
{
	const struct resident_record *record;
	size_t hint = 0;

	if (from->tid[row] != from->tgid[row])
		return;
	record = snapshot_find_resident(from, from->tgid[row], from->start_time[row], &hint);
	if (record != NULL)
		snapshot_add_resident(to, thread, record->bytes, record->read_at);
}

/* The cells of these rows, in a column with room for `capacity`; NULL for no column. */
static uint64_t *take_times(const uint64_t *column, const uint32_t rows[], size_t count, size_t capacity)
{
	uint64_t *taken = column != NULL ? memory_allocate_zero(capacity + 1, sizeof(*taken)) : NULL;

	for (size_t thread = 0; thread < count && taken != NULL; thread++)
		taken[thread] = column[rows[thread]];
	return taken;
}

/* Times and reasons of sources, and values. */
static void take_columns(struct snapshot *to, const struct snapshot *from, const uint32_t rows[],
			 size_t count)
{
	to->waiting_ns = take_times(from->waiting_ns, rows, count, to->thread_capacity);
	to->stuck_ns = take_times(from->stuck_ns, rows, count, to->thread_capacity);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		to->read_at[i] = take_times(from->read_at[i], rows, count, to->thread_capacity);
		for (size_t thread = 0; thread < count && from->source_reason[i] != NULL; thread++)
			snapshot_source_reasons(
				to, (enum source)i)[thread] = from->source_reason[i][rows[thread]];
	}
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		for (size_t thread = 0; thread < count && from->values[i] != NULL; thread++) {
			const uint64_t value = from->values[i][rows[thread]];

			if (value != 0)
				snapshot_column(to, (enum metric)i)[thread] = take_value(
					to, from, (enum metric)i, value);
		}
	}
}

/* Facts that hold for all threads. */
static void take_facts(struct snapshot *to, const struct snapshot *from)
{
	struct provenance *provenance = &to->provenance;

	to->captured_at_unix_ns = from->captured_at_unix_ns;
	provenance->present = from->provenance.present;
	provenance->boottime_ns = from->provenance.boottime_ns;
	provenance->duration_ns = from->provenance.duration_ns;
	provenance->hidden_threads = from->provenance.hidden_threads;
	provenance->resident_error = from->provenance.resident_error;
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		provenance->features[i].state = from->provenance.features[i].state;
		provenance->features[i].reason = from->provenance.features[i].reason;
	}
	provenance->cpu_ticks_known = from->provenance.cpu_ticks_known;
	memcpy(provenance->cpu_ticks, from->provenance.cpu_ticks, sizeof(provenance->cpu_ticks));
	provenance->cpu_ticks_at_ns = from->provenance.cpu_ticks_at_ns;
	provenance->forks = from->provenance.forks;
	memcpy(to->default_reason, from->default_reason, sizeof(to->default_reason));
	memcpy(to->metric_reason, from->metric_reason, sizeof(to->metric_reason));
	memcpy(to->metric_source, from->metric_source, sizeof(to->metric_source));
	to->resident_missing = from->resident_missing;
}

struct snapshot *interval_take_rows(const struct snapshot *from, const uint32_t rows[], size_t count)
{
	struct snapshot *to = snapshot_create();

	if (from == NULL)
		return to;
	take_facts(to, from);
	snapshot_reserve(to, count + 1);
	for (size_t thread = 0; thread < count; thread++) {
		snapshot_add_thread(to, from->tgid[rows[thread]], from->tid[rows[thread]]);
		to->uid[thread] = from->uid[rows[thread]];
		to->thread_flags[thread] = from->thread_flags[rows[thread]];
		to->start_time[thread] = from->start_time[rows[thread]];
		take_names(to, thread, from, rows[thread]);
		take_exceptions(to, thread, from, rows[thread]);
		take_resident(to, thread, from, rows[thread]);
	}
	take_columns(to, from, rows, count);
	snapshot_finish(to);
	return to;
}

/* --- waits --- */

/* Names that follow from those of the record above; it has nothing else that could be expected. */
static void code_latency_record(struct round *round, size_t index, struct triple *above)
{
	struct latency_group group = {0};
	const struct latency_group expected = {
		.names = {above->pcomm, index != 0 ? above->comm + 1 : 0, above->cgroup},
	};

	if (!round->coder.decoding)
		group = latency_group_of(&round->now->latency, index);
	round_code_object(round, &latency_group_object, STREAM_LATENCY, true, &group, &expected, false);
	if (round->coder.decoding)
		latency_add_group(round->now, &group);
	*above = group.names;
}

/* Of the same victim as the one above, which was delayed by whom follows. */
static void code_delays(struct round *round, struct latency *latency)
{
	const size_t count = round_new_count(round, latency->delay_count);

	if (round->coder.decoding && count != 0) {
		latency->delays = memory_allocate_zero(count, sizeof(*latency->delays));
		latency->delay_count = latency->delay_capacity = count;
	}
	for (size_t i = 0; i < count && !round->coder.failed; i++) {
		struct latency_delay *delay = &latency->delays[i];
		const struct latency_delay expected = {
			.victim = i != 0 ? latency->delays[i - 1].victim : 0,
			.culprit = i != 0 ? latency->delays[i - 1].culprit : 0,
		};

		round_code_object(round, &latency_delay_object, STREAM_DELAYS, true, delay, &expected, false);
		if (round->coder.decoding &&
		    (delay->victim >= latency->count || delay->culprit >= latency->count))
			coder_fail(&round->coder);
	}
}

void round_code_latency(struct round *round)
{
	struct latency *latency = &round->now->latency;
	struct triple above = {0};
	size_t count;

	round_code_object(round, &latency_object, STREAM_FACTS, false, latency, NULL, false);
	count = round_new_count(round, latency->count);
	for (size_t i = 0; i < count && !round->coder.failed; i++)
		code_latency_record(round, i, &above);
	code_delays(round, latency);
}

void round_code_latency_shares(struct round *round)
{
	struct latency *latency = &round->now->latency;
	struct coder_stream *counts = &round->streams[STREAM_LATENCY_SHARES];
	size_t count = latency->share_count;

	if (round->coder.decoding ? counts->next == counts->end : count == 0)
		return;
	count = coder_count(&round->coder, counts, round->coder.decoding ? 0 : count);
	if (round->coder.decoding && count != 0) {
		latency->shares = memory_allocate_zero(count, sizeof(*latency->shares));
		latency->share_count = latency->share_capacity = count;
	}
	for (size_t i = 0; i < count && !round->coder.failed; i++) {
		struct latency_share *share = &latency->shares[i];
		const struct latency_share expected = {
			.record = i != 0 ? latency->shares[i - 1].record : 0,
			.pid = i != 0 ? latency->shares[i - 1].pid : 0,
		};

		round_code_object(round, &latency_share_object, STREAM_LATENCY_SHARES + 1, true, share,
				  &expected, false);
		if (round->coder.decoding && share->record >= latency->count)
			coder_fail(&round->coder);
	}
}

/* A class that only a later version knows is another class here. */
static void code_time(struct round *round, struct latency_time *time, const struct latency_time *above)
{
	struct coder_stream *of = &round->streams[STREAM_LATENCY_TIMES];
	uint64_t class;

	time->record = (uint32_t)coder_residual(&round->coder, of, time->record, above->record);
	class = coder_residual(&round->coder, of, time->class, above->class);
	time->class = (uint8_t)(class < WAIT_CLASS_COUNT ? class : WAIT_CLASS_OTHER);
	time->pid = (uint32_t)coder_residual(&round->coder, of, time->pid, above->pid);
	/* names that only sleep have all the same */
	time->time_ns = coder_residual(&round->coder, of + 1, time->time_ns, above->time_ns);
	if (time->record >= round->now->latency.count || time->class == WAIT_CLASS_UNKNOWN)
		coder_fail(&round->coder);
}

void round_code_latency_times(struct round *round)
{
	struct latency *latency = &round->now->latency;
	struct coder_stream *of = &round->streams[STREAM_LATENCY_TIMES];
	struct latency_time above = {0};
	size_t count = latency->time_count;

	if (round->coder.decoding ? of->next == of->end : count == 0)
		return;
	count = coder_count(&round->coder, of, round->coder.decoding ? 0 : count);
	for (size_t i = 0; i < count && !round->coder.failed; i++) {
		struct latency_time time = round->coder.decoding ? (struct latency_time){0}
								 : latency->times[i];

		code_time(round, &time, &above);
		above = time;
		if (round->coder.decoding && !round->coder.failed)
			latency_add_time(latency, &time);
	}
}

/* --- threads that ended --- */

static const struct member ended_members[] = {
	{NAME("reasons"), .type = MEMBER_ELEMENTS, FIELD(ended_set, reasons), .element = MEMBER_REASON,
	 .by = VOCABULARY_ENDED + 1},
	SAME(ended_set, BOOLEAN, 0, lower_bound),
	SAME(ended_set, U64, 0, lost),
	SAME(ended_set, BOOLEAN, 0, unread),
};

static const struct member ended_group_members[] = {
	SAME(ended_group, U64, 0, threads),
	SAME(ended_group, U64, 0, processes),
	SAME(ended_group, U64, 0, unknown),
	MEMBER(ended_group, "started", U64, 0, started_by.processes),
};

static const struct member ended_thread_members[] = {
	SAME(ended_thread, U32, 0, tgid),
	SAME(ended_thread, U32, 0, tid),
	SAME(ended_thread, U64, 0, start_time),
};

static const struct object ended_object = OBJECT(ended_members);
static const struct object ended_group_object = OBJECT(ended_group_members);
static const struct object ended_thread_object = OBJECT(ended_thread_members);

/* Each amount has streams of its own. */
static void code_amounts(struct round *round, struct ended_amounts *amounts)
{
	struct coder_stream *streams = &round->streams[STREAM_ENDED_AMOUNTS];
	const uint64_t delayed = coder_residual(&round->coder, &streams[ENDED_METRICS], amounts->delayed, 0);

	if (round->coder.decoding)
		amounts->delayed = delayed;
	for (size_t i = 0; i < round->words->count[VOCABULARY_ENDED]; i++) {
		const uint16_t own = round->words->own[VOCABULARY_ENDED][i];
		const uint64_t amount = coder_residual(&round->coder, &streams[i % ENDED_METRICS],
						       own != VOCABULARY_NONE ? amounts->of[own] : 0, 0);

		if (round->coder.decoding && own != VOCABULARY_NONE)
			amounts->of[own] = amount;
	}
}

_Static_assert((int)ENDED_METRICS < (int)(STREAM_TASK_FIELDS - STREAM_ENDED_AMOUNTS), "amounts have streams");

static uint32_t code_name(struct round *round, const struct ended_set *set, uint32_t triple,
			  uint32_t expected, bool *kernel)
{
	struct coder_stream *streams = &round->streams[STREAM_ENDED + 6];

	*kernel = coder_bit(&round->coder, &streams[1], *kernel);
	return coder_below(&round->coder, coder_residual(&round->coder, &streams[0], triple, expected),
			   set->names->triple_count);
}

static void code_parent(struct round *round, const struct ended_set *set, struct started_by *by)
{
	uint64_t name;

	if (by->processes == 0)
		return;
	name = coder_residual(&round->coder, &round->streams[STREAM_ENDED + 5],
			      round->coder.decoding ? 0 : by->name, 0);
	name = name == 0 ? 0 : coder_below(&round->coder, name, set->names->strings.count);
	if (round->coder.decoding)
		by->name = (uint32_t)name;
}

static void code_groups(struct round *round, struct ended_set *set)
{
	const size_t count = round_new_count(round, set->group_count);
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < count && !round->coder.failed; i++) {
		struct ended_group *group = round->coder.decoding ? NULL : &set->groups[i];
		bool kernel = group != NULL && group->kernel;

		last = code_name(round, set, group != NULL ? group->triple : 0, last + 1, &kernel);
		if (round->coder.failed)
			return;
		if (group == NULL)
			group = ended_set_group(set, last, kernel);
		if (set->group_count != i + 1 && round->coder.decoding) {
			coder_fail(&round->coder); /* twice the same */
			return;
		}
		round_code_object(round, &ended_group_object, STREAM_ENDED, true, group, NULL, false);
		code_parent(round, set, &group->started_by);
		code_amounts(round, &group->amounts);
	}
}

static void code_threads(struct round *round, struct ended_set *set)
{
	const size_t count = round_new_count(round, set->thread_count);
	const struct ended_thread *above = NULL;

	if (count > ENDED_THREADS_MAX) {
		coder_fail(&round->coder);
		return;
	}
	for (size_t i = 0; i < count && !round->coder.failed; i++) {
		struct ended_thread *thread = round->coder.decoding ? NULL : &set->threads[i];
		bool kernel = thread != NULL && thread->kernel;
		const uint32_t triple = code_name(round, set, thread != NULL ? thread->triple : 0,
						  i != 0 ? set->threads[i - 1].triple : 0, &kernel);

		if (round->coder.failed)
			return;
		if (thread == NULL)
			thread = ended_set_add_thread(set, triple, kernel);
		above = i != 0 ? &set->threads[i - 1] : NULL;
		round_code_object(round, &ended_thread_object, STREAM_ENDED + 3, true, thread, above, false);
		code_amounts(round, &thread->amounts);
	}
}

void round_code_ended(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;

	if (!coder_bit(coder, &round->streams[STREAM_ENDED], !coder->decoding && now->ended != NULL))
		return;
	if (coder->decoding)
		now->ended = ended_set_create();
	round_code_other_names(round, now->ended->names);
	round_code_object(round, &ended_object, STREAM_FACTS, false, now->ended, NULL, false);
	code_groups(round, now->ended);
	code_threads(round, now->ended);
}
