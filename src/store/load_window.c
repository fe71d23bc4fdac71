/* SPDX-License-Identifier: GPL-2.0-only */
/* The window that ends with the snapshot: its lists, and how it is joined with the snapshot. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "load_internal.h"

/* --- its lists --- */

void load_window_index(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	struct load_indices *list = frame->member->type == MEMBER_WINDOW_BORN      ? &loader->window.born
				    : frame->member->type == MEMBER_WINDOW_UNKNOWN ? &loader->window.unknown
										   : &loader->window.resident;

	*MEMORY_APPEND(list->items, list->count, list->capacity) = value->number;
}

void load_end_window_thread(struct loader *loader, const struct frame *element)
{
	*MEMORY_APPEND(loader->window.thread_of.items, loader->window.thread_of.count,
		       loader->window.thread_of.capacity) = loader->thread.of;
	load_end_thread(loader, element);
}

void *load_begin_ended(struct loader *loader, struct frame *frame)
{
	(void)frame;
	if (loader->window.ended.count == ENDED_RECORDS_MAX + 2)
		return NULL;
	loader->window.member = (struct ended_member){0};
	loader->own_names = 0;
	return &loader->window.member;
}

/* The first of two records with the same names counts. */
void load_end_ended(struct loader *loader, const struct frame *element)
{
	struct ended_member *member = &loader->window.member;
	struct ended *ended = &loader->window.ended;

	(void)element;
	load_mark_names(loader, &member->names.pcomm, !loader->outer->names_are_marked);
	if (ended->names == NULL)
		ended->names = snapshot_create();
	if (snapshot_copy_triple(ended->names, &loader->snapshot->strings, &member->names) < ended->count)
		return;
	if (member->is_estimate) {
		ended->has_estimate = true;
		ended->estimate = ended->count;
	}
	member->record.started_by = started_by_copy(&ended->names->strings, &loader->snapshot->strings,
						    member->record.started_by);
	ended->threads = number_add_saturating(ended->threads, member->record.threads);
	ended->processes = number_add_saturating(ended->processes, member->record.processes);
	*MEMORY_APPEND(ended->records, ended->count, ended->capacity) = member->record;
}

void load_ended_amount(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	struct ended_record *record = &loader->window.member.record;
	const size_t slot = member_slot_find(frame->key.data, frame->key.length);

	if (slot == ENDED_SLOTS)
		return;
	record->amounts[slot] = value->number;
	record->states[slot] |= frame->member->type == MEMBER_ENDED_AT_LEAST ? ENDED_COUNTED | ENDED_AT_LEAST
									     : ENDED_COUNTED;
}

void load_ended_missed(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	struct ended_record *record = &loader->window.member.record;
	const size_t slot = member_slot_find(frame->key.data, frame->key.length);

	if (slot == ENDED_SLOTS)
		return;
	record->states[slot] |= ENDED_MISSED;
	record->reasons[slot] = reason_intern(value->text, value->length);
}

/* --- parts --- */

void *load_begin_part_name(struct loader *loader, struct frame *frame)
{
	(void)frame;
	loader->window.part_name = (struct triple){0};
	loader->own_names = 0;
	return &loader->window.part_name;
}

/* Whether a name contains U+FFFD, which replaced bytes outside valid UTF-8. */
static bool was_replaced(const struct string_pool *strings, const struct triple *names)
{
	return strstr(string_pool_text(strings, names->pcomm), "\uFFFD") != NULL ||
	       strstr(string_pool_text(strings, names->comm), "\uFFFD") != NULL ||
	       strstr(string_pool_text(strings, names->cgroup), "\uFFFD") != NULL;
}

void load_end_part_name(struct loader *loader, const struct frame *element)
{
	struct window_parts *parts = &loader->window.parts;
	struct load_indices *names = &loader->window.part_names;
	size_t count;
	uint32_t triple;

	(void)element;
	load_mark_names(loader, &loader->window.part_name.pcomm, !loader->outer->names_are_marked);
	if (parts->names == NULL)
		parts->names = snapshot_create();
	count = parts->names->triple_count;
	triple = snapshot_copy_triple(parts->names, &loader->snapshot->strings, &loader->window.part_name);
	/* older versions wrote names alike that differed only in bytes outside valid UTF-8 */
	loader->window.parts_damaged |= triple != count &&
					!was_replaced(&loader->snapshot->strings, &loader->window.part_name);
	*MEMORY_APPEND(names->items, names->count, names->capacity) = triple;
}

void *load_begin_part(struct loader *loader, struct frame *frame)
{
	(void)frame;
	window_part_clear(&loader->window.part);
	loader->window.part_capacity = loader->window.amount_count = loader->window.amount_capacity = 0;
	return &loader->window.part;
}

void load_end_part(struct loader *loader, const struct frame *element)
{
	struct window_parts *parts = &loader->window.parts;
	struct window_part *part = &loader->window.part;

	(void)element;
	loader->window.parts_damaged |= loader->window.amount_count != part->count * part->metric_count;
	*MEMORY_APPEND(parts->items, parts->count, parts->capacity) = *part;
	*part = (struct window_part){0};
}

void load_part_index(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	struct window_part *part = &loader->window.part;

	(void)frame;
	*MEMORY_APPEND(part->names, part->count, loader->window.part_capacity) = (uint32_t)value->number;
}

void load_part_metric(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	struct window_part *part = &loader->window.part;
	const enum metric metric = metric_find(value->text, value->length);

	(void)frame;
	if (metric == METRIC_NONE || part->metric_count == METRIC_COUNT)
		loader->window.parts_damaged = true;
	else
		part->metrics[part->metric_count++] = metric;
}

void load_part_amount(struct loader *loader, struct frame *frame, const struct load_value *value)
{
	(void)frame;
	*MEMORY_APPEND(loader->window.part.amounts, loader->window.amount_count,
		       loader->window.amount_capacity) = value->number;
}

/* The work grows with parts times names: a day in parts of 5 s with 4,096 names has half of this. */
#define PARTS_BY_NAMES_MAX (1U << 27)

/* Whether the parts add up to a window of this length and refer to existing names; finds their triples. */
static bool parts_add_up(struct loader *inner, uint64_t length_ns)
{
	const struct load_indices *names = &inner->window.part_names;
	struct window_parts *parts = &inner->window.parts;
	uint64_t sum = 0;

	if (parts->count > PARTS_BY_NAMES_MAX / (names->count + 1))
		return false;
	for (size_t i = 0; i < parts->count; i++) {
		for (size_t k = 0; k < parts->items[i].count; k++) {
			uint32_t *name = &parts->items[i].names[k];

			if (*name >= names->count)
				return false;
			*name = (uint32_t)names->items[*name];
		}
		sum = number_add_saturating(sum, parts->items[i].length_ns);
	}
	return !inner->window.parts_damaged && sum == length_ns;
}

/* --- both together --- */

/* Notes what became of threads of the snapshot; false for a thread that does not exist or comes twice. */
static bool place(uint32_t from_of[], size_t count, const struct load_indices *list, bool is_row,
		  uint32_t what)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] >= count || from_of[list->items[i]] != THREAD_STILL)
			return false;
		from_of[list->items[i]] = is_row ? (uint32_t)i : what;
	}
	return true;
}

static bool is_complete(const struct loader *loader, const struct loader *inner, uint32_t from_of[])
{
	const struct snapshot *now = loader->snapshot, *from = inner->snapshot;
	const size_t count = now->thread_count;

	if (from->provenance.boottime_ns >= now->provenance.boottime_ns ||
	    inner->window.resident.count % 2 != 0)
		return false;
	for (size_t i = 0; i < inner->window.resident.count; i += 2) {
		if (inner->window.resident.items[i] >= count)
			return false;
	}
	for (size_t i = 0; i < count; i++)
		from_of[i] = THREAD_STILL;
	return place(from_of, count, &inner->window.thread_of, true, 0) &&
	       place(from_of, count, &inner->window.born, false, THREAD_BORN) &&
	       place(from_of, count, &inner->window.unknown, false, THREAD_UNKNOWN);
}

/* Its threads are those of the snapshot. */
static void identify_threads(struct snapshot *from, const struct snapshot *now,
			     const struct load_indices *thread_of)
{
	for (size_t row = 0; row < from->thread_count; row++) {
		const uint64_t thread = thread_of->items[row];

		from->tid[row] = now->tid[thread];
		from->tgid[row] = now->tgid[thread];
		from->uid[row] = now->uid[thread];
		from->start_time[row] = now->start_time[thread];
	}
}

/* Readings are as far apart as the file says. */
static void apply_elapsed(struct loader *inner, const struct snapshot *now)
{
	struct snapshot *from = inner->snapshot;

	for (size_t i = 0; i < inner->ages.count; i++) {
		const struct pending_age *pending = &inner->ages.items[i];
		const enum source source = (enum source)pending->source;
		const uint64_t thread = inner->window.thread_of.items[pending->thread];
		const uint64_t after = snapshot_source_read_time(now, thread, source);

		snapshot_read_times(from, source)[pending->thread] = pending->age_ns < after
									     ? after - pending->age_ns
									     : 0;
	}
	inner->ages.count = 0;
}

static void apply_resident(struct snapshot *from, const struct snapshot *now,
			   const struct load_indices *resident)
{
	for (size_t i = 0; i < resident->count; i += 2) {
		const uint64_t leader = resident->items[i];

		*MEMORY_APPEND(from->resident, from->resident_count,
			       from->resident_capacity) = (struct resident_record){
			now->tgid[leader], now->start_time[leader], resident->items[i + 1],
			from->provenance.boottime_ns};
	}
	if (resident->count != 0)
		from->resident_missing = REASON_READ;
}

bool load_window_fits(struct loader *loader)
{
	struct loader *inner = loader->inner;
	const struct snapshot *now = loader->snapshot;

	inner->window.from_of = memory_allocate((now->thread_count + 1) * sizeof(*inner->window.from_of));
	loader->notes.window = !is_complete(loader, inner, inner->window.from_of);
	if (loader->notes.window)
		return false;
	identify_threads(inner->snapshot, now, &inner->window.thread_of);
	apply_elapsed(inner, now);
	apply_resident(inner->snapshot, now, &inner->window.resident);
	return true;
}

void load_window_join(struct loader *loader)
{
	struct loader *inner = loader->inner;
	const struct snapshot *now = loader->snapshot;
	struct snapshot_window *window = memory_allocate_zero(1, sizeof(*window));

	window->from = inner->snapshot;
	window->from_of = inner->window.from_of;
	window->thread_count = now->thread_count;
	window->ended = inner->window.ended;
	if (window->from->latency.present)
		window->latency = snapshot_reference(window->from);
	if (inner->window.parts.count != 0 &&
	    parts_add_up(inner, now->provenance.boottime_ns - window->from->provenance.boottime_ns)) {
		window->parts = inner->window.parts;
		inner->window.parts = (struct window_parts){0};
	} else {
		loader->notes.parts = inner->window.parts.count != 0;
	}
	inner->snapshot = NULL;
	inner->window.from_of = NULL;
	inner->window.ended = (struct ended){0};
	loader->snapshot->window = window;
}

void load_window_release(struct loader *loader)
{
	free(loader->window.from_of);
	free(loader->window.thread_of.items);
	free(loader->window.born.items);
	free(loader->window.unknown.items);
	free(loader->window.resident.items);
	free(loader->window.part_names.items);
	ended_clear(&loader->window.ended);
	window_parts_clear(&loader->window.parts);
	window_part_clear(&loader->window.part);
}
