/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rounds kept in memory, and recorded into a history: what they show is what a live session showed, in every
 * column, mode and axis.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "random_world.h"
#include "session/moment.h"
#include "session/ring.h"
#include "session/session_internal.h"
#include "snapshot/thread_match.h"
#include "snapshot/user_names.h"
#include "store/history_writer.h"

enum {
	ROUNDS = 40,
	SESSIONS = ADDRESS_SANITIZER ? 2 : 6,
};

struct row {
	struct snapshot *rounds[ROUNDS];
	struct ring *ring;
	struct history *history; /* NULL until it was recorded */
	char directory[32];
};

/* Rounds of a world, each kept as it comes. */
static void make_row(struct row *row, uint64_t seed, uint64_t bytes)
{
	struct besides besides = {.telling = (enum telling)(seed % TELLINGS), .busy_ticks = 5000};
	struct world world;

	world_begin(&world, seed);
	row->ring = ring_create(bytes);
	for (int i = 0; i < ROUNDS; i++) {
		row->rounds[i] = world_begin_round(&world, &besides, i > 0 ? row->rounds[i - 1] : NULL);
		if (i > 0 && seed % 2 == 0)
			world_say_moved(row->rounds[i], &world, row->rounds[i - 1]);
		ring_add(row->ring, row->rounds[i]);
		ring_confirm(row->ring, row->rounds[i]);
		world_end_round(&world, &besides);
	}
}

static void record(struct row *row)
{
	struct history_writer_options options = {.directory = row->directory};
	struct history_writer *writer;
	struct error error;

	strcpy(row->directory, "/tmp/ctop-moments-XXXXXX");
	assert_non_null(mkdtemp(row->directory));
	assert_int_equal(history_writer_open(&options, &writer, &error), 0);
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(history_writer_add(writer, row->rounds[i], &error), 0);
	history_writer_close(writer);
	assert_int_equal(history_open(row->directory, &row->history, &error), 0);
}

static void remove_history(const struct row *row)
{
	char *command = memory_format("rm -r %s", row->directory);

	assert_int_equal(system(command), 0);
	free(command);
}

static void release_row(struct row *row)
{
	history_close(row->history);
	if (row->directory[0] != '\0')
		remove_history(row);
	for (int i = 0; i < ROUNDS; i++)
		snapshot_release(row->rounds[i]);
	ring_release(row->ring);
}

static struct history_round round_at(struct history *history, const struct snapshot *snapshot)
{
	struct history_round round;
	struct error error;

	assert_int_equal(
		history_find(history, snapshot->captured_at_unix_ns, HISTORY_NEAREST, &round, &error), 0);
	assert_int_equal(round.boottime_ns, snapshot->provenance.boottime_ns);
	return round;
}

/* Some moments of a row, each with some base. */
static void expect_moments(const struct row *row, struct history *history)
{
	struct session *past = session_create();

	for (int i = 0; i < 8; i++) {
		const int now = (int)random_below(ROUNDS), base = (int)random_below((uint64_t)now + 1);
		const struct history_round base_round = round_at(history, row->rounds[base]);
		const struct history_round now_round = round_at(history, row->rounds[now]);
		struct session *const sessions[2] = {world_live_session(row->rounds, base, now), past};
		struct session_moment *moment;
		struct error error;

		assert_int_equal(session_moment_make(history, &base_round, &now_round, NULL, &moment, &error),
				 0);
		session_show_moment(past, moment);
		expect_same_views(sessions, SAME_MOMENT);
		session_release(sessions[0]);
	}
	session_release(past);
}

static size_t count_rounds(struct ring *ring)
{
	struct history_round *rounds;
	size_t count;

	assert_int_equal(history_range(ring_history(ring), 0, UINT64_MAX, &rounds, &count, NULL), 0);
	free(rounds);
	return count;
}

static void test_any_moment(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
		struct row row = {0};

		make_row(&row, seed, RING_BYTES_DEFAULT);
		assert_int_equal(count_rounds(row.ring), ROUNDS);
		expect_moments(&row, ring_history(row.ring));
		release_row(&row);
	}
}

static void test_recorded_moment(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
		struct row row = {0};

		make_row(&row, seed, RING_BYTES_DEFAULT);
		record(&row);
		expect_moments(&row, row.history);
		release_row(&row);
	}
}

/* Rounds are found by time, by steps and by ranges. */
static void expect_finding(const struct row *row, struct history *history)
{
	static const struct {
		int round; /* at whose time it is looked for, this much later */
		int64_t later_ns;
		enum history_side side;
		int found;
	} finds[] = {
		{10, 0, HISTORY_AT_OR_BEFORE, 10},
		{10, 0, HISTORY_AT_OR_AFTER, 10},
		{10, -1, HISTORY_AT_OR_BEFORE, 9},
		{10, -1, HISTORY_AT_OR_AFTER, 10},
		{10, 1, HISTORY_AT_OR_BEFORE, 10},
		{10, 1, HISTORY_AT_OR_AFTER, 11},
		{10, 100, HISTORY_NEAREST, 10},
		{10, -100, HISTORY_NEAREST, 10},
		/* before and after all */
		{0, -(INT64_C(1) << 40), HISTORY_AT_OR_BEFORE, 0},
		{ROUNDS - 1, INT64_C(1) << 40, HISTORY_AT_OR_AFTER, ROUNDS - 1},
		{ROUNDS - 1, INT64_MAX, HISTORY_NEAREST, ROUNDS - 1},
	};
	static const struct {
		int64_t rounds;
		int found;
	} steps[] = {{7, 7}, {5, 12}, {-9, 3}, {-100, 0}, {100, ROUNDS - 1}};
	const uint64_t at = row->rounds[5]->captured_at_unix_ns;
	struct history_round round, *rounds;
	struct error error;
	size_t count;

	for (size_t i = 0; i < ARRAY_COUNT(finds); i++) {
		const uint64_t from = row->rounds[finds[i].round]->captured_at_unix_ns;

		assert_int_equal(history_find(history, from + (uint64_t)finds[i].later_ns, finds[i].side,
					      &round, &error),
				 0);
		assert_int_equal(round.unix_ns, row->rounds[finds[i].found]->captured_at_unix_ns);
	}
	assert_int_equal(history_first(history, &round, &error), 0);
	assert_true(round.after_gap);
	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		assert_int_equal(history_step(history, &round, steps[i].rounds, &round, &error), 0);
		assert_int_equal(round.unix_ns, row->rounds[steps[i].found]->captured_at_unix_ns);
	}
	assert_int_equal(
		history_range(history, at, row->rounds[14]->captured_at_unix_ns, &rounds, &count, &error), 0);
	assert_int_equal(count, 10);
	assert_int_equal(rounds[0].unix_ns, at);
	assert_int_equal(rounds[9].unix_ns, row->rounds[14]->captured_at_unix_ns);
	free(rounds);
}

static void test_find(void **state)
{
	struct row row = {0};

	(void)state;
	make_row(&row, 1, RING_BYTES_DEFAULT);
	expect_finding(&row, ring_history(row.ring));
	record(&row);
	expect_finding(&row, row.history);
	release_row(&row);
}

/* Rounds without room are forgotten, oldest first, and the others can be read. */
static void test_bound(void **state)
{
	struct history_round oldest, newest;
	struct session_moment *moment;
	struct history *history;
	struct error error;
	struct row row = {0};

	(void)state;
	make_row(&row, 2, 120000);
	history = ring_history(row.ring);
	assert_true(ring_bytes(row.ring) <= 120000);
	assert_true(count_rounds(row.ring) < ROUNDS);
	assert_true(count_rounds(row.ring) > 3);
	assert_int_equal(history_first(history, &oldest, &error), 0);
	assert_int_equal(history_last(history, &newest, &error), 0);
	assert_int_equal(newest.unix_ns, row.rounds[ROUNDS - 1]->captured_at_unix_ns);
	assert_int_equal(session_moment_make(history, &oldest, &newest, NULL, &moment, &error), 0);
	session_moment_release(moment);
	assert_int_equal(session_moment_make(history, NULL, &oldest, NULL, &moment, &error), 0);
	session_moment_release(moment);
	oldest.id--;
	assert_int_equal(session_moment_make(history, NULL, &oldest, NULL, &moment, &error), -ENOENT);
	assert_string_equal(error.text, "that round is no longer kept: the oldest ones make room");
	release_row(&row);
}

/* A base that made room, or never was there: nothing is counted from it, and all else is as ever. */
static void test_lost_base(void **state)
{
	struct history_round bases[2] = {0}, newest;
	struct session *past = session_create();
	struct history *history;
	struct error error;
	struct row row = {0};

	(void)state;
	make_row(&row, 2, 120000);
	history = ring_history(row.ring);
	assert_int_equal(history_first(history, &bases[1], &error), 0);
	bases[1].id--;
	assert_int_equal(history_last(history, &newest, &error), 0);
	for (size_t i = 0; i < ARRAY_COUNT(bases); i++) {
		struct session_moment *moment;
		const struct snapshot *previous;

		assert_int_equal(session_moment_make(history, &bases[i], &newest, NULL, &moment, &error), 0);
		session_show_moment(past, moment);
		assert_null(session_base(past));
		assert_null(session_window(past, WINDOW_MODE_BASE).from);
		assert_null(session_ended(past, WINDOW_MODE_BASE));
		previous = session_previous(past);
		assert_non_null(previous);
		assert_int_equal(previous->captured_at_unix_ns, row.rounds[ROUNDS - 2]->captured_at_unix_ns);
		assert_ptr_equal(session_window(past, WINDOW_MODE_INTERVAL).from, previous);
		session_set_base(past);
		assert_non_null(session_base(past));
	}
	session_release(past);
	release_row(&row);
}

/* A round that the screen never took is none: the next one goes on where the screen is. */
static void test_withdrawn(void **state)
{
	struct session *sessions[2] = {session_create(), session_create()};
	struct ring *ring = ring_create(RING_BYTES_DEFAULT);
	struct history *history = ring_history(ring);
	struct history_round round;
	struct session_moment *moment;
	struct error error;
	struct row row = {0};

	(void)state;
	make_row(&row, 5, RING_BYTES_DEFAULT);
	assert_int_equal(history_last(history, &round, &error), -ENODATA);
	for (int i = 0; i < 3; i++) {
		ring_add(ring, row.rounds[i]);
		if (i == 1) {
			ring_withdraw(ring, row.rounds[i]);
			continue;
		}
		ring_confirm(ring, row.rounds[i]);
		session_add_round(sessions[0], snapshot_reference(row.rounds[i]));
	}
	assert_int_equal(count_rounds(ring), 2);
	assert_int_equal(history_last(history, &round, &error), 0);
	assert_int_equal(session_moment_make(history, NULL, &round, NULL, &moment, &error), 0);
	session_show_moment(sessions[1], moment);
	expect_same_views(sessions, SAME_MOMENT);
	session_release(sessions[0]);
	session_release(sessions[1]);
	ring_release(ring);
	release_row(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_moment), cmocka_unit_test(test_recorded_moment),
		cmocka_unit_test(test_find),       cmocka_unit_test(test_bound),
		cmocka_unit_test(test_lost_base),  cmocka_unit_test(test_withdrawn),
	};

	/* a name that is found between two tables would make them differ */
	user_names_set_sources(NULL, NULL);
	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
