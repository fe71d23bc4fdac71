/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORTER_H
#define CTOP_EXPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "capture/capture.h"
#include "export.h"

/*
 * Works behind `ctop export`: captures rounds at an interval of its own (capture_loop.h) and adds them up.
 * Pages are written from the newest round that is finished, so whoever asks waits for no capture and disturbs
 * nobody else.
 */
struct exporter;

struct exporter_options {
	struct capture_options capture;
	struct export_options export;
	uint64_t interval_ns;
	uint64_t rounds; /* that are added before it is done; 0: it never is */
};

/*
 * Starts the thread and waits until the capture is open, 5 s at most: one that hangs there shows as no
 * rounds. The options' strings must outlive the object. Returns 0 or a negative errno with a sentence.
 */
int exporter_start(const struct exporter_options *options, struct exporter **ret_exporter,
		   struct error *error);

/*
 * Writes the page of each round to a file for the textfile collector of node_exporter, in a thread of its
 * own, so that a disk that is slow delays nobody: whole or not at all, in the classic format, and under names
 * that do not clash with those of node_exporter itself. Fails at once where the file could not be written: 0
 * or a negative errno with a sentence. `path` outlives the exporter.
 */
int exporter_start_file(struct exporter *exporter, const char *path, struct error *error);

/*
 * Ends the threads: what is being written is finished, and the newest round is in the file. Without
 * `keeps_file` the file goes, since what it says is not so any more. A thread that hangs in the kernel is
 * left behind after a few seconds; then false is returned, nothing is freed and the process has to end
 * without exit(3). `*ret_is_failing`: the newest round could not be written.
 */
bool exporter_stop(struct exporter *exporter, bool keeps_file, bool *ret_is_failing);

/* Readable once all rounds are taken, or the capture could not be opened (exporter_failure()). */
int exporter_done_descriptor(const struct exporter *exporter);

/* Why it is done without all rounds; NULL: it has them. Only once it is done. */
const char *exporter_failure(const struct exporter *exporter);

/*
 * Appends the page in a format. Groups are left out, and the page says so (ctop_round_stale), when no round
 * has been finished for three intervals and 10 s: behind a capture that hangs they would be out of date.
 * `health` has the numbers of a server, and `own_names`; the rest is filled in.
 */
void exporter_write(struct exporter *exporter, enum exposition_format format, struct export_health *health,
		    struct buffer *page);

#endif
