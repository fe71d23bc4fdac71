/* SPDX-License-Identifier: GPL-2.0-only */
#include "thread_match.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"

/* The scheduler's clock runs off CLOCK_BOOTTIME by less than one part in so many. */
enum {
	CLOCK_DRIFT = 1024
};

static int compare_identity(const struct snapshot *a, uint32_t i, const struct snapshot *b, uint32_t j)
{
	int order = order_u64(a->tgid[i], b->tgid[j]);

	if (order == 0)
		order = order_u64(a->tid[i], b->tid[j]);
	return order != 0 ? order : order_u64(a->start_time[i], b->start_time[j]);
}

static int compare_threads(const void *a, const void *b, void *context)
{
	return compare_identity(context, *(const uint32_t *)a, context, *(const uint32_t *)b);
}

/* The threads ascending by identity; NULL when they are in that order already, as captured ones are. */
static uint32_t *order_threads(const struct snapshot *snapshot)
{
	uint32_t *order;
	uint32_t i = 1;

	while (i < snapshot->thread_count && compare_identity(snapshot, i - 1, snapshot, i) <= 0)
		i++;
	if (i >= snapshot->thread_count)
		return NULL;
	order = memory_allocate(snapshot->thread_count * sizeof(*order));
	for (i = 0; i < snapshot->thread_count; i++)
		order[i] = i;
	qsort_r(order, snapshot->thread_count, sizeof(*order), compare_threads, (void *)snapshot);
	return order;
}

/* The longest time that can have passed between the readings of the run time; 0 when it is not known. */
static uint64_t longest_between(const struct snapshot *now, uint32_t thread, const struct snapshot *before,
				uint32_t old)
{
	const uint64_t from = snapshot_read_time(before, old, METRIC_RUN_TIME_NS);
	uint64_t to = snapshot_read_time(now, thread, METRIC_RUN_TIME_NS);

	if (to == now->provenance.boottime_ns)
		to += now->provenance.duration_ns; /* the time of this thread's reading is not kept */
	return from != 0 && to > from ? to - from : 0;
}

/* Whether the run time grew by more than a thread can run between the two readings: it is another thread
 * then. */
static bool is_another(const struct snapshot *now, uint32_t thread, const struct snapshot *before,
		       uint32_t old)
{
	const uint64_t run = snapshot_value(now, thread, METRIC_RUN_TIME_NS);
	const uint64_t ran = snapshot_value(before, old, METRIC_RUN_TIME_NS);
	uint64_t elapsed;

	if (run <= ran || run - ran <= NS_PER_TICK) /* most of them, most of the time */
		return false;
	if (snapshot_value_state(now, thread, METRIC_RUN_TIME_NS) != REASON_READ ||
	    snapshot_value_state(before, old, METRIC_RUN_TIME_NS) != REASON_READ)
		return false;
	elapsed = longest_between(now, thread, before, old);
	return elapsed != 0 && run - ran > elapsed + elapsed / CLOCK_DRIFT + NS_PER_TICK;
}

/* A thread that is not in the snapshot before: one that started since counts from zero. */
static uint32_t without_match(const struct snapshot *now, uint32_t thread, const struct snapshot *before)
{
	return now->start_time[thread] >= before->provenance.boottime_ns / NS_PER_TICK ? THREAD_BORN
										       : THREAD_UNKNOWN;
}

struct matching {
	const struct snapshot *now, *before;
	uint32_t *match;
	bool *seen, *replaced; /* `replaced` may be NULL */
};

/* Notes that a thread is the one at `old`, unless it took over what that one was. */
static void settle(const struct matching *matching, uint32_t thread, uint32_t old)
{
	const bool another = is_another(matching->now, thread, matching->before, old);

	matching->match[thread] = another ? THREAD_UNKNOWN : old;
	matching->seen[old] = !another;
	if (matching->replaced != NULL)
		matching->replaced[thread] = another;
}

/* By what the capture knows. The run time of what did not move did not grow. */
static void match_carried(const struct matching *matching)
{
	const struct snapshot *now = matching->now, *before = matching->before;

	for (uint32_t i = 0; i < now->thread_count; i++) {
		const uint32_t old = now->carried_row[i];

		if (old == UINT32_MAX) {
			matching->match[i] = without_match(now, i, before);
		} else if (now->moved_known) {
			matching->match[i] = old;
			matching->seen[old] = true;
		} else {
			settle(matching, i, old);
		}
	}
	for (size_t i = 0; now->moved_known && i < now->moved_count; i++) {
		const uint32_t old = now->carried_row[now->moved[i]];

		if (old != UINT32_MAX)
			settle(matching, now->moved[i], old);
	}
}

/* By identity, both in that order. */
static void match_identities(const struct matching *matching)
{
	const struct snapshot *now = matching->now, *before = matching->before;
	uint32_t *now_order = order_threads(now), *before_order = order_threads(before);
	uint32_t j = 0;

	for (uint32_t n = 0; n < now->thread_count; n++) {
		uint32_t i = now_order != NULL ? now_order[n] : n;

		matching->match[i] = without_match(now, i, before);
		for (; j < before->thread_count; j++) {
			uint32_t old = before_order != NULL ? before_order[j] : j;
			int order = compare_identity(before, old, now, i);

			if (order < 0)
				continue;
			if (order > 0)
				break;
			j++;
			settle(matching, i, old);
			break;
		}
	}
	free(now_order);
	free(before_order);
}

uint32_t *thread_match(const struct snapshot *now, const struct snapshot *before, bool *seen, bool *replaced)
{
	const struct matching matching = {
		.now = now,
		.before = before,
		.match = memory_allocate((now->thread_count + 1) * sizeof(uint32_t)),
		.seen = seen,
		.replaced = replaced,
	};

	if (now->carried_serial != 0 && now->carried_serial == before->serial)
		match_carried(&matching);
	else
		match_identities(&matching);
	return matching.match;
}
