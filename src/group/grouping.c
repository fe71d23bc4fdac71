/* SPDX-License-Identifier: GPL-2.0-only */
#include "grouping.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cgroup_key.h"
#include "pattern.h"

const struct axis_entry axes[AXIS_COUNT] = {
	[AXIS_PROCESS] = {"pcomm", "process", "pcomm", "pattern of the process name"},
	[AXIS_CGROUP] = {"cgroup", "cgroup", "cgroup", "cgroup path without its instance numbers"},
	[AXIS_THREAD] = {"comm", "thread", "comm-pattern", "pattern of the thread name"},
	[AXIS_THREAD_EXACT] = {"comm-exact", "thread-exact", "comm", "thread name as it is"},
	[AXIS_ALL] = {"all", "all", "comm", "cgroup, process and thread pattern together"},
};

enum axis axis_find(const char *name)
{
	for (size_t i = 0; i < AXIS_COUNT; i++) {
		if (strcmp(name, axes[i].name) == 0 || strcmp(name, axes[i].word) == 0)
			return (enum axis)i;
	}
	return AXIS_COUNT;
}

struct grouping {
	struct string_pool keys;
	uint32_t *key_of_group; /* id in keys */
	uint32_t *group_of_key; /* UINT32_MAX for the empty string when no group has it */
	size_t count;
	uint32_t **group_of_triple; /* [snapshot][triple] */
	size_t snapshot_count;
};

/* What the construction keeps about one snapshot, per string id or per triple. */
struct work {
	const struct snapshot *snapshot;
	uint64_t *threads;      /* per triple */
	uint32_t *name_pattern; /* per string id: id in build.patterns, UINT32_MAX until needed */
	uint32_t *cgroup_key;   /* per string id: id in build.patterns, UINT32_MAX until needed */
};

struct grouping_build {
	const struct grouping_options *options;
	struct pattern_memory *memory;
	struct cgroup_key_rules rules;
	struct string_pool patterns; /* patterns of names and cgroup keys */
	uint64_t *votes;             /* threads per pattern id */
	struct work *work;
	struct grouping *grouping;
	struct buffer scratch;
};

static uint32_t *new_ids(size_t count)
{
	uint32_t *ids = memory_allocate((count + 1) * sizeof(*ids));

	memset(ids, 0xff, (count + 1) * sizeof(*ids));
	return ids;
}

/* Pattern of a name, computed once per distinct string. */
static uint32_t name_pattern(struct grouping_build *build, struct work *work, uint32_t name)
{
	const struct string_pool *strings = &work->snapshot->strings;

	if (work->name_pattern[name] == UINT32_MAX) {
		buffer_clear(&build->scratch);
		pattern_append(&build->scratch, string_pool_text(strings, name),
			       string_pool_length(strings, name));
		work->name_pattern[name] = string_pool_intern(&build->patterns, build->scratch.data,
							      build->scratch.length);
	}
	return work->name_pattern[name];
}

/* Key of a cgroup path, computed once per distinct string. */
static uint32_t cgroup_key(struct grouping_build *build, struct work *work, uint32_t path)
{
	const struct string_pool *strings = &work->snapshot->strings;

	if (work->cgroup_key[path] == UINT32_MAX) {
		buffer_clear(&build->scratch);
		cgroup_key_append(&build->rules, string_pool_text(strings, path),
				  string_pool_length(strings, path), &build->scratch);
		work->cgroup_key[path] = string_pool_intern(&build->patterns, build->scratch.data,
							    build->scratch.length);
	}
	return work->cgroup_key[path];
}

static uint32_t name_of_axis(const struct triple *triple, enum axis axis)
{
	return axis == AXIS_PROCESS ? triple->pcomm : triple->comm;
}

static bool reverts_singletons(const struct grouping_options *options)
{
	return !options->keep_thread_names && (options->axis == AXIS_PROCESS || options->axis == AXIS_THREAD);
}

/* Counts the threads behind each pattern over all snapshots: one alone keeps its literal name. */
static void count_votes(struct grouping_build *build)
{
	enum axis axis = build->options->axis;
	size_t snapshot_count = build->grouping->snapshot_count;
	size_t patterns_max = 1; /* one for each triple, and that of the empty name */

	for (size_t s = 0; s < snapshot_count; s++)
		patterns_max += build->work[s].snapshot->triple_count;
	build->votes = memory_allocate_zero(patterns_max, sizeof(*build->votes));
	for (size_t s = 0; s < snapshot_count; s++) {
		struct work *work = &build->work[s];

		for (size_t i = 0; i < work->snapshot->triple_count; i++) {
			uint32_t name = name_of_axis(&work->snapshot->triples[i], axis);

			build->votes[name_pattern(build, work, name)] += work->threads[i];
		}
	}
}

/* Whether a pattern replaces the names it stands for; in a live session one that did so once remains. */
static bool is_shared(struct grouping_build *build, uint32_t pattern)
{
	const char *text = string_pool_text(&build->patterns, pattern);
	size_t length = string_pool_length(&build->patterns, pattern);
	struct string_pool *remembered;

	if (build->memory == NULL)
		return build->votes[pattern] >= 2;
	remembered = &build->memory->patterns[build->options->axis];
	if (build->votes[pattern] < 2)
		return string_pool_find(remembered, text, length) != UINT32_MAX;
	string_pool_intern(remembered, text, length);
	return true;
}

static void append_pattern(struct grouping_build *build, uint32_t pattern, struct buffer *key)
{
	buffer_append(key, string_pool_text(&build->patterns, pattern),
		      string_pool_length(&build->patterns, pattern));
}

/* A name in the key of AXIS_ALL, which never reverts. */
static void append_name(struct grouping_build *build, struct work *work, uint32_t name, struct buffer *key)
{
	const struct string_pool *strings = &work->snapshot->strings;

	if (build->options->keep_thread_names)
		buffer_append(key, string_pool_text(strings, name), string_pool_length(strings, name));
	else
		append_pattern(build, name_pattern(build, work, name), key);
}

static uint32_t key_of_triple(struct grouping_build *build, struct work *work, const struct triple *triple)
{
	const struct string_pool *strings = &work->snapshot->strings;
	struct string_pool *keys = &build->grouping->keys;
	enum axis axis = build->options->axis;
	struct buffer key = {0};
	uint32_t name, id;

	switch (axis) {
	case AXIS_CGROUP:
		append_pattern(build, cgroup_key(build, work, triple->cgroup), &key);
		break;
	case AXIS_ALL:
		append_pattern(build, cgroup_key(build, work, triple->cgroup), &key);
		buffer_append_char(&key, '\0');
		append_name(build, work, triple->pcomm, &key);
		buffer_append_char(&key, '\0');
		append_name(build, work, triple->comm, &key);
		break;
	default:
		name = name_of_axis(triple, axis);
		if (reverts_singletons(build->options) && is_shared(build, work->name_pattern[name]))
			append_pattern(build, work->name_pattern[name], &key);
		else
			buffer_append(&key, string_pool_text(strings, name),
				      string_pool_length(strings, name));
		break;
	}
	id = string_pool_intern(keys, key.data, key.length);
	buffer_release(&key);
	return id;
}

static int compare_keys(const void *a, const void *b, void *context)
{
	return string_pool_compare(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Turns the key ids of the triples into group ids in the byte order of the keys. */
static void number_groups(struct grouping *grouping, const struct snapshot *const *snapshots)
{
	size_t key_count = grouping->keys.count != 0 ? grouping->keys.count : 1;
	bool has_empty_key = false;

	for (size_t s = 0; s < grouping->snapshot_count; s++) {
		for (size_t i = 0; i < snapshots[s]->triple_count; i++)
			has_empty_key |= grouping->group_of_triple[s][i] == 0;
	}
	grouping->key_of_group = memory_allocate_zero(key_count, sizeof(uint32_t));
	grouping->group_of_key = new_ids(key_count);
	for (uint32_t key = has_empty_key ? 0 : 1; key < key_count; key++)
		grouping->key_of_group[grouping->count++] = key;
	qsort_r(grouping->key_of_group, grouping->count, sizeof(uint32_t), compare_keys, &grouping->keys);
	for (uint32_t group = 0; group < grouping->count; group++)
		grouping->group_of_key[grouping->key_of_group[group]] = group;
	for (size_t s = 0; s < grouping->snapshot_count; s++) {
		for (size_t i = 0; i < snapshots[s]->triple_count; i++) {
			uint32_t *id = &grouping->group_of_triple[s][i];

			*id = grouping->group_of_key[*id];
		}
	}
}

static void start_work(struct work *work, const struct snapshot *snapshot)
{
	work->snapshot = snapshot;
	work->threads = memory_allocate_zero(snapshot->triple_count + 1, sizeof(*work->threads));
	for (size_t i = 0; i < snapshot->thread_count; i++)
		work->threads[snapshot->triple[i]]++;
	work->name_pattern = new_ids(snapshot->strings.count);
	work->cgroup_key = new_ids(snapshot->strings.count);
}

static void end_work(struct work *work)
{
	free(work->threads);
	free(work->name_pattern);
	free(work->cgroup_key);
}

struct grouping *grouping_create(const struct grouping_options *options,
				 const struct snapshot *const *snapshots, size_t snapshot_count,
				 struct pattern_memory *memory)
{
	struct grouping *grouping = memory_allocate_zero(1, sizeof(*grouping));
	struct grouping_build build = {.options = options, .memory = memory, .grouping = grouping};

	grouping->snapshot_count = snapshot_count;
	grouping->group_of_triple = memory_allocate_zero(snapshot_count + 1, sizeof(uint32_t *));
	build.work = memory_allocate_zero(snapshot_count + 1, sizeof(*build.work));
	cgroup_key_rules_initialise(&build.rules, options);
	for (size_t s = 0; s < snapshot_count; s++)
		start_work(&build.work[s], snapshots[s]);
	if (reverts_singletons(options))
		count_votes(&build);
	for (size_t s = 0; s < snapshot_count; s++) {
		grouping->group_of_triple[s] = new_ids(snapshots[s]->triple_count);
		for (size_t i = 0; i < snapshots[s]->triple_count; i++)
			grouping->group_of_triple[s][i] = key_of_triple(&build, &build.work[s],
									&snapshots[s]->triples[i]);
	}
	number_groups(grouping, snapshots);
	for (size_t s = 0; s < snapshot_count; s++)
		end_work(&build.work[s]);
	cgroup_key_rules_release(&build.rules);
	string_pool_release(&build.patterns);
	buffer_release(&build.scratch);
	free(build.votes);
	free(build.work);
	return grouping;
}

void grouping_release(struct grouping *grouping)
{
	if (grouping == NULL)
		return;
	for (size_t s = 0; s < grouping->snapshot_count; s++)
		free(grouping->group_of_triple[s]);
	free(grouping->group_of_triple);
	free(grouping->key_of_group);
	free(grouping->group_of_key);
	string_pool_release(&grouping->keys);
	free(grouping);
}

size_t grouping_count(const struct grouping *grouping)
{
	return grouping->count;
}

uint32_t grouping_of_triple(const struct grouping *grouping, size_t snapshot, uint32_t triple)
{
	return grouping->group_of_triple[snapshot][triple];
}

const char *grouping_key(const struct grouping *grouping, uint32_t group, size_t *ret_length)
{
	uint32_t key = grouping->key_of_group[group];

	*ret_length = string_pool_length(&grouping->keys, key);
	return string_pool_text(&grouping->keys, key);
}

uint32_t grouping_find(const struct grouping *grouping, const char *key, size_t length)
{
	uint32_t id = string_pool_find(&grouping->keys, key, length);

	return id == UINT32_MAX ? UINT32_MAX : grouping->group_of_key[id];
}

void pattern_memory_release(struct pattern_memory *memory)
{
	for (size_t i = 0; i < AXIS_COUNT; i++)
		string_pool_release(&memory->patterns[i]);
}
