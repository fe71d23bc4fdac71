/* SPDX-License-Identifier: GPL-2.0-only */
#include "smaps_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "cgroup_key.h"
#include "pattern.h"

struct smaps_build {
	struct smaps_groups *groups;
	const struct grouping_options *options;
	struct cgroup_key_rules rules;
	smaps_groups_rename *rename;
	void *context;
	struct buffer key, name;
};

/* The name of a leader's process, in build->name, with its NUL. */
static void make_name(struct smaps_build *build, uint32_t thread)
{
	const struct snapshot *snapshot = build->groups->snapshot;
	const struct triple *triple = &snapshot->triples[snapshot->triple[thread]];
	const struct string_pool *strings = &snapshot->strings;
	const char *process = string_pool_text(strings, triple->pcomm);
	size_t length = string_pool_length(strings, triple->pcomm);

	buffer_clear(&build->name);
	if (build->options->axis == AXIS_ALL) {
		buffer_clear(&build->key);
		cgroup_key_append(&build->rules, string_pool_text(strings, triple->cgroup),
				  string_pool_length(strings, triple->cgroup), &build->key);
		if (build->rename != NULL)
			build->rename(build->context, thread, &build->key);
		buffer_append(&build->name, build->key.data, build->key.length);
		buffer_append_char(&build->name, '\0');
	}
	if (build->options->keep_thread_names) {
		buffer_append(&build->name, process, length);
		buffer_append_format(&build->name, "[%" PRIu32 "]", snapshot->tgid[thread]);
	} else {
		pattern_append(&build->name, process, length);
	}
	buffer_append_char(&build->name, '\0');
}

static uint32_t process_of(struct smaps_build *build, uint32_t thread)
{
	struct smaps_groups *groups = build->groups;
	uint32_t index;

	make_name(build, thread);
	/* id 0 is the empty string, which no name with its NUL is */
	index = string_pool_intern(&groups->names, build->name.data, build->name.length) - 1;
	if (index == groups->process_count)
		*MEMORY_APPEND(groups->processes, groups->process_count,
			       groups->process_capacity) = (struct smaps_process){0};
	return index;
}

static void add_field(struct smaps_groups *groups, uint32_t process, uint32_t key, uint64_t bytes)
{
	uint64_t id = (uint64_t)process << 32 | key;
	uint32_t index;

	if (!hash_map_get(&groups->field_of, id, &index)) {
		index = (uint32_t)groups->field_count;
		hash_map_set(&groups->field_of, id, index);
		*MEMORY_APPEND(groups->fields, groups->field_count,
			       groups->field_capacity) = (struct smaps_field){process, key, 0};
	}
	groups->fields[index].bytes = number_add_saturating(groups->fields[index].bytes, bytes);
}

static void add_record(struct smaps_build *build, const struct smaps_record *record)
{
	struct smaps_groups *groups = build->groups;
	struct smaps_process *process;
	uint32_t index;

	if (record->kib.count == 0)
		return;
	index = process_of(build, record->thread);
	process = &groups->processes[index];
	process->records++;
	for (uint32_t i = 0; i < record->kib.count; i++) {
		const struct key_value *item = &record->kib.items[i];
		const char *key = snapshot_text(groups->snapshot, item->key);
		uint64_t bytes = number_multiply_saturating(item->value, 1024);

		add_field(groups, index, item->key, bytes);
		if (strcmp(key, "Rss") == 0)
			process->rss = number_add_saturating(process->rss, bytes);
		else if (strcmp(key, "Pss") == 0)
			process->pss = number_add_saturating(process->pss, bytes);
	}
}

/* Processes that have memory of their own but whose map was not read. */
static void note_missing(struct smaps_build *build)
{
	const struct snapshot *snapshot = build->groups->snapshot;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		reason_id reason = snapshot_source_reason(snapshot, i, SOURCE_SMAPS_ROLLUP);
		struct smaps_process *process;
		uint32_t index;

		if (reason == REASON_READ || snapshot->tid[i] != snapshot->tgid[i] ||
		    (snapshot->thread_flags[i] & THREAD_KERNEL))
			continue;
		index = process_of(build, (uint32_t)i);
		process = &build->groups->processes[index];
		if (process->unavailable++ == 0)
			process->reason = reason;
	}
}

static int compare_fields(const void *a, const void *b, void *context)
{
	const struct smaps_groups *groups = context;
	const struct smaps_field *left = a, *right = b;

	if (left->process != right->process)
		return order_u64(left->process, right->process);
	return string_pool_compare(&groups->snapshot->strings, left->key, right->key);
}

static void order_fields(struct smaps_groups *groups)
{
	if (groups->field_count != 0)
		qsort_r(groups->fields, groups->field_count, sizeof(struct smaps_field), compare_fields,
			groups);
	for (size_t i = groups->field_count; i-- > 0;) {
		struct smaps_process *process = &groups->processes[groups->fields[i].process];

		if (process->end == 0)
			process->end = i + 1;
		process->first = i;
	}
}

struct smaps_groups *smaps_groups_create(const struct snapshot *snapshot,
					 const struct grouping_options *options, bool by_flags,
					 smaps_groups_rename *rename, void *context)
{
	struct smaps_groups *groups = memory_allocate_zero(1, sizeof(*groups));
	struct smaps_build build = {
		.groups = groups, .options = options, .rename = rename, .context = context};

	groups->snapshot = snapshot;
	cgroup_key_rules_initialise(&build.rules, options);
	for (size_t i = 0; i < snapshot->smaps_count; i++)
		add_record(&build, &snapshot->smaps[i]);
	if (!by_flags && snapshot->provenance.present)
		note_missing(&build);
	order_fields(groups);
	hash_map_release(&groups->field_of);
	cgroup_key_rules_release(&build.rules);
	buffer_release(&build.key);
	buffer_release(&build.name);
	return groups;
}

void smaps_groups_release(struct smaps_groups *groups)
{
	if (groups == NULL)
		return;
	string_pool_release(&groups->names);
	hash_map_release(&groups->field_of);
	free(groups->processes);
	free(groups->fields);
	free(groups);
}

const char *smaps_groups_name(const struct smaps_groups *groups, size_t process, size_t *ret_length)
{
	uint32_t name = (uint32_t)process + 1;

	*ret_length = string_pool_length(&groups->names, name) - 1;
	return string_pool_text(&groups->names, name);
}

size_t smaps_groups_find(const struct smaps_groups *groups, const char *name, size_t length)
{
	uint32_t id = string_pool_find(&groups->names, name, length + 1);

	return id == UINT32_MAX ? SIZE_MAX : id - 1;
}
