/* SPDX-License-Identifier: GPL-2.0-only */
#include "shown.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void shown_reserve(struct shown *shown, size_t threads, size_t rows)
{
	shown->threads = memory_allocate((threads + 1) * sizeof(uint32_t));
	shown->row_of = memory_allocate((threads + 1) * sizeof(uint32_t));
	shown->row_threads = memory_allocate_zero(rows + 1, sizeof(uint32_t));
	shown->row_group = memory_allocate((rows + 1) * sizeof(uint32_t));
}

void shown_release(struct shown *shown)
{
	free(shown->threads);
	free(shown->row_of);
	free(shown->part_of);
	free(shown->ended_row_of);
	free(shown->latency_row_of);
	latency_rows_release(shown->latency_rows);
	free(shown->row_threads);
	free(shown->row_group);
	free(shown->movers);
	free(shown->still_groups);
	*shown = (struct shown){0};
}

/* The properties in which threads of one snapshot may differ. */
struct likeness {
	const uint8_t *flags;
	const reason_id *reasons[SOURCE_COUNT];
	size_t count;
};

static struct likeness likeness_of(const struct snapshot *now)
{
	struct likeness likeness = {.flags = now->thread_flags};

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (now->source_reason[i] != NULL)
			likeness.reasons[likeness.count++] = now->source_reason[i];
	}
	return likeness;
}

static bool are_alike(const struct likeness *likeness, uint32_t a, uint32_t b)
{
	if (likeness->flags[a] != likeness->flags[b])
		return false;
	for (size_t i = 0; i < likeness->count; i++) {
		if (likeness->reasons[i][a] != likeness->reasons[i][b])
			return false;
	}
	return true;
}

/* The group of a thread among those of its row, UINT32_MAX when none is like it. */
static uint32_t find_alike(const struct shown *shown, const struct likeness *likeness, uint32_t group,
			   uint32_t thread)
{
	while (group != UINT32_MAX &&
	       !are_alike(likeness, shown->threads[shown->still_groups[group].first], thread))
		group = shown->still_groups[group].next;
	return group;
}

void shown_gather_still(struct shown *shown, const bool *still)
{
	const struct likeness likeness = likeness_of(shown->now);
	uint32_t *group_of = memory_allocate((shown->row_count + 1) * sizeof(*group_of));
	size_t capacity = 0;

	shown->still = still;
	shown->movers = memory_allocate((shown->count + 1) * sizeof(*shown->movers));
	memset(group_of, 0xff, shown->row_count * sizeof(*group_of));
	for (uint32_t k = 0; k < shown->count; k++) {
		const uint32_t thread = shown->threads[k], row = shown->row_of[k];
		uint32_t group;

		if (!still[thread]) {
			shown->movers[shown->mover_count++] = k;
			continue;
		}
		group = find_alike(shown, &likeness, group_of[row], thread);
		if (group == UINT32_MAX) {
			group = (uint32_t)shown->still_count;
			*MEMORY_APPEND(shown->still_groups, shown->still_count,
				       capacity) = (struct still_group){.first = k, .next = group_of[row]};
			group_of[row] = group;
		}
		shown->still_groups[group].count++;
	}
	free(group_of);
}

struct shown shown_narrow(const struct shown *shown, const bool *rows)
{
	struct shown narrowed = *shown;

	narrowed.threads = memory_allocate((shown->count + 1) * sizeof(*narrowed.threads));
	narrowed.row_of = memory_allocate((shown->count + 1) * sizeof(*narrowed.row_of));
	narrowed.count = 0;
	for (size_t k = 0; k < shown->count; k++) {
		if (!rows[shown->row_of[k]])
			continue;
		narrowed.threads[narrowed.count] = shown->threads[k];
		narrowed.row_of[narrowed.count++] = shown->row_of[k];
	}
	narrowed.movers = NULL;
	narrowed.still_groups = NULL;
	narrowed.mover_count = narrowed.still_count = 0;
	if (shown->still != NULL)
		shown_gather_still(&narrowed, shown->still);
	return narrowed;
}

void shown_release_narrowed(struct shown *narrowed)
{
	free(narrowed->threads);
	free(narrowed->row_of);
	free(narrowed->movers);
	free(narrowed->still_groups);
	*narrowed = (struct shown){0};
}

void shown_append_thread_key(struct buffer *buffer, uint32_t tid, uint64_t start_time)
{
	buffer_append_u64(buffer, tid);
	buffer_append_char(buffer, ':');
	buffer_append_u64(buffer, start_time);
}

const char *shown_row_key(const struct shown *shown, size_t row, size_t *ret_length)
{
	if (shown->row_group[row] != UINT32_MAX)
		return grouping_key(shown->grouping, shown->row_group[row], ret_length);
	*ret_length = name_other.length;
	return name_other.text;
}

const char *shown_row_label(const struct shown *shown, size_t row, size_t *ret_length)
{
	const char *label;

	if (shown->row_group[row] == UINT32_MAX) {
		*ret_length = strlen(name_other.text);
		return name_other.text;
	}
	label = grouping_label(shown->grouping, shown->row_group[row], ret_length);
	/* of a file of another program it is the name as it is */
	return *ret_length < 16 ? grouping_visible_name(label, ret_length) : label;
}

bool shown_row_is_own(const struct shown *shown, size_t row)
{
	return !shown->by_thread && (shown->row_group[row] == UINT32_MAX ||
				     grouping_is_own(shown->grouping, shown->row_group[row]));
}

uint32_t shown_row_pid(const struct shown *shown, size_t row)
{
	return shown->by_thread || shown->row_group[row] == UINT32_MAX
		       ? 0
		       : grouping_pid(shown->grouping, shown->row_group[row]);
}

const char *shown_triple_name(const struct snapshot *snapshot, uint32_t triple, size_t *ret_length)
{
	const struct name_text name = snapshot_name(snapshot, snapshot->triples[triple].comm);

	*ret_length = name_shown_length(name.text, name.length);
	/* visible names begin with a visible character */
	return (unsigned char)name.text[0] > ' ' && name.text[0] <= '~'
		       ? name.text
		       : grouping_visible_name(name.text, ret_length);
}

const char *shown_thread_name(const struct snapshot *snapshot, uint32_t thread, size_t *ret_length)
{
	return shown_triple_name(snapshot, snapshot->triple[thread], ret_length);
}
