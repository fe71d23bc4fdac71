/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_LOADER_H
#define CTOP_FILE_LOADER_H

#include "base/error.h"
#include "ui/ui.h"

/*
 * Reads snapshots that the screen asks for, each in a thread of its own, so that no large file and no slow
 * disk delays a key. A file that hangs (a dead network mount) holds nothing else up, not even the end.
 */
struct file_loader;

/* Returns 0 and a loader, or a negative errno with a sentence. */
int file_loader_create(struct file_loader **ret_loader, struct error *error);

/* Forgets what was not received. Reads under way end by themselves, with the process at the latest. */
void file_loader_release(struct file_loader *loader);

/* Gives `host` the members by which the screen asks for files; they are valid until file_loader_release(). */
void file_loader_offer(struct file_loader *loader, struct ui_host *host);

#endif
