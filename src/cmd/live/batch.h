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
 * Returns the exit status of the command, after the sentence of a failure. Raises SIGINT, SIGTERM or SIGHUP
 * again if one ended it, and SIGPIPE when the reader of the output went away, unless that is ignored. Where a
 * capture hangs in the kernel the process ends here, without exit(3). `error` is scratch.
 */
int batch_run(const struct batch_options *options, struct error *error);

#endif
