/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows in files, as they are read, and those that do not fit. */
#include <stdlib.h>

#include "base/buffer.h"
#include "cmocka_include.h"
#include "snapshot_example.h"

static const char left_out[] =
	"its window does not fit its threads and is left out: only totals are known; capture it again";

static void expect_window(const struct snapshot *snapshot)
{
	const struct snapshot_window *window = snapshot->window;
	const struct snapshot *from;
	const struct ended *ended;
	size_t hint = 0;

	assert_non_null(window);
	from = window->from;
	assert_int_equal(window->thread_count, 3);
	assert_int_equal(window->from_of[0], 0);
	assert_int_equal(window->from_of[1], THREAD_BORN);
	assert_int_equal(window->from_of[2], THREAD_STILL);
	assert_int_equal(from->thread_count, 1);
	assert_int_equal(from->provenance.boottime_ns, UINT64_C(4000000000));
	assert_int_equal(from->provenance.forks.value, 77);
	assert_int_equal(from->tid[0], 10);
	assert_int_equal(from->start_time[0], 90210);
	assert_int_equal(snapshot_value(from, 0, METRIC_RUN_TIME_NS), 200);
	assert_int_equal(snapshot_value(from, 0, METRIC_TIMESLICES), 4);
	assert_int_equal(snapshot_source_reason(from, 0, SOURCE_IO), REASON_NOT_PERMITTED);
	assert_int_equal(from->default_reason[SOURCE_DELAYS], REASON_SWITCHED_OFF);
	assert_int_equal(snapshot_read_time(from, 0, METRIC_RUN_TIME_NS), 4000001000);
	assert_int_equal(snapshot_find_resident(from, 10, 90210, &hint)->bytes, 4096);
	assert_int_equal(from->cgroup_count, 1);
	assert_int_equal(latency_waits_of(&window->latency->latency, 0)->of[LATENCY_RUN_QUEUE].buckets[1], 2);
	ended = &window->ended;
	assert_true(ended->told && ended->incomplete);
	assert_int_equal(ended->count, 1);
	assert_int_equal(ended->threads, 4);
	assert_int_equal(ended->processes, 3);
	assert_int_equal(ended->records[0].started_by.processes, 2);
	assert_string_equal(snapshot_text(ended->names, ended->records[0].started_by.name), "make");
	assert_int_equal(ended->records[0].amounts[METRIC_RUN_TIME_NS], 60);
	assert_int_equal(ended->records[0].states[METRIC_RUN_TIME_NS], ENDED_COUNTED);
	assert_int_equal(ended->records[0].states[METRIC_MINFLT], ENDED_COUNTED | ENDED_AT_LEAST);
	assert_int_equal(ended->records[0].states[METRIC_READ_BYTES], ENDED_MISSED);
	assert_int_equal(ended->records[0].reasons[METRIC_READ_BYTES], REASON_ENDED);
	assert_int_equal(window->parts.count, 2);
	assert_int_equal(window->parts.items[0].length_ns, 2 * UINT64_C(1000000000));
	assert_int_equal(window->parts.items[0].count, 1);
	assert_int_equal(window->parts.items[0].metrics[1], METRIC_MINFLT);
	assert_int_equal(window->parts.items[0].amounts[1], 5);
	assert_int_equal(window->parts.items[1].count, 0);
}

/* Everything in it is there when it is read, and again when what was read is written. */
static void test_whole(void **state)
{
	char *example = example_window();
	struct snapshot *snapshot = example_accept(example, ""), *copy;
	struct buffer text = {0};

	(void)state;
	expect_window(snapshot);
	example_emit(snapshot, &text);
	buffer_append_char(&text, '\0');
	copy = example_accept(text.data, "");
	expect_window(copy);
	buffer_release(&text);
	snapshot_release(copy);
	snapshot_release(snapshot);
	free(example);
}

/* What does not fit leaves a single reading. */
static void test_not_fitting(void **state)
{
	static const char *const cases[][2] = {
		{"\"thread\":0", "\"thread\":3"},
		{"\"thread\":0", "\"thread\":4294967295"},
		{"\"born\":[1]", "\"born\":[3]"},
		{"\"born\":[1]", "\"born\":[18446744073709551615]"},
		{"\"born\":[1]", "\"born\":[0]"},
		{"\"born\":[1]", "\"born\":[1,1]"},
		{"\"unknown\":[]", "\"unknown\":[1]"},
		{"\"unknown\":[]", "\"unknown\":[7]"},
		{"\"rss\":[0,4096]", "\"rss\":[0]"},
		{"\"rss\":[0,4096]", "\"rss\":[3,4096]"},
		/* it begins when it ends, or later */
		{"4000000000,\"boottime_ns\":4000000000", "4000000000,\"boottime_ns\":9000000000"},
		{"4000000000,\"boottime_ns\":4000000000", "4000000000,\"boottime_ns\":9000000001"},
	};

	char *example = example_window();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = example_replace(example, cases[i][0], cases[i][1]);
		struct snapshot *snapshot = example_accept(text, left_out);

		assert_null(snapshot->window);
		assert_int_equal(snapshot->thread_count, 3);
		snapshot_release(snapshot);
		free(text);
	}
	free(example);
}

/* Two names that earlier versions wrote as one text become one name, and both amounts count for it. */
static void test_parts_of_replaced_names(void **state)
{
	char *example = example_window();
	char *two = example_replace(
		example, "\"part_names\":[{\"pcomm\":\"web\",\"comm\":\"io\",\"cgroup\":\"/a\"}]",
		"\"part_names\":[{\"pcomm\":\"web\",\"comm\":\"x\uFFFD\",\"cgroup\":\"/a\"},"
		"{\"pcomm\":\"web\",\"comm\":\"x\uFFFD\",\"cgroup\":\"/a\"}]");
	char *text = example_replace(
		two, "\"names\":[0],\"metrics\":[\"run_time_ns\",\"minflt\"],\"amounts\":[400,5]",
		"\"names\":[0,1],\"metrics\":[\"run_time_ns\"],\"amounts\":[400,5]");
	struct snapshot *snapshot = example_accept(text, "");
	const struct window_parts *parts = &snapshot->window->parts;

	(void)state;
	assert_int_equal(parts->count, 2);
	assert_int_equal(parts->names->triple_count, 1);
	assert_int_equal(parts->items[0].count, 2);
	assert_int_equal(parts->items[0].names[0], 0);
	assert_int_equal(parts->items[0].names[1], 0);
	snapshot_release(snapshot);
	free(text);
	free(two);
	free(example);
}

/* Expects the text of a name in a window, and whether the name has ctop's own mark. */
static void expect_name(const struct snapshot *names, uint32_t id, const char *text, bool is_own)
{
	const struct name_text name = snapshot_name(names, id);

	assert_string_equal(name.text, text);
	assert_int_equal(name.length, strlen(text) + is_own);
}

/* Files carry the marks; in files of earlier versions the text itself identifies ctop's own names. */
static void test_own_names(void **state)
{
	static const char *const changes[][2] = {
		{"\"comm\":\"io\",\"cgroup\":\"/a\",\"run_queue\"",
		 "\"comm\":\"(other)\",\"cgroup\":\"/a\",\"own\":[\"comm\"],\"run_queue\""},
		{"\"comm\":\"cc1\",\"cgroup\":\"/\",",
		 "\"own\":[\"pcomm\",\"no\"],\"comm\":\"(ended)\",\"cgroup\":\"/\","},
		{"\"comm\":\"io\",\"cgroup\":\"/a\"}]",
		 "\"comm\":\"(ended)\",\"cgroup\":\"(gone)\",\"own\":[\"cgroup\"]}]"},
		{"\"version\":1", "\"version\":2"},
	};
	char *text = example_window();
	struct buffer written = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char *changed = example_replace(text, changes[i][0], changes[i][1]);

		free(text);
		text = changed;
	}
	for (int again = 0; again < 2; again++) {
		struct snapshot *snapshot = example_accept(again ? written.data : text, "");
		const struct snapshot_window *window = snapshot->window;
		const struct snapshot *names = window->ended.names;

		expect_name(window->latency, window->latency->latency.records[0].comm, "(other)", true);
		expect_name(window->latency, window->latency->latency.records[0].pcomm, "web", false);
		expect_name(names, names->triples[0].pcomm, "cc1", true);
		expect_name(names, names->triples[0].comm, "(ended)", false);
		names = window->parts.names;
		expect_name(names, names->triples[0].comm, "(ended)", false);
		expect_name(names, names->triples[0].cgroup, "(gone)", true);
		if (!again) {
			example_emit(snapshot, &written);
			buffer_append_char(&written, '\0');
		}
		snapshot_release(snapshot);
	}
	buffer_release(&written);
	free(text);
}

/* In a file of an earlier version the text itself is the mark. */
static void test_own_names_of_earlier_versions(void **state)
{
	char *example = example_window();
	char *text = example_replace(example, "\"comm\":\"cc1\",\"cgroup\":\"/\",",
				     "\"comm\":\"(ended)\",\"cgroup\":\"/\",");
	struct snapshot *snapshot = example_accept(text, "");
	const struct snapshot *names = snapshot->window->ended.names;

	(void)state;
	expect_name(names, names->triples[0].comm, "(ended)", true);
	expect_name(names, names->triples[0].pcomm, "cc1", false);
	snapshot_release(snapshot);
	free(text);
	free(example);
}

/* Parts that do not make up the window are left out of it. */
static void test_parts(void **state)
{
	static const char *const cases[][2] = {
		{"\"length_ns\":2000000000", "\"length_ns\":2000000001"},
		{"\"length_ns\":2000000000", "\"length_ns\":18446744073709551615"},
		{"\"names\":[0]", "\"names\":[1]"},
		{"\"names\":[0]", "\"names\":[0,0]"},
		{"\"amounts\":[400,5]", "\"amounts\":[400]"},
		{"\"metrics\":[\"run_time_ns\",", "\"metrics\":[\"no_such\","},
		{"\"part_names\":[",
		 "\"part_names\":[{\"pcomm\":\"web\",\"comm\":\"io\",\"cgroup\":\"/a\"},"},
	};
	char *example = example_window();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = example_replace(example, cases[i][0], cases[i][1]);
		struct snapshot *snapshot = example_accept(
			text, "its parts do not add up to its window and are left out");

		assert_non_null(snapshot->window);
		assert_int_equal(snapshot->window->parts.count, 0);
		snapshot_release(snapshot);
		free(text);
	}
	free(example);
}

/* What is no window at all is refused, by its place. */
static void test_refused(void **state)
{
	static const struct {
		const char *old, *new, *error;
	} cases[] = {
		{"\"born\":[1]", "\"born\":[-1]", "ctop.window.born[0]"},
		{"\"born\":[1]", "\"born\":7", "ctop.window.born"},
		{"\"run_time_ns\":200", "\"run_time_ns\":-200", "ctop.window.threads[0].run_time_ns"},
		{"\"thread\":0,", "", "ctop.window.threads[0]"},
		{"\"elapsed_ns\":{\"schedstat\":4", "\"elapsed_ns\":{\"schedstat\":-4",
		 "ctop.window.threads[0].elapsed_ns[\"schedstat\"]"},
		{"\"boottime_ns\":4000000000,\"missing\"", "\"missing\"", "ctop.window"},
		{"\"counted\":{\"run_time_ns\":60", "\"counted\":{\"run_time_ns\":null",
		 "ctop.window.ended.groups[0].counted[\"run_time_ns\"]"},
	};

	char *example = example_window();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = example_replace(example, cases[i].old, cases[i].new);

		example_refuse(text, cases[i].error);
		free(text);
	}
	free(example);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),     cmocka_unit_test(test_not_fitting),
		cmocka_unit_test(test_parts),     cmocka_unit_test(test_parts_of_replaced_names),
		cmocka_unit_test(test_own_names), cmocka_unit_test(test_own_names_of_earlier_versions),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
