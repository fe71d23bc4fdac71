/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_ROWS_H
#define CTOP_THREAD_ROWS_H

#include "round.h"

/* Which threads a round has, and what their rows hold before anything is read. */

/* Lists processes and threads into the snapshot. Returns 0 or a negative errno. */
int round_list_threads(struct round *round);

/* Makes the arrays parallel to the rows; for threads in the previous snapshot they start as copies. */
void round_make_rows(struct round *round);

/* Gives the numbers of threads that did not run the present time. */
void round_confirm_still(struct round *round);

#endif
