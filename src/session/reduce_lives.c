/* SPDX-License-Identifier: GPL-2.0-only */
/* How many threads started and ended. */
#include "reduce.h"

#include "view/column_table.h"

/* Why it is not known how many threads ended: where nothing watches them there is what rounds miss since. */
static uint16_t unknown_lives(const struct span *span, enum life_event event)
{
	if (span->from == NULL)
		return span->missing;
	if (span->now->ended != NULL || event != LIFE_ENDED || span->mode == VIEW_MODE_BASE)
		return REASON_READ;
	if (span->now->provenance.features[FEATURE_EXITS].reason == REASON_READ)
		return REASON_NOT_READ;
	return (uint16_t)span->now->provenance.features[FEATURE_EXITS].reason;
}

static void count_living(const struct span *span, const struct shown *shown,
			 const struct column_values *values, double rate)
{
	for (size_t k = 0; k < shown->count; k++) {
		if (span->from_of[shown->threads[k]] == THREAD_BORN)
			values->accumulators[shown->row_of[k]].sum.first += rate;
	}
}

void reduce_lives(const struct span *span, const struct shown *shown, const struct column_values *values,
		  int event)
{
	const double rate = reduce_scale(span, span->mode == VIEW_MODE_RATE);
	const uint16_t reason = unknown_lives(span, (enum life_event)event);

	if (span->mode == VIEW_MODE_TOTAL)
		return;
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = &values->accumulators[row];

		if (reason != REASON_READ) {
			accumulator_miss(accumulator, reason);
		} else {
			accumulator->read++;
			accumulator->partial = span->now->ended == NULL ||
					       (span->ended != NULL && span->ended->incomplete);
		}
	}
	if (reason != REASON_READ)
		return;
	if (event == LIFE_BEGAN)
		count_living(span, shown, values, rate);
	for (size_t i = 0; i < reduce_ended_count(span, shown); i++) {
		const struct ended_record *record = &span->ended->records[i];

		if (shown->ended_row_of[i] != UINT32_MAX)
			values->accumulators[shown->ended_row_of[i]].sum.first +=
				rate * (double)(event == LIFE_BEGAN ? record->born : record->threads);
	}
}
