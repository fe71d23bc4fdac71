/* SPDX-License-Identifier: GPL-2.0-only */
/* What the threads of a row wait for: the class and object that stand for it, and their cell. */
#include "tests/cmocka_include.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/screen_format.h"
#include "table/value_cell.h"
#include "window/reduce.h"

enum {
	ROWS_MAX = 8,
};

/* A thread of a row; `object` is "" for none. */
struct waiter {
	uint32_t row;
	enum wait_class class;
	const char *object;
};

struct example {
	const struct waiter *waiters;
	size_t count;
	bool by_thread;
};

#define EXAMPLE(...)                                                                                         \
	(struct example)                                                                                     \
	{                                                                                                    \
		.waiters = (const struct waiter[]){__VA_ARGS__},                                             \
		.count = ARRAY_COUNT(((const struct waiter[]){__VA_ARGS__}))                                 \
	}

static struct snapshot *make_snapshot(struct example example)
{
	struct snapshot *snapshot = snapshot_create();

	for (uint32_t i = 0; i < example.count; i++)
		snapshot_add_thread(snapshot, 1, i + 1);
	snapshot->provenance.present = true;
	snapshot->wait_class = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint8_t));
	snapshot->wait_object = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint32_t));
	for (size_t i = 0; i < example.count; i++) {
		snapshot->wait_class[i] = (uint8_t)example.waiters[i].class;
		snapshot->wait_object[i] = string_pool_intern(&snapshot->strings, example.waiters[i].object,
							      strlen(example.waiters[i].object));
	}
	return snapshot;
}

/* The column over the rows of an example; the caller releases what it returns. */
static void reduce(struct snapshot *snapshot, struct example example, struct shown *ret_shown,
		   struct column_values *ret_values)
{
	const struct window window = {.now = snapshot, .missing = REASON_NOT_READ, .mode = WINDOW_MODE_RATE};
	size_t rows = 0;

	for (size_t i = 0; i < example.count; i++)
		rows = example.waiters[i].row >= rows ? example.waiters[i].row + 1 : rows;
	assert_in_range(rows, 1, ROWS_MAX);
	*ret_shown = (struct shown){.now = snapshot, .row_count = rows, .by_thread = example.by_thread};
	shown_reserve(ret_shown, example.count, rows);
	for (uint32_t i = 0; i < example.count; i++)
		shown_add(ret_shown, i, example.waiters[i].row);
	reduce_column(&window, ret_shown, COLUMN_WAITS_FOR, ret_values);
}

/* The cells of the rows of an example, as the screen shows them: joined by ", ". */
static void expect_shown(struct snapshot *snapshot, struct example example, const char *wanted)
{
	struct column_values values;
	struct shown shown;
	struct arena arena = {0};
	struct buffer text = {0};

	reduce(snapshot, example, &shown, &values);
	for (size_t row = 0; row < shown.row_count; row++) {
		struct cell cell;

		column_cell(&shown, &values, row, &arena, &cell);
		buffer_append_text(&text, row != 0 ? ", " : "");
		screen_format_cell(&text, &cell, &screen_marks_utf8);
	}
	assert_string_equal(text.data, wanted);
	buffer_release(&text);
	arena_release(&arena);
	column_values_release(&values);
	shown_release(&shown);
}

static void expect(struct example example, const char *wanted)
{
	struct snapshot *snapshot = make_snapshot(example);

	expect_shown(snapshot, example, wanted);
	snapshot_release(snapshot);
}

static void test_threads(void **state)
{
	struct example threads = EXAMPLE({0, WAIT_CLASS_FUTEX, "0x7f3a12c0"}, {1, WAIT_CLASS_POLL, ""},
					 {2, WAIT_CLASS_SOCKET, ":5432 postgres"},
					 {3, WAIT_CLASS_KERNEL_IDLE, ""});

	(void)state;
	threads.by_thread = true;
	expect(threads, "futex 0x7f3a12c0, poll, socket :5432 postgres, kernel idle");
	/* a group of one thread is not counted either */
	threads.by_thread = false;
	expect(threads, "futex 0x7f3a12c0, poll, socket :5432 postgres, kernel idle");
}

static void test_groups(void **state)
{
	(void)state;
	/* the class with most threads, and the object that more than half of these share */
	expect(EXAMPLE({0, WAIT_CLASS_POLL, ""}, {0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_FUTEX, "0x2"},
		       {0, WAIT_CLASS_FUTEX, "0x2"}, {1, WAIT_CLASS_CPU, ""}, {1, WAIT_CLASS_CPU, ""}),
	       "futex 0x2 ×3, cpu ×2");
	/* half of them is no majority, and no object is no object */
	expect(EXAMPLE({0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_FUTEX, "0x2"},
		       {1, WAIT_CLASS_FUTEX, "0x1"}, {1, WAIT_CLASS_FUTEX, ""}, {1, WAIT_CLASS_FUTEX, ""},
		       {2, WAIT_CLASS_FUTEX, ""}, {2, WAIT_CLASS_FUTEX, "0x1"}, {2, WAIT_CLASS_FUTEX, "0x1"}),
	       "futex ×2, futex ×3, futex 0x1 ×3");
	/* whatever the order in which they come; another class may wait for the same object */
	expect(EXAMPLE({0, WAIT_CLASS_FUTEX, "b"}, {0, WAIT_CLASS_FUTEX, "c"}, {0, WAIT_CLASS_FUTEX, "a"},
		       {0, WAIT_CLASS_FUTEX, "a"}, {0, WAIT_CLASS_FUTEX, "a"}, {0, WAIT_CLASS_PIPE, "c"},
		       {1, WAIT_CLASS_FUTEX, "a"}, {1, WAIT_CLASS_FUTEX, "a"}, {1, WAIT_CLASS_FUTEX, "b"},
		       {1, WAIT_CLASS_FUTEX, "b"}, {1, WAIT_CLASS_FUTEX, "c"}),
	       "futex a ×5, futex ×5");
	/* of equally many the first of the table */
	expect(EXAMPLE({0, WAIT_CLASS_TIMER, ""}, {0, WAIT_CLASS_POLL, ""}, {1, WAIT_CLASS_POLL, ""},
		       {1, WAIT_CLASS_TIMER, ""}),
	       "poll ×1, poll ×1");
}

/* An address in two processes is two futexes, but a port in two processes is one. */
static void test_processes(void **state)
{
	const struct example example = EXAMPLE({0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_FUTEX, "0x1"},
					       {1, WAIT_CLASS_SOCKET, ":80"}, {1, WAIT_CLASS_SOCKET, ":80"});
	struct snapshot *snapshot = make_snapshot(example);

	(void)state;
	expect_shown(snapshot, example, "futex 0x1 ×2, socket :80 ×2");
	snapshot->tgid[1] = snapshot->tgid[3] = 2;
	expect_shown(snapshot, example, "futex ×2, socket :80 ×2");
	snapshot_release(snapshot);
}

/* Classes that rest stand for a row only if all of its threads do. */
static void test_rests(void **state)
{
	(void)state;
	expect(EXAMPLE({0, WAIT_CLASS_KERNEL_IDLE, ""}, {0, WAIT_CLASS_KERNEL_IDLE, ""},
		       {0, WAIT_CLASS_STOPPED, ""}, {0, WAIT_CLASS_TIMER, ""}, {1, WAIT_CLASS_STOPPED, ""},
		       {1, WAIT_CLASS_KERNEL_IDLE, ""}, {1, WAIT_CLASS_KERNEL_IDLE, ""}),
	       "timer ×1, kernel idle ×2");
}

/* The value of the first row of an example. */
static struct value value_of(struct snapshot *snapshot, struct example example)
{
	struct column_values values;
	struct shown shown;
	struct value value;

	reduce(snapshot, example, &shown, &values);
	reduce_value(&shown, &values, 0, &value);
	column_values_release(&values);
	shown_release(&shown);
	return value;
}

/* Threads whose class is unknown count for no class, with the reason. */
static void test_unknown(void **state)
{
	struct example example = EXAMPLE({0, WAIT_CLASS_UNKNOWN, ""}, {0, WAIT_CLASS_UNKNOWN, ""},
					 {0, WAIT_CLASS_FUTEX, "0x1"});
	struct snapshot *snapshot = make_snapshot(example);
	struct value value;

	(void)state;
	snapshot_source_reasons(snapshot, SOURCE_WAIT)[0] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(snapshot, SOURCE_WAIT)[1] = REASON_NOT_PERMITTED;
	value = value_of(snapshot, example);
	assert_int_equal(value.state, VALUE_READ);
	assert_int_equal(value.wait.threads, 1);
	assert_int_equal(value.wait.of, 1);
	assert_true(value.partial);
	/* one of several that are known is counted */
	expect_shown(snapshot, example, "futex 0x1 ×1");
	snapshot->wait_class[2] = WAIT_CLASS_UNKNOWN;
	value = value_of(snapshot, example);
	assert_int_equal(value.state, VALUE_UNAVAILABLE);
	assert_int_equal(value.reason, REASON_NOT_PERMITTED);
	example.count = 1;
	example.by_thread = true;
	value = value_of(snapshot, example);
	assert_int_equal(value.state, VALUE_UNAVAILABLE);
	assert_int_equal(value.reason, REASON_NOT_PERMITTED);
	/* a number of a later version, and none that says why */
	snapshot->wait_class[0] = WAIT_CLASS_COUNT;
	snapshot_source_reasons(snapshot, SOURCE_WAIT)[0] = REASON_READ;
	assert_int_equal(value_of(snapshot, example).reason, REASON_NOT_READ);
	snapshot_release(snapshot);
}

/* Only the threads that wait for the object count as sharing it. */
static void test_sharing(void **state)
{
	struct example example = EXAMPLE({0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_FUTEX, "0x2"},
					 {0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_POLL, "0x1"},
					 {0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_FUTEX, ""});
	struct snapshot *snapshot = make_snapshot(example);

	(void)state;
	assert_int_equal(value_of(snapshot, example).wait.threads, 5);
	assert_int_equal(value_of(snapshot, example).wait.sharing, 3);
	/* two of four are no majority */
	example.count = 5;
	snapshot->wait_object[4] = snapshot->wait_object[1];
	assert_int_equal(value_of(snapshot, example).wait.sharing, 0);
	example.count = 1;
	example.by_thread = true;
	assert_int_equal(value_of(snapshot, example).wait.sharing, 1);
	snapshot_release(snapshot);
}

/* A snapshot without the columns. */
static void test_missing(void **state)
{
	struct example example = EXAMPLE({0, WAIT_CLASS_FUTEX, ""});
	struct snapshot *snapshot = make_snapshot(example);

	(void)state;
	free(snapshot->wait_class);
	free(snapshot->wait_object);
	snapshot->wait_class = NULL;
	snapshot->wait_object = NULL;
	assert_int_equal(value_of(snapshot, example).state, VALUE_UNAVAILABLE);
	assert_int_equal(value_of(snapshot, example).reason, REASON_NOT_IN_FILE);
	snapshot->default_reason[SOURCE_WAIT] = REASON_SWITCHED_OFF;
	assert_int_equal(value_of(snapshot, example).reason, REASON_SWITCHED_OFF);
	snapshot_release(snapshot);
}

/* Rows are sorted by class, then by threads. */
static void test_order(void **state)
{
	const struct example examples[] = {
		{(const struct waiter[]){{0, WAIT_CLASS_CPU, ""}}, 1, false},
		{(const struct waiter[]){{0, WAIT_CLASS_FUTEX, "a"}, {0, WAIT_CLASS_FUTEX, "b"}}, 2, false},
		{(const struct waiter[]){{0, WAIT_CLASS_FUTEX, "a"}}, 1, false},
		{(const struct waiter[]){{0, WAIT_CLASS_KERNEL_IDLE, ""}, {0, WAIT_CLASS_KERNEL_IDLE, ""}}, 2,
		 false},
	};
	double before = INFINITY;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(examples); i++) {
		struct snapshot *snapshot = make_snapshot(examples[i]);
		const double sort = value_of(snapshot, examples[i]).sort;

		assert_true(sort < before);
		before = sort;
		snapshot_release(snapshot);
	}
}

/* The row 0 of two hosts together. */
static void expect_merged(struct example first, struct example second, const char *wanted)
{
	const struct example examples[] = {first, second};
	struct accumulator merged = {.read = 0};
	struct column_values like = {0};
	struct shown row = {.row_count = 1};
	struct arena arena = {0};
	struct buffer text = {0};
	struct cell cell;

	for (size_t i = 0; i < ARRAY_COUNT(examples); i++) {
		struct snapshot *snapshot = make_snapshot(examples[i]);
		struct column_values values;
		struct shown shown;

		reduce(snapshot, examples[i], &shown, &values);
		reduce_merge(&values, 0, &merged);
		like = values;
		column_values_release(&values);
		shown_release(&shown);
		snapshot_release(snapshot);
	}
	like.now = NULL;
	like.accumulators = &merged;
	column_cell(&row, &like, 0, &arena, &cell);
	screen_format_cell(&text, &cell, &screen_marks_utf8);
	assert_string_equal(text.data, wanted);
	if (cell.state == CELL_UNAVAILABLE)
		assert_int_equal(cell.reason, REASON_SEVERAL_HOSTS);
	buffer_release(&text);
	arena_release(&arena);
}

static void test_hosts(void **state)
{
	const struct example futexes = EXAMPLE({0, WAIT_CLASS_FUTEX, "0x1"}, {0, WAIT_CLASS_FUTEX, "0x1"},
					       {0, WAIT_CLASS_POLL, ""});
	const struct example idle = EXAMPLE({0, WAIT_CLASS_KERNEL_IDLE, ""});
	const struct example stopped = EXAMPLE({0, WAIT_CLASS_STOPPED, ""});
	const struct example polls = EXAMPLE({0, WAIT_CLASS_POLL, ""}, {0, WAIT_CLASS_POLL, ""});
	const struct example unknown = EXAMPLE({0, WAIT_CLASS_UNKNOWN, ""});

	(void)state;
	/* an address of one host means nothing on another */
	expect_merged(futexes, futexes, "futex ×4");
	expect_merged(idle, futexes, "futex ×2");
	expect_merged(futexes, idle, "futex ×2");
	expect_merged(unknown, futexes, "futex ×2");
	expect_merged(idle, idle, "kernel idle ×2");
	/* the second most of one may be the most of both */
	expect_merged(futexes, polls, "·");
	expect_merged(idle, stopped, "·");
}

static void expect_narrow(const struct cell *cell, int cells, const char *wanted)
{
	struct buffer text = {0};

	screen_format_narrow(&text, cell, &screen_marks_utf8, cells);
	assert_string_equal(text.data, wanted);
	buffer_release(&text);
}

/* In narrow columns the class and the number stay. */
static void test_widths(void **state)
{
	const struct cell group = {.state = CELL_VALUE,
				   .form = CELL_FORM_TEXT,
				   .text = "futex 0x7f3a12c0 38",
				   .head = 5,
				   .counted = true};
	const struct cell thread = {
		.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "socket :5432 postgres", .head = 6};
	const struct cell plain = {
		.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "poll 2", .head = 4, .counted = true};
	struct buffer text = {0};

	(void)state;
	expect_narrow(&group, 20, "futex 0x7f3a12c0 ×38");
	expect_narrow(&group, 19, "futex 0x7f…12c0 ×38");
	expect_narrow(&group, 16, "futex 0x7…c0 ×38");
	/* too little of an address is left out */
	expect_narrow(&group, 15, "futex ×38");
	expect_narrow(&group, 9, "futex ×38");
	expect_narrow(&thread, 21, "socket :5432 postgres");
	/* the first word says most */
	expect_narrow(&thread, 20, "socket :5432");
	expect_narrow(&thread, 12, "socket :5432");
	expect_narrow(&thread, 11, "socket");
	expect_narrow(&plain, 12, "poll ×2");
	/* in ASCII, and for programs as it is */
	screen_format_cell(&text, &group, &screen_marks_ascii);
	assert_string_equal(text.data, "futex 0x7f3a12c0 x38");
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),   cmocka_unit_test(test_groups),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_rests),
		cmocka_unit_test(test_unknown),   cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_missing),   cmocka_unit_test(test_order),
		cmocka_unit_test(test_hosts),     cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
