/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_LOADER_H
#define CTOP_FILE_LOADER_H

#include "base/queue.h"
#include "tasks.h"
#include "ui/ui.h"

/*
 * Reads and writes files for the screen: snapshots to compare with and to save, names to complete, the
 * configuration, and reports. Each access is a task of its own, so that no large file and no slow disk delays
 * a key. Events say what comes of it.
 */
struct file_loader;

/* `directory` is where snapshots are saved, NULL for the working directory; all three outlive the loader. */
struct file_loader *file_loader_create(const char *directory, struct tasks *tasks, struct queue *queue);

/* UI_REQUEST_FILE, UI_REQUEST_NAMES, UI_REQUEST_WRITE_TAB */
void file_loader_request(struct file_loader *loader, uint64_t number, const char *path);
void file_loader_request_names(struct file_loader *loader, const char *text);
void file_loader_write_tab(struct file_loader *loader, const char *path, enum tab tab);

/*
 * UI_REQUEST_SAVE: saves a snapshot, with the window that is shown of it, which is taken over (NULL: none),
 * one at a time.
 */
void file_loader_save(struct file_loader *loader, const struct snapshot *shown,
		      struct snapshot_window *window);

/*
 * UI_REQUEST_REPORT: draws at once, and writes in a task, the report that `ctop show` prints of a snapshot,
 * or `ctop diff` of two, to the file `path`, in the format of the name's ending. The file comes into being
 * whole; one that exists is never replaced. Where threads of two snapshots cannot be matched, changes are
 * those of groups.
 */
void file_loader_write_report(struct file_loader *loader, const char *path, const struct ui_report *shown);

/* At the end of the screen: a sentence, owned by the caller, when a snapshot, or a report, is still being
 * written; else NULL. */
char *file_loader_give_up_save(struct file_loader *loader);
char *file_loader_give_up_report(struct file_loader *loader);

/* Once the tasks have been stopped; NULL is allowed. */
void file_loader_release(struct file_loader *loader);

#endif
