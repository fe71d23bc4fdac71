/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORD_LOOP_H
#define CTOP_RECORD_LOOP_H

#include <stdint.h>

#include "base/error.h"
#include "capture/capture.h"
#include "record_rules.h"
#include "record_titles.h"
#include "store/history_writer.h"

/* `ctop record`: a round each interval into a history, without a screen. */

struct record_loop_options {
	struct capture_options capture; /* with `latency`, waits are measured */
	uint64_t interval_ns;
	struct history_writer_options history;
	struct record_rules *rules;
	uint64_t rounds; /* to store, 0 for no end */
	enum record_titles_choice titles;
};

/*
 * Records until SIGTERM, SIGINT or SIGHUP, or until so many rounds are stored. Everything that was captured
 * is stored before it returns. What the user should know goes to stderr, once each: where it records, that it
 * pauses and goes on, that rules have become true. A service manager is told that it is ready, how it is,
 * that it is alive, and that it stops (notify.h).
 *
 * Returns 0 when all rounds are stored or SIGTERM came; the number of another signal, for the caller to
 * raise; else a negative errno with a sentence. Rounds that could not be stored are no failure. With
 * *ret_left_behind a capture hangs and still uses what it was given: the process has to end without exit(3).
 */
int record_loop_run(const struct record_loop_options *options, bool *ret_left_behind, struct error *error);

#endif
