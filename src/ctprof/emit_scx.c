/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes what a sched_ext scheduler keeps: once what its contexts are, and per thread their numbers. */
#include <string.h>

#include "emit.h"

/* Without a `ctop` object there is no place that says what the numbers are. */
static const struct scx_scheduler *scheduler_of(const struct emitter *emitter)
{
	return emitter->snapshot->provenance.present ? emitter->snapshot->scx.scheduler : NULL;
}

bool emit_scx(struct emitter *emitter, const struct object *object)
{
	const struct scx *scx = &emitter->snapshot->scx;
	const struct scx_scheduler *scheduler = scheduler_of(emitter);

	if (scheduler == NULL)
		return false;
	emit_object(emitter, object,
		    &(struct scx_record){
			    .scheduler = scheduler->name,
			    .enable_seq = scheduler->enable_seq,
			    .loaded_at_ns = scheduler->loaded_at_ns,
			    .read_at_ns = scx->read_at_ns,
			    .type = scheduler->type,
			    .storage = scheduler->storage,
			    .layout = scheduler->layout,
			    .size = scheduler->size,
			    .mismatched = scx->mismatched,
		    });
	return true;
}

static void emit_key(struct emitter *emitter, const char *name)
{
	emit_separator(emitter);
	emit_text(emitter, name);
	buffer_append_char(&emitter->json, ':');
}

bool emit_scx_events(struct emitter *emitter)
{
	const struct scx *scx = &emitter->snapshot->scx;

	buffer_append_char(&emitter->json, '{');
	for (size_t i = 0; i < scx->event_count; i++) {
		emit_key(emitter, scx->events[i].name);
		buffer_append_u64(&emitter->json, scx->events[i].value);
	}
	buffer_append_char(&emitter->json, '}');
	return scx->event_count != 0;
}

bool emit_scx_members(struct emitter *emitter)
{
	const struct scx_scheduler *scheduler = scheduler_of(emitter);

	buffer_append_char(&emitter->json, '[');
	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct scx_member *member = &scheduler->members[i];

		emit_separator(emitter);
		emit_object(emitter, &scx_member_object,
			    &(struct scx_member_record){
				    .member = *member,
				    .count = {member->count, member->count != 1},
			    });
	}
	buffer_append_char(&emitter->json, ']');
	return scheduler->member_count != 0;
}

bool emit_scx_enumerators(struct emitter *emitter, const struct scx_member_record *record)
{
	buffer_append_char(&emitter->json, '{');
	for (size_t i = 0; i < record->member.enumerator_count; i++) {
		emit_key(emitter, record->member.enumerators[i].name);
		buffer_append_i64(&emitter->json, record->member.enumerators[i].value);
	}
	buffer_append_char(&emitter->json, '}');
	return record->member.enumerator_count != 0;
}

static void emit_numbers(struct emitter *emitter, const struct scx_member *member, const uint8_t *context)
{
	for (size_t i = 0; i < scx_member_elements(member); i++) {
		const uint64_t value = scx_member_read(member, context, i);

		emit_separator(emitter);
		if (member->is_signed)
			buffer_append_i64(&emitter->json, (int64_t)value);
		else
			buffer_append_u64(&emitter->json, value);
	}
}

bool emit_scx_values(struct emitter *emitter, size_t thread)
{
	const struct scx_scheduler *scheduler = scheduler_of(emitter);
	const uint8_t *context = scx_context(&emitter->snapshot->scx, thread, NULL);

	if (scheduler == NULL || context == NULL)
		return false;
	buffer_append_char(&emitter->json, '[');
	for (size_t i = 0; i < scheduler->member_count; i++)
		emit_numbers(emitter, &scheduler->members[i], context);
	buffer_append_char(&emitter->json, ']');
	return true;
}

reason_id emit_scx_missing(const struct emitter *emitter)
{
	return scheduler_of(emitter) != NULL && emitter->snapshot->scx.context_of == NULL ? REASON_NOT_READ
											  : REASON_READ;
}

reason_id emit_scx_thread_missing(const struct emitter *emitter, size_t thread)
{
	reason_id reason = REASON_READ;

	if (scheduler_of(emitter) != NULL && emitter->snapshot->scx.context_of != NULL)
		scx_context(&emitter->snapshot->scx, thread, &reason);
	return reason;
}

bool emit_scx_is_same(const struct emitter *emitter, size_t a, size_t b)
{
	const struct scx_scheduler *scheduler = scheduler_of(emitter);
	const struct scx *scx = &emitter->snapshot->scx;
	reason_id left_reason, right_reason;
	const uint8_t *left, *right;

	if (scheduler == NULL)
		return true;
	left = scx_context(scx, a, &left_reason);
	right = scx_context(scx, b, &right_reason);
	if (left == NULL || right == NULL)
		return left == right && left_reason == right_reason;
	return memcmp(left, right, scheduler->size) == 0;
}
