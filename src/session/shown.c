/* SPDX-License-Identifier: GPL-2.0-only */
#include "shown.h"

#include <stdlib.h>

#include "base/memory.h"

void shown_reserve(struct shown *shown, size_t threads, size_t rows)
{
	shown->threads = memory_allocate((threads + 1) * sizeof(uint32_t));
	shown->row_of = memory_allocate((threads + 1) * sizeof(uint32_t));
	shown->row_threads = memory_allocate_zero(rows + 1, sizeof(uint32_t));
	shown->row_group = memory_allocate((rows + 1) * sizeof(uint32_t));
}

void shown_release(struct shown *shown)
{
	free(shown->threads);
	free(shown->row_of);
	free(shown->ended_row_of);
	free(shown->row_threads);
	free(shown->row_group);
	*shown = (struct shown){0};
}

void shown_append_thread_key(struct buffer *buffer, const struct snapshot *snapshot, uint32_t thread)
{
	buffer_append_u64(buffer, snapshot->tid[thread]);
	buffer_append_char(buffer, ':');
	buffer_append_u64(buffer, snapshot->start_time[thread]);
}

const char *shown_thread_name(const struct snapshot *snapshot, uint32_t thread, size_t *ret_length)
{
	uint32_t comm = snapshot->triples[snapshot->triple[thread]].comm;

	*ret_length = string_pool_length(&snapshot->strings, comm);
	return snapshot_text(snapshot, comm);
}
