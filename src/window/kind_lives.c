/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts threads that exist, started and ended. */
#include "kind.h"

/* The reason why the number of ended threads is unknown; since the base, rounds count them where nothing else
 * does. */
static uint16_t unknown_lives(const struct window *window, enum life_event event)
{
	if (window->from == NULL)
		return window->missing;
	if (snapshot_ends_are_told(window->now) || event != LIFE_ENDED || window->mode == WINDOW_MODE_BASE)
		return REASON_READ;
	if (window->now->provenance.features[FEATURE_EXITS].reason == REASON_READ)
		return REASON_NOT_READ;
	return (uint16_t)window->now->provenance.features[FEATURE_EXITS].reason;
}

static void begin(struct reducer *reducer)
{
	const struct window *window = reducer->window;
	uint16_t reason;

	reducer->values->is_real = true;
	reducer->no_threads = true;
	if (window->mode == WINDOW_MODE_TOTAL)
		return;
	reason = unknown_lives(window, (enum life_event)reducer->entry->inputs[0]);
	for (size_t row = 0; row < reducer->shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		if (reason != REASON_READ) {
			accumulator_miss(accumulator, reason);
		} else {
			accumulator->read++;
			accumulator->partial = !snapshot_ends_are_told(window->now) ||
					       (window->ended != NULL && window->ended->incomplete);
			if (accumulator->partial)
				accumulator->reason = REASON_LOWER_BOUND;
		}
	}
	reducer->no_threads = reason != REASON_READ;
	/* what stands still is not new */
	reducer->only_movers = reducer_knows_still(reducer);
}

static void add(const struct reducer *reducer, uint64_t threads, struct accumulator *accumulator)
{
	const bool as_rate = reducer->window->mode == WINDOW_MODE_RATE;

	accumulator->sum[0].real += (double)threads * reducer_scale(reducer->window, as_rate);
}

static void add_thread(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulator)
{
	if (reducer->entry->inputs[0] == LIFE_BEGAN && reducer->window->from_of[thread] == THREAD_BORN)
		add(reducer, 1, accumulator);
}

static void add_ended(const struct reducer *reducer, const struct ended_record *record,
		      struct accumulator *accumulator)
{
	add(reducer, reducer->entry->inputs[0] == LIFE_BEGAN ? record->born : record->threads, accumulator);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	conclude_sum(of, value);
	if (value->state == VALUE_READ && of->values->mode != WINDOW_MODE_RATE)
		value_make_whole(value);
}

static void conclude_threads(const struct conclusion *of, struct value *value)
{
	value->state = VALUE_READ;
	value->form = VALUE_FORM_WHOLE;
	value->whole = of->shown->row_threads[of->row];
	value->sort = (double)value->whole;
}

const struct column_kind column_kind_lives = {
	.begin = begin,
	.add_thread = add_thread,
	.add_ended = add_ended,
	.conclude = conclude,
	.merge = merge_sums,
};

const struct column_kind column_kind_threads = {
	.conclude = conclude_threads,
};
