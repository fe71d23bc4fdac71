/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOAD_H
#define CTOP_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"
#include "ctprof.h"

/*
 * From the JSON text of a snapshot, in pieces of any size, to the snapshot. Memory grows with the threads
 * that are kept, not with the text.
 */
struct snapshot_loader;

struct snapshot_loader *snapshot_loader_create(void);

/*
 * Takes the next piece of text. Returns 0, or -EBADMSG with a sentence that names the byte of the text and
 * the member ("byte 812: threads[12].nice must be …"). After an error only release is allowed.
 */
int snapshot_loader_feed(struct snapshot_loader *loader, const char *text, size_t length,
			 struct error *error);

/*
 * Says that the text has ended. On success `*ret_snapshot` has one reference, owned by the caller, and
 * `*ret_notes` (may be NULL) says what an older generation lacked. -EBADMSG as above.
 */
int snapshot_loader_finish(struct snapshot_loader *loader, struct snapshot **ret_snapshot,
			   struct ctprof_notes *ret_notes, struct error *error);

/* Frees the loader and what it holds; NULL is allowed. */
void snapshot_loader_release(struct snapshot_loader *loader);

#endif
