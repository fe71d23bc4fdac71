/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JOINED_HISTORY_H
#define CTOP_JOINED_HISTORY_H

#include <stddef.h>

#include "store/history.h"

/*
 * The rounds of a live screen, and before them those of a recorder of this host: one history without a
 * directory, of which history_directory_of() says where a round was recorded. Files of the recorder are read
 * once a moment before the screen's own rounds is asked for. Between the two there is a gap.
 */

/*
 * `own` has the screen's rounds and outlives the result. `directories` are those in which a recorder may
 * write; if several can be read, the one with the newest round is taken. One that cannot be read, or that
 * another host recorded, is passed over, and tried again later. The caller frees the result with
 * joined_history_release().
 */
struct history *joined_history_create(struct history *own, const char *const directories[], size_t count);

void joined_history_release(struct history *history); /* NULL is allowed */

#endif
