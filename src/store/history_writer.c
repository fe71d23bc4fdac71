/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "day_frame.h"
#include "day_reader.h"
#include "day_sync.h"
#include "day_writer.h"
#include "history_files.h"
#include "recording.h"

enum {
	ZSTD_LEVEL = 3,
	/*
	 * A round is whole, or what changed against the last one of the level above: so few have to be
	 * decoded to show any of them.
	 */
	LEVEL_WHOLE = 0,
	LEVEL_MIDDLE,
	LEVEL_STEP,
	LEVELS,
	MIDDLE_EVERY = 12,    /* rounds */
	PARTS_FOR_LIMIT = 8,  /* a file's limit is max_bytes divided by this: only whole files are removed */
	MARKS_WAITING = 1000, /* marks kept while the disk is full; further ones are lost */
};

#define WHOLE_EVERY_NS (UINT64_C(3600) * NS_PER_S)
#define LOOK_EVERY_NS  (UINT64_C(60) * NS_PER_S) /* for what has to be removed */
/* The clock must have been steady for so long before files are removed for their age. */
#define STEADY_NS (UINT64_C(600) * NS_PER_S)
/* Other differences between the wall clock and CLOCK_BOOTTIME are jumps: the clock is slewed by at most one
 * part in 2,000 (adjtimex(2)), and the two are read one after the other. */
#define JUMP_NS      NS_PER_S
#define SLEW_DIVISOR 2000
#define STEP_FAR_NS  (UINT64_C(3600) * NS_PER_S) /* a jump after which nothing is removed for its age */
#define SUSPENDED_NS (NS_PER_S / 2)              /* a host sleeps for longer than that */
/* Latest time of a round, since files have signed numbers. Times before 1970 are larger as unsigned numbers,
 * and so are refused, too. */
#define LATEST_NS  (INT64_MAX - UINT64_C(86400) * NS_PER_S)
#define PART_BYTES (UINT64_C(1) << 20) /* the least that a part of a day holds */

/* The notice about a directory where another user may write. */
static const char shared_words[] =
	"other users may change or remove what is recorded there; give it mode 0750 and an owner of your own";

struct history_writer {
	char *directory;
	struct history_writer_options options;
	int lock;
	struct recorder *recorder;
	struct recording recording; /* its buffers are used again */
	struct day_writer file;
	struct day_sync sync;
	uint64_t next_unix_ns;   /* earliest time of the file's next round */
	uint64_t snapshot_bytes; /* of those that the marks of the file have */
	char *last_snapshot;     /* the last of them, owned; NULL: none */
	uint32_t skip_to;        /* number just past the last file that turned out to be damaged */
	/* The last rounds of each level, a reference each, and their ids; the last one is the round before.
	 * NULL: the next round is whole. */
	struct snapshot *levels[LEVELS];
	int64_t level_ids[LEVELS];
	struct history_marks waiting; /* marks that a full disk refused */
	uint64_t whole_unix_ns;
	unsigned int since_middle;
	struct day_round last; /* the last stored round, by this writer or an earlier one */
	char *last_boot_id;    /* boot id of `last`, owned; NULL: no round, or its boot is unknown */
	/* The clocks of the last round that came, stored or not, and the id of its boot, owned, NULL for
	 * none. */
	uint64_t seen_unix_ns, seen_boottime_ns;
	char *seen_boot_id;
	/* CLOCK_BOOTTIME from which on days are removed for their age */
	uint64_t age_counts_from_ns;
	bool looked;
	uint64_t looked_at_ns; /* CLOCK_BOOTTIME */
	struct history_writer_state state;
	struct error notice;
	bool has_notice;
};

static void forget_rounds(struct history_writer *writer)
{
	for (size_t i = 0; i < LEVELS; i++) {
		snapshot_release(writer->levels[i]);
		writer->levels[i] = NULL;
	}
}

static void notify(struct history_writer *writer, const char *format, const char *what, const char *why)
{
	error_set(&writer->notice, 0, format, what, why);
	writer->has_notice = true;
}

/* Starts syncing the file if an index was written, unless another sync is still running at the deadline. */
static void sync_file(struct history_writer *writer, uint64_t deadline_ns)
{
	int result;

	if (!writer->file.wants_sync)
		return;
	result = day_sync_end(&writer->sync, deadline_ns);
	if (result == -EINPROGRESS)
		return;
	if (result < 0)
		notify(writer,
		       "%s: the disk failed to take what was recorded lately, which is lost if the host "
		       "loses power: %s",
		       writer->directory, strerror(-result));
	writer->file.wants_sync = false;
	day_sync_begin(&writer->sync, writer->file.descriptor, writer->directory);
}

static void close_file(struct history_writer *writer)
{
	if (day_writer_is_open(&writer->file)) {
		/* readers can do without the index */
		(void)day_writer_index(&writer->file, NULL);
		writer->file.wants_sync = true;
		sync_file(writer, DAY_SYNC_NO_DEADLINE);
		day_writer_close(&writer->file);
	}
	writer->state.file[0] = '\0';
	writer->snapshot_bytes = 0;
	free(writer->last_snapshot);
	writer->last_snapshot = NULL;
	forget_rounds(writer);
}

static void see(struct history_writer *writer, const char *boot_id, uint64_t unix_ns, uint64_t boottime_ns)
{
	free(writer->seen_boot_id);
	writer->seen_boot_id = memory_duplicate(boot_id);
	writer->seen_unix_ns = unix_ns;
	writer->seen_boottime_ns = boottime_ns;
}

/* Reads the newest round of the directory, which the next one follows. It stays unknown where it cannot be
 * read. */
static void take_up_last(struct history_writer *writer, const struct history_files *files)
{
	for (size_t i = files->count; i-- > 0 && writer->last_boot_id == NULL;) {
		struct day_reader reader;
		struct arena arena = {0};
		struct history_boot boot;

		if (history_files_is_former(files->items[i].day) ||
		    day_reader_open(&reader, writer->directory, files->items[i].day, O_RDONLY, NULL) < 0)
			continue;
		if (reader.round_count != 0) {
			writer->last = reader.rounds[reader.round_count - 1];
			if (day_reader_boot(&reader, &writer->last, &arena, &boot, NULL) == 0)
				writer->last_boot_id = memory_duplicate(boot.texts[HISTORY_BOOT_ID]);
		}
		arena_release(&arena);
		day_reader_close(&reader);
	}
}

/* Makes the directory where it is missing, and becomes its writer. */
static int take_directory(const char *directory, int *ret_lock, struct error *error)
{
	/* with file capabilities (getauxval(3), AT_SECURE) ctop reads more than its user's group may see */
	if (mkdir(directory, getauxval(AT_SECURE) != 0 ? 0700 : 0750) < 0 && errno != EEXIST) {
		const int result = -errno;

		return error_set(error, result, "%s: %s%s", directory, strerror(-result),
				 result == -ENOENT   ? "; make the directory that it is to be in"
				 : result == -EACCES ? "; run as root, or name another with --history"
						     : "");
	}
	return history_files_lock(directory, ret_lock, error);
}

int history_writer_open(const struct history_writer_options *options, struct history_writer **ret_writer,
			struct error *error)
{
	struct history_writer *writer;
	struct history_files files;
	int lock, result;

	result = take_directory(options->directory, &lock, error);
	if (result < 0)
		return result;
	result = history_files_list(options->directory, &files, error);
	if (result < 0) {
		history_files_unlock(lock);
		return result;
	}
	writer = memory_allocate_zero(1, sizeof(*writer));
	writer->directory = memory_duplicate(options->directory);
	writer->options = *options;
	writer->options.directory = writer->directory;
	writer->lock = lock;
	writer->recorder = recorder_create(ZSTD_LEVEL);
	writer->state.bytes = files.bytes;
	if (history_files_is_shared(options->directory))
		notify(writer, "%s: %s", options->directory, shared_words);
	take_up_last(writer, &files);
	if (writer->last_boot_id != NULL)
		see(writer, writer->last_boot_id, writer->last.round.unix_ns, writer->last.round.boottime_ns);
	history_files_release(&files);
	*ret_writer = writer;
	return 0;
}

const struct history_writer_state *history_writer_state(const struct history_writer *writer)
{
	return &writer->state;
}

const char *history_writer_take_notice(struct history_writer *writer)
{
	const bool has_notice = writer->has_notice;

	writer->has_notice = false;
	return has_notice ? writer->notice.text : NULL;
}

/* --- what is removed --- */

/* The bytes that a snapshot of a mark takes, which is removed if `removes`; 0: there is none. */
static uint64_t snapshot_bytes(const struct history_writer *writer, const char *name, bool removes)
{
	struct stat status;
	bool is_there;
	char *path;

	/* whatever a file says */
	if (name == NULL || !history_files_is_snapshot(name))
		return 0;
	path = history_files_path(writer->directory, name);
	is_there = lstat(path, &status) == 0 && (!removes || unlink(path) == 0);
	free(path);
	return is_there ? (uint64_t)status.st_blocks * 512 : 0;
}

/* Returns the bytes of the snapshots that a file's marks name, and removes the snapshots if `removes`. */
static uint64_t snapshots_of_day(struct history_writer *writer, uint32_t day, bool removes)
{
	struct history_marks marks = {0};
	struct day_reader reader;
	uint64_t bytes = 0;

	if (history_files_is_former(day) ||
	    day_reader_open(&reader, writer->directory, day, O_RDONLY, NULL) < 0)
		return 0;
	day_reader_marks(&reader, 0, UINT64_MAX, &marks);
	for (size_t i = 0; i < marks.count; i++) {
		const char *name = marks.items[i].path, *last = i != 0 ? marks.items[i - 1].path : NULL;

		/* marks of one moment have the same one */
		if (name != NULL && (last == NULL || strcmp(name, last) != 0))
			bytes += snapshot_bytes(writer, name, removes);
	}
	history_marks_release(&marks);
	day_reader_close(&reader);
	return bytes;
}

static bool is_too_old(const struct history_writer *writer, uint32_t day, uint64_t now_unix_ns)
{
	return writer->options.keep_ns != 0 && now_unix_ns > writer->options.keep_ns &&
	       now_unix_ns <= LATEST_NS && history_files_end(day) <= now_unix_ns - writer->options.keep_ns;
}

static bool is_too_much(const struct history_writer *writer, uint64_t bytes)
{
	return writer->options.max_bytes != 0 && bytes > writer->options.max_bytes;
}

static bool is_open(const struct history_writer *writer, uint32_t day)
{
	return day_writer_is_open(&writer->file) && day == writer->file.day;
}

/*
 * The bytes of snapshots that no mark names: somebody saved them there, or the file with the mark is damaged.
 * They are never removed, so removing days because of them would not help.
 */
static uint64_t unnamed_bytes(struct history_writer *writer, const struct history_files *files)
{
	uint64_t named = day_writer_is_open(&writer->file) ? writer->snapshot_bytes : 0;

	for (size_t i = 0; i < files->count; i++) {
		if (!files->items[i].irregular && !is_open(writer, files->items[i].day))
			named += snapshots_of_day(writer, files->items[i].day, false);
	}
	return files->snapshot_bytes > named ? files->snapshot_bytes - named : 0;
}

/*
 * Removes files, the oldest first, for their age and until all of them are within the limit of bytes, but
 * never the one that is written. Returns whether there is more room.
 */
static bool remove_old(struct history_writer *writer, uint64_t now_unix_ns, bool age_counts)
{
	struct history_files files;
	uint64_t removed = 0;

	if (history_files_list(writer->directory, &files, NULL) < 0)
		return false;
	if (is_too_much(writer, files.bytes))
		files.bytes -= unnamed_bytes(writer, &files);
	for (size_t i = 0; i < files.count; i++) {
		const uint32_t day = files.items[i].day;
		uint64_t freed;

		if (files.items[i].irregular || is_open(writer, day) ||
		    (!(age_counts && is_too_old(writer, day, now_unix_ns)) &&
		     !is_too_much(writer, files.bytes)))
			continue;
		freed = snapshots_of_day(writer, day, true);
		if (history_files_remove(writer->directory, day) == 0) {
			freed += files.items[i].bytes;
			removed++;
		}
		files.bytes -= files.bytes < freed ? files.bytes : freed;
	}
	writer->state.removed_days += removed;
	writer->state.bytes = files.bytes;
	history_files_release(&files);
	return removed != 0;
}

static const char *known(const char *text)
{
	return text != NULL ? text : "";
}

/* How much further than CLOCK_BOOTTIME the clock went since both stood so, 0 for as much as clocks drift;
 * false where that was not since this start of the host. */
static bool find_jump(const char *boot_id, uint64_t unix_ns, uint64_t boottime_ns,
		      const struct snapshot *round, int64_t *ret_jump_ns)
{
	const uint64_t now_ns = round->provenance.boottime_ns;
	uint64_t elapsed;
	int64_t jump;

	if (boot_id == NULL || strcmp(boot_id, known(round->provenance.boot_id)) != 0 || now_ns < boottime_ns)
		return false;
	elapsed = now_ns - boottime_ns;
	jump = (int64_t)(round->captured_at_unix_ns - unix_ns) - (int64_t)elapsed;
	*ret_jump_ns = (uint64_t)llabs(jump) > JUMP_NS + elapsed / SLEW_DIVISOR ? jump : 0;
	return true;
}

/* The same, once a minute; not for their age where the clock may be wrong. */
static void look_for_old(struct history_writer *writer, const struct snapshot *round)
{
	const uint64_t now_ns = round->provenance.boottime_ns;
	int64_t jump;

	if (!find_jump(writer->seen_boot_id, writer->seen_unix_ns, writer->seen_boottime_ns, round, &jump) ||
	    (uint64_t)llabs(jump) > STEP_FAR_NS)
		writer->age_counts_from_ns = now_ns + STEADY_NS;
	see(writer, known(round->provenance.boot_id), round->captured_at_unix_ns, now_ns);
	if (writer->looked && now_ns >= writer->looked_at_ns && now_ns - writer->looked_at_ns < LOOK_EVERY_NS)
		return;
	writer->looked = true;
	writer->looked_at_ns = now_ns;
	remove_old(writer, round->captured_at_unix_ns, now_ns >= writer->age_counts_from_ns);
}

/* --- the file --- */

/* The size in bytes from which on another file takes its place. */
static uint64_t part_limit(const struct history_writer *writer)
{
	const uint64_t limit = writer->options.max_bytes / PARTS_FOR_LIMIT;

	if (writer->options.max_bytes == 0)
		return UINT64_MAX;
	return limit > PART_BYTES ? limit : PART_BYTES;
}

/* Counts the snapshot of a mark as part of the file that is open: they are removed together. */
static void count_snapshot(struct history_writer *writer, const char *name)
{
	/* marks of one moment have the same one */
	if (name == NULL || (writer->last_snapshot != NULL && strcmp(writer->last_snapshot, name) == 0))
		return;
	writer->snapshot_bytes += snapshot_bytes(writer, name, false);
	free(writer->last_snapshot);
	writer->last_snapshot = memory_duplicate(name);
}

static void count_snapshots(struct history_writer *writer, struct day_reader *reader)
{
	struct history_marks marks = {0};

	day_reader_marks(reader, 0, UINT64_MAX, &marks);
	for (size_t i = 0; i < marks.count; i++)
		count_snapshot(writer, marks.items[i].path);
	history_marks_release(&marks);
}

/* Whether a file that is open can take a round of that time: its rounds ascend. */
static bool file_takes(const struct history_writer *writer, uint64_t unix_ns)
{
	return unix_ns >= writer->next_unix_ns &&
	       writer->file.end + writer->snapshot_bytes < part_limit(writer);
}

/* Continues an existing file, if its last round is readable. */
static int take_up_file(struct history_writer *writer, struct day_reader *reader, struct error *error)
{
	const struct day_round *last = reader->round_count != 0 ? &reader->rounds[reader->round_count - 1]
								: NULL;
	const void *bytes;
	size_t length;
	int result = 0;

	if (last != NULL)
		result = day_reader_state(reader, last, &bytes, &length, error);
	if (result == 0 && last != NULL)
		result = day_reader_interval(reader, last, &bytes, &length, error);
	if (result < 0)
		return result;
	count_snapshots(writer, reader);
	result = day_writer_continue(&writer->file, reader, error);
	writer->next_unix_ns = last != NULL ? last->round.unix_ns + 1 : 0;
	return result;
}

static int open_part(struct history_writer *writer, uint32_t day, struct error *error)
{
	struct day_reader reader;
	int result = history_files_check(writer->directory, day, error);

	if (result < 0)
		return result;
	writer->next_unix_ns = 0;
	result = day_reader_open(&reader, writer->directory, day, O_RDWR, error);
	if (result == -ENOENT) {
		result = day_writer_create(&writer->file, writer->directory, day, error);
	} else {
		if (result == 0) {
			result = take_up_file(writer, &reader, error);
			day_reader_close(&reader);
		}
		/* a bad sector is damage, too: another file can still be written */
		if (result == -EIO)
			result = -EBADMSG;
	}
	if (result < 0) {
		close_file(writer);
		return result;
	}
	history_files_name(day, writer->state.file);
	return 0;
}

/* The last part of a day, or where there is none the first one to be. */
static unsigned int find_last_part(const struct history_writer *writer, uint32_t day)
{
	struct history_files files;
	unsigned int part = 1;

	if (history_files_list(writer->directory, &files, NULL) == 0) {
		for (size_t i = 0; i < files.count; i++) {
			if (history_files_same_date(files.items[i].day, day) &&
			    !history_files_is_former(files.items[i].day))
				part = history_files_part(files.items[i].day);
		}
	}
	history_files_release(&files);
	return part;
}

/* Leaves a file as it is, and says so. */
static void set_aside(struct history_writer *writer, uint32_t day, const char *why)
{
	char name[HISTORY_FILES_NAME];

	writer->skip_to = day + 1;
	writer->state.damaged_files++;
	notify(writer, "%s is left as it is, and another file is begun: %s", history_files_name(day, name),
	       why);
}

/* Opens a file that takes a round of that time. */
static int choose_file(struct history_writer *writer, uint64_t unix_ns, struct error *error)
{
	const uint32_t first = history_files_day(unix_ns, 1);
	unsigned int part;

	if (unix_ns > LATEST_NS)
		return error_set(error, -ERANGE,
				 "the clock of this host is before 1970 or after 2262; set it");
	if (day_writer_is_open(&writer->file)) {
		if (history_files_same_date(writer->file.day, first) && file_takes(writer, unix_ns))
			return 0;
		close_file(writer);
		/* by now it may be removed */
		writer->looked = false;
	}
	part = find_last_part(writer, first);
	if (history_files_same_date(writer->skip_to, first) && history_files_part(writer->skip_to) > part)
		part = history_files_part(writer->skip_to);
	for (; part < HISTORY_FILES_PARTS; part++) {
		const uint32_t day = history_files_day(unix_ns, part);
		struct error why;
		const int result = open_part(writer, day, &why);

		if (result == 0 && file_takes(writer, unix_ns))
			return 0;
		if (result == 0)
			close_file(writer);
		else if (day_is_unusable(result))
			set_aside(writer, day, why.text);
		else
			return error_set(error, result, "%s", why.text);
	}
	return error_set(error, -EMFILE, "%s: there are too many files of one day; remove some",
			 writer->directory);
}

/*
 * Checks that the directory and the file are still at their paths. If they were removed or moved, recording
 * begins anew, with a gap before the next round. 0, or why it cannot.
 */
static int keep_place(struct history_writer *writer, struct error *error)
{
	int lock;

	if (!history_files_is_locked(writer->directory, writer->lock)) {
		const int result = take_directory(writer->directory, &lock, error);

		if (result < 0)
			return result;
		history_files_unlock(writer->lock);
		writer->lock = lock;
		close_file(writer);
		notify(writer, "%s: it was removed or moved while it was recorded, and is begun again%s",
		       writer->directory,
		       history_files_is_shared(writer->directory) ? "; others may change it now" : "");
	} else if (day_writer_is_open(&writer->file) && day_writer_has_moved(&writer->file)) {
		notify(writer, "%s/%s was removed or moved while it was written, and another file is begun",
		       writer->directory, writer->state.file);
		close_file(writer);
	}
	return 0;
}

/* --- a round --- */

static struct history_boot boot_of(const struct snapshot *round)
{
	return (struct history_boot){{
		[HISTORY_BOOT_ID] = known(round->provenance.boot_id),
		[HISTORY_BOOT_KERNEL] = known(round->host.kernel_release),
		[HISTORY_BOOT_HOST] = known(round->provenance.hostname),
		[HISTORY_BOOT_ARCHITECTURE] = known(round->host.arch),
		[HISTORY_BOOT_PROGRAM] = known(round->provenance.program),
	}};
}

static uint64_t slept_ns(void)
{
	const uint64_t boottime = clock_ns(CLOCK_BOOTTIME), monotonic = clock_ns(CLOCK_MONOTONIC);

	/* without any sleep the first is read a moment earlier */
	return boottime > monotonic ? boottime - monotonic : 0;
}

/* Compares the clocks with those of the round before. */
static void compare_clocks(struct history_writer *writer, const struct snapshot *round, struct day_round *row)
{
	if (!find_jump(writer->last_boot_id, writer->last.round.unix_ns, writer->last.round.boottime_ns,
		       round, &row->round.clock_jump_ns))
		return;
	row->round.clock_jumped = row->round.clock_jump_ns != 0;
	if (row->slept_ns > writer->last.slept_ns + SUSPENDED_NS)
		row->round.suspended_ns = row->slept_ns - writer->last.slept_ns;
}

/* Whether `round` can be encoded against `before`: it is later, from the same host and boot. */
static bool follows(const struct snapshot *before, const struct snapshot *round)
{
	return strcmp(known(before->provenance.boot_id), known(round->provenance.boot_id)) == 0 &&
	       strcmp(known(before->provenance.hostname), known(round->provenance.hostname)) == 0 &&
	       before->provenance.boottime_ns < round->provenance.boottime_ns;
}

/* The level of the round. */
static size_t level_of(const struct history_writer *writer, const struct snapshot *round)
{
	if (writer->levels[LEVEL_STEP] == NULL || !follows(writer->levels[LEVEL_STEP], round) ||
	    round->captured_at_unix_ns / WHOLE_EVERY_NS != writer->whole_unix_ns / WHOLE_EVERY_NS)
		return LEVEL_WHOLE;
	return writer->since_middle + 1 >= MIDDLE_EVERY ? LEVEL_MIDDLE : LEVEL_STEP;
}

/* Keeps a stored round, so that later ones can be encoded against it. */
static void remember(struct history_writer *writer, struct snapshot *round, const struct day_round *row,
		     size_t level)
{
	for (size_t i = level; i < LEVELS; i++) {
		snapshot_release(writer->levels[i]);
		writer->levels[i] = snapshot_reference(round);
		writer->level_ids[i] = row->round.id;
	}
	if (level == LEVEL_WHOLE)
		writer->whole_unix_ns = row->round.unix_ns;
	writer->since_middle = level == LEVEL_STEP ? writer->since_middle + 1 : 0;
	writer->next_unix_ns = row->round.unix_ns + 1;
	writer->last = *row;
	free(writer->last_boot_id);
	writer->last_boot_id = memory_duplicate(known(round->provenance.boot_id));
	writer->state.paused = false;
	writer->state.rounds++;
	writer->state.whole_rounds += level == LEVEL_WHOLE;
	writer->state.written_bytes += writer->recording.state.length + writer->recording.interval.length;
}

/* Describes a round, except for its place in the file. */
static struct day_round describe(struct history_writer *writer, const struct snapshot *round,
				 const struct snapshot *before)
{
	struct day_round row = {.round = history_round_of(before, round), .slept_ns = slept_ns()};

	row.round.after_pause = before == NULL && writer->state.paused;
	compare_clocks(writer, round, &row);
	return row;
}

/* Encodes a round and stores it in a file that takes it. */
static int store_round(struct history_writer *writer, struct snapshot *round, const struct snapshot *before,
		       struct error *error)
{
	const struct history_boot boot = boot_of(round);
	struct day_round row;
	size_t level, against;
	int result = choose_file(writer, round->captured_at_unix_ns, error);

	if (result < 0)
		return result;
	/* only now: choose_file() may have begun another file, whose first round is whole */
	level = level_of(writer, round);
	against = level == LEVEL_STEP ? LEVEL_STEP : LEVEL_WHOLE;
	row = describe(writer, round, before);
	if (level != LEVEL_WHOLE)
		row.against = (uint64_t)writer->level_ids[against];
	recorder_encode(writer->recorder, round, level != LEVEL_WHOLE ? writer->levels[against] : NULL,
			before, history_left_between(before, round), &writer->recording);
	result = day_writer_add(&writer->file, &row, &boot, &writer->recording, error);
	if (result == 0)
		remember(writer, round, &row, level);
	sync_file(writer, 0);
	return result;
}

static bool is_full(int result)
{
	return result == -ENOSPC || result == -EDQUOT;
}

/* Notes that the round is not stored: the next one is whole, after a gap. */
static int pause_recording(struct history_writer *writer, int result, const struct error *why,
			   struct error *error)
{
	writer->state.paused = true;
	forget_rounds(writer);
	/* what is wrong with a file may not be so any more when it is opened again */
	if (!is_full(result))
		close_file(writer);
	return error_set(error, result, "%s", why->text);
}

/* Appends a mark to the open file; without one, to the file of the mark's time. */
static int store_mark(struct history_writer *writer, const struct history_mark *mark, struct error *error)
{
	int result = 0;

	if (!day_writer_is_open(&writer->file))
		result = choose_file(writer, mark->unix_ns, error);
	if (result == 0)
		result = day_writer_mark(&writer->file, mark, error);
	if (result == 0)
		count_snapshot(writer, mark->path);
	return result;
}

/* Appends the waiting marks, as many as there is room for. */
static void store_waiting(struct history_writer *writer)
{
	struct history_marks *waiting = &writer->waiting;
	size_t stored = 0;

	while (stored < waiting->count && store_mark(writer, &waiting->items[stored], NULL) == 0)
		stored++;
	waiting->count -= stored;
	if (waiting->count == 0)
		history_marks_release(waiting);
	else if (stored != 0)
		memmove(waiting->items, waiting->items + stored, waiting->count * sizeof(*waiting->items));
}

int history_writer_add(struct history_writer *writer, struct snapshot *round, struct error *error)
{
	struct snapshot *last, *before = NULL;
	struct error why = {0};
	int result = keep_place(writer, &why);

	if (result < 0)
		return pause_recording(writer, result, &why, error);
	last = writer->levels[LEVEL_STEP];
	/* even if the file of `last` was closed: decoding an interval does not need the round before */
	if (last != NULL && follows(last, round))
		before = snapshot_reference(last);
	look_for_old(writer, round);
	result = store_round(writer, round, before, &why);
	if (is_full(result) && remove_old(writer, round->captured_at_unix_ns, false))
		result = store_round(writer, round, before, &why);
	snapshot_release(before);
	if (result < 0)
		return pause_recording(writer, result, &why, error);
	store_waiting(writer);
	return 0;
}

/* Keeps a mark until there is room for it. Returns false if too many are waiting. */
static bool keep_mark(struct history_writer *writer, const struct history_mark *mark)
{
	const char *texts[] = {mark->kind, mark->text, mark->path};
	struct history_marks *waiting = &writer->waiting;

	if (waiting->count >= MARKS_WAITING)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		if (texts[i] != NULL)
			texts[i] = arena_duplicate(&waiting->arena, texts[i], strlen(texts[i]));
	}
	*MEMORY_APPEND(waiting->items, waiting->count, waiting->capacity) = (struct history_mark){
		mark->unix_ns, texts[0], texts[1], texts[2]};
	return true;
}

int history_writer_mark(struct history_writer *writer, const struct history_mark *mark, struct error *error)
{
	struct error why = {0};
	int result = keep_place(writer, &why);

	if (result == 0)
		result = store_mark(writer, mark, &why);
	if (is_full(result) && remove_old(writer, mark->unix_ns, false))
		result = store_mark(writer, mark, &why);
	if (is_full(result) && keep_mark(writer, mark))
		result = 0;
	return result < 0 ? error_set(error, result, "%s", why.text) : 0;
}

void history_writer_close(struct history_writer *writer)
{
	if (writer == NULL)
		return;
	store_waiting(writer);
	close_file(writer);
	(void)day_sync_end(&writer->sync, DAY_SYNC_NO_DEADLINE);
	history_marks_release(&writer->waiting);
	recording_release(&writer->recording);
	recorder_release(writer->recorder);
	history_files_unlock(writer->lock);
	free(writer->last_boot_id);
	free(writer->seen_boot_id);
	free(writer->directory);
	free(writer);
}
