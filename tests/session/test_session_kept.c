/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live round takes over the names of the round before and says which threads moved. Its tables must equal
 * the tables of the same round made from scratch. Many rounds are compared in which threads start, move,
 * rename themselves and end: on every axis, filtered, narrowed and sorted.
 */
#include "tests/cmocka_include.h"

#include "random_world.h"
#include "snapshot/user_names.h"
#include "table/filter.h"

enum {
	ROUNDS = ADDRESS_SANITIZER ? 15 : 40,
	WORLDS = ADDRESS_SANITIZER ? 2 : 6,
	BEGINS_ANEW = 10, /* one round in so many has names of its own */
};

static const char *const filters[] = {
	"io",           "not web",       "thread = io-2",     "process = db or cgroup = /system.slice",
	"thread = io*", "cpu% > 0",      "state = D",         "user = 1 and not thread = main",
	"thr > 3",      "kworker or x7", "csw/s >= 0 and io", "tid > 3000 and /^(a|w)/",
};

/* Both sessions show the same of a view. Returns the table of the first, which the caller releases. */
static struct table *compare_tables(struct session *const sessions[2], const struct view *view)
{
	struct table *tables[2];

	for (size_t s = 0; s < 2; s++)
		tables[s] = session_table(sessions[s], view);
	expect_same_table(tables[0], tables[1], false);
	assert_int_equal(tables[0]->row_total, tables[1]->row_total);
	assert_int_equal(tables[0]->row_idle, tables[1]->row_idle);
	assert_int_equal(tables[0]->row_gone, tables[1]->row_gone);
	assert_int_equal(tables[0]->threads, tables[1]->threads);
	table_release(tables[1]);
	return tables[0];
}

static void choose_order(struct view *view)
{
	static const enum column columns[] = {COLUMN_CPU,  COLUMN_THR,  COLUMN_LOST,  COLUMN_RSS,
					      COLUMN_BORN, COLUMN_LONG, COLUMN_ENDED, COLUMN_STATE};

	view->sort = columns[random_below(ARRAY_COUNT(columns))];
	view->sort_by_name = one_in(4);
	view->sort_ascending = one_in(3);
	view->limit = one_in(3) ? 5 : 0;
}

static void choose_filter(struct view *view)
{
	struct error error = {""};

	if (one_in(3))
		return;
	view->filter = filter_parse(filters[random_below(ARRAY_COUNT(filters))], &error);
	if (view->filter == NULL)
		fail_msg("%s", error.text);
}

static void check_axis(struct session *const sessions[2], enum axis axis)
{
	struct view view;
	bool opened = true;

	view_initialise(&view);
	view.mode = (enum window_mode)random_below(WINDOW_MODE_COUNT);
	view.grouping.axis = axis;
	view.grouping.keep_thread_names = one_in(5);
	view.grouping.fold_containers = one_in(2);
	view.hide_kernel_threads = one_in(4);
	view.hide_idle = one_in(4);
	/* down to threads */
	for (size_t depth = 0; opened && depth <= VIEW_STEPS_MAX; depth++) {
		struct table *table;

		choose_order(&view);
		choose_filter(&view);
		table = compare_tables(sessions, &view);
		opened = table->row_count != 0;
		if (opened) {
			const struct table_row *row = &table->rows[random_below(table->row_count)];

			opened = view_open(&view, row->key, row->key_length, row->label, row->label_length);
		}
		table_release(table);
	}
	view_release(&view);
}

/* The next round of a world twice: as it goes on from the one before, and from scratch. */
static void make_rounds(const struct world *world, struct besides *besides, struct snapshot *const before[2],
			struct snapshot *ret_rounds[2])
{
	ret_rounds[1] = world_begin_round(world, besides, before[1]);
	besides->before = before[0];
	ret_rounds[0] = world_go_on(world, besides, one_in(BEGINS_ANEW) ? NULL : before[0]);
	/* whatever that was: what follows depends on the seed alone */
	random_state = besides->chance;
	if (before[0] != NULL)
		world_say_moved(ret_rounds[0], world, before[0]);
}

static void check_world(uint64_t seed)
{
	static struct world world;
	struct session *const sessions[2] = {session_create(), session_create()};
	struct besides besides = {.telling = (enum telling)(seed % TELLINGS), .busy_ticks = 5000};
	struct snapshot *before[2] = {NULL, NULL};
	size_t alike = 0;

	world_begin(&world, seed);
	for (int round = 0; round < ROUNDS; round++) {
		struct snapshot *rounds[2];

		make_rounds(&world, &besides, before, rounds);
		alike += before[0] != NULL && rounds[0]->names_serial == before[0]->names_serial;
		for (size_t s = 0; s < 2; s++) {
			snapshot_release(before[s]);
			before[s] = snapshot_reference(rounds[s]);
			session_add_round(sessions[s], rounds[s]);
		}
		if (one_in(world.is_quiet ? 15 : 8)) {
			session_set_base(sessions[0]);
			session_set_base(sessions[1]);
		}
		for (int axis = 0; axis < AXIS_COUNT; axis++)
			check_axis(sessions, (enum axis)axis);
		/* no explanations: of equally many threads the value with the lower id comes first */
		expect_same_mode(sessions, (enum window_mode)random_below(WINDOW_MODE_COUNT), SAME_FILE);
		world_end_round(&world, &besides);
	}
	assert_in_range(alike, ROUNDS / 2, ROUNDS);
	for (size_t s = 0; s < 2; s++) {
		snapshot_release(before[s]);
		session_release(sessions[s]);
	}
}

static void test_kept_names(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++)
		check_world(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_names)};

	/* a name that is found between two tables would make them differ */
	user_names_set_sources(NULL, NULL);
	return cmocka_run_group_tests_name("session_kept", tests, NULL, NULL);
}
