/* SPDX-License-Identifier: GPL-2.0-only */
/* A field of contexts over the threads of a group. */
#include "tests/cmocka_include.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "window/reduce.h"

static struct task_field_member member_of(enum task_field_kind kind, enum task_field_reduction reduction)
{
	return (struct task_field_member){
		.name = "field",
		.type = "u64",
		.kind = kind,
		.bit_size = 64,
		.count = 1,
		.is_signed = kind == TASK_FIELD_KIND_SIGNED,
		.facts = {reduction, LADDER_UNITLESS},
		.has_facts = true,
	};
}

/*
 * Threads of one row, of which the first `count` have these values, read at `read_at_ns`. A context was not
 * read for the `missed` after them, the first of which met that of another task.
 */
struct example {
	enum task_field_kind kind;
	enum task_field_reduction reduction;
	const uint64_t *values;
	size_t count, missed;
	uint64_t read_at_ns;
};

static struct snapshot *make_snapshot(const struct example *example)
{
	const struct task_field_member member = member_of(example->kind, example->reduction);
	struct snapshot *snapshot = snapshot_create();
	struct task_fields *fields = &snapshot->task_fields;
	const size_t threads = example->count + example->missed;
	struct task_field_owner *owner = task_field_owner_create(TASK_FIELD_SOURCE, "test", "context", "map",
								 "task storage", sizeof(uint64_t));

	for (uint32_t i = 0; i < threads; i++)
		snapshot_add_thread(snapshot, 1, i + 1);
	assert_true(task_field_owner_add_member(owner, &member));
	task_fields_begin(fields, owner, threads);
	fields->read_at_ns = example->read_at_ns;
	for (size_t i = 0; i < example->count; i++)
		memcpy(task_fields_add_context(fields, i), &example->values[i], sizeof(uint64_t));
	for (size_t i = example->count; i < threads; i++)
		fields->context_of[i] = i == example->count ? TASK_FIELDS_OTHER_TASK : TASK_FIELDS_NOT_READ;
	return snapshot;
}

/* The value of the field over all threads of a window. */
static struct value reduce_window(const struct window *window)
{
	const struct snapshot *now = window->now;
	struct shown shown = {.now = now, .row_count = 1};
	struct column_values values;
	struct value value;

	shown_reserve(&shown, now->thread_count, 1);
	for (uint32_t i = 0; i < now->thread_count; i++)
		shown_add(&shown, i, 0);
	reduce_column(window, &shown, column_of_task_field(now->task_fields.owner->members[0].field),
		      &values);
	reduce_value(&shown, &values, 0, &value);
	column_values_release(&values);
	shown_release(&shown);
	return value;
}

static struct value reduce_example(struct example example)
{
	struct snapshot *snapshot = make_snapshot(&example);
	const struct value value = reduce_window(
		&(struct window){.now = snapshot, .mode = WINDOW_MODE_TOTAL});

	snapshot_release(snapshot);
	return value;
}

#define REDUCE(of_kind, of_reduction, ...)                                                                   \
	reduce_example((struct example){                                                                     \
		.kind = TASK_FIELD_KIND_##of_kind,                                                           \
		.reduction = TASK_FIELD_REDUCTION_##of_reduction,                                            \
		.values = (const uint64_t[]){__VA_ARGS__},                                                   \
		.count = ARRAY_COUNT(((const uint64_t[]){__VA_ARGS__})),                                     \
		.read_at_ns = 1000,                                                                          \
	})

static void assert_whole(struct value value, uint64_t whole)
{
	assert_int_equal(value.state, VALUE_READ);
	assert_int_equal(value.form, VALUE_FORM_WHOLE);
	assert_int_equal(value.whole, whole);
	assert_true(value.sort == (double)whole);
}

static void assert_number(struct value value, double number)
{
	assert_int_equal(value.state, VALUE_READ);
	assert_int_equal(value.form, VALUE_FORM_REAL);
	assert_true(value.real == number);
	assert_true(value.sort == number);
}

static void assert_word(struct value value, uint64_t word, uint32_t threads, uint32_t of)
{
	assert_int_equal(value.state, VALUE_READ);
	assert_int_equal(value.form, VALUE_FORM_WORD);
	assert_int_equal(value.word.value, word);
	assert_int_equal(value.word.threads, threads);
	assert_int_equal(value.word.of, of);
	assert_int_equal(value.differs, threads != of);
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
	static const uint64_t stamp = 400;
	const struct example unknown = {.reduction = TASK_FIELD_REDUCTION_AGE, .values = &stamp, .count = 1};

	(void)state;
	assert_whole(REDUCE(UNSIGNED, AGE, 0, 400, 300, 0, 900), 700);
	assert_whole(REDUCE(UNSIGNED, AGE, 1200), 0);
	assert_whole(REDUCE(UNSIGNED, AGE, 1000000999, UINT64_MAX, 0), 0);
	assert_int_equal(REDUCE(UNSIGNED, AGE, 1000001001, UINT64_MAX, 0).state, VALUE_UNAVAILABLE);
	assert_int_equal(REDUCE(UNSIGNED, AGE, UINT64_MAX).reason, REASON_BAD_STAMP);
	assert_int_equal(REDUCE(SIGNED, AGE, (uint64_t)-5).reason, REASON_BAD_STAMP);
	assert_int_equal(REDUCE(UNSIGNED, AGE, 0, 0).state, VALUE_ABSENT);
	assert_int_equal(reduce_example(unknown).state, VALUE_UNAVAILABLE);
	assert_int_equal(reduce_example(unknown).reason, REASON_NOT_IN_FILE);
}

static void test_counts(void **state)
{
	(void)state;
	assert_word(REDUCE(UNSIGNED, COUNT, 4, 4, 4), 4, 3, 3);
	assert_word(REDUCE(UNSIGNED, COUNT, 4, 4, 7, 5, 7, 5, 7), 7, 3, 7);
	/* the least of those that are equally common, by its sign */
	assert_word(REDUCE(UNSIGNED, COUNT, 9, (uint64_t)-1), 9, 1, 2);
	assert_word(REDUCE(SIGNED, COUNT, 9, (uint64_t)-1), (uint64_t)-1, 1, 2);
	assert_whole(REDUCE(BOOLEAN, COUNT, 1, 0, 2, 0, 0), 2);
}

/* As many values as threads, one of them twice, and few values that take turns. */
static void test_many_values(void **state)
{
	enum {
		THREADS = 10000,
		FEW = 5,
	};
	uint64_t *values = memory_allocate((THREADS + 1) * sizeof(*values));
	struct example example = {
		.reduction = TASK_FIELD_REDUCTION_COUNT, .values = values, .count = THREADS + 1};

	(void)state;
	for (uint64_t i = 0; i < THREADS; i++)
		values[i] = i * 7919 % THREADS;
	values[THREADS] = 123;
	assert_word(reduce_example(example), 123, 2, THREADS + 1);
	for (uint64_t i = 0; i < THREADS; i++)
		values[i] = i % FEW == 3 ? 1 : i % FEW;
	example.count = THREADS;
	assert_word(reduce_example(example), 1, 2 * THREADS / FEW, THREADS);
	free(values);
}

static void test_missing(void **state)
{
	static const uint64_t sixes[] = {6, 6, 6};
	struct example example = {.reduction = TASK_FIELD_REDUCTION_SUM, .values = sixes};
	struct value value;

	(void)state;
	assert_int_equal(reduce_example(example).state, VALUE_ABSENT);
	example.missed = 2;
	value = reduce_example(example);
	assert_int_equal(value.state, VALUE_UNAVAILABLE);
	assert_int_equal(value.reason, REASON_OTHER_TASK);
	assert_false(value.partial);
	example.count = ARRAY_COUNT(sixes);
	value = reduce_example(example);
	assert_whole(value, 18);
	assert_true(value.partial);
	assert_int_equal(value.reason, REASON_OTHER_TASK);
}

/* Amounts of threads add up, per second between the readings of contexts; one that fell is not known. */
static void test_changes(void **state)
{
	static const uint64_t before[] = {100, 200}, behind[] = {105, 207};
	struct example example = {.reduction = TASK_FIELD_REDUCTION_COUNTER, .count = 2};
	struct snapshot *now, *from;
	struct window window = {.from_of = (const uint32_t[]){0, 1}, .mode = WINDOW_MODE_INTERVAL};

	(void)state;
	example.values = before;
	example.read_at_ns = NS_PER_S;
	window.from = from = make_snapshot(&example);
	example.values = behind;
	example.read_at_ns = 3 * NS_PER_S;
	window.now = now = make_snapshot(&example);
	assert_whole(reduce_window(&window), 12);
	window.mode = WINDOW_MODE_RATE;
	assert_number(reduce_window(&window), 6);
	window.from_of = (const uint32_t[]){0, THREAD_STILL};
	assert_number(reduce_window(&window), 2.5);
	window.from_of = (const uint32_t[]){1, 1};
	assert_true(reduce_window(&window).partial);
	assert_int_equal(reduce_window(&window).reason, REASON_WENT_BACKWARDS);
	snapshot_release(now);
	snapshot_release(from);
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
		cmocka_unit_test(test_numbers),  cmocka_unit_test(test_ages),
		cmocka_unit_test(test_counts),   cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_missing),  cmocka_unit_test(test_changes),
		cmocka_unit_test(test_counters), cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("kind_field", tests, NULL, NULL);
}
