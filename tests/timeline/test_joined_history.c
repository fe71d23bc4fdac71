/* SPDX-License-Identifier: GPL-2.0-only */
/* The rounds of a screen and of a recorder as one history: each round appears once, with its origin. */
#include "tests/history/history_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/joined_history.h"
#include "session/moment.h"
#include "session/ring.h"
#include "session/session_internal.h"

enum {
	RECORDED = 40, /* rounds of the recorder, from number 0 on */
	OWN_FROM = 30, /* the screen began while the recorder was running */
	OWN_TO = 45,
};

struct world {
	char *directory;
	struct ring *ring;
	struct history *history;
};

static void add_own(struct ring *ring, uint64_t from, uint64_t to)
{
	for (uint64_t number = from; number < to; number++) {
		struct snapshot *round = fixture_round(&fixture_host, number);

		ring_add(ring, round);
		ring_confirm(ring, round);
		snapshot_release(round);
	}
}

static struct history *join(struct ring *ring, const char *directory)
{
	return joined_history_create(ring_history(ring), &directory, 1);
}

static void begin(struct world *world, uint64_t bytes)
{
	world->directory = fixture_record(RECORDED);
	world->ring = ring_create(bytes);
	add_own(world->ring, OWN_FROM, OWN_TO);
	world->history = join(world->ring, world->directory);
}

static void end(struct world *world)
{
	joined_history_release(world->history);
	ring_release(world->ring);
	fixture_remove(world->directory);
}

static bool is_recorded(const struct world *world, const struct history_round *round)
{
	const char *directory = history_directory_of(world->history, round);

	if (directory != NULL)
		assert_string_equal(directory, world->directory);
	return directory != NULL;
}

static struct history_round find(const struct world *world, uint64_t number)
{
	const struct history_round round = fixture_find(
		world->history, fixture_unix_ns(&fixture_host, number), HISTORY_NEAREST);

	assert_int_equal(fixture_number(&fixture_host, round.unix_ns), number);
	return round;
}

/* Steps in both directions meet every round once, unchanged. */
static void test_walk(void **state)
{
	struct history_round round, next;
	struct world world;

	(void)state;
	begin(&world, RING_BYTES_DEFAULT);
	assert_int_equal(history_last(world.history, &round, NULL), 0);
	for (uint64_t number = OWN_TO - 1; number > 0; number--, round = next) {
		assert_int_equal(fixture_number(&fixture_host, round.unix_ns), number);
		assert_int_equal(is_recorded(&world, &round), number < OWN_FROM);
		fixture_expect_read(world.history, &round, &fixture_host, number);
		assert_int_equal(history_step(world.history, &round, -1, &next, NULL), 0);
	}
	assert_int_equal(history_step(world.history, &round, -1, &next, NULL), 0);
	assert_true(history_is_same(&round, &next));
	assert_int_equal(history_first(world.history, &next, NULL), 0);
	assert_true(history_is_same(&round, &next));
	for (uint64_t number = 0; number < OWN_TO; number++, round = next) {
		assert_int_equal(fixture_number(&fixture_host, round.unix_ns), number);
		assert_int_equal(is_recorded(&world, &round), number < OWN_FROM);
		assert_int_equal(history_step(world.history, &round, 1, &next, NULL), 0);
	}
	assert_true(history_is_same(&round, &next));
	end(&world);
}

/* A time leads to the screen's round if it has one, and to the recorder's round otherwise. */
static void test_find(void **state)
{
	struct history_round rounds[3], *range;
	struct world world;
	size_t count;

	(void)state;
	begin(&world, RING_BYTES_DEFAULT);
	rounds[0] = find(&world, OWN_FROM - 1);
	rounds[1] = find(&world, OWN_FROM);
	rounds[2] = find(&world, OWN_FROM + 1);
	assert_true(is_recorded(&world, &rounds[0]));
	assert_false(is_recorded(&world, &rounds[1]));
	/* tasks that ended between the two rounds are unknown, but the boot is the same */
	assert_false(history_adjoins(world.history, &rounds[0], &rounds[1]));
	assert_true(history_adjoins(world.history, &rounds[1], &rounds[2]));
	assert_true(history_is_one_start(world.history, &rounds[0], &rounds[1]));
	rounds[0] = find(&world, OWN_FROM - 2);
	rounds[1] = find(&world, OWN_FROM - 1);
	assert_true(history_adjoins(world.history, &rounds[0], &rounds[1]));
	assert_int_equal(history_range(world.history, fixture_unix_ns(&fixture_host, OWN_FROM - 5),
				       fixture_unix_ns(&fixture_host, OWN_FROM + 5), &range, &count, NULL),
			 0);
	assert_int_equal(count, 11);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(fixture_number(&fixture_host, range[i].unix_ns), OWN_FROM - 5 + i);
		assert_int_equal(is_recorded(&world, &range[i]), i < 5);
	}
	free(range);
	end(&world);
}

/* Rounds that no longer fit in the screen's ring come from the recorder. */
static void test_forgotten(void **state)
{
	struct history_round oldest, before;
	struct world world;
	struct error error;
	uint64_t bytes;

	(void)state;
	begin(&world, RING_BYTES_DEFAULT);
	bytes = ring_bytes(world.ring);
	end(&world);
	begin(&world, 2 * bytes);
	oldest = find(&world, OWN_FROM);
	assert_false(is_recorded(&world, &oldest));
	add_own(world.ring, OWN_TO, OWN_TO + 40);
	assert_int_equal(history_first(ring_history(world.ring), &before, &error), 0);
	assert_true(fixture_number(&fixture_host, before.unix_ns) > RECORDED);
	/* steps from a dropped round to the one before it */
	assert_int_equal(history_step(world.history, &oldest, -1, &before, &error), 0);
	assert_int_equal(fixture_number(&fixture_host, before.unix_ns), OWN_FROM - 1);
	assert_true(is_recorded(&world, &before));
	before = find(&world, RECORDED - 1);
	assert_true(is_recorded(&world, &before));
	end(&world);
}

/* Without a readable history only the screen's rounds are there; a history that begins later is found. */
static void test_none_yet(void **state)
{
	char *directory = fixture_directory();
	char *path = memory_format("%s/history", directory);
	struct ring *ring = ring_create(RING_BYTES_DEFAULT);
	struct history *history = join(ring, path);
	struct history_writer *writer;
	struct history_round round;
	struct history_marks marks;
	struct error error;

	(void)state;
	assert_int_not_equal(history_last(history, &round, &error), 0);
	add_own(ring, OWN_FROM, OWN_TO);
	assert_int_equal(history_first(history, &round, &error), 0);
	assert_int_equal(fixture_number(&fixture_host, round.unix_ns), OWN_FROM);
	assert_int_not_equal(history_marks_read(history, 0, UINT64_MAX, &marks, &error), 0);
	assert_non_null(strstr(error.text, "there are no marks"));
	history_marks_release(&marks);
	writer = fixture_writer(path, NULL);
	fixture_add_rounds(writer, &fixture_host, 0, 3);
	assert_int_equal(
		history_writer_mark(writer,
				    &(struct history_mark){.unix_ns = fixture_unix_ns(&fixture_host, 1),
							   .kind = "rule",
							   .text = "a rule"},
				    &error),
		0);
	history_writer_close(writer);
	assert_int_equal(history_first(history, &round, &error), 0);
	assert_int_equal(fixture_number(&fixture_host, round.unix_ns), 0);
	assert_int_equal(history_marks_read(history, 0, UINT64_MAX, &marks, &error), 0);
	assert_int_equal(marks.count, 1);
	history_marks_release(&marks);
	joined_history_release(history);
	ring_release(ring);
	free(path);
	fixture_remove(directory);
}

/* If two histories can be read, the one with the newest round is used. */
static void test_newest(void **state)
{
	char *older = fixture_record(3), *newer = fixture_record(6);
	const char *const directories[] = {older, newer};
	struct ring *ring = ring_create(RING_BYTES_DEFAULT);
	struct history *history;
	struct history_round round;
	struct error error;

	(void)state;
	add_own(ring, OWN_FROM, OWN_TO);
	for (int i = 0; i < 2; i++) {
		const char *const swapped[] = {directories[1 - i], directories[i]};

		history = joined_history_create(ring_history(ring), swapped, 2);
		assert_int_equal(history_first(history, &round, &error), 0);
		assert_string_equal(history_directory_of(history, &round), newer);
		joined_history_release(history);
	}
	ring_release(ring);
	fixture_remove(older);
	fixture_remove(newer);
}

/* A base may be a round of the recorder; tasks that ended between the two histories are missing. */
static void test_base(void **state)
{
	struct history_round base, round;
	struct session *session;
	struct world world;
	struct error error;

	(void)state;
	begin(&world, RING_BYTES_DEFAULT);
	base = find(&world, 10);
	round = find(&world, OWN_FROM + 3);
	if (session_open_moment(world.history, &base, &round, NULL, &session, &error) < 0)
		fail_msg("%s", error.text);
	assert_non_null(session_previous(session));
	assert_non_null(session_base(session));
	assert_true(session_ended(session, WINDOW_MODE_BASE)->incomplete);
	session_release(session);
	/* the screen's first round has nothing to count from */
	round = find(&world, OWN_FROM);
	if (session_open_moment(world.history, NULL, &round, NULL, &session, &error) < 0)
		fail_msg("%s", error.text);
	assert_null(session_previous(session));
	session_release(session);
	end(&world);
}

/* A base that is no longer kept fails with -ENODATA, with or without a recorder's history. */
static void test_lost_base(void **state)
{
	static const struct history_round lost = {0};
	char *recorded = fixture_record(3), *empty = fixture_directory();
	struct ring *ring = ring_create(RING_BYTES_DEFAULT);

	(void)state;
	add_own(ring, OWN_FROM, OWN_TO);
	for (int i = 0; i < 2; i++) {
		struct history *history = join(ring, i == 0 ? empty : recorded);
		struct history_round round;
		struct session *session;
		struct error error;

		assert_int_equal(history_first(history, &round, &error), 0);
		assert_int_equal(history_last(history, &round, &error), 0);
		assert_int_equal(session_open_moment(history, &lost, &round, NULL, &session, &error),
				 -ENODATA);
		joined_history_release(history);
	}
	ring_release(ring);
	fixture_remove(recorded);
	fixture_remove(empty);
}

/* Hosts may share a home directory: what another host recorded is not part of this host's past. */
static void test_other_host(void **state)
{
	static const struct {
		const char *host, *boot_id;
		bool is_taken;
	} cases[] = {
		{"another", "another", false},
		{"another", NULL, true}, /* this host was renamed */
		{NULL, "another", true}, /* this host was restarted */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *directory = fixture_directory();
		struct history_writer *writer = fixture_writer(directory, NULL);
		struct ring *ring = ring_create(RING_BYTES_DEFAULT);
		struct history *history = join(ring, directory);
		struct fixture_host recorded = fixture_host;
		struct history_round round;

		if (cases[i].host != NULL)
			recorded.host = cases[i].host;
		if (cases[i].boot_id != NULL)
			recorded.boot_id = cases[i].boot_id;
		fixture_add_rounds(writer, &recorded, 0, 3);
		history_writer_close(writer);
		add_own(ring, OWN_FROM, OWN_TO);
		assert_int_equal(history_first(history, &round, NULL), 0);
		assert_int_equal(history_directory_of(history, &round) != NULL, cases[i].is_taken);
		joined_history_release(history);
		ring_release(ring);
		fixture_remove(directory);
	}
}

/* Decoded rounds are given up in both histories, and what is read afterwards is the same. */
static void test_decoded_given_up(void **state)
{
	const struct history *own;
	struct world world;

	(void)state;
	begin(&world, RING_BYTES_DEFAULT);
	own = ring_history(world.ring);
	for (int i = 0; i < 2; i++) {
		const struct history_round last = find(&world, OWN_FROM - 1), first = find(&world, OWN_FROM);

		fixture_expect_read(world.history, &last, &fixture_host, OWN_FROM - 1);
		fixture_expect_read(world.history, &first, &fixture_host, OWN_FROM);
		assert_int_not_equal(fixture_count_decoded(world.history), 0);
		assert_int_not_equal(fixture_count_decoded(own), 0);
		history_forget_decoded(world.history);
		assert_int_equal(fixture_count_decoded(world.history), 0);
		assert_int_equal(fixture_count_decoded(own), 0);
	}
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_none_yet),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_lost_base),
		cmocka_unit_test(test_other_host),
		cmocka_unit_test(test_decoded_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
