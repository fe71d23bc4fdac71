/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A moment made of the base, what ended in each round since, the round before and the round itself shows what
 * a live session showed then: random rounds, every mode, every axis, every column.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "random_world.h"
#include "session/moment.h"
#include "snapshot/ended_set.h"
#include "snapshot/user_names.h"
#include "window/ended.h"

enum {
	ROUNDS = 16,
	SESSIONS = ADDRESS_SANITIZER ? 3 : 9,
};

/* A row of rounds: what is needed to make any moment of it. */
struct row {
	struct snapshot *rounds[ROUNDS];
	struct snapshot *gone[ROUNDS]; /* NULL of the first */
	double left_ns[ROUNDS];
};

/* Finds threads of `before` that are gone since. */
static struct snapshot *make_gone(const struct world *before, const struct besides *besides)
{
	struct besides first = *besides;
	struct world world = *before;
	struct snapshot *gone;

	first.before = NULL;
	first.now_ns = world.now_ns;
	world.count = 0;
	for (size_t i = 0; i < before->count; i++) {
		if (!besides->seen[i])
			world.threads[world.count++] = before->threads[i];
	}
	gone = world_make_round(&world, &first);
	world_fill_interval(gone, besides);
	return gone;
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

static void make_row(struct row *row, uint64_t seed)
{
	struct besides besides = {.telling = (enum telling)(seed % TELLINGS), .busy_ticks = 5000};
	struct world world, before = {0};

	world_begin(&world, seed);
	*row = (struct row){0};
	for (int i = 0; i < ROUNDS; i++) {
		row->rounds[i] = world_begin_round(&world, &besides, i > 0 ? row->rounds[i - 1] : NULL);
		if (i > 0)
			row->gone[i] = make_gone(&before, &besides);
		if (i > 0) {
			uint32_t *match = thread_match(row->rounds[i], besides.before, besides.seen, NULL);

			row->left_ns[i] = ended_left_between(besides.before, row->rounds[i], match);
			free(match);
		}
		before = world;
		world_end_round(&world, &besides);
	}
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
			struct session *const sessions[2] = {world_live_session(row.rounds, base, now), past};

			session_show_moment(past, make_moment(&row, base, now));
			expect_same_host(sessions[0], sessions[1]);
			expect_same_views(sessions, SAME_MOMENT);
			session_release(sessions[0]);
		}
		session_release(past);
		release_row(&row);
	}
}

/* Without a base, the round before is it. */
static void test_no_base(void **state)
{
	struct row row;

	(void)state;
	make_row(&row, 3);
	for (int now = 1; now < ROUNDS; now += 4) {
		struct session *const sessions[2] = {world_live_session(row.rounds, now - 1, now),
						     session_create()};

		session_show_moment(sessions[1], make_moment(&row, -1, now));
		expect_same_views(sessions, SAME_MOMENT);
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

static void expect_cpu(struct session *session, enum window_mode mode, const char *text)
{
	fixture_expect(session, TAB_RUN, mode, "web", COLUMN_CPU, text);
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
		session_show_moment(session, moment);
		assert_ptr_equal(session_base(session), base);
		expect_cpu(session, WINDOW_MODE_RATE, "20.0");
		expect_cpu(session, WINDOW_MODE_BASE, i < 2 ? "\302\267" : "2.0s");
	}
	/* until another one is chosen */
	session_set_base(session);
	expect_cpu(session, WINDOW_MODE_BASE, "0");
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
	session_show_moment(session, moment);
	assert_null(session_previous(session));
	assert_int_equal(session_interval_ns(session), 0);
	expect_cpu(session, WINDOW_MODE_RATE, "\302\267");
	expect_cpu(session, WINDOW_MODE_BASE, "\342\211\2453.0s");
	assert_int_equal(session_ended_count(session), 1);
	session_release(session);
}

/* A thread that came back was not followed: its work since the base is unknown. */
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
	expect_cpu(session, WINDOW_MODE_BASE, "\342\211\2452.2s");
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

	(void)state;
	session_moment_add_gone(moment, NULL, NAN);
	session_moment_add_gone(moment, gone, NAN);
	snapshot_release(gone);
	session_moment_finish(moment, young_process(98, 90000), young_process(100, 90200));
	session_show_moment(session, moment);
	fixture_expect(session, TAB_RUN, WINDOW_MODE_BASE, "sh", COLUMN_CPU, "\342\211\245100ms");
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
		struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

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
	user_names_set_sources(NULL, NULL);
	return cmocka_run_group_tests_name("session_moment", tests, NULL, NULL);
}
