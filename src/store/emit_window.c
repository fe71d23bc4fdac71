/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the window that ends with the snapshot: its beginning, and what took place since. */
#include <stdlib.h>

#include "base/memory.h"
#include "emit.h"

enum {
	FLUSH_BYTES = 64 * 1024,
};

static void begin(struct emitter *emitter, char bracket)
{
	buffer_append_char(&emitter->json, bracket);
}

static bool end(struct emitter *emitter, char bracket)
{
	const struct buffer *json = &emitter->json;
	const char before = json->length != 0 ? json->data[json->length - 1] : emitter->last;

	buffer_append_char(&emitter->json, bracket);
	return before != '{' && before != '[';
}

static void emit_number(struct emitter *emitter, uint64_t number)
{
	emit_separator(emitter);
	buffer_append_u64(&emitter->json, number);
}

/* An object by its table, of another snapshot. */
static void emit_other(struct emitter *emitter, const struct snapshot *snapshot, const struct object *object,
		       const void *target)
{
	struct emitter other = emit_begin_other(emitter, snapshot);

	emit_object(&other, object, target);
	emit_end_other(emitter, &other);
}

/* --- threads at the beginning --- */

static void gather(struct emitter *emitter, uint32_t row, uint32_t thread, struct thread_record *record)
{
	const struct snapshot *from = emitter->snapshot;

	emit_gather_thread(emitter, row, record);
	record->of = thread;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!snapshot_counts_from(from, (enum metric)i))
			record->values[i] = 0;
	}
	/* the state says what the wait under way is for */
	if (record->waiting_ns == 0)
		record->values[METRIC_STATE] = 0;
}

static bool emit_window_threads(struct emitter *emitter)
{
	const struct snapshot_window *window = emitter->window;
	const size_t count = emitter->snapshot->thread_count;
	uint32_t *thread_of = memory_allocate((count + 1) * sizeof(*thread_of));
	struct thread_record record = {0};

	for (size_t row = 0; row < count; row++)
		thread_of[row] = UINT32_MAX;
	for (uint32_t i = 0; i < window->thread_count; i++) {
		if (window->from_of[i] < THREAD_STILL)
			thread_of[window->from_of[i]] = i;
	}
	begin(emitter, '[');
	for (uint32_t row = 0; row < count; row++) {
		if (thread_of[row] == UINT32_MAX)
			continue;
		emit_separator(emitter);
		gather(emitter, row, thread_of[row], &record);
		emit_object(emitter, &window_thread_object, &record);
		if (emitter->json.length >= FLUSH_BYTES)
			emit_flush(emitter);
	}
	free(thread_of);
	end(emitter, ']');
	return true;
}

static bool emit_threads_that_are(struct emitter *emitter, uint32_t what)
{
	const struct snapshot_window *window = emitter->window;

	begin(emitter, '[');
	for (uint32_t i = 0; i < window->thread_count; i++) {
		if (window->from_of[i] == what)
			emit_number(emitter, i);
	}
	return end(emitter, ']');
}

/* The time between two readings of a source, where it is not that of the window. */
static bool emit_elapsed(struct emitter *emitter, const struct thread_record *record)
{
	const struct snapshot *from = emitter->snapshot, *now = emitter->end;
	const source_set counted = snapshot_sources_counted(from);
	const uint64_t length = now->provenance.boottime_ns - from->provenance.boottime_ns;

	begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const enum source source = (enum source)i, whole = source_whole(source);
		const uint64_t after = snapshot_source_read_time(now, record->of, source),
			       before = snapshot_source_read_time(from, record->index, source);
		bool is_own = (counted & source_bit(source)) != 0 &&
			      (now->read_at[i] != NULL || from->read_at[i] != NULL) &&
			      snapshot_source_reason(from, record->index, source) == REASON_READ;

		/* one that is as old as the window has to say so where what it is part of is not */
		if (whole == source || (now->read_at[whole] == NULL && from->read_at[whole] == NULL))
			is_own &= after - before != length;
		if (!is_own || after < before)
			continue;
		emit_key(emitter, sources[i].name);
		buffer_append_u64(&emitter->json, after - before);
	}
	return end(emitter, '}');
}

static bool emit_resident(struct emitter *emitter)
{
	const struct snapshot *from = emitter->snapshot, *now = emitter->end;
	size_t hint = 0;

	begin(emitter, '[');
	for (uint32_t i = 0; i < now->thread_count; i++) {
		const struct resident_record *record;

		if (now->tid[i] != now->tgid[i])
			continue;
		record = snapshot_find_resident(from, now->tgid[i], now->start_time[i], &hint);
		if (record == NULL)
			continue;
		emit_number(emitter, i);
		emit_number(emitter, record->bytes);
	}
	return end(emitter, ']');
}

/* --- what took place since --- */

static bool emit_latency(struct emitter *emitter, const struct object *object)
{
	const struct snapshot_window *window = emitter->window;
	const struct snapshot *latency = emitter->snapshot != emitter->end ? window->latency
					 : window != NULL                  ? window->latency_whole
									   : emitter->snapshot;

	if (latency == NULL || !latency->latency.present)
		return false;
	emit_other(emitter, latency, object, &latency->latency);
	return true;
}

static bool emit_ended(struct emitter *emitter, const struct object *object)
{
	const struct ended *ended = &emitter->window->ended;

	if (ended->count == 0 && !ended->incomplete && !ended->told)
		return false;
	emit_other(emitter, ended->names != NULL ? ended->names : emitter->snapshot, object, ended);
	return true;
}

static bool emit_ended_records(struct emitter *emitter, const struct ended *ended)
{
	begin(emitter, '[');
	for (size_t i = 0; i < ended->count; i++) {
		const struct ended_member member = {
			.names = ended->names->triples[i],
			.record = ended->records[i],
			.is_estimate = ended->has_estimate && i == ended->estimate,
		};

		if (ended_is_void(ended, i))
			continue;
		emit_separator(emitter);
		emit_object(emitter, &ended_record_object, &member);
		if (emitter->json.length >= FLUSH_BYTES)
			emit_flush(emitter);
	}
	return end(emitter, ']');
}

static bool emit_amounts(struct emitter *emitter, const struct ended_record *record, bool at_least)
{
	begin(emitter, '{');
	for (size_t i = 0; i < ENDED_SLOTS; i++) {
		if (!(record->states[i] & ENDED_COUNTED) ||
		    ((record->states[i] & ENDED_AT_LEAST) != 0) != at_least)
			continue;
		emit_key(emitter, member_slot_name(i));
		buffer_append_u64(&emitter->json, record->amounts[i]);
	}
	return end(emitter, '}');
}

/* The reasons are those of the snapshot that ends the window. */
static bool emit_missed(struct emitter *emitter, const struct ended_record *record)
{
	begin(emitter, '{');
	for (size_t i = 0; i < ENDED_SLOTS; i++) {
		if (!(record->states[i] & ENDED_MISSED))
			continue;
		emit_key(emitter, member_slot_name(i));
		emit_text(emitter, snapshot_reason_name(emitter->end, record->reasons[i]));
	}
	return end(emitter, '}');
}

/* --- parts --- */

static bool emit_part_names(struct emitter *emitter)
{
	const struct window_parts *parts = &emitter->window->parts;

	begin(emitter, '[');
	for (size_t i = 0; parts->count != 0 && i < parts->names->triple_count; i++) {
		emit_separator(emitter);
		emit_other(emitter, parts->names, &part_name_object, &parts->names->triples[i]);
	}
	return end(emitter, ']');
}

static bool emit_parts(struct emitter *emitter)
{
	const struct window_parts *parts = &emitter->window->parts;

	begin(emitter, '[');
	for (size_t i = 0; i < parts->count; i++) {
		emit_separator(emitter);
		emit_object(emitter, &part_object, &parts->items[i]);
	}
	return end(emitter, ']');
}

static bool emit_part(struct emitter *emitter, enum member_type type, const struct window_part *part)
{
	begin(emitter, '[');
	for (size_t i = 0; type == MEMBER_PART_INDICES && i < part->count; i++)
		emit_number(emitter, part->names[i]);
	for (size_t i = 0; type == MEMBER_PART_METRICS && i < part->metric_count; i++) {
		emit_separator(emitter);
		emit_text(emitter, metrics[part->metrics[i]].name);
	}
	for (size_t i = 0; type == MEMBER_PART_AMOUNTS && i < part->count * part->metric_count; i++) {
		emit_number(emitter, part->amounts[i]);
		if (emitter->json.length >= FLUSH_BYTES)
			emit_flush(emitter);
	}
	return end(emitter, ']');
}

bool emit_window(struct emitter *emitter, const struct member *member, const void *target)
{
	const void *field = (const char *)target + member->offset;

	switch (member->type) {
	case MEMBER_WINDOW:
		if (emitter->window == NULL)
			return false;
		emit_other(emitter, emitter->window->from, member->object, emitter->window->from);
		return true;
	case MEMBER_WINDOW_THREADS:
		return emit_window_threads(emitter);
	case MEMBER_WINDOW_BORN:
		return emit_threads_that_are(emitter, THREAD_BORN);
	case MEMBER_WINDOW_UNKNOWN:
		return emit_threads_that_are(emitter, THREAD_UNKNOWN);
	case MEMBER_WINDOW_RESIDENT:
		return emit_resident(emitter);
	case MEMBER_LATENCY:
		return emit_latency(emitter, member->object);
	case MEMBER_WINDOW_ENDED:
		return emit_ended(emitter, member->object);
	case MEMBER_ELAPSED:
		return emit_elapsed(emitter, target);
	case MEMBER_PART_NAMES:
		return emit_part_names(emitter);
	case MEMBER_PARTS:
		return emit_parts(emitter);
	case MEMBER_PART_INDICES:
	case MEMBER_PART_METRICS:
	case MEMBER_PART_AMOUNTS:
		return emit_part(emitter, member->type, target);
	case MEMBER_ENDED_RECORDS:
		return emit_ended_records(emitter, target);
	case MEMBER_ENDED_COUNTED:
		return emit_amounts(emitter, field, false);
	case MEMBER_ENDED_AT_LEAST:
		return emit_amounts(emitter, field, true);
	case MEMBER_ENDED_MISSED:
		return emit_missed(emitter, field);
	default:
		return false;
	}
}
