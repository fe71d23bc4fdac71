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

/* What became of the threads of a process, by the tgid. */
struct thread_counts {
	struct hash_map index; /* tgid to index in `items` */
	struct outcome *items;
	size_t count, capacity;
};

static void count_thread(const struct snapshot *now, size_t thread, struct thread_counts *counts)
{
	struct outcome *item;
	uint32_t index;
	reason_id reason;

	if (!hash_map_get(&counts->index, now->tgid[thread], &index)) {
		index = (uint32_t)counts->count;
		hash_map_set(&counts->index, now->tgid[thread], index);
		counts->items = memory_grow(counts->items, &counts->capacity, counts->count + 1,
					    sizeof(*counts->items));
		counts->items[counts->count++] = (struct outcome){0};
	}
	item = &counts->items[index];
	if (item->name == NULL || now->tid[thread] == now->tgid[thread])
		item->name = snapshot_text(now, now->triples[now->triple[thread]].pcomm);
	switch (snapshot_value_state(now, thread, METRIC_ALLOCATED_BYTES, false, &reason)) {
	case VALUE_READ:
		item->read++;
		break;
	case VALUE_UNAVAILABLE:
		item->missed++;
		item->reason = reason;
		break;
	case VALUE_ABSENT:
		break;
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum heap_tag tag_of(const struct heap_process *process)
{
	return process->tag != NULL ? heap_tag_find(process->tag) : HEAP_TAG_NONE;
}

/* What lacks privilege has one row: it has nothing to do with the process. */
static bool belongs(const struct outcome *outcome, const struct outcome *item)
{
	const struct heap_process *a = outcome->process, *b = item->process;

	if (!same_text(a->tag, b->tag) || !same_text(a->layout, b->layout) ||
	    !same_text(a->version, b->version) || outcome->reason != item->reason)
		return false;
	return outcome->name == NULL || (same_text(outcome->name, item->name) && same_text(a->text, b->text));
}

static void add_outcome(struct outcome *outcomes, size_t *count, struct outcome item)
{
	enum heap_tag tag = tag_of(item.process);
	size_t index = 0;

	item.processes = 1;
	if (tag < HEAP_TAG_COUNT && (heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0)
		item.name = NULL;
	while (index < *count && !belongs(&outcomes[index], &item))
		index++;
	if (index == *count) {
		outcomes[(*count)++] = item;
		return;
	}
	outcomes[index].processes++;
	outcomes[index].read += item.read;
	outcomes[index].missed += item.missed;
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

void evidence_append_privilege_hint(const struct feature_result *feature, bool root, struct buffer *text)
{
	if (feature->state == FEATURE_STATE_ON) {
		buffer_append_text(
			text, "no privilege is missing; a security module or a user namespace forbids it");
		return;
	}
	if (feature->state != FEATURE_STATE_UNKNOWN && feature->remedy == NULL) {
		buffer_append_text(text, feature->detail != NULL ? feature->detail
								 : reasons[feature->reason].words);
		return;
	}
	if (root) {
		buffer_append_text(text, root_remedy);
		return;
	}
	buffer_append_format(text, "run as root, or %s",
			     feature->remedy != NULL ? feature->remedy : "give ctop CAP_SYS_PTRACE");
	/* where Yama forbids nothing it has nothing to be set to */
	if (feature->state != FEATURE_STATE_PARTIAL)
		buffer_append_text(text, ", or set kernel.yama.ptrace_scope to 0");
}

/* The remedy of a tag that is for lack of privilege, where it would help. */
static const char *privilege_remedy(const struct snapshot *now, enum heap_tag tag)
{
	const struct feature_result *feature = &now->provenance.features[FEATURE_PROCESS_MEMORY];

	if (feature->state == FEATURE_STATE_ON)
		return NULL;
	if (feature->state != FEATURE_STATE_UNKNOWN && feature->remedy == NULL)
		return NULL;
	return is_root(now) ? root_remedy : heap_tags[tag].remedy;
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
	remedy = (heap_tags[tag].flags & HEAP_TAG_PRIVILEGE) != 0 ? privilege_remedy(now, tag)
								  : heap_tags[tag].remedy;
	return remedy != NULL ? remedy : "-";
}

static struct evidence_row make_row(const struct snapshot *now, const struct outcome *outcome,
				    struct arena *arena)
{
	const char *label = label_of(outcome, arena);

	return (struct evidence_row){
		.key = label,
		.label = label,
		.tgid = outcome->process->tgid,
		.read = outcome->read,
		.missed = outcome->missed,
		.why = outcome->process->tag != NULL ? why_failed(outcome, arena)
						     : how_found(now, outcome, arena),
		.remedy = remedy_of(now, outcome),
	};
}

struct evidence_row *evidence_heap_rows(const struct snapshot *now, struct arena *arena, size_t *ret_count)
{
	const struct provenance *provenance = &now->provenance;
	struct evidence_row *rows;
	struct outcome *outcomes;
	struct thread_counts counts = {0};
	size_t count = 0, row = 0;
	uint32_t index;

	*ret_count = 0;
	if (provenance->heap_count == 0)
		return NULL;
	for (size_t i = 0; i < now->thread_count; i++)
		count_thread(now, i, &counts);
	outcomes = memory_allocate_zero(provenance->heap_count, sizeof(*outcomes));
	for (size_t i = 0; i < provenance->heap_count; i++) {
		struct outcome item = {.name = "?"};

		if (hash_map_get(&counts.index, provenance->heap[i].tgid, &index))
			item = counts.items[index];
		item.process = &provenance->heap[i];
		add_outcome(outcomes, &count, item);
	}
	rows = memory_allocate_zero(count, sizeof(*rows));
	for (int found = 1; found >= 0; found--) {
		for (size_t i = 0; i < count; i++) {
			if ((outcomes[i].process->layout != NULL) == found)
				rows[row++] = make_row(now, &outcomes[i], arena);
		}
	}
	hash_map_release(&counts.index);
	free(counts.items);
	free(outcomes);
	*ret_count = count;
	return rows;
}
