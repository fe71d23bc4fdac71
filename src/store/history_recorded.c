/* SPDX-License-Identifier: GPL-2.0-only */
/* A history that is recorded in a directory. */
#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"
#include "day_file.h"
#include "history_files.h"
#include "recording.h"

enum {
	HISTORY_OPEN_MAX = 64,        /* files at a time */
	HISTORY_BOOTS_MAX = 1024,     /* later ones are not known */
	HISTORY_BOOT_ROWS_MAX = 8192, /* the same of the rows of all files */
	HISTORY_GAPS_MAX = 1024,      /* a file with more of them is given up */
};

/* A file of a day. */
struct history_entry {
	uint32_t day;
	uint64_t bytes;
	struct day_file file;
	int status; /* why it cannot be read; 0: it can, or was not needed so far */
	const char *why;
	bool is_empty; /* it had nothing at all when it was opened */
};

/* Rounds that cannot be read, by id: from the first to before the last. */
struct history_gap {
	uint32_t day;
	int64_t from, to;
	uint64_t rounds;
	const char *why;
};

struct recorded {
	struct history base;
	struct history_entry *entries; /* ascending by day */
	size_t entry_count, entry_capacity;
	size_t open_count;
	struct history_boot *boots;
	size_t boot_count, boot_capacity;
	struct hash_map boot_of;  /* day and the file's id: index in `boots` */
	struct history_gap *gaps; /* ascending by day and id, apart */
	size_t gap_count, gap_capacity;
	struct history_day *days;   /* of history_days() */
	struct history_hole *holes; /* of history_damage() */
	struct arena texts;         /* of boots and of what is wrong */
};

static struct recorded *recorded_of(const struct history *history)
{
	return (struct recorded *)(uintptr_t)history;
}

/* --- what is damaged --- */

/* The index of the first gap behind a round. */
static size_t gap_behind(const struct recorded *history, uint32_t day, int64_t id)
{
	size_t from = 0, to = history->gap_count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct history_gap *gap = &history->gaps[middle];

		if (gap->day > day || (gap->day == day && gap->from > id))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* Makes one of a gap and the one behind it, where they meet. */
static bool join_gaps(struct recorded *history, size_t index)
{
	struct history_gap *gap = &history->gaps[index];
	const struct history_gap *next = gap + 1;

	if (index + 1 >= history->gap_count || gap->day != next->day || next->from > gap->to)
		return false;
	if (next->to > gap->to) {
		gap->rounds = next->from == gap->to ? gap->rounds + next->rounds : 0;
		gap->to = next->to;
	}
	history->gap_count--;
	memmove(gap + 1, next + 1, (history->gap_count - index - 1) * sizeof(*gap));
	return true;
}

/* Notes that the rounds from one on to before another are damaged. */
static void note_gap(struct recorded *history, const struct history_gap *gap)
{
	size_t index = gap_behind(history, gap->day, gap->from);

	(void)MEMORY_APPEND(history->gaps, history->gap_count, history->gap_capacity);
	memmove(&history->gaps[index + 1], &history->gaps[index],
		(history->gap_count - 1 - index) * sizeof(*gap));
	history->gaps[index] = *gap;
	if (index != 0 && join_gaps(history, index - 1))
		index--;
	while (join_gaps(history, index))
		;
	/* a file with too many is one */
	if (gap_behind(history, gap->day, INT64_MAX) - gap_behind(history, gap->day, -1) > HISTORY_GAPS_MAX)
		note_gap(history, &(struct history_gap){gap->day, 0, INT64_MAX, 0, gap->why});
}

/* Notes that rounds from one on, or from before the last of them on, could not be read for another reason
 * than damage. */
static void note_unread(struct recorded *history, uint32_t day, int64_t from, int64_t to, const char *why)
{
	note_gap(history,
		 &(struct history_gap){day, from, to, 0, arena_duplicate(&history->texts, why, strlen(why))});
}

/* The hole that a round is in, or NULL. */
static const struct history_gap *gap_at(const struct recorded *history, uint32_t day, int64_t id)
{
	const size_t behind = gap_behind(history, day, id);
	const struct history_gap *gap = behind != 0 ? &history->gaps[behind - 1] : NULL;

	return gap != NULL && gap->day == day && id < gap->to ? gap : NULL;
}

/* --- files --- */

static void close_entry(struct recorded *history, struct history_entry *entry)
{
	if (!day_file_is_open(&entry->file))
		return;
	day_file_close(&entry->file);
	history->open_count--;
}

/* An empty, missing or locked file may be readable later, and so may one that found no descriptor. */
static bool is_passing(int status)
{
	return status == -ENODATA || status == -ENOENT || status == -EAGAIN || status == -EMFILE ||
	       status == -ENFILE;
}

/* Takes the list of files over; what was known of those that are still there stays known. */
static void take_files(struct recorded *history, const struct history_files *files)
{
	struct history_entry *entries = memory_allocate_zero(files->count + 1, sizeof(*entries));
	size_t old = 0;

	for (size_t i = 0; i < files->count; i++) {
		entries[i].day = files->items[i].day;
		for (; old < history->entry_count && history->entries[old].day < entries[i].day; old++)
			close_entry(history, &history->entries[old]);
		if (old < history->entry_count && history->entries[old].day == entries[i].day)
			entries[i] = history->entries[old++];
		if (is_passing(entries[i].status))
			entries[i].status = 0;
		entries[i].bytes = files->items[i].bytes;
	}
	for (; old < history->entry_count; old++)
		close_entry(history, &history->entries[old]);
	free(history->entries);
	history->entries = entries;
	history->entry_count = files->count;
}

/* Lists the directory again: new files are there, removed ones are not. */
static int refresh(struct recorded *history, struct error *error)
{
	struct history_files files;
	const int result = history_files_list(history->base.directory, &files, error);

	if (result == 0)
		take_files(history, &files);
	history_files_release(&files);
	return result;
}

/* Opens a file unless it is open: 0, or why it cannot be read, which then is a hole. */
static int open_entry(struct recorded *history, struct history_entry *entry, struct error *error)
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
	entry->status = day_file_open(&entry->file, history->base.directory, entry->day, DATABASE_READ, &why);
	if (entry->status == 0) {
		history->open_count++;
		return 0;
	}
	entry->why = arena_duplicate(&history->texts, why.text, strlen(why.text));
	if (!is_passing(entry->status))
		note_gap(history, &(struct history_gap){entry->day, 0, INT64_MAX, 0, entry->why});
	return error_set(error, entry->status, "%s", entry->why);
}

/* The file of a number, open; NULL with an error where it cannot be read or is gone. */
static struct history_entry *entry_of(struct recorded *history, uint32_t day, int *ret_result,
				      struct error *error)
{
	char name[HISTORY_FILES_NAME];

	for (size_t i = 0; i < history->entry_count; i++) {
		if (history->entries[i].day == day) {
			*ret_result = open_entry(history, &history->entries[i], error);
			return *ret_result == 0 ? &history->entries[i] : NULL;
		}
	}
	*ret_result = error_set(error, -ENOENT, "%s/%s: it has been removed", history->base.directory,
				history_files_name(day, name));
	return NULL;
}

/* --- rounds --- */

static const struct history_boot unknown_boot = {{"", "", "", "", ""}};

static bool is_same_boot(const struct history_boot *a, const struct history_boot *b)
{
	size_t i = 0;

	while (i < HISTORY_BOOT_TEXTS && strcmp(a->texts[i], b->texts[i]) == 0)
		i++;
	return i == HISTORY_BOOT_TEXTS;
}

/* The number of a boot, which is added when it is new. */
static uint32_t intern_boot(struct recorded *history, const struct history_boot *boot)
{
	struct history_boot added;
	uint32_t number = 0;

	while (number < history->boot_count && !is_same_boot(&history->boots[number], boot))
		number++;
	if (number < history->boot_count)
		return number;
	if (number >= HISTORY_BOOTS_MAX)
		return UINT32_MAX;
	for (size_t i = 0; i < HISTORY_BOOT_TEXTS; i++)
		added.texts[i] = arena_duplicate(&history->texts, boot->texts[i], strlen(boot->texts[i]));
	*MEMORY_APPEND(history->boots, history->boot_count, history->boot_capacity) = added;
	return number;
}

/*
 * A number for the boot of a round in a file, the same in all files; of one that is damaged, which is noted,
 * none. Returns 0, or a negative errno with a sentence where the file cannot be read for another reason.
 */
static int boot_number(struct recorded *history, struct history_entry *entry,
		       const struct history_round *round, uint32_t *ret_number, struct error *error)
{
	const uint64_t key = (uint64_t)entry->day << 32 | round->boot;
	struct history_boot found = unknown_boot;
	struct arena arena = {0};
	struct error why;
	int result;

	*ret_number = UINT32_MAX;
	if (hash_map_get(&history->boot_of, key, ret_number) ||
	    history->boot_of.count >= HISTORY_BOOT_ROWS_MAX)
		return 0;
	result = day_file_boot(&entry->file, round->boot, &arena, &found, &why);
	if (result >= 0) {
		*ret_number = intern_boot(history, &found);
		hash_map_set(&history->boot_of, key, *ret_number);
	}
	arena_release(&arena);
	if (result < 0 && result != -EBADMSG)
		return error_set(error, result, "%s", why.text);
	if (result < 0)
		note_unread(history, entry->day, round->id, round->id + 1, why.text);
	return 0;
}

const struct history_boot *history_boot(const struct history *base, const struct history_round *round)
{
	const struct recorded *history = recorded_of(base);

	return round->boot < history->boot_count ? &history->boots[round->boot] : &unknown_boot;
}

bool history_is_one_start(const struct history *history, const struct history_round *a,
			  const struct history_round *b)
{
	const char *first, *second;

	if (a->boot == b->boot)
		return true;
	first = history_boot(history, a)->texts[HISTORY_BOOT_ID];
	second = history_boot(history, b)->texts[HISTORY_BOOT_ID];
	return *first != '\0' && strcmp(first, second) == 0;
}

/* The id at which the search of a file begins. */
static int64_t first_id(bool forward)
{
	return forward ? 0 : INT64_MAX;
}

/* Finds the next id from which on, or backwards, the table of rounds can be read again. */
static int pass_damage(struct recorded *history, struct history_entry *entry, bool forward, int64_t id,
		       struct day_file_row *ret_row, const char *why)
{
	const int64_t day_begin = (int64_t)(history_files_begin(entry->day) / NS_PER_MS),
		      day_end = (int64_t)(history_files_end(entry->day) / NS_PER_MS);
	int64_t bad, good, step = forward ? 1000 : -1000;
	int result = -EBADMSG;

	bad = forward ? (id > day_begin ? id : day_begin) : (id < day_end ? id : day_end);
	good = bad;
	while (result == -EBADMSG && good >= day_begin && good <= day_end) {
		bad = good;
		good += step;
		step *= 2;
		result = day_file_seek(&entry->file, forward, good, ret_row, NULL);
	}
	while (result != -EBADMSG && llabs(good - bad) > 1) {
		const int64_t middle = bad + (good - bad) / 2;
		struct day_file_row row;
		const int found = day_file_seek(&entry->file, forward, middle, &row, NULL);

		if (found == -EBADMSG) {
			bad = middle;
		} else {
			good = middle;
			result = found;
			*ret_row = row;
		}
	}
	if (forward)
		note_gap(history, &(struct history_gap){entry->day, id,
							result > 0 ? ret_row->round.id : INT64_MAX, 0, why});
	else
		note_gap(history, &(struct history_gap){entry->day, result > 0 ? ret_row->round.id + 1 : 0,
							id < INT64_MAX ? id + 1 : INT64_MAX, 0, why});
	return result == -EBADMSG ? 0 : result;
}

/* As day_file_seek() in a file that need not be open, past what is damaged. */
static int seek_round(struct recorded *history, struct history_entry *entry, bool forward, int64_t id,
		      struct day_file_row *ret_row, struct error *error)
{
	int result = open_entry(history, entry, error);

	while (result == 0) {
		const struct history_gap *gap;
		struct error why;

		result = day_file_seek(&entry->file, forward, id, ret_row, &why);
		if (result == -EBADMSG)
			result = pass_damage(history, entry, forward, id, ret_row,
					     arena_duplicate(&history->texts, why.text, strlen(why.text)));
		if (result < 0)
			return error_set(error, result, "%s", why.text);
		gap = result > 0 ? gap_at(history, entry->day, ret_row->round.id) : NULL;
		if (gap == NULL)
			return result;
		if (forward ? gap->to == INT64_MAX : gap->from == 0)
			return 0;
		id = forward ? gap->to : gap->from - 1;
		result = 0;
	}
	return result;
}

/* Hands a row out; 1, or a negative errno with a sentence. */
static int give(struct recorded *history, struct history_entry *entry, const struct day_file_row *row,
		struct history_round *ret_round, struct error *error)
{
	uint32_t boot;
	const int result = boot_number(history, entry, &row->round, &boot, error);

	if (result < 0)
		return result;
	*ret_round = row->round;
	ret_round->boot = boot;
	return 1;
}

/*
 * The first round in a direction, in the file of an index from an id on, and then in the next ones. 1: found,
 * 0: none, or a negative errno. A file that cannot be opened is passed over: why the first of them cannot is
 * in *ret_passed, with its sentence in `error`, or 0.
 */
static int search(struct recorded *history, size_t index, bool forward, int64_t id,
		  struct history_round *ret_round, int *ret_passed, struct error *error)
{
	*ret_passed = 0;
	for (; index < history->entry_count; index += forward ? 1 : (size_t)-1, id = first_id(forward)) {
		struct history_entry *entry = &history->entries[index];
		struct day_file_row row;
		struct error why;
		const int result = seek_round(history, entry, forward, id, &row, &why);

		if (result > 0)
			return give(history, entry, &row, ret_round, error);
		if (result < 0 && day_file_is_open(&entry->file))
			return error_set(error, result, "%s", why.text);
		if (result < 0 && result != -ENODATA && *ret_passed == 0)
			*ret_passed = error_set(error, result, "%s", why.text);
	}
	return 0;
}

/* Behind the files up to tomorrow. Those of later days were recorded while the clock was wrong. */
static size_t behind_present(const struct recorded *history)
{
	const uint64_t tomorrow_ns = clock_ns(CLOCK_REALTIME) + HISTORY_FILES_DAY_NS;
	size_t behind = history->entry_count;

	while (behind > 0 && history_files_begin(history->entries[behind - 1].day) > tomorrow_ns)
		behind--;
	return behind;
}

static int find_end(struct history *base, bool newest, struct history_round *ret_round, struct error *error)
{
	struct recorded *history = recorded_of(base);
	int result = refresh(history, error);
	int passed;

	if (result < 0)
		return result;
	result = search(history, newest ? behind_present(history) - 1 : 0, !newest, first_id(!newest),
			ret_round, &passed, error);
	if (result == 0 && newest)
		result = search(history, history->entry_count - 1, false, first_id(false), ret_round, &passed,
				error);
	if (result != 0 || passed != 0)
		return result > 0 ? 0 : result < 0 ? result : passed;
	if (history->gap_count != 0)
		return error_set(error, -ENODATA, "%s: no round in it can be read: %s", base->directory,
				 history->gaps[0].why);
	return error_set(error, -ENODATA, "%s: there is no round in it yet", base->directory);
}

/* The round of a file that is nearest to a time on a side of it; 0: none there. */
static int find_in_entry(struct recorded *history, struct history_entry *entry, uint64_t unix_ns, bool before,
			 struct day_file_row *ret_row, struct error *error)
{
	int result = seek_round(history, entry, !before, (int64_t)(unix_ns / NS_PER_MS), ret_row, error);

	/* the id is a time in ms */
	if (result > 0 && (before ? ret_row->round.unix_ns > unix_ns : ret_row->round.unix_ns < unix_ns))
		result = seek_round(history, entry, !before, ret_row->round.id + (before ? -1 : 1), ret_row,
				    error);
	return result;
}

static int find_side(struct history *base, uint64_t unix_ns, bool before, struct history_round *ret_round,
		     struct error *error)
{
	struct recorded *history = recorded_of(base);
	/* what is newer may have been recorded since the files were listed */
	int result = refresh(history, error);
	bool found = false;
	uint32_t found_day = 0;

	if (result < 0)
		return result;
	for (size_t i = 0; i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[before ? history->entry_count - 1 - i : i];
		struct day_file_row row;

		if (before ? history_files_begin(entry->day) > unix_ns
			   : history_files_end(entry->day) <= unix_ns)
			continue;
		/* those of one date may be of the same time, when the clock went back */
		if (found && !history_files_same_date(entry->day, found_day))
			break;
		result = find_in_entry(history, entry, unix_ns, before, &row, error);
		if (result < 0 && day_file_is_open(&entry->file))
			return result;
		if (result <= 0)
			continue;
		if (!found || (before ? row.round.unix_ns > ret_round->unix_ns
				      : row.round.unix_ns < ret_round->unix_ns))
			result = give(history, entry, &row, ret_round, error);
		if (result < 0)
			return result;
		found = true;
		found_day = entry->day;
	}
	return found;
}

/* As history_functions.find_next(), in the files that are known. */
static int find_next_known(struct recorded *history, const struct history_round *from, bool forward,
			   struct history_round *ret_round, struct error *error)
{
	int64_t id = forward ? from->id + 1 : from->id - 1;
	size_t index = 0;
	int passed;

	while (index < history->entry_count && history->entries[index].day < from->day)
		index++;
	if (index == history->entry_count || history->entries[index].day != from->day) {
		/* its file was removed */
		id = first_id(forward);
		index -= forward ? 0 : 1;
	}
	return search(history, index, forward, id, ret_round, &passed, error);
}

static int find_next(struct history *base, const struct history_round *from, bool forward,
		     struct history_round *ret_round, struct error *error)
{
	struct recorded *history = recorded_of(base);
	int result = find_next_known(history, from, forward, ret_round, error);

	/* nor was anything recorded since the files were listed */
	if (result == 0 && forward) {
		result = refresh(history, error);
		if (result == 0)
			result = find_next_known(history, from, forward, ret_round, error);
	}
	return result;
}

/* --- ranges --- */

struct collecting {
	struct recorded *history;
	struct history_entry *entry;
	uint64_t from_unix_ns, to_unix_ns;
	int64_t next; /* after the last round that was listed */
	struct history_round *rounds;
	size_t count, capacity;
};

static bool collect(void *context, const struct day_file_row *row)
{
	struct collecting *work = context;
	struct history_round round;
	struct error why;

	work->next = row->round.id + 1;
	if (row->round.unix_ns < work->from_unix_ns || row->round.unix_ns > work->to_unix_ns ||
	    gap_at(work->history, row->round.day, row->round.id) != NULL)
		return true;
	if (give(work->history, work->entry, row, &round, &why) < 0)
		note_unread(work->history, row->round.day, row->round.id, row->round.id + 1, why.text);
	else
		*MEMORY_APPEND(work->rounds, work->count, work->capacity) = round;
	return true;
}

/* Lists the rounds of a file up to an id, past what is damaged; of what cannot be read it is noted why. */
static void list_rounds(struct collecting *work, int64_t to)
{
	struct recorded *history = work->history;
	struct day_file_row row;
	struct error why;
	int result = -EBADMSG;

	while (result == -EBADMSG) {
		result = day_file_list(&work->entry->file, work->next, to, collect, work, &why);
		if (result != -EBADMSG)
			break;
		if (pass_damage(history, work->entry, true, work->next, &row,
				arena_duplicate(&history->texts, why.text, strlen(why.text))) <= 0 ||
		    gap_at(history, work->entry->day, row.round.id) != NULL)
			break; /* no more of it, or given up */
		work->next = row.round.id;
	}
	if (result < 0 && result != -EBADMSG)
		note_unread(history, work->entry->day, work->next, INT64_MAX, why.text);
}

static int range(struct history *base, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	struct recorded *history = recorded_of(base);
	struct collecting work = {.history = history, .from_unix_ns = from_unix_ns, .to_unix_ns = to_unix_ns};
	const int64_t from = (int64_t)(from_unix_ns / NS_PER_MS), to = (int64_t)(to_unix_ns / NS_PER_MS) + 1;
	const int result = refresh(history, error);

	if (result < 0)
		return result;
	for (size_t i = 0; i < history->entry_count; i++) {
		work.entry = &history->entries[i];
		work.next = from;
		if (history_files_end(work.entry->day) <= from_unix_ns ||
		    history_files_begin(work.entry->day) > to_unix_ns ||
		    open_entry(history, work.entry, NULL) < 0)
			continue;
		list_rounds(&work, to);
	}
	*ret_rounds = work.rounds;
	*ret_count = work.count;
	return 0;
}

static bool adjoins(const struct history *base, const struct history_round *before,
		    const struct history_round *after)
{
	const struct recorded *history = recorded_of(base);
	bool is_there = false;

	const size_t behind = gap_behind(history, before->day, before->id);

	/* a file that was removed leaves no trace but this */
	if (!history_is_next(before, after))
		return false;
	if (behind < history->gap_count) {
		const struct history_gap *gap = &history->gaps[behind];

		if (gap->day < after->day || (gap->day == after->day && gap->from < after->id))
			return false;
	}
	/* what else a file had that was removed is not known */
	for (size_t i = 0; i < history->entry_count && !is_there; i++)
		is_there = history->entries[i].day == before->day;
	return is_there;
}

/* --- snapshots of rounds --- */

/* A damaged round and those encoded against it, while the rounds after it are looked at. */
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

/*
 * Notes that a round cannot be decoded, and with it all rounds told from it, up to the next one that can.
 */
static void note_damaged(struct recorded *history, struct history_entry *entry, int64_t id, const char *why)
{
	struct following following = {0};

	day_file_list(&entry->file, id, INT64_MAX, follow, &following, NULL);
	note_gap(history,
		 &(struct history_gap){entry->day, id, following.whole != 0 ? following.whole : INT64_MAX,
				       following.rounds, arena_duplicate(&history->texts, why, strlen(why))});
	hash_map_release(&following.damaged);
}

enum {
	/* A writer tells a round from a chain of at most a dozen others. Each may have thousands of threads
	 * more than the one before for a few bytes. */
	CHAIN_MAX = 16,
};

/* The name of a round in messages: its file and time. */
static void name_round(const struct recorded *history, const struct day_file_row *row, struct buffer *name)
{
	char file[HISTORY_FILES_NAME], time[HUMANIZE_TIME_SIZE];

	buffer_clear(name);
	buffer_append_format(name, "%s/%s: the round of %s", history->base.directory,
			     history_files_name(row->round.day, file),
			     humanize_time(time, row->round.unix_ns, true));
}

/* Decodes a round whose `against` (NULL: it is whole) is decoded already. */
static int decode(struct recorded *history, struct history_entry *entry, const struct day_file_row *row,
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
static int find_chain(struct recorded *history, struct history_entry *entry, int64_t id,
		      struct day_file_row **ret_chain, size_t *ret_count, struct error *error)
{
	struct day_file_row *chain = NULL;
	size_t count = 0, capacity = 0;
	int result = 0;

	for (int64_t next = id; next != 0;) {
		const struct history_decoded *known = history_find_decoded(&history->base, entry->day, next);
		struct day_file_row row;

		if (count + (known != NULL ? known->depth : 0) >= CHAIN_MAX) {
			result = error_set(error, -EBADMSG, "%s: a round depends on too many others",
					   entry->file.database.path);
			break;
		}
		if (known != NULL)
			break;
		result = day_file_seek(&entry->file, true, next, &row, error);
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
		note_damaged(history, entry, count != 0 ? chain[count - 1].round.id : id,
			     error != NULL ? error->text : "it is damaged");
	*ret_chain = chain;
	*ret_count = count;
	return result < 0 ? result : 0;
}

static int decode_round(struct history *base, const struct history_round *round, struct error *error)
{
	struct recorded *history = recorded_of(base);
	struct day_file_row *chain = NULL;
	struct buffer name = {0};
	struct error why = {0};
	size_t count = 0;
	int result = 0;
	struct history_entry *entry = entry_of(history, round->day, &result, error);

	if (entry == NULL)
		return result;
	result = find_chain(history, entry, round->id, &chain, &count, &why);
	while (result == 0 && count-- > 0) {
		const struct day_file_row *row = &chain[count];
		const struct history_decoded *against = row->against != 0
								? history_find_decoded(base, entry->day,
										       row->against)
								: NULL;
		const unsigned int depth = against != NULL ? against->depth + 1 : 0;
		struct snapshot *snapshot;

		result = decode(history, entry, row, against != NULL ? against->snapshot : NULL, &name,
				&snapshot, &why);
		if (result == 0)
			history_keep_decoded(base, row->round.day, row->round.id, depth, snapshot);
		else if (result == -EBADMSG || result == -EINVAL)
			note_damaged(history, entry, row->round.id, why.text);
	}
	free(chain);
	buffer_release(&name);
	return result < 0 ? error_set(error, result == -EINVAL ? -EBADMSG : result, "%s", why.text) : 0;
}

/* Decodes the interval of a round, if it has one. */
static int decode_interval(struct recorded *history, struct history_entry *entry,
			   const struct history_round *round, struct snapshot **ret_gone, double *ret_left_ns,
			   struct error *error)
{
	const struct day_file_row row = {.round = *round};
	struct buffer name = {0};
	struct day_file_blobs blobs;
	int result = day_file_blobs(&entry->file, round->id, &blobs, error);

	if (result < 0)
		return result;
	name_round(history, &row, &name);
	if (blobs.interval_length != 0)
		result = recording_decode_interval(blobs.interval, blobs.interval_length, name.data, ret_gone,
						   ret_left_ns, error);
	day_file_end_blobs(&blobs);
	buffer_release(&name);
	return result;
}

static int read_gone(struct history *base, const struct history_round *round, struct snapshot **ret_gone,
		     double *ret_left_ns, struct error *error)
{
	struct recorded *history = recorded_of(base);
	struct history_entry *entry;
	int result;

	*ret_gone = NULL;
	*ret_left_ns = NAN;
	entry = entry_of(history, round->day, &result, error);
	if (entry == NULL)
		return result;
	result = decode_interval(history, entry, round, ret_gone, ret_left_ns, error);
	/* decoding the round itself loads its version's words */
	if (result == -EPROTONOSUPPORT && decode_round(base, round, NULL) == 0)
		result = decode_interval(history, entry, round, ret_gone, ret_left_ns, error);
	return result == -EINVAL ? -EBADMSG : result;
}

/* --- days and marks --- */

/* The number that a statement gives. It must have a condition: SQLite counts all rows of a table in one step,
 * however long that takes. */
static uint64_t count_of(struct history_entry *entry, const char *text)
{
	int64_t count = 0;

	if (database_number(&entry->file.database, text, &count, NULL) < 0)
		return HISTORY_COUNT_UNKNOWN;
	return count > 0 ? (uint64_t)count : 0;
}

const struct history_day *history_days(struct history *base, size_t *ret_count)
{
	struct recorded *history = recorded_of(base);

	refresh(history, NULL);
	free(history->days);
	history->days = memory_allocate_zero(history->entry_count + 1, sizeof(*history->days));
	for (size_t i = 0; i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[i];
		struct history_day *day = &history->days[i];
		struct day_file_row row;
		int result;

		day->day = entry->day;
		day->bytes = entry->bytes;
		history_files_name(entry->day, day->name);
		if (open_entry(history, entry, NULL) < 0) {
			day->unreadable = entry->status != -ENODATA;
			continue;
		}
		result = seek_round(history, entry, true, first_id(true), &row, NULL);
		day->first_unix_ns = result > 0 ? row.round.unix_ns : 0;
		if (result >= 0)
			result = seek_round(history, entry, false, first_id(false), &row, NULL);
		day->last_unix_ns = result > 0 ? row.round.unix_ns : 0;
		day->unreadable = result < 0;
		day->rounds = count_of(entry, "SELECT count(*) FROM rounds WHERE id >= 0");
		day->gaps = count_of(entry, "SELECT count(*) FROM rounds WHERE flags & 1");
		day->marks = count_of(entry, "SELECT count(*) FROM marks WHERE id > 0");
	}
	*ret_count = history->entry_count;
	return history->days;
}

static int read_marks(struct history *base, uint64_t from_unix_ns, uint64_t to_unix_ns,
		      struct history_marks *ret_marks, struct error *error)
{
	struct recorded *history = recorded_of(base);
	int result = refresh(history, error);

	for (size_t i = 0; result == 0 && i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[i];

		/* marks may lie in the file of the day after */
		if (history_files_end(entry->day) + HISTORY_FILES_DAY_NS < from_unix_ns ||
		    (history_files_begin(entry->day) > HISTORY_FILES_DAY_NS &&
		     history_files_begin(entry->day) - HISTORY_FILES_DAY_NS > to_unix_ns))
			continue;
		/* of what is damaged the other functions tell */
		if (open_entry(history, entry, NULL) == 0)
			result = day_file_marks(&entry->file, from_unix_ns, to_unix_ns, ret_marks, error);
		if (result == -EBADMSG)
			result = 0;
	}
	if (ret_marks->count != 0)
		qsort(ret_marks->items, ret_marks->count, sizeof(*ret_marks->items), order_by_u64);
	return result;
}

/* --- all that is damaged --- */

/* Reads all of a file that can be read. */
static void search_entry(struct recorded *history, struct history_entry *entry)
{
	struct day_file_row row;
	struct error why;
	int64_t id = 0;
	int result;

	while ((result = seek_round(history, entry, true, id, &row, &why)) > 0) {
		struct day_file_blobs blobs;

		if (day_file_blobs(&entry->file, row.round.id, &blobs, &why) == 0)
			day_file_end_blobs(&blobs);
		else
			note_damaged(history, entry, row.round.id, why.text);
		id = row.round.id + 1;
	}
	/* files that cannot be opened are noted */
	if (result < 0 && day_file_is_open(&entry->file))
		note_unread(history, entry->day, id, INT64_MAX, why.text);
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

const struct history_hole *history_damage(struct history *base, bool search_all, size_t *ret_count)
{
	struct recorded *history = recorded_of(base);
	size_t count = 0;

	refresh(history, NULL);
	for (size_t i = 0; search_all && i < history->entry_count; i++)
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

/* --- the history --- */

static const struct history_functions functions = {
	.find_end = find_end,
	.find_side = find_side,
	.find_next = find_next,
	.adjoins = adjoins,
	.range = range,
	.decode = decode_round,
	.read_gone = read_gone,
	.read_marks = read_marks,
};

int history_open(const char *directory, struct history **ret_history, struct error *error)
{
	struct recorded *history;
	char name[HISTORY_FILES_NAME];
	struct history_files files;
	int result = history_files_list(directory, &files, error);

	if (result == -ENOENT)
		error_set(error, result, "%s: there is no such directory; `ctop record` makes a history",
			  directory);
	if (result == -ENOTDIR)
		error_set(error, result, "%s is a file; name the directory that `ctop record` writes to",
			  directory);
	if (result == 0 && !files.any && files.count != 0)
		result = error_set(error, -ENODATA,
				   "%s: %s is no regular file, and nothing else of a history is there; put "
				   "the file itself there",
				   directory, history_files_name(files.items[0].day, name));
	else if (result == 0 && !files.any)
		result = error_set(error, -ENODATA,
				   "%s: there is no history in it; `ctop record --history %s` makes one",
				   directory, directory);
	if (result == 0) {
		history = memory_allocate_zero(1, sizeof(*history));
		history->base.functions = &functions;
		history->base.directory = memory_duplicate(directory);
		history->base.decoded_max = HISTORY_DECODED;
		take_files(history, &files);
		*ret_history = &history->base;
	}
	history_files_release(&files);
	return result;
}

void history_close(struct history *base)
{
	struct recorded *history = recorded_of(base);

	if (history == NULL)
		return;
	for (size_t i = 0; i < history->entry_count; i++)
		close_entry(history, &history->entries[i]);
	history_forget_decoded(base);
	hash_map_release(&history->boot_of);
	arena_release(&history->texts);
	free(history->entries);
	free(history->boots);
	free(history->gaps);
	free(history->days);
	free(history->holes);
	free(history->base.directory);
	free(history);
}
