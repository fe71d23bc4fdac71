/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The survey of `ctop scx`, of contexts that are made here (fixture.h): its maps, all elements of
 * its allocator by the walk, and whose they are, the dead among them.
 */
#include "tests/cmocka_include.h"
#include "tests/wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/scx/scx_survey.h"
#include "fixture.h"

enum {
	LIVING = 600, /* more than a leaf */
	DEAD = 70,
	ROOT_CHILDREN = 2,
};

static struct error error;

static const struct scx_survey_map *find_map(const struct scx_survey *survey, const char *kind)
{
	for (size_t i = 0; i < survey->map_count; i++) {
		if (strcmp(survey->maps[i].kind, kind) == 0)
			return &survey->maps[i];
	}
	return NULL;
}

static void require_maps(struct fixture *fixture, const struct scx_survey *survey)
{
	const struct scx_survey_map *storage = find_map(survey, "task_storage");
	size_t count;

	fixture_maps(fixture, &count);
	assert_int_equal(survey->map_count, count);
	assert_non_null(storage);
	assert_int_equal(storage->id, fixture_ids(fixture)->storage);
	assert_memory_equal(storage->name, fixture_storage_name(fixture), strlen(storage->name));
	if (fixture_ids(fixture)->arena != 0)
		assert_int_equal(find_map(survey, "arena")->id, fixture_ids(fixture)->arena);
}

static bool is_of(const struct fixture_threads *threads, uint32_t tid)
{
	for (size_t i = 0; i < threads->count; i++) {
		if ((uint32_t)threads->tids[i] == tid)
			return true;
	}
	return false;
}

/* Each living thread has one element, which says so itself; all others are nobody's. */
static void require_elements(const struct scx_survey *survey, const struct fixture_threads *living)
{
	size_t owned = 0, dead = 0;
	char wanted[32];

	for (size_t i = 0; i < survey->walk.entry_count; i++) {
		const struct sdt_walk_entry *element = &survey->walk.entries[i];

		dead += element->tid == 0;
		if (element->tid == 0)
			continue;
		assert_true(is_of(living, element->tid));
		snprintf(wanted, sizeof(wanted), "{.pid = %u,", element->tid);
		assert_memory_equal(element->text, wanted, strlen(wanted));
		owned++;
	}
	assert_int_equal(owned, living->count);
	assert_int_equal(dead, survey->dead);
}

/* Whether the kernel has let go of the threads that ended; `survey`, which it replaces, is held then. */
static bool has_dead(const struct scx_run *run, size_t dead, struct scx_survey *survey)
{
	scx_survey_release(survey);
	assert_done(scx_survey_take(run, NULL, true, survey, &error));
	return survey->dead == dead;
}

static void survey_layout(enum fixture_layout layout)
{
	struct fixture_options options = {.root_children = ROOT_CHILDREN};
	struct fixture_threads others;
	struct fixture_scene scene;
	struct scx_run run = {.name = "fixture_1.0", .enable_seq = 1};
	struct scx_survey survey;
	struct fixture *fixture;
	uint32_t pages, pages_after;

	assert_done(fixture_scene_begin(&scene, layout, LIVING, &options, &error));
	fixture = scene.fixture;
	assert_done(fixture_threads_start(&others, DEAD, &error));
	for (size_t i = 0; i < DEAD; i++)
		assert_done(fixture_give(fixture, others.tids[i], &error));
	run.maps = fixture_maps(fixture, &run.map_count);
	if (layout == FIXTURE_DIRECT) {
		assert_int_equal(scx_survey_take(&run, NULL, true, &survey, &error), -ENOTSUP);
		assert_non_null(strstr(error.text, "in task storage"));
		require_maps(fixture, &survey);
		scx_survey_release(&survey);
	} else {
		assert_done(fixture_pages(fixture, &pages, &error));
		assert_done(scx_survey_take(&run, NULL, true, &survey, &error));
		require_maps(fixture, &survey);
		assert_int_equal(survey.walk.entry_count, LIVING + DEAD);
		assert_int_equal(survey.dead, 0);
		assert_int_equal(survey.walk.skipped_subtrees, 0);
		assert_false(survey.walk.truncated);
		assert_string_equal(survey.walk.payload_type_reason, "");
		fixture_threads_end(&others);
		await("the elements of the dead are nobody's", has_dead(&run, DEAD, &survey));
		assert_int_equal(survey.walk.entry_count, LIVING + DEAD);
		require_elements(&survey, &scene.threads);
		scx_survey_release(&survey);
		assert_done(fixture_pages(fixture, &pages_after, &error));
		assert_int_equal(pages_after, pages);
	}
	fixture_threads_end(&others);
	fixture_scene_end(&scene);
}

static void test_survey(void **state)
{
	(void)state;
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++) {
		print_message("layout %s\n", fixture_layout_name(layout));
		survey_layout(layout);
	}
}

/* Without walking only maps are asked for; and what is chosen is heeded. */
static void test_choice(void **state)
{
	struct fixture_options options = {.root_children = 1};
	struct scx_run run = {.name = "fixture_1.0", .enable_seq = 1};
	struct context_choice choice = {.type = "no_such_type"};
	struct scx_survey survey;
	struct fixture *fixture;

	(void)state;
	assert_done(fixture_open(&fixture, FIXTURE_AFTER, &options, &error));
	run.maps = fixture_maps(fixture, &run.map_count);
	assert_int_equal(scx_survey_take(&run, &choice, false, &survey, &error), 0);
	require_maps(fixture, &survey);
	assert_false(survey.is_walked);
	scx_survey_release(&survey);
	assert_int_equal(scx_survey_take(&run, &choice, true, &survey, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "no_such_type"));
	scx_survey_release(&survey);
	fixture_close(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_survey),
		cmocka_unit_test(test_choice),
	};

	if (!fixture_works(&error)) {
		printf("skip - scx_survey: %s\n", error.text);
		return 77;
	}
	return cmocka_run_group_tests_name("scx_survey", tests, NULL, NULL);
}
