/* SPDX-License-Identifier: GPL-2.0-only */
#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "history_internal.h"

static void close_entry(struct history *history, struct history_entry *entry)
{
	if (!day_file_is_open(&entry->file))
		return;
	day_file_close(&entry->file);
	history->open_count--;
}

/* Takes the list of files over; what was known of those that are still there stays known. */
static void take_files(struct history *history, const struct history_files *files)
{
	struct history_entry *entries = memory_allocate_zero(files->count + 1, sizeof(*entries));
	size_t old = 0;

	for (size_t i = 0; i < files->count; i++) {
		entries[i].day = files->items[i].day;
		for (; old < history->entry_count && history->entries[old].day < entries[i].day; old++)
			close_entry(history, &history->entries[old]);
		if (old < history->entry_count && history->entries[old].day == entries[i].day)
			entries[i] = history->entries[old++];
		/* what is empty, or locked, may be so no more */
		if (entries[i].status == -ENODATA || entries[i].status == -EAGAIN ||
		    entries[i].status == -ENOENT)
			entries[i].status = 0;
		entries[i].bytes = files->items[i].bytes;
	}
	for (; old < history->entry_count; old++)
		close_entry(history, &history->entries[old]);
	free(history->entries);
	history->entries = entries;
	history->entry_count = files->count;
}

int history_refresh(struct history *history, struct error *error)
{
	struct history_files files;
	const int result = history_files_list(history->directory, &files, error);

	if (result == 0)
		take_files(history, &files);
	history_files_release(&files);
	return result;
}

int history_open(const char *directory, struct history **ret_history, struct error *error)
{
	struct history *history;
	struct history_files files;
	int result = history_files_list(directory, &files, error);

	if (result == -ENOENT)
		error_set(error, result, "%s: there is no such directory; `ctop record` makes a history",
			  directory);
	if (result == 0 && !files.any)
		result = error_set(error, -ENODATA,
				   "%s: there is no history in it; `ctop record --history %s` makes one",
				   directory, directory);
	if (result == 0) {
		history = memory_allocate_zero(1, sizeof(*history));
		history->directory = memory_duplicate(directory);
		take_files(history, &files);
		*ret_history = history;
	}
	history_files_release(&files);
	return result;
}

void history_close(struct history *history)
{
	if (history == NULL)
		return;
	for (size_t i = 0; i < history->entry_count; i++)
		close_entry(history, &history->entries[i]);
	for (size_t i = 0; i < HISTORY_CACHE; i++)
		snapshot_release(history->cache[i].snapshot);
	hash_map_release(&history->boot_of);
	arena_release(&history->texts);
	free(history->entries);
	free(history->boots);
	free(history->gaps);
	free(history->days);
	free(history->holes);
	free(history->directory);
	free(history);
}

const char *history_directory(const struct history *history)
{
	return history->directory;
}

int history_open_entry(struct history *history, struct history_entry *entry, struct error *error)
{
	struct error why;

	if (day_file_is_open(&entry->file))
		return 0;
	if (entry->status != 0)
		return error_set(error, entry->status, "%s", entry->why);
	if (history->open_count >= HISTORY_OPEN_MAX) {
		for (size_t i = 0; i < history->entry_count; i++)
			close_entry(history, &history->entries[i]);
	}
	entry->status = day_file_open(&entry->file, history->directory, entry->day, DATABASE_READ, &why);
	if (entry->status == 0) {
		history->open_count++;
		return 0;
	}
	entry->why = arena_duplicate(&history->texts, why.text, strlen(why.text));
	if (entry->status != -ENODATA && entry->status != -ENOENT)
		history_note_gap(history, &(struct history_gap){entry->day, 0, INT64_MAX, 0, entry->why});
	return error_set(error, entry->status, "%s", entry->why);
}

struct history_entry *history_entry_of(struct history *history, uint32_t day, int *ret_result,
				       struct error *error)
{
	char name[HISTORY_FILES_NAME];

	for (size_t i = 0; i < history->entry_count; i++) {
		if (history->entries[i].day == day) {
			*ret_result = history_open_entry(history, &history->entries[i], error);
			return *ret_result == 0 ? &history->entries[i] : NULL;
		}
	}
	*ret_result = error_set(error, -ENOENT, "%s/%s: it has been removed", history->directory,
				history_files_name(day, name));
	return NULL;
}

/* --- rounds --- */

/* A number for the boot of a row, the same in all files. */
static uint32_t boot_number(struct history *history, struct history_entry *entry, uint32_t boot)
{
	const uint64_t key = (uint64_t)entry->day << 32 | boot;
	struct history_boot found = {"", "", "", "", ""};
	uint32_t number;

	if (hash_map_get(&history->boot_of, key, &number))
		return number;
	if (day_file_boot(&entry->file, boot, &history->texts, &found, NULL) < 0)
		found = (struct history_boot){"", "", "", "", ""};
	if (history->boot_count >= HISTORY_BOOTS_MAX)
		return UINT32_MAX;
	for (number = 0; number < history->boot_count; number++) {
		const struct history_boot *other = &history->boots[number];

		if (strcmp(other->boot_id, found.boot_id) == 0 && strcmp(other->kernel, found.kernel) == 0 &&
		    strcmp(other->host, found.host) == 0 && strcmp(other->program, found.program) == 0 &&
		    strcmp(other->architecture, found.architecture) == 0)
			break;
	}
	if (number == history->boot_count)
		*MEMORY_APPEND(history->boots, history->boot_count, history->boot_capacity) = found;
	hash_map_set(&history->boot_of, key, number);
	return number;
}

const struct history_boot *history_boot(const struct history *history, const struct history_round *round)
{
	static const struct history_boot unknown = {"", "", "", "", ""};

	return round->boot < history->boot_count ? &history->boots[round->boot] : &unknown;
}

/* Finds the next id from which on, or backwards, the table of rounds can be read again. */
static int pass_damage(struct history *history, struct history_entry *entry, enum day_file_statement which,
		       int64_t id, struct day_file_row *ret_row, const char *why)
{
	const int64_t direction = which == DAY_FILE_AT_OR_AFTER ? 1 : -1;
	const int64_t day_begin = (int64_t)(history_files_begin(entry->day) / NS_PER_MS),
		      day_end = (int64_t)(history_files_end(entry->day) / NS_PER_MS);
	int64_t bad, good, step = 1000;
	int result = -EBADMSG;

	bad = direction > 0 ? (id > day_begin ? id : day_begin) : (id < day_end ? id : day_end);
	good = bad;
	while (result == -EBADMSG && good >= day_begin && good <= day_end) {
		bad = good;
		good += direction * step;
		step *= 2;
		result = day_file_seek(&entry->file, which, good, ret_row, NULL);
	}
	while (result != -EBADMSG && llabs(good - bad) > 1) {
		const int64_t middle = bad + (good - bad) / 2;
		struct day_file_row row;
		const int found = day_file_seek(&entry->file, which, middle, &row, NULL);

		if (found == -EBADMSG) {
			bad = middle;
		} else {
			good = middle;
			result = found;
			*ret_row = row;
		}
	}
	if (direction > 0)
		history_note_gap(history,
				 &(struct history_gap){entry->day, id,
						       result > 0 ? ret_row->round.id : INT64_MAX, 0, why});
	else
		history_note_gap(history,
				 &(struct history_gap){entry->day, result > 0 ? ret_row->round.id + 1 : 0,
						       id < INT64_MAX ? id + 1 : INT64_MAX, 0, why});
	return result == -EBADMSG ? 0 : result;
}

int history_seek(struct history *history, struct history_entry *entry, enum day_file_statement which,
		 int64_t id, struct day_file_row *ret_row, struct error *error)
{
	for (;;) {
		const struct history_gap *gap;
		struct error why;
		int result = day_file_seek(&entry->file, which, id, ret_row, &why);

		if (result == -EBADMSG)
			result = pass_damage(history, entry, which, id, ret_row,
					     arena_duplicate(&history->texts, why.text, strlen(why.text)));
		if (result < 0)
			return error_set(error, result, "%s", why.text);
		if (result == 0)
			return 0;
		gap = history_gap_at(history, entry->day, ret_row->round.id);
		if (gap == NULL)
			return 1;
		if (which == DAY_FILE_AT_OR_AFTER ? gap->to == INT64_MAX : gap->from == 0)
			return 0;
		id = which == DAY_FILE_AT_OR_AFTER ? gap->to : gap->from - 1;
	}
}

/* Hands a row out. */
static int give(struct history *history, struct history_entry *entry, const struct day_file_row *row,
		struct history_round *ret_round)
{
	*ret_round = row->round;
	ret_round->boot = boot_number(history, entry, row->round.boot);
	return 0;
}

static int give_none(const struct history *history, int result, const struct error *why, struct error *error)
{
	if (result < 0)
		return error_set(error, result, "%s", why->text);
	if (history->gap_count != 0)
		return error_set(error, -ENODATA, "%s: no round in it can be read: %s", history->directory,
				 history->gaps[0].why);
	return error_set(error, -ENODATA, "%s: there is no round in it yet", history->directory);
}

/* The first or last round of all. */
static int find_end(struct history *history, bool last, struct history_round *ret_round, struct error *error)
{
	struct error why = {0};
	int result = history_refresh(history, error), first_result = 0;

	if (result < 0)
		return result;
	for (size_t i = 0; i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[last ? history->entry_count - 1 - i : i];
		struct error found;
		struct day_file_row row;

		result = history_open_entry(history, entry, &found);
		if (result == 0)
			result = history_seek(history, entry,
					      last ? DAY_FILE_AT_OR_BEFORE : DAY_FILE_AT_OR_AFTER,
					      last ? INT64_MAX : 0, &row, &found);
		if (result > 0)
			return give(history, entry, &row, ret_round);
		if (result < 0 && result != -ENODATA && first_result == 0) {
			first_result = result;
			why = found;
		}
	}
	return give_none(history, first_result, &why, error);
}

int history_first(struct history *history, struct history_round *ret_round, struct error *error)
{
	return find_end(history, false, ret_round, error);
}

int history_last(struct history *history, struct history_round *ret_round, struct error *error)
{
	return find_end(history, true, ret_round, error);
}

/* The round of a file that is nearest to a time on a side of it; 0: none there. */
static int find_in_entry(struct history *history, struct history_entry *entry, uint64_t unix_ns, bool before,
			 struct day_file_row *ret_row, struct error *error)
{
	int64_t id = (int64_t)(unix_ns / NS_PER_MS);
	int result = history_open_entry(history, entry, error);

	if (result < 0)
		return result;
	result = history_seek(history, entry, before ? DAY_FILE_AT_OR_BEFORE : DAY_FILE_AT_OR_AFTER, id,
			      ret_row, error);
	/* the id is a time in ms */
	if (result > 0 && before && ret_row->round.unix_ns > unix_ns)
		result = history_seek(history, entry, DAY_FILE_AT_OR_BEFORE, ret_row->round.id - 1, ret_row,
				      error);
	else if (result > 0 && !before && ret_row->round.unix_ns < unix_ns)
		result = history_seek(history, entry, DAY_FILE_AT_OR_AFTER, ret_row->round.id + 1, ret_row,
				      error);
	return result;
}

/* The round on a side of a time, in whichever file. 1: found, 0: none. */
static int find_side(struct history *history, uint64_t unix_ns, bool before, struct history_round *ret_round)
{
	bool found = false;
	uint32_t found_day = 0;

	for (size_t i = 0; i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[before ? history->entry_count - 1 - i : i];
		struct day_file_row row;

		if (before ? history_files_begin(entry->day) > unix_ns
			   : history_files_end(entry->day) <= unix_ns)
			continue;
		/* those of one date may be of the same time, when the clock went back */
		if (found && !history_files_same_date(entry->day, found_day))
			break;
		if (find_in_entry(history, entry, unix_ns, before, &row, NULL) <= 0)
			continue;
		if (!found || (before ? row.round.unix_ns > ret_round->unix_ns
				      : row.round.unix_ns < ret_round->unix_ns))
			give(history, entry, &row, ret_round);
		found = true;
		found_day = entry->day;
	}
	return found;
}

int history_find(struct history *history, uint64_t unix_ns, enum history_side side,
		 struct history_round *ret_round, struct error *error)
{
	struct history_round before, after;
	int has_before = 0, has_after = 0;

	if (unix_ns > INT64_MAX)
		unix_ns = INT64_MAX;
	has_before = side != HISTORY_AT_OR_AFTER && find_side(history, unix_ns, true, &before);
	/* what is newer may have been recorded since the files were listed */
	if (side != HISTORY_AT_OR_BEFORE || !has_before ||
	    (history->entry_count != 0 &&
	     history_files_end(history->entries[history->entry_count - 1].day) <= unix_ns)) {
		const int result = history_refresh(history, error);

		if (result < 0)
			return result;
		has_before = side != HISTORY_AT_OR_AFTER && find_side(history, unix_ns, true, &before);
	}
	if (side != HISTORY_AT_OR_BEFORE)
		has_after = find_side(history, unix_ns, false, &after);
	if (has_before && (!has_after || unix_ns - before.unix_ns <= after.unix_ns - unix_ns)) {
		*ret_round = before;
		return 0;
	}
	if (has_after) {
		*ret_round = after;
		return 0;
	}
	return side == HISTORY_AT_OR_AFTER ? history_last(history, ret_round, error)
					   : history_first(history, ret_round, error);
}

static size_t index_of(const struct history *history, uint32_t day)
{
	size_t i = 0;

	while (i < history->entry_count && history->entries[i].day < day)
		i++;
	return i;
}

/* One round on or back, in this file or another. 1: found, 0: there is none. */
static int step_one(struct history *history, const struct history_round *from, bool forward,
		    struct history_round *ret_round)
{
	size_t i = index_of(history, from->day);
	const bool is_there = i < history->entry_count && history->entries[i].day == from->day;
	int64_t id = forward ? from->id + 1 : from->id - 1;

	if (!is_there) {
		/* its file was removed */
		id = forward ? 0 : INT64_MAX;
		if (!forward && i-- == 0)
			return 0;
	}
	for (;; id = forward ? 0 : INT64_MAX) {
		struct day_file_row row;

		if (i >= history->entry_count)
			return 0;
		if (history_open_entry(history, &history->entries[i], NULL) == 0 &&
		    history_seek(history, &history->entries[i],
				 forward ? DAY_FILE_AT_OR_AFTER : DAY_FILE_AT_OR_BEFORE, id, &row,
				 NULL) > 0) {
			give(history, &history->entries[i], &row, ret_round);
			return 1;
		}
		if (!forward && i == 0)
			return 0;
		i += forward ? 1 : (size_t)-1;
	}
}

/* Many rounds within a file that has no hole. 1: done; 0: not so. */
static int step_many(struct history *history, const struct history_round *from, int64_t rounds,
		     struct history_round *ret_round)
{
	int result;
	struct day_file_row row;
	struct history_entry *entry;

	if (history_has_gap(history, from->day))
		return 0;
	entry = history_entry_of(history, from->day, &result, NULL);
	if (entry == NULL || day_file_step(&entry->file, from->id, rounds, &row, NULL) <= 0)
		return 0;
	give(history, entry, &row, ret_round);
	return 1;
}

/* How many of them lie behind, or before, a round in its file: those that the step would leave. 0 where that
 * is not known. */
static int64_t rest_of_file(struct history *history, const struct history_round *from, bool forward)
{
	uint64_t count = 0;
	int result;
	struct history_entry *entry;

	if (history_has_gap(history, from->day))
		return 0;
	entry = history_entry_of(history, from->day, &result, NULL);
	if (entry == NULL || day_file_count(&entry->file, forward ? from->id + 1 : 0,
					    forward ? INT64_MAX : from->id - 1, &count, NULL) < 0)
		return 0;
	return (int64_t)count;
}

int history_step(struct history *history, const struct history_round *from, int64_t rounds,
		 struct history_round *ret_round, struct error *error)
{
	const bool forward = rounds > 0;
	struct history_round at = *from;
	int64_t left = forward ? rounds : -rounds;

	while (left > 0) {
		int64_t rest;

		if (left > 1 && step_many(history, &at, forward ? left : -left, &at) > 0)
			break;
		rest = left > 1 ? rest_of_file(history, &at, forward) : 0;
		if (rest > 1 && rest < left && step_many(history, &at, forward ? rest : -rest, &at) > 0) {
			left -= rest;
			continue;
		}
		if (step_one(history, &at, forward, &at) == 0) {
			const int result = forward ? history_refresh(history, error) : 0;

			if (result < 0)
				return result;
			/* nor was anything recorded since the files were listed */
			if (!forward || step_one(history, &at, forward, &at) == 0)
				break;
		}
		left--;
	}
	*ret_round = at;
	return 0;
}

/* --- ranges --- */

struct collecting {
	struct history *history;
	struct history_entry *entry;
	uint64_t from_unix_ns, to_unix_ns;
	uint64_t seen, total, limit;
	struct history_round *rounds;
	size_t count, capacity;
};

static bool collect(void *context, const struct day_file_row *row)
{
	struct collecting *work = context;
	struct history_round *round;

	if (row->round.unix_ns < work->from_unix_ns || row->round.unix_ns > work->to_unix_ns ||
	    history_gap_at(work->history, row->round.day, row->round.id) != NULL)
		return true;
	work->seen++;
	/* so many of all, evenly; the first among them */
	if (work->total > work->limit && work->seen > 1 &&
	    work->seen * work->limit / work->total == (work->seen - 1) * work->limit / work->total)
		return true;
	round = MEMORY_APPEND(work->rounds, work->count, work->capacity);
	give(work->history, work->entry, row, round);
	return true;
}

int history_range(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns, size_t limit,
		  struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	struct collecting work = {.history = history,
				  .from_unix_ns = from_unix_ns,
				  .to_unix_ns = to_unix_ns < INT64_MAX ? to_unix_ns : INT64_MAX,
				  .limit = limit != 0 ? limit : 1};
	const int64_t from = (int64_t)(from_unix_ns / NS_PER_MS),
		      to = (int64_t)(work.to_unix_ns / NS_PER_MS) + 1;
	const int result = history_refresh(history, error);

	if (result < 0)
		return result;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < history->entry_count; i++) {
			struct history_entry *entry = &history->entries[i];
			uint64_t count = 0;

			if (history_files_end(entry->day) <= from_unix_ns ||
			    history_files_begin(entry->day) > to_unix_ns ||
			    history_open_entry(history, entry, NULL) < 0)
				continue;
			work.entry = entry;
			/* where it is damaged the rest of the file is left out */
			if (pass == 0 && day_file_count(&entry->file, from, to, &count, NULL) == 0)
				work.total += count;
			else if (pass == 1)
				day_file_list(&entry->file, from, to, collect, &work, NULL);
		}
	}
	*ret_rounds = work.rounds;
	*ret_count = work.count;
	return 0;
}
