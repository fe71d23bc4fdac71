/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <string.h>

#include "heap.h"
#include "probe/probe.h"

static void count_thread_failures(const struct round *round, const struct process *process,
				  uint64_t counts[HEAP_TAG_COUNT], struct probe_summary *summary)
{
	for (size_t row = process->first_row; row < process->first_row + process->row_count; row++) {
		if ((round->snapshot->thread_flags[row] & THREAD_JEMALLOC_MEASURED) != 0)
			summary->probed_ok++;
		else if (round->states[row].heap_failure != 0)
			counts[round->states[row].heap_failure - 1]++;
	}
}

static void count_process(const struct round *round, const struct process *process,
			  uint64_t counts[HEAP_TAG_COUNT], struct probe_summary *summary)
{
	if (process->row_count == 0 || heap_is_own(&round->capture->heap, process->tgid))
		return;
	if (process->heap == NULL && !heap_has_none(round, process))
		return; /* it was not looked at */
	summary->tgids_walked++;
	if (process->heap == NULL)
		return;
	if (process->heap->state == PROBE_STATE_READY) {
		summary->jemalloc_detected++;
		count_thread_failures(round, process, counts, summary);
	} else if (process->heap->state == PROBE_STATE_FAILED &&
		   (heap_tags[process->heap->tag].flags & HEAP_TAG_QUIET) == 0) {
		counts[process->heap->tag]++;
	}
}

/* The commonest tag, the alphabetically earlier one of equals; NULL for none. */
static const char *find_dominant(const uint64_t counts[HEAP_TAG_COUNT])
{
	size_t most = HEAP_TAG_COUNT;

	for (size_t tag = 0; tag < HEAP_TAG_COUNT; tag++) {
		if (counts[tag] == 0)
			continue;
		if (most == HEAP_TAG_COUNT || counts[tag] > counts[most] ||
		    (counts[tag] == counts[most] && strcmp(heap_tags[tag].name, heap_tags[most].name) < 0))
			most = tag;
	}
	return most < HEAP_TAG_COUNT ? heap_tags[most].name : NULL;
}

static const char *duplicate(struct arena *arena, const char *text)
{
	return text != NULL && text[0] != '\0' ? arena_duplicate(arena, text, strlen(text)) : NULL;
}

/* Whether the process has something to say: that it has jemalloc, or that nobody can tell. */
static bool is_worth_an_entry(const struct process *process)
{
	if (process->row_count == 0 || process->heap == NULL || process->heap->state == PROBE_STATE_RESOLVING)
		return false;
	return process->heap->state == PROBE_STATE_READY ||
	       (heap_tags[process->heap->tag].flags & HEAP_TAG_QUIET) == 0;
}

static void list_processes(struct round *round)
{
	const struct process_list *list = &round->capture->processes;
	struct provenance *provenance = &round->snapshot->provenance;
	struct arena *arena = &round->snapshot->arena;
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += is_worth_an_entry(&list->items[i]);
	if (count == 0)
		return;
	provenance->heap = arena_allocate_zero(arena, count, sizeof(*provenance->heap));
	for (size_t i = 0; i < list->count; i++) {
		const struct probe_process *process = list->items[i].heap;
		struct heap_process *entry = &provenance->heap[provenance->heap_count];

		if (!is_worth_an_entry(&list->items[i]))
			continue;
		entry->tgid = process->tgid;
		if (process->state == PROBE_STATE_READY) {
			entry->layout = layout_origin_names[process->origin];
			entry->version = duplicate(arena, process->version);
		} else {
			entry->tag = heap_tags[process->tag].name;
			entry->text = duplicate(arena, process->text);
		}
		provenance->heap_count++;
	}
}

void heap_summarize(struct round *round)
{
	const struct process_list *list = &round->capture->processes;
	struct probe_summary *summary = &round->snapshot->probe_summary;
	uint64_t counts[HEAP_TAG_COUNT] = {0}, privilege = 0;

	if (round->heap == HEAP_USE_NONE)
		return;
	summary->present = true;
	for (size_t i = 0; i < list->count; i++)
		count_process(round, &list->items[i], counts, summary);
	for (size_t tag = 0; tag < HEAP_TAG_COUNT; tag++) {
		summary->failed += counts[tag];
		if ((heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0)
			privilege += counts[tag];
	}
	summary->dominant_failure = find_dominant(counts);
	summary->privilege_dominant = summary->failed > 0 && privilege * 2 >= summary->failed;
	summary->stopped_known = true;
	summary->stopped = probe_counts(round->capture->heap.probe).stops;
	list_processes(round);
}
