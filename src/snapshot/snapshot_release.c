/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a snapshot and of what it may own, which holds snapshots again. */
#include <stdlib.h>

#include "ended_set.h"
#include "snapshot_window.h"

void ended_set_release(struct ended_set *set)
{
	if (set == NULL)
		return;
	snapshot_release(set->names);
	hash_map_release(&set->group_index);
	free(set->groups);
	free(set->threads);
	free(set);
}

void ended_clear(struct ended *ended)
{
	free(ended->records);
	snapshot_release(ended->names);
	*ended = (struct ended){0};
}

void window_part_clear(struct window_part *part)
{
	free(part->names);
	free(part->amounts);
	*part = (struct window_part){0};
}

void window_parts_clear(struct window_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		window_part_clear(&parts->items[i]);
	free(parts->items);
	snapshot_release(parts->names);
	*parts = (struct window_parts){0};
}

void snapshot_window_release(struct snapshot_window *window)
{
	if (window == NULL)
		return;
	snapshot_release(window->from);
	free(window->from_of);
	ended_clear(&window->ended);
	snapshot_release(window->latency);
	snapshot_release(window->latency_whole);
	window_parts_clear(&window->parts);
	free(window);
}

void snapshot_release(struct snapshot *snapshot)
{
	if (snapshot == NULL ||
	    atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) != 1)
		return;
	if (snapshot->whole != NULL) {
		if (snapshot->window != snapshot->whole->window)
			snapshot_window_release(snapshot->window);
		if (snapshot->ended != snapshot->whole->ended)
			ended_set_release(snapshot->ended);
		snapshot_release(snapshot->whole);
		free(snapshot);
		return;
	}
	free(snapshot->carried_row);
	free(snapshot->moved);
	free(snapshot->tid);
	free(snapshot->tgid);
	free(snapshot->triple);
	free(snapshot->uid);
	free(snapshot->thread_flags);
	free(snapshot->start_time);
	free(snapshot->stuck_ns);
	free(snapshot->waiting_ns);
	free(snapshot->wait_class);
	free(snapshot->wait_object);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot_drop_column(snapshot, (enum metric)i);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		free(snapshot->source_reason[i]);
		free(snapshot->read_at[i]);
	}
	free(snapshot->exceptions);
	free(snapshot->triples);
	free(snapshot->smaps);
	free(snapshot->resident);
	free(snapshot->cgroups);
	snapshot_release(snapshot->host_owner);
	latency_release(&snapshot->latency);
	free(snapshot->futexes.items);
	ended_set_release(snapshot->ended);
	snapshot_window_release(snapshot->window);
	task_fields_release(&snapshot->task_fields);
	free(snapshot->triple_slots);
	string_pool_release(&snapshot->strings);
	string_pool_release(&snapshot->cpu_sets);
	arena_release(&snapshot->arena);
	free(snapshot);
}
