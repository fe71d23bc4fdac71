/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of cgroup records: on the cgroup axis only. Several cgroups of one group merge as in reports. */
#include "kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

/* A number of a record that may be lacking; a lacking limit means no limit. */
struct field_value {
	bool lacking;
	double value;
};

/* What a column shows of records. */
struct cgroup_number {
	int field; /* enum cgroup_record_field, or behind these enum pressure_resource */
	bool is_counter;
	bool is_rate; /* per second */
};

/* Kills are counted, but never shown per second. */
static struct cgroup_number number_of(const struct column_values *values)
{
	const int field = values->entry->inputs[0];
	const bool has_rate = column_has_rate(values->column);

	return (struct cgroup_number){
		.field = field,
		.is_counter = has_rate || field == CGROUP_RECORD_MEMORY_EVENTS,
		.is_rate = has_rate && values->mode == WINDOW_MODE_RATE,
	};
}

static struct field_value number(double value)
{
	return (struct field_value){false, value};
}

/* In CPUs. */
static struct field_value read_cpu_limit(const struct cgroup_record *record)
{
	if (!record->max_quota_us.present || record->max_period_us == 0)
		return (struct field_value){.lacking = true};
	return number((double)record->max_quota_us.value / (double)record->max_period_us);
}

static struct field_value read_oom_kills(const struct snapshot *snapshot, const struct cgroup_record *record)
{
	for (uint32_t i = 0; i < record->memory_events.count; i++) {
		if (strcmp(snapshot_text(snapshot, record->memory_events.items[i].key), "oom_kill") == 0)
			return number((double)record->memory_events.items[i].value);
	}
	return (struct field_value){.lacking = true};
}

/* Times are nanoseconds on the screen. */
static struct field_value read_field(int field, const struct snapshot *snapshot,
				     const struct cgroup_record *record)
{
	const struct cgroup_record_entry *entry;
	const struct optional_u64 *optional;
	double scale;

	if (field == CGROUP_RECORD_MAX_QUOTA_US)
		return read_cpu_limit(record);
	if (field == CGROUP_RECORD_MEMORY_EVENTS)
		return read_oom_kills(snapshot, record);
	if (field >= CGROUP_RECORD_FIELD_COUNT)
		return number(
			1000.0 *
			(double)record->pressure.resource[field - CGROUP_RECORD_FIELD_COUNT].some.total_usec);
	entry = &cgroup_record_fields[field];
	scale = entry->ladder == LADDER_US ? 1000.0 : 1.0;
	optional = (const void *)((const char *)record + entry->offset);
	if (entry->type == CGROUP_TYPE_OPTIONAL_U64)
		return (struct field_value){!optional->present, (double)optional->value * scale};
	return number((double)*(const uint64_t *)(const void *)optional * scale);
}

/* The file of the kernel that it is read from; both enumerations of pressure have one order. */
static enum cgroup_file file_of(int field)
{
	return field < CGROUP_RECORD_FIELD_COUNT
		       ? cgroup_record_fields[field].file
		       : (enum cgroup_file)(CGROUP_FILE_CPU_PRESSURE + field - CGROUP_RECORD_FIELD_COUNT);
}

/* Whether the cgroups of a group add up; if not, the largest counts, and one without limit above all. */
static bool is_sum(int field)
{
	return field >= CGROUP_RECORD_FIELD_COUNT || cgroup_record_fields[field].merge == CGROUP_MERGE_SUM;
}

reason_id reduce_cgroup_missing(const struct snapshot *snapshot, int field)
{
	const enum cgroup_file file = file_of(field);
	reason_id reason = REASON_READ;

	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		reason = snapshot->cgroups[i].missing[file];
		if (reason == REASON_READ)
			break;
	}
	return reason;
}

static int compare_paths(const struct snapshot *a, uint32_t i, const struct snapshot *b, uint32_t j)
{
	uint32_t left = a->cgroups[i].path, right = b->cgroups[j].path;

	return order_bytes(snapshot_text(a, left), string_pool_length(&a->strings, left),
			   snapshot_text(b, right), string_pool_length(&b->strings, right));
}

/* The record of the same path at the other side of the window; both stand in the order of their paths. */
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

/* Facts about the cgroup of a path from the threads shown. */
struct path_threads {
	uint32_t row; /* UINT32_MAX where it has none */
	bool settled; /* some of them were there at the other side of the window already */
};

/* By path id of the newest snapshot; the caller frees them. */
static struct path_threads *collect_paths(const struct window *window, const struct shown *shown)
{
	const struct snapshot *now = window->now;
	struct path_threads *paths = memory_allocate((now->strings.count + 1) * sizeof(*paths));

	for (size_t i = 0; i < now->strings.count; i++)
		paths[i] = (struct path_threads){.row = UINT32_MAX};
	for (size_t k = 0; k < shown->count; k++) {
		uint32_t thread = shown->threads[k];
		struct path_threads *path = &paths[now->triples[now->triple[thread]].cgroup];

		path->row = shown->row_of[k];
		path->settled |= window->from != NULL && window->from_of[thread] != THREAD_BORN;
	}
	return paths;
}

static void merge_value(int field, struct field_value value, struct accumulator *accumulator)
{
	if (value.lacking && is_sum(field))
		return; /* nothing to add: absent if no cgroup of the group has it */
	accumulator->read++;
	accumulator->differs |= value.lacking;
	if (value.lacking)
		return;
	if (is_sum(field))
		accumulator->sum[0].real += value.value;
	else if (value.value > accumulator->sum[0].real)
		accumulator->sum[0].real = value.value;
}

/*
 * Whether a cgroup without a record at the other side of the window came since then, and counts from zero.
 * Else it was there without threads, and its past is not known.
 */
static bool is_new(const struct window *window, const struct cgroup_record *record, bool settled)
{
	return !settled && !(record->there_since.present &&
			     record->there_since.value < window->from->captured_at_unix_ns);
}

/* Whether another cgroup of the same path was made in its place, whose counters began at 0. */
static bool is_another(int field, const struct cgroup_record *record, const struct cgroup_record *before,
		       bool has_fallen)
{
	if (record->id.present && before->id.present)
		return record->id.value != before->id.value;
	/* a sum over devices falls when one of them is removed, and no other counter of a cgroup does */
	return has_fallen &&
	       (file_of(field) != CGROUP_FILE_IO_STAT || record->usage_usec < before->usage_usec);
}

/*
 * Makes of a counter its difference to the other side. Returns REASON_READ, REASON_LOWER_BOUND where it is at
 * least that, or why there is none.
 */
static uint16_t take_change(const struct window *window, struct cgroup_number wanted,
			    const struct cgroup_record *record, const struct cgroup_record *before,
			    bool settled, double *value)
{
	uint16_t trust = REASON_READ;
	uint64_t now_ns, before_ns;
	double start = 0.0;

	if (window->mode == WINDOW_MODE_TOTAL)
		return REASON_READ;
	if (window->from == NULL)
		return window->missing;
	if (window->from->cgroup_count == 0 || (before == NULL && !is_new(window, record, settled)))
		return REASON_NOT_READ;
	if (before != NULL) {
		if (before->missing[file_of(wanted.field)] != REASON_READ)
			return before->missing[file_of(wanted.field)];
		start = read_field(wanted.field, window->from, before).value;
	}
	/* what the one before it did after it was read last is not known */
	if (before != NULL && is_another(wanted.field, record, before, *value < start)) {
		trust = REASON_LOWER_BOUND;
		start = 0.0;
	}
	if (*value < start)
		return REASON_WENT_BACKWARDS;
	*value -= start;
	if (!wanted.is_rate)
		return trust;
	if (record->read_at.present && before != NULL && before->read_at.present) {
		now_ns = record->read_at.value;
		before_ns = before->read_at.value;
	} else {
		now_ns = window->now->provenance.boottime_ns;
		before_ns = window->from->provenance.boottime_ns;
	}
	if (now_ns <= before_ns)
		return REASON_NOT_READ;
	*value = *value * 1e9 / (double)(now_ns - before_ns);
	return trust;
}

static void add_record(const struct window *window, struct cgroup_number wanted,
		       const struct cgroup_record *record, const struct cgroup_record *before, bool settled,
		       struct accumulator *accumulator)
{
	struct field_value value = read_field(wanted.field, window->now, record);
	uint16_t reason = record->missing[file_of(wanted.field)];

	if (reason == REASON_READ && wanted.is_counter)
		reason = take_change(window, wanted, record, before, settled, &value.value);
	if (reason == REASON_LOWER_BOUND)
		accumulator_note_bound(accumulator);
	if (reason == REASON_READ || reason == REASON_LOWER_BOUND) {
		merge_value(wanted.field, value, accumulator);
		return;
	}
	accumulator->missed++;
	accumulator->reason = reason; /* of several that of the last one */
}

/* Why no cgroup has a record. */
static uint16_t reason_without_records(const struct window *window)
{
	const struct feature_result *result = &window->now->provenance.features[FEATURE_CGROUP2];

	return result->state == FEATURE_STATE_OFF && result->reason != REASON_READ ? (uint16_t)result->reason
										   : window->missing;
}

static void begin(struct reducer *reducer)
{
	const struct cgroup_number wanted = number_of(reducer->values);
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;
	const struct snapshot *now = window->now;
	struct path_threads *paths;
	uint32_t index = 0;

	reducer->values->is_real = true;
	if (!shown->by_cgroup)
		return;
	for (size_t row = 0; now->cgroup_count == 0 && row < shown->row_count; row++)
		accumulator_miss(reducer_row(reducer, row), reason_without_records(window));
	paths = collect_paths(window, shown);
	for (uint32_t i = 0; i < now->cgroup_count; i++) {
		const struct cgroup_record *before = window->from != NULL
							     ? find_before(now, i, window->from, &index)
							     : NULL;
		const struct path_threads *path = &paths[now->cgroups[i].path];

		if (path->row != UINT32_MAX)
			add_record(window, wanted, &now->cgroups[i], before, path->settled,
				   reducer_row(reducer, path->row));
	}
	free(paths);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	if (accumulator->differs)
		return; /* no limit */
	conclude_sum(of, value);
	if (value->state == VALUE_READ && !number_of(of->values).is_rate && of->values->unit != UNIT_CPUS)
		value_make_whole(value);
}

/* Merges hosts like the cgroups of one group. */
static bool merge(const struct column_values *values, const struct accumulator *from,
		  struct accumulator *into)
{
	if (is_sum(values->entry->inputs[0]))
		return merge_sums(values, from, into);
	if (from->sum[0].real > into->sum[0].real)
		into->sum[0].real = from->sum[0].real;
	return true;
}

const struct column_kind column_kind_cgroup = {
	.begin = begin,
	.conclude = conclude,
	.merge = merge,
};
