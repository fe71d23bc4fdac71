/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A moment made of the base, what ended in each round since, the round before and the round itself shows what
 * a live session showed then: random rounds, every mode, every axis, every column.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random_world.h"
#include "session/moment.h"
#include "snapshot/ended_set.h"
#include "span/ended.h"
#include "user/user_names.h"

enum {
	ROUNDS = 16,
	SESSIONS = 9,
};

/* How it is known what threads did that ended. */
enum telling {
	TOLD,      /* by themselves */
	LEFT_OVER, /* the host's CPU time has it */
	UNTOLD,
	TELLINGS,
};

/* What a round has beside its threads. Made twice, from the same chance. */
struct besides {
	uint64_t chance;
	enum telling telling;
	uint64_t now_ns, busy_ticks;
	const struct snapshot *before; /* NULL for the first */
	bool *seen;                    /* [before] */
};

static void fill_amounts(struct ended_amounts *amounts, uint64_t least)
{
	for (size_t i = 0; i < ENDED_METRICS; i++)
		amounts->of[i] = least + random_below(20 * NS_PER_MS);
	amounts->delayed = random_below(2);
}

/* Those that are gone tell of themselves, or not; others were in no round. */
static void fill_ended(struct snapshot *snapshot, const struct besides *besides)
{
	const struct snapshot *before = besides->before;
	struct ended_set *set = ended_set_create();
	struct ended_thread *thread;
	struct ended_group *group;

	snapshot->ended = set;
	for (uint32_t row = 0; row < before->thread_count; row++) {
		const struct triple *names = &before->triples[before->triple[row]];

		if (besides->seen[row] || one_in(3))
			continue;
		thread = ended_set_add_thread(
			set,
			ended_set_triple(set, snapshot_text(before, names->pcomm),
					 one_in(5) ? "late" : snapshot_text(before, names->comm),
					 snapshot_text(before, names->cgroup)),
			false);
		thread->tgid = before->tgid[row];
		thread->tid = before->tid[row];
		thread->start_time = before->start_time[row];
		fill_amounts(&thread->amounts, 30 * NS_PER_MS);
	}
	for (size_t i = random_below(4); i > 0; i--) {
		group = ended_set_group(set, ended_set_triple(set, one_in(2) ? "cc1" : "web", "cc1", "/"),
					one_in(5));
		group->threads += 3;
		group->processes += 2;
		group->unknown += random_below(2);
		fill_amounts(&group->amounts, 0);
	}
	for (size_t i = random_below(3); i > 0; i--) {
		thread = ended_set_add_thread(set, ended_set_triple(set, "sh", "sh", "/"), one_in(5));
		thread->tgid = thread->tid = 90000 + (uint32_t)random_below(1000);
		thread->start_time = besides->now_ns / NS_PER_TICK - random_below(2000);
		fill_amounts(&thread->amounts, 0);
	}
	set->lower_bound = one_in(4);
	set->lost = one_in(10);
	set->unread = one_in(10);
	if (one_in(5))
		set->reasons[random_below(ENDED_METRICS)] = REASON_NOT_PERMITTED;
}

static void fill_latency(struct snapshot *snapshot)
{
	static const char *const names[] = {"web", "db", "a", "gone"};

	snapshot->latency.present = true;
	snapshot->latency.span_ns = 2 * NS_PER_S;
	snapshot->latency.events = random_below(100);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const uint32_t name = string_pool_intern(&snapshot->strings, names[i], strlen(names[i]));
		struct latency_record *record;

		if (one_in(2))
			continue;
		record = latency_add_record(snapshot, name, name, name);
		record->of[LATENCY_RUN_QUEUE].buckets[random_below(LATENCY_BUCKETS)] = random_below(9);
		record->of[LATENCY_BLOCKED].sum_ns = random_below(NS_PER_S);
	}
}

static void fill_interval(struct snapshot *snapshot, const struct besides *besides)
{
	random_state = besides->chance;
	if (besides->telling == TOLD && besides->before != NULL)
		fill_ended(snapshot, besides);
	if (besides->before != NULL && besides->telling != UNTOLD)
		fill_latency(snapshot);
}

/* A round, made anew each time: nobody else holds it. */
static struct snapshot *make_round(const struct world *world, const struct besides *besides)
{
	struct snapshot *snapshot = world_photograph(world);
	struct provenance *provenance = &snapshot->provenance;

	provenance->features[FEATURE_EXITS].state = besides->telling == TOLD ? FEATURE_STATE_ON
									     : FEATURE_STATE_OFF;
	provenance->features[FEATURE_ALL_PROCESSES].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_PID_NAMESPACE].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_LATENCY].state = FEATURE_STATE_ON;
	provenance->forks = (struct optional_u64){world->begun, true};
	if (besides->telling == LEFT_OVER) {
		provenance->cpu_ticks_known = true;
		provenance->cpu_ticks_at_ns = provenance->boottime_ns;
		provenance->cpu_ticks[0] = besides->busy_ticks;
		provenance->cpu_ticks[3] = provenance->boottime_ns / NS_PER_TICK;
	}
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (snapshot->tid[row] == snapshot->tgid[row])
			snapshot_add_resident(snapshot, row, 4096 * (snapshot->start_time[row] % 1000),
					      provenance->boottime_ns);
	}
	fill_interval(snapshot, besides);
	snapshot_finish(snapshot);
	return snapshot;
}

/* A row of rounds: what is needed to make any moment of it. */
struct row {
	struct snapshot *rounds[ROUNDS];
	struct snapshot *gone[ROUNDS]; /* NULL of the first */
	double left_ns[ROUNDS];
};

/* What is gone since the round before, of which `whole` is another copy that is taken over. */
static struct snapshot *make_gone(struct snapshot *whole, const struct besides *besides)
{
	bool *kept = memory_allocate(whole->thread_count + 1);

	for (size_t i = 0; i < whole->thread_count; i++)
		kept[i] = !besides->seen[i];
	free(snapshot_keep_rows(whole, kept));
	free(kept);
	ended_set_release(whole->ended);
	whole->ended = NULL;
	free(whole->latency.records);
	whole->latency = (struct latency){0};
	fill_interval(whole, besides);
	return whole;
}

static struct session_moment *make_moment(const struct row *row, int base, int now)
{
	struct session_moment *moment = session_moment_create(
		base >= 0 ? snapshot_reference(row->rounds[base]) : NULL);

	for (int i = base >= 0 && base < now ? base + 1 : now; i <= now; i++) {
		if (i > 0)
			session_moment_add_gone(moment, row->gone[i], row->left_ns[i]);
	}
	session_moment_finish(moment, now > 0 ? snapshot_reference(row->rounds[now - 1]) : NULL,
			      snapshot_reference(row->rounds[now]));
	return moment;
}

/* A live session over the first rounds of a row, none of which it may give up. */
static struct session *live_session(const struct row *row, int base, int now)
{
	struct session *session = session_create();

	for (int i = 0; i <= now; i++) {
		session_add_round(session, snapshot_reference(row->rounds[i]));
		if (i == base)
			session_set_base(session);
	}
	return session;
}

static void begin(struct world *world, uint64_t seed)
{
	random_state = seed * UINT64_C(88172645463325252);
	*world = (struct world){.now_ns = 1000 * NS_PER_S,
				.knows_waits = seed % 3 != 0,
				.is_quiet = seed % 2 == 0,
				.is_seen = true};
	while (world->count < THREADS_MAX / 2)
		world_add_thread(world);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		world->by_thread[i] = one_in(2);
}

/* Finds what of the round before is not in this one any more. */
static void find_seen(const struct world *world, struct besides *besides)
{
	struct snapshot *now = world_photograph(world);

	snapshot_finish(now);
	besides->seen = memory_allocate_zero(besides->before->thread_count + 1, sizeof(*besides->seen));
	free(thread_match(now, besides->before, besides->seen, NULL));
	snapshot_release(now);
}

static void make_row(struct row *row, uint64_t seed)
{
	struct besides besides = {.telling = (enum telling)(seed % TELLINGS), .busy_ticks = 5000};
	struct snapshot *before_again = NULL;
	struct world world;

	begin(&world, seed);
	*row = (struct row){0};
	for (int i = 0; i < ROUNDS; i++) {
		besides.chance = random_below(UINT64_MAX) | 1;
		besides.now_ns = world.now_ns;
		if (i > 0) {
			besides.before = row->rounds[i - 1];
			find_seen(&world, &besides);
			row->gone[i] = make_gone(before_again, &besides);
		}
		row->rounds[i] = make_round(&world, &besides);
		if (i > 0) {
			uint32_t *match = thread_match(row->rounds[i], besides.before, besides.seen, NULL);

			row->left_ns[i] = ended_left_between(besides.before, row->rounds[i], match);
			free(match);
		}
		before_again = make_round(&world, &besides);
		free(besides.seen);
		besides.seen = NULL;
		random_state = besides.chance + 1;
		world_advance(&world);
		besides.busy_ticks += random_below(200);
	}
	snapshot_release(before_again);
}

static void release_row(struct row *row)
{
	for (int i = 0; i < ROUNDS; i++) {
		snapshot_release(row->rounds[i]);
		snapshot_release(row->gone[i]);
	}
}

static void expect_same_host(const struct session *a, const struct session *b)
{
	const struct session_turnover turnover[2] = {session_turnover(a), session_turnover(b)};
	struct session_storm storm[2];

	assert_int_equal(session_ended_count(a), session_ended_count(b));
	assert_int_equal(session_interval_ns(a), session_interval_ns(b));
	assert_int_equal(turnover[0].ended_known, turnover[1].ended_known);
	assert_int_equal(turnover[0].ended_at_least, turnover[1].ended_at_least);
	assert_true(turnover[0].started_per_s == turnover[1].started_per_s);
	assert_true(turnover[0].ended_per_s == turnover[1].ended_per_s);
	assert_int_equal(session_find_storm(a, &storm[0]), session_find_storm(b, &storm[1]));
}

/* Moments of a row, in any order, in one session. */
static void test_any_moment(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
		struct session *past = session_create();
		struct row row;

		make_row(&row, seed);
		for (int i = 0; i < 8; i++) {
			const int now = (int)random_below(ROUNDS),
				  base = (int)random_below((uint64_t)now + 1);
			struct session *const sessions[2] = {live_session(&row, base, now), past};

			session_show_moment(past, make_moment(&row, base, now));
			expect_same_host(sessions[0], sessions[1]);
			expect_same_views(sessions, true);
			session_release(sessions[0]);
		}
		session_release(past);
		release_row(&row);
	}
}

/* Where no base is given it is the round before. */
static void test_no_base(void **state)
{
	struct row row;

	(void)state;
	make_row(&row, 3);
	for (int now = 1; now < ROUNDS; now += 4) {
		struct session *const sessions[2] = {live_session(&row, now - 1, now), session_create()};

		session_show_moment(sessions[1], make_moment(&row, -1, now));
		expect_same_views(sessions, true);
		session_release(sessions[0]);
		session_release(sessions[1]);
	}
	release_row(&row);
}

static void set_boot(struct snapshot *snapshot, const char *boot)
{
	snapshot->provenance.boot_id = arena_duplicate(&snapshot->arena, boot, strlen(boot));
}

/* A round of some threads of one process, each of which has run for 100 ms a second. */
static struct snapshot *plain_round(double seconds, uint32_t first, uint32_t count)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);

	for (uint32_t i = first; i < first + count; i++)
		fixture_set(snapshot, fixture_thread(snapshot, 10, 10 + i, "web", "web", 1),
			    METRIC_RUN_TIME_NS, MS(100 * (uint64_t)seconds));
	set_boot(snapshot, "one");
	snapshot_finish(snapshot);
	return snapshot;
}

static void expect_cpu(struct session *session, enum view_mode mode, const char *text)
{
	struct table *table = fixture_table(session, TAB_RUN, mode);

	assert_string_equal(fixture_shown(table, "web", COLUMN_CPU), text);
	table_release(table);
}

/* Nothing is counted from a base of another boot, or from a later one. */
static void test_void_base(void **state)
{
	struct session *session = session_create();
	struct session_moment *moment;
	struct snapshot *base;

	(void)state;
	for (int i = 0; i < 3; i++) {
		base = plain_round(i == 1 ? 110 : 90, 0, 2);
		if (i == 0)
			set_boot(base, "two");
		moment = session_moment_create(base);
		session_moment_add_gone(moment, NULL, NAN);
		session_moment_finish(moment, plain_round(98, 0, 2), plain_round(100, 0, 2));
		assert_ptr_equal(session_moment_base(moment), base);
		session_show_moment(session, moment);
		expect_cpu(session, VIEW_MODE_RATE, "20.0");
		expect_cpu(session, VIEW_MODE_BASE, i < 2 ? "\302\267" : "2.0s");
	}
	/* until another one is chosen */
	session_set_base(session);
	expect_cpu(session, VIEW_MODE_BASE, "0");
	session_release(session);
}

/* After a gap nothing is known of the interval. Of what got lost in it is counted that it ended, not what it
 * did. */
static void test_gap(void **state)
{
	struct session *session = session_create();
	struct session_moment *moment = session_moment_create(plain_round(90, 0, 4));

	(void)state;
	session_moment_add_gap(moment);
	session_moment_finish(moment, NULL, plain_round(100, 0, 3));
	assert_null(session_moment_previous(moment));
	session_show_moment(session, moment);
	assert_int_equal(session_interval_ns(session), 0);
	expect_cpu(session, VIEW_MODE_RATE, "\302\267");
	expect_cpu(session, VIEW_MODE_BASE, "\342\211\2453.0s");
	assert_int_equal(session_ended_count(session), 1);
	session_release(session);
}

/* What was gone once and is there again was not followed: nobody knows what it did since the base. */
static void test_seen_again(void **state)
{
	struct session *session = session_create();
	struct session_moment *moment = session_moment_create(plain_round(90, 0, 3));
	struct snapshot *gone = plain_round(92, 2, 1);

	(void)state;
	session_moment_add_gone(moment, NULL, NAN);
	session_moment_add_gone(moment, gone, NAN);
	snapshot_release(gone);
	session_moment_add_gone(moment, NULL, NAN);
	session_moment_finish(moment, plain_round(98, 0, 2), plain_round(100, 0, 3));
	session_show_moment(session, moment);
	expect_cpu(session, VIEW_MODE_BASE, "\342\211\2452.2s");
	session_release(session);
}

static struct snapshot *young_process(double seconds, uint64_t run_ms)
{
	struct snapshot *snapshot = fixture_snapshot(seconds);

	fixture_set(snapshot, fixture_thread(snapshot, 50, 50, "sh", "sh", 91), METRIC_RUN_TIME_NS,
		    MS(run_ms));
	snapshot_finish(snapshot);
	return snapshot;
}

/* A thread that took over the id of its process, which is younger than the base, counts from its own. */
static void test_taken_over(void **state)
{
	struct session *session = session_create();
	struct session_moment *moment = session_moment_create(plain_round(90, 0, 1));
	struct snapshot *gone = young_process(94, 100);
	struct table *table;

	(void)state;
	session_moment_add_gone(moment, NULL, NAN);
	session_moment_add_gone(moment, gone, NAN);
	snapshot_release(gone);
	session_moment_finish(moment, young_process(98, 90000), young_process(100, 90200));
	session_show_moment(session, moment);
	table = fixture_table(session, TAB_RUN, VIEW_MODE_BASE);
	assert_string_equal(fixture_shown(table, "sh", COLUMN_CPU), "\342\211\245100ms");
	table_release(table);
	session_release(session);
}

/* One after the other, as somebody walks through them: rows are marked as they were, too. */
static void test_walk(void **state)
{
	struct session *sessions[2] = {session_create(), session_create()};
	struct row row;

	(void)state;
	make_row(&row, 4);
	for (int now = 0; now < ROUNDS; now++) {
		struct table *tables[2];
		struct view view;

		view_initialise(&view);
		session_add_round(sessions[0], snapshot_reference(row.rounds[now]));
		session_show_moment(sessions[1], make_moment(&row, 0, now));
		for (size_t s = 0; s < 2; s++)
			tables[s] = session_table(sessions[s], &view);
		expect_same_table(tables[0], tables[1], false);
		assert_int_equal(tables[0]->row_gone, tables[1]->row_gone);
		table_release(tables[0]);
		table_release(tables[1]);
		view_release(&view);
	}
	session_release(sessions[0]);
	session_release(sessions[1]);
	release_row(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_moment), cmocka_unit_test(test_no_base),
		cmocka_unit_test(test_void_base),  cmocka_unit_test(test_gap),
		cmocka_unit_test(test_seen_again), cmocka_unit_test(test_taken_over),
		cmocka_unit_test(test_walk),
	};

	/* a name that is found between two tables would make them differ */
	user_names_set_sources(NULL, "/bin/false");
	return cmocka_run_group_tests_name("session_moment", tests, NULL, NULL);
}
