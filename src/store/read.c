/* SPDX-License-Identifier: GPL-2.0-only */
/* From a file or pipe through zstd to the loader, which fetches one step after the other. */
#include "ctprof.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "load.h"

enum {
	STEP_BYTES = 64 * 1024,
	WINDOW_LOG_MAX = 27, /* 128 MiB, what the zstd program allows without an option */
	JSON_FOR_A_BYTE = 1000,
};

/* The default limit; see CTPROF_DEFAULT_LIMIT. */
#define DEFAULT_BYTES ((uint64_t)4 << 30)
#define FREE_BYTES    ((uint64_t)16 << 20) /* JSON allowed for any file */

#define CAPTURE_AGAIN "capture it again with `ctop capture -o FILE`"

struct reader {
	const char *name;
	int descriptor;
	uint64_t max_bytes;
	struct error *error;
	bool failed; /* and the error says why */
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	char *input_bytes, *output; /* STEP_BYTES each */
	uint64_t file_bytes;        /* read so far */
	uint64_t file_size;         /* 0 for what is no file */
	uint64_t json_bytes;        /* decompressed so far */
	bool in_frame;              /* the last frame has not ended */
	bool pending;               /* the decoder may hold more output than the buffer took */
};

/* The first bytes of other kinds of files, to name them. */
static const struct {
	const char *bytes;
	size_t length;
	const char *words;
} foreign_formats[] = {
	{"{", 1, "it is plain JSON: compress it with `zstd FILE`"},
	{"\x1f\x8b", 2, "it is a gzip file"},
	{"\xfd"
	 "7zXZ",
	 5, "it is an xz file"},
	{"BZh", 3, "it is a bzip2 file"},
	{"PK\x03\x04", 4, "it is a zip file"},
	{"\x7f"
	 "ELF",
	 4, "it is a program"},
};

/* zstd's own magic number, or that of a frame that holds no data and is skipped (RFC 8878 section 3). */
static bool is_zstd(const char *bytes, size_t length)
{
	static const char magic[] = {'\x28', '\xb5', '\x2f', '\xfd'};
	static const char skippable[] = {'\x2a', '\x4d', '\x18'};

	if (length < sizeof(magic))
		return memcmp(bytes, magic, length) == 0;
	return memcmp(bytes, magic, sizeof(magic)) == 0 ||
	       ((bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, skippable, sizeof(skippable)) == 0);
}

static int refuse_foreign(const struct reader *reader, size_t length)
{
	const char *words = "it does not begin like a zstd file";

	for (size_t i = 0; i < sizeof(foreign_formats) / sizeof(foreign_formats[0]); i++) {
		if (length >= foreign_formats[i].length &&
		    memcmp(reader->input_bytes, foreign_formats[i].bytes, foreign_formats[i].length) == 0) {
			words = foreign_formats[i].words;
			break;
		}
	}
	return error_set(reader->error, -EBADMSG,
			 "%s is not a snapshot: %s; name a file that `ctop capture` or `S` wrote",
			 reader->name, words);
}

static int refuse_memory(const struct reader *reader)
{
	return error_set(reader->error, -ENOMEM, "cannot read %s: no memory for zstd", reader->name);
}

static int refuse_damage(const struct reader *reader, size_t code)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return refuse_memory(reader);
	if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
		return error_set(
			reader->error, -EBADMSG,
			"%s asks for a zstd window above the limit of %d MiB; compress it again with "
			"`zstd -d` and `zstd`, without --long",
			reader->name, 1 << (WINDOW_LOG_MAX - 20));
	return error_set(reader->error, -EBADMSG,
			 "%s is damaged: zstd says \"%s\" before byte %" PRIu64
			 " of the file; copy it anew or " CAPTURE_AGAIN,
			 reader->name, ZSTD_getErrorName(code), reader->file_bytes);
}

static uint64_t limit_of(const struct reader *reader)
{
	return reader->max_bytes != CTPROF_DEFAULT_LIMIT ? reader->max_bytes : DEFAULT_BYTES;
}

/* Bytes of the file that the decoder has consumed. */
static uint64_t taken_bytes(const struct reader *reader)
{
	return reader->file_bytes - (reader->input.size - reader->input.pos);
}

/* Whether the JSON so far is more than a real snapshot compressed to the bytes read can hold. */
static bool is_bomb(const struct reader *reader)
{
	return reader->max_bytes == CTPROF_DEFAULT_LIMIT && reader->json_bytes > FREE_BYTES &&
	       reader->json_bytes / JSON_FOR_A_BYTE > taken_bytes(reader);
}

static int refuse_bomb(const struct reader *reader)
{
	char json[28], file[28];

	return error_set(
		reader->error, -EFBIG,
		"%s makes %s bytes of JSON out of its first %s, like a decompression bomb; if it is a "
		"snapshot, set a limit with --max-bytes N",
		reader->name, humanize_digits(reader->json_bytes, json),
		humanize_digits(taken_bytes(reader), file));
}

static int refuse_size(const struct reader *reader)
{
	char limit[28];

	return error_set(
		reader->error, -EFBIG,
		"%s holds more than %s bytes of JSON, the limit that guards against decompression bombs; "
		"raise it with --max-bytes N",
		reader->name, humanize_digits(limit_of(reader), limit));
}

static int refuse_content(const struct reader *reader, int result)
{
	struct error cause = *reader->error;

	return error_set(reader->error, result,
			 "%s does not hold a snapshot that can be read: %s; " CAPTURE_AGAIN, reader->name,
			 cause.text);
}

/* Fills the input buffer: up to a whole step, less at the end of the file. */
static int read_step(struct reader *reader)
{
	size_t length = 0;

	while (length < STEP_BYTES) {
		ssize_t count = read(reader->descriptor, reader->input_bytes + length, STEP_BYTES - length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set(reader->error, -errno, "cannot read %s: %s", reader->name,
					 strerror(errno));
		if (count == 0)
			break;
		length += (size_t)count;
	}
	if (reader->file_bytes == 0 && length != 0 && !is_zstd(reader->input_bytes, length))
		return refuse_foreign(reader, length);
	reader->file_bytes += length;
	reader->input = (ZSTD_inBuffer){reader->input_bytes, length, 0};
	return 0;
}

static int check_end(const struct reader *reader)
{
	struct stat status;

	/* a writer that comes later waits for a reader in vain */
	if (reader->file_bytes == 0 && reader->descriptor != STDIN_FILENO &&
	    fstat(reader->descriptor, &status) == 0 && S_ISFIFO(status.st_mode))
		return error_set(reader->error, -EBADMSG,
				 "%s is a pipe that nobody writes to; start its writer first, or redirect it "
				 "and name -",
				 reader->name);
	if (reader->file_bytes == 0)
		return error_set(reader->error, -EBADMSG, "%s is empty; " CAPTURE_AGAIN, reader->name);
	if (reader->in_frame)
		return error_set(reader->error, -EBADMSG,
				 "%s is cut off: it ends after %" PRIu64
				 " bytes in the middle of its zstd frame; copy "
				 "it anew or " CAPTURE_AGAIN,
				 reader->name, reader->file_bytes);
	return 0;
}

/* The next piece of the JSON text; see load_snapshot(). */
static ssize_t fetch(struct reader *reader)
{
	for (;;) {
		ZSTD_outBuffer output = {reader->output, STEP_BYTES, 0};
		size_t code;
		int result;

		if (reader->input.pos == reader->input.size && !reader->pending) {
			result = read_step(reader);
			if (result < 0)
				return result;
			if (reader->input.size == 0)
				return check_end(reader);
		}
		code = ZSTD_decompressStream(reader->stream, &output, &reader->input);
		if (ZSTD_isError(code))
			return refuse_damage(reader, code);
		reader->in_frame = code != 0;
		reader->pending = output.pos == output.size && code != 0;
		if (output.pos > limit_of(reader) - reader->json_bytes)
			return refuse_size(reader);
		reader->json_bytes += output.pos;
		if (is_bomb(reader))
			return refuse_bomb(reader);
		if (output.pos != 0)
			return (ssize_t)output.pos;
	}
}

static ssize_t fetch_text(void *reader_pointer, const char **ret_text)
{
	struct reader *reader = reader_pointer;
	ssize_t length = fetch(reader);

	reader->failed = length < 0;
	*ret_text = reader->output;
	return length;
}

static double progress(void *reader_pointer)
{
	const struct reader *reader = reader_pointer;

	return reader->file_size != 0 ? (double)taken_bytes(reader) / (double)reader->file_size : 0;
}

/* Checks that the descriptor can be read, and tells the size of a file. */
static int check_kind(int descriptor, const char *name, uint64_t *ret_size, struct error *error)
{
	struct stat status;

	if (fstat(descriptor, &status) < 0)
		return error_set(error, -errno, "cannot read %s: %s", name, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return error_set(error, -EISDIR, "%s is a directory; name a snapshot file in it", name);
	if (isatty(descriptor))
		return error_set(error, -EINVAL, "%s is a terminal; name a snapshot file or redirect one",
				 name);
	*ret_size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
	return 0;
}

int ctprof_read_descriptor(int descriptor, const char *name, uint64_t max_bytes,
			   struct snapshot **ret_snapshot, struct error *error)
{
	struct reader reader = {.name = name, .descriptor = descriptor, .max_bytes = max_bytes};
	struct error local;
	int result;

	reader.error = error != NULL ? error : &local;
	result = check_kind(descriptor, name, &reader.file_size, reader.error);
	if (result < 0)
		return result;
	reader.stream = ZSTD_createDStream();
	if (reader.stream == NULL)
		return refuse_memory(&reader);
	ZSTD_DCtx_setParameter(reader.stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	reader.input_bytes = memory_allocate(STEP_BYTES);
	reader.output = memory_allocate(STEP_BYTES);
	result = load_snapshot(fetch_text, progress, &reader, ret_snapshot, reader.error);
	if (result < 0 && !reader.failed)
		refuse_content(&reader, result);
	ZSTD_freeDStream(reader.stream);
	free(reader.input_bytes);
	free(reader.output);
	return result;
}

/* Opening does not wait for the writer of a FIFO; reading afterwards waits for its data. */
static int open_for_reading(const char *path, struct error *error)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int flags, result;

	if (descriptor < 0) {
		result = -errno;
		if (result == -ENOENT)
			return error_set(error, result, "%.1000s does not exist; check the name",
					 path[0] != '\0' ? path : "''");
		if (result == -EACCES || result == -EPERM)
			return error_set(error, result,
					 "%s cannot be read: %s; ask its owner or root for permission", path,
					 strerror(-result));
		return error_set(error, result, "cannot open %.1000s: %s", path, strerror(-result));
	}
	flags = fcntl(descriptor, F_GETFL);
	if (flags >= 0)
		fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
	return descriptor;
}

int ctprof_read(const char *path, uint64_t max_bytes, struct snapshot **ret_snapshot, struct error *error)
{
	int descriptor, result;

	if (strcmp(path, "-") == 0)
		return ctprof_read_descriptor(STDIN_FILENO, "standard input", max_bytes, ret_snapshot, error);
	descriptor = open_for_reading(path, error);
	if (descriptor < 0)
		return descriptor;
	result = ctprof_read_descriptor(descriptor, path, max_bytes, ret_snapshot, error);
	close(descriptor);
	return result;
}
