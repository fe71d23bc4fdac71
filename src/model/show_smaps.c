/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of smaps_rollup: memory by kind, summed over the processes of one name pattern. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "pattern.h"
#include "show_build.h"

static const struct show_column_spec columns[] = {
	{"process", true, false},
	{"key", true, false},
	{"value", false, true},
};

struct field {
	uint32_t process; /* id in names */
	uint32_t key;     /* id in the snapshot's strings */
	uint64_t bytes;
};

struct process {
	uint32_t name; /* id in names */
	uint64_t rss, pss;
	uint32_t records;     /* leaders with a map */
	uint32_t unavailable; /* leaders whose map was not read */
	reason_id reason;
};

struct memory_by_process {
	struct show_build *build;
	struct string_pool names;
	struct process *processes; /* indexed by name id until they are sorted */
	size_t process_count, process_capacity;
	struct field *fields;
	size_t field_count, field_capacity;
	struct hash_map field_of; /* process << 32 | key */
};

static struct process *process_of(struct memory_by_process *memory, uint32_t thread)
{
	const struct snapshot *snapshot = memory->build->snapshot;
	uint32_t pcomm = snapshot->triples[snapshot->triple[thread]].pcomm;
	const char *name = snapshot_text(snapshot, pcomm);
	size_t length = string_pool_length(&snapshot->strings, pcomm);
	struct buffer *text = &memory->build->text;
	uint32_t id;

	if (memory->build->request->grouping.keep_thread_names) {
		buffer_append(text, name, length);
		buffer_append_format(text, "[%" PRIu32 "]", snapshot->tgid[thread]);
	} else {
		pattern_append(text, name, length);
	}
	id = string_pool_intern(&memory->names, text->data, text->length);
	buffer_clear(text);
	memory->processes = memory_grow(memory->processes, &memory->process_capacity, id + 1,
					sizeof(struct process));
	while (memory->process_count <= id) {
		memory->processes[memory->process_count] = (struct process){
			.name = (uint32_t)memory->process_count};
		memory->process_count++;
	}
	return &memory->processes[id];
}

static void add_field(struct memory_by_process *memory, const struct process *process,
		      const struct key_value *item)
{
	uint64_t bytes = number_multiply_saturating(item->value, 1024);
	uint64_t id = (uint64_t)process->name << 32 | item->key;
	uint32_t index;

	if (!hash_map_get(&memory->field_of, id, &index)) {
		index = (uint32_t)memory->field_count++;
		hash_map_set(&memory->field_of, id, index);
		memory->fields = memory_grow(memory->fields, &memory->field_capacity, memory->field_count,
					     sizeof(struct field));
		memory->fields[index] = (struct field){process->name, item->key, 0};
	}
	memory->fields[index].bytes = number_add_saturating(memory->fields[index].bytes, bytes);
}

static void add_record(struct memory_by_process *memory, const struct smaps_record *record)
{
	const struct snapshot *snapshot = memory->build->snapshot;
	struct process *process;

	if (record->kib.count == 0)
		return;
	process = process_of(memory, record->thread);
	process->records++;
	for (uint32_t i = 0; i < record->kib.count; i++) {
		const struct key_value *item = &record->kib.items[i];
		const char *key = snapshot_text(snapshot, item->key);
		uint64_t bytes = number_multiply_saturating(item->value, 1024);

		add_field(memory, process, item);
		if (strcmp(key, "Rss") == 0)
			process->rss = number_add_saturating(process->rss, bytes);
		else if (strcmp(key, "Pss") == 0)
			process->pss = number_add_saturating(process->pss, bytes);
	}
}

/* Processes that have memory of their own but whose map was not read. */
static void note_missing(struct memory_by_process *memory)
{
	const struct snapshot *snapshot = memory->build->snapshot;
	const reason_id *reasons_of_threads = snapshot->source_reason[SOURCE_SMAPS_ROLLUP];
	reason_id default_reason = snapshot->default_reason[SOURCE_SMAPS_ROLLUP];

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		reason_id reason = reasons_of_threads != NULL ? reasons_of_threads[i] : default_reason;
		struct process *process;

		if (reason == REASON_READ || snapshot->tid[i] != snapshot->tgid[i] ||
		    (snapshot->thread_flags[i] & THREAD_KERNEL))
			continue;
		process = process_of(memory, (uint32_t)i);
		if (process->unavailable++ == 0)
			process->reason = reason;
	}
}

/* Largest Rss first, then largest Pss, then by name. */
static int compare_processes(const void *a, const void *b, void *context)
{
	const struct memory_by_process *memory = context;
	const struct process *left = a, *right = b;

	if (left->rss != right->rss)
		return left->rss > right->rss ? -1 : 1;
	if (left->pss != right->pss)
		return left->pss > right->pss ? -1 : 1;
	return string_pool_compare(&memory->names, left->name, right->name);
}

static int compare_fields(const void *a, const void *b, void *context)
{
	const struct memory_by_process *memory = context;
	const struct field *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return string_pool_compare(&memory->build->snapshot->strings, left->key, right->key);
}

static struct table_row *add_row(struct memory_by_process *memory, struct table *table,
				 const struct process *process, const char *key, size_t length)
{
	struct table_row *row = show_add_row(memory->build, table);

	if (row == NULL)
		return NULL;
	show_set_text(table, &row->cells[0], string_pool_text(&memory->names, process->name),
		      string_pool_length(&memory->names, process->name));
	show_set_text(table, &row->cells[1], key, length);
	return row;
}

static void add_process_rows(struct memory_by_process *memory, struct table *table,
			     const struct process *process, const size_t first_field[])
{
	const struct string_pool *strings = &memory->build->snapshot->strings;
	const char *file = sources[SOURCE_SMAPS_ROLLUP].name;
	struct table_row *row;

	for (size_t i = first_field[process->name]; i < first_field[process->name + 1]; i++) {
		const struct field *field = &memory->fields[i];

		if (field->bytes == 0)
			continue;
		row = add_row(memory, table, process, string_pool_text(strings, field->key),
			      string_pool_length(strings, field->key));
		if (row == NULL)
			continue;
		show_set_integer(memory->build, table, &row->cells[2], field->bytes, LADDER_BYTES);
		row->cells[2].partial = process->unavailable != 0;
		row->cells[2].reason = process->reason;
	}
	if (process->records != 0 || process->unavailable == 0)
		return;
	row = add_row(memory, table, process, file, strlen(file));
	if (row != NULL)
		show_set_unavailable(&row->cells[2], process->reason, UNIT_BYTES);
}

static void build_table(struct memory_by_process *memory)
{
	struct table *table = show_create_table(sections[SECTION_SMAPS_ROLLUP].name, columns, 3);
	size_t *first_field = memory_allocate_zero(memory->process_count + 2, sizeof(*first_field));
	size_t next = 0;

	if (memory->field_count > 0)
		qsort_r(memory->fields, memory->field_count, sizeof(struct field), compare_fields, memory);
	for (size_t name = 0; name <= memory->process_count; name++) {
		while (next < memory->field_count && memory->fields[next].process < name)
			next++;
		first_field[name] = next;
	}
	if (memory->process_count > 0)
		qsort_r(memory->processes, memory->process_count, sizeof(struct process), compare_processes,
			memory);
	for (size_t i = 0; i < memory->process_count; i++)
		add_process_rows(memory, table, &memory->processes[i], first_field);
	show_finish_table(memory->build, table);
	free(first_field);
}

void show_smaps_table(struct show_build *build)
{
	struct memory_by_process memory = {.build = build};

	for (size_t i = 0; i < build->snapshot->smaps_count; i++)
		add_record(&memory, &build->snapshot->smaps[i]);
	if (!build->by_flags)
		note_missing(&memory);
	if (memory.process_count != 0)
		build_table(&memory);
	string_pool_release(&memory.names);
	hash_map_release(&memory.field_of);
	free(memory.processes);
	free(memory.fields);
}
