/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds, the base, and which thread is which between them. */
#include "session_internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "snapshot/ended_set.h"
#include "window/ended.h"

enum {
	STORM_PROCESSES_PER_S = 100,
	STORM_SHARE = 10, /* a name of at least one process in so many belongs to it */
};

struct session *session_create(void)
{
	return memory_allocate_zero(1, sizeof(struct session));
}

void row_values_release(struct row_values *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		column_values_release(&rows->values[i]);
	free(rows->values);
	free(rows->idle);
	shown_release(&rows->shown);
	buffer_release(&rows->signature);
	*rows = (struct row_values){0};
}

void session_forget_groupings(struct session *session)
{
	row_values_release(&session->kept_rows);
	session->name_ranks.of_newest = false;
	for (size_t i = 0; i < GROUPING_CACHE_SIZE; i++) {
		grouping_release(session->groupings[i].grouping);
		session->groupings[i] = (struct cached_grouping){0};
	}
}

void session_release(struct session *session)
{
	if (session == NULL)
		return;
	session_forget_groupings(session);
	pattern_memory_release(&session->patterns);
	row_marks_release(&session->row_marks);
	free(session->name_ranks.by_triple);
	free(session->name_ranks.order);
	courses_release(&session->courses);
	rounds_release(&session->rounds);
	task_field_owner_release(session->scheduler);
	buffer_release(&session->chosen.rows);
	free(session);
}

void rounds_release(struct rounds *rounds)
{
	snapshot_release(rounds->now);
	origin_release(&rounds->lately);
	origin_release(&rounds->base);
	latency_spans_release(&rounds->latency);
	wait_samples_release(&rounds->samples);
}

/* Notes what ended between the newest round and one that comes after it, in what ended since an origin. */
static void fold_ended(const struct rounds *rounds, struct origin *origin, enum window_mode mode,
		       const struct ending *ending, double left_ns)
{
	const struct window window = origin_window(origin, rounds->now, mode);
	const bool rest_counts = mode == WINDOW_MODE_INTERVAL || ending->set != NULL;

	ended_fold_ending(ending, &window, rest_counts, &origin->ended);
	ended_add_left(&origin->ended, left_ns);
	ended_conclude_left(&origin->ended, origin->from, ending->now);
}

/* Counts on to a round that comes after the newest one, and takes its place. */
static void rounds_add(struct rounds *rounds, struct snapshot *snapshot)
{
	struct snapshot *before = rounds->now;
	struct ending ending = {.before = before, .now = snapshot, .set = snapshot->ended};
	bool *seen = memory_allocate_zero(before->thread_count + 1, sizeof(*seen)), *still;
	uint32_t *before_of = thread_match(snapshot, before, seen, NULL);
	const double left_ns = ended_left_between(before, snapshot, before_of);
	size_t capacity = 0;

	for (uint32_t i = 0; i < before->thread_count; i++) {
		if (!seen[i])
			*MEMORY_APPEND(ending.rows, ending.count, capacity) = (struct ended_row){.thread = i};
	}
	origin_set(&rounds->lately, before, false);
	fold_ended(rounds, &rounds->lately, WINDOW_MODE_INTERVAL, &ending, left_ns);
	fold_ended(rounds, &rounds->base, WINDOW_MODE_BASE, &ending, left_ns);
	wait_samples_add(&rounds->samples, before, snapshot, before_of);
	still = origin_find_still(snapshot, before, before_of);
	origin_follow(&rounds->base, before, snapshot, before_of, still);
	origin_follow(&rounds->lately, before, snapshot, before_of, still);
	rounds->now = snapshot;
	snapshot_release(before);
	free(ending.rows);
	free(before_of);
	free(still);
	free(seen);
}

/*
 * The scheduler of the newest round: the one that was known last where that round did not read what it keeps
 * and it still runs.
 */
void session_keep_scheduler(struct session *session)
{
	const struct snapshot *now = session->rounds.now;
	struct task_field_owner *last = session->scheduler;

	if (now->task_fields.owner != NULL)
		session->scheduler = task_field_owner_reference(now->task_fields.owner);
	else if (last != NULL && snapshot_sched_ext_runs(now) &&
		 now->sched_ext.enable_seq == last->enable_seq)
		return;
	else
		session->scheduler = NULL;
	/* a column that is a field of one is another field of the next */
	if (session->scheduler != last)
		courses_forget_columns(&session->courses, COLUMN_TASK_FIELDS, COLUMN_TOTAL);
	task_field_owner_release(last);
}

void session_add_round(struct session *session, struct snapshot *snapshot)
{
	const bool is_first = session->rounds.now == NULL;

	session_forget_groupings(session);
	session->round_count++;
	courses_add_round(&session->courses, snapshot->captured_at_unix_ns, snapshot->provenance.boottime_ns);
	if (!session->is_file)
		latency_spans_add_round(&session->rounds.latency, snapshot);
	if (is_first)
		session->rounds.now = snapshot;
	else
		rounds_add(&session->rounds, snapshot);
	session_keep_scheduler(session);
	if (is_first)
		session_set_base(session);
}

void session_set_base(struct session *session)
{
	struct rounds *rounds = &session->rounds;

	if (rounds->now == NULL)
		return;
	session_forget_groupings(session);
	origin_set(&rounds->base, rounds->now, true);
	rounds->base_is_void = rounds->base_is_lost = false;
	latency_spans_set_base(&rounds->latency);
}

const struct snapshot *session_now(const struct session *session)
{
	return session->rounds.now;
}

const struct snapshot *session_previous(const struct session *session)
{
	return session->rounds.lately.from;
}

const struct snapshot *session_base(const struct session *session)
{
	return session->rounds.base_is_lost ? NULL : session->rounds.base.from;
}

uint64_t session_round_count(const struct session *session)
{
	return session->round_count;
}

uint64_t session_interval_ns(const struct session *session)
{
	uint64_t now, before;

	if (session->rounds.lately.from == NULL)
		return 0;
	now = session->rounds.now->provenance.boottime_ns;
	before = session->rounds.lately.from->provenance.boottime_ns;
	return now > before ? now - before : 0;
}

uint64_t session_ended_count(const struct session *session)
{
	return session->rounds.base.ended.threads;
}

const struct task_field_owner *session_scheduler(const struct session *session)
{
	return session->scheduler;
}

bool session_scheduler_runs(const struct session *session)
{
	const struct snapshot *now = session->rounds.now;

	return now != NULL && (now->task_fields.owner != NULL || snapshot_sched_ext_runs(now));
}

static const struct latency *latency_of(const struct session *session, enum window_mode mode)
{
	if (session->rounds.latency.whole == NULL)
		return NULL;
	if (mode == WINDOW_MODE_TOTAL) /* nobody knows it of a moment */
		return session->is_moment || (session->is_file && !session->rounds.now->latency.present)
			       ? NULL
			       : &session->rounds.latency.whole->latency;
	if (mode == WINDOW_MODE_BASE ? session->rounds.base_is_void
				     : session->is_moment && session->rounds.lately.from == NULL)
		return NULL;
	return mode == WINDOW_MODE_BASE ? &session->rounds.latency.base : &session->rounds.latency.interval;
}

const struct ended *session_ended(const struct session *session, enum window_mode mode)
{
	const struct ended *ended = mode == WINDOW_MODE_BASE ? &session->rounds.base.ended
							     : &session->rounds.lately.ended;

	return mode != WINDOW_MODE_TOTAL && ended_has_any(ended) ? ended : NULL;
}

/*
 * Threads that ended by arithmetic, where nothing counts them: those that were there and those that came,
 * less those that are there. NAN where not every thread of the host is seen.
 */
static double ended_by_count(const struct session *session)
{
	const struct origin *lately = &session->rounds.lately;
	const struct optional_u64 *before = &lately->from->provenance.forks,
				  *after = &session->rounds.now->provenance.forks;

	if (!ended_set_sees_all(session->rounds.now) || !before->present || !after->present ||
	    after->value < before->value)
		return NAN;
	return fmax(0, (double)lately->thread_count + (double)(after->value - before->value) -
			       (double)session->rounds.now->thread_count);
}

struct session_turnover session_turnover(const struct session *session)
{
	const uint64_t interval_ns = session_interval_ns(session);
	const double scale = interval_ns != 0 ? 1e9 / (double)interval_ns : 0;
	struct session_turnover turnover = {0};
	const struct optional_u64 *before, *after;
	double ended;

	/* the host forks for others than a few processes */
	if (interval_ns == 0 || session->rounds.now->provenance.scope_count != 0)
		return turnover;
	before = &session->rounds.lately.from->provenance.forks;
	after = &session->rounds.now->provenance.forks;
	turnover.started_known = before->present && after->present && after->value >= before->value;
	if (turnover.started_known)
		turnover.started_per_s = (double)(after->value - before->value) * scale;
	turnover.ended_known = true;
	turnover.ended_per_s = (double)session->rounds.lately.ended.threads * scale;
	if (snapshot_ends_are_told(session->rounds.now)) {
		turnover.ended_at_least = session->rounds.lately.ended.incomplete;
		return turnover;
	}
	ended = ended_by_count(session);
	turnover.ended_at_least = isnan(ended);
	/* each was counted at another moment */
	if (ended * scale > turnover.ended_per_s)
		turnover.ended_per_s = ended * scale;
	return turnover;
}

/* The process that started most of the processes with a name; NULL where it is not known. */
static const char *find_parent(const struct ended *ended, const char *name)
{
	struct started_by parent = {0};

	for (size_t i = 0; i < ended->count; i++) {
		if (name == snapshot_text(ended->names, ended->names->triples[i].pcomm))
			started_by_add(&parent, ended->records[i].started_by);
	}
	return parent.processes != 0 ? snapshot_text(ended->names, parent.name) : NULL;
}

bool session_find_storm(const struct session *session, struct session_storm *ret_storm)
{
	const struct ended *ended = &session->rounds.lately.ended;
	const uint64_t interval_ns = session_interval_ns(session);
	uint64_t *counts, most[2] = {0};

	*ret_storm = (struct session_storm){0};
	if (interval_ns == 0 || ended->names == NULL || !snapshot_ends_are_told(session->rounds.now))
		return false;
	ret_storm->processes_per_s = (double)ended->processes * 1e9 / (double)interval_ns;
	if (ret_storm->processes_per_s <= (double)STORM_PROCESSES_PER_S)
		return false;
	counts = memory_allocate_zero(ended->names->strings.count + 1, sizeof(*counts));
	for (size_t i = 0; i < ended->count; i++) {
		const uint32_t name = ended->names->triples[i].pcomm;

		counts[name] += ended->records[i].processes;
	}
	for (uint32_t name = 0; name < ended->names->strings.count; name++) {
		const char *text = snapshot_text(ended->names, name);

		if (counts[name] > most[0]) {
			most[1] = most[0];
			ret_storm->names[1] = ret_storm->names[0];
			most[0] = counts[name];
			ret_storm->names[0] = text;
		} else if (counts[name] > most[1]) {
			most[1] = counts[name];
			ret_storm->names[1] = text;
		}
	}
	free(counts);
	ret_storm->parent = find_parent(ended, ret_storm->names[0]);
	/* what hardly takes part is not named */
	if (most[1] < ended->processes / STORM_SHARE)
		ret_storm->names[1] = NULL;
	return true;
}

void session_keep_courses(struct session *session, enum column wanted)
{
	session->keeps_courses = !session->is_file;
	session->wanted_course = wanted;
}

size_t session_course(struct session *session, const struct view *view, const char *key, size_t key_length,
		      enum column column, struct course_point points[], size_t limit)
{
	return courses_points(&session->courses, view, key, key_length, column, points, limit);
}

void session_fill_courses(struct session *session, const struct view *view, enum column column,
			  uint64_t unix_ns, const struct table *table)
{
	for (size_t i = 0; i < table->row_count && table->column_count != 0; i++) {
		const struct table_row *row = &table->rows[i];

		if (row->cells != NULL)
			courses_note_earlier(&session->courses, view, row->key, row->key_length, column,
					     unix_ns, cell_number(&row->cells[0]));
	}
}

/* Whether a mode has a beginning to count from. */
static bool counts_in(const struct rounds *rounds, enum window_mode mode)
{
	if (mode != WINDOW_MODE_BASE)
		return rounds->lately.from != NULL;
	/* after a gap there may be a base and no round before */
	return !rounds->base_is_void && (rounds->lately.from != NULL ||
					 (rounds->base.from != NULL && rounds->base.from != rounds->now));
}

struct window session_window(const struct session *session, enum window_mode mode)
{
	const struct rounds *rounds = &session->rounds;
	const struct origin none = {0}, *origin = mode == WINDOW_MODE_BASE ? &rounds->base : &rounds->lately;
	const bool counts = mode != WINDOW_MODE_TOTAL && counts_in(rounds, mode);
	struct window window = origin_window(counts ? origin : &none, rounds->now, mode);

	window.missing = session->is_file && rounds->now->window == NULL ? REASON_NOT_IN_FILE
									 : REASON_NOT_READ;
	window.latency = latency_of(session, mode);
	window.ended = session_ended(session, mode);
	if (!session->is_moment && rounds->samples.readings >= WAIT_SAMPLES_LEAST)
		window.samples = &rounds->samples;
	return window;
}

const struct grouping *session_grouping(struct session *session, const struct grouping_options *options,
					const struct ended *ended)
{
	const struct snapshot *snapshots[2] = {session->rounds.now, ended != NULL ? ended->names : NULL};
	struct cached_grouping *oldest = &session->groupings[0];

	session->grouping_clock++;
	for (size_t i = 0; i < GROUPING_CACHE_SIZE; i++) {
		struct cached_grouping *cached = &session->groupings[i];

		if (cached->grouping != NULL && cached->ended == ended &&
		    grouping_options_agree(&cached->options, options)) {
			cached->used = session->grouping_clock;
			return cached->grouping;
		}
		if (cached->used < oldest->used)
			oldest = cached;
	}
	row_values_release(&session->kept_rows);
	grouping_release(oldest->grouping);
	*oldest = (struct cached_grouping){
		.grouping = grouping_create(options, snapshots, ended != NULL ? 2 : 1, &session->patterns),
		.options = *options,
		.ended = ended,
		.used = session->grouping_clock,
	};
	return oldest->grouping;
}
