/* SPDX-License-Identifier: GPL-2.0-only */
/* The base of the tests of contexts: the contexts are right, and so is the memory they are
 * in. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "base/clock.h"
#include "base/memory.h"
#include "fixture.h"

enum {
	THREADS = 3000, /* more than five leaves */
	ROOT_CHILDREN = 3,
	ENTRIES = 512,
	FEW = 10,
	CHURNED = 16,
	CHURN_PATIENCE_S = 60,
	CHURN_CHANGES = 2000,
	HEADER = 8, /* bytes before a context, in some layouts */
	ELEMENT_BYTES = 128,
	PAGE = 4096,
};

static struct error error;

static struct fixture *open_layout(enum fixture_layout layout, const struct fixture_options *options)
{
	struct fixture *fixture = NULL;

	if (!fixture_works(&error)) {
		print_message("SKIP: %s\n", error.text);
		skip();
	}
	assert_done(fixture_open(&fixture, layout, options, &error));
	return fixture;
}

static void assert_filled(const struct task_ctx *context, pid_t tid)
{
	uint32_t pid = (uint32_t)tid;

	assert_int_equal(context->pid, pid);
	assert_int_equal(context->seal, context_seal(pid));
	assert_int_equal(context->domain_id, pid % CONTEXT_DOMAINS);
	assert_int_equal(context->lag, -((int64_t)pid << 20));
	assert_int_equal(context->credit, CONTEXT_CREDITS - (int32_t)pid);
	assert_int_equal(context->level, pid & 31);
	assert_int_equal(context->bias, (int)(pid & 15) - 8);
	assert_int_equal(context->mask, ((uint64_t)pid << 13 | 1) & ((UINT64_C(1) << 40) - 1));
	assert_int_equal(context->load.trend, -(int32_t)pid);
	assert_int_equal(context->load.range.high, pid >> 3 & 0xffff);
	assert_int_equal(context->latencies[CONTEXT_LATENCIES - 1], pid + CONTEXT_LATENCIES - 1);
}

static int compare_ids(const void *one, const void *other)
{
	int32_t left = *(const int32_t *)one, right = *(const int32_t *)other;

	return (left > right) - (left < right);
}

/* All slots differ, and lie below as many children of the root as were asked for, with more than one leaf
 * each. */
static void assert_spread(int32_t *slots, size_t count, uint32_t root_children)
{
	uint32_t leaves[ENTRIES] = {0}, roots = 0;

	qsort(slots, count, sizeof(*slots), compare_ids);
	for (size_t i = 0; i < count; i++) {
		uint32_t root = (uint32_t)slots[i] / ENTRIES / ENTRIES;

		if (i != 0)
			assert_int_not_equal(slots[i], slots[i - 1]);
		assert_in_range(root, 0, ENTRIES - 1);
		if (i == 0 || slots[i] / ENTRIES != slots[i - 1] / ENTRIES)
			leaves[root]++;
	}
	for (uint32_t root = 0; root < ENTRIES; root++) {
		if (leaves[root] != 0) {
			assert_true(leaves[root] > 1);
			roots++;
		}
	}
	assert_int_equal(roots, root_children);
}

static void give_all(struct fixture *fixture, const struct fixture_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		assert_done(fixture_give(fixture, threads->tids[i], &error));
}

static void test_contexts_of(enum fixture_layout layout)
{
	struct fixture_options options = {.root_children = ROOT_CHILDREN};
	struct fixture *fixture = open_layout(layout, &options);
	const struct fixture_ids *ids = fixture_ids(fixture);
	struct fixture_threads threads;
	int32_t *slots;

	assert_int_not_equal(ids->program, 0);
	assert_int_not_equal(ids->btf, 0);
	assert_int_not_equal(ids->storage, 0);
	assert_int_equal(ids->arena != 0, layout != FIXTURE_DIRECT);
	assert_int_equal(ids->data != 0, layout != FIXTURE_DIRECT);
	assert_done(fixture_threads_start(&threads, THREADS, &error));
	slots = memory_allocate_zero(THREADS, sizeof(*slots));
	give_all(fixture, &threads);
	for (size_t i = 0; i < threads.count; i++) {
		struct fixture_context context;

		assert_done(fixture_look(fixture, threads.tids[i], &context, &error));
		assert_filled(&context.context, threads.tids[i]);
		assert_int_equal(context.id.val, context.element_id.val);
		assert_int_equal(context.id.genn, 0);
		slots[i] = context.id.idx;
	}
	if (layout != FIXTURE_DIRECT)
		assert_spread(slots, THREADS, ROOT_CHILDREN);
	free(slots);
	fixture_threads_end(&threads);
	fixture_close(fixture);
}

static void test_contexts(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++)
		test_contexts_of(layout);
}

/* A context follows its thread's nice value as the kernel's weights do, and its run time grows. */
static void test_runs(void **state)
{
	static const struct {
		int nice;
		uint64_t weight;
	} weights[] = {{0, 100}, {10, 11}, {-5, 305}};

	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture *fixture = open_layout(layout, &(struct fixture_options){0});
		struct fixture_context before, after;
		struct fixture_threads threads;
		uint64_t start = clock_ns(CLOCK_MONOTONIC);

		assert_done(fixture_threads_start(&threads, 1, &error));
		give_all(fixture, &threads);
		assert_done(fixture_look(fixture, threads.tids[0], &before, &error));
		for (size_t i = 0; i < ARRAY_COUNT(weights); i++) {
			assert_int_equal(setpriority(PRIO_PROCESS, (id_t)threads.tids[0], weights[i].nice),
					 0);
			assert_done(fixture_run(fixture, threads.tids[0], 1000, &error));
			assert_done(fixture_look(fixture, threads.tids[0], &after, &error));
			assert_int_equal(after.context.weight, weights[i].weight);
			assert_int_equal(after.context.nice, weights[i].nice);
			assert_int_equal(after.context.sum_runtime, 1000 * (i + 1));
			assert_int_equal(after.context.turns, i + 1);
			assert_int_equal(after.context.lag, before.context.lag + 1000 * (int64_t)(i + 1));
		}
		assert_true(before.context.last_run_at >= start);
		assert_true(after.context.last_run_at > before.context.last_run_at);
		assert_true(after.context.last_run_at <= clock_ns(CLOCK_MONOTONIC));
		fixture_threads_end(&threads);
		fixture_close(fixture);
	}
}

/* The slot that one thread left is another's, and says so. */
static void test_reuse_of(enum fixture_layout layout)
{
	struct fixture *fixture = open_layout(layout, &(struct fixture_options){0});
	struct fixture_threads threads;
	struct fixture_context first, second;

	assert_done(fixture_threads_start(&threads, FEW, &error));
	give_all(fixture, &threads);
	assert_done(fixture_look(fixture, threads.tids[3], &first, &error));
	assert_done(fixture_take(fixture, threads.tids[3], &error));
	assert_int_equal(fixture_look(fixture, threads.tids[3], &second, &error), -ENOENT);
	assert_int_equal(fixture_take(fixture, threads.tids[3], &error), -ENOENT);
	assert_done(fixture_take(fixture, threads.tids[4], &error));
	if (layout == FIXTURE_AFTER) {
		/* freed late: the next one gets a slot that nobody had */
		assert_done(fixture_give(fixture, threads.tids[4], &error));
		assert_done(fixture_look(fixture, threads.tids[4], &second, &error));
		assert_int_equal(second.id.idx, FEW);
		assert_int_equal(second.id.genn, 0);
		assert_done(fixture_take(fixture, threads.tids[4], &error));
		assert_done(fixture_settle(fixture, &error));
	}
	assert_done(fixture_give(fixture, threads.tids[4], &error));
	assert_int_equal(fixture_give(fixture, threads.tids[4], &error), -EEXIST);
	assert_done(fixture_look(fixture, threads.tids[4], &second, &error));
	assert_filled(&second.context, threads.tids[4]);
	if (layout != FIXTURE_DIRECT) {
		assert_int_equal(second.id.idx, first.id.idx);
		assert_int_equal(second.id.genn, first.id.genn + 1);
		assert_int_equal(second.element, first.element);
		assert_int_equal(second.id.val, second.element_id.val);
	}
	fixture_threads_end(&threads);
	fixture_close(fixture);
}

/* If freed slots keep their content, nothing tells the new owner from the old one but the context itself.
 */
static void test_kept_ids(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture *fixture = open_layout(layout, &(struct fixture_options){.keep_ids = true});
		struct fixture_threads threads;
		struct fixture_context first, second;

		assert_done(fixture_threads_start(&threads, FEW, &error));
		give_all(fixture, &threads);
		assert_done(fixture_look(fixture, threads.tids[3], &first, &error));
		assert_done(fixture_take(fixture, threads.tids[3], &error));
		assert_done(fixture_settle(fixture, &error));
		assert_done(fixture_take(fixture, threads.tids[4], &error));
		assert_done(fixture_give(fixture, threads.tids[4], &error));
		assert_done(fixture_look(fixture, threads.tids[4], &second, &error));
		assert_filled(&second.context, threads.tids[4]);
		assert_int_equal(second.id.val, first.id.val);
		assert_int_equal(second.element, first.element);
		fixture_threads_end(&threads);
		fixture_close(fixture);
	}
}

static void test_reuse(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++)
		test_reuse_of(layout);
}

/* A thread that ends frees its slot only where the object is told of its end. */
static void test_exit(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		for (int frees = 0; frees < 2; frees++) {
			struct fixture *fixture = open_layout(
				layout, &(struct fixture_options){.free_at_exit = frees != 0});
			struct fixture_threads threads;
			struct fixture_context context;

			assert_done(fixture_threads_start(&threads, FEW, &error));
			give_all(fixture, &threads);
			fixture_threads_end(&threads);
			assert_done(fixture_settle(fixture, &error));
			assert_done(fixture_threads_start(&threads, 1, &error));
			give_all(fixture, &threads);
			assert_done(fixture_look(fixture, threads.tids[0], &context, &error));
			assert_int_equal(context.id.idx, frees ? 0 : FEW);
			assert_int_equal(context.id.genn, frees);
			fixture_threads_end(&threads);
			fixture_close(fixture);
		}
	}
}

/* The pages are counted as they come; looking at a context takes none, touching the mapping does. */
static void test_pages_of(enum fixture_layout layout)
{
	struct fixture *fixture = open_layout(layout, &(struct fixture_options){0});
	uint64_t unused = fixture_unused_address(fixture), before_kib, after_kib;
	uint32_t empty, full, after;
	struct fixture_context context;
	struct fixture_threads threads;
	bool has;

	assert_done(fixture_pages(fixture, &empty, &error));
	assert_int_not_equal(empty, 0);
	assert_done(fixture_threads_start(&threads, THREADS, &error));
	give_all(fixture, &threads);
	assert_done(fixture_pages(fixture, &full, &error));
	/* elements, and a page for each leaf at least */
	assert_true(full - empty >= THREADS * ELEMENT_BYTES / PAGE + THREADS / ENTRIES);
	assert_true(full - empty <= 2 * THREADS * ELEMENT_BYTES / PAGE + 3 * THREADS / ENTRIES);
	for (size_t i = 0; i < threads.count; i++)
		assert_done(fixture_look(fixture, threads.tids[i], &context, &error));
	assert_done(fixture_pages(fixture, &after, &error));
	assert_int_equal(after, full);

	assert_done(fixture_has_page(fixture, context.element, &has, &error));
	assert_true(has);
	assert_done(fixture_has_page(fixture, unused, &has, &error));
	assert_false(has);
	assert_done(fixture_point(fixture, threads.tids[0], unused, &error));
	assert_done(fixture_look(fixture, threads.tids[0], &context, &error));
	assert_int_equal(context.context.pid, 0);
	assert_int_equal(context.context.seal, 0);
	assert_done(fixture_has_page(fixture, unused, &has, &error));
	assert_false(has);

	assert_done(fixture_resident(fixture, &before_kib, &error));
	assert_int_equal(*(volatile uint64_t *)(uintptr_t)unused, 0);
	assert_done(fixture_resident(fixture, &after_kib, &error));
	assert_int_equal(after_kib, before_kib + PAGE / 1024);
	assert_done(fixture_has_page(fixture, unused, &has, &error));
	assert_true(has);
	assert_done(fixture_pages(fixture, &after, &error));
	assert_int_equal(after, full + 1);
	fixture_threads_end(&threads);
	fixture_close(fixture);
}

static void test_pages(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++)
		test_pages_of(layout);
}

/* The arena holds what its owner's programs wrote: the context beside the id of its thread's storage. */
static void test_memory(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture *fixture = open_layout(layout, &(struct fixture_options){0});
		size_t id_at = layout == FIXTURE_AFTER ? sizeof(struct task_ctx) : 0;
		size_t context_at = layout == FIXTURE_AFTER ? 0 : HEADER;
		struct fixture_threads threads;
		struct fixture_context context;

		assert_done(fixture_threads_start(&threads, FEW, &error));
		give_all(fixture, &threads);
		for (size_t i = 0; i < FEW; i++) {
			const char *element;

			assert_done(fixture_look(fixture, threads.tids[i], &context, &error));
			assert_true(context.element >= fixture_arena_address(fixture));
			element = (const char *)(uintptr_t)context.element;
			assert_memory_equal(element + id_at, &context.id, sizeof(context.id));
			assert_memory_equal(element + context_at, &context.context, sizeof(context.context));
		}
		fixture_threads_end(&threads);
		fixture_close(fixture);
	}
}

/* Slots change hands while somebody looks, and in the end each thread has a context of its own. */
static void test_churn(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture *fixture = open_layout(layout, &(struct fixture_options){0});
		uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + CHURN_PATIENCE_S * NS_PER_S;
		struct fixture_churn *churn;
		struct fixture_threads threads;
		struct fixture_context context;
		int32_t generation = 0;

		assert_done(fixture_threads_start(&threads, CHURNED, &error));
		give_all(fixture, &threads);
		churn = fixture_churn_start(fixture, threads.tids, threads.count);
		assert_non_null(churn);
		while (layout != FIXTURE_DIRECT && generation < CHURN_CHANGES / CHURNED / 10) {
			assert_true(clock_ns(CLOCK_MONOTONIC) < deadline);
			if (fixture_look(fixture, threads.tids[0], &context, NULL) == 0)
				generation = context.id.genn > generation ? context.id.genn : generation;
		}
		fixture_churn_end(churn);
		for (size_t i = 0; i < threads.count; i++) {
			assert_done(fixture_look(fixture, threads.tids[i], &context, &error));
			assert_filled(&context.context, threads.tids[i]);
			assert_int_equal(context.id.val, context.element_id.val);
		}
		fixture_threads_end(&threads);
		fixture_close(fixture);
	}
}

/* Sentences say what failed. */
static void test_errors(void **state)
{
	struct fixture *fixture = open_layout(FIXTURE_BEFORE, &(struct fixture_options){0});

	(void)state;
	assert_int_equal(fixture_give(fixture, 0x3fffffff, &error), -ESRCH);
	assert_non_null(strstr(error.text, "thread 1073741823"));
	assert_non_null(strstr(error.text, "no such thread"));
	fixture_close(fixture);
	assert_int_equal(fixture_open(&fixture, FIXTURE_AFTER,
				      &(struct fixture_options){.root_children = ENTRIES + 1}, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "layout after"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts), cmocka_unit_test(test_runs),  cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_kept_ids), cmocka_unit_test(test_exit),  cmocka_unit_test(test_pages),
		cmocka_unit_test(test_memory),   cmocka_unit_test(test_churn), cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
