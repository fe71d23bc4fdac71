/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop scx`: the sched_ext scheduler that runs, and what it keeps for each thread. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/unicode.h"
#include "capture/capture.h"
#include "capture/scx/scx_survey.h"
#include "cmd/line/output.h"
#include "cmd/line/privilege.h"
#include "cmd/line/reading_options.h"
#include "commands.h"
#include "report/json_text.h"

struct scx_options {
	bool json, walk;
	struct option_numbers processes;
	struct root_options roots;
	struct backend_options backend;
};

struct findings {
	const struct snapshot *snapshot;
	const struct task_field_owner *scheduler;
	const struct feature_result *result; /* of reading contexts */
	struct scx_survey survey;
	bool has_maps; /* the survey has */
};

static const char *thread_name(const struct snapshot *snapshot, size_t row)
{
	return snapshot_text(snapshot, snapshot->triples[snapshot->triple[row]].comm);
}

/* --- values --- */

static bool is_string(const struct task_field_member *member)
{
	return member->kind == TASK_FIELD_KIND_ARRAY && strncmp(member->type, "char[", strlen("char[")) == 0;
}

static void append_string(const struct task_field_member *member, const uint8_t *context, bool json,
			  struct buffer *buffer)
{
	struct buffer text = {0};

	buffer_append_text(&text, "");
	for (uint32_t i = 0; i < member->count; i++) {
		const char character = (char)task_field_read(member, context, i);

		if (character == '\0')
			break;
		buffer_append_char(&text, character);
	}
	if (json) {
		json_append_string(buffer, text.data, text.length);
	} else {
		buffer_append_char(buffer, '"');
		unicode_append_printable(buffer, text.data, text.length, "?");
		buffer_append_char(buffer, '"');
	}
	buffer_release(&text);
}

static void append_number(const struct task_field_member *member, uint64_t value, struct buffer *buffer)
{
	if (member->is_signed)
		buffer_append_i64(buffer, (int64_t)value);
	else
		buffer_append_u64(buffer, value);
}

static void append_array(const struct task_field_member *member, const uint8_t *context,
			 struct buffer *buffer)
{
	buffer_append_char(buffer, '[');
	for (uint32_t i = 0; i < member->count; i++) {
		if (i != 0)
			buffer_append_char(buffer, ',');
		append_number(member, task_field_read(member, context, i), buffer);
	}
	buffer_append_char(buffer, ']');
}

/* Bytes as digits, a pointer as one number of them: the order in memory is the host's. */
static void append_bytes(const struct task_field_member *member, const uint8_t *context,
			 struct buffer *buffer)
{
	const uint8_t *bytes = context + member->bit_offset / 8;
	const uint32_t count = member->bit_size / 8;
	uint64_t pointer;

	if (member->kind == TASK_FIELD_KIND_POINTER && count == sizeof(pointer)) {
		memcpy(&pointer, bytes, sizeof(pointer));
		buffer_append_format(buffer, "0x%" PRIx64, pointer);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		buffer_append_format(buffer, "%02x", bytes[i]);
}

/* Whether all of a member lies in its context, which those that are no numbers need not. */
static bool is_inside(const struct task_field_member *member, uint32_t size)
{
	return member->bit_offset + (uint64_t)member->bit_size * member->count <= (uint64_t)size * 8;
}

static void append_value(const struct task_field_owner *scheduler, const struct task_field_member *member,
			 const uint8_t *context, bool json, struct buffer *buffer)
{
	const uint64_t value = task_field_read(member, context, 0);
	const char *name = member->kind == TASK_FIELD_KIND_ENUM
				   ? task_field_find_enumerator(member, (int64_t)value)
				   : NULL;
	const char *quote = json ? "\"" : "";

	if (is_string(member)) {
		append_string(member, context, json, buffer);
	} else if (member->kind == TASK_FIELD_KIND_ARRAY) {
		append_array(member, context, buffer);
	} else if (name != NULL && json) {
		json_append_text(buffer, name);
	} else if (task_field_has_numbers(member)) {
		if (member->kind == TASK_FIELD_KIND_BOOLEAN || name != NULL)
			task_field_append(member, value, buffer);
		else
			append_number(member, value, buffer);
	} else if (is_inside(member, scheduler->size)) {
		buffer_append_text(buffer, quote);
		append_bytes(member, context, buffer);
		buffer_append_text(buffer, quote);
	} else {
		buffer_append_text(buffer, json ? "null" : "?");
	}
}

/* --- text --- */

static void append_printable(struct buffer *buffer, const char *text)
{
	unicode_append_printable(buffer, text, strlen(text), "?");
}

static void append_line(struct buffer *buffer, const char *title, const char *text)
{
	buffer_append_format(buffer, "%-10s", title);
	append_printable(buffer, text);
	buffer_append_char(buffer, '\n');
}

static uint64_t uptime_ns(const struct task_field_owner *scheduler)
{
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);

	return now_ns > scheduler->loaded_at_ns ? now_ns - scheduler->loaded_at_ns : 0;
}

static void print_scheduler(const struct findings *findings, struct buffer *buffer)
{
	const struct task_field_owner *scheduler = findings->scheduler;
	const struct sched_ext *state = &findings->snapshot->sched_ext;
	const struct task_fields *scx = &findings->snapshot->task_fields;

	append_line(buffer, "scheduler", scheduler->name);
	if (scheduler->loaded_at_ns != 0) {
		buffer_append_format(buffer, "%-10s", "since");
		humanize_duration(buffer, (double)uptime_ns(scheduler));
		buffer_append_char(buffer, '\n');
	}
	buffer_append_format(buffer, "%-10s%" PRIu64 " since boot\n", "started", scheduler->enable_seq);
	append_line(buffer, "threads",
		    state->switch_all != 0 ? "all but those of other classes (switch_all 1)"
					   : "those with the policy SCHED_EXT (switch_all 0)");
	buffer_append_format(buffer, "%-10s%" PRIu64 "\n", "rejected", state->nr_rejected);
	if (scheduler->type[0] != '\0') {
		buffer_append_format(buffer, "%-10s", "contexts");
		append_printable(buffer, scheduler->type);
		buffer_append_format(buffer, ", %" PRIu32 " bytes, in ", scheduler->size);
		append_printable(buffer, scheduler->storage);
		buffer_append_text(buffer, " (");
		append_printable(buffer, scheduler->layout);
		buffer_append_text(buffer, ")\n");
	}
	for (size_t i = 0; i < scx->event_count; i++) {
		buffer_append_format(buffer, "%-10s", i == 0 ? "events" : "");
		append_printable(buffer, scx->events[i].name);
		buffer_append_format(buffer, " %" PRIu64 "\n", scx->events[i].value);
	}
}

static void print_maps(const struct scx_survey *survey, struct buffer *buffer)
{
	buffer_append_text(buffer, "\n    MAP  KIND              NAME\n");
	for (size_t i = 0; i < survey->map_count; i++) {
		const struct scx_survey_map *map = &survey->maps[i];

		buffer_append_format(buffer, "%7" PRIu32 "  %-16s  ", map->id, map->kind);
		append_printable(buffer, map->name);
		buffer_append_char(buffer, '\n');
	}
}

static void print_members(const struct task_field_owner *scheduler, struct buffer *buffer)
{
	buffer_append_text(buffer, "\n OFFSET  BITS  GROUPS   NAME: TYPE\n");
	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];
		const char *reduction = member->field != TASK_FIELD_NONE
						? task_field_reduction_names[member->facts.reduction]
						: "-";

		buffer_append_format(buffer, "%7" PRIu32, member->bit_offset / 8);
		buffer_append_format(buffer, "  %4" PRIu32 "  %-7s  ", member->bit_size, reduction);
		append_printable(buffer, member->name);
		buffer_append_text(buffer, ": ");
		append_printable(buffer, member->type);
		buffer_append_char(buffer, '\n');
	}
}

static void print_context(const struct findings *findings, size_t row, struct buffer *buffer)
{
	const struct snapshot *snapshot = findings->snapshot;
	const struct task_field_owner *scheduler = findings->scheduler;
	reason_id reason;
	const uint8_t *context = task_fields_context(&snapshot->task_fields, row, &reason);

	buffer_append_format(buffer, "%7" PRIu32 " %7" PRIu32 "  ", snapshot->tgid[row], snapshot->tid[row]);
	append_printable(buffer, thread_name(snapshot, row));
	if (context == NULL) {
		append_printable(buffer, reason == REASON_READ ? ": no context" : ": not read: ");
		if (reason != REASON_READ)
			append_printable(buffer, reason_words(reason));
	}
	for (size_t i = 0; context != NULL && i < scheduler->member_count; i++) {
		buffer_append_text(buffer, i == 0 ? ": " : " ");
		append_printable(buffer, scheduler->members[i].name);
		buffer_append_char(buffer, '=');
		append_value(scheduler, &scheduler->members[i], context, false, buffer);
	}
	buffer_append_char(buffer, '\n');
}

static void print_walk(const struct scx_survey *survey, struct buffer *buffer)
{
	buffer_append_char(buffer, '\n');
	append_printable(buffer, survey->walk.head);
	buffer_append_char(buffer, '\n');
	for (size_t i = 0; i < survey->walk.entry_count; i++) {
		const struct sdt_walk_entry *element = &survey->walk.entries[i];

		buffer_append_format(buffer,
				     "  idx=%" PRId32 " genn=%" PRId32 " user_addr=0x%" PRIx64 " payload=",
				     element->idx, element->genn, element->user_addr);
		append_printable(buffer, element->text);
		buffer_append_char(buffer, '\n');
	}
	buffer_append_format(buffer, "%zu of them belong to no living thread%s", survey->dead,
			     survey->dead != 0 ? ":" : "");
	for (size_t i = 0; i < survey->walk.entry_count; i++) {
		if (survey->walk.entries[i].tid == 0)
			buffer_append_format(buffer, " %" PRId32 ".%" PRId32, survey->walk.entries[i].idx,
					     survey->walk.entries[i].genn);
	}
	buffer_append_char(buffer, '\n');
}

static void print_text(const struct findings *findings, struct buffer *buffer)
{
	print_scheduler(findings, buffer);
	if (findings->has_maps)
		print_maps(&findings->survey, buffer);
	if (findings->result->state != FEATURE_STATE_ON)
		return;
	print_members(findings->scheduler, buffer);
	buffer_append_text(buffer, "\n    PID     TID  NAME: CONTEXT\n");
	for (size_t row = 0; row < findings->snapshot->thread_count; row++)
		print_context(findings, row, buffer);
	if (findings->survey.is_walked)
		print_walk(&findings->survey, buffer);
}

/* --- JSON --- */

static void json_scheduler(const struct findings *findings, struct buffer *buffer)
{
	const struct task_field_owner *scheduler = findings->scheduler;
	const struct sched_ext *state = &findings->snapshot->sched_ext;
	const struct task_fields *scx = &findings->snapshot->task_fields;

	json_append_name(buffer, "scheduler");
	buffer_append_char(buffer, '{');
	json_append_member(buffer, "name", scheduler->name);
	json_append_member(buffer, "family", scheduler->family);
	json_append_count(buffer, "enable_seq", scheduler->enable_seq);
	if (scheduler->loaded_at_ns != 0)
		json_append_count(buffer, "uptime_ns", uptime_ns(scheduler));
	json_append_count(buffer, "switch_all", state->switch_all);
	json_append_count(buffer, "nr_rejected", state->nr_rejected);
	buffer_append_text(buffer, ",\"events\":{");
	for (size_t i = 0; i < scx->event_count; i++)
		json_append_count(buffer, scx->events[i].name, scx->events[i].value);
	buffer_append_text(buffer, "}}");
}

static void json_maps(const struct scx_survey *survey, struct buffer *buffer)
{
	buffer_append_text(buffer, ",\"maps\":[");
	for (size_t i = 0; i < survey->map_count; i++) {
		const struct scx_survey_map *map = &survey->maps[i];

		buffer_append_text(buffer, i != 0 ? ",{" : "{");
		json_append_count(buffer, "id", map->id);
		json_append_member(buffer, "kind", map->kind);
		json_append_member(buffer, "name", map->name);
		json_append_count(buffer, "value_size", map->value_size);
		buffer_append_char(buffer, '}');
	}
	buffer_append_char(buffer, ']');
}

static void json_type(const struct task_field_owner *scheduler, struct buffer *buffer)
{
	buffer_append_text(buffer, ",\"type\":{");
	json_append_member(buffer, "name", scheduler->type);
	json_append_count(buffer, "size", scheduler->size);
	json_append_member(buffer, "storage", scheduler->storage);
	json_append_member(buffer, "layout", scheduler->layout);
	buffer_append_text(buffer, ",\"members\":[");
	for (size_t i = 0; i < scheduler->member_count; i++) {
		const struct task_field_member *member = &scheduler->members[i];

		buffer_append_text(buffer, i != 0 ? ",{" : "{");
		json_append_member(buffer, "name", member->name);
		json_append_member(buffer, "type", member->type);
		json_append_member(buffer, "kind", task_field_kind_names[member->kind]);
		json_append_count(buffer, "bit_offset", member->bit_offset);
		json_append_count(buffer, "bit_size", member->bit_size);
		json_append_count(buffer, "count", member->count);
		if (member->field != TASK_FIELD_NONE)
			json_append_member(buffer, "reduction",
					   task_field_reduction_names[member->facts.reduction]);
		buffer_append_char(buffer, '}');
	}
	buffer_append_text(buffer, "]}");
}

static void json_threads(const struct findings *findings, struct buffer *buffer)
{
	const struct snapshot *snapshot = findings->snapshot;
	const struct task_field_owner *scheduler = findings->scheduler;

	buffer_append_text(buffer, ",\"threads\":[");
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		reason_id reason;
		const uint8_t *context = task_fields_context(&snapshot->task_fields, row, &reason);

		buffer_append_text(buffer, row != 0 ? ",{" : "{");
		json_append_count(buffer, "pid", snapshot->tgid[row]);
		json_append_count(buffer, "tid", snapshot->tid[row]);
		json_append_member(buffer, "name", thread_name(snapshot, row));
		if (context == NULL)
			json_append_member(buffer, "reason",
					   reason == REASON_READ ? "no-context" : reason_name(reason));
		buffer_append_text(buffer, context != NULL ? ",\"context\":{" : "}");
		for (size_t i = 0; context != NULL && i < scheduler->member_count; i++) {
			json_append_name(buffer, scheduler->members[i].name);
			append_value(scheduler, &scheduler->members[i], context, true, buffer);
		}
		buffer_append_text(buffer, context != NULL ? "}}" : "");
	}
	buffer_append_char(buffer, ']');
}

/* As the walk of the format describes its output; "tid" and "dead" are ctop's. */
static void json_walk(const struct scx_survey *survey, struct buffer *buffer)
{
	buffer_append_text(buffer, ",\"walk\":{");
	json_append_member(buffer, "allocator_name", survey->walk.allocator_name);
	for (size_t i = 0; i < survey->walk.entry_count; i++) {
		const struct sdt_walk_entry *element = &survey->walk.entries[i];

		buffer_append_format(
			buffer, "%s{\"idx\":%" PRId32 ",\"genn\":%" PRId32 ",\"user_addr\":%" PRIu64,
			i == 0 ? ",\"entries\":[" : ",", element->idx, element->genn, element->user_addr);
		json_append_member(buffer, "payload", element->text);
		if (element->tid != 0)
			json_append_count(buffer, "tid", element->tid);
		buffer_append_text(buffer, i + 1 == survey->walk.entry_count ? "}]" : "}");
	}
	if (survey->walk.truncated)
		buffer_append_text(buffer, ",\"truncated\":true");
	json_append_count(buffer, "skipped_subtrees", survey->walk.skipped_subtrees);
	json_append_count(buffer, "elem_size", survey->walk.elem_size);
	json_append_count(buffer, "payload_btf_type_id", survey->walk.payload_type);
	if (survey->walk.payload_type_reason[0] != '\0')
		json_append_member(buffer, "payload_type_reason", survey->walk.payload_type_reason);
	json_append_count(buffer, "dead", survey->dead);
	buffer_append_char(buffer, '}');
}

static void print_json(const struct findings *findings, struct buffer *buffer)
{
	const struct feature_result *result = findings->result;

	buffer_append_char(buffer, '{');
	json_scheduler(findings, buffer);
	buffer_append_text(buffer, ",\"contexts\":{");
	json_append_member(buffer, "state", feature_state_names[result->state]);
	if (result->state != FEATURE_STATE_ON) {
		json_append_member(buffer, "reason", reason_name(result->reason));
		json_append_member(buffer, "detail", result->detail);
		json_append_member(buffer, "remedy", result->remedy);
	}
	json_append_count(buffer, "of_other_tasks", findings->snapshot->task_fields.mismatched);
	buffer_append_char(buffer, '}');
	if (findings->has_maps)
		json_maps(&findings->survey, buffer);
	if (result->state == FEATURE_STATE_ON) {
		json_type(findings->scheduler, buffer);
		json_threads(findings, buffer);
		if (findings->survey.is_walked)
			json_walk(&findings->survey, buffer);
	}
	buffer_append_text(buffer, "}\n");
}

/* --- reading --- */

static int take(const struct scx_options *options, struct snapshot **ret_snapshot, struct error *error)
{
	const struct capture_round_options round = {
		.needed = source_bit(SOURCE_STAT), .only_needed = true, .task_fields = true};
	const struct capture_options capture_options = reading_options_capture(
		&options->processes, &options->backend, &options->roots);
	struct capture *capture;
	int result;

	result = privilege_open_capture(&capture_options, &capture, error);
	if (result < 0)
		return result;
	result = capture_round(capture, &round, NULL, ret_snapshot, error);
	capture_close(capture);
	privilege_lower();
	return result;
}

/* Why there are no contexts, as a sentence with what would help. */
static int explain(const struct feature_result *result)
{
	struct error error;

	error_set(&error, -ENOTSUP, "no contexts: %s%s%s",
		  result->detail != NULL ? result->detail : reason_words(result->reason),
		  result->remedy != NULL ? "; remedy: " : "", result->remedy != NULL ? result->remedy : "");
	return command_failed(&error);
}

static int print(const struct scx_options *options, struct findings *findings)
{
	const bool is_readable = findings->result->state == FEATURE_STATE_ON;
	struct output output = {0};
	struct error error;
	int result, status;

	/* maps help to see why contexts cannot be read, which is reported below */
	result = scx_survey_find(findings->scheduler, &options->backend.fields, is_readable && options->walk,
				 &findings->survey, &error);
	findings->has_maps = findings->survey.map_count != 0;
	if (options->json)
		print_json(findings, &output.buffer);
	else
		print_text(findings, &output.buffer);
	status = output_end(&output);
	scx_survey_release(&findings->survey);
	if (status != COMMAND_DONE)
		return status;
	if (!is_readable)
		return explain(findings->result);
	return result < 0 ? command_failed(&error) : COMMAND_DONE;
}

static int run(void *options_pointer, char **operands, int operand_count)
{
	const struct scx_options *options = options_pointer;
	struct findings findings = {0};
	struct snapshot *snapshot;
	struct error error;
	int status;

	(void)operands;
	(void)operand_count;
	if (take(options, &snapshot, &error) < 0)
		return command_failed(&error);
	findings.snapshot = snapshot;
	findings.scheduler = snapshot->task_fields.owner;
	findings.result = &snapshot->provenance.features[FEATURE_TASK_FIELDS];
	status = findings.scheduler != NULL ? print(options, &findings) : explain(findings.result);
	snapshot_release(snapshot);
	return status;
}

static const struct option own_options[] = {
	{OPTION('\0', "json", NULL, struct scx_options, json),
	 .description = "one JSON object instead of text"},
	{OPTION('p', "pid", "PID", struct scx_options, processes), .minimum = 1, .maximum = INT32_MAX,
	 .description = "contexts of this process only; may be given several times"},
	{OPTION('\0', "walk", NULL, struct scx_options, walk),
	 .description = "all contexts that the scheduler's allocator holds too, those of threads that ended "
			"among them"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&backend_option_table, offsetof(struct scx_options, backend)},
	{&root_option_table, offsetof(struct scx_options, roots)},
};

const struct command scx_command = {
	.name = "scx",
	.summary = "print what the sched_ext scheduler keeps for each thread",
	.purpose = COMMAND_LOOKS,
	.usage = "[OPTION]...",
	.details = "The scheduler, its maps, the type of its contexts, and the context of each thread. Takes "
		   "root. Nothing in the scheduler is changed, and no memory is allocated in it.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct scx_options),
	.run = run,
};
