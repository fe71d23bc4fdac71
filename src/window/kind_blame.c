/* SPDX-License-Identifier: GPL-2.0-only */
/* What delayed the waits of a row most, and who woke it or was woken by it: known by names, like how long
 * waits took. */
#include "kind.h"

#include <stdlib.h>

#include "blame.h"

/* Whether waits ended of which nobody knows what delayed them: kernels before 5.19 do not tell. */
static bool is_untold(const struct latency *span)
{
	/* wakers are told of by any kernel */
	for (size_t i = 0; i < span->delay_count; i++) {
		if (span->delays[i].time_ns != 0)
			return false;
	}
	for (size_t i = 0; i < span->count; i++) {
		if (latency_count(&latency_waits_of(span, i)->of[LATENCY_RUN_QUEUE]) != 0)
			return true;
	}
	return false;
}

reason_id reduce_blame_missing(const struct window *window, const struct shown *shown)
{
	if (!reducer_has_latency(window, shown))
		return reducer_latency_missing(window);
	if (shown != NULL && shown->latency_row_of == NULL)
		return REASON_BY_NAME;
	if (is_untold(window->latency))
		return window->missing == REASON_NOT_IN_FILE ? REASON_NOT_IN_FILE : REASON_NOT_IN_KERNEL;
	return REASON_READ;
}

struct blame *reduce_blame(const struct window *window, const struct shown *shown,
			   enum blame_relation relation)
{
	/* a comparison has rows of two sides, and no text is compared */
	if (reduce_blame_missing(window, shown) != REASON_READ || shown->latency_names.snapshot == NULL)
		return NULL;
	return blame_create_by_row(&shown->latency_names.options, shown->latency_names.snapshot,
				   window->latency, shown->latency_names.patterns, relation,
				   shown->latency_row_of, shown->row_count);
}

static void begin(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	const struct shown *shown = reducer->shown;
	struct column_values *values = reducer->values;
	const reason_id missing = reduce_blame_missing(window, shown);
	struct row_waits *waits;

	if (shown->by_thread)
		return;
	values->blame = reduce_blame(window, shown, (enum blame_relation)reducer->entry->inputs[0]);
	if (missing == REASON_READ && values->blame == NULL)
		return;
	waits = reduce_waits(window, shown, LATENCY_RUN_QUEUE);
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		if (missing != REASON_READ)
			accumulator_miss(accumulator, missing);
		else if (values->blame->whole[row] != 0)
			accumulator->read++;
		else if (waits != NULL && waits[row].unknown != 0)
			accumulator_miss(accumulator, REASON_UNDER_OTHER);
	}
	free(waits);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const struct blame *blame = of->values->blame;
	const struct latency_delay *first;
	size_t count;

	if (!value_set_state(of->accumulators, value))
		return;
	first = blame_of(blame, (uint32_t)of->row, &count);
	value->form = VALUE_FORM_PART;
	value->part.text = blame_culprit_label(blame, first, &value->part.length);
	value->part.share = (double)blame_size(blame, first) / (double)blame->whole[of->row];
	value->sort = (double)blame->whole[of->row];
}

const struct column_kind column_kind_blame = {
	.begin = begin,
	.conclude = conclude,
};
