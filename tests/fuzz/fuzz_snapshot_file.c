/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The snapshot file: what loads can be written and loads again. An input that begins with '{' is JSON and is
 * compressed here, anything else is read as it is.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "model/snapshot_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	JSON_LIMIT = 1 << 20
};

static int memory_file(const void *bytes, size_t length)
{
	int descriptor = memfd_create("snapshot", MFD_CLOEXEC);

	if (descriptor < 0 || file_write_all(descriptor, bytes, length) < 0 ||
	    lseek(descriptor, 0, SEEK_SET) != 0)
		abort();
	return descriptor;
}

static int compressed(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *frame = malloc(room);
	size_t length = frame != NULL ? ZSTD_compress(frame, room, data, size, 1) : 0;
	int descriptor;

	if (frame == NULL || ZSTD_isError(length))
		abort();
	descriptor = memory_file(frame, length);
	free(frame);
	return descriptor;
}

/* Writes what was loaded and loads it again. */
static void write_again(const struct snapshot *snapshot)
{
	struct snapshot *again = NULL;
	struct snapshot_file_notes notes;
	struct error error = {{0}};
	int descriptor = memory_file("", 0);

	if (snapshot_file_write_descriptor(snapshot, descriptor, NULL, &error) < 0 ||
	    lseek(descriptor, 0, SEEK_SET) != 0 ||
	    snapshot_file_read_descriptor(descriptor, "again", UINT64_MAX, &again, &notes, &error) < 0 ||
	    again->thread_count != snapshot->thread_count)
		abort();
	snapshot_release(again);
	close(descriptor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int descriptor = size > 0 && data[0] == '{' ? compressed(data, size) : memory_file(data, size);
	struct snapshot *snapshot = NULL;
	struct snapshot_file_notes notes;
	struct error error = {{0}};

	if (snapshot_file_read_descriptor(descriptor, "input", JSON_LIMIT, &snapshot, &notes, &error) == 0)
		write_again(snapshot);
	else if (error.text[0] == '\0')
		abort();
	snapshot_release(snapshot);
	close(descriptor);
	return 0;
}
