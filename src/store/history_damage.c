/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "history.h"
#include "history_internal.h"

static bool is_before(const struct history_gap *a, const struct history_gap *b)
{
	return a->day != b->day ? a->day < b->day : a->from < b->from;
}

/* Makes one gap of a whole file, when there are too many in it. */
static void give_up(struct history *history, uint32_t day, const char *why)
{
	size_t count = 0, kept = 0;
	bool has_one = false;

	for (size_t i = 0; i < history->gap_count; i++)
		count += history->gaps[i].day == day;
	if (count <= HISTORY_GAPS_MAX)
		return;
	for (size_t i = 0; i < history->gap_count; i++) {
		if (history->gaps[i].day != day) {
			history->gaps[kept++] = history->gaps[i];
		} else if (!has_one) {
			history->gaps[kept++] = (struct history_gap){day, 0, INT64_MAX, 0, why};
			has_one = true;
		}
	}
	history->gap_count = kept;
}

void history_note_gap(struct history *history, const struct history_gap *gap)
{
	size_t place = 0, kept = 0;

	(void)MEMORY_APPEND(history->gaps, history->gap_count, history->gap_capacity);
	while (place + 1 < history->gap_count && is_before(&history->gaps[place], gap))
		place++;
	memmove(&history->gaps[place + 1], &history->gaps[place],
		(history->gap_count - 1 - place) * sizeof(*history->gaps));
	history->gaps[place] = *gap;
	/* those that meet become one */
	for (size_t i = 0; i < history->gap_count; i++) {
		struct history_gap *last = kept != 0 ? &history->gaps[kept - 1] : NULL;
		const struct history_gap *next = &history->gaps[i];

		if (last == NULL || last->day != next->day || next->from > last->to) {
			history->gaps[kept++] = *next;
			continue;
		}
		if (next->to > last->to) {
			last->rounds = next->from == last->to ? last->rounds + next->rounds : 0;
			last->to = next->to;
		}
	}
	history->gap_count = kept;
	give_up(history, gap->day, gap->why);
}

const struct history_gap *history_gap_at(const struct history *history, uint32_t day, int64_t id)
{
	for (size_t i = 0; i < history->gap_count; i++) {
		const struct history_gap *gap = &history->gaps[i];

		if (gap->day == day && gap->from <= id && id < gap->to)
			return gap;
	}
	return NULL;
}

bool history_has_gap(const struct history *history, uint32_t day)
{
	for (size_t i = 0; i < history->gap_count; i++) {
		if (history->gaps[i].day == day)
			return true;
	}
	return false;
}

bool history_adjoins(const struct history *history, const struct history_round *before,
		     const struct history_round *after)
{
	bool is_there = false;

	for (size_t i = 0; i < history->gap_count; i++) {
		const struct history_gap *gap = &history->gaps[i];

		if ((gap->day > before->day || (gap->day == before->day && gap->from > before->id)) &&
		    (gap->day < after->day || (gap->day == after->day && gap->from < after->id)))
			return false;
	}
	/* what else a file had that was removed is not known */
	for (size_t i = 0; i < history->entry_count && !is_there; i++)
		is_there = history->entries[i].day == before->day;
	return is_there;
}

/* What is told from damaged rounds, while the rounds after them are looked at. */
struct following {
	struct hash_map damaged; /* ids */
	int64_t whole;           /* the next one that is not among them, 0: none so far */
	uint64_t rounds;
};

static bool follow(void *context, const struct day_file_row *row)
{
	struct following *following = context;
	uint32_t ignored;

	/* the first of them is damaged whatever it is told from */
	if (following->rounds != 0 &&
	    (row->against == 0 || !hash_map_get(&following->damaged, (uint64_t)row->against, &ignored))) {
		following->whole = row->round.id;
		return false;
	}
	hash_map_set(&following->damaged, (uint64_t)row->round.id, 1);
	following->rounds++;
	return true;
}

void history_note_damaged(struct history *history, struct history_entry *entry, int64_t id, const char *why)
{
	struct following following = {0};

	day_file_list(&entry->file, id, INT64_MAX, follow, &following, NULL);
	history_note_gap(history, &(struct history_gap){entry->day, id,
							following.whole != 0 ? following.whole : INT64_MAX,
							following.rounds,
							arena_duplicate(&history->texts, why, strlen(why))});
	hash_map_release(&following.damaged);
}

/* Reads all of a file that can be read. */
static void search_entry(struct history *history, struct history_entry *entry)
{
	struct day_file_row row;
	int64_t id = 0;

	if (history_open_entry(history, entry, NULL) < 0)
		return;
	while (history_seek(history, entry, DAY_FILE_AT_OR_AFTER, id, &row, NULL) > 0) {
		struct day_file_blobs blobs;
		struct error why;

		if (day_file_blobs(&entry->file, row.round.id, &blobs, &why) == 0)
			day_file_end_blobs(&blobs);
		else
			history_note_damaged(history, entry, row.round.id, why.text);
		id = row.round.id + 1;
	}
}

/* The time of a round that a hole begins or ends with; of a whole file the times of its day. */
static uint64_t time_of(const struct history_gap *gap, int64_t id)
{
	const uint64_t begin = history_files_begin(gap->day), end = history_files_end(gap->day);
	const uint64_t unix_ns = id < 0                                ? 0
				 : id > INT64_MAX / (int64_t)NS_PER_MS ? UINT64_MAX
								       : (uint64_t)id * NS_PER_MS;

	return unix_ns < begin ? begin : unix_ns > end ? end : unix_ns;
}

const struct history_hole *history_damage(struct history *history, bool search, size_t *ret_count)
{
	size_t count = 0;

	history_refresh(history, NULL);
	for (size_t i = 0; search && i < history->entry_count; i++)
		search_entry(history, &history->entries[i]);
	free(history->holes);
	history->holes = memory_allocate_zero(history->gap_count + 1, sizeof(*history->holes));
	for (size_t i = 0; i < history->gap_count; i++) {
		const struct history_gap *gap = &history->gaps[i];
		struct history_hole *hole = &history->holes[count++];

		history_files_name(gap->day, hole->name);
		hole->from_unix_ns = time_of(gap, gap->from);
		hole->to_unix_ns = time_of(gap, gap->to);
		hole->rounds = gap->rounds;
		hole->why = gap->why;
	}
	*ret_count = count;
	return history->holes;
}
