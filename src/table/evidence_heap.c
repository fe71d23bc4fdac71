/* SPDX-License-Identifier: GPL-2.0-only */
/* What the allocator probe found in each process, or why it did not. */
#include "evidence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/heap_tag.h"
#include "base/memory.h"

/* Processes of one name with one outcome. */
struct outcome {
	const struct heap_process *process; /* the first of them */
	const char *name;                   /* NULL: of any name */
	uint32_t processes;
	uint64_t read, missed;
	reason_id reason; /* of a missed thread */
};

static void count_thread(const struct snapshot *now, size_t thread, struct outcome *outcome)
{
	reason_id reason;

	if (outcome->name == NULL || now->tid[thread] == now->tgid[thread])
		outcome->name = snapshot_text(now, now->triples[now->triple[thread]].pcomm);
	switch (snapshot_value_state(now, thread, METRIC_ALLOCATED_BYTES, false, &reason)) {
	case VALUE_READ:
		outcome->read++;
		break;
	case VALUE_UNAVAILABLE:
		outcome->missed++;
		outcome->reason = reason;
		break;
	case VALUE_ABSENT:
		break;
	}
}

/* The outcome of each process, in the order of the snapshot; the caller frees them. */
static struct outcome *count_threads(const struct snapshot *now)
{
	const struct provenance *provenance = &now->provenance;
	struct outcome *outcomes = memory_allocate_zero(provenance->heap_count + 1, sizeof(*outcomes));
	struct hash_map index_of = {0};
	uint32_t index;

	for (size_t i = 0; i < provenance->heap_count; i++) {
		outcomes[i].process = &provenance->heap[i];
		hash_map_set(&index_of, provenance->heap[i].tgid, (uint32_t)i);
	}
	for (size_t i = 0; i < now->thread_count; i++) {
		if (hash_map_get(&index_of, now->tgid[i], &index))
			count_thread(now, i, &outcomes[index]);
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

/* What was not read for lack of privilege has one row: the reason is not in the process. */
static bool belongs(const struct outcome *outcome, const struct outcome *item)
{
	const struct heap_process *a = outcome->process, *b = item->process;

	if (!same_text(a->tag, b->tag) || !same_text(a->layout, b->layout) ||
	    !same_text(a->version, b->version) || outcome->reason != item->reason)
		return false;
	return outcome->name == NULL || (same_text(outcome->name, item->name) && same_text(a->text, b->text));
}

/* Joins outcomes that share a row, in place; returns how many there are then. */
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

static const char *how_found(const struct snapshot *now, const struct outcome *outcome, struct arena *arena)
{
	const struct heap_process *process = outcome->process;
	const char *how = same_text(process->layout, "known-build") ? ", known build, no debug data"
								    : ", by debug data";

	return arena_format(arena, "jemalloc%s%s%s%s%s", process->version != NULL ? " " : "",
			    process->version != NULL ? process->version : "", how,
			    outcome->missed != 0 ? "; " : "",
			    outcome->missed != 0 ? snapshot_reason_words(now, outcome->reason) : "");
}

static bool is_root(const struct snapshot *now)
{
	return now->provenance.uid.present && now->provenance.uid.value == 0;
}

static const char root_remedy[] = "start ctop with CAP_SYS_PTRACE, which this root lacks";

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
		buffer_append_text(text, feature->detail != NULL ? feature->detail
								 : reasons[feature->reason].words);
	else if (root)
		buffer_append_text(text, root_remedy);
	else
		/* partial means that Yama forbids nothing: its switch would not help */
		buffer_append_format(text, "run as root, or %s%s",
				     feature->remedy != NULL ? feature->remedy : "give ctop CAP_SYS_PTRACE",
				     feature->state != FEATURE_STATE_PARTIAL
					     ? ", or set kernel.yama.ptrace_scope to 0"
					     : "");
}

static const char *remedy_of(const struct snapshot *now, const struct outcome *outcome)
{
	const char *remedy;
	enum heap_tag tag = tag_of(outcome->process);

	if (outcome->process->tag == NULL)
		tag = outcome->reason == REASON_NEEDS_STOP      ? HEAP_TAG_NEEDS_STOP
		      : outcome->reason == REASON_NOT_PERMITTED ? HEAP_TAG_PTRACE_SEIZE
								: HEAP_TAG_NONE;
	if (tag >= HEAP_TAG_COUNT)
		return "-";
	remedy = heap_tags[tag].remedy;
	if ((heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) == 0)
		return remedy != NULL ? remedy : "-";
	if (!lacks_privilege(&now->provenance.features[FEATURE_PROCESS_MEMORY]))
		return "-";
	if (is_root(now))
		return root_remedy;
	return remedy != NULL ? remedy : "-";
}

static void add_row(struct table *table, const struct snapshot *now, const struct outcome *outcome)
{
	struct arena *arena = &table->arena;
	struct evidence_row row = {
		.key = label_of(outcome, arena),
		.tgid = outcome->process->tgid,
		.read = outcome->read,
		.missed = outcome->missed,
		.why = outcome->process->tag != NULL ? why_failed(outcome, arena)
						     : how_found(now, outcome, arena),
		.remedy = remedy_of(now, outcome),
	};

	row.label = row.key;
	evidence_add_row(table, &row);
}

void evidence_add_heap(struct table *table, const struct snapshot *now)
{
	struct outcome *outcomes = count_threads(now);
	size_t count = join_outcomes(outcomes, now->provenance.heap_count);

	for (int found = 1; found >= 0; found--) {
		for (size_t i = 0; i < count; i++) {
			if ((outcomes[i].process->layout != NULL) == found)
				add_row(table, now, &outcomes[i]);
		}
	}
	free(outcomes);
}
