/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_window.h"

#include <stdlib.h>

void snapshot_window_release(struct snapshot_window *window)
{
	if (window == NULL)
		return;
	snapshot_release(window->from);
	free(window->from_of);
	ended_clear(&window->ended);
	snapshot_release(window->latency);
	snapshot_release(window->latency_whole);
	free(window);
}
