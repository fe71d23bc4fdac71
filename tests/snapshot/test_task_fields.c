/* SPDX-License-Identifier: GPL-2.0-only */
/* What snapshots hold of contexts of sched_ext schedulers, and what is known of their fields by name. */
#include "tests/cmocka_include.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot/snapshot.h"

struct example {
	uint64_t sum_runtime;
	uint32_t weight;
	int16_t nice;
	bool interactive;
	uint8_t pad;
	uint32_t low : 3, middle : 7, high : 22;
	int32_t small : 5;
	uint16_t load[3];
};

static struct task_field_owner *example_scheduler(uint64_t enable_seq)
{
	static const struct task_field_enumerator states[] = {{"IDLE", 0}, {"BUSY", 3}};
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "rusty_1.1.4_x86_64",
								     "task_ctx", "task_data", "task storage",
								     sizeof(struct example));
	const struct task_field_member members[] = {
		{.name = "sum_runtime",
		 .type = "u64",
		 .kind = TASK_FIELD_KIND_UNSIGNED,
		 .bit_size = 64,
		 .count = 1},
		{.name = "weight",
		 .type = "u32",
		 .kind = TASK_FIELD_KIND_UNSIGNED,
		 .bit_offset = 64,
		 .bit_size = 32,
		 .count = 1},
		{.name = "inner.nice",
		 .type = "s16",
		 .kind = TASK_FIELD_KIND_SIGNED,
		 .bit_offset = 96,
		 .bit_size = 16,
		 .count = 1,
		 .is_signed = true},
		{.name = "interactive",
		 .type = "bool",
		 .kind = TASK_FIELD_KIND_BOOLEAN,
		 .bit_offset = 112,
		 .bit_size = 8,
		 .count = 1},
		{.name = "low",
		 .type = "u32",
		 .kind = TASK_FIELD_KIND_UNSIGNED,
		 .bit_offset = 128,
		 .bit_size = 3,
		 .count = 1},
		{.name = "middle",
		 .type = "enum state",
		 .kind = TASK_FIELD_KIND_ENUM,
		 .bit_offset = 131,
		 .bit_size = 7,
		 .count = 1,
		 .enumerators = states,
		 .enumerator_count = 2},
		{.name = "small",
		 .type = "s32",
		 .kind = TASK_FIELD_KIND_SIGNED,
		 .bit_offset = 160,
		 .bit_size = 5,
		 .count = 1,
		 .is_signed = true},
		{.name = "load",
		 .type = "u16[3]",
		 .kind = TASK_FIELD_KIND_ARRAY,
		 .bit_offset = 8 * offsetof(struct example, load),
		 .bit_size = 16,
		 .count = 3},
		{.name = "outside",
		 .type = "u64",
		 .kind = TASK_FIELD_KIND_UNSIGNED,
		 .bit_offset = 8 * sizeof(struct example) - 8,
		 .bit_size = 64,
		 .count = 1},
	};

	scheduler->enable_seq = enable_seq;
	for (size_t i = 0; i < ARRAY_COUNT(members); i++)
		assert_true(task_field_owner_add_member(scheduler, &members[i]));
	return scheduler;
}

static void test_members(void **state)
{
	struct task_field_owner *scheduler = example_scheduler(1);
	struct example example = {.sum_runtime = 1234567890123,
				  .weight = 305,
				  .nice = -5,
				  .interactive = true,
				  .low = 5,
				  .middle = 3,
				  .small = -7,
				  .load = {1, 2, 65535}};
	uint8_t bytes[sizeof(example)];
	uint8_t copy[sizeof(example)] = {0};

	(void)state;
	memcpy(bytes, &example, sizeof(example));
	for (size_t i = 0; i < scheduler->member_count; i++) {
		static const uint64_t expected[] = {
			1234567890123, 305, (uint64_t)-5, 1, 5, 3, (uint64_t)-7, 1, 0};
		const struct task_field_member *member = &scheduler->members[i];

		assert_int_equal(task_field_read(member, bytes, 0), expected[i]);
		for (size_t element = 0; element < member->count; element++)
			task_field_write(member, copy, element, task_field_read(member, bytes, element));
		assert_int_equal(task_field_read(member, copy, 0), expected[i]);
	}
	assert_int_equal(task_field_read(&scheduler->members[7], copy, 2), 65535);
	assert_int_equal(task_field_read(&scheduler->members[7], copy, 3), 0);
	assert_int_equal(scheduler->members[8].kind, TASK_FIELD_KIND_OTHER);
	assert_int_equal(scheduler->members[8].field, TASK_FIELD_NONE);
	assert_string_equal(task_field_find_enumerator(&scheduler->members[5], 3), "BUSY");
	assert_null(task_field_find_enumerator(&scheduler->members[5], 1));
	assert_string_equal(scheduler->family, "rusty");
	task_field_owner_release(scheduler);
}

static struct task_field_facts facts_of(const char *scheduler, const char *name, enum task_field_kind kind)
{
	enum task_field_choice choice;

	return task_field_facts_of(scheduler, name, kind, &choice);
}

static void assert_facts(const char *scheduler, const char *name, enum task_field_kind kind,
			 enum task_field_reduction reduction)
{
	assert_int_equal(facts_of(scheduler, name, kind).reduction, reduction);
}

static void test_fields(void **state)
{
	struct error error;
	enum task_field_kind kind;
	uint16_t runtime = task_field_intern("scx.sum_runtime"),
		 other = task_field_intern("scx.other.sum_runtime");

	(void)state;
	assert_int_equal(runtime, task_field_intern("scx.sum_runtime"));
	assert_int_not_equal(runtime, other);
	assert_string_equal(task_field(runtime)->title, "SUM_RUNTIME");
	assert_string_equal(task_field(other)->title, "SUM_RUNTIM~2");
	/* what is too long keeps its end */
	assert_string_equal(task_field(task_field_intern("scx.avg_runtime_wall"))->title, "AVG_RU~_WALL");
	assert_string_equal(task_field(task_field_intern("scx.avg_runtime_invr"))->title, "AVG_RU~_INVR");
	assert_int_equal(task_field_intern(""), TASK_FIELD_NONE);
	assert_int_equal(task_field_intern("scx."), TASK_FIELD_NONE);
	assert_int_equal(task_field_intern("alone"), TASK_FIELD_NONE);
	assert_facts("other", "sum_runtime", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_COUNTER);
	assert_int_equal(facts_of("other", "sum_runtime", TASK_FIELD_KIND_UNSIGNED).ladder, LADDER_NS);
	/* there it begins anew at each wakeup */
	assert_facts("rusty", "sum_runtime", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_SUM);
	assert_facts(NULL, "x.last_run_at", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_AGE);
	assert_facts(NULL, "dom_id", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_COUNT);
	assert_facts(NULL, "greedy", TASK_FIELD_KIND_BOOLEAN, TASK_FIELD_REDUCTION_COUNT);
	assert_facts(NULL, "whatever", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_MEAN);
	assert_int_equal(task_field_choose("whatever=max,dom_id=mean", &error), 0);
	assert_facts(NULL, "whatever", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_MAXIMUM);
	assert_facts(NULL, "whatever", TASK_FIELD_KIND_BOOLEAN, TASK_FIELD_REDUCTION_COUNT);
	assert_facts(NULL, "dom_id", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_MEAN);
	assert_int_equal(task_field_choose("scx.whatever=mean", &error), 0);
	assert_facts(NULL, "whatever", TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_MEAN);
	assert_int_equal(task_field_choose("scx.dom_id", &error), -EINVAL);
	assert_non_null(strstr(error.text, "'scx.dom_id'"));
	assert_int_equal(task_field_choose("dom_id=maen", &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean 'mean'"));
	assert_int_equal(task_field_choose("dom_id", &error), -EINVAL);
	assert_int_equal(task_field_choose("", &error), -EINVAL);
	assert_int_equal(task_field_owner_word("lavd_1.0.21_x86_64"), 4);
	assert_int_equal(task_field_owner_word("ctop_mini"), 9);
	assert_true(task_field_place("lavd", "lat_cri") < task_field_place("lavd", "avg_runtime"));
	assert_int_equal(task_field_place("lavd", "unheard_of"), SIZE_MAX);
	task_field_describe(other, facts_of("other", "other.sum_runtime", TASK_FIELD_KIND_UNSIGNED),
			    TASK_FIELD_KIND_UNSIGNED);
	assert_int_equal(task_field_described(other, &kind).reduction, TASK_FIELD_REDUCTION_COUNTER);
	assert_int_equal(kind, TASK_FIELD_KIND_UNSIGNED);
}

static void put_sum(struct task_fields *scx, size_t thread, uint64_t value)
{
	task_field_write(&scx->owner->members[0], task_fields_add_context(scx, thread), 0, value);
}

static uint64_t sum_of(const struct task_fields *scx, size_t thread)
{
	return task_field_read(&scx->owner->members[0], task_fields_context(scx, thread, NULL), 0);
}

static void test_contexts(void **state)
{
	struct task_fields scx = {0}, newer = {0}, restarted = {0};
	reason_id reason;

	(void)state;
	assert_null(task_fields_context(&scx, 0, &reason));
	assert_int_equal(reason, REASON_NOT_READ);
	task_fields_begin(&scx, example_scheduler(1), 3);
	put_sum(&scx, 2, 44);
	put_sum(&scx, 0, 11);
	scx.context_of[1] = TASK_FIELDS_OTHER_TASK;
	assert_int_equal(sum_of(&scx, 0), 11);
	assert_int_equal(sum_of(&scx, 2), 44);
	assert_null(task_fields_context(&scx, 1, &reason));
	assert_int_equal(reason, REASON_OTHER_TASK);
	assert_null(task_fields_context(&scx, 3, &reason));
	assert_int_equal(reason, REASON_NOT_READ);

	task_fields_begin(&newer, example_scheduler(1), 1);
	put_sum(&newer, 0, 77);
	task_fields_begin(&restarted, example_scheduler(2), 1);
	put_sum(&restarted, 0, 88);
	assert_true(task_field_owner_has_same_type(scx.owner, restarted.owner));
	assert_false(task_field_owner_is_same_run(scx.owner, restarted.owner));
	task_fields_take_row(&scx, 3, &newer, 0);
	task_fields_take_row(&scx, 4, &restarted, 0);
	assert_int_equal(sum_of(&scx, 3), 77);
	assert_null(task_fields_context(&scx, 4, &reason));
	assert_int_equal(reason, REASON_NOT_READ);
	task_fields_release(&scx);
	task_fields_release(&newer);
	task_fields_release(&restarted);
}

/* A type of very many members, as in a file that somebody made, leaves numbers for those of others. */
static void test_many_fields(void **state)
{
	struct task_field_owner *many = task_field_owner_create(TASK_FIELD_SOURCE, "many", "task_ctx",
								"storage", "task storage", 4096);
	struct task_field_owner *other = task_field_owner_create(TASK_FIELD_SOURCE, "other", "task_ctx",
								 "storage", "task storage", 8);
	struct task_field_member member = {.type = "u8", .bit_size = 8, .count = 1};
	char name[32];

	(void)state;
	for (uint32_t i = 0; i < TASK_FIELD_MEMBERS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "one_of_many_%u", i);
		member.name = name;
		member.bit_offset = i * 8;
		assert_true(task_field_owner_add_member(many, &member));
	}
	member.name = "of_another";
	member.bit_offset = 0;
	assert_true(task_field_owner_add_member(other, &member));
	assert_int_not_equal(other->members[0].field, TASK_FIELD_NONE);
	assert_int_not_equal(many->members[TASK_FIELDS_OF_OWNER_MAX - 1].field, TASK_FIELD_NONE);
	assert_int_equal(many->members[TASK_FIELDS_OF_OWNER_MAX].field, TASK_FIELD_NONE);
	/* it is a number all the same */
	assert_true(task_field_has_numbers(&many->members[TASK_FIELDS_OF_OWNER_MAX]));
	task_field_owner_release(many);
	task_field_owner_release(other);
}

static void test_narrow_stamp(void **state)
{
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "s", "task_ctx",
								     "storage", "task storage", 16);
	struct task_field_member member = {.name = "last_moved", .type = "u32", .bit_size = 32, .count = 1};

	(void)state;
	assert_true(task_field_owner_add_member(scheduler, &member));
	assert_int_equal(scheduler->members[0].facts.reduction, TASK_FIELD_REDUCTION_COUNT);
	assert_int_equal(scheduler->members[0].facts.ladder, LADDER_UNITLESS);
	member.bit_size = 64;
	assert_true(task_field_owner_add_member(scheduler, &member));
	assert_int_equal(scheduler->members[1].facts.reduction, TASK_FIELD_REDUCTION_AGE);
	task_field_owner_release(scheduler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),      cmocka_unit_test(test_fields),
		cmocka_unit_test(test_contexts),     cmocka_unit_test(test_many_fields),
		cmocka_unit_test(test_narrow_stamp),
	};

	return cmocka_run_group_tests_name("snapshot_scx", tests, NULL, NULL);
}
