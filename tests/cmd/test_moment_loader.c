/* SPDX-License-Identifier: GPL-2.0-only */
/* Moments of a history that is damaged: what is whole is shown, and what is not is said. */
#include "history/history_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/line/history_moment.h"
#include "cmd/live/moment_loader.h"
#include "cmd/live/moment_strip.h"
#include "session/joined_history.h"
#include "session/ring.h"
#include "session/session_internal.h"

enum {
	ROUNDS = 60,
	DAMAGED = 20,
};

struct damaged {
	char *directory;
	struct history *history;
	struct moment_loader *loader;
	struct session *session;
	struct ui_moment shown; /* the last one, its moment is in the session */
};

/* A history of which one round is damaged. */
static void begin(struct damaged *damaged, int which)
{
	struct day_image image;

	*damaged = (struct damaged){.directory = fixture_record(ROUNDS), .session = session_create()};
	image = fixture_image(damaged->directory);
	day_image_damage(&image, day_image_frame(&image, IMAGE_ROUND, which));
	fixture_put_image(damaged->directory, &image);
	damaged->history = fixture_open(damaged->directory);
	/* nothing is asked of a task */
	damaged->loader = moment_loader_create(damaged->history, NULL, NULL);
}

static void clear(struct damaged *damaged)
{
	free(damaged->shown.note);
	free(damaged->shown.message);
	damaged->shown = (struct ui_moment){0};
}

static void end(struct damaged *damaged)
{
	clear(damaged);
	session_release(damaged->session);
	moment_loader_release(damaged->loader);
	history_close(damaged->history);
	fixture_remove(damaged->directory);
}

/* Looks at a moment. Returns which round it is. */
static uint64_t look(struct damaged *damaged, struct ui_look look)
{
	struct error error;

	clear(damaged);
	if (moment_loader_begin(damaged->loader, &look, &damaged->shown, &error) < 0)
		fail_msg("%s", error.text);
	assert_non_null(damaged->shown.moment);
	session_show_moment(damaged->session, damaged->shown.moment);
	return fixture_number(&fixture_host, damaged->shown.unix_ns);
}

static uint64_t look_at(struct damaged *damaged, uint64_t number, uint64_t base)
{
	return look(damaged, (struct ui_look){.kind = UI_LOOK_TIME,
					      .unix_ns = fixture_unix_ns(&fixture_host, number),
					      .base_unix_ns = fixture_unix_ns(&fixture_host, base)});
}

static bool misses_ended(const struct damaged *damaged)
{
	const struct ended *ended = session_ended(damaged->session, WINDOW_MODE_BASE);

	return ended != NULL && ended->incomplete;
}

static void expect_gap(const struct damaged *damaged)
{
	assert_null(session_previous(damaged->session));
	assert_non_null(damaged->shown.note);
	assert_non_null(strstr(damaged->shown.note, " before are damaged"));
}

/* Over damaged rounds there is no interval, and what ended in them is missing: also once they are known. */
static void test_hole(void **state)
{
	struct damaged damaged;
	uint64_t next;

	(void)state;
	begin(&damaged, DAMAGED);
	assert_int_equal(look_at(&damaged, DAMAGED - 1, 5), DAMAGED - 1);
	assert_non_null(session_previous(damaged.session));
	assert_null(damaged.shown.note);
	assert_false(misses_ended(&damaged));
	next = look(&damaged, (struct ui_look){.kind = UI_LOOK_STEP, .amount = 1});
	assert_in_range(next, DAMAGED + 1, DAMAGED + 12);
	expect_gap(&damaged);
	assert_null(damaged.shown.message);
	/* from the rounds before it to those behind it */
	assert_int_equal(look_at(&damaged, next + 3, 5), next + 3);
	assert_non_null(session_previous(damaged.session));
	assert_null(damaged.shown.note);
	assert_true(misses_ended(&damaged));
	/* between whole ones nothing is missing */
	assert_int_equal(look_at(&damaged, next + 3, next), next + 3);
	assert_false(misses_ended(&damaged));
	end(&damaged);
}

/* A time in a gap leads to the nearest round with a message, a recorded time without one. */
static void test_nearest(void **state)
{
	struct damaged damaged;
	struct history_writer *writer;

	(void)state;
	begin(&damaged, DAMAGED);
	writer = fixture_writer(damaged.directory, NULL);
	fixture_add_rounds(writer, &fixture_host, 2 * (uint64_t)ROUNDS, 2 * (uint64_t)ROUNDS + 3);
	history_writer_close(writer);
	assert_int_equal(look_at(&damaged, ROUNDS + 5, 5), ROUNDS - 1);
	assert_non_null(strstr(damaged.shown.message, "nothing was recorded at "));
	assert_int_equal(look_at(&damaged, 2 * (uint64_t)ROUNDS - 1, 5), 2 * (uint64_t)ROUNDS);
	assert_non_null(strstr(damaged.shown.message, " later"));
	assert_int_equal(look_at(&damaged, ROUNDS - 1, 5), ROUNDS - 1);
	assert_null(damaged.shown.message);
	end(&damaged);
}

/* Nobody met it before, and the round is the first one behind it. */
static void test_behind(void **state)
{
	struct damaged damaged, other;
	uint64_t next;

	(void)state;
	begin(&damaged, DAMAGED);
	next = look_at(&damaged, DAMAGED, 5);
	assert_non_null(strstr(damaged.shown.message, "what was recorded "));
	assert_true(next == DAMAGED - 1);
	next = look(&damaged, (struct ui_look){.kind = UI_LOOK_STEP, .amount = 1});
	begin(&other, DAMAGED);
	assert_int_equal(look_at(&other, next, 5), next);
	assert_null(other.shown.message);
	expect_gap(&other);
	assert_true(misses_ended(&other));
	end(&other);
	end(&damaged);
}

/* One damaged round shuts no history. */
static void test_newest(void **state)
{
	struct history_moment moment;
	struct damaged damaged;
	struct error error = {0};
	char *name;

	(void)state;
	begin(&damaged, ROUNDS - 1);
	name = memory_format("%s@now", damaged.directory);
	assert_int_equal(look(&damaged, (struct ui_look){.kind = UI_LOOK_NEWEST, .from_newest = true}),
			 ROUNDS - 2);
	assert_true(damaged.shown.is_newest);
	assert_non_null(strstr(damaged.shown.message, "damaged"));
	assert_int_equal(history_moment_read(name, fixture_unix_ns(&fixture_host, ROUNDS), false, false,
					     &moment, &error),
			 -ENODATA);
	assert_non_null(strstr(error.text, " cannot be read: the nearest round that can is of "));
	if (history_moment_read(name, fixture_unix_ns(&fixture_host, ROUNDS), false, true, &moment, &error) <
	    0)
		fail_msg("%s", error.text);
	fixture_assert_round(moment.snapshot, &fixture_host, ROUNDS - 2);
	assert_non_null(moment.note);
	assert_non_null(strstr(moment.note, " cannot be read: "));
	snapshot_release(moment.snapshot);
	free(moment.name);
	free(moment.note);
	free(name);
	end(&damaged);
}

/* When a live screen goes back past its own rounds, a note says where the older ones were recorded. */
static void test_recorder(void **state)
{
	struct ring *ring = ring_create(RING_BYTES_DEFAULT);
	struct damaged live = {.directory = fixture_record(ROUNDS), .session = session_create()};
	const char *directory = live.directory;
	char *expected = memory_format("recorded in %s", directory);

	(void)state;
	for (uint64_t number = ROUNDS - 10; number < ROUNDS + 10; number++) {
		struct snapshot *round = fixture_round(&fixture_host, number);

		ring_add(ring, round);
		ring_confirm(ring, round);
		snapshot_release(round);
	}
	live.history = joined_history_create(ring_history(ring), &directory, 1);
	live.loader = moment_loader_create(live.history, NULL, NULL);
	assert_int_equal(
		look(&live, (struct ui_look){.kind = UI_LOOK_STEP, .amount = -1, .from_newest = true}),
		ROUNDS + 8);
	assert_null(live.shown.note);
	/* 18 rounds */
	assert_int_equal(
		look(&live, (struct ui_look){.kind = UI_LOOK_SPAN, .amount = -90 * (int64_t)NS_PER_S}),
		ROUNDS - 10);
	assert_string_equal(live.shown.note, "the oldest round of this screen, without rates");
	assert_int_equal(
		look(&live, (struct ui_look){.kind = UI_LOOK_SPAN, .amount = -60 * (int64_t)NS_PER_S}),
		ROUNDS - 22);
	assert_string_equal(live.shown.note, expected);
	assert_non_null(session_previous(live.session));
	assert_int_equal(look(&live, (struct ui_look){.kind = UI_LOOK_NEWEST}), ROUNDS + 9);
	assert_null(live.shown.note);
	assert_true(live.shown.is_newest);
	clear(&live);
	session_release(live.session);
	moment_loader_release(live.loader);
	joined_history_release(live.history);
	ring_release(ring);
	free(expected);
	fixture_remove(live.directory);
}

/* The rounds that courses were made of are not kept decoded: a screen of now asks for none of them again. */
static void test_courses(void **state)
{
	enum {
		KEPT = 20,
		WANTED = 6,
	};
	struct ring *ring = ring_create(RING_BYTES_DEFAULT);
	struct history *history = joined_history_create(ring_history(ring), NULL, 0);
	struct tasks *tasks = tasks_create();
	struct moment_loader *loader;
	struct ui_event event;
	struct queue *queue;
	struct error error;
	struct view view;
	size_t count = 0;

	(void)state;
	assert_int_equal(queue_create(sizeof(struct ui_event), ui_event_discard, &queue, &error), 0);
	for (uint64_t number = 0; number < KEPT; number++) {
		struct snapshot *round = fixture_round(&fixture_host, number);

		ring_add(ring, round);
		ring_confirm(ring, round);
		snapshot_release(round);
	}
	view_initialise(&view);
	loader = moment_loader_create(history, tasks, queue);
	moment_loader_request_courses(
		loader, &(struct ui_courses_request){.rounds = WANTED, .view = &view, .column = COLUMN_CPU});
	assert_true(tasks_stop(tasks, clock_ns(CLOCK_MONOTONIC) + 60 * NS_PER_S));
	for (; queue_take(queue, &event); count++) {
		assert_int_equal(event.kind, UI_EVENT_COURSES);
		assert_int_equal(event.courses.unix_ns, fixture_unix_ns(&fixture_host, KEPT - 1 - count));
		ui_event_discard(&event);
	}
	assert_int_equal(count, WANTED);
	assert_int_equal(fixture_count_decoded(history), 0);
	assert_int_equal(fixture_count_decoded(ring_history(ring)), 0);
	moment_loader_release(loader);
	view_release(&view);
	joined_history_release(history);
	tasks_release(tasks);
	queue_release(queue);
	ring_release(ring);
}

/* Tables of kept rounds are made in another thread, while the screen goes on reading command lines. */
static void test_nothing_is_lent(void **state)
{
	const enum column column = COLUMN_RUNQ;
	struct lookup_cache commands = {0};
	struct view screen, copy;

	(void)state;
	view_initialise(&screen);
	screen.commands = &commands;
	screen.kept_key = "a row";
	moment_strip_copy_view(&copy, &screen, &column);
	assert_null(copy.commands);
	assert_null(copy.kept_key);
	assert_int_equal(copy.columns[0], column);
	view_release(&copy);
	view_release(&screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_recorder),
		cmocka_unit_test(test_courses),
		cmocka_unit_test(test_nothing_is_lent),
	};

	return cmocka_run_group_tests_name("moment loader", tests, NULL, NULL);
}
