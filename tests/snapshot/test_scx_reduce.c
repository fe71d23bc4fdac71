/* SPDX-License-Identifier: GPL-2.0-only */
/* A field of contexts over the threads of a group. */
#include "tests/cmocka_include.h"

#include <string.h>

#include "base/memory.h"
#include "snapshot/scx_reduce.h"

static struct scx_member member_of(enum scx_kind kind, enum scx_reduction reduction)
{
	return (struct scx_member){
		.name = "field",
		.kind = kind,
		.bit_size = 64,
		.count = 1,
		.is_signed = kind == SCX_KIND_SIGNED,
		.facts = {reduction, LADDER_UNITLESS},
	};
}

static struct scx_reduced reduce(enum scx_kind kind, enum scx_reduction reduction, const uint64_t values[],
				 size_t count)
{
	const struct scx_member member = member_of(kind, reduction);
	struct scx_accumulator accumulator = {0};
	struct scx_reduced reduced;

	for (size_t i = 0; i < count; i++)
		scx_accumulate(&accumulator, &member, values[i], 1);
	reduced = scx_reduce(&accumulator, &member, 1000);
	scx_accumulator_release(&accumulator);
	return reduced;
}

#define REDUCE(kind, reduction, ...)                                                                         \
	reduce(SCX_KIND_##kind, SCX_REDUCTION_##reduction, (const uint64_t[]){__VA_ARGS__},                  \
	       ARRAY_COUNT(((const uint64_t[]){__VA_ARGS__})))

static void assert_whole(struct scx_reduced reduced, uint64_t whole)
{
	assert_int_equal(reduced.state, VALUE_READ);
	assert_true(reduced.is_whole);
	assert_int_equal(reduced.whole, whole);
	assert_true(reduced.number == (double)whole);
}

static void assert_number(struct scx_reduced reduced, double number)
{
	assert_int_equal(reduced.state, VALUE_READ);
	assert_false(reduced.is_whole);
	assert_true(reduced.number == number);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_whole(REDUCE(UNSIGNED, SUM, 100, 305, 11), 416);
	assert_whole(REDUCE(UNSIGNED, COUNTER, (uint64_t)1 << 53, 1), ((uint64_t)1 << 53) + 1);
	assert_whole(REDUCE(UNSIGNED, SUM, UINT64_MAX - 1, 1), UINT64_MAX);
	assert_number(REDUCE(UNSIGNED, SUM, UINT64_MAX, 1), 0x1p64);
	assert_number(REDUCE(UNSIGNED, SUM, UINT64_MAX, UINT64_MAX, UINT64_MAX, 3), 3 * 0x1p64);
	assert_number(REDUCE(SIGNED, SUM, (uint64_t)INT64_MIN, (uint64_t)INT64_MIN, (uint64_t)INT64_MIN),
		      -3 * 0x1p63);
	assert_whole(REDUCE(SIGNED, SUM, (uint64_t)-5, 7), 2);
	assert_number(REDUCE(SIGNED, SUM, (uint64_t)-5, 3), -2);
	assert_number(REDUCE(SIGNED, SUM, (uint64_t)INT64_MIN, 0), -9223372036854775808.0);
	assert_whole(REDUCE(UNSIGNED, MEAN, 1, 2, 3), 2);
	assert_number(REDUCE(UNSIGNED, MEAN, 1, 2), 1.5);
	/* as many schedulers mark what is not set */
	assert_whole(REDUCE(UNSIGNED, MEAN, UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
	assert_number(REDUCE(UNSIGNED, MEAN, UINT64_MAX, UINT64_MAX, 0, 0), 0x1p63);
	assert_number(REDUCE(SIGNED, MEAN, (uint64_t)-3, 2), -0.5);
	assert_whole(REDUCE(UNSIGNED, MAXIMUM, 3, UINT64_MAX, 9), UINT64_MAX);
	assert_whole(REDUCE(SIGNED, MAXIMUM, (uint64_t)-3, 2), 2);
	assert_number(REDUCE(SIGNED, MAXIMUM, (uint64_t)-3, (uint64_t)-2), -2);
}

static void test_ages(void **state)
{
	const struct scx_member member = member_of(SCX_KIND_UNSIGNED, SCX_REDUCTION_AGE);
	struct scx_accumulator accumulator = {0};

	(void)state;
	assert_whole(REDUCE(UNSIGNED, AGE, 0, 400, 300, 0, 900), 700);
	assert_whole(REDUCE(UNSIGNED, AGE, 1200), 0);
	assert_whole(REDUCE(UNSIGNED, AGE, 1000000999, UINT64_MAX, 0), 0);
	assert_int_equal(REDUCE(UNSIGNED, AGE, 1000001001, UINT64_MAX, 0).state, VALUE_UNAVAILABLE);
	assert_int_equal(REDUCE(UNSIGNED, AGE, UINT64_MAX).reason, REASON_BAD_STAMP);
	assert_int_equal(REDUCE(SIGNED, AGE, (uint64_t)-5).reason, REASON_BAD_STAMP);
	assert_int_equal(REDUCE(UNSIGNED, AGE, 0, 0).state, VALUE_ABSENT);
	scx_accumulate(&accumulator, &member, 400, 1);
	assert_int_equal(scx_reduce(&accumulator, &member, 0).state, VALUE_UNAVAILABLE);
	assert_int_equal(scx_reduce(&accumulator, &member, 0).reason, REASON_NOT_IN_FILE);
}

static void test_counts(void **state)
{
	struct scx_reduced reduced = REDUCE(UNSIGNED, COUNT, 4, 4, 4);

	(void)state;
	assert_false(reduced.differs);
	assert_int_equal(reduced.value, 4);
	assert_int_equal(reduced.threads, 3);
	reduced = REDUCE(UNSIGNED, COUNT, 4, 4, 7, 5, 7, 5, 7);
	assert_true(reduced.differs);
	assert_int_equal(reduced.value, 7);
	assert_int_equal(reduced.threads, 3);
	assert_int_equal(reduced.read, 7);
	/* the least of those that are equally common, by its sign */
	assert_int_equal(REDUCE(UNSIGNED, COUNT, 9, (uint64_t)-1).value, 9);
	assert_int_equal(REDUCE(SIGNED, COUNT, 9, (uint64_t)-1).value, (uint64_t)-1);
	reduced = REDUCE(BOOLEAN, COUNT, 1, 0, 2, 0, 0);
	assert_whole(reduced, 2);
	assert_int_equal(reduced.threads, 2);
	assert_true(reduced.differs);
	assert_false(REDUCE(BOOLEAN, COUNT, 1, 2).differs);
}

/* As many values as threads, one of them twice, and few values that take turns. */
static void test_many_values(void **state)
{
	enum {
		THREADS = 10000,
		FEW = 5,
	};
	const struct scx_member member = member_of(SCX_KIND_UNSIGNED, SCX_REDUCTION_COUNT);
	struct scx_accumulator accumulator = {0};
	struct scx_reduced reduced;

	(void)state;
	for (uint64_t i = 0; i < THREADS; i++)
		scx_accumulate(&accumulator, &member, i * 7919 % THREADS, 1);
	scx_accumulate(&accumulator, &member, 123, 1);
	reduced = scx_reduce(&accumulator, &member, 0);
	assert_int_equal(reduced.value, 123);
	assert_int_equal(reduced.threads, 2);
	scx_accumulator_release(&accumulator);
	for (uint64_t i = 0; i < THREADS; i++)
		scx_accumulate(&accumulator, &member, i % FEW == 3 ? 1 : i % FEW, 1);
	assert_true(accumulator.run_capacity <= 4 * FEW);
	reduced = scx_reduce(&accumulator, &member, 0);
	assert_int_equal(reduced.value, 1);
	assert_int_equal(reduced.threads, 2 * THREADS / FEW);
	scx_accumulator_release(&accumulator);
}

static void test_missing(void **state)
{
	const struct scx_member member = member_of(SCX_KIND_UNSIGNED, SCX_REDUCTION_SUM);
	struct scx_accumulator accumulator = {0};
	struct scx_reduced reduced;

	(void)state;
	assert_int_equal(scx_reduce(&accumulator, &member, 0).state, VALUE_ABSENT);
	scx_accumulate_missing(&accumulator, REASON_OTHER_TASK);
	scx_accumulate_missing(&accumulator, REASON_NOT_READ);
	reduced = scx_reduce(&accumulator, &member, 0);
	assert_int_equal(reduced.state, VALUE_UNAVAILABLE);
	assert_int_equal(reduced.reason, REASON_OTHER_TASK);
	assert_false(reduced.partial);
	scx_accumulate(&accumulator, &member, 6, 3);
	reduced = scx_reduce(&accumulator, &member, 0);
	assert_whole(reduced, 18);
	assert_true(reduced.partial);
	assert_int_equal(reduced.reason, REASON_OTHER_TASK);
	scx_accumulator_release(&accumulator);
	scx_accumulate_amount(&accumulator, 1.5);
	scx_accumulate_amount(&accumulator, 2);
	assert_number(scx_reduce(&accumulator, &member, 0), 3.5);
	scx_accumulator_release(&accumulator);
}

static void test_threads(void **state)
{
	struct scx_scheduler *scheduler = scx_scheduler_create("mini", "task_ctx", "tasks", "task storage",
							       sizeof(uint64_t));
	struct scx_member weight = member_of(SCX_KIND_UNSIGNED, SCX_REDUCTION_SUM);
	const struct scx_member *member;
	struct scx_accumulator accumulator = {0};
	struct scx_reduced reduced;
	struct scx scx = {0};

	(void)state;
	weight.name = "weight";
	weight.type = "u64";
	assert_true(scx_scheduler_add_member(scheduler, &weight));
	scx_begin(&scx, scheduler, 4);
	member = &scheduler->members[0];
	scx_member_write(member, scx_add_context(&scx, 0), 0, 100);
	scx_member_write(member, scx_add_context(&scx, 2), 0, 11);
	for (size_t thread = 0; thread < 4; thread++)
		scx_accumulate_thread(&accumulator, &scx, member, thread);
	reduced = scx_reduce(&accumulator, member, 0);
	assert_whole(reduced, 111);
	assert_false(reduced.partial);
	scx.context_of[3] = SCX_CONTEXT_OTHER_TASK;
	scx_accumulate_thread(&accumulator, &scx, member, 3);
	scx_accumulate_thread(&accumulator, &scx, NULL, 0);
	reduced = scx_reduce(&accumulator, member, 0);
	assert_whole(reduced, 111);
	assert_true(reduced.partial);
	scx_accumulator_release(&accumulator);
	scx_release(&scx);
}

static void test_counters(void **state)
{
	const struct scx_member unsigned_member = member_of(SCX_KIND_UNSIGNED, SCX_REDUCTION_COUNTER);
	const struct scx_member signed_member = member_of(SCX_KIND_SIGNED, SCX_REDUCTION_COUNTER);
	uint64_t added;

	(void)state;
	assert_true(scx_counter_added(&unsigned_member, 5, UINT64_MAX, &added));
	assert_int_equal(added, UINT64_MAX - 5);
	assert_false(scx_counter_added(&unsigned_member, 5, 4, &added));
	assert_true(scx_counter_added(&signed_member, (uint64_t)-5, 4, &added));
	assert_int_equal(added, 9);
	assert_false(scx_counter_added(&signed_member, 4, (uint64_t)-5, &added));
}

static void assert_words(enum scx_kind kind, uint64_t value, const char *expected)
{
	static const struct scx_enumerator states[] = {{"IDLE", 0}, {"LOST", -1}};
	struct scx_member member = member_of(kind, SCX_REDUCTION_COUNT);
	struct buffer text = {0};

	member.enumerators = states;
	member.enumerator_count = ARRAY_COUNT(states);
	scx_member_append(&member, value, &text);
	assert_string_equal(text.data, expected);
	buffer_release(&text);
}

static void test_words(void **state)
{
	(void)state;
	assert_words(SCX_KIND_ENUM, 0, "IDLE");
	assert_words(SCX_KIND_ENUM, (uint64_t)-1, "LOST");
	assert_words(SCX_KIND_ENUM, 9, "9");
	assert_words(SCX_KIND_BOOLEAN, 1, "true");
	assert_words(SCX_KIND_BOOLEAN, 0, "false");
	assert_words(SCX_KIND_SIGNED, (uint64_t)-1, "-1");
	assert_words(SCX_KIND_UNSIGNED, UINT64_MAX, "18446744073709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),  cmocka_unit_test(test_ages),
		cmocka_unit_test(test_counts),   cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_missing),  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_counters), cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("snapshot_scx_reduce", tests, NULL, NULL);
}
