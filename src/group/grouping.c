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
	uint32_t *key_of_name;  /* per string id, of an axis of one name: id in grouping.keys, the same */
};

enum {
	RECENT_KEYS = 256,
};

/* A key of AXIS_ALL and what it is made of: ids in build.patterns. */
struct recent_key {
	uint32_t cgroup, pcomm, comm;
	uint32_t key; /* UINT32_MAX for none yet */
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
	struct buffer key;
	struct recent_key recent[RECENT_KEYS];
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

static void append_pattern(struct grouping_build *build, uint32_t pattern)
{
	buffer_append(&build->key, string_pool_text(&build->patterns, pattern),
		      string_pool_length(&build->patterns, pattern));
}

static void append_name(struct grouping_build *build, const struct work *work, uint32_t name)
{
	const struct string_pool *strings = &work->snapshot->strings;

	buffer_append(&build->key, string_pool_text(strings, name), string_pool_length(strings, name));
}

static uint32_t intern_key(struct grouping_build *build)
{
	return string_pool_intern(&build->grouping->keys, build->key.data, build->key.length);
}

/* The key of AXIS_ALL from three patterns. Threads of a pool have the same and mostly follow each other. */
static uint32_t key_of_patterns(struct grouping_build *build, uint32_t cgroup, uint32_t pcomm, uint32_t comm)
{
	struct recent_key *recent = &build->recent[(cgroup * 31 + pcomm * 7 + comm) % RECENT_KEYS];

	if (recent->key != UINT32_MAX && recent->cgroup == cgroup && recent->pcomm == pcomm &&
	    recent->comm == comm)
		return recent->key;
	append_pattern(build, cgroup);
	buffer_append_char(&build->key, '\0');
	append_pattern(build, pcomm);
	buffer_append_char(&build->key, '\0');
	append_pattern(build, comm);
	*recent = (struct recent_key){cgroup, pcomm, comm, intern_key(build)};
	return recent->key;
}

/* Its parts never revert. */
static uint32_t key_of_all(struct grouping_build *build, struct work *work, const struct triple *triple)
{
	const uint32_t cgroup = cgroup_key(build, work, triple->cgroup);

	if (!build->options->keep_thread_names)
		return key_of_patterns(build, cgroup, name_pattern(build, work, triple->pcomm),
				       name_pattern(build, work, triple->comm));
	append_pattern(build, cgroup);
	buffer_append_char(&build->key, '\0');
	append_name(build, work, triple->pcomm);
	buffer_append_char(&build->key, '\0');
	append_name(build, work, triple->comm);
	return intern_key(build);
}

/* The key of an axis of one name, computed once per distinct string. */
static uint32_t key_of_name(struct grouping_build *build, struct work *work, uint32_t name)
{
	if (work->key_of_name[name] != UINT32_MAX)
		return work->key_of_name[name];
	if (build->options->axis == AXIS_CGROUP)
		append_pattern(build, cgroup_key(build, work, name));
	else if (reverts_singletons(build->options) && is_shared(build, work->name_pattern[name]))
		append_pattern(build, work->name_pattern[name]);
	else
		append_name(build, work, name);
	work->key_of_name[name] = intern_key(build);
	return work->key_of_name[name];
}

static uint32_t key_of_triple(struct grouping_build *build, struct work *work, const struct triple *triple)
{
	buffer_clear(&build->key);
	switch (build->options->axis) {
	case AXIS_ALL:
		return key_of_all(build, work, triple);
	case AXIS_CGROUP:
		return key_of_name(build, work, triple->cgroup);
	default:
		return key_of_name(build, work, name_of_axis(triple, build->options->axis));
	}
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

static void start_work(struct work *work, const struct snapshot *snapshot, enum axis axis)
{
	work->snapshot = snapshot;
	work->threads = memory_allocate_zero(snapshot->triple_count + 1, sizeof(*work->threads));
	for (size_t i = 0; i < snapshot->thread_count; i++)
		work->threads[snapshot->triple[i]]++;
	work->name_pattern = new_ids(snapshot->strings.count);
	work->cgroup_key = new_ids(snapshot->strings.count);
	work->key_of_name = axis != AXIS_ALL ? new_ids(snapshot->strings.count) : NULL;
}

static void end_work(struct work *work)
{
	free(work->threads);
	free(work->name_pattern);
	free(work->cgroup_key);
	free(work->key_of_name);
}

struct grouping *grouping_create(const struct grouping_options *options,
				 const struct snapshot *const *snapshots, size_t snapshot_count,
				 struct pattern_memory *memory)
{
	struct grouping *grouping = memory_allocate_zero(1, sizeof(*grouping));
	struct grouping_build build = {.options = options, .memory = memory, .grouping = grouping};

	memset(build.recent, 0xff, sizeof(build.recent));
	grouping->snapshot_count = snapshot_count;
	grouping->group_of_triple = memory_allocate_zero(snapshot_count + 1, sizeof(uint32_t *));
	build.work = memory_allocate_zero(snapshot_count + 1, sizeof(*build.work));
	cgroup_key_rules_initialise(&build.rules, options);
	for (size_t s = 0; s < snapshot_count; s++)
		start_work(&build.work[s], snapshots[s], options->axis);
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
	buffer_release(&build.key);
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

bool grouping_options_agree(const struct grouping_options *a, const struct grouping_options *b)
{
	return a->axis == b->axis && a->keep_thread_names == b->keep_thread_names &&
	       a->keep_cgroup_names == b->keep_cgroup_names && a->flatten == b->flatten &&
	       a->flatten_count == b->flatten_count;
}
