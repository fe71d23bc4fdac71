/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BATCH_H
#define CTOP_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/capture.h"
#include "cmd/export/export.h"
#include "report/report.h"
#include "table/view.h"

/* `ctop -b`: a table each round to standard output, without a screen. */

struct batch_options {
	struct capture_options capture;
	const struct view *view; /* the table; its width chooses columns, 0 for all of the tab */
	enum report_format format;
	/* NULL, or to print what Prometheus reads of each round instead: OpenMetrics, counted from the start
	 */
	const struct export_options *export;
	bool ascii;           /* text: plain marks */
	bool csv_safe;        /* as in struct report */
	uint64_t interval_ns; /* between rounds */
	uint64_t rounds;      /* tables to print, 0 for no end */
};

/*
 * Prints a table every interval. Two readings come before the first table, an interval apart, so that it has
 * deltas already; WINDOW_MODE_TOTAL needs one only. Reads only the sources that the columns, the sort order
 * and the filter need. The first round that takes longer than the interval is noted on stderr.
 *
 * Returns 0 when all rounds are printed; the number of the signal when SIGINT, SIGTERM or SIGHUP ended it, or
 * SIGPIPE when the reader of the output went away, unless that is ignored, for the caller to raise; else a
 * negative errno with a sentence. With `*ret_left_behind` a capture hangs in the kernel and uses the options
 * still: the process has to end without exit(3).
 */
int batch_run(const struct batch_options *options, bool *ret_left_behind, struct error *error);

#endif
