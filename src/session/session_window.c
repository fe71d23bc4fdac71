/* SPDX-License-Identifier: GPL-2.0-only */
/* Saves the window that a session shows, for a file. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session_internal.h"
#include "window/ended.h"

/* A thread of the newest round beside what it was. */
struct pair {
	const struct snapshot *now, *from;
	source_set counted; /* that something is counted from */
	uint32_t thread, other;
};

/* Whether what counts is the same, and in the same state. */
static bool has_same_values(const struct pair *pair)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const enum metric metric = (enum metric)i;

		if (snapshot_counts_from(pair->from, metric) &&
		    snapshot_value(pair->now, pair->thread, metric) !=
			    snapshot_value(pair->from, pair->other, metric))
			return false;
		if ((pair->now->metric_has_exceptions[i] &&
		     snapshot_find_exception(pair->now, pair->thread, metric) != NULL) ||
		    (pair->from->metric_has_exceptions[i] &&
		     snapshot_find_exception(pair->from, pair->other, metric) != NULL))
			return false;
	}
	return true;
}

/* Whether each source was read in both, or in neither, and again since. */
static bool has_same_readings(const struct pair *pair)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const enum source source = (enum source)i;

		if (!(pair->counted & source_bit(source)))
			continue;
		if (snapshot_source_reason(pair->now, pair->thread, source) !=
			    snapshot_source_reason(pair->from, pair->other, source) ||
		    snapshot_source_read_time(pair->now, pair->thread, source) <=
			    snapshot_source_read_time(pair->from, pair->other, source))
			return false;
	}
	return true;
}

static bool has_same_context(const struct pair *pair)
{
	const struct task_field_owner *owner = pair->now->task_fields.owner;
	const uint8_t *now, *from;
	reason_id now_reason, from_reason;

	if (owner == NULL || pair->from->task_fields.owner == NULL)
		return true;
	now = task_fields_context(&pair->now->task_fields, pair->thread, &now_reason);
	from = task_fields_context(&pair->from->task_fields, pair->other, &from_reason);
	if (now == NULL || from == NULL)
		return now == from && now_reason == from_reason;
	return owner->size == pair->from->task_fields.owner->size && memcmp(now, from, owner->size) == 0;
}

/* Whether the thread did nothing: then what it was need not be kept. */
static bool stands_still(const struct pair *pair)
{
	return snapshot_wait_under_way(pair->now, pair->thread) == 0 &&
	       snapshot_wait_under_way(pair->from, pair->other) == 0 &&
	       snapshot_value(pair->now, pair->thread, METRIC_STATE) != 'D' && has_same_readings(pair) &&
	       has_same_values(pair) && has_same_context(pair);
}

/* Whether both have the same counters for all threads, from the same sources. */
static bool agree(const struct snapshot *now, const struct snapshot *from)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (snapshot_counts_from(from, (enum metric)i) &&
		    (now->metric_reason[i] != from->metric_reason[i] ||
		     now->metric_source[i] != from->metric_source[i]))
			return false;
	}
	return true;
}

/* The beginning, with the rows of what moved. */
static void keep_beginning(struct snapshot_window *kept, const struct window *window)
{
	const size_t count = window->now->thread_count;
	const bool agrees = agree(window->now, window->from);
	struct pair pair = {window->now, window->from, snapshot_sources_counted(window->from), 0, 0};
	bool *rows = memory_allocate_zero(window->from->thread_count + 1, sizeof(*rows));
	uint32_t *new_row;

	for (uint32_t i = 0; i < count; i++) {
		pair.thread = i;
		pair.other = window->from_of[i];
		if (pair.other < THREAD_STILL)
			rows[pair.other] = !agrees || !stands_still(&pair);
	}
	kept->from = snapshot_excerpt(window->from, rows, &new_row);
	kept->from_of = memory_allocate((count + 1) * sizeof(*kept->from_of));
	kept->thread_count = count;
	for (size_t i = 0; i < count; i++) {
		const uint32_t other = window->from_of[i];

		kept->from_of[i] = other >= THREAD_STILL          ? other
				   : new_row[other] != UINT32_MAX ? new_row[other]
								  : THREAD_STILL;
	}
	free(new_row);
	free(rows);
}

/* --- parts --- */

/* Adds up the work since the base of threads that moved and of ended ones. */
static struct ended fold_all(const struct session *session, const struct window *window)
{
	struct ended_row *rows = memory_allocate((window->now->thread_count + 1) * sizeof(*rows));
	struct ended did = ended_copy(&session->rounds.base.ended);
	size_t count = 0;

	did.room = SIZE_MAX;
	for (uint32_t i = 0; i < window->now->thread_count; i++) {
		if (window->from_of[i] != THREAD_STILL && (window->still == NULL || !window->still[i]))
			rows[count++] = (struct ended_row){.thread = i};
	}
	ended_fold(&did, window, NULL, rows, count, false);
	free(rows);
	return did;
}

static bool has_amount(const struct ended_record *record)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (record->amounts[i] != 0)
			return true;
	}
	return false;
}

/* Makes columns of records, of those that did something. */
static void spread(struct window_parts *parts, struct window_part *part, const struct ended *did)
{
	uint32_t *records = memory_allocate((did->count + 1) * sizeof(*records));

	part->names = memory_allocate((did->count + 1) * sizeof(*part->names));
	for (uint32_t i = 0; i < did->count; i++) {
		if (!has_amount(&did->records[i]))
			continue;
		part->names[part->count] = snapshot_copy_triple(parts->names, &did->names->strings,
								&did->names->triples[i]);
		records[part->count++] = i;
	}
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		bool has = false;

		for (size_t i = 0; i < part->count && !has; i++)
			has = did->records[records[i]].amounts[metric] != 0;
		if (has)
			part->metrics[part->metric_count++] = (enum metric)metric;
	}
	part->amounts = memory_allocate((part->count * part->metric_count + 1) * sizeof(*part->amounts));
	for (size_t k = 0; k < part->metric_count; k++) {
		for (size_t i = 0; i < part->count; i++)
			part->amounts[k * part->count + i] =
				did->records[records[i]].amounts[part->metrics[k]];
	}
	free(records);
}

void session_take_part(struct session *session, struct window_parts *parts)
{
	const struct window window = session_window(session, WINDOW_MODE_BASE);
	struct window_part *part;
	struct ended did;

	if (window.from == NULL || window.elapsed_ns == 0)
		return;
	if (parts->names == NULL)
		parts->names = snapshot_create();
	part = MEMORY_APPEND(parts->items, parts->count, parts->capacity);
	*part = (struct window_part){.length_ns = window.elapsed_ns};
	did = fold_all(session, &window);
	spread(parts, part, &did);
	ended_clear(&did);
	session_set_base(session);
}

/* --- a file --- */

struct session *session_create_file(struct snapshot *snapshot)
{
	struct session *session = session_create();

	session->is_file = true;
	session_add_round(session, snapshot);
	latency_spans_set_file(&session->rounds.latency, snapshot);
	if (snapshot->window != NULL) {
		origin_set_window(&session->rounds.lately, snapshot);
		origin_set_window(&session->rounds.base, snapshot);
	}
	return session;
}

struct snapshot_window *session_save_window(const struct session *session, enum window_mode mode)
{
	const enum window_mode counted = mode == WINDOW_MODE_BASE && !session->rounds.base_is_void
						 ? WINDOW_MODE_BASE
						 : WINDOW_MODE_INTERVAL;
	const struct window window = session->rounds.now != NULL ? session_window(session, counted)
								 : (struct window){0};
	struct snapshot_window *kept;

	if (window.from == NULL || window.from == window.now)
		return NULL;
	kept = memory_allocate_zero(1, sizeof(*kept));
	keep_beginning(kept, &window);
	kept->ended = ended_copy(counted == WINDOW_MODE_BASE ? &session->rounds.base.ended
							     : &session->rounds.lately.ended);
	kept->ended.told = session->rounds.now->ended != NULL;
	if (session->rounds.latency.whole == NULL)
		return kept;
	kept->latency = latency_spans_copy(&session->rounds.latency,
					   counted == WINDOW_MODE_BASE ? &session->rounds.latency.base
								       : &session->rounds.latency.interval);
	if (!session->is_moment)
		kept->latency_whole = latency_spans_copy(&session->rounds.latency,
							 &session->rounds.latency.whole->latency);
	return kept;
}
