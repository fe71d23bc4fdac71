/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "history.h"
#include "history_internal.h"
#include "recording.h"

enum {
	/* What a writer makes is decoded from a whole round and at most a dozen others. */
	CHAIN_MAX = 64,
};

/* What messages call a round: its file and time. */
static void name_round(const struct history *history, const struct day_file_row *row, struct buffer *name)
{
	char file[HISTORY_FILES_NAME], time[32];

	if (!clock_format_local(time, sizeof(time), "%Y-%m-%d %H:%M:%S", row->round.unix_ns))
		strcpy(time, "an unknown time");
	buffer_clear(name);
	buffer_append_format(name, "%s/%s: the round of %s", history->directory,
			     history_files_name(row->round.day, file), time);
}

static struct history_cached *find_cached(struct history *history, uint32_t day, int64_t id)
{
	for (size_t i = 0; i < HISTORY_CACHE; i++) {
		struct history_cached *cached = &history->cache[i];

		if (cached->snapshot != NULL && cached->day == day && cached->id == id) {
			cached->used = ++history->cache_clock;
			return cached;
		}
	}
	return NULL;
}

/* Gives up the rounds that were not used for longest, for another one. Returns its place. */
static struct history_cached *make_room(struct history *history, size_t threads)
{
	for (;;) {
		struct history_cached *oldest = NULL, *free_place = NULL;
		size_t kept = 0, total = threads;

		for (size_t i = 0; i < HISTORY_CACHE; i++) {
			struct history_cached *cached = &history->cache[i];

			if (cached->snapshot == NULL) {
				free_place = cached;
				continue;
			}
			kept++;
			total += cached->snapshot->thread_count;
			if (oldest == NULL || cached->used < oldest->used)
				oldest = cached;
		}
		if (free_place != NULL && (kept < HISTORY_CACHE_LEAST || total <= HISTORY_CACHE_THREADS))
			return free_place;
		snapshot_release(oldest->snapshot);
		oldest->snapshot = NULL;
	}
}

static void keep(struct history *history, const struct day_file_row *row, struct snapshot *snapshot)
{
	struct history_cached *place = make_room(history, snapshot->thread_count);

	*place = (struct history_cached){snapshot, row->round.day, row->round.id, ++history->cache_clock};
}

/* Decodes a round whose `against` (NULL: it is whole) is decoded already. */
static int decode(struct history *history, struct history_entry *entry, const struct day_file_row *row,
		  const struct snapshot *against, struct buffer *name, struct snapshot **ret_snapshot,
		  struct error *error)
{
	struct day_file_blobs blobs;
	struct error why;
	int result = day_file_blobs(&entry->file, row->round.id, &blobs, &why);

	name_round(history, row, name);
	if (result < 0)
		return error_set(error, result, "%s", why.text);
	result = recording_decode(blobs.state, blobs.state_length, blobs.interval, blobs.interval_length,
				  against, name->data, ret_snapshot, error);
	day_file_end_blobs(&blobs);
	return result;
}

/* The rounds that have to be decoded for one, itself first, up to a whole one or one that is decoded. */
static int find_chain(struct history *history, struct history_entry *entry, int64_t id,
		      struct day_file_row **ret_chain, size_t *ret_count, struct error *error)
{
	struct day_file_row *chain = NULL;
	size_t count = 0, capacity = 0;
	int result = 0;

	for (int64_t next = id; next != 0;) {
		struct day_file_row row;

		if (find_cached(history, entry->day, next) != NULL)
			break;
		if (count == CHAIN_MAX) {
			result = error_set(error, -EBADMSG, "%s: a round is told from too many others",
					   entry->file.database.path);
			break;
		}
		result = day_file_seek(&entry->file, DAY_FILE_AT_OR_AFTER, next, &row, error);
		if (result == 0 || (result > 0 && row.round.id != next))
			result = error_set(error, -EBADMSG,
					   "%s: a round that others are told from is missing",
					   entry->file.database.path);
		if (result < 0)
			break;
		*MEMORY_APPEND(chain, count, capacity) = row;
		next = row.against;
	}
	if (result < 0)
		/* what is missing is older than all that could be read */
		history_note_damaged(history, entry, count != 0 ? chain[count - 1].round.id : id,
				     error != NULL ? error->text : "it is damaged");
	*ret_chain = chain;
	*ret_count = count;
	return result < 0 ? result : 0;
}

int history_read(struct history *history, const struct history_round *round, struct snapshot **ret_snapshot,
		 struct error *error)
{
	struct history_cached *cached = find_cached(history, round->day, round->id);
	struct day_file_row *chain = NULL;
	struct buffer name = {0};
	struct history_entry *entry;
	struct error why = {0};
	size_t count = 0;
	int result = 0;

	if (cached != NULL) {
		*ret_snapshot = snapshot_reference(cached->snapshot);
		return 0;
	}
	entry = history_entry_of(history, round->day, &result, error);
	if (entry == NULL)
		return result;
	result = find_chain(history, entry, round->id, &chain, &count, &why);
	while (result == 0 && count-- > 0) {
		const struct day_file_row *row = &chain[count];
		const struct history_cached *against = row->against != 0 ? find_cached(history, entry->day,
										       row->against)
									 : NULL;
		struct snapshot *snapshot;

		result = decode(history, entry, row, against != NULL ? against->snapshot : NULL, &name,
				&snapshot, &why);
		if (result == 0)
			keep(history, row, snapshot);
		else if (result == -EBADMSG || result == -EINVAL)
			history_note_damaged(history, entry, row->round.id, why.text);
	}
	free(chain);
	buffer_release(&name);
	if (result < 0)
		return error_set(error, result == -EINVAL ? -EBADMSG : result, "%s", why.text);
	cached = find_cached(history, round->day, round->id);
	*ret_snapshot = snapshot_reference(cached->snapshot);
	return 0;
}

int history_read_gone(struct history *history, const struct history_round *round, struct snapshot **ret_gone,
		      double *ret_left_ns, struct error *error)
{
	struct day_file_row row = {.round = *round};
	struct buffer name = {0};
	struct day_file_blobs blobs;
	struct history_entry *entry;
	int result;

	*ret_gone = NULL;
	*ret_left_ns = NAN;
	entry = history_entry_of(history, round->day, &result, error);
	if (entry == NULL)
		return result;
	result = day_file_blobs(&entry->file, round->id, &blobs, error);
	if (result < 0)
		return result;
	name_round(history, &row, &name);
	if (blobs.interval_length != 0)
		result = recording_decode_interval(blobs.interval, blobs.interval_length, name.data, ret_gone,
						   ret_left_ns, error);
	day_file_end_blobs(&blobs);
	buffer_release(&name);
	return result == -EINVAL ? -EBADMSG : result;
}
