/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_ROWS_H
#define CTOP_THREAD_ROWS_H

#include "round.h"

/* Which threads a round has, and what their rows hold before anything is read. */

/* Lists processes and threads into the snapshot. Returns 0 or a negative errno. */
int round_list_threads(struct round *round);

/* Makes what goes with the rows; those of threads that the previous snapshot has begin as copies. */
void round_make_rows(struct round *round);

/* The numbers of a thread that stood still are those of now. */
void round_confirm_still(struct round *round);

#endif
