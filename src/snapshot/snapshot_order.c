/* SPDX-License-Identifier: GPL-2.0-only */
/* Order within a snapshot: what snapshot_finish() sorts and the searches that rely on it. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "snapshot.h"

static uint64_t exception_key(const struct metric_exception *exception)
{
	return ((uint64_t)exception->thread << 16) | exception->metric;
}

/* The order of two elements of one list of the snapshot, by index; 0 when one repeats the other. */
typedef int comparison(const struct snapshot *snapshot, size_t left, size_t right);

static int compare_exceptions(const struct snapshot *snapshot, size_t left, size_t right)
{
	return order_u64(exception_key(&snapshot->exceptions[left]),
			 exception_key(&snapshot->exceptions[right]));
}

static int compare_cgroups(const struct snapshot *snapshot, size_t left, size_t right)
{
	return string_pool_compare(&snapshot->strings, snapshot->cgroups[left].path,
				   snapshot->cgroups[right].path);
}

static int compare_titles(const struct snapshot *snapshot, size_t left, size_t right)
{
	return order_u64(snapshot->provenance.titles[left].tgid, snapshot->provenance.titles[right].tgid);
}

static int compare_smaps(const struct snapshot *snapshot, size_t left, size_t right)
{
	return order_u64(snapshot->smaps[left].thread, snapshot->smaps[right].thread);
}

static int compare_resident(const struct snapshot *snapshot, size_t left, size_t right)
{
	return order_u64(snapshot->resident[left].tgid, snapshot->resident[right].tgid);
}

struct sorting {
	const struct snapshot *snapshot;
	comparison *compare;
};

/* Orders what is repeated by position: the sort is then stable whatever qsort_r() does. */
static int compare_indices(const void *left, const void *right, void *sorting_pointer)
{
	const struct sorting *sorting = sorting_pointer;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = sorting->compare(sorting->snapshot, a, b);

	return order != 0 ? order : order_u64(a, b);
}

static bool is_ascending(const struct snapshot *snapshot, size_t count, comparison *compare)
{
	for (size_t i = 1; i < count; i++) {
		if (compare(snapshot, i - 1, i) >= 0)
			return false;
	}
	return true;
}

/* Sorts `count` elements of `size` bytes at `elements` and keeps the last of those that are repeated. */
static void sort_elements(const struct snapshot *snapshot, void *elements, size_t size, size_t *count,
			  comparison *compare)
{
	struct sorting sorting = {snapshot, compare};
	size_t kept = 0;
	uint32_t *order;
	char *sorted;

	if (is_ascending(snapshot, *count, compare))
		return;
	order = memory_allocate(*count * sizeof(*order));
	sorted = memory_allocate(*count * size);
	for (uint32_t i = 0; i < *count; i++)
		order[i] = i;
	qsort_r(order, *count, sizeof(*order), compare_indices, &sorting);
	for (size_t i = 0; i < *count; i++) {
		if (i + 1 == *count || compare(snapshot, order[i], order[i + 1]) != 0)
			memcpy(sorted + kept++ * size, (char *)elements + order[i] * size, size);
	}
	memcpy(elements, sorted, kept * size);
	*count = kept;
	free(order);
	free(sorted);
}

static void sort_titles(struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;

	sort_elements(snapshot, provenance->titles, sizeof(*provenance->titles), &provenance->title_count,
		      compare_titles);
}

void snapshot_finish(struct snapshot *snapshot)
{
	sort_elements(snapshot, snapshot->exceptions, sizeof(*snapshot->exceptions),
		      &snapshot->exception_count, compare_exceptions);
	sort_elements(snapshot, snapshot->cgroups, sizeof(*snapshot->cgroups), &snapshot->cgroup_count,
		      compare_cgroups);
	sort_elements(snapshot, snapshot->smaps, sizeof(*snapshot->smaps), &snapshot->smaps_count,
		      compare_smaps);
	sort_elements(snapshot, snapshot->resident, sizeof(*snapshot->resident), &snapshot->resident_count,
		      compare_resident);
	sort_titles(snapshot);
	if (snapshot->names_serial != 0)
		return; /* a later one may begin with its names */
	free(snapshot->triple_slots);
	snapshot->triple_slots = NULL;
	snapshot->triple_slot_count = snapshot->triples_hashed = 0;
}

void snapshot_set_titles(struct snapshot *snapshot, const struct process_title titles[], size_t count)
{
	struct provenance *provenance = &snapshot->provenance;

	if (count == 0)
		return;
	provenance->titles = arena_allocate(&snapshot->arena, count * sizeof(*titles));
	for (size_t i = 0; i < count; i++)
		provenance->titles[i] = (struct process_title){
			titles[i].tgid,
			arena_duplicate(&snapshot->arena, titles[i].text, strlen(titles[i].text))};
	provenance->title_count = count;
	sort_titles(snapshot);
}

static int find_title(const void *wanted, const void *element)
{
	return order_u64(*(const uint32_t *)wanted, ((const struct process_title *)element)->tgid);
}

const char *snapshot_find_title(const struct snapshot *snapshot, uint32_t tgid)
{
	const struct provenance *provenance = &snapshot->provenance;
	const struct process_title *found = NULL;

	if (provenance->title_count != 0)
		found = bsearch(&tgid, provenance->titles, provenance->title_count,
				sizeof(*provenance->titles), find_title);
	return found != NULL ? found->text : NULL;
}

static int find_exception(const void *wanted, const void *element)
{
	return order_u64(*(const uint64_t *)wanted, exception_key(element));
}

const struct metric_exception *snapshot_find_exception(const struct snapshot *snapshot, size_t thread,
						       enum metric metric)
{
	uint64_t wanted = ((uint64_t)thread << 16) | (uint64_t)metric;

	if (snapshot->exception_count == 0)
		return NULL;
	return bsearch(&wanted, snapshot->exceptions, snapshot->exception_count,
		       sizeof(*snapshot->exceptions), find_exception);
}

static int find_smaps(const void *wanted, const void *element)
{
	return order_u64(*(const size_t *)wanted, ((const struct smaps_record *)element)->thread);
}

const struct smaps_record *snapshot_find_smaps(const struct snapshot *snapshot, size_t thread)
{
	if (snapshot->smaps_count == 0)
		return NULL;
	return bsearch(&thread, snapshot->smaps, snapshot->smaps_count, sizeof(*snapshot->smaps), find_smaps);
}
