/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "history_files.h"

enum {
	/* Further rounds and marks of a file are ignored. A round every 0.1 s makes 864,000 a day. */
	ROUNDS_MAX = 1 << 20,
	MARKS_MAX = 100000,
	/* Longest payloads, bytes. A longer payload counts as damaged; a longer index is ignored. */
	FACTS_PAYLOAD_MAX = 4096,
	INDEX_PAYLOAD_MAX = 1 << 20,
	MARK_PAYLOAD_MAX = DAY_MARK_TEXTS * (DAY_MARK_TEXT_MAX + 1),
};

/* --- errors --- */

static int refuse_damage(const struct day_reader *reader, uint64_t offset, const char *what,
			 struct error *error)
{
	return error_set(error, -EBADMSG, "%s: at byte %llu: %s is damaged", reader->path,
			 (unsigned long long)offset, what);
}

static void note_hole(struct day_reader *reader, uint64_t from, uint64_t to)
{
	if (reader->hole_count < DAY_HOLES_MAX)
		*MEMORY_APPEND(reader->holes, reader->hole_count,
			       reader->hole_capacity) = (struct day_hole){from, to};
	else if (reader->holes[DAY_HOLES_MAX - 1].to < to)
		reader->holes[DAY_HOLES_MAX - 1].to = to;
}

/* --- contents of frames --- */

/* Adds a round. Returns false if no recorder could have written it, or if the file has too many rounds. */
static bool add_round(struct day_reader *reader, struct day_round round)
{
	const struct day_round *before = reader->round_count != 0 ? &reader->rounds[reader->round_count - 1]
								  : NULL;

	if (reader->round_count >= ROUNDS_MAX || !day_round_is_valid(&round, before, reader->day))
		return false;
	round.round.day = reader->day;
	*MEMORY_APPEND(reader->rounds, reader->round_count, reader->round_capacity) = round;
	return true;
}

static bool add_mark(struct day_reader *reader, uint64_t offset)
{
	if (reader->mark_count != 0 &&
	    offset < reader->marks[reader->mark_count - 1] + DAY_FRAME_HEADER_BYTES)
		return false;
	if (reader->mark_count < MARKS_MAX)
		*MEMORY_APPEND(reader->marks, reader->mark_count, reader->mark_capacity) = offset;
	return true;
}

static void end_index(struct day_reader *reader, const struct day_frame *frame)
{
	reader->index = frame->offset;
	reader->index_end = day_frame_end(frame);
	reader->indexed_rounds = reader->round_count;
	reader->indexed_marks = reader->mark_count;
}

/* Adds the content of a frame that holds. reader->frame has the beginning of the frame's payload. */
static void take_frame(struct day_reader *reader, const struct day_frame *frame)
{
	struct day_round round = {
		.round = {.id = (int64_t)frame->offset, .unix_ns = frame->unix_ns},
		.length = frame->length,
	};
	bool is_good = true;

	if (frame->kind == DAY_FRAME_ROUND) {
		is_good = day_record_read(&round, reader->frame.data, reader->frame.length) != 0 &&
			  add_round(reader, round);
	} else if (frame->kind == DAY_FRAME_MARK) {
		is_good = add_mark(reader, frame->offset);
	} else if (frame->kind == DAY_FRAME_INDEX) {
		end_index(reader, frame);
	}
	if (!is_good)
		note_hole(reader, frame->offset, day_frame_end(frame));
}

/* Whether a frame belongs to the round that follows it: the recorder appends both in one write. */
static bool is_part_of_round(const struct day_frame *frame)
{
	return frame->kind == DAY_FRAME_FACTS || frame->kind == DAY_FRAME_INTERVAL;
}

/*
 * Reads the frames between two offsets; damage between frames is a hole. Sets `*ret_end` just past the last
 * frame that is final. Facts and intervals are not final until their round follows: if the disk is full, the
 * recorder cuts them off and appends other frames in their place.
 */
static int scan_frames(struct day_reader *reader, uint64_t from, uint64_t to, uint64_t *ret_end)
{
	const uint64_t size = reader->source.size;
	uint64_t end = from;
	struct day_frame frame;
	int result = 0;

	reader->source.size = to;
	while (from < to) {
		result = day_frame_read(&reader->source, from, DAY_RECORD_MAX, &reader->frame, &frame);
		if (result == 0) {
			const uint64_t bad = from;

			result = day_frame_find(&reader->source, from + 1, to, &frame);
			if (result <= 0)
				break;
			from = frame.offset;
			/* the recorder may have finished the torn frame meanwhile */
			result = day_frame_read(&reader->source, bad, 0, &reader->frame, &frame);
			if (result > 0)
				from = bad;
			else if (result == 0)
				note_hole(reader, bad, from);
		} else if (result > 0) {
			take_frame(reader, &frame);
			from = day_frame_end(&frame);
			if (!is_part_of_round(&frame))
				end = from;
		}
		if (result < 0)
			break;
	}
	reader->source.size = size;
	*ret_end = end;
	return result < 0 ? result : 0;
}

/* Like scan_frames(), for a part of the file that other frames follow: damage at the part's end is a hole,
 * too. */
static int scan_part(struct day_reader *reader, uint64_t from, uint64_t to)
{
	uint64_t end;
	const int result = scan_frames(reader, from, to, &end);

	if (result == 0 && end < to)
		note_hole(reader, end, to);
	return result;
}

/* --- indexes --- */

/* Adds the marks and rounds of an index. Returns false, and adds nothing, if one of them is invalid. */
static bool add_entries(struct day_reader *reader, const struct day_frame *frame, uint32_t rounds,
			uint32_t marks)
{
	const uint64_t from = day_get(reader->frame.data + DAY_INDEX_FROM_AT, 8);
	const size_t rounds_before = reader->round_count, marks_before = reader->mark_count,
		     rounds_at = DAY_INDEX_BYTES + (size_t)marks * DAY_MARK_BYTES;
	struct day_list list = day_list_open(reader->frame.data + rounds_at,
					     reader->frame.length - rounds_at);
	struct day_round round;
	bool is_good = true;

	for (uint32_t i = 0; i < marks && is_good; i++) {
		const uint64_t mark = day_get(reader->frame.data + DAY_INDEX_BYTES + i * DAY_MARK_BYTES, 8);

		is_good = mark >= from && mark < frame->offset && add_mark(reader, mark);
	}
	for (uint32_t i = 0; i < rounds && is_good; i++)
		is_good = day_list_next(&list, &round) && (uint64_t)round.round.id >= from &&
			  add_round(reader, round) &&
			  (uint64_t)round.round.id + DAY_FRAME_HEADER_BYTES + round.length <= frame->offset;
	is_good = is_good && list.stream.next == list.stream.end;
	if (!is_good) {
		reader->round_count = rounds_before;
		reader->mark_count = marks_before;
	}
	return is_good;
}

/*
 * Adds what the index frame at an offset lists, and moves `*known_end` past the index. First reads the frames
 * from `*known_end` up to the part of the file that the index covers. An unusable index is ignored:
 * `*known_end` stays before that part, and the next call or the last scan reads its frames one by one.
 */
static int take_index(struct day_reader *reader, uint64_t offset, uint64_t *known_end)
{
	struct day_frame frame;
	uint64_t from;
	uint32_t rounds, marks;
	int result = day_frame_read(&reader->source, offset, INDEX_PAYLOAD_MAX, &reader->frame, &frame);

	if (result <= 0 || frame.length < DAY_INDEX_BYTES || frame.length > INDEX_PAYLOAD_MAX)
		return result < 0 ? result : 0;
	from = day_get(reader->frame.data + DAY_INDEX_FROM_AT, 8);
	rounds = (uint32_t)day_get(reader->frame.data + DAY_INDEX_ROUNDS_AT, 4);
	marks = (uint32_t)day_get(reader->frame.data + DAY_INDEX_MARKS_AT, 4);
	if (from < *known_end || from > offset || marks > (frame.length - DAY_INDEX_BYTES) / DAY_MARK_BYTES)
		return 0;
	if (from > *known_end) {
		result = scan_part(reader, *known_end, from);
		*known_end = from;
		/* the scan has overwritten reader->frame */
		if (result == 0)
			result = day_frame_read(&reader->source, offset, INDEX_PAYLOAD_MAX, &reader->frame,
						&frame);
		/* if someone changes the file, another frame may be there now */
		if (result <= 0 || reader->frame.length < DAY_INDEX_BYTES + (size_t)marks * DAY_MARK_BYTES)
			return result < 0 ? result : 0;
	}
	if (!add_entries(reader, &frame, rounds, marks))
		return 0;
	end_index(reader, &frame);
	*known_end = day_frame_end(&frame);
	return 0;
}

/* Lists the offsets of the index frames, last one first. Follows the link from each index to the previous
 * one, and searches for that where the link is broken. The caller frees the list. */
static int find_indexes(struct day_reader *reader, uint64_t **ret_offsets, size_t *ret_count)
{
	uint64_t limit = reader->source.size, linked = limit;
	uint64_t *offsets = NULL;
	size_t count = 0, capacity = 0;
	struct day_frame frame;
	int result = 1;

	/* a link of 0 marks the first index */
	while (result > 0 && linked != 0) {
		uint8_t previous[sizeof(uint64_t)], header[DAY_FRAME_HEADER_BYTES];

		result = linked < limit ? day_frame_peek(&reader->source, linked, header, &frame) : 0;
		if (result == 0 ||
		    (result > 0 && (frame.kind != DAY_FRAME_INDEX || day_frame_end(&frame) > limit)))
			result = day_frame_find_index(&reader->source, limit, &frame);
		if (result <= 0)
			break;
		*MEMORY_APPEND(offsets, count, capacity) = limit = frame.offset;
		if (frame.length < DAY_INDEX_BYTES ||
		    day_source_read(&reader->source, previous, sizeof(previous),
				    frame.offset + DAY_FRAME_HEADER_BYTES + DAY_INDEX_PREVIOUS_AT) <
			    (ssize_t)sizeof(previous))
			linked = limit; /* makes the next pass search */
		else
			linked = day_get(previous, 8);
	}
	*ret_offsets = offsets;
	*ret_count = count;
	return result < 0 ? result : 0;
}

/* --- the file --- */

/* Checks the file's header. Sets `*ret_has_frames` to false if the file ends inside the header. */
static int check_header(struct day_reader *reader, bool *ret_has_frames, struct error *error)
{
	uint8_t own[DAY_HEADER_BYTES], header[DAY_HEADER_BYTES] = {0};
	const ssize_t length = day_source_read(&reader->source, header, sizeof(header), 0);
	const size_t compared = length < DAY_HEADER_VERSION_AT ? (size_t)length : DAY_HEADER_VERSION_AT;
	const uint64_t version = day_get(header + DAY_HEADER_VERSION_AT, 4);

	*ret_has_frames = true;
	if (length < 0)
		return day_error(reader->path, (int)length, error);
	day_header_make(own);
	if (memcmp(header, own, compared) != 0 || (length == DAY_HEADER_BYTES && version == 0))
		note_hole(reader, 0, DAY_HEADER_BYTES);
	else if (length < DAY_HEADER_BYTES)
		*ret_has_frames = false;
	else if (version > DAY_VERSION)
		return error_set(
			error, -EPROTONOSUPPORT,
			"%s: it was written by a newer ctop (version %u of its format, this one knows %d); "
			"use that one",
			reader->path, (unsigned int)version, DAY_VERSION);
	return 0;
}

static int load_file(struct day_reader *reader, struct error *error)
{
	uint64_t *indexes = NULL, known_end = DAY_HEADER_BYTES;
	size_t count = 0;
	bool has_frames;
	int result = check_header(reader, &has_frames, error);

	if (result < 0 || !has_frames)
		return result;
	reader->index_end = known_end;
	result = find_indexes(reader, &indexes, &count);
	while (result == 0 && count-- > 0)
		result = take_index(reader, indexes[count], &known_end);
	free(indexes);
	if (result == 0)
		result = scan_frames(reader, known_end, reader->source.size, &reader->end);
	if (result < 0)
		return day_error(reader->path, result, error);
	/* if a frame held, the file would be a history's with a damaged header */
	if (reader->hole_count != 0 && reader->end == DAY_HEADER_BYTES)
		return error_set(error, -EMEDIUMTYPE, "%s: it is no file of a history", reader->path);
	return 0;
}

int day_reader_open(struct day_reader *reader, const char *directory, uint32_t day, int access,
		    struct error *error)
{
	char name[HISTORY_FILES_NAME];
	struct stat status;
	int result = 0;

	*reader = (struct day_reader){.path = history_files_path(directory, history_files_name(day, name)),
				      .day = day};
	/* O_NONBLOCK: without it, opening a FIFO would wait for a writer */
	reader->source.descriptor = open(reader->path,
					 access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (reader->source.descriptor < 0)
		result = errno == ELOOP || errno == ENXIO ? -EMEDIUMTYPE : -errno;
	else if (fstat(reader->source.descriptor, &status) < 0)
		result = -errno;
	else if (!S_ISREG(status.st_mode))
		result = -EMEDIUMTYPE;
	if (result == -EMEDIUMTYPE)
		error_set(error, result, "%s: it is no regular file", reader->path);
	else if (result < 0)
		day_error(reader->path, result, error);
	if (result == 0) {
		reader->source.size = (uint64_t)status.st_size;
		reader->changed = status.st_mtim;
		day_source_allow(&reader->source, reader->source.size);
		result = load_file(reader, error);
	}
	if (result < 0)
		day_reader_close(reader);
	return result;
}

void day_reader_close(struct day_reader *reader)
{
	if (!day_reader_is_open(reader))
		return;
	if (reader->source.descriptor >= 0)
		close(reader->source.descriptor);
	buffer_release(&reader->state);
	buffer_release(&reader->interval);
	buffer_release(&reader->frame);
	free(reader->rounds);
	free(reader->marks);
	free(reader->holes);
	free(reader->path);
	*reader = (struct day_reader){0};
}

int day_reader_follow(struct day_reader *reader, struct error *error)
{
	struct stat status;
	uint64_t size;
	int result;

	if (fstat(reader->source.descriptor, &status) < 0)
		return day_error(reader->path, -errno, error);
	size = (uint64_t)status.st_size;
	if (status.st_nlink == 0 || size < reader->end)
		return error_set(error, -ESTALE, "%s: it was removed or cut", reader->path);
	if (size == reader->source.size && status.st_mtim.tv_sec == reader->changed.tv_sec &&
	    status.st_mtim.tv_nsec == reader->changed.tv_nsec)
		return 0;
	reader->source.size = size;
	reader->changed = status.st_mtim;
	day_source_allow(&reader->source, size - reader->end);
	if (reader->end == 0)
		return load_file(reader, error);
	result = scan_frames(reader, reader->end, size, &reader->end);
	return result < 0 ? day_error(reader->path, result, error) : 0;
}

/* --- rounds --- */

/* Returns the index of the first round that is before neither a time nor an id. Callers pass 0 for one of
 * them. */
static size_t find_first(const struct day_reader *reader, uint64_t unix_ns, uint64_t id)
{
	size_t from = 0, to = reader->round_count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		const struct history_round *round = &reader->rounds[middle].round;

		if (round->unix_ns < unix_ns || (uint64_t)round->id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

size_t day_reader_at(const struct day_reader *reader, uint64_t id)
{
	return find_first(reader, 0, id);
}

size_t day_reader_since(const struct day_reader *reader, uint64_t unix_ns)
{
	return find_first(reader, unix_ns, 0);
}

const struct day_round *day_reader_find(const struct day_reader *reader, uint64_t id)
{
	const size_t index = day_reader_at(reader, id);

	return index < reader->round_count && (uint64_t)reader->rounds[index].round.id == id
		       ? &reader->rounds[index]
		       : NULL;
}

/*
 * Reads the frame at `offset`, which must be of kind `kind` and end at the offset `end` or earlier. Without
 * that limit, a file with frames inside frames would be read over and over. Returns 0, -EBADMSG if no such
 * frame holds there, or another negative errno.
 */
static int read_frame(struct day_reader *reader, uint64_t offset, enum day_frame_kind kind, uint64_t end,
		      struct buffer *payload, struct day_frame *ret_frame, const char *what,
		      struct error *error)
{
	uint8_t header[DAY_FRAME_HEADER_BYTES];
	int result = day_frame_peek(&reader->source, offset, header, ret_frame);

	if (result > 0 && (ret_frame->kind != kind || day_frame_end(ret_frame) > end))
		result = 0;
	if (result > 0)
		result = day_frame_read(&reader->source, offset, SIZE_MAX, payload, ret_frame);
	if (result < 0)
		return day_error(reader->path, result, error);
	return result > 0 ? 0 : refuse_damage(reader, offset, what, error);
}

int day_reader_state(struct day_reader *reader, const struct day_round *round, const void **ret_state,
		     size_t *ret_length, struct error *error)
{
	static const char what[] = "the recording of a round";
	const uint64_t offset = (uint64_t)round->round.id;
	struct day_round found = {.round.id = round->round.id};
	struct day_frame frame;
	size_t record_length;
	int result;

	day_source_allow(&reader->source, DAY_FRAME_PAYLOAD_MAX);
	result = read_frame(reader, offset, DAY_FRAME_ROUND, offset + DAY_FRAME_HEADER_BYTES + round->length,
			    &reader->state, &frame, what, error);
	if (result < 0)
		return result;
	found.round.unix_ns = frame.unix_ns;
	found.length = frame.length;
	record_length = day_record_read(&found, reader->state.data, reader->state.length);
	/* the round's record in an index may be a different one */
	if (record_length == 0 || !day_round_is_same(round, &found))
		return refuse_damage(reader, offset, what, error);
	*ret_state = reader->state.data + record_length;
	*ret_length = reader->state.length - record_length;
	return 0;
}

int day_reader_interval(struct day_reader *reader, const struct day_round *round, const void **ret_interval,
			size_t *ret_length, struct error *error)
{
	struct day_frame frame;
	int result = 0;

	buffer_clear(&reader->interval);
	day_source_allow(&reader->source, DAY_FRAME_PAYLOAD_MAX);
	if (round->interval != 0)
		result = read_frame(reader, round->interval, DAY_FRAME_INTERVAL, (uint64_t)round->round.id,
				    &reader->interval, &frame, "the interval of a round", error);
	*ret_interval = reader->interval.data;
	*ret_length = reader->interval.length;
	return result;
}

/* --- texts --- */

/* Returns the next NUL-terminated text of a payload and advances *at past it, or NULL. */
static const char *next_text(const struct buffer *payload, size_t *at)
{
	const char *text, *end;

	if (*at >= payload->length)
		return NULL;
	text = payload->data + *at;
	end = memchr(text, '\0', payload->length - *at);
	if (end == NULL)
		return NULL;
	*at += (size_t)(end - text) + 1;
	return text;
}

int day_reader_boot(struct day_reader *reader, const struct day_round *round, struct arena *arena,
		    struct history_boot *ret_boot, struct error *error)
{
	static const char what[] = "the description of the host";
	const uint64_t offset = round->facts;
	struct day_frame frame;
	size_t at = 0;
	int result;

	day_source_allow(&reader->source, FACTS_PAYLOAD_MAX);
	result = read_frame(reader, offset, DAY_FRAME_FACTS,
			    offset + DAY_FRAME_HEADER_BYTES + FACTS_PAYLOAD_MAX, &reader->frame, &frame, what,
			    error);
	for (size_t i = 0; result == 0 && i < HISTORY_BOOT_TEXTS; i++) {
		const char *text = next_text(&reader->frame, &at);

		if (text == NULL)
			result = refuse_damage(reader, offset, what, error);
		else
			ret_boot->texts[i] = arena_duplicate(arena, text, strlen(text));
	}
	return result;
}

/* Reads the texts of a mark. Returns false if the payload does not have them. */
static bool read_texts(const struct buffer *payload, struct arena *arena, struct history_mark *ret_mark)
{
	const char *texts[DAY_MARK_TEXTS];
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		texts[i] = next_text(payload, &at);
		if (texts[i] == NULL || strlen(texts[i]) > DAY_MARK_TEXT_MAX)
			return false;
	}
	ret_mark->kind = arena_duplicate(arena, texts[0], strlen(texts[0]));
	ret_mark->text = texts[1][0] != '\0' ? arena_duplicate(arena, texts[1], strlen(texts[1])) : NULL;
	ret_mark->path = texts[2][0] != '\0' ? arena_duplicate(arena, texts[2], strlen(texts[2])) : NULL;
	return true;
}

/* Appends the mark at an offset if it is between the two times. */
static int read_mark(struct day_reader *reader, uint64_t offset, uint64_t from_unix_ns, uint64_t to_unix_ns,
		     struct history_marks *marks, struct day_frame *ret_frame)
{
	struct history_mark mark;
	const int result = read_frame(reader, offset, DAY_FRAME_MARK,
				      offset + DAY_FRAME_HEADER_BYTES + MARK_PAYLOAD_MAX, &reader->frame,
				      ret_frame, "a mark", NULL);

	if (result < 0 || ret_frame->unix_ns < from_unix_ns || ret_frame->unix_ns > to_unix_ns)
		return result;
	mark.unix_ns = ret_frame->unix_ns;
	if (!read_texts(&reader->frame, &marks->arena, &mark))
		return -EBADMSG;
	*MEMORY_APPEND(marks->items, marks->count, marks->capacity) = mark;
	return 0;
}

void day_reader_marks(struct day_reader *reader, uint64_t from_unix_ns, uint64_t to_unix_ns,
		      struct history_marks *marks)
{
	uint64_t known_end = DAY_HEADER_BYTES;

	day_source_allow(&reader->source, reader->source.size);
	for (size_t i = 0; i < reader->mark_count; i++) {
		const uint64_t offset = reader->marks[i];
		struct day_frame frame;
		/* if marks could overlap, their texts could have far more bytes than the file */
		const int result = offset < known_end ? -EBADMSG
						      : read_mark(reader, offset, from_unix_ns, to_unix_ns,
								  marks, &frame);

		if (result == 0)
			known_end = day_frame_end(&frame);
		else
			note_hole(reader, offset, offset + 1);
		if (result == -ETIMEDOUT)
			return;
	}
}
