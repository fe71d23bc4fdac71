/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORDING_COLUMNS_H
#define CTOP_RECORDING_COLUMNS_H

#include "round.h"

/* The columns of a snapshot that are by thread, all but times: they hold still while a thread does. */

enum thread_column {
	COLUMN_TGID,
	COLUMN_TID,
	COLUMN_START_TIME,
	COLUMN_UID,
	COLUMN_FLAGS,
	COLUMN_TRIPLE,
	COLUMN_IDENTITY_COUNT,
	COLUMN_REASONS = COLUMN_IDENTITY_COUNT, /* by source */
	COLUMN_VALUES = COLUMN_REASONS + SOURCE_COUNT,
	COLUMN_COUNT = COLUMN_VALUES + METRIC_COUNT,
};

/* The cells of a column. */
struct column_view {
	const void *cells; /* NULL: no column */
	size_t size;       /* of a cell, bytes */
	uint64_t absent;   /* every cell without a column */
	/* Ids in `now` by ids in `against`; NULL: the cells are no ids. */
	const uint32_t *map;
};

/* A column of `snapshot`, which is `now` or `against` of the round. */
struct column_view column_view_of(const struct round *round, const struct snapshot *snapshot,
				  unsigned int column);

static inline uint64_t column_cell(const struct column_view *view, size_t row)
{
	if (view->cells == NULL)
		return view->absent;
	switch (view->size) {
	case sizeof(uint8_t):
		return ((const uint8_t *)view->cells)[row];
	case sizeof(uint32_t):
		return ((const uint32_t *)view->cells)[row];
	default:
		return ((const uint64_t *)view->cells)[row];
	}
}

/* A cell of `against`, with an id of `now` where it is one. */
static inline uint64_t column_old_cell(const struct column_view *view, size_t row)
{
	const uint64_t cell = column_cell(view, row);

	return view->map != NULL ? round_id(view->map, cell) : cell;
}

#endif
