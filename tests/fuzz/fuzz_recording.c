/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings: src/store/recording.c. The input is what the frame of a recording holds, so that no checksum
 * keeps the fuzzer from what is behind it; its first byte says whether it is a whole round, changes against
 * another one, an interval, or the bytes of a recording as they are. What is decoded must be encoded and
 * decoded as the same again.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "../recording/random_round.h"
#include "../recording/round_compare.h"
#include "base/memory.h"
#include "store/recording.h"

enum {
	HEADER_BYTES = 12,
	LIMIT = 1 << 18,
	SEEDS = 12,
};

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct recorder *recorder;
static struct snapshot *against;
static char headers[3][HEADER_BYTES]; /* of a whole round, of changes against `against`, of an interval */

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The beginning of recordings of each kind is that of real ones. */
static void begin(void)
{
	struct random_host *host = random_host_create(1);
	struct recording recording = {0};
	struct snapshot *now;

	recorder = recorder_create(1);
	against = random_host_next(host);
	now = random_host_next(host);
	recorder_encode(recorder, against, NULL, against, 1, &recording);
	memcpy(headers[0], recording.state.data, HEADER_BYTES);
	memcpy(headers[2], recording.interval.data, HEADER_BYTES);
	recorder_encode(recorder, now, against, NULL, NAN, &recording);
	memcpy(headers[1], recording.state.data, HEADER_BYTES);
	recording_release(&recording);
	snapshot_release(now);
	random_host_release(host);
}

/* Writes an input of a kind: what the frame of a recording holds, or all of it. */
static void write_seed(const char *directory, unsigned int number, char kind, const struct buffer *blob)
{
	const char *frame = blob->data + HEADER_BYTES;
	const size_t length = blob->length - HEADER_BYTES;
	const size_t content = (size_t)ZSTD_getFrameContentSize(frame, length);
	struct buffer input = {0};
	char *path = memory_format("%s/made-%u-%d", directory, number, kind);
	FILE *file = fopen(path, "we");

	buffer_append_char(&input, kind);
	if (kind == 3) {
		buffer_append(&input, blob->data, blob->length);
	} else {
		buffer_reserve(&input, content);
		input.length += ZSTD_decompress(input.data + input.length, content, frame, length);
	}
	require(file != NULL && fwrite(input.data, 1, input.length, file) == input.length &&
		fclose(file) == 0);
	buffer_release(&input);
	free(path);
}

/*
 * Makes inputs in $CTOP_FUZZ_SEEDS. Kept ones would be refused as soon as a member of a round is added or
 * goes. Changes are against the same round as in begin().
 */
int LLVMFuzzerInitialize(int *count, char ***words)
{
	const char *directory = getenv("CTOP_FUZZ_SEEDS");
	struct recording recording = {0};

	(void)count;
	(void)words;
	memory_set_failure_handler(abort); /* no recording may need so much */
	begin();
	for (unsigned int seed = 1; directory != NULL && seed <= SEEDS; seed++) {
		struct random_host *host = random_host_create(seed);
		struct snapshot *first = random_host_next(host), *now = random_host_next(host);

		recorder_encode(recorder, first, NULL, first, 1, &recording);
		write_seed(directory, seed, 0, &recording.state);
		write_seed(directory, seed, 3, &recording.state);
		if (recording.interval.length != 0)
			write_seed(directory, seed, 2, &recording.interval);
		recorder_encode(recorder, now, against, NULL, NAN, &recording);
		write_seed(directory, seed, 1, &recording.state);
		snapshot_release(first);
		snapshot_release(now);
		random_host_release(host);
	}
	recording_release(&recording);
	return 0;
}

/* What everything that shows a round looks at. */
static void look_at(const struct snapshot *snapshot)
{
	size_t hint = 0;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct triple *names = &snapshot->triples[snapshot->triple[i]];
		reason_id reason;
		uint64_t bytes;

		require(strlen(snapshot_text(snapshot, names->pcomm)) +
				strlen(snapshot_text(snapshot, names->comm)) +
				strlen(snapshot_text(snapshot, names->cgroup)) <
			SIZE_MAX);
		for (size_t j = 0; j < METRIC_COUNT; j++) {
			reason = (reason_id)snapshot_value_state(snapshot, i, (enum metric)j);
			require(strlen(reason_name(reason)) < SIZE_MAX);
		}
		require((snapshot->wait_class == NULL) == (snapshot->wait_object == NULL));
		require(snapshot->wait_class == NULL ||
			(snapshot->wait_class[i] < WAIT_CLASS_COUNT &&
			 strlen(snapshot_text(snapshot, snapshot->wait_object[i])) < SIZE_MAX));
		snapshot_resident(snapshot, i, &hint, &bytes);
		snapshot_find_smaps(snapshot, i);
		task_fields_context(&snapshot->task_fields, i, &reason);
	}
}

static void check_again(const struct snapshot *snapshot, const struct snapshot *other)
{
	struct recording recording = {0};
	struct snapshot *again = NULL;
	struct error error;

	recorder_encode(recorder, snapshot, other, NULL, NAN, &recording);
	require(recording_decode(recording.state.data, recording.state.length, recording.interval.data,
				 recording.interval.length, other, "again", &again, &error) == 0);
	require(round_difference(snapshot, again) == NULL);
	snapshot_release(again);
	recording_release(&recording);
}

static void decode_interval(const struct buffer *blob)
{
	struct snapshot *gone;
	struct error error = {""};
	double left_ns;

	if (recording_decode_interval(blob->data, blob->length, "fuzz", &gone, &left_ns, &error) < 0) {
		require(error.text[0] != '\0');
		return;
	}
	look_at(gone);
	snapshot_release(gone);
}

static void decode(const struct buffer *blob, const struct snapshot *other)
{
	struct snapshot *snapshot;
	struct error error = {""};

	if (recording_decode(blob->data, blob->length, NULL, 0, other, "fuzz", &snapshot, &error) < 0) {
		require(error.text[0] != '\0');
		return;
	}
	look_at(snapshot);
	check_again(snapshot, other);
	check_again(snapshot, NULL);
	snapshot_release(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer blob = {0};
	unsigned int kind;

	if (size == 0 || size > LIMIT)
		return 0;
	kind = data[0] % 4;
	if (kind == 3) {
		buffer_append(&blob, data + 1, size - 1);
	} else {
		buffer_append(&blob, headers[kind], HEADER_BYTES);
		buffer_reserve(&blob, ZSTD_compressBound(size - 1));
		blob.length += ZSTD_compress(blob.data + blob.length, blob.capacity - blob.length, data + 1,
					     size - 1, 1);
	}
	if (kind == 2)
		decode_interval(&blob);
	else
		decode(&blob, kind == 1 ? against : NULL);
	buffer_release(&blob);
	return 0;
}
