/* SPDX-License-Identifier: GPL-2.0-only */
/* The filter's grammar, its refusals and what it lets through. */
#include "tests/cmocka_include.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buffer.h"
#include "snapshot/user_names.h"
#include "table/filter.h"

/* The one cell that a test's filter looks at. */
struct given {
	struct cell cell;
	enum column asked;
	bool as_rate;
};

static const struct cell *cell_of(void *context, enum column column, bool as_rate)
{
	struct given *given = context;

	given->asked = column;
	given->as_rate = as_rate;
	return &given->cell;
}

static bool matches_cell(const char *text, const char *label, struct given *given)
{
	struct error error = {{0}};
	struct filter *filter = filter_parse(text, &error);
	bool result;

	if (filter == NULL)
		fail_msg("%s: %s", text, error.text);
	assert_string_equal(filter_text(filter), text);
	result = filter_matches(filter, &(struct filter_row){.label = label,
							     .label_length = strlen(label),
							     .cell_of = cell_of,
							     .context = given});
	filter_release(filter);
	return result;
}

static bool matches(const char *text, const char *label)
{
	struct given given = {0};

	return matches_cell(text, label, &given);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(matches("web", "my-web-1"));
	assert_true(matches("web", "My-WEB-1")); /* no capital: case does not count */
	assert_false(matches("Web", "my-web-1"));
	assert_true(matches("Web", "my-Web-1"));
	assert_false(matches("!web", "my-web-1"));
	assert_true(matches("!web", "db"));
	assert_true(matches("  web ", "web"));
	assert_true(matches("web and 1", "my-web-1"));
	assert_false(matches("web and 2", "my-web-1"));
	assert_true(matches("kworker/{N}", "kworker/{N}:{N}"));
	assert_true(matches("android", "android")); /* "and" inside a word joins nothing */
}

static void test_regexes(void **state)
{
	(void)state;
	assert_true(matches("/^w.*[0-9]$/", "Worker-7"));
	assert_false(matches("/^w.*[0-9]$/", "my-worker-7"));
	assert_false(matches("!/^w/", "web"));
	assert_true(matches("/a\\/b/", "x/a/b"));
	assert_true(matches("/one and two/", "one and two"));
	assert_true(matches("/^w/ and !/x/", "web"));
	assert_false(matches("/^w/ and !/x/", "wx"));
	assert_true(matches("/(a|b)=[0-9]+/", "b=12"));
}

/* Case is ignored in all scripts, unless the text has a capital letter; the locale does not matter. */
static void test_case_beyond_ascii(void **state)
{
	(void)state;
	assert_string_equal(setlocale(LC_CTYPE, NULL), "C");
	assert_true(matches("йцу", "ЙЦУКЕН"));
	assert_true(matches("йцу", "йцукен"));
	assert_true(matches("ЙЦУ", "ЙЦУКЕН"));
	assert_false(matches("ЙЦУ", "йцукен"));
	assert_false(matches("Йцу", "ЙЦУКЕН"));
	assert_true(matches("größe", "GRÖßE"));
	assert_true(matches("οδος", "ΟΔΟΣ"));
	assert_false(matches("цуй", "ЙЦУКЕН"));
	assert_true(matches("/^йц.ке/", "ЙЦУКЕН"));
	assert_true(matches("/^[йцу]{3}.{3}$/", "ЙЦУКЕН"));
	assert_false(matches("/^Йц/", "ЙЦУКЕН"));
	assert_false(matches("/ЙЦУ/", "йцукен"));
	assert_true(matches("/^ЙЦУ/", "ЙЦУКЕН"));
	assert_true(matches("name = йцукен", "ЙЦУКЕН"));
	assert_false(matches("name = ЙЦУКЕН", "йцукен"));
	assert_true(matches("name = *цу?ен", "ЙЦУКЕН"));
	assert_true(matches("name = *ος", "ΟΔΟΣ"));
	assert_false(matches("name = *Цу*", "ЙЦУКЕН"));
	/* invalid UTF-8 only matches itself */
	assert_true(matches("x\xe8", "X\xe8"));
	assert_false(matches("x\xe8", "X\xc8"));
}

/* In quotes a backslash only escapes a quote or a backslash; outside of quotes it is literal. */
static void test_backslashes(void **state)
{
	(void)state;
	assert_true(matches("\"domain\\jdoe\"", "DOMAIN\\jdoe"));
	assert_false(matches("\"domain\\jdoe\"", "DOMAINjdoe"));
	assert_true(matches("\"domain\\\\jdoe\"", "DOMAIN\\jdoe"));
	assert_true(matches("\"say \\\"x\\\"\"", "say \"x\""));
	assert_true(matches("name = \"a\\b c\"", "a\\b c"));
	assert_true(matches("x\\xe8\\xa1", "x\\xe8\\xa1"));
	assert_true(matches("\"x\\xe8\"", "x\\xe8\\xa1"));
	assert_true(matches("/x\\\\xe8$/", "x\\xe8"));
	assert_true(matches("name = x\\xe8*", "x\\xe8\\xa1"));
}

static bool compares(const char *text, enum unit unit, double value)
{
	struct given given = {
		.cell = {.state = CELL_VALUE, .form = CELL_FORM_REAL, .unit = unit, .value.real = value}};

	return matches_cell(text, "x", &given);
}

static void test_comparisons(void **state)
{
	(void)state;
	assert_true(compares("cpu% > 50", UNIT_PERCENT, 50.1));
	assert_false(compares("cpu% > 50", UNIT_PERCENT, 50.0));
	assert_true(compares("cpu%>=50", UNIT_PERCENT, 50.0));
	assert_true(compares("cpu < 50%", UNIT_PERCENT, 49.0));
	assert_true(compares("cpu<=50", UNIT_PERCENT, 50.0));
	assert_true(compares("thr = 3", UNIT_COUNT, 3.0));
	assert_false(compares("thr = 3", UNIT_COUNT, 4.0));
	assert_true(compares("run_time_ns > 10ms", UNIT_NS, 1.1e7));
	assert_false(compares("run_time_ns > 10ms", UNIT_NS, 0.9e7));
	assert_true(compares("run_time_ns > 10ms", UNIT_PERCENT, 1.1)); /* a second's 10 ms */
	assert_false(compares("run_time_ns > 10ms", UNIT_PERCENT, 0.9));
	assert_true(compares("read_bytes >= 1M", UNIT_BYTES, 1048576));
	assert_false(compares("read_bytes >= 1M", UNIT_BYTES, 1048575));
	assert_true(compares("csw >= 1K", UNIT_COUNT_PER_S, 1000));
	assert_false(compares("csw >= 1K", UNIT_COUNT_PER_S, 999));
	assert_true(compares("read > 1.5MiB", UNIT_BYTES_PER_S, 1.6 * 1024 * 1024));
	assert_true(compares("age > 2d", UNIT_NS, 3 * 8.64e13));
	assert_true(compares("nice < -1", UNIT_NONE, -5));
	assert_true(compares("age > 1m", UNIT_NS, 61e9));
	assert_false(compares("age > 1m", UNIT_NS, 59e9));
	assert_true(compares("age > 1min", UNIT_NS, 61e9));
	assert_true(compares("slice <= 5 µs", UNIT_NS, 5000));
	assert_true(compares("utime_clock_ticks >= 2s", UNIT_NS, 2e9));
	assert_true(compares("stuck > 5s", UNIT_NS, 6e9));
}

static void test_rates(void **state)
{
	struct given given = {.cell = {.state = CELL_VALUE, .form = CELL_FORM_REAL}};

	(void)state;
	matches_cell("cpu% > 5", "x", &given);
	assert_int_equal(given.asked, COLUMN_CPU);
	assert_true(given.as_rate);
	matches_cell("cpu > 5%", "x", &given);
	assert_true(given.as_rate);
	matches_cell("read/s > 5", "x", &given);
	assert_true(given.as_rate);
	matches_cell("cpu > 5", "x", &given);
	assert_false(given.as_rate);
	matches_cell("wait_sum > 5", "x", &given);
	assert_int_equal(given.asked, COLUMN_WAITSUM);
}

/* A range passes when some of it does; words go with =; what has no number passes nothing. */
static void test_other_cells(void **state)
{
	struct given given = {
		.cell = {.state = CELL_VALUE, .form = CELL_FORM_RANGE, .value.range = {-5, 10}}};

	(void)state;
	assert_true(matches_cell("nice > 9", "x", &given));
	assert_true(matches_cell("nice < 0", "x", &given));
	assert_true(matches_cell("nice = 0", "x", &given));
	assert_false(matches_cell("nice > 10", "x", &given));
	given.cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "OTHER*"};
	assert_true(matches_cell("policy = other", "x", &given));
	assert_false(matches_cell("policy = FIFO", "x", &given));
	assert_false(matches_cell("policy > 3", "x", &given));
	given.cell = (struct cell){.state = CELL_UNAVAILABLE};
	assert_false(matches_cell("cpu >= 0", "x", &given));
	assert_false(matches_cell("cpu < 5", "x", &given));
}

/* A value that is compared unequal; what is not known neither holds nor does its negation. */
static void test_differences(void **state)
{
	struct given unknown = {.cell = {.state = CELL_UNAVAILABLE}};
	struct given range = {
		.cell = {.state = CELL_VALUE, .form = CELL_FORM_RANGE, .value.range = {-5, 10}}};
	struct given word = {.cell = {.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "OTHER*"}};

	(void)state;
	assert_true(compares("thr != 3", UNIT_COUNT, 4.0));
	assert_false(compares("thr != 3", UNIT_COUNT, 3.0));
	assert_true(compares("thr == 3", UNIT_COUNT, 3.0));
	assert_true(compares("not cpu% > 50", UNIT_PERCENT, 50.0));
	assert_false(compares("!cpu% > 50", UNIT_PERCENT, 51.0));
	assert_false(matches_cell("nice != 3", "x", &range));
	assert_true(matches_cell("nice != 11", "x", &range));
	assert_false(matches_cell("policy != other", "x", &word));
	assert_true(matches_cell("policy != fifo", "x", &word));
	assert_false(matches_cell("cpu != 5", "x", &unknown));
	assert_false(matches_cell("not cpu > 5", "x", &unknown));
	assert_false(matches_cell("not (x and cpu > 5)", "x", &unknown));
	assert_true(matches_cell("not (y and cpu > 5)", "x", &unknown));
	assert_true(matches_cell("x or cpu > 5", "x", &unknown));
	assert_false(matches_cell("y or cpu > 5", "x", &unknown));
}

/* A lower bound proves only that the number is at least so large. */
static void test_lower_bounds(void **state)
{
	struct given given = {.cell = {.state = CELL_VALUE,
				       .form = CELL_FORM_REAL,
				       .unit = UNIT_COUNT,
				       .partial = true,
				       .value.real = 10}};

	(void)state;
	assert_true(matches_cell("thr >= 10", "x", &given));
	assert_false(matches_cell("thr > 10", "x", &given));
	assert_false(matches_cell("not thr > 10", "x", &given));
	assert_false(matches_cell("thr < 20", "x", &given));
	assert_false(matches_cell("not thr < 20", "x", &given));
	assert_true(matches_cell("not thr < 5", "x", &given));
	assert_false(matches_cell("thr = 10", "x", &given));
	assert_false(matches_cell("thr != 20", "x", &given));
	assert_true(matches_cell("thr != 5", "x", &given));
	assert_true(matches_cell("not thr = 5", "x", &given));
	/* what is short by a little, as the kernel counts it */
	given.cell.unit = UNIT_BYTES;
	assert_true(matches_cell("rss < 20", "x", &given));
}

static void test_joints(void **state)
{
	static const struct {
		const char *text;
		const char *passes[4], *fails[4];
	} cases[] = {
		{"web db", {"web-db", "db web"}, {"web", "db"}},
		{"web or db", {"web", "db", "dbweb"}, {"x"}},
		{"WEB OR db", {"WEB", "db"}, {"web"}}, /* a capital: case counts */
		{"a and b or c", {"ab", "c"}, {"a", "b"}},
		{"a or b and c", {"a", "bc"}, {"b", "c"}},
		{"(a or b) and c", {"ac", "bc"}, {"a", "b", "c"}},
		{"(a or b)c", {"ac", "bc"}, {"a", "b", "c"}},
		{"not a", {"b"}, {"a"}},
		{"not not a", {"a"}, {"b"}},
		{"not a b", {"b"}, {"ab", "c"}}, /* binds to the next one only */
		{"not (a or b)", {"c"}, {"a", "b"}},
		{"!(a b)", {"a", "b"}, {"ab"}},
		{"NOT x AND NOT y", {"a"}, {"x", "y"}},
		{"((a))", {"a"}, {"b"}},
		{"\"a b\"", {"xa bx"}, {"ab", "b a"}},
		{"\"a\\\"b\"", {"a\"b"}, {"ab"}},
		{"\"or\"", {"word or", "orb"}, {"x"}},
		{"\"cpu > 5\"", {"cpu > 5"}, {"x"}},
		{"!\"a b\"", {"ab"}, {"a b"}},
		{"/a b/ c", {"xa bc"}, {"a b", "c"}},
		{"(sd-pam)", {"(sd-pam)", "sd-pam"}, {"x"}},
		{"a(b)", {"xa(b)"}, {"ab"}},
		{"(a(b) or c)", {"a(b)", "c"}, {"ab"}},
		{"a~b", {"a~b"}, {"ab"}},
		{"nothing", {"nothing"}, {"thing"}},
		{"notx", {"notx"}, {"y"}},
		{"orb", {"orb"}, {"x"}},
		{"kworker/u8:2-ev", {"kworker/u8:2-ev"}, {"kworker"}},
		{"name = web*", {"web", "web-1", "WEB"}, {"my-web"}},
		{"name = \"a b\"", {"a b"}, {"a b c"}},
		{"name != web*", {"my-web"}, {"web", "web-1"}},
		{"name = We?", {"Web"}, {"web", "Webs"}},
		{"name=web", {"web", "Web"}, {"webs"}},
		{"name = [ab]x", {"ax", "BX"}, {"cx"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t k = 0; k < 4 && cases[i].passes[k] != NULL; k++) {
			if (!matches(cases[i].text, cases[i].passes[k]))
				fail_msg("%s: not '%s'", cases[i].text, cases[i].passes[k]);
		}
		for (size_t k = 0; k < 4 && cases[i].fails[k] != NULL; k++) {
			if (matches(cases[i].text, cases[i].fails[k]))
				fail_msg("%s: '%s'", cases[i].text, cases[i].fails[k]);
		}
	}
}

/* Threads of all kinds: six by process, thread, cgroup, user, state. */
static struct snapshot *make_threads(void)
{
	static const struct {
		uint32_t tgid, tid, uid;
		char state;
		const char *pcomm, *comm, *cgroup;
	} threads[] = {
		{1, 1, 0, 'S', "init", "init", "/init.scope"},
		{10, 10, 33, 'S', "nginx", "nginx", "/system.slice/nginx.service"},
		{10, 11, 33, 'D', "nginx", "worker-1", "/system.slice/nginx.service"},
		{20, 20, 1000, 'R', "Xorg", "Xorg", "/user.slice/user-1000.slice/app.scope"},
		{20, 21, USER_UNKNOWN, 'S', "Xorg", "worker-2", "/user.slice/user-1000.slice/app.scope"},
		{30, 30, 1000, 0, "dead", "dead", "/"},
	};
	struct snapshot *snapshot = snapshot_create();
	struct utsname host;

	assert_int_equal(uname(&host), 0);
	snapshot->provenance.present = true;
	snapshot->provenance.hostname = arena_duplicate(&snapshot->arena, host.nodename,
							strlen(host.nodename));
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		const size_t row = snapshot_add_thread(snapshot, threads[i].tgid, threads[i].tid);
		const char *names[] = {threads[i].pcomm, threads[i].comm, threads[i].cgroup};
		uint32_t ids[3];

		for (size_t k = 0; k < 3; k++)
			ids[k] = string_pool_intern(&snapshot->strings, names[k], strlen(names[k]));
		snapshot->triple[row] = snapshot_intern_triple(snapshot,
							       (struct triple){ids[0], ids[1], ids[2]});
		snapshot->uid[row] = threads[i].uid;
		snapshot_column(snapshot, METRIC_STATE)[row] = (unsigned char)threads[i].state;
	}
	snapshot_finish(snapshot);
	return snapshot;
}

/* The threads that a filter narrows to, as their numbers: "1 10 11"; "all" where it narrows none. */
static void assert_narrows(const struct snapshot *snapshot, const char *text, const char *expected)
{
	struct error error = {{0}};
	struct filter *filter = filter_parse(text, &error);
	struct buffer found = {0};
	bool *members;

	if (filter == NULL)
		fail_msg("%s: %s", text, error.text);
	members = filter_members(filter, &(struct filter_subjects){.snapshot = snapshot});
	assert_true((members != NULL) == filter_narrows(filter));
	for (size_t i = 0; members != NULL && i < snapshot->thread_count; i++) {
		if (members[i])
			buffer_append_format(&found, "%s%u", found.length != 0 ? " " : "", snapshot->tid[i]);
	}
	buffer_append_text(&found, members == NULL ? "all" : "");
	if (strcmp(found.data, expected) != 0)
		fail_msg("%s: '%s', not '%s'", text, found.data, expected);
	buffer_release(&found);
	free(members);
	filter_release(filter);
}

static void test_threads(void **state)
{
	static const struct {
		const char *text, *threads;
	} cases[] = {
		{"pid = 10", "10 11"},
		{"pid != 10", "1 20 21 30"},
		{"pid >= 20", "20 21 30"},
		{"pid > 20", "30"},
		{"pid <= 10", "1 10 11"},
		{"tid = 11", "11"},
		{"tid<11", "1 10"},
		{"state = D", "11"},
		{"state = d", "11"},
		{"state = RD", "11 20"},
		{"state != S", "11 20"}, /* of one nobody knows */
		{"not state = S", "11 20"},
		{"process = nginx", "10 11"},
		{"pcomm = NGINX", ""}, /* a capital: case counts */
		{"process = xorg", "20 21"},
		{"process != n*", "1 20 21 30"},
		{"process_name = nginx", "10 11"},
		{"thread = worker-?", "11 21"},
		{"comm = worker*", "11 21"},
		{"cgroup = /system.slice", "10 11"},
		{"cgroup = /system.slice/", "10 11"},
		{"cgroup = /system", ""},
		{"cgroup = /system*", "10 11"},
		{"cgroup = nginx.service", "10 11"},
		{"cgroup = user-1000.slice", "20 21"},
		{"cgroup = *.scope", "1 20 21"},
		{"cgroup = app.*", "20 21"},
		{"cgroup = /", "1 10 11 20 21 30"},
		{"cgroup != /system.slice", "1 20 21 30"},
		{"CGROUP = /init.scope", "1"},
		{"user = 33", "10 11"},
		{"user = root", "1"},
		{"user != root", "10 11 20 30"}, /* of one nobody knows who it is */
		{"user = www*", "10 11"},
		{"user_name = www-data", "10 11"},
		{"USER = root", "1"},
		{"user = root or state = R", "1 20"},
		{"state = S and user = 33", "10"},
		{"not (user = root or state = R)", "10 11"},
		{"not (user = root and state = D)", "1 10 11 20 21 30"},
		/* with conditions on rows: those of threads narrow alone where all have to hold */
		{"web pid = 10 cpu > 5", "10 11"},
		{"(web and pid = 10) and (cpu > 5)", "10 11"},
		{"pid = 10 or cpu > 5", "all"},
		{"web", "all"},
		{"name = web", "all"},
		{"cpu > 5", "all"},
		{"not (pid = 10 and web)", "all"},
	};
	const char *path = "test_filter.passwd";
	FILE *file = fopen(path, "w");
	struct snapshot *snapshot = make_threads();

	(void)state;
	assert_non_null(file);
	fputs("root:x:0:0::/:/bin/sh\nwww-data:x:33:33::/:/bin/sh\n", file);
	assert_int_equal(fclose(file), 0);
	user_names_set_sources(path, NULL);
	for (int round = 0; round < 2; round++) {
		/* names are known a little after they were asked for */
		user_name(0);
		user_name(33);
		user_name(1000);
		assert_true(user_names_wait(UINT64_C(60000000000)));
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_narrows(snapshot, cases[i].text, cases[i].threads);
	/* numbers of another host are somebody else's */
	snapshot->provenance.hostname = "elsewhere";
	assert_narrows(snapshot, "user = www-data", "");
	assert_narrows(snapshot, "user = root", "1");
	assert_narrows(snapshot, "user = 0", "1");
	/* stopped and frozen threads, also by word */
	snapshot_column(snapshot, METRIC_STATE)[0] = 'F';
	snapshot_column(snapshot, METRIC_STATE)[1] = 'T';
	snapshot_column(snapshot, METRIC_STATE)[2] = 't';
	assert_narrows(snapshot, "state = frozen", "1");
	assert_narrows(snapshot, "state = f", "1");
	assert_narrows(snapshot, "state = Stopped", "10 11");
	assert_narrows(snapshot, "state != stopped", "1 20 21");
	snapshot_release(snapshot);
	remove(path);
}

/* Ended threads have names, and sometimes the process. */
static void test_ended_threads(void **state)
{
	static const struct {
		const char *text;
		bool first; /* nginx, whose process is known; the others' is not */
		bool third;
	} cases[] = {
		{"process = init", true, false}, {"process != init", false, true},
		{"pid = 7", true, false},        {"pid != 7", false, false},
		{"user = 0", false, false},      {"not user = 0", false, false},
		{"tid = 1", false, false},       {"state = S or thread = worker*", false, true},
	};
	struct snapshot *snapshot = make_threads();
	uint32_t pids[8] = {7};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct filter *filter = filter_parse(cases[i].text, NULL);
		bool *members;

		assert_non_null(filter);
		members = filter_members(filter,
					 &(struct filter_subjects){.snapshot = snapshot, .ended_pids = pids});
		if (members[0] != cases[i].first || members[2] != cases[i].third)
			fail_msg("%s: %d %d", cases[i].text, members[0], members[2]);
		free(members);
		filter_release(filter);
	}
	snapshot_release(snapshot);
}

/* A text is looked for in the names of an axis. */
static void test_members(void **state)
{
	struct snapshot *snapshot = make_threads();
	struct filter *filter = filter_parse("worker", NULL);
	static const struct {
		enum axis axis;
		bool matches; /* of the third thread */
	} cases[] = {
		{AXIS_PROCESS, false}, {AXIS_PID, false}, {AXIS_CGROUP, false},      {AXIS_USER, false},
		{AXIS_THREAD, true},   {AXIS_ALL, true},  {AXIS_THREAD_EXACT, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool *members = filter_term_members(filter, 0, cases[i].axis,
						    &(struct filter_subjects){.snapshot = snapshot});

		assert_false(members[0]);
		assert_int_equal(members[2], cases[i].matches);
		free(members);
	}
	filter_release(filter);
	snapshot_release(snapshot);
}

/* A command line that was read, as the screen keeps it. */
static void remember_command(struct lookup_cache *cache, uint32_t tgid, uint64_t start_time, const char *text)
{
	struct lookup_answer answer = {
		.request = {.kind = LOOKUP_COMMAND, .tgid = tgid, .tid = tgid, .start_time = start_time},
		.reason = REASON_READ,
		.length = (uint16_t)strlen(text),
	};

	memcpy(answer.text, text, strlen(text) + 1);
	lookup_cache_entry(cache, &answer.request, 1);
	lookup_cache_take(cache, &answer);
}

/* Texts, expressions and the field find threads by the command lines that were read, of that very process. */
static void test_commands(void **state)
{
	static const struct {
		const char *text;
		bool nginx, worker, init, xorg; /* the threads 10, 11, 1 and 20 */
	} cases[] = {
		{"UPDATE", true, true, false, false},
		{"update", true, true, false, false},
		{"Update", false, false, false, false},
		{"/shop.*wait/", true, true, false, false},
		{"command = *UPDATE*", true, true, false, false},
		{"command = UPDATE", false, false, false, false},
		{"command != *UPDATE*", false, false, true, false},
		{"command = /sbin/init", false, false, true, false},
		{"old", false, false, false, false},
	};
	struct snapshot *snapshot = make_threads();
	struct lookup_cache cache = {0};

	(void)state;
	remember_command(&cache, 10, 0, "db: shop UPDATE waiting");
	remember_command(&cache, 1, 0, "/sbin/init");
	/* of a process that had the number before */
	remember_command(&cache, 20, 5, "old UPDATE");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct filter *filter = filter_parse(cases[i].text, NULL);
		bool *members;

		assert_non_null(filter);
		assert_true(filter_reads_commands(filter));
		members = filter_term_members(
			filter, 0, AXIS_PROCESS,
			&(struct filter_subjects){.snapshot = snapshot, .commands = &cache});
		if (members[1] != cases[i].nginx || members[2] != cases[i].worker ||
		    members[0] != cases[i].init || members[3] != cases[i].xorg)
			fail_msg("%s: %d %d %d %d", cases[i].text, members[1], members[2], members[0],
				 members[3]);
		free(members);
		filter_release(filter);
	}
	lookup_cache_release(&cache);
	snapshot_release(snapshot);
}

/* What threads wait for: a class, or a class with its object or the first word of it. */
static void test_waits(void **state)
{
	static const struct {
		enum wait_class class;
		const char *object;
	} waits[] = {
		{WAIT_CLASS_UNKNOWN, ""},
		{WAIT_CLASS_FUTEX, "0x1"},
		{WAIT_CLASS_SOCKET, ":5432 postgres"},
		{WAIT_CLASS_FILE, "x.log"},
		{WAIT_CLASS_FILE_LOCK, "x.log"},
		{WAIT_CLASS_FUTEX, ""},
	};
	static const struct {
		const char *text, *threads;
	} cases[] = {
		{"waits_for = futex", "10 30"},         {"WAITS_FOR = futex", "10 30"},
		{"waits_for = \"futex 0x1\"", "10"},    {"waits_for = file", "20"},
		{"waits_for = \"file lock\"", "21"},    {"waits_for = file*", "20 21"},
		{"waits_for = \"socket :5432\"", "11"}, {"waits_for = \"socket :5432 postgres\"", "11"},
		{"waits_for = \"socket :54\"", ""},     {"waits_for = *postgres", "11"},
		{"waits_for != futex", "11 20 21"}, /* of one nobody knows */
		{"waits_for = futex pid = 10", "10"},
	};
	struct snapshot *snapshot = make_threads();

	(void)state;
	assert_int_equal(snapshot->thread_count, sizeof(waits) / sizeof(*waits));
	assert_narrows(snapshot, "waits_for = futex", "");
	snapshot->wait_class = calloc(snapshot->thread_capacity, sizeof(uint8_t));
	snapshot->wait_object = calloc(snapshot->thread_capacity, sizeof(uint32_t));
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		snapshot->wait_class[i] = (uint8_t)waits[i].class;
		snapshot->wait_object[i] = string_pool_intern(&snapshot->strings, waits[i].object,
							      strlen(waits[i].object));
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_narrows(snapshot, cases[i].text, cases[i].threads);
	snapshot_release(snapshot);
}

/* Recorded titles count as command lines if `titles` is set. */
static void test_titles(void **state)
{
	static const struct process_title titles[] = {{10, "db: shop UPDATE waiting"}};
	struct snapshot *snapshot = make_threads();
	struct filter *filter = filter_parse("command = *UPDATE*", NULL);
	bool *members;

	(void)state;
	assert_non_null(filter);
	snapshot_set_titles(snapshot, titles, 1);
	members = filter_term_members(filter, 0, AXIS_PROCESS,
				      &(struct filter_subjects){.snapshot = snapshot, .titles = true});
	assert_true(members[1]);
	assert_true(members[2]);
	assert_false(members[0]);
	free(members);
	members = filter_term_members(filter, 0, AXIS_USER, &(struct filter_subjects){.snapshot = snapshot});
	assert_false(members[1]);
	free(members);
	filter_release(filter);
	snapshot_release(snapshot);
}

static void assert_unmatched(const struct snapshot *snapshot, const char *text, const char *expected)
{
	struct filter *filter = filter_parse(text, NULL);
	struct buffer words = {0};

	assert_non_null(filter);
	assert_int_equal(filter_append_unmatched(filter, snapshot, &words), *expected != '\0');
	assert_string_equal(words.data != NULL ? words.data : "", expected);
	buffer_release(&words);
	filter_release(filter);
}

/* A cgroup or container that nothing is in is told, with the name that was meant. */
static void test_unmatched(void **state)
{
	struct snapshot *snapshot = make_threads();

	(void)state;
	assert_unmatched(snapshot, "cgroup = ngnix.service",
			 "no thread is in cgroup 'ngnix.service' (option -c); did you mean nginx.service?");
	assert_unmatched(snapshot, "cgroup = \"nginx\"",
			 "no thread is in cgroup 'nginx' (option -c); did you mean nginx.service?");
	assert_unmatched(snapshot, "cgroup = /system.slice/ngnix.service",
			 "no thread is in cgroup '/system.slice/ngnix.service' (option -c); did you mean "
			 "/system.slice/nginx.service?");
	assert_unmatched(snapshot, "container = shop/cart",
			 "no thread is in container 'shop/cart'; there are: init.scope, nginx.service, "
			 "app.scope, /");
	assert_unmatched(snapshot, "cgroup = zzz* and web",
			 "no thread is in cgroup 'zzz*' (option -c); there are: init.scope, nginx.service, "
			 "app.scope, /");
	assert_unmatched(snapshot, "cgroup = nginx.service", "");
	assert_unmatched(snapshot, "cgroup != zzz", "");
	assert_unmatched(snapshot, "web", "");
	assert_false(filter_append_unmatched(NULL, snapshot, NULL));
	snapshot_release(snapshot);
}

/* Terms that hold for a member of the row that is asked about, by their numbers. */
static bool has_member(void *context, size_t term)
{
	return ((const bool *)context)[term];
}

/* If alternatives mix conditions on threads and rows, the row has to have such a thread. */
static void test_mixed(void **state)
{
	struct filter *filter = filter_parse("python or state = D", NULL);
	bool members[2] = {false, false};
	struct filter_row row = {
		.label = "x{N}", .label_length = 4, .has_member = has_member, .context = members};

	(void)state;
	assert_false(filter_matches(filter, &row));
	members[1] = true;
	assert_true(filter_matches(filter, &row));
	members[1] = false;
	members[0] = true;
	assert_true(filter_matches(filter, &row));
	filter_release(filter);
	filter = filter_parse("not python", NULL);
	assert_false(filter_matches(filter, &row));
	members[0] = false;
	assert_true(filter_matches(filter, &row));
	filter_release(filter);
}

static void test_conditions(void **state)
{
	static const struct {
		const char *before, *value, *text;
	} cases[] = {
		{"", "root", "user = root"},
		{"web", "root", "web and user = root"},
		{"a or b", "root", "(a or b) and user = root"},
		{"a b", "x y", "a b and user = \"x y\""},
		{"", "or", "user = \"or\""},
		{"", "a\"b", "user = \"a\\\"b\""},
		{"", "DOMAIN\\jdoe", "user = \"DOMAIN\\\\jdoe\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer text = {0};
		struct filter *filter;

		buffer_append_text(&text, cases[i].before);
		filter_append_condition(&text, FILTER_FIELD_USER, cases[i].value);
		assert_string_equal(text.data, cases[i].text);
		filter = filter_parse(text.data, NULL);
		assert_non_null(filter);
		assert_true(filter_narrows(filter));
		filter_release(filter);
		buffer_release(&text);
	}
}

static void test_without(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{"user = root", ""},
		{"web and user = root", "web"},
		{" web user = root cpu > 5 ", "web and cpu > 5"},
		{"user != root and (a or b)", "(a or b)"},
		{"(a or b) not user = x", "(a or b) and not user = x"},
		{"user = root or a", "user = root or a"},
		{" \"a b\" user = x y", "\"a b\" and y"},
		{"(user = root and a)", "a"},
		{"user = root or user = bin", ""},
		{"a and (user = root or user = bin)", "a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct filter *filter = filter_parse(cases[i].before, NULL);
		struct buffer text = {0};

		assert_non_null(filter);
		filter_append_without(filter, FILTER_FIELD_USER, &text);
		assert_string_equal(text.length != 0 ? text.data : "", cases[i].after);
		buffer_release(&text);
		filter_release(filter);
	}
}

static void assert_refused(const char *text, const char *part)
{
	struct error error = {{0}};

	if (filter_parse(text, &error) != NULL)
		fail_msg("%s: valid", text);
	if (strstr(error.text, part) == NULL)
		fail_msg("%s: '%s' is not in '%s'", text, part, error.text);
}

static void assert_taken(const char *text)
{
	struct error error = {{0}};
	struct filter *filter = filter_parse(text, &error);

	if (filter == NULL)
		fail_msg("%s: %s", text, error.text);
	filter_release(filter);
}

static void test_refusals(void **state)
{
	/* the C library writes repetitions out */
	static const char *const vast[] = {
		"/^j7+++++++++++++++++++++++++/",
		"/a{100}{2,100}{100,}/",
		"/^k+++++++++++*++++++++++++/",
		"/k++++++++++++?++++++++++++/",
		"/x++++++++++++++++++++++++++++++++++(y/",
		"/x*++++++++++++/",
		"/(x?+?+?+){100}/",
	};

	(void)state;
	assert_refused("", "empty");
	for (size_t i = 0; i < sizeof(vast) / sizeof(vast[0]); i++)
		assert_refused(vast[i], "too much time or memory");
	assert_taken("/([0-9a-f]{8}-)([0-9a-f]{4}-){3}[0-9a-f]{12}|(([0-9]+[.]){3}[0-9]+ ?){1,4}/");
	assert_refused("/(a?(b?)?=*?)"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "?"
		       "=/",
		       "too much time or memory");
	assert_refused("/((((a+b{9})+c){9}+d){9}+e){9,}/", "too much time or memory");
	assert_refused("!", "'!' needs a condition after it");
	assert_refused("cpuu% > 5", "did you mean cpu or CPUD%?");
	assert_refused("runtime_ns > 5", "did you mean run_time_ns or ");
	assert_refused("zzzzzz > 5", "no column or metric 'zzzzzz'; ");
	assert_refused("cpu > ", "needs a number");
	assert_refused("cpu > much", "needs a number");
	assert_refused("cpu > 5 parsecs", "units are");
	assert_refused("cpu > 1e999", "not a number");
	assert_refused("minflt > 1KiB",
		       "'1KiB' is not a number with a unit of minflt; units are k, K, M, G, T");
	assert_refused("read_bytes > 10ms", "units are B, K, k, KiB, ");
	assert_refused("read_bytes > 10%", "units are B, K, k, KiB, ");
	assert_refused("run_time_ns > 1M", "units are ns, us, µs, ms, s, m, min, h, d, %");
	assert_refused("nice > 1K", "units are none");
	assert_refused("/ab", "no / at its end");
	assert_refused("/a(/", "not a regular expression");
	assert_refused("/a/b", "join with ' and '");
	/* what looks like a comparison and is none is not searched for */
	assert_refused("foo = 3", "no column or metric 'foo'");
	assert_refused("foo = 3", "in quotes a text is searched for");
	assert_refused("stat = D", "did you mean state?");
	assert_refused("usr = root", "did you mean user?");
	assert_refused("cpu ~ 3", "'~' is not a comparison");
	assert_refused("cpu~3", "'~' is not a comparison");
	assert_refused("cpu =~ x", "'=~' is not a comparison");
	assert_refused("cpu => 3", "did you mean >=?");
	assert_refused("cpu <> 3", "did you mean !=?");
	assert_refused("cpu >", "'cpu >' needs a number");
	assert_refused("cpu > and web", "needs a number");
	assert_refused("(cpu >)", "needs a number");
	assert_refused("cpu > web", "needs a number");
	assert_refused("cpu = high", "needs a number");
	assert_refused("cpu% = \"50\"", "needs a number");
	assert_refused("> 5", "needs a column before it");
	assert_refused("user =", "'user =' needs a value");
	assert_refused("user = or web", "needs a value");
	assert_refused("user > root", "user takes = and != only");
	assert_refused("state = Q", "'Q' is not a state");
	assert_refused("state = running", "is not a state");
	assert_refused("pid = nginx", "'nginx' is not a number");
	assert_refused("pid = -1", "is not a number");
	assert_refused("pid = 99999999999999999999999", "is not a number");
	assert_refused("cgroup = a[", "is not a valid glob");
	assert_refused("wchan = x", "cannot filter by WCHAN: it is read only for visible rows");
	assert_refused("command > x", "command takes = and != only");
	assert_refused("waits_for > 3", "waits_for takes = and != only");
	assert_refused("and", "'and' needs a condition");
	assert_refused("web or", "'or' needs a condition");
	assert_refused("or web", "'or' needs a condition");
	assert_refused("web and", "'and' needs a condition");
	assert_refused("web or not", "'not' needs a condition after it");
	assert_refused("(", "there is no ) for a (");
	assert_refused("web and or db", "needs a condition");
	assert_refused("not", "'not' needs a condition after it");
	assert_refused("(web", "no ) for a (");
	assert_refused("web )", "no ( for this )");
	assert_refused("()", "nothing between");
	assert_refused("\"web", "no \" at its end");
	assert_refused("\"\"", "empty");
	assert_refused("((((((((((((((((((((((((((((((((((((((a", "at most 32 parentheses");
}

static void test_columns(void **state)
{
	struct filter *filter = filter_parse("a and cpu > 1 and /b/ and read < 2", NULL);

	(void)state;
	assert_int_equal(filter_column(filter, 0), COLUMN_CPU);
	assert_int_equal(filter_column(filter, 1), COLUMN_READ);
	assert_int_equal(filter_column(filter, 2), COLUMN_COUNT);
	assert_true(filter_compares(filter));
	filter_release(filter);
	filter_release(NULL);
	filter = filter_parse("user = root and pid = 3 state = D", NULL);
	assert_false(filter_compares(filter));
	assert_true(filter_is_fleeting(filter));
	assert_int_equal(filter_column(filter, 0), COLUMN_USER_NAME);
	assert_int_equal(filter_column(filter, 1), COLUMN_PID);
	assert_int_equal(filter_column(filter, 2), COLUMN_STATE);
	assert_int_equal(filter_column(filter, 3), COLUMN_COUNT);
	filter_release(filter);
}

static void test_many(void **state)
{
	struct buffer text = {0};
	struct filter *filter;

	(void)state;
	for (size_t i = 0; i < FILTER_TERMS_MAX; i++)
		buffer_append_text(&text, "a ");
	filter = filter_parse(text.data, NULL);
	assert_non_null(filter);
	filter_release(filter);
	buffer_append_text(&text, "a");
	assert_refused(text.data, "at most 4096 conditions");
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),        cmocka_unit_test(test_case_beyond_ascii),
		cmocka_unit_test(test_backslashes),  cmocka_unit_test(test_regexes),
		cmocka_unit_test(test_comparisons),  cmocka_unit_test(test_rates),
		cmocka_unit_test(test_other_cells),  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_columns),      cmocka_unit_test(test_differences),
		cmocka_unit_test(test_lower_bounds), cmocka_unit_test(test_joints),
		cmocka_unit_test(test_threads),      cmocka_unit_test(test_ended_threads),
		cmocka_unit_test(test_members),      cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_conditions),   cmocka_unit_test(test_many),
		cmocka_unit_test(test_without),      cmocka_unit_test(test_commands),
		cmocka_unit_test(test_waits),        cmocka_unit_test(test_titles),
		cmocka_unit_test(test_unmatched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
