/* SPDX-License-Identifier: GPL-2.0-only */
/* A history that is recorded in a directory. */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"
#include "day_reader.h"
#include "history_files.h"
#include "recording.h"

enum {
	HISTORY_OPEN_MAX = 64,    /* files open at a time */
	HISTORY_BOOTS_MAX = 1024, /* boots kept for a file and for the history; further ones are unknown */
	HISTORY_GAPS_MAX = 1024,  /* a file with more gaps becomes one gap */
};

/* A file of a day. */
struct history_entry {
	uint32_t day;
	uint64_t bytes;
	struct day_reader reader;
	struct hash_map boots; /* offset of facts to index in recorded.boots; empty unless the file is open */
	int status; /* negative errno if the file cannot be read; 0: it can, or was not opened yet */
	const char *why;
};

/* An unreadable part of a file. Its offsets compare with ids of rounds, which are offsets, too. */
struct history_gap {
	uint32_t day;
	int64_t from, to; /* offsets of the gap's first byte and of the byte after the gap */
	uint64_t rounds;  /* count of lost rounds; 0: unknown */
	const char *why;
};

struct recorded {
	struct history base;
	struct history_entry *entries; /* ascending by day */
	size_t entry_count, entry_capacity;
	size_t open_count;
	struct history_boot *boots;
	size_t boot_count, boot_capacity;
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

/* Returns the index of the first gap that begins after a round, or gap_count. */
static size_t gap_after(const struct recorded *history, uint32_t day, int64_t id)
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

/* Merges a gap with the next one if they touch or overlap. */
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

/* Adds a gap and merges it with the gaps that it touches. */
static void note_gap(struct recorded *history, const struct history_gap *gap)
{
	size_t index = gap_after(history, gap->day, gap->from);

	(void)MEMORY_APPEND(history->gaps, history->gap_count, history->gap_capacity);
	memmove(&history->gaps[index + 1], &history->gaps[index],
		(history->gap_count - 1 - index) * sizeof(*gap));
	history->gaps[index] = *gap;
	if (index != 0 && join_gaps(history, index - 1))
		index--;
	while (join_gaps(history, index))
		;
	/* a file with too many is one */
	if (gap_after(history, gap->day, INT64_MAX) - gap_after(history, gap->day, -1) > HISTORY_GAPS_MAX)
		note_gap(history, &(struct history_gap){gap->day, 0, INT64_MAX, 0, gap->why});
}

/* Moves the reader's holes to the history's gaps. */
static void take_holes(struct recorded *history, struct day_reader *reader)
{
	for (size_t i = 0; i < reader->hole_count; i++) {
		const struct day_hole *hole = &reader->holes[i];
		const char *why = arena_format(
			&history->texts, "%s: no whole frame lies from byte %llu to %llu: it is damaged",
			reader->path, (unsigned long long)hole->from, (unsigned long long)hole->to);

		note_gap(history,
			 &(struct history_gap){reader->day, (int64_t)hole->from, (int64_t)hole->to, 0, why});
	}
	reader->hole_count = 0;
}

/* Forgets the gaps of a file that was removed or replaced. */
static void forget_gaps(struct recorded *history, uint32_t day)
{
	size_t kept = 0;

	for (size_t i = 0; i < history->gap_count; i++) {
		if (history->gaps[i].day != day)
			history->gaps[kept++] = history->gaps[i];
	}
	history->gap_count = kept;
}

static bool has_gaps(const struct recorded *history, uint32_t day)
{
	return gap_after(history, day, INT64_MAX) != gap_after(history, day, -1);
}

/* The hole that a round is in, or NULL. */
static const struct history_gap *gap_at(const struct recorded *history, uint32_t day, int64_t id)
{
	const size_t next = gap_after(history, day, id);
	const struct history_gap *gap = next != 0 ? &history->gaps[next - 1] : NULL;

	return gap != NULL && gap->day == day && id < gap->to ? gap : NULL;
}

/* --- files --- */

static void close_entry(struct recorded *history, struct history_entry *entry)
{
	if (!day_reader_is_open(&entry->reader))
		return;
	day_reader_close(&entry->reader);
	hash_map_release(&entry->boots);
	history->open_count--;
}

static bool lacks_descriptors(int status)
{
	return status == -EMFILE || status == -ENFILE;
}

/* Whether a later attempt may succeed: the file may appear, or a descriptor may become free. */
static bool is_passing(int status)
{
	return status == -ENOENT || lacks_descriptors(status);
}

/* Keeps the reason why a file cannot be read. The whole file becomes a gap, unless a later attempt may
 * succeed. */
static void refuse_entry(struct recorded *history, struct history_entry *entry, int result,
			 const struct error *why)
{
	entry->status = result;
	entry->why = arena_duplicate(&history->texts, why->text, strlen(why->text));
	if (!is_passing(result))
		note_gap(history, &(struct history_gap){entry->day, 0, INT64_MAX, 0, entry->why});
}

/* Forgets all that was read of a file: a new file of this name may have other rounds at the same offsets. */
static void forget_entry(struct recorded *history, struct history_entry *entry)
{
	close_entry(history, entry);
	forget_gaps(history, entry->day);
	history_forget_decoded(&history->base);
}

/* Takes the list of files over; what was known of those that are still there stays known. */
static void take_files(struct recorded *history, const struct history_files *files)
{
	struct history_entry *entries = memory_allocate_zero(files->count + 1, sizeof(*entries));
	size_t old = 0;

	for (size_t i = 0; i < files->count; i++) {
		entries[i].day = files->items[i].day;
		for (; old < history->entry_count && history->entries[old].day < entries[i].day; old++)
			forget_entry(history, &history->entries[old]);
		if (old < history->entry_count && history->entries[old].day == entries[i].day)
			entries[i] = history->entries[old++];
		if (is_passing(entries[i].status))
			entries[i].status = 0;
		entries[i].bytes = files->items[i].bytes;
	}
	for (; old < history->entry_count; old++)
		forget_entry(history, &history->entries[old]);
	free(history->entries);
	history->entries = entries;
	history->entry_count = files->count;
}

/* Finds the rounds that were appended to an open file. */
static void follow_entry(struct recorded *history, struct history_entry *entry)
{
	struct error why;
	int result;

	if (!day_reader_is_open(&entry->reader))
		return;
	result = day_reader_follow(&entry->reader, &why);
	if (result == 0) {
		take_holes(history, &entry->reader);
		return;
	}
	if (result == -ESTALE) {
		forget_entry(history, entry);
	} else {
		close_entry(history, entry);
		refuse_entry(history, entry, result, &why);
	}
}

/* Lists the directory again, adds new files, drops removed ones, and finds what was appended to open ones. */
static int refresh(struct recorded *history, struct error *error)
{
	struct history_files files;
	const int result = history_files_list(history->base.directory, &files, error);

	if (result == 0)
		take_files(history, &files);
	history_files_release(&files);
	for (size_t i = 0; result == 0 && i < history->entry_count; i++)
		follow_entry(history, &history->entries[i]);
	return result;
}

/* Opens a file unless it is open: 0, or why it cannot be read, which then is a hole. */
static int open_entry(struct recorded *history, struct history_entry *entry, struct error *error)
{
	char name[HISTORY_FILES_NAME];
	struct error why;
	int result;

	if (day_reader_is_open(&entry->reader))
		return 0;
	if (entry->status != 0)
		return error_set(error, entry->status, "%s", entry->why);
	if (history->open_count >= HISTORY_OPEN_MAX) {
		for (size_t i = 0; i < history->entry_count; i++)
			close_entry(history, &history->entries[i]);
	}
	if (history_files_is_former(entry->day))
		result = error_set(&why, -EPROTONOSUPPORT,
				   "%s/%s: it has the format of ctop before 1.0, which only that one reads; "
				   "it is kept and removed as the others are",
				   history->base.directory, history_files_name(entry->day, name));
	else
		result = day_reader_open(&entry->reader, history->base.directory, entry->day, O_RDONLY, &why);
	if (result < 0) {
		refuse_entry(history, entry, result, &why);
		return error_set(error, result, "%s", entry->why);
	}
	history->open_count++;
	take_holes(history, &entry->reader);
	return 0;
}

/*
 * Opens one of several files for a search. Returns 1 if the file is open, and 0 if it is gone or has become a
 * gap: the search goes on without it. Returns a negative errno if no descriptor is free: a search without the
 * file would miss its rounds.
 */
static int try_entry(struct recorded *history, struct history_entry *entry, struct error *error)
{
	struct error why;
	const int result = open_entry(history, entry, &why);

	if (lacks_descriptors(result))
		return error_set(error, result, "%s", why.text);
	return result == 0;
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

/* Returns the index of a round's boot in history->boots, which all files share. Returns UINT32_MAX if the
 * boot's facts cannot be read: they become a gap, and the round can still be read. */
static uint32_t boot_number(struct recorded *history, struct history_entry *entry,
			    const struct day_round *row)
{
	struct history_boot found;
	struct arena arena = {0};
	struct error why;
	uint32_t number = UINT32_MAX;

	if (hash_map_get(&entry->boots, row->facts, &number) || entry->boots.count >= HISTORY_BOOTS_MAX)
		return number;
	if (day_reader_boot(&entry->reader, row, &arena, &found, &why) == 0)
		number = intern_boot(history, &found);
	else
		note_gap(history,
			 &(struct history_gap){entry->day, (int64_t)row->facts, (int64_t)row->facts + 1, 0,
					       arena_duplicate(&history->texts, why.text, strlen(why.text))});
	hash_map_set(&entry->boots, row->facts, number);
	arena_release(&arena);
	return number;
}

const struct history_boot *history_boot(const struct history *base, const struct history_round *round)
{
	const struct recorded *history = recorded_of(base);

	return round->boot < history->boot_count ? &history->boots[round->boot] : &unknown_boot;
}

static bool is_one_start(const struct history *history, const struct history_round *a,
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

/* Returns the first round outside gaps, from an index on forwards or backwards, or NULL. */
static const struct day_round *find_whole(const struct recorded *history, const struct history_entry *entry,
					  size_t index, bool forward)
{
	for (; index < entry->reader.round_count; index += forward ? 1 : (size_t)-1) {
		const struct day_round *round = &entry->reader.rounds[index];

		if (gap_at(history, entry->day, round->round.id) == NULL)
			return round;
	}
	return NULL;
}

/* Like find_whole(), from an id on. */
static const struct day_round *seek_round(const struct recorded *history, const struct history_entry *entry,
					  bool forward, int64_t id)
{
	const struct day_reader *reader = &entry->reader;

	return forward ? find_whole(history, entry, day_reader_at(reader, (uint64_t)id), true)
		       : find_whole(history, entry, day_reader_at(reader, (uint64_t)id + 1) - 1, false);
}

static struct history_round round_to_give(struct recorded *history, struct history_entry *entry,
					  const struct day_round *row)
{
	struct history_round round = row->round;

	round.boot = boot_number(history, entry, row);
	return round;
}

/*
 * Finds the first round forwards or backwards: in the file of an index from an id on, then in the next files.
 * Returns 1 if found, else 0, or a negative errno if descriptors are lacking. Other files that cannot be
 * opened are passed over. `*ret_passed` is the negative errno of the first such file, with its sentence in
 * `error`; 0 if all could be opened.
 */
static int search(struct recorded *history, size_t index, bool forward, int64_t id,
		  struct history_round *ret_round, int *ret_passed, struct error *error)
{
	*ret_passed = 0;
	for (; index < history->entry_count; index += forward ? 1 : (size_t)-1, id = first_id(forward)) {
		struct history_entry *entry = &history->entries[index];
		const struct day_round *row;
		struct error why;
		const int result = open_entry(history, entry, &why);

		if (lacks_descriptors(result))
			return error_set(error, result, "%s", why.text);
		if (result < 0) {
			if (*ret_passed == 0)
				*ret_passed = error_set(error, result, "%s", why.text);
			continue;
		}
		row = seek_round(history, entry, forward, id);
		if (row != NULL) {
			*ret_round = round_to_give(history, entry, row);
			return 1;
		}
	}
	return 0;
}

/* Returns the index just past the files up to tomorrow; later ones were recorded while the clock was wrong.
 */
static size_t present_end(const struct recorded *history)
{
	const uint64_t tomorrow_ns = clock_ns(CLOCK_REALTIME) + HISTORY_FILES_DAY_NS;
	size_t end = history->entry_count;

	while (end > 0 && history_files_begin(history->entries[end - 1].day) > tomorrow_ns)
		end--;
	return end;
}

static int find_end(struct history *base, bool newest, struct history_round *ret_round, struct error *error)
{
	struct recorded *history = recorded_of(base);
	int result = refresh(history, error);
	int passed;

	if (result < 0)
		return result;
	result = search(history, newest ? present_end(history) - 1 : 0, !newest, first_id(!newest), ret_round,
			&passed, error);
	if (result == 0 && newest)
		result = search(history, history->entry_count - 1, false, first_id(false), ret_round, &passed,
				error);
	if (result != 0)
		return result > 0 ? 0 : result;
	if (passed != 0)
		return passed;
	if (history->gap_count != 0)
		return error_set(error, -ENODATA, "%s: no round in it can be read: %s", base->directory,
				 history->gaps[0].why);
	return error_set(error, -ENODATA, "%s: there is no round in it yet", base->directory);
}

/* Returns the nearest round at or before a time if `before`, else at or after the time; NULL for none. */
static const struct day_round *find_in_entry(const struct recorded *history,
					     const struct history_entry *entry, uint64_t unix_ns, bool before)
{
	const struct day_reader *reader = &entry->reader;
	const size_t since = day_reader_since(reader, unix_ns);
	const bool is_there = since < reader->round_count && reader->rounds[since].round.unix_ns == unix_ns;

	return find_whole(history, entry, before && !is_there ? since - 1 : since, !before);
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
		const struct day_round *row;

		if (before ? history_files_begin(entry->day) > unix_ns
			   : history_files_end(entry->day) <= unix_ns)
			continue;
		/* those of one date may be of the same time, when the clock went back */
		if (found && !history_files_same_date(entry->day, found_day))
			break;
		result = try_entry(history, entry, error);
		if (result < 0)
			return result;
		if (result == 0)
			continue;
		row = find_in_entry(history, entry, unix_ns, before);
		if (row == NULL)
			continue;
		if (!found || (before ? row->round.unix_ns > ret_round->unix_ns
				      : row->round.unix_ns < ret_round->unix_ns))
			*ret_round = round_to_give(history, entry, row);
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

static int range(struct history *base, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	struct recorded *history = recorded_of(base);
	struct history_round *rounds = NULL;
	size_t count = 0, capacity = 0;
	int result = refresh(history, error);

	if (result < 0)
		return result;
	for (size_t i = 0; i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[i];
		const struct day_round *row;

		if (history_files_end(entry->day) <= from_unix_ns ||
		    history_files_begin(entry->day) > to_unix_ns)
			continue;
		result = try_entry(history, entry, error);
		if (result < 0) {
			free(rounds);
			return result;
		}
		if (result == 0)
			continue;
		row = find_in_entry(history, entry, from_unix_ns, false);
		while (row != NULL && row->round.unix_ns <= to_unix_ns) {
			*MEMORY_APPEND(rounds, count, capacity) = round_to_give(history, entry, row);
			row = seek_round(history, entry, true, row->round.id + 1);
		}
	}
	*ret_rounds = rounds;
	*ret_count = count;
	return 0;
}

static bool adjoins(const struct history *base, const struct history_round *before,
		    const struct history_round *after)
{
	const struct recorded *history = recorded_of(base);
	const size_t next = gap_after(history, before->day, before->id);
	bool is_there = false;

	/* a file that was removed leaves no trace but this */
	if (!history_is_next(before, after))
		return false;
	if (next < history->gap_count) {
		const struct history_gap *gap = &history->gaps[next];

		if (gap->day < after->day || (gap->day == after->day && gap->from < after->id))
			return false;
	}
	/* what else a file had that was removed is not known */
	for (size_t i = 0; i < history->entry_count && !is_there; i++)
		is_there = history->entries[i].day == before->day;
	return is_there;
}

/* --- snapshots of rounds --- */

/*
 * Adds a gap for a round that cannot be decoded and for those after it that depend on it.
 */
static void note_damaged(struct recorded *history, struct history_entry *entry, int64_t id, const char *why)
{
	const struct day_reader *reader = &entry->reader;
	const size_t first = day_reader_at(reader, (uint64_t)id);
	struct hash_map damaged = {0};
	uint32_t ignored;
	size_t next = first;

	/* the first round is damaged whatever it is encoded against */
	while (next < reader->round_count &&
	       (next == first || hash_map_get(&damaged, reader->rounds[next].against, &ignored)))
		hash_map_set(&damaged, (uint64_t)reader->rounds[next++].round.id, 1);
	/* the gap ends with the known rounds, since those appended later may be whole */
	note_gap(history,
		 &(struct history_gap){entry->day, id,
				       next < reader->round_count ? reader->rounds[next].round.id
								  : (int64_t)reader->end,
				       next - first, arena_duplicate(&history->texts, why, strlen(why))});
	hash_map_release(&damaged);
}

enum {
	/* Most rounds in a chain, which begins with a whole one; a recorder's have 13 at most. In a hostile
	 * file each round could add thousands of threads for a few bytes. */
	CHAIN_MAX = 16,
};

/* The name of a round in messages: its file and time. */
static void name_round(const struct recorded *history, const struct day_round *row, struct buffer *name)
{
	char file[HISTORY_FILES_NAME], time[HUMANIZE_TIME_SIZE];

	buffer_clear(name);
	buffer_append_format(name, "%s/%s: the round of %s", history->base.directory,
			     history_files_name(row->round.day, file),
			     humanize_time(time, row->round.unix_ns, true));
}

/* Decodes a round whose `against` (NULL: it is whole) is decoded already. */
static int decode(struct recorded *history, struct history_entry *entry, const struct day_round *row,
		  const struct snapshot *against, struct buffer *name, struct snapshot **ret_snapshot,
		  struct error *error)
{
	const void *state, *interval;
	size_t state_length, interval_length;
	int result = day_reader_state(&entry->reader, row, &state, &state_length, error);

	if (result == 0)
		result = day_reader_interval(&entry->reader, row, &interval, &interval_length, error);
	if (result < 0)
		return result;
	name_round(history, row, name);
	return recording_decode(state, state_length, interval, interval_length, against, name->data,
				ret_snapshot, error);
}

/* The rounds that have to be decoded for one, itself first, up to a whole one or one that is decoded. */
static int find_chain(struct recorded *history, struct history_entry *entry, int64_t id,
		      const struct day_round *chain[static CHAIN_MAX], size_t *ret_count, struct error *error)
{
	size_t count = 0;
	int result = 0;

	for (uint64_t next = (uint64_t)id; next != 0 && result == 0;) {
		const struct history_decoded *known = history_find_decoded(&history->base, entry->day,
									   (int64_t)next);
		const struct day_round *row = day_reader_find(&entry->reader, next);

		if (count + (known != NULL ? known->depth : 0) >= CHAIN_MAX) {
			result = error_set(error, -EBADMSG,
					   "%s: at byte %lld: a round depends on too many others",
					   entry->reader.path, (long long)id);
		} else if (known != NULL) {
			break;
		} else if (row == NULL) {
			result = error_set(error, -EBADMSG,
					   "%s: at byte %llu: a round that others depend on is missing",
					   entry->reader.path, (unsigned long long)next);
		} else {
			chain[count++] = row;
			next = row->against;
		}
	}
	if (result < 0)
		/* what is missing is older than all that could be read */
		note_damaged(history, entry, count != 0 ? chain[count - 1]->round.id : id, error->text);
	*ret_count = count;
	return result;
}

static int decode_round(struct history *base, const struct history_round *round, struct error *error)
{
	struct recorded *history = recorded_of(base);
	const struct day_round *chain[CHAIN_MAX];
	struct buffer name = {0};
	struct error why = {0};
	size_t count = 0;
	int result = 0;
	struct history_entry *entry = entry_of(history, round->day, &result, error);

	if (entry == NULL)
		return result;
	result = find_chain(history, entry, round->id, chain, &count, &why);
	while (result == 0 && count-- > 0) {
		const struct day_round *row = chain[count];
		const struct history_decoded *against = row->against != 0
								? history_find_decoded(base, entry->day,
										       (int64_t)row->against)
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
	buffer_release(&name);
	return result < 0 ? error_set(error, result == -EINVAL ? -EBADMSG : result, "%s", why.text) : 0;
}

/* Decodes the interval of a round, if it has one. */
static int decode_interval(struct recorded *history, struct history_entry *entry,
			   const struct history_round *round, struct snapshot **ret_gone, double *ret_left_ns,
			   struct error *error)
{
	const struct day_round *row = day_reader_find(&entry->reader, (uint64_t)round->id);
	struct buffer name = {0};
	const void *interval;
	size_t length;
	int result;

	if (row == NULL)
		return error_set(error, -EBADMSG, "%s: at byte %lld: the round is not there any more",
				 entry->reader.path, (long long)round->id);
	result = day_reader_interval(&entry->reader, row, &interval, &length, error);
	if (result < 0 || length == 0)
		return result;
	name_round(history, row, &name);
	result = recording_decode_interval(interval, length, name.data, ret_gone, ret_left_ns, error);
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

/* Counts the rounds, gaps and marks of an open file. The counts of a damaged file are unknown. */
static void describe_day(const struct recorded *history, const struct history_entry *entry,
			 struct history_day *day)
{
	const struct day_reader *reader = &entry->reader;
	const struct day_round *first = seek_round(history, entry, true, first_id(true)),
			       *last = seek_round(history, entry, false, first_id(false));

	day->first_unix_ns = first != NULL ? first->round.unix_ns : 0;
	day->last_unix_ns = last != NULL ? last->round.unix_ns : 0;
	if (has_gaps(history, entry->day)) {
		day->rounds = day->gaps = day->marks = HISTORY_COUNT_UNKNOWN;
		return;
	}
	day->rounds = reader->round_count;
	day->marks = reader->mark_count;
	for (size_t i = 0; i < reader->round_count; i++)
		day->gaps += reader->rounds[i].round.after_gap;
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

		day->day = entry->day;
		day->bytes = entry->bytes;
		history_files_name(entry->day, day->name);
		day->unreadable = open_entry(history, entry, NULL) < 0;
		if (!day->unreadable)
			describe_day(history, entry, day);
	}
	*ret_count = history->entry_count;
	return history->days;
}

static int read_marks(struct history *base, uint64_t from_unix_ns, uint64_t to_unix_ns,
		      struct history_marks *ret_marks, struct error *error)
{
	struct recorded *history = recorded_of(base);
	int result = refresh(history, error);

	for (size_t i = 0; result >= 0 && i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[i];

		/* a mark lies in the file of its day, in the file before if that was still open, or in a
		 * later file if the disk was full */
		if (history_files_end(entry->day) + HISTORY_FILES_DAY_NS < from_unix_ns)
			continue;
		/* of what is damaged the other functions tell */
		result = try_entry(history, entry, error);
		if (result <= 0)
			continue;
		day_reader_marks(&entry->reader, from_unix_ns, to_unix_ns, ret_marks);
		take_holes(history, &entry->reader);
	}
	if (ret_marks->count != 0)
		qsort(ret_marks->items, ret_marks->count, sizeof(*ret_marks->items), order_by_u64);
	return result < 0 ? result : 0;
}

/* --- all that is damaged --- */

/* Reads all of a file that can be read. */
static void search_entry(struct recorded *history, struct history_entry *entry)
{
	struct history_marks marks = {0};
	const struct day_round *row;
	const void *bytes;
	struct error why;
	size_t length;

	/* files that cannot be opened are noted */
	if (open_entry(history, entry, NULL) < 0)
		return;
	for (row = seek_round(history, entry, true, first_id(true)); row != NULL;
	     row = seek_round(history, entry, true, row->round.id + 1)) {
		if (day_reader_state(&entry->reader, row, &bytes, &length, &why) < 0 ||
		    day_reader_interval(&entry->reader, row, &bytes, &length, &why) < 0)
			note_damaged(history, entry, row->round.id, why.text);
	}
	day_reader_marks(&entry->reader, 0, UINT64_MAX, &marks);
	history_marks_release(&marks);
	take_holes(history, &entry->reader);
}

/*
 * Returns the time at which a gap begins or ends. It begins at the first lost round if an index lists that,
 * else at the round before the gap; it ends at the round after the gap. Without such a round it begins or
 * ends with the day.
 */
static uint64_t time_of(const struct recorded *history, const struct history_gap *gap, bool is_end)
{
	const struct day_reader *reader = NULL;
	const int64_t id = is_end ? gap->to : gap->from;
	size_t index;

	for (size_t i = 0; i < history->entry_count; i++) {
		if (history->entries[i].day == gap->day)
			reader = &history->entries[i].reader;
	}
	if (reader != NULL && day_reader_is_open(reader)) {
		index = day_reader_at(reader, (uint64_t)id);
		if (index < reader->round_count && (is_end || reader->rounds[index].round.id == id))
			return reader->rounds[index].round.unix_ns;
		if (!is_end && index != 0)
			return reader->rounds[index - 1].round.unix_ns;
	}
	return is_end ? history_files_end(gap->day) : history_files_begin(gap->day);
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
		hole->from_unix_ns = time_of(history, gap, false);
		hole->to_unix_ns = time_of(history, gap, true);
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
	.is_one_start = is_one_start,
};

/* Sets the error for a directory that can be listed but isn't a history. */
static int refuse_directory(const char *directory, const struct history_files *files, struct error *error)
{
	char name[HISTORY_FILES_NAME];
	struct history_hosts hosts;
	const bool has_hosts = history_hosts_list(directory, &hosts);

	history_hosts_release(&hosts);
	if (has_hosts)
		return error_set(error, -ENODATA,
				 "%s has the histories of several hosts: name one of them; show, diff and "
				 "history take all of them",
				 directory);
	if (files->count != 0)
		return error_set(error, -ENODATA,
				 "%s: %s is no regular file, and nothing else of a history is there; put "
				 "the file itself there",
				 directory, history_files_name(files->items[0].day, name));
	return error_set(error, -ENODATA,
			 "%s: there is no history in it; `ctop record --history %s` makes one", directory,
			 directory);
}

int history_open(const char *directory, struct history **ret_history, struct error *error)
{
	struct recorded *history;
	struct history_files files;
	int result = history_files_list(directory, &files, error);

	if (result == -ENOENT)
		error_set(error, result, "%s: there is no such directory; `ctop record` makes a history",
			  directory);
	if (result == -ENOTDIR)
		error_set(error, result, "%s is a file; name the directory that `ctop record` writes to",
			  directory);
	if (result == 0 && !files.any)
		result = refuse_directory(directory, &files, error);
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
	arena_release(&history->texts);
	free(history->entries);
	free(history->boots);
	free(history->gaps);
	free(history->days);
	free(history->holes);
	free(history->base.directory);
	free(history);
}
