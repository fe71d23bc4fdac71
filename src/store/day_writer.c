/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "day_frame.h"
#include "day_reader.h"
#include "history_files.h"

enum {
	BOOT_TEXT_MAX = 255, /* bytes */
};

/* --- frames --- */

/* Adds a frame to the next write. Its payload is the content of `first`, then that of `second` (may be NULL).
 * Returns the frame's offset. */
static uint64_t add_frame(struct day_writer *writer, enum day_frame_kind kind, uint64_t unix_ns,
			  const struct buffer *first, const struct buffer *second)
{
	static const uint8_t header[DAY_FRAME_HEADER_BYTES];
	const size_t at = writer->frames.length;
	struct day_frame frame = {.kind = (uint8_t)kind, .offset = writer->end + at, .unix_ns = unix_ns};

	buffer_append(&writer->frames, header, sizeof(header));
	buffer_append(&writer->frames, first->data, first->length);
	if (second != NULL)
		buffer_append(&writer->frames, second->data, second->length);
	frame.length = writer->frames.length - at - sizeof(header);
	day_frame_seal(&frame, (uint8_t *)writer->frames.data + at);
	return frame.offset;
}

static int write_frames(struct day_writer *writer)
{
	if (lseek(writer->descriptor, (off_t)writer->end, SEEK_SET) < 0)
		return -errno;
	return file_write_all(writer->descriptor, writer->frames.data, writer->frames.length);
}

/* Appends the added frames to the file. After an error, cuts off the part that was written. */
static int append_frames(struct day_writer *writer, struct error *error)
{
	int result = 0;

	if (writer->is_torn && ftruncate(writer->descriptor, (off_t)writer->end) < 0)
		result = -errno;
	if (result == 0) {
		result = write_frames(writer);
		/* if truncating fails, readers stop at the torn frame, and the next call tries again */
		writer->is_torn = result < 0 && ftruncate(writer->descriptor, (off_t)writer->end) < 0;
	}
	if (result == 0)
		writer->end += writer->frames.length;
	buffer_clear(&writer->frames);
	return result < 0 ? day_error(writer->path, result, error) : 0;
}

/* --- opening --- */

static int write_header(struct day_writer *writer, struct error *error)
{
	uint8_t header[DAY_HEADER_BYTES];

	day_header_make(header);
	buffer_append(&writer->frames, header, sizeof(header));
	writer->listed_to = DAY_HEADER_BYTES;
	return append_frames(writer, error);
}

static void release_writer(struct day_writer *writer)
{
	if (writer->descriptor >= 0)
		close(writer->descriptor);
	buffer_release(&writer->frames);
	day_list_release(&writer->rounds);
	buffer_release(&writer->marks);
	buffer_release(&writer->facts);
	free(writer->path);
	*writer = (struct day_writer){0};
}

int day_writer_create(struct day_writer *writer, const char *directory, uint32_t day, struct error *error)
{
	char name[HISTORY_FILES_NAME];
	int result;

	*writer = (struct day_writer){.path = history_files_path(directory, history_files_name(day, name)),
				      .day = day};
	writer->descriptor = open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (writer->descriptor < 0)
		result = day_error(writer->path, -errno, error);
	else
		result = write_header(writer, error);
	if (result < 0)
		release_writer(writer);
	return result;
}

static void list_mark(struct day_writer *writer, uint64_t offset)
{
	uint8_t entry[DAY_MARK_BYTES];

	day_put(entry, sizeof(entry), offset);
	buffer_append(&writer->marks, entry, sizeof(entry));
}

int day_writer_continue(struct day_writer *writer, const struct day_reader *reader, struct error *error)
{
	const uint64_t torn = reader->source.size - reader->end;
	int result = 0;

	if (reader->hole_count != 0 || torn > DAY_FRAME_HEADER_BYTES + DAY_FRAME_PAYLOAD_MAX)
		return error_set(
			error, -EBADMSG,
			"%s: it is damaged from byte %llu on; what is whole in it can still be read",
			reader->path,
			(unsigned long long)(reader->hole_count != 0 ? reader->holes[0].from : reader->end));
	*writer = (struct day_writer){
		.path = memory_duplicate(reader->path),
		.descriptor = fcntl(reader->source.descriptor, F_DUPFD_CLOEXEC, 0),
		.day = reader->day,
		.end = reader->end,
		.index = reader->index,
		.listed_to = reader->index_end,
	};
	if (writer->descriptor < 0 || (torn != 0 && ftruncate(writer->descriptor, (off_t)reader->end) < 0))
		result = day_error(writer->path, -errno, error);
	else if (reader->end == 0)
		result = write_header(writer, error);
	if (result < 0) {
		release_writer(writer);
		return result;
	}
	for (size_t i = reader->indexed_rounds; i < reader->round_count; i++)
		day_list_append(&writer->rounds, &reader->rounds[i]);
	for (size_t i = reader->indexed_marks; i < reader->mark_count; i++)
		list_mark(writer, reader->marks[i]);
	return 0;
}

void day_writer_close(struct day_writer *writer)
{
	if (!day_writer_is_open(writer))
		return;
	/* if this fails, readers find the frames one by one */
	(void)day_writer_index(writer, NULL);
	release_writer(writer);
}

bool day_writer_has_moved(const struct day_writer *writer)
{
	struct stat written, found;

	if (lstat(writer->path, &found) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return fstat(writer->descriptor, &written) == 0 &&
	       (written.st_dev != found.st_dev || written.st_ino != found.st_ino);
}

/* --- contents --- */

/* Appends NUL-terminated texts of at most `max` bytes; NULL counts as "". */
static void append_texts(struct buffer *payload, const char *const *texts, size_t count, size_t max)
{
	for (size_t i = 0; i < count; i++) {
		if (texts[i] != NULL)
			buffer_append(payload, texts[i], strnlen(texts[i], max));
		buffer_append_char(payload, '\0');
	}
}

int day_writer_index(struct day_writer *writer, struct error *error)
{
	const size_t marks = writer->marks.length / DAY_MARK_BYTES;
	uint8_t head[DAY_INDEX_BYTES];
	struct buffer payload = {0};
	uint64_t offset;
	int result;

	if (writer->rounds.count == 0 && marks == 0)
		return 0;
	day_put(head + DAY_INDEX_PREVIOUS_AT, 8, writer->index);
	day_put(head + DAY_INDEX_FROM_AT, 8, writer->listed_to);
	day_put(head + DAY_INDEX_ROUNDS_AT, 4, writer->rounds.count);
	day_put(head + DAY_INDEX_MARKS_AT, 4, marks);
	buffer_append(&payload, head, sizeof(head));
	buffer_append(&payload, writer->marks.data, writer->marks.length);
	offset = add_frame(writer, DAY_FRAME_INDEX, writer->rounds.last.round.unix_ns, &payload,
			   &writer->rounds.stream.bytes);
	buffer_release(&payload);
	result = append_frames(writer, error);
	if (result < 0)
		return result;
	writer->index = offset;
	writer->listed_to = writer->end;
	day_list_release(&writer->rounds);
	buffer_clear(&writer->marks);
	writer->wants_sync = true;
	return 0;
}

/* Adds a frame of facts, unless the last such frame has the same facts. Returns the offset of the frame with
 * these facts. */
static uint64_t add_facts(struct day_writer *writer, uint64_t unix_ns, const struct history_boot *boot,
			  struct buffer *facts)
{
	append_texts(facts, boot->texts, HISTORY_BOOT_TEXTS, BOOT_TEXT_MAX);
	if (facts->length == writer->facts.length &&
	    memcmp(facts->data, writer->facts.data, facts->length) == 0)
		return writer->facts_offset;
	return add_frame(writer, DAY_FRAME_FACTS, unix_ns, facts, NULL);
}

int day_writer_add(struct day_writer *writer, struct day_round *round, const struct history_boot *boot,
		   const struct recording *recording, struct error *error)
{
	const uint64_t unix_ns = round->round.unix_ns;
	struct buffer facts = {0}, record = {0};
	int result;

	if (recording->state.length > DAY_FRAME_PAYLOAD_MAX - DAY_RECORD_MAX ||
	    recording->interval.length > DAY_FRAME_PAYLOAD_MAX)
		return day_error(writer->path, -EFBIG, error);
	round->facts = add_facts(writer, unix_ns, boot, &facts);
	round->interval = recording->interval.length != 0
				  ? add_frame(writer, DAY_FRAME_INTERVAL, unix_ns, &recording->interval, NULL)
				  : 0;
	/* set before encoding: the record has distances from the round's frame */
	round->round.id = (int64_t)(writer->end + writer->frames.length);
	day_record_append(&record, round);
	round->length = record.length + recording->state.length;
	add_frame(writer, DAY_FRAME_ROUND, unix_ns, &record, &recording->state);
	buffer_release(&record);
	result = append_frames(writer, error);
	if (result < 0) {
		buffer_release(&facts);
		return result;
	}
	buffer_release(&writer->facts);
	writer->facts = facts;
	writer->facts_offset = round->facts;
	day_list_append(&writer->rounds, round);
	/* the round is stored even if this fails; the next round tries again */
	if (writer->rounds.count >= DAY_INDEX_EVERY)
		(void)day_writer_index(writer, NULL);
	return 0;
}

int day_writer_mark(struct day_writer *writer, const struct history_mark *mark, struct error *error)
{
	const char *const texts[] = {mark->kind, mark->text, mark->path};
	struct buffer payload = {0};
	uint64_t offset;
	int result;

	append_texts(&payload, texts, ARRAY_COUNT(texts), DAY_MARK_TEXT_MAX);
	offset = add_frame(writer, DAY_FRAME_MARK, mark->unix_ns, &payload, NULL);
	buffer_release(&payload);
	result = append_frames(writer, error);
	if (result == 0)
		list_mark(writer, offset);
	return result;
}
