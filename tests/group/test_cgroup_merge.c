/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <string.h>

#include "window/cgroup_merge.h"

static struct cgroup_record *add_record(struct snapshot *snapshot, const char *path)
{
	return snapshot_add_cgroup(snapshot, string_pool_intern(&snapshot->strings, path, strlen(path)));
}

static struct optional_u64 number(uint64_t value)
{
	return (struct optional_u64){value, true};
}

static struct key_values list(struct snapshot *snapshot, size_t count, const char *const keys[],
			      const uint64_t values[])
{
	struct key_values list = {arena_allocate(&snapshot->arena, count * sizeof(struct key_value)),
				  (uint32_t)count};

	for (size_t i = 0; i < count; i++)
		list.items[i] = (struct key_value){
			string_pool_intern(&snapshot->strings, keys[i], strlen(keys[i])), values[i]};
	return list;
}

static void expect_item(const struct snapshot *snapshot, const struct key_value *item, const char *key,
			uint64_t value)
{
	assert_string_equal(snapshot_text(snapshot, item->key), key);
	assert_int_equal(item->value, value);
}

static const struct grouping_options by_cgroup = {.axis = AXIS_CGROUP, .rules = &name_rules_ctop};

static void fill_first(struct snapshot *snapshot, struct cgroup_record *record)
{
	record->usage_usec = 100;
	record->nr_throttled = UINT64_MAX;
	record->memory_current = 500;
	record->max_quota_us = number(50000);
	record->max_period_us = 100000;
	record->weight = number(100);
	record->memory_low = number(200000);
	record->memory_min = number(5);
	record->memory_max = number(7);
	record->pids_current = number(5);
	record->pids_max = number(10);
	record->memory_stat = list(snapshot, 3, (const char *const[]){"pgfault", "anon", "only_first"},
				   (const uint64_t[]){1, 400, 3});
	record->memory_events = list(snapshot, 1, (const char *const[]){"oom_kill"}, (const uint64_t[]){0});
	record->pressure.resource[PRESSURE_CPU].some = (struct pressure_half){10, 20, 30, 40};
}

static void fill_second(struct snapshot *snapshot, struct cgroup_record *record)
{
	record->usage_usec = 200;
	record->nr_throttled = 1;
	record->memory_current = 800;
	record->max_quota_us = number(80000);
	record->max_period_us = 50000;
	record->weight = number(300);
	record->memory_low = number(400000);
	record->memory_min = number(3);
	record->pids_current = number(10);
	record->pids_max = number(9);
	record->memory_stat = list(snapshot, 3, (const char *const[]){"pgfault", "anon", "anew"},
				   (const uint64_t[]){2, 1000, 8});
	record->memory_events = list(snapshot, 1, (const char *const[]){"oom_kill"}, (const uint64_t[]){1});
	record->pressure.resource[PRESSURE_CPU].some = (struct pressure_half){9, 21, 30, 2};
}

static struct merged_cgroups *merge(const struct snapshot *snapshot, enum window_basis basis)
{
	return cgroup_merge_create(&(struct window){.now = snapshot, .basis = basis}, &by_cgroup);
}

static void test_rules(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct merged_cgroups *cgroups;
	const struct cgroup_record *record;

	(void)state;
	fill_first(snapshot, add_record(snapshot, "/pod-1"));
	fill_second(snapshot, add_record(snapshot, "/pod-2"));
	add_record(snapshot, "/Alone");
	snapshot_finish(snapshot);
	cgroups = merge(snapshot, WINDOW_STORED);
	assert_int_equal(cgroups->count, 2);
	assert_string_equal(cgroups->items[0].key, "/Alone");
	assert_string_equal(cgroups->items[1].key, "/pod-{N}");
	assert_int_equal(cgroups->items[1].records, 2);
	record = &cgroups->items[1].record;
	assert_int_equal(record->usage_usec, 300);
	assert_true(record->nr_throttled == UINT64_MAX);
	assert_int_equal(record->memory_current, 800);
	assert_true(record->max_quota_us.present);
	assert_int_equal(record->max_quota_us.value, 80000);
	assert_int_equal(record->max_period_us, 100000);
	assert_int_equal(record->weight.value, 300);
	assert_int_equal(record->memory_low.value, 200000);
	assert_int_equal(record->memory_min.value, 3);
	/* a limit that one of them lacks is lacking */
	assert_false(record->memory_max.present);
	assert_int_equal(record->pids_current.value, 15);
	assert_int_equal(record->pids_max.value, 10);
	assert_int_equal(record->memory_stat.count, 4);
	expect_item(snapshot, &record->memory_stat.items[0], "anew", 8);
	expect_item(snapshot, &record->memory_stat.items[1], "anon", 1000);
	expect_item(snapshot, &record->memory_stat.items[2], "only_first", 3);
	expect_item(snapshot, &record->memory_stat.items[3], "pgfault", 3);
	expect_item(snapshot, &record->memory_events.items[0], "oom_kill", 1);
	assert_int_equal(record->pressure.resource[PRESSURE_CPU].some.avg10, 10);
	assert_int_equal(record->pressure.resource[PRESSURE_CPU].some.avg60, 21);
	assert_int_equal(record->pressure.resource[PRESSURE_CPU].some.total_usec, 42);
	cgroup_merge_release(cgroups);
	snapshot_release(snapshot);
}

static void test_absent_numbers(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct merged_cgroups *cgroups;

	(void)state;
	add_record(snapshot, "/pod-1")->max_quota_us = number(50000);
	add_record(snapshot, "/pod-2")->pids_current = number(10);
	snapshot_finish(snapshot);
	cgroups = merge(snapshot, WINDOW_STORED);
	/* quota 50000 and none give none; pids none and 10 give 10 */
	assert_false(cgroups->items[0].record.max_quota_us.present);
	assert_true(cgroups->items[0].record.pids_current.present);
	assert_int_equal(cgroups->items[0].record.pids_current.value, 10);
	cgroup_merge_release(cgroups);
	snapshot_release(snapshot);
}

static void test_members_not_read(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct merged_cgroups *cgroups;
	struct cgroup_record *record;
	reason_id reason;

	(void)state;
	snapshot->provenance.present = true;
	record = add_record(snapshot, "/pod-1");
	record->memory_current = 77;
	record->memory_max = number(9);
	record->missing[CGROUP_FILE_MEMORY_CURRENT] = REASON_NOT_IN_KERNEL;
	record->missing[CGROUP_FILE_PIDS_MAX] = REASON_UNREADABLE;
	record->missing[CGROUP_FILE_MEMORY_HIGH] = REASON_UNREADABLE;
	record = add_record(snapshot, "/pod-2");
	record->memory_current = 10;
	record->memory_high = number(4);
	record->missing[CGROUP_FILE_PIDS_MAX] = REASON_ENDED;
	record->missing[CGROUP_FILE_MEMORY_MAX] = REASON_ENDED;
	snapshot_finish(snapshot);
	cgroups = merge(snapshot, WINDOW_STORED);
	assert_int_equal(cgroups->items[0].record.memory_current, 10);
	assert_int_equal(cgroup_merge_state(&cgroups->items[0], CGROUP_FILE_MEMORY_CURRENT, &reason),
			 VALUE_READ);
	assert_true(cgroup_merge_is_partial(&cgroups->items[0], CGROUP_FILE_MEMORY_CURRENT));
	assert_int_equal(reason, REASON_NOT_IN_KERNEL);
	assert_int_equal(cgroup_merge_state(&cgroups->items[0], CGROUP_FILE_PIDS_MAX, &reason),
			 VALUE_UNAVAILABLE);
	assert_int_equal(reason, REASON_UNREADABLE);
	assert_false(cgroup_merge_is_partial(&cgroups->items[0], CGROUP_FILE_PIDS_MAX));
	/* the limit of the one that was read, whichever it is */
	assert_int_equal(cgroups->items[0].record.memory_max.value, 9);
	assert_int_equal(cgroups->items[0].record.memory_high.value, 4);
	assert_false(cgroup_merge_is_partial(&cgroups->items[0], CGROUP_FILE_CPU_STAT));
	cgroup_merge_release(cgroups);

	cgroups = merge(snapshot, WINDOW_FLAGGED);
	assert_int_equal(cgroups->items[0].record.memory_current, 77);
	assert_int_equal(cgroup_merge_state(&cgroups->items[0], CGROUP_FILE_PIDS_MAX, &reason), VALUE_READ);
	cgroup_merge_release(cgroups);
	snapshot_release(snapshot);
}

/* Names may hold any byte: what stands behind a NUL tells two keys apart. */
static void test_keys_with_nul(void **state)
{
	static const char *const paths[] = {"/pod-1", "/pod-2"};
	static const char keys[][3] = {{'k', '\0', 'b'}, {'k', '\0', 'a'}};
	struct snapshot *snapshot = snapshot_create();
	struct merged_cgroups *cgroups;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct cgroup_record *record = add_record(snapshot, paths[i]);
		uint32_t key = string_pool_intern(&snapshot->strings, keys[i], sizeof(keys[i]));

		record->memory_events.items = arena_allocate(&snapshot->arena, sizeof(struct key_value));
		record->memory_events.items[0] = (struct key_value){key, i + 1};
		record->memory_events.count = 1;
	}
	snapshot_finish(snapshot);
	cgroups = merge(snapshot, WINDOW_STORED);
	assert_int_equal(cgroups->count, 1);
	assert_int_equal(cgroups->items[0].record.memory_events.count, 2);
	assert_int_equal(cgroups->items[0].record.memory_events.items[0].value, 2);
	assert_int_equal(cgroups->items[0].record.memory_events.items[1].value, 1);
	cgroup_merge_release(cgroups);
	snapshot_release(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_absent_numbers),
		cmocka_unit_test(test_members_not_read),
		cmocka_unit_test(test_keys_with_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
