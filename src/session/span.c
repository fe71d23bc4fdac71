/* SPDX-License-Identifier: GPL-2.0-only */
/* One metric of many threads over a span. */
#include "span.h"

#include "base/clock.h"

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Delay counters stand still while the switch is off: a lifetime value, but no delta. */
static bool is_frozen(const struct snapshot *snapshot, enum metric metric)
{
	return metrics[metric].source == SOURCE_DELAYS &&
	       snapshot->provenance.features[FEATURE_DELAYS].state == FEATURE_STATE_OFF;
}

/*
 * One metric of a snapshot, looked up once for many threads. `plain` says that the state of a thread follows
 * from its source alone, so that the general rules of snapshot_value_state() need not be asked thread by
 * thread.
 */
struct metric_reader {
	const struct snapshot *snapshot;
	enum metric metric;
	bool plain;
	bool user_only;
	const reason_id
		*reasons[2]; /* of the source, and of the one it is part of; NULL: `default_reasons` */
	reason_id default_reasons[2];
	const uint64_t *values;  /* NULL: all 0 */
	const uint64_t *read_at; /* NULL: `boottime_ns` of the snapshot */
};

static bool is_plain(const struct snapshot *snapshot, enum metric metric)
{
	const struct metric_entry *entry = &metrics[metric];

	return snapshot->provenance.present && !snapshot->metric_has_exceptions[metric] &&
	       snapshot->metric_reason[metric] == REASON_READ && entry->family != METRIC_FAMILY_LEADER &&
	       entry->family != METRIC_FAMILY_JEMALLOC && entry->tag != METRIC_TAG_FAIR_POLICY &&
	       snapshot->metric_source[metric] != SOURCE_NONE;
}

static struct metric_reader prepare(const struct snapshot *snapshot, enum metric metric)
{
	struct metric_reader reader = {
		.snapshot = snapshot,
		.metric = metric,
		.plain = is_plain(snapshot, metric),
		.values = snapshot->values[metric],
	};
	enum source source = snapshot->metric_source[metric];

	if (source == SOURCE_NONE)
		return reader;
	reader.user_only = (sources[source].flags & SOURCE_USER_ONLY) != 0;
	for (size_t i = 0; i < 2 && source != SOURCE_NONE; i++) {
		reader.reasons[i] = snapshot->source_reason[source];
		reader.default_reasons[i] = snapshot->default_reason[source];
		if (reader.read_at == NULL)
			reader.read_at = snapshot->read_at[source];
		source = sources[source].part_of;
	}
	return reader;
}

/* REASON_READ, SERIES_ABSENT, or why the value is unavailable. */
static inline uint16_t read_state(const struct metric_reader *reader, uint32_t thread)
{
	enum value_state state;
	reason_id reason;

	if (!reader->plain) {
		state = snapshot_value_state(reader->snapshot, thread, reader->metric, false, &reason);
		return state == VALUE_ABSENT ? SERIES_ABSENT : reason;
	}
	if (reader->user_only && (reader->snapshot->thread_flags[thread] & THREAD_KERNEL) != 0)
		return SERIES_ABSENT;
	reason = reader->reasons[0] != NULL ? reader->reasons[0][thread] : reader->default_reasons[0];
	if (reason != REASON_READ)
		return reason;
	return reader->reasons[1] != NULL ? reader->reasons[1][thread] : reader->default_reasons[1];
}

static inline uint64_t read_value(const struct metric_reader *reader, uint32_t thread)
{
	return reader->values != NULL ? reader->values[thread] : 0;
}

static inline uint64_t read_time(const struct metric_reader *reader, uint32_t thread)
{
	return reader->read_at != NULL ? reader->read_at[thread] : reader->snapshot->provenance.boottime_ns;
}

/* Both span of a comparison. */
struct change_reader {
	const struct span *span;
	struct metric_reader to, from;
	bool frozen;
};

static struct change_reader prepare_change(const struct span *span, enum metric metric)
{
	struct change_reader reader = {.span = span, .to = prepare(span->now, metric)};

	if (span->from != NULL)
		reader.from = prepare(span->from, metric);
	reader.frozen = is_frozen(span->now, metric);
	return reader;
}

static uint16_t lifetime(const struct change_reader *reader, uint32_t thread, uint16_t state,
			 uint64_t *ret_amount, uint64_t *ret_elapsed_ns)
{
	*ret_amount = read_value(&reader->to, thread);
	*ret_elapsed_ns = since(read_time(&reader->to, thread),
				reader->to.snapshot->start_time[thread] * NS_PER_TICK);
	return state == REASON_SWITCHED_OFF && *ret_amount != 0 ? REASON_READ : state;
}

static uint16_t read_change(const struct change_reader *reader, uint32_t thread, uint64_t *ret_amount,
			    uint64_t *ret_elapsed_ns)
{
	const struct span *span = reader->span;
	uint16_t state = read_state(&reader->to, thread);
	uint64_t value, before;
	uint32_t other;

	if (state == SERIES_ABSENT)
		return state;
	if (span->mode == VIEW_MODE_TOTAL)
		return lifetime(reader, thread, state, ret_amount, ret_elapsed_ns);
	if (state != REASON_READ)
		return state;
	if (span->from == NULL)
		return span->missing;
	if (reader->frozen)
		return REASON_SWITCHED_OFF;
	value = read_value(&reader->to, thread);
	other = span->from_of[thread];
	if (other == THREAD_UNKNOWN)
		return REASON_NOT_READ;
	if (other == THREAD_BORN) {
		*ret_amount = value;
		*ret_elapsed_ns = since(read_time(&reader->to, thread), span->from->provenance.boottime_ns);
		return REASON_READ;
	}
	state = read_state(&reader->from, other);
	if (state != REASON_READ)
		return state == SERIES_ABSENT ? REASON_NOT_READ : state;
	before = read_value(&reader->from, other);
	*ret_elapsed_ns = since(read_time(&reader->to, thread), read_time(&reader->from, other));
	if (*ret_elapsed_ns == 0 && span->now != span->from)
		return REASON_NOT_READ; /* the same reading: it was carried over */
	if (value < before)
		return REASON_WENT_BACKWARDS;
	*ret_amount = value - before;
	return REASON_READ;
}

uint16_t span_change(const struct span *span, uint32_t thread, enum metric metric, uint64_t *ret_amount)
{
	struct change_reader reader = prepare_change(span, metric);
	uint64_t elapsed;

	return read_change(&reader, thread, ret_amount, &elapsed);
}

void span_fill(const struct span *span, const uint32_t *threads, size_t count, enum metric metric,
	       bool as_rate, struct series *series)
{
	struct change_reader reader = prepare_change(span, metric);
	double scale = metric_type(metric)->ladder == LADDER_TICKS ? NS_PER_TICK : 1;

	for (size_t k = 0; k < count; k++) {
		uint64_t amount = 0, elapsed = 0;
		uint16_t state = read_change(&reader, threads[k], &amount, &elapsed);
		double value = (double)amount * scale;

		if (as_rate && state == REASON_READ) {
			if (elapsed == 0)
				state = REASON_NOT_READ;
			else
				value = value * 1e9 / (double)elapsed;
		}
		series->values[k] = value;
		series->states[k] = state;
	}
}
