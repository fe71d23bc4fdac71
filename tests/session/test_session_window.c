/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session shows of its window the same as a session over the file of that window: random rounds,
 * every axis, every column.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "random_world.h"
#include "snapshot/user_names.h"
#include "store/ctprof.h"

enum {
	ROUNDS = 12,
	SESSIONS = ADDRESS_SANITIZER ? 3 : 9,
};

/* A session over the file that is saved of what another one shows; `parts` may be NULL. */
static struct session *through_file(const struct session *session, enum window_mode mode,
				    struct window_parts *parts)
{
	struct snapshot_window *window = session_save_window(session, mode);
	const int descriptor = memfd_create("window", MFD_CLOEXEC);
	struct snapshot *snapshot;
	struct error error = {""};

	assert_non_null(window);
	if (parts != NULL)
		window->parts = *parts;
	ctprof_write_descriptor(session_now(session), window, descriptor, NULL, &error);
	assert_string_equal(error.text, "");
	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	ctprof_read_descriptor(descriptor, "file", CTPROF_DEFAULT_LIMIT, &snapshot, &error);
	assert_string_equal(error.text, "");
	assert_null(snapshot->format_notes);
	close(descriptor);
	if (parts != NULL)
		window->parts = (struct window_parts){0};
	snapshot_window_release(window);
	return session_create_file(snapshot);
}

static void expect_same_host(const struct session *a, const struct session *b)
{
	const struct session_turnover turnover[2] = {session_turnover(a), session_turnover(b)};

	assert_int_equal(session_interval_ns(a), session_interval_ns(b));
	assert_true(turnover[0].started_per_s == turnover[1].started_per_s);
	assert_int_equal(turnover[0].ended_known, turnover[1].ended_known);
}

static void expect_same_file(struct session *session)
{
	for (int i = 0; i < 2; i++) {
		const enum window_mode mode = i == 0 ? WINDOW_MODE_INTERVAL : WINDOW_MODE_BASE;
		struct session *const sessions[2] = {session, through_file(session, mode, NULL)};

		expect_same_mode(sessions, mode, SAME_FILE);
		expect_same_mode(sessions, WINDOW_MODE_TOTAL, SAME_FILE);
		if (mode == WINDOW_MODE_INTERVAL) {
			expect_same_mode(sessions, WINDOW_MODE_RATE, SAME_FILE);
			expect_same_host(session, sessions[1]);
		}
		session_release(sessions[1]);
	}
}

static void test_any_window(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
		struct besides besides = {.telling = (enum telling)(seed % TELLINGS), .busy_ticks = 5000};
		struct session *session = session_create();
		const struct snapshot *before = NULL;
		struct world world;

		world_begin(&world, seed);
		for (int i = 0; i < ROUNDS; i++) {
			struct snapshot *round = world_begin_round(&world, &besides, before);

			if (i > 0 && seed % 2 == 0)
				world_say_moved(round, &world, before);
			before = round;
			session_add_round(session, round);
			if (i % 5 == 3)
				session_set_base(session);
			else if (i > 0)
				expect_same_file(session);
			world_end_round(&world, &besides);
		}
		session_release(session);
	}
}

/* The rounds of two threads: `web` runs 10 ms more in each than in the one before, `cc1` is gone from the
 * third on. */
static struct snapshot *part_round(unsigned int number)
{
	struct snapshot *round = fixture_snapshot(100.0 + number);

	round->provenance.boottime_ns = (100 + number) * NS_PER_S;
	fixture_set(round, fixture_thread(round, 10, 10, "web", "web", 1), METRIC_RUN_TIME_NS,
		    NS_PER_S + number * (number + 1) / 2 * 10 * NS_PER_MS);
	if (number < 2)
		fixture_set(round, fixture_thread(round, 20, 20, "cc1", "cc1", 2), METRIC_RUN_TIME_NS,
			    number * 7 * NS_PER_MS);
	snapshot_finish(round);
	return round;
}

static uint64_t run_in(const struct window_parts *parts, size_t part, const char *name)
{
	const struct window_part *item = &parts->items[part];

	for (size_t k = 0; k < item->metric_count; k++) {
		for (size_t i = 0; i < item->count; i++) {
			const struct triple *triple = &parts->names->triples[item->names[i]];

			if (item->metrics[k] == METRIC_RUN_TIME_NS &&
			    strcmp(snapshot_text(parts->names, triple->pcomm), name) == 0)
				return item->amounts[k * item->count + i];
		}
	}
	return 0;
}

/* Each part has its own work, with that of threads that ended in it; a file keeps it. */
static void test_parts(void **state)
{
	struct session *part = session_create(), *whole = session_create();
	struct window_parts parts = {0};
	const struct window_parts *read;
	struct session *file;

	(void)state;
	for (unsigned int i = 0; i <= 6; i++) {
		struct snapshot *round = part_round(i);

		session_add_round(whole, snapshot_reference(round));
		session_add_round(part, round);
		if (i != 0 && i % 2 == 0)
			session_take_part(part, &parts);
	}
	assert_int_equal(parts.count, 3);
	file = through_file(whole, WINDOW_MODE_BASE, &parts);
	read = &session_now(file)->window->parts;
	assert_int_equal(read->count, 3);
	for (size_t i = 0; i < 3; i++) {
		const uint64_t web = (4 * i + 3) * 10 * NS_PER_MS;

		assert_int_equal(read->items[i].length_ns, 2 * NS_PER_S);
		assert_int_equal(run_in(&parts, i, "web"), web);
		assert_int_equal(run_in(read, i, "web"), web);
		assert_int_equal(run_in(read, i, "cc1"), i == 0 ? 7 * NS_PER_MS : 0);
	}
	window_parts_clear(&parts);
	session_release(file);
	session_release(part);
	session_release(whole);
}

/* `web` had waited for 10 s when the first round came, as far as is known, and waited for another 0.5 s. */
static struct snapshot *waiting_round(unsigned int number)
{
	struct snapshot *round = fixture_snapshot(100.0 + number);
	const size_t web = fixture_thread(round, 10, 10, "web", "web", 1);

	round->provenance.boottime_ns = (100 + number) * NS_PER_S;
	fixture_set(round, web, METRIC_STATE, number == 0 ? 'R' : 'S');
	fixture_set(round, web, METRIC_WAIT_TIME_NS, number == 0 ? 0 : 10500 * NS_PER_MS);
	round->stuck_ns = memory_allocate_zero(round->thread_capacity, sizeof(uint64_t));
	round->stuck_ns[web] = number == 0 ? 10 * NS_PER_S : 0;
	snapshot_finish(round);
	return round;
}

static void test_waits_at_the_beginning(void **state)
{
	struct session *sessions[2] = {session_create()};

	(void)state;
	session_add_round(sessions[0], waiting_round(0));
	session_add_round(sessions[0], waiting_round(1));
	sessions[1] = through_file(sessions[0], WINDOW_MODE_INTERVAL, NULL);
	for (int i = 0; i < 2; i++) {
		struct table *table = fixture_table(sessions[i], TAB_RUN, WINDOW_MODE_RATE);

		assert_string_equal(fixture_shown(table, "web", COLUMN_RUNQ), "50.0");
		session_release(sessions[i]);
	}
}

/* What threads wait for is kept of the end of a window, not of its beginning. */
static void test_wait_classes(void **state)
{
	struct session *session = session_create(), *file;
	const struct snapshot *now;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct snapshot *round = waiting_round(i);

		snapshot_make_wait_columns(round);
		round->wait_class[0] = i == 0 ? WAIT_CLASS_DISK : WAIT_CLASS_FUTEX;
		round->wait_object[0] = string_pool_intern(&round->strings, i == 0 ? "sda" : "0x1000",
							   i == 0 ? 3 : 6);
		session_add_round(session, round);
	}
	file = through_file(session, WINDOW_MODE_INTERVAL, NULL);
	now = session_now(file);
	assert_int_equal(now->wait_class[0], WAIT_CLASS_FUTEX);
	assert_string_equal(snapshot_text(now, now->wait_object[0]), "0x1000");
	assert_non_null(now->window);
	assert_null(now->window->from->wait_class);
	session_release(file);
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_window),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_waits_at_the_beginning),
		cmocka_unit_test(test_wait_classes),
	};

	/* a name that is found between two tables would make them differ */
	user_names_set_sources(NULL, NULL);
	return cmocka_run_group_tests_name("session_window", tests, NULL, NULL);
}
