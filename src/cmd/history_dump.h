/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_DUMP_H
#define CTOP_HISTORY_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cmd/line/output.h"
#include "report/report.h"
#include "store/history.h"
#include "table/view.h"

/* `ctop dump`: the tables of recorded rounds, one after the other, as `ctop -b` would have printed them. */

struct history_dump_options {
	const struct view *view;
	enum report_format format;
	bool ascii, csv_safe, to_terminal;
	uint64_t from_unix_ns, to_unix_ns; /* both included */
	uint64_t every_ns;                 /* a table for so much time; 0: for each round */
};

/*
 * Appends the tables to the output, flushing it as it goes. Rates and amounts of a table count since the one
 * before it, or since the round before where there is a table for each round; threads that ended in between
 * count with what they did. Nothing is counted over a gap. Damaged rounds, and that there is nothing at the
 * ends, are told on stderr. Returns 0, or a negative errno with a sentence: -ENODATA when no round lies
 * there.
 */
int history_dump(struct history *history, const struct history_dump_options *options, struct output *output,
		 struct error *error);

#endif
