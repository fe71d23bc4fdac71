/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshot files: src/store/ctprof.h. The first byte says whether the rest is a file (zstd) or its
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
#include "store/ctprof.h"
#include "store/emit.h"
#include "store/load.h"

enum {
	LONGEST_PIECE = 97,
	LIMIT = 1 << 20, /* bytes of JSON: enough for any bug, too little for the fuzzer to get slow */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pieces {
	const char *text;
	size_t length, step, offset;
};

static ssize_t fetch(void *pieces_pointer, const char **ret_text)
{
	struct pieces *pieces = pieces_pointer;
	size_t left = pieces->length - pieces->offset, length = left < pieces->step ? left : pieces->step;

	*ret_text = pieces->text + pieces->offset;
	pieces->offset += length;
	return (ssize_t)length;
}

/* Loads the text in pieces of `step` bytes. Returns NULL, and the sentence, on failure. */
static struct snapshot *load(const char *text, size_t length, size_t step, struct error *error)
{
	struct pieces pieces = {.text = text, .length = length, .step = step};
	struct snapshot *snapshot = NULL;

	if (load_snapshot(fetch, NULL, &pieces, &snapshot, error) < 0 &&
	    strncmp(error->text, "byte ", 5) != 0)
		abort();
	return snapshot;
}

static struct snapshot *read_file(const uint8_t *data, size_t size)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};
	int descriptor = memfd_create("fuzz", MFD_CLOEXEC);

	if (descriptor < 0 || file_write_all(descriptor, data, size) < 0 ||
	    lseek(descriptor, 0, SEEK_SET) < 0)
		abort();
	if (ctprof_read_descriptor(descriptor, "fuzz", LIMIT, &snapshot, &error) < 0 &&
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

	emit_snapshot(left, left->window, append, &left_text);
	emit_snapshot(right, right->window, append, &right_text);
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

	emit_snapshot(snapshot, snapshot->window, append, &text);
	copy = load(text.data, text.length, text.length, &error);
	if (copy == NULL)
		abort();
	require_equal(snapshot, copy);
	snapshot_release(copy);
	buffer_release(&text);
}

/* In one piece everything takes the short cuts, in small ones little does: both must say the same. */
static struct snapshot *load_both_ways(const char *text, size_t length)
{
	struct error error = {""}, whole_error = {""};
	struct snapshot *snapshot = load(text, length, 1 + length % LONGEST_PIECE, &error);
	struct snapshot *whole = load(text, length, length, &whole_error);

	if ((snapshot == NULL) != (whole == NULL) || strcmp(error.text, whole_error.text) != 0)
		abort();
	if (snapshot != NULL)
		require_equal(snapshot, whole);
	snapshot_release(whole);
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
			const reason_id reason = (reason_id)snapshot_value_state(snapshot, i, (enum metric)j);

			if (strlen(reason_name(reason)) == SIZE_MAX)
				abort();
		}
	}
	check_rewriting(snapshot);
	snapshot_release(snapshot);
	return 0;
}
