/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes arrays and objects with open keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emit.h"

enum {
	FLUSH_BYTES = 64 * 1024,
};

static void begin(struct emitter *emitter, char bracket)
{
	buffer_append_char(&emitter->json, bracket);
}

/* Ends what begin() began; false when nothing stands in it. */
static bool end(struct emitter *emitter, char bracket)
{
	char before = emitter->json.length != 0 ? emitter->json.data[emitter->json.length - 1] : '\0';

	buffer_append_char(&emitter->json, bracket);
	return before != '{' && before != '[';
}

/* A key from the file or the kernel, which may hold anything. */
static void emit_foreign_key(struct emitter *emitter, const char *text, size_t length)
{
	emit_separator(emitter);
	emit_string(emitter, text, length);
	buffer_append_char(&emitter->json, ':');
}

void emit_key(struct emitter *emitter, const char *name)
{
	emit_foreign_key(emitter, name, strlen(name));
}

static void emit_named_text(struct emitter *emitter, const char *name, const char *text)
{
	emit_key(emitter, name);
	emit_text(emitter, text);
}

static void emit_named_u64(struct emitter *emitter, const char *name, uint64_t value)
{
	emit_key(emitter, name);
	buffer_append_u64(&emitter->json, value);
}

static void emit_named_reason(struct emitter *emitter, const char *name, reason_id reason)
{
	emit_named_text(emitter, name, snapshot_reason_name(emitter->end, reason));
}

static bool emit_u32_array(struct emitter *emitter, const uint32_t *numbers, size_t count)
{
	begin(emitter, '[');
	for (size_t i = 0; i < count; i++) {
		if (i != 0)
			buffer_append_char(&emitter->json, ',');
		buffer_append_u64(&emitter->json, numbers[i]);
	}
	return end(emitter, ']');
}

static bool emit_cpu_set(struct emitter *emitter, uint64_t set)
{
	const struct string_pool *pool = &emitter->snapshot->cpu_sets;

	emit_u32_array(emitter, cpu_set_cpus(pool, (uint32_t)set), cpu_set_count(pool, (uint32_t)set));
	return true;
}

static int compare_key_values(const void *left, const void *right, void *emitter_pointer)
{
	const struct emitter *emitter = emitter_pointer;

	return string_pool_compare(&emitter->snapshot->strings, ((const struct key_value *)left)->key,
				   ((const struct key_value *)right)->key);
}

static bool emit_key_values(struct emitter *emitter, const struct key_values *values)
{
	const struct string_pool *strings = &emitter->snapshot->strings;

	emitter->values.items = memory_grow(emitter->values.items, &emitter->values.capacity, values->count,
					    sizeof(*emitter->values.items));
	if (values->count != 0)
		memcpy(emitter->values.items, values->items, values->count * sizeof(*values->items));
	for (size_t i = 1; i < values->count; i++) {
		if (compare_key_values(&values->items[i - 1], &values->items[i], emitter) > 0) {
			qsort_r(emitter->values.items, values->count, sizeof(*values->items),
				compare_key_values, emitter);
			break;
		}
	}
	begin(emitter, '{');
	for (size_t i = 0; i < values->count; i++) {
		uint32_t key = emitter->values.items[i].key;

		emit_foreign_key(emitter, string_pool_text(strings, key), string_pool_length(strings, key));
		buffer_append_u64(&emitter->json, emitter->values.items[i].value);
	}
	end(emitter, '}');
	return true;
}

/* Pairs that are not empty, or that may be. */
static bool emit_text_pairs(struct emitter *emitter, const struct text_pairs *pairs, bool may_be_empty)
{
	begin(emitter, '{');
	for (size_t i = 0; i < pairs->count; i++)
		emit_named_text(emitter, pairs->items[i].key, pairs->items[i].value);
	return (end(emitter, '}') || may_be_empty) && pairs->present;
}

static bool emit_numbers(struct emitter *emitter, const uint64_t *numbers, size_t count)
{
	begin(emitter, '[');
	for (size_t i = 0; i < count; i++) {
		emit_separator(emitter);
		buffer_append_u64(&emitter->json, numbers[i]);
	}
	return end(emitter, ']');
}

/* Numbers, texts or reasons by the names of the member; what is zero or absent is left out. */
static bool emit_named_array(struct emitter *emitter, const struct member *member, const void *field)
{
	begin(emitter, '{');
	for (size_t i = 0; i < member->count; i++) {
		const char *name = member->names[i];

		if (member->type == MEMBER_NAMED_NUMBERS && ((const uint64_t *)field)[i] != 0)
			emit_named_u64(emitter, name, ((const uint64_t *)field)[i]);
		else if (member->type == MEMBER_NAMED_TEXTS && ((const char *const *)field)[i] != NULL)
			emit_named_text(emitter, name, ((const char *const *)field)[i]);
		else if (member->type == MEMBER_NAMED_REASONS && ((const reason_id *)field)[i] != REASON_READ)
			emit_named_reason(emitter, name, ((const reason_id *)field)[i]);
	}
	return end(emitter, '}') || !(member->flags & MEMBER_OMITTED);
}

static bool emit_missed(struct emitter *emitter, const uint64_t *missed)
{
	size_t known = REASON_COUNT + emitter->end->unknown_reason_count;

	begin(emitter, '{');
	for (size_t i = 0; i < known; i++) {
		if (missed[i] != 0)
			emit_named_u64(emitter, snapshot_reason_name(emitter->end, (reason_id)i), missed[i]);
	}
	return end(emitter, '}');
}

static bool emit_thread_array(struct emitter *emitter)
{
	begin(emitter, '[');
	emit_threads(emitter);
	end(emitter, ']');
	return true;
}

static bool emit_cgroups(struct emitter *emitter)
{
	const struct snapshot *snapshot = emitter->snapshot;

	begin(emitter, '{');
	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		const struct cgroup_record *record = &snapshot->cgroups[i];

		emit_foreign_key(emitter, snapshot_text(snapshot, record->path),
				 string_pool_length(&snapshot->strings, record->path));
		emit_object(emitter, &cgroup_object, record);
		if (emitter->json.length >= FLUSH_BYTES)
			emit_flush(emitter);
	}
	end(emitter, '}');
	return true;
}

static bool emit_capabilities(struct emitter *emitter)
{
	const struct provenance *provenance = &emitter->snapshot->provenance;

	begin(emitter, '[');
	for (size_t i = 0; i < provenance->capability_count; i++) {
		emit_separator(emitter);
		emit_text(emitter, provenance->capabilities[i]);
	}
	return end(emitter, ']');
}

static bool emit_scope(struct emitter *emitter)
{
	const struct provenance *provenance = &emitter->snapshot->provenance;

	return emit_u32_array(emitter, provenance->scope, provenance->scope_count);
}

static bool emit_features(struct emitter *emitter)
{
	const struct provenance *provenance = &emitter->snapshot->provenance;

	begin(emitter, '{');
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		if (provenance->features[i].state == FEATURE_STATE_UNKNOWN)
			continue;
		emit_key(emitter, features[i].name);
		emit_object(emitter, &feature_object, &provenance->features[i]);
	}
	return end(emitter, '}');
}

static bool emit_sources(struct emitter *emitter)
{
	begin(emitter, '{');
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source source = emitter->snapshot->metric_source[i];

		if (source != metrics[i].source && source != SOURCE_NONE)
			emit_named_text(emitter, metrics[i].name, sources[source].name);
	}
	return end(emitter, '}');
}

static bool emit_missing(struct emitter *emitter)
{
	const struct snapshot *snapshot = emitter->snapshot;

	begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (emitter->usual_reason[i] != REASON_READ)
			emit_named_reason(emitter, sources[i].name, emitter->usual_reason[i]);
	}
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (snapshot->metric_reason[i] != REASON_READ)
			emit_named_reason(emitter, metrics[i].name, snapshot->metric_reason[i]);
	}
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		char name[32];

		snprintf(name, sizeof(name), PRESSURE_MISSING_PREFIX "%s", pressure_resource_names[i]);
		if (snapshot->pressure_missing[i] != REASON_READ)
			emit_named_reason(emitter, name, snapshot->pressure_missing[i]);
	}
	if (emit_task_fields_missing(emitter) != REASON_READ)
		emit_named_reason(emitter, TASK_FIELDS_MISSING, emit_task_fields_missing(emitter));
	return end(emitter, '}');
}

static bool has_tally(const struct tally *tally)
{
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		if (tally->missed[i] != 0)
			return true;
	}
	return tally->read != 0;
}

static bool emit_tallies(struct emitter *emitter)
{
	const struct tally *tallies = emitter->snapshot->provenance.tallies;

	begin(emitter, '{');
	for (size_t i = 0; tallies != NULL && i < SOURCE_COUNT; i++) {
		if (!has_tally(&tallies[i]))
			continue;
		emit_key(emitter, sources[i].name);
		emit_object(emitter, &tally_object, &tallies[i]);
	}
	return end(emitter, '}');
}

static bool emit_heap(struct emitter *emitter)
{
	const struct provenance *provenance = &emitter->snapshot->provenance;

	begin(emitter, '[');
	for (size_t i = 0; i < provenance->heap_count; i++) {
		emit_separator(emitter);
		emit_object(emitter, &heap_object, &provenance->heap[i]);
	}
	return end(emitter, ']');
}

static bool emit_latency_records(struct emitter *emitter)
{
	const struct latency *latency = &emitter->snapshot->latency;

	begin(emitter, '[');
	for (size_t i = 0; i < latency->count; i++) {
		emit_separator(emitter);
		emit_object(emitter, &latency_record_object, &latency->records[i]);
	}
	end(emitter, ']');
	return true;
}

static bool emit_buckets(struct emitter *emitter, const uint64_t *buckets, size_t count)
{
	while (count != 0 && buckets[count - 1] == 0)
		count--;
	return emit_numbers(emitter, buckets, count);
}

/* Of each source what differs from most threads, then the metrics with a state of their own. */
static bool emit_thread_missing(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	reason_id reason;

	begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->source_reason[i] != NULL &&
		    snapshot->source_reason[i][thread] != emitter->usual_reason[i])
			emit_named_reason(emitter, sources[i].name, snapshot->source_reason[i][thread]);
	}
	for (; emitter->next_exception < snapshot->exception_count; emitter->next_exception++) {
		const struct metric_exception *exception = &snapshot->exceptions[emitter->next_exception];

		if (exception->thread > thread)
			break;
		if (exception->thread == thread)
			emit_named_reason(emitter, metrics[exception->metric].name, exception->reason);
	}
	reason = emit_task_fields_thread_missing(emitter, thread);
	if (reason != REASON_READ)
		emit_named_reason(emitter, TASK_FIELDS_MISSING, reason);
	return end(emitter, '}');
}

/* Readings from before the capture began; the others count as made at its beginning. */
static bool emit_ages(struct emitter *emitter, size_t thread)
{
	const struct snapshot *snapshot = emitter->snapshot;
	uint64_t now = snapshot->provenance.boottime_ns;

	begin(emitter, '{');
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (snapshot->read_at[i] != NULL && snapshot->read_at[i][thread] < now)
			emit_named_u64(emitter, sources[i].name, now - snapshot->read_at[i][thread]);
	}
	return end(emitter, '}');
}

static bool emit_waits(struct emitter *emitter)
{
	const struct snapshot *snapshot = emitter->snapshot;

	if (snapshot->waiting_ns == NULL && snapshot->stuck_ns == NULL)
		return false;
	emit_text(emitter, snapshot->waiting_ns != NULL ? MEMBER_WAITS_UNDER_WAY : MEMBER_WAITS_STUCK);
	return true;
}

bool emit_container(struct emitter *emitter, const struct member *member, const void *target)
{
	const void *field = (const char *)target + member->offset;

	switch (member->type) {
	case MEMBER_CPU_SET:
		return emit_cpu_set(emitter, *(const uint64_t *)field);
	case MEMBER_KEY_VALUES:
		return emit_key_values(emitter, field);
	case MEMBER_TEXT_PAIRS:
		return emit_text_pairs(emitter, field, true);
	case MEMBER_NUMBERED_PAIRS:
		return emit_text_pairs(emitter, field, false);
	case MEMBER_NUMBERS:
		return *(const bool *)((const char *)target + member->known) &&
		       emit_numbers(emitter, field, member->count);
	case MEMBER_NAMED_NUMBERS:
	case MEMBER_NAMED_TEXTS:
	case MEMBER_NAMED_REASONS:
		return emit_named_array(emitter, member, field);
	case MEMBER_MISSED:
		return emit_missed(emitter, field);
	case MEMBER_THREADS:
		return emit_thread_array(emitter);
	case MEMBER_CGROUPS:
		return emit_cgroups(emitter);
	case MEMBER_CAPABILITIES:
		return emit_capabilities(emitter);
	case MEMBER_SCOPE:
		return emit_scope(emitter);
	case MEMBER_FEATURES:
		return emit_features(emitter);
	case MEMBER_SOURCES:
		return emit_sources(emitter);
	case MEMBER_MISSING:
		return emit_missing(emitter);
	case MEMBER_TALLIES:
		return emit_tallies(emitter);
	case MEMBER_HEAP:
		return emit_heap(emitter);
	case MEMBER_LATENCY_RECORDS:
		return emit_latency_records(emitter);
	case MEMBER_BUCKETS:
		return emit_buckets(emitter, field, member->count);
	case MEMBER_WAITS:
		return emit_waits(emitter);
	case MEMBER_TASK_FIELDS:
		return emit_task_fields(emitter, member->object);
	case MEMBER_TASK_FIELD_EVENTS:
		return emit_task_field_events(emitter);
	case MEMBER_TASK_FIELD_MEMBERS:
		return emit_task_field_members(emitter);
	case MEMBER_TASK_FIELD_ENUMERATORS:
		return emit_task_field_enumerators(emitter, field);
	case MEMBER_TASK_FIELD_VALUES:
		return emit_task_field_values(emitter, *(const size_t *)field);
	case MEMBER_THREAD_MISSING:
		return emit_thread_missing(emitter, *(const size_t *)field);
	case MEMBER_AGES:
		return emit_ages(emitter, *(const size_t *)field);
	default:
		return emit_window(emitter, member, target);
	}
}
