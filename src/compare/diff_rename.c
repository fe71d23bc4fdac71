/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds cgroups that were renamed between two snapshots: orphans of both sides whose cgroups run much the
 * same types of threads are joined, and with them the cgroups below the renamed part of the path.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff.h"
#include "window/pattern.h"

enum {
	TYPES_MIN = 10 /* in common, for two cgroups to be the same one */
};

static const double ratio_min = 0.90; /* of the types in common to those of either */

/* The orphans of one cgroup: a run of those of its side, since the cgroup leads their keys. */
struct orphan_cgroup {
	const char *path; /* NUL-terminated, in the key of its first orphan */
	size_t length;
	size_t first, count; /* in orphans[side] */
	uint32_t *types;     /* distinct ids in pool order */
	size_t type_count;
	uint32_t cascaded; /* of before: groups joined below it */
};

/* A candidate and its best baseline: indices into cgroups[]. */
struct rename_match {
	size_t before, after;
	uint32_t overlap;
	double ratio;
};

struct search {
	struct diff *diff;
	uint32_t *orphans[DIFF_SIDE_COUNT]; /* groups, ascending: in byte order of their keys */
	size_t orphan_count[DIFF_SIDE_COUNT];
	struct orphan_cgroup *cgroups[DIFF_SIDE_COUNT]; /* in byte order of their paths */
	size_t cgroup_count[DIFF_SIDE_COUNT];
	struct string_pool types;     /* process pattern, NUL, thread pattern */
	struct rename_match *matches; /* ascending by candidate */
	size_t match_count;
	bool *taken; /* groups of before that have been joined */
};

static const char *key_of(const struct search *search, enum diff_side side, size_t orphan, size_t *ret_length)
{
	return grouping_key(search->diff->grouping, search->orphans[side][orphan], ret_length);
}

static void collect_orphans(struct search *search)
{
	const struct diff *diff = search->diff;
	size_t group_count = grouping_count(diff->grouping);

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		search->orphans[side] = memory_allocate_zero(group_count + 1, sizeof(uint32_t));
		for (uint32_t group = 0; group < group_count; group++) {
			if (diff->threads[side][group].count != 0 &&
			    diff->threads[DIFF_SIDE_COUNT - 1 - side][group].count == 0)
				search->orphans[side][search->orphan_count[side]++] = group;
		}
	}
}

/* Interns the type of an orphan: patterns of its names even where the key has the names themselves. */
static uint32_t type_of(struct search *search, const char *key, size_t length, struct buffer *scratch)
{
	const struct name_rules *rules = search->diff->options.grouping.rules;
	const char *process = diff_part(key, 1), *thread = diff_part(key, 2);

	buffer_clear(scratch);
	pattern_append(scratch, process, strlen(process), rules);
	buffer_append_char(scratch, '\0');
	pattern_append(scratch, thread, (size_t)(key + length - thread), rules);
	return string_pool_intern(&search->types, scratch->data, scratch->length);
}

static void collect_types(struct search *search, enum diff_side side, struct orphan_cgroup *cgroup)
{
	struct buffer scratch = {0};

	cgroup->types = memory_allocate_zero(cgroup->count, sizeof(uint32_t));
	for (size_t i = 0; i < cgroup->count; i++) {
		size_t length;
		const char *key = key_of(search, side, cgroup->first + i, &length);

		cgroup->types[i] = type_of(search, key, length, &scratch);
	}
	qsort(cgroup->types, cgroup->count, sizeof(uint32_t), order_by_u32);
	for (size_t i = 0; i < cgroup->count; i++) {
		if (i == 0 || cgroup->types[i] != cgroup->types[cgroup->type_count - 1])
			cgroup->types[cgroup->type_count++] = cgroup->types[i];
	}
	buffer_release(&scratch);
}

/* Cgroups with threads on both sides have kept their name. */
static void note_kept(const struct search *search, struct string_pool *kept)
{
	const struct diff *diff = search->diff;
	size_t group_count = grouping_count(diff->grouping);

	for (uint32_t group = 0; group < group_count; group++) {
		size_t length;
		const char *key = grouping_key(diff->grouping, group, &length);

		if (diff->threads[DIFF_BEFORE][group].count != 0 &&
		    diff->threads[DIFF_AFTER][group].count != 0)
			string_pool_intern(kept, key, strlen(key));
	}
}

static void collect_cgroups(struct search *search, enum diff_side side, const struct string_pool *kept)
{
	size_t next = 0;

	search->cgroups[side] = memory_allocate_zero(search->orphan_count[side] + 1,
						     sizeof(struct orphan_cgroup));
	while (next < search->orphan_count[side]) {
		struct orphan_cgroup cgroup = {.first = next};
		size_t length;

		cgroup.path = key_of(search, side, next, &length);
		cgroup.length = strlen(cgroup.path);
		while (next < search->orphan_count[side] &&
		       strcmp(key_of(search, side, next, &length), cgroup.path) == 0)
			next++;
		cgroup.count = next - cgroup.first;
		if (string_pool_find(kept, cgroup.path, cgroup.length) != UINT32_MAX)
			continue;
		collect_types(search, side, &cgroup);
		search->cgroups[side][search->cgroup_count[side]++] = cgroup;
	}
}

static uint32_t count_common(const struct orphan_cgroup *a, const struct orphan_cgroup *b)
{
	uint32_t common = 0;

	for (size_t i = 0, j = 0; i < a->type_count && j < b->type_count;) {
		uint32_t left = a->types[i], right = b->types[j];

		common += left == right;
		i += left <= right;
		j += right <= left;
	}
	return common;
}

/* The first of the baselines that a candidate is most like; false when it is like none. */
static bool find_baseline(const struct search *search, size_t candidate, struct rename_match *match)
{
	const struct orphan_cgroup *after = &search->cgroups[DIFF_AFTER][candidate];
	bool found = false;

	if (after->type_count < TYPES_MIN)
		return false;
	for (size_t i = 0; i < search->cgroup_count[DIFF_BEFORE]; i++) {
		const struct orphan_cgroup *before = &search->cgroups[DIFF_BEFORE][i];
		size_t smaller = before->type_count < after->type_count ? before->type_count
									: after->type_count;
		size_t larger = before->type_count + after->type_count - smaller;
		uint32_t overlap;
		double ratio;

		if (smaller < TYPES_MIN || (double)smaller / (double)larger < ratio_min)
			continue;
		overlap = count_common(before, after);
		ratio = (double)overlap / (double)(smaller + larger - overlap);
		if (overlap < TYPES_MIN || ratio < ratio_min || (found && ratio <= match->ratio))
			continue;
		*match = (struct rename_match){i, candidate, overlap, ratio};
		found = true;
		if (overlap == larger)
			break;
	}
	return found;
}

static void join(struct search *search, uint32_t before, uint32_t after)
{
	search->diff->partner[after] = before;
	search->taken[before] = true;
}

/* Joins the rows of two cgroups by the rest of their keys behind the path, which both runs are ordered by. */
static void join_rows(struct search *search, const struct rename_match *match)
{
	const struct orphan_cgroup *before = &search->cgroups[DIFF_BEFORE][match->before];
	const struct orphan_cgroup *after = &search->cgroups[DIFF_AFTER][match->after];

	for (size_t i = 0, j = 0; i < before->count && j < after->count;) {
		size_t left_length, right_length;
		const char *left = key_of(search, DIFF_BEFORE, before->first + i, &left_length);
		const char *right = key_of(search, DIFF_AFTER, after->first + j, &right_length);
		int order;

		order = order_bytes(left + before->length, left_length - before->length,
				    right + after->length, right_length - after->length);
		if (order == 0)
			join(search, search->orphans[DIFF_BEFORE][before->first + i],
			     search->orphans[DIFF_AFTER][after->first + j]);
		i += order <= 0;
		j += order >= 0;
	}
}

/* Lengths of the paths without the longest run of components that end both. */
static void find_roots(const struct orphan_cgroup *before, const struct orphan_cgroup *after,
		       size_t *ret_before, size_t *ret_after)
{
	size_t left = before->length, right = after->length;

	while (left != 0 && right != 0) {
		const char *left_slash = memrchr(before->path, '/', left);
		const char *right_slash = memrchr(after->path, '/', right);
		size_t component;

		if (left_slash == NULL || right_slash == NULL)
			break;
		component = (size_t)(before->path + left - left_slash);
		if (component != (size_t)(after->path + right - right_slash) ||
		    memcmp(left_slash, right_slash, component) != 0)
			break;
		left -= component;
		right -= component;
	}
	*ret_before = left != 0 ? left : before->length;
	*ret_after = right != 0 ? right : after->length;
}

/* The first orphan of after whose key is not below these bytes. */
static size_t lower_bound(const struct search *search, const char *bytes, size_t length)
{
	size_t low = 0, high = search->orphan_count[DIFF_AFTER];

	while (low < high) {
		size_t middle = low + (high - low) / 2, key_length;
		const char *key = key_of(search, DIFF_AFTER, middle, &key_length);

		if (order_bytes(key, key_length, bytes, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Joins the orphans below the candidate's root with those that have the same path below the baseline's. */
static void join_below(struct search *search, const struct rename_match *match)
{
	struct orphan_cgroup *before = &search->cgroups[DIFF_BEFORE][match->before];
	const struct orphan_cgroup *after = &search->cgroups[DIFF_AFTER][match->after];
	const struct diff *diff = search->diff;
	size_t before_root, after_root;
	struct buffer key = {0};

	find_roots(before, after, &before_root, &after_root);
	for (size_t i = lower_bound(search, after->path, after_root); i < search->orphan_count[DIFF_AFTER];
	     i++) {
		uint32_t group = search->orphans[DIFF_AFTER][i], partner;
		size_t length;
		const char *candidate = key_of(search, DIFF_AFTER, i, &length);

		if (length < after_root || memcmp(candidate, after->path, after_root) != 0)
			break;
		if (diff->partner[group] != UINT32_MAX ||
		    (candidate[after_root] != '/' && candidate[after_root] != '\0'))
			continue;
		buffer_clear(&key);
		buffer_append(&key, before->path, before_root);
		buffer_append(&key, candidate + after_root, length - after_root);
		partner = grouping_find(diff->grouping, key.data, key.length);
		if (partner == UINT32_MAX || search->taken[partner] ||
		    diff->threads[DIFF_BEFORE][partner].count == 0 ||
		    diff->threads[DIFF_AFTER][partner].count != 0)
			continue;
		join(search, partner, group);
		before->cascaded++;
	}
	buffer_release(&key);
}

static void find_matches(struct search *search)
{
	search->matches = memory_allocate_zero(search->cgroup_count[DIFF_AFTER] + 1,
					       sizeof(struct rename_match));
	for (size_t i = 0; i < search->cgroup_count[DIFF_AFTER]; i++) {
		struct rename_match match;

		if (find_baseline(search, i, &match))
			search->matches[search->match_count++] = match;
	}
	for (size_t i = 0; i < search->match_count; i++)
		join_rows(search, &search->matches[i]);
	for (size_t i = 0; i < search->match_count; i++)
		join_below(search, &search->matches[i]);
}

static bool has_type(const struct orphan_cgroup *cgroup, uint32_t type)
{
	return bsearch(&type, cgroup->types, cgroup->type_count, sizeof(type), order_by_u32) != NULL;
}

/* Whether a partner of a cgroup has the type. */
static bool partner_has_type(const struct search *search, enum diff_side side,
			     const struct rename_match *match, uint32_t type)
{
	if (side == DIFF_AFTER)
		return has_type(&search->cgroups[DIFF_BEFORE][match->before], type);
	for (size_t i = 0; i < search->match_count; i++) {
		if (search->matches[i].before == match->before &&
		    has_type(&search->cgroups[DIFF_AFTER][search->matches[i].after], type))
			return true;
	}
	return false;
}

static int compare_types(const void *a, const void *b)
{
	const struct diff_type *left = a, *right = b;
	int order = strcmp(left->process, right->process);

	return order != 0 ? order : strcmp(left->thread, right->thread);
}

/* The types of one side that no partner has. */
static void list_residue(struct search *search, enum diff_side side, const struct rename_match *match,
			 struct diff_rename *rename)
{
	size_t index = side == DIFF_BEFORE ? match->before : match->after;
	const struct orphan_cgroup *cgroup = &search->cgroups[side][index];
	struct arena *arena = &search->diff->arena;
	struct diff_type *types = arena_allocate_zero(arena, cgroup->type_count + 1, sizeof(*types));
	size_t count = 0;

	for (size_t i = 0; i < cgroup->type_count; i++) {
		uint32_t id = cgroup->types[i];
		const char *text = string_pool_text(&search->types, id);

		if (partner_has_type(search, side, match, id))
			continue;
		types[count].process = arena_duplicate(arena, text, string_pool_length(&search->types, id));
		types[count].thread = types[count].process + strlen(types[count].process) + 1;
		count++;
	}
	if (count > 1)
		qsort(types, count, sizeof(*types), compare_types);
	rename->only[side] = types;
	rename->only_count[side] = count;
}

static void describe(struct search *search, const struct rename_match *match, struct diff_rename *rename)
{
	const struct orphan_cgroup *before = &search->cgroups[DIFF_BEFORE][match->before];
	const struct orphan_cgroup *after = &search->cgroups[DIFF_AFTER][match->after];
	struct arena *arena = &search->diff->arena;
	size_t before_root, after_root;

	find_roots(before, after, &before_root, &after_root);
	*rename = (struct diff_rename){
		.path = {arena_duplicate(arena, before->path, before->length),
			 arena_duplicate(arena, after->path, after->length)},
		.root = {arena_duplicate(arena, before->path, before_root),
			 arena_duplicate(arena, after->path, after_root)},
		.overlap = match->overlap,
		.ratio = match->ratio,
		.cascaded = before->cascaded,
	};
	list_residue(search, DIFF_BEFORE, match, rename);
	list_residue(search, DIFF_AFTER, match, rename);
}

static void report_renames(struct search *search)
{
	struct diff *diff = search->diff;

	diff->renames = memory_allocate_zero(search->match_count + 1, sizeof(*diff->renames));
	for (size_t i = 0; i < search->match_count; i++)
		describe(search, &search->matches[i], &diff->renames[diff->rename_count++]);
}

static void release(struct search *search)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < search->cgroup_count[side]; i++)
			free(search->cgroups[side][i].types);
		free(search->cgroups[side]);
		free(search->orphans[side]);
	}
	string_pool_release(&search->types);
	free(search->matches);
	free(search->taken);
}

void diff_find_renames(struct diff *diff)
{
	struct search search = {.diff = diff};
	struct string_pool kept = {0};

	collect_orphans(&search);
	if (search.orphan_count[DIFF_BEFORE] != 0 && search.orphan_count[DIFF_AFTER] != 0) {
		search.taken = memory_allocate_zero(grouping_count(diff->grouping) + 1, sizeof(bool));
		note_kept(&search, &kept);
		collect_cgroups(&search, DIFF_BEFORE, &kept);
		collect_cgroups(&search, DIFF_AFTER, &kept);
		find_matches(&search);
		report_renames(&search);
		string_pool_release(&kept);
	}
	release(&search);
}
