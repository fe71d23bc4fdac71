/* SPDX-License-Identifier: GPL-2.0-only */
/* From the emitter through zstd to a descriptor or, whole or not at all, to a file. */
#include "ctprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/memory.h"
#include "emit.h"

enum {
	STEP_BYTES = 64 * 1024,
	/* On the records of threads level 1 is faster than ktstr's 3 and no larger; the figures of
	 * other levels are in docs/dev/benchmarks.md. */
	LEVEL = 1,
	/* Half a first-level cache. The level's own 14 finds little more, since records are much alike. */
	HASH_LOG = 12,
};

struct writer {
	int descriptor;
	ZSTD_CStream *stream;
	char *output; /* STEP_BYTES */
	uint64_t json_bytes;
};

static int deflate(struct writer *writer, const char *text, size_t length, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer input = {text, length, 0};
	bool done;

	do {
		ZSTD_outBuffer output = {writer->output, STEP_BYTES, 0};
		size_t left = ZSTD_compressStream2(writer->stream, &output, &input, directive);
		int result;

		if (ZSTD_isError(left))
			return -EIO;
		result = file_write_all(writer->descriptor, writer->output, output.pos);
		if (result < 0)
			return result;
		done = directive == ZSTD_e_end ? left == 0 : input.pos == input.size;
	} while (!done);
	return 0;
}

static int take_text(void *writer_pointer, const char *text, size_t length)
{
	struct writer *writer = writer_pointer;

	writer->json_bytes += length;
	return deflate(writer, text, length, ZSTD_e_continue);
}

static int write_stream(const struct snapshot *snapshot, const struct snapshot_window *window, int descriptor,
			uint64_t *ret_json_bytes)
{
	struct writer writer = {.descriptor = descriptor};
	int result;

	writer.stream = ZSTD_createCStream();
	if (writer.stream == NULL)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(writer.stream, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(writer.stream, ZSTD_c_hashLog, HASH_LOG);
	ZSTD_CCtx_setParameter(writer.stream, ZSTD_c_checksumFlag, 1);
	writer.output = memory_allocate(STEP_BYTES);
	result = emit_snapshot(snapshot, window, take_text, &writer);
	if (result == 0)
		result = deflate(&writer, NULL, 0, ZSTD_e_end);
	if (result == 0 && ret_json_bytes != NULL)
		*ret_json_bytes = writer.json_bytes;
	ZSTD_freeCStream(writer.stream);
	free(writer.output);
	return result;
}

static int describe_failure(const char *name, int result, struct error *error)
{
	const char *remedy = "";

	if (result == -ENOSPC || result == -EDQUOT || result == -EFBIG)
		remedy = "; free some space or name another file";
	return error_set(error, result, "cannot write %s: %s%s", name, strerror(-result), remedy);
}

int ctprof_write_descriptor(const struct snapshot *snapshot, const struct snapshot_window *window,
			    int descriptor, uint64_t *ret_json_bytes, struct error *error)
{
	int result = write_stream(snapshot, window, descriptor, ret_json_bytes);

	return result < 0
		       ? describe_failure(descriptor == STDOUT_FILENO ? "to standard output" : "the snapshot",
					  result, error)
		       : 0;
}

static int open_file(struct file_replacement *replacement, const char *path, bool replace,
		     struct error *error)
{
	/* Root and a program with file capabilities (getauxval(3), AT_SECURE) see other users' processes,
	 * which are not for everyone; for anyone else the umask decides. */
	mode_t mode = geteuid() == 0 || getauxval(AT_SECURE) != 0 ? 0600 : 0666;

	return file_replacement_open(replacement, path, mode, replace, error);
}

/* Moves the file to its final name, or removes it where writing failed with `result`. */
static int close_file(struct file_replacement *replacement, const char *path, int result, struct error *error)
{
	if (result == 0)
		return file_replacement_commit(replacement, error);
	file_replacement_abandon(replacement);
	return describe_failure(path, result, error);
}

int ctprof_write(const struct snapshot *snapshot, const struct snapshot_window *window, const char *path,
		 bool replace, uint64_t *ret_json_bytes, struct error *error)
{
	struct file_replacement replacement;
	int result = open_file(&replacement, path, replace, error);

	if (result < 0)
		return result;
	result = write_stream(snapshot, window, replacement.descriptor, ret_json_bytes);
	return close_file(&replacement, path, result, error);
}

int ctprof_copy(int written, const char *path, struct error *error)
{
	struct file_replacement replacement;
	struct buffer bytes = {0};
	int result = open_file(&replacement, path, true, error);

	if (result < 0)
		return result;
	result = lseek(written, 0, SEEK_SET) < 0 ? -errno : file_read_descriptor(written, &bytes, SIZE_MAX);
	if (result == 0)
		result = file_write_all(replacement.descriptor, bytes.data, bytes.length);
	buffer_release(&bytes);
	return close_file(&replacement, path, result, error);
}
