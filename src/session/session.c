/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds, the base, and which thread is which between them. */
#include "session_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "snapshot/ended_set.h"
#include "window/ending.h"

enum {
	STORM_PROCESSES_PER_S = 100,
	STORM_SHARE = 10, /* a name of at least one process in so many belongs to it */
};

struct session *session_create(void)
{
	return memory_allocate_zero(1, sizeof(struct session));
}

struct session *session_create_file(struct snapshot *snapshot)
{
	struct session *session = session_create();

	session->is_file = true;
	session_add_round(session, snapshot);
	latency_spans_set_file(&session->latency, snapshot);
	session_take_window(session);
	return session;
}

void session_forget_groupings(struct session *session)
{
	session_forget_unmade(session);
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
	courses_release(&session->courses);
	ended_clear(&session->ended);
	latency_spans_release(&session->latency);
	ended_clear(&session->ended_lately);
	free(session->previous_of);
	free(session->base_of);
	free(session->still);
	free(session->base_still);
	snapshot_release(session->now);
	snapshot_release(session->previous);
	snapshot_release(session->base);
	task_field_owner_release(session->scheduler);
	free(session);
}

/* Which thread of the base each thread of the new round is, through the round before. */
static uint32_t *follow_base(const struct session *session, const uint32_t *previous_of, size_t count)
{
	uint32_t *base_of = memory_allocate((count + 1) * sizeof(*base_of));

	for (size_t i = 0; i < count; i++)
		base_of[i] = previous_of[i] < THREAD_UNKNOWN ? session->base_of[previous_of[i]]
							     : previous_of[i];
	return base_of;
}

/*
 * Forgets of which threads less than all that is asked stands still: readings that have a state of their own
 * are not compared, and waits go on, what they come to (window_add_wait()) and how long they are.
 */
static void drop_stirring(const struct snapshot *snapshot, bool *still)
{
	for (size_t i = 0; i < snapshot->exception_count; i++)
		still[snapshot->exceptions[i].thread] = false;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		still[i] &= snapshot_wait_under_way(snapshot, i) == 0 &&
			    snapshot_value(snapshot, i, METRIC_STATE) != 'D';
}

bool *session_find_still(const struct snapshot *snapshot, const struct snapshot *before,
			 const uint32_t *previous_of)
{
	bool *still;

	if (!snapshot->moved_known || snapshot->carried_serial != before->serial)
		return NULL;
	still = memory_allocate(snapshot->thread_count + 1);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		still[i] = previous_of[i] < THREAD_UNKNOWN;
	for (size_t i = 0; i < snapshot->moved_count; i++)
		still[snapshot->moved[i]] = false;
	drop_stirring(snapshot, still);
	return still;
}

/* Which of them stood still ever since the base. */
static bool *follow_still(const struct session *session, const bool *still, const uint32_t *previous_of,
			  size_t count)
{
	bool *base_still;

	if (still == NULL || session->base_still == NULL)
		return NULL;
	base_still = memory_allocate(count + 1);
	for (size_t i = 0; i < count; i++)
		base_still[i] = still[i] && session->base_still[previous_of[i]];
	return base_still;
}

/* Notes what ended between the newest round and one that comes after it. `seen`: what did not. */
static void fold_ended(struct session *session, const struct snapshot *now, const uint32_t *previous_of,
		       const bool *seen)
{
	uint32_t *same = memory_allocate((session->now->thread_count + 1) * sizeof(*same));
	struct ending ending = {.before = session->now, .now = now, .set = now->ended};
	const struct window lately = {.now = session->now,
				      .from = session->now,
				      .from_of = same,
				      .mode = WINDOW_MODE_INTERVAL},
			    since_base = {.now = session->now,
					  .from = session->base,
					  .from_of = session->base_of,
					  .mode = WINDOW_MODE_BASE};
	const double left_ns = ended_left_between(session->now, now, previous_of);
	size_t capacity = 0;

	for (uint32_t i = 0; i < session->now->thread_count; i++) {
		same[i] = i;
		if (!seen[i])
			*MEMORY_APPEND(ending.rows, ending.count, capacity) = (struct ended_row){.thread = i};
	}
	ended_clear(&session->ended_lately);
	ending_fold(&ending, &lately, true, &session->ended_lately);
	ended_add_left(&session->ended_lately, left_ns);
	ended_conclude_left(&session->ended_lately, session->now, now);
	ending_fold(&ending, &since_base, ending.set != NULL, &session->ended);
	ended_add_left(&session->ended, left_ns);
	ended_conclude_left(&session->ended, session->base, now);
	free(ending.rows);
	free(same);
}

/*
 * Gives up what a snapshot to count from, to which nobody else has one of its `references`, has of threads
 * that stand still or are gone: it is what the newest round has. `from_of` says which rows its threads are,
 * and becomes THREAD_STILL for them. Returns whether it was worth it.
 */
static bool give_up_still(struct session *session, struct snapshot *from, unsigned int references,
			  const bool *still, uint32_t *from_of)
{
	const size_t count = session->now->thread_count;
	size_t kept_count = 0;
	bool *kept, worth;
	uint32_t *new_row;

	if (still == NULL || snapshot_is_shared(from, references) || !snapshot_agrees(session->now, from))
		return false;
	kept = memory_allocate_zero(from->thread_count + 1, sizeof(*kept));
	for (size_t i = 0; i < count; i++) {
		if (from_of[i] >= THREAD_STILL || (still[i] && snapshot_row_is_plain(from, from_of[i])))
			continue;
		kept[from_of[i]] = true;
		kept_count++;
	}
	/* else it would be copied for little, or nothing */
	worth = kept_count < from->thread_count / 2;
	if (worth) {
		new_row = snapshot_keep_rows(from, kept);
		for (size_t i = 0; i < count; i++) {
			if (from_of[i] >= THREAD_STILL)
				continue;
			from_of[i] = new_row[from_of[i]] != UINT32_MAX ? new_row[from_of[i]] : THREAD_STILL;
		}
		free(new_row);
	}
	free(kept);
	return worth;
}

/*
 * Threads of the new round of which the base has no row any more, and that do not stand still, get it back:
 * the round before, which is the newest of the session, has them as they were all the time.
 */
static void restore_base(struct session *session, const struct snapshot *snapshot,
			 const uint32_t *previous_of, const bool *base_still, uint32_t *base_of)
{
	const bool agreed = base_still != NULL && snapshot_agrees(snapshot, session->now);
	uint32_t *rows = memory_allocate((snapshot->thread_count + 1) * sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		if (base_of[i] != THREAD_STILL || (agreed && base_still[i]))
			continue;
		base_of[i] = (uint32_t)(session->base->thread_count + count);
		rows[count++] = previous_of[i];
	}
	snapshot_take_rows(session->base, session->now, rows, count);
	free(rows);
}

/* Of the base only what is counted from it is ever looked at, once it is no round of the screen's any more.
 */
static void shrink_base(struct session *session)
{
	/* nothing else has happened since the base if that was the round before */
	const bool is_previous = session->base == session->previous;

	if (give_up_still(session, session->base, is_previous ? 2 : 1, session->base_still,
			  session->base_of) &&
	    is_previous)
		memcpy(session->previous_of, session->base_of,
		       session->now->thread_count * sizeof(*session->base_of));
	if (!session->base_is_shrunk && !snapshot_is_shared(session->base, 1)) {
		snapshot_keep_changing(session->base);
		session->base_is_shrunk = true;
	}
}

/*
 * The scheduler of the newest round: the one that was known last where that round did not read what it keeps
 * and it still runs.
 */
void session_keep_scheduler(struct session *session)
{
	const struct snapshot *now = session->now;
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
	uint32_t *previous_of, *base_of;
	bool *seen, *still, *base_still;

	session_forget_groupings(session);
	session->rounds++;
	courses_add_round(&session->courses, snapshot->captured_at_unix_ns, snapshot->provenance.boottime_ns);
	if (!session->is_file)
		latency_spans_add_round(&session->latency, snapshot);
	if (session->now == NULL) {
		session->now = snapshot;
		session_keep_scheduler(session);
		session_set_base(session);
		return;
	}
	seen = memory_allocate_zero(session->now->thread_count + 1, sizeof(*seen));
	previous_of = thread_match(snapshot, session->now, seen, NULL);
	base_of = follow_base(session, previous_of, snapshot->thread_count);
	fold_ended(session, snapshot, previous_of, seen);
	free(seen);
	still = session_find_still(snapshot, session->now, previous_of);
	base_still = follow_still(session, still, previous_of, snapshot->thread_count);
	restore_base(session, snapshot, previous_of, base_still, base_of);
	free(session->previous_of);
	free(session->base_of);
	free(session->still);
	free(session->base_still);
	session->previous_of = previous_of;
	session->base_of = base_of;
	session->still = still;
	session->base_still = base_still;
	snapshot_release(session->previous);
	/* it may give up rows */
	session->previous_count = session->now->thread_count;
	session->previous_forks = session->now->provenance.forks;
	session->previous = session->now;
	session->now = snapshot;
	session_keep_scheduler(session);
	shrink_base(session);
	give_up_still(session, session->previous, 1, session->still, session->previous_of);
}

void session_set_base(struct session *session)
{
	if (session->now == NULL)
		return;
	session_forget_groupings(session);
	snapshot_release(session->base);
	session->base = snapshot_reference(session->now);
	session->base_is_shrunk = session->base_is_void = session->base_is_lost = false;
	ended_clear(&session->ended);
	latency_spans_set_base(&session->latency);
	free(session->base_of);
	session->base_of = memory_allocate((session->now->thread_count + 1) * sizeof(*session->base_of));
	for (uint32_t i = 0; i < session->now->thread_count; i++)
		session->base_of[i] = i;
	free(session->base_still);
	session->base_still = memory_allocate(session->now->thread_count + 1);
	memset(session->base_still, true, session->now->thread_count);
	drop_stirring(session->now, session->base_still);
}

const struct snapshot *session_now(const struct session *session)
{
	return session->now;
}

const struct snapshot *session_previous(const struct session *session)
{
	return session->previous;
}

const struct snapshot *session_base(const struct session *session)
{
	return session->base_is_lost ? NULL : session->base;
}

uint64_t session_round_count(const struct session *session)
{
	return session->rounds;
}

uint64_t session_interval_ns(const struct session *session)
{
	uint64_t now, before;

	if (session->previous == NULL)
		return 0;
	now = session->now->provenance.boottime_ns;
	before = session->previous->provenance.boottime_ns;
	return now > before ? now - before : 0;
}

uint64_t session_ended_count(const struct session *session)
{
	return session->ended.threads;
}

const struct task_field_owner *session_scheduler(const struct session *session)
{
	return session->scheduler;
}

bool session_scheduler_runs(const struct session *session)
{
	const struct snapshot *now = session->now;

	return now != NULL && (now->task_fields.owner != NULL || snapshot_sched_ext_runs(now));
}

static const struct latency *latency_of(const struct session *session, enum window_mode mode)
{
	if (session->latency.whole == NULL)
		return NULL;
	if (mode == WINDOW_MODE_TOTAL) /* nobody knows it of a moment */
		return session->is_moment || (session->is_file && !session->now->latency.present)
			       ? NULL
			       : &session->latency.whole->latency;
	if (mode == WINDOW_MODE_BASE ? session->base_is_void
				     : session->is_moment && session->previous == NULL)
		return NULL;
	return mode == WINDOW_MODE_BASE ? &session->latency.base : &session->latency.interval;
}

const struct ended *session_ended(const struct session *session, enum window_mode mode)
{
	const struct ended *ended = mode == WINDOW_MODE_BASE ? &session->ended : &session->ended_lately;

	return mode != WINDOW_MODE_TOTAL && ended_has_any(ended) ? ended : NULL;
}

/*
 * Threads that ended by arithmetic, where nothing counts them: those that were there and those that came,
 * less those that are there. NAN where not every thread of the host is seen.
 */
static double ended_by_count(const struct session *session)
{
	const struct optional_u64 *before = &session->previous_forks,
				  *after = &session->now->provenance.forks;

	if (!ended_set_sees_all(session->now) || !before->present || !after->present ||
	    after->value < before->value)
		return NAN;
	return fmax(0, (double)session->previous_count + (double)(after->value - before->value) -
			       (double)session->now->thread_count);
}

struct session_turnover session_turnover(const struct session *session)
{
	const struct optional_u64 *before = &session->previous_forks;
	const uint64_t interval_ns = session_interval_ns(session);
	const double scale = interval_ns != 0 ? 1e9 / (double)interval_ns : 0;
	struct session_turnover turnover = {0};
	const struct optional_u64 *after;
	double ended;

	/* the host forks for others than a few processes */
	if (interval_ns == 0 || session->now->provenance.scope_count != 0)
		return turnover;
	after = &session->now->provenance.forks;
	turnover.started_known = before->present && after->present && after->value >= before->value;
	if (turnover.started_known)
		turnover.started_per_s = (double)(after->value - before->value) * scale;
	turnover.ended_known = true;
	turnover.ended_per_s = (double)session->ended_lately.threads * scale;
	if (snapshot_ends_are_told(session->now)) {
		turnover.ended_at_least = session->ended_lately.incomplete;
		return turnover;
	}
	ended = ended_by_count(session);
	turnover.ended_at_least = isnan(ended);
	/* each was counted at another moment */
	if (ended * scale > turnover.ended_per_s)
		turnover.ended_per_s = ended * scale;
	return turnover;
}

bool session_find_storm(const struct session *session, struct session_storm *ret_storm)
{
	const struct ended *ended = &session->ended_lately;
	const uint64_t interval_ns = session_interval_ns(session);
	uint64_t *counts, most[2] = {0};

	*ret_storm = (struct session_storm){0};
	if (interval_ns == 0 || ended->names == NULL || !snapshot_ends_are_told(session->now))
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
	/* what hardly takes part is not named */
	if (most[1] < ended->processes / STORM_SHARE)
		ret_storm->names[1] = NULL;
	return true;
}

/* Whether there is something to count from. */
static bool counts_in(const struct session *session, enum window_mode mode)
{
	if (mode != WINDOW_MODE_BASE)
		return session->previous != NULL;
	/* after a gap there may be a base and no round before */
	return !session->base_is_void &&
	       (session->previous != NULL || (session->base != NULL && session->base != session->now));
}

struct window session_window(const struct session *session, enum window_mode mode)
{
	struct window window = {
		.now = session->now,
		.missing = session->is_file && session->now->window == NULL ? REASON_NOT_IN_FILE
									    : REASON_NOT_READ,
		.latency = latency_of(session, mode),
		.mode = mode,
	};

	window.ended = session_ended(session, mode);
	if (mode == WINDOW_MODE_TOTAL || !counts_in(session, mode))
		return window;
	window.from = mode == WINDOW_MODE_BASE ? session->base : session->previous;
	window.elapsed_ns = session->now->provenance.boottime_ns - window.from->provenance.boottime_ns;
	window.from_of = mode == WINDOW_MODE_BASE ? session->base_of : session->previous_of;
	window.still = mode == WINDOW_MODE_BASE ? session->base_still : session->still;
	return window;
}

const struct grouping *session_grouping(struct session *session, const struct grouping_options *options,
					const struct ended *ended)
{
	const struct snapshot *snapshots[2] = {session->now, ended != NULL ? ended->names : NULL};
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
	session_forget_unmade(session);
	grouping_release(oldest->grouping);
	*oldest = (struct cached_grouping){
		.grouping = grouping_create(options, snapshots, ended != NULL ? 2 : 1, &session->patterns),
		.options = *options,
		.ended = ended,
		.used = session->grouping_clock,
	};
	return oldest->grouping;
}
