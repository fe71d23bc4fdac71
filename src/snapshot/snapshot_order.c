/* SPDX-License-Identifier: GPL-2.0-only */
/* Order within a snapshot: what snapshot_finish() sorts and the searches that rely on it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t exception_key(const struct metric_exception *exception)
{
	return ((uint64_t)exception->thread << 16) | exception->metric;
}

/* The comparisons order equal keys by position: the sort is then stable whatever qsort_r() does. */
static int compare_exceptions(const void *left, const void *right, void *snapshot_pointer)
{
	const struct snapshot *snapshot = snapshot_pointer;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_u64(exception_key(&snapshot->exceptions[a]),
				exception_key(&snapshot->exceptions[b]));

	return order != 0 ? order : compare_u64(a, b);
}

static int compare_cgroups(const void *left, const void *right, void *snapshot_pointer)
{
	const struct snapshot *snapshot = snapshot_pointer;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = string_pool_compare(&snapshot->strings, snapshot->cgroups[a].path,
					snapshot->cgroups[b].path);

	return order != 0 ? order : compare_u64(a, b);
}

static int compare_smaps(const void *left, const void *right, void *snapshot_pointer)
{
	const struct snapshot *snapshot = snapshot_pointer;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_u64(snapshot->smaps[a].thread, snapshot->smaps[b].thread);

	return order != 0 ? order : compare_u64(a, b);
}

typedef int (*comparison)(const void *left, const void *right, void *snapshot);

static bool is_ascending(struct snapshot *snapshot, size_t count, comparison compare,
			 bool (*same)(const struct snapshot *snapshot, size_t left, size_t right))
{
	for (uint32_t i = 1; i < count; i++) {
		uint32_t previous = i - 1;

		if (compare(&previous, &i, snapshot) > 0 || same(snapshot, previous, i))
			return false;
	}
	return true;
}

/* Sorts `count` elements of `size` bytes at `*elements` and keeps the last of those that are the same. */
static void sort_elements(struct snapshot *snapshot, void *elements, size_t size, size_t *count,
			  comparison compare,
			  bool (*same)(const struct snapshot *snapshot, size_t left, size_t right))
{
	size_t kept = 0;
	uint32_t *order;
	char *sorted;

	if (is_ascending(snapshot, *count, compare, same))
		return;
	order = memory_allocate(*count * sizeof(*order));
	sorted = memory_allocate(*count * size);
	for (uint32_t i = 0; i < *count; i++)
		order[i] = i;
	qsort_r(order, *count, sizeof(*order), compare, snapshot);
	for (size_t i = 0; i < *count; i++) {
		if (i + 1 < *count && same(snapshot, order[i], order[i + 1]))
			continue;
		memcpy(sorted + kept++ * size, (char *)elements + order[i] * size, size);
	}
	memcpy(elements, sorted, kept * size);
	*count = kept;
	free(order);
	free(sorted);
}

static bool same_exception(const struct snapshot *snapshot, size_t left, size_t right)
{
	return exception_key(&snapshot->exceptions[left]) == exception_key(&snapshot->exceptions[right]);
}

static bool same_cgroup(const struct snapshot *snapshot, size_t left, size_t right)
{
	return snapshot->cgroups[left].path == snapshot->cgroups[right].path;
}

static bool same_smaps(const struct snapshot *snapshot, size_t left, size_t right)
{
	return snapshot->smaps[left].thread == snapshot->smaps[right].thread;
}

void snapshot_finish(struct snapshot *snapshot)
{
	sort_elements(snapshot, snapshot->exceptions, sizeof(*snapshot->exceptions),
		      &snapshot->exception_count, compare_exceptions, same_exception);
	sort_elements(snapshot, snapshot->cgroups, sizeof(*snapshot->cgroups), &snapshot->cgroup_count,
		      compare_cgroups, same_cgroup);
	sort_elements(snapshot, snapshot->smaps, sizeof(*snapshot->smaps), &snapshot->smaps_count,
		      compare_smaps, same_smaps);
}

const struct metric_exception *snapshot_find_exception(const struct snapshot *snapshot, size_t thread,
						       enum metric metric)
{
	uint64_t wanted = ((uint64_t)thread << 16) | (uint64_t)metric;
	size_t low = 0, high = snapshot->exception_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t key = exception_key(&snapshot->exceptions[middle]);

		if (key == wanted)
			return &snapshot->exceptions[middle];
		if (key < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct smaps_record *snapshot_find_smaps(const struct snapshot *snapshot, size_t thread)
{
	size_t low = 0, high = snapshot->smaps_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct smaps_record *record = &snapshot->smaps[middle];

		if (record->thread == thread)
			return record;
		if (record->thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
