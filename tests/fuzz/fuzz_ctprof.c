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
#include "ctprof/ctprof.h"
#include "ctprof/emit.h"
#include "ctprof/load.h"

enum {
	LONGEST_PIECE = 97,
	LIMIT = 1 << 20, /* bytes of JSON: enough for any bug, too little for the fuzzer to get slow */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Loads a first piece and then pieces of `step` bytes. Returns NULL, and the sentence, on failure. */
static struct snapshot *load(const char *text, size_t length, size_t first, size_t step, struct error *error)
{
	struct snapshot_loader *loader = snapshot_loader_create();
	struct ctprof_notes notes;
	struct snapshot *snapshot = NULL;
	int result = snapshot_loader_feed(loader, text, first, error);

	for (size_t i = first; result == 0 && i < length; i += step)
		result = snapshot_loader_feed(loader, text + i, length - i < step ? length - i : step, error);
	if (result == 0)
		result = snapshot_loader_finish(loader, &snapshot, &notes, error);
	if (result < 0 && strncmp(error->text, "byte ", 5) != 0)
		abort();
	snapshot_loader_release(loader);
	return snapshot;
}

static struct snapshot *read_file(const uint8_t *data, size_t size)
{
	struct ctprof_notes notes;
	struct snapshot *snapshot = NULL;
	struct error error = {""};
	int descriptor = memfd_create("fuzz", MFD_CLOEXEC);

	if (descriptor < 0 || file_write_all(descriptor, data, size) < 0 ||
	    lseek(descriptor, 0, SEEK_SET) < 0)
		abort();
	if (ctprof_read_descriptor(descriptor, "fuzz", LIMIT, &snapshot, &notes, &error) < 0 &&
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

static void require_equal(const struct snapshot *left, const struct snapshot *right)
{
	struct buffer left_text = {0}, right_text = {0};

	snapshot_emit(left, append, &left_text);
	snapshot_emit(right, append, &right_text);
	if (left_text.length != right_text.length ||
	    memcmp(left_text.data, right_text.data, left_text.length) != 0)
		abort();
	buffer_release(&left_text);
	buffer_release(&right_text);
}

static void check_rewriting(const struct snapshot *snapshot)
{
	struct buffer text = {0};
	struct snapshot *copy;
	struct error error;

	snapshot_emit(snapshot, append, &text);
	copy = load(text.data, text.length, 0, text.length, &error);
	if (copy == NULL)
		abort();
	require_equal(snapshot, copy);
	snapshot_release(copy);
	buffer_release(&text);
}

/*
 * Small pieces hold no whole thread record: the general parser reads them all. Cut behind the beginning of
 * the threads, the text goes through the parser of plain records. Both must say the same.
 */
static struct snapshot *load_both_ways(const char *text, size_t length)
{
	static const char threads[] = "\"threads\":[";
	const char *found = memmem(text, length, threads, sizeof(threads) - 1);
	size_t first = found != NULL ? (size_t)(found - text) + sizeof(threads) - 1 : 0;
	struct error error = {""}, plain_error = {""};
	struct snapshot *snapshot = load(text, length, 0, 1 + length % LONGEST_PIECE, &error);
	struct snapshot *plain = load(text, length, first, length, &plain_error);

	if ((snapshot == NULL) != (plain == NULL))
		abort();
	/* the byte may differ a little, the place and the words may not */
	if (snapshot == NULL && strcmp(error.text + strcspn(error.text, ":,"),
				       plain_error.text + strcspn(plain_error.text, ":,")) != 0)
		abort();
	if (snapshot != NULL)
		require_equal(snapshot, plain);
	snapshot_release(plain);
	return snapshot;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot *snapshot;

	if (size > LIMIT)
		return 0;
	if (size != 0 && data[0] == '{')
		snapshot = load_both_ways((const char *)data, size);
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
