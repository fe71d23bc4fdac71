/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot/metric_reader.h"
#include "snapshot/ended_set.h"
#include "snapshot/snapshot.h"
#include "table/table.h"

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

static void test_threads_keep_their_columns(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	snapshot->provenance.boottime_ns = 77;
	snapshot->default_reason[SOURCE_IO] = REASON_NOT_PERMITTED;
	assert_int_equal(snapshot_add_thread(snapshot, 10, 10), 0);
	snapshot_column(snapshot, METRIC_MINFLT)[0] = 5;
	snapshot_source_reasons(snapshot, SOURCE_IO)[0] = REASON_READ;
	snapshot_read_times(snapshot, SOURCE_STAT)[0] = 5;
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->waiting_ns[0] = 6;
	for (uint32_t i = 1; i < 1000; i++) {
		assert_int_equal(snapshot_add_thread(snapshot, 10, 10 + i), i);
		assert_int_equal(snapshot->stuck_ns[i], 0);
		assert_int_equal(snapshot->waiting_ns[i], 0);
		snapshot->stuck_ns[i] = snapshot->waiting_ns[i] = i;
		assert_int_equal(snapshot->values[METRIC_MINFLT][i], 0);
		snapshot->values[METRIC_MINFLT][i] = i;
	}
	assert_int_equal(snapshot->thread_count, 1000);
	assert_true(snapshot->thread_capacity >= 1000);
	assert_int_equal(snapshot->waiting_ns[0], 6);
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_MINFLT), 5);
	assert_int_equal(snapshot_value(snapshot, 999, METRIC_MINFLT), 999);
	assert_int_equal(snapshot_value(snapshot, 999, METRIC_MAJFLT), 0);
	assert_int_equal(snapshot_value(snapshot, 999, METRIC_THREAD_COUNT), 1);
	assert_int_equal(snapshot->tid[999], 1009);
	assert_int_equal(snapshot->uid[999], UINT32_MAX);
	assert_int_equal(snapshot->source_reason[SOURCE_IO][0], REASON_READ);
	assert_int_equal(snapshot->source_reason[SOURCE_IO][999], REASON_NOT_PERMITTED);
	assert_int_equal(snapshot_read_time(snapshot, 0, METRIC_MINFLT), 5);
	assert_int_equal(snapshot_read_time(snapshot, 999, METRIC_MINFLT), 77);
	assert_int_equal(snapshot_read_time(snapshot, 999, METRIC_RCHAR), 77);
	snapshot_release(snapshot);
}

/* Columns keep their values when they are enlarged, and are zeroed when they are made again. */
static void test_reserved_threads(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	const size_t count = 9000;

	(void)state;
	snapshot_add_thread(snapshot, 1, 1);
	snapshot_column(snapshot, METRIC_MINFLT)[0] = 5;
	for (size_t expected = 4500; expected <= count; expected *= 2) {
		snapshot_reserve(snapshot, expected);
		assert_int_equal(snapshot->thread_capacity, expected);
		for (uint32_t i = (uint32_t)snapshot->thread_count; i < expected; i++)
			snapshot_column(snapshot, METRIC_MINFLT)[snapshot_add_thread(snapshot, 1, i)] = i;
		snapshot_column(snapshot, METRIC_MAJFLT)[expected - 1] = expected;
	}
	assert_int_equal(snapshot->values[METRIC_MINFLT][0], 5);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(snapshot->values[METRIC_MINFLT][i], i);
	assert_int_equal(snapshot->values[METRIC_MAJFLT][4499], 4500);
	assert_int_equal(snapshot->values[METRIC_MAJFLT][count - 1], count);
	for (size_t i = 0; i < 2; i++) {
		snapshot_drop_column(snapshot, METRIC_MAJFLT);
		assert_null(snapshot->values[METRIC_MAJFLT]);
		assert_int_equal(snapshot_column(snapshot, METRIC_MAJFLT)[count - 1], 0);
		memset(snapshot->values[METRIC_MAJFLT], 0xff, count * sizeof(uint64_t));
	}
	assert_int_equal(snapshot->values[METRIC_MINFLT][count - 1], count - 1);
	snapshot_add_thread(snapshot, 1, 1);
	assert_int_equal(snapshot->values[METRIC_MAJFLT][0], UINT64_MAX);
	assert_int_equal(snapshot->values[METRIC_MAJFLT][count], 0);
	assert_int_equal(snapshot->values[METRIC_MINFLT][count - 1], count - 1);
	snapshot_release(snapshot);
}

/* A column whose values the caller sets has none for threads that are added later. */
static void test_bare_column(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	uint64_t *column;

	(void)state;
	snapshot_reserve(snapshot, 500);
	snapshot_add_thread(snapshot, 1, 1);
	snapshot_column(snapshot, METRIC_MINFLT)[0] = 5;
	/* memory that is likely to be given out again, with what it held */
	memset(snapshot_column(snapshot, METRIC_MAJFLT), 0xff, 500 * sizeof(*column));
	snapshot_drop_column(snapshot, METRIC_MAJFLT);
	column = snapshot_bare_column(snapshot, METRIC_MINFLT);
	assert_ptr_equal(snapshot->values[METRIC_MINFLT], column);
	column[0] = 6;
	for (uint32_t i = 1; i < 1000; i++) {
		assert_int_equal(snapshot_add_thread(snapshot, 1, i + 1), i);
		assert_int_equal(snapshot_value(snapshot, i, METRIC_MINFLT), 0);
	}
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_MINFLT), 6);
	snapshot_release(snapshot);
}

static struct snapshot *make_threads(uint32_t count, size_t room)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot_reserve(snapshot, room);
	for (uint32_t i = 0; i < count; i++)
		snapshot_add_thread(snapshot, 1, i + 1);
	return snapshot;
}

/* Snapshots of the same threads have one column until one of them gets another value. */
static void test_shared_column(void **state)
{
	struct snapshot *first = make_threads(3, 8), *second = make_threads(3, 8),
			*third = make_threads(3, 8);
	struct snapshot *more = make_threads(4, 8), *roomy = make_threads(3, 9);

	(void)state;
	assert_false(snapshot_share_column(second, first, METRIC_MINFLT));
	snapshot_store(first, 1, METRIC_MINFLT, 5);
	assert_true(snapshot_share_column(second, first, METRIC_MINFLT));
	assert_true(snapshot_share_column(third, second, METRIC_MINFLT));
	assert_false(snapshot_share_column(third, second, METRIC_MINFLT));
	assert_false(snapshot_share_column(more, first, METRIC_MINFLT));
	assert_false(snapshot_share_column(roomy, first, METRIC_MINFLT));
	/* the same value copies nothing, another one does */
	snapshot_store(second, 1, METRIC_MINFLT, 5);
	assert_ptr_equal(second->values[METRIC_MINFLT], first->values[METRIC_MINFLT]);
	snapshot_store(second, 2, METRIC_MINFLT, 7);
	assert_int_equal(snapshot_value(first, 2, METRIC_MINFLT), 0);
	assert_int_equal(snapshot_value(second, 1, METRIC_MINFLT), 5);
	assert_int_equal(snapshot_value(second, 2, METRIC_MINFLT), 7);
	assert_ptr_equal(third->values[METRIC_MINFLT], first->values[METRIC_MINFLT]);
	snapshot_release(first);
	assert_int_equal(snapshot_value(third, 1, METRIC_MINFLT), 5);
	/* what has it alone writes it in place; more room is of its own */
	assert_false(snapshot_share_column(third, second, METRIC_MAJFLT));
	snapshot_store(third, 0, METRIC_MINFLT, 9);
	assert_int_equal(snapshot_value(second, 0, METRIC_MINFLT), 0);
	snapshot_store(second, 0, METRIC_MAJFLT, 3);
	assert_true(snapshot_share_column(third, second, METRIC_MAJFLT));
	snapshot_reserve(third, 100);
	snapshot_store(third, 99, METRIC_MAJFLT, 4);
	assert_int_equal(snapshot_value(third, 0, METRIC_MAJFLT), 3);
	snapshot_release(second);
	assert_int_equal(snapshot_value(third, 0, METRIC_MAJFLT), 3);
	snapshot_release(third);
	snapshot_release(more);
	snapshot_release(roomy);
}

static void test_references(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	assert_ptr_equal(snapshot_reference(snapshot), snapshot);
	snapshot_release(snapshot);
	assert_int_equal(snapshot->thread_count, 0);
	snapshot_release(snapshot);
	snapshot_release(NULL);
}

static void test_triples_are_distinct(void **state)
{
	struct snapshot *snapshot = snapshot_create();

	(void)state;
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(snapshot_intern_triple(snapshot, (struct triple){i, i + 1, i / 2}), i);
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(snapshot_intern_triple(snapshot, (struct triple){i, i + 1, i / 2}), i);
	assert_int_equal(snapshot->triple_count, 500);
	/* in another order, and new ones of strings that are there */
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t j = i * 7 % 500;

		assert_int_equal(snapshot_intern_triple(snapshot, (struct triple){j, j + 1, j / 2}), j);
		assert_int_equal(snapshot_find_triple(snapshot, (struct triple){j, j + 1, j}),
				 j == 0 ? 0 : UINT32_MAX);
	}
	for (uint32_t i = 1; i < 500; i++)
		assert_int_equal(snapshot_intern_triple(snapshot, (struct triple){i, i + 1, i}), 499 + i);
	for (uint32_t i = 1; i < 500; i++) {
		assert_int_equal(snapshot_find_triple(snapshot, (struct triple){i, i + 1, i}), 499 + i);
		assert_int_equal(snapshot_find_triple(snapshot, (struct triple){i, i + 1, i / 2}), i);
	}
	assert_int_equal(snapshot->triple_count, 999);
	snapshot_release(snapshot);
}

/* A thread whose process and itself have a name. */
static uint32_t add_named(struct snapshot *snapshot, const char *name)
{
	const size_t thread = snapshot_add_thread(snapshot, 1, (uint32_t)snapshot->thread_count + 1);
	const uint32_t id = snapshot_intern_name(&snapshot->strings, name, strlen(name));

	return snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){id, id, 0});
}

static void test_names_go_on(void **state)
{
	static const char *const names[] = {"web", "db", "cache"};
	struct snapshot *first = snapshot_create(), *second = snapshot_create(), *third = snapshot_create();
	const struct triple mixed = {1, 2, 0};

	(void)state;
	snapshot_begin_names(first, NULL);
	assert_true(first->names_serial == first->serial);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(add_named(first, names[i]), i);
	snapshot_finish(first);
	snapshot_begin_names(second, first);
	assert_true(second->names_serial == first->names_serial);
	/* in any order; what is new comes behind */
	for (uint32_t i = 3; i > 0; i--)
		assert_int_equal(add_named(second, names[i - 1]), i - 1);
	assert_int_equal(add_named(second, "new"), 3);
	assert_int_equal(snapshot_intern_triple(second, mixed), 4);
	snapshot_finish(second);
	assert_int_equal(first->triple_count, 3);
	snapshot_release(first);
	snapshot_begin_names(third, second);
	snapshot_release(second);
	assert_int_equal(snapshot_intern_triple(third, mixed), 4);
	assert_int_equal(add_named(third, "new"), 3);
	assert_string_equal(snapshot_text(third, third->triples[1].comm), "db");
	assert_int_equal(third->triple_count, 5);
	snapshot_release(third);
}

/* A name that nobody else ever had in each: those that are gone do not stay for ever. */
static void test_old_names_go(void **state)
{
	struct snapshot *before = NULL;
	uint64_t last = 0;
	size_t begun = 0;

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		struct snapshot *snapshot = snapshot_create();
		char name[32];
		uint32_t triple;

		snprintf(name, sizeof(name), "name-%u", i);
		snapshot_begin_names(snapshot, before);
		add_named(snapshot, "always");
		triple = add_named(snapshot, name);
		assert_string_equal(snapshot_text(snapshot, snapshot->triples[triple].comm), name);
		snapshot_finish(snapshot);
		begun += snapshot->names_serial != last;
		last = snapshot->names_serial;
		assert_in_range(snapshot->strings.count + snapshot->triple_count, 4, 1100);
		snapshot_release(before);
		before = snapshot;
	}
	assert_in_range(begun, 2, 50);
	snapshot_release(before);
}

static void test_tally(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct tally tally;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		snapshot_add_thread(snapshot, 10, 10 + i);
	snapshot->thread_flags[1] = THREAD_JEMALLOC_MEASURED;
	snapshot->thread_flags[3] = THREAD_KERNEL;
	snapshot_tally(snapshot, SOURCE_STAT, &tally);
	assert_int_equal(tally.read, 4);
	snapshot->default_reason[SOURCE_STAT] = REASON_NOT_READ;
	snapshot_tally(snapshot, SOURCE_STAT, &tally);
	assert_int_equal(tally.read, 0);
	assert_int_equal(tally.missed[REASON_NOT_READ], 4);
	/* not those that it does not apply to */
	snapshot_tally(snapshot, SOURCE_IO, &tally);
	assert_int_equal(tally.read, 3);
	snapshot_tally(snapshot, SOURCE_SMAPS_ROLLUP, &tally);
	assert_int_equal(tally.read, 1);
	snapshot_tally(snapshot, SOURCE_JEMALLOC, &tally);
	assert_int_equal(tally.read, 1);
	snapshot_source_reasons(snapshot, SOURCE_IO)[0] = REASON_NOT_PERMITTED;
	snapshot_source_reasons(snapshot, SOURCE_IO)[3] = REASON_NOT_PERMITTED;
	snapshot_tally(snapshot, SOURCE_IO, &tally);
	assert_int_equal(tally.read, 2);
	assert_int_equal(tally.missed[REASON_NOT_PERMITTED], 1);
	snapshot_release(snapshot);
}

static void test_finish_sorts_and_keeps_the_last(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	uint32_t b = intern(snapshot, "/b"), a = intern(snapshot, "/a"), ab = intern(snapshot, "/a/b");

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		snapshot_add_thread(snapshot, i, i);
	snapshot_add_cgroup(snapshot, b)->memory_current = 1;
	assert_int_equal(snapshot_add_cgroup(snapshot, ab)->max_period_us, 100000);
	snapshot_add_cgroup(snapshot, a);
	snapshot_add_cgroup(snapshot, b)->memory_current = 2;
	snapshot_add_exception(snapshot, 3, METRIC_MINFLT, REASON_BAD_VALUE);
	snapshot_add_exception(snapshot, 1, METRIC_WAIT_SUM, REASON_ENDED);
	snapshot_add_exception(snapshot, 1, METRIC_MINFLT, REASON_ENDED);
	snapshot_add_exception(snapshot, 3, METRIC_MINFLT, REASON_READ);
	snapshot_add_smaps(snapshot, 3)->kib.count = 0;
	snapshot_add_smaps(snapshot, 1);
	snapshot_finish(snapshot);
	assert_int_equal(snapshot->cgroup_count, 3);
	assert_int_equal(snapshot->cgroups[0].path, a);
	assert_int_equal(snapshot->cgroups[1].path, ab);
	assert_int_equal(snapshot->cgroups[2].path, b);
	assert_int_equal(snapshot->cgroups[2].memory_current, 2);
	assert_int_equal(snapshot->exception_count, 3);
	assert_int_equal(snapshot_find_exception(snapshot, 3, METRIC_MINFLT)->reason, REASON_READ);
	assert_int_equal(snapshot_find_exception(snapshot, 1, METRIC_WAIT_SUM)->reason, REASON_ENDED);
	assert_null(snapshot_find_exception(snapshot, 2, METRIC_MINFLT));
	assert_int_equal(snapshot_find_smaps(snapshot, 1)->thread, 1);
	assert_int_equal(snapshot_find_smaps(snapshot, 3)->thread, 3);
	assert_null(snapshot_find_smaps(snapshot, 2));
	snapshot_release(snapshot);
}

/* A snapshot of one process: its leader and a second thread, with ctop's own knowledge. */
static struct snapshot *known_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = true;
	snapshot_add_thread(snapshot, 1, 1);
	snapshot_add_thread(snapshot, 1, 2);
	return snapshot;
}

static void expect(const struct snapshot *snapshot, size_t thread, enum metric metric, uint16_t state)
{
	assert_int_equal(snapshot_value_state(snapshot, thread, metric), state);
}

static void test_state_by_source_metric_and_exception(void **state)
{
	struct snapshot *snapshot = known_snapshot();

	(void)state;
	expect(snapshot, 0, METRIC_RCHAR, REASON_READ);
	snapshot->default_reason[SOURCE_IO] = REASON_NOT_READ;
	expect(snapshot, 0, METRIC_RCHAR, REASON_NOT_READ);
	snapshot_source_reasons(snapshot, SOURCE_IO)[1] = REASON_NOT_PERMITTED;
	expect(snapshot, 1, METRIC_RCHAR, REASON_NOT_PERMITTED);
	snapshot->metric_reason[METRIC_RCHAR] = REASON_NOT_IN_KERNEL;
	expect(snapshot, 1, METRIC_RCHAR, REASON_NOT_IN_KERNEL);
	expect(snapshot, 1, METRIC_WCHAR, REASON_NOT_PERMITTED);
	snapshot_add_exception(snapshot, 1, METRIC_RCHAR, REASON_READ);
	snapshot_add_exception(snapshot, 0, METRIC_RCHAR, REASON_BAD_VALUE);
	snapshot_finish(snapshot);
	expect(snapshot, 1, METRIC_RCHAR, REASON_READ);
	expect(snapshot, 0, METRIC_RCHAR, REASON_BAD_VALUE);
	snapshot_release(snapshot);
}

static void test_state_of_parts_and_equivalents(void **state)
{
	struct snapshot *snapshot = known_snapshot();

	(void)state;
	snapshot->default_reason[SOURCE_SCHED] = REASON_NOT_PERMITTED;
	expect(snapshot, 0, METRIC_WAIT_SUM, REASON_NOT_PERMITTED);
	snapshot->default_reason[SOURCE_SCHEDSTATS] = REASON_SWITCHED_OFF;
	expect(snapshot, 0, METRIC_WAIT_SUM, REASON_SWITCHED_OFF);
	expect(snapshot, 0, METRIC_NR_MIGRATIONS, REASON_NOT_PERMITTED);
	snapshot->default_reason[SOURCE_SCHEDSTAT] = REASON_NOT_READ;
	expect(snapshot, 0, METRIC_RUN_TIME_NS, REASON_NOT_READ);
	snapshot->metric_source[METRIC_RUN_TIME_NS] = SOURCE_TASKSTATS;
	expect(snapshot, 0, METRIC_RUN_TIME_NS, REASON_READ);
	snapshot_read_times(snapshot, SOURCE_SCHED)[0] = 9;
	assert_int_equal(snapshot_read_time(snapshot, 0, METRIC_WAIT_SUM), 9);
	snapshot_release(snapshot);
}

static void test_what_does_not_apply_is_absent(void **state)
{
	struct snapshot *snapshot = known_snapshot();

	(void)state;
	snapshot->thread_flags[0] |= THREAD_KERNEL;
	snapshot->default_reason[SOURCE_IO] = REASON_NOT_PERMITTED;
	expect(snapshot, 0, METRIC_RCHAR, STATE_ABSENT);
	expect(snapshot, 1, METRIC_RCHAR, REASON_NOT_PERMITTED);
	expect(snapshot, 0, METRIC_HIWATER_RSS_BYTES, STATE_ABSENT);
	expect(snapshot, 0, METRIC_BLOCK_SUM, STATE_ABSENT);
	expect(snapshot, 0, METRIC_BLOCK_MAX, STATE_ABSENT);
	expect(snapshot, 0, METRIC_IOWAIT_SUM, REASON_READ);
	expect(snapshot, 1, METRIC_BLOCK_SUM, REASON_READ);
	expect(snapshot, 0, METRIC_NR_THREADS, REASON_READ);
	expect(snapshot, 1, METRIC_NR_THREADS, STATE_ABSENT);
	expect(snapshot, 1, METRIC_ALLOCATED_BYTES, STATE_ABSENT);
	snapshot->thread_flags[1] |= THREAD_JEMALLOC_MEASURED;
	expect(snapshot, 1, METRIC_ALLOCATED_BYTES, REASON_READ);
	snapshot->thread_flags[1] = 0;
	snapshot_source_reasons(snapshot, SOURCE_JEMALLOC)[1] = REASON_NEEDS_STOP;
	expect(snapshot, 1, METRIC_ALLOCATED_BYTES, REASON_NEEDS_STOP);
	expect(snapshot, 1, METRIC_FAIR_SLICE_NS, REASON_READ);
	snapshot_column(snapshot, METRIC_POLICY)[1] = intern(snapshot, "SCHED_FIFO");
	expect(snapshot, 1, METRIC_FAIR_SLICE_NS, STATE_ABSENT);
	snapshot->values[METRIC_POLICY][1] = intern(snapshot, "SCHED_EXT");
	expect(snapshot, 1, METRIC_FAIR_SLICE_NS, REASON_READ);
	expect(snapshot, 1, METRIC_THREAD_COUNT, REASON_READ);
	snapshot_release(snapshot);
}

static void test_state_by_flags(void **state)
{
	static const struct {
		enum metric metric;
		uint8_t flags;
	} families[] = {
		{METRIC_CPU_DELAY_COUNT, THREAD_TASKSTATS_MEASURED | THREAD_CPU_DELAY_ACTIVE},
		{METRIC_IRQ_DELAY_COUNT, THREAD_TASKSTATS_MEASURED | THREAD_DELAY_BLOCK_ACTIVE},
		{METRIC_HIWATER_VM_BYTES, THREAD_TASKSTATS_MEASURED | THREAD_XACCT_ACTIVE},
		{METRIC_ALLOCATED_BYTES, THREAD_JEMALLOC_MEASURED},
	};
	struct snapshot *snapshot = known_snapshot();

	(void)state;
	snapshot->default_reason[SOURCE_IO] = REASON_NOT_PERMITTED;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		for (unsigned int flags = 0; flags < 64; flags++) {
			bool measured = (flags & families[i].flags) == families[i].flags;

			snapshot->thread_flags[0] = (uint8_t)flags;
			assert_int_equal(snapshot_flagged_state(snapshot, 0, families[i].metric),
					 measured ? REASON_READ : STATE_ABSENT);
		}
	}
	assert_int_equal(snapshot_flagged_state(snapshot, 0, METRIC_RCHAR), REASON_READ);
	snapshot->thread_flags[0] = THREAD_KERNEL;
	assert_int_equal(snapshot_flagged_state(snapshot, 0, METRIC_BLOCK_SUM), REASON_READ);
	snapshot->provenance.present = false;
	expect(snapshot, 0, METRIC_RCHAR, REASON_READ);
	snapshot_release(snapshot);
}

static void expect_ranges(struct string_pool *pool, uint32_t id, const char *expected)
{
	struct buffer buffer = {0};

	buffer_append_text(&buffer, "");
	cpu_set_append_ranges(pool, id, &buffer);
	buffer_append_char(&buffer, '.');
	assert_int_equal(strncmp(buffer.data, expected, strlen(expected)), 0);
	assert_int_equal(buffer.length, strlen(expected) + 1);
	buffer_release(&buffer);
}

static void test_cpu_set_parse(void **state)
{
	static const struct {
		const char *text;
		const char *ranges; /* NULL: invalid */
	} cases[] = {
		{"3,0-2,1,2", "0-3"},
		{"0-3,8", "0-3,8"},
		{" 1 , 4-5 ,,", "1,4-5"},
		{"1 - 2", NULL}, /* blanks are trimmed around an item only */
		{"", NULL},
		{",", NULL},
		{"3-1", NULL},
		{"a", NULL},
		{"1-", NULL},
		{"-1", NULL},
		{"0-65535", "0-65535"},
		{"0-65536", NULL},
		{"1,x", NULL},
		{"4294967295,0", "0,4294967295"},
	};
	struct string_pool pool = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = 99;

		assert_int_equal(cpu_set_parse(&pool, cases[i].text, strlen(cases[i].text), &id),
				 cases[i].ranges != NULL);
		if (cases[i].ranges != NULL)
			expect_ranges(&pool, id, cases[i].ranges);
		else
			assert_int_equal(id, 99);
	}
	string_pool_release(&pool);
}

static void test_cpu_set_keeps_file_order(void **state)
{
	static const uint32_t cpus[] = {5, 4, 0, 1, 1};
	struct string_pool pool = {0};
	uint32_t id = cpu_set_intern(&pool, cpus, 5);

	(void)state;
	assert_int_equal(cpu_set_intern(&pool, cpus, 0), 0);
	assert_int_equal(cpu_set_count(&pool, 0), 0);
	assert_int_equal(cpu_set_intern(&pool, cpus, 5), id);
	assert_int_equal(cpu_set_count(&pool, id), 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(cpu_set_cpus(&pool, id)[i], cpus[i]);
	expect_ranges(&pool, id, "5,4,0-1,1");
	expect_ranges(&pool, 0, "");
	string_pool_release(&pool);
}

static void test_table(void **state)
{
	struct table *table = table_create("primary", 3);

	(void)state;
	assert_string_equal(table->section, "primary");
	assert_int_equal(table->sort_column, SIZE_MAX);
	for (uint32_t i = 0; i < 100; i++) {
		struct table_row *row = table_add_row(table);

		assert_int_equal(row->thread, UINT32_MAX);
		for (size_t j = 0; j < 3; j++)
			assert_int_equal(row->cells[j].state, CELL_EMPTY);
		row->cells[2].value.integer = i;
	}
	assert_int_equal(table->row_count, 100);
	assert_int_equal(table->row_total, 100);
	assert_int_equal(table->rows[99].cells[2].value.integer, 99);
	for (size_t i = 0; i < UNIT_TOTAL; i++)
		assert_non_null(unit_names[i]);
	for (size_t i = 0; i < TIME_PART_COUNT; i++)
		assert_non_null(table_bar_names[i]);
	table_release(table);
	table_release(NULL);
}

static void test_name_tables_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++)
		assert_non_null(cgroup_file_names[i]);
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++)
		assert_non_null(pressure_resource_names[i]);
	for (size_t i = 0; i < PARSE_FILE_COUNT; i++)
		assert_true(i == 0 || strcmp(parse_file_names[i - 1], parse_file_names[i]) < 0);
	for (size_t i = 0; i < NAMESPACE_COUNT; i++)
		assert_non_null(namespace_names[i]);
	for (size_t i = 0; i < ROOT_COUNT; i++)
		assert_non_null(root_names[i]);
}

/* A snapshot of `count` threads with a value, a reason, a wait and, each third, an exception of their own. */
static struct snapshot *own_values(uint32_t count)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot_add_thread(snapshot, 1, 1);
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot_column(snapshot, METRIC_MINFLT)[0] = 1;
	snapshot_column(snapshot, METRIC_NICE)[0] = 1;
	snapshot_source_reasons(snapshot, SOURCE_IO)[0] = 1;
	for (uint32_t i = 2; i <= count; i++) {
		size_t thread = snapshot_add_thread(snapshot, 1, i);

		snapshot->values[METRIC_MINFLT][thread] = i;
		snapshot->values[METRIC_NICE][thread] = i;
		snapshot->source_reason[SOURCE_IO][thread] = (reason_id)(i % 7);
		snapshot->waiting_ns[thread] = i;
		if (i % 3 == 0)
			snapshot_add_exception(snapshot, thread, METRIC_MAJFLT, REASON_NOT_READ);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void expect_excerpt(uint32_t count)
{
	struct snapshot *snapshot = own_values(count), *excerpt;
	bool *kept = memory_allocate_zero(count, sizeof(*kept));
	uint32_t *new_row, expected = 0;

	for (uint32_t i = 0; i < count; i += 2)
		kept[i] = true;
	excerpt = snapshot_excerpt(snapshot, kept, &new_row);
	snapshot_release(snapshot);
	assert_int_equal(excerpt->thread_count, (count + 1) / 2);
	assert_null(excerpt->values[METRIC_NICE]);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t row = new_row[i];

		assert_int_equal(row, i % 2 == 0 ? expected++ : UINT32_MAX);
		if (row == UINT32_MAX)
			continue;
		assert_int_equal(excerpt->tid[row], i + 1);
		assert_int_equal(snapshot_value(excerpt, row, METRIC_MINFLT), i + 1);
		assert_int_equal(excerpt->waiting_ns[row], i == 0 ? 0 : i + 1);
		assert_int_equal(snapshot_source_reason(excerpt, row, SOURCE_IO), (i + 1) % 7);
		assert_int_equal(snapshot_find_exception(excerpt, row, METRIC_MAJFLT) != NULL,
				 (i + 1) % 3 == 0);
	}
	free(new_row);
	free(kept);
	snapshot_release(excerpt);
}

static void test_excerpt(void **state)
{
	(void)state;
	expect_excerpt(1);
	expect_excerpt(999);
	expect_excerpt(5000);
}

/* What an excerpt has of disks is its own: it outlives the snapshot. */
static void test_excerpt_of_devices(void **state)
{
	struct snapshot *snapshot = own_values(2), *excerpt;
	struct devices *devices = &snapshot->provenance.devices;
	const bool kept[2] = {true, false};
	const struct device *disk;
	uint32_t *new_row;

	(void)state;
	devices->cpus = arena_allocate_zero(&snapshot->arena, 1, sizeof(*devices->cpus));
	devices->cpus[0].all = 5;
	devices->disks = arena_allocate_zero(&snapshot->arena, 1, sizeof(*devices->disks));
	devices->disks[0].name = arena_duplicate(&snapshot->arena, "sda", 3);
	devices->cpu_count = devices->disk_count = 1;
	disk = devices->disks;
	excerpt = snapshot_excerpt(snapshot, kept, &new_row);
	devices = &excerpt->provenance.devices;
	assert_ptr_not_equal(devices->disks, disk);
	assert_ptr_not_equal(devices->disks[0].name, disk->name);
	snapshot_release(snapshot);
	assert_int_equal(devices->cpu_count, 1);
	assert_int_equal(devices->cpus[0].all, 5);
	assert_int_equal(devices->disk_count, 1);
	assert_string_equal(devices->disks[0].name, "sda");
	assert_int_equal(devices->network_count, 0);
	free(new_row);
	snapshot_release(excerpt);
}

/* Rows that an excerpt lacks can be added from another snapshot. */
static void test_rows_come_back(void **state)
{
	struct snapshot *whole = own_values(5000), *from = own_values(100), *snapshot;
	bool *kept = memory_allocate_zero(5000, sizeof(*kept));
	const uint32_t rows[] = {40, 7};
	uint32_t *new_row;

	(void)state;
	kept[4000] = true;
	snapshot = snapshot_excerpt(whole, kept, &new_row);
	snapshot_take_rows(snapshot, from, rows, 2);
	assert_int_equal(snapshot->thread_count, 3);
	assert_int_equal(snapshot_value(snapshot, 0, METRIC_MINFLT), 4001);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(snapshot->tid[i + 1], rows[i] + 1);
		assert_int_equal(snapshot->start_time[i + 1], from->start_time[rows[i]]);
		assert_int_equal(snapshot_value(snapshot, i + 1, METRIC_MINFLT), rows[i] + 1);
		assert_int_equal(snapshot_source_reason(snapshot, i + 1, SOURCE_IO), (rows[i] + 1) % 7);
		assert_int_equal(snapshot->waiting_ns[i + 1], 0);
	}
	assert_null(snapshot->values[METRIC_NICE]);
	free(new_row);
	free(kept);
	snapshot_release(snapshot);
	snapshot_release(whole);
	snapshot_release(from);
}

/* The new snapshot differs only in its ended threads, and the finished one does not change. */
static void test_with_ended(void **state)
{
	struct snapshot *snapshot = known_snapshot(), *other;
	struct ended_set *own = ended_set_create(), *more = ended_set_create();

	(void)state;
	own->lost = 1;
	more->lost = 2;
	snapshot->ended = own;
	other = snapshot_with_ended(snapshot, more);
	assert_ptr_equal(snapshot->ended, own);
	assert_ptr_equal(other->ended, more);
	assert_int_equal(other->serial, snapshot->serial);
	assert_int_equal(other->thread_count, snapshot->thread_count);
	/* `other` still works after the finished snapshot is released */
	snapshot_release(snapshot);
	assert_int_equal(other->whole->ended->lost, 1);
	assert_int_equal(other->ended->lost, 2);
	snapshot_release(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_keep_their_columns),
		cmocka_unit_test(test_reserved_threads),
		cmocka_unit_test(test_bare_column),
		cmocka_unit_test(test_shared_column),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_triples_are_distinct),
		cmocka_unit_test(test_names_go_on),
		cmocka_unit_test(test_old_names_go),
		cmocka_unit_test(test_tally),
		cmocka_unit_test(test_finish_sorts_and_keeps_the_last),
		cmocka_unit_test(test_state_by_source_metric_and_exception),
		cmocka_unit_test(test_state_of_parts_and_equivalents),
		cmocka_unit_test(test_what_does_not_apply_is_absent),
		cmocka_unit_test(test_state_by_flags),
		cmocka_unit_test(test_cpu_set_parse),
		cmocka_unit_test(test_cpu_set_keeps_file_order),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_name_tables_are_whole),
		cmocka_unit_test(test_excerpt),
		cmocka_unit_test(test_excerpt_of_devices),
		cmocka_unit_test(test_rows_come_back),
		cmocka_unit_test(test_with_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
