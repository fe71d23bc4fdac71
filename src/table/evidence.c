/* SPDX-License-Identifier: GPL-2.0-only */
/* The quality of the data: values read, values missed and why, and remedies. */
#include "evidence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap_tag.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "snapshot/ended_set.h"
#include "snapshot/metric_reader.h"

static const struct table_column evidence_columns[EVIDENCE_COUNT] = {
	[EVIDENCE_READ] = {.name = "read", .title = "READ", .width = 7},
	[EVIDENCE_MISSED] = {.name = "missed", .title = "MISSED", .width = 7},
	[EVIDENCE_WHY] = {.name = "why", .title = "WHY", .left = true, .width = 18},
	[EVIDENCE_REMEDY] = {.name = "remedy", .title = "REMEDY", .left = true, .width = 24},
};

enum feature evidence_feature(enum source source, reason_id reason)
{
	const struct source_entry *entry = &sources[source];

	if (reason == REASON_NOT_PERMITTED && entry->rights != FEATURE_NONE)
		return entry->rights;
	if (reason == REASON_OTHER_NAMESPACE && entry->needs == FEATURE_NONE &&
	    (entry->flags & SOURCE_BY_ID) != 0)
		return FEATURE_PID_NAMESPACE;
	return entry->needs;
}

void evidence_append_remedy(const struct snapshot *now, enum source source, reason_id reason,
			    struct buffer *text)
{
	const enum feature feature = evidence_feature(source, reason);

	if (feature != FEATURE_NONE)
		feature_append_remedy(now->provenance.features, feature, text);
	else if (source == SOURCE_JEMALLOC && reason == REASON_NEEDS_STOP)
		buffer_append_text(text, heap_tags[HEAP_TAG_NEEDS_STOP].remedy);
	/* switched off by us, not by Yama */
	else if (source == SOURCE_JEMALLOC && reason == REASON_SWITCHED_OFF &&
		 now->provenance.features[FEATURE_PROCESS_MEMORY].reason != REASON_SWITCHED_OFF)
		buffer_append_text(text, "the key J; ctop without --no-heap");
}

/* Moves a buffer's text into `arena`, or returns "-" if it is empty; releases the buffer. */
static const char *take_text(struct buffer *text, struct arena *arena)
{
	const char *copy = text->length != 0 ? arena_duplicate(arena, text->data, text->length) : "-";

	buffer_release(text);
	return copy;
}

/* A row of what was read and missed; its texts outlive the table. */
struct evidence_row {
	const char *key, *label;
	uint32_t tgid; /* 0 for what is of no process */
	uint64_t read, missed;
	const char *why, *remedy; /* NULL: nothing was missed */
};

static void add_row(struct table *table, const struct evidence_row *content)
{
	struct table_row *row = table_add_named_row(table, content->key, content->label);

	row->tgid = content->tgid;
	row->cells[EVIDENCE_READ] = cell_of_integer(content->read, UNIT_COUNT);
	row->cells[EVIDENCE_MISSED] = cell_of_integer(content->missed, UNIT_COUNT);
	if (content->why != NULL) {
		row->cells[EVIDENCE_WHY] = cell_of_text(content->why);
		row->cells[EVIDENCE_REMEDY] = cell_of_text(content->remedy);
	}
}

static const char *copy_text(const char *text, struct arena *arena)
{
	return arena_duplicate(arena, text, strlen(text));
}

static void add_source(struct table *table, const struct snapshot *now, enum source source)
{
	struct tally own;
	const struct tally *tally = &own;
	const struct source_entry *entry = &sources[source];
	uint64_t missed = 0, most = 0;
	reason_id reason = REASON_READ;
	struct evidence_row row = {.key = entry->name};

	if (now->provenance.tallies != NULL)
		tally = &now->provenance.tallies[source];
	else
		snapshot_tally(now, source, &own); /* the capture left none */
	for (size_t i = 1; i <= UINT8_MAX; i++) {
		missed += tally->missed[i];
		if (tally->missed[i] > most) {
			most = tally->missed[i];
			reason = (reason_id)i;
		}
	}
	row.label = arena_format(&table->arena, "%s%s", entry->part_of != SOURCE_NONE ? "  " : "",
				 entry->name);
	row.read = tally->read;
	row.missed = missed;
	if (missed != 0) {
		struct buffer remedy = {0};

		evidence_append_remedy(now, source, reason, &remedy);
		row.why = arena_format(&table->arena, "%s%s", reason_words(reason),
				       most < missed ? " and others" : "");
		row.remedy = take_text(&remedy, &table->arena);
	}
	add_row(table, &row);
}

static void add_feature(struct table *table, const struct snapshot *now, enum feature feature)
{
	const struct feature_result *result = &now->provenance.features[feature];
	struct buffer remedy = {0};
	struct table_row *row = table_add_named_row(table, features[feature].name, features[feature].words);
	const char *why = result->detail != NULL ? result->detail : reason_words(result->reason);

	row->cells[EVIDENCE_READ] = cell_of_text(feature_state_names[result->state]);
	if (result->state == FEATURE_STATE_ON || result->state == FEATURE_STATE_UNKNOWN)
		return;
	row->cells[EVIDENCE_WHY] = cell_of_text(copy_text(why, &table->arena));
	feature_append_remedy(now->provenance.features, feature, &remedy);
	if (remedy.length != 0)
		row->cells[EVIDENCE_REMEDY] = cell_of_text(copy_text(remedy.data, &table->arena));
	buffer_release(&remedy);
}

/* --- processes that the allocator probe looked at --- */

/* Processes of one name with one outcome. */
struct outcome {
	const struct heap_process *process; /* the first of them */
	const char *name;                   /* NULL: of any name */
	uint32_t processes;
	uint64_t read, missed;
	reason_id reason; /* of a missed thread */
};

static void count_thread(const struct metric_reader *allocated, size_t thread, struct outcome *outcome)
{
	const struct snapshot *now = allocated->snapshot;
	const uint16_t state = metric_reader_state(allocated, thread);

	if (outcome->name == NULL || now->tid[thread] == now->tgid[thread])
		outcome->name = snapshot_text(now, now->triples[now->triple[thread]].pcomm);
	if (state == REASON_READ) {
		outcome->read++;
	} else if (state != STATE_ABSENT) {
		outcome->missed++;
		outcome->reason = (reason_id)state;
	}
}

/* The outcome of each process, in the order of the snapshot; the caller frees them. */
static struct outcome *count_threads(const struct snapshot *now)
{
	const struct provenance *provenance = &now->provenance;
	const struct metric_reader allocated = metric_reader_of(now, METRIC_ALLOCATED_BYTES);
	struct outcome *outcomes = memory_allocate_zero(provenance->heap_count + 1, sizeof(*outcomes));
	struct hash_map index_of = {0};
	uint32_t index;

	for (size_t i = 0; i < provenance->heap_count; i++) {
		outcomes[i].process = &provenance->heap[i];
		hash_map_set(&index_of, provenance->heap[i].tgid, (uint32_t)i);
	}
	for (size_t i = 0; i < now->thread_count; i++) {
		if (hash_map_get(&index_of, now->tgid[i], &index))
			count_thread(&allocated, i, &outcomes[index]);
	}
	hash_map_release(&index_of);
	return outcomes;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum heap_tag tag_of(const struct heap_process *process)
{
	return process->tag != NULL ? heap_tag_find(process->tag) : HEAP_TAG_NONE;
}

/* Processes that need more privilege share one row: the reason is not in the process. */
static bool belongs(const struct outcome *outcome, const struct outcome *item)
{
	const struct heap_process *a = outcome->process, *b = item->process;

	if (!same_text(a->tag, b->tag) || !same_text(a->layout, b->layout) ||
	    !same_text(a->version, b->version) || outcome->reason != item->reason)
		return false;
	return outcome->name == NULL || (same_text(outcome->name, item->name) && same_text(a->text, b->text));
}

/* Joins outcomes that share a row, in place; returns their number. */
static size_t join_outcomes(struct outcome *outcomes, size_t count)
{
	size_t kept = 0, found;

	for (size_t i = 0; i < count; i++) {
		struct outcome item = outcomes[i];
		enum heap_tag tag = tag_of(item.process);

		if (tag < HEAP_TAG_COUNT && (heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0)
			item.name = NULL;
		else if (item.name == NULL)
			item.name = "?";
		for (found = 0; found < kept && !belongs(&outcomes[found], &item);)
			found++;
		if (found == kept) {
			outcomes[kept++] = item;
		} else {
			outcomes[found].read += item.read;
			outcomes[found].missed += item.missed;
		}
		outcomes[found].processes++;
	}
	return kept;
}

static const char *label_of(const struct outcome *outcome, struct arena *arena)
{
	if (outcome->name == NULL)
		return arena_format(arena, "%" PRIu32 " process%s", outcome->processes,
				    outcome->processes == 1 ? "" : "es");
	if (outcome->processes == 1)
		return arena_format(arena, "%s %" PRIu32, outcome->name, outcome->process->tgid);
	return arena_format(arena, "%s, %" PRIu32 " processes", outcome->name, outcome->processes);
}

/* The tag, what it means, and the detail. */
static const char *why_failed(const struct outcome *outcome, struct arena *arena)
{
	const struct heap_process *process = outcome->process;
	enum heap_tag tag = tag_of(process);
	const char *words = tag < HEAP_TAG_COUNT ? heap_tags[tag].words : "";
	const char *detail = process->text != NULL ? process->text : "";

	if (outcome->name == NULL)
		return words;
	return arena_format(arena, "%s%s%s%s%s", process->tag, words[0] != '\0' ? ": " : "", words,
			    detail[0] != '\0' ? "; " : "", detail);
}

static const char *how_found(const struct outcome *outcome, struct arena *arena)
{
	const struct heap_process *process = outcome->process;
	const char *how = same_text(process->layout, "known-build") ? ", known build, no debug data"
								    : ", by debug data";

	return arena_format(arena, "jemalloc%s%s%s%s%s", process->version != NULL ? " " : "",
			    process->version != NULL ? process->version : "", how,
			    outcome->missed != 0 ? "; " : "",
			    outcome->missed != 0 ? reason_words(outcome->reason) : "");
}

/* Whether more privilege would let the probe read the processes that it may not. */
static bool lacks_privilege(const struct feature_result *feature)
{
	return feature->state == FEATURE_STATE_UNKNOWN ||
	       (feature->state != FEATURE_STATE_ON && feature->remedy != NULL);
}

void evidence_append_privilege_hint(const struct feature_result *feature, bool root, struct buffer *text)
{
	if (feature->state == FEATURE_STATE_ON)
		buffer_append_text(
			text, "no privilege is missing; a security module or a user namespace forbids it");
	else if (!lacks_privilege(feature))
		buffer_append_text(text,
				   feature->detail != NULL ? feature->detail : reason_words(feature->reason));
	else if (root && (feature->remedy == NULL || strncmp(feature->remedy, "setcap", 6) == 0))
		/* files of earlier versions advise root to use setcap */
		buffer_append_text(text, "start ctop with CAP_SYS_PTRACE, which this root lacks");
	else if (root)
		buffer_append_text(text, feature->remedy);
	else
		/* partial means that Yama forbids nothing: its switch would not help */
		buffer_append_format(text, "run as root, or %s%s",
				     feature->remedy != NULL ? feature->remedy : "give ctop CAP_SYS_PTRACE",
				     feature->state != FEATURE_STATE_PARTIAL
					     ? ", or set kernel.yama.ptrace_scope to 0"
					     : "");
}

static void append_snapshot_hint(const struct snapshot *now, struct buffer *text)
{
	const struct provenance *provenance = &now->provenance;

	evidence_append_privilege_hint(&provenance->features[FEATURE_PROCESS_MEMORY],
				       provenance->uid.present && provenance->uid.value == 0, text);
}

static const char *remedy_of(const struct snapshot *now, const struct outcome *outcome, struct arena *arena)
{
	const struct feature_result *memory = &now->provenance.features[FEATURE_PROCESS_MEMORY];
	struct buffer remedy = {0};
	enum heap_tag tag = tag_of(outcome->process);

	if (outcome->process->tag == NULL)
		tag = outcome->reason == REASON_NEEDS_STOP      ? HEAP_TAG_NEEDS_STOP
		      : outcome->reason == REASON_NOT_PERMITTED ? HEAP_TAG_PTRACE_SEIZE
								: HEAP_TAG_NONE;
	if (tag >= HEAP_TAG_COUNT)
		return "-";
	if ((heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) == 0 || memory->state == FEATURE_STATE_UNKNOWN)
		return heap_tags[tag].remedy != NULL ? heap_tags[tag].remedy : "-";
	if (lacks_privilege(memory))
		append_snapshot_hint(now, &remedy);
	return take_text(&remedy, arena);
}

static void add_outcome(struct table *table, const struct snapshot *now, const struct outcome *outcome)
{
	struct arena *arena = &table->arena;
	struct evidence_row row = {
		.key = label_of(outcome, arena),
		.tgid = outcome->process->tgid,
		.read = outcome->read,
		.missed = outcome->missed,
		.why = outcome->process->tag != NULL ? why_failed(outcome, arena) : how_found(outcome, arena),
		.remedy = remedy_of(now, outcome, arena),
	};

	row.label = row.key;
	add_row(table, &row);
}

/*
 * Adds a row for each process that the allocator probe looked at and that has jemalloc, or may have; those of
 * one name and outcome share a row, whose `tgid` is that of its first process.
 */
static void add_heap(struct table *table, const struct snapshot *now)
{
	struct outcome *outcomes = count_threads(now);
	size_t count = join_outcomes(outcomes, now->provenance.heap_count);

	for (int found = 1; found >= 0; found--) {
		for (size_t i = 0; i < count; i++) {
			if ((outcomes[i].process->layout != NULL) == found)
				add_outcome(table, now, &outcomes[i]);
		}
	}
	free(outcomes);
}

/* --- the whole --- */

struct table *evidence_table(const struct snapshot *now)
{
	struct table *table = table_create_with("evidence", evidence_columns, EVIDENCE_COUNT);

	for (int i = 0; i < SOURCE_COUNT; i++)
		add_source(table, now, (enum source)i);
	add_heap(table, now);
	for (int i = 0; i < FEATURE_COUNT; i++)
		add_feature(table, now, (enum feature)i);
	return table;
}

static void append_count(uint64_t count, const char *behind, struct buffer *lines)
{
	humanize_count(lines, count);
	buffer_append_text(lines, behind);
}

/* `interval` ns between this round and the one before, 0 without one. */
static void append_cost(const struct snapshot *now, uint64_t interval, struct buffer *lines)
{
	const struct provenance *provenance = &now->provenance;

	humanize_counted(lines, now->thread_count, "thread");
	buffer_append_text(lines, " seen");
	if (provenance->hidden_threads != 0) {
		buffer_append_text(lines, ", at least ");
		append_count(provenance->hidden_threads, " hidden from BPF", lines);
	}
	if (provenance->present) {
		buffer_append_text(lines, ", ");
		append_count(provenance->ended, " ended meanwhile", lines);
		buffer_append_text(lines, ", read in ");
		humanize_duration(lines, (double)provenance->duration_ns);
	}
	if (interval != 0) {
		buffer_append_text(lines, " (");
		humanize_percent(lines, (double)provenance->duration_ns * 100.0 / (double)interval);
		buffer_append_text(lines, " of the interval)");
	}
	buffer_append_char(lines, '\n');
}

static void append_probe(const struct snapshot *snapshot, struct buffer *lines)
{
	const struct probe_summary *probe = &snapshot->probe_summary;

	if (!probe->present)
		return;
	buffer_append_text(lines, "PROBE  ");
	append_count(probe->tgids_walked, " processes, ", lines);
	append_count(probe->jemalloc_detected, " with jemalloc, ", lines);
	append_count(probe->probed_ok, " threads read, ", lines);
	if (probe->stopped_known)
		append_count(probe->stopped, " stopped, ", lines);
	append_count(probe->failed, " failed", lines);
	if (probe->dominant_failure != NULL)
		buffer_append_format(lines, ", mostly %s", probe->dominant_failure);
	buffer_append_char(lines, '\n');
	if (!probe->privilege_dominant)
		return;
	buffer_append_text(lines, "  not permitted: ");
	append_snapshot_hint(snapshot, lines);
	buffer_append_char(lines, '\n');
}

static void append_parse(const struct parse_summary *parse, struct buffer *lines)
{
	if (!parse->present)
		return;
	buffer_append_text(lines, "PARSE  ");
	append_count(parse->tids_walked, " threads, ", lines);
	append_count(parse->read_failures, " failures", lines);
	if (parse->dominant_read_failure != NULL)
		buffer_append_format(lines, ", mostly %s", parse->dominant_read_failure);
	buffer_append_char(lines, '\n');
}

static void append_taskstats(const struct snapshot *snapshot, struct buffer *lines)
{
	const struct taskstats_summary *taskstats = &snapshot->taskstats_summary;
	const enum feature_state passes = snapshot->provenance.features[FEATURE_PASSES].state;

	if (!taskstats->present)
		return;
	if (passes == FEATURE_STATE_ON || passes == FEATURE_STATE_PARTIAL) {
		buffer_append_text(lines, "BPF  ");
		append_count(taskstats->ok_count, " threads in one pass\n", lines);
		return;
	}
	buffer_append_text(lines, "TASKSTATS  ");
	append_count(taskstats->ok_count, " ok, ", lines);
	append_count(taskstats->eperm_count, " refused, ", lines);
	append_count(taskstats->esrch_count, " ended, ", lines);
	append_count(taskstats->other_err_count, " other errors\n", lines);
}

/* Says which work of ended threads is left out. */
static void append_ended(const struct snapshot *snapshot, uint64_t interval, struct buffer *lines)
{
	const struct ended_set *set = snapshot->ended;

	if (interval != 0 && ended_set_is_left(snapshot))
		buffer_append_text(lines,
				   "ENDED  what ended threads did is not reported: the row (ended) is an "
				   "estimate, the host's CPU time less that of all threads\n");
	if (set == NULL || (!set->lower_bound && set->lost == 0 && !set->unread))
		return;
	buffer_append_text(lines, set->lower_bound ? "ENDED  what ended threads did is a lower bound: "
						     "without their last moments"
						   : "ENDED  ");
	if (set->lost != 0) {
		if (set->lower_bound)
			buffer_append_text(lines, "; ");
		append_count(set->lost,
			     set->lost == 1 ? " ended thread not accounted for"
					    : " ended threads not accounted for",
			     lines);
	}
	if (set->unread)
		buffer_append_format(lines, "%ssome could not be read, and count later",
				     set->lower_bound || set->lost != 0 ? "; " : "");
	buffer_append_char(lines, '\n');
}

static size_t count_fields(const struct task_field_owner *scheduler)
{
	size_t count = 0;

	for (size_t i = 0; i < scheduler->member_count; i++)
		count += scheduler->members[i].field != TASK_FIELD_NONE;
	return count;
}

/* The scheduler, and how many contexts were read; why not tells the feature's row. */
static void append_task_field(const struct snapshot *snapshot, struct buffer *lines)
{
	const struct task_fields *fields = &snapshot->task_fields;
	const struct task_field_owner *scheduler = fields->owner;
	uint64_t none = 0, other_task = 0, unread = 0;

	if (scheduler == NULL) {
		if (snapshot_sched_ext_runs(snapshot))
			buffer_append_text(
				lines, "SCX  a sched_ext scheduler runs; what it keeps for each task was not "
				       "read\n");
		return;
	}
	buffer_append_format(lines, "SCX  scheduler %s: %s, %u bytes, ", scheduler->name, scheduler->type,
			     scheduler->size);
	append_count(count_fields(scheduler), " fields", lines);
	buffer_append_format(lines, ", in the map %s (%s)\n", scheduler->storage, scheduler->layout);
	if (fields->context_of == NULL) {
		buffer_append_text(lines, "  no contexts were read in this round: nothing on the screen uses "
					  "them\n");
		return;
	}
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		reason_id reason;

		if (task_fields_context(fields, i, &reason) != NULL)
			continue;
		none += reason == REASON_READ;
		other_task += reason == REASON_OTHER_TASK;
		unread += reason != REASON_READ && reason != REASON_OTHER_TASK;
	}
	buffer_append_text(lines, "  ");
	append_count(fields->context_count, " contexts read, ", lines);
	append_count(none, " threads without one, ", lines);
	append_count(other_task > fields->mismatched ? other_task : fields->mismatched,
		     " belonged to another task, ", lines);
	append_count(unread, " not read\n", lines);
}

void evidence_append_lines(const struct snapshot *snapshot, uint64_t interval_ns, uint64_t ended,
			   struct buffer *lines)
{
	append_cost(snapshot, interval_ns, lines);
	if (ended != 0)
		append_count(ended,
			     ended == 1 ? " thread ended since the base\n"
					: " threads ended since the base\n",
			     lines);
	buffer_append_text(lines, snapshot->waiting_ns != NULL
					  ? "WAITS  for a CPU count up to now\n"
					  : "WAITS  count when they end, for stuck threads up to now\n");
	append_ended(snapshot, interval_ns, lines);
	append_task_field(snapshot, lines);
	append_probe(snapshot, lines);
	append_parse(&snapshot->parse_summary, lines);
	append_taskstats(snapshot, lines);
}
