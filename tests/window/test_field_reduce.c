/* SPDX-License-Identifier: GPL-2.0-only */
/* A field of contexts over the threads of a group. */
#include "tests/cmocka_include.h"

#include <string.h>

#include "base/memory.h"
#include "window/field_reduce.h"

static struct task_field_member member_of(enum task_field_kind kind, enum task_field_reduction reduction)
{
	return (struct task_field_member){
		.name = "field",
		.kind = kind,
		.bit_size = 64,
		.count = 1,
		.is_signed = kind == TASK_FIELD_KIND_SIGNED,
		.facts = {reduction, LADDER_UNITLESS},
	};
}

static struct task_field_reduced reduce(enum task_field_kind kind, enum task_field_reduction reduction,
					const uint64_t values[], size_t count)
{
	const struct task_field_member member = member_of(kind, reduction);
	struct task_field_accumulator accumulator = {0};
	struct task_field_reduced reduced;

	for (size_t i = 0; i < count; i++)
		task_field_accumulate(&accumulator, &member, values[i]);
	reduced = task_field_reduce(&accumulator, &member, 1000);
	task_field_accumulator_release(&accumulator);
	return reduced;
}

#define REDUCE(kind, reduction, ...)                                                                         \
	reduce(TASK_FIELD_KIND_##kind, TASK_FIELD_REDUCTION_##reduction, (const uint64_t[]){__VA_ARGS__},    \
	       ARRAY_COUNT(((const uint64_t[]){__VA_ARGS__})))

static void assert_whole(struct task_field_reduced reduced, uint64_t whole)
{
	assert_int_equal(reduced.state, VALUE_READ);
	assert_true(reduced.is_whole);
	assert_int_equal(reduced.whole, whole);
	assert_true(reduced.number == (double)whole);
}

static void assert_number(struct task_field_reduced reduced, double number)
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
	const struct task_field_member member = member_of(TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_AGE);
	struct task_field_accumulator accumulator = {0};

	(void)state;
	assert_whole(REDUCE(UNSIGNED, AGE, 0, 400, 300, 0, 900), 700);
	assert_whole(REDUCE(UNSIGNED, AGE, 1200), 0);
	assert_whole(REDUCE(UNSIGNED, AGE, 1000000999, UINT64_MAX, 0), 0);
	assert_int_equal(REDUCE(UNSIGNED, AGE, 1000001001, UINT64_MAX, 0).state, VALUE_UNAVAILABLE);
	assert_int_equal(REDUCE(UNSIGNED, AGE, UINT64_MAX).reason, REASON_BAD_STAMP);
	assert_int_equal(REDUCE(SIGNED, AGE, (uint64_t)-5).reason, REASON_BAD_STAMP);
	assert_int_equal(REDUCE(UNSIGNED, AGE, 0, 0).state, VALUE_ABSENT);
	task_field_accumulate(&accumulator, &member, 400);
	assert_int_equal(task_field_reduce(&accumulator, &member, 0).state, VALUE_UNAVAILABLE);
	assert_int_equal(task_field_reduce(&accumulator, &member, 0).reason, REASON_NOT_IN_FILE);
}

static void test_counts(void **state)
{
	struct task_field_reduced reduced = REDUCE(UNSIGNED, COUNT, 4, 4, 4);

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
	const struct task_field_member member = member_of(TASK_FIELD_KIND_UNSIGNED,
							  TASK_FIELD_REDUCTION_COUNT);
	struct task_field_accumulator accumulator = {0};
	struct task_field_reduced reduced;

	(void)state;
	for (uint64_t i = 0; i < THREADS; i++)
		task_field_accumulate(&accumulator, &member, i * 7919 % THREADS);
	task_field_accumulate(&accumulator, &member, 123);
	reduced = task_field_reduce(&accumulator, &member, 0);
	assert_int_equal(reduced.value, 123);
	assert_int_equal(reduced.threads, 2);
	task_field_accumulator_release(&accumulator);
	for (uint64_t i = 0; i < THREADS; i++)
		task_field_accumulate(&accumulator, &member, i % FEW == 3 ? 1 : i % FEW);
	assert_true(accumulator.run_capacity <= 4 * FEW);
	reduced = task_field_reduce(&accumulator, &member, 0);
	assert_int_equal(reduced.value, 1);
	assert_int_equal(reduced.threads, 2 * THREADS / FEW);
	task_field_accumulator_release(&accumulator);
}

static void test_missing(void **state)
{
	const struct task_field_member member = member_of(TASK_FIELD_KIND_UNSIGNED, TASK_FIELD_REDUCTION_SUM);
	struct task_field_accumulator accumulator = {0};
	struct task_field_reduced reduced;

	(void)state;
	assert_int_equal(task_field_reduce(&accumulator, &member, 0).state, VALUE_ABSENT);
	task_field_accumulate_missing(&accumulator, REASON_OTHER_TASK);
	task_field_accumulate_missing(&accumulator, REASON_NOT_READ);
	reduced = task_field_reduce(&accumulator, &member, 0);
	assert_int_equal(reduced.state, VALUE_UNAVAILABLE);
	assert_int_equal(reduced.reason, REASON_OTHER_TASK);
	assert_false(reduced.partial);
	for (size_t i = 0; i < 3; i++)
		task_field_accumulate(&accumulator, &member, 6);
	reduced = task_field_reduce(&accumulator, &member, 0);
	assert_whole(reduced, 18);
	assert_true(reduced.partial);
	assert_int_equal(reduced.reason, REASON_OTHER_TASK);
	task_field_accumulator_release(&accumulator);
	task_field_accumulate_amount(&accumulator, 1.5);
	task_field_accumulate_amount(&accumulator, 2);
	assert_number(task_field_reduce(&accumulator, &member, 0), 3.5);
	task_field_accumulator_release(&accumulator);
}

static void test_counters(void **state)
{
	const struct task_field_member unsigned_member = member_of(TASK_FIELD_KIND_UNSIGNED,
								   TASK_FIELD_REDUCTION_COUNTER);
	const struct task_field_member signed_member = member_of(TASK_FIELD_KIND_SIGNED,
								 TASK_FIELD_REDUCTION_COUNTER);
	uint64_t added;

	(void)state;
	assert_true(task_field_counter_added(&unsigned_member, 5, UINT64_MAX, &added));
	assert_int_equal(added, UINT64_MAX - 5);
	assert_false(task_field_counter_added(&unsigned_member, 5, 4, &added));
	assert_true(task_field_counter_added(&signed_member, (uint64_t)-5, 4, &added));
	assert_int_equal(added, 9);
	assert_false(task_field_counter_added(&signed_member, 4, (uint64_t)-5, &added));
}

static void assert_words(enum task_field_kind kind, uint64_t value, const char *expected)
{
	static const struct task_field_enumerator states[] = {{"IDLE", 0}, {"LOST", -1}};
	struct task_field_member member = member_of(kind, TASK_FIELD_REDUCTION_COUNT);
	struct buffer text = {0};

	member.enumerators = states;
	member.enumerator_count = ARRAY_COUNT(states);
	task_field_append(&member, value, &text);
	assert_string_equal(text.data, expected);
	buffer_release(&text);
}

static void test_words(void **state)
{
	(void)state;
	assert_words(TASK_FIELD_KIND_ENUM, 0, "IDLE");
	assert_words(TASK_FIELD_KIND_ENUM, (uint64_t)-1, "LOST");
	assert_words(TASK_FIELD_KIND_ENUM, 9, "9");
	assert_words(TASK_FIELD_KIND_BOOLEAN, 1, "true");
	assert_words(TASK_FIELD_KIND_BOOLEAN, 0, "false");
	assert_words(TASK_FIELD_KIND_SIGNED, (uint64_t)-1, "-1");
	assert_words(TASK_FIELD_KIND_UNSIGNED, UINT64_MAX, "18446744073709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_ages),
		cmocka_unit_test(test_counts),  cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_counters),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("snapshot_scx_reduce", tests, NULL, NULL);
}
