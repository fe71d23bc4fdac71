/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SAVER_H
#define CTOP_SAVER_H

#include "base/queue.h"
#include "snapshot/snapshot_window.h"
#include "tasks.h"

/* Saves what is on the screen, one at a time; what comes of it is UI_EVENT_SAVED. */
struct saver;

/* `directory` is where to, NULL for the working directory; it and the others outlive the saver. */
struct saver *saver_create(const char *directory, struct tasks *tasks, struct queue *queue);

/* Saves a snapshot, with the window that is shown of it, which is taken over (NULL: none). */
void saver_request(struct saver *saver, const struct snapshot *shown, struct snapshot_window *window);

/* Why the save under way will not be finished, owned by the caller; NULL where none is under way. */
char *saver_give_up(struct saver *saver);

/* Once the tasks have been stopped; NULL is allowed. */
void saver_release(struct saver *saver);

#endif
