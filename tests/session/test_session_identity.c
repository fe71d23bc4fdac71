/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of texts that say who the threads of a row are. */
#include "session_fixture.h"

#include <math.h>
#include <string.h>
#include <sys/utsname.h>

#include "snapshot/user_names.h"

enum {
	NOBODY_IS = 4000000, /* a user that has no name here */
};

/* Two processes of one name, a third one of which nobody knows the user, and a kernel thread. */
static void fill(struct snapshot *snapshot, int round)
{
	const struct {
		uint32_t tgid, tid;
		const char *process, *name, *cgroup;
		uint32_t uid;
	} threads[] = {
		{10, 10, "web", "web", "/app.slice/web.service", NOBODY_IS},
		{10, 11, "web", "pool-1", "/app.slice/web.service", NOBODY_IS},
		{20, 20, "web", "web", "/app.slice/other.service", NOBODY_IS + 1},
		{20, 21, "web", "pool-2", "/app.slice/web.service", NOBODY_IS + 1},
		{30, 30, "lone", "lone", "/b", UINT32_MAX},
		{40, 40, "last", "pool-1", "/a", NOBODY_IS},
	};

	(void)round;
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		const size_t thread = fixture_thread(snapshot, threads[i].tgid, threads[i].tid,
						     threads[i].process, threads[i].name, 1);

		fixture_cgroup(snapshot, thread, threads[i].cgroup);
		snapshot->uid[thread] = threads[i].uid;
	}
	snapshot->default_reason[SOURCE_TASKSTATS] = REASON_NOT_PERMITTED;
}

static const enum column all_texts[] = {COLUMN_PID, COLUMN_PROCESS, COLUMN_USER_NAME, COLUMN_CGROUP_PATH};

static struct view view_of_texts(enum axis axis)
{
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);

	view.grouping.axis = axis;
	view.columns = all_texts;
	view.column_count = sizeof(all_texts) / sizeof(*all_texts);
	return view;
}

static void assert_row(struct table *table, const char *label, const char *const expected[4])
{
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(fixture_shown(table, label, all_texts[i]), expected[i]);
}

/* A value only where all members have it, else how many there are. */
static void test_groups(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct view view = view_of_texts(AXIS_PROCESS);
	struct table *table = fixture_table_of(session, &view);

	(void)state;
	assert_row(table, "web", (const char *const[]){"2 pids", "web", "2 users", "2 cgroups"});
	assert_row(table, "lone", (const char *const[]){"30", "lone", "·", "/b"});
	assert_row(table, "last", (const char *const[]){"40", "last", "4000000", "/a"});
	assert_true(fixture_cell(table, "last", COLUMN_PID)->unanimous);
	assert_true(fixture_cell(table, "web", COLUMN_PID)->several);
	assert_int_equal(fixture_cell(table, "web", COLUMN_PID)->value.integer, 2);
	assert_false(fixture_cell(table, "web", COLUMN_PID)->unanimous);
	assert_int_equal(fixture_cell(table, "last", COLUMN_PID)->form, CELL_FORM_INTEGER);
	assert_int_equal(fixture_cell(table, "lone", COLUMN_USER_NAME)->reason, REASON_NOT_PERMITTED);
	view.grouping.axis = AXIS_THREAD;
	table = fixture_table_of(session, &view);
	/* 10, 20 and 40 by turns: what was seen before does not count twice */
	assert_row(table, "pool-{N}", (const char *const[]){"3 pids", "2 names", "2 users", "2 cgroups"});
	session_release(session);
}

/* COMMAND shows a recorded title without any lookup. */
static void test_titles(void **state)
{
	static const struct process_title titles[] = {{20, "web: \xc3\xa4 shop"}, {40, "last: idle"}};
	static const enum column column = COLUMN_COMMAND;
	struct view view = fixture_view(TAB_OVERVIEW, WINDOW_MODE_RATE, AXIS_PROCESS);
	struct session *session = session_create();
	struct table *table;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct snapshot *snapshot = fixture_snapshot(100 + 2 * round);

		fill(snapshot, round);
		snapshot_finish(snapshot);
		snapshot_set_titles(snapshot, titles, ARRAY_COUNT(titles));
		session_add_round(session, snapshot);
	}
	view.columns = &column;
	view.column_count = 1;
	table = fixture_table_of(session, &view);
	assert_string_equal(fixture_shown(table, "last", column), "last: idle");
	assert_string_equal(fixture_shown(table, "web", column), "2 processes");
	fixture_expect_missing(table, "lone", column, REASON_NOT_IN_FILE);
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	/* a thread has the title of its process */
	assert_string_equal(fixture_shown(table, "pool-2", column), "web: \xc3\xa4 shop");
	session_release(session);
}

static void fill_unseen(struct snapshot *snapshot, int round)
{
	(void)round;
	fixture_thread(snapshot, 50, 50, "", "seen", 1);
	fixture_thread(snapshot, 60, 60, "   ", "as well", 1);
}

/* Processes whose names nobody would see can be told from each other. */
static void test_unseen_names(void **state)
{
	struct session *session = fixture_two_rounds(fill_unseen);
	struct view view = view_of_texts(AXIS_THREAD);
	struct table *table = fixture_table_of(session, &view);

	(void)state;
	assert_string_equal(fixture_shown(table, "seen", COLUMN_PROCESS), "(no name)");
	assert_string_equal(fixture_shown(table, "as well", COLUMN_PROCESS), "\"   \"");
	session_release(session);
}

static void fill_root(struct snapshot *snapshot, int round)
{
	const size_t thread = fixture_thread(snapshot, 10, 10, "web", "web", 1);
	struct utsname host;

	(void)round;
	uname(&host);
	snapshot->uid[thread] = 0;
	snapshot->provenance.hostname = arena_duplicate(&snapshot->arena, host.nodename,
							strlen(host.nodename));
}

static void fill_root_elsewhere(struct snapshot *snapshot, int round)
{
	fill_root(snapshot, round);
	snapshot->provenance.hostname = "elsewhere.example";
}

/* Names of users are those of the host that was captured, or numbers: never those of another one. */
static void test_users_of_other_hosts(void **state)
{
	struct session *here = fixture_two_rounds(fill_root),
		       *there = fixture_two_rounds(fill_root_elsewhere);
	struct view view = view_of_texts(AXIS_PROCESS);
	struct table *table;

	(void)state;
	user_names_set_sources("/etc/passwd", NULL);
	/* the name is asked for, and there when the table is made again */
	(void)fixture_table_of(here, &view);
	assert_true(user_names_wait(60 * UINT64_C(1000000000)));
	table = fixture_table_of(here, &view);
	assert_string_equal(fixture_shown(table, "web", COLUMN_USER_NAME), "root");
	table = fixture_table_of(there, &view);
	assert_string_equal(fixture_shown(table, "web", COLUMN_USER_NAME), "0");
	session_release(here);
	session_release(there);
	user_names_set_sources(NULL, NULL);
}

static void test_threads(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct view view = view_of_texts(AXIS_PROCESS);
	struct table *table;

	(void)state;
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	assert_row(table, "pool-2", (const char *const[]){"20", "web", "4000001", "/app.slice/web.service"});
	assert_row(table, "lone", (const char *const[]){"30", "lone", "·", "/b"});
	session_release(session);
}

/* When read from a file of an earlier version, a thread named like one of ctop's own names has the mark. */
static void fill_marked(struct snapshot *snapshot, int round)
{
	const size_t thread = fixture_thread(snapshot, 50, 50, "odd", "odd", 100);
	struct triple triple = snapshot->triples[snapshot->triple[thread]];

	(void)round;
	triple.comm = snapshot_intern_own_name(&snapshot->strings, name_ended);
	snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
}

/* The mark of a name is not shown. */
static void test_marked_thread(void **state)
{
	struct session *session = fixture_two_rounds(fill_marked);
	struct view view = view_of_texts(AXIS_PROCESS);
	const struct table *table;

	(void)state;
	view.level = VIEW_LEVEL_THREADS;
	table = fixture_table_of(session, &view);
	assert_int_equal(table->row_count, 1);
	assert_string_equal(table->rows[0].label, name_ended.text);
	assert_int_equal(table->rows[0].label_length, strlen(name_ended.text));
	session_release(session);
}

/* Whole texts decide about the order, numbers of processes as numbers; who has none or many comes last. */
static void test_order(void **state)
{
	static const char *const by_cgroup[] = {"last", "lone", "web"}, *const by_pid[] = {"lone", "last",
											   "web"};
	struct session *session = fixture_two_rounds(fill);
	struct view view = view_of_texts(AXIS_PROCESS);
	struct table *table;

	(void)state;
	view.sort = COLUMN_CGROUP_PATH;
	view.sort_ascending = true;
	table = fixture_table_of(session, &view);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(table->rows[i].label, by_cgroup[i]);
	assert_true(isnan(fixture_cell(table, "web", COLUMN_CGROUP_PATH)->sort));
	view.sort = COLUMN_PID;
	table = fixture_table_of(session, &view);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(table->rows[i].label, by_pid[i]);
	session_release(session);
}

/* The path tells what the threads of a group have in common. */
static void test_identity(void **state)
{
	struct session *session = fixture_two_rounds(fill);
	struct session_identity identity;
	struct view view;

	(void)state;
	view_initialise(&view);
	identity = session_identify(session, &view);
	assert_int_equal(identity.threads, 6);
	assert_int_equal(identity.tgid, 0);
	assert_null(identity.process);
	assert_null(identity.cgroup);
	assert_false(identity.has_user);
	assert_true(view_open(&view, "web", 3, "web", 3));
	identity = session_identify(session, &view);
	assert_int_equal(identity.threads, 4);
	assert_int_equal(identity.tgid, 0);
	assert_string_equal(identity.process, "web");
	assert_null(identity.cgroup);
	assert_false(identity.has_user);
	view_release(&view);
	view_initialise(&view);
	assert_true(view_open(&view, "last", 4, "last", 4));
	identity = session_identify(session, &view);
	assert_int_equal(identity.tgid, 40);
	assert_string_equal(identity.process, "last");
	assert_string_equal(identity.cgroup, "/a");
	assert_true(identity.has_user);
	assert_int_equal(identity.uid, NOBODY_IS);
	view_release(&view);
	session_release(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),       cmocka_unit_test(test_titles),
		cmocka_unit_test(test_unseen_names), cmocka_unit_test(test_users_of_other_hosts),
		cmocka_unit_test(test_threads),      cmocka_unit_test(test_marked_thread),
		cmocka_unit_test(test_order),        cmocka_unit_test(test_identity),
	};

	/* numbers, whatever this host knows */
	user_names_set_sources(NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
