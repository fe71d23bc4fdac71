/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshot files: src/model/snapshot_file*.c. The first byte says whether the rest is a file (zstd) or its
 * JSON text, and in pieces of how many bytes the text comes. What is read must be written as text that is
 * read as the same again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "model/snapshot_file.h"
#include "model/snapshot_file_emit.h"
#include "model/snapshot_file_load.h"

enum {
	LONGEST_PIECE = 97,
	LIMIT = 1 << 20, /* bytes of JSON: enough for any bug, too little for the fuzzer to get slow */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct snapshot *load(const char *text, size_t length, size_t step)
{
	struct snapshot_loader *loader = snapshot_loader_create();
	struct snapshot_file_notes notes;
	struct snapshot *snapshot = NULL;
	struct error error;
	int result = 0;

	for (size_t i = 0; result == 0 && i < length; i += step)
		result = snapshot_loader_feed(loader, text + i, length - i < step ? length - i : step,
					      &error);
	if (result == 0)
		result = snapshot_loader_finish(loader, &snapshot, &notes, &error);
	if (result < 0 && strlen(error.text) == 0)
		abort();
	snapshot_loader_release(loader);
	return snapshot;
}

static struct snapshot *read_file(const uint8_t *data, size_t size)
{
	struct snapshot_file_notes notes;
	struct snapshot *snapshot = NULL;
	struct error error = {""};
	int descriptor = memfd_create("fuzz", MFD_CLOEXEC);

	if (descriptor < 0 || file_write_all(descriptor, data, size) < 0 ||
	    lseek(descriptor, 0, SEEK_SET) < 0)
		abort();
	if (snapshot_file_read_descriptor(descriptor, "fuzz", LIMIT, &snapshot, &notes, &error) < 0 &&
	    strlen(error.text) == 0)
		abort();
	close(descriptor);
	return snapshot;
}

static int append(void *buffer, const char *text, size_t length)
{
	buffer_append(buffer, text, length);
	return 0;
}

static void check_rewriting(const struct snapshot *snapshot)
{
	struct buffer first = {0}, second = {0};
	struct snapshot *copy;

	snapshot_emit(snapshot, append, &first);
	copy = load(first.data, first.length, first.length);
	if (copy == NULL)
		abort();
	snapshot_emit(copy, append, &second);
	if (first.length != second.length || memcmp(first.data, second.data, first.length) != 0)
		abort();
	snapshot_release(copy);
	buffer_release(&first);
	buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot *snapshot;

	if (size > LIMIT)
		return 0;
	if (size != 0 && data[0] == '{')
		snapshot = load((const char *)data, size, 1 + size % LONGEST_PIECE);
	else
		snapshot = read_file(data, size);
	if (snapshot == NULL)
		return 0;
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		for (size_t j = 0; j < METRIC_COUNT; j++) {
			reason_id reason;

			snapshot_value_state(snapshot, i, (enum metric)j, false, &reason);
			if (strlen(snapshot_reason_name(snapshot, reason)) == SIZE_MAX)
				abort();
		}
	}
	check_rewriting(snapshot);
	snapshot_release(snapshot);
	return 0;
}
