/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"

/* Leaves no waits, delays and times; names and memory stay. */
static void clear(struct latency *latency)
{
	for (size_t i = 0; i < latency->count; i++)
		latency->records[i].waits = 0;
	latency->span_ns = latency->events = latency->unseen = latency->cost_ns = 0;
	latency->waits_count = latency->share_count = latency->delay_count = latency->time_count = 0;
}

/* Gives a span records up to those of `whole`. */
static void extend(struct latency *latency, const struct latency *whole)
{
	while (latency->count < whole->count) {
		struct latency_record *record = MEMORY_APPEND(latency->records, latency->count,
							      latency->capacity);

		*record = whole->records[latency->count - 1];
		record->waits = 0;
	}
}

/* Adds waits whose records are those of `indices` in the sums. */
static void add_waits(struct latency *span, const struct latency *whole, const struct latency *more,
		      const uint32_t indices[])
{
	extend(span, whole);
	latency_add(span, more, indices);
}

/* Gives each record of the sums its round, 0 for new ones. */
static void extend_met(struct latency_spans *spans)
{
	const size_t count = spans->whole->latency.count, before = spans->met_count;

	spans->met = memory_grow(spans->met, &spans->met_capacity, count, sizeof(*spans->met));
	memset(spans->met + before, 0, (count - before) * sizeof(*spans->met));
	spans->met_count = count;
}

/* The round before which names were last met that have to go, so that about half of them stay. */
static uint64_t oldest_to_keep(const struct latency_spans *spans)
{
	const size_t count = spans->whole->latency.count;
	uint64_t *sorted = memory_allocate(count * sizeof(*sorted)), oldest;

	memcpy(sorted, spans->met, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), order_by_u64);
	oldest = sorted[count / 2];
	free(sorted);
	return oldest;
}

/* Begins the sums anew with what was met lately; all else is put together. */
static void make_room(struct latency_spans *spans)
{
	const uint64_t oldest = oldest_to_keep(spans);
	struct snapshot *before = spans->whole;
	struct latency base = spans->base;
	uint64_t *met = spans->met;
	uint32_t *indices, other = snapshot_intern_own_name(&before->strings, name_other);

	for (size_t i = 0; i < before->latency.count; i++) {
		struct latency_record *record = &before->latency.records[i];

		if (met[i] < oldest)
			record->pcomm = record->comm = record->cgroup = other;
	}
	spans->whole = snapshot_create();
	indices = latency_sums_add(spans->whole, before);
	latency_release(&spans->interval);
	spans->interval = spans->base = (struct latency){0};
	spans->met = NULL;
	spans->met_count = spans->met_capacity = 0;
	add_waits(&spans->base, &spans->whole->latency, &base, indices);
	extend_met(spans);
	for (size_t i = 0; i < before->latency.count; i++) {
		if (met[i] > spans->met[indices[i]])
			spans->met[indices[i]] = met[i];
	}
	free(indices);
	free(met);
	latency_release(&base);
	snapshot_release(before);
}

/* Adds the waits of a round; `has_rows`: with its threads. */
static void add_round(struct latency_spans *spans, const struct snapshot *snapshot, bool has_rows)
{
	uint32_t *indices;

	if (snapshot->latency.is_whole)
		return;
	clear(&spans->interval);
	if (snapshot->latency.span_ns == 0)
		return;
	if (spans->whole == NULL)
		spans->whole = snapshot_create();
	if (spans->whole->latency.count != 0 && !latency_sums_have_room(spans->whole, snapshot))
		make_room(spans);
	if (has_rows) {
		latency_end_processes(&spans->whole->latency, snapshot, spans->read_at_ns);
		latency_end_processes(&spans->base, snapshot, spans->read_at_ns);
		spans->read_at_ns = snapshot->provenance.boottime_ns;
	}
	spans->rounds++;
	indices = latency_sums_add(spans->whole, snapshot);
	add_waits(&spans->interval, &spans->whole->latency, &snapshot->latency, indices);
	add_waits(&spans->base, &spans->whole->latency, &snapshot->latency, indices);
	extend_met(spans);
	for (size_t i = 0; i < snapshot->latency.count; i++)
		spans->met[indices[i]] = spans->rounds;
	free(indices);
}

void latency_spans_add_round(struct latency_spans *spans, const struct snapshot *snapshot)
{
	add_round(spans, snapshot, snapshot->thread_count != 0);
}

void latency_spans_add_told(struct latency_spans *spans, const struct snapshot *gone)
{
	add_round(spans, gone, false);
	if (spans->whole == NULL)
		return;
	latency_end_gone(&spans->whole->latency, gone);
	latency_end_gone(&spans->base, gone);
}

void latency_spans_set_file(struct latency_spans *spans, const struct snapshot *snapshot)
{
	const struct snapshot *within = snapshot->window != NULL ? snapshot->window->latency : NULL;
	uint32_t *indices = NULL;

	if (snapshot->latency.span_ns == 0 && within == NULL)
		return;
	spans->whole = snapshot_create();
	/* the names within the window first: what has no room comes under `(other)` */
	if (within != NULL) {
		indices = latency_sums_add(spans->whole, within);
		clear(&spans->whole->latency);
	}
	if (snapshot->latency.span_ns != 0)
		free(latency_sums_add(spans->whole, snapshot));
	extend(&spans->interval, &spans->whole->latency);
	extend(&spans->base, &spans->whole->latency);
	if (within == NULL)
		return;
	add_waits(&spans->interval, &spans->whole->latency, &within->latency, indices);
	add_waits(&spans->base, &spans->whole->latency, &within->latency, indices);
	free(indices);
}

/* Which records a span has anything of. */
static bool *find_used(const struct latency *span)
{
	bool *used = memory_allocate_zero(span->count + 1, sizeof(*used));

	for (size_t i = 0; i < span->count; i++)
		used[i] = span->records[i].waits != 0;
	for (size_t i = 0; i < span->time_count; i++)
		used[span->times[i].record] = true;
	for (size_t i = 0; i < span->delay_count; i++) {
		used[span->delays[i].victim] = true;
		if (span->delays[i].cause == LATENCY_CAUSE_THREADS)
			used[span->delays[i].culprit] = true;
	}
	return used;
}

struct snapshot *latency_spans_copy(const struct latency_spans *spans, const struct latency *span)
{
	struct snapshot *copy;
	struct latency *latency;
	uint32_t *indices;
	bool *used;

	if (span->span_ns == 0)
		return NULL;
	copy = snapshot_create();
	latency = &copy->latency;
	latency->present = true;
	used = find_used(span);
	indices = memory_allocate_zero(span->count + 1, sizeof(*indices));
	for (size_t i = 0; i < span->count; i++) {
		const struct latency_record *record = &span->records[i];
		const struct string_pool *strings = &spans->whole->strings;

		if (!used[i])
			continue;
		indices[i] = (uint32_t)latency->count;
		latency_add_record(copy, string_pool_copy(&copy->strings, strings, record->pcomm),
				   string_pool_copy(&copy->strings, strings, record->comm),
				   string_pool_copy(&copy->strings, strings, record->cgroup))
			->is_kernel = record->is_kernel;
	}
	latency_add(latency, span, indices);
	free(indices);
	free(used);
	return copy;
}

void latency_spans_set_base(struct latency_spans *spans)
{
	clear(&spans->base);
}

void latency_spans_release(struct latency_spans *spans)
{
	snapshot_release(spans->whole);
	latency_release(&spans->interval);
	latency_release(&spans->base);
	free(spans->met);
	*spans = (struct latency_spans){0};
}
