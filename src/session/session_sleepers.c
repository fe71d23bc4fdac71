/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads whose place in the kernel says what a row waits for. */
#include "session_internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* Shorter sleeps are ordinary waits for work. */
#define SLEEP_LONG_NS UINT64_C(500000000)

/* D before sleep, then the longest first. */
static int order_sleepers(const void *left, const void *right)
{
	const struct session_sleeper *a = left, *b = right;

	if (a->in_d != b->in_d)
		return a->in_d ? -1 : 1;
	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* False for a thread that runs, waits for a CPU, or has slept for a moment only. */
static bool describe(const struct snapshot *now, uint32_t thread, struct session_sleeper *sleeper)
{
	const uint64_t in_d = snapshot_wait_in(now, thread, 'D'), asleep = snapshot_wait_in(now, thread, 'S');

	*sleeper = (struct session_sleeper){
		.tgid = now->tgid[thread],
		.tid = now->tid[thread],
		.start_time = now->start_time[thread],
		.wait_ns = in_d != 0 ? in_d : asleep,
		.in_d = snapshot_value(now, thread, METRIC_STATE) == 'D',
	};
	return sleeper->in_d || asleep >= SLEEP_LONG_NS;
}

size_t session_find_sleepers(struct session *session, const struct view *view, const char *key,
			     size_t key_length, struct session_sleeper sleepers[], size_t limit,
			     size_t *ret_count)
{
	const struct snapshot *now = session->rounds.now;
	struct session_sleeper *all;
	size_t count = 0;
	struct shown shown;

	*ret_count = 0;
	if (now == NULL)
		return 0;
	session_collect(session, view, key, key_length, NULL, &shown);
	all = memory_allocate((shown.count + 1) * sizeof(*all));
	for (size_t i = 0; i < shown.count; i++)
		count += describe(now, shown.threads[i], &all[count]);
	qsort(all, count, sizeof(*all), order_sleepers);
	*ret_count = count;
	for (size_t i = 0; i < count && i < limit; i++)
		sleepers[i] = all[i];
	free(all);
	shown_release(&shown);
	return count < limit ? count : limit;
}
