/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DESCRIBE_H
#define CTOP_DESCRIBE_H

#include "base/buffer.h"
#include "base/error.h"

/*
 * Appends as text what a metric, a derived metric or a column of the screen is, by any name that
 * column_find() knows: what it counts, where it comes from, its unit, what it needs, where it stands on the
 * screen. Returns 0, or -EINVAL with a sentence that has the nearest name.
 */
int describe_name(const char *name, struct buffer *buffer, struct error *error);

/* Appends the columns of the screen. */
void describe_columns(struct buffer *buffer);

/* Appends the keys of the screen. */
void describe_keys(struct buffer *buffer);

/* Appends what a filter is made of, with examples. */
void describe_filter(struct buffer *buffer);

#endif
