/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_survey.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

/* --- maps --- */

static const char *map_kind(uint32_t type, struct arena *arena)
{
	const char *name = libbpf_bpf_map_type_str((enum bpf_map_type)type);

	if (name == NULL && type == SCX_MAP_ARENA)
		name = "arena"; /* which libbpf 1.1 does not know */
	return name != NULL ? name : arena_format(arena, "type %u", type);
}

/* A map that has gone meanwhile is left out. */
static void list_maps(const struct scx_run *run, struct scx_survey *survey)
{
	survey->maps = arena_allocate_zero(&survey->arena, run->map_count + 1, sizeof(*survey->maps));
	for (size_t i = 0; i < run->map_count; i++) {
		struct scx_map map;

		if (scx_map_open(run->maps[i], &map) < 0)
			continue;
		survey->maps[survey->map_count++] = (struct scx_survey_map){
			.id = map.info.id,
			.kind = map_kind(map.info.type, &survey->arena),
			.name = arena_duplicate(&survey->arena, map.info.name,
						strnlen(map.info.name, sizeof(map.info.name))),
			.value_size = map.info.value_size,
		};
		scx_map_close(&map);
	}
}

/* --- whose the elements are --- */

struct owner {
	uint64_t id;
	uint32_t tid;
};

/* Two halves as the kernel's types have them: the index first. */
static uint64_t element_id(int32_t idx, int32_t genn)
{
	uint64_t id;
	const int32_t halves[] = {idx, genn};

	memcpy(&id, halves, sizeof(id));
	return id;
}

/*
 * By what the task storage of living tasks says. It is read after the walk, so that a task that came between
 * them has no element here; one that went is dead.
 */
static int find_owners(struct scx_reader *reader, struct scx_survey *survey)
{
	struct scx_reading reading;
	const int result = scx_reader_read(reader, NULL, &reading);
	struct owner *owners;

	if (result < 0)
		return result;
	owners = memory_allocate_zero(reading.count + 1, sizeof(*owners));
	for (size_t i = 0; i < reading.count; i++) {
		const struct scx_record *record = scx_reading_record(&reading, i);

		owners[i] = (struct owner){record->id, record->tid};
	}
	qsort(owners, reading.count, sizeof(*owners), order_by_u64);
	for (size_t i = 0; i < survey->walk.entry_count; i++) {
		struct sdt_walk_entry *element = &survey->walk.entries[i];
		const uint64_t id = element_id(element->idx, element->genn);
		const struct owner *owner = bsearch(&id, owners, reading.count, sizeof(*owners),
						    order_by_u64);

		element->tid = owner != NULL ? owner->tid : 0;
		survey->dead += owner == NULL;
	}
	free(owners);
	return 0;
}

/* --- the walk --- */

static int walk_arena(const struct scx_run *run, const struct context_choice *choice,
		      struct scx_survey *survey, struct error *error)
{
	struct feature_result outcome;
	struct scx_reader *reader = scx_reader_open(run, choice, &survey->arena, &outcome);
	struct sdt_walk *walk = &survey->walk;
	int result;

	if (reader == NULL)
		return error_set(error, -ENOTSUP, "%s", outcome.detail);
	result = scx_reader_walk(reader, walk, error);
	if (result == 0) {
		survey->is_walked = true;
		/* the name is the reader's */
		walk->allocator_name = arena_duplicate(&survey->arena, walk->allocator_name,
						       strlen(walk->allocator_name));
		result = find_owners(reader, survey);
		if (result < 0)
			error_set(error, result, "cannot read which tasks have contexts: %s",
				  strerror(-result));
	}
	scx_reader_close(reader);
	return result;
}

int scx_survey_take(const struct scx_run *run, const struct context_choice *choice, bool walk,
		    struct scx_survey *ret_survey, struct error *error)
{
	*ret_survey = (struct scx_survey){0};
	list_maps(run, ret_survey);
	return walk ? walk_arena(run, choice, ret_survey, error) : 0;
}

int scx_survey_find(const struct task_field_owner *scheduler, const struct context_choice *choice, bool walk,
		    struct scx_survey *ret_survey, struct error *error)
{
	struct feature_result outcome;
	struct arena arena = {0};
	struct scx_run run;
	int result;

	*ret_survey = (struct scx_survey){0};
	if (!scx_reader_discover(scheduler->name, &arena, &run, &outcome)) {
		result = error_set(error, -ENOTSUP, "%s", outcome.detail);
	} else if (scheduler->loaded_at_ns != 0 && run.loaded_at_ns != scheduler->loaded_at_ns) {
		result = error_set(error, -ESTALE,
				   "the scheduler was replaced while it was read: run `ctop scx` again");
	} else {
		run.enable_seq = scheduler->enable_seq;
		result = scx_survey_take(&run, choice, walk, ret_survey, error);
	}
	free(run.maps);
	arena_release(&arena);
	return result;
}

void scx_survey_release(struct scx_survey *survey)
{
	sdt_walk_release(&survey->walk);
	arena_release(&survey->arena);
	*survey = (struct scx_survey){0};
}
