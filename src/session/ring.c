/* SPDX-License-Identifier: GPL-2.0-only */
#include "ring.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/recording.h"

enum {
	GROUP_ROUNDS = 16, /* a whole recording and those that are made against the round before */
	GROUPS_LEAST =
		4,   /* the least number of groups in the limit, so that few rounds are dropped at once */
	DECODED = 4, /* rounds that a reader keeps */
	LEVEL = 1,   /* of zstd: time counts more than bytes */
};

struct entry {
	struct history_round round; /* `id` ascends by one */
	struct recording recording;
};

struct ring {
	struct history history;
	uint64_t limit;
	/* of the thread that adds */
	struct recorder *recorder;
	struct snapshot *last; /* a reference to what was added last */

	pthread_mutex_t lock;
	/* Everything below is guarded by the lock. */
	struct snapshot *older; /* a reference to the one before, until `last` is confirmed */
	struct entry *entries;  /* oldest first */
	size_t count, capacity;
	bool is_confirmed; /* the last one is */
	int64_t next_id;
	uint64_t bytes;       /* of all */
	uint64_t group_bytes; /* of the last group */
	size_t group_rounds;
};

static struct ring *ring_of(const struct history *history)
{
	return (struct ring *)(uintptr_t)history;
}

/* --- adding --- */

static uint64_t recording_bytes(const struct recording *recording)
{
	return recording->state.capacity + recording->interval.capacity + sizeof(struct entry);
}

/* Gives back what a buffer has too much: it stays for long. */
static void trim(struct buffer *buffer)
{
	if (buffer->data == NULL)
		return;
	buffer->data = memory_resize(buffer->data, buffer->length + 1, 1);
	buffer->capacity = buffer->length + 1;
}

static void forget_entries(struct ring *ring, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ring->bytes -= recording_bytes(&ring->entries[i].recording);
		recording_release(&ring->entries[i].recording);
	}
	ring->count -= count;
	memmove(ring->entries, ring->entries + count, ring->count * sizeof(*ring->entries));
}

/* Forgets the oldest ones that have no room any more: a whole recording and those that need it. */
static void make_room(struct ring *ring)
{
	while (ring->bytes > ring->limit && ring->count > 1) {
		size_t next = 1;

		while (next < ring->count && !ring->entries[next].recording.is_whole)
			next++;
		/* the newest group stays, whatever it takes: it is one of a few rounds */
		if (next == ring->count)
			return;
		forget_entries(ring, next);
	}
}

void ring_add(struct ring *ring, struct snapshot *round)
{
	const struct snapshot *before = ring->last;
	struct entry entry = {.round = history_round_of(before, round)};
	bool is_whole;

	pthread_mutex_lock(&ring->lock);
	is_whole = ring->count == 0 || ring->group_rounds >= GROUP_ROUNDS ||
		   ring->group_bytes > ring->limit / GROUPS_LEAST;
	pthread_mutex_unlock(&ring->lock);
	recorder_encode(ring->recorder, round, is_whole ? NULL : before, before,
			history_left_between(before, round), &entry.recording);
	trim(&entry.recording.state);
	trim(&entry.recording.interval);
	pthread_mutex_lock(&ring->lock);
	if (is_whole)
		ring->group_bytes = ring->group_rounds = 0;
	entry.round.id = ring->next_id++;
	ring->group_rounds++;
	ring->group_bytes += recording_bytes(&entry.recording);
	ring->bytes += recording_bytes(&entry.recording);
	*MEMORY_APPEND(ring->entries, ring->count, ring->capacity) = entry;
	make_room(ring);
	snapshot_release(ring->older);
	ring->older = ring->last;
	ring->last = snapshot_reference(round);
	ring->is_confirmed = false;
	pthread_mutex_unlock(&ring->lock);
}

void ring_confirm(struct ring *ring, const struct snapshot *round)
{
	struct snapshot *older = NULL;

	pthread_mutex_lock(&ring->lock);
	if (ring->last == round) {
		older = ring->older;
		ring->older = NULL;
		ring->is_confirmed = true;
	}
	pthread_mutex_unlock(&ring->lock);
	snapshot_release(older);
}

void ring_withdraw(struct ring *ring, const struct snapshot *round)
{
	struct entry *entry;

	pthread_mutex_lock(&ring->lock);
	if (!ring->is_confirmed && ring->last == round) {
		entry = &ring->entries[--ring->count];
		ring->bytes -= recording_bytes(&entry->recording);
		ring->group_bytes -= recording_bytes(&entry->recording);
		/* the next one begins a group instead */
		ring->group_rounds = entry->recording.is_whole ? GROUP_ROUNDS : ring->group_rounds - 1;
		ring->next_id--;
		recording_release(&entry->recording);
		snapshot_release(ring->last);
		ring->last = ring->older;
		ring->older = NULL;
		ring->is_confirmed = true;
	}
	pthread_mutex_unlock(&ring->lock);
}

uint64_t ring_bytes(struct ring *ring)
{
	uint64_t bytes;

	pthread_mutex_lock(&ring->lock);
	bytes = ring->bytes;
	pthread_mutex_unlock(&ring->lock);
	return bytes;
}

/* --- reading --- */

/* The number of readable rounds. Called with the lock held, like all that look at entries. */
static size_t readable(const struct ring *ring)
{
	return ring->count - (ring->is_confirmed ? 0 : 1);
}

/* Hands out an entry by its place, and gives the lock back. 1, or 0 where nothing readable is. */
static int hand_out(struct ring *ring, size_t place, struct history_round *ret_round)
{
	const bool is_there = place < readable(ring);

	if (is_there)
		*ret_round = ring->entries[place].round;
	pthread_mutex_unlock(&ring->lock);
	return is_there;
}

static int find_end(struct history *history, bool newest, struct history_round *ret_round,
		    struct error *error)
{
	struct ring *ring = ring_of(history);

	pthread_mutex_lock(&ring->lock);
	return hand_out(ring, newest ? readable(ring) - 1 : 0, ret_round)
		       ? 0
		       : error_set(error, -ENODATA, "no round has been kept yet");
}

/* The place of the first round at a time or after it. The wall clock may have been set: as they were taken.
 */
static size_t place_of_time(const struct ring *ring, uint64_t unix_ns)
{
	size_t place = 0;

	while (place < readable(ring) && ring->entries[place].round.unix_ns < unix_ns)
		place++;
	return place;
}

static int find_side(struct history *history, uint64_t unix_ns, bool before, struct history_round *ret_round,
		     struct error *error)
{
	struct ring *ring = ring_of(history);
	size_t place;

	(void)error;
	pthread_mutex_lock(&ring->lock);
	place = place_of_time(ring, unix_ns);
	if (before && (place == readable(ring) || ring->entries[place].round.unix_ns != unix_ns))
		place--;
	return hand_out(ring, place, ret_round);
}

/* The place of a round; beyond all where it has been forgotten. */
static size_t place_of(const struct ring *ring, int64_t id)
{
	return (size_t)(id - (ring->next_id - (int64_t)ring->count));
}

static int find_next(struct history *history, const struct history_round *from, bool forward,
		     struct history_round *ret_round, struct error *error)
{
	struct ring *ring = ring_of(history);
	size_t place;

	(void)error;
	pthread_mutex_lock(&ring->lock);
	place = place_of(ring, from->id);
	if (place >= ring->count)
		place = 0; /* it has been forgotten */
	else
		place += forward ? 1 : (size_t)-1;
	return hand_out(ring, place, ret_round);
}

static bool adjoins(const struct history *history, const struct history_round *before,
		    const struct history_round *after)
{
	(void)history;
	return after->id == before->id + 1;
}

static int range(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		 struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	struct ring *ring = ring_of(history);
	size_t capacity = 0;

	(void)error;
	*ret_rounds = NULL;
	*ret_count = 0;
	pthread_mutex_lock(&ring->lock);
	for (size_t i = place_of_time(ring, from_unix_ns);
	     i < readable(ring) && ring->entries[i].round.unix_ns <= to_unix_ns; i++)
		*MEMORY_APPEND(*ret_rounds, *ret_count, capacity) = ring->entries[i].round;
	pthread_mutex_unlock(&ring->lock);
	return 0;
}

/* A copy of a recording: it may be forgotten while it is decoded. False when it has been. */
static bool copy_recording(struct ring *ring, int64_t id, struct recording *ret_recording)
{
	const struct entry *entry = NULL;
	size_t place;

	*ret_recording = (struct recording){0};
	pthread_mutex_lock(&ring->lock);
	place = place_of(ring, id);
	if (place < readable(ring))
		entry = &ring->entries[place];
	if (entry != NULL) {
		const struct recording *recording = &entry->recording;

		ret_recording->is_whole = recording->is_whole;
		buffer_append(&ret_recording->state, recording->state.data, recording->state.length);
		buffer_append(&ret_recording->interval, recording->interval.data, recording->interval.length);
	}
	pthread_mutex_unlock(&ring->lock);
	return entry != NULL;
}

static int forgotten(struct error *error)
{
	return error_set(error, -ENOENT, "that round is no longer kept: the oldest ones make room");
}

/* The newest round up to this one that needs none, or that has been decoded. */
static int64_t find_start(struct ring *ring, int64_t id)
{
	size_t place;

	pthread_mutex_lock(&ring->lock);
	place = place_of(ring, id);
	while (place != 0 && place < ring->count && !ring->entries[place].recording.is_whole &&
	       history_find_decoded(&ring->history, 0, id) == NULL) {
		place--;
		id--;
	}
	pthread_mutex_unlock(&ring->lock);
	return id;
}

static int decode_round(struct history *history, const struct history_round *round, struct error *error)
{
	struct ring *ring = ring_of(history);
	struct snapshot *snapshot = NULL;
	int result = 0;

	for (int64_t id = find_start(ring, round->id); id <= round->id && result == 0; id++) {
		const struct history_decoded *decoded = history_find_decoded(history, 0, id);
		struct snapshot *against = snapshot;
		struct recording recording;

		if (decoded != NULL) {
			snapshot = decoded->snapshot;
			continue;
		}
		if (!copy_recording(ring, id, &recording))
			return forgotten(error);
		result = recording_decode(recording.state.data, recording.state.length,
					  recording.interval.data, recording.interval.length,
					  recording.is_whole ? NULL : against, "a round in memory", &snapshot,
					  error);
		recording_release(&recording);
		if (result == 0)
			history_keep_decoded(history, 0, id, 0, snapshot);
	}
	return result;
}

static int read_gone(struct history *history, const struct history_round *round, struct snapshot **ret_gone,
		     double *ret_left_ns, struct error *error)
{
	struct recording recording;
	int result;

	if (!copy_recording(ring_of(history), round->id, &recording))
		return forgotten(error);
	*ret_gone = NULL;
	*ret_left_ns = NAN;
	result = recording.interval.length != 0
			 ? recording_decode_interval(recording.interval.data, recording.interval.length,
						     "a round in memory", ret_gone, ret_left_ns, error)
			 : 0;
	recording_release(&recording);
	return result;
}

/* --- the ring --- */

static const struct history_functions functions = {
	.find_end = find_end,
	.find_side = find_side,
	.find_next = find_next,
	.adjoins = adjoins,
	.range = range,
	.decode = decode_round,
	.read_gone = read_gone,
};

struct ring *ring_create(uint64_t bytes)
{
	struct ring *ring = memory_allocate_zero(1, sizeof(*ring));

	ring->history.functions = &functions;
	ring->history.decoded_max = DECODED;
	ring->limit = bytes;
	ring->recorder = recorder_create(LEVEL);
	ring->next_id = 1;
	ring->is_confirmed = true;
	pthread_mutex_init(&ring->lock, NULL);
	return ring;
}

void ring_release(struct ring *ring)
{
	if (ring == NULL)
		return;
	for (size_t i = 0; i < ring->count; i++)
		recording_release(&ring->entries[i].recording);
	history_forget_decoded(&ring->history);
	free(ring->entries);
	snapshot_release(ring->last);
	snapshot_release(ring->older);
	recorder_release(ring->recorder);
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

struct history *ring_history(struct ring *ring)
{
	return &ring->history;
}
