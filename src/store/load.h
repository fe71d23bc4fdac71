/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOAD_H
#define CTOP_LOAD_H

#include <sys/types.h>

#include "base/error.h"
#include "snapshot/snapshot.h"

/*
 * From the JSON text of a snapshot to the snapshot. `fetch` hands over the next piece of the text, of any
 * size, which lives until the call after it: its length, 0 at the end, or a negative errno. `progress` says
 * about which part of the text has been handed over, from 0 to 1, 0 where that is not known; it may be NULL.
 * Memory grows with the threads that are kept, not with the text.
 *
 * On success `*ret_snapshot` has one reference, owned by the caller. Returns -EBADMSG with a sentence that
 * names the byte of the text and the member ("byte 812: threads[12].nice must be …"), or what `fetch` failed
 * with, and `error` is left alone then.
 */
int load_snapshot(ssize_t (*fetch)(void *context, const char **ret_text), double (*progress)(void *context),
		  void *context, struct snapshot **ret_snapshot, struct error *error);

#endif
