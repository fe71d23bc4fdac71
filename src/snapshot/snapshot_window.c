/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_window.h"

#include <stdlib.h>

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
