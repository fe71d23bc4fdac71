/* SPDX-License-Identifier: GPL-2.0-only */
/* When a process that failed is examined again, on this process and on a living program with jemalloc. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../wait.h"
#include "base/clock.h"
#include "base/supervisor.h"
#include "probe/probe.h"
#include "tests/targets/target_process.h"

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Looks until it is known what the process is, after such a change. */
static const struct probe_process *look_after(struct probe *probe, const struct target *target,
					      enum probe_change change)
{
	const uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + WAIT_AT_MOST_S * NS_PER_S;
	const struct probe_process *process;

	process = probe_look(probe, (uint32_t)target->child, target->directory, change);
	while (process->state == PROBE_STATE_RESOLVING && clock_ns(CLOCK_MONOTONIC) < deadline) {
		probe_serve(probe, deadline);
		process = probe_look(probe, (uint32_t)target->child, target->directory, PROBE_STILL);
	}
	return process;
}

/* This process as a target, and a library with jemalloc that it may map. */
struct own_scene {
	struct target self;
	struct probe *probe;
	int library;
	void *mapped;
};

static void begin_own(struct own_scene *scene)
{
	*scene = (struct own_scene){
		.self = {.child = getpid(),
			 .directory = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC)},
		.probe = probe_create(&(struct probe_options){0}),
		.library = open(LIBRARY_DTV, O_RDONLY | O_CLOEXEC),
	};
	assert_true(scene->self.directory >= 0 && scene->library >= 0);
}

/* Maps the library, of which the dynamic linker knows nothing. */
static void map_library(struct own_scene *scene)
{
	scene->mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, scene->library, 0);
	assert_true(scene->mapped != MAP_FAILED);
}

static void end_own(struct own_scene *scene)
{
	munmap(scene->mapped, 4096);
	probe_release(scene->probe);
	close(scene->library);
	close(scene->self.directory);
}

static enum heap_tag tag_after(const struct own_scene *scene, enum probe_change change)
{
	return look_after(scene->probe, &scene->self, change)->tag;
}

/*
 * However long it took to resolve, a process that failed is examined once more at once: here it has mapped a
 * library meanwhile.
 */
static void test_early_check(void **state)
{
	const struct probe_process *process;
	struct own_scene scene;

	(void)state;
	begin_own(&scene);
	for (int i = 0; i < 5; i++) {
		process = probe_look(scene.probe, (uint32_t)scene.self.child, scene.self.directory,
				     PROBE_STILL);
		assert_int_equal(process->state, PROBE_STATE_RESOLVING);
	}
	assert_int_equal(tag_after(&scene, PROBE_STILL), HEAP_TAG_JEMALLOC_NOT_FOUND);
	map_library(&scene);
	/* a process that stood still cannot have mapped anything */
	assert_int_equal(tag_after(&scene, PROBE_STILL), HEAP_TAG_JEMALLOC_NOT_FOUND);
	assert_int_equal(tag_after(&scene, PROBE_RAN), HEAP_TAG_JEMALLOC_IN_DSO);
	end_own(&scene);
}

/* A process that was examined twice is left alone for a while, however much it runs. */
static void test_later_check(void **state)
{
	const struct probe_process *process;
	struct own_scene scene;
	enum heap_tag tag;
	uint64_t begun;

	(void)state;
	begin_own(&scene);
	process = look_after(scene.probe, &scene.self, PROBE_STILL);
	assert_int_equal(process->tag, HEAP_TAG_JEMALLOC_NOT_FOUND);
	assert_false(probe_is_due(scene.probe, process, PROBE_STILL));
	assert_true(probe_is_due(scene.probe, process, PROBE_RAN));
	begun = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(tag_after(&scene, PROBE_STILL), HEAP_TAG_JEMALLOC_NOT_FOUND);
	map_library(&scene);
	tag = tag_after(&scene, PROBE_RAN);
	/* unless this host is too slow */
	if (clock_ns(CLOCK_MONOTONIC) - begun < 5 * NS_PER_S)
		assert_int_equal(tag, HEAP_TAG_JEMALLOC_NOT_FOUND);
	await("the process is examined again", probe_is_due(scene.probe, process, PROBE_STILL));
	assert_true(clock_ns(CLOCK_MONOTONIC) - begun >= 5 * NS_PER_S);
	assert_int_equal(tag_after(&scene, PROBE_STILL), HEAP_TAG_JEMALLOC_IN_DSO);
	end_own(&scene);
}

/* A process without jemalloc executes its own file again, with jemalloc: only the caller can tell. */
static void test_told_exec(void **state)
{
	struct target target;
	struct probe *probe = probe_create(&(struct probe_options){0});
	const struct probe_process *process;

	(void)state;
	target_start(&target, NULL, ARGUMENTS(PROGRAM_PRELOAD, "park", "0"));
	process = look_after(probe, &target, PROBE_STILL);
	assert_int_equal(process->tag, HEAP_TAG_JEMALLOC_NOT_FOUND);
	target_command(&target, "exec /usr/bin/env LD_PRELOAD=libjemalloc.so.2 " PROGRAM_PRELOAD " park 0");
	assert_false(probe_is_due(probe, process, PROBE_STILL));
	assert_true(probe_is_due(probe, process, PROBE_EXECUTED));
	process = look_after(probe, &target, PROBE_STILL);
	assert_int_equal(process->state, PROBE_STATE_READY);
	assert_false(probe_is_due(probe, process, PROBE_RAN));
	assert_true(probe_is_due(probe, process, PROBE_EXECUTED));
	target_end(&target);
	probe_release(probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_early_check),
		cmocka_unit_test(test_later_check),
		cmocka_unit_test(test_told_exec),
	};
	struct error error;
	int r;

	if (strcmp(PROGRAM_STATIC, "") == 0) {
		printf("SKIP: needs jemalloc, static and shared (libjemalloc-dev)\n");
		return 77;
	}
	if (supervisor_start(&error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	supervisor_stop();
	return r;
}
