/* SPDX-License-Identifier: GPL-2.0-only */
/* How time asleep divides by what readings saw. */
#include "tests/cmocka_include.h"

#include <stdlib.h>

#include "base/memory.h"
#include "window/wait_samples.h"

static struct wait_samples samples;
static struct snapshot *now;

/* A reading of threads 1, 2, …, each in the class of its letter; a blank: not there; '?': unknown. */
static struct snapshot *make_reading(const char *threads)
{
	static const struct {
		char letter;
		enum wait_class class;
	} letters[] = {{'c', WAIT_CLASS_CPU},  {'q', WAIT_CLASS_RUN_QUEUE}, {'f', WAIT_CLASS_FUTEX},
		       {'p', WAIT_CLASS_POLL}, {'t', WAIT_CLASS_TIMER},     {'?', WAIT_CLASS_UNKNOWN}};
	struct snapshot *snapshot = snapshot_create();
	size_t row = 0;

	for (uint32_t i = 0; threads[i] != '\0'; i++) {
		if (threads[i] != ' ')
			snapshot_add_thread(snapshot, i + 1, i + 1);
	}
	snapshot->wait_class = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint8_t));
	for (size_t i = 0; threads[i] != '\0'; i++) {
		for (size_t k = 0; k < ARRAY_COUNT(letters) && threads[i] != ' '; k++) {
			if (letters[k].letter == threads[i])
				snapshot->wait_class[row] = (uint8_t)letters[k].class;
		}
		row += threads[i] != ' ';
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void add(const char *threads)
{
	struct snapshot *next = make_reading(threads);
	uint32_t *before_of = memory_allocate((next->thread_count + 1) * sizeof(*before_of));

	for (size_t i = 0; i < next->thread_count; i++)
		before_of[i] = now != NULL ? snapshot_find_row(now, next->tgid[i], next->tid[i]) : UINT32_MAX;
	if (now != NULL)
		wait_samples_add(&samples, now, next, before_of);
	free(before_of);
	snapshot_release(now);
	now = next;
}

/* The part of a class, percent, of thread `number` from 1 on. */
static int part_of(uint32_t number, enum wait_class class)
{
	double shares[WAIT_CLASS_COUNT] = {0};

	wait_samples_divide(&samples, now, snapshot_find_row(now, number, number), shares);
	return (int)(100 * shares[class] + 0.5);
}

static int release(void **state)
{
	(void)state;
	wait_samples_release(&samples);
	snapshot_release(now);
	now = NULL;
	return 0;
}

/* A thread has a sample for each reading; one that never changed needs none. */
static void test_divides(void **state)
{
	(void)state;
	add("pf");
	add("ff");
	add("pf");
	add("pf");
	assert_int_equal(samples.readings, 4);
	assert_int_equal(samples.count, 1);
	assert_int_equal(part_of(1, WAIT_CLASS_POLL), 75);
	assert_int_equal(part_of(1, WAIT_CLASS_FUTEX), 25);
	assert_int_equal(part_of(2, WAIT_CLASS_FUTEX), 100);
}

/* CPUs, run queues and readings that failed have no part of the time asleep. */
static void test_asleep_only(void **state)
{
	(void)state;
	add("pcq");
	add("ccc");
	add("fcq");
	add("q?c");
	assert_int_equal(part_of(1, WAIT_CLASS_POLL), 50);
	assert_int_equal(part_of(1, WAIT_CLASS_FUTEX), 50);
	assert_int_equal(part_of(1, WAIT_CLASS_CPU), 0);
	for (size_t i = 0; i < WAIT_CLASS_COUNT; i++)
		assert_int_equal(part_of(2, (enum wait_class)i) + part_of(3, (enum wait_class)i), 0);
}

/* Threads keep theirs when others come and go; one that comes begins with its first reading. */
static void test_births(void **state)
{
	(void)state;
	add(" p p");
	add(" f p");
	add("pf p");
	add("tf f");
	add("t  p");
	assert_int_equal(part_of(1, WAIT_CLASS_POLL), 33);
	assert_int_equal(part_of(1, WAIT_CLASS_TIMER), 67);
	assert_int_equal(part_of(4, WAIT_CLASS_POLL), 80);
	assert_int_equal(samples.count, 2);
}

/* Only the last readings count, and a thread that changed none of them needs no samples. */
static void test_last_readings(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * WAIT_SAMPLES_MAX; i++)
		add("p");
	add("f");
	assert_int_equal(part_of(1, WAIT_CLASS_POLL), 97);
	for (size_t i = 0; i < WAIT_SAMPLES_MAX / 2 - 1; i++)
		add("f");
	assert_int_equal(part_of(1, WAIT_CLASS_POLL), 50);
	for (size_t i = 0; i < WAIT_SAMPLES_MAX / 2; i++)
		add("f");
	assert_int_equal(part_of(1, WAIT_CLASS_FUTEX), 100);
	assert_int_equal(samples.count, 0);
}

/* A reading without classes ends them. */
static void test_unread(void **state)
{
	(void)state;
	add("p");
	add("f");
	free(now->wait_class);
	now->wait_class = NULL;
	add("f");
	assert_int_equal(samples.readings, 0);
	add("p");
	assert_int_equal(samples.readings, 2);
	assert_int_equal(part_of(1, WAIT_CLASS_FUTEX), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_divides, release),
		cmocka_unit_test_teardown(test_asleep_only, release),
		cmocka_unit_test_teardown(test_births, release),
		cmocka_unit_test_teardown(test_last_readings, release),
		cmocka_unit_test_teardown(test_unread, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
