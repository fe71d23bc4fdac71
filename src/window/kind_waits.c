/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads wait for at present: the class with most threads of a row, and the object that these share. */
#include "kind.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

reason_id reduce_waits_for_missing(const struct snapshot *now)
{
	if (now->wait_class != NULL)
		return REASON_READ;
	return now->default_reason[SOURCE_WAIT] != REASON_READ ? now->default_reason[SOURCE_WAIT]
							       : REASON_NOT_IN_FILE;
}

uint16_t reduce_wait_class(const struct snapshot *now, uint32_t thread, enum wait_class *ret_class)
{
	const uint8_t class = now->wait_class[thread];
	reason_id reason;

	*ret_class = (enum wait_class) class;
	if (class != WAIT_CLASS_UNKNOWN && class < WAIT_CLASS_COUNT)
		return REASON_READ;
	reason = snapshot_source_reason(now, thread, SOURCE_WAIT);
	return reason != REASON_READ ? reason : REASON_NOT_READ;
}

static void miss_all(const struct reducer *reducer, reason_id reason)
{
	for (size_t k = 0; k < reducer->shown->count; k++)
		accumulator_miss(reducer_row(reducer, reducer->shown->row_of[k]), reason);
}

/* Takes over what each thread waits for where it has a row of its own. */
static void take_threads(const struct reducer *reducer)
{
	const struct shown *shown = reducer->shown;

	for (size_t k = 0; k < shown->count; k++) {
		struct accumulator *accumulator = reducer_row(reducer, shown->row_of[k]);
		enum wait_class class;
		const uint16_t state = reduce_wait_class(shown->now, shown->threads[k], &class);

		if (state != REASON_READ) {
			accumulator_miss(accumulator, state);
			continue;
		}
		accumulator->read++;
		accumulator->wait.class = class;
		accumulator->wait.threads = 1;
		accumulator->wait.waiter = shown->threads[k] + 1;
		accumulator->wait.votes = 1;
	}
}

/* Whether a class represents a row rather than another class. Ties go by the order of wait_class.def. */
static bool comes_first(enum wait_class class, uint32_t threads, enum wait_class other,
			uint32_t other_threads)
{
	if (wait_classes[class].rests != wait_classes[other].rests)
		return wait_classes[other].rests;
	return threads != other_threads ? threads > other_threads : class < other;
}

/* Counts the threads of each class and finds the class that stands for each row. */
static void elect_classes(const struct reducer *reducer)
{
	const struct shown *shown = reducer->shown;
	uint32_t(*counts)[WAIT_CLASS_COUNT] = memory_allocate_zero(shown->row_count + 1, sizeof(*counts));

	for (size_t k = 0; k < shown->count; k++) {
		const uint32_t row = shown->row_of[k];
		enum wait_class class;
		const uint16_t state = reduce_wait_class(shown->now, shown->threads[k], &class);

		if (state != REASON_READ) {
			accumulator_miss(reducer_row(reducer, row), state);
			continue;
		}
		reducer_row(reducer, row)->read++;
		counts[row][class]++;
	}
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		for (size_t i = 1; i < WAIT_CLASS_COUNT; i++) {
			if (counts[row][i] == 0 || (accumulator->wait.threads != 0 &&
						    !comes_first((enum wait_class)i, counts[row][i],
								 (enum wait_class)accumulator->wait.class,
								 accumulator->wait.threads)))
				continue;
			accumulator->wait.class = (uint32_t)i;
			accumulator->wait.threads = counts[row][i];
		}
		accumulator->differs = accumulator->wait.threads != accumulator->read;
	}
	free(counts);
}

/* The address of a futex is one object in one process: forked workers have theirs at the same addresses. */
static bool waits_for_same(const struct snapshot *now, uint32_t thread, uint32_t other)
{
	return now->wait_object[thread] == now->wait_object[other] &&
	       (now->wait_class[thread] != WAIT_CLASS_FUTEX || now->tgid[thread] == now->tgid[other]);
}

/*
 * Finds the object that more than half of the threads in each row's class wait for, by majority vote: a
 * thread with another object cancels one vote for the candidate, so no other object can have a majority in
 * the end. The second pass counts the candidate's votes.
 */
static void elect_objects(const struct reducer *reducer)
{
	const struct shown *shown = reducer->shown;
	const struct snapshot *now = shown->now;

	for (int counting = 0; counting <= 1; counting++) {
		for (size_t k = 0; k < shown->count; k++) {
			const uint32_t thread = shown->threads[k];
			struct accumulator *accumulator = reducer_row(reducer, shown->row_of[k]);

			if (accumulator->wait.threads == 0 ||
			    now->wait_class[thread] != accumulator->wait.class)
				continue;
			if (!counting && accumulator->wait.votes == 0)
				accumulator->wait.waiter = thread + 1;
			if (waits_for_same(now, thread, accumulator->wait.waiter - 1))
				accumulator->wait.votes++;
			else if (!counting)
				accumulator->wait.votes--;
		}
		for (size_t row = 0; row < shown->row_count; row++) {
			struct accumulator *accumulator = reducer_row(reducer, row);

			if (counting && accumulator->wait.votes <= accumulator->wait.threads / 2)
				accumulator->wait.waiter = 0;
			if (!counting || accumulator->wait.waiter == 0)
				accumulator->wait.votes = 0;
		}
	}
}

/* Reads all threads, since threads that stand still wait, too. */
static void begin(struct reducer *reducer)
{
	const reason_id missing = reduce_waits_for_missing(reducer->shown->now);

	if (missing != REASON_READ) {
		miss_all(reducer, missing);
	} else if (reducer->shown->by_thread) {
		take_threads(reducer);
	} else {
		elect_classes(reducer);
		elect_objects(reducer);
	}
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const struct accumulator *accumulator = of->accumulators;
	const struct snapshot *now = of->values->now;
	uint32_t object = 0;

	if (!value_set_state(accumulator, value))
		return;
	value->form = VALUE_FORM_WAIT;
	value->partial = accumulator->missed > 0;
	value->differs = accumulator->differs;
	value->wait.class = (enum wait_class)accumulator->wait.class;
	value->wait.threads = accumulator->wait.threads;
	value->wait.of = accumulator->read;
	value->wait.object = NULL;
	value->wait.length = 0;
	value->wait.sharing = 0;
	if (accumulator->wait.waiter != 0)
		object = now->wait_object[accumulator->wait.waiter - 1];
	if (object != 0) {
		value->wait.object = snapshot_text(now, object);
		value->wait.length = string_pool_length(&now->strings, object);
		value->wait.sharing = accumulator->wait.votes;
	}
	/* by class, in the order of the table, then by threads */
	value->sort = (double)(WAIT_CLASS_COUNT - value->wait.class) * 0x1p32 + value->wait.threads;
}

/*
 * A class that stands for the rows of two hosts stands for both together; of two classes nobody knows how
 * many threads of the other host have them. Objects belong to a single host.
 */
static bool merge(const struct column_values *values, const struct accumulator *from,
		  struct accumulator *into)
{
	const bool is_first = into->read == 0;

	(void)values;
	if (is_first || from->wait.class == into->wait.class) {
		into->wait.class = from->wait.class;
		into->wait.threads += from->wait.threads;
	} else if (wait_classes[from->wait.class].rests == wait_classes[into->wait.class].rests) {
		return false;
	} else if (wait_classes[into->wait.class].rests) {
		into->wait = from->wait;
	}
	into->differs |= !is_first && into->wait.threads != into->read + from->read;
	into->wait.waiter = 0;
	return true;
}

const struct column_kind column_kind_waits = {
	.begin = begin,
	.conclude = conclude,
	.merge = merge,
};
