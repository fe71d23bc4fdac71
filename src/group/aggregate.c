/* SPDX-License-Identifier: GPL-2.0-only */
#include "aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "base/number.h"
#include "base/unicode.h"

enum {
	FIRST_CATEGORIES = 4, /* of an aggregate, that are looked for one by one */
};

/* A reduction: takes a thread's value in (the first one finds a zeroed union), joins two groups. */
struct reduction {
	void (*add)(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value);
	void (*merge)(struct aggregation *aggregation, struct aggregate *into, const struct aggregate *from);
};

static void add_to_sum(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value)
{
	(void)aggregation;
	aggregate->value.number = number_add_saturating(aggregate->value.number, value);
}

static void merge_sum(struct aggregation *aggregation, struct aggregate *into, const struct aggregate *from)
{
	add_to_sum(aggregation, into, from->value.number);
}

static void add_to_maximum(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value)
{
	(void)aggregation;
	if (value > aggregate->value.number)
		aggregate->value.number = value;
}

static void merge_maximum(struct aggregation *aggregation, struct aggregate *into,
			  const struct aggregate *from)
{
	add_to_maximum(aggregation, into, from->value.number);
}

static void widen_range(struct aggregate *aggregate, int64_t low, int64_t high, bool is_first)
{
	if (is_first || low < aggregate->value.range.low)
		aggregate->value.range.low = low;
	if (is_first || high > aggregate->value.range.high)
		aggregate->value.range.high = high;
}

static void add_to_range(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value)
{
	(void)aggregation;
	widen_range(aggregate, (int64_t)value, (int64_t)value, aggregate->read == 0);
}

static void merge_range(struct aggregation *aggregation, struct aggregate *into, const struct aggregate *from)
{
	(void)aggregation;
	widen_range(into, from->value.range.low, from->value.range.high, into->read == 0);
}

/* Where a category of one aggregate is noted; both numbers stay below 2^32. */
static uint64_t category_key(const struct aggregation *aggregation, const struct aggregate *aggregate,
			     uint64_t value)
{
	return (uint64_t)(aggregate - aggregation->columns[aggregation->reducing].aggregates) << 32 | value;
}

/* A real host has few categories, a hostile file may have one for each thread: they are hashed. */
static void count_category(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value,
			   uint64_t threads)
{
	const uint64_t key = category_key(aggregation, aggregate, value);
	struct aggregate_count *counts = aggregate->value.tally.counts;
	uint32_t count = aggregate->value.tally.count, index;

	/* nearly all threads of a group have one of a few */
	for (uint32_t i = 0; i < count && i < FIRST_CATEGORIES; i++) {
		if (counts[i].value == value) {
			counts[i].threads += threads;
			return;
		}
	}
	if (count >= FIRST_CATEGORIES && hash_map_get(&aggregation->categories, key, &index)) {
		counts[index].threads += threads;
		return;
	}
	if (count == aggregate->value.tally.capacity) {
		uint32_t capacity = count != 0 ? count * 2 : 2;

		aggregate->value.tally.counts = arena_allocate(
			&aggregation->columns[aggregation->reducing].tallies, capacity * sizeof(*counts));
		if (count != 0)
			memcpy(aggregate->value.tally.counts, counts, count * sizeof(*counts));
		aggregate->value.tally.capacity = capacity;
	}
	aggregate->value.tally.counts[count] = (struct aggregate_count){value, threads};
	aggregate->value.tally.count++;
	if (count >= FIRST_CATEGORIES)
		hash_map_set(&aggregation->categories, key, count);
}

static void add_to_tally(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value)
{
	count_category(aggregation, aggregate, value, 1);
}

static void merge_tally(struct aggregation *aggregation, struct aggregate *into, const struct aggregate *from)
{
	for (uint32_t i = 0; i < from->value.tally.count; i++)
		count_category(aggregation, into, from->value.tally.counts[i].value,
			       from->value.tally.counts[i].threads);
}

static void widen_affinity(struct aggregate *aggregate, uint32_t fewest, uint32_t most, uint32_t set,
			   bool uniform)
{
	if (aggregate->read == 0) {
		aggregate->value.affinity.fewest = fewest;
		aggregate->value.affinity.most = most;
		aggregate->value.affinity.set = set;
		aggregate->value.affinity.uniform = uniform;
		return;
	}
	if (fewest < aggregate->value.affinity.fewest)
		aggregate->value.affinity.fewest = fewest;
	if (most > aggregate->value.affinity.most)
		aggregate->value.affinity.most = most;
	if (!uniform || set != aggregate->value.affinity.set)
		aggregate->value.affinity.uniform = false;
}

static void add_to_affinity(struct aggregation *aggregation, struct aggregate *aggregate, uint64_t value)
{
	uint32_t set = (uint32_t)value;
	uint32_t cpus = (uint32_t)cpu_set_count(&aggregation->snapshot->cpu_sets, set);

	widen_affinity(aggregate, cpus, cpus, set, true);
}

static void merge_affinity(struct aggregation *aggregation, struct aggregate *into,
			   const struct aggregate *from)
{
	(void)aggregation;
	widen_affinity(into, from->value.affinity.fewest, from->value.affinity.most, from->value.affinity.set,
		       from->value.affinity.uniform);
}

static const struct reduction reductions[] = {
	[METRIC_REDUCTION_SUM] = {add_to_sum, merge_sum},
	[METRIC_REDUCTION_MAXIMUM] = {add_to_maximum, merge_maximum},
	[METRIC_REDUCTION_RANGE] = {add_to_range, merge_range},
	[METRIC_REDUCTION_MODE] = {add_to_tally, merge_tally},
	[METRIC_REDUCTION_AFFINITY] = {add_to_affinity, merge_affinity},
};

static void note_missing(struct aggregate *aggregate, size_t thread, reason_id reason)
{
	if (aggregate->unavailable == 0)
		aggregate->reason = reason;
	aggregate->unavailable++;
	aggregate->missing += hash_u64(thread + 1);
}

/* Whether the value of a thread is left out although it was read. */
static bool is_left_out(const struct aggregation *aggregation, size_t thread, enum metric metric)
{
	return aggregation->counted != NULL && !aggregation->counted[thread] &&
	       metric_type(metric)->kind == METRIC_KIND_COUNTER && metric != METRIC_THREAD_COUNT;
}

/*
 * By flags every stored value counts, and a group none of whose threads was measured has none. Without
 * `reduction` only the threads are counted.
 */
static void reduce_by_flags(struct aggregation *aggregation, struct aggregate *column, enum metric metric,
			    const struct reduction *reduction)
{
	const uint32_t *group_of_thread = aggregation->group_of_thread;
	const struct snapshot *snapshot = aggregation->snapshot;
	bool *measured = memory_allocate_zero(aggregation->group_count + 1, sizeof(*measured));

	for (size_t thread = 0; thread < snapshot->thread_count; thread++) {
		uint32_t group = group_of_thread[thread];
		struct aggregate *aggregate = &column[group];

		if (!measured[group])
			measured[group] = snapshot_value_state(snapshot, thread, metric, true, NULL) ==
					  VALUE_READ;
		if (reduction != NULL && !is_left_out(aggregation, thread, metric))
			reduction->add(aggregation, aggregate, snapshot_value(snapshot, thread, metric));
		aggregate->read++;
	}
	for (size_t group = 0; group < aggregation->group_count; group++) {
		if (!measured[group])
			column[group].read = 0;
	}
	free(measured);
}

/* By knowledge only values that were read count. Without `reduction` only the threads are counted. */
static void reduce_by_knowledge(struct aggregation *aggregation, struct aggregate *column,
				const struct metric_reader *reader, const struct reduction *reduction)
{
	const struct snapshot *snapshot = aggregation->snapshot;
	const enum metric metric = reader->metric;

	for (size_t thread = 0; thread < snapshot->thread_count; thread++) {
		struct aggregate *aggregate = &column[aggregation->group_of_thread[thread]];
		reason_id reason;

		switch (metric_reader_state(reader, thread, &reason)) {
		case VALUE_READ:
			if (reduction == NULL) {
				aggregate->read++;
				break;
			}
			if (!is_left_out(aggregation, thread, metric)) {
				reduction->add(aggregation, aggregate,
					       snapshot_value(snapshot, thread, metric));
			} else if (aggregation->replaced != NULL && aggregation->replaced[thread]) {
				note_missing(aggregate, thread, REASON_NOT_READ);
				break;
			}
			aggregate->read++;
			break;
		case VALUE_UNAVAILABLE:
			if (!is_left_out(aggregation, thread, metric))
				note_missing(aggregate, thread, reason);
			break;
		case VALUE_ABSENT:
			break;
		}
	}
}

/* What the states of a metric follow from; false when it must be asked thread by thread. */
static bool find_rule(const struct aggregation *aggregation, const struct metric_reader *reader,
		      struct aggregation_rule *ret_rule)
{
	const enum metric_reduction reduction = metric_type(reader->metric)->reduction;

	*ret_rule = (struct aggregation_rule){
		.by_flags = aggregation->by_flags,
		.family = metrics[reader->metric].family,
		.states = reader->states,
	};
	return (reduction == METRIC_REDUCTION_SUM || reduction == METRIC_REDUCTION_MAXIMUM) &&
	       aggregation->counted == NULL && reader->metric != METRIC_THREAD_COUNT &&
	       (aggregation->by_flags || (reader->states.plain && !reader->bounded));
}

static bool rules_are_equal(const struct aggregation_rule *left, const struct aggregation_rule *right)
{
	return left->by_flags ? left->family == right->family
			      : metric_states_equal(&left->states, &right->states);
}

/* Counts the threads with a value, by what says so for other metrics as well. */
static void count_states(struct aggregation *aggregation, const struct metric_reader *reader,
			 const struct aggregation_rule *rule)
{
	const size_t size = (aggregation->group_count + 1) * sizeof(*aggregation->states);

	if (aggregation->states == NULL)
		aggregation->states = memory_allocate(size);
	memset(aggregation->states, 0, size);
	aggregation->states_rule = *rule;
	if (rule->by_flags)
		reduce_by_flags(aggregation, aggregation->states, reader->metric, NULL);
	else
		reduce_by_knowledge(aggregation, aggregation->states, reader, NULL);
}

/* Adds the values of threads that all count. Those of one group mostly follow each other. */
static void reduce_values(const struct aggregation *aggregation, struct aggregate *column,
			  const uint64_t *values, bool is_sum)
{
	const uint32_t *group_of_thread = aggregation->group_of_thread;
	const size_t count = aggregation->snapshot->thread_count;

	for (size_t thread = 0; thread < count;) {
		const uint32_t group = group_of_thread[thread];
		uint64_t number = column[group].value.number;

		if (is_sum) {
			for (; thread < count && group_of_thread[thread] == group; thread++)
				number = number_add_saturating(number, values[thread]);
		} else {
			for (; thread < count && group_of_thread[thread] == group; thread++)
				number = values[thread] > number ? values[thread] : number;
		}
		column[group].value.number = number;
	}
}

/* The same where a thread counts only if its value was read: a 0 changes nothing, read or not. */
static void reduce_values_read(struct aggregation *aggregation, struct aggregate *column,
			       const struct metric_reader *reader, bool is_sum)
{
	const uint32_t *group_of_thread = aggregation->group_of_thread;
	const size_t count = aggregation->snapshot->thread_count;

	for (size_t thread = 0; thread < count; thread++) {
		const uint64_t value = reader->values[thread];
		struct aggregate *aggregate = &column[group_of_thread[thread]];
		reason_id reason;

		if (value == 0 || metric_reader_state(reader, thread, &reason) != VALUE_READ)
			continue;
		if (is_sum)
			add_to_sum(aggregation, aggregate, value);
		else
			add_to_maximum(aggregation, aggregate, value);
	}
}

static void reduce_by_rule(struct aggregation *aggregation, struct aggregate *column,
			   const struct metric_reader *reader)
{
	const bool is_sum = metric_type(reader->metric)->reduction == METRIC_REDUCTION_SUM;

	memcpy(column, aggregation->states, (aggregation->group_count + 1) * sizeof(*column));
	if (reader->values == NULL)
		return;
	if (aggregation->by_flags || metric_states_are_read(&reader->states))
		reduce_values(aggregation, column, reader->values, is_sum);
	else
		reduce_values_read(aggregation, column, reader, is_sum);
}

struct aggregation *aggregation_create(const struct snapshot *snapshot, const uint32_t *group_of_thread,
				       size_t group_count, bool by_flags)
{
	struct aggregation *aggregation = memory_allocate_zero(1, sizeof(*aggregation));
	size_t size = snapshot->thread_count * sizeof(*group_of_thread);

	aggregation->snapshot = snapshot;
	aggregation->group_count = group_count;
	aggregation->by_flags = by_flags || !snapshot->provenance.present;
	aggregation->group_of_thread = memory_allocate(size + 1);
	if (size != 0)
		memcpy(aggregation->group_of_thread, group_of_thread, size);
	return aggregation;
}

void aggregation_release(struct aggregation *aggregation)
{
	if (aggregation == NULL)
		return;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		aggregation_forget(aggregation, (enum metric)i);
	hash_map_release(&aggregation->categories);
	free(aggregation->states);
	free(aggregation->spare);
	free(aggregation->group_of_thread);
	free(aggregation->merges);
	free(aggregation);
}

void aggregation_forget(struct aggregation *aggregation, enum metric metric)
{
	struct aggregation_column *column = &aggregation->columns[metric];

	if (column->aggregates != NULL) {
		free(aggregation->spare);
		aggregation->spare = column->aggregates;
	}
	column->aggregates = NULL;
	arena_release(&column->tallies);
}

static void merge(struct aggregation *aggregation, struct aggregate *into, const struct aggregate *from)
{
	const struct reduction *reduction = &reductions[metric_type(aggregation->reducing)->reduction];

	/* A side without a value holds zeros or, by flags, what was not measured: the other one counts. */
	if (from->read != 0) {
		if (into->read == 0)
			memset(&into->value, 0, sizeof(into->value));
		reduction->merge(aggregation, into, from);
	}
	if (into->unavailable == 0)
		into->reason = from->reason;
	into->read += from->read;
	into->unavailable += from->unavailable;
	into->missing += from->missing;
}

struct aggregate *aggregation_reduce(struct aggregation *aggregation, enum metric metric)
{
	const size_t size = (aggregation->group_count + 1) * sizeof(struct aggregate);
	const struct reduction *reduction = &reductions[metric_type(metric)->reduction];
	const struct metric_reader reader = metric_reader_of(aggregation->snapshot, metric);
	struct aggregate *column = aggregation->spare != NULL ? aggregation->spare : memory_allocate(size);
	struct aggregation_rule rule;

	aggregation->spare = NULL;
	aggregation->columns[metric].aggregates = column;
	aggregation->reducing = metric;
	if (metric_type(metric)->reduction == METRIC_REDUCTION_MODE)
		hash_map_clear(&aggregation->categories);
	if (find_rule(aggregation, &reader, &rule)) {
		if (aggregation->states == NULL || !rules_are_equal(&aggregation->states_rule, &rule))
			count_states(aggregation, &reader, &rule);
		reduce_by_rule(aggregation, column, &reader);
	} else {
		/* Not calloc(3): of many groups, pages that are read first would be mapped twice. */
		memset(column, 0, size);
		if (aggregation->by_flags)
			reduce_by_flags(aggregation, column, metric, reduction);
		else
			reduce_by_knowledge(aggregation, column, &reader, reduction);
	}
	for (size_t i = 0; i < aggregation->merge_count; i++)
		merge(aggregation, &column[aggregation->merges[i].into],
		      &column[aggregation->merges[i].from]);
	return column;
}

void aggregation_merge(struct aggregation *aggregation, size_t into, size_t from)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		aggregation_forget(aggregation, (enum metric)i);
	*MEMORY_APPEND(aggregation->merges, aggregation->merge_count,
		       aggregation->merge_capacity) = (struct aggregation_merge){into, from};
}

bool aggregate_number(const struct aggregate *aggregate, enum metric metric, double *ret_number)
{
	if (aggregate->read == 0)
		return false;
	switch (metric_type(metric)->reduction) {
	case METRIC_REDUCTION_SUM:
	case METRIC_REDUCTION_MAXIMUM:
		*ret_number = (double)aggregate->value.number;
		return true;
	case METRIC_REDUCTION_RANGE:
		*ret_number = ((double)aggregate->value.range.low + (double)aggregate->value.range.high) /
			      2.0;
		return true;
	case METRIC_REDUCTION_AFFINITY:
		*ret_number = ((double)aggregate->value.affinity.fewest +
			       (double)aggregate->value.affinity.most) /
			      2.0;
		return true;
	case METRIC_REDUCTION_MODE:
		return false;
	}
	return false;
}

/* The bytes of a category as reports print it. */
static void append_category(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			    struct buffer *text)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_CHARACTER:
		unicode_append(text, (uint32_t)value);
		break;
	case METRIC_ENCODING_BOOLEAN:
		buffer_append_text(text, value != 0 ? "true" : "false");
		break;
	default:
		buffer_append(text, string_pool_text(&snapshot->strings, (uint32_t)value),
			      string_pool_length(&snapshot->strings, (uint32_t)value));
		break;
	}
}

uint64_t aggregate_mode(const struct aggregation *aggregation, const struct aggregate *aggregate,
			enum metric metric, struct buffer *text)
{
	struct buffer best = {0}, candidate = {0};
	uint64_t most = 0;

	for (uint32_t i = 0; i < aggregate->value.tally.count; i++) {
		const struct aggregate_count *count = &aggregate->value.tally.counts[i];

		if (count->threads < most)
			continue;
		buffer_clear(&candidate);
		append_category(aggregation->snapshot, metric, count->value, &candidate);
		if (count->threads > most ||
		    order_bytes(candidate.data, candidate.length, best.data, best.length) < 0) {
			struct buffer swap = best;

			best = candidate;
			candidate = swap;
			most = count->threads;
		}
	}
	if (most == 0)
		buffer_append_char(text, '~');
	else if (best.length != 0)
		buffer_append(text, best.data, best.length);
	buffer_release(&best);
	buffer_release(&candidate);
	return most;
}

/* The state that its inputs give a derived metric: absent before unavailable before read. */
static struct aggregate_derived inputs_state(struct aggregation *aggregation, size_t group,
					     const struct derived_entry *entry, double inputs[])
{
	struct aggregate_derived result = {.state = VALUE_READ};
	const struct aggregate *first = aggregation_get(aggregation, group, entry->inputs[0]);

	for (size_t i = 0; i < entry->input_count; i++) {
		const struct aggregate *input = aggregation_get(aggregation, group, entry->inputs[i]);
		reason_id reason;
		enum value_state state = aggregate_state(input, &reason);

		if (state == VALUE_ABSENT)
			return (struct aggregate_derived){.state = VALUE_ABSENT};
		if (state == VALUE_UNAVAILABLE ||
		    (entry->operation != DERIVED_SUM_WITH_LARGEST && input->missing != first->missing)) {
			if (result.state == VALUE_READ)
				result.reason = input->unavailable != 0 ? reason : first->reason;
			result.state = VALUE_UNAVAILABLE;
		}
		result.partial |= aggregate_is_partial(input);
		aggregate_number(input, entry->inputs[i], &inputs[i]);
	}
	return result;
}

struct aggregate_derived aggregation_derive(struct aggregation *aggregation, size_t group,
					    enum derived derived)
{
	const struct derived_entry *entry = &derived_metrics[derived];
	double inputs[DERIVED_INPUTS_MAX] = {0};
	struct aggregate_derived result = inputs_state(aggregation, group, entry, inputs);

	if (result.state != VALUE_READ)
		return result;
	if (entry->operation == DERIVED_DIFFERENCE && result.partial) {
		/* This difference would be neither a bound nor a ratio of like parts. */
		result.state = VALUE_UNAVAILABLE;
		result.reason = aggregation_get(aggregation, group, entry->inputs[0])->reason;
		return result;
	}
	if (entry->operation != DERIVED_SUM_WITH_LARGEST)
		result.partial = false;
	if (!derived_compute(derived, inputs, &result.value))
		result.state = VALUE_ABSENT;
	return result;
}
