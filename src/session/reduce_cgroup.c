/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of cgroup records: on the cgroup axis only. Several cgroups of one group merge as in reports. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "view/column_table.h"

/* A number of a record that may not be there; where it is a limit, there is none then. */
struct field_value {
	bool lacking;
	double value;
};

/* How a number behaves in time. */
enum cgroup_field_kind {
	CGROUP_FIELD_RATE,   /* a counter shown per second in VIEW_MODE_RATE */
	CGROUP_FIELD_AMOUNT, /* a counter shown as an amount in every mode */
	CGROUP_FIELD_GAUGE,
};

enum merge {
	MERGE_SUM,
	MERGE_LARGEST, /* one without it leaves the group without a limit */
};

struct cgroup_field_entry {
	struct field_value (*read)(const struct snapshot *snapshot, const struct cgroup_record *record);
	enum cgroup_member member;
	enum cgroup_field_kind kind;
	enum merge merge;
};

static struct field_value number(double value)
{
	return (struct field_value){false, value};
}

static struct field_value limit(struct optional_u64 value)
{
	return (struct field_value){!value.present, (double)value.value};
}

static struct field_value read_usage(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	(void)snapshot;
	return number((double)record->usage_usec * 1000.0);
}

static struct field_value read_cpu_limit(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	(void)snapshot;
	if (!record->max_quota_us.present || record->max_period_us == 0)
		return (struct field_value){.lacking = true};
	return number((double)record->max_quota_us.value / (double)record->max_period_us);
}

static struct field_value read_throttled(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	(void)snapshot;
	return number((double)record->throttled_usec * 1000.0);
}

static struct field_value read_throttle_count(const struct snapshot *snapshot,
					      const struct cgroup_record *record)
{
	(void)snapshot;
	return number((double)record->nr_throttled);
}

static struct field_value read_memory_current(const struct snapshot *snapshot,
					      const struct cgroup_record *record)
{
	(void)snapshot;
	return number((double)record->memory_current);
}

static struct field_value read_memory_max(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	(void)snapshot;
	return limit(record->memory_max);
}

static struct field_value read_memory_high(const struct snapshot *snapshot,
					   const struct cgroup_record *record)
{
	(void)snapshot;
	return limit(record->memory_high);
}

static struct field_value read_weight(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	(void)snapshot;
	return limit(record->weight);
}

static struct field_value read_pids(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	(void)snapshot;
	return limit(record->pids_current);
}

static struct field_value read_oom_kills(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	for (uint32_t i = 0; i < record->memory_events.count; i++) {
		if (strcmp(snapshot_text(snapshot, record->memory_events.items[i].key), "oom_kill") == 0)
			return number((double)record->memory_events.items[i].value);
	}
	return (struct field_value){.lacking = true};
}

static struct field_value some(const struct cgroup_record *record, enum pressure_resource resource)
{
	return number((double)record->pressure.resource[resource].some.total_usec * 1000.0);
}

static struct field_value read_pressure_cpu(const struct snapshot *snapshot,
					    const struct cgroup_record *record)
{
	(void)snapshot;
	return some(record, PRESSURE_CPU);
}

static struct field_value read_pressure_memory(const struct snapshot *snapshot,
					       const struct cgroup_record *record)
{
	(void)snapshot;
	return some(record, PRESSURE_MEMORY);
}

static struct field_value read_pressure_io(const struct snapshot *snapshot,
					   const struct cgroup_record *record)
{
	(void)snapshot;
	return some(record, PRESSURE_IO);
}

static const struct cgroup_field_entry cgroup_fields[CGROUP_FIELD_COUNT] = {
	[CGROUP_FIELD_USAGE] = {read_usage, CGROUP_MEMBER_CPU_STAT, CGROUP_FIELD_RATE, MERGE_SUM},
	[CGROUP_FIELD_CPU_LIMIT] = {read_cpu_limit, CGROUP_MEMBER_CPU_MAX, CGROUP_FIELD_GAUGE, MERGE_LARGEST},
	[CGROUP_FIELD_THROTTLED] = {read_throttled, CGROUP_MEMBER_CPU_STAT, CGROUP_FIELD_RATE, MERGE_SUM},
	[CGROUP_FIELD_THROTTLE_COUNT] = {read_throttle_count, CGROUP_MEMBER_CPU_STAT, CGROUP_FIELD_RATE,
					 MERGE_SUM},
	[CGROUP_FIELD_MEMORY_CURRENT] = {read_memory_current, CGROUP_MEMBER_MEMORY_CURRENT,
					 CGROUP_FIELD_GAUGE, MERGE_LARGEST},
	[CGROUP_FIELD_MEMORY_MAX] = {read_memory_max, CGROUP_MEMBER_MEMORY_MAX, CGROUP_FIELD_GAUGE,
				     MERGE_LARGEST},
	[CGROUP_FIELD_PIDS] = {read_pids, CGROUP_MEMBER_PIDS_CURRENT, CGROUP_FIELD_GAUGE, MERGE_SUM},
	[CGROUP_FIELD_OOM_KILLS] = {read_oom_kills, CGROUP_MEMBER_MEMORY_EVENTS, CGROUP_FIELD_AMOUNT,
				    MERGE_SUM},
	[CGROUP_FIELD_WEIGHT] = {read_weight, CGROUP_MEMBER_CPU_WEIGHT, CGROUP_FIELD_GAUGE, MERGE_LARGEST},
	[CGROUP_FIELD_MEMORY_HIGH] = {read_memory_high, CGROUP_MEMBER_MEMORY_HIGH, CGROUP_FIELD_GAUGE,
				      MERGE_LARGEST},
	[CGROUP_FIELD_PRESSURE_CPU] = {read_pressure_cpu, CGROUP_MEMBER_CPU_PRESSURE, CGROUP_FIELD_RATE,
				       MERGE_SUM},
	[CGROUP_FIELD_PRESSURE_MEMORY] = {read_pressure_memory, CGROUP_MEMBER_MEMORY_PRESSURE,
					  CGROUP_FIELD_RATE, MERGE_SUM},
	[CGROUP_FIELD_PRESSURE_IO] = {read_pressure_io, CGROUP_MEMBER_IO_PRESSURE, CGROUP_FIELD_RATE,
				      MERGE_SUM},
};

bool reduce_cgroup_is_rate(int field)
{
	return cgroup_fields[field].kind == CGROUP_FIELD_RATE;
}

static int compare_paths(const struct snapshot *a, uint32_t i, const struct snapshot *b, uint32_t j)
{
	uint32_t left = a->cgroups[i].path, right = b->cgroups[j].path;

	return order_bytes(snapshot_text(a, left), string_pool_length(&a->strings, left),
			   snapshot_text(b, right), string_pool_length(&b->strings, right));
}

/* The record of the same path at the other side of the span; both stand in the order of their paths. */
static const struct cgroup_record *find_before(const struct snapshot *now, uint32_t record,
					       const struct snapshot *before, uint32_t *index)
{
	while (*index < before->cgroup_count) {
		int order = compare_paths(before, *index, now, record);

		if (order == 0)
			return &before->cgroups[*index];
		if (order > 0)
			break;
		(*index)++;
	}
	return NULL;
}

/* The row of each path id of the newest snapshot, UINT32_MAX where there is none. */
static uint32_t *rows_of_paths(const struct shown *shown)
{
	const struct snapshot *now = shown->now;
	uint32_t *rows = memory_allocate((now->strings.count + 1) * sizeof(*rows));

	memset(rows, 0xff, (now->strings.count + 1) * sizeof(*rows));
	for (size_t k = 0; k < shown->count; k++)
		rows[now->triples[now->triple[shown->threads[k]]].cgroup] = shown->row_of[k];
	return rows;
}

/*
 * What a cgroup without a record on the other side counts from: only those with threads have records, so that
 * it may have been there. It is new when all its threads are, else its past is unknown.
 */
static bool *find_settled(const struct span *span, const struct shown *shown)
{
	const struct snapshot *now = span->now;
	bool *settled = memory_allocate_zero(now->strings.count + 1, sizeof(*settled));

	for (size_t k = 0; span->from != NULL && k < shown->count; k++) {
		uint32_t thread = shown->threads[k];

		if (span->from_of[thread] != THREAD_BORN)
			settled[now->triples[now->triple[thread]].cgroup] = true;
	}
	return settled;
}

static void merge_value(const struct cgroup_field_entry *field, struct field_value value,
			struct accumulator *accumulator)
{
	if (value.lacking && field->merge == MERGE_SUM)
		return; /* there is nothing to add: absent where no cgroup of the group has it */
	accumulator->read++;
	accumulator->differs |= value.lacking;
	if (value.lacking)
		return;
	if (field->merge == MERGE_SUM)
		accumulator->sum.first += value.value;
	else if (value.value > accumulator->sum.first)
		accumulator->sum.first = value.value;
}

/* The last reason is named: the others of the group are those of cgroups before it. */
static void miss(struct accumulator *accumulator, uint16_t reason)
{
	accumulator->missed++;
	accumulator->reason = reason;
}

/*
 * Takes the difference of a counter to the other side. A cgroup that has no record there counts from zero,
 * or, when it has `settled` threads, older than that, is unavailable.
 */
static bool take_change(const struct span *span, const struct cgroup_field_entry *field,
			const struct cgroup_record *before, bool settled, bool as_rate,
			struct field_value *value, struct accumulator *accumulator)
{
	uint64_t now_ns = span->now->provenance.boottime_ns, before_ns;
	double start = 0.0;

	if (span->mode == VIEW_MODE_TOTAL)
		return true;
	if (span->from == NULL || span->from->cgroup_count == 0 || (before == NULL && settled)) {
		miss(accumulator, span->from == NULL ? span->missing : REASON_NOT_READ);
		return false;
	}
	if (before != NULL) {
		if (before->missing[field->member] != REASON_READ) {
			miss(accumulator, before->missing[field->member]);
			return false;
		}
		start = field->read(span->from, before).value;
	}
	before_ns = span->from->provenance.boottime_ns;
	if (value->value < start || (as_rate && now_ns <= before_ns)) {
		miss(accumulator, value->value < start ? REASON_WENT_BACKWARDS : REASON_NOT_READ);
		return false;
	}
	value->value -= start;
	if (as_rate)
		value->value = value->value * 1e9 / (double)(now_ns - before_ns);
	return true;
}

static void add_record(const struct span *span, const struct cgroup_field_entry *field, uint32_t index,
		       const struct cgroup_record *before, bool settled, struct accumulator *accumulator)
{
	const struct cgroup_record *record = &span->now->cgroups[index];
	struct field_value value;

	if (record->missing[field->member] != REASON_READ) {
		miss(accumulator, record->missing[field->member]);
		return;
	}
	value = field->read(span->now, record);
	if (field->kind != CGROUP_FIELD_GAUGE &&
	    !take_change(span, field, before, settled,
			 field->kind == CGROUP_FIELD_RATE && span->mode == VIEW_MODE_RATE, &value,
			 accumulator))
		return;
	merge_value(field, value, accumulator);
}

/* Why no cgroup has a record. */
static uint16_t reason_without_records(const struct span *span)
{
	const struct feature_result *result = &span->now->provenance.features[FEATURE_CGROUP2];

	return result->state == FEATURE_STATE_OFF && result->reason != REASON_READ ? (uint16_t)result->reason
										   : span->missing;
}

void reduce_cgroup(const struct span *span, const struct shown *shown, const struct column_values *values)
{
	const struct cgroup_field_entry *field = &cgroup_fields[column_entry(values->column)->inputs[0]];
	const struct snapshot *now = span->now;
	uint32_t index = 0;
	uint32_t *rows;
	bool *settled;

	if (!shown->by_cgroup)
		return;
	for (size_t row = 0; now->cgroup_count == 0 && row < shown->row_count; row++)
		miss(&values->accumulators[row], reason_without_records(span));
	rows = rows_of_paths(shown);
	settled = find_settled(span, shown);
	for (uint32_t i = 0; i < now->cgroup_count; i++) {
		const struct cgroup_record *before = span->from != NULL
							     ? find_before(now, i, span->from, &index)
							     : NULL;
		uint32_t path = now->cgroups[i].path;

		if (rows[path] != UINT32_MAX)
			add_record(span, field, i, before, settled[path], &values->accumulators[rows[path]]);
	}
	free(rows);
	free(settled);
}
