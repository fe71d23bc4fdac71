/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of rounds whose capture says which threads moved are those of rounds where it does not: of random
 * rounds, in every mode, on every axis, of every column.
 */
#include <stdlib.h>

#include "tests/cmocka_include.h"

#include "random_world.h"
#include "snapshot/user_names.h"
#include "window/window.h"

enum {
	ROUNDS = 20,
	SESSIONS = ADDRESS_SANITIZER ? 2 : 4,
};

/* Lookups shared by many threads agree for each with the general rules. */
static void expect_same_readings(const struct session *session)
{
	const struct snapshot *now = session_now(session), *before = session_previous(session);
	bool *seen = memory_allocate_zero(before->thread_count + 1, sizeof(*seen));
	struct window window = {.now = now, .from = before, .from_of = thread_match(now, before, seen, NULL)};

	for (int i = METRIC_THREAD_COUNT + 1; i < METRIC_COUNT; i++) {
		const struct metric_reader reader = metric_reader_of(now, (enum metric)i);

		for (uint32_t thread = 0; thread < now->thread_count; thread++) {
			assert_int_equal(metric_reader_known_state(&reader, thread),
					 snapshot_value_state(now, thread, (enum metric)i));
		}
	}
	for (int i = WINDOW_MODE_COUNT; i < METRIC_COUNT * (int)WINDOW_MODE_COUNT; i++) {
		struct window_counter counter, slow;

		window.mode = (enum window_mode)(i % WINDOW_MODE_COUNT);
		counter = slow = window_counter_of(&window, (enum metric)(i / WINDOW_MODE_COUNT));
		slow.even = false;
		for (uint32_t thread = 0; thread < now->thread_count; thread++) {
			const bool as_rate = window.mode == WINDOW_MODE_RATE;
			uint64_t amount, elapsed = 0, expected, expected_elapsed = 0;
			const uint16_t state = window_amount(&counter, thread, as_rate, &amount, &elapsed);

			assert_int_equal(state,
					 window_amount(&slow, thread, as_rate, &expected, &expected_elapsed));
			if (state == REASON_READ)
				assert_int_equal(amount, expected);
			if (state == REASON_READ && as_rate)
				assert_int_equal(elapsed, expected_elapsed);
		}
	}
	free((void *)window.from_of);
	free(seen);
}

static void test_tables_are_the_same(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
		static struct world world;
		struct session *const sessions[2] = {session_create(), session_create()};
		struct snapshot *before = NULL, *whole[ROUNDS];

		random_state = seed * UINT64_C(88172645463325252);
		world = (struct world){
			.now_ns = 1000 * NS_PER_S, .knows_waits = seed % 3 != 0, .is_quiet = seed % 2 == 0};
		while (world.count < THREADS_MAX / 2)
			world_add_thread(&world);
		for (size_t i = 0; i < SOURCE_COUNT; i++)
			world.by_thread[i] = one_in(2);
		for (int round = 0; round < ROUNDS; round++) {
			struct snapshot *known = world_photograph(&world);

			whole[round] = world_photograph(&world);

			if (before != NULL && !one_in(15)) /* a round that was not handed over */
				world_say_moved(known, &world, before);
			snapshot_finish(known);
			snapshot_finish(whole[round]);
			before = known;
			session_add_round(sessions[0], known);
			session_add_round(sessions[1], snapshot_reference(whole[round]));
			if (one_in(world.is_quiet ? 15 : 8)) {
				session_set_base(sessions[0]);
				session_set_base(sessions[1]);
			}
			assert_int_equal(session_ended_count(sessions[0]), session_ended_count(sessions[1]));
			if (round != 0)
				expect_same_readings(sessions[1]);
			expect_same_views(sessions, SAME_ROUNDS);
			world_advance(&world);
		}
		session_release(sessions[0]);
		session_release(sessions[1]);
		for (int round = 0; round < ROUNDS; round++)
			snapshot_release(whole[round]);
	}
}

/* One of some threads that stand still was not read again: its later work is unknown. */
static void test_times_of_their_own(void **state)
{
	struct session *session = session_create();
	struct snapshot *rounds[2];
	struct table *table;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		rounds[i] = fixture_snapshot(100 + 2 * (double)i);
		for (uint32_t thread = 0; thread < 4; thread++)
			fixture_thread(rounds[i], 10, 10 + thread, "web", "web", 1);
		snapshot_read_times(rounds[i], SOURCE_SCHEDSTAT)[1] = 99 * NS_PER_S;
	}
	rounds[1]->carried_serial = rounds[0]->serial;
	rounds[1]->carried_row = memory_allocate(4 * sizeof(uint32_t));
	for (uint32_t thread = 0; thread < 4; thread++)
		rounds[1]->carried_row[thread] = thread;
	rounds[1]->moved_known = true;
	for (size_t i = 0; i < 2; i++) {
		snapshot_finish(rounds[i]);
		session_add_round(session, rounds[i]);
	}
	/* what it was read at is not what the round was */
	assert_int_equal(session_previous(session)->thread_count, 1);
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	assert_true(fixture_cell(table, "web", COLUMN_CPU)->partial);
	assert_false(fixture_cell(table, "web", COLUMN_BLKIO)->partial);
	session_release(session);
}

/* The session keeps what moved of the round before and of the base, and changes nothing that others hold. */
static void test_only_movers_are_kept(void **state)
{
	struct session *session = session_create();
	struct snapshot *before = NULL, *held = NULL;
	struct world world = {.now_ns = 1000 * NS_PER_S};

	(void)state;
	random_state = 1;
	while (world.count < THREADS_MAX)
		world_add_thread(&world);
	/* what is in D does not stand still */
	for (uint32_t i = 0; i < world.count; i++)
		world.threads[i].values[METRIC_STATE] = 'S';
	for (size_t round = 0; round < 5; round++) {
		struct snapshot *snapshot = world_photograph(&world);

		if (before != NULL)
			world_say_moved(snapshot, &world, before);
		snapshot->exception_count = 0;
		snapshot_finish(snapshot);
		before = snapshot;
		if (round == 2)
			held = snapshot_reference(snapshot);
		session_add_round(session, snapshot);
		if (round != 0) {
			assert_int_equal(session_previous(session)->thread_count, 3);
			assert_int_equal(session_base(session)->thread_count, 3);
		}
		for (uint32_t i = 0; i < world.count; i++) {
			world.threads[i].row = i;
			world.threads[i].moved = i < 3;
		}
		world.now_ns += 2 * NS_PER_S;
	}
	assert_int_equal(held->thread_count, THREADS_MAX);
	session_release(session);
	snapshot_release(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_are_the_same),
		cmocka_unit_test(test_times_of_their_own),
		cmocka_unit_test(test_only_movers_are_kept),
	};

	/* a name that is found between two tables would make them differ */
	user_names_set_sources(NULL, NULL);
	return cmocka_run_group_tests_name("session_movers", tests, NULL, NULL);
}
