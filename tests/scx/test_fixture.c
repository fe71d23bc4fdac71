/* SPDX-License-Identifier: GPL-2.0-only */
/* The base of the tests of contexts: the contexts are right, and so is the memory they are
 * in. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "fixture.h"

enum {
	THREADS = 3000, /* more than five leaves */
	ROOT_CHILDREN = 3,
	ENTRIES = 512,
	FEW = 10,
	HEADER = 8, /* bytes before a context, in some layouts */
	ELEMENT_BYTES = 128,
	PAGE = 4096,
};

static struct error error;

static void begin(struct fixture_scene *scene, enum fixture_layout layout, size_t threads,
		  const struct fixture_options *options)
{
	assert_done(fixture_scene_begin(scene, layout, threads, options, &error));
}

/* The context of thread number `thread`. */
static void look(const struct fixture_scene *scene, size_t thread, struct fixture_context *ret_context)
{
	assert_done(fixture_look(scene->fixture, scene->threads.tids[thread], ret_context, &error));
}

static void give(const struct fixture_scene *scene, size_t thread)
{
	assert_done(fixture_give(scene->fixture, scene->threads.tids[thread], &error));
}

static void take(const struct fixture_scene *scene, size_t thread)
{
	assert_done(fixture_take(scene->fixture, scene->threads.tids[thread], &error));
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

static void test_contexts(void **state)
{
	static int32_t slots[THREADS];

	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture_scene scene;
		const struct fixture_ids *ids;

		begin(&scene, layout, THREADS, &(struct fixture_options){.root_children = ROOT_CHILDREN});
		ids = fixture_ids(scene.fixture);
		assert_int_not_equal(ids->program, 0);
		assert_int_not_equal(ids->btf, 0);
		assert_int_not_equal(ids->storage, 0);
		assert_int_equal(ids->arena != 0, layout != FIXTURE_DIRECT);
		assert_int_equal(ids->data != 0, layout != FIXTURE_DIRECT);
		for (size_t i = 0; i < THREADS; i++) {
			struct fixture_context context;

			look(&scene, i, &context);
			assert_filled(&context.context, scene.threads.tids[i]);
			assert_int_equal(context.id.val, context.element_id.val);
			assert_int_equal(context.id.genn, 0);
			slots[i] = context.id.idx;
		}
		if (layout != FIXTURE_DIRECT)
			assert_spread(slots, THREADS, ROOT_CHILDREN);
		fixture_scene_end(&scene);
	}
}

/* The slot that one thread left is another's, and says so. */
static void test_reuse(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture_scene scene;
		struct fixture_context first, second;

		begin(&scene, layout, FEW, &(struct fixture_options){0});
		look(&scene, 3, &first);
		take(&scene, 3);
		assert_int_equal(fixture_look(scene.fixture, scene.threads.tids[3], &second, &error),
				 -ENOENT);
		assert_int_equal(fixture_take(scene.fixture, scene.threads.tids[3], &error), -ENOENT);
		take(&scene, 4);
		if (layout == FIXTURE_AFTER) {
			/* freed late: the next one gets a slot that nobody had */
			give(&scene, 4);
			look(&scene, 4, &second);
			assert_int_equal(second.id.idx, FEW);
			assert_int_equal(second.id.genn, 0);
			take(&scene, 4);
			assert_done(fixture_settle(scene.fixture, &error));
		}
		give(&scene, 4);
		assert_int_equal(fixture_give(scene.fixture, scene.threads.tids[4], &error), -EEXIST);
		look(&scene, 4, &second);
		assert_filled(&second.context, scene.threads.tids[4]);
		if (layout != FIXTURE_DIRECT) {
			assert_int_equal(second.id.idx, first.id.idx);
			assert_int_equal(second.id.genn, first.id.genn + 1);
			assert_int_equal(second.element, first.element);
			assert_int_equal(second.id.val, second.element_id.val);
		}
		fixture_scene_end(&scene);
	}
}

/* If freed slots keep their content, nothing tells the new owner from the old one but the context itself. */
static void test_kept_ids(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		struct fixture_scene scene;
		struct fixture_context first, second;

		begin(&scene, layout, FEW, &(struct fixture_options){.keep_ids = true});
		look(&scene, 3, &first);
		take(&scene, 3);
		assert_done(fixture_settle(scene.fixture, &error));
		take(&scene, 4);
		give(&scene, 4);
		look(&scene, 4, &second);
		assert_filled(&second.context, scene.threads.tids[4]);
		assert_int_equal(second.id.val, first.id.val);
		assert_int_equal(second.element, first.element);
		fixture_scene_end(&scene);
	}
}

/* A thread that ends frees its slot only where the object is told of its end. */
static void test_exit(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		for (int frees = 0; frees < 2; frees++) {
			struct fixture_scene scene;
			struct fixture_context context;

			begin(&scene, layout, FEW, &(struct fixture_options){.free_at_exit = frees != 0});
			fixture_threads_end(&scene.threads);
			assert_done(fixture_settle(scene.fixture, &error));
			assert_done(fixture_threads_start(&scene.threads, 1, &error));
			give(&scene, 0);
			look(&scene, 0, &context);
			assert_int_equal(context.id.idx, frees ? 0 : FEW);
			assert_int_equal(context.id.genn, frees);
			fixture_scene_end(&scene);
		}
	}
}

static void assert_page(const struct fixture_scene *scene, uint64_t address, bool expected)
{
	bool has;

	assert_done(fixture_has_page(scene->fixture, address, &has, &error));
	assert_int_equal(has, expected);
}

/* Looking at a context takes no page, touching the mapping does, and that is seen. */
static void test_pages(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		uint64_t unused, before_kib, after_kib;
		uint32_t full, after;
		struct fixture_context context;
		struct fixture_scene scene;

		begin(&scene, layout, THREADS, &(struct fixture_options){0});
		unused = fixture_unused_address(scene.fixture);
		assert_done(fixture_pages(scene.fixture, &full, &error));
		/* elements, and a page for each leaf at least */
		assert_true(full >= THREADS * ELEMENT_BYTES / PAGE + THREADS / ENTRIES);
		for (size_t i = 0; i < THREADS; i++)
			look(&scene, i, &context);
		assert_done(fixture_pages(scene.fixture, &after, &error));
		assert_int_equal(after, full);

		assert_page(&scene, context.element, true);
		assert_page(&scene, unused, false);
		assert_done(fixture_point(scene.fixture, scene.threads.tids[0], unused, &error));
		look(&scene, 0, &context);
		assert_int_equal(context.context.pid, 0);
		assert_int_equal(context.context.seal, 0);
		assert_page(&scene, unused, false);

		assert_done(fixture_resident(scene.fixture, &before_kib, &error));
		assert_int_equal(*(volatile uint64_t *)(uintptr_t)unused, 0);
		assert_done(fixture_resident(scene.fixture, &after_kib, &error));
		assert_int_equal(after_kib, before_kib + PAGE / 1024);
		assert_page(&scene, unused, true);
		assert_done(fixture_pages(scene.fixture, &after, &error));
		assert_int_equal(after, full + 1);
		fixture_scene_end(&scene);
	}
}

/* The arena holds what its owner's programs wrote: the context beside the id of its thread's storage. */
static void test_memory(void **state)
{
	(void)state;
	for (enum fixture_layout layout = FIXTURE_BEFORE; layout < FIXTURE_LAYOUTS; layout++) {
		size_t id_at = layout == FIXTURE_AFTER ? sizeof(struct task_ctx) : 0;
		size_t context_at = layout == FIXTURE_AFTER ? 0 : HEADER;
		struct fixture_scene scene;

		begin(&scene, layout, FEW, &(struct fixture_options){0});
		for (size_t i = 0; i < FEW; i++) {
			struct fixture_context context;
			const char *element;

			look(&scene, i, &context);
			element = (const char *)(uintptr_t)context.element;
			assert_true(context.element >= fixture_arena_address(scene.fixture));
			assert_memory_equal(element + id_at, &context.id, sizeof(context.id));
			assert_memory_equal(element + context_at, &context.context, sizeof(context.context));
		}
		fixture_scene_end(&scene);
	}
}

/* Sentences say what failed. */
static void test_errors(void **state)
{
	struct fixture_scene scene;

	(void)state;
	begin(&scene, FIXTURE_BEFORE, 0, &(struct fixture_options){0});
	assert_int_equal(fixture_give(scene.fixture, 0x3fffffff, &error), -ESRCH);
	assert_non_null(strstr(error.text, "thread 1073741823"));
	assert_non_null(strstr(error.text, "no such thread"));
	fixture_scene_end(&scene);
	assert_int_equal(fixture_scene_begin(&scene, FIXTURE_AFTER, 0,
					     &(struct fixture_options){.root_children = ENTRIES + 1}, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "layout after"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contexts), cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_kept_ids), cmocka_unit_test(test_exit),
		cmocka_unit_test(test_pages),    cmocka_unit_test(test_memory),
		cmocka_unit_test(test_errors),
	};

	if (!fixture_works(&error)) {
		printf("SKIP: %s\n", error.text);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
