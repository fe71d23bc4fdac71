/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_REPORT_H
#define CTOP_FILE_REPORT_H

#include "base/error.h"
#include "ui/ui.h"

/*
 * Writes the report that `ctop show` prints of a snapshot, or `ctop diff` of two, to the file `path`, in the
 * format of the name's ending: .txt, .tsv, .csv, .json, .md or .html. The file comes into being whole; one
 * that exists is never replaced (-EEXIST). Where threads of two snapshots cannot be matched in this order,
 * changes are those of groups. Returns 0, or a negative errno with a sentence (-EINVAL for another ending).
 */
int file_report_write(const struct ui_report *shown, const char *path, struct error *error);

#endif
