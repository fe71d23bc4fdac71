/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sched_ext scheduler keeps for each task: a field of it, group by group. */
#include "reduce.h"

#include <stdlib.h>

#include "base/memory.h"
#include "view/column_table.h"

/* Why nobody has a context in a snapshot, REASON_READ where somebody may. */
static reason_id nothing_read(const struct span *span)
{
	const struct feature_result *results = span->now->provenance.features;
	const struct feature_result *result = &results[feature_cause(results, FEATURE_SCX)];

	if (span->now->scx.context_of != NULL)
		return REASON_READ;
	if (result->state == FEATURE_STATE_OFF && result->reason != REASON_READ)
		return (reason_id)result->reason;
	return span->missing;
}

/* Why what was read before says nothing of what this run of the scheduler added since. */
static reason_id nothing_before(const struct span *span)
{
	if (span->from == NULL)
		return span->missing;
	if (span->from->scx.context_of == NULL ||
	    !scx_scheduler_is_same_run(span->now->scx.scheduler, span->from->scx.scheduler))
		return REASON_NOT_READ;
	return REASON_READ;
}

/* Contexts are read together, at a time of their own. */
static double change_scale(const struct span *span)
{
	const uint64_t now_ns = span->now->scx.read_at_ns, from_ns = span->from->scx.read_at_ns;

	if (span->mode != VIEW_MODE_RATE)
		return 1;
	return from_ns != 0 && now_ns > from_ns ? 1e9 / (double)(now_ns - from_ns) : reduce_scale(span, true);
}

struct scx_span scx_span_of(const struct span *span, uint16_t field)
{
	struct scx_span result = {
		.span = span,
		.member = scx_find_member(span->now->scx.scheduler, field),
		.missing = nothing_read(span),
		.scale = 1,
	};

	result.is_change = result.member != NULL && span->mode != VIEW_MODE_TOTAL &&
			   result.member->facts.reduction == SCX_REDUCTION_COUNTER;
	if (!result.is_change)
		return result;
	result.from_missing = nothing_before(span);
	if (result.from_missing == REASON_READ)
		result.scale = change_scale(span);
	return result;
}

/*
 * What the thread had on the other side of a change. A context that was not there has had nothing to count
 * from: schedulers begin one as a copy of the parent's, or with what the others have come to by then (lavd
 * does both), and may make one for a thread that has run for hours.
 */
static uint16_t value_before(const struct scx_span *field, uint32_t thread, uint64_t now, uint64_t *ret_value)
{
	const struct span *span = field->span;
	const uint32_t other = span->from_of[thread];
	const uint8_t *context;
	reason_id reason;

	if (other == THREAD_STILL) {
		*ret_value = now; /* it did nothing */
		return REASON_READ;
	}
	if (other == THREAD_UNKNOWN || other == THREAD_BORN)
		return REASON_NOT_READ;
	context = scx_context(&span->from->scx, other, &reason);
	if (context == NULL)
		return reason != REASON_READ ? reason : REASON_NOT_READ;
	*ret_value = scx_member_read(field->member, context, 0);
	return REASON_READ;
}

uint16_t scx_span_value(const struct scx_span *field, uint32_t thread, uint64_t *ret_value)
{
	const struct scx *scx = &field->span->now->scx;
	const uint8_t *context;
	uint64_t before;
	reason_id reason;
	uint16_t state;

	if (field->missing != REASON_READ)
		return field->missing;
	if (field->member == NULL)
		return SPAN_ABSENT;
	context = scx_context(scx, thread, &reason);
	if (context == NULL)
		return reason == REASON_READ ? SPAN_ABSENT : reason;
	*ret_value = scx_member_read(field->member, context, 0);
	if (field->member->kind == SCX_KIND_BOOLEAN)
		*ret_value = *ret_value != 0; /* a byte of BPF memory may hold anything */
	if (!field->is_change)
		return REASON_READ;
	if (field->from_missing != REASON_READ)
		return field->from_missing;
	state = value_before(field, thread, *ret_value, &before);
	if (state != REASON_READ)
		return state;
	return scx_counter_added(field->member, before, *ret_value, ret_value) ? REASON_READ
									       : REASON_WENT_BACKWARDS;
}

static void add_thread(const struct scx_span *field, uint32_t thread, struct scx_accumulator *accumulator)
{
	uint64_t value = 0;
	const uint16_t state = scx_span_value(field, thread, &value);

	if (state == SPAN_ABSENT)
		return;
	if (state != REASON_READ)
		scx_accumulate_missing(accumulator, (reason_id)state);
	else if (field->is_change)
		scx_accumulate_amount(accumulator, (double)value * field->scale);
	else
		scx_accumulate(accumulator, field->member, value, 1);
}

/* A member for what nobody has read: it is only asked how it is reduced. */
static const struct scx_member nobody = {.count = 1};

void reduce_scx(const struct span *span, const struct shown *shown, struct column_values *values)
{
	const struct scx_span field = scx_span_of(span, (uint16_t)(values->column - COLUMN_SCX));
	struct scx_accumulator *accumulators = memory_allocate_zero(shown->row_count + 1,
								    sizeof(*accumulators));

	values->member = field.member;
	values->fields = memory_allocate_zero(shown->row_count + 1, sizeof(*values->fields));
	for (size_t k = 0; k < shown->count; k++)
		add_thread(&field, shown->threads[k], &accumulators[shown->row_of[k]]);
	for (size_t row = 0; row < shown->row_count; row++) {
		values->fields[row] = scx_reduce(&accumulators[row],
						 field.member != NULL ? field.member : &nobody,
						 span->now->scx.read_at_ns);
		scx_accumulator_release(&accumulators[row]);
	}
	free(accumulators);
}
