/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a view: marks, narrowing, order, filters, and that groups add up. */
#include "session_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Marks: what is new, what went, the largest rises by half or more. */
static struct snapshot *marks_round(int round)
{
	static const struct {
		const char *name;
		int from, until;
		uint64_t run[3];
	} jobs[] = {
		{"steady", 0, 3, {0, 100, 200}}, {"riser", 0, 3, {0, 10, 110}},
		{"second", 0, 3, {0, 10, 60}},   {"third", 0, 3, {0, 10, 50}},
		{"fourth", 0, 3, {0, 10, 40}},   {"little", 0, 3, {0, 100, 240}},
		{"leaves", 0, 2, {0, 77, 0}},    {"comes", 2, 3, {0, 0, 500}},
	};
	struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (round < jobs[i].from || round >= jobs[i].until)
			continue;
		fixture_set(snapshot,
			    fixture_thread(snapshot, 10 + i, 10 + i, jobs[i].name, jobs[i].name,
					   jobs[i].from > 0 ? 103 : 1),
			    METRIC_RUN_TIME_NS, MS(jobs[i].run[round]));
	}
	return snapshot;
}

static void test_marks(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 3; round++) {
		session_add_round(session, marks_round(round));
		table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
		/* asking again changes nothing */
		table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	}
	assert_int_equal(table->row_count, 8);
	assert_int_equal(fixture_row(table, "comes")->mark, ROW_MARK_NEW);
	assert_int_equal(fixture_row(table, "leaves")->mark, ROW_MARK_GONE);
	assert_int_equal(fixture_row(table, "leaves")->threads, 0);
	/* without a number it stands behind those that have one, and is no group */
	assert_string_equal(table->rows[7].label, "leaves");
	assert_int_equal(table->row_gone, 1);
	assert_string_equal(fixture_shown(table, "leaves", COLUMN_CPU), "·");
	assert_int_equal(fixture_cell(table, "leaves", COLUMN_CPU)->reason, REASON_ENDED);
	assert_int_equal(fixture_row(table, "riser")->mark, ROW_MARK_MOVER);
	assert_int_equal(fixture_row(table, "second")->mark, ROW_MARK_MOVER);
	assert_int_equal(fixture_row(table, "third")->mark, ROW_MARK_MOVER);
	assert_int_equal(fixture_row(table, "fourth")->mark, ROW_MARK_NONE);
	assert_int_equal(fixture_row(table, "steady")->mark, ROW_MARK_NONE);
	assert_int_equal(fixture_row(table, "little")->mark, ROW_MARK_NONE);
	session_add_round(session, marks_round(2));
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	assert_false(fixture_has_row(table, "leaves"));
	session_release(session);
}

/* Spells a number as a name of eight letters. */
static void spell(uint64_t number, char name[static 9])
{
	for (size_t i = 0; i < 8; i++, number /= 26)
		name[i] = (char)('a' + number % 26);
	name[8] = '\0';
}

/* Finds two names with one hash (seeded per run): 100,000 names have such a pair with probability 0.7. */
static void find_alike(char first[static 9], char second[static 9])
{
	struct hash_map numbers = {0};
	uint32_t other;

	for (uint32_t number = 0;; number++) {
		uint32_t hash;

		spell(number, second);
		hash = hash_bytes(second, strlen(second));
		if (hash_map_get(&numbers, hash, &other))
			break;
		hash_map_set(&numbers, hash, number);
	}
	spell(other, first);
	hash_map_release(&numbers);
}

/* A group that replaces another one with the same hash is marked new, and the other one gone. */
static void test_marks_of_one_hash(void **state)
{
	struct session *session = session_create();
	struct table *table;
	char names[2][9];

	(void)state;
	find_alike(names[0], names[1]);
	for (uint32_t round = 0; round < 3; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		for (uint32_t i = 0; i < 2; i++) {
			/* the second group comes last, after the first has gone */
			if ((i == 0) == (round < 2))
				fixture_set(snapshot,
					    fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i],
							   i == 0 ? 1 : 103),
					    METRIC_RUN_TIME_NS, MS(100 * (round + 1)));
		}
		session_add_round(session, snapshot);
		table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	}
	assert_int_equal(fixture_row(table, names[1])->mark, ROW_MARK_NEW);
	assert_int_equal(fixture_row(table, names[0])->mark, ROW_MARK_GONE);
	session_release(session);
}

/* New and gone rows stay marked when the order changes. Rises are compared only within one order. */
static void test_marks_in_another_order(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	for (int round = 0; round < 3; round++) {
		session_add_round(session, marks_round(round));
		view.sort = COLUMN_CPU;
		(void)fixture_table_of(session, &view);
		view.sort = COLUMN_THR;
		table = fixture_table_of(session, &view);
		assert_int_equal(table->row_count, round == 2 ? 8 : 7);
		for (size_t i = 0; i < table->row_count; i++)
			assert_int_not_equal(table->rows[i].mark, ROW_MARK_MOVER);
	}
	assert_int_equal(fixture_row(table, "comes")->mark, ROW_MARK_NEW);
	assert_int_equal(fixture_row(table, "leaves")->mark, ROW_MARK_GONE);
	/* of the round before only threads were noted last */
	view.sort = COLUMN_CPU;
	table = fixture_table_of(session, &view);
	assert_int_equal(fixture_row(table, "comes")->mark, ROW_MARK_NEW);
	assert_int_equal(fixture_row(table, "riser")->mark, ROW_MARK_NONE);
	session_release(session);
	/* the last order of a round is the one that the next is compared with, though it was not the first */
	session = session_create();
	for (int round = 0; round < 3; round++) {
		session_add_round(session, marks_round(round));
		view.sort = COLUMN_THR;
		if (round < 2)
			(void)fixture_table_of(session, &view);
		view.sort = COLUMN_CPU;
		table = fixture_table_of(session, &view);
	}
	assert_int_equal(fixture_row(table, "riser")->mark, ROW_MARK_MOVER);
	session_release(session);
}

/* A round that nobody looked at leaves nothing to compare with. */
static void test_marks_after_gap(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	session_add_round(session, marks_round(0));
	(void)fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	session_add_round(session, marks_round(1));
	session_add_round(session, marks_round(2));
	table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
	assert_int_equal(table->row_count, 7);
	for (size_t i = 0; i < table->row_count; i++)
		assert_int_equal(table->rows[i].mark, ROW_MARK_NONE);
	session_release(session);
}

/* Once a pattern has had two threads it stays one. */
static void test_sticky_pattern(void **state)
{
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fixture_thread(snapshot, 10, 10, "worker-1", "worker-1", 1);
		if (round == 0)
			fixture_thread(snapshot, 11, 11, "worker-2", "worker-2", 1);
		fixture_thread(snapshot, 12, 12, "single-7", "single-7", 1);
		session_add_round(session, snapshot);
		table = fixture_table(session, TAB_OVERVIEW, WINDOW_MODE_RATE);
		assert_true(fixture_has_row(table, "worker-{N}"));
		assert_true(fixture_has_row(table, "single-7"));
	}
	session_release(session);
}

/* Narrowing: process, then its thread patterns, then its threads; kernel threads can be hidden. */
static void fill_tree(struct snapshot *snapshot, int round)
{
	size_t thread;

	static const char *const names[] = {"io-1", "io-2", "cpu-1", "cpu-2"};

	for (uint32_t i = 0; i < 4; i++) {
		thread = fixture_thread(snapshot, 10, 10 + i, "engine", names[i], 1);
		fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(100) * (i + 1) * (uint64_t)round);
	}
	thread = fixture_thread(snapshot, 30, 30, "other", "io-1", 1);
	fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, MS(50) * (uint64_t)round);
	thread = fixture_thread(snapshot, 40, 40, "kworker", "kworker", 1);
	snapshot->thread_flags[thread] |= THREAD_KERNEL;
}

static void test_narrowing(void **state)
{
	struct session *session = fixture_two_rounds(fill_tree);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;
	char *key;
	size_t length;

	(void)state;
	view.hide_kernel_threads = true;
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_true(view_open(&view, "engine", 6, "engine", 6));
	assert_int_equal(view.grouping.axis, AXIS_PID);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_string_equal(table->rows[0].key, "10:100");
	assert_string_equal(table->rows[0].label, "10 engine");
	assert_int_equal(table->rows[0].tgid, 10);
	assert_true(view_open(&view, table->rows[0].key, 6, table->rows[0].label, 9));
	assert_int_equal(view.grouping.axis, AXIS_THREAD);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_string_equal(fixture_shown(table, "io-{N}", COLUMN_THR),
			    "2"); /* not that of the other process */
	assert_string_equal(fixture_shown(table, "cpu-{N}", COLUMN_CPU), "35.0");
	assert_true(view_open(&view, "cpu-{N}", 7, "cpu-{N}", 7));
	assert_int_equal(view.level, VIEW_LEVEL_THREADS);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_int_equal(table->rows[0].tid, 13);
	assert_int_equal(table->rows[0].tgid, 10);
	assert_string_equal(table->rows[0].key, "13:100");
	assert_int_equal(table->rows[1].tid, 12);
	key = view_close(&view, &length);
	assert_string_equal(key, "cpu-{N}");
	free(key);
	assert_int_equal(view.step_count, 2);
	free(view_close(&view, &length));
	key = view_close(&view, &length);
	assert_non_null(key);
	free(key);
	assert_null(view_close(&view, &length));
	view_release(&view);
	session_release(session);
}

/* Order is total: ties by name, what has no value last in either direction; limit keeps the total. */
static void fill_order(struct snapshot *snapshot, int round)
{
	const char *const names[] = {"d", "b", "a", "c"};

	for (uint32_t i = 0; i < 4; i++)
		fixture_set(snapshot, fixture_thread(snapshot, 10 + i, 10 + i, names[i], names[i], 1),
			    METRIC_RUN_TIME_NS, MS(round * (i == 0 ? 20 : 10)));
	snapshot_add_exception(snapshot, 2, METRIC_RUN_TIME_NS, REASON_BAD_VALUE);
}

static void assert_order(struct session *session, const struct view *view, const char *expected)
{
	struct table *table = fixture_table_of(session, view);

	for (size_t i = 0; i < table->row_count; i++)
		assert_int_equal(table->rows[i].label[0], expected[i]);
	assert_int_equal(table->row_count, strlen(expected));
	assert_int_equal(table->row_total, 4);
}

static void test_order(void **state)
{
	struct session *session = fixture_two_rounds(fill_order);
	struct table *all, *limited;
	struct view view;

	(void)state;
	for (int threads = 0; threads < 2; threads++) {
		view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
		view.level = threads ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
		assert_order(session, &view, "dbca");
		view.sort_ascending = true;
		assert_order(session, &view, "bcda");
		view.sort_by_name = true;
		assert_order(session, &view, "abcd");
		view.sort_ascending = false;
		assert_order(session, &view, "dcba");
		view.sort_by_name = false;
		view.limit = 2;
		assert_order(session, &view, "db");
	}
	/* shares are those of all groups */
	view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	all = fixture_table_of(session, &view);
	view.limit = 1;
	limited = fixture_table_of(session, &view);
	assert_true(all->columns[fixture_column(all, COLUMN_CPU)].whole > 0);
	assert_true(limited->columns[fixture_column(limited, COLUMN_CPU)].whole ==
		    all->columns[fixture_column(all, COLUMN_CPU)].whole);
	session_release(session);
}

/* By name, rows that are gone have their places among the others. */
static void test_order_of_gone(void **state)
{
	const char *const names[] = {"bcdef", "acf"};
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	view.sort_by_name = true;
	for (int threads = 0; threads < 2; threads++) {
		struct session *session = session_create();

		view.level = threads ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
		for (uint64_t round = 0; round < 2; round++) {
			struct snapshot *snapshot = fixture_snapshot(round == 0 ? 100 : 102);

			for (const char *name = names[round]; *name != '\0'; name++)
				fixture_thread(snapshot, (uint32_t)*name, (uint32_t)*name,
					       (const char[]){*name, '\0'}, (const char[]){*name, '\0'}, 1);
			session_add_round(session, snapshot);
			(void)fixture_table_of(session, &view);
		}
		for (view.limit = 0; view.limit <= 4; view.limit += 4) {
			const struct table *table;

			view.sort_ascending = true;
			table = fixture_table_of(session, &view);
			assert_int_equal(table->row_gone, 3);
			for (size_t i = 0; i < table->row_count; i++)
				assert_int_equal(table->rows[i].label[0], "abcdef"[i]);
			view.sort_ascending = false;
			table = fixture_table_of(session, &view);
			for (size_t i = 0; i < table->row_count; i++)
				assert_int_equal(table->rows[i].label[0], "fedcba"[i]);
			assert_int_equal(table->row_count, view.limit != 0 ? view.limit : 6);
		}
		session_release(session);
	}
}

/* Filters look at the cells of the view or at rates. */
static void test_filter_rows(void **state)
{
	struct session *session = fixture_two_rounds(fill_tree);
	struct view view;
	struct table *table;

	(void)state;
	view_initialise(&view);
	view.filter = filter_parse("cpu% > 20 and !other", NULL);
	assert_non_null(view.filter);
	view.mode = WINDOW_MODE_TOTAL; /* a rate is a rate in every mode */
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_true(fixture_has_row(table, "engine"));
	assert_int_equal(table->row_total, 1);
	view_release(&view);
	view_initialise(&view);
	view.filter = filter_parse("run_time_ns < 60ms and thr = 1", NULL);
	view.mode = WINDOW_MODE_INTERVAL;
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_true(fixture_has_row(table, "other"));
	view_release(&view);
	session_release(session);
}

/* Conditions on threads narrow what rows are made of, at every level that is opened. */
static void test_filter_threads(void **state)
{
	struct session *session = fixture_two_rounds(fill_tree);
	struct table *table;
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	char *key;
	size_t length;

	(void)state;
	view.filter = filter_parse("thread = io-* and cpu > 1", NULL);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 2);
	assert_string_equal(fixture_shown(table, "engine", COLUMN_THR), "2");
	assert_string_equal(fixture_shown(table, "engine", COLUMN_CPU), "15.0");
	assert_string_equal(fixture_shown(table, "other", COLUMN_CPU), "2.5");
	filter_release(view.filter);
	view.filter = filter_parse("thread = io-* and cpu > 5", NULL);
	assert_true(view_open(&view, "engine", 6, "engine", 6));
	assert_true(view_narrows_threads(&view));
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_string_equal(fixture_shown(table, "10 engine", COLUMN_THR), "2");
	assert_true(view_open(&view, table->rows[0].key, 6, table->rows[0].label, 9));
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_string_equal(fixture_shown(table, "io-{N}", COLUMN_THR), "2");
	view.level = VIEW_LEVEL_THREADS;
	view.filter = filter_parse("tid = 11", NULL);
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_int_equal(table->rows[0].tid, 11);
	view.level = VIEW_LEVEL_GROUPS;
	free(view_close(&view, &length));
	key = view_close(&view, &length);
	free(key);
	assert_string_equal(filter_text(view.filter), "thread = io-* and cpu > 5");
	view_release(&view);
	session_release(session);
}

/* A text is found in the names of members, and in alternatives a row may have a thread that is wanted. */
static void test_filter_members(void **state)
{
	static const struct {
		const char *text;
		size_t rows;
	} cases[] = {
		{"io-1", 1}, /* under io-{N} */
		{"io-{N}", 1},
		{"name = cpu-2", 1},
		{"name != cpu-2", 2},
		{"kworker or tid = 12", 2},
		{"tid = 12 or cpu > 90", 1},
		{"tid = 12 or process = other", 2}, /* of threads alone: io-{N} is of one thread */
	};
	struct session *session = fixture_two_rounds(fill_tree);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct table *table;
		struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

		view.grouping.axis = AXIS_THREAD;
		view.filter = filter_parse(cases[i].text, NULL);
		assert_non_null(view.filter);
		table = fixture_table_of(session, &view);
		if (table->row_count != cases[i].rows)
			fail_msg("%s: %zu rows", cases[i].text, table->row_count);
		view_release(&view);
	}
	session_release(session);
}

/* Rows that only leave the state asked for are not gone. */
static void fill_states(struct snapshot *snapshot, int round)
{
	const size_t thread = fixture_thread(snapshot, 10, 10, "engine", "engine", 1);
	const size_t other = fixture_thread(snapshot, 20, 20, "other", "other", 1);

	fixture_set(snapshot, thread, METRIC_STATE, round == 0 ? 'D' : 'S');
	fixture_set(snapshot, other, METRIC_STATE, round == 0 ? 'S' : 'D');
}

static void test_filter_states(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	view.filter = filter_parse("state = D", NULL);
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);
		struct table *table;

		fill_states(snapshot, round);
		snapshot_finish(snapshot);
		session_add_round(session, snapshot);
		table = fixture_table_of(session, &view);
		assert_int_equal(table->row_count, 1);
		assert_string_equal(table->rows[0].label, round == 0 ? "engine" : "other");
		assert_int_equal(table->rows[0].mark, ROW_MARK_NONE);
	}
	view_release(&view);
	session_release(session);
}

/* The sum over groups is the sum over threads, whatever the axis, for random threads. */
static void fill_random(struct snapshot *snapshot, int round)
{
	unsigned int seed = 7;
	char process[16], name[16];

	for (uint32_t i = 0; i < 300; i++) {
		size_t thread;

		snprintf(process, sizeof(process), "p%c-%d", 'a' + rand_r(&seed) % 5, rand_r(&seed) % 3);
		snprintf(name, sizeof(name), "t%c-%d", 'a' + rand_r(&seed) % 7, rand_r(&seed) % 9);
		thread = fixture_thread(snapshot, 100 + i, 100 + i, process, name, 1);
		fixture_cgroup(snapshot, thread, rand_r(&seed) % 2 ? "/a/x-1.service" : "/b");
		for (int m = 0; m < METRIC_COUNT; m++) {
			uint64_t base = (uint64_t)rand_r(&seed), more = (uint64_t)rand_r(&seed) % 1000000;

			if (metric_type((enum metric)m)->kind == METRIC_KIND_COUNTER &&
			    m != METRIC_THREAD_COUNT)
				fixture_set(snapshot, thread, (enum metric)m, base + (round != 0 ? more : 0));
		}
	}
}

static void column_sums(const struct table *table, double sums[])
{
	for (size_t c = 0; c < table->column_count; c++) {
		sums[c] = 0;
		for (size_t r = 0; r < table->row_count; r++) {
			const struct cell *cell = &table->rows[r].cells[c];

			if (cell->state == CELL_VALUE && cell->form == CELL_FORM_INTEGER)
				sums[c] += (double)cell->value.integer;
			else if (cell->state == CELL_VALUE && cell->form == CELL_FORM_REAL)
				sums[c] += cell->value.real;
		}
	}
}

static void test_sums(void **state)
{
	struct session *session = fixture_two_rounds(fill_random);
	static const enum column summed[] = {COLUMN_CPU,  COLUMN_RUNQ, COLUMN_MWAIT, COLUMN_LOST, COLUMN_CSW,
					     COLUMN_READ, COLUMN_USER, COLUMN_FAULT, COLUMN_MIGR};
	double expected[16], sums[16];
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	view.columns = summed;
	view.column_count = sizeof(summed) / sizeof(summed[0]);
	for (int mode = 0; mode < WINDOW_MODE_COUNT; mode++) {
		view.mode = (enum window_mode)mode;
		view.level = VIEW_LEVEL_THREADS;
		table = fixture_table_of(session, &view);
		assert_int_equal(table->row_count, 300);
		column_sums(table, expected);
		view.level = VIEW_LEVEL_GROUPS;
		for (int axis = 0; axis < AXIS_COUNT; axis++) {
			view.grouping.axis = (enum axis)axis;
			table = fixture_table_of(session, &view);
			assert_in_range(table->row_count, 1, 300);
			column_sums(table, sums);
			for (size_t c = 0; c < view.column_count; c++) {
				assert_true(expected[c] > 0);
				assert_true(fabs(sums[c] - expected[c]) <= 1e-9 * expected[c]);
			}
		}
	}
	session_release(session);
}

/* Every tab builds on every axis and level with cells of the unit its column says. */
static void test_every_tab(void **state)
{
	struct session *session = fixture_two_rounds(fill_random);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	(void)state;
	for (int tab = 0; tab < TAB_COUNT; tab++) {
		for (int mode = 0; mode < WINDOW_MODE_COUNT * 2; mode++) {
			struct table *table;

			view.tab = (enum tab)tab;
			view.mode = (enum window_mode)(mode / 2);
			view.level = mode % 2 ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
			table = fixture_table_of(session, &view);
			assert_true(table->row_count > 0);
			for (size_t c = 0; c < table->column_count; c++) {
				assert_true(table->columns[c].width >= (int)strlen(table->columns[c].title));
				assert_int_equal(table->rows[0].cells[c].unit, table->columns[c].unit);
				assert_int_not_equal(table->rows[0].cells[c].state, CELL_EMPTY);
				for (size_t d = 0; d < c; d++)
					assert_string_not_equal(table->columns[c].name,
								table->columns[d].name);
			}
		}
	}
	session_release(session);
}

static void assert_same_cell(const struct cell *left, const struct cell *right)
{
	assert_int_equal(left->state, right->state);
	assert_int_equal(left->form, right->form);
	assert_int_equal(left->unit, right->unit);
	assert_int_equal(left->partial, right->partial);
	assert_true(left->sort == right->sort || (isnan(left->sort) && isnan(right->sort)));
	if (left->state == CELL_VALUE && left->form == CELL_FORM_INTEGER)
		assert_int_equal(left->value.integer, right->value.integer);
	if (left->text != NULL || right->text != NULL)
		assert_string_equal(left->text, right->text);
}

/* Rows `first` to `end` of a table have the cells of the other, and others none but those that are gone. */
static void assert_filled(const struct table *table, const struct table *whole, size_t first, size_t end)
{
	assert_int_equal(table->row_count, whole->row_count);
	for (size_t i = 0; i < table->row_count; i++) {
		const bool filled = i >= first && i < end;

		assert_string_equal(table->rows[i].key, whole->rows[i].key);
		assert_int_equal(table->rows[i].cells != NULL,
				 filled || table->rows[i].mark == ROW_MARK_GONE);
		for (size_t c = 0; filled && c < table->column_count; c++)
			assert_same_cell(&table->rows[i].cells[c], &whole->rows[i].cells[c]);
	}
	for (size_t c = 0; c < table->column_count; c++)
		assert_true(table->columns[c].whole == whole->columns[c].whole);
}

/* Rows that get their cells when they are looked at have the same ones, in the same order. */
static void expect_cells_on_demand(enum view_level level, enum axis axis, size_t first, size_t count)
{
	struct session *session = fixture_two_rounds(fill_random);
	struct view view, other;

	view_initialise(&view);
	view.level = level;
	view.grouping.axis = axis;
	other = view;
	other.cells_on_demand = true;
	for (int tab = 0; tab < TAB_COUNT * (int)WINDOW_MODE_COUNT; tab++) {
		struct table *whole, *table;
		size_t last;

		view.tab = (enum tab)(tab / WINDOW_MODE_COUNT);
		view.mode = (enum window_mode)(tab % WINDOW_MODE_COUNT);
		view.cells_on_demand = false;
		whole = fixture_table_of(session, &view);
		last = whole->row_count - 1;
		assert_true(last >= first + count);
		view.cells_on_demand = true;
		table = fixture_table_of(session, &view);
		assert_filled(table, whole, 0, 0);
		/* the second one fills what the first one left */
		session_table_fill(session, &view, table, first + count / 2, count - count / 2);
		session_table_fill(session, &view, table, first, count);
		assert_filled(table, whole, first, first + count);
		/* whatever was made in between */
		(void)fixture_table_of(session, &other);
		session_table_fill(session, &view, table, first + count, SIZE_MAX);
		session_table_fill(session, &view, table, last + 1, count);
		assert_filled(table, whole, first, last + 1);
	}
	session_release(session);
}

static void test_cells_on_demand(void **state)
{
	(void)state;
	expect_cells_on_demand(VIEW_LEVEL_THREADS, AXIS_PROCESS, 40, 30);
	expect_cells_on_demand(VIEW_LEVEL_GROUPS, AXIS_PROCESS, 1, 2);
	expect_cells_on_demand(VIEW_LEVEL_GROUPS, AXIS_THREAD_EXACT, 1, 2);
}

/* Rows of a table that no longer pass the filter get empty cells; those that do get their own. */
static void test_cells_of_other_rows(void **state)
{
	struct session *session = fixture_two_rounds(fill_random);
	struct view view, other;
	struct table *whole, *table;
	char text[32];
	size_t last;

	(void)state;
	view_initialise(&view);
	view.grouping.axis = AXIS_PID;
	view.mode = WINDOW_MODE_RATE;
	whole = fixture_table_of(session, &view);
	last = whole->row_count - 1;
	while (whole->rows[last].mark == ROW_MARK_GONE || whole->rows[last].tgid == 0)
		last--;
	assert_true(last > 1);
	view.cells_on_demand = true;
	table = fixture_table_of(session, &view);
	other = view;
	other.grouping.axis = AXIS_PROCESS;
	(void)fixture_table_of(session, &other);
	snprintf(text, sizeof(text), "pid = %u", (unsigned int)whole->rows[last].tgid);
	view.filter = filter_parse(text, NULL);
	assert_non_null(view.filter);
	session_table_fill(session, &view, table, 0, SIZE_MAX);
	for (size_t i = 0; i <= last; i++) {
		for (size_t c = 0; c < table->column_count; c++) {
			const struct cell *cell = &table->rows[i].cells[c];

			if (i == last)
				assert_same_cell(cell, &whole->rows[i].cells[c]);
			else
				assert_int_equal(cell->state, CELL_EMPTY);
		}
	}
	filter_release(view.filter);
	session_release(session);
}

/* Rows kept from one table to the next are not those of another base. */
static void test_rows_kept(void **state)
{
	struct session *session = fixture_two_rounds(fill_random);
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_BASE, AXIS_PROCESS);
	struct table *table;
	double whole;

	(void)state;
	view.cells_on_demand = true;
	table = fixture_table_of(session, &view);
	whole = table->columns[fixture_column(table, COLUMN_CPU)].whole;
	assert_true(whole > 0);
	view.sort_ascending = true;
	table = fixture_table_of(session, &view);
	assert_true(table->columns[fixture_column(table, COLUMN_CPU)].whole == whole);
	session_set_base(session);
	table = fixture_table_of(session, &view);
	assert_true(table->columns[fixture_column(table, COLUMN_CPU)].whole == 0);
	session_release(session);
}

/* Rows are idle that are known to have had no CPU, whatever they did before. */
static void test_idle(void **state)
{
	struct session *session = session_create();
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fixture_set(snapshot, fixture_thread(snapshot, 10, 10, "moves", "moves", 1),
			    METRIC_RUN_TIME_NS, MS(50 + 10 * (uint64_t)round));
		fixture_set(snapshot, fixture_thread(snapshot, 20, 20, "rests", "rests", 1),
			    METRIC_RUN_TIME_NS, MS(50));
		/* of one that was missed before it is not known */
		if (round == 1)
			fixture_set(snapshot, fixture_thread(snapshot, 30, 30, "hides", "hides", 1),
				    METRIC_RUN_TIME_NS, MS(50));
		session_add_round(session, snapshot);
	}
	view.hide_idle = true;
	table = fixture_table_of(session, &view);
	assert_true(fixture_has_row(table, "moves"));
	assert_true(fixture_has_row(table, "hides"));
	assert_false(fixture_has_row(table, "rests"));
	assert_int_equal(table->row_idle, 1);
	assert_int_equal(table->row_total, 2);
	/* whoever keeps an order gets them all, marked */
	view.mark_idle = true;
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_idle, 0);
	assert_true(fixture_row(table, "rests")->idle);
	assert_false(fixture_row(table, "moves")->idle);
	/* the one that its user looks at stays, be it a group or a thread */
	for (enum view_level level = VIEW_LEVEL_GROUPS; level <= VIEW_LEVEL_THREADS; level++) {
		char key[64];

		view.level = level;
		view.mark_idle = view.hide_idle = false;
		table = fixture_table_of(session, &view);
		view.kept_key_length = fixture_row(table, "rests")->key_length;
		memcpy(key, fixture_row(table, "rests")->key, view.kept_key_length);
		view.hide_idle = true;
		table = fixture_table_of(session, &view);
		assert_false(fixture_has_row(table, "rests"));
		view.kept_key = key;
		table = fixture_table_of(session, &view);
		assert_true(fixture_has_row(table, "rests"));
		view.kept_key = NULL;
	}
	view_release(&view);
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks_of_one_hash),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_marks_in_another_order),
		cmocka_unit_test(test_marks_after_gap),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_sticky_pattern),
		cmocka_unit_test(test_narrowing),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_of_gone),
		cmocka_unit_test(test_filter_rows),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_filter_threads),
		cmocka_unit_test(test_filter_members),
		cmocka_unit_test(test_filter_states),
		cmocka_unit_test(test_every_tab),
		cmocka_unit_test(test_cells_on_demand),
		cmocka_unit_test(test_cells_of_other_rows),
		cmocka_unit_test(test_rows_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
