/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of smaps_rollup: memory by kind, summed over the processes of one name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "base/unicode.h"
#include "tables_internal.h"
#include "window/cgroup_key.h"
#include "window/pattern.h"

/* The sums of one side over the processes of one name. */
struct process_side {
	uint32_t unavailable; /* leaders whose map was not read */
	reason_id reason;     /* of the first of them */
};

struct process {
	struct process_side side[DIFF_SIDE_COUNT];
	uint32_t name;      /* id in the table's names */
	size_t first, end;  /* its lines */
	uint64_t weight[2]; /* change of Rss and larger Rss; of one snapshot Rss and Pss */
};

/* A line of their maps. */
struct line {
	uint32_t process, key; /* index; id in the table's keys */
	uint64_t bytes[DIFF_SIDE_COUNT];
	bool has[DIFF_SIDE_COUNT];
};

struct smaps_table {
	struct tables_build *build;
	struct cgroup_key_rules rules;
	struct string_pool names; /* of processes, each with its NUL; on AXIS_ALL the cgroup's before it */
	struct string_pool keys;
	struct process *processes; /* by name, from id 1 on; then by weight */
	size_t process_count, process_capacity;
	struct line *lines; /* by process and key */
	size_t line_count, line_capacity;
	struct hash_map line_of; /* process << 32 | key */
	struct buffer name, cgroup;
};

/* --- sums --- */

/* The cgroup of a process; one of after stands where the row of its leader does, under the name of before. */
static void append_cgroup(struct smaps_table *smaps, enum diff_side side, uint32_t thread,
			  const struct triple *triple)
{
	const struct diff *diff = smaps->build->diff;
	const struct diff_pair *pair = &diff->pairs[diff_pair_of_thread(diff, side, thread)];

	buffer_clear(&smaps->cgroup);
	if (side == DIFF_AFTER && pair->kind == DIFF_PAIR_FUDGED)
		buffer_append_text(&smaps->cgroup, pair->key);
	else
		cgroup_key_append_name(&smaps->rules, diff->snapshots[side], triple->cgroup, &smaps->cgroup);
	buffer_append(&smaps->name, smaps->cgroup.data,
		      name_shown_length(smaps->cgroup.data, smaps->cgroup.length));
	buffer_append_char(&smaps->name, '\0');
}

/* The index of the processes that are called as that of a leader. */
static uint32_t find_process(struct smaps_table *smaps, enum diff_side side, uint32_t thread)
{
	const struct grouping_options *options = &smaps->build->diff->options.grouping;
	const struct snapshot *snapshot = smaps->build->diff->snapshots[side];
	const struct triple *triple = &snapshot->triples[snapshot->triple[thread]];
	struct buffer text = {0};
	const struct name_text process = name_rules_text(options->rules, snapshot, triple->pcomm, &text);
	uint32_t id;

	buffer_clear(&smaps->name);
	if (options->axis == AXIS_ALL)
		append_cgroup(smaps, side, thread, triple);
	if (options->keep_thread_names) {
		buffer_append(&smaps->name, process.text, name_shown_length(process.text, process.length));
		buffer_append_format(&smaps->name, "[%" PRIu32 "]", snapshot->tgid[thread]);
	} else {
		pattern_append(&smaps->name, process.text, process.length, options->rules);
	}
	buffer_release(&text);
	buffer_append_char(&smaps->name, '\0');
	/* id 0 is the empty string, which no name with its NUL is */
	id = string_pool_intern(&smaps->names, smaps->name.data, smaps->name.length);
	if (id > smaps->process_count)
		*MEMORY_APPEND(smaps->processes, smaps->process_count,
			       smaps->process_capacity) = (struct process){.name = id};
	return id - 1;
}

static void add_line(struct smaps_table *smaps, enum diff_side side, uint32_t process, uint32_t key,
		     uint64_t bytes)
{
	const uint64_t id = (uint64_t)process << 32 | key;
	struct line *line;
	uint32_t index;

	if (!hash_map_get(&smaps->line_of, id, &index)) {
		index = (uint32_t)smaps->line_count;
		hash_map_set(&smaps->line_of, id, index);
		*MEMORY_APPEND(smaps->lines, smaps->line_count,
			       smaps->line_capacity) = (struct line){.process = process, .key = key};
	}
	line = &smaps->lines[index];
	line->bytes[side] = number_add_saturating(line->bytes[side], bytes);
	line->has[side] = true;
}

static void add_record(struct smaps_table *smaps, enum diff_side side, const struct smaps_record *record)
{
	const struct string_pool *strings = &smaps->build->diff->snapshots[side]->strings;
	uint32_t process;

	if (record->kib.count == 0)
		return;
	process = find_process(smaps, side, record->thread);
	for (uint32_t i = 0; i < record->kib.count; i++) {
		const struct key_value *item = &record->kib.items[i];

		add_line(smaps, side, process, string_pool_copy(&smaps->keys, strings, item->key),
			 number_multiply_saturating(item->value, 1024));
	}
}

/* Processes that have memory of their own but whose map was not read. */
static void note_missing(struct smaps_table *smaps, enum diff_side side)
{
	const struct snapshot *snapshot = smaps->build->diff->snapshots[side];

	if (tables_side_is_flagged(smaps->build, side))
		return;
	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		const reason_id reason = snapshot_source_reason(snapshot, i, SOURCE_SMAPS_ROLLUP);
		struct process_side *sums;
		uint32_t process;

		if (reason == REASON_READ || snapshot->tid[i] != snapshot->tgid[i] ||
		    (snapshot->thread_flags[i] & THREAD_KERNEL))
			continue;
		process = find_process(smaps, side, i);
		sums = &smaps->processes[process].side[side];
		if (sums->unavailable++ == 0)
			sums->reason = reason;
	}
}

static void add_up(struct smaps_table *smaps)
{
	for (size_t side = smaps->build->first_side; side < DIFF_SIDE_COUNT; side++) {
		const struct snapshot *snapshot = smaps->build->diff->snapshots[side];

		for (size_t i = 0; i < snapshot->smaps_count; i++)
			add_record(smaps, (enum diff_side)side, &snapshot->smaps[i]);
		note_missing(smaps, (enum diff_side)side);
	}
}

/* --- order --- */

static int compare_lines(const void *a, const void *b, void *context)
{
	const struct smaps_table *smaps = context;
	const struct line *left = a, *right = b;

	if (left->process != right->process)
		return order_u64(left->process, right->process);
	return string_pool_compare(&smaps->keys, left->key, right->key);
}

/* Weighs a process by one of its lines. */
static void weigh(const struct smaps_table *smaps, const struct line *line, struct process *process)
{
	const char *key = string_pool_text(&smaps->keys, line->key);
	const uint64_t before = line->bytes[DIFF_BEFORE], after = line->bytes[DIFF_AFTER];
	const uint64_t larger = after > before ? after : before;
	const bool is_comparison = smaps->build->is_comparison;

	if (strcmp(key, "Rss") == 0) {
		process->weight[0] = is_comparison ? larger - (after > before ? before : after) : after;
		process->weight[1] = is_comparison ? larger : process->weight[1];
	} else if (strcmp(key, "Pss") == 0 && !is_comparison) {
		process->weight[1] = after;
	}
}

static void order_lines(struct smaps_table *smaps)
{
	if (smaps->line_count != 0)
		qsort_r(smaps->lines, smaps->line_count, sizeof(*smaps->lines), compare_lines, smaps);
	for (size_t i = 0; i < smaps->line_count; i++) {
		struct process *process = &smaps->processes[smaps->lines[i].process];

		if (process->end == 0)
			process->first = i;
		process->end = i + 1;
		weigh(smaps, &smaps->lines[i], process);
	}
}

/* By weight, then by name. */
static int compare_processes(const void *a, const void *b, void *context)
{
	const struct smaps_table *smaps = context;
	const struct process *left = a, *right = b;

	for (size_t i = 0; i < 2; i++) {
		if (left->weight[i] != right->weight[i])
			return left->weight[i] > right->weight[i] ? -1 : 1;
	}
	return string_pool_compare(&smaps->names, left->name, right->name);
}

/* --- rows --- */

/* Sets the cell of one side, and the value that the change is made of. `line` is NULL if none was read. */
static void set_side(const struct process *process, const struct line *line, enum diff_side side,
		     struct tables_row *content)
{
	const struct process_side *sums = &process->side[side];
	const bool incomplete = sums->unavailable != 0, is_read = line != NULL && line->has[side];
	const enum value_state state = is_read ? VALUE_READ : incomplete ? VALUE_UNAVAILABLE : VALUE_ABSENT;
	struct cell *cell = &content->sides[side];

	content->value.side[side] = (struct diff_side_value){
		.state = state,
		.reason = sums->reason,
		.partial = is_read && incomplete,
		.has_number = is_read,
		.number = is_read ? (double)line->bytes[side] : 0,
	};
	*cell = cell_of_state(state, sums->reason, UNIT_BYTES);
	cell->partial = is_read && incomplete;
	cell->reason = sums->reason;
	if (is_read)
		cell_set_value(cell, line->bytes[side]);
}

static void add_row(struct smaps_table *smaps, const struct process *process, const struct buffer *label,
		    const char *key, size_t key_length, const struct line *line)
{
	struct tables_build *build = smaps->build;
	struct tables_row content = {
		.label = label->data,
		.label_length = label->length,
		.is_own = name_is_own(string_pool_text(&smaps->names, process->name),
				      string_pool_length(&smaps->names, process->name) - 1),
		.column = COLUMN_COUNT,
	};
	struct diff_value *value = &content.value;

	if (tables_add_row(build) == NULL)
		return;
	content.name = unicode_duplicate_without_nul(&build->table->arena, key, key_length);
	for (size_t side = build->first_side; side < DIFF_SIDE_COUNT; side++)
		set_side(process, line, (enum diff_side)side, &content);
	diff_value_conclude(value, false);
	/* changes of metrics are those of doubles, as in ktstr; this one is exact */
	if (value->has_delta)
		value->delta = number_difference(line->bytes[DIFF_BEFORE], line->bytes[DIFF_AFTER]);
	if (value->has_fraction)
		value->fraction = value->delta / value->side[DIFF_BEFORE].number;
	tables_row_fill(build, build->table->row_count - 1, &content);
}

/* A row for each line that differs, of one snapshot that is not zero. */
static void add_process(struct smaps_table *smaps, const struct process *process, const struct buffer *label)
{
	const char *file = sources[SOURCE_SMAPS_ROLLUP].name;

	for (size_t i = process->first; i < process->end; i++) {
		const struct line *line = &smaps->lines[i];
		const bool in_both = line->has[DIFF_BEFORE] && line->has[DIFF_AFTER];

		if (smaps->build->is_comparison
			    ? in_both && line->bytes[DIFF_BEFORE] == line->bytes[DIFF_AFTER]
			    : line->bytes[DIFF_AFTER] == 0)
			continue;
		add_row(smaps, process, label, string_pool_text(&smaps->keys, line->key),
			string_pool_length(&smaps->keys, line->key), line);
	}
	/* in the table of one snapshot a process without any line has a row of its own */
	if (!smaps->build->is_comparison && process->end == 0)
		add_row(smaps, process, label, file, strlen(file), NULL);
}

static void begin_table(struct tables_build *build)
{
	static const struct table_column columns[] = {
		{"process", .left = true},
		{"key", .left = true},
		{"value", .measured = true},
	};
	static const enum tables_column ids[] = {TABLES_COLUMN_GROUP, TABLES_COLUMN_METRIC,
						 TABLES_COLUMN_VALUE};
	const enum axis axis = build->diff->options.grouping.axis;

	if (build->is_comparison) {
		tables_row_begin(build, sections[SECTION_SMAPS_ROLLUP].name,
				 axes[axis == AXIS_ALL ? AXIS_ALL : AXIS_PROCESS].header);
		return;
	}
	tables_begin(build, sections[SECTION_SMAPS_ROLLUP].name, columns, ARRAY_COUNT(columns));
	for (size_t i = 0; i < ARRAY_COUNT(columns); i++)
		build->table->columns[i].column = ids[i];
}

static void build_table(struct smaps_table *smaps)
{
	const bool is_all = smaps->build->diff->options.grouping.axis == AXIS_ALL;
	struct buffer label = {0};

	begin_table(smaps->build);
	if (smaps->process_count != 0)
		qsort_r(smaps->processes, smaps->process_count, sizeof(*smaps->processes), compare_processes,
			smaps);
	for (size_t i = 0; i < smaps->process_count; i++) {
		const uint32_t id = smaps->processes[i].name;
		const char *name = string_pool_text(&smaps->names, id);
		const size_t length = string_pool_length(&smaps->names, id) - 1;
		const size_t cgroup = is_all ? strlen(name) + 1 : 0;

		buffer_clear(&label);
		if (is_all)
			buffer_append_format(&label, "%s | ", name);
		buffer_append(&label, name + cgroup, name_shown_length(name + cgroup, length - cgroup));
		add_process(smaps, &smaps->processes[i], &label);
	}
	tables_finish(smaps->build);
	buffer_release(&label);
}

void tables_smaps(struct tables_build *build)
{
	struct smaps_table smaps = {.build = build};

	cgroup_key_rules_initialise(&smaps.rules, &build->diff->options.grouping);
	add_up(&smaps);
	order_lines(&smaps);
	build_table(&smaps);
	cgroup_key_rules_release(&smaps.rules);
	string_pool_release(&smaps.names);
	string_pool_release(&smaps.keys);
	hash_map_release(&smaps.line_of);
	free(smaps.processes);
	free(smaps.lines);
	buffer_release(&smaps.name);
	buffer_release(&smaps.cgroup);
}
