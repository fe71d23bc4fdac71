/* SPDX-License-Identifier: GPL-2.0-only */
/* Present values of threads: metrics that are no counters, and age. */
#include "kind.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"

struct present {
	struct metric_reader reader, from; /* `from` where the window has a beginning */
	enum metric metric;
	enum metric_reduction reduction;
	bool *measured;
	uint32_t set, cpus; /* the last CPU set and how many are in it */
};

/* --- metrics --- */

/* Why a thread has no value, REASON_READ where it has one, or STATE_ABSENT. */
static uint16_t state_of(const struct present *present, uint32_t thread)
{
	if (present->measured != NULL)
		return present->measured[thread] ? REASON_READ : STATE_ABSENT;
	return metric_reader_state(&present->reader, thread);
}

/* Whether a peak is higher than it was at the other side of the window. */
static bool has_risen(const struct window *window, const struct metric_reader *from, uint32_t thread,
		      uint64_t value)
{
	uint32_t other;

	if (window->from == NULL || value == 0)
		return false;
	other = window->from_of[thread];
	if (other == THREAD_BORN)
		return true;
	return other != THREAD_UNKNOWN && other != THREAD_STILL &&
	       metric_reader_known_state(from, other) == REASON_READ &&
	       value > metric_reader_value(from, other);
}

static void add_largest(const struct reducer *reducer, struct accumulator *accumulator, uint32_t thread,
			uint64_t value)
{
	const struct present *present = reducer->work;
	bool first = accumulator->read == 0;

	if (!first && value < accumulator->present.value)
		return;
	if (first || value > accumulator->present.value)
		accumulator->rose = false;
	accumulator->present.value = value;
	if (metric_type(present->metric)->kind == METRIC_KIND_PEAK)
		accumulator->rose |= has_risen(reducer->window, &present->from, thread, value);
}

static void extend_range(struct accumulator *accumulator, int64_t value)
{
	if (accumulator->read == 0 || value < accumulator->range.low)
		accumulator->range.low = value;
	if (accumulator->read == 0 || value > accumulator->range.high)
		accumulator->range.high = value;
}

static void add_cpus(const struct snapshot *now, struct present *present, struct accumulator *accumulator,
		     uint32_t set)
{
	/* the threads of a process mostly have one set */
	if (present->cpus == 0 || present->set != set) {
		present->set = set;
		present->cpus = (uint32_t)cpu_set_count(&now->cpu_sets, set);
	}
	if (accumulator->read == 0) {
		accumulator->cpus.set = set;
		accumulator->cpus.fewest = accumulator->cpus.most = present->cpus;
	}
	accumulator->differs |= set != accumulator->cpus.set;
	if (present->cpus < accumulator->cpus.fewest)
		accumulator->cpus.fewest = present->cpus;
	if (present->cpus > accumulator->cpus.most)
		accumulator->cpus.most = present->cpus;
}

static void begin(struct reducer *reducer)
{
	const enum metric metric = (enum metric)reducer->entry->inputs[0];
	struct present *present = memory_allocate_zero(1, sizeof(*present));

	present->metric = metric;
	present->reader = metric_reader_of(reducer->window->now, metric);
	if (reducer->window->from != NULL)
		present->from = metric_reader_of(reducer->window->from, metric);
	present->reduction = metric_type(metric)->reduction;
	present->measured = reducer_find_measured(reducer->window, reducer->shown, metric);
	reducer->work = present;
	if (present->reduction == METRIC_REDUCTION_MAXIMUM)
		reducer_add_stored(reducer, &present->reader, present->measured, false);
}

static void add_thread(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	struct present *present = reducer->work;
	const uint64_t value = metric_reader_value(&present->reader, thread);
	const uint16_t state = state_of(present, thread);

	if (state == STATE_ABSENT)
		return;
	if (state != REASON_READ) {
		accumulator_miss(accumulator, state);
		return;
	}
	switch (present->reduction) {
	case METRIC_REDUCTION_RANGE:
		extend_range(accumulator, (int64_t)value);
		break;
	case METRIC_REDUCTION_MODE:
		reducer_add_word(accumulator, value);
		return;
	case METRIC_REDUCTION_AFFINITY:
		add_cpus(reducer->window->now, present, accumulator, (uint32_t)value);
		break;
	default:
		add_largest(reducer, accumulator, thread, value);
		break;
	}
	accumulator->read++;
}

static bool category_of(const struct reducer *reducer, uint32_t thread, uint64_t *ret_value)
{
	const struct present *present = reducer->work;

	*ret_value = metric_reader_value(&present->reader, thread);
	return state_of(present, thread) == REASON_READ;
}

/* Categories stand in byte order. */
static bool comes_first(const struct reducer *reducer, uint64_t a, uint64_t b)
{
	const struct present *present = reducer->work;
	struct buffer texts[2] = {0};
	bool first;

	snapshot_append_category(reducer->window->now, present->metric, a, &texts[0]);
	snapshot_append_category(reducer->window->now, present->metric, b, &texts[1]);
	first = order_bytes(texts[0].data, texts[0].length, texts[1].data, texts[1].length) < 0;
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
	return first;
}

static void end(struct reducer *reducer)
{
	struct present *present = reducer->work;

	if (present->reduction == METRIC_REDUCTION_MODE)
		reducer_elect_words(reducer, category_of, comes_first);
	free(present->measured);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;

	if (!value_set_state(accumulator, value))
		return;
	value->differs = accumulator->differs;
	value->partial = accumulator->missed > 0;
	switch (metric_type((enum metric)of->values->entry->inputs[0])->reduction) {
	case METRIC_REDUCTION_RANGE:
		value->form = VALUE_FORM_RANGE;
		value->range.low = accumulator->range.low;
		value->range.high = accumulator->range.high;
		value->sort = (double)accumulator->range.high;
		break;
	case METRIC_REDUCTION_MODE:
		conclude_word(of, value);
		break;
	case METRIC_REDUCTION_AFFINITY:
		value->form = VALUE_FORM_CPUS;
		value->cpus.fewest = accumulator->cpus.fewest;
		value->cpus.most = accumulator->cpus.most;
		value->cpus.set = accumulator->cpus.set;
		value->sort = (double)accumulator->cpus.most;
		break;
	default:
		conclude_present(of, value);
		break;
	}
}

/* Merges maxima only: ranges, words and sets of CPUs belong to a single host. */
static bool merge(const struct column_values *values, const struct accumulator *from,
		  struct accumulator *into)
{
	return metric_type((enum metric)values->entry->inputs[0])->reduction == METRIC_REDUCTION_MAXIMUM &&
	       merge_largest(values, from, into);
}

/* --- age --- */

static void add_age(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	const struct snapshot *now = reducer->window->now;
	const uint64_t start = number_multiply_saturating(now->start_time[thread], NS_PER_TICK);
	const uint64_t age = now->provenance.boottime_ns > start ? now->provenance.boottime_ns - start : 0;

	if (now->provenance.boottime_ns == 0)
		return; /* a file that does not say when it was taken since boot */
	accumulator->read++;
	if (age > accumulator->present.value)
		accumulator->present.value = age;
}

const struct column_kind column_kind_present = {
	.begin = begin,
	.add_thread = add_thread,
	.end = end,
	.conclude = conclude,
	.merge = merge,
};

const struct column_kind column_kind_age = {
	.add_thread = add_age,
	.conclude = conclude_present,
	.merge = merge_largest,
};
