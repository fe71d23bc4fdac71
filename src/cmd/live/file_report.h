/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_REPORT_H
#define CTOP_FILE_REPORT_H

#include "base/error.h"
#include "snapshot/snapshot.h"
#include "ui/ui.h"
#include "window/grouping.h"

/*
 * Writes the report that `ctop show` prints of a snapshot to the file `path`, in the format of the name's
 * ending: .txt, .tsv, .csv, .json, .md or .html. `name` is what the report calls the snapshot. The file comes
 * into being whole; one that exists is never replaced (-EEXIST). Returns 0, or a negative errno with a
 * sentence (-EINVAL for another ending).
 */
int file_report_write(const struct snapshot *snapshot, const char *name,
		      const struct grouping_options *grouping, const char *path, struct error *error);

/*
 * The same of a comparison: the report that `ctop diff` prints of the two. Where threads cannot be matched in
 * this order, changes are those of groups.
 */
int file_report_write_comparison(const struct ui_comparison *shown, const char *path, struct error *error);

#endif
