/* SPDX-License-Identifier: GPL-2.0-only */
/* What delayed waits, added up and grouped. */
#include "tests/cmocka_include.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "window/blame.h"
#include "window/latency_spans.h"

static uint32_t add_names(struct snapshot *snapshot, const char *process, const char *thread)
{
	const uint32_t pcomm = string_pool_intern(&snapshot->strings, process, strlen(process));
	const uint32_t comm = string_pool_intern(&snapshot->strings, thread, strlen(thread));
	const uint32_t cgroup = string_pool_intern(&snapshot->strings, "/", 1);

	latency_add_record(snapshot, pcomm, comm, cgroup);
	return (uint32_t)snapshot->latency.count - 1;
}

static void add_delay(struct snapshot *snapshot, uint32_t victim, enum latency_cause cause, uint32_t culprit,
		      uint64_t time_ns)
{
	*MEMORY_APPEND(snapshot->latency.delays, snapshot->latency.delay_count,
		       snapshot->latency.delay_capacity) = (struct latency_delay){victim,  culprit, cause,
										  time_ns, 1,       0};
}

/* A round in which `api` waited for `backup` and for itself, and each for the idle CPU. */
static struct snapshot *make_round(bool in_other_order)
{
	struct snapshot *round = snapshot_create();
	uint32_t api, backup, worker[2];

	round->latency.present = true;
	round->latency.span_ns = 1000;
	if (in_other_order)
		add_names(round, "noise", "noise");
	backup = add_names(round, "backup", "tar");
	api = add_names(round, "api", "api");
	worker[0] = add_names(round, "api", "worker-1");
	worker[1] = add_names(round, "api", "worker-2");
	add_delay(round, worker[0], LATENCY_CAUSE_THREADS, backup, 500);
	add_delay(round, worker[1], LATENCY_CAUSE_THREADS, backup, 300);
	add_delay(round, worker[1], LATENCY_CAUSE_THREADS, worker[0], 40);
	add_delay(round, api, LATENCY_CAUSE_WAKEUP, 0, 7);
	add_delay(round, backup, LATENCY_CAUSE_WAKEUP, 0, 2);
	return round;
}

static void check_entry(const struct blame *blame, const struct latency_delay *entry, const char *label,
			uint64_t time_ns, uint64_t waits)
{
	size_t length;
	const char *own = blame_culprit_label(blame, entry, &length);

	assert_int_equal(length, strlen(label));
	assert_memory_equal(own, label, length);
	assert_int_equal(entry->time_ns, time_ns);
	assert_int_equal(entry->waits, waits);
}

static void test_groups(void **state)
{
	const struct grouping_options by_process = {.axis = AXIS_PROCESS}, by_user = {.axis = AXIS_USER};
	struct latency_spans spans = {0};
	struct snapshot *rounds[] = {make_round(false), make_round(true)};
	const struct latency_delay *entries;
	struct blame *blame;
	uint32_t api;
	size_t count;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		latency_spans_add_round(&spans, rounds[i]);
		snapshot_release(rounds[i]);
	}
	assert_int_equal(spans.interval.delay_count, 5);
	assert_int_equal(spans.base.delay_count, 5);
	blame = blame_create(&by_process, spans.whole, &spans.base, NULL, BLAME_DELAYED_BY);
	assert_int_equal(blame->span_ns, 2000);
	api = blame_find(blame, "api", 3);
	entries = blame_of(blame, api, &count);
	assert_int_equal(count, 3);
	check_entry(blame, &entries[0], "backup", 1600, 4);
	check_entry(blame, &entries[1], "itself", 80, 2);
	check_entry(blame, &entries[2], "(wakeup)", 14, 2);
	assert_int_equal(blame->whole[api], 1694);
	assert_int_equal(blame_find(blame, "nobody", 6), BLAME_NOBODY);
	blame_of(blame, blame_find(blame, "noise", 5), &count);
	assert_int_equal(count, 0);
	blame_release(blame);
	assert_null(blame_create(&by_user, spans.whole, &spans.base, NULL, BLAME_DELAYED_BY));
	latency_spans_release(&spans);
}

/* What is copied for a file says the same, with indices of its own. */
static void test_copy(void **state)
{
	const struct grouping_options by_process = {.axis = AXIS_PROCESS};
	struct latency_spans spans = {0}, again = {0};
	struct snapshot *round = make_round(true), *copy;
	const struct latency_delay *entries;
	struct blame *blame;
	size_t count;

	(void)state;
	latency_spans_add_round(&spans, round);
	copy = latency_spans_copy(&spans, &spans.interval);
	assert_int_equal(copy->latency.count, 4);
	latency_spans_add_round(&again, copy);
	blame = blame_create(&by_process, again.whole, &again.interval, NULL, BLAME_DELAYED_BY);
	entries = blame_of(blame, blame_find(blame, "api", 3), &count);
	assert_int_equal(count, 3);
	check_entry(blame, &entries[0], "backup", 800, 2);
	blame_release(blame);
	snapshot_release(copy);
	snapshot_release(round);
	latency_spans_release(&spans);
	latency_spans_release(&again);
}

/* Pairs without end do not take memory without end: what took least is put together, and no time is lost. */
static void test_bound(void **state)
{
	struct snapshot *sums = snapshot_create(), *round = snapshot_create();
	const uint32_t victims = 300, culprits = 300;
	uint64_t time_ns = 0, expected = 0;
	size_t folded = 0;
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < victims; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		add_names(round, name, name);
	}
	for (uint32_t victim = 0; victim < victims; victim++) {
		for (uint32_t culprit = 0; culprit < culprits; culprit++) {
			add_delay(round, victim, LATENCY_CAUSE_THREADS, culprit, 1 + victim * culprit);
			expected += 1 + victim * culprit;
		}
	}
	free(latency_sums_add(sums, round));
	assert_true(sums->latency.delay_count <= LATENCY_DELAYS_MAX);
	assert_true(sums->latency.delay_count > LATENCY_DELAYS_MAX / 4);
	for (size_t i = 0; i < sums->latency.delay_count; i++) {
		const struct latency_delay *delay = &sums->latency.delays[i];

		time_ns += delay->time_ns;
		folded += delay->cause == LATENCY_CAUSE_OTHER;
		/* the largest stay */
		if (delay->victim == victims - 1 && delay->culprit == culprits - 1)
			assert_int_equal(delay->cause, LATENCY_CAUSE_THREADS);
	}
	assert_int_equal(time_ns, expected);
	assert_int_equal(folded, victims);
	snapshot_release(sums);
	snapshot_release(round);
}

static void add_share(struct snapshot *round, uint32_t record, uint32_t pid)
{
	struct latency_share *share = MEMORY_APPEND(round->latency.shares, round->latency.share_count,
						    round->latency.share_capacity);

	*share = (struct latency_share){.record = record, .pid = pid};
	share->waits.of[LATENCY_RUN_QUEUE].buckets[10] = 1;
}

/* In rounds known only by who ended in them, waits of living processes stay with those processes. */
static void test_told_rounds(void **state)
{
	struct latency_spans spans = {0};
	uint64_t living = 0, ended = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct snapshot *round = make_round(false);

		add_share(round, 0, 7);
		add_share(round, 0, 8);
		/* a thread of one that lives, and a whole process */
		if (i == 1) {
			snapshot_add_thread(round, 7, 70);
			snapshot_add_thread(round, 8, 8);
		}
		latency_spans_add_told(&spans, round);
		snapshot_release(round);
	}
	for (size_t i = 0; i < spans.base.share_count; i++) {
		assert_true(spans.base.shares[i].pid == 7 || spans.base.shares[i].pid == 0);
		*(spans.base.shares[i].pid == 7
			  ? &living
			  : &ended) += spans.base.shares[i].waits.of[LATENCY_RUN_QUEUE].buckets[10];
	}
	assert_int_equal(living, 2);
	assert_int_equal(ended, 2);
	latency_spans_release(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_told_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
