/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_LOADER_H
#define CTOP_FILE_LOADER_H

#include "base/queue.h"
#include "tasks.h"
#include "ui/ui.h"

/*
 * What the screen asks of files: snapshots to compare with, names, and the configuration, each a task, so
 * that no large file and no slow disk delays a key. Events say what comes of it.
 */
struct file_loader;

/* The tasks and the queue outlive the loader. */
struct file_loader *file_loader_create(struct tasks *tasks, struct queue *queue);

/* UI_REQUEST_FILE, UI_REQUEST_NAMES, UI_REQUEST_WRITE_TAB */
void file_loader_request(struct file_loader *loader, const char *path);
void file_loader_request_names(struct file_loader *loader, const char *text);
void file_loader_write_tab(struct file_loader *loader, const char *path, enum tab tab);

/* Once the tasks have been stopped; NULL is allowed. */
void file_loader_release(struct file_loader *loader);

#endif
