/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COLUMN_NAME_H
#define CTOP_COLUMN_NAME_H

#include "base/error.h"
#include "window/column.h"

/*
 * The column of that title or name (case ignored; a title also without % and /s, if that is no other's title;
 * then the first of the table that fits; a former title where no present one fits), else that of the metric
 * or derived metric of that name, else that of a name followed by its unit as in the header of a TSV table
 * ("read_bytes_per_s"), else COLUMN_COUNT. "SOURCE.NAME" is the field of schedulers of that name, which
 * nobody need have met yet; the name or title alone does where nothing else has it and one field that was
 * met.
 */
enum column column_find(const char *name);

/*
 * The word for a column in options and files: its title if column_find() finds it by that ("CPU%"), else
 * its name. Valid until the next call.
 */
const char *column_word(enum column column);

/* Refuses a name that column_find() does not know: a sentence with up to three that are near; returns
 * -EINVAL. */
int column_refuse(const char *name, struct error *error);

#endif
