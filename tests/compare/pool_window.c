/* SPDX-License-Identifier: GPL-2.0-only */
#include "pool_window.h"

#include <string.h>

#include "session/session_fixture.h"

enum {
	POOLS = 4,
	PARTS = 12,
	BEGIN_SECONDS = 1000,
};

static const char *const pools[POOLS] = {"steady", "noisy", "slower", "many"};
static const uint32_t many_threads[DIFF_SIDE_COUNT] = {2, 3};

/* What a pool ran in each second, ms. */
static const uint64_t run_ms[DIFF_SIDE_COUNT][POOLS][PARTS] = {
	{
		{100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 100, 100},
		{900, 100, 500, 50, 700, 300, 20, 800, 100, 400, 600, 30},
		{200, 210, 190, 205, 195, 201, 202, 198, 207, 193, 203, 199},
		{0},
	},
	{
		{101, 100, 100, 99, 98, 102, 100, 99, 101, 100, 100, 100},
		{50, 950, 300, 800, 100, 600, 700, 30, 900, 200, 500, 400},
		{400, 410, 390, 405, 395, 401, 402, 398, 407, 393, 403, 399},
		{0},
	},
};

/* The pools when so many parts of a window are over. */
static struct snapshot *read_pools(enum diff_side side, size_t parts)
{
	const size_t seconds = BEGIN_SECONDS + parts + (side == DIFF_AFTER ? (size_t)PARTS : 0);
	struct snapshot *snapshot = fixture_snapshot((double)seconds);

	snapshot->provenance.boot_id = "boot";
	for (uint32_t i = 0; i < POOLS; i++) {
		const uint32_t threads = i == POOLS - 1 ? many_threads[side] : 1;
		uint64_t run = 100 * NS_PER_S;

		for (size_t k = 0; k < parts; k++)
			run += MS(run_ms[side][i][k]);
		for (uint32_t k = 0; k < threads; k++) {
			const uint32_t pid = 10 * (i + 1);
			const size_t thread = fixture_thread(snapshot, pid, pid + k, pools[i], pools[i], 1);

			fixture_cgroup(snapshot, thread, "/app");
			fixture_set(snapshot, thread, METRIC_RUN_TIME_NS, run);
			fixture_set(snapshot, thread, METRIC_WAIT_TIME_NS, 0);
		}
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void add_part(struct window_parts *parts, const uint64_t of_pools[POOLS][PARTS], size_t second)
{
	struct window_part *part = MEMORY_APPEND(parts->items, parts->count, parts->capacity);

	*part = (struct window_part){.length_ns = NS_PER_S,
				     .count = POOLS,
				     .metrics = {METRIC_RUN_TIME_NS},
				     .metric_count = 1,
				     .names = memory_allocate(POOLS * sizeof(*part->names)),
				     .amounts = memory_allocate(POOLS * sizeof(*part->amounts))};
	for (uint32_t i = 0; i < POOLS; i++) {
		part->names[i] = i;
		part->amounts[i] = MS(of_pools[i][second]);
	}
}

struct snapshot *pool_window(enum diff_side side)
{
	struct snapshot *now = read_pools(side, PARTS);
	struct snapshot_window *window = memory_allocate_zero(1, sizeof(*window));
	struct window_parts *parts = &window->parts;

	now->window = window;
	window->from = read_pools(side, 0);
	window->from_of = memory_allocate_zero(now->thread_count, sizeof(*window->from_of));
	window->thread_count = now->thread_count;
	for (uint32_t i = 0; i < now->thread_count; i++)
		window->from_of[i] = i;
	parts->names = snapshot_create();
	for (uint32_t i = 0; i < POOLS; i++) {
		struct string_pool *strings = &parts->names->strings;
		const uint32_t name = string_pool_intern(strings, pools[i], strlen(pools[i]));
		const uint32_t cgroup = string_pool_intern(strings, "/app", strlen("/app"));

		snapshot_intern_triple(parts->names, (struct triple){name, name, cgroup});
	}
	for (size_t second = 0; second < PARTS; second++)
		add_part(parts, run_ms[side], second);
	return now;
}
