/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SNAPSHOT_EXAMPLE_H
#define CTOP_SNAPSHOT_EXAMPLE_H

#include "base/buffer.h"
#include "base/error.h"
#include "snapshot/snapshot.h"
#include "store/ctprof.h"

/* Texts of the format and snapshots that hold everything it can. */

#define EXAMPLE_HALF     "{\"avg10\":0,\"avg60\":0,\"avg300\":0,\"total_usec\":0}"
#define EXAMPLE_RESOURCE "{\"some\":" EXAMPLE_HALF ",\"full\":" EXAMPLE_HALF "}"
#define EXAMPLE_PSI                                                                                          \
	"{\"cpu\":" EXAMPLE_RESOURCE ",\"memory\":" EXAMPLE_RESOURCE ",\"io\":" EXAMPLE_RESOURCE             \
	",\"irq\":" EXAMPLE_RESOURCE "}"
#define EXAMPLE_CGROUP                                                                                       \
	"{\"cpu\":{\"usage_usec\":1,\"nr_throttled\":2,\"throttled_usec\":3,\"max_quota_us\":null,"          \
	"\"max_period_us\":100000,\"weight\":null,\"weight_nice\":-3},\"memory\":{\"current\":4,"            \
	"\"max\":null,\"high\":null,\"low\":18446744073709551615,\"min\":null,\"stat\":{\"anon\":1},"        \
	"\"events\":{}},\"pids\":{\"current\":5,\"max\":null},\"psi\":" EXAMPLE_PSI "}"

/* A snapshot of no threads, one of `threads` (records with commas) and one with further members. */
#define EXAMPLE_SNAPSHOT(threads, cgroups)                                                                   \
	"{\"captured_at_unix_ns\":1,\"threads\":[" threads "],\"cgroup_stats\":{" cgroups                    \
	"},\"psi\":" EXAMPLE_PSI "}"

/*
 * Three threads of a process and a window of which the first one moved, the second one began within and the
 * third one stands still, with all that a window may have. Freed by the caller.
 */
char *example_window(void);

/* The complete thread record of the format's description. */
extern const char example_record[];

/* The text with the first `old` replaced by `new`; fails the running test when it is not there. Freed by the
 * caller. */
char *example_replace(const char *text, const char *old, const char *new);

/* A snapshot of this one thread record. Freed by the caller. */
char *example_with_record(const char *record);

/* A descriptor of a file in memory that holds the bytes. */
int example_file(const void *bytes, size_t length);

/* The same, compressed first, in one frame. */
int example_compressed(const char *json, size_t length);

/* Compresses and reads the text; as ctprof_read_descriptor(), under the name "example". */
int example_read(const char *json, size_t length, struct snapshot **ret_snapshot, struct error *error);

/* The same of a text that must be read, with these notes (NULL: any); the caller releases the snapshot. */
struct snapshot *example_accept(const char *json, const char *notes);

/* The text must be refused, with a sentence that holds `words`. */
void example_refuse(const char *json, const char *words);

/*
 * A snapshot of the complete record, twice, as threads 1 (in S) and 2 (in R) of process 1, and of a cgroup.
 * The content of the `ctop` objects is given, with ' for ": that of the top level, which stands before or
 * behind the threads, and those of both threads. Freed by the caller.
 */
char *example_two_threads(const char *top, const char *first, const char *second, bool before);

/* Reads it both ways, which must give the same. */
struct snapshot *example_accept_two_threads(const char *top, const char *first, const char *second,
					    const char *notes);

/* The text with " for '. Freed by the caller. */
char *example_quoted(const char *text);

/* The JSON text of a snapshot, and a file of it in memory, from its beginning. */
void example_emit(const struct snapshot *snapshot, struct buffer *ret_json);
int example_written(const struct snapshot *snapshot);

/* A finished snapshot in which every member of the format has a value. */
struct snapshot *example_snapshot(void);

/* Adds the knowledge that goes into the `ctop` objects, every member of it. */
void example_add_knowledge(struct snapshot *snapshot);

#endif
