/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORDING_H
#define CTOP_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * Encodes a round as bytes and decodes it: whole, or as what changed against another round. A decoded round
 * equals the encoded one in every field of struct snapshot except its serials; ids of names and CPU sets
 * are the same, too. The bytes
 * are the same on all architectures, but for contexts of sched_ext schedulers, which are in the order of the
 * host. Nothing here reads or writes files.
 *
 * A whole recording has the names of metrics, sources, reasons and features that its numbers stand for. One
 * of another version is decoded without what this version does not know; what is encoded against it, and
 * intervals, can be decoded once any whole one of that version was in this process.
 */

/* Buffers and the context of the compressor, kept for the next recording. For one thread at a time. */
struct recorder;

/* `level` is for zstd, 1 to 19. */
struct recorder *recorder_create(int level);

void recorder_release(struct recorder *recorder); /* NULL is allowed */

/* A zeroed struct is empty. The buffers are used again by the next recording into the same struct. */
struct recording {
	struct buffer state; /* the round: self-describing, with a checksum */
	/*
	 * The time since the round before: the rows that are gone, as they were last read, threads that
	 * ended (snapshot.ended), waits (snapshot.latency), CPU time that no thread has. No bytes: nothing.
	 */
	struct buffer interval;
	bool is_whole;
};

/*
 * Encodes a finished snapshot. `against` is any earlier snapshot that the reader will have decoded, as it was
 * when it was encoded; NULL: it becomes whole. `before` is the round before, for the rows that are gone; NULL
 * for none, or after a gap. `left_ns` is CPU time of the host that no thread has (ended_left_between()), NAN
 * where it is not known.
 */
void recorder_encode(struct recorder *recorder, const struct snapshot *now, const struct snapshot *against,
		     const struct snapshot *before, double left_ns, struct recording *ret_recording);

void recording_release(struct recording *recording);

/*
 * Makes the times at which sources were read multiples of RECORDING_TIME_STEP_NS, by up to as much earlier,
 * but not before the round began: readings from procfs each have a time of their own, which take more room
 * than all else. To be called for a round before anybody looks at it, so that what is stored is what was
 * shown. Nobody but the capture and the caller may have a reference.
 */
#define RECORDING_TIME_STEP_NS UINT64_C(100000)
void recording_even_times(struct snapshot *snapshot);

/*
 * Decodes a round; trusts nothing. `against` is the decoded snapshot that it was encoded against, NULL for a
 * whole one. Without an interval (`interval_length` 0) the result has no `ended` and no `latency`. It has one
 * reference and is finished. If `against` was the round before in a row of live rounds, carried_row, moved
 * and the like are set as a live round has them, carried_serial being that of `against`.
 *
 * `name` is what the sentence calls it. Returns 0, or -EBADMSG (damaged, or no recording), -EPROTONOSUPPORT
 * (of a newer format, or of a version of which no whole recording was decoded before), -EINVAL (it belongs to
 * another `against`).
 */
int recording_decode(const void *state, size_t state_length, const void *interval, size_t interval_length,
		     const struct snapshot *against, const char *name, struct snapshot **ret_snapshot,
		     struct error *error);

/*
 * Decodes an interval alone: a snapshot whose threads are those that are gone, as they were last read in the
 * round before, of which it has the times and what it says of all threads; with `ended` and `latency` of the
 * round that it came with. Of no bytes it is an empty one. `*ret_left_ns` may be NAN. Errors as above.
 */
int recording_decode_interval(const void *interval, size_t length, const char *name,
			      struct snapshot **ret_gone, double *ret_left_ns, struct error *error);

#endif
