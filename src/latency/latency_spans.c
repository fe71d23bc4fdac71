/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static void clear(struct latency *latency)
{
	struct latency_record *records = latency->records;
	size_t count = latency->count, capacity = latency->capacity;

	for (size_t i = 0; i < count; i++)
		memset(records[i].of, 0, sizeof(records[i].of));
	*latency = (struct latency){.records = records, .count = count, .capacity = capacity};
}

/* Gives a span records up to those of `whole`. */
static void extend(struct latency *latency, const struct latency *whole)
{
	while (latency->count < whole->count) {
		struct latency_record *record = MEMORY_APPEND(latency->records, latency->count,
							      latency->capacity);

		*record = whole->records[latency->count - 1];
		memset(record->of, 0, sizeof(record->of));
	}
}

static void add_time(struct latency *latency, const struct latency *more)
{
	latency->span_ns = number_add_saturating(latency->span_ns, more->span_ns);
	latency->events = number_add_saturating(latency->events, more->events);
	latency->cost_ns = number_add_saturating(latency->cost_ns, more->cost_ns);
}

static void add_record(struct latency *latency, size_t index, const struct latency_record *more)
{
	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++)
		latency_merge(&latency->records[index].of[kind], &more->of[kind]);
}

void latency_spans_add_round(struct latency_spans *spans, const struct snapshot *snapshot)
{
	uint32_t *indices;

	if (snapshot->latency.is_whole)
		return;
	clear(&spans->interval);
	if (snapshot->latency.span_ns == 0)
		return;
	if (spans->whole == NULL)
		spans->whole = snapshot_create();
	indices = latency_sums_add(spans->whole, snapshot);
	extend(&spans->interval, &spans->whole->latency);
	extend(&spans->base, &spans->whole->latency);
	add_time(&spans->interval, &snapshot->latency);
	add_time(&spans->base, &snapshot->latency);
	for (size_t i = 0; i < snapshot->latency.count; i++) {
		add_record(&spans->interval, indices[i], &snapshot->latency.records[i]);
		add_record(&spans->base, indices[i], &snapshot->latency.records[i]);
	}
	free(indices);
}

void latency_spans_set_file(struct latency_spans *spans, const struct snapshot *snapshot)
{
	if (snapshot->latency.span_ns == 0)
		return;
	spans->whole = snapshot_create();
	free(latency_sums_add(spans->whole, snapshot));
}

void latency_spans_set_base(struct latency_spans *spans)
{
	clear(&spans->base);
}

void latency_spans_release(struct latency_spans *spans)
{
	snapshot_release(spans->whole);
	free(spans->interval.records);
	free(spans->base.records);
	*spans = (struct latency_spans){0};
}
