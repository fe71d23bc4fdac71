/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings: what is around the bytes of a round. */
#include "recording.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory.h"
#include "metric/feature.h"
#include "round.h"
#include "snapshot/container_names.h"
#include "snapshot/ended_set.h"
#include "snapshot/thread_match.h"

/*
 * Two letters, the version, what it is; a check of the names that numbers in it stand for; a check of the
 * round that it was encoded against. Behind it a frame of zstd (RFC 8878) with a checksum, and zeros where
 * the frame is too short for what it holds: so a short one never asks for much memory.
 */
enum {
	HEADER_BYTES = 12,
	CHECKS_AT = 4,
	VERSION = 4, /* no other was ever released */
	ELEMENTS_FREE = 4096,
	ELEMENTS_FOR_A_BYTE = 16,
	CONTENT_FREE = 1 << 20,
	CONTENT_FOR_A_BYTE = 256,
};

/* The checks in the header, 32 bits each, the low byte first. */
enum {
	CHECK_NAMES,
	CHECK_AGAINST,
};

enum recording_kind {
	KIND_WHOLE,
	KIND_CHANGES,
	KIND_INTERVAL,
};

static const char letters[] = {'c', 'R'};

struct recorder {
	ZSTD_CCtx *compressor;
	struct coder coder;
	struct buffer content;
	const struct vocabulary *words;
	bool marks_nothing;
};

/* --- checks --- */

/* FNV-1a, 32 bits. */
static uint32_t hash_number(uint32_t hash, uint64_t number)
{
	for (size_t i = 0; i < sizeof(number); i++, number >>= 8)
		hash = (hash ^ (uint8_t)number) * 16777619U;
	return hash;
}

/* Identifies the round that another is encoded against. */
static uint32_t hash_of_round(const struct snapshot *snapshot)
{
	uint32_t hash = hash_number(2166136261U, snapshot->captured_at_unix_ns);

	hash = hash_number(hash, snapshot->provenance.boottime_ns);
	hash = hash_number(hash, snapshot->thread_count);
	hash = hash_number(hash, snapshot->strings.count);
	return hash_number(hash, snapshot->triple_count);
}

/* --- both ways --- */

static void round_release(struct round *round)
{
	free(round->old_row);
	free(round->rows);
	free(round->string_of);
	free(round->cpu_set_of);
	free(round->triple_of);
	round->old_row = round->rows = round->string_of = round->cpu_set_of = round->triple_of = NULL;
	round->row_count = 0;
}

static void code_marks(struct round *round)
{
	struct coder_stream *stream = &round->streams[STREAM_MARKS];

	if (round->coder.decoding)
		round->names_are_marked = stream->next != stream->end;
	if (round->names_are_marked)
		coder_bit(&round->coder, stream, true);
}

/* No thread was read from a source that the version which recorded the round did not know. */
static void note_unknown_sources(struct round *round)
{
	const struct vocabulary *words = round->words;

	for (unsigned int source = 0; source < SOURCE_COUNT; source++) {
		if (vocabulary_put(words, VOCABULARY_SOURCE, source) == words->count[VOCABULARY_SOURCE])
			round->now->default_reason[source] = REASON_NOT_IN_FILE;
	}
}

/* A round, in the order that its parts need. */
static void code_round(struct round *round)
{
	code_marks(round);
	round_code_more_reasons(round);
	round_code_facts(round);
	if (round->coder.decoding)
		note_unknown_sources(round);
	round_code_names(round);
	round_code_rows(round);
	if (round->coder.failed)
		return;
	round_code_columns(round);
	round_code_exceptions(round);
	round_code_resident(round);
	if (round->is_brief)
		return;
	round_code_smaps(round);
	round_code_cgroups(round);
	round_code_task_fields(round);
	round_code_devices(round);
	round_code_titles(round);
}

/* A number with a fraction, or NAN. */
static double code_double(struct round *round, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	bits = coder_number(&round->coder, &round->streams[STREAM_FACTS], bits);
	memcpy(&number, &bits, sizeof(bits));
	return number;
}

static double code_interval(struct round *round, double left_ns)
{
	round->is_brief = true;
	code_round(round);
	if (round->coder.failed)
		return NAN;
	round_code_latency(round);
	round_code_ended(round);
	round_code_latency_shares(round);
	round_code_latency_times(round);
	return code_double(round, left_ns);
}

/* --- encoding --- */

struct recorder *recorder_create(int level)
{
	struct recorder *recorder = memory_allocate_zero(1, sizeof(*recorder));

	recorder->words = vocabulary_own();
	recorder->compressor = ZSTD_createCCtx();
	if (recorder->compressor == NULL)
		memory_fail();
	ZSTD_CCtx_setParameter(recorder->compressor, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(recorder->compressor, ZSTD_c_checksumFlag, 1);
	return recorder;
}

void recorder_release(struct recorder *recorder)
{
	if (recorder == NULL)
		return;
	ZSTD_freeCCtx(recorder->compressor);
	coder_release(&recorder->coder);
	buffer_release(&recorder->content);
	free(recorder);
}

/*
 * Encodes a round, without header and compression. The list of reasons missing from its words comes first but
 * is complete only at the end, so a round with such reasons is encoded twice.
 */
static struct round encode_round(struct recorder *recorder, enum recording_kind kind,
				 const struct snapshot *now, const struct snapshot *against, double left_ns)
{
	struct round round = {
		.now = (struct snapshot *)(uintptr_t)now, /* encoding does not write to it */
		.against = against,
		.words = recorder->words,
		.names_are_marked = !recorder->marks_nothing,
	};
	size_t named;

	do {
		round_release(&round);
		coder_begin(&recorder->coder, STREAM_TOTAL);
		round.coder = recorder->coder;
		round.streams = recorder->coder.streams;
		named = round.more_reason_count;
		if (kind == KIND_WHOLE)
			vocabulary_code(&round.coder, &round.streams[STREAM_LENGTH], 0, round.words);
		if (kind == KIND_INTERVAL)
			code_interval(&round, left_ns);
		else
			code_round(&round);
		recorder->coder = round.coder;
	} while (round.more_reason_count != named);
	return round;
}

static void append_header(struct buffer *blob, enum recording_kind kind, const struct vocabulary *words,
			  const struct snapshot *against)
{
	char header[HEADER_BYTES] = {letters[0], letters[1], VERSION, (char)kind};
	const uint32_t checks[] = {htole32(words->check),
				   htole32(against != NULL ? hash_of_round(against) : 0)};

	memcpy(header + CHECKS_AT, checks, sizeof(checks));
	buffer_clear(blob);
	buffer_append(blob, header, sizeof(header));
}

/* Zeros behind the frame, where it holds more than its length allows. */
static void pad(struct buffer *blob, uint64_t elements, uint64_t content)
{
	uint64_t length = blob->length;

	if (elements > ELEMENTS_FREE && (elements - ELEMENTS_FREE) / ELEMENTS_FOR_A_BYTE + 1 > length)
		length = (elements - ELEMENTS_FREE) / ELEMENTS_FOR_A_BYTE + 1;
	if (content > CONTENT_FREE && (content - CONTENT_FREE) / CONTENT_FOR_A_BYTE + 1 > length)
		length = (content - CONTENT_FREE) / CONTENT_FOR_A_BYTE + 1;
	buffer_reserve(blob, length - blob->length);
	memset(blob->data + blob->length, 0, length - blob->length);
	blob->length = length;
}

/* Ends a round: all that was coded goes into the blob. */
static void end_round(struct recorder *recorder, struct round *round, enum recording_kind kind,
		      struct buffer *blob)
{
	size_t bound, size;

	buffer_clear(&recorder->content);
	coder_end(&round->coder, &recorder->content);
	append_header(blob, kind, round->words, round->against);
	bound = ZSTD_compressBound(recorder->content.length);
	buffer_reserve(blob, bound);
	size = ZSTD_compress2(recorder->compressor, blob->data + blob->length, bound, recorder->content.data,
			      recorder->content.length);
	if (ZSTD_isError(size)) /* the bound leaves room enough: only memory can be missing */
		memory_fail();
	blob->length += size;
	pad(blob, round->coder.elements, recorder->content.length);
	round_release(round);
	/* the next whole round is far off, and changes take a tenth of this */
	if (kind == KIND_WHOLE) {
		coder_release(&recorder->coder);
		buffer_release(&recorder->content);
	}
}

/* Rows of `before` that are no more, or whose id another thread has taken over; the caller frees them. */
static uint32_t *find_gone(const struct snapshot *now, const struct snapshot *before, size_t *ret_count)
{
	uint32_t *rows = memory_allocate((before->thread_count + 1) * sizeof(*rows));
	bool *seen = memory_allocate_zero(before->thread_count + 1, sizeof(*seen));

	free(thread_match(now, before, seen, NULL));
	*ret_count = 0;
	for (uint32_t row = 0; row < before->thread_count; row++) {
		if (!seen[row])
			rows[(*ret_count)++] = row;
	}
	free(seen);
	return rows;
}

static void encode_interval(struct recorder *recorder, const struct snapshot *now,
			    const struct snapshot *before, double left_ns, struct buffer *blob)
{
	size_t count = 0;
	uint32_t *rows = before != NULL ? find_gone(now, before, &count) : NULL;
	struct snapshot *gone;
	struct round round;

	buffer_clear(blob);
	if (count != 0 || now->ended != NULL || now->latency.present || !isnan(left_ns)) {
		gone = interval_take_rows(before, rows, count);
		latency_copy(gone, now);
		gone->ended = now->ended;
		round = encode_round(recorder, KIND_INTERVAL, gone, NULL, left_ns);
		end_round(recorder, &round, KIND_INTERVAL, blob);
		gone->ended = NULL;
		snapshot_release(gone);
	}
	free(rows);
}

void recorder_encode(struct recorder *recorder, const struct snapshot *now, const struct snapshot *against,
		     const struct snapshot *before, double left_ns, struct recording *ret_recording)
{
	const enum recording_kind kind = against == NULL ? KIND_WHOLE : KIND_CHANGES;
	struct round round = encode_round(recorder, kind, now, against, NAN);

	end_round(recorder, &round, kind, &ret_recording->state);
	ret_recording->is_whole = against == NULL;
	encode_interval(recorder, now, before, left_ns, &ret_recording->interval);
}

void recording_release(struct recording *recording)
{
	buffer_release(&recording->state);
	buffer_release(&recording->interval);
}

void recorder_use_words(struct recorder *recorder, const struct vocabulary *words)
{
	recorder->words = words;
}

void recorder_mark_nothing(struct recorder *recorder)
{
	recorder->marks_nothing = true;
}

/* --- decoding --- */

struct blob {
	const uint8_t *bytes;
	size_t length;
	enum recording_kind kind;
	char *content; /* unpacked */
	size_t content_length;
};

static uint32_t check_of(const struct blob *blob, size_t index)
{
	uint32_t check;

	memcpy(&check, blob->bytes + CHECKS_AT + index * sizeof(check), sizeof(check));
	return le32toh(check);
}

static int refuse_damage(const char *name, struct error *error)
{
	error_set(error, -EBADMSG, "%s is damaged", name);
	return -EBADMSG;
}

static int check_header(struct blob *blob, const struct snapshot *against, bool is_interval, const char *name,
			struct error *error)
{
	if (blob->length < HEADER_BYTES || memcmp(blob->bytes, letters, sizeof(letters)) != 0 ||
	    blob->bytes[3] > KIND_INTERVAL)
		return error_set(error, -EBADMSG, "%s is no recording", name);
	if (blob->bytes[2] != VERSION)
		return error_set(error, -EPROTONOSUPPORT,
				 "%s was recorded by %s ctop; look at it with that one", name,
				 blob->bytes[2] > VERSION ? "a newer" : "an older");
	blob->kind = (enum recording_kind)blob->bytes[3];
	if ((blob->kind == KIND_INTERVAL) != is_interval)
		return refuse_damage(name, error);
	if (is_interval || (blob->kind == KIND_WHOLE && against == NULL))
		return 0;
	if (against == NULL || blob->kind == KIND_WHOLE ||
	    check_of(blob, CHECK_AGAINST) != hash_of_round(against))
		return error_set(error, -EINVAL, "%s belongs to another round than the one before it", name);
	return 0;
}

/* Unpacks the frame; content is to be freed. */
static int unpack(struct blob *blob, const char *name, struct error *error)
{
	const uint8_t *frame = blob->bytes + HEADER_BYTES;
	const size_t length = blob->length - HEADER_BYTES;
	const size_t frame_length = ZSTD_findFrameCompressedSize(frame, length);
	const unsigned long long size = ZSTD_getFrameContentSize(frame, length);
	size_t result;

	if (ZSTD_isError(frame_length) || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size == ZSTD_CONTENTSIZE_ERROR ||
	    size > CONTENT_FREE + (unsigned long long)CONTENT_FOR_A_BYTE * blob->length)
		return refuse_damage(name, error);
	blob->content = memory_allocate((size_t)size + 1);
	result = ZSTD_decompress(blob->content, (size_t)size, frame, frame_length);
	if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
		memory_fail(); /* which is no damage of the round */
	if (ZSTD_isError(result) || result != size) {
		free(blob->content);
		return refuse_damage(name, error);
	}
	blob->content_length = (size_t)size;
	return 0;
}

/* The names of who recorded it: a whole round brings them. */
static int find_words(const struct blob *blob, struct round *round, const char *name, struct error *error)
{
	const uint32_t check = check_of(blob, CHECK_NAMES);

	if (blob->kind == KIND_WHOLE)
		round->words = vocabulary_code(&round->coder, &round->streams[STREAM_LENGTH], check, NULL);
	else
		round->words = vocabulary_find(check);
	if (round->coder.failed || (round->words == NULL && blob->kind == KIND_WHOLE))
		return refuse_damage(name, error);
	if (round->words == NULL || !vocabulary_is_readable(round->words))
		return error_set(error, -EPROTONOSUPPORT,
				 "%s was recorded by another version of ctop; look at it with that one",
				 name);
	return 0;
}

/* Opens a blob and begins a round to be decoded. */
static int open_round(struct blob *blob, const struct snapshot *against, bool is_interval, const char *name,
		      struct round *ret_round, struct error *error)
{
	int result = check_header(blob, against, is_interval, name, error);

	if (result == 0)
		result = unpack(blob, name, error);
	if (result < 0)
		return result;
	*ret_round = (struct round){.against = against};
	coder_open(&ret_round->coder, STREAM_TOTAL, blob->content, blob->content_length,
		   ELEMENTS_FREE + (uint64_t)ELEMENTS_FOR_A_BYTE * blob->length);
	ret_round->streams = ret_round->coder.streams;
	result = find_words(blob, ret_round, name, error);
	if (result < 0) {
		free(blob->content);
		coder_release(&ret_round->coder);
		return result;
	}
	ret_round->lost_reasons = ret_round->words->lost_reasons;
	ret_round->now = snapshot_create();
	return 0;
}

/* Ends it; the snapshot is handed over when all is well. */
static int close_round(struct blob *blob, struct round *round, const char *name,
		       struct snapshot **ret_snapshot, struct error *error)
{
	const bool complete = coder_is_complete(&round->coder);

	free(blob->content);
	coder_release(&round->coder);
	round_release(round);
	if (!complete) {
		snapshot_release(round->now);
		return refuse_damage(name, error);
	}
	snapshot_finish(round->now);
	container_names_take(round->now);
	*ret_snapshot = round->now;
	return 0;
}

int recording_decode_interval(const void *interval, size_t length, const char *name,
			      struct snapshot **ret_gone, double *ret_left_ns, struct error *error)
{
	struct blob blob = {.bytes = interval, .length = length};
	struct round round;
	double left_ns;
	int result;

	if (length == 0) {
		*ret_gone = snapshot_create();
		*ret_left_ns = NAN;
		return 0;
	}
	result = open_round(&blob, NULL, true, name, &round, error);
	if (result < 0)
		return result;
	left_ns = code_interval(&round, NAN);
	result = close_round(&blob, &round, name, ret_gone, error);
	if (result == 0)
		*ret_left_ns = left_ns;
	return result;
}

/* Moves the content of an interval into the round that it ends with. */
static int join_interval(struct snapshot *snapshot, const void *interval, size_t length, const char *name,
			 struct error *error)
{
	struct snapshot *gone;
	double left_ns;
	int result = recording_decode_interval(interval, length, name, &gone, &left_ns, error);

	if (result < 0)
		return result;
	latency_copy(snapshot, gone);
	snapshot->ended = gone->ended;
	gone->ended = NULL;
	snapshot_release(gone);
	return 0;
}

int recording_decode(const void *state, size_t state_length, const void *interval, size_t interval_length,
		     const struct snapshot *against, const char *name, struct snapshot **ret_snapshot,
		     struct error *error)
{
	struct blob blob = {.bytes = state, .length = state_length};
	struct snapshot *snapshot;
	struct round round;
	int result = open_round(&blob, against, false, name, &round, error);

	if (result < 0)
		return result;
	code_round(&round);
	result = close_round(&blob, &round, name, &snapshot, error);
	if (result < 0)
		return result;
	if (interval_length != 0)
		result = join_interval(snapshot, interval, interval_length, name, error);
	if (result < 0)
		snapshot_release(snapshot);
	else
		*ret_snapshot = snapshot;
	return result;
}
