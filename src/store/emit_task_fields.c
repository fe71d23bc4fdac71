/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes what a sched_ext scheduler keeps: once what its contexts are, and per thread their numbers. */
#include "emit_internal.h"

/* Without a `ctop` object a file cannot say what the numbers mean. */
static const struct task_field_owner *scheduler_of(const struct emitter *emitter)
{
	return emitter->snapshot->provenance.present ? emitter->snapshot->task_fields.owner : NULL;
}

bool emit_task_fields(struct emitter *emitter, const struct object *object)
{
	const struct task_fields_record record = task_fields_describe(&emitter->snapshot->task_fields);

	if (scheduler_of(emitter) == NULL)
		return false;
	emit_object(emitter, object, &record);
	return true;
}

bool emit_task_field_events(struct emitter *emitter)
{
	const struct task_fields *fields = &emitter->snapshot->task_fields;

	emit_begin(emitter, '{');
	for (size_t i = 0; i < fields->event_count; i++) {
		emit_named_u64(emitter, fields->events[i].name, fields->events[i].value);
	}
	return emit_end(emitter, '}');
}

bool emit_task_field_members(struct emitter *emitter)
{
	const struct task_field_owner *scheduler = scheduler_of(emitter);

	emit_begin(emitter, '[');
	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct task_field_member_record record = task_fields_describe_member(
			&scheduler->members[i]);

		emit_separator(emitter);
		emit_object(emitter, &task_field_member_object, &record);
	}
	return emit_end(emitter, ']');
}

bool emit_task_field_enumerators(struct emitter *emitter, const struct task_field_member_record *record)
{
	emit_begin(emitter, '{');
	for (size_t i = 0; i < record->member.enumerator_count; i++) {
		emit_key(emitter, record->member.enumerators[i].name);
		buffer_append_i64(&emitter->json, record->member.enumerators[i].value);
	}
	return emit_end(emitter, '}');
}

static void emit_numbers(struct emitter *emitter, const struct task_field_member *member,
			 const uint8_t *context)
{
	for (size_t i = 0; i < task_field_elements(member); i++) {
		const uint64_t value = task_field_read(member, context, i);

		emit_separator(emitter);
		if (member->is_signed)
			buffer_append_i64(&emitter->json, (int64_t)value);
		else
			buffer_append_u64(&emitter->json, value);
	}
}

bool emit_task_field_values(struct emitter *emitter, size_t thread)
{
	const struct task_field_owner *scheduler = scheduler_of(emitter);
	const uint8_t *context = task_fields_context(&emitter->snapshot->task_fields, thread, NULL);

	if (scheduler == NULL || context == NULL)
		return false;
	emit_begin(emitter, '[');
	for (size_t i = 0; i < scheduler->member_count; i++)
		emit_numbers(emitter, &scheduler->members[i], context);
	emit_end(emitter, ']');
	return true;
}

reason_id emit_task_fields_missing(const struct emitter *emitter)
{
	return scheduler_of(emitter) != NULL && emitter->snapshot->task_fields.context_of == NULL
		       ? REASON_NOT_READ
		       : REASON_READ;
}

reason_id emit_task_fields_thread_missing(const struct emitter *emitter, size_t thread)
{
	reason_id reason = REASON_READ;

	if (scheduler_of(emitter) != NULL && emitter->snapshot->task_fields.context_of != NULL)
		task_fields_context(&emitter->snapshot->task_fields, thread, &reason);
	return reason;
}
