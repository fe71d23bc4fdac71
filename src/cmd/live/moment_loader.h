/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MOMENT_LOADER_H
#define CTOP_MOMENT_LOADER_H

#include "base/error.h"
#include "base/queue.h"
#include "store/history.h"
#include "tasks.h"
#include "ui/ui.h"

/*
 * Makes the moments that the screen asks for, in a task, so that no key waits for a disk. Requests that come
 * while one is being made are put together: whoever holds a key down gets as far, and sees fewer moments.
 */
struct moment_loader;

/* The loader alone uses the history from now on; the tasks and the queue outlive it. */
struct moment_loader *moment_loader_create(struct history *history, struct tasks *tasks, struct queue *queue);

/*
 * Makes a moment at once, before the screen is there: the one to begin with. Returns 0, or a negative errno
 * with a sentence. To be called before anything else is asked for.
 */
int moment_loader_begin(struct moment_loader *loader, const struct ui_look *look,
			struct ui_moment *ret_moment, struct error *error);

/* UI_REQUEST_MOMENT, UI_REQUEST_OTHER, UI_REQUEST_STRIP, UI_REQUEST_COURSES */
void moment_loader_request(struct moment_loader *loader, const struct ui_look *look);
void moment_loader_request_other(struct moment_loader *loader, uint64_t number, struct ui_other other);
void moment_loader_request_strip(struct moment_loader *loader, const struct ui_strip_request *request);
void moment_loader_request_courses(struct moment_loader *loader, const struct ui_courses_request *request);

/* Asks what is being made to end, without waiting. */
void moment_loader_cancel(struct moment_loader *loader);

/* Once the tasks have been stopped; NULL is allowed. */
void moment_loader_release(struct moment_loader *loader);

#endif
