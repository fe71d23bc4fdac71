/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JOINED_HISTORY_H
#define CTOP_JOINED_HISTORY_H

#include <stddef.h>

#include "store/history.h"

/*
 * Joins the rounds of a live screen with the earlier rounds of a recorder on this host. The result is one
 * history without a directory; history_directory_of() says where each round was recorded. The recorder's
 * files are opened on the first request for a moment before the screen's own rounds. A gap lies between the
 * recorder's rounds and the screen's.
 */

/*
 * `own` has the screen's rounds and must outlive the result. `directories` is where a recorder may write; if
 * several have a readable history, the one with the newest round is used. A history that cannot be read, or
 * that another host recorded, is skipped; if none is left, all are tried again later. The caller frees the
 * result with joined_history_release().
 */
struct history *joined_history_create(struct history *own, const char *const directories[], size_t count);

void joined_history_release(struct history *history); /* NULL is allowed */

#endif
