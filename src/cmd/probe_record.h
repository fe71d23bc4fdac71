/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_RECORD_H
#define CTOP_PROBE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "probe/probe.h"

/* The result of `ctop probe` and its two output formats. */

struct probe_snapshot {
	int64_t unix_seconds;         /* when it began */
	uint64_t elapsed_ns;          /* since the run began */
	struct probe_thread *threads; /* owned; by tid */
	char **names; /* owned, as each is; NULL, and no start time, for a thread whose stat could not be read
		       */
	size_t count;
};

struct probe_record {
	uint32_t pid;
	int64_t started_unix_seconds;
	uint64_t wanted;                  /* snapshots asked for */
	uint64_t interval_ms;             /* between them; 0 for a single one */
	bool interrupted;                 /* before all of it was read */
	const char *layout;               /* origin of the offsets, NULL when it did not come to that */
	char *version;                    /* of jemalloc, owned; NULL when unknown */
	struct probe_snapshot *snapshots; /* owned */
	size_t count;
};

/* Frees what the record owns. */
void probe_record_release(struct probe_record *record);

/* Whether no thread of any snapshot could be read; false without a snapshot. */
bool probe_record_all_failed(const struct probe_record *record);

/* Appends the record as JSON, schema version 3, pretty-printed, with a newline at the end. */
void probe_record_append_json(const struct probe_record *record, struct buffer *buffer);

/*
 * Appends the record as lines, names fit for a terminal: what was read to `output`, a warning for each thread
 * that could not be read to `warnings`.
 */
void probe_record_append_text(const struct probe_record *record, struct buffer *output,
			      struct buffer *warnings);

#endif
