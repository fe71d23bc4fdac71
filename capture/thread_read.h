/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_THREAD_READ_H
#define CTOP_THREAD_READ_H

#include "round.h"

/* Reading the files of one thread into its row. `tasks` is its process's task directory, -1 when that is
 * gone. */

/* Reads these sources of a thread. */
void round_read_thread(struct round *round, size_t row, int tasks, source_set wanted);

/* Reads one file into capture->text and from there into the row. Returns false when that failed, which is
 * noted. */
bool round_read_file(struct round *round, size_t row, int tasks, enum source source);

#endif
