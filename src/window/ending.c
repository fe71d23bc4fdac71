/* SPDX-License-Identifier: GPL-2.0-only */
#include "ending.h"

#include "base/clock.h"

static int compare_thread_and_row(const struct ended_thread *thread, const struct snapshot *snapshot,
				  uint32_t row)
{
	if (thread->tgid != snapshot->tgid[row])
		return thread->tgid < snapshot->tgid[row] ? -1 : 1;
	if (thread->tid != snapshot->tid[row])
		return thread->tid < snapshot->tid[row] ? -1 : 1;
	return (thread->start_time > snapshot->start_time[row]) -
	       (thread->start_time < snapshot->start_time[row]);
}

/* Which of the rows that are gone a thread was, or NULL. Rows of captures ascend by (tgid, tid). */
static struct ended_row *find_row(const struct ending *ending, const struct ended_thread *thread)
{
	size_t low = 0, high = ending->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = compare_thread_and_row(thread, ending->before, ending->rows[middle].thread);

		if (order == 0)
			return &ending->rows[middle];
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Whether a thread that is in no round began after a snapshot was taken. */
static bool started_since(const struct ended_thread *thread, const struct snapshot *snapshot)
{
	return thread->start_time >= snapshot->provenance.boottime_ns / NS_PER_TICK;
}

/* Adds what is told at their end by threads of which there is no row. */
static void add_unread(const struct ending *ending, const struct snapshot *from, struct ended *ended)
{
	const struct ended_set *set = ending->set;

	for (size_t i = 0; i < set->group_count; i++)
		ended_add_group(ended, set, &set->groups[i], ending->now);
	for (size_t i = 0; i < set->thread_count; i++) {
		const struct ended_thread *thread = &set->threads[i];
		struct ended_row *row = find_row(ending, thread);

		if (row != NULL)
			row->last = thread;
		else
			ended_add_thread(ended, set, thread, started_since(thread, from), ending->now);
	}
}

void ending_fold(const struct ending *ending, const struct window *window, bool rest_counts,
		 struct ended *ended)
{
	if (ending->set != NULL) {
		ended->incomplete |= ending->set->lost != 0 || ending->set->unread;
		add_unread(ending, window->from, ended);
	}
	ended_fold(ended, window, ending->set, ending->rows, ending->count, rest_counts);
}
