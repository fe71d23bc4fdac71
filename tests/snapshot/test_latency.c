/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "snapshot/snapshot.h"

static int order_waits(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void add_wait(struct latency_histogram *histogram, uint64_t wait)
{
	histogram->buckets[latency_bucket(wait)]++;
	histogram->sum_ns += wait;
	if (wait > histogram->max_ns)
		histogram->max_ns = wait;
}

static void test_buckets(void **state)
{
	(void)state;
	assert_int_equal(latency_bucket(0), 0);
	assert_int_equal(latency_bucket(1), 0);
	assert_int_equal(latency_bucket(2), 1);
	assert_int_equal(latency_bucket(1023), 9);
	assert_int_equal(latency_bucket(1024), 10);
	assert_int_equal(latency_bucket(UINT64_MAX), LATENCY_BUCKETS - 1);
	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		assert_int_equal(latency_bucket(latency_bucket_start(i)), i);
		assert_int_equal(latency_bucket(latency_bucket_end(i) - 1), i);
	}
}

/* Whatever the waits are, a percentile is in the bucket of the exact one. */
static void test_percentiles(void **state)
{
	static const double shares[] = {0.01, 0.5, 0.9, 0.99, 0.999, 1.0};
	enum {
		COUNT = 5000
	};
	static uint64_t waits[COUNT];
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct latency_histogram histogram = {0};

		for (size_t i = 0; i < COUNT; i++) {
			random = random * 6364136223846793005U + 1442695040888963407U;
			waits[i] = (random >> 33) >> (random >> 20 & 15 & (round | 1));
			add_wait(&histogram, waits[i]);
		}
		qsort(waits, COUNT, sizeof(waits[0]), order_waits);
		assert_int_equal(latency_count(&histogram), COUNT);
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
			const uint64_t exact = waits[(size_t)(shares[i] * (double)COUNT) - 1];
			const double found = latency_percentile(&histogram, shares[i], 0);

			assert_true(found >= (double)latency_bucket_start(latency_bucket(exact)));
			assert_true(found <= (double)latency_bucket_end(latency_bucket(exact)));
			assert_true(found <= (double)histogram.max_ns);
		}
		assert_true(latency_percentile(&histogram, 1.0, 0) == (double)histogram.max_ns);
	}
}

static void test_percentiles_of_few(void **state)
{
	struct latency_histogram histogram = {0};

	(void)state;
	assert_true(latency_percentile(&histogram, 0.99, 0) == 0);
	add_wait(&histogram, 5000);
	assert_true(latency_percentile(&histogram, 1.0, 0) == 5000);
	assert_true(latency_percentile(&histogram, 0.5, 0) > 4096 &&
		    latency_percentile(&histogram, 0.5, 0) < 5000);
	/* one long wait of a hundred is beyond the 99th */
	for (size_t i = 0; i < 98; i++)
		add_wait(&histogram, 3000);
	add_wait(&histogram, 1000000);
	assert_true(latency_percentile(&histogram, 0.98, 0) <= 4096);
	assert_true(latency_percentile(&histogram, 0.99, 0) <= 8192);
	assert_true(latency_percentile(&histogram, 0.995, 0) > 500000);
}

/* Whatever the waits are that are not known, the bound holds; and it says something when they are few. */
static void test_percentiles_at_least(void **state)
{
	static const double shares[] = {0.01, 0.5, 0.9, 0.99};
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		const uint64_t known = 1 + round * round % 700, unknown = 1 + round % 40 * (round % 7);
		struct latency_histogram histogram = {0}, whole;
		double bounds[4];

		for (uint64_t i = 0; i < known; i++) {
			random = random * 6364136223846793005U + 1442695040888963407U;
			add_wait(&histogram, (random >> 33) >> (random >> 20 & 15));
		}
		for (size_t i = 0; i < 4; i++) {
			bounds[i] = latency_percentile(&histogram, shares[i], unknown);
			assert_true(bounds[i] <= latency_percentile(&histogram, shares[i], 0));
		}
		whole = histogram;
		for (uint64_t i = 0; i < unknown; i++) {
			random = random * 6364136223846793005U + 1442695040888963407U;
			add_wait(&whole, round % 3 == 0 ? 0 : (random >> 33) >> (random >> 20 & 31));
			for (size_t k = 0; k < 4; k++)
				assert_true(bounds[k] <= latency_percentile(&whole, shares[k], 0));
		}
		assert_true(latency_percentile(&histogram, 0.5, known) == 0);
	}
	assert_true(latency_percentile(&(struct latency_histogram){0}, 0.99, 5) == 0);
}

static void test_percentile_beside_few(void **state)
{
	struct latency_histogram histogram = {0};

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		add_wait(&histogram, 5000000);
	assert_true(latency_percentile(&histogram, 0.99, 10) == 1 << 22);
	assert_true(latency_percentile(&histogram, 0.99, 98000) == 1 << 22);
	assert_true(latency_percentile(&histogram, 0.99, 99001) == 0);
}

static void add_record(struct snapshot *snapshot, const char *name, uint64_t wait)
{
	uint32_t id = string_pool_intern(&snapshot->strings, name, strlen(name));

	latency_add_record(snapshot, id, id, id);
	add_wait(&latency_own_waits(&snapshot->latency, snapshot->latency.count - 1)->of[LATENCY_BLOCKED],
		 wait);
}

static const struct latency_record *find(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->latency.count; i++) {
		if (strcmp(snapshot_text(snapshot, snapshot->latency.records[i].comm), name) == 0)
			return &snapshot->latency.records[i];
	}
	return NULL;
}

static const struct latency_histogram *find_blocked(const struct snapshot *snapshot, const char *name)
{
	const size_t index = (size_t)(find(snapshot, name) - snapshot->latency.records);

	return &latency_waits_of(&snapshot->latency, index)->of[LATENCY_BLOCKED];
}

static void test_sums(void **state)
{
	struct snapshot *sums = snapshot_create(), *first = snapshot_create(), *second = snapshot_create();
	uint32_t *indices;

	(void)state;
	first->latency.span_ns = 10;
	second->latency.span_ns = 20;
	add_record(first, "web", 100);
	add_record(second, "pool", 7);
	add_record(second, "web", 300);
	free(latency_sums_add(sums, first));
	indices = latency_sums_add(sums, second);
	assert_int_equal(indices[0], 1);
	assert_int_equal(indices[1], 0);
	free(indices);
	assert_int_equal(sums->latency.span_ns, 30);
	assert_int_equal(sums->latency.count, 2);
	assert_int_equal(sums->triple_count, 2);
	assert_int_equal(latency_count(find_blocked(sums, "web")), 2);
	assert_int_equal(find_blocked(sums, "web")->max_ns, 300);
	assert_int_equal(find_blocked(sums, "web")->sum_ns, 400);
	assert_int_equal(find_blocked(sums, "pool")->sum_ns, 7);
	assert_int_equal(latency_sums_other(sums), UINT32_MAX);
	snapshot_release(sums);
	snapshot_release(first);
	snapshot_release(second);
}

/* Names without end do not take memory without end, and no wait is lost. */
static void test_sums_are_bounded(void **state)
{
	struct snapshot *sums = snapshot_create(), *more = snapshot_create();
	uint64_t count = 0;
	char name[16];

	(void)state;
	for (size_t i = 0; i < LATENCY_RECORDS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "name%zu", i);
		add_record(more, name, 5);
	}
	free(latency_sums_add(sums, more));
	free(latency_sums_add(sums, more));
	assert_int_equal(sums->latency.count, LATENCY_RECORDS_MAX + 1);
	assert_int_equal(latency_count(find_blocked(sums, name_other.text)), 200);
	assert_ptr_equal(&sums->latency.records[latency_sums_other(sums)], find(sums, name_other.text));
	for (size_t i = 0; i < sums->latency.count; i++)
		count += latency_count(&latency_waits_of(&sums->latency, i)->of[LATENCY_BLOCKED]);
	assert_int_equal(count, 2 * (LATENCY_RECORDS_MAX + 100));
	snapshot_release(sums);
	snapshot_release(more);
}

/* --- shares --- */

static void add_share(struct snapshot *snapshot, uint32_t record, uint32_t pid, uint64_t wait)
{
	struct latency *latency = &snapshot->latency;
	struct latency_share share = {.record = record, .pid = pid};

	add_wait(&share.waits.of[LATENCY_RUN_QUEUE], wait);
	*MEMORY_APPEND(latency->shares, latency->share_count, latency->share_capacity) = share;
}

static uint64_t count_share(const struct snapshot *snapshot, const char *name, uint32_t pid)
{
	const struct latency *latency = &snapshot->latency;

	for (size_t i = 0; i < latency->share_count; i++) {
		if (latency->shares[i].pid == pid &&
		    &latency->records[latency->shares[i].record] == find(snapshot, name))
			return latency_count(&latency->shares[i].waits.of[LATENCY_RUN_QUEUE]);
	}
	return 0;
}

/* Sums have each share once, under the records of the sums; and so has a copy. */
static void test_shares(void **state)
{
	struct snapshot *sums = snapshot_create(), *first = snapshot_create(), *second = snapshot_create();
	struct snapshot *copy = snapshot_create();

	(void)state;
	add_record(first, "web", 1);
	add_share(first, 0, 7, 100);
	add_record(second, "pool", 1);
	add_record(second, "web", 1);
	add_share(second, 1, 8, 200);
	add_share(second, 0, 7, 300);
	add_share(second, 1, 7, 400);
	free(latency_sums_add(sums, first));
	free(latency_sums_add(sums, second));
	latency_copy(copy, sums);
	assert_int_equal(copy->latency.share_count, 3);
	assert_int_equal(count_share(copy, "web", 7), 2);
	assert_int_equal(count_share(copy, "web", 8), 1);
	assert_int_equal(count_share(copy, "pool", 7), 1);
	snapshot_release(sums);
	snapshot_release(first);
	snapshot_release(second);
	snapshot_release(copy);
}

/* Of processes that are gone, and of those whose id another one got, the waits are of processes that ended.
 */
static void test_shares_end(void **state)
{
	struct snapshot *sums = snapshot_create(), *now = snapshot_create();

	(void)state;
	add_record(sums, "web", 1);
	add_share(sums, 0, 7, 100);
	add_share(sums, 0, 8, 100);
	add_share(sums, 0, 9, 100);
	snapshot_add_thread(now, 7, 7);
	snapshot_add_thread(now, 9, 9);
	now->start_time[0] = 100;
	now->start_time[1] = 300;
	snapshot_finish(now);
	latency_end_processes(&sums->latency, now, 200 * NS_PER_TICK);
	assert_int_equal(sums->latency.share_count, 2);
	assert_int_equal(count_share(sums, "web", 7), 1);
	assert_int_equal(count_share(sums, "web", 0), 2);
	snapshot_release(sums);
	snapshot_release(now);
}

/* --- times --- */

static uint64_t find_time(const struct latency *latency, uint32_t record, uint32_t pid, uint8_t class)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < latency->time_count; i++) {
		const struct latency_time *time = &latency->times[i];

		if (time->record == record && time->pid == pid && time->class == class) {
			assert_int_equal(time_ns, 0);
			time_ns = time->time_ns;
		}
	}
	return time_ns;
}

/* Times of the same names, process and class are one; those of processes that end are of ended ones. */
static void test_times(void **state)
{
	struct snapshot *sums = snapshot_create(), *round = snapshot_create(), *gone = snapshot_create();
	const struct latency *latency = &sums->latency;

	(void)state;
	add_record(round, "web", 1);
	add_record(round, "pool", 0);
	latency_add_time(&round->latency, &(struct latency_time){0, 7, WAIT_CLASS_FUTEX, 100});
	latency_add_time(&round->latency, &(struct latency_time){0, 8, WAIT_CLASS_FUTEX, 50});
	latency_add_time(&round->latency,
			 &(struct latency_time){1, LATENCY_PROCESS_UNKNOWN, WAIT_CLASS_DISK, 5});
	latency_add_time(&round->latency, &(struct latency_time){1, 7, WAIT_CLASS_DISK, 0});
	free(latency_sums_add(sums, round));
	free(latency_sums_add(sums, round));
	assert_int_equal(latency->time_count, 3);
	assert_int_equal(find_time(latency, 0, 7, WAIT_CLASS_FUTEX), 200);
	assert_int_equal(find_time(latency, 1, LATENCY_PROCESS_UNKNOWN, WAIT_CLASS_DISK), 10);
	snapshot_add_thread(gone, 7, 7);
	snapshot_add_thread(gone, 8, 8);
	snapshot_finish(gone);
	latency_end_gone(&sums->latency, gone);
	assert_int_equal(latency->time_count, 2);
	assert_int_equal(find_time(latency, 0, 0, WAIT_CLASS_FUTEX), 300);
	assert_int_equal(find_time(latency, 1, LATENCY_PROCESS_UNKNOWN, WAIT_CLASS_DISK), 10);
	snapshot_release(sums);
	snapshot_release(round);
	snapshot_release(gone);
}

/* Processes without end: the longest times keep theirs, and no time is lost. */
static void test_times_are_bounded(void **state)
{
	struct snapshot *sums = snapshot_create(), *more = snapshot_create();
	const struct latency *latency = &sums->latency;
	uint64_t expected = 0, time_ns = 0;

	(void)state;
	add_record(more, "web", 1);
	for (uint32_t pid = 1; pid <= LATENCY_TIMES_MAX + 100; pid++) {
		latency_add_time(&more->latency, &(struct latency_time){0, pid, WAIT_CLASS_POLL, pid});
		expected += pid;
	}
	free(latency_sums_add(sums, more));
	assert_in_range(latency->time_count, LATENCY_TIMES_MAX / 4, LATENCY_TIMES_MAX);
	assert_int_equal(find_time(latency, 0, LATENCY_TIMES_MAX + 100, WAIT_CLASS_POLL),
			 LATENCY_TIMES_MAX + 100);
	assert_int_equal(find_time(latency, 0, 1, WAIT_CLASS_POLL), 0);
	for (size_t i = 0; i < latency->time_count; i++)
		time_ns += latency->times[i].time_ns;
	assert_int_equal(time_ns, expected);
	snapshot_release(sums);
	snapshot_release(more);
}

/* Processes without end do not take memory without end: those with the most waits stay. */
static void test_shares_are_bounded(void **state)
{
	struct snapshot *sums = snapshot_create(), *more = snapshot_create();

	(void)state;
	add_record(more, "web", 1);
	for (uint32_t pid = 1; pid <= LATENCY_SHARES_MAX + 100; pid++) {
		add_share(more, 0, pid, 5);
		if (pid % 3 == 0)
			add_share(more, 0, pid, 5);
	}
	free(latency_sums_add(sums, more));
	assert_true(sums->latency.share_count <= LATENCY_SHARES_MAX);
	assert_int_equal(count_share(sums, "web", 3), 2);
	snapshot_release(sums);
	snapshot_release(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_percentiles_of_few),
		cmocka_unit_test(test_percentiles_at_least),
		cmocka_unit_test(test_percentile_beside_few),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_sums_are_bounded),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_shares_end),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_times_are_bounded),
		cmocka_unit_test(test_shares_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
