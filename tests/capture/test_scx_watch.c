/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshots with a sched_ext scheduler, from a tree and records made here. */
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "base/clock.h"
#include "base/memory.h"
#include "capture/scx/scx_watch.h"
#include "trees.h"

enum {
	CONTEXT_SIZE = 16,
	RECORDS_MAX = 8,
	NO_ROW = UINT32_MAX,
};

/* --- the scheduler, by sysfs --- */

static struct snapshot *watch_round(struct scx_watch *watch, struct feature_result *ret_result)
{
	struct snapshot *snapshot = snapshot_create();

	scx_watch_read(watch, true, NULL, snapshot, ret_result);
	return snapshot;
}

static void test_scheduler(void **state)
{
	struct feature_result result;
	struct task_field_owner *first;
	struct snapshot *snapshot;
	struct scx_watch *watch;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_open(&tree);
	watch = scx_watch_open(&tree.roots, &(struct context_choice){0}, NULL);
	snapshot = watch_round(watch, &result);
	assert_int_equal(result.state, FEATURE_STATE_OFF);
	assert_int_equal(result.reason, REASON_NOT_IN_KERNEL);
	assert_null(snapshot->task_fields.owner);
	snapshot_release(snapshot);

	tree_text(&tree, "sys/kernel/sched_ext/state", "disabled\n");
	tree_text(&tree, "sys/kernel/sched_ext/enable_seq", "0\n");
	snapshot = watch_round(watch, &result);
	assert_int_equal(result.reason, REASON_SWITCHED_OFF);
	assert_string_equal(result.detail, "no sched_ext scheduler runs");
	assert_null(snapshot->task_fields.owner);
	snapshot_release(snapshot);

	/* the tree of another host: its scheduler is none of ours, but it is named and counts */
	tree_text(&tree, "sys/kernel/sched_ext/state", "enabled\n");
	tree_text(&tree, "sys/kernel/sched_ext/enable_seq", "7\n");
	tree_text(&tree, "sys/kernel/sched_ext/root/ops", "lavd_1.0.21_x86_64_unknown_linux_gnu\n");
	tree_text(&tree, "sys/kernel/sched_ext/root/events",
		  "SCX_EV_SELECT_CPU_FALLBACK 12\nnonsense\nSCX_EV_REENQ_LOCAL_REPEAT 0\n");
	snapshot = watch_round(watch, &result);
	assert_int_equal(result.state, FEATURE_STATE_OFF);
	assert_int_equal(result.reason, REASON_OTHER_NAMESPACE);
	assert_string_equal(snapshot->task_fields.owner->name, "lavd_1.0.21_x86_64_unknown_linux_gnu");
	assert_string_equal(snapshot->task_fields.owner->family, "lavd");
	assert_int_equal(snapshot->task_fields.owner->enable_seq, 7);
	assert_null(snapshot->task_fields.context_of);
	assert_int_equal(snapshot->task_fields.event_count, 2);
	assert_string_equal(snapshot->task_fields.events[0].name, "SCX_EV_SELECT_CPU_FALLBACK");
	assert_int_equal(snapshot->task_fields.events[0].value, 12);
	assert_string_equal(snapshot->task_fields.events[1].name, "SCX_EV_REENQ_LOCAL_REPEAT");
	first = task_field_owner_reference(snapshot->task_fields.owner);
	snapshot_release(snapshot);

	/* one description for all rounds of a run */
	snapshot = watch_round(watch, &result);
	assert_ptr_equal(snapshot->task_fields.owner, first);
	snapshot_release(snapshot);

	/* the same scheduler, started again */
	tree_text(&tree, "sys/kernel/sched_ext/enable_seq", "8\n");
	snapshot = watch_round(watch, &result);
	assert_int_equal(snapshot->task_fields.owner->enable_seq, 8);
	assert_false(task_field_owner_is_same_run(snapshot->task_fields.owner, first));
	snapshot_release(snapshot);

	tree_text(&tree, "sys/kernel/sched_ext/state", "disabling\n");
	snapshot = watch_round(watch, &result);
	assert_int_equal(result.reason, REASON_SWITCHED_OFF);
	assert_null(snapshot->task_fields.owner);
	assert_int_equal(snapshot->task_fields.event_count, 0);
	snapshot_release(snapshot);
	task_field_owner_release(first);
	scx_watch_close(watch);
	tree_remove(&tree);
}

/* --- contexts --- */

static struct task_field_owner *make_scheduler(void)
{
	return task_field_owner_create(TASK_FIELD_SOURCE, "test", "task_ctx", "task_ctxs", "task storage",
				       CONTEXT_SIZE);
}

static void add_row(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, uint64_t start_ticks)
{
	const size_t row = snapshot_add_thread(snapshot, tgid, tid);

	snapshot->start_time[row] = start_ticks;
}

struct records {
	struct {
		struct scx_record record;
		uint64_t context[CONTEXT_SIZE / sizeof(uint64_t)];
	} items[RECORDS_MAX];
	struct scx_reading reading;
};

static struct scx_record *add_record(struct records *records, uint32_t tgid, uint32_t tid,
				     uint64_t start_ticks)
{
	const size_t index = records->reading.count++;

	records->reading.records = (const unsigned char *)records->items;
	records->reading.stride = sizeof(records->items[0]);
	records->items[index].record = (struct scx_record){
		.tid = tid,
		.tgid = tgid,
		.start_boottime_ns = start_ticks * NS_PER_TICK + NS_PER_TICK - 1,
		.id = 1,
		.element_id = 1,
		.id_after = 1,
		.element_id_after = 1,
	};
	records->items[index].context[1] = tid;
	return &records->items[index].record;
}

static uint64_t context_tid(const struct snapshot *snapshot, size_t row, reason_id *ret_reason)
{
	const uint8_t *context = task_fields_context(&snapshot->task_fields, row, ret_reason);
	uint64_t tid = 0;

	if (context != NULL)
		memcpy(&tid, context + sizeof(uint64_t), sizeof(tid));
	return tid;
}

static void test_fill(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct records records = {0};
	reason_id reason;

	(void)state;
	add_row(snapshot, 10, 10, 5);
	add_row(snapshot, 10, 30, 6);
	add_row(snapshot, 20, 20, 7);
	add_row(snapshot, 20, 25, 0); /* not identified */
	add_row(snapshot, 40, 40, 8);
	task_fields_begin(&snapshot->task_fields, make_scheduler(), snapshot->thread_count);
	/* in the order of an iterator, by tid */
	add_record(&records, 5, 5, 1); /* not in the snapshot */
	add_record(&records, 10, 10, 5);
	add_record(&records, 20, 20, 9); /* the number is used again */
	add_record(&records, 20, 25, 99);
	add_record(&records, 10, 30, 6);
	add_record(&records, 41, 40, 8); /* of another process */
	scx_watch_fill(&records.reading, snapshot);
	assert_int_equal(context_tid(snapshot, 0, &reason), 10);
	assert_int_equal(context_tid(snapshot, 1, &reason), 30);
	assert_int_equal(context_tid(snapshot, 2, &reason), 0);
	assert_int_equal(reason, REASON_READ);
	assert_int_equal(context_tid(snapshot, 3, &reason), 25);
	assert_int_equal(context_tid(snapshot, 4, &reason), 0);
	assert_int_equal(snapshot->task_fields.context_count, 3);
	assert_int_equal(snapshot->task_fields.mismatched, 0);
	snapshot_release(snapshot);
}

/* A slot may change hands before, while and after its context is copied. */
static void test_other_task(void **state)
{
	static const size_t members[] = {
		offsetof(struct scx_record, id), offsetof(struct scx_record, element_id),
		offsetof(struct scx_record, id_after), offsetof(struct scx_record, element_id_after)};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(members); i++) {
		struct snapshot *snapshot = snapshot_create();
		struct records records = {0};
		const uint64_t other = UINT64_C(1) << 32 | 1; /* the slot's next generation */
		reason_id reason;

		add_row(snapshot, 10, 10, 5);
		add_row(snapshot, 10, 11, 5);
		task_fields_begin(&snapshot->task_fields, make_scheduler(), snapshot->thread_count);
		memcpy((char *)add_record(&records, 10, 10, 5) + members[i], &other, sizeof(other));
		add_record(&records, 10, 11, 5);
		scx_watch_fill(&records.reading, snapshot);
		assert_null(task_fields_context(&snapshot->task_fields, 0, &reason));
		assert_int_equal(reason, REASON_OTHER_TASK);
		assert_int_equal(context_tid(snapshot, 1, &reason), 11);
		assert_int_equal(snapshot->task_fields.mismatched, 1);
		snapshot_release(snapshot);
	}
}

/* --- what moved --- */

static struct snapshot *make_round(struct task_field_owner *scheduler, const uint32_t tids[], size_t count)
{
	struct snapshot *snapshot = snapshot_create();
	struct records records = {0};

	for (size_t i = 0; i < count; i++) {
		add_row(snapshot, 10, tids[i], 5);
		add_record(&records, 10, tids[i], 5);
	}
	if (scheduler != NULL) {
		task_fields_begin(&snapshot->task_fields, task_field_owner_reference(scheduler), count);
		scx_watch_fill(&records.reading, snapshot);
	}
	return snapshot;
}

static void say_moved(struct snapshot *snapshot, const uint32_t rows[], size_t count)
{
	snapshot->moved_known = true;
	snapshot->moved = memory_allocate((snapshot->thread_count + 1) * sizeof(*snapshot->moved));
	memcpy(snapshot->moved, rows, count * sizeof(*rows));
	snapshot->moved_count = count;
}

static void test_moved(void **state)
{
	static const uint32_t before[] = {10, 11, 12, 14}, now[] = {10, 11, 12, 13, 14}, listed[] = {1, 3},
			      old_row[] = {0, 1, 2, NO_ROW, 3}, expected[] = {1, 2, 3, 4};
	struct task_field_owner *scheduler = make_scheduler(), *other = make_scheduler();
	struct snapshot *previous = make_round(scheduler, before, ARRAY_COUNT(before));
	struct snapshot *snapshot = make_round(scheduler, now, ARRAY_COUNT(now));

	(void)state;
	other->enable_seq = 1;
	snapshot->task_fields.contexts[2 * CONTEXT_SIZE] ^= 1;        /* its scheduler has changed its mind */
	snapshot->task_fields.context_of[4] = TASK_FIELDS_OTHER_TASK; /* has no context any more */
	say_moved(snapshot, listed, ARRAY_COUNT(listed));
	scx_watch_list_moved(snapshot, previous, old_row);
	assert_true(snapshot->moved_known);
	assert_int_equal(snapshot->moved_count, ARRAY_COUNT(expected));
	assert_memory_equal(snapshot->moved, expected, sizeof(expected));
	snapshot_release(snapshot);

	/* nobody wanted contexts in this round: all of them went */
	snapshot = make_round(NULL, now, ARRAY_COUNT(now));
	say_moved(snapshot, listed, ARRAY_COUNT(listed));
	scx_watch_list_moved(snapshot, previous, old_row);
	assert_false(snapshot->moved_known);
	snapshot_release(snapshot);

	/* the scheduler was replaced */
	snapshot = make_round(other, now, ARRAY_COUNT(now));
	say_moved(snapshot, listed, ARRAY_COUNT(listed));
	scx_watch_list_moved(snapshot, previous, old_row);
	assert_false(snapshot->moved_known);
	assert_int_equal(snapshot->moved_count, 0);
	snapshot_release(snapshot);
	snapshot_release(previous);

	/* none before and none now */
	previous = make_round(NULL, before, ARRAY_COUNT(before));
	snapshot = make_round(NULL, now, ARRAY_COUNT(now));
	say_moved(snapshot, listed, ARRAY_COUNT(listed));
	scx_watch_list_moved(snapshot, previous, old_row);
	assert_true(snapshot->moved_known);
	assert_int_equal(snapshot->moved_count, ARRAY_COUNT(listed));
	snapshot_release(snapshot);
	snapshot_release(previous);
	task_field_owner_release(other);
	task_field_owner_release(scheduler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scheduler),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_other_task),
		cmocka_unit_test(test_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
