/* SPDX-License-Identifier: GPL-2.0-only */
/* A scheduler and its members as files and rounds have them, in words. */
#include <string.h>

#include "base/memory.h"
#include "member.h"
#include "metric/name.h"

struct task_fields_record task_fields_describe(const struct task_fields *fields)
{
	const struct task_field_owner *scheduler = fields->owner;

	if (scheduler == NULL)
		return (struct task_fields_record){0};
	return (struct task_fields_record){
		.present = true,
		.source = strcmp(scheduler->source, TASK_FIELD_SOURCE) != 0 ? scheduler->source : NULL,
		.scheduler = scheduler->name,
		.enable_seq = scheduler->enable_seq,
		.loaded_at_ns = scheduler->loaded_at_ns,
		.read_at_ns = fields->read_at_ns,
		.type = scheduler->type,
		.storage = scheduler->storage,
		.layout = scheduler->layout,
		.size = scheduler->size,
		.mismatched = fields->mismatched,
	};
}

struct task_field_member_record task_fields_describe_member(const struct task_field_member *member)
{
	return (struct task_field_member_record){
		.member = *member,
		.count = {member->count, member->count != 1},
		.reduction = member->has_facts ? task_field_reduction_names[member->facts.reduction] : NULL,
		.unit = member->has_facts ? task_field_units[member->facts.ladder] : NULL,
	};
}

static const char *text_or_empty(const char *text)
{
	return text != NULL ? text : "";
}

struct task_field_owner *task_fields_create(const struct task_fields_record *record)
{
	struct task_field_owner *scheduler = task_field_owner_create(
		record->source != NULL ? record->source : TASK_FIELD_SOURCE, text_or_empty(record->scheduler),
		text_or_empty(record->type), text_or_empty(record->storage), text_or_empty(record->layout),
		record->size);

	scheduler->enable_seq = record->enable_seq;
	scheduler->loaded_at_ns = record->loaded_at_ns;
	return scheduler;
}

static size_t find(const char *const names[], size_t count, const char *name)
{
	return name != NULL ? name_find(names, count, sizeof(char *), name, strlen(name)) : count;
}

struct task_field_member task_fields_create_member(const struct task_field_member_record *record)
{
	const size_t reduction = find(task_field_reduction_names, TASK_FIELD_REDUCTION_TOTAL,
				      record->reduction),
		     unit = find(task_field_units, ARRAY_COUNT(task_field_units), record->unit);
	struct task_field_member member = record->member;

	member.name = text_or_empty(member.name);
	member.type = text_or_empty(member.type);
	member.is_signed |= member.kind == TASK_FIELD_KIND_SIGNED;
	member.count = !record->count.present              ? 1
		       : record->count.value <= UINT32_MAX ? (uint32_t)record->count.value
							   : UINT32_MAX;
	member.has_facts = reduction < TASK_FIELD_REDUCTION_TOTAL && unit < ARRAY_COUNT(task_field_units);
	if (member.has_facts)
		member.facts = (struct task_field_facts){(enum task_field_reduction)reduction,
							 (enum ladder)unit};
	return member;
}
